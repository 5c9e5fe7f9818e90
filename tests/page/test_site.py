#!/usr/bin/env python3
"""The documentation as a site, whole and without a browser: test_site.py TIRC SOURCE_ROOT

All of its links lead somewhere, each page of the guide, each primitive and each code has its page, and what opens in the
playground carries the program. test_course.py looks at the pages. Exit status 77 (skipped) where markdown-it is missing."""
import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

TIRC, ROOT = map(os.path.abspath, sys.argv[1:3])


def run(*words, status=0):
    done = subprocess.run([sys.executable, ROOT + "/tools/site", *map(str, words)], capture_output=True, text=True)
    if done.returncode == 77:
        print(done.stderr.strip())
        sys.exit(77)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def check_has_all(site):
    """The names are those of the tables that the command is made from."""
    names = lambda table, row: re.findall(row, pathlib.Path(ROOT, table).read_text(), re.M)
    codes = names("ir/codes.def", r'^(?:ARGUMENT_)?(?:ERROR|CODE)\(\w+, "([\w-]+)"')
    primitives = names("passes/words/primitives.def", r"^PRIMITIVE\((\w+)")
    assert len(codes) > 50 and len(primitives) > 50, (len(codes), len(primitives))
    guide = ["examples/guide/" + p.stem for p in pathlib.Path(ROOT, "examples/guide").glob("*.md")]
    pages = guide + ["reference/errors/" + c for c in codes] + ["reference/primitives/" + p for p in primitives]
    lacks = [page for page in pages if not (site / (page + ".html")).exists()]
    assert not lacks, lacks


def check_opens(site):
    """What a link carries is the text of the example."""
    opened = 0
    for page in site.glob("examples/**/*.tir.html"):
        program = pathlib.Path(ROOT, page.relative_to(site).with_suffix("")).read_text()
        link = re.search(r'<p class="open"><a href="([^"#]*)#([^"]*)"', page.read_text())
        assert bool(link) == ("@T.prim_func" in program), page
        if link:
            carried = zlib.decompress(base64.urlsafe_b64decode(link[2] + "=" * (-len(link[2]) % 4)), -15)
            assert json.loads(carried)["p"] == program and (page.parent / link[1]).resolve() == (site / "playground.html").resolve(), page
            opened += 1
    assert opened > 50, opened


def check_lost_links(site):
    """A link that leads nowhere is found."""
    page = site / "reference/index.html"
    whole = page.read_text()
    page.write_text(whole + '<a href="nowhere.html">x</a><a href="language.html#nothing">y</a>')
    found = run("--check", site, status=1)
    assert "nowhere.html leads nowhere" in found and "#nothing has no such heading" in found, found
    page.write_text(whole)


with tempfile.TemporaryDirectory() as folder:
    site, playground = pathlib.Path(folder, "site").resolve(), pathlib.Path(folder, "play.html")
    playground.write_text("<!DOCTYPE html><title>in place of the playground</title>\n")
    print(run(site, "--tirc", TIRC, "--playground", playground), end="")
    assert "<h2>Files</h2>" in (site / "examples/index.html").read_text()  # a folder and its README are one page
    print(run("--check", site), end="")
    check_has_all(site)
    check_opens(site)
    check_lost_links(site)
