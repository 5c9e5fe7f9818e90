#!/usr/bin/env python3
"""If: the branch that is taken runs, and nothing of the other one. Each model reads row i of a table of 4 rows in a branch that
is taken for i < 4 alone, and runs with a row that is there and with one that lies far outside of all memory: by machine code,
without schedules, against the interpreter, as a shared object and as C.

usage: branches.py TIRC
"""
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from every import sample  # noqa: E402
from messages import graph, model, node, tensor, value

TIRC = os.path.abspath(sys.argv[1])
FAR = 10**12
rng = np.random.default_rng(1)
T, Y = rng.standard_normal((4, 3)).astype("float32"), [value("y", "float32", (3,))]
WIDE = rng.standard_normal((4, 64, 3)).astype("float32")
LEFT = rng.standard_normal((3, 96)).astype("float32")


def inner(nodes, outputs, weights=()):
    """What stands in a node, of outputs of three elements."""
    return graph(nodes, [], [value(o, "float32", (3,)) for o in outputs], [tensor(a, n) for n, a in weights])


KNOWN = node("Less", ["i", "four"], ["known"])
ROW = inner([node("Gather", ["t", "i"], ["r"], axis=0)], ["r"])
NOTHING = inner([node("Identity", ["zero"], ["z"])], ["z"])


def choice(then, other, cond="known", outputs=("y",)):
    return node("If", [cond], outputs, "choice", then_branch=then, else_branch=other)


def plain(t, i):
    return [t[i] if i < 4 else 0 * t[0]]


def sizes(t, i):
    return [np.exp(t[i]) + 1 if 0 <= i < 4 else np.full(3, 2 if i < 0 else 1, "float32")]


# nodes, outputs, weights, what comes out
CASES = {
    "plain": ([KNOWN, choice(ROW, NOTHING)], Y, {}, plain),
    "turned": ([KNOWN, node("Not", ["known"], ["far"]), choice(NOTHING, ROW, "far")], Y, {}, plain),
    "one bool": ([KNOWN, node("Reshape", ["known", "one"], ["k"]), choice(ROW, NOTHING, "k")], Y, {"one": np.array([1])}, plain),
    "followed": ([KNOWN, choice(ROW, NOTHING, outputs=("s",)), node("Add", ["s", "s"], ["y"])], Y, {}, lambda t, i: [2 * plain(t, i)[0]]),
    # the inner condition is known in the outer branch alone
    "nested": ([KNOWN, choice(inner([node("Gather", ["t", "i"], ["row"], axis=0), node("ReduceSum", ["row"], ["sum"], keepdims=0), node("Greater", ["sum", "none"], ["up"]),
                                     choice(inner([node("Exp", ["row"], ["e"])], ["e"]), inner([node("Neg", ["row"], ["n"])], ["n"]), "up", ("m",))], ["m"]),
                              NOTHING)], Y, {"none": np.float32(0)},
               lambda t, i: [0 * t[0] if i >= 4 else np.exp(t[i]) if t[i].sum() > 0 else -t[i]]),
    "else if": ([KNOWN, node("Less", ["i", "null"], ["below"]),
                 choice(inner([node("Identity", ["two"], ["b"])], ["b"]),
                        inner([choice(inner([node("Gather", ["t", "i"], ["r"], axis=0), node("Exp", ["r"], ["e"]), node("Add", ["e", "unit"], ["f"])], ["f"]),
                                      inner([node("Identity", ["unit"], ["u"])], ["u"]), "known", ("v",))], ["v"]), "below")],
                Y, {"null": np.int64(0), "two": np.full(3, 2, "float32"), "unit": np.ones(3, "float32")}, sizes),
    # a result twice, one that is an input of the graph around, one of constants
    "several": ([KNOWN, choice(inner([node("Gather", ["t", "i"], ["r"], axis=0), node("Exp", ["r"], ["e"])], ["r", "r", "e", "zero"]),
                               inner([node("Sqrt", ["zero"], ["q"])], ["zero", "q", "x", "x"]), outputs=("y", "y1", "y2", "y3"))],
                [value(n, "float32", (3,)) for n in ("y", "y1", "y2", "y3")], {"x": np.array([1, 2, 3], "float32")},
                lambda t, i: [t[i], t[i], np.exp(t[i]), 0 * t[0]] if i < 4 else [0 * t[0], 0 * t[0], np.array([1, 2, 3], "float32"), np.array([1, 2, 3], "float32")]),
    # weights of the same name in both; large ones, which are no part of the text
    "weights": ([KNOWN, choice(inner([node("Gather", ["t", "i"], ["r"], axis=0), node("Mul", ["r", "w"], ["p"])], ["p"], [("w", np.array([1, 2, 3], "float32"))]),
                               inner([node("Identity", ["w"], ["q"])], ["q"], [("w", np.array([4, 5, 6], "float32"))]))], Y, {},
                lambda t, i: [t[i] * np.array([1, 2, 3], "float32") if i < 4 else np.array([4, 5, 6], "float32")]),
    # a weight of a branch that has the name of one outside hides it there, and no longer
    "hidden": ([KNOWN, choice(inner([node("Gather", ["t", "i"], ["r"], axis=0), node("Mul", ["r", "w"], ["p"])], ["p"], [("w", np.array([10, 20, 30], "float32"))]),
                              NOTHING, outputs=("s",)), node("Add", ["s", "w"], ["y"])], Y, {"w": np.array([1, 2, 3], "float32")},
               lambda t, i: [plain(t, i)[0] * np.array([10, 20, 30], "float32") + np.array([1, 2, 3], "float32")]),
    "product": ([KNOWN, choice(inner([node("Gather", ["wide", "i"], ["w"], axis=0), node("ReduceSum", ["w", "first"], ["r"], keepdims=0)], ["r"]),
                               inner([node("MatMul", ["left", "ones"], ["m"])], ["m"]))],
                Y, {"wide": WIDE, "first": np.array([0]), "left": LEFT, "ones": np.ones(96, "float32")},
                lambda t, i: [WIDE[i].sum(0) if i < 4 else LEFT.sum(1)]),
    # a condition that constants decide, once they are folded
    "decided": ([node("Add", ["four", "four"], ["eight"]), node("Less", ["eight", "four"], ["never"]), choice(ROW, NOTHING, "never")], Y, {}, lambda t, i: [0 * t[0]]),
    # a constant row that is not there, which is not read while the model is made, either
    "constant": ([KNOWN, choice(NOTHING, inner([node("Gather", ["table", "at"], ["r"], axis=0)], ["r"]), "always")],
                 Y, {"table": T, "at": np.int64(FAR), "always": np.bool_(True)}, lambda t, i: [0 * t[0]]),
    "constant asked": ([KNOWN, node("Or", ["known", "known"], ["k"]), choice(ROW, inner([node("Identity", ["zero"], ["z"]), node("Gather", ["table", "at"], ["r"], axis=0),
                                                                                         node("Where", ["no", "r", "z"], ["v"])], ["v"]), "k")],
                       Y, {"table": T, "at": np.int64(3), "no": np.bool_(False)}, plain),
    "loop": ([KNOWN, node("Loop", ["n", "", "zero"], ["y"], body=graph(
        [node("If", ["known"], ["r"], then_branch=ROW, else_branch=NOTHING), node("Add", ["s", "r"], ["next"])],
        [value("k", "int64", ()), value("go", "bool", ()), value("s", "float32", (3,))], [value("go", "bool", ()), value("next", "float32", (3,))]))],
             Y, {"n": np.int64(3)}, lambda t, i: [3 * plain(t, i)[0]]),
    "twice": ([KNOWN, choice(ROW, NOTHING, outputs=("a",)), node("Exp", ["a"], ["b"]), node("If", ["known"], ["c"], then_branch=ROW, else_branch=inner([node("Neg", ["b"], ["z"])], ["z"])),
               node("Add", ["b", "c"], ["y"])], Y, {}, lambda t, i: [np.exp(t[i]) + t[i] if i < 4 else 0 * t[0]]),
}


# Extents that a branch does not go with matter where it is taken: x has n rows, y2 twice as many
TEXT = """
@I.ir_module
class Module:
    @R.function(private=True)
    def last(x: R.Tensor(("n", 3), dtype="float32")):
        n = T.int64()
        a = R.strided_slice(x, axes=[0], begin=[4], end=[n])
        b = R.match_cast(a, R.Tensor((n - 4, 3), dtype="float32"))
        s = R.sum(b, axis=[0])
        return s

    @R.function(private=True)
    def six(x: R.Tensor(("n", 3), dtype="float32")):
        n = T.int64()
        a = R.match_cast(x, R.Tensor((6, 3), dtype="float32"))
        s = R.sum(a, axis=[0])
        return s

    @R.function(private=True)
    def twice(x: R.Tensor(("m", 3), dtype="float32"), d: R.Tensor((), dtype="bool")):
        cls = Module
        if d:
            z = cls.last(x)
        else:
            z = cls.six(x)
        return z

    @R.function(private=True)
    def once(x: R.Tensor(("n", 3), dtype="float32")):
        n = T.int64()
        s = R.sum(x, axis=[0])
        return s

    @R.function
    def main(x: R.Tensor(("n", 3), dtype="float32"), c: R.Tensor((), dtype="bool"), d: R.Tensor((), dtype="bool")):
        cls = Module
        y2 = R.concat((x, x), axis=0)
        if c:
            y = cls.twice(y2, d)
        else:
            y = cls.once(x)
        return y
"""


def call(*words):
    done = subprocess.run([TIRC, *words], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


# A condition that a function is given: to the code of the model it is a constant.
GIVEN = """
@I.ir_module
class Module:
    @R.function(private=True)
    def inner(x: R.Tensor((3,), dtype="float32"), k: R.Tensor((), dtype="bool")):
        if k:
            y = x
        else:
            y = R.const([1.0, 2.0, 3.0], "float32")
        return y

    @R.function
    def main(x: R.Tensor((3,), dtype="float32"), c: R.Tensor((), dtype="bool")):
        cls = Module
        if c:
            y = cls.inner(x, R.const(False, "bool"))
        else:
            y = x
        return y
"""


def check_given():
    with open("model.tir", "w") as f:
        f.write(GIVEN)
    for kind in ("c", "lib"):
        assert call("build", "model.tir", "--auto", "--emit=" + kind, "-o", "given." + kind)[0] == 0
    subprocess.run([os.environ.get("CC", "cc").split()[-1], "-shared", "-fPIC", "-w", "-x", "c", "-o", "given_c.so", "given.c", "-lm"], check=True)
    for at in ("given.lib", "given_c.so"):
        for c in (True, False):
            x, got, cond = np.zeros(3, "float32"), np.zeros(3, "float32"), np.array(c)
            assert ctypes.CDLL(os.path.abspath(at)).model(*[ctypes.c_void_p(a.ctypes.data) for a in (x, cond, got)], ctypes.c_void_p(0)) == 0
            compare((at, c), [got], [np.array([1, 2, 3], "float32") if c else x])


def compare(name, got, expected):
    for g, e in zip(got, expected):
        assert g.shape == e.shape and np.allclose(g, e, rtol=1e-5, atol=1e-5), (name, g, e)


def library(name, path, is_c):
    out = os.path.abspath("model.c" if is_c else "model.so")
    assert call("build", path, "--auto", "--weights-inside", "--emit=" + ("c" if is_c else "lib"), "-o", out)[0] == 0, name
    if is_c:
        subprocess.run([os.environ.get("CC", "cc").split()[-1], "-O1", "-shared", "-fPIC", "-w", "-o", "model_c.so", out, "-lm"], check=True)
        out = os.path.abspath("model_c.so")
    return ctypes.CDLL(shutil.copy(out, f"{out}.{len(os.listdir('.'))}.so"))  # the loader keeps what it has by name


def run_library(name, at, t, i, expected):
    """The model's own function: its inputs, its results, a workspace."""
    results = [np.full_like(e, np.nan) for e in expected]
    workspace = np.zeros(1 << 16, "uint8")
    status = at.model(*[ctypes.c_void_p(a.ctypes.data) for a in [t, np.array(i), *results]], ctypes.c_void_p(workspace.ctypes.data + -workspace.ctypes.data % 64))
    assert status == 0, (name, status)
    compare(name, results, expected)


def check(name, nodes, outputs, weights, expect):
    weights = {"four": np.int64(4), "zero": np.zeros(3, "float32"), **weights}
    used = b"".join(nodes)
    data = model(nodes, [value("t", "float32", (4, 3)), value("i", "int64", ())], outputs, [tensor(a, n) for n, a in weights.items() if n.encode() in used])
    with open("model.onnx", "wb") as f:
        f.write(data)
    np.save("t.npy", T)
    libraries = [library(name, "model.onnx", is_c) for is_c in (False, True)]
    for i in (2, FAR, -1) if name == "else if" else (2, FAR):
        np.save("i.npy", np.int64(i))
        expected = [np.asarray(e, "float32") for e in expect(T, i)]
        for options in ((), ("--plain",), ("--check",), ("--auto", "--check"), ("--skip=FoldConstant", "--skip=FuseOps")):
            status, out = call("run", "model.onnx", "--in", "t=t.npy", "--in", "i=i.npy", "--out", "out.npz", *options)
            assert status == 0, (name, i, options, status, out)
            with np.load("out.npz") as z:
                compare((name, i, options), [z[k] for k in list(z.files)[-len(expected):]], expected)
        for at in libraries:
            run_library((name, i, at), at, T, i, expected)


def refused(words, nodes, inputs=(), weights=(), outputs=Y):
    with open("bad.onnx", "wb") as f:
        f.write(model(nodes, [value("t", "float32", (4, 3)), value("i", "int64", ()), *inputs], list(outputs), [tensor(a, n) for n, a in weights]))
    status, out = call("check", "bad.onnx")
    assert status == 2 and all(w in out for w in words), (words, status, out)


def check_refused():
    four = ("four", np.int64(4))
    flat = graph([node("Flatten", ["t"], ["f"], axis=0)], [], [value("f", "float32", (1, 12))])
    refused(["'choice'", "'i'", "--bind"], [KNOWN, choice(ROW, flat)], weights=[four])
    whole = graph([node("Cast", ["i"], ["c"], to=6), node("Expand", ["c", "three"], ["w"])], [], [value("w", "int32", (3,))])
    refused(["'choice'", "'i'", "--bind"], [KNOWN, choice(ROW, whole)], weights=[four, ("three", np.array([3]))])
    # extents that have names: n and m are not the same for all
    u, v = value("u", "float32", ("n",)), value("v", "float32", ("m",))
    names = [graph([node("Neg", [x], [x + "0"])], [], [value(x + "0", "float32", (x,))]) for x in "uv"]
    refused(["'choice'", "'i'", "--bind"], [KNOWN, choice(*names)], [u, v], [four])
    # what a branch makes ends with it
    refused(["nothing gives the output 'r'"], [KNOWN, choice(ROW, NOTHING)], weights=[four, ("zero", np.zeros(3, "float32"))],
            outputs=[*Y, value("r", "float32", (3,))])
    pair = graph([node("SequenceConstruct", ["t", "t"], ["s"])], [], [value("s", "float32", (4, 3))])
    refused(["'choice'", "'i'", "--bind"], [KNOWN, choice(pair, pair)], weights=[four])


def check_extents():
    with open("text.tir", "w") as f:
        f.write(TEXT)
    printed = call("print", "text.tir")[1]
    with open("again.tir", "w") as f:
        f.write(printed)
    assert call("print", "again.tir") == (0, printed)
    for n in range(1, 5):
        for c, d in ((True, True), (True, False), (False, True), (False, False)):
            for name, a in (("x", np.ones((n, 3), "float32")), ("c", np.bool_(c)), ("d", np.bool_(d))):
                np.save(name + ".npy", a)
            status, out = call("run", "again.tir", "--check", "--in", "x=x.npy", "--in", "c=c.npy", "--in", "d=d.npy", "--out", "out.npz")
            refused = c and (2 * n < 4 if d else n != 3)
            assert status == 2 * refused and ("an extent is" in out) == refused, (n, c, d, out)
            if not refused:
                with np.load("out.npz") as z:
                    compare((n, c, d), [z["y"]], [np.full(3, n if not c else 2 * n - 4 if d else 6, "float32")])


# What an operator asks of extents is asked of the branch in which it stands: x has n rows, and four takes 4
ASKING = """
@I.ir_module
class Module:
    @R.function(private=True)
    def four(x: R.Tensor(("m", 3), dtype="float32")):
        y = R.reshape(x, R.shape([4, 3]))
        return y

    @R.function(private=True)
    def inner(x: R.Tensor(("k", 3), dtype="float32"), z: R.Tensor((4, 3), dtype="float32"), d: R.Tensor((), dtype="bool")):
        cls = Module
        if d:
            y = cls.four(x)
        else:
            y = z
        return y

    @R.function
    def main(x: R.Tensor(("n", 3), dtype="float32"), z: R.Tensor((4, 3), dtype="float32"), c: R.Tensor((), dtype="bool"), d: R.Tensor((), dtype="bool")):
        cls = Module
        if c:
            y = cls.inner(x, z, d)
        else:
            y = z
        return y
"""


# A function that becomes a part of another one brings its conditions along
STATED = """
@I.ir_module
class Module:
    @R.function(private=True)
    def four(x: R.Tensor(("m", 3), dtype="float32")):
        m = T.int64()
        R.func_attr({"requires": [[m == 4, "four rows", "", 0, 0]]})
        y = R.exp(x)
        return y

    @R.function
    def main(x: R.Tensor(("n", 3), dtype="float32")):
        cls = Module
        y = cls.four(x)
        return y
"""


def asking_models():
    """The same as a text, as that text is printed, and as files whose branches reshape, or add what only broadcasts for some n."""
    with open("asking.tir", "w") as f:
        f.write(ASKING)
    printed = call("print", "asking.tir")[1]
    with open("asked.tir", "w") as f:
        f.write(printed)
    yield "asking.tir", (4,)
    yield "asked.tir", (4,)

    def rows(nodes, output):
        return graph(nodes, [], [value(output, "float32", (4, 3))])
    inputs = [value("x", "float32", ("n", 3)), value("z", "float32", (4, 3)), value("c", "bool", ()), value("d", "bool", ())]
    for name, asks, takes in (("reshape", node("Reshape", ["x", "shape"], ["a"]), (4,)), ("add", node("Add", ["x", "z"], ["a"]), (1, 4))):
        nothing = [rows([node("Identity", ["z"], [name])], name) for name in ("p", "q")]
        inner = rows([node("If", ["d"], ["i"], "inner", then_branch=rows([asks], "a"), else_branch=nothing[0])], "i")
        with open(name + ".onnx", "wb") as f:
            f.write(model([node("If", ["c"], ["y"], "outer", then_branch=inner, else_branch=nothing[1])], inputs, [value("y", "float32", (4, 3))],
                          [tensor(np.array([4, 3]), "shape")]))
        with open(name + ".tir", "w") as f:
            f.write(call("print", name + ".onnx")[1])
        yield name + ".onnx", takes
        yield name + ".tir", takes


def check_conditions():
    for path, takes in asking_models():
        for n in (1, 2, 4):
            for c, d in ((True, True), (True, False), (False, True), (False, False)):
                for name, a in (("x", np.ones((n, 3), "float32")), ("z", np.ones((4, 3), "float32")), ("c", np.bool_(c)), ("d", np.bool_(d))):
                    np.save(name + ".npy", a)
                for options in ((), ("--plain", "--skip=FoldConstant")):
                    status, out = call("run", path, *options, *[w for x in "xzcd" for w in ("--in", f"{x}={x}.npy")])
                    refused = c and d and n not in takes
                    assert status == 2 * refused and ("[assert]" in out) == refused, (path, n, c, d, options, status, out)
    with open("stated.tir", "w") as f:
        f.write(STATED)
    for n in (3, 4):
        status, out = call("run", "stated.tir", "--in", f"n={n}")
        assert status == (0 if n == 4 else 2) and ("four rows" in out) == (n == 3), (n, status, out)


# The second parameter tells what stands in the first
BEHIND = """
@I.ir_module
class Module:
    @R.function(private=True)
    def sums(x: R.Tensor(("n * 3",), dtype="float32"), y: R.Tensor(("n",), dtype="float32")):
        n = T.int64()
        r = R.reshape(x, R.shape([n, 3]))
        s = R.sum(r, axis=[1])
        z = R.add(s, y)
        return z

    @R.function
    def main(x: R.Tensor(("m * 3",), dtype="float32"), y: R.Tensor(("m",), dtype="float32"), c: R.Tensor((), dtype="bool")):
        cls = Module
        if c:
            z = cls.sums(x, y)
        else:
            z = y
        return z
"""


def check_refused_code():
    """Code of numbers: a branch that cannot run gives a code, and says why, where it is taken alone. Six is refused by a cast, four by its operator."""
    asking = ASKING.replace('"n"', "2")
    casting = asking.replace('y = R.reshape(x, R.shape([4, 3]))', 'a = R.match_cast(x, R.Tensor((4, 3), dtype="float32"))\n        y = R.add(a, a)')
    assert casting != asking
    for text, words in ((asking, "m * 3 elements"), (casting, "R.match_cast")):
        with open("model.tir", "w") as f:
            f.write(text)
        libraries = []
        for kind in ("c", "lib"):
            out = os.path.abspath(f"refused.{kind}.{len(os.listdir('.'))}")
            status, said = call("build", "model.tir", "--auto", "--emit=" + kind, "-o", out)
            assert status == 0, said
            if kind == "c":
                subprocess.run([os.environ.get("CC", "cc").split()[-1], "-shared", "-fPIC", "-w", "-x", "c", "-o", out + ".so", out, "-lm"], check=True)
                out += ".so"
            libraries.append(ctypes.CDLL(out))
        for at in libraries:
            at.model_error_text.restype = ctypes.c_char_p
            for c, d in ((True, True), (True, False), (False, True), (False, False)):
                x, z, got, workspace = np.ones((2, 3), "float32"), np.ones((4, 3), "float32"), np.zeros((4, 3), "float32"), np.zeros(1 << 12, "uint8")
                status = at.model(*[ctypes.c_void_p(a.ctypes.data) for a in (x, z, np.array(c), np.array(d), got)],
                                  ctypes.c_void_p(workspace.ctypes.data + -workspace.ctypes.data % 64))
                assert (status >= 2) == (c and d), (words, c, d, status)
                assert words in at.model_error_text(status).decode() if status else (got == z).all(), (words, c, d, status)


def check_order_of_parameters():
    with open("behind.tir", "w") as f:
        f.write(BEHIND)
    for c in (True, False):
        for name, a in (("x", np.arange(6, dtype="float32")), ("y", np.ones(2, "float32")), ("c", np.bool_(c))):
            np.save(name + ".npy", a)
        for options in ((), ("--plain", "--skip=FuseOps")):
            status, out = call("run", "behind.tir", *options, *[w for x in "xyc" for w in ("--in", f"{x}={x}.npy")], "--out", "out.npz")
            assert status == 0, (c, options, out)
            with np.load("out.npz") as z:
                compare((c, options), [z["z"]], [np.array([4, 13] if c else [1, 1], "float32")])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, case in sample(CASES.items()):
            check(name, *case)
        check_refused()
        check_extents()
        check_conditions()
        check_order_of_parameters()
        check_refused_code()
        check_given()


main()
