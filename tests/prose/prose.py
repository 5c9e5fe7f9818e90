#!/usr/bin/env python3
"""Checks the prose of the pages (*.md): spelling with aspell and the additional words of words.txt, and proselint with the checks
that proselint/config leaves on. Code, targets of links and the parts that tools/update-pages writes do not count as prose. If neither
program is installed, the test is skipped (status 77); tools/setup --all installs both.

usage: prose.py SOURCE [PAGE...]     PAGE: a part of a page's path
"""
import os, pathlib, re, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
LEAST_PAGES = 40  # finding none is a failure
# Programs write these lists of cases; their words are names.
LISTS = ("tests/cases/DIFFERENCES-BY-CASE.md", "tests/cases/transform/DIFFERENCES.md")


def prose(text):
    """The prose of a page, with all lines in place."""
    kept, fenced, generated, after_blank = [], False, False, True
    for line in text.split("\n"):
        if re.match(r"\s*```", line):
            fenced, line = not fenced, ""
        generated = generated and not line.startswith("<!-- end -->") or bool(re.match("<!-- (tirc|python3) ", line))
        if fenced or generated or line.startswith("<!--") or after_blank and line.startswith("    "):
            line = ""
        else:
            after_blank = not line.strip()
        kept.append(line)
    text = re.sub(r"`[^`]+`", lambda m: "X" + "\n" * m[0].count("\n"), "\n".join(kept))
    return re.sub(r"\]\([^)]*\)", "]", text)


def spelling(pages):
    """Words that no dictionary has. A word with capitals inside, such as MatMul, is a name."""
    known = set((HERE / "words.txt").read_text(encoding="utf-8").split())
    done = subprocess.run(["aspell", "list", "--master=en_GB-ize", "--encoding=utf-8", "--ignore=2"], input="\n".join(pages.values()),
                          capture_output=True, text=True)
    if done.returncode:
        print(f"no spelling: {done.stderr.strip()}")
        return None
    unknown = {word for word in done.stdout.split()
               if word not in known and word.removesuffix("'s") not in known and not re.search("[a-z][A-Z]|[A-Z]{2}", word)}
    return [f"{page}:{text.count(chr(10), 0, found.start()) + 1}: '{found[0]}' is in no dictionary, nor in tests/prose/words.txt"
            for page, text in pages.items() for found in re.finditer(r"[^\W\d_][^\W\d_']*", text)
            if found[0] in unknown or found[0].removesuffix("'s") in unknown]


def proselint(pages, scratch):
    os.environ |= {"XDG_CONFIG_HOME": str(HERE), "XDG_CACHE_HOME": scratch}
    try:
        from proselint.tools import close_cache_shelves, lint
    except ImportError:
        print("no proselint (python3-proselint)")
        return None
    found = [f"{page}:{line}: {message} [{check}]" for page, text in pages.items() for check, message, line, *_ in lint(text)]
    close_cache_shelves()  # they are in the scratch folder
    return found


def main(source, *only):
    source = pathlib.Path(source).resolve()
    folders = ("examples", "tests", "tools")
    paths = [source / "README.md", *sorted(p for f in folders for p in (source / f).rglob("*.md"))]
    names = {path: str(path.relative_to(source)) for path in paths}
    pages = {names[p]: prose(p.read_text(encoding="utf-8")) for p in paths
             if names[p] not in LISTS and (not only or any(part in names[p] for part in only))}
    with tempfile.TemporaryDirectory() as scratch:
        found = [spelling(pages) if shutil.which("aspell") else None, proselint(pages, scratch)]
    if not shutil.which("aspell"):
        print("no aspell (aspell, aspell-en)")
    problems = [line for lines in found if lines is not None for line in lines]
    print("\n".join(problems + [f"{len(pages)} pages, {len(problems)} problems"]))
    if all(lines is None for lines in found):
        return 77
    return bool(problems) or not only and len(pages) < LEAST_PAGES


sys.exit(main(*sys.argv[1:]))
