#!/usr/bin/env python3
"""The page of a course, and the documentation as a site, in a headless Chromium: on a laptop, light, and on a telephone,
dark. What is typed into the page of a course becomes a code that `tirc lesson --verify` runs; the search of the site finds.
Nothing moves sideways but what is meant to, and letters stand out.
test_course.py TIRC SOURCE_ROOT

Exit status 77 (skipped) where no browser is installed."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, Missing  # noqa: E402
from colours import contrast, parse  # noqa: E402

TIRC, ROOT = sys.argv[1:3]
COURSE = ROOT + "/examples/course"
SIZES = [(1366, 768, False), (390, 844, True)]
LETTERS = """
  return [...document.querySelectorAll('h1, h2, p, li, a, td, th, code, pre, label, button, textarea, summary')].filter(e => e.getClientRects().length).map(e => {
    let under = e;
    while (getComputedStyle(under).backgroundColor === 'rgba(0, 0, 0, 0)' && under.parentElement) under = under.parentElement;
    return [getComputedStyle(e).color, getComputedStyle(under).backgroundColor];
  })"""


def run(*words, status=0, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def check_look(b, where, width):
    assert b.run("document.documentElement.scrollWidth") <= width, where
    for ink, paper in {tuple(pair) for pair in b.run(LETTERS)}:
        assert contrast(parse(ink), parse(paper)) >= 4.5, (where, ink, paper)
    for selector in ("input", "textarea"):
        assert b.run("[...document.querySelectorAll(arguments[0])].every(e => e.labels.length)", selector), where
    assert b.log() == [], where


def check_course(folder, b, width):
    page = folder + "/course.html"
    run(TIRC, "lesson", "--pack", COURSE, "--playground", "none", "-o", page)
    b.open(page)
    check_look(b, page, width)
    b.click("#make")
    assert "not begun" in b.text("#said") and b.run("document.getElementById('code').value") == ""
    solution = pathlib.Path(COURSE, "01-two-threads/solution.sch").read_text()
    b.run("const e = document.getElementById('schedule-1'); e.value = arguments[0]; e.dispatchEvent(new Event('input')); return 0", solution)
    b.run("const e = document.getElementById('learner'); e.value = 'Ada < Bo'; return 0")
    b.click("#make")
    b.wait("document.getElementById('code').value !== ''")
    code = b.run("document.getElementById('code').value")
    shown = run(TIRC, "lesson", COURSE, "--verify", code, status=1)
    assert "code 1, Ada < Bo: 1 of 3\n  done     01-two-threads\n" in shown, shown
    b.open(page)  # it is still there
    assert b.run("document.getElementById('schedule-1').value") == solution
    b.run("localStorage.clear(); return 0")


def check_site(folder, b, width):
    b.open(folder + "/site/examples/guide/courses.html")
    check_look(b, "courses.html", width)
    b.press("/")
    for key in "bank conflicts":
        b.press("Space" if key == " " else key)
    assert "Bank conflicts" in b.text("#found li"), b.text("#found")
    b.press("Enter", "Enter")
    b.wait("document.querySelector('h1').textContent === 'Bank conflicts'")
    assert b.run("document.querySelector('nav [aria-current]') === null")
    b.assert_quiet()


def check_opened(folder, b):
    """Where the playground was built, the site has it: each program of the examples opens in it, and so do lessons and what the guide shows."""
    site = pathlib.Path(folder, "site")
    if not (site / "playground.html").exists():
        return
    pages = [p.read_text() for p in site.glob("examples/**/*.tir.html")]
    programs = [page for page in pages if "@T.prim_func" in page]
    assert programs and all('class="open"' in page for page in programs)
    for page, program, lesson in (("vector_add/vector_add.tir.html", "vector_add/vector_add.tir", None),
                                  ("lessons/05-vectorize/index.html", "lessons/05-vectorize/program.tir", "05-vectorize"), ("guide/schedules.html", None, None)):
        b.open("%s/examples/%s" % (site, page))
        b.click("p.open a")
        b.wait("!!document.documentElement.dataset.ready")
        b.wait("!compiling")
        text, opened = b.run("return [program.text(), lesson && lesson.name]")
        assert opened == lesson and "@T.prim_func" in text and (not program or text == pathlib.Path(ROOT, "examples", program).read_text()), (page, text, opened)
        assert b.log() == [], page
        b.run("localStorage.clear(); return 0")


def make_site(folder):
    """False where the library that reads Markdown is not installed."""
    done = subprocess.run([sys.executable, ROOT + "/tools/site", folder + "/site", "--tirc", TIRC, "--every", "12"], capture_output=True, text=True)
    assert done.returncode in (0, 77), done.stderr
    if done.returncode == 77:
        print(done.stderr.strip())
        return False
    return True


def main():
    with tempfile.TemporaryDirectory() as folder:
        has_site = make_site(folder)
        for width, height, dark in SIZES:
            b = Browser(width, height, dark=dark)
            try:
                check_course(folder, b, width)
                if has_site:
                    check_site(folder, b, width)
                    check_opened(folder, b)
            finally:
                b.close()
    print("ok" if has_site else "ok, but without the site")


try:
    main()
except Missing as reason:
    print("skipped:", reason)
    sys.exit(77)
