"""Models: called by position and by name, with weights of several kinds, with arrays of numpy and of others."""

import json
import struct
import sys
import threading

import numpy as np
import pytest

import tirc
from support import EXAMPLES, SOURCE

sys.path.insert(0, str(SOURCE / "tests" / "onnx"))
from messages import model, node, tensor, value

TWO = """
@R.function
def main(x: R.Tensor(("n", 6), "float32"), y: R.Tensor((6,), "float32"), w: R.Tensor((6, 3), "float32")):
    R.func_attr({"num_input": 2})
    with R.dataflow():
        p = R.matmul(R.add(x, y), w)
        s = R.nn.relu(x)
        R.output(p, s)
    return (p, s)
"""
rng = np.random.default_rng(3)

FUNCTION = """    @T.prim_func
    def {0}(A: T.Buffer(({1},), "float32"), B: T.Buffer(({1},), "float32")):
        for i in range({1}):
            B[i] = T.float32({2})
"""


def floats(*shape):
    return rng.standard_normal(shape).astype("float32")


def save(path, arrays):
    header, data = {}, b""
    for name, a in arrays.items():
        header[name] = {"dtype": "F32", "shape": a.shape, "data_offsets": [len(data), len(data) + a.nbytes]}
        data += a.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@pytest.fixture
def onnx(tmp_path):
    w, b = floats(4, 3), floats(3)
    nodes = [node("MatMul", ["in.put", "w"], ["p"], "product"), node("Add", ["p", "b"], ["s"], "bias"), node("Relu", ["s"], ["y"], "r")]
    path = tmp_path / "layer.onnx"
    path.write_bytes(model(nodes, [value("in.put", "float32", ("rows", 4))], [value("y", "float32", ("rows", 3))],
                           [tensor(w, "w"), tensor(b, "b")]))
    return path, w, b


def test_several_results_names_and_sizes():
    w = floats(6, 3)
    run = tirc.compile(tirc.parse(TWO), weights={"w": w}, threads=2)
    assert [p.name for p in run.inputs] == ["x", "y"] and [p.name for p in run.weights] == ["w"] and len(run.outputs) == 2
    for n in (1, 3, 8):
        x, y = floats(n, 6), floats(6)
        for results in (run(x, y), run(x, y=y), run(y=y, x=x)):
            assert isinstance(results, tuple) and isinstance(results[0], np.ndarray)
            np.testing.assert_allclose(results[0], (x + y) @ w, rtol=1e-4, atol=1e-5)
            np.testing.assert_array_equal(results[1], np.maximum(x, 0))


def test_file_of_weights(tmp_path):
    shapes = {"w0": (784, 128), "b0": (128,), "w1": (128, 10), "b1": (10,)}
    w = {k: floats(*s) * np.float32(0.1) for k, s in shapes.items()}
    save(tmp_path / "mlp.safetensors", w)
    x = floats(4, 784)
    expected = np.maximum(x @ w["w0"] + w["b0"], 0) @ w["w1"] + w["b1"]
    for how in ({}, {"plain": True}, {"defines": {"n": 4}}, {"skip": ["FuseOps"]}):
        run = tirc.compile(EXAMPLES / "models" / "mlp.tir", weights=tmp_path / "mlp.safetensors", **how)
        np.testing.assert_allclose(run(x), expected, rtol=1e-3, atol=1e-4)


def test_onnx(onnx):
    path, w, b = onnx
    run = tirc.compile(str(path))
    for rows in (1, 5):
        x = floats(rows, 4)
        np.testing.assert_allclose(run(**{"in.put": x}), np.maximum(x @ w + b, 0), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(run(x), np.maximum(x @ w + b, 0), rtol=1e-5, atol=1e-6)
    x = floats(2, 4)
    np.testing.assert_allclose(tirc.compile(tirc.read(path))(x), np.maximum(x @ w + b, 0), rtol=1e-5, atol=1e-6)


def test_results_outlive_the_model(onnx):
    path, w, b = onnx
    x = floats(2, 4)
    y = tirc.compile(path)(x)
    kept = y.copy()
    assert y.flags.writeable
    del path
    for _ in range(3):
        floats(1000, 1000)
    np.testing.assert_array_equal(y, kept)


class Foreign:
    """An array of a package with a from_dlpack of its own."""

    def __init__(self, a):
        self.a = a

    def __dlpack__(self, **keywords):
        return self.a.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


def test_others_arrays(onnx, monkeypatch):
    path, w, b = onnx
    monkeypatch.setattr(sys.modules[__name__], "from_dlpack", lambda x: Foreign(np.from_dlpack(x)), raising=False)
    x = floats(3, 4)
    y = tirc.compile(path)(Foreign(x))
    assert isinstance(y, Foreign)
    np.testing.assert_allclose(y.a, np.maximum(x @ w + b, 0), rtol=1e-5, atol=1e-6)


def test_read_only(onnx):
    path, w, b = onnx
    x, y = floats(3, 4), np.zeros((3, b.size), "float32")
    x.flags.writeable = False
    run = tirc.compile(path)
    name = run.outputs[0].name
    assert run.into({name: y}, x) is y
    np.testing.assert_allclose(y, np.maximum(x @ w + b, 0), rtol=1e-5, atol=1e-6)
    y.flags.writeable = False
    with pytest.raises(tirc.TVMError, match='the result "%s": it is written, but the array is read-only' % name):
        run.into({name: y}, x)


def test_threads(onnx):
    path, w, b = onnx
    run, x, results = tirc.compile(path), floats(64, 4), []
    threads = [threading.Thread(target=lambda: results.extend(run(x) for _ in range(20))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 80 and all((y == results[0]).all() for y in results)


@pytest.mark.parametrize("args, keywords, words", [
    ((), {}, "inputs are missing: x, y"),
    ((1,), {}, "inputs are missing: y"),
    ((floats(2, 6), floats(6), floats(6)), {}, "2 inputs, not 3"),
    ((floats(2, 6),), {"z": floats(6)}, 'no input "z"; the inputs are x, y'),
    ((floats(2, 6), floats(6)), {"x": floats(6)}, 'twice the input "x"'),
    ((floats(2, 5), floats(6)), {}, "x"),
    ((floats(2, 6), floats(6).astype("float64")), {}, "y"),
    ((floats(6, 2).T, floats(6)), {}, 'the input "x"'),
    (("text", floats(6)), {}, 'the input "x"'),
])
def test_wrong_inputs(args, keywords, words):
    run = tirc.compile(tirc.parse(TWO), weights={"w": floats(6, 3)})
    with pytest.raises(tirc.ArgumentError, match=words):
        run(*args, **keywords)


def test_wrong_weights(tmp_path):
    with pytest.raises(tirc.ArgumentError, match="weights are missing: w"):
        tirc.compile(tirc.parse(TWO))
    save(tmp_path / "w.safetensors", {"v": floats(6, 3)})
    with pytest.raises(tirc.TVMError, match="there is no weight 'w'"):
        tirc.compile(tirc.parse(TWO), weights=tmp_path / "w.safetensors")
    with pytest.raises(tirc.TVMError):
        tirc.compile(tmp_path / "missing.onnx")
    with pytest.raises(ValueError, match="for models"):
        tirc.compile(EXAMPLES / "matmul" / "matmul.tir", weights={})


PACKED = """@R.function
def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 3), "float32")):
    with R.dataflow():
        y = R.call_dps_packed("env.linear", (x, w), out_sinfo=R.Tensor((2, 4), "float32"))
        z = R.nn.relu(y)
        R.output(z)
    return z
"""


def test_graphs_call_functions_of_python():
    from tirc import relax
    asked = []

    @tirc.register_func("env.linear", override=True)
    def linear(x, w, out):
        asked.append(x.shape)
        if asked[0] is None:
            raise KeyError("mine")
        out.copyfrom(x.numpy() @ w.numpy().T)
    x, w = np.arange(6, dtype="float32").reshape(2, 3) - 2, np.arange(12, dtype="float32").reshape(4, 3) - 5
    want = np.maximum(x @ w.T, 0)
    mod = tirc.parse(PACKED)
    assert np.allclose(tirc.relax.VirtualMachine(relax.build(mod))["main"](x, w).numpy(), want)
    model = tirc.compile(mod, packed={"env.linear": linear})
    assert np.allclose(model(x, w), want) and asked == [(2, 3)] * 2 and len(model.calls(x, w)) == 2
    asked[:] = [None]
    with pytest.raises(KeyError, match="mine"):
        model(x, w)
    asked.clear()
    assert np.allclose(model(x, w), want)
    with pytest.raises(tirc.TVMError, match='"env.linear"'):
        tirc.compile(mod)


@pytest.mark.parametrize("said, of", [
    ("has no function", """    @R.function
    def main(x: R.Tensor((4,), "float32")):
        gv = R.nn.relu(x)
        return gv
"""),
    ("has several functions, none of them main", FUNCTION.format("a", 4, 7.0) + FUNCTION.format("b", 4, 7.0)),
    ("has other parameters", FUNCTION.format("main", 5, 7.0)),
    (None, FUNCTION.format("a", 4, 7.0) + FUNCTION.format("main", 4, 3.0)),
    (TypeError, 5)])
def test_what_a_database_gives_is_the_function(said, of):
    """A module with it alone, or with it as main."""
    from tirc import meta_schedule, relax
    net = tirc.parse("@R.function\ndef main(x: R.Tensor((4,), \"float32\")):\n    gv = R.nn.relu(x)\n    return gv\n")

    class Given(meta_schedule.Database):
        def query_ir_module(self, mod, target):
            return tirc.parse("@I.ir_module\nclass Module:\n" + of) if isinstance(of, str) else of

    def result():
        return relax.VirtualMachine(meta_schedule.compile_relax(Given(), net, "llvm -num-cores=1"))["main"](np.ones(4, "float32")).numpy()
    if said is None:
        assert result().tolist() == [3.0] * 4
    elif said is TypeError:
        with pytest.raises(TypeError, match="a module with it as main, not 5"):
            result()
    else:
        with pytest.raises(tirc.TVMError, match=said):
            result()


NUMBERS = """
@I.ir_module
class Numbers:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), s: R.Prim("float32"), i: R.Prim("int64")):
        cls = Numbers
        with R.dataflow():
            lv = R.multiply(x, s)
            lv1 = R.call_tir(cls.add, (lv, s), out_sinfo=R.Tensor((4, 8), "float32"))
            gv = R.take(lv1, i, axis=1)
            R.output(gv)
        return gv

    @T.prim_func(private=True)
    def add(x: T.Buffer((4, 8), "float32"), s: T.float32, y: T.Buffer((4, 8), "float32")):
        for i, j in T.grid(4, 8):
            with T.block("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] + s
"""


@pytest.mark.parametrize("plain", [False, True])
def test_numbers_among_the_inputs(plain):
    x = np.arange(32, dtype="float32").reshape(4, 8)
    model = tirc.compile(tirc.parse(NUMBERS), plain=plain)
    assert [p.shape for p in model.inputs] == [(4, 8), (), ()]
    assert np.array_equal(model(x, 3.0, 2), (x * 3 + 3)[:, 2])
    assert np.array_equal(model(x, np.float32(0.5), np.int64(7)), (x * np.float32(0.5) + np.float32(0.5))[:, 7])
    with pytest.raises(tirc.TVMError, match="takes int64, and 2.5 is none"):
        model(x, 3.0, 2.5)


SAID = """
@I.ir_module
class Said:
    @R.function
    def main(x: R.Tensor((4,), "float32"), s: R.Prim("float32"), n: R.Prim("int64")) -> R.Tuple(R.Prim("int64"), R.Tensor((4,), "float32")):
        R.func_attr({"num_input": 1})
        cls = Said
        with R.dataflow():
            pair: R.Tuple(R.Prim("float32"), R.Prim("int64")) = (s, n)
            factor: R.Prim("float32") = pair[0]
            scaled = R.call_tir(cls.scale, (x, factor), out_sinfo=R.Tensor((4,), "float32"))
            gv = R.call_tir(cls.add, (scaled, n), out_sinfo=R.Tensor((4,), "float32"))
            R.output(gv)
        return (n, gv)

    @T.prim_func(private=True)
    def scale(x: T.Buffer((4,), "float32"), s: T.float32, y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("scale"):
                vi = T.axis.spatial(4, i)
                y[vi] = x[vi] * s

    @T.prim_func(private=True)
    def add(x: T.Buffer((4,), "float32"), n: T.int64, y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("add"):
                vi = T.axis.spatial(4, i)
                S
"""


@pytest.mark.parametrize("body, calls, more", [("y[vi] = x[vi] + T.Cast('float32', n)", ["fused_scale_add"], 5),
                                               ("if n < 5:\n                    y[vi] = x[vi]\n                else:\n"
                                                "                    y[vi] = x[vi] + T.float32(7)", ["scale", "add"], 7)])
def test_functions_with_numbers(body, calls, more):
    """They are fused as others are, but where a loop or a condition depends on the number, and keep their names."""
    x = np.arange(4, dtype="float32")
    model = tirc.compile(tirc.parse(SAID.replace("S\n", body + "\n")), weights={"s": 2, "n": 5})
    assert [p.shape for p in model.weights] == [(), ()]
    n, y = model(x)
    assert n == 5 and np.array_equal(y, x * 2 + more)
    assert [name for name, _ in model.calls(x) if name != "copy"] == calls


def test_other_names_of_numbers():
    """They are the number, also where others may ask for the functions that take it."""
    text = SAID.replace("S\n", "y[vi] = x[vi] + T.Cast('float32', n)\n").replace("(private=True)", "")
    text = text.replace("factor: R.Prim(\"float32\") = pair[0]", "same = s\n            t = (same, n)\n            factor: R.Prim(\"float32\") = t[0]")
    x = np.arange(4, dtype="float32")
    mod = tirc.parse(text)
    model = tirc.compile(mod, weights={"s": 2, "n": 5})
    assert np.array_equal(model(x)[1], x * 2 + 5)


@pytest.mark.parametrize("dtype, fits, others", [("int8", [-128, 127.0, True], [128, -129, 0.5, float("nan")]), ("bool", [0, True], [2, -1]),
                                                 ("float16", [65504.0, float("inf"), float("nan"), -3], [1e5, 2 ** 70]),
                                                 ("uint64", [2 ** 64 - 1], [2 ** 64, -1])])
def test_range_of_numbers(dtype, fits, others):
    model = tirc.compile(tirc.parse("@R.function\ndef main(x: R.Tensor((2,), '%s'), s: R.Prim('%s')):\n    return R.where(R.equal(x, x), s, s)\n"
                                    % (dtype, dtype)))
    x = np.zeros(2, dtype)
    for number in fits:
        assert np.array_equal(model(x, number), np.full(2, number, dtype), equal_nan=dtype == "float16")
    for number in others:
        with pytest.raises(tirc.TVMError, match='the input "s" takes %s, and .* is none' % dtype):
            model(x, number)


@pytest.mark.parametrize("number, near", [(1.00390625, 1.0), (1.01171875, 1.015625), (3, 3.0), (float("inf"), float("inf")), (-0.1, -0.10009765625)])
def test_numbers_of_bfloat16(number, near):
    model = tirc.compile(tirc.parse("@R.function\ndef main(s: R.Prim('bfloat16')):\n    return R.astype(s, 'float32')\n"))
    assert model(number) == near
    for large in (3.4e38, -1e40):
        with pytest.raises(tirc.TVMError, match='the input "s" takes bfloat16, and .* is none'):
            model(large)
