"""Nodes over extents that have names: told by the input when it runs, and given ahead (-D n=3), they compute the same or are
refused in the same words; results are compared with numpy where the node says them itself."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "onnx"))
from messages import graph, model, node, tensor, value  # noqa: E402

TIRC = os.environ["TIRC"]


def int64(*values):
    return np.array(values, "int64")


def run(path, x, options):
    np.save(path.parent / "x.npy", x)
    out = path.parent / "out.npz"
    out.unlink(missing_ok=True)
    done = subprocess.run([TIRC, "run", str(path), "--in", "x=%s" % (path.parent / "x.npy"), "--out", str(out), *options],
                          capture_output=True, text=True)
    return done.returncode, list(np.load(out).values()) if done.returncode == 0 else done.stderr


def words(message):
    said = message.split("error: ", 1)[-1].split(".sch:")[0]
    return [w for w in re.findall(r"[A-Za-z_']{2,}", said) if w not in ("max", "min", "Select")]


def rows():
    sliced = lambda a, b, s=1: ("Slice", [int64(a), int64(b), int64(0), int64(s)], {}, 17, lambda x: x[a:b:s])
    grown = lambda x, n: x[(len(x) - n) // 2:(len(x) - n) // 2 + n] if len(x) >= n else np.pad(x, [((n - len(x)) // 2, n - len(x) - (n - len(x)) // 2), (0, 0)])
    return [
        (sliced(0, 5), [1, 3, 5, 8], []), (sliced(-3, 1000), [1, 3, 8], []), (sliced(-2, 2**63 - 1), [1, 2, 5], []), (sliced(7, -2), [1, 9], []),
        (sliced(5, -1000, -1), [1, 3, 8], []), (sliced(-1, -2**63, -2), [1, 4, 7], []), (sliced(2, 2), [1, 5], []),
        (("Reshape", [int64(8, 3)], {}, 17, lambda x: x.reshape(8, 3)), [6], [5, 1]),
        (("Reshape", [int64(8, -1)], {}, 17, lambda x: x.reshape(8, -1)), [2, 4, 6], [3, 1]),
        (("Reshape", [int64(0, -1, 2)], {}, 17, lambda x: x.reshape(len(x), -1, 2)), [1, 3], []),
        (("Expand", [int64(3, 4)], {}, 17, lambda x: np.broadcast_to(x, (3, 4))), [1, 3], [2]),
        (("Expand", [int64(2, 1, 1)], {}, 17, lambda x: np.broadcast_to(x, (2, *x.shape))), [1, 3], []),
        (("Pad", [int64(3, 0, 3, 0)], {"mode": "reflect"}, 17, lambda x: np.pad(x, [(3, 3), (0, 0)], "reflect")), [4, 6], [3, 1]),
        (("Pad", [int64(-2, 0, -1, 0)], {}, 17, lambda x: x[2:len(x) - 1]), [3, 6], [2]),
        (("Split", [int64(2, 3)], {"axis": 0}, 17, lambda x: (x[:2], x[2:])), [5], [4, 6]),
        (("CenterCropPad", [int64(4)], {"axes": [0]}, 18, lambda x: grown(x, 4)), [1, 2, 3, 4, 5, 7], []),
        (("Tile", [int64(2, 1)], {}, 13, lambda x: np.tile(x, (2, 1))), [1, 3], []),
        (("MatMul", [np.ones((4, 2), "float32")], {}, 13, lambda x: x @ np.ones((4, 2))), [3], []),
        (("Add", [np.ones((3, 1), "float32")], {}, 13, lambda x: x + np.ones((3, 1))), [1, 3], [2]),
        (("Gather", [int64(0, -1)], {"axis": 0}, 13, lambda x: x[[0, -1]]), [1, 4], [0]),
        (("TopK", [int64(2)], {"axis": 0}, 11, None), [2, 5], [1]),
        (("Squeeze", [int64(0)], {}, 13, lambda x: x[0]), [1], [2]),
    ]


@pytest.mark.parametrize("row", rows(), ids=lambda r: "%s-%s" % (r[0][0], r[0][1][-1] if r[0][1] else ""))
def test_extents(row, tmp_path):
    (op, operands, attributes, opset, expected), legal, illegal = row
    outputs = ["y0", "y1"] if op in ("Split", "TopK") else ["y0"]
    names = ["w%d" % i for i in range(len(operands))]
    path = tmp_path / "model.onnx"
    path.write_bytes(model([node(op, ["x", *names], outputs, **attributes)], [value("x", "float32", ["n", 4])],
                           [value(name, "int64" if name == "y1" and op == "TopK" else "float32", ["r%d%d" % (i, d) for d in range(rank(expected, i, op))])
                            for i, name in enumerate(outputs)],
                           [tensor(a, name) for a, name in zip(operands, names)], opset=opset))
    for n in legal + illegal:
        x = np.random.default_rng(n).uniform(-2, 2, (n, 4)).astype("float32")
        (status, found), (ahead, also) = run(path, x, []), run(path, x, ["-D", "n=%d" % n])
        assert status == ahead == (2 if n in illegal else 0), (n, found, also)
        if status:
            assert words(found) == words(also), (found, also)
            continue
        wanted = expected(x) if expected else also
        for a, b, c in zip(found, also, wanted if isinstance(wanted, (tuple, list)) else [wanted]):
            assert a.shape == b.shape == c.shape, (n, a.shape, b.shape, c.shape)
            np.testing.assert_allclose(a, c, rtol=1e-5)
            np.testing.assert_allclose(b, c, rtol=1e-5)


def test_branch_without_value(tmp_path):
    """Extents of a branch that have no value for what is given are asked for where it is taken only."""
    parts = [node("Shape", ["t"], ["rows"]), node("Concat", ["rows", "rest"], ["shape"], axis=0), node("Reshape", ["x", "shape"], ["y"], "divide"),
             node("Exp", ["y"], ["z"]), node("ReduceSum", ["z"], ["a"], keepdims=0)]
    branches = {"then_branch": graph(parts, [], [value("a", "float32", ())]),
                "else_branch": graph([node("ReduceSum", ["x"], ["b"], keepdims=0)], [], [value("b", "float32", ())])}
    (tmp_path / "model.onnx").write_bytes(model([node("If", ["cond"], ["sum"], "either", **branches)],
                                                [value("x", "float32", ("n", 3)), value("t", "float32", ("k",)), value("cond", "bool", ())],
                                                [value("sum", "float32", ())], [tensor(int64(-1), "rest")]))
    x = np.ones((4, 3), "float32")
    for k in (0, 2, 5):
        for cond in (True, False):
            np.savez(tmp_path / "in.npz", x=x, t=np.zeros(k, "float32"), cond=np.array(cond))
            done = subprocess.run([TIRC, "run", tmp_path / "model.onnx", "--in", tmp_path / "in.npz", "--out", tmp_path / "out.npz"], capture_output=True, text=True)
            if cond and k != 2:
                assert done.returncode == 2 and "node 'divide' (Reshape)" in done.stderr and "not a multiple of k" in done.stderr, done.stderr
            else:
                assert done.returncode == 0 and np.allclose(np.load(tmp_path / "out.npz")["sum"], np.exp(x).sum() if cond else 12), done.stderr


def squeezed(*following):
    """x without its first axis where that has one element, as exporters write it, and what follows."""
    branches = {"then_branch": graph([node("Squeeze", ["x", "zero"], ["a"])], [], [value("a", "float32", (4, 3))]),
                "else_branch": graph([node("Identity", ["x"], ["b"])], [], [value("b", "float32", ("n", 4, 3))])}
    return [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["g"], axis=0), node("Equal", ["g", "one"], ["is_one"]),
            node("Reshape", ["is_one", "none"], ["c"]), node("If", ["c"], ["y"], "either", **branches), *following]


SQUEEZE_CONSTANTS = [tensor(int64(0), "zero"), tensor(int64(1), "one"), tensor(np.zeros(0, "int64"), "none")]
SUMS = [node("Exp", ["y"], ["e"]), node("Shape", ["y"], ["t"]), node("Shape", ["t"], ["rank"]), node("Cast", ["rank"], ["r"], to=1),
        node("ReduceSum", ["e"], ["q"], keepdims=0), node("Mul", ["q", "r"], ["z"])]


@pytest.mark.parametrize("within", [False, True])
def test_rank_by_extent(within, tmp_path):
    """Branches whose ranks differ: what follows is part of each of them, in a branch of another If, too."""
    path = tmp_path / "model.onnx"
    inputs, nodes = [value("x", "float32", ("n", 4, 3))], squeezed(*SUMS)
    if within:
        branches = {"then_branch": graph(nodes, [], [value("z", "float32", (1,))]),
                    "else_branch": graph([node("Neg", ["one"], ["m"]), node("Cast", ["m"], ["w"], to=1)], [], [value("w", "float32", (1,))])}
        nodes = [node("ReduceSum", ["x"], ["all"], keepdims=0), node("Greater", ["all", "least"], ["cond"]), node("If", ["cond"], ["z"], "outer", **branches)]
    path.write_bytes(model(nodes, inputs, [value("z", "float32", (1,))], SQUEEZE_CONSTANTS + [tensor(np.float32(-1e9), "least")]))
    for n in (1, 3, 2):
        x = np.random.default_rng(n).uniform(-1, 1, (n, 4, 3)).astype("float32")
        for options in ([], ["-D", "n=%d" % n]):
            status, found = run(path, x, options)
            assert status == 0, found
            np.testing.assert_allclose(found[0], [np.exp(x).sum() * (2 if n == 1 else 3)], rtol=1e-5)


@pytest.mark.parametrize("perm, fits", [([1, 0], 1), ([0, 2, 1], 2), ([0, 1, 2, 3], None)])
def test_one_rank_alone(perm, fits, tmp_path):
    """What follows goes with one of the ranks: the run says that the extent is not so. With none, the file is refused."""
    path = tmp_path / "model.onnx"
    path.write_bytes(model(squeezed(node("Transpose", ["y"], ["z"], "turn", perm=perm)), [value("x", "float32", ("n", 4, 3))],
                           [value("z", "float32", ["d%d" % d for d in range(len(perm))])], SQUEEZE_CONSTANTS))
    for n in (1, 2):
        x = np.arange(12 * n, dtype="float32").reshape(n, 4, 3)
        status, found = run(path, x, [])
        assert status == (0 if fits == n else 2), found
        if fits == n:
            np.testing.assert_array_equal(found[0], (x[0] if n == 1 else x).transpose(perm))
        else:
            assert "node 'turn' (Transpose)" in found and (not fits or "node 'either' (If): the other branch" in found), found


def test_there_and_back(tmp_path):
    """n * 3 elements in a row, and as the input again: what tells n stands behind n * 3 there."""
    path = tmp_path / "model.onnx"
    path.write_bytes(model([node("Reshape", ["x", "flat"], ["row"]), node("Shape", ["x"], ["s"]), node("Reshape", ["row", "s"], ["y"])],
                           [value("x", "float32", ["n", 3])], [value("y", "float32", ["n", 3])], [tensor(int64(-1), "flat")]))
    x = np.arange(12, dtype="float32").reshape(4, 3)
    status, found = run(path, x, [])
    assert status == 0, found
    np.testing.assert_array_equal(found[0], x)


@pytest.mark.parametrize("turned", [False, True])
def test_pyramid(turned, tmp_path):
    """Sums of what is twice as wide with what is there: extents are as short at the end of a chain of such as at its beginning."""
    nodes, depth, path = [], 5, tmp_path / "model.onnx"
    for d in range(depth):
        nodes.append(node("MaxPool", ["x%d" % d if d else "x"], ["x%d" % (d + 1)], kernel_shape=[1], strides=[2]))
    for d in reversed(range(depth)):
        both = ["up%d" % d, "x%d" % d if d else "x"]
        nodes += [node("Resize", ["s%d" % (d + 1) if d + 1 < depth else "x%d" % depth, "", "scales"], ["up%d" % d], mode="nearest"), node("Add", both[::-1] if turned else both, ["s%d" % d])]
    path.write_bytes(model(nodes, [value("x", "float32", [1, 1, "n"])], [value("s0", "float32", [1, 1, "m"])], [tensor(np.float32([1, 1, 2]), "scales")]))
    text = subprocess.run([TIRC, "import", str(path)], capture_output=True, text=True).stdout
    shapes = re.findall(r"R.Tensor\(\((.*?)\), dtype", text)
    assert len(shapes) > 2 * depth and not any("Select" in s for s in shapes), text
    for n in (32, 64, 30):
        x = np.random.default_rng(n).uniform(-1, 1, (1, 1, n)).astype("float32")
        levels = [x[0, 0, ::2**d] for d in range(depth + 1)]
        status, found = run(path, x, [])
        assert status == (2 if n == 30 else 0), found
        if not status:
            y = levels[depth]
            for d in reversed(range(depth)):
                y = np.repeat(y, 2) + levels[d]
            np.testing.assert_allclose(found[0][0, 0], y, rtol=1e-5)


ZERO = int64(0)
ROWS_OF_X = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["g"], axis=0)]
# Nodes behind the number of rows of x, further constants, what y is, sizes, sizes that are refused.
CHAINS = {
    "x[:n - 1]": ([node("Sub", ["g", "k"], ["e"]), node("Slice", ["x", "zero", "e", "zero"], ["y"])], {"k": int64(1)}, lambda x: x[:len(x) - 1], [0, 1, 4], []),
    "x[n // 2:]": ([node("Div", ["g", "k"], ["e"]), node("Slice", ["x", "e", "g", "zero"], ["y"])], {"k": int64(2)}, lambda x: x[len(x) // 2:], [0, 1, 4, 5], []),
    "x[n - 3:]": ([node("Sub", ["g", "k"], ["e"]), node("Slice", ["x", "e", "g", "zero"], ["y"])], {"k": int64(3)}, lambda x: x[len(x) - 3:], [0, 1, 2, 3, 4], []),
    "pairs": ([node("Reshape", ["x", "k"], ["r"]), node("Reshape", ["r", "t"], ["y"])], {"k": int64(-1, 2, 4), "t": int64(0, -1)},
              lambda x: x.reshape(-1, 8), [0, 2, 4], [1, 3]),
    "n // 2 rows": ([node("Div", ["g", "k"], ["h"]), node("Concat", ["h", "t"], ["c"], axis=0), node("Reshape", ["x", "c"], ["y"])],
                    {"k": int64(2), "t": int64(8)}, lambda x: x.reshape(len(x) // 2, 8), [2, 4], [1, 3]),
    "to 8 rows": ([node("Sub", ["k", "g"], ["d"]), node("Concat", ["zero", "zero", "d", "zero"], ["c"], axis=0), node("Pad", ["x", "c"], ["y"])],
                  {"k": int64(8)}, lambda x: np.pad(x, [(0, 8 - len(x)), (0, 0)]) if len(x) < 8 else x[:8], [0, 1, 8, 9], []),
    "frames": ([node("Reshape", ["x", "flat"], ["r"]), node("STFT", ["r", "step", "", "eight"], ["f"]), node("Reshape", ["f", "rows"], ["y"])],
               {"flat": int64(1, -1), "step": np.int64(4), "eight": np.int64(8), "rows": int64(-1, 10)},
               lambda x: np.stack([np.fft.rfft(x.reshape(-1)[k:k + 8]) for k in range(0, 4 * len(x) - 7, 4)]).astype("complex64").view("float32"), [2, 3, 5], [0, 1]),
    "greatest": ([node("Hardmax", ["x"], ["y"], axis=0)], {}, lambda x: (x == x.max(axis=0)).astype("float32"), [1, 2, 5], []),
    "one hot": ([node("OneHot", ["k", "g", "values"], ["y"])], {"k": int64(0, 2, -1), "values": np.float32([3, 4])},
                lambda x: np.array([[3 + (c == i % len(x) if i < len(x) else 0) for c in range(len(x))] for i in (0, 2, -1)], "float32").reshape(3, -1), [1, 2, 3, 5], []),
    "tile": ([node("Tile", ["k", "s"], ["y"])], {"k": np.ones((1, 2), "float32")}, lambda x: np.ones((len(x), 8), "float32"), [0, 1, 3], []),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains(name, tmp_path):
    nodes, constants, expected, legal, illegal = CHAINS[name]
    path = tmp_path / "model.onnx"
    path.write_bytes(model([*ROWS_OF_X, *nodes], [value("x", "float32", ["n", 4])], [value("y", "float32", ["r", "q"])],
                           [tensor(a, k) for k, a in {**constants, "zero": ZERO}.items()]))
    for n in legal + illegal:
        x = np.random.default_rng(n).uniform(-2, 2, (n, 4)).astype("float32")
        for options in ([], ["-D", "n=%d" % n]):
            status, found = run(path, x, options)
            assert status == (2 if n in illegal else 0), (n, options, found)
            if not status:
                np.testing.assert_allclose(found[0], expected(x), rtol=1e-6, atol=1e-6, err_msg="n = %d %s" % (n, options))


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_same(stride, tmp_path):
    """As many windows as the data has strides: the padding depends on how many elements there are."""
    path = tmp_path / "model.onnx"
    w = np.array([[[1, 2, 4]]], "float32")
    path.write_bytes(model([node("Conv", ["x", "w"], ["y"], auto_pad="SAME_UPPER", strides=[stride])], [value("x", "float32", [1, 1, "n"])],
                           [value("y", "float32", [1, 1, "m"])], [tensor(w, "w")]))
    for n in (1, 2, 7):
        x = np.arange(n, dtype="float32").reshape(1, 1, n)
        total = max(((n + stride - 1) // stride - 1) * stride + 3 - n, 0)
        padded = np.pad(x[0, 0], (total // 2, total - total // 2))
        code, found = run(path, x, [])
        assert code == 0, found
        np.testing.assert_allclose(found[0][0, 0], np.convolve(padded, [4, 2, 1], "valid")[::stride])


@pytest.mark.parametrize("pad", ("SAME_UPPER", "SAME_LOWER"))
@pytest.mark.parametrize("stride", (1, 2, 3))
def test_same_transposed(stride, pad, tmp_path):
    """As many elements as the data has times the stride, whatever that is."""
    path = tmp_path / "model.onnx"
    w = np.array([[[1, 2, 4]]], "float32")
    path.write_bytes(model([node("ConvTranspose", ["x", "w"], ["y"], auto_pad=pad, strides=[stride])], [value("x", "float32", [1, 1, "n"])],
                           [value("y", "float32", [1, 1, "m"])], [tensor(w, "w")]))
    for n in (1, 4):
        x = np.arange(1, n + 1, dtype="float32").reshape(1, 1, n)
        spread = np.zeros((n - 1) * stride + 1, "float32")
        spread[::stride] = x[0, 0]
        first = (3 - stride) // 2 if pad == "SAME_UPPER" else 3 - stride - (3 - stride) // 2
        code, found = run(path, x, [])
        assert code == 0, found
        np.testing.assert_allclose(found[0][0, 0], np.convolve(spread, w[0, 0])[first : first + n * stride])


@pytest.mark.parametrize("extents", ([2, 5, "h", "w"], [2, 5, 4, 3]))
@pytest.mark.parametrize("size, strides, pads, more", [
    ([2, 2], [2, 2], [0, 0, 0, 0], [0, 0]), ([3, 3], [2, 2], [1, 1, 1, 1], [1, 1]), ([3, 2], [3, 1], [0, 1, 0, 0], [0, 0]), ([1, 5], [2, 3], [0, 2, 0, 3], [1, 2]),
    ([2, 3], [2, 3], [0, 0, 0, 0], [1, 0]), ([2, 2], [2, 2], [1, 0, 0, 1], [0, 0]), ([4, 4], [2, 2], [1, 1, 1, 1], [0, 0])])
def test_transposed_of_weights(size, strides, pads, more, extents, tmp_path):
    """Windows of a whole number of strides, and those that are filled up to one; of one stride, a product."""
    path, rng = tmp_path / "model.onnx", np.random.default_rng(0)
    x, w = rng.integers(-4, 5, (2, 5, 4, 3)).astype("float32"), rng.integers(-4, 5, (5, 6, *size)).astype("float32")
    full = [(n - 1) * s + k for n, s, k in zip(x.shape[2:], strides, size)]
    y = np.zeros((2, 6, full[0] + more[0], full[1] + more[1]), "float32")
    for i, j in np.ndindex(*x.shape[2:]):
        y[:, :, i * strides[0]:i * strides[0] + size[0], j * strides[1]:j * strides[1] + size[1]] += np.einsum("nc,cohw->nohw", x[:, :, i, j], w)
    y = y[:, :, pads[0]:y.shape[2] - pads[2], pads[1]:y.shape[3] - pads[3]]
    attributes = dict(strides=strides, pads=pads, output_padding=more, kernel_shape=size)
    path.write_bytes(model([node("ConvTranspose", ["x", "w"], ["y"], **attributes)], [value("x", "float32", extents)],
                           [value("y", "float32", [2, 6, "p", "q"])], [tensor(w, "w")]))
    status, found = run(path, x, [])
    assert status == 0, found
    np.testing.assert_array_equal(found[0], y)


def test_a_number_is_needed(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model([node("ConvTranspose", ["x", "w"], ["y"], "grown", strides=[2], output_shape=[7])], [value("x", "float32", [1, 1, "n"])],
                           [value("y", "float32", [1, 1, 7])], [tensor(np.float32([[[1, 2, 4]]]), "w")]))
    x = np.arange(3, dtype="float32").reshape(1, 1, 3)
    status, said = run(path, x, [])
    assert status == 2 and "'grown' (ConvTranspose): output_shape (7,): dimension 2 of (1, 1, n) has to be a number" in said, said
    status, found = run(path, x, ["-D", "n=3"])
    assert status == 0, found
    np.testing.assert_array_equal(found[0][0, 0], [0, 0, 1, 2, 6, 4, 8])


def rank(expected, i, op):
    if expected is None:
        return 2
    for n in range(1, 12):
        try:
            result = expected(np.zeros((n, 4), "float32"))
            return (result[i] if isinstance(result, tuple) else result).ndim
        except (ValueError, IndexError):
            pass
