"""tirc.load: libraries that the command made, with weights in each of their three places."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tirc
from support import SOURCE

sys.path.insert(0, str(SOURCE / "tests" / "onnx"))
from messages import model, node, tensor, value

COMMAND = pathlib.Path(tirc.library_path).resolve().parent / "tools" / "tirc"
pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="there is no command beside the library")
rng = np.random.default_rng(5)


def floats(*shape):
    return rng.standard_normal(shape).astype("float32")


W, B = floats(4, 30), floats(30)


def build(source, to, *options):
    subprocess.run([COMMAND, "build", source, "--emit=lib", "-o", to, *options], check=True, timeout=100)
    return to


@pytest.fixture
def onnx(tmp_path):
    nodes = [node("MatMul", ["in.put", "w"], ["p"]), node("Add", ["p", "b"], ["397"]), node("Neg", ["397"], ["y:0"])]
    path = tmp_path / "layer.onnx"
    path.write_bytes(model(nodes, [value("in.put", "float32", (5, 4))], [value(n, "float32", (5, 30)) for n in ("397", "y:0")],
                           [tensor(W, "w"), tensor(B, "b")]))
    return path


def test_weights_beside_and_inside(onnx, tmp_path):
    beside = build(onnx, tmp_path / "libmine.so", "--weights-out", tmp_path / "w")
    x = floats(5, 4)
    for m in (tirc.load(beside, weights=tmp_path / "w"), tirc.load(build(onnx, tmp_path / "inside.so", "--weights-inside"))):
        assert (m.name, m.version, m.extents) == ("layer", tirc.__version__, {})
        assert [(t.name, t.c_name, t.dtype, t.shape) for t in m.inputs] == [("in.put", "in_put", "float32", (5, 4))]
        assert [t.name for t in m.outputs] == ["397", "y:0"] and not m.weights
        for results in (m(x), m(in_put=x), m(**{"in.put": x})):
            np.testing.assert_allclose(results[0], x @ W + B, rtol=1e-4, atol=1e-5)
            np.testing.assert_array_equal(results[1], -results[0])
    with pytest.raises(tirc.ArgumentError, match="weights is the file"):
        tirc.load(beside)
    with pytest.raises(tirc.ArgumentError, match="has %d bytes" % onnx.stat().st_size):
        tirc.load(beside, weights=onnx)
    for wrong, words in (((floats(4, 4),), "is .5, 4., not .4, 4."), ((x.astype("float64"),), "float32, not float64"), ((), "missing: in.put"),
                         ((x, x), "has 1 inputs")):
        with pytest.raises(tirc.ArgumentError, match=words):
            m(*wrong)
    with pytest.raises(tirc.ArgumentError, match="no model 'other'"):
        tirc.load(beside, "other")


def test_no_weights(tmp_path):
    path = tmp_path / "negative.onnx"
    path.write_bytes(model([node("Neg", ["x"], ["y"])], [value("x", "float32", ())], [value("y", "float32", ())]))
    assert tirc.load(build(path, tmp_path / "negative.so"))(np.float32(3)) == -3


def test_weights_as_parameters(tmp_path):
    text = tmp_path / "two.tir"
    text.write_text("""
@R.function
def main(x: R.Tensor((7, 4), "float32"), w: R.Tensor((4, 30), "float32"), b: R.Tensor((30,), "float32")):
    R.func_attr({"num_input": 1})
    with R.dataflow():
        y = R.add(R.matmul(x, w), R.exp(b))
        R.output(y)
    return y
""")
    path = build(text, tmp_path / "two.so")
    with pytest.raises(tirc.ArgumentError, match="missing: w"):
        tirc.load(path, weights={"b": B})
    m, x = tirc.load(path, weights={"w": W, "b": B}), floats(7, 4)
    np.testing.assert_allclose(m(x), x @ W + np.exp(B), rtol=1e-4, atol=1e-5)
