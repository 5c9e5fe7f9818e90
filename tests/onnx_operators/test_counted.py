"""Results whose size the data decides: as large as can be, with a count, and rows that nothing mixes."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from test_conversions import SEED, TIRC, floats, int64
from messages import graph, model, node, tensor, value


def run(folder, text, inputs, outputs, *options):
    path = pathlib.Path(folder)
    for left in path.glob("*.pb"):
        left.unlink()
    (path / "model.onnx").write_bytes(text)
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for i, each in enumerate(arrays):
            (path / ("%s_%d.pb" % (kind, i))).write_bytes(tensor(each))
    return subprocess.run([TIRC, "run", path / "model.onnx", "--test-data", path, *options], capture_output=True, text=True)


def passes(result):
    assert result.returncode == 0, result.stdout + result.stderr


def overlap(a, b):
    height, width = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(height, 0) * max(width, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def selected(boxes, scores, most, threshold, least):
    found = []
    for b in range(scores.shape[0]):
        for c in range(scores.shape[1]):
            chosen = []
            for i in np.argsort(-scores[b, c], kind="stable"):
                if len(chosen) < most and scores[b, c, i] > least and all(overlap(boxes[b, i], boxes[b, j]) <= threshold for j in chosen):
                    chosen.append(i)
            found += [[b, c, i] for i in chosen]
    return np.array(found, "int64").reshape(-1, 3)


@pytest.mark.parametrize("seed", range(3))
def test_detector(tmp_path, seed):
    """What is selected goes on: the chosen boxes, in another order of axes, and twice as large."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 3, (2, 12, 2))
    boxes = np.concatenate([low, low + rng.uniform(0.5, 2, (2, 12, 2))], 2).astype("float32")
    scores = rng.uniform(0, 1, (2, 3, 12)).astype("float32")
    rows = selected(boxes, scores, 4, 0.3, 0.4)
    nodes = [node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["rows"], "select"),
             node("Gather", ["rows", "of"], ["where"], "where", axis=1), node("GatherND", ["boxes", "where"], ["chosen"], "chosen"),
             node("Transpose", ["chosen"], ["turned"], "turn", perm=[1, 0]), node("Mul", ["turned", "two"], ["out"], "double"), node("Shape", ["rows"], ["size"], "size")]
    constants = [tensor(int64(4), "most"), tensor(np.float32([0.3]), "overlap"), tensor(np.float32([0.4]), "least"), tensor(int64(0, 2), "of"), tensor(np.float32(2), "two")]
    text = model(nodes, [value("boxes", "float32", (2, 12, 4)), value("scores", "float32", (2, 3, 12))],
                 [value("rows", "int64", ("n", 3)), value("out", "float32", (4, "n")), value("size", "int64", (2,))], constants)
    result = run(tmp_path, text, [boxes, scores], [rows, 2 * boxes[rows[:, 0], rows[:, 2]].T, np.array(rows.shape)])
    assert result.returncode == 0 and "rows_count: int64" in result.stdout, result.stdout + result.stderr


def test_others(tmp_path):
    x, keep = np.round(floats(4, 5)), SEED.integers(0, 2, 5).astype(bool)
    one = [value("x", "float32", (4, 5)), value("keep", "bool", (5,))]
    text = model([node("Compress", ["x", "keep"], ["y"], axis=1), node("Relu", ["y"], ["z"])], one, [value("z", "float32", (4, "n"))])
    passes(run(tmp_path, text, [x, keep], [np.maximum(x[:, keep], 0)]))
    text = model([node("Unique", ["x"], ["y"])], one[:1], [value("y", "float32", ("n",))], opset=11)
    passes(run(tmp_path, text, [x], [np.unique(x)]))
    text = model([node("NonZero", ["x"], ["y"]), node("Transpose", ["y"], ["t"], perm=[1, 0]), node("GatherND", ["x", "t"], ["z"])], one[:1], [value("z", "float32", ("n",))])
    passes(run(tmp_path, text, [x], [x[x != 0]]))
    k = [value("x", "float32", (4, 5)), value("k", "int64", (1,))]
    text = model([node("TopK", ["x", "k"], ["y", "i"])], k, [value("y", "float32", (4, "n")), value("i", "int64", (4, "n"))], opset=11)
    order = np.argsort(-x, 1, kind="stable")[:, :2]
    passes(run(tmp_path, text, [x, int64(2)], [np.take_along_axis(x, order, 1), order]))


def test_files(tmp_path):
    """What is printed and written is the rows that count, of each axis, from a file and from what import makes of it."""
    x, keep = floats(3, 4), np.array([True, False, True, True])
    nodes = [node("Compress", ["x", "keep"], ["y.1"], axis=1), node("Relu", ["y.1"], ["z"]), node("NonZero", ["x"], ["w"])]
    text = model(nodes, [value("x", "float32", (3, 4)), value("keep", "bool", (4,))],
                 [value("y.1", "float32", (3, "n")), value("z", "float32", (3, "n")), value("w", "int64", (2, "m"))])
    (tmp_path / "model.onnx").write_bytes(text)
    np.savez(tmp_path / "in.npz", x=x, keep=keep)
    subprocess.run([TIRC, "import", tmp_path / "model.onnx", "-o", tmp_path / "model.tir"], check=True)
    for name in ("model.onnx", "model.tir"):
        command = [TIRC, "run", tmp_path / name, "--in", tmp_path / "in.npz", "--out", tmp_path / "out.npz", "--out", "y.1=%s" % (tmp_path / "y.npy")]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0 and "z: float32[3, 3] " in result.stdout and "w: int64[2, 12] " in result.stdout, result.stderr + result.stdout
        out = np.load(tmp_path / "out.npz")
        for got, wanted in ((out["y.1"], x[:, keep]), (out["z"], np.maximum(x[:, keep], 0)), (out["w"], np.array(np.nonzero(x))),
                            (np.load(tmp_path / "y.npy"), x[:, keep]), (out["y_1_count"], np.array(3))):
            np.testing.assert_array_equal(got, wanted)
    text = (tmp_path / "model.tir").read_text()
    for was, now in (("[0, 3, 1]", "[0, 3, 2]"), ("[0, 3, 1]", "[0, 1, 1]"), ("[0, 3, 1]", "[0, 5, 1]")):
        (tmp_path / "model.tir").write_text(text.replace(was, now))
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 2 and "has no rows along axis" in result.stderr, result.stderr


@pytest.mark.parametrize("last", ["ReduceSum", "Softmax", "EyeLike", "Reshape"])
def test_refused(tmp_path, last):
    """Rows without a meaning would be among what is summed up; a bound input makes the size a number."""
    x = np.arange(-3, 5, dtype="float32").reshape(2, 4)
    nodes = [node("Transpose", ["x"], ["t"], "t", perm=[1, 0]), node("Compress", ["t", "keep"], ["y"], "some", axis=0)]
    nodes.append(node(last, ["y", "one"] if last == "Reshape" else ["y"], ["z"], "mixed", **({"axis": 0} if last == "Softmax" else {})))
    text = model(nodes, [value("x", "float32", (2, 4)), value("keep", "bool", (4,))], [value("z", "float32", ("a", "b")[:1 if last == "Reshape" else 2])], [tensor(int64(-1), "one")])
    (tmp_path / "model.onnx").write_bytes(text)
    result = subprocess.run([TIRC, "check", tmp_path / "model.onnx"], capture_output=True, text=True)
    assert result.returncode == 2 and "'mixed'" in result.stderr and "--bind" in result.stderr, result.stderr
    keep = np.array([True, False, True, True])
    y = x.T[keep]
    wanted = {"ReduceSum": y.sum(keepdims=True), "Softmax": np.exp(y) / np.exp(y).sum(0), "EyeLike": np.eye(3, 2, dtype="float32"), "Reshape": y.reshape(-1)}[last]
    passes(run(tmp_path, text, [x, keep], [wanted.astype("float32")]))


def test_other_counts(tmp_path):
    """Rows that are padded behind those that are counted make another count."""
    text = model([node("Compress", ["x", "keep"], ["y"]), node("Pad", ["y", "pads"], ["z"], "other")], [value("x", "float32", (4,)), value("keep", "bool", (4,))],
                 [value("z", "float32", ("n",))], [tensor(np.array([0, 2]), "pads")])
    (tmp_path / "model.onnx").write_bytes(text)
    result = subprocess.run([TIRC, "check", tmp_path / "model.onnx"], capture_output=True, text=True)
    assert result.returncode == 2 and "'other'" in result.stderr, result.stderr


COMPRESSED = [node("Compress", ["x", "keep"], ["a"], axis=1), node("Compress", ["x", "also"], ["b"], axis=1)]
JOINED = [("a", "b"), ("a", "more"), ("more", "b"), ("b", "more", "a", "x", "b")]


@pytest.mark.parametrize("extent", [5, "m"])
def test_joined(tmp_path, extent):
    """Counted rows, and others, one behind the other: there are as many as all have, of any number each."""
    nodes = COMPRESSED + [node("Concat", list(names), ["z%d" % i], axis=-1) for i, names in enumerate(JOINED)]
    nodes += [node("Shape", ["z0"], ["size"]), node("Slice", ["z3", "one", "end", "one"], ["rest"])]
    outputs = [value("z%d" % i, "float32", (2, "n%d" % i)) for i in range(len(JOINED))] + [value("size", "int64", (2,)), value("rest", "float32", (2, "r"))]
    text = model(nodes, [value("x", "float32", (2, extent)), value("keep", "bool", (extent,)), value("also", "bool", (extent,))], outputs,
                 [tensor(np.float32([[8, 9], [6, 7]]), "more"), tensor(int64(1), "one"), tensor(int64(8), "end")])
    x = np.arange(10, dtype="float32").reshape(2, 5)
    for keep, also in (([1] * 5, [1] * 5), ([0] * 5, [0] * 5), ([1, 0, 1, 1, 0], [0, 0, 0, 0, 1]), ([0, 0, 0, 0, 1], [0] * 5)):
        keep, also = np.array(keep, bool), np.array(also, bool)
        all_of = {"a": x[:, keep], "b": x[:, also], "x": x, "more": np.float32([[8, 9], [6, 7]])}
        wanted = [np.concatenate([all_of[n] for n in names], 1) for names in JOINED]
        passes(run_arrays(tmp_path, text, x=x, keep=keep, also=also))
        out = np.load(tmp_path / "out.npz")
        for i, each in enumerate(wanted + [np.array(wanted[0].shape), wanted[3][:, 1:8]]):
            np.testing.assert_array_equal(out[["z0", "z1", "z2", "z3", "size", "rest"][i]], each)


def test_joined_across(tmp_path):
    """Whether other axes have as many rows is not known."""
    nodes = COMPRESSED[:1] + [node("Compress", ["x", "some"], ["b"], axis=0), node("Concat", ["a", "b"], ["z"], "both", axis=1)]
    text = model(nodes, [value("x", "float32", (2, 5)), value("keep", "bool", (5,)), value("some", "bool", (2,))], [value("z", "float32", (2, "n"))])
    (tmp_path / "model.onnx").write_bytes(text)
    result = subprocess.run([TIRC, "check", tmp_path / "model.onnx"], capture_output=True, text=True)
    assert result.returncode == 2 and "'both'" in result.stderr and "--bind" in result.stderr, result.stderr


def test_both_axes(tmp_path):
    """The axes of a result have counts of their own: rows of one and of another tensor, and rows beside themselves."""
    nodes = [node("Compress", ["x", "keep"], ["a"], axis=1), node("Compress", ["a", "some"], ["b"], axis=0), node("Transpose", ["b"], ["t"], perm=[1, 0]),
             node("Shape", ["t"], ["shape"]), node("Size", ["t"], ["size"]), node("Slice", ["b", "from", "to"], ["cut"]), node("Concat", ["b", "cut2"], ["joined"], axis=0),
             node("Slice", ["b", "one", "far", "zero"], ["cut2"]), node("Compress", ["v", "keep"], ["w"], axis=0), node("Unsqueeze", ["w", "zero"], ["row"]),
             node("Unsqueeze", ["w", "one"], ["column"]), node("Sub", ["row", "column"], ["apart"])]
    nodes[6], nodes[7] = nodes[7], nodes[6]
    outputs = [value(n, "float32", ("p", "q")) for n in ("b", "t", "cut", "joined", "apart")] + [value("shape", "int64", (2,)), value("size", "int64", ())]
    text = model(nodes, [value("x", "float32", (3, 5)), value("v", "float32", (5,)), value("keep", "bool", (5,)), value("some", "bool", (3,))], outputs,
                 [tensor(int64(0, -2), "from"), tensor(int64(-1, 9), "to"), tensor(int64(1), "one"), tensor(int64(0), "zero"), tensor(int64(9), "far")])
    x, v = np.arange(15, dtype="float32").reshape(3, 5), np.arange(5, dtype="float32")
    for keep, some in (([1] * 5, [1] * 3), ([1, 0, 0, 1, 1], [1, 0, 1]), ([0] * 5, [1, 1, 0]), ([0, 1, 0, 0, 0], [0] * 3)):
        keep, some = np.array(keep, bool), np.array(some, bool)
        b, w = x[:, keep][some], v[keep]
        wanted = {"b": b, "t": b.T, "cut": b[0:-1, -2:9], "joined": np.concatenate([b, b[1:]]), "apart": w[None] - w[:, None], "shape": int64(*b.T.shape), "size": np.array(b.size)}
        passes(run_arrays(tmp_path, text, x=x, v=v, keep=keep, some=some))
        out = np.load(tmp_path / "out.npz")
        for name, each in wanted.items():
            np.testing.assert_array_equal(out[name], each, name)
    library = tmp_path / "both.so"
    subprocess.run([TIRC, "build", tmp_path / "model.onnx", "--emit=lib", "-o", library], check=True)
    header = subprocess.run([TIRC, "build", tmp_path / "model.onnx", "--emit=header"], check=True, capture_output=True, text=True).stdout
    assert "b: float32[3, 5], written, b_count rows of it along axis 0 and b_count_1 rows of it along axis 1" in header, header
    build, package = pathlib.Path(TIRC).parents[1], pathlib.Path(__file__).resolve().parents[2] / "tools" / "python"
    found = subprocess.run([sys.executable, "-c", LOADED, library, tmp_path / "in.npz", tmp_path / "model.onnx"], capture_output=True, text=True,
                           env={**os.environ, "PYTHONPATH": str(package), "TIRC_LIBRARY": str(build)})
    assert found.stdout.split() == "(0, 1) (1, 0) [(0, 1), (1, 0)]".split(), found.stdout + found.stderr


LOADED = """
import sys, numpy, tirc
b, t = tirc.load(sys.argv[1])(**numpy.load(sys.argv[2]))[:2]
print(b.shape, t.shape)
print([x.shape for x in tirc.compile(sys.argv[3])(**numpy.load(sys.argv[2]))[:2]])
"""


def test_two_counts_of_an_axis(tmp_path):
    """Rows of one tensor and as many of another one: whether they are as many is not known."""
    nodes = COMPRESSED + [node("Add", ["a", "b"], ["z"], "sum")]
    text = model(nodes, [value("x", "float32", (2, 5)), value("keep", "bool", (5,)), value("also", "bool", (5,))], [value("z", "float32", (2, "n"))])
    (tmp_path / "model.onnx").write_bytes(text)
    result = subprocess.run([TIRC, "check", tmp_path / "model.onnx"], capture_output=True, text=True)
    assert result.returncode == 2 and "'sum'" in result.stderr and "--bind" in result.stderr, result.stderr


INT64_MAX = 2**63 - 1
SLICES = [(0, 3, 1), (1, INT64_MAX, 2), (-2, INT64_MAX, 1), (-3, -1, 1), (1, -1, 1), (-2, 4, 1), (-1, -INT64_MAX, -1), (2, -5, -1), (-100, 100, 3), (5, 2, 1)]


def test_slices(tmp_path):
    """A slice of rows that only the run counts counts from the last of these, and gives as many as there are of it."""
    x = np.arange(12, dtype="float32").reshape(2, 6)
    nodes, outputs, constants = [node("Compress", ["x", "keep"], ["y"], axis=1)], [], [tensor(np.array([1, 0]), "axes")]
    for i, (begin, end, step) in enumerate(SLICES):
        nodes.append(node("Slice", ["y", "b%d" % i, "e%d" % i, "axes", "s%d" % i], ["z%d" % i]))
        outputs.append(value("z%d" % i, "float32", ("r", "n%d" % i)))
        constants += [tensor(np.array([begin, 1]), "b%d" % i), tensor(np.array([end, 2]), "e%d" % i), tensor(np.array([step, 1]), "s%d" % i)]
    text = model(nodes, [value("x", "float32", (2, 6)), value("keep", "bool", (6,))], outputs, constants)
    for keep in ([1] * 6, [0] * 6, [1, 0, 1, 1, 0, 1], [0, 0, 0, 1, 0, 0]):
        keep = np.array(keep, bool)
        passes(run(tmp_path, text, [x, keep], [x[1:2, keep][:, b:e:s] for b, e, s in SLICES]))


def run_arrays(folder, text, **arrays):
    (folder / "model.onnx").write_bytes(text)
    np.savez(folder / "in.npz", **arrays)
    return subprocess.run([TIRC, "run", folder / "model.onnx", "--in", folder / "in.npz", "--out", folder / "out.npz"], capture_output=True, text=True)


def test_open_condition(tmp_path):
    """A condition and what it chooses of may have any extent, the condition no more elements than that."""
    text = model([node("Compress", ["x", "keep"], ["y"], "some", axis=1), node("Slice", ["y", "one", "three", "one"], ["z"])],
                 [value("x", "float32", (2, "m")), value("keep", "bool", ("k",))], [value("y", "float32", (2, "n")), value("z", "float32", (2, "o"))],
                 [tensor(int64(1), "one"), tensor(int64(3), "three")])
    for m, k in ((6, 6), (6, 4), (1, 1), (0, 0)):
        x, keep = floats(2, m), SEED.integers(0, 2, k).astype(bool)
        passes(run_arrays(tmp_path, text, x=x, keep=keep))
        out = np.load(tmp_path / "out.npz")
        np.testing.assert_array_equal(out["y"], x[:, :k][:, keep])
        np.testing.assert_array_equal(out["z"], x[:, :k][:, keep][:, 1:3])
    result = run_arrays(tmp_path, text, x=floats(2, 3), keep=np.ones(4, bool))
    assert result.returncode == 2 and "node 'some' (Compress): the condition (k,) has more elements than axis 1" in result.stderr, result.stderr


def test_computed_k(tmp_path):
    """K of TopK is within the extent, or the run says that it is not."""
    text = model([node("TopK", ["x", "k"], ["y", "i"])], [value("x", "float32", (4, "m")), value("k", "int64", (1,))],
                 [value("y", "float32", (4, "n")), value("i", "int64", (4, "n"))], opset=11)
    x = floats(4, 5)
    for k in (0, 3, 5):
        passes(run_arrays(tmp_path, text, x=x, k=int64(k)))
        np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["y"], -np.sort(-x, 1)[:, :k])
    for k in (6, -1):
        result = run_arrays(tmp_path, text, x=x, k=int64(k))
        assert result.returncode == 2 and "K of TopK is not one of 0 to m" in result.stderr and "is %d" % k in result.stderr, result.stderr


@pytest.mark.parametrize("threshold", [None, -np.inf])
def test_worst_scores(tmp_path, threshold):
    """Boxes whose score is the least there is are chosen, too, unless a threshold is given."""
    boxes = np.float32([[[0, 0, 1, 1], [2, 2, 3, 3], [4, 4, 5, 5]]])
    scores = np.float32([[[-np.inf, 1, -np.inf]]])
    constants = [tensor(int64(3), "most"), tensor(np.float32([0.5]), "overlap")] + ([] if threshold is None else [tensor(np.float32([threshold]), "least")])
    text = model([node("NonMaxSuppression", ["boxes", "scores", "most", "overlap"] + (["least"] if len(constants) > 2 else []), ["rows"])],
                 [value("boxes", "float32", (1, 3, 4)), value("scores", "float32", (1, 1, 3))], [value("rows", "int64", ("n", 3))], constants)
    passes(run(tmp_path, text, [boxes, scores], [np.array([[0, 0, 1], [0, 0, 0], [0, 0, 2]])[:3 if threshold is None else 1]]))


def test_branch(tmp_path):
    """What a branch gives has no count."""
    one, other = (graph([node(op, ["y"], [name])], [], [value(name, "float32", ("n",))]) for op, name in (("Relu", "a"), ("Abs", "b")))
    text = model([node("Compress", ["x", "keep"], ["y"]), node("If", ["c"], ["z"], "either", then_branch=one, else_branch=other)],
                 [value("x", "float32", (4,)), value("keep", "bool", (4,)), value("c", "bool", ())], [value("z", "float32", ("n",))])
    (tmp_path / "model.onnx").write_bytes(text)
    result = subprocess.run([TIRC, "check", tmp_path / "model.onnx"], capture_output=True, text=True)
    assert result.returncode == 2 and "'either'" in result.stderr, result.stderr
    x, keep = floats(4), np.array([True, False, True, True])
    passes(run(tmp_path, text, [x, keep, np.array(False)], [np.abs(x[keep])]))
