#!/usr/bin/env python3
"""Each rule of --auto on each program: it takes it or declines, and never fails.

usage: each_rule.py TIRC FOLDER...
"""

import os
import pathlib
import subprocess
import sys
import tempfile

def rules_of(tirc, library):
    text = subprocess.run([tirc, "rules", library], capture_output=True, text=True, check=True).stdout
    last = [line for line in text.split("\n") if line.startswith("rules = [")]
    return [name.strip() for name in last[0].split("[")[1].split("]")[0].split(",")]


def main():
    tirc, folders = sys.argv[1], sys.argv[2:]
    every = int(os.environ.get("TIRC_TEST_EVERY", "1"))
    programs = sorted(p for f in folders for p in pathlib.Path(f).rglob("*.tir"))
    calls = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        for library, options in [("cpu", []), ("gpu", ["--target", "nvidia/nvidia-a100"])]:
            for rule in rules_of(tirc, library):
                own = pathlib.Path(temporary) / f"{rule}.sch"
                own.write_text(f"from {library} import {rule}, forms\nrules = [{rule}]\n")
                for number, program in enumerate(programs):
                    if (number + len(rule)) % every:
                        continue
                    run = subprocess.run([tirc, "apply", str(program), "--auto", "--rules", str(own), "--explain-auto",
                                          "-o", "/dev/null"] + options, capture_output=True, text=True, check=False)
                    said = [l for l in run.stderr.split("\n") if f" by {rule}" in l]
                    calls += len(said)
                    for line in said:
                        if line.startswith("declined") and ".sch:" in line:
                            failed += 1
                            print(f"FAIL {program}: {line}")
    print(f"{len(programs)} programs, {calls} calls of a rule, {failed} failed")
    return failed > 0 or calls == 0


if __name__ == "__main__":
    sys.exit(main())
