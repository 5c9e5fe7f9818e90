"""How long the first result takes: first_result.py TIRC MODEL.onnx... [--turns N]

Each in processes of their own, by turns: loading the library that `tirc build --emit=lib --target native --weights-out` made ahead, mapping its
weights and one call; and ONNX Runtime's session and first run. One thread each; the files lie in the page cache. Medians, in ms."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

CHILD = """
import json, sys, time
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import numpy as np
import onnxruntime, tirc, tirc._load
way, path, library, weights, shapes = sys.argv[3], sys.argv[4], sys.argv[5], sys.argv[6], json.loads(sys.argv[7])
rng = np.random.default_rng(0)
arrays = [rng.standard_normal(s).astype(t) if "float" in t else np.ones(s, t) for s, t in shapes]
begin = time.perf_counter()
results = tirc.load(library, weights=weights)(*arrays) if way == "tirc" else onnxruntime.Session(path)(arrays)
print(json.dumps([1000 * (time.perf_counter() - begin), float(np.sum(results[0] if isinstance(results, (tuple, list)) else results))]))
"""


def shapes_of(library, weights, tools):
    code = "import sys, json; sys.path.insert(0, sys.argv[1]); import tirc; m = tirc.load(sys.argv[2], weights=sys.argv[3]); print(json.dumps([[list(t.shape), t.dtype] for t in m.inputs]))"
    return subprocess.run([sys.executable, "-c", code, tools, library, weights], capture_output=True, text=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tirc")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--turns", type=int, default=5)
    o = parser.parse_args()
    tools = os.path.join(HERE, "..", "..", "tools", "python")
    os.environ.setdefault("TIRC_LIBRARY", os.path.dirname(os.path.dirname(os.path.abspath(o.tirc))))
    with tempfile.TemporaryDirectory() as folder:
        for path in o.models:
            name = os.path.splitext(os.path.basename(path))[0]
            library, weights = (os.path.join(folder, name + end) for end in (".so", ".weights"))
            subprocess.run([o.tirc, "build", path, "--emit=lib", "--target", "native", "--weights-out", weights, "-o", library], check=True)
            shapes, times, sums = shapes_of(library, weights, tools), {"tirc": [], "onnxruntime": []}, {}
            for turn in range(o.turns):
                for way in sorted(times, reverse=turn % 2 == 0):
                    done = subprocess.run([sys.executable, "-c", CHILD, tools, HERE, way, path, library, weights, shapes], capture_output=True, text=True, check=True)
                    took, sums[way] = json.loads(done.stdout.splitlines()[-1])
                    times[way].append(took)
            here, other = (statistics.median(times[way]) for way in ("tirc", "onnxruntime"))
            print("%-10s tirc %8.1f  onnxruntime %8.1f  %5.2f x   (sums %.5g and %.5g)" % (name, here, other, other / here, sums["tirc"], sums["onnxruntime"]), flush=True)


if __name__ == "__main__":
    main()
