#!/usr/bin/env python3
"""What no compiler says of a text: usage: style.py ROOT

A comment of C names a source file that is there, by the end of its path. A banner, `/* --- name ---... */`, is one line, which
.clang-format leaves alone (CommentPragmas), as it does what is indented in a comment: a drawing. A script of operators has
lines of at most 120 columns. The struct of an option (options.def) is that of each command which takes it (commands.def), or
what that one begins with, and so on: the parser of options writes into the one through the other."""

import pathlib
import re
import sys

ROOMS = ["ir", "parser", "passes", "codegen", "runtime", "tools", "tests"]
COMMENT = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
NAME = re.compile(r"(?<![\w./*<-])((?:\w+/)*[A-Za-z_]\w*\.(?:c|h|def|sch))\b(?![\w(])")
BROKEN = re.compile(r"^/\* --- .*\n(?: \* -+(?:\n| ))? ?\*/$", re.M)
# Headers of others, and files of examples.
OTHERS = set("""assert.h complex.h cuda.h errno.h fenv.h inttypes.h math.h stddef.h stdio.h stdlib.h string.h xgboost/c_api.h
                rows.h pad.sch c.sch a/b/c.sch a/b/rule_based.sch recipes/tiles.sch target.sch""".split())
WIDTH = 120
BEGINS = re.compile(r"^typedef struct (\w+) \{\n +(\w+) ", re.M)
STRUCT_OF = re.compile(r"^COMMAND\((\w+), (\w+),", re.M)
OPTION = re.compile(r"""^(?:OPTION|MORE)\("([\w-]+)", .+?, [A-Z]+, (\w+), [\w.]+, (?:"[^"]*"|NULL), "([^"]*)",""", re.M)


def ends_of(paths):
    return {"/".join(path.parts[i:]) for path in paths for i in range(len(path.parts))}


def in_comments(text, pattern):
    for comment in COMMENT.finditer(text):
        if comment[0][0] == "/":
            for found in pattern.finditer(comment[0]):
                yield text.count("\n", 0, comment.start() + found.start()) + 1, found[1]


def begins(first, struct, with_):
    while struct != with_ and struct in first:
        struct = first[struct]
    return struct == with_


def wrong_options(tools):
    first = dict(m for p in tools.rglob("*.h") for m in BEGINS.findall(p.read_text()))
    structs = dict(STRUCT_OF.findall((tools / "kit/commands.def").read_text()))
    text = (tools / "kit/options.def").read_text()
    rows = OPTION.findall(text)
    faults = ["--%s: the struct of `tirc %s` does not begin with %s" % (name, c, struct)
              for name, struct, commands in rows for c in commands.split() if not begins(first, structs.get(c), struct)]
    n = len(re.findall(r"^(?:OPTION|MORE)\(", text, re.M))
    return faults + (["options.def: %d rows of %d are read" % (len(rows), n)] if len(rows) != n else [])


def main():
    root = pathlib.Path(sys.argv[1])
    paths = [p.relative_to(root) for room in ROOMS + ["examples"] for p in sorted((root / room).rglob("*.*"))]
    ends, faults, read = ends_of(paths) | OTHERS, wrong_options(root / "tools"), 0
    for path in paths:
        if path.suffix in (".c", ".h", ".def", ".l", ".y") and path.parts[0] in ROOMS:
            text, read = (root / path).read_text(errors="replace"), read + 1
            faults += ["%s:%d: there is no %s" % (path, line, name) for line, name in in_comments(text, NAME) if name not in ends]
            faults += ["%s:%d: a banner of two lines" % (path, text.count("\n", 0, m.start()) + 1) for m in BROKEN.finditer(text)]
        elif path.suffix == ".sch" and path.parts[:3] == ("passes", "module", "operators"):
            lines = (root / path).read_text().split("\n")
            faults += ["%s:%d: %d columns" % (path, i, len(line)) for i, line in enumerate(lines, 1) if len(line) > WIDTH]
    print("\n".join(faults + ["%d files, %d faults" % (read, len(faults))]))
    return 1 if faults or read < 800 else 0


sys.exit(main())
