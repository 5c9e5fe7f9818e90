#!/usr/bin/env python3
"""Random graphs against numpy, with which the library shares no code: machine code of fused and scheduled graphs, of loops as they
are, of graphs whose passes are left out, and C.

usage: fuzz_graphs.py [--graphs N] [--seed S] [--special P] [--c TIRC] [--every K] [--keep FOLDER]

Graph number I of seed S is always the same: --seed S --first I --graphs 1 draws it alone. P percent of the graphs have NaN, infinite
elements and -0. With --c every K-th graph goes through C, too. What differs is written into FOLDER: the graph, its inputs, and what
numpy makes of them. Chunks of graphs run in processes of their own, so that one that crashes is found and the others go on.
"""
import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

from draw import EPS, Graph, Impossible, World
from operators import FAMILIES

CHUNK = 25
LEFT_OUT = ("CanonicalizeBindings", "FoldBatchNorm", "ConvertLayout", "FuseTransposeMatmul", "FoldConstant", "FuseOps", "FuseTIR", "MergeEqualFunctions",
            "AttachVariableBounds", "AttachAttrLayoutFreeBuffers", "InlineFunctions")
EXTENTS = (0, 1, 1, 2, 3, 4, 5, 7, 8, 13, 17)


def draw(seed, number, special):
    rng = np.random.default_rng([seed, number])
    is_special = bool(rng.random() < special / 100)
    symbols = ["n", "m"][:rng.choice([0, 0, 1, 2])]
    sets = [{s: int(rng.choice(EXTENTS)) for s in symbols} for _ in range(2 if symbols else 1)]
    worlds = [World(values, wide) for values in sets for wide in (False, True)]
    palette = symbols + [str(e) for e in rng.choice(EXTENTS, rng.integers(2, 5))]
    g = Graph(rng, worlds, palette, is_special)
    for _ in range(rng.integers(1, 4)):
        g.input([g.choice(palette) for _ in range(g.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]))], g.choice(["float32"] * 6 + ["float64", "float16", "int32", "int64", "int8", "bool"]))
    wanted = int(rng.integers(1, 31))
    for _ in range(6 * wanted):
        try:
            g.choice(FAMILIES)(g)
        except Impossible:
            continue
        if len(g.lines) >= wanted:
            break
    made = [v for v in g.values if v not in g.inputs]
    if not made:
        return draw(seed, number + 1000003, special)
    late = made[-int(rng.integers(1, 4)):]
    return g, list({id(v): v for v in late + [g.choice(made)]}.values())


# --- comparing ------------------------------------------------------------------------------------

def difference(v, got, i):
    """Of result v in the i-th set of extents; None: there is none. float16 may be rounded after each operation."""
    native, wide = v.arrays[2 * i], v.arrays[2 * i + 1]
    if got.shape != native.shape or str(got.dtype) != str(native.dtype):
        return "%s%s instead of %s%s" % (got.dtype, list(got.shape), native.dtype, list(native.shape))
    if not v.is_float():
        wrong = got != native
    else:
        got64 = got.astype("float64")
        finite = np.isfinite(wide)
        size = max(1.0, np.abs(wide[finite]).max()) if finite.any() else 1.0
        apart = np.abs(native.astype("float64") - wide)[finite].max() if finite.any() else 0
        most = 32 * apart + (200 if v.dtype == "float16" else 1500) * max(EPS[v.dtype], EPS["float32"] if not v.is_exact() and v.mixed else 0) * size
        same = (np.isnan(got64) & np.isnan(wide)) | (got64 == wide) | (finite & np.isfinite(got64) & (np.abs(got64 - np.where(finite, wide, 0)) <= most))
        wrong = ~same
    if not wrong.any():
        return None
    at = tuple(int(k[0]) for k in np.nonzero(wrong))
    return "element %s is %s instead of %s; %d of %d differ" % (at, got[at], native[at], wrong.sum(), wrong.size)


def by_c(tirc, text, g, i, folder):
    """The model's function, for one set of extents."""
    path = os.path.join(folder, "graph.tir")
    with open(path, "w") as f:
        f.write(text)
    sizes = [w for s, e in g.worlds[2 * i].symbols.items() if any(s in v.dims for v in g.inputs) for w in ("-D", "%s=%d" % (s, e))]
    made = subprocess.run([tirc, "build", path, "--auto", "--emit=c", "-o", folder + "/model.c", *sizes], capture_output=True, text=True)
    if made.returncode:
        raise RuntimeError(made.stderr)
    library = os.path.join(folder, "model%d.so" % time.monotonic_ns())
    made = subprocess.run(["gcc", "-O1", "-w", "-ffp-contract=off", "-fPIC", "-shared", "-o", library, folder + "/model.c", "-lm"], capture_output=True, text=True)
    if made.returncode:
        raise RuntimeError(made.stderr)
    return ctypes.CDLL(library)


def run_c(library, g, results, i):
    out = [np.zeros(v.arrays[2 * i].shape, v.arrays[2 * i].dtype) for v in results]  # row by row
    memory = [np.zeros(1 << 24, "uint8") for _ in range(2)]
    given = [np.ascontiguousarray(v.arrays[2 * i]) for v in g.inputs] + out
    prepared, workspace = [ctypes.c_void_p(m.ctypes.data + -m.ctypes.data % 64) for m in memory]
    more = [workspace]
    if hasattr(library, "graph_prepare"):  # what is made of constants alone
        assert library.graph_prepare(prepared) == 0
        more = [prepared, workspace]
    status = library.graph(*[ctypes.c_void_p(a.ctypes.data) for a in given], *more)
    assert status == 0, status
    return out


def ways(module, text, g, results, tirc, folder):
    """Ways to compute it: a name, and a function of the number of a set of extents."""
    import tirc as library

    def model(**options):
        m = library.compile(module, threads=1, **options)

        def run(i):
            out = m(*[v.arrays[2 * i] for v in g.inputs])
            return out if isinstance(out, tuple) else (out,)
        return run
    yield "rules", lambda: model()
    yield "plain", lambda: model(plain=True)
    yield "passes left out", lambda: model(plain=True, skip=LEFT_OUT)
    if tirc:
        yield "C", lambda: lambda i: run_c(by_c(tirc, text, g, i, folder), g, results, i)


def check(options, number, folder):
    import tirc as library
    g, results = draw(options.seed, number, options.special)
    mixed = len({v.dtype for v in g.visible() if v.is_float()}) > 1
    for v in results:
        v.mixed = mixed
    text = g.module(results)
    faults = []
    try:
        module = library.parse(text)
    except library.TircError as e:
        return g, text, ["parse: %s" % e]
    use_c = options.c if options.c and number % options.every == 0 else None
    for name, make in ways(module, text, g, results, use_c, folder):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run = make()
                for i in range(len(g.worlds) // 2):
                    for k, (v, got) in enumerate(zip(results, run(i))):
                        why = difference(v, np.asarray(got), i)
                        if why:
                            faults.append("%s, %s: result %d (%s): %s" % (name, g.worlds[2 * i].symbols, k, v.name, why))
        except Exception as e:  # of the library's, and what a fault of it does to the rest
            faults.append("%s: %s: %s" % (name, type(e).__name__, e))
    return g, text, faults


def keep(options, number, g, text, faults):
    if not options.keep:
        return
    at = os.path.join(options.keep, "graph-%d-%d" % (options.seed, number))
    os.makedirs(at, exist_ok=True)
    with open(at + "/graph.tir", "w") as f:
        f.write(text)
    with open(at + "/faults", "w") as f:
        f.write("\n".join(faults) + "\n")
    for v in g.inputs:
        for i, a in enumerate(v.arrays[0::2]):
            np.save("%s/%s.%d.npy" % (at, v.name, i), a)


def work(options):
    """A chunk: its numbers go to standard output as they begin."""
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.first, options.first + options.graphs):
            print("begin", number, flush=True)
            g, text, found = check(options, number, folder)
            print("operators", *sorted(g.operators), flush=True)
            if found:
                faults += 1
                keep(options, number, g, text, found)
                print("--- graph %d of seed %d\n%s%s" % (number, options.seed, text, "\n".join(found)), flush=True)
    return faults


def chunk(options, first, n):
    """(graphs with a fault, operators that ran)"""
    words = [sys.executable, os.path.abspath(__file__), "--worker", "--seed", str(options.seed), "--first", str(first), "--graphs", str(n), "--special", str(options.special), "--every", str(options.every)]
    words += (["--c", options.c] if options.c else []) + (["--keep", options.keep] if options.keep else [])
    done = subprocess.run(words, capture_output=True, text=True)
    lines, operators, last, faults = done.stdout.split("\n"), set(), first, 0
    for line in lines:
        if line.startswith("begin "):
            last = int(line.split()[1])
        elif line.startswith("operators "):
            operators |= set(line.split()[1:])
        elif line:
            faults += line.startswith("--- graph")
            print(line)
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        print("--- graph %d of seed %d: the process ended with %d\n%s" % (last, options.seed, done.returncode, done.stderr[-2000:]), flush=True)
        more, others = chunk(options, last + 1, first + n - last - 1) if last + 1 < first + n else (0, set())
        return faults + 1 + more, operators | others
    return faults, operators


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("graphs", 100), ("seed", 1), ("first", 0), ("every", 10), ("special", 10)):
        p.add_argument("--" + name, type=int, default=usual)
    p.add_argument("--c", metavar="TIRC")
    p.add_argument("--keep", metavar="FOLDER")
    p.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = p.parse_args()
    if options.worker:
        sys.exit(1 if work(options) else 0)
    faults, operators, start = 0, set(), time.monotonic()
    for first in range(options.first, options.first + options.graphs, CHUNK):
        more, ran = chunk(options, first, min(CHUNK, options.first + options.graphs - first))
        faults, operators = faults + more, operators | ran
    print("seed %d: %d graphs of %d operators, %d differ, %.0f s" % (options.seed, options.graphs, len(operators), faults, time.monotonic() - start))
    sys.exit(faults > 0)


main()
