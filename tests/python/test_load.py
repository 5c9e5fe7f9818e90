"""tirc.load: libraries that the command made, with weights in each of their three places."""

import ctypes
import pathlib
import shutil
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


def test_names_of_inputs(tmp_path):
    """The file's names come before those of C, and an input may be called as Python's own are."""
    path, names = tmp_path / "named.onnx", ("a.b", "a_b", "self")
    nodes = [node("Sub", ["a.b", "a_b"], ["p"]), node("Mul", ["p", "self"], ["y"])]
    path.write_bytes(model(nodes, [value(n, "float32", (3,)) for n in names], [value("y", "float32", (3,))], []))
    arrays = {n: floats(3) for n in names}
    for m in tirc.load(build(path, tmp_path / "named.so", "--weights-inside")), tirc.compile(path):
        np.testing.assert_allclose(m(**arrays), (arrays["a.b"] - arrays["a_b"]) * arrays["self"], rtol=1e-5)


CC = shutil.which("gcc") or shutil.which("cc")


def in_c(source, to, *options):
    subprocess.run([COMMAND, "build", source, "--emit=c", "-o", to.with_suffix(".c"), *options], check=True, timeout=100)
    subprocess.run([CC, "-O1", "-march=haswell", "-shared", "-fPIC", to.with_suffix(".c"), "-o", to, "-lm"], check=True, timeout=100)
    return to


def test_open_extents(tmp_path):
    """Sizes that a run tells, in machine code and in C, against a program of numbers at each size; a constant of an open size."""
    nodes = [node("MatMul", ["x", "w"], ["p"]), node("Shape", ["x"], ["xs"]), node("ReduceMax", ["p"], ["m"], axes=[2], keepdims=1),
             node("Sub", ["p", "m"], ["d"]), node("Softmax", ["d"], ["q"]), node("Transpose", ["q"], ["t"], perm=[0, 2, 1]),
             node("MatMul", ["q", "t"], ["y"]), node("Reshape", ["q", "flat"], ["f"]),
             node("Concat", ["q", "d"], ["c"], axis=1), node("ConstantOfShape", ["xs"], ["zeros"]), node("Add", ["x", "zeros"], ["same"])]
    path = tmp_path / "open.onnx"
    outputs = [value("y", "float32", ("batch.0", "s", "s")), value("f", "float32", ("rows", 30)), value("c", "float32", ("batch.0", "s2", 30)),
               value("same", "float32", ("batch.0", "s", 4))]
    path.write_bytes(model(nodes, [value("x", "float32", ("batch.0", "s", 4))], outputs,
                           [tensor(W, "w"), tensor(np.array([-1, 30]), "flat")], opset=17))
    libraries = [build(path, tmp_path / "open.so", "--weights-out", tmp_path / "w")]
    libraries += [in_c(path, tmp_path / "in_c.so")] if CC else []
    for library in libraries:
        m = tirc.load(library, weights=tmp_path / "w")
        assert m.extents == {"batch.0": (0, 2**31 - 1), "s": (0, 2**31 - 1)}
        for b, s in ((1, 1), (2, 7), (3, 16), (1, 65), (0, 3)):
            x = floats(b, s, 4)
            results, expected = m(x), tirc.compile(path, defines={"batch_0": b, "s": s})(x)
            for r, e in zip(results, expected):
                assert r.shape == e.shape
                np.testing.assert_allclose(r, e, rtol=1e-4, atol=1e-6)
        assert m._library.open_workspace_size(ctypes.c_int64(2**31 - 1), ctypes.c_int64(2**31 - 1)) == 0
        assert m._library.open_workspace_size(ctypes.c_int64(-1), ctypes.c_int64(2)) == 0


def test_extents_that_have_to_fit(tmp_path):
    """What is skipped and what comes back from below have to have one size, which only the run knows; bounds of a graph."""
    nodes = [node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("ConvTranspose", ["p", "w"], ["u"], strides=[2, 2]),
             node("Concat", ["x", "u"], ["y"], axis=1)]
    path = tmp_path / "unet.onnx"
    path.write_bytes(model(nodes, [value("x", "float32", (1, 1, "H", "W"))], [value("y", "float32", (1, 2, "H", "W")), value("u", "float32", (1, 1, "h", "w"))],
                           [tensor(np.ones((1, 1, 2, 2), "float32"), "w")], opset=17))
    m = tirc.load(build(path, tmp_path / "unet.so"))
    assert [t.shape for t in m.outputs] == [(1, 2, "H", "W"), (1, 1, "H // 2 * 2", "W // 2 * 2")]
    for h, w in ((4, 6), (8, 2), (2, 32)):
        x = floats(1, 1, h, w)
        y, u = m(x)
        np.testing.assert_array_equal(y[:, 1:], u)
        np.testing.assert_array_equal(y[:, :1], x)
        np.testing.assert_array_equal(y[:, 1:, ::2, ::2], x.reshape(1, 1, h // 2, 2, w // 2, 2).max((3, 5)))
    for h, w in ((5, 6), (4, 7), (1, 2)):
        with pytest.raises(tirc.ArgumentError, match="Concat|MaxPool"):
            m(floats(1, 1, h, w))
    text = tmp_path / "bounded.tir"
    text.write_text("""
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    R.func_attr({"tir_var_upper_bound": {"n": 8}, "tir_var_lower_bound": {"n": 2}})
    with R.dataflow():
        y = R.add(R.sum(R.exp(x), axis=[0], keepdims=True), x)
        R.output(y)
    return y
""")
    m = tirc.load(build(text, tmp_path / "bounded.so"))
    assert m.extents == {"n": (2, 8)} and m.inputs[0].shape == ("n", 4)
    for n in (2, 8):
        x = floats(n, 4)
        np.testing.assert_allclose(m(x), np.exp(x).sum(0) + x, rtol=1e-4)
    for n, words in ((1, "at least 2"), (9, "at most 8")):
        with pytest.raises(tirc.ArgumentError, match="the extent n is " + words):
            m(floats(n, 4))


def test_divided_extents(tmp_path):
    """A division of an extent is towards zero; of what is not negative it is one downwards."""
    path = tmp_path / "parts.onnx"
    nodes = [node("Shape", ["x"], ["n"]), node("Sub", ["n", "three"], ["less"]), node("Div", ["n", "two"], ["half"]), node("Div", ["less", "two"], ["end"]),
             node("Slice", ["x", "zero", "half"], ["y"]), node("Slice", ["x", "zero", "end"], ["z"])]
    constants = [tensor(np.array([v]), name) for name, v in (("zero", 0), ("two", 2), ("three", 3))]
    path.write_bytes(model(nodes, [value("x", "float32", ("n",))], [value("y", "float32", ("h",)), value("z", "float32", ("e",))], constants))
    m = tirc.load(build(path, tmp_path / "parts.so", "--plain"))
    assert "//" in m.outputs[0].shape[0] and "Div" not in m.outputs[0].shape[0]
    for n in (0, 1, 2, 3, 6, 9):
        x = floats(n)
        y, z = m(x)
        np.testing.assert_array_equal(y, x[:n // 2])
        np.testing.assert_array_equal(z, x[:int((n - 3) / 2)])


@pytest.mark.parametrize("mode, coordinates, rounding, times", [("nearest", "asymmetric", "floor", 2), ("nearest", "asymmetric", "ceil", 3),
                                                                ("linear", "half_pixel", "floor", 2), ("cubic", "asymmetric", "floor", 3)])
def test_resize_of_open_extents(tmp_path, mode, coordinates, rounding, times):
    """By a whole number, against each size as a number."""
    path = tmp_path / "resize.onnx"
    path.write_bytes(model([node("Resize", ["x", "", "s"], ["y"], mode=mode, coordinate_transformation_mode=coordinates, nearest_mode=rounding)],
                           [value("x", "float32", (1, 2, "H", "W"))], [value("y", "float32", (1, 2, "H2", "W2"))],
                           [tensor(np.array([1, 1, times, times], "float32"), "s")], opset=13))
    m = tirc.load(build(path, tmp_path / "resize.so", "--plain"))
    assert m.outputs[0].shape == (1, 2, "H * %d" % times, "W * %d" % times)
    for h, w in ((1, 2), (4, 5)):
        x = floats(1, 2, h, w)
        np.testing.assert_allclose(m(x), tirc.compile(path, defines={"H": h, "W": w}, plain=True)(x), rtol=1e-5, atol=1e-6)
    with pytest.raises(tirc.ArgumentError, match="nothing to be resized" if mode != "nearest" or rounding != "floor" else "Resize"):
        m(floats(1, 2, 0, 4))


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


def test_rows_that_count(tmp_path):
    """A compiled model and libraries by both ways of code give the rows that count, and how many there are."""
    path = tmp_path / "some.onnx"
    path.write_bytes(model([node("Compress", ["x", "keep"], ["y"], axis=1), node("NonZero", ["x"], ["w"])],
                           [value("x", "float32", (3, 4)), value("keep", "bool", (4,))], [value("y", "float32", (3, "n")), value("w", "int64", (2, "m"))]))
    subprocess.run([COMMAND, "build", path, "--emit=c", "-o", tmp_path / "some.c"], check=True)
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "some.c", "-o", tmp_path / "c.so", "-lm"], check=True)
    x = np.maximum(floats(3, 4), 0)
    for m in (tirc.compile(path), tirc.load(build(path, tmp_path / "some.so")), tirc.load(tmp_path / "c.so")):
        for keep in (np.array([True, False, True, True]), np.zeros(4, bool), np.ones(4, bool)):
            y, w, n, many = m(x, keep)
            np.testing.assert_array_equal(y, x[:, keep])
            np.testing.assert_array_equal(w, np.array(np.nonzero(x)))
            assert (n, many) == (keep.sum(), np.count_nonzero(x))
