"""Models of one operator with indices that only the run knows, or that are constants: those that the tables have against
numpy, those that they have not, which must be told, each between pages that nobody may touch.

    PYTHONPATH=tools/python TIRC_LIBRARY=build/test TIRC=build/test/tools/tirc tests/indices/random_indices.py --cases 1000 --seed 1
"""

import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "onnx"))
from guarded import Guarded  # noqa: E402
from messages import model, node, tensor, value  # noqa: E402

import tirc  # noqa: E402

TIRC = os.environ.get("TIRC")


# --- operators ---------------------------------------------------------------------------------------------------------
# Each gives the operands, which of them are the indices, ends of each index (first, end), attributes, and numpy's result.

def gather(rng):
    x, axis = data(rng, 1), None
    axis = int(rng.integers(-x.ndim, x.ndim))
    i = np.zeros(shape(rng, 0, 2), "int64")
    n = x.shape[axis]
    return "Gather", [x, i], 1, full(i, -n), full(i, n), {"axis": axis}, lambda x, i: np.take(x, i, axis)


def gather_elements(rng):
    x = data(rng, 1)
    axis = int(rng.integers(-x.ndim, x.ndim))
    i = np.zeros([int(rng.integers(1, 5)) if d == axis % x.ndim else e for d, e in enumerate(x.shape)], "int64")
    n = x.shape[axis]
    return "GatherElements", [x, i], 1, full(i, -n), full(i, n), {"axis": axis}, lambda x, i: np.take_along_axis(x, i, axis)


def gather_nd(rng):
    x = data(rng, 1)
    batch = int(rng.integers(0, x.ndim))
    depth = int(rng.integers(1, x.ndim - batch + 1))
    i = np.zeros(list(x.shape[:batch]) + shape(rng, 0 if batch else 1, 1) + [depth], "int64")
    n = full(i, 0) + np.array(x.shape[batch:batch + depth])

    def expected(x, i):
        out = np.empty(i.shape[:-1] + x.shape[batch + depth:], x.dtype)
        for at in np.ndindex(*i.shape[:-1]):
            out[at] = x[at[:batch] + tuple(i[at])]
        return out
    return "GatherND", [x, i], 1, -n, n, {"batch_dims": batch} if batch else {}, expected


REDUCTIONS = {"none": lambda a, b: b, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def scatter_elements(rng):
    x = data(rng, 1)
    axis = int(rng.integers(-x.ndim, x.ndim))
    i = np.zeros([int(rng.integers(1, 5)) if d == axis % x.ndim else e for d, e in enumerate(x.shape)], "int64")
    u, n, name = rng.uniform(-2, 2, i.shape).astype("float32"), x.shape[axis], str(rng.choice(list(REDUCTIONS)))

    def expected(x, i, u):
        out = x.copy()
        for at in np.ndindex(*i.shape):
            to = tuple(i[at] % n if d == axis % x.ndim else at[d] for d in range(x.ndim))
            out[to] = REDUCTIONS[name](out[to], u[at])
        return out
    return "ScatterElements", [x, i, u], 1, full(i, -n), full(i, n), {"axis": axis, "reduction": name}, expected


def scatter_nd(rng):
    x = data(rng, 1)
    depth = int(rng.integers(1, x.ndim + 1))
    i = np.zeros(shape(rng, 1, 1) + [depth], "int64")
    u = rng.uniform(-2, 2, list(i.shape[:-1]) + list(x.shape[depth:])).astype("float32")
    n, name = full(i, 0) + np.array(x.shape[:depth]), str(rng.choice(list(REDUCTIONS)))

    def expected(x, i, u):
        out = x.copy()
        for at in np.ndindex(*i.shape[:-1]):
            out[tuple(i[at])] = REDUCTIONS[name](out[tuple(i[at])], u[at])
        return out
    return "ScatterND", [x, i, u], 1, -n, n, {"reduction": name}, expected


def reverse_sequence(rng):
    x = rng.uniform(-2, 2, (int(rng.integers(1, 5)), int(rng.integers(1, 5)), 2)).astype("float32")
    n = np.zeros(x.shape[1], "int64")

    def expected(x, n):
        out = x.copy()
        for b in range(x.shape[1]):
            out[:n[b], b] = x[:n[b], b][::-1]
        return out
    return "ReverseSequence", [x, n], 1, full(n, 0), full(n, x.shape[0] + 1), {}, expected


def roi_align(rng):
    x = np.ones((int(rng.integers(1, 4)), 2, 4, 4), "float32") * np.arange(1, 4, dtype="float32")[:, None, None, None][:1]
    x = np.concatenate([x[:1] * (k + 1) for k in range(x.shape[0])])
    r = int(rng.integers(1, 4))
    rois = np.tile(np.float32([0, 0, 3, 3]), (r, 1))
    b = np.zeros(r, "int64")
    attributes = {"output_height": 2, "output_width": 2, "sampling_ratio": int(rng.integers(0, 3))}
    return "RoiAlign", [x, rois, b], 2, full(b, 0), full(b, x.shape[0]), attributes, lambda x, rois, b: np.broadcast_to((b + 1).astype("float32")[:, None, None, None], (r, 2, 2, 2))


OPERATORS = [gather, gather, gather_elements, gather_nd, scatter_elements, scatter_nd, reverse_sequence, roi_align]


def shape(rng, least, most):
    return [int(e) for e in rng.integers(1, 6, int(rng.integers(least, most + 1)))]


def data(rng, least):
    return rng.uniform(-2, 2, shape(rng, least, 3)).astype("float32")


def full(like, number):
    return np.full(like.shape, number, "int64")


# --- one case ----------------------------------------------------------------------------------------------------------

class Case:
    """What is drawn: an operator, how its indices come, and whether they are legal."""

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        self.op, self.operands, self.at, self.first, self.end, self.attributes, self.expected = OPERATORS[int(rng.integers(len(OPERATORS)))](rng)
        self.mode = str(rng.choice(["check", "check", "check", "clip", "trust"]))
        self.source = str(rng.choice(["input", "input", "cast", "add", "reshape", "constant"]))
        if self.op in ("ReverseSequence", "RoiAlign") and self.source == "constant":
            self.source = "input"
        self.legal = bool(rng.integers(2)) or self.mode == "trust"
        self.symbols = bool(rng.integers(2)) and self.source not in ("reshape", "constant")
        self.plain = bool(rng.integers(2))
        self.indices = self._draw()
        self.operands[self.at] = self.indices

    def _draw(self):
        rng, first, end = self.rng, self.first, self.end
        least = first if rng.integers(2) else np.maximum(first, 0)
        i = rng.integers(least, end).astype("int64") if first.size else first.copy()
        if not self.legal and i.size:
            for k in rng.choice(i.size, int(rng.integers(1, 3))):
                far = int(rng.choice([0, 1, 3, 1000, 10 ** 9 if self.source == "cast" else 10 ** 12]))
                i.flat[k] = end.flat[k] + far if rng.integers(2) else first.flat[k] - 1 - far
        self.legal = bool(((i >= first) & (i < end)).all())
        return i

    def _nodes(self):
        """The name that the operator takes its indices by, what comes before it, constants, and the model's own operand."""
        i = self.indices
        if self.source == "constant":
            return "k", [], [tensor(i, "k")], None
        if self.source == "cast":
            return "k", [node("Cast", ["x%d" % self.at], ["k"], to=7)], [], i.astype("int32")
        if self.source == "add":
            return "k", [node("Add", ["x%d" % self.at, "three"], ["k"])], [tensor(np.int64(3), "three")], i - 3
        if self.source == "reshape":
            flat = i.reshape(-1)
            return "k", [node("Reshape", ["x%d" % self.at, "s"], ["k"])], [tensor(np.array(i.shape, "int64"), "s")], flat
        return "x%d" % self.at, [], [], i

    def write(self, path):
        name, nodes, constants, own = self._nodes()
        arrays = {"x%d" % k: a for k, a in enumerate(self.operands) if k != self.at}
        if own is not None:
            arrays["x%d" % self.at] = own
        arrays = {n: arrays[n] for n in sorted(arrays)}
        inputs = [name if k == self.at else "x%d" % k for k in range(len(self.operands))]
        self.defines = {}
        values = [value(n, str(a.dtype), self._extents(a)) for n, a in arrays.items()]
        nodes = nodes + [node(self.op, inputs, ["y"], **self.attributes)]
        self.want = self._want()
        path.write_bytes(model(nodes, values, [value("y", "float32", self.want.shape)], constants))
        return arrays

    def _extents(self, a):
        """Equal extents have one name."""
        if not self.symbols or self.op in ("RoiAlign", "GatherND", "ScatterND"):
            return a.shape
        return ["n%d" % e for e in a.shape]

    def _want(self):
        i = self.indices
        if not self.legal:
            i = np.clip(i, self.first, self.end - 1)
        return self.expected(*[i if k == self.at else a for k, a in enumerate(self.operands)])

    def __str__(self):
        return "%s %s of %s, indices %s by %s, %s, symbols %s, plain %s: %s" % (
            self.op, self.attributes, [a.shape for a in self.operands], "legal" if self.legal else "illegal", self.source, self.mode,
            self.symbols, self.plain, self.indices.tolist())


def run_here(case, path, guarded):
    arrays = case.write(path)
    fails = not case.legal and case.mode == "check"
    try:
        compiled = tirc.compile(path, plain=case.plain, indices=case.mode)
        got = compiled(**{n: guarded.array(a, bool(case.rng.integers(2))) for n, a in arrays.items()})
    except tirc.TVMError as e:
        assert fails and "outside" in str(e) or "is not one of" in str(e), "%s\n%s" % (case, e)
        return "refused"
    assert not fails, "%s\nit gave %s" % (case, np.asarray(got))
    np.testing.assert_allclose(np.asarray(got), case.want, rtol=1e-5, atol=1e-5, err_msg=str(case))
    return "alike"


def run_library(case, path, guarded):
    """The same as a shared object: its status, and what it says of that."""
    case.symbols = False
    arrays = case.write(path)
    out = path.with_suffix(".so")
    out.unlink(missing_ok=True)
    done = subprocess.run([TIRC, "build", path, "--emit=lib", "-o", out, "--weights-inside", "--indices=" + case.mode] + ["--plain"] * case.plain,
                          capture_output=True, text=True)
    fails = not case.legal and case.mode == "check"
    if done.returncode:
        assert done.returncode == 2 and fails and case.source == "constant", "%s\n%s" % (case, done.stderr)
        return "refused"
    library = ctypes.CDLL(str(out))
    result = guarded.array(np.full(case.want.shape, 77, "float32"))
    given = [guarded.array(a, bool(case.rng.integers(2))) for a in arrays.values()]
    workspace = guarded.array(np.zeros(1 << 16, "uint8"), False)
    code = library.model(*[ctypes.c_void_p(a.ctypes.data) for a in given + [result, workspace]])
    library.model_error_text.restype = ctypes.c_char_p
    says = library.model_error_text(code).decode()
    assert (code > 1) == fails, "%s\n%d %s" % (case, code, says)
    if fails:
        assert "outside" in says or "is not one of" in says, "%s\n%d %s" % (case, code, says)
        return "told"
    np.testing.assert_allclose(result, case.want, rtol=1e-5, atol=1e-5, err_msg=str(case))
    return "alike"


def run_drawn(case, path):
    """Random inputs are indices that the table has."""
    if case.source == "constant":
        return "constant"
    case.symbols = False
    case.write(path)
    done = subprocess.run([TIRC, "run", path, "--check", "--indices=check"], capture_output=True, text=True)
    assert done.returncode == 0, "%s\n%s" % (case, done.stderr)
    return "drawn"


def run(seed, folder, libraries=10):
    """Of so many cases one is a shared object, and one is run with random inputs."""
    case, guarded = Case(seed), Guarded()
    try:
        if TIRC and libraries and seed % libraries == 0:
            folder = pathlib.Path(folder) / str(seed)
            folder.mkdir()
            return run_library(case, folder / "model.onnx", guarded)
        if TIRC and libraries and seed % libraries == 1:
            return run_drawn(case, pathlib.Path(folder) / "model.onnx")
        return run_here(case, pathlib.Path(folder) / "model.onnx", guarded)
    finally:
        guarded.free()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--libraries", type=int, default=10)
    args = parser.parse_args()
    counts, failures = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.seed, args.seed + args.cases):
            print("seed %d" % seed, end="\r", file=sys.stderr, flush=True)  # what a crash leaves behind
            try:
                how = run(seed, folder, args.libraries)
            except AssertionError as e:
                failures += 1
                how = "failed"
                print("seed %d: %s" % (seed, e), flush=True)
            counts[how] = counts.get(how, 0) + 1
    print(", ".join("%d %s" % (n, how) for how, n in sorted(counts.items())))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
