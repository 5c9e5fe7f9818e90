"""Elements between elements: grids and regions of interest, against loops over one element at a time in double precision."""

import itertools
import math

import numpy as np
import pytest
from harness import check, floats, refused


def mirrored(v, low, high):
    if low <= v <= high or high == low:
        return min(max(v, low), high)
    v = (v - low) % (2 * (high - low))
    return low + min(v, 2 * (high - low) - v)


def cubic(r, a=-0.75):
    def bump(x):
        x = abs(x)
        return ((a + 2) * x - (a + 3)) * x * x + 1 if x <= 1 else ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return [(k, bump(r - k)) for k in (-1, 0, 1, 2)]


def grid_sample(x, grid, method, padding, align):
    space, out = x.shape[2:], np.zeros(x.shape[:2] + grid.shape[1:-1])
    bounds = [(0, e - 1) if align else (-0.5, e - 0.5) for e in space]

    def at(n, i):
        if padding == "zeros" and any(k < 0 or k >= e for k, e in zip(i, space)):
            return np.zeros(x.shape[1])
        if padding == "border":
            i = [min(max(k, 0), e - 1) for k, e in zip(i, space)]
        elif padding == "reflection":
            i = [int(mirrored(k, *b)) for k, b in zip(i, bounds)]
        return x[(n, slice(None)) + tuple(i)].astype("float64")

    for where in itertools.product(range(x.shape[0]), *map(range, grid.shape[1:-1])):
        g = grid[where].astype("float64")[::-1]
        p = [(v + 1) / 2 * (e - 1) if align else ((v + 1) * e - 1) / 2 for v, e in zip(g, space)]
        p = [float(np.rint(v)) for v in p] if method == "nearest" else p
        for d, (low, high) in enumerate(bounds):
            if low <= p[d] <= high:
                continue
            p[d] = min(max(p[d], 0), space[d] - 1) if padding == "border" else mirrored(p[d], low, high) if padding == "reflection" else p[d]
        if method == "nearest":
            value = at(where[0], [int(np.rint(v)) for v in p])
        else:
            parts = [[(0, 1 - v % 1), (1, v % 1)] if method == "bilinear" else cubic(v % 1) for v in p]
            value = sum(at(where[0], [math.floor(v) + o for v, (o, _) in zip(p, one)]) * np.prod([w for _, w in one]) for one in itertools.product(*parts))
        out[(where[0], slice(None)) + where[1:]] = value
    return out.astype("float32")


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("method", ["nearest", "bilinear", "bicubic"])
def test_grid_sample(method, padding, align):
    x, grid = floats(2, 3, 4, 5), floats(2, 3, 2, 2, low=-2.7, high=2.7)
    check("image.grid_sample", [x, grid], grid_sample(x, grid, method, padding, align), tolerance=1e-4, method=method, padding_mode=padding,
          align_corners=align)


def test_grid_sample_of_space():
    x, grid = floats(1, 2, 3, 1, 4), floats(1, 2, 2, 3, 3, low=-1.5, high=1.5)
    for padding in ("zeros", "reflection"):
        check("image.grid_sample", [x, grid], grid_sample(x, grid, "bilinear", padding, True), tolerance=1e-4, layout="NCDHW", padding_mode=padding)
    refused("image.grid_sample", [floats(1, 2, 3, 4), floats(1, 2, 2, 3)], "(1, 2, 2, 3)")
    refused("image.grid_sample", [floats(1, 2, 3, 4), floats(1, 2, 2, 2)], "wrap", padding_mode="wrap")


def roi_align(x, rois, batch, rows, columns, scale, ratio, aligned, mode):
    n, channels, height, width = x.shape
    out, back = np.zeros((len(rois), channels, rows, columns)), 0.5 if aligned else 0.0
    for r, i, j in itertools.product(range(len(rois)), range(rows), range(columns)):
        x1, y1, x2, y2 = rois[r].astype("float64") * scale - back
        w, h = (x2 - x1, y2 - y1) if aligned else (max(x2 - x1, 1.0), max(y2 - y1, 1.0))
        down, over = (ratio, ratio) if ratio else (math.ceil(h / rows), math.ceil(w / columns))
        found = []
        for p, q in itertools.product(range(down), range(over)):
            y, z = y1 + (i + (p + 0.5) / down) * h / rows, x1 + (j + (q + 0.5) / over) * w / columns
            if y < -1 or y > height or z < -1 or z > width:
                found.append(np.zeros((channels, 4)))
                continue
            y, z = min(max(y, 0), height - 1), min(max(z, 0), width - 1)
            top, left = min(int(y), height - 2), min(int(z), width - 2)
            a, b, image = y - top, z - left, x[batch[r]].astype("float64")
            found.append(np.stack([image[:, top, left] * (1 - a) * (1 - b), image[:, top, left + 1] * (1 - a) * b,
                                   image[:, top + 1, left] * a * (1 - b), image[:, top + 1, left + 1] * a * b], 1))
        out[r, :, i, j] = np.mean([f.sum(1) for f in found], 0) if mode == "avg" else np.max([f.max(1) for f in found], 0)
    return out.astype("float32")


@pytest.mark.parametrize("mode,ratio,aligned", [("avg", 2, True), ("avg", 2, False), ("max", 2, False), ("avg", 0, False), ("max", 0, True), ("avg", 3, True)])
def test_roi_align(mode, ratio, aligned):
    x, batch = floats(2, 3, 6, 7), np.array([1, 0, 1], "int64")
    rois = np.array([[1, 2, 11.5, 9], [0, 0, 3, 2.5], [5, 4, 18, 14]], "float32")
    check("vision.roi_align", [x, rois, batch], roi_align(x, rois, batch, 2, 3, 0.5, ratio, aligned, mode), tolerance=1e-4, pooled_size="(2, 3)",
          spatial_scale=0.5, sample_ratio=ratio, aligned=aligned, mode=mode)


def col2im(x, size, block, strides, pads, dilation):
    n = len(size)
    many = [(size[d] + pads[d] + pads[n + d] - (block[d] - 1) * dilation[d] - 1) // strides[d] + 1 for d in range(n)]
    channels = x.shape[1] // int(np.prod(block))
    out = np.zeros((x.shape[0], channels, *[size[d] + pads[d] + pads[n + d] for d in range(n)]))
    cols = x.reshape(x.shape[0], channels, *block, *many)
    for k in itertools.product(*map(range, block)):
        for w in itertools.product(*map(range, many)):
            place = tuple(w[d] * strides[d] + k[d] * dilation[d] for d in range(n))
            out[(slice(None), slice(None)) + place] += cols[(slice(None), slice(None)) + k + w]
    return out[(slice(None), slice(None)) + tuple(slice(pads[d], pads[d] + size[d]) for d in range(n))].astype(x.dtype)


@pytest.mark.parametrize("size,block,strides,pads,dilation", [((5, 6), (2, 3), (1, 1), (0, 0, 0, 0), (1, 1)), ((6, 5), (2, 2), (2, 1), (1, 0, 1, 2), (1, 2)),
                                                              ((7,), (3,), (2,), (1, 1), (2,)), ((3, 4, 2), (1, 2, 2), (1, 1, 1), (0,) * 6, (1, 1, 1))])
def test_col2im(size, block, strides, pads, dilation):
    n = len(size)
    many = [(size[d] + pads[d] + pads[n + d] - (block[d] - 1) * dilation[d] - 1) // strides[d] + 1 for d in range(n)]
    x = floats(2, 3 * int(np.prod(block)), int(np.prod(many)))
    check("image.col2im", [x], col2im(x, size, block, strides, pads, dilation), size=size, block=block, strides=strides, padding=pads, dilation=dilation)
    refused("image.col2im", [x[:, :, 1:]], str(int(np.prod(many))), size=size, block=block, strides=strides, padding=pads, dilation=dilation)


def test_reverse_sequence():
    x, lengths = floats(4, 3, 2), np.array([1, 4, 0], "int32")
    for along, batch, data in ((0, 1, x), (1, 0, x.transpose(1, 0, 2))):
        want = np.moveaxis(data, (along, batch), (0, 1)).copy()
        for b, n in enumerate(lengths):
            want[:n, b] = want[:n, b][::-1]
        check("reverse_sequence", [np.ascontiguousarray(data), lengths], np.moveaxis(want, (0, 1), (along, batch)), seq_axis=along, batch_axis=batch)
    refused("reverse_sequence", [x, lengths[:2]], "(2,)")


def test_roi_pool():
    x = floats(2, 3, 6, 7)
    rois = np.array([[0, 1, 2, 11.5, 9], [1, 0, 0, 3, 2.5], [1, 5, 4, 18, 14], [0, 20, 20, 30, 30]], "float32")
    want = np.zeros((4, 3, 2, 3), "float32")
    for (r, (b, *corners)), i, j in itertools.product(enumerate(rois), range(2), range(3)):
        x1, y1, x2, y2 = (int(math.floor(v * 0.5 + 0.5)) for v in corners)
        w, h = max(x2 - x1 + 1, 1), max(y2 - y1 + 1, 1)
        part = x[int(b), :, max(y1 + i * h // 2, 0):max(y1 + -(-(i + 1) * h // 2), 0), max(x1 + j * w // 3, 0):max(x1 + -(-(j + 1) * w // 3), 0)]
        want[r, :, i, j] = part.max((1, 2)) if part.size else 0
    check("vision.roi_pool", [x, rois], want, pooled_size="(2, 3)", spatial_scale=0.5)
    refused("vision.roi_pool", [x, rois[:, 1:]], "(4, 4)", pooled_size="(2, 3)")


def deform_patches(x, offset, mask, kernel, strides, pads, dilation, groups):
    (n, channels, height, width), (kh, kw), (h, w) = x.shape, kernel, offset.shape[2:]
    out = np.zeros((n, channels, kh, kw, h, w))
    for b, c, p, q, y, z in itertools.product(*map(range, out.shape)):
        g = c // (channels // groups) * kh * kw + p * kw + q
        v = y * strides[0] + p * dilation[0] - pads[0] + float(offset[b, 2 * g, y, z])
        u = z * strides[1] + q * dilation[1] - pads[1] + float(offset[b, 2 * g + 1, y, z])
        for i, j in itertools.product((math.floor(v), math.floor(v) + 1), (math.floor(u), math.floor(u) + 1)):
            if 0 <= i < height and 0 <= j < width:
                out[b, c, p, q, y, z] += x[b, c, i, j] * (1 - abs(v - i)) * (1 - abs(u - j)) * (1 if mask is None else mask[b, g, y, z])
    return out.astype("float32")


@pytest.mark.parametrize("groups,strides,pads,dilation", [(1, (1, 1), (0, 0, 0, 0), (1, 1)), (2, (2, 1), (1, 0, 1, 2), (1, 2))])
def test_deform_patches(groups, strides, pads, dilation):
    x, h, w = floats(2, 4, 6, 7), (6 + pads[0] + pads[2] - dilation[0] - 1) // strides[0] + 1, (7 + pads[1] + pads[3] - dilation[1] * 2 - 1) // strides[1] + 1
    offset, mask = floats(2, groups * 6 * 2, h, w, low=-3, high=3), floats(2, groups * 6, h, w)
    words = {"kernel": "(2, 3)", "strides": strides, "padding": pads, "dilation": dilation, "groups": groups}
    for m in (None, mask):
        check("image.deform_patches", [x, offset] if m is None else [x, offset, m], deform_patches(x, offset, m, (2, 3), strides, pads, dilation, groups),
              tolerance=1e-4, **words)
    refused("image.deform_patches", [x, offset[:, 2:]], "offsets", **words)


def test_det():
    for shape in ((3, 3), (2, 3, 4, 4), (1, 1), (2, 0, 0)):
        x = floats(*shape)
        check("linalg.det", [x], np.linalg.det(x.astype("float64")).astype("float32"), tolerance=1e-4)
    turned = np.array([[0, 0, 2], [3, 0, 0], [0, 4, 0]], "float32")  # nothing but changes of rows
    check("linalg.det", [np.stack([turned, np.ones((3, 3), "float32")])], np.array([24, 0], "float32"))
    refused("linalg.det", [floats(2, 3)], "(2, 3)")
