"""Inputs that nobody should give: hostile.py TIRC [RUNS [SEED]]

Indices, counts and lengths are drawn negative, huge, 0 and 1, extents are told that no memory has. A model refuses them by a status, or
computes what numpy says; every array is flush with the end of its pages, or with their beginning, and a process of its own calls."""
import ctypes
import os
import sys
import tempfile

import numpy as np

from kinds import KINDS, SLOW_TO_BUILD, Net, graph, made, node, value
from library import Library, built, in_a_child
from open_sizes import same

ODD = [0, 1, -1, 2, 3, 4, 5, -5, -6, 7, 100, -100, 2 ** 31 - 1, 2 ** 31, -2 ** 31, -2 ** 31 - 1, 2 ** 32, 2 ** 63 - 1, -2 ** 63, 2 ** 62]


def odd(rng, shape):
    """Half of the arrays have no odd element."""
    fine = rng.integers(0, 3, shape)
    return fine if rng.random() < 0.5 else np.where(rng.random(shape) < 0.4, rng.choice(np.array(ODD, "int64"), shape), fine)


def gather(n):
    n.out(n.add("Gather", [n.x("t", "k", 3), n.x("i", "n", dtype="int64", draw=odd)], lambda t, i: t[i]))


def gather_inner(n):
    n.out(n.add("Gather", [n.x("t", 2, "k"), n.x("i", "n", dtype="int32", draw=lambda rng, s: odd(rng, s).clip(-2 ** 31, 2 ** 31 - 1))], lambda t, i: t[:, i], axis=1))


def gather_elements(n):
    n.out(n.add("GatherElements", [n.x("t", "k", 3), n.x("i", "n", 3, dtype="int64", draw=odd)], lambda t, i: t[i, np.arange(3)], axis=0))


def gather_nd(n):
    n.out(n.add("GatherND", [n.x("t", "k", "m"), n.x("i", "n", 2, dtype="int64", draw=odd)], lambda t, i: t[i[:, 0], i[:, 1]]))


def scatter(n):
    def result(t, i, u):
        t = t.copy()
        np.add.at(t, (i[:, 0],), u)
        return t
    n.out(n.add("ScatterND", [n.x("t", "k", 3), n.x("i", "n", 1, dtype="int64", draw=odd), n.x("u", "n", 3)], result, reduction="add"))


def scatter_elements(n):
    def result(t, i, u):
        t = t.copy()
        np.add.at(t, (i, np.broadcast_to(np.arange(3), i.shape)), u)
        return t
    n.out(n.add("ScatterElements", [n.x("t", "k", 3), n.x("i", "n", 3, dtype="int64", draw=odd), n.x("u", "n", 3)], result, axis=0, reduction="add"))


def one_hot(n):
    def result(i, d, v):
        at = np.where((i >= -4) & (i < 0), i + 4, i)
        return np.where(at[:, None] == np.arange(4), v[1], v[0])
    n.out(n.add("OneHot", [n.x("i", "n", dtype="int64", draw=odd), n.ints(4), n.w(np.float32([0, 1]))], result))


def reverse(n):
    def result(x, lengths):
        if ((lengths < 0) | (lengths > len(x))).any():
            raise IndexError
        out = x.copy()
        for b, length in enumerate(lengths):
            out[:length, b] = x[:length, b][::-1]
        return out
    n.out(n.add("ReverseSequence", [n.x("x", "k", "n"), n.x("lengths", "n", dtype="int64", draw=odd)], result, time_axis=0, batch_axis=1))


def top(n):
    def result(x, k):
        most = int(k[0])
        if not 0 <= most <= x.shape[1]:
            raise IndexError
        return -np.sort(-x, axis=1)[:, :most], np.argsort(-x, axis=1, kind="stable")[:, :most]
    n.out(n.add("TopK", [n.x("x", "n", "k"), n.x("count", 1, dtype="int64", draw=odd)], result, 2, axis=1)[0])


def halves(n):
    """An extent that is half of another one, which has to be even."""
    n.out(n.relu(n.add("Reshape", [n.x("x", "n", 3), n.ints(2, -1)], lambda x, s: x.reshape(s))))


def branch(n):
    """What one branch makes has extents that have no value where k is 0; the other one is the same for any."""
    x, k, cond = n.x("x", "n", 3), n.x("t", "k"), n.x("cond", dtype="bool", draw=lambda rng, s: rng.random() < 0.5)
    rows, rest = n.add("Shape", [k], lambda t: np.array(t.shape)), n.ints(-1)
    parts = [node("Concat", [rows, rest], ["shape"], axis=0), node("Reshape", [x, "shape"], ["y"]), node("Exp", ["y"], ["z"]),
             node("ReduceSum", ["z"], ["a"], keepdims=0)]
    other = [node("ReduceSum", [x], ["b"], keepdims=0)]
    n.nodes.append(node("If", [cond], ["sum"], "either", then_branch=graph(parts, [], [value("a", "float32", ())]), else_branch=graph(other, [], [value("b", "float32", ())])))
    n.steps.append(([x, k, cond], ["sum"], lambda x, t, c: np.exp(x.reshape(len(t), -1)).sum() if c else x.sum()))
    n.out("sum")


def compress(n):
    n.out(n.add("Compress", [n.x("x", 5, 3), n.x("keep", 5, dtype="bool", draw=lambda rng, s: rng.random(s) < 0.5)], lambda x, k: x[k], axis=0))


def unique(n):
    n.out(n.add("Unique", [n.x("x", "n", dtype="int64", draw=odd)], np.unique, sorted=1), "int64")


def lengths_of_lstm(n):
    n.out(n.add("LSTM", [n.x("x", "k", "n", 2), n.floats(1, 12, 2), n.floats(1, 12, 3), "", n.x("lengths", "n", dtype="int32", draw=lambda rng, s: odd(rng, s).clip(-2 ** 31, 2 ** 31 - 1))],
                lambda *_: (None, None), 2, hidden_size=3)[0])


def loop(n):
    [k for k in KINDS if k.__name__ == "loop"][0](n)
    n.inputs = [(a, t, s, (lambda rng, s: rng.choice(np.array([0, 1, 5, -1, -2 ** 63, -2 ** 31]))) if a == "turns" else d) for a, t, s, d in n.inputs]


def trees(n):
    [k for k in KINDS if k.__name__ == "trees"][0](n)
    n.inputs = [(a, t, s, lambda rng, s: rng.choice(np.float32([0, 1, np.inf, -np.inf, 3e38]), s)) for a, t, s, _ in n.inputs]


def embedding(n):
    """An index into a table that is a weight."""
    n.out(n.add("Gather", [n.floats(3, 4), n.x("i", "n", "k", dtype="int64", draw=odd)], lambda t, i: t[i]))


MODELS = [gather, gather_inner, gather_elements, gather_nd, scatter, scatter_elements, one_hot, reverse, top, halves, branch, compress, unique, lengths_of_lstm, loop, trees, embedding]


def runs(library, net, count, rng):
    """Exits with a message, by an exception, where a result is wrong."""
    refused = 0
    for i in range(count):
        arrays = net.draw({e: int(rng.integers(0, 6)) for e in "nkm"}, rng)
        try:
            with np.errstate(all="ignore"):
                wanted = net.wanted(arrays)
        except (IndexError, ValueError, OverflowError):
            wanted = None
        status, text, results, _ = library.call(arrays, i % 2 == 0)
        told = "%s: status %d, %s" % ([a.tolist() for a in arrays], status, text)
        refused += status != 0
        if status:
            assert text, told
        elif wanted is None:
            raise AssertionError("not refused: %s gives %s" % (told, results))
        elif wanted[0] is not None:
            if len(results) > len(wanted):
                assert int(results[-1]) in wanted[0].shape, told
                results[0] = results[0][tuple(map(slice, wanted[0].shape))]
            for got, want in zip(results, wanted):
                assert got.shape == want.shape and same(got, want), "%s gives %s, not %s" % (told, got, want)
    assert refused < count


def odd_extents(library, count, rng):
    """Extents beyond what there can be: where the workspace has no size the model returns a status, and touches nothing."""
    m = library.model
    for _ in range(count):
        leading = [ctypes.c_int64(int(rng.choice(np.array(ODD, "int64")))) for _ in m._extents]
        if m._workspace(leading) == 0:
            status = m._run(*leading, *[ctypes.c_void_p(0)] * (len(m.inputs) + len(m.outputs)), *m._block, ctypes.c_void_p(0))
            assert status and m._error_text(status), "%s: status %d" % (leading, status)
        else:
            assert all(e.value >= 0 for e in leading), leading


def main():
    tirc, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40
    seed, failures = int(sys.argv[3]) if len(sys.argv) > 3 else 1, 0
    with tempfile.TemporaryDirectory() as folder:
        for place, kind in enumerate(MODELS + ([] if count < 100 else [k for k in KINDS if k not in SLOW_TO_BUILD])):
            name, rng = kind.__name__, np.random.default_rng(seed * 1000 + place)
            path = os.path.join(folder, "m%d.onnx" % place)
            net = Net(seed) if kind in MODELS else made(kind, seed)[0]
            if kind in MODELS:
                kind(net)
            with open(path, "wb") as f:
                f.write(net.text())
            try:
                library = Library(tirc, built(tirc, path, ["lib", "c", "obj", "portable"][(place + seed) % 4]))
            except AssertionError as error:
                print("%s: %s" % (name, error), flush=True)
                failures += 1
                continue
            wrong = in_a_child(lambda: runs(library, net, count, rng) if kind in MODELS else None)
            wrong = wrong or (in_a_child(lambda: odd_extents(library, count, rng)) if library.model._extents else "")
            if wrong:
                print("%s: %s" % (name, wrong), flush=True)
                failures += 1
    print("%d failures" % failures)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
