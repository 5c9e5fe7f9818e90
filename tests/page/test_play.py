#!/usr/bin/env python3
"""The playground, in Node and in a headless Chromium: test_play.py TIRC SOURCE_ROOT FOLDER [--long]

tools/playground makes it in FOLDER. Exit status 77 (skipped) where emscripten, a browser or the network for the
playground's libraries is missing, and says which. TIRC_TEST_EVERY=N: every Nth of the conformance cases."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, Missing  # noqa: E402

TIRC, ROOT, FOLDER = (os.path.abspath(a) for a in sys.argv[1:4])
LONG = "--long" in sys.argv
SMALL = os.path.join(ROOT, "tests/cli/small.tir")


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


# --- the compiler, in Node -------------------------------------------------------------------

def ask(questions):
    lines = "".join(json.dumps(q) + "\n" for q in questions)
    done = subprocess.run(["node", os.path.join(ROOT, "tests/page/ask.js"), FOLDER], input=lines, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(questions), (len(answers), len(questions), done.stderr[-2000:])
    return answers


def parts_of(path):
    """The program and the schedule of a case."""
    parts, name = {}, None
    for line in read(path).splitlines(keepends=True):
        if line.startswith("--- "):
            name = line[4:].strip()
            parts[name] = ""
        elif name:
            parts[name] += line
    return parts["program"], parts["schedule"]


FIELDS = ("status", "code", "message", "file", "line", "column", "call", "condition", "hint", "ir")


def of_command(folder, program, schedule):
    for name, text in (("program.tir", program), ("schedule.sch", schedule)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    done = subprocess.run([TIRC, "apply", "program.tir", "schedule.sch", "--error-format=json"], cwd=folder, capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout
    errors = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    error = next(e for e in errors if e["severity"] == "error")
    return {name: error[name] for name in FIELDS if name in error}


def check_cases(folder, most):
    """The same verdict and text as the command's."""
    found = sorted(glob.glob(os.path.join(ROOT, "tests/cases/**/*.case"), recursive=True))
    found = found[::max(1, len(found) // most)][:most]
    cases = [parts_of(path) for path in found]
    answers = ask([{"do": "apply", "program": p, "schedule": s} for p, s in cases])
    for path, (program, schedule), answer in zip(found, cases, answers):
        expected = of_command(folder, program, schedule)
        got = answer.get("text") if isinstance(expected, str) else {name: answer.get("error", {}).get(name) for name in expected}
        assert got == expected, (path, got, expected)
    return len(found)


def check_forever():
    """What does not end is ended by its step limit, with a message."""
    endless = "while True:\n    pass\n"
    answer, = ask([{"do": "steps", "program": read(SMALL), "schedule": endless}])
    assert answer["error"]["code"] == "limit", answer["error"]


# --- the page --------------------------------------------------------------------------------

def opened(size=(1366, 768), more="", **settings):
    b = Browser(*size, **settings)
    b.request("POST", "/url", {"url": "file://" + FOLDER + "/index.html" + more})
    b.wait("document.documentElement.dataset.ready")
    return b


def set_texts(b, program, schedule):
    b.run("openText(arguments[0], arguments[1]); return 1", program, schedule)
    settled(b)


def settled(b):
    b.wait("!compiler.busy && ran")


def type_text(b, text):
    """Key by key, into what has the focus."""
    actions = []
    for c in text:
        key = "\ue007" if c == "\n" else c
        actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
    b.request("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})


def shown_program(b):
    return b.run("return [...document.querySelectorAll('#program .l:not(.del)')].map(e => e.textContent).join('\\n')")


def check_first(b):
    """How soon the first program is shown."""
    assert b.run("document.querySelectorAll('#program .l').length") > 5
    return b.run("performance.now()")


def check_typing(b):
    """A schedule is typed; the program, the tree and the accesses follow."""
    set_texts(b, read(SMALL), "")
    b.run("schedule.focus(); return 1")
    type_text(b, 'i, j, k = sch.get_loops("C")\n')
    b.press("Escape")
    type_text(b, "sch.reorder(i, k, j)")
    b.press("Escape")
    b.wait("data.steps.length && data.steps[data.steps.length - 1].primitive === 'reorder'")
    settled(b)
    names = b.run("return [...document.querySelectorAll('#tree [data-name]')].map(e => e.dataset.name)")
    assert names == ["main", "i", "k", "j", "C"], names
    assert b.run("document.querySelectorAll('#arrays figure').length") == 3
    assert b.run("document.querySelectorAll('#program .add, #program .del').length") > 0


def check_error(b):
    """An error is underlined where it is; message, hint and what explain says are there."""
    set_texts(b, read(SMALL), 'i, j, k = sch.get_loops("C")\nsch.fuse(i, k)\n')
    b.wait("document.querySelector('#script .cm-lintRange-error')")
    assert b.run("document.querySelector('#script .cm-lintRange-error').closest('.cm-line').textContent").startswith("sch.fuse")
    shown, error = b.text("#error"), b.run("data.steps[data.steps.length - 1].error")
    assert error["message"] in shown and b.run("data.explanations[arguments[0]].rule", error["code"]) in shown, shown
    set_texts(b, "def main(:\n", "")
    b.wait("document.querySelector('#source .cm-lintRange-error')")
    assert "syntax" in b.text("#error")


def check_packed_course(folder, size=(1366, 768)):
    """A course in the page: its exercises are checked as one types, and what was written is a code that is run again."""
    course, page = os.path.join(ROOT, "examples/course"), os.path.join(folder, "course.html")
    subprocess.run([TIRC, "lesson", "--pack", course, "--playground", FOLDER + "/index.html", "-o", page], check=True)
    b = Browser(*size)
    try:
        b.open(page)
        b.wait("document.documentElement.dataset.ready")
        assert b.run("document.title") == "Order, threads and tiles" and b.run("document.getElementById('open').options.length") == 4
        for name in sorted(os.listdir(course))[:2]:
            b.run("openItem('lesson/' + arguments[0]); return 1", name)
            settled(b)
            b.wait("document.querySelector('#verdicts .no')")
            b.run("openText(lesson.program, arguments[0]); return 1", read(os.path.join(course, name, "solution.sch")))
            b.wait("[...document.querySelectorAll('#verdicts li')].some(e => e.textContent === 'done')")
        b.click("#hand-in")
        b.wait("document.getElementById('dialog-text').value")
        done = subprocess.run([TIRC, "lesson", course, "--verify", b.run("document.getElementById('dialog-text').value")], capture_output=True, text=True)
        assert done.stdout.startswith("code 1: 2 of 3\n"), (done.stdout, done.stderr)
        assert b.log() == []
    finally:
        b.close()


def check_seen_together(b):
    rects = b.run("""return Object.fromEntries(['source', 'script', 'program', 'tree', 'arrays', 'chart'].map(id => {
      const r = document.getElementById(id).getBoundingClientRect();
      return [id, [r.left, r.top, r.right, r.bottom, r.width, r.height]];
    }))""")
    width, height = b.run("return [innerWidth, innerHeight]")
    for name, (left, top, right, bottom, w, h) in rects.items():
        assert left >= 0 and top >= 0 and right <= width and bottom <= height and w > 150 and h > 60, (name, rects[name])


def main():
    done = subprocess.run([os.path.join(ROOT, "tools/playground"), FOLDER], capture_output=True, text=True)
    if done.returncode == 77:
        print(done.stdout)
        sys.exit(77)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    with tempfile.TemporaryDirectory() as folder:
        n = check_cases(folder, 300 if LONG else 40)
        print(n, "cases have the command's verdict and text")
        check_packed_course(folder)
    check_forever()
    sizes = json.loads(read(os.path.join(FOLDER, "sizes.json")))
    assert sizes["index.html"] <= 4e6 and sizes["index.html.gz"] <= 2.2e6 * 4 / 3, sizes
    b = opened()
    try:
        print("first program after %.0f ms" % check_first(b))
        check_typing(b)
        check_seen_together(b)
        check_error(b)
        assert b.log() == []
    finally:
        b.close()
    print("ok")


try:
    main()
except Missing as reason:
    print("skipped:", reason)
    sys.exit(77)
