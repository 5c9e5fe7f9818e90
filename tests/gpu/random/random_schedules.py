#!/usr/bin/env python3
"""Random schedules for GPUs: random_schedules.py RUN_RECORDED [--schedules N] [--seed S] [--devices emulate,opencl]
                              [--only WORD] [--write FILE]

Each of N schedules (300) is drawn by schedule.sch for one of the programs beside it in turn, is lowered, runs on the emulator
(for sm_80, so that there are shuffles), on OpenCL's first device, and must compute what the program does; the
emulator finds races beside. --write keeps what was drawn, a JSON object a line, for run_recorded alone. Exit
status 1 when one is wrong, or when too many are refused for the count to mean something."""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_REFUSED = 25  # percent


def option(name, usual=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else usual


def draw(count, seed):
    script = open(HERE + "/schedule.sch", encoding="utf-8").read()
    programs = sorted(f for f in os.listdir(HERE) if f.endswith(".tir") and option("--only", "") in f)
    for i in range(count):
        name, number = programs[i % len(programs)], seed + i // len(programs)
        program = open(HERE + "/" + name, encoding="utf-8").read()
        yield {"name": "%s#%d" % (name[:-4], number), "program": program, "schedule": "SEED = %d\n%s" % (number, script)}


def main():
    count, seed = int(option("--schedules", "300")), int(option("--seed", "1"))
    wrong = False
    with tempfile.TemporaryDirectory() as folder:
        path = option("--write", folder + "/schedules.jsonl")
        with open(path, "w", encoding="utf-8") as f:
            for record in draw(count, seed):
                f.write(json.dumps(record) + "\n")
        with open(folder + "/none.json", "w", encoding="utf-8") as f:
            f.write("{}")
        for device in option("--devices", "emulate,opencl").split(","):
            done = subprocess.run([sys.argv[1], device, "--size", "29", path, folder + "/none.json"], capture_output=True, text=True, errors="replace")
            if "[device]" in done.stdout:
                print("on %s: skipped, there is none" % device)
                continue
            print(done.stdout + done.stderr, end="")
            found = re.search(r"(\d+) right, (\d+) beyond its limits, (\d+) refused", done.stdout)
            right, beyond, refused = map(int, found.groups()) if found else (0, 0, 0)
            wrong |= done.returncode != 0 or 100 * refused > MOST_REFUSED * count or right == 0
    return 1 if wrong else 0


sys.exit(main())
