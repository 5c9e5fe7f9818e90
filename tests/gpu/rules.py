#!/usr/bin/env python3
"""The rules of --auto for GPUs, on the emulator or a device: rules.py TIRC [OPTIONS] FILE|FOLDER...

FILE.txt lists cases, a line each: TARGET RULE PROGRAM OPTIONS, programs as seen from the file's folder. The case is
scheduled by --auto and run; the rule must take its first function, and the results must be those of the program.
FOLDER has programs, each with lines `# with OPTIONS` or with none; all targets of --targets take turns. FILE.tir is a graph: each of its functions, symbols at --size N (3).
FILE.suite is one of tirc bench: its lines.

--device emulate|opencl   what runs them (emulate)
--targets A,B             sm_80, opencl, opencl-android
--lower                   each is lowered for every GPU that tirc knows, too
--draw N                  N points of the space that tune searches, of the programs in turn, instead of --auto
--blocks N                so many blocks of each launch, by the emulator (all)
--every N --jobs N        every Nth case; so many at a time (1)
--timeout N               seconds for one run (600); a run that takes longer counts as a failure
--first N                 with --draw: the first point, so that many can be drawn in parts

The last lines say which runs took longest.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

from parts import functions_of, symbols_of

WAYS = ["same_kind", "any_tiles", "same_kind", "block_by_block", "elements"]
POCL = {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}  # else it takes hours for some kernels of many barriers
TRIES = 8  # of a point, until one is legal


class Case:
    def __init__(self, target, rule, program, options):
        self.target, self.rule, self.program, self.options = target, rule, program, options

    def __str__(self):
        return "%s on %s%s" % (os.path.relpath(self.program), self.target, "".join(" " + o for o in self.options))


def tirc(*words):
    start = time.time()
    try:
        done = subprocess.run([o.tirc, *words], capture_output=True, text=True, errors="replace", timeout=o.timeout,
                              env={**POCL, **os.environ})
    except subprocess.TimeoutExpired:
        return 3, "", "no end after %d s" % o.timeout
    finally:
        if words[0] == "run":
            durations.append((time.time() - start, " ".join(map(str, words[1:])).split(" --auto")[0]))
    return done.returncode, done.stdout, done.stderr


# --- cases


def listed(path):
    for line in open(path):
        words = line.split("#")[0].split()
        if words:
            yield Case(words[0], words[1], os.path.join(os.path.dirname(path), words[2]), words[3:])


def suite(path):
    for line in open(path):
        words = line.split("#")[0].split()
        if words:
            program = os.path.join(os.path.dirname(path), words[1])
            yield program, [w for word in words[2:] for w in ("-D", word)]


def options_of(program):
    found = re.findall(r"^# with (.*)$", open(program).read(), re.M)
    return [f.split(" by ")[0].split() for f in found] or [sizes_of(program)]


def sizes_of(program):
    """Of symbols, unless the program's own options say."""
    return [w for s in symbols_of(program) for w in ("--in", "%s=%d" % (s, o.size))]


def cases(folder):
    turn = 0
    for where in o.what:
        if where.endswith(".txt"):
            yield from listed(where)
            continue
        if os.path.isdir(where):
            programs = sorted(os.path.join(where, f) for f in os.listdir(where) if f.endswith(".tir"))
            programs = [p for p in programs if "T.axis.scan" not in open(p).read()]  # what has an order is left
            found = [(p, options) for p in programs for options in options_of(p)]
        elif where.endswith(".suite"):
            found = list(suite(where))
        else:
            found = [(p, sizes_of(p)) for p in functions_of(o.tirc, where, [], folder)]
        for program, options in found:
            yield Case(o.targets[turn % len(o.targets)], None, program, options)
            turn += 1


# --- what is looked at


def run(case, words):
    status, out, err = tirc("run", case.program, *case.options, "--auto", "--explain-auto", "--target", case.target,
                            "--device", o.device, "--check", *words, *(["--blocks", str(o.blocks)] if o.blocks else []),
                            *(["--timeout", str(o.timeout)] if o.device != "emulate" else []))
    took = re.findall(r"^took +\S+ by (\w+)", err, re.M)
    if status or "check: ok" not in out:
        return took, "status %d\n%s%s" % (status, out, re.sub(r"(?m)^(declined|took).*\n", "", err)[-1500:])
    return took, None


def lower_for_all(case):
    sizes = [w for n, w in enumerate(case.options) if w == "-D" or n and case.options[n - 1] == "-D"]
    for gpu in gpus:
        status, out, err = tirc("lower", case.program, *sizes, "--auto", "--target", gpu)
        if status:
            return "lowered for %s: status %d\n%s" % (gpu, status, err[-1500:])
    return None


def look_at(case):
    took, wrong = run(case, [])
    if not wrong and case.rule and (not took or took[0] != case.rule):
        wrong = "%s takes it, and not %s" % (took[0] if took else "no rule", case.rule)
    if not wrong and o.lower:
        wrong = lower_for_all(case)
    return case, took[0] if took else "none", wrong


def draw(numbered):
    """A point of the space: the first that is legal of some."""
    number, case = numbered
    way = WAYS[number % len(WAYS)]
    for turn in range(TRIES):
        with tempfile.NamedTemporaryFile("w", suffix=".sch") as rules:
            rules.write("from gpu_space import %s as way\n\n\ndef point(sch, func):\n    sch.seed(%d)\n"
                        "    return way(sch, func)\n\n\nrules = [point]\n" % (way, number * TRIES + turn + 1))
            rules.flush()
            took, wrong = run(case, ["--rules", rules.name])
            if "point" in took:
                return case, way, wrong
    return case, "no legal point of " + way, None


def main():
    some = list(cases(o.folder))[:: o.every]
    counts, failures = {}, 0
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        if o.draw:
            done = pool.map(draw, [(n, some[n % len(some)]) for n in range(o.first, o.first + o.draw)])
        else:
            done = pool.map(look_at, some)
        for case, kind, wrong in done:
            counts[kind] = counts.get(kind, 0) + 1
            if wrong:
                failures += 1
                print("%s: %s" % (case, wrong), flush=True)
    print(", ".join("%d %s" % (n, kind) for kind, n in sorted(counts.items())))
    for seconds, words in sorted(durations, reverse=True)[:5]:
        print("%6.1f s  %s" % (seconds, words))
    print("%d runs, %d failures, %.0f s" % (sum(counts.values()), failures, sum(d[0] for d in durations)))
    return 1 if failures or not counts else 0


durations = []  # and what ran
p = argparse.ArgumentParser(usage=__doc__)
p.add_argument("tirc")
p.add_argument("what", nargs="+")
p.add_argument("--device", default="emulate")
p.add_argument("--targets", default="sm_80,opencl,opencl-android")
for name, usual in [("draw", 0), ("every", 1), ("jobs", 1), ("size", 3), ("timeout", 600), ("first", 0), ("blocks", 0)]:
    p.add_argument("--" + name, type=int, default=usual)
p.add_argument("--lower", action="store_true")
o = p.parse_intermixed_args()
o.tirc = os.path.realpath(o.tirc)
o.targets = o.targets.split(",")
gpus = re.findall(r"(?m)^(\S+) +(?:cuda|opencl) ", tirc("lower", "--target=help")[1].split("GPUs")[-1])
with tempfile.TemporaryDirectory() as o.folder:
    sys.exit(main())
