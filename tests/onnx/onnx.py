#!/usr/bin/env python3
"""ONNX files that are right, and files that are not: what comes out, what is said, and that nothing is written.

usage: onnx.py TIRC FUZZ_ONNX
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

from messages import attribute, external_tensor, field, graph, model, node, tensor, value

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
    # names that are words of the printed text
    words = [node("Mul", ["R", "in"], ["T"]), node("Add", ["T", "R"], ["I"])]
    write("words.onnx", model(words, [value("R", "float32", (4,)), value("in", "float32", (4,))], [value("I", "float32", (4,))]))
    assert call("import", "words.onnx", "-o", "words.tir")[0] == 0 and call("check", "words.tir")[0] == 0
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


def test_folders():
    """As many inputs as the file has, no more and no less."""
    x = rng.standard_normal(3).astype(F32)
    folder = folder_of("one", model([node("Relu", ["x"], ["y"])], [value("x", "float32", (3,))], [value("y", "float32", (3,))]), [x, x], [np.maximum(x, 0)])
    for given in "2 inputs", "0 inputs":
        status, out, err = call("run", folder + "/model.onnx", "--test-data", folder)
        assert status == 2 and given in err and "1" in err, (status, out, err)
        for i in 0, 1:
            if os.path.exists(f"{folder}/input_{i}.pb"):
                os.remove(f"{folder}/input_{i}.pb")


def test_bits():
    """Files of tests store bfloat16 as its bits, in uint16."""
    x = np.array([1.0, -2.5, 3.140625, 0.00390625], F32)
    bits = (x.view("uint32") >> 16).astype("uint16")
    runs("bits", model([node("Cast", ["x"], ["y"], to=16)], [value("x", "float32", (4,))], [value("y", "bfloat16", (4,))]), [x], [bits])
    runs("floats", model([node("Cast", ["x"], ["y"], to=1)], [value("x", "bfloat16", (4,))], [value("y", "float32", (4,))]), [bits], [x])


def test_graphs_in_nodes():
    x = rng.standard_normal((2, 3)).astype(F32)
    xs, ys = [value("x", "float32", (2, 3))], [value("y", "float32", (2, 3))]
    double = graph([node("Add", ["x", "x"], ["twice"])], [], [value("twice", "float32", (2, 3))])
    none = graph([node("Sub", ["x", "x"], ["zero"])], [], [value("zero", "float32", (2, 3))])
    choice = node("If", ["c"], ["y"], "choice", then_branch=double, else_branch=none)
    for which, expected in ((True, 2 * x), (False, 0 * x)):
        runs("if", model([choice], xs, ys, [tensor(np.array(which), "c")]), [x], [expected])
        # where only the run knows: both are made, and one is taken
        asked = model([choice], xs + [value("c", "bool", ())], ys)
        runs("if_asked", asked, [x, np.array(which)], [expected])
    other = graph([node("Flatten", ["x"], ["flat"], axis=0)], [], [value("flat", "float32", (1, 6))])
    refused(model([node("If", ["c"], ["y"], "odd", then_branch=double, else_branch=other)], xs + [value("c", "bool", ())], ys), "'odd'", "'c'", "--bind")
    # x, x + 1, x + 1 + 2: a state, what each turn gives, and a value of the graph around, given behind the loop
    body = graph([node("Cast", ["i"], ["f"], to=1), node("Add", ["s", "f"], ["next"]), node("Mul", ["next", "factor"], ["out"])],
                 [value("i", "int64", ()), value("go", "bool", ()), value("s", "float32", (2, 3))],
                 [value("go", "bool", ()), value("next", "float32", (2, 3)), value("out", "float32", (2, 3))])
    loop = node("Loop", ["n", "", "x"], ["last", "all"], "loop", body=body)
    outputs = [value("last", "float32", (2, 3)), value("all", "float32", (3, 2, 3))]
    makes = node("Exp", ["half"], ["factor"])
    turned = model([loop, makes], xs + [value("n", "int64", ())], outputs, [tensor(np.array(0.5, F32), "half")])
    e = np.exp(F32(0.5))
    runs("loop", turned, [x, np.array(3)], [x + 3, np.stack([x, x + 1, x + 3]) * e], "--bind", "n=3")
    refused(turned, "'loop'", "'n'", "--bind")
    refused(model([loop], xs + [value("n", "int64", ())], outputs), "'loop'", "'factor'")
    sums = graph([node("Add", ["s", "r"], ["next"]), node("Identity", ["next"], ["out"])], [value("s", "float32", (3,)), value("r", "float32", (3,))],
                 [value("next", "float32", (3,)), value("out", "float32", (3,))])
    scan = model([node("Scan", ["z", "x"], ["last", "all"], body=sums, num_scan_inputs=1)], [value("z", "float32", (3,))] + xs,
                 [value("last", "float32", (3,)), value("all", "float32", (2, 3))])
    z = rng.standard_normal(3).astype(F32)
    runs("scan", scan, [z, x], [z + x[0] + x[1], np.stack([z + x[0], z + x[0] + x[1]])])
    pair = [node("SequenceConstruct", ["x", "w"], ["pair"]), node("SequenceInsert", ["pair", "x"], ["three"]),
            node("ConcatFromSequence", ["three"], ["y"], axis=0)]
    runs("sequence", model(pair, xs, [value("y", "float32", (6, 3))], [tensor(2 * x, "w")]), [x], [np.concatenate([x, 2 * x, x])])
    refused(model(pair[:1], xs, [value("pair", "float32", (2, 3))], [tensor(x, "w")]), "'pair'", "sequence")


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


def one_program(name, nodes, shape, sizes, expected, initializers, opset=17):
    """The file without a number for its extents gives one program: it runs at several sizes."""
    results = [np.asarray(e) for e in expected(np.zeros([s if isinstance(s, int) else 2 for s in shape], F32))]
    outputs = [value("y%d" % i, str(r.dtype), ["o%d%d" % (i, d) for d in range(r.ndim)]) for i, r in enumerate(results)]
    write(name + ".onnx", model(nodes, [value("x", "float32", shape)], outputs, [tensor(v, k) for k, v in initializers.items()], opset))
    status, out, err = call("import", name + ".onnx", "-o", name + ".tir", "--weights", name + ".safetensors")
    assert status == 0, (name, err)
    run = ["run", name + ".tir", "--weights", name + ".safetensors", "--in", "x=x.npy"]
    names = None
    for size in sizes:
        x = rng.standard_normal([size.get(s, s) for s in shape]).astype(F32)
        np.save("x.npy", x)
        if names is None:
            out = call(*run)[1]
            names = [line.split(":")[0] for line in out.splitlines() if "[" in line][:len(results)]
        status, out, err = call(*run, *[w for i, n in enumerate(names) for w in ("--out", "%s=y%d.npy" % (n, i))])
        assert status == 0, (name, size, err)
        for i, want in enumerate(expected(x)):
            np.testing.assert_allclose(np.load("y%d.npy" % i), want, rtol=1e-4, atol=1e-5, err_msg=name)


def test_extents():
    """What exporters write of shapes, with the extents left open."""
    numbers = {"zero": np.array(0), "one": np.array(1), "four": np.array(4), "z": np.array([0]), "o": np.array([1]), "t": np.array([2]), "m": np.array([-1])}
    sizes = [{"b": 1, "s": 5}, {"b": 3, "s": 2}, {"b": 8, "s": 7}]
    w = rng.standard_normal((12, 5)).astype(F32)
    one_program("flat", [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"]), node("Unsqueeze", ["n", "z"], ["n1"]),
                         node("Concat", ["n1", "m"], ["to"], axis=0), node("Reshape", ["x", "to"], ["f"]), node("MatMul", ["f", "w"], ["y0"])],
                ("b", 3, 4), sizes, lambda x: [x.reshape(len(x), -1) @ w], {**numbers, "w": w})
    heads = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["d0"]), node("Gather", ["s", "one"], ["d1"]), node("Unsqueeze", ["d0", "z"], ["e0"]),
             node("Unsqueeze", ["d1", "z"], ["e1"]), node("Concat", ["e0", "e1", "h"], ["to"], axis=0), node("Reshape", ["x", "to"], ["r"]),
             node("Transpose", ["r"], ["u"], perm=[0, 2, 1, 3]), node("Mul", ["e1", "four"], ["k"]), node("Div", ["k", "t"], ["k2"]),
             node("Concat", ["e0", "k2", "four1"], ["back"], axis=0), node("Reshape", ["u", "back"], ["y0"])]
    one_program("heads", heads, ("b", "s", 8), sizes, lambda x: [x.reshape(*x.shape[:2], 2, 4).transpose(0, 2, 1, 3).reshape(len(x), -1, 4)],
                {**numbers, "h": np.array([2, 4]), "four1": np.array([4])})
    p, column = rng.standard_normal((1, 16, 4)).astype(F32), rng.standard_normal((2, 1, 3)).astype(F32)
    places = [node("Shape", ["x"], ["s"]), node("Slice", ["s", "o", "t", "z"], ["len"]), node("Slice", ["p", "z", "len", "o"], ["own"]),
              node("Add", ["x", "own"], ["y0"]), node("ConstantOfShape", ["three"], ["ones"], value=np.array([1])), node("Mul", ["ones", "m"], ["minus"]),
              node("Concat", ["m", "len", "m"], ["want"], axis=0), node("Equal", ["want", "minus"], ["q"]), node("Where", ["q", "ones", "want"], ["to"]),
              node("Expand", ["column", "to"], ["y1"])]
    one_program("places", places, ("b", "s", 4), sizes, lambda x: [x + p[:, :x.shape[1]], np.broadcast_to(column, (2, x.shape[1], 3))],
                {**numbers, "three": np.array([3]), "p": p, "column": column})
    ranges = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "one"], ["n"]), node("Range", ["zero", "n", "one"], ["r"]), node("Cast", ["r"], ["f"], to=1),
              node("Unsqueeze", ["f", "z"], ["u"]), node("Add", ["x", "u"], ["a"]), node("Cast", ["n"], ["g"], to=1), node("Div", ["a", "g"], ["y0"])]
    one_program("range", ranges, ("b", "s"), sizes, lambda x: [(x + np.arange(x.shape[1], dtype=F32)) / x.shape[1]], numbers)
    resized = [node("Shape", ["x"], ["s"]), node("Slice", ["s", "z", "t", "z"], ["nc"]), node("Concat", ["nc", "hw"], ["to"], axis=0),
               node("Resize", ["x", "", "", "to"], ["y0"])]
    one_program("resized", resized, ("b", "s", 3, 3), sizes, lambda x: [x.repeat(2, 2).repeat(2, 3)], {**numbers, "hw": np.array([6, 6])}, opset=13)
    shapes = [node("Shape", ["x"], ["y0"]), node("Size", ["x"], ["y1"]), node("Expand", ["c", "y0"], ["y2"])]
    one_program("shapes", shapes, ("b", "s"), sizes, lambda x: [np.array(x.shape), np.array(x.size), np.full(x.shape, 2.5, F32)], {"c": np.array([2.5], F32)})
    # how much is cut off depends on what an extent is
    refused(model([node("ConvTranspose", ["x", "w"], ["y"], "odd", output_shape=[7])], [value("x", "float32", (1, 1, "n"))],
                  [value("y", "float32", (1, 1, 7))], [tensor(np.ones((1, 1, 3), F32), "w")]), "'odd'")


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
    refused(model([node("Relu", ["x"], ["y"], "r")], [x], [value("y", "int32", (2,))]), "'y'", "int32", "float32")
    for other in ((3,), (2, 1)):  # a shape that its nodes do not give
        refused(model([node("Relu", ["x"], ["y"], "r")], [x], [value("y", "float32", other)]), "'y'", "'r'", "gives")
    refused(model([node("Expand", ["x", "to"], ["y"], "grow")], [value("x", "float32", (1,))], [y], [tensor(np.array([1 << 40, 1 << 40]), "to")]), "'grow'", "64 bits")
    again = graph([node("Relu", ["y"], ["z"])], [], [value("z", "float32", (2,))])
    refused(model([node("If", ["c"], ["y"], "own", then_branch=again, else_branch=again)], [x], [y], [tensor(np.array(True), "c")]), "'own'", "depends on itself")
    longest = graph([node("Relu", ["s"], ["next"]), node("Identity", ["go"], ["on"])], [value("i", "int64", ()), value("go", "bool", ()), value("s", "float32", (2,))],
                    [value("on", "bool", ()), value("next", "float32", (2,))])
    refused(model([node("Loop", ["", "c", "x"], ["y"], "endless", body=longest)], [x], [y], [tensor(np.array(True), "c")]), "'endless'", "4096")
    with open("bad.onnx", "wb") as large:  # nothing but a size
        large.truncate(2200 << 20)
    assert call("import", "bad.onnx", "-o", "never.tir")[0] == 2 and "2 GB" in call("check", "bad.onnx")[2]
    refused(model([node("Relu", ["x"], ["y"], "r", slope=0.5)], [x], [y]), "'r'", "slope")
    refused(model([node("Add", ["x", "w"], ["y"])], [x], [y], [tensor(np.zeros(2, F32), "w")[:-4]]), "bad.onnx")
    # more elements than there are bytes; extents whose product has no end
    large = field(1, 1 << 40) + field(1, 1 << 40) + field(2, 1) + field(8, "w") + field(9, b"\0" * 8)
    refused(model([node("Add", ["x", "w"], ["y"])], [x], [y], [large]), "'w'")
    refused(model([node("Relu", ["x"], ["y"], "r")], [value("x", "float32", (1 << 40, 1 << 40))], [y]), "bad.onnx")
    # files of external data: missing, too short, somewhere else
    w = np.zeros(2, F32)
    for location, offset, words in (("gone.bin", 0, "the tensor 'w': cannot read 'gone.bin'"), ("short.bin", 4, "short.bin"), ("../short.bin", 0, "beside"),
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
