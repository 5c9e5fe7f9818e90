#!/usr/bin/env python3
"""Recorded schedules for GPUs on the emulator: recorded.py TIRC FOLDER [--barriers] [--only WORD] [--every N] [--start N] [--jobs N] [--least N] [--most N]

FOLDER has spaces/cuda.jsonl with its programs and dlight/dlight.jsonl, a JSON object a line. Each
schedule is applied and lowered, and all blocks run; the results are compared with the program before the
schedule, interpreted in double (those of more than five million operations with its compiled code; where sums of float16
come out too far apart to tell, with float32 in its place).

--barriers takes each barrier of each lowered program out in turn: the emulator must report what then goes wrong,
or the barrier is counted as idle. It is looked for in one block of a launch, if nothing is wrong with that as long as
the barriers are there, then in eight, and then in all of them, for a minute. --every N takes one in N, from the one of --start N
on. Sizes that are symbols are odd and
differ; scalars that are no sizes are 1, and arrays of indices hold 0 to 3. --most N leaves out programs of more
than N iterations and --least N those of no more than N, --verbose says what each takes. Exit status 1 when something is wrong.
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

SIZES = (13, 19, 17, 11, 23, 29, 31)
LIMIT, IDLE_LIMIT = 3000, 60  # seconds, of one run, and of one without a barrier
TIMED_OUT = 3
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


def tirc(*words, limit=LIMIT):
    try:
        done = subprocess.run([TIRC, *words], capture_output=True, text=True, errors="replace", timeout=limit)
    except subprocess.TimeoutExpired:
        return TIMED_OUT, "", "no end after %d s" % limit
    return done.returncode, done.stdout, done.stderr


def sizes_of(program):
    names = []
    for line in re.findall(r"^\s+([\w, ]+) = T\.int(?:32|64)\((?:is_size_var=True)?\)", program, re.M):
        names += line.split(", ")
    names += [n for n in re.findall(r"[(, ](\w+): T\.int(?:32|64)[,)]", program) if re.search(r"\(\(.*\b%s\b.*\)," % n, program)]
    return {n: SIZES[i % len(SIZES)] for i, n in enumerate(dict.fromkeys(names))}


def work_of(program):
    """Iterations of all blocks, roughly."""
    total, stack, sizes = 0, [], sizes_of(program)
    for line in program.split("\n"):
        indent = len(line) - len(line.lstrip())
        while stack and stack[-1][0] >= indent and line.strip():
            stack.pop()
        loop = re.match(r"\s*for .* in (?:T\.grid|range|T\.serial)\((.*)\):", line)
        if loop:
            product = 1
            for n in re.findall(r"[\w.() *+/]+", loop[1]):
                number = re.findall(r"\d+", n.replace("int64", "").replace("int32", ""))
                symbol = [sizes[w] for w in re.findall(r"\w+", n) if w in sizes]
                product *= int(number[0]) if number and not symbol else symbol[0] if symbol else 1
            stack.append((indent, product))
        elif re.match(r"\s*with T\.block\(\"(?!root)", line):
            product = 1
            for _, n in stack:
                product *= n
            total += product
    return total


def in_words(program):
    values = sizes_of(program)
    head = program[:program.index("):\n")]
    for n in re.findall(r"[(, ](\w+): T\.int(?:32|64)\b", head):
        values.setdefault(n, 1)
    words = [w for n, v in values.items() for w in ("--in", "%s=%d" % (n, v))]
    indices = re.findall(r"(\w+): T\.Buffer\(\((?:[^()]|\(\w*\))*\), \"int(?:32|64)\"", head)
    indices += re.findall(r"(\w+) = T\.match_buffer\([^\n]*\), \"int(?:32|64)\"", program)
    return words + [w for n in indices for w in ("--range", n + "=0:3")]


def with_float32(program):
    return program.replace('"float16"', '"float32"').replace("T.float16(", "T.float32(")


def compare_with_compiled(program, lowered, words, folder):
    head = program[:program.index("):\n")]
    names = re.findall(r"(\w+): T\.Buffer", head) + re.findall(r"(\w+) = T\.match_buffer", program)
    arrays = []
    emulated = ["--device", "emulate"]
    for words_of in ([program_file(folder, program)] + emulated * ("thread_binding" in program), [lowered] + emulated):
        outs = [w for n in names for w in ("--out", "%s=%s/%s.npy" % (n, folder, n))]
        status, said, error = tirc("run", *words_of, *words, *outs)
        if status:
            return error.strip() or "status %d" % status
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
        elif work_of(program) > MOST_WORK:
            out["error"] = compare_with_compiled(program, lowered, words, d)
            # Sums of float16 in another order may be far apart, and both right.
            if "differs by" in (out["error"] or "") and "float16" in program:
                program = with_float32(program)
                status, text, out["error"] = tirc("lower", program_file(d, program), sched, "--target", TARGET)
                if not status:
                    open(lowered, "w").write(text)
                    out["error"] = compare_with_compiled(program, lowered, words, d)
        else:
            status, said, error = tirc("run", prog, sched, "--device", "emulate", "--target", TARGET, "--check", *words)
            if status:
                out["error"] = (error + said).strip() or "status %d" % status
    out["seconds"] = time.time() - start
    return out


def find_idle(out, text, folder, words):
    path = folder + "/without.tir"
    ways = [few for few in (["--blocks", "1"], ["--blocks", "8"])
            if not tirc("run", folder + "/lowered.tir", "--device", "emulate", *words, *few)[0]] + [[]]
    for i, found in enumerate(BARRIER.finditer(text)):
        out["barriers"] += 1
        open(path, "w").write(text[:found.start()] + text[found.end():])
        for blocks in ways:
            status, said, error = tirc("run", path, "--device", "emulate", *words, *blocks, limit=IDLE_LIMIT)
            if status:
                break
        if status in (0, TIMED_OUT):
            out["idle"].append(i + 1)
        elif status != 2 or not ("[race]" in error or "[uninitialised]" in error):
            out["error"] = "without barrier %d: %s" % (i + 1, error)
            return


TIRC, FOLDER = sys.argv[1:3]
BARRIERS, TARGET, MOST_WORK = "--barriers" in sys.argv, option("--target", "emulated"), 5e6


def main():
    only = option("--only", "")
    least, most = float(option("--least", "-1")), float(option("--most", "inf"))
    cases = [c for c in read_cases(FOLDER) if only in c[0] and least < work_of(c[1]) <= most][int(option("--start", "0"))::int(option("--every", "1"))]
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
