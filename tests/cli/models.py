"""Models against numpy: models.py TIRC EXAMPLES OUT

Weights come from a seed and go through a .safetensors file; results are compared with float64. Each model runs with its
schedules and without, on batches of several sizes where its extents are symbolic, by one thread and by two.
"""
import json
import os
import struct
import subprocess
import sys

import numpy as np

tirc, examples, out = sys.argv[1:4]
rng = np.random.default_rng(1)
failures = 0


def save_safetensors(path, arrays):
    header, data = {}, b""
    for name, a in arrays.items():
        kind = {"float32": "F32", "int64": "I64", "int32": "I32"}[str(a.dtype)]
        header[name] = {"dtype": kind, "shape": list(a.shape), "data_offsets": [len(data), len(data) + a.nbytes]}
        data += a.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def run(model, inputs, weights, results, options=()):
    command = [tirc, "run", model, *options]
    if weights:
        path = os.path.join(out, "weights.safetensors")
        save_safetensors(path, weights)
        command += ["--weights", path]
    for name, a in inputs.items():
        np.save(os.path.join(out, name + ".npy"), a)
        command += ["--in", "%s=%s" % (name, os.path.join(out, name + ".npy"))]
    for name in results:
        command += ["--out", "%s=%s" % (name, os.path.join(out, name + ".out.npy"))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    return [np.load(os.path.join(out, name + ".out.npy")) for name in results]


def compare(what, got, expected, tolerance=1e-4):
    global failures
    expected = np.asarray(expected)
    if got.shape != expected.shape:
        print("%s: the shape is %s, not %s" % (what, got.shape, expected.shape))
        failures += 1
        return
    error = np.abs(got - expected).max(initial=0) / max(1.0, np.abs(expected).max(initial=0))
    if not error <= tolerance:
        print("%s: the error is %g" % (what, error))
        failures += 1


def floats(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype("float32")


WAYS = [[], ["--plain"], ["--threads", "2"], ["--check"]]


def mlp():
    w = {"w0": floats(784, 128, scale=0.05), "b0": floats(128), "w1": floats(128, 10, scale=0.1), "b1": floats(10)}
    for n in (1, 3, 8, 64, 0):
        x = floats(n, 784)
        d = {k: v.astype("float64") for k, v in w.items()}
        expected = np.maximum(x.astype("float64") @ d["w0"] + d["b0"], 0) @ d["w1"] + d["b1"]
        for way in WAYS if n <= 8 else WAYS[:3]:
            (got,) = run(os.path.join(examples, "mlp.tir"), {"x": x}, w, ["gv"], way)
            compare("mlp, n=%d %s" % (n, way), got, expected)
            if n and not (got.argmax(1) == expected.argmax(1)).all():
                sys.exit("mlp: another class")


mlp()
print("models: %d failures" % failures)
sys.exit(failures > 0)
