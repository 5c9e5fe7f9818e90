"""Two recognisers of digits, of float32 and of int8, on a Cortex-M as on this machine: digits.py TIRC RUN"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "onnx"))
from messages import model, node, tensor, value  # noqa: E402

tirc, run = map(os.path.abspath, sys.argv[1:3])
rng = np.random.default_rng(1)


def normal(name, *shape):
    return tensor((rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype("float32"), name)


def floats():
    pads = {"pads": [2, 2, 2, 2], "kernel_shape": [5, 5]}
    return model(
        [node("Conv", ["x", "w1", "b1"], ["c1"], **pads), node("Relu", ["c1"], ["r1"]),
         node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
         node("Conv", ["p1", "w2", "b2"], ["c2"], **pads), node("Relu", ["c2"], ["r2"]),
         node("MaxPool", ["r2"], ["p2"], kernel_shape=[3, 3], strides=[3, 3]), node("Flatten", ["p2"], ["f"]),
         node("Gemm", ["f", "w3", "b3"], ["l"], transB=1), node("Softmax", ["l"], ["scores"], axis=1)],
        [value("x", "float32", [1, 1, 28, 28])], [value("scores", "float32", [1, 10])],
        [normal("w1", 8, 1, 5, 5), normal("b1", 8), normal("w2", 16, 8, 5, 5), normal("b2", 16), normal("w3", 10, 256), normal("b3", 10)])


def bytes_of(name, *shape):
    return tensor(rng.integers(-127, 128, shape).astype("int8"), name)


def small():
    scales = {"sx": 1 / 128, "s1": 0.05, "s2": 0.2, "s3": 2.0, "sw": 0.01}
    weights = [tensor(np.float32(s), n) for n, s in scales.items()] + [tensor(np.int8(0), "z")]
    weights += [bytes_of("w1", 8, 1, 5, 5), bytes_of("w2", 16, 8, 5, 5), bytes_of("w3", 256, 10)]
    weights += [tensor(rng.integers(-500, 500, (n,)).astype("int32"), b) for b, n in (("b1", 8), ("b2", 16))]
    nodes, at, scale = [], "x", "sx"
    for n, size in (("1", 2), ("2", 3)):
        nodes += [node("QLinearConv", [at, scale, "z", "w" + n, "sw", "z", "s" + n, "z", "b" + n], ["c" + n], pads=[2] * 4, kernel_shape=[5, 5]),
                  node("MaxPool", ["c" + n], ["p" + n], kernel_shape=[size, size], strides=[size, size])]
        at, scale = "p" + n, "s" + n
    nodes += [node("Flatten", [at], ["f"]), node("QLinearMatMul", ["f", scale, "z", "w3", "sw", "z", "s3", "z"], ["scores"])]
    return model(nodes, [value("x", "int8", [1, 1, 28, 28])], [value("scores", "int8", [1, 10])], weights)


with tempfile.TemporaryDirectory() as folder:
    for name, made, words, near in (("floats", floats(), [], 1e-5), ("small", small(), ["-DINT8"], 0)):
        path = os.path.join(folder, name + ".onnx")
        pathlib.Path(path).write_bytes(made)
        done = subprocess.run([run, path, *words], capture_output=True, text=True, env={**os.environ, "TIRC": tirc})
        sys.stdout.write(done.stdout)
        assert done.returncode == 0, done.stderr
        *rows, sizes = done.stdout.splitlines()
        host, board = np.array([[float(x) for x in row.split()] for row in rows]).T
        assert len(host) == 10 and len(set(host)) > 5, host
        assert np.allclose(host, board, rtol=0, atol=near), (host, board)
        assert all(int(n) > 0 for n in re.findall(r"(\d+) bytes", sizes)), sizes
