"""What a node of each kind computes, against numpy: a model of one node, run as a user does, with schedules by the rules."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "onnx"))
from messages import model, node, tensor, value  # noqa: E402

TIRC = os.environ["TIRC"]
SEED = np.random.default_rng(3)


def floats(*shape, low=-2.0, high=2.0, dtype="float32"):
    return SEED.uniform(low, high, shape).astype(dtype)


def int64(*values):
    return np.array(values, "int64")


def one_node(op, inputs, outputs, opset, attributes):
    """An input may be None (left out). Its operands are inputs of the model."""
    domain, name = op.rsplit(".", 1) if "." in op else ("", op)
    ends = [("x%d" % i, a) for i, a in enumerate(inputs)], [("y%d" % i, a) for i, a in enumerate(outputs)]
    names = [["" if a is None else n for n, a in end] for end in ends]
    values = [[value(n, str(a.dtype), a.shape) for n, a in end if a is not None] for end in ends]
    return model([node(name, *names, domain=domain, **attributes)], *values, opset=opset)


def run(folder, op, inputs, outputs, opset, attributes):
    path = pathlib.Path(folder)
    outputs = [None if each is None else np.asarray(each) for each in outputs]
    for left in path.glob("*.pb"):
        left.unlink()
    (path / "model.onnx").write_bytes(one_node(op, inputs, outputs, opset, attributes))
    for i, each in enumerate(a for a in inputs if a is not None):
        (path / ("input_%d.pb" % i)).write_bytes(tensor(each))
    for i, each in enumerate(a for a in outputs if a is not None):
        (path / ("output_%d.pb" % i)).write_bytes(tensor(each))
    return subprocess.run([TIRC, "run", path / "model.onnx", "--test-data", path], capture_output=True, text=True)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, axis):
    return np.log(softmax(x.astype("float64"), axis)).astype("float32")


X, Y, Z = floats(2, 3, 4), floats(2, 3, 4), floats(2, 3, 4, 4)
POSITIVE = floats(2, 3, 4, low=0.1)
BYTES, WEIGHTS = SEED.integers(0, 256, (3, 8)).astype("uint8"), SEED.integers(-128, 128, (8, 5)).astype("int8")
SUMS = (BYTES.astype("int32") - 7) @ (WEIGHTS.astype("int32") - 3)
LABELS = SEED.integers(0, 3, (2, 4)).astype("int64")
LOGS = log_softmax(X, 1)
TAKEN = -np.take_along_axis(LOGS, LABELS[:, None], 1)[:, 0]
CLASS = np.array([0.5, 2.0, 1.5], "float32")
SLOPES = floats(4)
SMALL = np.arange(1, 5, dtype="float32").reshape(1, 1, 2, 2)



def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def rnn(x, w, r, b, h):
    out = []
    for v in x:
        h = np.tanh(v @ w.T + h @ r.T + b[:len(w)] + b[len(w):])
        out.append(h)
    return np.stack(out), h


def gru(x, w, r, b, h, reset_last):
    n, out = r.shape[1], []
    for v in x:
        a, p = v @ w.T + b[:3 * n], h @ r.T + b[3 * n:]
        z, reset = sigmoid(a[:, :n] + p[:, :n]), sigmoid(a[:, n:2 * n] + p[:, n:2 * n])
        new = np.tanh(a[:, 2 * n:] + (reset * p[:, 2 * n:] if reset_last else (reset * h) @ r[2 * n:].T + b[5 * n:]))
        h = (1 - z) * new + z * h
        out.append(h)
    return np.stack(out), h


def lstm(x, w, r, b, h, c):
    n, out = r.shape[1], []
    for v in x:
        i, o, f, g = np.split(v @ w.T + h @ r.T + b[:4 * n] + b[4 * n:], 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.stack(out), h, c


# (steps, batch, inputs), and for two directions of a hidden size of 3 what n gates need
STEPS = floats(4, 2, 3)
STATES = floats(2, 2, 3)


def weights(n, directions):
    return floats(directions, 3 * n, 3), floats(directions, 3 * n, 3), floats(directions, 6 * n)


def recurrent():
    w, r, b = weights(4, 2)
    one, two = (lstm(x, w[d], r[d], b[d], STATES[d], STATES[d] / 2) for d, x in enumerate((STEPS, STEPS[::-1])))
    yield ("LSTM", [STEPS, w, r, b, None, STATES, STATES / 2], [np.stack([one[0], two[0][::-1]], 1), np.stack([one[1], two[1]]), np.stack([one[2], two[2]])],
           14, {"hidden_size": 3, "direction": "bidirectional"})
    for last in (0, 1):
        w, r, b = weights(3, 1)
        y, h = gru(STEPS[::-1], w[0], r[0], b[0], np.zeros((2, 3)), last)
        yield "GRU", [STEPS, w, r, b], [y[::-1][:, None].astype("float32"), h[None].astype("float32")], 14, {"hidden_size": 3, "direction": "reverse", "linear_before_reset": last}
    w, r, b = weights(1, 1)
    y, h = rnn(STEPS, w[0], r[0], b[0], STATES[0])
    yield ("RNN", [STEPS.transpose(1, 0, 2).copy(), w, r, b, None, STATES[:1].transpose(1, 0, 2).copy()], [y.transpose(1, 0, 2)[:, :, None], h[:, None]], 14,
           {"hidden_size": 3, "layout": 1})


RAMP = np.broadcast_to(np.arange(4, dtype="float32"), (1, 1, 4, 4)).copy()
GRID = np.stack(np.meshgrid(np.linspace(-1, 1, 4), np.linspace(-1, 1, 4)), -1)[None].astype("float32")
ROW = np.array([[1, 0, 2], [0, 0, 3]], "float32")
UNSORTED = np.array([2, 1, 1, 3, 2], "float32")
BOXES = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11]]], "float32")
Q, QS, QZ = np.array([[-3, 10, 127], [0, 4, -128]], "int8"), np.float32(0.5), np.int8(2)


ONES = np.ones((1, 1, 2, 2), "float32")


def moved(x):
    """Twice the sums of 2 x 2 elements half an element further, with zeros outside."""
    x = np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)))
    half = (x[..., :-1, :-1] + x[..., 1:, :-1] + x[..., :-1, 1:] + x[..., 1:, 1:]) / 4
    return 2 * (half[..., :-1, :-1] + half[..., 1:, :-1] + half[..., :-1, 1:] + half[..., 1:, 1:])


def pairs(z):
    return np.stack([z.real, z.imag], -1).astype("float32")


def spectra():
    real, both = floats(2, 6, 3, 1), floats(2, 6, 3, 2)
    z, signal, window = both[..., 0] + 1j * both[..., 1], floats(2, 20, 1), floats(8)
    yield "DFT", [real], [pairs(np.fft.fft(real[..., 0], axis=1))], 17, {}
    yield "DFT", [both, None, np.int64(1)], [pairs(np.fft.fft(z, axis=1))], 20, {}
    yield "DFT", [both, np.int64(8), np.int64(-3)], [pairs(np.fft.ifft(z, 8, axis=1))], 20, {"inverse": 1}
    yield "DFT", [real, np.int64(4)], [pairs(np.fft.rfft(real[..., 0], 4, axis=1))], 17, {"onesided": 1, "axis": 1}
    frames = np.stack([signal[:, k:k + 8, 0] * window for k in range(0, 13, 3)], 1)
    yield "STFT", [signal, np.int64(3), window], [pairs(np.fft.rfft(frames))], 17, {}
    yield "STFT", [signal, np.int64(6), None, np.int64(8)], [pairs(np.fft.fft(np.stack([signal[:, k:k + 8, 0] for k in (0, 6, 12)], 1)))], 17, {"onesided": 0}
    yield "MelWeightMatrix", [np.int64(2), np.int64(8), np.int64(100), np.float32(0), np.float32(50)], [mel_weights(2, 8, 100, 0, 50)], 17, {}


def mel_weights(bins, length, rate, low, high):
    mel = np.linspace(*(2595 * np.log10(1 + v / 700) for v in (low, high)), bins + 3)[:-1]
    edges = ((length + 1) * 700 * (10 ** (mel / 2595) - 1) // rate).astype(int)
    out = np.zeros((length // 2 + 1, bins), "float32")
    for k, (a, b, c) in enumerate(zip(edges, edges[1:], edges[2:])):
        for r in range(length // 2 + 1):
            out[r, k] = (r - a) / (b - a) if a <= r < b else 1 if r == b == a else (c - r) / (c - b) if b <= r < c else b > a and r == b
    return out


def heads_of(x, n):
    return x.reshape(x.shape[0], x.shape[1], n, -1).transpose(0, 2, 1, 3)


def attention(q, k, v, mask=0, past=0, causal=False, scale=None, cap=0):
    """Of [batch, heads, rows, size]: the result, and the scores at each of ONNX's stages."""
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    scores = q @ k.transpose(0, 1, 3, 2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    mask = np.where(mask, 0, -np.inf) if np.asarray(mask).dtype == bool else mask
    biased = scores + mask
    if causal:
        biased = np.where(np.tri(q.shape[2], k.shape[2], past, dtype=bool), biased, -np.inf)
    capped = cap * np.tanh(biased / cap) if cap else biased
    shares = softmax(capped, -1)
    return [each.astype("float32") for each in (shares @ v, scores, biased, capped, shares)]


def attentions():
    q, k, v = floats(2, 4, 3, 8), floats(2, 2, 5, 8), floats(2, 2, 5, 6)
    yield "Attention", [q, k, v], [attention(q, k, v)[0]], 23, {}
    yield "Attention", [q, k, v], [attention(q, k, v, causal=True, scale=0.5)[0]], 23, {"is_causal": 1, "scale": 0.5}
    yield "Attention", [q, k, v], [attention(q, k, v, cap=2.0)[0]], 24, {"softcap": 2.0}
    mask = SEED.integers(0, 2, (2, 1, 3, 5)).astype(bool) | (np.arange(5) == 1)
    bias = floats(3, 5)
    yield "Attention", [q, k, v, mask], [attention(q, k, v, mask)[0]], 23, {}
    y, *stages = attention(q, k, v, bias)
    for i, stage in enumerate(stages):
        yield "Attention", [q, k, v, bias], [y, k, v, stage], 23, {"qk_matmul_output_mode": i}
    flat = floats(2, 3, 32), floats(2, 5, 16), floats(2, 5, 12)
    y = attention(heads_of(flat[0], 4), heads_of(flat[1], 2), heads_of(flat[2], 2))[0]
    yield "Attention", [*flat], [y.transpose(0, 2, 1, 3).reshape(2, 3, 24)], 23, {"q_num_heads": 4, "kv_num_heads": 2}
    pk, pv = floats(2, 2, 2, 8), floats(2, 2, 2, 6)
    both = np.concatenate([pk, k[:, :, :3]], 2), np.concatenate([pv, v[:, :, :3]], 2)
    yield "Attention", [q, k[:, :, :3], v[:, :, :3], None, pk, pv], [attention(q, *both, past=2, causal=True)[0], *both], 23, {"is_causal": 1}
    a, b, c, d = floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 6), floats(22)
    y = attention(*(heads_of(x, 2) for x in (a + d[:8], b + d[8:16], c + d[16:])))[0].transpose(0, 2, 1, 3).reshape(2, 3, 6)
    yield "com.microsoft.MultiHeadAttention", [a, b, c, d], [y], 1, {"num_heads": 2}
    x, w, bias = floats(2, 3, 6), floats(6, 24), floats(24)
    parts = np.split(x @ w + bias, 3, axis=2)
    y = attention(*(heads_of(each, 2) for each in parts), causal=True)[0].transpose(0, 2, 1, 3).reshape(2, 3, 8)
    yield "com.microsoft.Attention", [x, w, bias], [y], 1, {"num_heads": 2, "unidirectional": 1}


def turned(x, cos, sin, size, interleaved):
    """Of [batch, rows, heads, size], angles of [batch, rows, size / 2]."""
    cos, sin, y = cos[:, :, None], sin[:, :, None], x.copy()
    first, second = (slice(0, size, 2), slice(1, size, 2)) if interleaved else (slice(0, size // 2), slice(size // 2, size))
    y[..., first] = cos * x[..., first] - sin * x[..., second]
    y[..., second] = sin * x[..., first] + cos * x[..., second]
    return y


def rotary():
    x, places = floats(2, 4, 3, 8), SEED.integers(0, 9, (2, 3)).astype("int64")
    rows, angles = x.transpose(0, 2, 1, 3), floats(9, 4)
    cos, sin = np.cos(angles), np.sin(angles)
    for interleaved in (0, 1):
        y = turned(rows, cos[places], sin[places], 8, interleaved)
        yield "RotaryEmbedding", [x, cos, sin, places], [y.transpose(0, 2, 1, 3)], 23, {"interleaved": interleaved}
    part = turned(rows, cos[places][..., :2], sin[places][..., :2], 4, 0).transpose(0, 2, 1, 3)
    yield "RotaryEmbedding", [x, cos[:, :2].copy(), sin[:, :2].copy(), places], [part], 23, {"rotary_embedding_dim": 4}
    flat = rows.reshape(2, 3, 32).copy()
    y = turned(rows, cos[places], sin[places], 8, 0).reshape(2, 3, 32)
    yield "RotaryEmbedding", [flat, cos[places], sin[places]], [y], 23, {"num_heads": 4}
    yield "com.microsoft.RotaryEmbedding", [flat, places, cos, sin], [y], 1, {"num_heads": 4}
    following = np.arange(3)[None] + np.array([[5], [5]])
    y = turned(rows, cos[following], sin[following], 8, 0).transpose(0, 2, 1, 3)
    yield "com.microsoft.RotaryEmbedding", [x, int64(5), cos, sin], [y], 1, {}


def rms(x, scale, axes, epsilon=1e-5):
    return (x / np.sqrt((x.astype("float64") ** 2).mean(axes, keepdims=True) + epsilon) * scale).astype("float32")


def trained():
    x, g, v, h = (floats(3, low=0.5) for _ in range(4))
    rate, steps = np.float32(0.1), np.int64(2)
    grown = 0.9 * v + 0.5 * g
    yield "ai.onnx.preview.training.Momentum", [rate, steps, x, g, v], [x - 0.1 * (g + 0.9 * grown), grown], 1, {"alpha": 0.9, "beta": 0.5, "mode": "nesterov", "norm_coefficient": 0.0}
    p, q = 0.9 * v + 0.1 * g, 0.999 * h + 0.001 * g * g
    yield ("ai.onnx.preview.training.Adam", [rate, steps, x, g, v, h], [x - 0.1 * np.float32(np.sqrt(1 - 0.999 ** 2) / (1 - 0.9 ** 2)) * p / (np.sqrt(q) + np.float32(1e-6)), p, q],
           1, {})
    y = g + np.float32(0.01) * x
    yield "ai.onnx.preview.training.Adagrad", [rate, steps, x, g, h], [x - np.float32(0.1 / 1.2) * y / (np.sqrt(h + y * y) + np.float32(1e-6)), h + y * y], 1, {"decay_factor": 0.1, "norm_coefficient": 0.01}


def normal(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def batch_norms():
    """Five outputs mean training until opset 13, unless is_test says that it is none."""
    def y(mean, var):
        return (X - mean[:, None]) / np.sqrt(var[:, None] + 1e-5) * CLASS[:, None] + 1 - CLASS[:, None]
    inputs, m, v = [X, CLASS, 1 - CLASS, CLASS - 1, CLASS + 2], X.mean((0, 2)), X.var((0, 2))
    return [("BatchNormalization", inputs, [y(m, v), 0.75 * (CLASS - 1) + 0.25 * m, 0.75 * (CLASS + 2) + 0.25 * v, m, v], 9, {"momentum": 0.75}),
            ("BatchNormalization", inputs, [y(*inputs[3:]), *inputs[3:], *inputs[3:]], 6, {"is_test": 1}),
            ("BatchNormalization", inputs, [y(*inputs[3:])], 9, {})]


def quantized(x):
    return np.clip(np.rint(x / QS) + QZ, -128, 127).astype("int8")


FLOAT_OF_Q = (Q.astype("float32") - QZ) * QS

CASES = [
    # operator, inputs, outputs, opset, attributes
    ("Softmax", [Z], [softmax(Z.reshape(2, -1), 1).reshape(Z.shape)], 11, {}), ("Softmax", [Z], [softmax(Z, -1)], 13, {}),
    ("Softmax", [Z], [softmax(Z.reshape(6, -1), 1).reshape(Z.shape)], 9, {"axis": 2}), ("LogSoftmax", [X], [log_softmax(X, 1)], 13, {"axis": -2}),
    ("Hardmax", [np.array([[1, 3, 3], [2, 0, 1]], "float32")], [np.array([[0, 1, 0], [1, 0, 0]], "float32")], 13, {}),
    ("ReduceSum", [X, int64(-1, 0)], [X.sum((0, 2), keepdims=True)], 13, {}), ("ReduceSum", [X], [X.sum((0, 1))], 11, {"axes": [0, 1], "keepdims": 0}),
    ("ReduceSum", [X, int64()], [X], 13, {"noop_with_empty_axes": 1}), ("ReduceMean", [X, int64(1)], [X.mean(1)], 18, {"keepdims": 0}),
    ("ReduceMean", [X], [X.mean((1,), keepdims=True)], 13, {"axes": [1]}), ("ReduceL2", [X], [np.sqrt((X * X).sum()).reshape(1, 1, 1)], 18, {}),
    ("ReduceLogSumExp", [X + 200], [np.log(np.exp(X.astype("float64")).sum(2)).astype("float32") + 200], 13, {"axes": [2], "keepdims": 0}),
    ("ReduceMax", [np.zeros((2, 0, 3), "float32"), int64(1)], [np.full((2, 1, 3), -np.inf, "float32")], 20, {}),
    ("ReduceMin", [np.array([[True, False], [True, True]]), int64(1)], [np.array([[False], [True]])], 20, {}),
    ("ArgMax", [np.array([[1, 3, 3], [2, 2, 1]], "float32")], [np.array([[2], [1]])], 13, {"axis": 1, "select_last_index": 1}),
    ("ArgMin", [np.array([[1, 1, 3], [2, 2, 2]], "float32")], [np.array([0, 0])], 13, {"axis": -1, "keepdims": 0}),
    ("Clip", [X], [np.clip(X, -0.5, 0.5)], 6, {"min": -0.5, "max": 0.5}), ("Clip", [X, None, np.float32(0.25)], [np.minimum(X, np.float32(0.25))], 13, {}),
    ("Mod", [np.array([-5, 5, -5], "int8"), np.array([3, -3, -3], "int8")], [np.array([1, -1, -2], "int8")], 13, {}),
    ("Mod", [X, Y], [np.fmod(X, Y)], 13, {"fmod": 1}), ("BitShift", [np.array([1, 128], "uint8"), np.array([3, 1], "uint8")], [np.array([8, 0], "uint8")], 11, {"direction": "LEFT"}),
    ("Pow", [np.array([2, -3], "int32"), np.array([3, 2], "float32")], [np.array([8, 9], "int32")], 15, {}),
    ("Add", [X, Y[0, :, 0]], [X + Y[0, :, 0][:, None]], 6, {"broadcast": 1, "axis": 1}), ("Div", [np.array([-7, 7], "int32"), np.array([2, -2], "int32")], [np.array([-3, -3], "int32")], 14, {}),
    ("Cast", [np.array([1.9, -1.9, 300.5], "float32")], [np.array([1, -1, 300], "int32")], 13, {"to": 6}),
    ("IsInf", [np.array([np.inf, -np.inf, 1], "float32")], [np.array([False, True, False])], 10, {"detect_positive": 0}),
    ("PRelu", [Z, np.array([0.1, 0.2, 0.3], "float32")], [np.where(Z > 0, Z, Z * np.array([0.1, 0.2, 0.3], "float32")[:, None, None])], 6, {}),
    ("Celu", [X], [np.maximum(X, 0) + np.minimum(0, 2 * (np.exp(X / 2) - 1))], 12, {"alpha": 2.0}), ("Mish", [X], [X * np.tanh(np.log1p(np.exp(X)))], 18, {}),
    ("Shrink", [X], [np.where(X < -1, X + 0.5, np.where(X > 1, X - 0.5, 0)).astype("float32")], 9, {"lambd": 1.0, "bias": 0.5}),
    ("HardSwish", [X], [X * np.clip(X / 6 + 0.5, 0, 1)], 14, {}), ("Max", [X, Y[:, :1], X[0]], [np.maximum(np.maximum(X, Y[:, :1]), X[0])], 13, {}),
    ("Squeeze", [X[:1]], [X[0]], 11, {"axes": [0]}), ("Squeeze", [X[:1], int64(0)], [X[0]], 13, {}), ("Unsqueeze", [X, int64(-1, 0)], [X[None, ..., None]], 13, {}),
    ("Split", [np.arange(7, dtype="float32")], [np.arange(3, dtype="float32"), np.arange(3, 6, dtype="float32"), np.arange(6, 7, dtype="float32")], 18, {"num_outputs": 3}),
    ("Slice", [X, int64(-1), int64(-(1 << 62)), int64(2), int64(-2)], [X[:, :, ::-2]], 13, {}), ("Slice", [X], [X[:, 1:3]], 9, {"starts": [1], "ends": [1 << 40], "axes": [1]}),
    ("Expand", [X[:, :1], int64(3, 1)], [np.broadcast_to(X[:, :1], (2, 3, 4))], 13, {}), ("Reshape", [X, int64(0, -1)], [X.reshape(2, 12)], 14, {}),
    ("Pad", [X, int64(1, 2), np.float32(9), int64(-1)], [np.pad(X, ((0, 0), (0, 0), (1, 2)), constant_values=9)], 18, {}),
    ("Pad", [X, int64(0, 1, 2, 0, 1, 1)], [np.pad(X, ((0, 0), (1, 1), (2, 1)), "reflect")], 13, {"mode": "reflect"}),
    ("Pad", [X], [np.pad(X, ((1, 0), (0, 1), (0, 0)), "edge")], 2, {"mode": "edge", "pads": [1, 0, 0, 0, 1, 0]}),
    ("CenterCropPad", [X, int64(5, 2)], [np.pad(X[:, :, 1:3], ((0, 0), (1, 1), (0, 0)))], 18, {"axes": [1, 2]}),
    ("DepthToSpace", [Z.reshape(2, 12, 2, 2)], [Z.reshape(2, 3, 2, 2, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 4, 4)], 13, {"blocksize": 2, "mode": "CRD"}),
    ("Range", [np.float32(1), np.float32(2), np.float32(0.3)], [np.array([1, 1.3, 1.6, 1.9], "float32")], 11, {}), ("Trilu", [X, np.int64(-1)], [np.triu(X, -1)], 14, {}),
    ("OneHot", [int64(-1, 1, 7), np.float32(3), np.array([2, 5], "float32")], [np.array([[2, 2, 5], [2, 5, 2], [2, 2, 2]], "float32")], 11, {}),
    ("TopK", [np.array([[1, 3, 2, 3]], "float32"), int64(3)], [np.array([[3, 3, 2]], "float32"), int64(1, 3, 2).reshape(1, 3)], 11, {}),
    ("CumSum", [X, np.int64(1)], [np.cumsum(X[:, ::-1], 1)[:, ::-1] - X], 14, {"exclusive": 1, "reverse": 1}),
    ("CumProd", [np.float32([1, 2, 3]), np.int32(0)], [np.float32([6, 3, 1])], 26, {"exclusive": 1, "reverse": 1}),
    ("CumProd", [X, np.int64(-1)], [np.cumprod(X, -1)], 26, {}), ("BitCast", [X], [X.view("int32")], 26, {"to": 6}), ("BitCast", [X.view("int32")], [X], 26, {"to": 1}),
    ("BitCast", [np.array([-1, 127], "int8")], [np.array([255, 127], "uint8")], 26, {"to": 2}),
    ("GatherND", [X, np.array([[[1], [-1]], [[0], [2]]])], [X[[[0, 0], [1, 1]], [[1, 2], [0, 2]]]], 13, {"batch_dims": 1}),
    ("ScatterElements", [np.zeros((1, 3), "float32"), int64(0, -1).reshape(1, 2), np.array([[2, 5]], "float32")], [np.array([[2, 0, 5]], "float32")], 18, {"axis": 1, "reduction": "add"}),
    ("Gemm", [X[0], Y[0], np.float32(3)], [2 * X[0].T @ Y[0] + 3 * np.float32(0.5)], 13, {"alpha": 2.0, "beta": 0.5, "transA": 1}),
    ("Einsum", [X, Y], [np.einsum("...ij,...kj->...ik", X, Y)], 12, {"equation": "...ij,...kj->...ik"}),
    ("LayerNormalization", [X, CLASS[:, None] * np.ones((3, 4), "float32")], [(X - X.mean((1, 2), keepdims=True)) / np.sqrt(X.var((1, 2), keepdims=True) + 1e-3) * CLASS[:, None]], 17, {"axis": 1, "epsilon": 1e-3}),
    *batch_norms(),
    ("LpPool", [X], [np.stack([np.sqrt((X[..., k:k + 2] ** 2).sum(-1)) for k in (0, 2)], -1)], 18, {"kernel_shape": [2], "strides": [2]}),
    ("AveragePool", [X], [np.stack([X[..., 0:2].mean(-1), X[..., 2:4].mean(-1)], -1)], 19, {"kernel_shape": [2], "strides": [2], "auto_pad": "SAME_UPPER"}),
    ("MaxPool", [SMALL], [np.array([[[[4]]]], "float32"), np.array([[[[3]]]])], 12, {"kernel_shape": [2, 2]}),
    ("ConvTranspose", [SMALL, np.ones((1, 1, 1, 1), "float32")], [np.array([[[[1, 0, 2], [0, 0, 0], [3, 0, 4]]]], "float32")], 11, {"strides": [2, 2]}),
    ("Resize", [SMALL, None, np.array([1, 1, 2, 2], "float32")], [SMALL.repeat(2, 2).repeat(2, 3)], 19, {"mode": "nearest"}),
    ("Resize", [np.arange(6, dtype="float32").reshape(1, 1, 1, 6), None, np.array([1, 1, 1, 0.7], "float32")], [np.float32([[[[0, 2, 3, 4]]]])], 19, {"mode": "nearest"}),
    ("Resize", [SMALL, None, None, int64(1, 1, 2, 3)], [np.array([[[[1, 1.5, 2], [3, 3.5, 4]]]], "float32")], 19, {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
    ("Upsample", [SMALL, np.array([1, 1, 1, 2], "float32")], [SMALL.repeat(2, 3)], 9, {}),
    ("QuantizeLinear", [np.array([0.5, 1.5, 2.5, -300, 300], "float32"), np.float32(1), np.uint8(2)], [np.array([2, 4, 4, 0, 255], "uint8")], 13, {}),
    ("DequantizeLinear", [np.array([[1, 2], [3, 4]], "int8"), np.array([2, 0.5], "float32"), np.array([1, -1], "int8")], [np.array([[0, 2], [2, 2.5]], "float32")], 13, {"axis": 0}),
    ("MatMulInteger", [BYTES, WEIGHTS, np.uint8(7), np.int8(3)], [SUMS], 10, {}),
    ("QLinearMatMul", [BYTES, np.float32(0.01), np.uint8(7), WEIGHTS, np.float32(0.5), np.int8(3), np.float32(2), np.int8(4)],
     [np.clip(np.rint(SUMS.astype("float32") * (np.float32(0.01) * np.float32(0.5) / np.float32(2))) + 4, -128, 127).astype("int8")], 10, {}),
    ("DynamicQuantizeLinear", [np.array([0, 2, -3, -2.5, 1.34, 0.5], "float32")], [np.array([153, 255, 0, 26, 221, 179], "uint8"), np.float32(5 / 255), np.uint8(153)], 11, {}),
    ("NegativeLogLikelihoodLoss", [LOGS, LABELS, CLASS], [np.float32((TAKEN * CLASS[LABELS]).sum() / CLASS[LABELS].sum())], 13, {}),
    ("SoftmaxCrossEntropyLoss", [X, LABELS], [np.where(LABELS == 1, 0, TAKEN).astype("float32"), LOGS], 13, {"reduction": "none", "ignore_index": 1}),
    *recurrent(),
    ("GridSample", [Z[:, :2], np.repeat(GRID, 2, 0)], [Z[:, :2]], 16, {"align_corners": 1, "mode": "bicubic"}),
    ("GridSample", [RAMP, GRID + 0.5], [np.broadcast_to(np.arange(4, dtype="float32") + 0.75, (1, 1, 4, 4)).clip(0, 3)], 20, {"align_corners": 1, "mode": "linear", "padding_mode": "border"}),
    ("AffineGrid", [np.array([[[1, 0, 0], [0, 1, 0]]], "float32"), int64(1, 1, 4, 4)], [GRID], 20, {"align_corners": 1}),
    ("RoiAlign", [RAMP, np.array([[0, 0, 4, 4]], "float32"), int64(0)], [np.array([[[[0.5, 2.5]]]], "float32")], 16, {"output_height": 1, "output_width": 2, "sampling_ratio": 2}),
    ("MaxUnpool", [SMALL, np.array([[[[5, 7], [13, 15]]]]), int64(1, 1, 5, 5)], [np.pad(np.kron(SMALL, [[0, 0], [0, 1]]).astype("float32"), ((0, 0), (0, 0), (0, 1), (0, 1)))], 11,
     {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("Col2Im", [np.ones((1, 4, 4), "float32"), int64(3, 3), int64(2, 2)], [np.array([[[[1, 2, 1], [2, 4, 2], [1, 2, 1]]]], "float32")], 18, {}),
    ("ReverseSequence", [ROW, int64(2, 3)], [np.array([[0, 1, 2], [3, 0, 0]], "float32")], 10, {"batch_axis": 0, "time_axis": 1}),
    ("NonZero", [ROW], [np.array(ROW.nonzero())], 13, {}), ("NonZero", [np.zeros((2, 2), "float32")], [np.zeros((2, 0), "int64")], 13, {}),
    ("Compress", [ROW, np.array([False, True, True])], [ROW[:, 1:]], 11, {"axis": -1}), ("Compress", [ROW, np.array([True, False, True, False])], [np.array([1, 2], "float32")], 11, {}),
    ("Unique", [UNSORTED], [np.array([1, 2, 3], "float32"), int64(1, 0, 3), int64(1, 0, 0, 2, 1), int64(2, 2, 1)], 11, {}),
    ("Unique", [UNSORTED], [np.array([2, 1, 3], "float32"), int64(0, 1, 3), int64(0, 1, 1, 2, 0), int64(2, 2, 1)], 11, {"sorted": 0}),
    ("Unique", [ROW[[1, 0, 1]]], [ROW[::-1], int64(0, 1), int64(0, 1, 0), int64(2, 1)], 11, {"axis": 0}),
    ("NonMaxSuppression", [BOXES, np.array([[[0.9, 0.95, 0.5]]], "float32"), int64(3), np.array([0.5], "float32"), np.array([0.0], "float32")], [np.array([[0, 0, 1], [0, 0, 2]])], 11, {}),
    ("com.microsoft.FusedMatMul", [X, Y], [2 * np.swapaxes(X, 1, 2) @ Y], 1, {"transA": 1, "alpha": 2.0}),
    ("com.microsoft.QuickGelu", [X], [X * sigmoid(1.702 * X)], 1, {}),
    ("com.microsoft.SkipLayerNormalization", [X, Y, X[0, 0], Y[0, 0], X[0, 1]], [normal(X + Y + X[0, 1]) * X[0, 0] + Y[0, 0], None, None, X + Y + X[0, 1]], 1, {"epsilon": 1e-5}),
    ("SimplifiedLayerNormalization", [X, Y[0, 0]], [X / np.sqrt((X * X).mean(-1, keepdims=True) + 1e-5) * Y[0, 0]], 17, {}),
    ("com.microsoft.QLinearAdd", [Q, QS, QZ, Q[:1], QS, QZ, QS, QZ], [quantized(FLOAT_OF_Q + FLOAT_OF_Q[:1])], 1, {}),
    ("com.microsoft.QLinearConcat", [QS, QZ, Q, QS, QZ, Q, np.float32(1), QZ], [np.concatenate([Q, quantized(2 * FLOAT_OF_Q)])], 1, {"axis": 0}),
    ("com.microsoft.QGemm", [Q, QS, QZ, Q, QS, QZ, np.array([3, -4], "int32"), QS, QZ], [quantized(FLOAT_OF_Q @ FLOAT_OF_Q.T + np.array([0.75, -1], "float32"))], 1, {"transB": 1}),
    *spectra(), *trained(), *attentions(), *rotary(),
    ("RMSNormalization", [X, SLOPES], [rms(X, SLOPES, (2,))], 23, {}),
    ("RMSNormalization", [X, Y[0]], [rms(X, Y[0], (1, 2), 0.01)], 23, {"axis": 1, "epsilon": 0.01}),
    ("Swish", [X], [X * sigmoid(0.5 * X)], 24, {"alpha": 0.5}),
    ("Swish", [X], [X * sigmoid(X)], 24, {}),
    ("Cast", [X], [X.astype("float64")], 25, {"to": 11}),
    ("Det", [np.array([[0, 2], [3, 4]], "float32")], [np.float32(-6)], 11, {}),
    ("MaxRoiPool", [RAMP, np.array([[0, 0, 0, 3, 1]], "float32")], [np.array([[[[1, 3]]]], "float32")], 1, {"pooled_shape": [1, 2]}),
    ("DeformConv", [RAMP, ONES[:, :1], np.full((1, 8, 3, 3), 0.5, "float32"), ONES[0, 0, 0, :1], np.full((1, 4, 3, 3), 2, "float32")], [moved(RAMP) + 1], 19, {}),
    ("TfIdfVectorizer", [np.array([[1, 2, 1, 2, 3]], "int32")], [np.array([[2, 1, 3]], "float32")], 9,
     {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 2, "ngram_counts": [0, 2], "ngram_indexes": [0, 1, 2], "pool_int64s": [1, 3, 1, 2]}),
    ("HannWindow", [np.int64(4)], [np.array([0, 0.5, 1, 0.5], "float32")], 17, {}),
]


@pytest.mark.parametrize("case", CASES, ids=["%s-%d" % (case[0], case[3]) for case in CASES])
def test_conversion(tmp_path, case):
    result = run(tmp_path, *case)
    assert result.returncode == 0, result.stdout + result.stderr


# An operator whose definition did not change is read at any later version. DFT has another default from 20 on.
LATER = [(*case[:3], 22 + i % 5, case[4]) for i, case in enumerate(CASES) if 13 <= case[3] < 22 and case[0] != "DFT"]


@pytest.mark.parametrize("case", LATER, ids=["%s-%d" % (case[0], case[3]) for case in LATER])
def test_later_versions(tmp_path, case):
    test_conversion(tmp_path, case)


def test_differs(tmp_path):
    assert run(tmp_path, "Relu", [X], [X], 14, {}).returncode == 1


def test_refused(tmp_path):
    result = run(tmp_path, "Nonesuch", [X], [X], 14, {})
    assert result.returncode == 2 and "Nonesuch" in result.stderr
    result = run(tmp_path, "RandomNormal", [], [X], 14, {"shape": [2, 3, 4]})
    assert result.returncode == 2 and "random" in result.stderr
    result = run(tmp_path, "Pad", [X, int64(0, 0, 0, 0, 0, 1)], [X], 13, {"mode": "mirror"})
    assert result.returncode == 2 and "mirror" in result.stderr
    q = floats(1, 2, 3, 4)
    result = run(tmp_path, "Attention", [q, q, q, floats(3, 3)], [q], 23, {"softcap": 1.0})
    assert result.returncode == 2 and "softcap" in result.stderr
    result = run(tmp_path, "QuantizeLinear", [X, np.float32(1)], [X.astype("uint8")], 23, {"precision": 1})
    assert result.returncode == 2 and "precision" in result.stderr
