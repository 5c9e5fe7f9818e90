"""Products with a weight of a model, at many numbers of rows and columns: none may be much slower an element than its neighbours.

    rows.py TIRC [--rows 1,2,127] [--widths 768,5003] [--sum 256] [--least 0.85] [--seconds 0.1] [OPTION OF BENCH...]

Times are the least of a few runs of `bench`. A number of rows is compared with the median time an element of the three before it and
the three behind it; one to four rows, which the memory binds, with none. A measurement,
not a test: it needs an idle machine. Without --rows it takes every prime number up to 260 and its neighbours."""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "onnx"))
from messages import model, node, tensor, value  # noqa: E402


def usual_rows():
    primes = [n for n in range(2, 261) if all(n % d for d in range(2, n))]
    return sorted({n + d for n in primes for d in (-1, 0, 1)})


def write(path, rows, steps, columns):
    weight = np.random.default_rng(0).standard_normal((steps, columns), dtype=np.float32) / np.float32(steps)
    with open(path, "wb") as file:
        file.write(model([node("MatMul", ["x", "w"], ["y"])], [value("x", "float32", [rows, steps])],
                         [value("y", "float32", [rows, columns])], [tensor(weight, "w")]))


def least_time(tirc, path, options):
    done = subprocess.run([tirc, "bench", path] + options, capture_output=True, text=True)
    found = re.search(r"least ([0-9.]+) ms", done.stdout)
    if not found:
        sys.exit(f"{path} {' '.join(options)}: {done.stdout}{done.stderr}")
    return float(found.group(1)) / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tirc")
    numbers = lambda text: [int(n) for n in text.split(",")]  # noqa: E731
    parser.add_argument("--rows", type=numbers, default=usual_rows())
    parser.add_argument("--widths", type=numbers, default=[768, 1000, 5003])
    parser.add_argument("--sum", type=int, default=256)
    parser.add_argument("--least", type=float, default=0.85)
    parser.add_argument("--seconds", default="0.1")
    given, options = parser.parse_known_args()
    options += ["--threads", "1", "--seconds", given.seconds]
    slow = 0
    with tempfile.TemporaryDirectory() as folder:
        for width in given.widths:
            each = {}
            for rows in given.rows:
                path = os.path.join(folder, f"{width}_{rows}.onnx")
                write(path, rows, given.sum, width)
                each[rows] = min(least_time(given.tirc, path, options) for _ in range(3)) / (rows * width)
            for at, rows in enumerate(given.rows):
                near = given.rows[max(0, at - 3):at] + given.rows[at + 1:at + 4]
                speed = statistics.median(each[n] for n in near) / each[rows] if near else 1
                below = speed < given.least and rows > 4
                slow += below
                gflops = 2e-9 * given.sum / each[rows]
                print(f"{rows:4} x {width:5}: {gflops:6.1f} GFLOP/s, {speed:.2f} of its neighbours' speed{' <-- slow' if below else ''}")
    print(f"{slow} below {given.least}")
    sys.exit(1 if slow else 0)


main()
