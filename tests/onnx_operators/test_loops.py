"""Loops of which only the run knows how many turns they have: a body that is one function, and runs so often."""

import re
import subprocess

import numpy as np
import pytest

from test_conversions import TIRC, floats, int64
from test_counted import passes, run
from messages import graph, model, node, tensor, value

X, W = floats(2, 3), floats(3, 3)
TURN, ON, STATE = value("i", "int64", ()), value("go", "bool", ()), value("s", "float32", (2, 3))
CONSTANTS = [tensor(W, "w"), tensor(np.float32(9), "limit"), tensor(np.array([1.0], "float32"), "one")]


def body(condition=(), gathers=False, states=1):
    """s = tanh(s w) + i; it goes on while the sum of s is below a limit."""
    nodes = [node("MatMul", ["s", "w"], ["p"]), node("Tanh", ["p"], ["t"]), node("Cast", ["i"], ["f"], to=1), node("Add", ["t", "f"], ["next"])]
    nodes += [node("ReduceSum", ["next"], ["sum"], keepdims=0), node("Less", ["sum", "limit"], ["on"])] if condition else [node("Identity", ["go"], ["on"])]
    outputs = [value("on", "bool", ()), value("next", "float32", (2, 3))] + ([value("next", "float32", (2, 3))] if gathers else [])
    return graph(nodes, [TURN, ON, STATE], outputs)


def turns(x, most, limit=None):
    every, i = [], 0
    while i < most and (limit is None or i == 0 or x.sum() < limit):
        x = np.tanh(x @ W) + np.float32(i)
        every.append(x)
        i += 1
    return x, every


def loop(n, cond, inner, outputs, constants=(), inputs=()):
    return model([node("Loop", [n, cond, "x"], [o for o, _ in outputs], "loop", body=inner)], [value("x", "float32", (2, 3)), *inputs],
                 [value(o, "float32", s) for o, s in outputs], CONSTANTS + list(constants))


COUNT = value("n", "int64", ())


def checked(path, text, inputs, outputs):
    """Inputs stay open, so that it is the run that knows."""
    for i, each in enumerate(inputs):
        np.save(path / ("%d.npy" % i), each)
    (path / "open.onnx").write_bytes(text)
    names = ["x", "n"][:len(inputs)]
    run = subprocess.run([TIRC, "run", path / "open.onnx", "--check", *[w for i, n in enumerate(names) for w in ("--in", "%s=%s/%d.npy" % (n, path, i))],
                          *[w for o in outputs for w in ("--out", "%s=%s/%s.npy" % (o, path, o))]], capture_output=True, text=True)
    passes(run)
    assert not re.search(r"no rule schedules the function \w+_loop:", run.stderr), run.stderr  # its calls may be too small for one
    for name, wanted in outputs.items():
        got = np.load(path / (name + ".npy"))
        np.testing.assert_allclose(got[:len(wanted)] if np.ndim(got) else got, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 7])
def test_trips(tmp_path, n):
    checked(tmp_path, loop("n", "", body(), [("y", (2, 3))], inputs=[COUNT]), [X, np.array(n)], {"y": turns(X, n)[0]})


def test_condition(tmp_path):
    y, every = turns(X, 1000, 9)
    checked(tmp_path, loop("", "", body(True), [("y", (2, 3))]), [X], {"y": y})
    most = [tensor(np.array(40), "most")]
    text = loop("most", "", body(True, True), [("y", (2, 3)), ("all", ("k", 2, 3))], most)
    checked(tmp_path, text, [X], {"y": y, "all": np.stack(every), "all_count": np.array(len(every))})
    passes(run(tmp_path, text, [X], [y, np.stack(every)]))


def test_rows_behind(tmp_path):
    """What is gathered may be indices: those that no turn gave are fit for every table."""
    nodes = [node("Add", ["s", "s"], ["next"]), node("Less", ["next", "limit"], ["on"]), node("Add", ["i", "five"], ["place"])]
    inner = graph(nodes, [TURN, ON, value("s", "float32", ())], [value("on", "bool", ()), value("next", "float32", ()), value("place", "int64", ())])
    text = model([node("Loop", ["most", "", "x"], ["y", "places"], "loop", body=inner), node("Gather", ["table", "places"], ["found"])],
                 [value("x", "float32", ())], [value("y", "float32", ()), value("places", "int64", ("k",)), value("found", "float32", ("k",))],
                 [tensor(np.float32(9), "limit"), tensor(np.array(30), "most"), tensor(np.array(5), "five"), tensor(np.arange(9, dtype="float32"), "table")])
    checked(tmp_path, text, [np.float32(1)], {"y": np.float32(16), "places": np.arange(5, 9), "found": np.float32([5, 6, 7, 8])})
    assert not np.load(tmp_path / "places.npy")[4:].any()


def test_many(tmp_path):
    """More turns than would be written out, of a state that changes with another one."""
    nodes = [node("Add", ["a", "one"], ["c"]), node("Identity", ["go"], ["on"])]
    inner = graph(nodes, [TURN, ON, value("a", "float32", (1,)), value("b", "float32", (1,))], [value("on", "bool", ()), value("b", "float32", (1,)), value("c", "float32", (1,))])
    text = model([node("Loop", ["n", "", "x", "z"], ["p", "q"], "loop", body=inner)], [value("x", "float32", (1,)), COUNT],
                 [value("p", "float32", (1,)), value("q", "float32", (1,))], CONSTANTS + [tensor(np.array([100.0], "float32"), "z")])
    a, b = 5.0, 100.0
    for _ in range(5001):
        a, b = b, a + 1
    checked(tmp_path, text, [np.array([5.0], "float32"), np.array(5001)], {"p": np.array([a], "float32"), "q": np.array([b], "float32")})


def test_inner(tmp_path):
    """As many turns inside as the outer one has had."""
    add = graph([node("Add", ["t", "one"], ["u"]), node("Identity", ["h"], ["on2"])], [value("j", "int64", ()), value("h", "bool", ()), value("t", "float32", (2, 3))],
                [value("on2", "bool", ()), value("u", "float32", (2, 3))])
    outer = graph([node("Loop", ["i", "", "s"], ["next"], "inner", body=add), node("Identity", ["go"], ["on"])], [TURN, ON, STATE], [value("on", "bool", ()), value("next", "float32", (2, 3))])
    checked(tmp_path, loop("n", "", outer, [("y", (2, 3))], inputs=[COUNT]), [X, np.array(5)], {"y": X + 10})


def test_branch(tmp_path):
    """An If that each turn decides: nested, of two results, one of which is a value that is there."""
    inner = {"then_branch": graph([node("Sub", ["s", "one"], ["e"])], [], [value("e", "float32", (2, 3))]),
             "else_branch": graph([node("Neg", ["s"], ["f"])], [], [value("f", "float32", (2, 3))])}
    first = {"then_branch": graph([node("MatMul", ["s", "w"], ["a"]), node("Identity", ["s"], ["b"])], [], [value("a", "float32", (2, 3)), value("b", "float32", (2, 3))]),
             "else_branch": graph([node("Less", ["i", "three"], ["early"]), node("If", ["early"], ["c"], **inner), node("Mul", ["c", "s"], ["d"])], [],
                                  [value("c", "float32", (2, 3)), value("d", "float32", (2, 3))])}
    nodes = [node("Mod", ["i", "two"], ["m"]), node("Equal", ["m", "zero"], ["even"]), node("If", ["even"], ["p", "q"], **first), node("Add", ["p", "q"], ["next"]),
             node("Identity", ["go"], ["on"])]
    constants = [tensor(np.array(k), name) for k, name in ((0, "zero"), (2, "two"), (3, "three"))]
    text = loop("n", "", graph(nodes, [TURN, ON, STATE], [value("on", "bool", ()), value("next", "float32", (2, 3))]), [("y", (2, 3))], constants, [COUNT])
    s = X
    for i in range(6):
        c = s - 1 if i < 3 else -s
        s = s @ W + s if i % 2 == 0 else c + c * s
    checked(tmp_path, text, [X, np.array(6)], {"y": s})


def test_schedules(tmp_path):
    """The calls of a turn get the schedules that they get as functions."""
    big = graph([node("MatMul", ["s", "big"], ["p"]), node("Softmax", ["p"], ["next"], axis=-1), node("Identity", ["go"], ["on"])],
                [TURN, ON, value("s", "float32", ("m", 96))], [value("on", "bool", ()), value("next", "float32", ("m", 96))])
    weight = floats(96, 96)
    text = model([node("Loop", ["n", "", "x"], ["y"], "loop", body=big)], [value("x", "float32", ("m", 96)), COUNT], [value("y", "float32", ("m", 96))], [tensor(weight, "big")])
    x = s = floats(21, 96)
    for _ in range(3):
        e = np.exp(s @ weight - (s @ weight).max(1, keepdims=True))
        s = e / e.sum(1, keepdims=True)
    checked(tmp_path, text, [x, np.array(3)], {"y": s})
    made = subprocess.run([TIRC, "apply", tmp_path / "open.onnx", "--auto"], capture_output=True, text=True)
    assert made.returncode == 0 and "vectorized" in made.stdout.split("while")[1].split("def ")[0], made.stderr


def test_fused(tmp_path):
    """What follows a product of a turn elementwise is one function with it, in a branch, too."""
    parts = [node("MatMul", ["s", "w"], ["p"]), node("Add", ["p", "s"], ["q"]), node("Tanh", ["q"], ["t"]), node("Mul", ["t", "one"], ["next"])]
    branches = {"then_branch": graph(parts, [], [value("next", "float32", (2, 3))]), "else_branch": graph([node("Neg", ["s"], ["n1"]), node("Exp", ["n1"], ["n2"])], [], [value("n2", "float32", (2, 3))])}
    nodes = [node("Mod", ["i", "two"], ["m"]), node("Equal", ["m", "zero"], ["even"]), node("If", ["even"], ["u"], **branches), node("Neg", ["u"], ["v"]),
             node("Abs", ["v"], ["last"]), node("Identity", ["go"], ["on"])]
    text = loop("n", "", graph(nodes, [TURN, ON, STATE], [value("on", "bool", ()), value("last", "float32", (2, 3))]), [("y", (2, 3))],
                [tensor(np.array(k), name) for k, name in ((0, "zero"), (2, "two"))], [COUNT])
    s = X
    for i in range(3):
        s = np.abs(np.tanh(s @ W + s) if i % 2 == 0 else np.exp(-s))
    checked(tmp_path, text, [X, np.array(3)], {"y": s})
    made = subprocess.run([TIRC, "import", tmp_path / "open.onnx"], capture_output=True, text=True)
    found = [name for name in re.findall(r'T.block\("(\w+)"', made.stdout) if name.startswith("fused")]
    assert [re.sub(r"\d", "", name) for name in found] == ["fused_matmul_add_tanh_multiply", "fused_negative_exp", "fused_negative_absolute"], made.stdout


@pytest.mark.parametrize("n", [1, 6])
def test_scan(tmp_path, n):
    """Over as many elements as there are, one from its end, and gathered along the last axis."""
    inner = graph([node("Add", ["s", "a"], ["next"]), node("Mul", ["next", "b"], ["out"])], [value(k, "float32", (3,)) for k in "sab"], [value("next", "float32", (3,)), value("out", "float32", (3,))])
    text = model([node("Scan", ["z", "x", "x"], ["y", "all"], "scan", body=inner, num_scan_inputs=2, scan_input_directions=[0, 1], scan_output_axes=[1])],
                 [value("x", "float32", ("n", 3))], [value("y", "float32", (3,)), value("all", "float32", (3, "n"))], [tensor(np.zeros(3, "float32"), "z")])
    x = floats(n, 3)
    sums = np.cumsum(x, 0)
    checked(tmp_path, text, [x], {"y": sums[-1], "all": (sums * x[::-1]).T})


def test_refused(tmp_path):
    grows = graph([node("Concat", ["s", "s"], ["next"], axis=0), node("Identity", ["go"], ["on"])], [TURN, ON, STATE], [value("on", "bool", ()), value("next", "float32", (2, 3))])
    for text, word in ((loop("n", "", grows, [("y", ("a", 3))], inputs=[COUNT]), "'n'"), (loop("n", "", body(False, True), [("y", (2, 3)), ("all", ("k", 2, 3))], inputs=[COUNT]), "'n'")):
        (tmp_path / "bad.onnx").write_bytes(text)
        result = subprocess.run([TIRC, "check", tmp_path / "bad.onnx"], capture_output=True, text=True)
        assert result.returncode == 2 and "'loop'" in result.stderr and word in result.stderr and "--bind" in result.stderr, result.stderr
    passes(run(tmp_path, loop("n", "", body(False, True), [("y", (2, 3)), ("all", ("k", 2, 3))], inputs=[COUNT]), [X, np.array(4)], [turns(X, 4)[0], np.stack(turns(X, 4)[1])]))
