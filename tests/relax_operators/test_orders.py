import itertools

import numpy as np
import pytest
from harness import check, floats, ints, refused


# --- orders ---------------------------------------------------------------------------------------


def _ordered(x, axis, descending):
    """Where the elements in order stand, of equal ones the first first."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    n = x.shape[axis]
    return n - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)


@pytest.mark.parametrize("shape, axis", [((7,), -1), ((3, 9), 1), ((2, 300), 1), ((5, 2, 3), 0), ((70, 3), 0), ((2, 1), -1), ((1,), 0)])
def test_sorts(shape, axis):
    for x in [floats(*shape), ints(*shape, low=0, high=3, dtype="int64"), floats(*shape, dtype="float16"), ints(*shape, low=250, high=256, dtype="uint8")]:
        for down in [False, True]:
            where = _ordered(x, axis, down)
            check("sort", [x], np.take_along_axis(x, where, axis), axis=axis, descending=down)
            check("argsort", [x], where.astype("int32"), axis=axis, descending=down)
            check("topk", [x], (np.take_along_axis(x, where, axis).take([0], axis), where.take([0], axis).astype("int64")), k=1, axis=axis,
                  largest=down, dtype="int64")


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_sorts_what_is_no_number(dtype):
    x = np.array([[1, np.nan, -np.inf, np.nan, np.inf, 0, -0.0, 1], [np.nan] * 8], dtype=dtype)
    for down in [False, True]:
        where = _ordered(x, 1, down)
        check("argsort", [x], where.astype("int32"), axis=1, descending=down)
        check("topk", [x], where[:, :5].astype("int32"), k=5, axis=1, largest=down, ret_type="indices")
        many = np.tile(x, 10)  # longer than what is sorted by inserting
        check("argsort", [many], _ordered(many, 1, down).astype("int32"), axis=1, descending=down)


def test_topk():
    x = floats(4, 10)
    x[0, 3] = np.inf
    x[1, 2] = -np.inf
    where = _ordered(x, 1, True)
    check("topk", [x], (np.take_along_axis(x, where, 1)[:, :3], where[:, :3].astype("int32")), k=3)
    check("topk", [x], np.take_along_axis(x, where, 1)[:, :3], k=3, ret_type="values")
    check("topk", [x], where.astype("int32"), k=-1, ret_type="indices")
    refused("topk", [x], "11", "(4, 10)", k=11)
    refused("topk", [x], "ret_type", k=1, ret_type="all")


# --- einsum ---------------------------------------------------------------------------------------

EINSUM = [
    ("ij,jk->ik", (3, 4), (4, 5)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("...ii->...i", (2, 3, 3)), ("i,i", (5,), (5,)), ("ij->", (3, 4)),
    ("ij->ji", (3, 4)), ("ba", (3, 4)), ("...ij,...jk", (2, 1, 3, 4), (5, 4, 2)), ("ii", (4, 4)), ("i,j,k->kij", (2,), (3,), (4,)),
    ("bhid,bhjd->bhij", (1, 2, 3, 4), (1, 2, 5, 4)), ("ij , jk -> ki", (3, 4), (4, 5)), ("i...,i...->...", (3, 2), (3, 2)), ("ij->i", (1, 3))]


@pytest.mark.parametrize("case", EINSUM)
def test_einsum(case):
    xs = [floats(*shape) for shape in case[1:]]
    check("einsum", [xs], np.einsum(case[0], *[x.astype("float64") for x in xs]).astype("float32"), subscripts=repr(case[0]))
    xs = [ints(*shape, dtype="int32") for shape in case[1:]]
    check("einsum", [xs], np.asarray(np.einsum(case[0], *xs)).astype("int32"), subscripts=repr(case[0]))


def test_einsum_refused():
    refused("einsum", [[floats(3, 4), floats(5, 6)]], "j is 4, and 5", subscripts="ij,jk->ik")
    refused("einsum", [[floats(3, 4)]], "l of the result", subscripts="ij->il")
    refused("einsum", [[floats(3, 4)]], "2 dimensions", subscripts="ijk->i")
    refused("einsum", [[floats(3, 4)]], "2 operands", subscripts="ij,jk->ik")


# --- losses ---------------------------------------------------------------------------------------


def _nll(x, t, w, reduction, ignored):
    c = 0 if x.ndim == 1 else 1
    x, w = np.moveaxis(x.astype("float64"), c, -1), np.ones(x.shape[c]) if w is None else w.astype("float64")
    out, weights = np.zeros(t.shape), np.zeros(t.shape)
    for i in np.ndindex(*t.shape):
        if t[i] != ignored:
            out[i], weights[i] = -x[i][t[i]] * w[t[i]], w[t[i]]
    return (out if reduction == "none" else out.sum() if reduction == "sum" else out.sum() / weights.sum()).astype("float32")


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 4, 3), (2, 3, 2, 1, 2)])
def test_nll_loss(shape):
    c = 0 if len(shape) == 1 else 1
    x, w = floats(*shape), floats(shape[c], low=0.1)
    t = ints(*(shape[:c] + shape[c + 1:]), low=0, high=shape[c], dtype="int64")
    for reduction, ignored in itertools.product(["none", "sum", "mean"], [-100, 1, -1]):
        if t.ndim == 0:
            t[()] = 2
        else:
            t.flat[0], t.flat[1:2] = 2, ignored if ignored != -100 else 0
        how = dict(reduction=reduction, ignore_index=ignored)
        check("nn.nll_loss", [x, t], _nll(x, t, None, reduction, ignored), **how)
        check("nn.nll_loss", [x, t.astype("int32"), w], _nll(x, t, w, reduction, ignored), **how)


def test_nll_loss_refused():
    refused("nn.nll_loss", [floats(3, 5), ints(4, dtype="int64")], "(4,)", "(3,)")
    refused("nn.nll_loss", [floats(3, 5), ints(3, dtype="int64"), floats(4)], "5 classes")
    refused("nn.nll_loss", [floats(3, 5), ints(3, dtype="int64")], "reduction", reduction="max")


# --- integers for floats --------------------------------------------------------------------------


def _along(t, x, axis):
    return t.reshape([-1 if d == axis % x.ndim else 1 for d in range(x.ndim)]) if t.ndim == 1 and t.size > 1 else t


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_quantize(dtype):
    info = np.iinfo(dtype)
    x = np.array([[0.5, 1.5, 2.5, -0.5, -1.5], [1e30, -1e30, np.inf, -np.inf, 3.49], [254.5, 255.5, 127.5, -128.5, 0.25]], "float32")
    for scale, zero, axis in [(np.float32(1).reshape(()), np.array(3, dtype), -1), (np.array([0.5], "float32"), np.array([info.max], dtype), -1),
                              (floats(5, low=0.1), ints(5, low=0, high=100, dtype=dtype), 1), (floats(3, low=0.1), ints(3, low=0, high=9, dtype=dtype), 0),
                              (floats(3, 1, low=0.1), ints(3, 1, low=0, high=9, dtype=dtype), 0), (floats(3, 5, low=0.1), ints(3, 5, low=0, high=9, dtype=dtype), 0)]:
        want = np.rint(x / _along(scale, x, axis)) + _along(zero, x, axis).astype("float32")
        check("quantize", [x, scale, zero], np.clip(want, info.min, info.max).astype(dtype), axis=axis, out_dtype=dtype)
        check("quantize", [x, scale], np.clip(np.rint(x / _along(scale, x, axis)), info.min, info.max).astype(dtype), axis=axis, out_dtype=dtype)
        q = ints(3, 5, low=info.min, high=info.max + 1, dtype=dtype)
        want = (q.astype("int64") - _along(zero, q, axis)).astype("float32") * _along(scale, q, axis)
        check("dequantize", [q, scale, zero], want, axis=axis)
        check("dequantize", [q, scale], q.astype("float32") * _along(scale, q, axis), axis=axis)


def test_quantize_others():
    x, scale = ints(4, 4, low=-300, high=300, dtype="int32"), np.float32(1.25).reshape(())
    check("quantize", [x, scale], np.clip(np.rint(x.astype("float32") / scale), -128, 127).astype("int8"))
    half, small = floats(3, 4, dtype="float16"), np.array(0.25, "float16")
    check("quantize", [half, small], np.clip(np.rint(half.astype("float32") / np.float32(0.25)), -128, 127).astype("int8"))
    check("dequantize", [x, scale], x.astype("float32") * scale)
    refused("quantize", [floats(3, 4), floats(5)], "(5,)", "axis")
    refused("quantize", [floats(3, 4), floats(1)], "float16", out_dtype="float16")
    refused("dequantize", [floats(3, 4), floats(1)], "float32")


# --- windows --------------------------------------------------------------------------------------


def test_lrn():
    for shape, size, axis in [((2, 7, 3, 2), 3, 1), ((1, 5, 2), 4, 1), ((4, 6), 5, -1), ((1, 1, 2), 3, 1), ((2, 3), 9, 1)]:
        x = floats(*shape)
        moved = np.moveaxis(x.astype("float64"), axis, 0)
        front = (size - 1) // 2
        total = np.stack([(moved[max(c - front, 0):c - front + size] ** 2).sum(0) for c in range(moved.shape[0])])
        want = np.moveaxis(moved / (1.5 + 0.2 / size * total) ** 0.6, 0, axis).astype("float32")
        check("nn.lrn", [x], want, size=size, axis=axis, alpha=0.2, beta=0.6, bias=1.5)
    refused("nn.lrn", [floats(1, 2, 3)], "size", size=0)


def _argmax_pool(x, size, strides, padding, dilation):
    n = x.ndim - 2
    out = [(x.shape[2 + d] + padding[d] + padding[n + d] - (size[d] - 1) * dilation[d] - 1) // strides[d] + 1 for d in range(n)]
    y = np.full(x.shape[:2] + tuple(out), -1, "int64")
    position = np.arange(x.size).reshape(x.shape)
    for i in np.ndindex(*y.shape):
        best = None
        for tap in itertools.product(*[range(k) for k in size]):
            at = i[:2] + tuple(i[2 + d] * strides[d] + tap[d] * dilation[d] - padding[d] for d in range(n))
            if all(0 <= at[2 + d] < x.shape[2 + d] for d in range(n)) and (best is None or x[at] > best):
                best, y[i] = x[at], position[at]
    return y


def test_max_pool_argmax():
    for shape, size, strides, padding, dilation in [((2, 3, 6, 7), [3, 2], [2, 1], [1, 0, 1, 1], [1, 1]), ((1, 2, 9), [3], [2], [0, 0], [2]),
                                                    ((1, 1, 4, 3, 5), [2, 2, 2], [1, 2, 1], [0] * 6, [1, 1, 1]), ((1, 1, 1, 1), [1, 1], [1, 1], [0] * 4, [1, 1])]:
        for x in [floats(*shape), ints(*shape, low=0, high=3, dtype="int32"), ints(*shape, low=0, high=3, dtype="uint8")]:
            check("nn.max_pool_argmax", [x], _argmax_pool(x, size, strides, padding, dilation), pool_size=size, strides=strides, padding=padding,
                  dilation=dilation)
    refused("nn.max_pool_argmax", [floats(2, 3)], "(2, 3)")


def test_resample():
    for shape, axis in [((2, 3, 5), 2), ((4, 3), 0), ((1, 6, 2), -2)]:
        x, n = floats(*shape), shape[axis]
        which, weights = ints(7, 4, low=0, high=n, dtype="int64"), floats(7, 4)
        moved = np.moveaxis(x.astype("float64"), axis, 0)
        want = np.moveaxis((moved[which] * weights.reshape(weights.shape + (1,) * (x.ndim - 1))).sum(1), 0, axis)
        check("image.resample", [x, which, weights], want.astype("float32"), axis=axis)
        check("image.resample", [x, which.astype("int32"), weights], want.astype("float32"), axis=axis)
    refused("image.resample", [floats(2, 3), ints(7, 4), floats(7, 3)], "(7, 3)")


def places(mode, n, scale, extent, start, end):
    """Where results lie in the data, as ONNX's definition has it."""
    i, width, scale = np.arange(n), n if scale is None else scale * extent, n / extent if scale is None else scale
    if mode == "align_corners":
        return i * (extent - 1) / (width - 1) if width != 1 else i * 0.0
    if mode == "tf_crop_and_resize":
        return i * 0.0 + start * (extent - 1) + (i * (end - start) * (extent - 1) / (width - 1) if width != 1 else (end - start) * (extent - 1) / 2)
    half = {"asymmetric": i / scale, "half_pixel": (i + 0.5) / scale - 0.5, "tf_half_pixel_for_nn": (i + 0.5) / scale}
    half["pytorch_half_pixel"] = half["half_pixel"] if width != 1 else i * 0.0 - 0.5
    half["half_pixel_symmetric"] = extent / 2 * (1 - n / width) + half["half_pixel"]
    return half[mode]


def bump(d, a):
    d = abs(d)
    return np.where(d <= 1, ((a + 2) * d - (a + 3)) * d * d + 1, np.where(d < 2, ((a * d - 5 * a) * d + 8 * a) * d - 4 * a, 0))


RESIZED = [("nearest", "half_pixel", {}), ("nearest", "asymmetric", {"nearest_mode": "floor"}), ("nearest", "tf_half_pixel_for_nn", {"nearest_mode": "ceil"}),
           ("nearest", "align_corners", {"nearest_mode": "round_prefer_ceil"}), ("linear", "half_pixel", {}), ("linear", "align_corners", {}),
           ("linear", "half_pixel_symmetric", {}), ("linear", "tf_crop_and_resize", {"start": 0.25, "end": 1.125, "extrapolation_value": 7.0}),
           ("cubic", "pytorch_half_pixel", {}), ("cubic", "half_pixel", {"exclude_outside": True, "cubic_alpha": -0.5})]


@pytest.mark.parametrize("method, mode, more", RESIZED)
def test_resize_axis(method, mode, more):
    for shape, axis, n, scale in [((2, 5, 3), 1, 8, None), ((4, 7), 1, 3, None), ((6, 2), 0, 9, 1.5), ((1, 3), 0, 1, None)]:
        x = floats(*shape)
        extent, moved = shape[axis], np.moveaxis(x.astype("float64"), axis, 0)
        p = places(mode, n, scale, extent, more.get("start", 0.0), more.get("end", 1.0))
        low, rest = np.floor(p).astype(int), p - np.floor(p)
        if method == "nearest":
            up = {"floor": rest < 0, "ceil": rest > 0, "round_prefer_ceil": rest >= 0.5}.get(more.get("nearest_mode"), rest > 0.5)
            taps, amounts = (low + up)[:, None], np.ones((n, 1))
        else:
            taps = low[:, None] + (np.arange(2) if method == "linear" else np.arange(-1, 3))
            d = p[:, None] - taps
            amounts = 1 - abs(d) if method == "linear" else bump(d, more.get("cubic_alpha", -0.75))
            if more.get("exclude_outside"):
                amounts = np.where((taps >= 0) & (taps < extent), amounts, 0)
            amounts = amounts / amounts.sum(1, keepdims=True)
        ones = (1,) * (x.ndim - 1)
        want = (moved[taps.clip(0, extent - 1)] * amounts.reshape(amounts.shape + ones)).sum(1)
        if mode == "tf_crop_and_resize":
            want = np.where(((p >= 0) & (p <= extent - 1)).reshape((n,) + ones), want, 7)
        given = {} if scale is None else {"scale": scale}
        check("image.resize_axis", [x], np.moveaxis(want, 0, axis).astype("float32"), size=n, axis=axis, method=method, coordinate_transformation_mode=mode, **more, **given)
    refused("image.resize_axis", [floats(2, 0)], "(2, 0)", size=3)


def test_conv3d_transpose():
    x, w = floats(1, 2, 2, 3, 2), floats(2, 3, 2, 2, 3)
    y = np.zeros((1, 3, 4, 4, 6))
    for tap in np.ndindex(2, 2, 3):
        y[:, :, tap[0]:tap[0] + 3:2, tap[1]:tap[1] + 3, tap[2]:tap[2] + 4:3] += np.einsum("ncdhw,co->nodhw", x.astype("float64"), w[(slice(None), slice(None)) + tap])
    check("nn.conv3d_transpose", [x, w], y.astype("float32"), strides=[2, 1, 3])
