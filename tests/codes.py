#!/usr/bin/env python3
"""Each code of ir/codes.def is one that `tirc explain` knows, that some source uses and that some test expects: usage: codes.py TIRC ROOT

A code without a row does not compile where it is raised; a literal in a source's place of a code would pass the compiler only
where texts travel (tables of figures, device messages), so literals that fail or warn there have to be rows, too."""

import pathlib
import re
import subprocess
import sys

ROOMS = ["ir", "parser", "passes", "codegen", "runtime", "tools"]
ROW = re.compile(r'^(ERROR|ARGUMENT_ERROR|CODE)\((\w+), "([a-z-]+)", "', re.M)
LITERAL = re.compile(r'(?:slot_fail\([^"]*|(?:->|\.)code = (?:strdup\()?)"([a-z]+(?:-[a-z]+)*)"')

# How a test says which code it expects, by the kind of its file.
EXPECTED = {".case": r"^code: ([a-z-]+)$", ".cli": r'^[!>] (?:.*\[|.*"code":")([a-z-]+)[]"]', ".txt": r"^! \[([a-z-]+)\]$",
            ".py": r'\bcode == "([a-z-]+)"',
            ".c": r'\b((?:CODE|SERR)_\w+)|(?:TIRC_BAD|TIRC_NO|ERROR_CODE\)|->code|\d), "([a-z-]+)"|^ +"([a-z-]+)",$'}
NEVER_SEEN = {"declined": "the search catches it: it takes another rule",
              "ended": "the interpreter catches it: who ended the run knows",
              "interrupted": "Ctrl-C in the midst of a run: tests/cli/bench.cli sees how the bench ends, not the code"}


def expected(tests):
    for path in sorted(p for p in tests.rglob("*") if p.suffix in EXPECTED):
        for groups in re.finditer(EXPECTED[path.suffix], path.read_text(errors="replace"), re.M):
            yield from filter(None, groups.groups())


def explained(tirc, code):
    done = subprocess.run([tirc, "explain", code], capture_output=True, text=True)
    return done.returncode == 0 and re.match(r"%s( |$)" % re.escape(code), done.stdout.split("\n")[0])


def main():
    tirc, root = sys.argv[1], pathlib.Path(sys.argv[2])
    rows = ROW.findall((root / "ir" / "codes.def").read_text())
    codes = [code for _, _, code in rows]
    text = "".join(p.read_text() for room in ROOMS for p in sorted((root / room).rglob("*.[chly]")))
    used = set(re.findall(r"\b(?:CODE|SERR)_\w+", text)) | {"literal " + code for code in re.findall(r'"([a-z-]+)"', text)}
    wrong = ["%s: `tirc explain` does not know it" % code for code in codes if not explained(tirc, code)]
    wrong += ["%s: no source has it" % code for kind, name, code in rows
              if ("CODE_" if kind == "CODE" else "SERR_") + name not in used and "literal " + code not in used]
    seen = set(expected(root / "tests")) | set(NEVER_SEEN)
    wrong += ["%s: no test expects it" % code for kind, name, code in rows
              if code not in seen and ("CODE_" if kind == "CODE" else "SERR_") + name not in seen]
    wrong += ["%s: there is no such code that could be never seen" % code for code in sorted(set(NEVER_SEEN) - set(codes))]
    wrong += ["%s stands there twice" % code for code in sorted(set(codes)) if codes.count(code) > 1]
    wrong += ["%s: a source has it, and no row" % code for code in sorted(set(LITERAL.findall(text)) - set(codes))]
    print("\n".join(wrong + ["%d codes, %d failures" % (len(codes), len(wrong))]))
    return 1 if wrong or len(codes) < 150 else 0


sys.exit(main())
