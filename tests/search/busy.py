#!/usr/bin/env python3
"""busy.py TIRC [-o FOLDER] [--seeds N] [--trials N] [--threads N] [--busy N] [OPERATOR...]

Searches for schedules of operators while other processes keep N cores busy (1), from nothing, with each seed. Then, with
nothing else running, the best record and --auto's schedule are measured in turns. Exit status 1 if a record is slower than
--auto: if the 95 % interval of how many times as fast it is lies below 1. A record whose program is --auto's own is not
measured. FOLDER keeps what was found (a search or a measurement that is there is not done again, so the work can be done in
pieces) and figures.txt. The operators are lines of the suite `operators`; `all` is each of them."""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OPERATORS = os.path.join(HERE, "..", "..", "examples", "operators")
USUAL = ["resnet_3x3_14", "resnet_1x1_56", "resnet_max_pool", "mobile_depthwise", "bert_softmax", "bert_gelu", "sum_rows",
         "transpose"]
SPIN = "import os\nwhile os.getppid() == %d: pass\n"  # ends with its parent


def suite():
    """Each line of the suite: its name, its program and sizes."""
    lines = {}
    with open(os.path.join(OPERATORS, "operators.suite")) as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                path = words[1] if len(words) > 1 and "=" not in words[1] else words[0] + ".tir"
                sizes = [w for w in words[1:] if "=" in w]
                lines[words[0]] = [os.path.join(OPERATORS, path)] + [a for s in sizes for a in ("-D", s)]
    return lines


class Busy:
    """So many processes that never rest."""

    def __init__(self, n):
        self.n, self.processes = n, []

    def __enter__(self):
        self.processes = [subprocess.Popen([sys.executable, "-c", SPIN % os.getpid()]) for _ in range(self.n)]

    def __exit__(self, *_):
        for p in self.processes:
            p.kill()
            p.wait()


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: %s" % (" ".join(command), done.stderr))
    return done.stdout


def search(o, name, program, seed):
    """The path of the best schedule."""
    stem = os.path.join(o.folder, "%s.%d" % (name, seed))
    if not os.path.exists(stem + ".txt"):
        for old in (stem + ".db", stem + ".db-wal", stem + ".db-shm"):
            if os.path.exists(old):
                os.remove(old)
        with Busy(o.busy):
            said = run(o.tirc, "tune", *program, "--trials", str(o.trials), "--threads", str(o.threads), "--seed",
                       str(seed), "--target", o.target, "--database", stem + ".db", "-o", stem + ".sch")
        with open(stem + ".part", "w") as f:
            f.write(said)
        os.rename(stem + ".part", stem + ".txt")
    return stem


def is_auto(o, program, stem):
    automatic = run(o.tirc, "apply", *program, "--auto", "--target", o.target)
    return automatic == run(o.tirc, "apply", program[0], stem + ".sch", *program[1:], "--target", o.target)


def measure(o, program, stem):
    """How many times as fast as --auto, and its interval."""
    path = stem + ".json"
    if not os.path.exists(path):
        run(o.tirc, "bench", program[0], stem + ".sch", *program[1:], "--auto", "--threads", str(o.threads), "--target",
            o.target, "--figures", path + ".part")
        os.rename(path + ".part", path)
    with open(path) as f:
        best = json.load(f)["results"][0]
    return [best["ratio_to"]["auto"]] + best["ratio_to_95"]["auto"]


def summary(stem):
    with open(stem + ".txt") as f:
        lines = f.read().split("\n")
    return "; ".join(line.split(": ", 1)[1].split(";")[0] if ": best" in line else line.strip()
                     for line in lines if ": best" in line or "disturbed" in line)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tirc", type=os.path.abspath)
    p.add_argument("operators", nargs="*", help="lines of the suite (%s)" % " ".join(USUAL))
    p.add_argument("-o", dest="folder", default="busy")
    p.add_argument("--seeds", type=int, default=2)
    p.add_argument("--trials", type=int, default=48)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--busy", type=int, default=1)
    p.add_argument("--target", default="haswell")
    o = p.parse_intermixed_args()
    known = suite()
    names = list(known) if o.operators == ["all"] else o.operators or USUAL
    for n in names:
        if n not in known:
            p.error("no operator '%s': there are %s" % (n, " ".join(known)))
    os.makedirs(o.folder, exist_ok=True)
    slower = same = n = 0
    with open(os.path.join(o.folder, "figures.txt"), "w") as figures:
        def say(line):
            print(line, flush=True)
            print(line, file=figures, flush=True)
        for name in names:
            for seed in range(1, o.seeds + 1):
                stem = search(o, name, known[name], seed)
                n += 1
                if is_auto(o, known[name], stem):
                    same += 1
                    say("%s seed %d: --auto's own schedule; %s" % (name, seed, summary(stem)))
                    continue
                ratio, low, high = measure(o, known[name], stem)
                slower += high < 1
                say("%s seed %d: %.3f times as fast as --auto [%.3f, %.3f]%s; %s"
                    % (name, seed, ratio, low, high, ", SLOWER" if high < 1 else "", summary(stem)))
        say("%d searches: %d found --auto's schedule the best, %d another one, of which %d are slower"
            % (n, same, n - same, slower))
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
