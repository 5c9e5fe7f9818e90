#!/usr/bin/env python3
"""The emulator of a GPU: emulate.py TIRC FOLDER [--write OUT]

FOLDER/right holds kernels, most as they are after lowering, NAME.tir, and what each computes, NAME.plain.tir (or
NAME.tir by the interpreter, where there is none; NAME.sch is its schedule): the emulator must find nothing, in whatever
order it draws, and both must give the same arrays. FOLDER/refused holds programs that lowering must refuse, for kernels
of them would compute something else or never end; the lines `# ! words` of each are in the message, in their order.
FOLDER/faults.txt holds changes to the kernels of right, each of which plants one fault, and the words by which it must
be found:

    == what is wrong
    of NAME
    - a line of NAME.tir, without its indentation; `- 2: a line` is its second occurrence
    + what stands there instead (any number of lines, also none), indented relative to the line that goes
    ! words of the message, in their order; a line each

--write leaves the faulty kernels in a folder, for other tools. Exit status 1 names what differs.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy

EXTENTS = {"tail": ["--in", "n=1000"]}


def run(tirc, *words):
    done = subprocess.run([tirc, "run", *words], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout + done.stderr


def arrays(tirc, program, folder, words):
    text = open(program, encoding="utf-8").read()
    head = re.search(r"def main\((.*)\)", text)[1]
    names = re.findall(r"(\w+): T\.Buffer", head) + re.findall(r"(\w+) = T\.match_buffer", text)
    outs = [w for n in dict.fromkeys(names) for w in ("--out", "%s=%s/%s.npy" % (n, folder, n))]
    status, said = run(tirc, program, *words, *outs)
    if status:
        return said or "status %d" % status, {}
    return None, {n: numpy.load("%s/%s.npy" % (folder, n)) for n in dict.fromkeys(names)}


def schedule_of(program):
    path = program[:-4] + ".sch"
    return [path] if os.path.exists(path) else []


def check_refused(tirc, refused):
    wrong = []
    for name in sorted(f for f in os.listdir(refused) if f.endswith(".tir")):
        path = "%s/%s" % (refused, name)
        expected = re.findall(r"^# ! (.*)$", open(path, encoding="utf-8").read(), re.M)
        words = [tirc, "build", path, *schedule_of(path), "--emit=cuda", "--target", "sm_80"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=60)
        except subprocess.TimeoutExpired:
            wrong.append("%s: lowering does not end" % name)
            continue
        at = 0
        for w in expected:
            at = done.stderr.find(w, at) if at >= 0 else at
        if done.returncode != 2 or at < 0 or not expected:
            wrong.append("%s is not refused as it should be, status %d:\n%s" % (name, done.returncode, done.stderr))
    return wrong


def check_right(tirc, right):
    wrong = []
    for name in sorted(f[:-4] for f in os.listdir(right) if not f.endswith(".plain.tir")):
        with tempfile.TemporaryDirectory() as d:
            extents = EXTENTS.get(name, [])
            for seed in ("0", "7"):
                words = extents + ["--seed", seed]
                program = "%s/%s.tir" % (right, name)
                plain_program = "%s/%s.plain.tir" % (right, name)
                if not os.path.exists(plain_program):
                    plain_program = program
                error, plain = arrays(tirc, plain_program, d, words + ["--interpret"])
                error2, got = arrays(tirc, program, d, words + schedule_of(program) + ["--device", "emulate"])
                if error or error2:
                    wrong.append("%s, seed %s: %s" % (name, seed, error or error2))
                    continue
                for array in plain:
                    if not numpy.allclose(plain[array], got[array], rtol=1e-4, atol=1e-4):
                        wrong.append("%s, seed %s: %s differs" % (name, seed, array))
    return wrong


def read_faults(path):
    faults = []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if line.startswith("== "):
            faults.append({"name": line[3:], "changes": [], "words": [], "line": number})
        elif line.startswith("of "):
            faults[-1]["of"] = line[3:].strip()
        elif line.startswith("- "):
            faults[-1]["changes"].append((line[2:], []))
        elif line.startswith("+ "):
            faults[-1]["changes"][-1][1].append(line[2:])
        elif line.startswith("! "):
            faults[-1]["words"].append(line[2:])
        elif line and not line.startswith("#"):
            sys.exit("%s:%d: what is this?" % (path, number))
    return faults


def change(text, fault):
    lines = text.split("\n")
    for old, new in fault["changes"]:
        nth = re.match(r"(\d+): ", old)
        old = old[nth.end():] if nth else old
        found = [i for i, line in enumerate(lines) if line.strip() == old]
        at = int(nth[1]) - 1 if nth else 0
        if len(found) <= at or (not nth and len(found) > 1):
            sys.exit("%s: `%s` stands %d times" % (fault["name"], old, len(found)))
        indent = lines[found[at]][:-len(old)]
        lines[found[at]:found[at] + 1] = [indent + line for line in new]
    return "\n".join(lines)


def check_faults(tirc, folder, out):
    wrong, names = [], set()
    faults = read_faults(folder + "/faults.txt")
    for i, fault in enumerate(faults):
        name = fault["of"]
        text = change(open("%s/right/%s.tir" % (folder, name), encoding="utf-8").read(), fault)
        path = "%s/fault%02d.tir" % (out, i + 1)
        open(path, "w", encoding="utf-8").write("# %s\n%s" % (fault["name"], text))
        if fault["name"] in names:
            wrong.append("two faults are called: " + fault["name"])
        names.add(fault["name"])
        for seed in ("0", "5"):
            status, said = run(tirc, path, "--device", "emulate", "--seed", seed, *EXTENTS.get(name, []))
            at = 0
            for words in fault["words"]:
                at = said.find(words, at) if at >= 0 else at
            if status != 2 or at < 0 or not fault["words"]:
                wrong.append("%s (faults.txt:%d, seed %s), status %d:\n%s" % (fault["name"], fault["line"], seed, status, said))
    return wrong, len(faults)


def main():
    tirc, folder = sys.argv[1:3]
    wrong = check_right(tirc, folder + "/right") + check_refused(tirc, folder + "/refused")
    with tempfile.TemporaryDirectory() as d:
        out = sys.argv[4] if sys.argv[3:4] == ["--write"] else d
        os.makedirs(out, exist_ok=True)
        more, n = check_faults(tirc, folder, out)
    wrong += more
    for w in wrong:
        print(w)
    print("%d faults, %d complaints" % (n, len(wrong)))
    return 1 if wrong else 0


sys.exit(main())
