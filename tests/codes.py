#!/usr/bin/env python3
"""Every code that ends an error's or a warning's first line is one that `tirc explain` knows: usage: codes.py TIRC ROOT

The codes are collected from the sources: the literals that functions which fail, refuse or warn are given where a code stands,
and what `tools/codes.def` has must be there, too."""

import pathlib
import re
import subprocess
import sys

ROOMS = ["ir", "parser", "passes", "codegen", "runtime", "tools"]
CALL = re.compile(r'\b(\w*(?:fail|FAIL|refuse|warn|raise|error|bad_row)\w*)\(((?:[^()"]|\([^()]*\))*?)"([a-z]+(?:-[a-z]+)*)"\s*,')
FIELD = re.compile(r'(?:\.code = |\(Warning\)\{\s*|#define SCHED_\w+ |#define NO_RULE )"([a-z]+(?:-[a-z]+)*)"')
CLASS = re.compile(r'\{"\w+", (?:NULL|"\w+"), "([a-z-]+)"\}')  # of exceptions of scripts


def codes_of(root):
    found = {}
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.[ch]")):
            text = path.read_text()
            some = [m[2] for m in CALL.findall(text)] + FIELD.findall(text)
            if path.name == "exception.c":
                some += CLASS.findall(text)
            for code in some:
                found.setdefault(code, path.relative_to(root))
    return found


def explained(tirc, code):
    done = subprocess.run([tirc, "explain", code], capture_output=True, text=True)
    return done.returncode == 0 and re.match(r"%s( |$)" % re.escape(code), done.stdout.split("\n")[0])


def main():
    tirc, root = sys.argv[1], pathlib.Path(sys.argv[2])
    found = codes_of(root)
    rows = re.findall(r'^CODE\("([a-z-]+)", "', (root / "tools" / "codes.def").read_text(), re.M)
    wrong = ["%s (%s): `tirc explain` does not know it" % (code, place) for code, place in sorted(found.items())
             if not explained(tirc, code)]
    text = "".join(p.read_text() for room in ROOMS for p in (root / room).rglob("*.[chly]"))
    wrong += ["%s: no source has it" % code for code in rows if '"%s"' % code not in text]
    wrong += ["%s stands there twice" % code for code in sorted(set(rows)) if rows.count(code) > 1]
    print("\n".join(wrong + ["%d codes, %d failures" % (len(found), len(wrong))]))
    return 1 if wrong or len(found) < 60 else 0


sys.exit(main())
