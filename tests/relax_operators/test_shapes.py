import numpy as np
import pytest
import tirc
from harness import CHECKED, FOLDER, bools, check, floats, ints, refused, symbolic, words_of


@pytest.mark.parametrize("old,new", [((4, 6), (24,)), ((24,), (2, 3, 4)), ((4, 6), (6, 4)), ((2, 3, 4), (2, 12)), ((2, 3, 4), (-1,)),
                                     ((2, 3, 4), (4, -1)), ((1,), ()), ((), (1, 1)), ((2, 1, 3), (2, 3)), ((5, 1, 1, 7), (35, 1)), ((0, 4), (2, 0)),
                                     ((2, 12, 8), (2, 3, 4, 8)), ((6, 35), (10, 21))])
def test_reshape(old, new):
    x = floats(*old)
    check("reshape", [x], x.reshape(new), shape=new)


def test_flatten_squeeze_expand():
    for shape in [(), (1,), (2, 3), (2, 3, 1, 4, 2)]:
        x = floats(*shape)
        check("flatten", [x], x.reshape(-1))
    x = floats(1, 3, 1, 4)
    check("squeeze", [x], x.squeeze())
    check("squeeze", [x], x.squeeze(0), axis=[0])
    check("squeeze", [x], x.squeeze(-2), axis=-2)
    check("expand_dims", [x], np.expand_dims(x, (0, 3)), axis=[0, 3])
    check("expand_dims", [x], np.expand_dims(x, -1), axis=-1)
    s = np.float32(4)
    check("expand_dims", [s], np.expand_dims(s, 0), axis=0)
    one = floats(1, 1)
    check("squeeze", [one], one.reshape(()))


@pytest.mark.parametrize("shape,axes", [((2, 3, 4), None), ((2, 3, 4), [2, 0, 1]), ((2, 3, 4), [0, -1, 1]), ((5,), [0]), ((), []), ((2, 1, 3, 1, 2), [4, 2, 0, 1, 3])])
def test_permute(shape, axes):
    x = floats(*shape)
    check("permute_dims", [x], np.ascontiguousarray(x.transpose(axes)).reshape(x.transpose(axes).shape), axes=axes)


def test_flip_repeat_tile():
    x = floats(3, 4)
    check("flip", [x], np.flip(x, 1), axis=1)
    check("repeat", [x], np.repeat(x, 3, 1), repeats=3, axis=1)
    check("repeat", [x], np.repeat(x, 2), repeats=2)
    check("tile", [x], np.tile(x, (2, 1)), repeats=[2, 1])
    check("tile", [x], np.tile(x, (2, 1, 3)), repeats=[2, 1, 3])
    check("tile", [x], np.tile(x, 2), repeats=[2])


@pytest.mark.parametrize("shapes,axis", [([(2, 3), (4, 3)], 0), ([(2, 3), (2, 1), (2, 5)], -1), ([(2,), (0,), (3,)], 0), ([(2, 3)], 1), ([(0,), (0,)], 0),
                                         ([(1, 2, 3, 1), (1, 2, 3, 4)], 3)])
def test_concat(shapes, axis):
    xs = [floats(*s) for s in shapes]
    check("concat", [xs], np.concatenate(xs, axis), axis=axis)


def test_stack():
    xs = [floats(2, 3) for _ in range(3)]
    for axis in [0, 1, -1]:
        check("stack", [xs], np.stack(xs, axis), axis=axis)


def test_split():
    x = floats(4, 6)
    check("split", [x], np.split(x, 3, 1), indices_or_sections=3, axis=1)
    check("split", [x], np.split(x, [1, 3, 3], 1), indices_or_sections=[1, 3, 3], axis=-1)
    x = floats(4, 10)
    check("split", [x], np.split(x, [4, 8], 1), indices_or_sections=3, axis=1)  # the last part is smaller
    check("split", [x], [x], indices_or_sections=1)


@pytest.mark.parametrize("axes,begin,end,strides", [
    ([0], [1], [3], None), ([1], [-3], [2147483647], None), ([0, 1], [0, 1], [4, 6], [2, 3]), ([1], [5], [-7], [-1]), ([0], [3], [1], None),
    ([1], [-1], [-100], [-2]), ([0], [-100], [100], [1]), ([0, 1], [1, 4], [2, 5], [1, 1])])
def test_strided_slice(axes, begin, end, strides):
    x = floats(4, 6)
    parts = [slice(None)] * 2
    for k, a in enumerate(axes):
        parts[a] = slice(begin[k], end[k], strides[k] if strides else 1)
    check("strided_slice", [x], x[tuple(parts)].copy(), axes=axes, begin=begin, end=end, strides=strides)


def test_broadcast_to():
    x = floats(3, 1)
    check("broadcast_to", [x], np.broadcast_to(x, (2, 3, 4)).copy(), shape=(2, 3, 4))
    s = np.float32(3)
    check("broadcast_to", [s], np.full((2, 2), 3, "float32"), shape=(2, 2))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "circular"])
def test_pad(mode):
    x = floats(3, 4)
    numpy_mode = "wrap" if mode == "circular" else mode
    how = dict(constant_values=1.5) if mode == "constant" else {}
    want = np.pad(x, [(1, 2), (0, 3)], numpy_mode, **how)
    check("nn.pad", [x], want, pad_width=[1, 2, 0, 3], pad_mode=mode, **({"pad_value": 1.5} if how else {}))


def test_symbolic():
    def reshape(n):
        x = floats(n, 12, 8)
        return [x], x.reshape(n, 96)
    symbolic("reshape", 3, "n", [1, 3, 8], reshape, shape=(-1, 96))
    def permute(n):
        x = floats(2, n, 5)
        return [x], np.ascontiguousarray(x.transpose(0, 2, 1))
    symbolic("permute_dims", 3, "n", [1, 3, 8], permute, axes=[0, 2, 1])
    def concat(n):
        xs = [floats(n, 4), floats(2, 4)]
        return [xs], np.concatenate(xs, 0)
    symbolic("concat", 7, "n", [1, 7, 3], concat)
    def last(n):
        x = floats(n, 4)
        return [x], x[-1:].copy()
    symbolic("strided_slice", 7, "n", [1, 7, 3], last, axes=[0], begin=[-1], end=[2147483647])


def test_refused():
    refused("reshape", [floats(4, 5)], "20 elements", "(3, 7)", shape=(3, 7))
    refused("reshape", [floats(4, 5)], "-1", "once", shape=(-1, -1))
    refused("reshape", [floats(4, 5)], "not a multiple", shape=(-1, 3))
    refused("permute_dims", [floats(4, 5)], "axis 0", "twice", axes=[0, 0])
    refused("permute_dims", [floats(4, 5)], "(4, 5)", axes=[0])
    refused("concat", [[floats(4, 5), floats(3, 6)]], "(4, 5)", "(3, 6)")
    refused("concat", [[floats(4, 5), ints(4, 5)]], "float32", "int32")
    refused("split", [floats(4, 5)], "3 equal parts", indices_or_sections=3)  # the last one would be empty
    refused("squeeze", [floats(4, 1)], "extent 4", axis=0)
    refused("broadcast_to", [floats(3)], "(3,)", "(2, 4)", shape=(2, 4))
    refused("strided_slice", [floats(3)], "stride of 0", axes=[0], begin=[0], end=[2], strides=[0])
    refused("nn.pad", [floats(3, 3)], "4", pad_width=[1, 1])
    refused("expand_dims", [floats(3)], "axis 5", axis=5)
    refused("stack", [[floats(3), floats(4)]], "(3,)", "(4,)")


# --- elements that others name ------------------------------------------------------------------------

def test_take():
    x, i = floats(4, 5, 6), ints(2, 3, low=0, high=4)
    check("take", [x, i], x.take(i, 0), axis=0)
    check("take", [x, i.astype("int64")], x.take(i, -1), axis=-1)
    n = np.array([-1, 0, -4], dtype="int64")
    check("take", [x, n], x.take(n, 1), axis=1)
    check("take", [x, n], x.reshape(-1).take(n))
    wild = np.array([9, -9, 2], dtype="int32")
    check("take", [x, wild], x.take(wild, 1, mode="clip"), axis=1, mode="clip")
    check("take", [x, wild], x.take(wild, 1, mode="wrap"), axis=1, mode="wrap")
    check("take", [x, np.int64(2)], x[:, 2].copy(), axis=1)
    check("take", [x], x[:, 2].copy(), indices=2, axis=1)


def test_gather():
    x, i = floats(4, 5), ints(3, 5, low=-4, high=4)
    check("gather_elements", [x, i], np.take_along_axis(x, i % 4, 0), axis=0)
    i = ints(4, 7, low=-5, high=5, dtype="int64")
    check("gather_elements", [x, i], np.take_along_axis(x, i % 5, 1), axis=1)
    x = floats(4, 5, 6)
    i = np.stack([ints(2, 3, low=-4, high=4), ints(2, 3, low=-5, high=5)], -1)
    check("gather_nd", [x, i], x[i[..., 0], i[..., 1]])
    i = ints(4, 2, 1, low=0, high=5)
    check("gather_nd", [x, i], np.stack([x[b][i[b, :, 0]] for b in range(4)]), batch_dims=1)
    check("gather_nd", [x, np.array([1, 2, 3], "int32")], x[1, 2, 3])


def test_one_hot():
    i = ints(3, 2, low=0, high=4)
    want = np.where(i[..., None] == np.arange(4), 1.0, 0.0).astype("float32")
    check("one_hot", [i], want, on_value=1.0, off_value=0.0, depth=4)
    check("one_hot", [i], np.moveaxis(want, -1, 0).copy(), on_value=1.0, off_value=0.0, depth=4, axis=0)
    check("one_hot", [i], np.where(want > 0, 5, -2).astype("int32"), on_value=5, off_value=-2, depth=4)


COMBINE = {"update": lambda a, b: b, "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "max": max, "min": min}


@pytest.mark.parametrize("reduction", COMBINE)
def test_scatter(reduction):
    f = COMBINE[reduction]
    x, i, u = ints(5, 6), ints(4, 1, low=-5, high=5, dtype="int64"), ints(4, 6)
    want = x.copy()
    for k in range(4):
        for j in range(6):
            want[i[k, 0], j] = f(want[i[k, 0], j], u[k, j])
    check("scatter_nd", [x, i, u], want, reduction=reduction)
    x, i, u = floats(3, 4), ints(2, 2, 2, low=0, high=3), floats(2, 2)
    want = x.copy()
    for a in range(2):
        for b in range(2):
            want[tuple(i[a, b])] = f(want[tuple(i[a, b])], u[a, b])
    check("scatter_nd", [x, i, u], want, reduction=reduction)
    x, i, u = ints(3, 5), ints(2, 5, low=-3, high=3), ints(2, 5)
    want = x.copy()
    for a in range(2):
        for b in range(5):
            want[i[a, b], b] = f(want[i[a, b], b], u[a, b])
    check("scatter_elements", [x, i, u], want, reduction=reduction)
    want = x.copy()
    i = i % 3
    for a in range(2):
        for b in range(5):
            want[a, i[a, b]] = f(want[a, i[a, b]], u[a, b])
    check("scatter_elements", [x, i, u], want, reduction=reduction, axis=1)


@pytest.mark.parametrize("shape,axis", [((7,), 0), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((3, 4), None), ((1, 1), 1), ((2, 0), 1)])
def test_running(shape, axis):
    x = floats(*shape)
    check("cumsum", [x], x.cumsum(axis).astype("float32"), axis=axis)
    check("cumprod", [x], x.cumprod(axis).astype("float32"), axis=axis)
    i = ints(*shape)
    check("cumsum", [i], i.cumsum(axis).astype("int64"), axis=axis, dtype="int64")
    if axis is not None:
        check("cumsum", [x], (x.cumsum(axis) - x).astype("float32"), axis=axis, exclusive=True, tolerance=1e-5)


def test_named_refused():
    x = floats(4, 5)
    refused("take", [x, floats(3)], "float32", axis=0)
    refused("take", [x, ints(3)], "mode far", axis=0, mode="far")
    refused("gather_nd", [x, ints(3, 3)], "(3, 3)", "(4, 5)")
    refused("scatter_nd", [x, ints(3, 1), floats(3, 4)], "(3, 4)", "(3, 5)")
    refused("scatter_nd", [x, ints(3, 1), floats(3, 5)], "the reduction sub", reduction="sub")
    refused("scatter_elements", [x, ints(3, 5), floats(3, 4)], "(3, 5)", "(3, 4)")
    refused("cumsum", [x], "axis 2", axis=2)
    refused("one_hot", [x], "float32", on_value=1, off_value=0, depth=3)


# --- what is made of nothing --------------------------------------------------------------------------

def test_create():
    check("full", [], np.full((2, 3), 1.5, "float32"), shape=(2, 3), fill_value=1.5)
    check("full", [], np.full((2,), 7, "int64"), shape=(2,), fill_value=7, dtype="int64")
    check("zeros", [], np.zeros((2, 0, 3), "float32"), shape=(2, 0, 3))
    check("zeros", [], np.zeros((), "int32"), shape=(), dtype="int32")
    check("ones", [], np.ones((4, 1), "float16"), shape=(4, 1), dtype="float16")
    x = floats(2, 3)
    check("full_like", [x], np.full_like(x, -2.5), fill_value=-2.5)
    check("zeros_like", [x], np.zeros((2, 3), bool), dtype="bool")
    check("ones_like", [x], np.ones_like(x))
    check("eye", [], np.eye(3, 4, 1, dtype="float32"), n=3, m=4, k=1)
    check("eye", [], np.eye(3, dtype="int32"), n=3, dtype="int32")


@pytest.mark.parametrize("args", [(5,), (2, 9, 3), (9, 2, -2), (0, 0, 1), (0.0, 1.0, 0.25), (0.0, 1.1, 0.25)])
def test_arange(args):
    named = dict(zip(["start", "end", "step"], args))
    dtype = "float32" if any(isinstance(a, float) for a in args) else "int64"
    check("arange", [], np.arange(*args).astype(dtype), **named)


@pytest.mark.parametrize("k", [-2, 0, 1])
def test_triangles(k):
    x = floats(2, 4, 5)
    check("tril", [x], np.tril(x, k), k=k)
    check("triu", [x], np.triu(x, k), k=k)


def test_create_refused():
    refused("zeros", [], "negative", shape=(2, -1))
    refused("zeros", [], "float31", shape=(2,), dtype="float31")
    refused("arange", [], "step of 0", start=0, end=4, step=0)
    refused("tril", [floats(3)], "(3,)")


def test_shape_to_tensor():
    check("shape_to_tensor", [], np.array([3, 4, 0], "int64"), shape="(3, 4, 0)")
    check("shape_to_tensor", [], np.array([[3, 4], [5, 6]], "int32"), shape="(3, 4, 5, 6)", dtype="int32", extents="(2, 2)")
    refused("shape_to_tensor", [], "(3,)", shape="(3, 4)", extents="(3,)")


def test_append():
    """The result begins with the first operand already; rows are written behind it."""
    for x, more, axis in ((floats(5, 6), floats(2, 6), 0), (floats(1, 4, 2, 3), floats(1, 1, 2, 3), 1), (floats(7), floats(3), 0), (floats(1, 3, 4), floats(1, 2, 4), -2)):
        mod = tirc.operator("append", *words_of([x, more], {"axis": axis}, {}), folder=FOLDER)
        want = np.concatenate([x, more], axis)
        y = np.full_like(want, 9)
        y[tuple(slice(0, e) for e in x.shape)] = x
        tirc.build(mod, threads=1)(x, more, y)
        assert (y == want).all(), (x.shape, more.shape)
    CHECKED.add("append")
    refused("append", [floats(4, 5), floats(4, 1)], "axis 1 of (4, 5) is not the first one that is not 1", axis=1)
    refused("append", [floats(4, 5), floats(1, 6)], "(4, 5)", "(1, 6)")
