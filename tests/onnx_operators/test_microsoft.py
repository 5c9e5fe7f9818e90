"""Operators of com.microsoft, which ONNX Runtime's optimizers and quantizers write, against numpy."""

import re
import subprocess

import numpy as np
import pytest

from test_conversions import SEED, TIRC, attention, floats, heads_of, int64, normal, one_node, run, sigmoid, softmax, turned  # noqa: F401
from messages import model, node, tensor, value

X, Y = floats(2, 3, 4), floats(2, 3, 4)
PLANES, KERNEL = floats(1, 2, 4, 4), floats(3, 2, 3, 3)
QS, QZ = np.float32(0.5), np.int8(2)
Q = SEED.integers(-9, 10, (2, 3, 4)).astype("int8")


def f32(x):
    return np.asarray(x).astype("float32")


def real(q, scale=QS, zero=QZ):
    return (q.astype("float32") - zero) * scale


def quantized(x, scale=QS, zero=QZ):
    return np.clip(np.rint(x / scale) + zero, -128, 127).astype("int8")


def convolved(x, w):
    """3 x 3, without pads."""
    rows = [[(x[:, None, :, i:i + 3, j:j + 3] * w[None]).sum((2, 3, 4)) for j in range(x.shape[3] - 2)] for i in range(x.shape[2] - 2)]
    return np.array(rows).transpose(2, 3, 0, 1)


def last(x):
    return np.moveaxis(x, 1, -1).copy()


def joined(y):
    return y.transpose(0, 2, 1, 3).reshape(y.shape[0], y.shape[2], -1)


def masks():
    """Two sequences of five keys; what is hidden has -10000 more."""
    a, b, c = floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 6)
    q, k, v = (heads_of(x, 2) for x in (a, b, c))
    seen = np.arange(5) < np.array([[3], [4]])
    bias = np.where(seen, 0, -10000)[:, None, None]
    y = joined(attention(q, k, v, bias)[0])
    yield "MultiHeadAttention", [a, b, c, None, np.array([3, 4], "int32")], [y], {"num_heads": 2}
    yield "MultiHeadAttention", [a, b, c, None, seen.astype("int32")], [y], {"num_heads": 2}
    ends = np.where((np.arange(5) >= 1) & seen, 0, -10000)[:, None, None]
    yield "MultiHeadAttention", [a, b, c, None, np.array([3, 4, 1, 1], "int32")], [joined(attention(q, k, v, ends)[0])], {"num_heads": 2}
    more = floats(1, 2, 3, 5)
    yield "MultiHeadAttention", [a, b, c, None, seen.astype("int32"), more], [joined(attention(q, k, v, bias + more)[0])], {"num_heads": 2}
    each = SEED.integers(0, 2, (2, 3, 5)).astype("int32") | (np.arange(5) == 1)
    yield "MultiHeadAttention", [a, b, c, None, each.astype("int32")], [joined(attention(q, k, v, np.where(each, 0, -50)[:, None])[0])], {"num_heads": 2, "mask_filter_value": -50.0}
    whole, packed = floats(2, 3, 2, 3, 4), floats(2, 5, 2, 2, 4)
    parts = whole.transpose(3, 0, 2, 1, 4)
    yield "MultiHeadAttention", [whole], [joined(attention(*parts)[0])], {"num_heads": 2}
    pairs = packed.transpose(3, 0, 2, 1, 4)
    yield "MultiHeadAttention", [a, packed], [joined(attention(q, *pairs)[0])], {"num_heads": 2}
    yield "MultiHeadAttention", [a, k, v], [joined(attention(q, k, v)[0])], {"num_heads": 2}


def one_product():
    x, w, b, past = floats(2, 3, 6), floats(6, 24), floats(24), floats(2, 2, 2, 4, 4)
    q, k, v = (heads_of(each, 2) for each in np.split(x @ w + b, 3, axis=2))
    lengths = np.array([2, 3], "int32")
    bias = np.where(np.arange(3) < lengths[:, None], 0, -10000)[:, None, None]
    yield "Attention", [x, w, b, lengths], [joined(attention(q, k, v, bias)[0])], {"num_heads": 2}
    both = np.stack([np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)])
    yield "Attention", [x, w, b, None, past], [joined(attention(q, *both, past=4, causal=True)[0]), both], {"num_heads": 2, "unidirectional": 1}
    u, s = SEED.integers(0, 255, (2, 3, 6)).astype("uint8"), SEED.integers(-127, 128, (6, 24)).astype("int8")
    wide = (u.astype("float32") - 100) @ (s.astype("float32") - 3) * f32(0.01) * f32(0.02) + b
    q, k, v = (heads_of(each, 2) for each in np.split(wide, 3, axis=2))
    yield "QAttention", [u, s, b, f32(0.01), f32(0.02), None, np.uint8(100), np.int8(3)], [joined(attention(q, k, v)[0])], {"num_heads": 2}


def grouped():
    """A past of four rows, of which two and three are filled, then two new ones."""
    past, rows, lengths = 4, 2, np.array([3, 4], "int32")
    q, k, v, pk, pv = floats(2, rows, 32), floats(2, rows, 16), floats(2, rows, 16), floats(2, 2, past, 8), floats(2, 2, past, 8)
    angles = floats(9, 4)
    cos, sin = np.cos(angles), np.sin(angles)
    places = (lengths + 1 - rows)[:, None] + np.arange(rows)
    for turns, window, cap in ((0, -1, 0), (1, -1, 0), (0, 2, 0), (0, -1, 1.5)):
        heads = [heads_of(q, 4), heads_of(k, 2), heads_of(v, 2)]
        if turns:
            heads[:2] = [turned(x.transpose(0, 2, 1, 3), cos[places], sin[places], 8, 0).transpose(0, 2, 1, 3) for x in heads[:2]]
        keys, values, total = [np.zeros((2, 2, past + rows, 8), "float32") for _ in range(2)] + [past + rows]
        for b in range(2):
            filled = places[b, 0]
            for to, old, new in ((keys, pk, heads[1]), (values, pv, heads[2])):
                to[b] = np.concatenate([old[b, :, :filled], new[b], np.zeros((2, past - filled, 8), "float32")], 1)
        scores = heads[0] @ np.repeat(keys, 2, 1).transpose(0, 1, 3, 2) / np.sqrt(8)
        scores = cap * np.tanh(scores / cap) if cap else scores
        seen = (np.arange(total) <= places[..., None]) & (np.arange(total) > places[..., None] - (window if window > 0 else 99))
        y = joined(softmax(np.where(seen[:, None], scores, -np.inf), -1) @ np.repeat(values, 2, 1))
        given = [q, k, v, pk, pv, lengths, np.array([6], "int32")] + ([f32(cos), f32(sin)] if turns else [])
        more = ({"do_rotary": 1} if turns else {}) | ({"local_window_size": window} if window > 0 else {}) | ({"softcap": cap} if cap else {})
        yield "GroupQueryAttention", given, [y, keys, values], {"num_heads": 4, "kv_num_heads": 2, **more}
    first = [heads_of(q, 4), heads_of(k, 2), heads_of(v, 2)]
    y = joined(attention(*first, causal=True)[0])
    packed = np.concatenate([q, k, v], 2)
    yield "GroupQueryAttention", [packed, None, None, None, None, np.array([1, 1], "int32"), np.array([2], "int32")], [y, *first[1:]], {"num_heads": 4, "kv_num_heads": 2}


def in_blocks(bits, block, depth, zeros, rows=3, n=5):
    """Weights (n, depth) of few bits, with a scale a block."""
    blocks, x = -(-depth // block), floats(rows, depth)
    q, scales = SEED.integers(0, 2 ** bits, (n, blocks, block)).astype("uint8"), floats(n, blocks, low=0.1)
    zero, more = np.full((n, blocks), 2 ** (bits - 1), "float32"), []
    if zeros == "packed":
        zero = SEED.integers(0, 2 ** bits, (n, blocks)).astype("uint8")
        more = [packed(np.pad(zero, ((0, 0), (0, -blocks % (8 // bits)))), bits).reshape(-1)]
    elif zeros == "floats":
        zero = floats(n, blocks)
        more = [zero.reshape(-1)]
    w = ((q.astype("float32") - zero[..., None]) * scales[..., None]).reshape(n, -1)[:, :depth]
    attributes = {"K": depth, "N": n, "bits": bits, "block_size": block}
    return "MatMulNBits", [x, packed(q, bits), scales.reshape(-1), *more], [x @ w.T], attributes


def packed(q, bits):
    return sum(q[..., k::8 // bits].astype("int32") << (k * bits) for k in range(8 // bits)).astype("uint8")


def embedded():
    ids, kinds, mask = SEED.integers(0, 7, (2, 3)).astype("int32"), SEED.integers(0, 2, (2, 3)).astype("int32"), np.array([[1, 1, 0], [1, 1, 1]], "int32")
    words, places, segments, gamma, beta = floats(7, 4), floats(5, 4), floats(2, 4), floats(4), floats(4)
    total = words[ids] + places[:3] + segments[kinds]
    yield "EmbedLayerNormalization", [ids, kinds, words, places, segments, gamma, beta, mask], [normal(total) * gamma + beta, np.array([2, 3], "int32"), total], {"epsilon": 1e-5}
    total = words[ids] + places[ids % 5]
    yield ("EmbedLayerNormalization", [ids, None, words, places, None, gamma, beta, None, (ids % 5).astype("int32")],
           [normal(total) * gamma + beta, np.zeros(2, "int32")], {"epsilon": 1e-5})


def group_normal(x, gamma, beta):
    """(batch, rows, columns, channels) in two groups"""
    parts = x.reshape(*x.shape[:3], 2, -1)
    mean, var = (f(parts, axis=(1, 2, 4), keepdims=True) for f in (np.mean, np.var))
    return ((parts - mean) / np.sqrt(var + 1e-5)).reshape(x.shape) * gamma + beta


def integer_products():
    a, b = SEED.integers(0, 255, (3, 6)).astype("uint8"), SEED.integers(-127, 128, (6, 4)).astype("int8")
    scales, zeros, bias = floats(4, low=0.1), np.array([1, 2, -3, 4], "int8"), floats(4)
    y = (a.astype("float32") - 9) @ (b.astype("float32") - zeros) * f32(0.02) * scales + bias
    yield "MatMulIntegerToFloat", [a, b, np.float32(0.02), scales, np.uint8(9), zeros, bias], [y], {}
    x = floats(3, 6)
    scale = f32((max(x.max(), 0) - min(x.min(), 0)) / f32(255))
    zero = np.clip(np.rint(-min(x.min(), 0) / scale), 0, 255)
    q = np.clip(np.rint(x / scale) + zero, 0, 255)
    yield "DynamicQuantizeMatMul", [x, b, scales, None, bias], [f32((q - zero) @ b.astype("float32") * scale * scales + bias)], {}


NHWC = floats(1, 3, 3, 4)
GAMMA, BETA = floats(4), floats(4)
INT_PLANES = SEED.integers(0, 9, (1, 2, 4, 4)).astype("int8")
INT_KERNEL = SEED.integers(-4, 5, (3, 2, 3, 3)).astype("int8")
QCONV = quantized(convolved(INT_PLANES.astype("float32") - 2, INT_KERNEL.astype("float32") - 1) * f32(0.5) * f32(0.1), f32(2), QZ)
QCONV_REST = [np.float32(0.5), QZ, INT_KERNEL, np.float32(0.1), np.int8(1), np.float32(2), QZ]

CASES = [
    # operator, inputs, outputs, attributes
    ("FusedMatMul", [X, Y], [2 * np.swapaxes(X, 1, 2) @ Y], {"transA": 1, "alpha": 2.0}),
    ("FusedMatMul", [X, np.swapaxes(Y, 0, 1).copy()], [X @ np.swapaxes(Y, 1, 2)], {"transBatchB": 1, "transB": 1}),
    ("FusedConv", [PLANES, KERNEL], [np.maximum(convolved(PLANES, KERNEL), 0)], {"activation": "Relu"}),
    ("FusedConv", [PLANES, KERNEL, floats(3) * 0, floats(1, 3, 2, 2) * 0 + 1], [np.clip(convolved(PLANES, KERNEL) + 1, -1, 2)], {"activation": "Clip", "activation_params": [-1.0, 2.0]}),
    ("FusedConv", [PLANES, KERNEL], [np.where(convolved(PLANES, KERNEL) < 0, 0.25, 1) * convolved(PLANES, KERNEL)], {"activation": "LeakyRelu", "activation_params": [0.25]}),
    ("FusedGemm", [X[0], Y[0]], [np.tanh(X[0] @ Y[0].T)], {"transB": 1, "activation": "Tanh"}),
    ("NhwcConv", [last(PLANES), last(KERNEL)], [last(convolved(PLANES, KERNEL))], {}),
    ("Gelu", [X], [f32(0.5 * X * (1 + np.vectorize(__import__("math").erf)(X / np.sqrt(2))))], {}),
    ("FastGelu", [X, Y[0, 0]], [f32(0.5 * (X + Y[0, 0]) * (1 + np.tanh(0.7978845608 * ((X + Y[0, 0]) + 0.044715 * (X + Y[0, 0]) ** 3))))], {}),
    ("QuickGelu", [X], [X * sigmoid(1.702 * X)], {}),
    ("BiasSplitGelu", [X, Y[0, 0]], [f32((X + Y[0, 0])[..., :2] * 0.5 * (X + Y[0, 0])[..., 2:] * (1 + np.vectorize(__import__("math").erf)((X + Y[0, 0])[..., 2:] / np.sqrt(2))))], {}),
    ("BiasSoftmax", [floats(2, 3, 4) * 0 + X, Y[:, :1].copy()], [softmax(X + Y[:, :1], -1)], {"axis": 2, "is_inner_broadcast": 1}),
    ("SkipLayerNormalization", [X, Y, X[0, 0], Y[0, 0], X[0, 1]], [normal(X + Y + X[0, 1]) * X[0, 0] + Y[0, 0], None, None, X + Y + X[0, 1]], {"epsilon": 1e-5}),
    ("SkipSimplifiedLayerNormalization", [X, Y, X[0, 0]], [(X + Y) / np.sqrt(((X + Y) ** 2).mean(-1, keepdims=True) + 1e-5) * X[0, 0]], {"epsilon": 1e-5}),
    ("GroupNorm", [NHWC, GAMMA, BETA], [group_normal(NHWC, GAMMA, BETA)], {"groups": 2}),
    ("GroupNorm", [NHWC, GAMMA, BETA], [group_normal(NHWC, GAMMA, BETA) * sigmoid(group_normal(NHWC, GAMMA, BETA))], {"groups": 2, "activation": 1}),
    ("SkipGroupNorm", [NHWC, GAMMA, BETA, NHWC[:, 0, 0]], [group_normal(NHWC + NHWC[:, 0, 0], GAMMA, BETA), NHWC + NHWC[:, 0, 0]], {"groups": 2}),
    ("QLinearMul", [Q, QS, QZ, Q[:1], QS, QZ, QS, QZ], [quantized(real(Q) * real(Q[:1]))], {}),
    ("QLinearSigmoid", [Q, QS, QZ, np.float32(1 / 256), np.int8(-128)], [quantized(sigmoid(real(Q)), f32(1 / 256), -128)], {}),
    ("QLinearLeakyRelu", [Q, QS, QZ, QS, QZ], [quantized(np.where(real(Q) < 0, 0.5, 1) * real(Q))], {"alpha": 0.5}),
    ("QLinearGlobalAveragePool", [INT_PLANES, QS, QZ, f32(0.1), QZ], [quantized(real(INT_PLANES).mean((2, 3), keepdims=True), f32(0.1))], {}),
    ("QLinearGlobalAveragePool", [last(INT_PLANES), QS, QZ, f32(0.1), QZ], [quantized(last(real(INT_PLANES).mean((2, 3), keepdims=True)), f32(0.1))], {"channels_last": 1}),
    ("QLinearAveragePool", [last(INT_PLANES), QS, QZ, f32(0.1), QZ], [quantized(last(real(INT_PLANES).reshape(1, 2, 2, 2, 2, 2).mean((3, 5))), f32(0.1))],
     {"channels_last": 1, "kernel_shape": [2, 2], "strides": [2, 2]}),
    ("QLinearSoftmax", [Q, QS, QZ, np.float32(1 / 256), np.int8(-128)], [quantized(softmax(real(Q), -1), f32(1 / 256), -128)], {"axis": -1, "opset": 13}),
    ("QLinearSoftmax", [Q, QS, QZ, np.float32(1 / 256), np.int8(-128)], [quantized(softmax(real(Q).reshape(2, -1), 1).reshape(Q.shape), f32(1 / 256), -128)], {"axis": 1, "opset": 11}),
    ("QLinearWhere", [Q > 0, Q, QS, QZ, Q, f32(1), QZ, QS, QZ], [quantized(np.where(Q > 0, real(Q), 2 * real(Q)))], {}),
    ("QLinearReduceMean", [Q, QS, QZ, f32(0.1), QZ], [quantized(real(Q).mean((1, 2)), f32(0.1))], {"axes": [1, 2], "keepdims": 0}),
    ("QLinearConv", [INT_PLANES, *QCONV_REST], [QCONV], {}), ("QLinearConv", [last(INT_PLANES), *QCONV_REST], [last(QCONV)], {"channels_last": 1}),
    ("NhwcMaxPool", [last(INT_PLANES)], [last(INT_PLANES.reshape(1, 2, 2, 2, 2, 2).max((3, 5)))], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    in_blocks(4, 16, 48, None), in_blocks(4, 16, 40, "packed"), in_blocks(4, 32, 32, "floats"), in_blocks(8, 16, 32, None), in_blocks(8, 16, 32, "packed"), in_blocks(2, 16, 48, "packed"),
    *masks(), *one_product(), *grouped(), *embedded(), *integer_products(),
]


@pytest.mark.parametrize("case", CASES, ids=["%d-%s" % (i, case[0]) for i, case in enumerate(CASES)])
def test_microsoft(tmp_path, case):
    op, inputs, outputs, attributes = case
    result = run(tmp_path, "com.microsoft." + op, inputs, [a if a is None or np.asarray(a).dtype != "float64" else f32(a) for a in outputs], 1, attributes)
    assert result.returncode == 0, result.stdout + result.stderr


REFUSED = [
    ("MultiHeadAttention", [X, Y, Y, None, np.zeros((2, 1, 3, 3), "int32")], {"num_heads": 2}, "4 dimensions"),
    ("Attention", [X, floats(4, 12)], {"num_heads": 2, "do_rotary": 1}, "do_rotary"),
    ("GroupQueryAttention", [X, Y, Y, None, None, np.array([2, 2], "int32")], {"num_heads": 2, "kv_num_heads": 2, "smooth_softmax": 1}, "smooth_softmax"),
    ("FusedConv", [PLANES, KERNEL], {"activation": "Sine"}, "Sine"),
    ("MatMulNBits", in_blocks(8, 16, 32, None)[1], {"K": 32, "N": 5, "bits": 3, "block_size": 16}, "3 bits"),
    ("Gelu", [X], {"odd": 1}, "'odd'"),
]


@pytest.mark.parametrize("case", REFUSED, ids=[case[0] for case in REFUSED])
def test_refused(tmp_path, case):
    op, inputs, attributes, word = case
    result = run(tmp_path, "com.microsoft." + op, inputs, [X], 1, attributes)
    assert result.returncode == 2 and word in result.stderr, result.stderr


@pytest.mark.parametrize("bits, block, zeros", [(4, 32, None), (4, 16, "packed"), (8, 16, "packed"), (2, 16, "floats")])
@pytest.mark.parametrize("rows, columns", [(1, 32), (4, 37), (20, 32), ("m", 32), ("m", 37)])
def test_stays_in_bits(tmp_path, bits, block, zeros, rows, columns):
    """Weights that are known become floats where few rows, or as many as the run says, are multiplied with them."""
    known = 7 if rows == "m" else rows
    op, (x, *weights), (y,), attributes = in_blocks(bits, block, 96, zeros, known, columns)
    names = ["w%d" % i for i in range(len(weights))]
    text = model([node(op, ["x", *names], ["y"], domain="com.microsoft", **attributes)], [value("x", "float32", (rows, 96))], [value("y", "float32", (rows, columns))],
                 [tensor(w, name) for w, name in zip(weights, names)])
    (tmp_path / "model.onnx").write_bytes(text)
    np.savez(tmp_path / "in.npz", x=x)
    done = subprocess.run([TIRC, "run", tmp_path / "model.onnx", "--in", tmp_path / "in.npz", "--out", tmp_path / "out.npz"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], y, rtol=1e-3, atol=1e-3)
    shown = subprocess.run([TIRC, "apply", tmp_path / "model.onnx", "--plain"], capture_output=True, text=True).stdout
    assert bool(re.search(r"def \w*matmul_nbits", shown)) == (rows != 20)


@pytest.mark.parametrize("bits, block, zeros, target, fits", [(4, 32, None, "cascadelake", True), (4, 16, "packed", "cascadelake", True), (8, 16, "packed", "cascadelake", True),
                                                              (4, 32, None, "haswell", False), (4, 16, "floats", "cascadelake", False)])
@pytest.mark.parametrize("rows", [1, 20, "m"])
def test_activations_may_be_bytes(tmp_path, bits, block, zeros, target, fits, rows):
    """accuracy_level 4: products of integers, where the target adds four of them at once. These activations are integers of 8 bits, so nothing is rounded."""
    known = 7 if rows == "m" else rows
    op, (_, *weights), _, attributes = in_blocks(bits, block, 96, zeros, known, 32)
    x = SEED.integers(-127, 128, (known, 96)).astype("float32") / 64
    x[:, 5] = 127 / 64
    names = ["w%d" % i for i in range(len(weights))]
    for level in (0, 4):
        text = model([node(op, ["x", *names], ["y"], domain="com.microsoft", accuracy_level=level, **attributes)], [value("x", "float32", (rows, 96))],
                     [value("y", "float32", (rows, 32))], [tensor(w, name) for w, name in zip(weights, names)])
        (tmp_path / ("%d.onnx" % level)).write_bytes(text)
        np.savez(tmp_path / "in.npz", x=x)
        done = subprocess.run([TIRC, "run", tmp_path / ("%d.onnx" % level), "--in", tmp_path / "in.npz", "--out", tmp_path / ("%d.npz" % level)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "4.npz")["y"], np.load(tmp_path / "0.npz")["y"], rtol=1e-4, atol=1e-4)
    shown = subprocess.run([TIRC, "apply", tmp_path / "4.onnx", "--plain", "--target", target], capture_output=True, text=True).stdout
    assert ("vpdpbusd" in shown) == fits
