#!/usr/bin/env python3
"""What a program that was compiled against an older header of this ABI needs is still there: usage: abi.py CC ROOT [--write]

tirc.abi is what abidw says of tirc.h: each function, and the types that it takes and gives. A function that is gone, or one
whose types changed, fails; one that is new does not. Asked is a library of empty functions, which has the
types of the header alone, no insides, whatever the build; that libtirc exports what the header declares is tests/install's part.
Where a change is meant, TIRC_ABI grows (with the soversion in meson.build, runtime/tirc.map and ABI in tools/python/tirc/_lib.py),
and --write writes the file anew. Exit status 77, skipped: there is no abidiff."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DECLARED = re.compile(r'(__attribute__\(\(visibility\("default"\)\)\)[^;{]*);')
QUIET = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--no-write-default-sizes", "--no-parameter-names", "--no-architecture"]


def library(cc, root, folder):
    header = subprocess.run([*cc, "-E", "-P", root / "runtime" / "tirc.h"], capture_output=True, text=True, check=True).stdout
    (folder / "tirc.c").write_text(DECLARED.sub(r"\1 { __builtin_trap(); }", header))
    path = folder / "libtirc.so"
    # Within the folder, so that what is kept has no name of it.
    subprocess.run([*cc, "-w", "-g", "-shared", "-fPIC", "tirc.c", "-o", path,
                    "-Wl,--version-script=" + str((root / "runtime" / "tirc.map").resolve())], check=True, cwd=folder)
    return path


def main():
    cc, root = sys.argv[1].split(), pathlib.Path(sys.argv[2])
    kept = root / "tests" / "abi" / "tirc.abi"
    if not shutil.which("abidiff"):
        print("skipped: there is no abidiff (Debian's abigail-tools)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        now = library(cc, root, pathlib.Path(folder))
        if "--write" in sys.argv:
            return subprocess.run(["abidw", *QUIET, "--out-file", kept, now]).returncode
        done = subprocess.run(["abidiff", "--no-added-syms", "--no-architecture", kept, now], capture_output=True, text=True)
        print(done.stdout, done.stderr)
        return done.returncode


sys.exit(main())
