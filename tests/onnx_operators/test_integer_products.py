"""Products of dequantized integers: what they give, and which of them are products of integers then."""
import re
import subprocess

import numpy as np
import pytest

from test_conversions import TIRC
from messages import model, node, tensor, value

rng = np.random.default_rng(3)


def drawn(dtype, *shape):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def floats_of(q, scale, zero, axis=None):
    shape = [1] * q.ndim
    if axis is not None:
        shape[axis] = -1
    return (q.astype("float64") - np.reshape(zero, shape if np.ndim(zero) else ())) * np.reshape(scale, shape if np.ndim(scale) else ()).astype("float64")


def convolved(x, w, pad, groups=1):
    """x[C, H, W], w[O, C / groups, k, k]"""
    x = np.pad(x, [(0, 0), (pad, pad), (pad, pad)])
    out = np.zeros((len(w), x.shape[1] - w.shape[2] + 1, x.shape[2] - w.shape[3] + 1))
    each, per = w.shape[1], len(w) // groups
    for o in range(len(w)):
        mine = x[o // per * each:o // per * each + each]
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                out[o] += np.tensordot(w[o, :, i, j], mine[:, i:i + out.shape[1], j:j + out.shape[2]], 1)
    return out


def run(folder, nodes, q, expected, weights):
    """q is the input; the model's result has to be `expected`. Gives the program that it becomes."""
    shape = list(expected.shape)
    path = folder / "model.onnx"
    path.write_bytes(model(nodes, [value("q", str(q.dtype), list(q.shape))], [value("y", "float32", shape)], [tensor(a, n) for n, a in weights.items()]))
    (folder / "input_0.pb").write_bytes(tensor(q))
    (folder / "output_0.pb").write_bytes(tensor(expected.astype("float32")))
    done = subprocess.run([TIRC, "run", path, "--plain", "--test-data", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    told = subprocess.run([TIRC, "run", path, "--plain", "--test-data", folder, "--print-after=IntegerProducts"], capture_output=True, text=True)
    return re.sub(r"R\.const\(\[.*?\]+, ", "R.const([...], ", told.stderr)


def steps(x, scale, zero, out, **attributes):
    return node("DequantizeLinear", [n for n in (x, scale, zero) if n], [out], **attributes)


MATRICES = [("uint8", 128, "int8", None, False), ("int8", -3, "int8", None, True), ("uint8", 7, "uint8", 255, True), ("int8", None, "int8", 5, False)]


@pytest.mark.parametrize("kind,zero,w_kind,w_zero,turned", MATRICES)
@pytest.mark.parametrize("by_channel", [False, True])
def test_matrices(tmp_path, kind, zero, w_kind, w_zero, turned, by_channel):
    q, w = drawn(kind, 2, 5, 33), drawn(w_kind, 33, 20)
    scale, w_scale = np.float32(0.02), rng.uniform(0.001, 0.01, 20).astype("float32") if by_channel else np.float32(0.005)
    w_zeros = None if w_zero is None else np.full(20, w_zero, w_kind) if by_channel else np.array(w_zero, w_kind)
    weights = {"s": scale, "w": w.T.copy() if turned else w, "t": w_scale}
    weights.update({"z": np.array(zero, kind)} if zero is not None else {})
    weights.update({"u": w_zeros} if w_zeros is not None else {})
    axis = {"axis": 0 if turned else 1} if by_channel else {}
    nodes = [steps("q", "s", "z" if zero is not None else "", "x"), steps("w", "t", "u" if w_zeros is not None else "", "v", **axis)]
    nodes += [node("Transpose", ["v"], ["vt"], perm=[1, 0])] if turned else []
    nodes += [node("MatMul", ["x", "vt" if turned else "v"], ["y"])]
    expected = floats_of(q, scale, zero or 0) @ floats_of(w, w_scale, w_zero or 0, 1 if by_channel else None)
    assert 'out_dtype="int32"' in run(tmp_path, nodes, q, expected, weights)


def test_transposed_to_itself(tmp_path):
    """A transposition of axes in their own order turns nothing, however square the weight is."""
    q, w = drawn("uint8", 3, 16), drawn("int8", 16, 16)
    nodes = [steps("q", "s", "", "x"), steps("w", "t", "", "v"), node("Transpose", ["v"], ["vt"], perm=[0, 1]), node("MatMul", ["x", "vt"], ["y"])]
    run(tmp_path, nodes, q, floats_of(q, 0.5, 0) @ floats_of(w, 0.25, 0), {"s": np.float32(0.5), "w": w, "t": np.float32(0.25)})


@pytest.mark.parametrize("groups,channels,results,by_channel", [(1, 4, 6, True), (1, 4, 6, False), (2, 4, 6, True), (2, 4, 16, True), (6, 6, 6, True)])
def test_convolutions(tmp_path, groups, channels, results, by_channel):
    """Groups of few results stay floats."""
    q, w = drawn("uint8", 1, channels, 7, 6), drawn("int8", results, channels // groups, 3, 3)
    scale, w_scale = np.float32(0.02), rng.uniform(0.001, 0.01, results).astype("float32") if by_channel else np.float32(0.005)
    zeros = np.zeros(results, "int8") if by_channel else np.int8(0)
    b = rng.standard_normal(results).astype("float32")
    nodes = [steps("q", "s", "z", "x"), steps("w", "t", "u", "v", **({"axis": 0} if by_channel else {})),
             node("Conv", ["x", "v", "b"], ["c"], pads=[1, 1, 1, 1], group=groups), node("Relu", ["c"], ["y"])]
    wide = floats_of(w, w_scale, zeros, 0 if by_channel else None)
    expected = np.maximum(convolved(floats_of(q, scale, 100)[0], wide, 1, groups) + b[:, None, None], 0)[None]
    told = run(tmp_path, nodes, q, expected, {"s": scale, "z": np.uint8(100), "w": w, "t": w_scale, "u": zeros, "b": b})
    assert ('out_dtype="int32"' in told) == ((groups, results) != (2, 6))


def test_what_stays(tmp_path):
    """Scales a row of the left matrix or along the sum; sums that int32 may not hold."""
    q, w = drawn("int8", 4, 6), drawn("int8", 6, 5)
    rows = rng.uniform(0.01, 0.02, 4).astype("float32")
    along = rng.uniform(0.01, 0.02, 6).astype("float32")
    product = [node("MatMul", ["x", "v"], ["y"])]
    told = run(tmp_path, [steps("q", "s", "", "x", axis=0), steps("w", "t", "", "v")] + product, q,
               floats_of(q, rows, 0, 0) @ floats_of(w, 0.5, 0), {"s": rows, "w": w, "t": np.float32(0.5)})
    assert "int32" not in told
    told = run(tmp_path, [steps("q", "s", "", "x"), steps("w", "t", "", "v", axis=0)] + product, q,
               floats_of(q, 0.5, 0) @ floats_of(w, along, 0, 0), {"s": np.float32(0.5), "w": w, "t": along})
    assert "int32" not in told
    for n, fits in ((33025, True), (33026, False)):
        q, w = np.full((1, n), 127, "int8"), np.full((n, 1), 127, "int8")
        told = run(tmp_path, [steps("q", "s", "", "x"), steps("w", "s", "", "v")] + product, q, np.full((1, 1), n * 127.0 * 127), {"s": np.float32(1), "w": w})
        assert ("int32" in told) == fits
