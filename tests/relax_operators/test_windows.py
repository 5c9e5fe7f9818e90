import itertools

import numpy as np
import pytest
from harness import check, floats, ints, refused, symbolic


def _to(x, layout, standard):
    """From the standard layout to another one."""
    return np.ascontiguousarray(x.transpose([standard.index(c) for c in layout]))


def _conv(x, w, strides, padding, dilation, groups):
    n = x.ndim - 2
    before, after = padding[:n], padding[n:]
    x = np.pad(x.astype("float64"), [(0, 0), (0, 0)] + list(zip(before, after)))
    out = [(x.shape[2 + d] - (w.shape[2 + d] - 1) * dilation[d] - 1) // strides[d] + 1 for d in range(n)]
    y = np.zeros((x.shape[0], w.shape[0]) + tuple(out))
    per, results = w.shape[1], w.shape[0] // groups
    for g in range(groups):
        for tap in itertools.product(*[range(k) for k in w.shape[2:]]):
            window = x[(slice(None), slice(g * per, (g + 1) * per)) + tuple(
                slice(tap[d] * dilation[d], tap[d] * dilation[d] + (out[d] - 1) * strides[d] + 1, strides[d]) for d in range(n))]
            y[:, g * results:(g + 1) * results] += np.einsum("nc...,oc->no...", window,
                                                             w[g * results:(g + 1) * results][(slice(None), slice(None)) + tap].astype("float64"))
    return y.astype(np.float32 if w.dtype == np.float32 else w.dtype)


CONV2D = [
    # data, weight, strides, padding, dilation, groups
    ((1, 3, 8, 8), (4, 3, 3, 3), [1, 1], [1, 1, 1, 1], [1, 1], 1), ((2, 4, 7, 9), (6, 4, 1, 1), [1, 1], [0, 0, 0, 0], [1, 1], 1),
    ((1, 4, 9, 9), (4, 1, 3, 3), [2, 2], [1, 1, 1, 1], [1, 1], 4), ((2, 4, 8, 8), (6, 2, 3, 3), [2, 1], [0, 1, 2, 0], [1, 2], 2),
    ((1, 1, 1, 1), (1, 1, 1, 1), [1, 1], [0, 0, 0, 0], [1, 1], 1), ((1, 2, 5, 5), (3, 2, 5, 5), [1, 1], [2, 2, 2, 2], [1, 1], 1),
    ((1, 4, 6, 6), (8, 1, 3, 3), [1, 1], [1, 1, 1, 1], [1, 1], 4)]


@pytest.mark.parametrize("case", CONV2D)
def test_conv2d(case):
    data, weight, strides, padding, dilation, groups = case
    x, w = floats(*data), floats(*weight)
    y = _conv(x, w, strides, padding, dilation, groups)
    how = dict(strides=strides, padding=padding, dilation=dilation, groups=groups)
    check("nn.conv2d", [x, w], y, tolerance=1e-4, **how)
    check("nn.conv2d", [_to(x, "NHWC", "NCHW"), _to(w, "HWIO", "OIHW")], _to(y, "NHWC", "NCHW"), tolerance=1e-4,
          data_layout="NHWC", kernel_layout="HWIO", **how)


def test_other_layouts():
    x, w = floats(2, 3, 6, 7), floats(4, 3, 3, 2)
    y = _conv(x, w, [1, 1], [1, 0, 1, 0], [1, 1], 1)
    check("nn.conv2d", [_to(x, "NHWC", "NCHW"), _to(w, "OHWI", "OIHW")], _to(y, "NHWC", "NCHW"), data_layout="NHWC",
          kernel_layout="OHWI", padding=[1, 0, 1, 0])
    check("nn.conv2d", [x, w], _to(y, "NHWC", "NCHW"), out_layout="NHWC", padding=[1, 0])
    half = floats(1, 3, 5, 5, dtype="float16"), floats(2, 3, 3, 3, dtype="float16")
    check("nn.conv2d", half, _conv(half[0], half[1].astype("float32"), [1, 1], [0] * 4, [1, 1], 1).astype("float16"))
    bytes_ = ints(1, 3, 5, 5, dtype="int8"), ints(2, 3, 3, 3, dtype="int8")
    check("nn.conv2d", bytes_, _conv(bytes_[0], bytes_[1].astype("int32"), [1, 1], [1] * 4, [1, 1], 1), padding=1, out_dtype="int32")


def test_conv1d_3d():
    x, w = floats(2, 3, 11), floats(4, 3, 4)
    check("nn.conv1d", [x, w], _conv(x, w, [2], [1, 2], [1], 1), strides=2, padding=[1, 2])
    check("nn.conv1d", [_to(x, "NWC", "NCW"), _to(w, "WIO", "OIW")], _to(_conv(x, w, [1], [0, 0], [2], 1), "NWC", "NCW"),
          dilation=2, data_layout="NWC", kernel_layout="WIO")
    x, w = floats(1, 2, 4, 5, 6), floats(3, 2, 2, 3, 3)
    check("nn.conv3d", [x, w], _conv(x, w, [1, 2, 1], [0, 1, 1, 0, 1, 1], [1, 1, 1], 1), strides=[1, 2, 1], padding=[0, 1, 1])


def _transposed(x, w, strides, padding, output_padding, dilation, groups):
    n = x.ndim - 2
    before, after = padding[:n], padding[n:]
    full = [(x.shape[2 + d] - 1) * strides[d] + (w.shape[2 + d] - 1) * dilation[d] + 1 + output_padding[d] for d in range(n)]
    each, per = w.shape[1], w.shape[0] // groups
    y = np.zeros((x.shape[0], each * groups) + tuple(full))
    for g in range(groups):
        for tap in itertools.product(*[range(k) for k in w.shape[2:]]):
            where = tuple(slice(tap[d] * dilation[d], tap[d] * dilation[d] + (x.shape[2 + d] - 1) * strides[d] + 1, strides[d]) for d in range(n))
            y[(slice(None), slice(g * each, (g + 1) * each)) + where] += np.einsum(
                "nc...,co->no...", x[:, g * per:(g + 1) * per].astype("float64"), w[g * per:(g + 1) * per][(slice(None), slice(None)) + tap])
    return y[(slice(None), slice(None)) + tuple(slice(before[d], full[d] - after[d]) for d in range(n))].astype("float32")


@pytest.mark.parametrize("case", [
    ((1, 3, 5, 5), (3, 4, 3, 3), [1, 1], [0, 0, 0, 0], [0, 0], [1, 1], 1), ((2, 3, 4, 5), (3, 2, 3, 3), [2, 2], [1, 1, 1, 1], [1, 1], [1, 1], 1),
    ((1, 4, 4, 4), (4, 2, 2, 2), [2, 2], [0, 0, 0, 0], [0, 0], [1, 1], 2), ((1, 2, 3, 4), (2, 3, 3, 2), [3, 2], [0, 1, 1, 0], [0, 1], [2, 1], 1),
    ((1, 1, 1, 1), (1, 1, 1, 1), [1, 1], [0, 0, 0, 0], [0, 0], [1, 1], 1), ((1, 4, 3, 5), (4, 2, 5, 2), [2, 3], [3, 0, 2, 1], [1, 2], [1, 1], 2),
    ((2, 2, 3, 4), (2, 3, 3, 2), [3, 1], [1, 1, 0, 0], [2, 0], [1, 3], 1), ((1, 2, 2, 3), (2, 3, 2, 7), [4, 3], [1, 6, 0, 5], [3, 0], [1, 1], 1),
    ((1, 2, 1, 4), (2, 1, 4, 4), [2, 2], [1, 1, 1, 1], [0, 0], [1, 1], 1), ((2, 4, 3, 4), (4, 3, 6, 4), [3, 2], [2, 5, 0, 1], [2, 1], [1, 1], 2),
    ((1, 2, 5, 4), (2, 9, 4, 3), [2, 1], [5, 1, 0, 2], [0, 0], [1, 2], 1)])
def test_conv2d_transpose(case):
    data, weight, strides, padding, output_padding, dilation, groups = case
    x, w = floats(*data), floats(*weight)
    y = _transposed(x, w, strides, padding, output_padding, dilation, groups)
    how = dict(strides=strides, padding=padding, output_padding=output_padding, dilation=dilation, groups=groups)
    check("nn.conv2d_transpose", [x, w], y, tolerance=1e-4, **how)
    check("nn.conv2d_transpose", [_to(x, "NHWC", "NCHW"), _to(w, "HWIO", "IOHW")], _to(y, "NHWC", "NCHW"), tolerance=1e-4,
          data_layout="NHWC", kernel_layout="HWIO", **how)


def test_conv1d_transpose_reads_no_zeros_in_between():
    x, w = floats(1, 2, 5), floats(2, 3, 4)
    x[0, 1, 2] = np.inf
    y = _transposed(x, np.sign(w), [2], [2, 2], [1], [1], 1)
    assert np.isinf(y[0, :, 2:6]).all() and np.isfinite(y[0, :, [0, 1, 6, 7, 8]]).all()
    check("nn.conv1d_transpose", [x, np.sign(w)], y, tolerance=1e-4, strides=2, padding=2, output_padding=1)


def test_conv1d_transpose():
    x, w = floats(2, 3, 6), floats(3, 2, 4)
    check("nn.conv1d_transpose", [x, w], _transposed(x, w, [2], [1, 1], [0], [1], 1), strides=2, padding=1)


def test_conv_symbolic():
    def case(n):
        x, w = floats(n, 3, 8, 8), floats(4, 3, 3, 3)
        return [x, w], _conv(x, w, [1, 1], [1] * 4, [1, 1], 1)
    symbolic("nn.conv2d", 2, "n", [1, 2, 5], case, padding=1)


def test_conv_refused():
    x, w = floats(1, 3, 8, 8), floats(4, 3, 3, 3)
    refused("nn.conv2d", [x, floats(4, 2, 3, 3)], "(1, 3, 8, 8)", "(4, 2, 3, 3)", "3 channels")
    refused("nn.conv2d", [x, floats(4, 3, 3)], "(4, 3, 3)", "the weight")
    refused("nn.conv2d", [x, w], "window", "(1, 3, 8, 8)", dilation=4)
    refused("nn.conv2d", [x, w], "groups", groups=2)
    refused("nn.conv2d", [x, w], "strides", strides=0)
    refused("nn.conv2d", [x, w], "padding", padding=[1, 2, 3])
    refused("nn.conv2d", [x, w], "NCWW", data_layout="NCWW")
    refused("nn.conv2d", [x, w.astype("float64")], "float32", "float64")


# --- poolings ----------------------------------------------------------------------------------------

def _out(extent, k, s, d, ceil):
    n = (extent - (k - 1) * d - 1 + (s - 1 if ceil else 0)) // s + 1
    return n


def _pool(x, size, strides, padding, dilation, ceil, what, include):
    n = x.ndim - 2
    out = []
    for d in range(n):
        e = _out(x.shape[2 + d] + padding[d] + padding[n + d], size[d], strides[d], dilation[d], ceil)
        if ceil and (e - 1) * strides[d] >= x.shape[2 + d] + padding[d]:
            e -= 1
        out.append(e)
    y = np.zeros(x.shape[:2] + tuple(out))
    for i in itertools.product(*[range(e) for e in out]):
        taps, counted = [], 1
        for d in range(n):
            at = [i[d] * strides[d] - padding[d] + t * dilation[d] for t in range(size[d])]
            taps.append([a for a in at if 0 <= a < x.shape[2 + d]])
            counted *= len([a for a in at if -padding[d] <= a < x.shape[2 + d] + padding[n + d]]) if include else len(taps[-1])
        part = x[np.ix_(range(x.shape[0]), range(x.shape[1]), *taps)].astype("float64").reshape(x.shape[:2] + (-1,))
        y[(slice(None), slice(None)) + i] = part.max(-1) if what == "max" else part.sum(-1) / counted
    return y.astype(x.dtype)


POOLS = [((1, 2, 8, 8), [2, 2], [2, 2], [0, 0, 0, 0], [1, 1]), ((2, 3, 7, 9), [3, 3], [2, 2], [1, 1, 1, 1], [1, 1]),
         ((1, 1, 5, 6), [3, 2], [1, 2], [1, 0, 0, 1], [1, 1]), ((1, 2, 9, 9), [2, 3], [2, 2], [0, 1, 1, 1], [2, 1]),
         ((1, 1, 1, 1), [1, 1], [1, 1], [0, 0, 0, 0], [1, 1]), ((1, 2, 6, 6), [6, 6], [1, 1], [0, 0, 0, 0], [1, 1])]


@pytest.mark.parametrize("case", POOLS)
@pytest.mark.parametrize("ceil", [False, True])
def test_pool2d(case, ceil):
    shape, size, strides, padding, dilation = case
    x = floats(*shape)
    how = dict(pool_size=size, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil)
    check("nn.max_pool2d", [x], _pool(x, size, strides, padding, dilation, ceil, "max", False), **how)
    for include in [False, True]:
        y = _pool(x, size, strides, padding, dilation, ceil, "avg", include)
        check("nn.avg_pool2d", [x], y, count_include_pad=include, **how)
    check("nn.avg_pool2d", [_to(x, "NHWC", "NCHW")], _to(y, "NHWC", "NCHW"), count_include_pad=True, layout="NHWC", **how)


def test_infinities():
    x = np.full((1, 1, 4, 4), -np.inf, dtype="float32")
    check("nn.max_pool2d", [x], x[:, :, ::2, ::2].copy(), pool_size=3, strides=2, padding=1)


def test_pool1d_3d():
    x = floats(2, 3, 10)
    check("nn.max_pool1d", [x], _pool(x, [3], [2], [1, 1], [1], False, "max", False), pool_size=3, strides=2, padding=1)
    check("nn.avg_pool1d", [x], _pool(x, [3], [2], [1, 1], [1], False, "avg", False), pool_size=3, strides=2, padding=1)
    x = floats(1, 2, 4, 5, 6)
    check("nn.max_pool3d", [x], _pool(x, [2] * 3, [2] * 3, [0] * 6, [1] * 3, False, "max", False), pool_size=2, strides=2)
    check("nn.avg_pool3d", [x], _pool(x, [2] * 3, [2] * 3, [0] * 6, [1] * 3, True, "avg", False), pool_size=2, strides=2, ceil_mode=True)


def _adaptive(x, size, f):
    n = x.ndim - 2
    y = np.zeros(x.shape[:2] + tuple(size))
    for i in itertools.product(*[range(e) for e in size]):
        part = tuple(slice(i[d] * x.shape[2 + d] // size[d], -(-(i[d] + 1) * x.shape[2 + d] // size[d])) for d in range(n))
        y[(slice(None), slice(None)) + i] = f(x[(slice(None), slice(None)) + part].astype("float64").reshape(x.shape[:2] + (-1,)), -1)
    return y.astype("float32")


@pytest.mark.parametrize("shape,size", [((1, 2, 8, 8), [1, 1]), ((2, 3, 7, 7), [3, 5]), ((1, 1, 6, 4), [3, 2]), ((1, 2, 5, 3), [5, 3]), ((1, 1, 3, 3), [5, 4])])
def test_adaptive(shape, size):
    x = floats(*shape)
    y = _adaptive(x, size, np.mean)
    check("nn.adaptive_avg_pool2d", [x], y, output_size=size)
    check("nn.adaptive_avg_pool2d", [_to(x, "NHWC", "NCHW")], _to(y, "NHWC", "NCHW"), output_size=size, layout="NHWC")
    check("nn.adaptive_max_pool2d", [x], _adaptive(x, size, np.max), output_size=size)
    check("nn.adaptive_avg_pool1d", [x[:, :, :, 0].copy()], _adaptive(x[:, :, :, 0], size[:1], np.mean), output_size=size[0])


def test_adaptive_3d():
    x = floats(1, 2, 4, 5, 6)
    check("nn.adaptive_avg_pool3d", [x], _adaptive(x, [2, 2, 4], np.mean), output_size=[2, 2, 4])


def test_blocks_of_channels():
    x = floats(2, 8, 6, 7)
    blocked = lambda a: np.ascontiguousarray(a.reshape(2, 2, 4, *a.shape[2:]).transpose(0, 1, 3, 4, 2))  # NCHW4c
    how = dict(layout="NCHW4c", pool_size=3, strides=2, padding=1)
    check("nn.max_pool2d", [blocked(x)], blocked(_pool(x, [3, 3], [2, 2], [1] * 4, [1, 1], False, "max", False)), **how)
    check("nn.avg_pool2d", [blocked(x)], blocked(_pool(x, [3, 3], [2, 2], [1] * 4, [1, 1], False, "avg", False)), **how)
    check("nn.adaptive_avg_pool2d", [blocked(x)], blocked(_adaptive(x, [2, 3], np.mean)), output_size=[2, 3], layout="NCHW4c")
    refused("nn.max_pool2d", [blocked(x)], "NCHW8c", "blocks of channels", layout="NCHW8c", pool_size=2)
    refused("nn.max_pool2d", [floats(1, 2, 4, 4, 6)], "NCHW16c", "blocks of channels", layout="NCHW16c", pool_size=2)
    refused("nn.max_pool2d", [x], "NCHW4c", "5 are needed", layout="NCHW4c", pool_size=2)


def test_pools_refused():
    refused("nn.max_pool2d", [floats(1, 2, 3)], "(1, 2, 3)", "layout NCHW")
    refused("nn.max_pool2d", [floats(1, 2, 3, 3)], "does not fit", "(1, 2, 3, 3)", pool_size=4)
    refused("nn.max_pool2d", [floats(1, 2, 3, 3)], "padding", pool_size=2, padding=2)
    refused("nn.avg_pool2d", [ints(1, 2, 3, 3)], "int32", pool_size=2)


# --- pictures ----------------------------------------------------------------------------------------

def _at(mode, i, n, e):
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and n > 1):
        return (i + 0.5) * e / n - 0.5
    if mode == "pytorch_half_pixel":
        return 0.0
    if mode == "align_corners":
        return i * (e - 1) / (n - 1) if n > 1 else 0.0
    return i * e / n


def _resize(x, size, mode, method, rounding="round"):
    y = np.zeros(x.shape[:2] + tuple(size))
    near = {"round": lambda v: int(np.floor(v + 0.5)), "round_prefer_floor": lambda v: int(np.ceil(v - 0.5)), "floor": lambda v: int(np.floor(v)),
            "ceil": lambda v: int(np.ceil(v)), "round_prefer_ceil": lambda v: int(np.floor(v + 0.5))}[rounding]
    clip = lambda v, e: min(max(v, 0), e - 1)
    h, w = x.shape[2:]
    for i in range(size[0]):
        for j in range(size[1]):
            a, b = _at(mode, i, size[0], h), _at(mode, j, size[1], w)
            if method == "nearest_neighbor":
                y[:, :, i, j] = x[:, :, clip(near(a), h), clip(near(b), w)]
                continue
            r, c = int(np.floor(a)), int(np.floor(b))
            p, q = a - r, b - c
            for (di, fi), (dj, fj) in itertools.product([(0, 1 - p), (1, p)], [(0, 1 - q), (1, q)]):
                y[:, :, i, j] += x[:, :, clip(r + di, h), clip(c + dj, w)] * fi * fj
    return y.astype("float32")


@pytest.mark.parametrize("mode", ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"])
@pytest.mark.parametrize("size", [(8, 12), (3, 3), (1, 1), (7, 5)])
def test_resize(mode, size):
    x = floats(1, 2, 4, 6)
    y = _resize(x, size, mode, "linear")
    check("image.resize2d", [x], y, size=size, coordinate_transformation_mode=mode)
    check("image.resize2d", [_to(x, "NHWC", "NCHW")], _to(y, "NHWC", "NCHW"), size=size, coordinate_transformation_mode=mode, layout="NHWC")


@pytest.mark.parametrize("rounding", ["round", "round_prefer_floor", "floor", "ceil", "round_prefer_ceil"])
def test_resize_nearest(rounding):
    x = floats(1, 2, 4, 6)
    for mode, size in [("half_pixel", (8, 3)), ("asymmetric", (8, 16)), ("align_corners", (7, 11))]:
        check("image.resize2d", [x], _resize(x, size, mode, "nearest_neighbor", rounding), size=size, method="nearest_neighbor",
              coordinate_transformation_mode=mode, rounding_method=rounding)


def test_resize_refused():
    refused("image.resize2d", [floats(1, 2, 3, 4)], "cubic", size=(2, 2), method="cubic")
    refused("image.resize2d", [floats(2, 3, 4)], "(2, 3, 4)", size=(2, 2))
