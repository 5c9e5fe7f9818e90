#!/usr/bin/env python3
"""Recorded schedules for GPUs on the emulator: recorded.py TIRC FOLDER [--barriers] [--only WORD] [--every N] [--jobs N] [--most N]

FOLDER has spaces/cuda.jsonl with its programs and dlight/dlight.jsonl, a JSON object a line. Each
schedule is applied and lowered, and all blocks run; the results are compared with the program before the
schedule, interpreted in double (those of more than some ten million operations with its compiled code).

--barriers takes each barrier of each lowered program out in turn: the emulator must report what then goes wrong,
or the barrier is counted as idle. Programs whose run takes longer than ten seconds are then run by eight blocks
a launch. Sizes that are symbols are 8. --most N leaves out programs of more
than N iterations. Exit status 1 when something is wrong.
"""
import concurrent.futures
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy

SIZE = 8
LIMIT = 3000  # seconds, of one run
BARRIER = re.compile(r'^ *T\.tvm_storage_sync\("shared"\)\n', re.M)


def option(name, usual=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else usual


def read_cases(folder):
    """name, program, schedule"""
    cases = []
    programs = json.load(open(folder + "/spaces/cuda.programs.json"))
    intrinsics = {f: json.load(open("%s/%s/intrinsics.json" % (folder, f))) for f in ("spaces", "dlight")}
    for line in open(folder + "/spaces/cuda.jsonl"):
        d = json.loads(line)
        cases.append((d["name"], programs[d["program"]], before(intrinsics["spaces"], d["schedule"]) + d["schedule"]))
    for line in open(folder + "/dlight/dlight.jsonl"):
        d = json.loads(line)
        if ".cpu." in d["name"]:
            continue
        schedule = d["schedule"]
        cases.append(("dlight/" + d["name"], d["program"], before(intrinsics["dlight"], schedule) + schedule + "\napply_trace(sch)\n"))
    return cases


def before(intrinsics, schedule):
    return "\n".join(text for name, text in intrinsics.items() if name in schedule) + "\n"


def tirc(*words):
    try:
        done = subprocess.run([TIRC, *words], capture_output=True, text=True, errors="replace", timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return 3, "", "no end after %d s" % LIMIT
    return done.returncode, done.stdout, done.stderr


def work_of(program, size):
    """Iterations of all blocks, roughly."""
    total, stack = 0, []
    for line in program.split("\n"):
        indent = len(line) - len(line.lstrip())
        while stack and stack[-1][0] >= indent and line.strip():
            stack.pop()
        loop = re.match(r"\s*for .* in (?:T\.grid|range|T\.serial)\((.*)\):", line)
        if loop:
            product = 1
            for n in re.findall(r"[\w.() *+/]+", loop[1]):
                number = re.findall(r"\d+", n.replace("int64", "").replace("int32", ""))
                product *= int(number[0]) if number else size
            stack.append((indent, product))
        elif re.match(r"\s*with T\.block\(\"(?!root)", line):
            product = 1
            for _, n in stack:
                product *= n
            total += product
    return total


def in_words(program):
    names = []
    for line in re.findall(r"^\s+([\w, ]+) = T\.int(?:32|64)\((?:is_size_var=True)?\)", program, re.M):
        names += line.split(", ")
    names += re.findall(r"[(, ](\w+): T\.int(?:32|64)[,)]", program)
    return [w for n in names for w in ("--in", "%s=%d" % (n, SIZE))]


def compare_with_compiled(program, schedule, lowered, words, folder):
    head = program[:program.index("):\n")]
    names = re.findall(r"(\w+): T\.Buffer", head) + re.findall(r"(\w+) = T\.match_buffer", program)
    arrays = []
    for words_of in ([program_file(folder, program)], [lowered, "--device", "emulate"]):
        outs = [w for n in names for w in ("--out", "%s=%s/%s.npy" % (n, folder, n))]
        status, said, error = tirc("run", *words_of, *words, *outs)
        if status:
            return error
        arrays.append({n: numpy.load("%s/%s.npy" % (folder, n)).astype("float64") for n in names})
    for n in names:
        a, b = arrays[0][n], arrays[1][n]
        far = numpy.abs(a - b).max() if a.size else 0
        # a float16 may have added up thousands of terms, in another order
        if not far <= (0.05 if "float16" in program else 1e-4) * (numpy.abs(a).max() + 1e-30):
            return "%s differs by %g from the compiled program's" % (n, far)
    return None


def program_file(folder, program):
    open(folder + "/program.tir", "w").write(program)
    return folder + "/program.tir"


def run_case(case):
    name, program, schedule = case
    start = time.time()
    out = {"name": name, "barriers": 0, "idle": [], "error": None}
    with tempfile.TemporaryDirectory() as d:
        prog, sched, lowered = program_file(d, program), d + "/schedule.sch", d + "/lowered.tir"
        open(sched, "w").write(schedule)
        words = in_words(program)
        status, text, error = tirc("lower", prog, sched, "--target", TARGET)
        if status:
            out["error"] = "not lowered: " + error
            return out
        open(lowered, "w").write(text)
        if BARRIERS:
            find_idle(out, text, d, words)
        elif work_of(program, SIZE) > MOST_WORK:
            out["error"] = compare_with_compiled(program, schedule, lowered, words, d)
        else:
            status, said, error = tirc("run", prog, sched, "--device", "emulate", "--target", TARGET, "--check", *words)
            if status:
                out["error"] = error + said
    out["seconds"] = time.time() - start
    return out


def find_idle(out, text, folder, words):
    path = folder + "/without.tir"
    few = []
    for i, found in enumerate(BARRIER.finditer(text)):
        out["barriers"] += 1
        open(path, "w").write(text[:found.start()] + text[found.end():])
        for blocks in (["--blocks", "8"], []):
            if blocks == [] and few:
                break
            start = time.time()
            status, said, error = tirc("run", path, "--device", "emulate", *words, *blocks)
            if status == 2 and ("[race]" in error or "[uninitialised]" in error):
                break
            if status:
                out["error"] = "without barrier %d: %s" % (i + 1, error)
                return
            if time.time() - start > 10:
                few = blocks
        else:
            out["idle"].append(i + 1)
            continue
        if status == 0:
            out["idle"].append(i + 1)


TIRC, FOLDER = sys.argv[1:3]
BARRIERS, TARGET, MOST_WORK = "--barriers" in sys.argv, option("--target", "emulated"), 2e7


def main():
    only = option("--only", "")
    most = float(option("--most", "inf"))
    cases = [c for c in read_cases(FOLDER) if only in c[0] and work_of(c[1], SIZE) <= most][::int(option("--every", "1"))]
    wrong = idle = barriers = 0
    start = time.time()
    with concurrent.futures.ThreadPoolExecutor(int(option("--jobs", "2"))) as pool:
        for out in pool.map(run_case, cases):
            wrong += out["error"] is not None
            idle, barriers = idle + len(out["idle"]), barriers + out["barriers"]
            if out["error"] or out["idle"] or "--verbose" in sys.argv:
                print(out["name"], "%.1f s" % out.get("seconds", 0), out["error"] or "", out["idle"] or "", flush=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("%d schedules, %d wrong, %d barriers, %d idle; %.0f s, %.0f s of processors"
          % (len(cases), wrong, barriers, idle, time.time() - start, used.ru_utime + used.ru_stime))
    return 1 if wrong or (barriers and idle > 0.02 * barriers) else 0


sys.exit(main())
