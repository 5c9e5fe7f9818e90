#!/usr/bin/env python3
"""Reductions of any form by --auto for a GPU, against the interpreter: usage: sums.py TIRC [--programs N] [--seed N]

What is stored is a drawn expression of the element as it was and of what comes in: what threads can join, and what they
cannot, which a rule has to leave to one thread. Each must be scheduled, lowered, and compute the same."""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

TYPES = {"float32": ("T.float32(%d)", 2), "uint8": ("T.uint8(%d)", 9), "uint32": ("T.uint32(%d)", 3)}


def joined(r, dtype, depth):
    """An expression with B[vi] in it, once or more often."""
    one = TYPES[dtype][0] % r.randint(1, TYPES[dtype][1])
    incoming = ["A[vi, vk]", "C[vi, vk]", one, "A[vi, vk] * C[vi, vk]", "T.max(A[vi, vk], C[vi, vk])"]
    if depth == 0 or r.random() < 0.2:
        return "B[vi]"
    x, y = joined(r, dtype, depth - 1), r.choice(incoming)
    forms = ["(%s + %s)", "(%s - %s)", "T.max(%s, %s)", "T.min(%s, %s)", "T.if_then_else(B[vi] > {y}, %s, %s)",
             "T.if_then_else(A[vi, vk] > {one}, %s, %s)"]
    if dtype != "float32":
        forms += ["T.bitwise_and(%s, %s)", "T.bitwise_or(%s, %s)", "T.bitwise_xor(%s, %s)"]
    form = r.choice(forms * 3 + ["(%s * %s)", "({one} - %s) + %s"]).replace("{y}", y).replace("{one}", one)
    return form % ((x, y) if r.random() < 0.7 or "if_then" in form else (y, x))


def program(r):
    dtype, extent = r.choice(list(TYPES)), r.choice([32, 48, 100])
    value = TYPES[dtype][0]
    init, kinds = r.choice([value % 0, value % 1, "C[vi, 0]"]), r.choice(["SR", "RS"])
    update = joined(r, dtype, 3)
    if dtype == "float32" and r.random() < 0.2:  # a maximum, or minimum, that keeps NaN
        update = "T.Select(T.isnan(B[vi]), B[vi], T.%s(B[vi], %s))" % (r.choice(["max", "min"]), r.choice(["A[vi, vk]", "C[vi, vk] * A[vi, vk]"]))
    loops, order = ("i, k", "vi, vk = T.axis.remap(\"SR\", [i, k])") if kinds == "SR" else (
        "k, i", "vk, vi = T.axis.remap(\"RS\", [k, i])")
    extents = "5, %d" % extent if kinds == "SR" else "%d, 5" % extent
    return """@T.prim_func
def main(A: T.Buffer((5, {n}), "{t}"), C: T.Buffer((5, {n}), "{t}"), B: T.Buffer((5,), "{t}")):
    for {loops} in T.grid({extents}):
        with T.block("B"):
            {order}
            with T.init():
                B[vi] = {init}
            B[vi] = {update}
""".format(n=extent, t=dtype, loops=loops, extents=extents, order=order, init=init, update=update)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tirc")
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    failed = together = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "drawn.tir"
        for n in range(o.programs):
            path.write_text(program(random.Random(o.seed * 1000003 + n)))
            done = subprocess.run([o.tirc, "run", path, "--auto", "--device", "emulate", "--check", "--explain-auto"],
                                  capture_output=True, text=True)
            together += any("took     main by " + rule in done.stderr for rule in ("reduction", "gemv"))
            if done.returncode or "check: ok" not in done.stdout:
                failed += 1
                print("program %d of seed %d:\n%s%s%s" % (n, o.seed, path.read_text(), done.stdout, done.stderr))
    print("%d programs, %d of which threads reduce together, %d failed" % (o.programs, together, failed))
    return 1 if failed or not o.programs // 10 <= together < o.programs else 0


sys.exit(main())
