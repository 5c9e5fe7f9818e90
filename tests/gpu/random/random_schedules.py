#!/usr/bin/env python3
"""Random schedules for GPUs: random_schedules.py RUN_RECORDED [--schedules N] [--seed S] [--devices emulate,opencl]
                              [--only WORD] [--limit S] [--write FILE]

Schedules are drawn by schedule.sch for the programs beside it in turn, until N (300) are legal: what is refused is
counted, with its reasons, and the program has another one drawn. Each is lowered and runs on the emulator (for sm_80,
so that there are shuffles), then on OpenCL's first device, and must compute what the program does; the emulator finds
races beside. Each has S (60) seconds of processor time. --write keeps the legal ones, a JSON object a line, for
run_recorded alone. Exit status 1 when one is wrong, when one is not done, or when too many are refused for the count
to mean something."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_REFUSED = 25  # percent
# pocl writes its loops over a block's threads out, once a barrier: hours for some dozens of these
POCL = {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}


def option(name, usual=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else usual


def programs():
    return sorted(f for f in os.listdir(HERE) if f.endswith(".tir") and option("--only", "") in f)


def record(name, number):
    script = open(HERE + "/schedule.sch", encoding="utf-8").read()
    program = open(HERE + "/" + name, encoding="utf-8").read()
    return {"name": "%s#%d" % (name[:-4], number), "program": program, "schedule": "SEED = %d\n%s" % (number, script)}


def write(path, records):
    with open(path, "w", encoding="utf-8") as f:
        for r in records:
            f.write(json.dumps(r) + "\n")


def run_on(device, records, folder):
    """What run_recorded says of each that is not right, by name, and its counts."""
    write(folder + "/some.jsonl", records)
    write(folder + "/none.json", [{}])
    words = [sys.argv[1], device, "--size", "29", "--limit", option("--limit", "60"), folder + "/some.jsonl", folder + "/none.json"]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace",
                          env={"POCL_CACHE_DIR": folder, **POCL, **os.environ})
    last = done.stdout.rstrip("\n").rpartition("\n")[2]
    found = re.match(r"on .*: (\d+) right, (\d+) beyond its limits, (\d+) refused, (\d+) not done in time, (\d+) WRONG", last)
    if not found:
        sys.exit("run_recorded ends with status %d: %s%s" % (done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
    said = {r["name"]: "" for r in records}
    name = None
    for line in done.stdout.split("\n")[:-2]:
        head = line.partition(": ")[0]
        name = head if head in said else name
        if name:
            said[name] += line + "\n"
    return {n: text for n, text in said.items() if text}, [int(n) for n in found.groups()]


def is_refused(text):
    return text and "WRONG: " not in text and "not built and run in" not in text


def reason(text):
    """Without the names in it, so that like ones count together."""
    code = re.findall(r"\[([\w-]+)\]$", text.strip(), re.M)
    head = text.partition(": ")[2].split("\n")[0]
    head = re.sub(r'\([^()]*_[^()]*\)|"[^"]*"|\b\w*[_#.]\w*\b', "..", head.replace(" [%s]" % (code or [""])[-1], ""))
    return "[%s] %s" % (code[-1] if code else "?", head[:110])


def draw(count, seed, folder):
    """Legal ones with what the emulator says of them, and how many there are for each reason of those that are not."""
    legal, said, refused = [], {}, collections.Counter()
    numbers = {p: seed for p in programs()}
    wanted = collections.Counter(programs()[i % len(numbers)] for i in range(count))
    while wanted:
        batch = []
        for p, n in wanted.items():
            batch += [(p, record(p, numbers[p] + i)) for i in range(n)]
            numbers[p] += n
        found, _ = run_on("emulate", [r for _, r in batch], folder)
        wanted = collections.Counter()
        for p, r in batch:
            text = found.get(r["name"], "")
            if is_refused(text):
                refused[reason(text)] += 1
                wanted[p] += 1
            else:
                legal.append(r)
                said[r["name"]] = text
        if sum(refused.values()) > MOST_REFUSED * max(count, 40) / 100:
            break
    return legal, said, refused


def main():
    count, seed = int(option("--schedules", "300")), int(option("--seed", "1"))
    devices = option("--devices", "emulate,opencl").split(",")
    with tempfile.TemporaryDirectory() as folder:
        legal, said, refused = draw(count, seed, folder)
        if option("--write"):
            write(option("--write"), legal)
        print("%d legal schedules of %d programs; %d drawn besides were refused" % (len(legal), len(programs()), sum(refused.values())))
        for why, n in refused.most_common():
            print("  %3d %s" % (n, why))
        bad = len(legal) < count
        for device in devices:
            if device != "emulate":
                said, counts = run_on(device, legal, folder)
                if any("[device]" in text for text in said.values()):
                    print("on %s: skipped, there is none" % device)
                    continue
            beyond = sum(1 for t in said.values() if is_refused(t))
            wrong = sum(1 for t in said.values() if t and not is_refused(t))
            print("%son %s: %d right, %d wrong or not done, %d beyond its limits"
                  % ("".join(said.values()), device, len(legal) - beyond - wrong, wrong, beyond))
            bad |= wrong > 0 or beyond * 100 > MOST_REFUSED * count
    return 1 if bad else 0


sys.exit(main())
