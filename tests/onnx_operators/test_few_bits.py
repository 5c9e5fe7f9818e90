"""DequantizeLinear of int4 and uint4 with block_size (opset 21): in files two to a byte, and so in memory where they are weights."""

import subprocess

import numpy as np
import pytest

from test_conversions import SEED, TIRC, floats  # noqa: F401
from messages import field, model, node, number, tensor, value


def half_bytes(array, name, signed, raw=True):
    """A tensor of 4 bits each, as raw data or as numbers of int32_data."""
    flat = array.astype("int64").ravel() & 15
    flat = np.pad(flat, (0, flat.size % 2))
    packed = (flat[::2] | flat[1::2] << 4).astype("uint8")
    data = field(9, packed.tobytes()) if raw else field(5, b"".join(number(int(v)) for v in packed))
    return b"".join(field(1, e) for e in array.shape) + field(2, 22 if signed else 21) + field(8, name) + data


def run(tmp_path, *words):
    return subprocess.run([TIRC, *words], capture_output=True, text=True, cwd=tmp_path)


@pytest.mark.parametrize("signed, axis, zeros, raw, rows", [(True, 0, False, True, 1), (False, 0, True, True, 3), (False, 1, False, False, 1), (True, 1, True, True, 12)])
def test_blocks(tmp_path, signed, axis, zeros, raw, rows):
    k, n, block = 48, 32, 16
    shape, low = ((k, n) if axis == 0 else (n, k)), -8 if signed else 0
    blocks = tuple(e // block if d == axis else e for d, e in enumerate(shape))
    w, s, x = SEED.integers(low, low + 16, shape), floats(*blocks), floats(rows, k)
    z = SEED.integers(low, low + 16, blocks) if zeros else np.zeros(blocks, "int64")
    real = ((w - z.repeat(block, axis)) * s.repeat(block, axis)).astype("float32")
    nodes = [node("DequantizeLinear", ["w", "s"] + ["z"] * zeros, ["v"], axis=axis, block_size=block)]
    nodes += [node("Transpose", ["v"], ["t"], perm=[1, 0])] if axis == 1 else []
    nodes += [node("MatMul", ["x", "t" if axis == 1 else "v"], ["y"])]
    weights = [half_bytes(w, "w", signed, raw), tensor(s, "s")] + ([half_bytes(z, "z", signed)] if zeros else [])
    (tmp_path / "m.onnx").write_bytes(model(nodes, [value("x", "float32", x.shape)], [value("y", "float32", (rows, n))], weights, opset=21))
    np.save(tmp_path / "x.npy", x)
    made = run(tmp_path, "run", "m.onnx", "--in", "x=x.npy", "--out", "y=y.npy")
    assert made.returncode == 0, made.stderr
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), x @ (real if axis == 0 else real.T), rtol=1e-4, atol=1e-4)
    text = run(tmp_path, "apply", "m.onnx", "--plain").stdout
    assert "matmul_nbits" in text, text


def test_too_short(tmp_path):
    w = half_bytes(np.zeros((5, 3)), "w", True)
    cut = b"".join(field(1, e) for e in (5, 4)) + w[len(b"".join(field(1, e) for e in (5, 3))):]
    (tmp_path / "m.onnx").write_bytes(model([node("DequantizeLinear", ["w", "s"], ["y"])], [value("s", "float32", ())], [value("y", "float32", (5, 4))], [cut], opset=21))
    made = run(tmp_path, "run", "m.onnx")
    assert made.returncode == 2 and "takes 10 bytes, and 8 are there" in made.stderr, made.stderr


def test_import(tmp_path):
    """A module of a file whose weights become integers computes what the file does with --quantize."""
    w, x = floats(32, 16), floats(2, 32)
    (tmp_path / "m.onnx").write_bytes(model([node("MatMul", ["x", "w"], ["y"])], [value("x", "float32", x.shape)], [value("y", "float32", (2, 16))], [tensor(w, "w")]))
    np.save(tmp_path / "x.npy", x)
    assert run(tmp_path, "import", "m.onnx", "--quantize=int4", "-o", "m.tir", "--weights", "m.safetensors").returncode == 0
    text = (tmp_path / "m.tir").read_text()
    assert "R.dequantize_nbits(w_uint8, w_float16" in text and "w: R.Tensor" not in text, text
    assert (tmp_path / "m.safetensors").stat().st_size < 32 * 16 * 4
    for words in (["m.tir", "--weights", "m.safetensors"], ["m.onnx", "--quantize=int4"]):
        made = run(tmp_path, "run", *words, "--in", "x=x.npy", "--out", "y=%s.npy" % words[0])
        assert made.returncode == 0, made.stderr
    y = np.load(tmp_path / "m.tir.npy")
    assert (y == np.load(tmp_path / "m.onnx.npy")).all()
    error = np.sqrt(((y - x @ w) ** 2).sum() / ((x @ w) ** 2).sum())
    assert 0 < error < 0.2, error
    refused = run(tmp_path, "import", "m.onnx", "--quantize=int4", "--only", "v*")
    assert refused.returncode == 2 and "the weights of products are w" in refused.stderr, refused.stderr
