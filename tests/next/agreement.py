#!/usr/bin/env python3
"""How well the estimate that `next` ranks calls by foretells what they take.

usage: agreement.py TIRC [ROW...] [--keep FILE] [--seconds S] [--most N] [--worst N] [--threads N]

For each of the operators' programs (ROWS), as it is and after the first calls of its schedule by
--auto: the calls that `next` proposes, each measured beside the others. Printed are the rank
correlation of estimate and time, and which part of the pairs that differ by a fifth is in the right
order. Times that FILE has already are not measured again, so that a change of the estimate is seen
at once. --worst shows the calls whose ranks are furthest apart.
"""

import argparse
import json
import math
import pathlib
import random
import re
import subprocess
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
# Of operators.suite, in sizes whose plain loops take about a millisecond or less: the least time of
# many calls is theirs on a busy machine, too.
ROWS = {
    "conv2d": "operators/conv2d.tir CI=16 CO=16 H=14 W=14",
    "pointwise": "operators/pointwise.tir CI=32 CO=64 H=14 W=14",
    "max_pool": "operators/max_pool.tir C=16 H=56 W=56",
    "mean_pool": "operators/mean_pool.tir C=1024 H=7 W=7",
    "depthwise": "operators/depthwise.tir C=64 H=14 W=14",
    "softmax": "softmax/softmax.tir M=64 N=384",
    "layer_norm": "layer_norm/layer_norm.tir M=64 N=768",
    "gelu": "operators/gelu.tir M=16 N=3072",
    "attention": "operators/attention.tir HEADS=2 M=32 N=32 DEPTH=64",
    "split_heads": "operators/split_heads.tir HEADS=12 M=384 DEPTH=64",
    "transpose": "operators/transpose.tir M=512 N=512",
    "row_sum": "operators/row_sum.tir M=256 N=1024",
    "column_sum": "operators/column_sum.tir M=256 N=1024",
    "total": "operators/total.tir M=256 N=1024",
    "stencil": "operators/stencil.tir M=512 N=512",
    "blur": "operators/blur.tir M=256 N=512",
    "two_steps": "operators/two_steps.tir M=256 N=512",
    "matmul": "matmul/matmul.tir M=32 N=128 K=128",
    "matmul_int8": "operators/matmul_int8.tir M=32 N=128 K=128",
    "products_8": "operators/small_products.tir BATCH=512 M=8 N=8 K=8",
    "triangle": "operators/triangle.tir N=512",
    "triangle_product": "operators/triangle_product.tir M=32 N=128",
    "causal_mask": "operators/causal_mask.tir M=256",
    "scan_rows": "operators/cumsum.tir M=256 N=1000",
}
NOW = "now"  # the program without one more call
DIFFERENT = 1.2
TOO_SLOW = 20  # times slower by the estimate: `next --measure` leaves such calls out, too


def run(arguments, text=None):
    return subprocess.run(arguments, input=text, capture_output=True, text=True, check=False)


def program_of(row):
    path, *constants = ROWS[row].split()
    return [str(EXAMPLES / path)] + [f"-D{c}" for c in constants]


def states(tirc, program):
    """(name, script): the start, and the first third of what --auto does."""
    calls = run([tirc, "apply", *program, "--auto", "--script"]).stdout.splitlines()
    yield "start", ""
    yield "begun", "".join(line + "\n" for line in calls[: max(3, len(calls) // 3)])


def proposals(tirc, program, script, threads):
    """From each call to how many times faster it is by the estimate."""
    said = run([tirc, "repl", *program, "--threads", str(threads)], script + "next --all\n").stdout
    found = re.findall(r"^ *\d+ +([\d.]+)x  (.*)$", said, re.M)
    return {call: max(float(faster), 0.005) for faster, call in found}


def measured(tirc, program, script, calls, options):
    """From each call to its least time, in seconds."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        for n, call in enumerate([NOW] + calls):
            path = pathlib.Path(folder) / f"call{n}.sch"
            path.write_text(script + ("None\n" if call == NOW else call + "\n"))
            names[f"call{n}"] = call
        bench = run([tirc, "bench", *program, *sorted(map(str, pathlib.Path(folder).iterdir())), "--figures", "-",
                     "--threads", str(options.threads), "--seconds", str(options.seconds), "--attempts", "1"])
        for result in json.loads(bench.stdout)["results"] if bench.stdout else []:
            if result["contender"] in names and result.get("min_s"):
                found[names[result["contender"]]] = result["min_s"]
    return found


def ranks(values):
    order = sorted(values)
    places = {}
    for place, value in enumerate(order):
        places.setdefault(value, []).append(place)
    return [sum(places[v]) / len(places[v]) for v in values]


def rank_correlation(x, y):
    x, y = ranks(x), ranks(y)
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    both = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
    alone = math.sqrt(sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y))
    return both / alone if alone else math.nan


def in_order(x, y):
    """The part of the pairs that differ which is in the right order; a tie is half right."""
    right = pairs = 0
    for a, b in zip(x, y):
        for c, d in zip(x, y):
            if d >= DIFFERENT * b:
                pairs += 1
                right += 1 if c > a else 0.5 if c == a else 0
    return right / pairs if pairs else math.nan


def report(name, faster, seconds, options):
    calls = [c for c in faster if c in seconds and faster[c] * TOO_SLOW > 1]
    if len(calls) < 4:
        print(f"{name:28} {len(calls)} calls")
        return None
    x, y = [1 / faster[c] for c in calls], [seconds[c] for c in calls]
    best = sorted(range(len(calls)), key=lambda i: x[i])[:12]
    row = (rank_correlation(x, y), rank_correlation([x[i] for i in best], [y[i] for i in best]), in_order(x, y))
    print(f"{name:28} {len(calls):4} calls  {row[0]:6.2f}  best 12 {row[1]:6.2f}  pairs {100 * row[2]:4.0f} %")
    apart = [b - a for a, b in zip(ranks(x), ranks(y))]
    for i in sorted(range(len(calls)), key=lambda i: -abs(apart[i]))[: options.worst]:
        print(f"      {apart[i]:+6.1f}  estimate {faster[calls[i]]:6.2f}x  measured "
              f"{seconds[NOW] / y[i]:6.2f}x  {calls[i]}")
    return row


def mean(values):
    known = [v for v in values if not math.isnan(v)]
    return sum(known) / len(known)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tirc")
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--most", type=int, default=40, help="calls that are drawn of each state")
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    kept = json.loads(options.keep.read_text()) if options.keep and options.keep.exists() else {}
    rows = []
    for row in options.rows or ROWS:
        program = program_of(row)
        for state, script in states(options.tirc, program):
            name = f"{row} {state}"
            faster = proposals(options.tirc, program, script, options.threads)
            if name not in kept or kept[name]["script"] != script:
                calls = sorted(faster)
                random.Random(row).shuffle(calls)
                times = measured(options.tirc, program, script, calls[: options.most], options)
                kept[name] = {"script": script, "seconds": times}
                if options.keep:
                    options.keep.write_text(json.dumps(kept, indent=1))
            rows.append(report(name, faster, kept[name]["seconds"], options))
    found = [r for r in rows if r]
    print(f"mean of {len(found)}: rank correlation {mean([r[0] for r in found]):.2f}, of the best 12 "
          f"{mean([r[1] for r in found]):.2f}, pairs {100 * mean([r[2] for r in found]):.0f} %")


main()
