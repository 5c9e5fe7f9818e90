"""Recurrent layers against their equations, a row and a step at a time in double precision."""

import numpy as np
import pytest
from harness import check, floats, refused


def activation(name, a=0.0, b=0.0):
    return {"sigmoid": lambda v: 1 / (1 + np.exp(-v)), "tanh": np.tanh, "relu": lambda v: np.maximum(v, 0), "affine": lambda v: a * v + b,
            "leakyrelu": lambda v: np.where(v < 0, a * v, v), "thresholdedrelu": lambda v: np.where(v >= a, v, 0),
            "scaledtanh": lambda v: a * np.tanh(b * v), "hardsigmoid": lambda v: np.clip(a * v + b, 0, 1),
            "elu": lambda v: np.where(v < 0, a * (np.exp(v) - 1), v), "softsign": lambda v: v / (1 + np.abs(v)),
            "softplus": lambda v: np.log1p(np.exp(v))}[name]


def layer(gates, h, lengths, reverse, step):
    """step(x, state): the next state, of which the first is what comes out."""
    out = np.zeros((gates.shape[0], gates.shape[1], h[0].shape[1]))
    last = [np.array(v, "float64") for v in h]
    for b in range(gates.shape[1]):
        state = [v[b].astype("float64") for v in h]
        for t in range(lengths[b]):
            now = lengths[b] - 1 - t if reverse else t
            state = step(gates[now, b].astype("float64"), state)
            out[now, b] = state[0]
        for v, s in zip(last, state):
            v[b] = s
    return tuple(a.astype("float32") for a in (out, *last))


STEPS, BATCH, HIDDEN = 4, 3, 5
LENGTHS = np.array([4, 1, 3], "int64")


def operands(n):
    return floats(STEPS, BATCH, n * HIDDEN), floats(n * HIDDEN, HIDDEN, low=-0.5, high=0.5), floats(BATCH, HIDDEN)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name,a,b", [("tanh", 0.0, 0.0), ("relu", 0.0, 0.0), ("affine", 0.5, 0.1), ("leakyrelu", 0.2, 0.0), ("thresholdedrelu", 0.7, 0.0),
                                      ("scaledtanh", 1.5, 0.6), ("hardsigmoid", 0.2, 0.5), ("elu", 0.8, 0.0), ("softsign", 0.0, 0.0), ("softplus", 0.0, 0.0)])
def test_rnn(name, a, b, reverse):
    x, w, h = operands(1)
    f = activation(name, a, b)
    expected = layer(x, [h], LENGTHS, reverse, lambda v, s: [f(v + w.astype("float64") @ s[0])])
    check("nn.rnn", [x, w, h, LENGTHS], expected, tolerance=1e-4, activations='("%s",)' % name, alphas="(%g,)" % a, betas="(%g,)" % b, reverse=reverse)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("reverse,clip", [(False, 0.0), (True, 0.4)])
def test_gru(last, reverse, clip):
    x, w, h = operands(3)
    bias, k = floats(HIDDEN), HIDDEN

    def kept(v):
        return np.clip(v, -clip, clip) if clip else v

    def step(v, s):
        u, r, n = (w[i * k:i * k + k].astype("float64") for i in range(3))
        z, reset = (activation("sigmoid")(kept(v[i * k:i * k + k] + m @ s[0])) for i, m in enumerate((u, r)))
        new = np.tanh(kept(v[2 * k:] + (reset * (n @ s[0] + bias) if last else n @ (reset * s[0]) + bias)))
        return [(1 - z) * new + z * s[0]]
    check("nn.gru", [x, w, h, LENGTHS, bias], layer(x, [h], LENGTHS, reverse, step), tolerance=1e-4, reverse=reverse, clip=clip, linear_before_reset=last)


@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("reverse,clip", [(False, 0.5), (True, 0.0)])
def test_lstm(forget, reverse, clip):
    x, w, h = operands(4)
    c, p, k = floats(BATCH, HIDDEN), floats(3 * HIDDEN), HIDDEN

    def kept(v):
        return np.clip(v, -clip, clip) if clip else v

    def step(v, s):
        z = v + w.astype("float64") @ s[0]
        i, o, f, g = (z[n * k:n * k + k] for n in range(4))
        sigmoid = activation("sigmoid")
        i = sigmoid(kept(i + p[:k] * s[1]))
        f = 1 - i if forget else sigmoid(kept(f + p[2 * k:] * s[1]))
        cell = f * s[1] + i * np.tanh(kept(g))
        return [sigmoid(kept(o + p[k:2 * k] * cell)) * np.tanh(kept(cell)), cell]
    check("nn.lstm", [x, w, h, LENGTHS, c, p], layer(x, [h, c], LENGTHS, reverse, step), tolerance=1e-4, reverse=reverse, clip=clip, input_forget=forget)


def test_refused():
    x, w, h = operands(1)
    refused("nn.rnn", [x, w, h[:2], LENGTHS], "(2, 5)")
    refused("nn.rnn", [x, w, h, LENGTHS], "step", activations='("step",)')
    refused("nn.lstm", [x, w, h, LENGTHS, h, floats(15)], "4 times 5")
