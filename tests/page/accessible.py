"""axe-core over the pages in which programs are shown: nothing that it calls serious, in any state, light, dark and narrow."""
import os
import subprocess
import tempfile

import editing
import pictures
from browser import Browser
from play import FOLDER, ROOT, SMALL, TIRC, opened, read, set_texts, settled

RUN = """
  window.found = null;
  const serious = v => /serious|critical/.test(v.impact), named = v => [v.id, v.nodes.slice(0, 3).map(n => n.target.join(' ') + ': ' + n.failureSummary)];
  setTimeout(() => axe.run(document, {resultTypes: ['violations'], preload: false})
    .then(r => { window.found = {rules: r.passes.length, serious: r.violations.filter(serious).map(named)}; }, e => { window.found = {rules: 0, serious: [[String(e), []]]}; }));
  return 1;"""
LOOKS = ((1366, 768, "light"), (1366, 768, "dark"), (390, 844, "light"))


# --- states that no picture is kept of -----------------------------------------------------------

def completion(b):
    set_texts(b, read(SMALL), "")
    editing.type_behind(b, "schedule", editing.LOOPS, "sch.spl")
    b.wait("document.querySelector('.cm-completionInfo')")


def explained(b):
    """The error's text in place, as the pointer brings it."""
    pictures.error(b)
    b.wait("document.querySelector('#script .cm-lintRange-error')")
    b.hover("#script .cm-lintRange-error")
    b.wait("document.querySelector('.cm-tooltip .cm-diagnostic')")


def code(kind):
    def state(b):
        set_texts(b, read(SMALL), 'i, j, k = sch.get_loops("C")\nsch.bind(i, "blockIdx.x")\nsch.bind(j, "threadIdx.x")\n')
        b.run("showTab(arguments[0]); return 1", kind)
        b.wait("document.getElementById('code').textContent.length > 100")
    return state


def race(b):
    set_texts(b, read(os.path.join(ROOT, "tests/emulate/refused/threads_store_others.tir")), "")
    b.run("showPane('emulated'); return 1")
    b.wait("document.getElementById('emulated').textContent.includes('at the same time')")


def solution(b):
    b.run("openItem('lesson/' + shelf.lessons.find(l => l.hints.length > 1).name); return 1")
    settled(b)
    b.run("while (!document.getElementById('hint').hidden) showHint(); showSolution(); return 1")
    settled(b)
    b.wait("[...document.querySelectorAll('#verdicts li')].some(e => e.textContent === 'done')")


def refused_opened(b):
    pictures.moves(b)
    b.run("document.querySelectorAll('#moves details').forEach(e => { e.open = true; }); return 1")


def menu(b):
    set_texts(b, read(SMALL), "")
    b.run("document.getElementById('export').open = true; return 1")


def dialog(b):
    set_texts(b, read(SMALL), "")
    b.click("#share")
    b.wait("document.getElementById('dialog').open")


STATES = {**pictures.STATES, "no program": lambda b: set_texts(b, "def main(:\n", ""), "completion": completion, "error explained": explained,
          "lowered": code("lowered"), "cuda": code("cuda"), "race": race, "refused calls": refused_opened, "solution": solution, "export": menu, "share": dialog}


def back(b):
    """As the page was before a state."""
    b.run("document.getElementById('export').open = false; document.getElementById('dialog').close(); showTab(''); showPane('tree'); localStorage.clear(); openLesson(null); return 1")
    b.press("Escape")


# --- one look ------------------------------------------------------------------------------------

def begin(b):
    b.request("POST", "/timeouts", {"script": 100000})  # of a busy machine
    b.run(read(os.path.join(ROOT, "build/playground-deps/node_modules/axe-core/axe.min.js")) + "; return 1")
    b.run("document.querySelectorAll('script').forEach(e => e.remove()); return 1")  # megabytes of text that nobody reads, which it would search


def see(b, width, height, theme):
    b.command("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
    b.command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
    b.wait("[undefined, '%s'].includes(document.documentElement.dataset.theme)" % theme)  # a page without its own follows the browser


def look(b, where):
    """In all sizes and colours; what is found."""
    found = []
    for width, height, theme in LOOKS:
        see(b, width, height, theme)
        b.run(RUN)
        b.wait("!!window.found", 300)
        rules, serious = b.run("return [found.rules, found.serious]")
        print("axe-core: %s, %d, %s:" % (where, width, theme), serious or "nothing serious, %d rules hold" % rules, flush=True)
        assert rules > 10, (where, rules)
        found += [(where, width, theme, *s) for s in serious]
    return found


def check_states(names=None):
    b, found = opened(reduced_motion=True), []
    try:
        begin(b)
        for name in names or STATES:
            see(b, *LOOKS[0])
            STATES[name](b)
            found += look(b, name)
            back(b)
        b.assert_quiet()
    finally:
        b.close()
    return found


# What `tirc step --html` and `tirc lesson --pack` write, with a playground and without; a call that is refused, too.
PAGES = {"step": ["step", SMALL, os.path.join(ROOT, "tests/cli/good.sch"), "--html"],
         "refused step": ["step", *(os.path.join(ROOT, "examples/decompose_reduction", n) for n in ("matmul.tir", "early.sch")), "--html"],
         "course": ["lesson", "--pack", os.path.join(ROOT, "examples/course"), "-o"]}


def check_files(folder):
    b, found = Browser(1366, 768, reduced_motion=True), []
    path = os.path.join(folder, "page.html")
    try:
        for playground, ready in ((os.path.join(FOLDER, "index.html"), "document.documentElement.dataset.ready && !compiling"), ("none", "document.readyState === 'complete'")):
            for name, words in PAGES.items():
                subprocess.run([TIRC, *words, path, "--playground", playground], capture_output=True)  # a refused call is status 1
                b.open(path)
                b.wait(ready)
                begin(b)
                found += look(b, name + (" in the playground" if playground != "none" else ""))
                os.remove(path)
        b.assert_quiet()
    finally:
        b.close()
    return found


def check():
    with tempfile.TemporaryDirectory() as folder:
        found = check_states() + check_files(folder)
    assert found == [], found
