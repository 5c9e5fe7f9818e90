#!/usr/bin/env python3
"""compare.py TIRC [-o FOLDER] [--seeds N] [--trials N] [--threads N] [--target CPU] [--rankings A,B,...] [WORKLOAD...]

Searches for schedules of each workload with each seed and each ranking (`tirc tune --ranking`), all from nothing, in
turns. What is compared is the best time after so many trials. FOLDER keeps what every search measured (a run that is
there is not done again, so the work can be done in pieces), figures.txt, and best.svg, which gnuplot draws: the best so
far, as a multiple of the best that any of the searches of the workload found, geometric means over seeds."""
import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples")
WORKLOADS = {
    "matmul": ["matmul/matmul.tir", "-D", "M=128", "-D", "N=768", "-D", "K=768"],
    "conv2d": ["operators/conv2d.tir"],
    "softmax": ["softmax/softmax.tir", "-D", "M=512", "-D", "N=1024"],
    "layer_norm": ["layer_norm/layer_norm.tir"],
}
AFTER = [16, 32, 64]


def run(o, workload, ranking, seed):
    """The times in the order in which they were measured; None where one failed, or was hopeless."""
    path = os.path.join(o.folder, "%s.%s.%d.txt" % (workload, ranking, seed))
    if not os.path.exists(path):
        program, *sizes = WORKLOADS[workload]
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run(
                [o.tirc, "tune", os.path.join(EXAMPLES, program), *sizes, "--ranking", ranking, "--seed", str(seed),
                 "--trials", str(o.trials), "--threads", str(o.threads), "--target", o.target,
                 "--database", os.path.join(scratch, "db")], capture_output=True, text=True)
        if done.returncode:
            sys.exit("%s: %s" % (path, done.stderr))
        with open(path + ".part", "w") as f:
            f.write(done.stdout)
        os.rename(path + ".part", path)
        print(path, flush=True)
    with open(path) as f:
        lines = [line.split() for line in f if line.startswith("trial ")]
    return [float(w[4]) / 1e3 if w[5:6] == ["ms"] else None for w in lines]


def best_so_far(times):
    best, out = math.inf, []
    for t in times:
        best = min(best, t) if t is not None else best
        out.append(best)
    return out


def mean(ratios):
    return math.exp(statistics.fmean(math.log(r) for r in ratios))


def interval(ratios):
    """Of the geometric mean, 95 %, by the paired differences of logarithms (Student's t)."""
    logs = [math.log(r) for r in ratios]
    t = {3: 4.30, 4: 3.18, 5: 2.78, 10: 2.26, 15: 2.14, 20: 2.09}
    n = len(logs)
    half = t.get(n, 1.96) * statistics.stdev(logs) / math.sqrt(n) if n > 1 else 0
    return math.exp(statistics.fmean(logs) - half), math.exp(statistics.fmean(logs) + half)


def report(o, runs, out):
    """Against the first ranking: how many times as slow the others' best is, so above 1 the first one won."""
    first, *others = o.rankings
    for other in others:
        for n in [a for a in AFTER if a <= o.trials]:
            pairs = [(w, runs[w, other, s][n - 1] / runs[w, first, s][n - 1]) for w in o.workloads for s in range(1, o.seeds + 1)]
            ratios = [r for _, r in pairs]
            low, high = interval(ratios)
            print("after %d trials the best by %s takes %.3f times as long as that by %s [%.3f, %.3f]; %s wins %d of %d, ties %d;"
                  % (n, other, mean(ratios), first, low, high, first, sum(r > 1.01 for r in ratios), len(ratios),
                     sum(1 / 1.01 <= r <= 1.01 for r in ratios)),
                  ", ".join("%s %.3f" % (w, mean([r for x, r in pairs if x == w])) for w in o.workloads), file=out)


def plot(o, runs):
    data = os.path.join(o.folder, "best.dat")
    with open(data, "w") as f:
        for w in o.workloads:
            floor = min(r[-1] for key, r in runs.items() if key[0] == w)
            for i in range(o.trials):
                print(i + 1, *["%.4f" % mean([runs[w, k, s][i] / floor for s in range(1, o.seeds + 1)]) for k in o.rankings], file=f)
            print("\n", file=f)
    script = ["set terminal svg size 900,600 font 'sans,11'", "set output '%s'" % os.path.join(o.folder, "best.svg"),
              "set multiplot layout 2,%d" % ((len(o.workloads) + 1) // 2), "set xlabel 'trials'", "set grid",
              "set ylabel 'time / best known'", "set key top right"]
    for i, w in enumerate(o.workloads):
        script += ["set title '%s' noenhanced" % w, "set yrange [1:*]", "plot " + ", ".join(
            "'%s' index %d using 1:%d with steps lw 2 title '%s'" % (data, i, k + 2, name) for k, name in enumerate(o.rankings))]
    subprocess.run(["gnuplot"], input="\n".join(script), text=True, check=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tirc", type=os.path.abspath)
    p.add_argument("workloads", nargs="*", help="some of " + ", ".join(WORKLOADS) + " (all)")
    p.add_argument("-o", dest="folder", default="compare")
    p.add_argument("--seeds", type=int, default=5)
    p.add_argument("--trials", type=int, default=64)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--target", default="haswell")
    p.add_argument("--rankings", default="model,random", type=lambda s: s.split(","))
    o = p.parse_args()
    o.workloads = o.workloads or list(WORKLOADS)
    for w in o.workloads:
        if w not in WORKLOADS:
            p.error("no workload '%s': there are %s" % (w, ", ".join(WORKLOADS)))
    os.makedirs(o.folder, exist_ok=True)
    runs = {}
    for w in o.workloads:
        for seed in range(1, o.seeds + 1):
            for k in o.rankings:
                runs[w, k, seed] = best_so_far(run(o, w, k, seed))
    with open(os.path.join(o.folder, "figures.txt"), "w") as f:
        report(o, runs, f)
    report(o, runs, sys.stdout)
    plot(o, runs)


main()
