#!/usr/bin/env python3
"""The report of `tirc study` in a headless Chromium, on a laptop and on a telephone, light and dark: it needs
no other file, nothing moves sideways but what is meant to, letters stand out and figures can be read.
test_report.py TIRC SOURCE_ROOT

Exit status 77 (skipped) where no browser is installed."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, Missing  # noqa: E402
from colours import contrast, parse  # noqa: E402

TIRC, ROOT = sys.argv[1:3]
SIZES = [(1366, 768, False), (390, 844, False), (390, 844, True)]
STUDY = """# A report to look at, under a title that is long enough to be broken on a telephone
workload("matmul.tir", name="a_kernel_with_a_long_name", D={"M": [1, 2, 4, 8, 16, 32, 48, 64], "K": 16, "N": 16})
for name in ["baseline", "vec_j", "parallel"]:
    contender(name, name + ".sch")
contender("vec_k", "vec_k.sch", expect_error="not-data-parallel")
ablate("A_CONSTANT_OF_SOME_LENGTH", {"a label of some length, too": 4}, of="vec_j")
threads(1)
repeat(5, seconds=0.0001, attempts=1)
table("A question of some length, which asks how fast it is", ["vec_j", "parallel"], "baseline", by="setting",
      published={"vec_j": (0.00001, 10000), "parallel": 100000})
plot("Lines", "line")
plot("A map", "heat")
plot("A roof", "roofline")
tiles("Tiles")
"""
OUTSIDE = """
  return [...document.querySelectorAll('body *')].filter(e => !e.closest('.wide, pre, details:not([open]), svg') &&
    e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"""
LETTERS = """
  return [...document.querySelectorAll('h1, p, td, th, .good, .bad, .open, code, figcaption')].map(e => {
    let under = e;
    while (getComputedStyle(under).backgroundColor === 'rgba(0, 0, 0, 0)' && under.parentElement) under = under.parentElement;
    return [getComputedStyle(e).color, getComputedStyle(under).backgroundColor];
  })"""
SMALLEST = """
  return Math.min(...[...document.querySelectorAll('figure:not(.wide) svg')].map(s =>
    s.getBoundingClientRect().width / s.viewBox.baseVal.width * 14))"""


def make_report(folder):
    for name in ("matmul.tir", "baseline.sch", "vec_j.sch", "parallel.sch", "vec_k.sch"):
        shutil.copy(os.path.join(ROOT, "examples", "matmul", name), folder)
    with open(os.path.join(folder, "vec_j.sch"), "a") as f:
        f.write("A_CONSTANT_OF_SOME_LENGTH = 2\n")
    with open(os.path.join(folder, "look.study"), "w") as f:
        f.write(STUDY)
    subprocess.run([TIRC, "study", os.path.join(folder, "look.study"), "--database", os.path.join(folder, "look.db"),
                    "-o", os.path.join(folder, "look")], check=True, stdout=subprocess.PIPE)
    alone = os.path.join(folder, "alone")
    os.mkdir(alone)
    return shutil.copy(os.path.join(folder, "look", "report.html"), alone)


def check(path, width, height, dark):
    where = (width, height, dark)
    b = Browser(width, height, dark=dark)
    try:
        b.open(path)
        assert b.run("document.documentElement.scrollWidth") <= width, where
        assert b.run(OUTSIDE) == [], (where, b.run(OUTSIDE))
        b.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert b.run("document.documentElement.scrollWidth") <= width, where
        assert b.run(OUTSIDE) == [], (where, b.run(OUTSIDE))
        for ink, paper in {tuple(pair) for pair in b.run(LETTERS)}:
            assert contrast(parse(ink), parse(paper)) >= 4.5, (where, ink, paper)
        if shutil.which("gnuplot"):
            assert b.run("document.querySelectorAll('figure svg').length") == 3, where
            assert b.run(SMALLEST) >= 9, (where, b.run(SMALLEST))
        assert b.run("[...document.querySelectorAll('link, script, img, iframe')].length") == 0, where
        assert b.log() == [], where
    finally:
        b.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = make_report(folder)
        for size in SIZES:
            check(path, *size)
    print("ok")


try:
    main()
except Missing as reason:
    print("skipped:", reason)
    sys.exit(77)
