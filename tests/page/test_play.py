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

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import accessible  # noqa: E402
import editing  # noqa: E402
import endurance  # noqa: E402
import lessons  # noqa: E402
import pictures  # noqa: E402
from browser import Browser, Missing  # noqa: E402
from play import FOLDER, LONG, ROOT, SMALL, TIRC, opened, read, replace_schedule, set_texts, settled, type_text  # noqa: E402


# --- the compiler, in Node -------------------------------------------------------------------

def ask(questions):
    lines = "".join(json.dumps(q) + "\n" for q in questions)
    done = subprocess.run(["node", os.path.join(ROOT, "tests/page/ask.js"), FOLDER], input=lines, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stdout.split("\n") if line]
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


def check_import():
    """A page has no scripts to import, and the compiler goes on after it has said so."""
    lost, next_one = ask([{"do": "steps", "program": read(SMALL), "schedule": s} for s in ("from foo import bar\n", "")])
    assert lost["error"]["code"] == "import" and "programs" in next_one, lost


def check_forever():
    """What does not end is ended by its step limit, with a message."""
    endless = "while True:\n    pass\n"
    answer, = ask([{"do": "steps", "program": read(SMALL), "schedule": endless}])
    assert answer["error"]["code"] == "limit", answer["error"]


# --- the page --------------------------------------------------------------------------------

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
    b.run("showTime(5); return 1")  # the example that was there before has threads and lanes
    assert "block C" in b.text("#where") and "lane" not in b.text("#where"), b.text("#where")


def check_error(b):
    """An error is underlined where it is; message, hint and what explain says are there."""
    set_texts(b, read(SMALL), 'i, j, k = sch.get_loops("C")\nsch.fuse(i, k)\n')
    b.wait("document.querySelector('#script .cm-lintRange-error')")
    assert b.run("document.querySelector('#script .cm-lintRange-error').closest('.cm-line').textContent").startswith("sch.fuse")
    shown, error = b.text("#error"), b.run("data.steps[data.steps.length - 1].error")
    assert error["message"] in shown and b.run("data.explanations[arguments[0]].rule", error["code"]) in shown, shown
    set_texts(b, read(SMALL), 'i, j, k = sch.get_loops("C")\nsch.parallel(k)\n')
    b.wait("document.getElementById('error').textContent.includes(' instead of ')")
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
            replace_schedule(b, read(os.path.join(course, name, "solution.sch")))
            b.wait("[...document.querySelectorAll('#verdicts li')].some(e => e.textContent === 'done')")
        b.click("#hand-in")
        assert b.run("document.getElementById('learner').offsetWidth > 0 && document.querySelectorAll('#who').length === 1")
        b.wait("document.getElementById('dialog-text').value")
        done = subprocess.run([TIRC, "lesson", course, "--verify", b.run("document.getElementById('dialog-text').value")], capture_output=True, text=True)
        assert done.stdout.startswith("code 1: 2 of 3\n"), (done.stdout, done.stderr)
        b.assert_quiet()
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


def check_code(b):
    """Every kind of code of the program after the call that is shown, or why there is none."""
    set_texts(b, read(SMALL), 'i, j, k = sch.get_loops("C")\nsch.bind(i, "blockIdx.x")\nsch.bind(j, "threadIdx.x")\n')
    for kind, word in (("lowered", "prim_func"), ("cuda", "__global__"), ("opencl", "__kernel")):
        b.click("[data-code=%s]" % kind)
        b.wait("document.getElementById('code').textContent.includes('%s')" % word)
    b.click("[data-pane=emulated]")
    b.wait("document.getElementById('emulated').textContent.includes('No race')")
    b.click("[data-pane=tree]")
    set_texts(b, read(SMALL), "")
    b.click("[data-code=c]")
    b.wait("document.getElementById('code').textContent.includes('Made by tirc')")
    set_texts(b, read(SMALL), 'sch.parallel(sch.get_loops("C")[0])\n')
    b.wait("document.getElementById('code').textContent.includes('pragma omp')")
    b.run("show(0); return 1")  # the code is that of the call that is shown
    b.wait("!document.getElementById('code').textContent.includes('pragma omp')")
    b.click("[data-code='']")


def check_next(b):
    """What may be done next: shown before it is pressed, and then part of the schedule."""
    set_texts(b, read(SMALL), "")
    b.click("[data-pane=moves]")
    b.wait("document.querySelectorAll('#moves button').length > 5")
    call = b.run("document.querySelector('#moves button code').textContent")
    b.run("document.querySelector('#moves button').focus(); return 1")
    b.wait("document.getElementById('change').textContent.startsWith('would change')")
    refused = b.run("return [...document.querySelectorAll('#moves .refusal')].map(e => e.textContent)")
    assert refused and all("Why" in r for r in refused), refused
    wrong = b.run("return [...document.querySelectorAll('#moves .refusal')].map(e => [e.querySelector('summary').textContent, !!e.querySelector('.wrong') && e.querySelector('.wrong').offsetHeight > 0])")
    assert any("sch.parallel(" in text and " instead of " in text and seen for text, seen in wrong), wrong
    b.click("#moves button")
    b.wait("schedule.text().length > 5")
    assert call.split("; ")[-1] in b.run("schedule.text()")
    b.wait("!compiler.busy && ran && data.steps.length")
    replace_schedule(b, 'sch.parallel(sch.get_loops("C")[2])\n')  # of what is refused there is nothing next
    b.wait("document.querySelectorAll('#moves button').length === 0")
    assert "cannot run at the same time" in b.text("#moves") and "legal call" not in b.text("#moves")
    b.click("[data-pane=tree]")


def check_share(b):
    """A link brings program and schedule back; a page made by it shows them."""
    program, schedule = read(SMALL), "sch.parallel(sch.get_loops(\"C\")[0])  # \u00e4\u20ac <b>\n"
    set_texts(b, program, schedule)
    b.click("#share")
    b.wait("document.getElementById('dialog').open && document.getElementById('dialog-text').value.includes('#')")
    link = b.run("document.getElementById('dialog-text').value")
    b.click("#dialog-close")
    assert link.startswith("file://") and len(link) < 1500, len(link)
    other = opened(more="#" + link.split("#")[1])
    try:
        assert other.run("return [program.text(), schedule.text()]") == [program, schedule]
        assert other.run("data.steps.map(s => s.primitive)") == ["get_loops", "parallel"] or other.run("data.steps.length") >= 1
        other.assert_quiet()
    finally:
        other.close()
    before = b.run("return [program.text(), schedule.text()]")
    for damaged in (link.split("#")[1][:-9], "%3Cimg src=x onerror=alert(1)%3E", "AAAAAAAAAA"):
        b.run("location.hash = arguments[0]; return 1", damaged)
        b.wait("document.getElementById('note').textContent.includes('cannot be read')")
        assert b.run("return [program.text(), schedule.text()]") == before
        b.run("note(''); return 1")
    replace_schedule(b, "")
    svg = b.run("pictureSvg()")
    assert svg.startswith("<svg") and "<image" in svg and b.run("new DOMParser().parseFromString(arguments[0], 'image/svg+xml').querySelector('parsererror') === null", svg)


def check_lesson(b):
    """The first lesson is solved by typing, and what was typed is there again."""
    b.run("document.getElementById('open').value = shelf.lessons.length ? 'lesson/' + shelf.lessons[0].name : ''; document.getElementById('open').onchange(); return 1")
    b.wait("document.querySelectorAll('#verdicts li.no').length")
    solution = b.run("shelf.lessons[0].solution")
    b.run("schedule.focus(); return 1")
    replace_schedule(b, "")
    for line in solution.rstrip("\n").split("\n"):
        type_text(b, line.strip())
        b.press("Escape", "Enter")
        b.press("Home")
    b.wait("[...document.querySelectorAll('#verdicts li')].some(e => e.textContent === 'done')")
    assert b.run("[...document.getElementById('open').options].some(o => o.textContent.startsWith('\\u2713'))")
    check_kept(b)
    b.run("openLesson(null); document.getElementById('open').value = ''; return 1")


def reloaded(b, then=""):
    b.request("POST", "/refresh", {})
    b.wait("document.documentElement.dataset.ready" + then)
    settled(b)


def check_kept(b):
    """After a reload the lesson and what was typed are there again, markup as text; a link takes no answer's place."""
    b.click("#share")
    b.wait("document.getElementById('dialog').open")
    b.click("#dialog-close")
    typed = '# <img src=x onerror="window.hit=1">\nsch.get_block("<img src=x onerror=window.hit=1>")\n'
    replace_schedule(b, typed)
    b.wait("stored('lesson/' + lesson.name) === schedule.text() && data.error")
    reloaded(b, " && lesson && location.hash === ''")
    assert b.run("schedule.text()") == typed and "<img" in b.text("#error")
    assert b.run("document.querySelectorAll('img').length === 0 && window.hit === undefined")
    b.run("openLinked({l: lesson.name, p: lesson.program, s: '# of a link'}); return 1")
    settled(b)
    assert b.run("return [schedule.text(), stored('lesson/' + lesson.name)]") == ["# of a link", typed]
    b.run("openLinked({l: lesson.name, p: lesson.program, s: lesson.start}); return 1")
    settled(b)
    assert b.run("schedule.text()") == typed


def check_themes(b):
    for theme in ("light", "dark"):
        b.run("theme(arguments[0]); return 1", theme)
        found = b.run("return [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.cm-editor')).color]")
        assert len(set(found)) == 2, found


def check_pictures():
    """In a browser that begins anew; another one reads the pictures."""
    b, viewer = opened(reduced_motion=True), Browser(400, 300)
    try:
        pictures.check(b, viewer)
        b.assert_quiet()
    finally:
        b.close()
        viewer.close()


def check_narrow():
    b = opened((390, 844))
    try:
        assert b.run("document.documentElement.scrollWidth <= innerWidth"), b.run("document.documentElement.scrollWidth")
        lefts = b.run("return [...document.querySelectorAll('main > .panel')].map(e => Math.round(e.getBoundingClientRect().left))")
        assert len(set(lefts)) == 1, lefts
        b.assert_quiet()
    finally:
        b.close()


SHIFT = """@T.prim_func
def main(A: T.Buffer((9,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi + 1] = A[vi]
"""


def check_wrong_numbers():
    """What a refused call would compute, beside what the program does: here the first element everywhere."""
    shift, small, refused, lost = ask([{"do": "next", "program": SHIFT, "schedule": ""}, {"do": "next", "program": read(SMALL).replace("M = 16", "M = 4096"), "schedule": ""},
                                       {"do": "next", "program": SHIFT, "schedule": "sch.parallel(sch.get_loops(\"A\")[0])\n"}, {"do": "next", "program": SHIFT, "schedule": "", "focus": "Q"}])
    wrong = {r["call"]: r["wrong"] for r in shift["refused"] if "wrong" in r}
    assert [call for call in wrong if "parallel" in call] and all(text.endswith(" instead of 1.") for text in wrong.values()), wrong
    wrong = {r["call"]: r["wrong"] for r in small["refused"] if "wrong" in r}
    assert any("parallel" in call and "(with M = 4)" in text for call, text in wrong.items()), wrong
    assert refused["error"]["code"] == "not-compact-dataflow" and "legal" not in refused, refused
    assert lost["error"]["code"] == "argument" and "legal" not in lost, lost


def check_step_page(folder):
    """The page of `tirc step --html` is there before the compiler is, and what is typed in it is compiled, with its constants."""
    path = os.path.join(folder, "step.html")
    schedule = os.path.join(ROOT, "tests/cli/good.sch")
    subprocess.run([TIRC, "step", SMALL, schedule, "-D", "M=48", "--html", path, "--playground", FOLDER + "/index.html"], check=True)
    b = Browser(1366, 768)
    try:
        b.open(path)
        assert b.run("return [data.steps.length, data.steps[1].file, program.text(), schedule.text()]") == [5, "schedule.sch", read(SMALL), read(schedule)]
        assert b.run("document.querySelectorAll('#arrays figure').length") == 3
        b.wait("!compiling")
        assert "48" in b.run("data.programs[0].text") and b.run("compiler.number") <= 2  # words and lessons alone were asked for
        replace_schedule(b, read(schedule) + "sch.unroll(k)\n")
        b.wait("data.steps.length === 6")
        settled(b)
        assert "48" in b.run("data.programs[0].text")
        for step, form in ((3, "#3"), (2, "#step=2")):  # the address may name a call, as in a page in which nothing can be changed
            b.request("POST", "/url", {"url": "about:blank"})
            b.open(path + form)
            b.wait("!compiling")
            assert b.run("return [state.step, document.getElementById('note').textContent]") == [step, ""]
        b.run("location.hash = '1'; return 1")
        b.wait("state.step === 1")
        b.assert_quiet()
    finally:
        b.close()


def check_hostile():
    """Texts that try to get out of their place, and texts that are none: an answer each, and never a crash."""
    names = ["<script>alert(1)</script>", "</script>", "\u202e", "\x00", "\ud800", "'\"`", "&lt;", "%s%n", "(" * 500, "[" * 500, "-" * 500, "a" * 5000,
             "\\" * 50, "\r\n" * 50, "\t" * 50, "#" * 50, "if x:\n" * 60, "\u2028", "\ufeff", "9" * 400]
    programs = [read(SMALL).replace('"C"', json.dumps(n)[:200]) for n in names]
    questions = [{"do": "steps", "program": p, "schedule": n} for p, n in zip(programs, names)]
    questions += [{"do": "steps", "program": n, "schedule": read(SMALL)} for n in names] + [{"do": "steps", "program": read(SMALL), "schedule": n} for n in names]
    questions += [{"do": what, "program": n, "schedule": n} for n in names[:4] for what in ("run", "code", "next", "apply", "emulate", "check")]
    assert all(isinstance(a, dict) for a in ask(questions))


def check_memory():
    """Edits do not add up."""
    edits = 1000 if LONG else 100
    schedule = 'i, j, k = sch.get_loops("C")\nsch.split(j, factors=[None, %d])\n'
    questions = [{"do": "steps", "program": read(SMALL), "schedule": schedule % (1 + i % 8)} for i in range(edits)]
    answers = ask(questions + [{"do": "memory"}])
    assert all("programs" in a for a in answers[:-1])
    first, = ask([questions[0], {"do": "memory"}])[1:]
    assert answers[-1]["bytes"] <= first["bytes"] + 2**20, (first, answers[-1])


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
        check_step_page(folder)
    check_forever()
    check_wrong_numbers()
    check_import()
    check_hostile()
    check_memory()
    sizes = json.loads(read(os.path.join(FOLDER, "sizes.json")))
    assert sizes["index.html"] <= 4e6 and sizes["index.html.gz"] <= 2.2e6, sizes
    b = opened()
    try:
        print("first program after %.0f ms" % check_first(b))
        check_typing(b)
        check_seen_together(b)
        check_error(b)
        check_code(b)
        check_next(b)
        check_share(b)
        check_lesson(b)
        editing.check_completion(b)
        editing.check_hints(b)
        editing.check_exports(b)
        editing.check_race(b)
        print(endurance.check_hostile_page(b), "hostile texts are shown as text")
        endurance.check_large(b)
        lessons.check_keyboard(b)
        lessons.check_by_typing(b, lessons.LESSONS if LONG else lessons.LESSONS[1:21:6])
        lessons.check_times(b)
        print(lessons.check_codes(b), "errors are explained in the page")
        check_themes(b)
        if LONG:
            endurance.check_memory(b)
        b.assert_quiet()
    finally:
        b.close()
    check_narrow()
    editing.check_embed()
    if LONG:
        check_pictures()
        accessible.check()
    print("ok")


try:
    main()
except Missing as reason:
    print("skipped:", reason)
    sys.exit(77)
