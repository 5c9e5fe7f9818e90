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
LIMIT = 60  # seconds a schedule on a device: pocl takes hours to compile a kernel with some dozens of barriers written out


def option(name, usual=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else usual


def draw(count, seed):
    script = open(HERE + "/schedule.sch", encoding="utf-8").read()
    programs = sorted(f for f in os.listdir(HERE) if f.endswith(".tir") and option("--only", "") in f)
    for i in range(count):
        name, number = programs[i % len(programs)], seed + i // len(programs)
        program = open(HERE + "/" + name, encoding="utf-8").read()
        yield {"name": "%s#%d" % (name[:-4], number), "program": program, "schedule": "SEED = %d\n%s" % (number, script)}


def run_on(device, path, folder):
    """All at once on the emulator; on a device each by itself, which is ended where it takes too long."""
    lines = [open(path, encoding="utf-8").read()] if device == "emulate" else open(path, encoding="utf-8").readlines()
    right = beyond = refused = 0
    status, said = 0, ""
    for line in lines:
        one = folder + "/one.jsonl"
        with open(one, "w", encoding="utf-8") as f:
            f.write(line)
        try:
            done = subprocess.run([sys.argv[1], device, "--size", "29", one, folder + "/none.json"], capture_output=True, text=True,
                                  errors="replace", timeout=None if device == "emulate" else LIMIT)
        except subprocess.TimeoutExpired:
            said += "%s: not done in %d s\n" % (json.loads(line)["name"], LIMIT)
            beyond += 1
            continue
        found = re.search(r"on .*: (\d+) right, (\d+) beyond its limits, (\d+) refused.*", done.stdout)
        said += done.stdout.replace(found[0] + "\n", "") if found else done.stdout + done.stderr
        status |= done.returncode
        counts = map(int, found.groups()) if found else (0, 0, 0)
        right, beyond, refused = (a + b for a, b in zip((right, beyond, refused), counts))
        if "[device]" in done.stdout:
            break
    return status, said, right, beyond, refused


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
            status, said, right, beyond, refused = run_on(device, path, folder)
            if "[device]" in said:
                print("on %s: skipped, there is none" % device)
                continue
            print("%son %s: %d right, %d beyond its limits, %d refused" % (said, device, right, beyond, refused))
            wrong |= status != 0 or 100 * refused > MOST_REFUSED * count or right == 0
    return 1 if wrong else 0


sys.exit(main())
