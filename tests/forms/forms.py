#!/usr/bin/env python3
"""What rules make of one program that is written in several ways (rewrite.py).

usage: forms.py TIRC PROGRAM... [-D NAME=VALUE]... [--only ROW]... [--seconds S] [--write FOLDER]

A program may be a suite: each of its rows, or those named.

Each form must compute what the program computes, be taken by the rule that takes the program as it
stands, and have no more blocks then: a copy that a form leaves over is as slow as a small kernel.
With --seconds each is measured, too, beside the program as it stands and in turn with
it: a form that is slower than 0.8 of the best one fails.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import rewrite


def tirc(arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def rule_of(text):
    """The rule that took the function; None: none did."""
    for line in text.split("\n"):
        if line.startswith("took"):
            return line.split(" by ", 1)[1].split(":")[0]
    return None


def blocks_of(command, path):
    """How many blocks the program has that the rules make."""
    return tirc([command, "apply", str(path), "--auto"]).stdout.count("with T.block(")


def milliseconds(command, path, seconds):
    run = tirc([command, "bench", str(path), "--auto", "--threads", "1", "--seconds", str(seconds), "--figures", "-"])
    results = json.loads(run.stdout)["results"]
    return min(r["min_s"] * 1000 for r in results if r["contender"] == "auto")


def look_at(command, name, program, defined, folder, check):
    printed = tirc([command, "print", program] + [f"-D{d}" for d in defined])
    if printed.returncode:
        sys.exit(printed.stderr)
    found = []
    done = ["--check", "--threads", "1"] if check else ["-o", "/dev/null"]
    for form, text in rewrite.forms(printed.stdout):
        path = folder / f"{name}-{form}.tir"
        path.write_text(text)
        run = tirc([command, "run" if check else "apply", str(path), "--auto", "--explain-auto"] + done)
        if run.returncode:
            sys.exit(f"{path}: {run.stdout}{run.stderr}")
        found.append((form, path, rule_of(run.stderr), blocks_of(command, path)))
    return found


def programs_of(options):
    """(name, path, constants)"""
    for program in options.programs:
        path = pathlib.Path(program)
        if path.suffix != ".suite":
            yield path.stem, program, options.defined
            continue
        for line in path.read_text().split("\n"):
            name, *rest = line.split("#")[0].split() or [""]
            if rest and (not options.only or name in options.only):
                yield name, str(path.parent / rest[0]), rest[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tirc")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("-D", dest="defined", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--only", action="append", default=[], metavar="ROW")
    parser.add_argument("--write", metavar="FOLDER")
    options = parser.parse_args()
    failed = total = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.write or temporary)
        folder.mkdir(exist_ok=True)
        for kernel, program, defined in programs_of(options):
            found = look_at(options.tirc, kernel, program, defined, folder, not options.seconds)
            wanted, blocks = found[0][2:]
            times = {}
            for turn in range(2 if options.seconds else 0):
                for name, path, *_ in found:
                    ms = milliseconds(options.tirc, path, options.seconds)
                    times[name] = min(ms, times.get(name, ms))
            best = min(times.values(), default=0)
            for name, _, rule, more in found:
                slow = options.seconds and best < 0.8 * times[name]
                total += 1
                # A factor of all products is a block of its own, where the results go.
                left = more > blocks + (name == "scaled")
                wrong = rule is None or rule != wanted or slow or left
                failed += bool(wrong)
                word = f", {times[name]:.4f} ms, {best / times[name]:.2f} of the best" if times else ""
                mark = "FAIL " if wrong else ""
                print(f"{mark}{kernel}, {name}: {rule}, {more} blocks{word}", flush=True)
    print(f"{total} forms, {failed} are not taken as the program as it stands is")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
