#!/usr/bin/env python3
"""ONNX files that are right, and files that are not: what comes out, what is said, and that nothing is written.

usage: onnx.py TIRC FUZZ_ONNX
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

from messages import attribute, external_tensor, field, model, node, tensor, value

TIRC, FUZZ = map(os.path.abspath, sys.argv[1:3])
F32 = np.float32
rng = np.random.default_rng(1)


def call(*arguments):
    done = subprocess.run([TIRC, *arguments], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


def folder_of(name, data, inputs, outputs):
    os.makedirs(name, exist_ok=True)
    write(name + "/model.onnx", data)
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for i, a in enumerate(arrays):
            write(f"{name}/{kind}_{i}.pb", tensor(a))
    return name


def runs(name, data, inputs, outputs, *options):
    folder = folder_of(name, data, inputs, outputs)
    status, out, err = call("run", folder + "/model.onnx", "--test-data", folder, *options)
    assert status == 0 and out.count(": ok") == len(outputs), (name, status, out, err)
    for i, expected in enumerate(outputs[:1]):  # the comparison is one: another answer is refused
        wrong = expected.copy()
        flat = wrong.reshape(-1)
        flat[-1] = not flat[-1] if wrong.dtype == bool else flat[-1] + 1
        write(f"{folder}/output_{i}.pb", tensor(wrong))
        status, out, err = call("run", folder + "/model.onnx", "--test-data", folder, *options)
        assert status == 1 and "FAILED" in out, (name, status, out, err)
        write(f"{folder}/output_{i}.pb", tensor(expected))


def refused(data, *words, options=(), name="bad.onnx"):
    write(name, data)
    status, out, err = call("import", name, "-o", "never.tir", "--weights", "never.safetensors", *options)
    assert status == 2, (words, status, out, err)
    assert not os.path.exists("never.tir") and not os.path.exists("never.safetensors"), words
    for word in words:
        assert word in err, (word, err)


# --- what is right ----------------------------------------------------------------------------------------------------

def test_models():
    x, w, b = (rng.standard_normal(s).astype(F32) for s in ((4, 6), (6, 5), (5,)))
    layer = [node("MatMul", ["x", "w"], ["p"], "product"), node("Add", ["p", "b"], ["s"]), node("Relu", ["s"], ["y"])]
    y = np.maximum(x @ w + b, 0)
    weights = [tensor(w, "w"), tensor(b, "b")]
    plain = model(layer, [value("x", "float32", (4, 6))], [value("y", "float32", (4, 5))], weights)
    runs("layer", plain, [x], [y])
    # nodes in any order; an extent that has a name; an initializer that is listed as an input, too; two outputs
    shuffled = model(layer[::-1], [value("w", "float32", (6, 5)), value("x", "float32", ("batch", 6))],
                     [value("y", "float32", ("batch", 5)), value("s", "float32", ("batch", 5))], weights)
    runs("shuffled", shuffled, [x], [y, x @ w + b])
    status, out, err = call("print", "shuffled/model.onnx", "-D", "batch=3")
    assert status == 0 and "(3, 6)" in out, (out, err)
    assert "batch" in call("print", "shuffled/model.onnx")[1]
    status, out, err = call("print", "shuffled/model.onnx", "-D", "bath=3")
    assert status == 2 and "'bath'" in err and "batch" in err, err
    # the weights in a file beside the model, and taken out by import
    write("data.bin", b"\0" * 64 + w.tobytes() + b.tobytes())
    beside = [external_tensor(w, "w", "data.bin", 64), external_tensor(b, "b", "data.bin", 64 + w.nbytes)]
    write("beside.onnx", model(layer, [value("x", "float32", (4, 6))], [value("y", "float32", (4, 5))], beside))
    np.save("x.npy", x)
    assert call("import", "beside.onnx", "-o", "m.tir", "--weights", "m.safetensors")[0] == 0
    assert call("run", "m.tir", "--weights", "m.safetensors", "--in", "x=x.npy", "--out", "y=y.npy")[0] == 0
    np.testing.assert_allclose(np.load("y.npy"), y, rtol=1e-4, atol=1e-5)


def test_types():
    for dtype in ("float16", "float64", "int8", "uint16", "uint64"):
        a, b = (rng.integers(0, 50, (3, 2)).astype(dtype) for _ in range(2))
        runs("add_" + dtype, model([node("Add", ["a", "b"], ["c"])], [value("a", dtype, (3, 2)), value("b", dtype, (3, 2))],
                                   [value("c", dtype, (3, 2))]), [a, b], [a + b])
    # integers of 64 bits that no float64 tells apart
    a, b = np.array([2**60], "int64"), np.array([1], "int64")
    runs("wide", model([node("Add", ["a", "b"], ["c"])], [value("a", "int64", (1,)), value("b", "int64", (1,))],
                       [value("c", "int64", (1,))]), [a, b], [a + b])


def test_shapes():
    x = rng.standard_normal((2, 3, 4)).astype(F32)
    inputs = [value("x", "float32", (2, 3, 4)), value("to", "int64", (2,))]
    given = model([node("Reshape", ["x", "to"], ["y"], "flat")], inputs, [value("y", "float32", (6, 4))])
    runs("given", given, [x, np.array([6, 4])], [x.reshape(6, 4)])
    refused(given, "'flat'", "'to'", "--bind")
    assert call("print", "bad.onnx", "--bind", "to=6,4")[0] == 0
    # a shape that the graph computes: of another value, plus a constant
    computed = model([node("Shape", ["x"], ["s"]), node("Constant", [], ["d"], value=np.array([1, -1, 1])),
                      node("Add", ["s", "d"], ["to"]), node("Reshape", ["x", "to"], ["y"])],
                     [value("x", "float32", (2, 3, 4))], [value("y", "float32", (3, 2, 5))])
    refused(computed, "Reshape")
    fine = model([node("Shape", ["z"], ["s"]), node("Reshape", ["x", "s"], ["y"])],
                 [value("x", "float32", (2, 3, 4)), value("z", "float32", (4, 6))], [value("y", "float32", (4, 6))])
    runs("computed", fine, [x, np.zeros((4, 6), F32)], [x.reshape(4, 6)])


def test_conversions():
    """Of the user's own: with attributes by name, inputs that are left out, two results."""
    os.makedirs("mine/onnx")
    write("mine/onnx/table.sch", b'onnx = {"com.example.Both": "mine.Both"}')
    write("mine/onnx/mine.sch", b"""def Both(x, a=None, b=None, scale=1, n_outputs=1, opset=0):
    if a is not None or n_outputs != 2 or opset != 17:
        raise ValueError(f"{a} {n_outputs} {opset}")
    total = R.add(x, x)
    assert total.op == "add" and len(total.args) == 2 and not total.is_weight and not total.is_const
    assert R.const([1, 2], x.dtype).is_weight and R.negative(R.const([1, 2], x.dtype)).tolist() == [-1, -2]
    parts = R.split(x, [1], axis=1)
    left, right = parts
    assert left.shape[1] == 1 and right.shape[1] == 2 and parts.with_args(total)[1].shape[1] == 2
    return [R.add(x, b), R.multiply(x, R.const(scale, x.dtype))]
""")
    x, b = rng.standard_normal((2, 3)).astype(F32), rng.standard_normal((2, 3)).astype(F32)
    both = model([node("Both", ["x", "", "b"], ["y", "z"], "t", domain="com.example", scale=3)],
                 [value(n, "float32", (2, 3)) for n in "xb"], [value(n, "float32", (2, 3)) for n in "yz"])
    runs("both", both, [x, b], [x + b, 3 * x], "--operators", "mine")
    refused(model([node("Both", ["x", "b"], ["y"], "t", domain="com.example")], [value(n, "float32", (2, 3)) for n in "xb"],
                  [value("y", "float32", (2, 3))]), "'t'", "mine.sch:3", options=("--operators", "mine"))
    write("mine/onnx/mine.sch", b"def Both(x, b):\n    total = R.add(x, b)\n    return R.nn.rellu(total)\n")
    refused(model([node("Both", ["x", "b"], ["y"], "t", domain="com.example")], [value(n, "float32", (2, 3)) for n in "xb"],
                  [value("y", "float32", (2, 3))]), "'t'", "R.nn.rellu", "mine.sch:3", "nn.relu", options=("--operators", "mine"))


# --- what is wrong ----------------------------------------------------------------------------------------------------

def test_refusals():
    x, y = value("x", "float32", (2,)), value("y", "float32", (2,))
    one = model([node("Relu", ["x"], ["y"], "r")], [x], [y])
    refused(b"", "empty")
    refused(b"no model at all\n", "bad.onnx")
    for n in range(1, len(one), 29):
        write("cut.onnx", one[:n])
        assert call("check", "cut.onnx")[0] == 2, n
    refused(model([node("Relu", ["x"], ["y"], "r")], [x], [y], opset=99), "99", "operator")
    refused(model([node("Nothing", ["x"], ["y"], "odd one")], [x], [y]), "'odd one'", "Nothing", "--operators")
    refused(model([node("Relu", ["x"], ["y"], "r", domain="com.example")], [x], [y]), "'r'", "com.example.Relu")
    refused(model([node("Add", ["x", "b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second")], [x], [value("b", "float32", (2,))]),
            "depends on itself")
    refused(model([node("Relu", ["z"], ["y"], "r")], [x], [y]), "'r'", "'z'")
    refused(model([node("Relu", ["x"], ["y"], "r"), node("Relu", ["x"], ["y"], "q")], [x], [y]), "'y'")
    refused(model([node("Relu", ["x"], ["z"], "r")], [x], [y]), "'y'")
    refused(model([node("Add", ["x", "w"], ["y"], "sum")], [x], [y], [tensor(np.zeros(3, F32), "w")]), "'sum'", "Add")
    refused(model([node("Relu", ["x"], ["y"], "r", slope=0.5)], [x], [y]), "'r'", "slope")
    refused(model([node("Add", ["x", "w"], ["y"])], [x], [y], [tensor(np.zeros(2, F32), "w")[:-4]]), "bad.onnx")
    # more elements than there are bytes; extents whose product has no end
    large = field(1, 1 << 40) + field(1, 1 << 40) + field(2, 1) + field(8, "w") + field(9, b"\0" * 8)
    refused(model([node("Add", ["x", "w"], ["y"])], [x], [y], [large]), "'w'")
    refused(model([node("Relu", ["x"], ["y"], "r")], [value("x", "float32", (1 << 40, 1 << 40))], [y]), "bad.onnx")
    # files of external data: missing, too short, somewhere else
    w = np.zeros(2, F32)
    for location, offset, words in (("gone.bin", 0, "gone.bin"), ("short.bin", 4, "short.bin"), ("../short.bin", 0, "beside"),
                                    (os.path.abspath("short.bin"), 0, "beside")):
        write("short.bin", w.tobytes())
        refused(model([node("Add", ["x", "w"], ["y"])], [x], [y], [external_tensor(w, "w", location, offset)]), words)
    # messages inside of messages, deeper than any stack
    deep = b""
    for _ in range(3000):
        deep = field(1, field(4, "If") + field(5, field(1, "then_branch") + field(6, deep)))
    refused(field(1, 8) + field(7, deep), "deep")
    refused(one, "'nobody'", options=("--bind", "nobody=1"))


def test_mutations():
    """In one process, thousands of files that were right once."""
    seeds = [name + "/model.onnx" for name in ("layer", "shuffled", "given", "computed")] + ["beside.onnx"]
    done = subprocess.run([FUZZ, "--mutations", "1000", "--seed", "1", *seeds], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.stdout, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test()
                print("ok", name[5:])


main()
