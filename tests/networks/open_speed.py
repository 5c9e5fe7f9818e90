"""Is a library for open sizes as fast as one that is made for each size? open_speed.py TIRC MODEL SIZES... [--seconds N] [OPTION OF BUILD...]

SIZES: n=1,s=128. At each of them the library with open extents is called in turn with one that `tirc build -D` makes for these alone,
in one thread; a row has the least processor time of both, and how fast the open one is beside the other. Processor time goes by what
a call does and not by who waits, but caches are shared: an idle machine tells more."""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from ctypes import c_int64, c_void_p

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "tools", "python"))
os.environ.setdefault("TIRC_LIBRARY", os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1]))) if len(sys.argv) > 1 else "")
os.environ["TIRC_NUM_THREADS"] = "1"
import tirc  # noqa: E402
import tirc._load  # noqa: E402

LEAST_TURNS = 5


def built(tirc, model, to, options):
    done = subprocess.run([tirc, "build", model, "--emit=lib", "-o", to, *options], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(options)}: {done.stderr}")
    return to


def drawn(t, extents, rng):
    shape = [tirc._load.Loaded._evaluate(e, extents) for e in t.shape]
    whole = "int" in t.dtype
    return np.zeros(shape, t.dtype) if whole else rng.standard_normal(shape).astype(t.dtype) * 0.05


def weights_of(path, rng):
    """Numbers for the weights that are parameters, for all libraries of one model."""
    class Described(tirc._load.Loaded):
        def _take_weights(self, given):
            pass

    return {w.name: drawn(w, {}, rng) for w in Described(path).weights}


def ready(model, arrays, extents):
    """What calls the library with memory that is there already."""
    leading = [c_int64(extents[c_name]) for _, c_name, _, _ in model._extents]
    results = [np.empty([model._evaluate(e, extents) for e in t.shape], t.dtype) for t in model.outputs]
    kept, at = tirc._load._aligned(max(model._workspace(leading), 1))
    words = [*leading, *model._pointers(arrays + model._arrays + results), *model._block, c_void_p(at)]

    def call(_kept=(kept, results, arrays)):
        begin = time.thread_time()
        model._check(model._run(*words))
        return time.thread_time() - begin
    return call, results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tirc")
    parser.add_argument("model")
    parser.add_argument("sizes", nargs="+", type=lambda text: {k: int(v) for k, v in (p.split("=") for p in text.split(","))})
    parser.add_argument("--seconds", type=float, default=2)
    o, options = parser.parse_known_args()
    options += ["--weights-inside"] * o.model.endswith(".onnx")
    rng = np.random.default_rng(0)
    print("| sizes | open, ms | its own, ms | speed |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = built(o.tirc, o.model, os.path.join(folder, "open.so"), options)
        weights = weights_of(path, rng)
        opened = tirc.load(path, weights=weights)
        for k, extents in enumerate(o.sizes):
            words = [w for name, n in extents.items() for w in ("-D", f"{name}={n}")]
            own = tirc.load(built(o.tirc, o.model, os.path.join(folder, f"own{k}.so"), options + words), weights=weights)
            extents = {c_name: extents[name] for name, c_name, _, _ in opened._extents}
            arrays = [drawn(t, extents, rng) for t in opened.inputs]
            (of_open, a), (of_own, b) = ready(opened, arrays, extents), ready(own, arrays, extents)
            times, end = [], time.time() + o.seconds
            while time.time() < end or len(times) < LEAST_TURNS:
                times.append((of_open(), of_own()))
            far = max(np.abs(x - y).max(initial=0) / max(np.abs(y).max(initial=0), 1e-30) for x, y in zip(a, b))
            one, other = (min(t[i] for t in times[1:]) * 1e3 for i in (0, 1))
            text = ", ".join(f"{name} {n}" for name, n in o.sizes[k].items())
            print(f"| {text} | {one:.3f} | {other:.3f} | {other / one:.2f} |{' differs by %.0e' % far if far > 1e-3 else ''}", flush=True)


main()
