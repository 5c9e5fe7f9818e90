"""Networks whose extents are open: open_sizes.py TIRC [--whole] [--seeds N] [--kind NAME...] [--onnxruntime]

Of each kind a network is built once, and computes what numpy does at each of some sizes, with every array flush with the end of
its pages, then with their beginning: as machine code, as an object, and as C, every other time portable. The short run takes
most kinds, each in one of these ways; --whole takes all. --onnxruntime: ONNX Runtime says it, too, where it is installed."""
import argparse
import functools
import os
import sys
import tempfile

import numpy as np

import onnxruntime
from kinds import KINDS, SLOW_TO_BUILD, made
from library import Library, built

WAYS = ["lib", "c", "obj", "portable"]


def same(got, want):
    if got.dtype.kind == "f":
        return np.allclose(got, want, rtol=1e-3, atol=2e-5, equal_nan=True)
    return got.shape == want.shape and np.abs(got.astype("int64") - want.astype("int64")).max(initial=0) <= (got.dtype == np.uint8)


def said_by(session, arrays):
    """What ONNX Runtime gives; nothing where it refuses the network."""
    try:
        return session()(arrays) if session else []
    except RuntimeError as error:
        print("ONNX Runtime refuses it: %s" % str(error)[:100].strip(), flush=True)
        return []


def compare(library, net, sizes, rng, session=None):
    arrays = net.draw(sizes, rng)
    wanted = net.wanted(arrays)
    for want, other in zip(wanted, said_by(session, arrays)):
        assert other.shape == want.shape and same(other, want), "%s: ONNX Runtime says other than numpy: %s" % (sizes, np.abs(other - want).max(initial=0))
    for at_end in True, False:
        status, text, results, refused = library.call(arrays, at_end)
        assert status == 0 and not refused, "%s: status %d, %s" % (sizes, status, text)
        if len(results) > len(wanted):  # a count stands behind the results
            results[0] = results[0][..., :int(results[-1])]
        for got, want in zip(results, wanted):
            assert got.shape == want.shape, "%s: %s is not %s" % (sizes, got.shape, want.shape)
            assert same(got, want), "%s: %s" % (sizes, np.abs(got - want).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tirc")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind", nargs="*")
    parser.add_argument("--onnxruntime", action="store_true")
    o = parser.parse_args()
    tirc, runs, failures = os.path.abspath(o.tirc), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(o.first, o.first + o.seeds):
            for place, kind in enumerate(KINDS):
                if kind.__name__ not in o.kind if o.kind else kind in SLOW_TO_BUILD and not o.whole:
                    continue
                net, sizes = made(kind, seed)
                path = os.path.join(folder, "%s%d.onnx" % (kind.__name__, seed))
                with open(path, "wb") as f:
                    f.write(net.text())
                session = functools.cache(functools.partial(onnxruntime.Session, path)) if o.onnxruntime and onnxruntime.exists() else None
                ways = [w for w in WAYS if o.whole and (w not in WAYS[1::2] or w == WAYS[1::2][(place + seed) % 2])] or [WAYS[(place + seed) % 4]]
                for way in ways:
                    try:
                        library, rng = Library(tirc, built(tirc, path, way)), np.random.default_rng(seed)
                        for each in sizes:
                            compare(library, net, each, rng, session)
                            runs += 2
                    except AssertionError as error:
                        failures += 1
                        print("%s, seed %d, %s: %s" % (kind.__name__, seed, way, error), flush=True)
    print("%d runs, %d failures" % (runs, failures))
    sys.exit(failures > 0 or not runs)


if __name__ == "__main__":
    main()
