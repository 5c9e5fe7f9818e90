"""Networks of many kinds with open extents: what each file has, and what numpy says of it at any size. Widths, strides and
weights come from a seed."""
import math
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "..", "onnx")]
from messages import TYPES, field, graph, model, node, tensor, value  # noqa: E402
from networks import convolve, softmax  # noqa: E402


def unshaped(name, dtype):
    """A result whose shape its nodes tell."""
    return field(1, name) + field(2, field(1, field(1, TYPES[dtype])))


class Net:
    """A file in the making, and the steps by which numpy computes it."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.steps, self.inputs, self.outputs, self.known, self.opset = [], [], [], [], [], {}, 17

    def pick(self, *among):
        return among[int(self.rng.integers(len(among)))]

    def floats(self, *shape, scale=None):
        scale = 1 / math.sqrt(max(1, int(np.prod(shape[:-1])))) if scale is None else scale
        return self.w((self.rng.standard_normal(shape) * scale).astype("float32"))

    def ints(self, *elements):
        return self.w(np.array(elements, "int64"))

    def w(self, array):
        name = "w%d" % len(self.weights)
        self.weights.append(tensor(array, name))
        self.known[name] = array
        return name

    def x(self, name, *shape, dtype="float32", draw=None):
        """draw(rng, shape): elements that mean something to the network."""
        self.inputs.append((name, dtype, shape, draw or (lambda rng, s: rng.standard_normal(s))))
        return name

    def add(self, op, inputs, f, outputs=1, **attributes):
        outs = ["v%d_%d" % (len(self.nodes), i) for i in range(outputs)]
        self.nodes.append(node(op, inputs, outs, "node%d" % len(self.nodes), **attributes))
        self.steps.append(([i for i in inputs if i], outs, f))
        return outs[0] if outputs == 1 else outs

    def out(self, name, dtype="float32"):
        self.outputs.append((name, dtype))

    def text(self):
        return model(self.nodes, [value(n, t, s) for n, t, s, _ in self.inputs], [unshaped(*o) for o in self.outputs], self.weights, opset=self.opset)

    def draw(self, sizes, rng):
        return [np.ascontiguousarray(np.asarray(draw(rng, tuple(sizes.get(e, e) for e in s)))).astype(t).reshape(tuple(sizes.get(e, e) for e in s))
                for _, t, s, draw in self.inputs]

    def wanted(self, arrays):
        values = dict(self.known)
        values.update({n: a for (n, *_), a in zip(self.inputs, arrays)})
        for ins, outs, f in self.steps:
            result = f(*(values[i].astype("float64") if values[i].dtype == np.float32 else values[i] for i in ins))
            values.update(zip(outs, result if len(outs) > 1 else [result]))
        return [values[n] for n, _ in self.outputs]

    # --- layers ---

    def relu(self, x):
        return self.add("Relu", [x], lambda x: np.maximum(x, 0))

    def sum(self, a, b):
        return self.add("Add", [a, b], np.add)

    def linear(self, x, k, n):
        return self.sum(self.add("MatMul", [x, self.floats(k, n)], np.matmul), self.floats(n, scale=0.1))

    def convolution(self, x, channels, filters, size=3, stride=1):
        pad = size // 2
        return self.add("Conv", [x, self.floats(filters, channels, size, size, scale=1 / math.sqrt(channels * size * size))], lambda x, w: convolve(x, w, stride, pad),
                        kernel_shape=[size, size], strides=[stride, stride], pads=[pad] * 4)

    def layer_norm(self, x, n):
        def result(x, scale, shift):
            centred = x - x.mean(axis=-1, keepdims=True)
            return centred / np.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + 1e-5) * scale + shift
        return self.add("LayerNormalization", [x, self.floats(n, scale=1), self.floats(n, scale=1)], result, axis=-1)

    def max_pool(self, x, size):
        return self.add("MaxPool", [x], lambda x: pooled(x, size, np.max, -np.inf), kernel_shape=[size, size], strides=[size, size])

    def upsampled(self, x, by):
        return self.add("Resize", [x, "", self.w(np.array([1, 1, by, by], "float32"))], lambda x, s: x.repeat(by, 2).repeat(by, 3), mode="nearest",
                        coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    def heads(self, x, heads, size, order):
        """Rows of width heads * size in heads."""
        cut = self.add("Reshape", [x, self.ints(0, 0, heads, size)], lambda x, s: x.reshape(*x.shape[:2], heads, size))
        return self.add("Transpose", [cut], lambda x: x.transpose(order), perm=order)

    def attention(self, x, width, heads):
        size = width // heads
        q, k, v = (self.heads(self.linear(x, width, width), heads, size, order) for order in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))
        scores = self.add("Div", [self.add("MatMul", [q, k], np.matmul), self.w(np.array(math.sqrt(size), "float32"))], np.divide)
        mixed = self.add("MatMul", [self.add("Softmax", [scores], softmax, axis=-1), v], np.matmul)
        turned = self.add("Transpose", [mixed], lambda x: x.transpose(0, 2, 1, 3), perm=(0, 2, 1, 3))
        return self.linear(self.add("Reshape", [turned, self.ints(0, 0, width)], lambda x, s: x.reshape(*x.shape[:2], width)), width, width)


def pooled(x, size, f, fill=None):
    h, w = x.shape[2] // size, x.shape[3] // size
    return f(x[:, :, :h * size, :w * size].reshape(*x.shape[:2], h, size, w, size), axis=(3, 5))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def mlp(n):
    k, inner = n.pick(3, 8, 17), n.pick(5, 16, 33)
    x = n.relu(n.linear(n.x("x", "n", k), k, inner))
    n.out(n.add("Softmax", [n.linear(x, inner, 4)], softmax, axis=-1))
    return {"n": [1, 3, 8, 33]}


def conv_stack(n):
    c, f, size = n.pick(1, 3), n.pick(4, 7), n.pick(3, 5)
    x = n.relu(n.convolution(n.x("x", "n", c, "h", "w"), c, f, size, n.pick(1, 2)))
    n.out(n.convolution(x, f, n.pick(2, 8)))
    return {"n": [1, 2, 3], "h": [1, 9, 17], "w": [1, 12, 5]}


def unet(n):
    c = n.pick(2, 4)
    skipped = n.relu(n.convolution(n.x("x", "n", 2, "h", "w"), 2, c))
    below = n.relu(n.convolution(n.max_pool(skipped, 2), c, 2 * c))
    both = n.add("Concat", [skipped, n.upsampled(below, 2)], lambda a, b: np.concatenate([a, b], 1), axis=1)
    n.out(n.convolution(both, 3 * c, 3))
    return {"n": [1, 2, 1], "h": [2, 8, 14], "w": [2, 6, 16]}


def residual(n):
    c = n.pick(3, 8)
    x = n.convolution(n.x("x", "n", c, "h", "w"), c, c)
    y = n.relu(n.sum(x, n.convolution(n.relu(x), c, c)))
    mean = n.add("GlobalAveragePool", [y], lambda x: x.mean(axis=(2, 3), keepdims=True))
    n.out(n.linear(n.add("Flatten", [mean], lambda x: x.reshape(len(x), -1)), c, 5))
    return {"n": [1, 4, 2], "h": [1, 7, 12], "w": [1, 5, 16]}


def recurrent(n, op, gates, cell):
    k, hidden = n.pick(3, 6), n.pick(4, 9)
    weights = [n.floats(1, gates * hidden, k, scale=0.5), n.floats(1, gates * hidden, hidden, scale=0.5), n.floats(1, 2 * gates * hidden, scale=0.1)]

    def result(x, w, r, b):
        h, c, every = np.zeros((x.shape[1], hidden)), np.zeros((x.shape[1], hidden)), []
        for step in x:
            h, c = cell(step @ w[0].T, h, c, r[0], b[0][:gates * hidden], b[0][gates * hidden:])
            every.append(h)
        return np.stack(every)[:, None] if every else np.zeros((0, 1, x.shape[1], hidden)), h[None]
    y, last = n.add(op, [n.x("x", "steps", "n", k), *weights], result, 2, hidden_size=hidden, **({"linear_before_reset": 1} if op == "GRU" else {}))
    n.out(y)
    n.out(last)
    return {"steps": [1, 5, 9], "n": [1, 2, 8]}


def lstm(n):
    def cell(xw, h, c, r, wb, rb):
        i, o, f, g = np.split(xw + h @ r.T + wb + rb, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    return recurrent(n, "LSTM", 4, cell)


def gru(n):
    def cell(xw, h, c, r, wb, rb):
        (xz, xr, xh), (hz, hr, hh) = np.split(xw + wb, 3, axis=1), np.split(h @ r.T + rb, 3, axis=1)
        z = sigmoid(xz + hz)
        return (1 - z) * np.tanh(xh + sigmoid(xr + hr) * hh) + z * h, c
    return recurrent(n, "GRU", 3, cell)


def attention(n):
    heads = n.pick(1, 2, 4)
    n.out(n.attention(n.x("x", "n", "s", 8), 8, heads))
    return {"n": [1, 2, 3], "s": [1, 6, 17]}


def bert_layer(n):
    x = n.x("x", "n", "s", 12)
    x = n.layer_norm(n.sum(x, n.attention(x, 12, n.pick(2, 3))), 12)
    inner = n.linear(x, 12, 20)
    half = n.add("Mul", [inner, n.w(np.array(0.5, "float32"))], np.multiply)
    erf = n.add("Erf", [n.add("Div", [inner, n.w(np.array(math.sqrt(2), "float32"))], np.divide)], np.vectorize(math.erf, otypes=["float64"]))
    gelu = n.add("Mul", [half, n.sum(erf, n.w(np.array(1, "float32")))], np.multiply)
    n.out(n.layer_norm(n.sum(n.linear(gelu, 20, 12), x), 12))
    return {"n": [1, 2, 1], "s": [1, 7, 16]}


def depthwise(n):
    c = n.pick(3, 8)

    def result(x, w):
        return np.concatenate([convolve(x[:, i:i + 1], w[i:i + 1], 1, 1) for i in range(c)], 1)
    x = n.add("Conv", [n.x("x", "n", c, "h", "w"), n.floats(c, 1, 3, 3, scale=0.3)], result, group=c, pads=[1] * 4, kernel_shape=[3, 3])
    n.out(n.convolution(n.add("Clip", [x, n.w(np.array(0, "float32")), n.w(np.array(6, "float32"))], lambda x, a, b: np.clip(x, 0, 6)), c, 5, 1))
    return {"n": [1, 2, 1], "h": [1, 6, 16], "w": [1, 9, 3]}


def resize(n):
    c, by = n.pick(1, 3), n.pick(2, 3)
    n.out(n.sum(n.upsampled(n.x("x", "n", c, "h", "w"), by), n.floats(1, c, 1, 1)))
    return {"n": [1, 2, 1], "h": [1, 5, 8], "w": [1, 3, 11]}


def linear_at(x, axis, places):
    """Linearly between the elements beside each place."""
    low, shape = np.floor(places).astype(int), [-1 if d == axis else 1 for d in range(x.ndim)]
    first, second = (x.take(at.clip(0, x.shape[axis] - 1), axis) for at in (low, low + 1))
    rest = (places - low).reshape(shape)
    return first * (1 - rest) + second * rest


def fractions(n):
    """Sizes that are a fraction of others, and those of another picture."""
    c, x = n.pick(1, 5), n.x("x", "n", n.pick(2, 4), "h", "w")
    rows, columns = ((3, 2), (2, 3)) if c == 1 else ((7, 10), (5, 4))
    larger = lambda v, f: [(i + 0.5) * f[1] / f[0] - 0.5 for i in range(v * f[0] // f[1])]  # noqa: E731

    def result(x, s):
        return linear_at(linear_at(x, 2, np.array(larger(x.shape[2], rows))), 3, np.array(larger(x.shape[3], columns)))
    scales = n.w(np.array([1, 1, rows[0] / rows[1], columns[0] / columns[1]], "float32"))
    y = n.add("Resize", [x, "", scales], result, mode="linear")
    back = n.add("Resize", [y, "", "", n.add("Shape", [x], lambda x: np.array(x.shape))],
                 lambda y, s: linear_at(linear_at(y, 2, np.arange(s[2]) * ((y.shape[2] - 1) / max(s[2] - 1, 1))), 3, np.arange(s[3]) * ((y.shape[3] - 1) / max(s[3] - 1, 1))),
                 mode="linear", coordinate_transformation_mode="align_corners")
    n.out(n.sum(x, n.relu(back)))
    n.out(n.add("Resize", [y, "", n.w(np.array([1, 1, 0.5, 1.5], "float32"))],
                lambda y, s: y[:, :, [2 * i for i in range(y.shape[2] // 2)]][:, :, :, [i * 2 // 3 for i in range(y.shape[3] * 3 // 2)]], mode="nearest",
                coordinate_transformation_mode="asymmetric", nearest_mode="floor"))
    return {"n": [1, 2, 1], "h": [4, 5, 16], "w": [3, 11, 6]}


def same_padding(n):
    """As much padding as makes an extent of ceil(extent / stride)."""
    channels, filters, stride = n.pick(1, 3), n.pick(2, 4), n.pick(2, 3)
    where = n.pick("SAME_UPPER", "SAME_LOWER")

    def around(x, size, by, value):
        total = [(-(-e // by) - 1) * by + size - e for e in x.shape[2:]]
        return np.pad(x, [(0, 0), (0, 0)] + [(t // 2, t - t // 2) if where == "SAME_UPPER" else (t - t // 2, t // 2) for t in total], constant_values=value)

    def windows(x, size, by, value, f):
        wide = np.lib.stride_tricks.sliding_window_view(around(x, size, by, value), (size, size), (2, 3))
        return f(wide[:, :, ::by, ::by], axis=(4, 5))
    x = n.x("x", "n", channels, "h", "w")
    y = n.add("Conv", [x, n.floats(filters, channels, 3, 3, scale=0.3)], lambda x, w: convolve(around(x, 3, stride, 0), w, stride, 0), kernel_shape=[3, 3], strides=[stride] * 2,
              auto_pad=where)
    n.out(n.add("MaxPool", [n.relu(y)], lambda y: windows(y, 3, 2, -np.inf, np.max), kernel_shape=[3, 3], strides=[2, 2], auto_pad=where))
    n.out(n.add("AveragePool", [y], lambda y: windows(y, 3, 2, np.nan, np.nanmean), kernel_shape=[3, 3], strides=[2, 2], auto_pad=where))
    return {"n": [1, 2, 1], "h": [4, 9, 16], "w": [5, 7, 13]}


def concat(n):
    x, y = n.x("x", "n", "k"), n.x("y", "m", "k")
    both = n.add("Concat", [x, y, x], lambda a, b, c: np.concatenate([a, b, c]), axis=0)
    n.out(n.relu(both))
    n.out(n.add("ReduceMax", [both], lambda x: x.max(axis=0), axes=[0], keepdims=0))
    return {"n": [1, 4, 9], "m": [1, 2, 16], "k": [1, 7, 8]}


def pooling(n):
    size, x = n.pick(2, 3), n.x("x", "n", "c", "h", "w")
    n.out(n.max_pool(x, size))
    n.out(n.add("AveragePool", [x], lambda x: pooled(x, size, np.mean), kernel_shape=[size, size], strides=[size, size]))
    return {"n": [1, 2, 1], "c": [1, 3, 8], "h": [3, 9, 16], "w": [3, 10, 5]}


def embedding(n):
    rows, width = n.pick(5, 30), n.pick(3, 8)
    ids = n.x("ids", "n", "s", dtype="int64", draw=lambda rng, s: rng.integers(-rows, rows, s))
    x = n.add("Gather", [n.floats(rows, width, scale=1), ids], lambda table, i: table[i])
    n.out(n.layer_norm(x, width))
    return {"n": [1, 2, 3], "s": [1, 5, 16]}


def norms(n):
    x, axis = n.x("x", "n", "k"), n.pick(0, 1)
    n.out(n.add("Softmax", [x], lambda x: softmax(x.swapaxes(axis, -1)).swapaxes(axis, -1), axis=axis))
    n.out(n.add("LogSoftmax", [x], lambda x: np.log(softmax(x)), axis=-1))
    power = n.add("ReduceL2", [x], lambda x: np.sqrt((x ** 2).sum(axis=1, keepdims=True)), axes=[1])
    n.out(n.add("Div", [x, n.sum(power, n.w(np.array(1, "float32")))], np.divide))
    return {"n": [1, 5, 8], "k": [1, 3, 33]}


def transposed(n):
    c, f, stride = n.pick(1, 3), n.pick(2, 5), n.pick(1, 2, 3)

    def result(x, w):
        out = np.zeros((x.shape[0], f, (x.shape[2] - 1) * stride + 3, (x.shape[3] - 1) * stride + 3))
        for i in range(3):
            for j in range(3):
                out[:, :, i:i + (x.shape[2] - 1) * stride + 1:stride, j:j + (x.shape[3] - 1) * stride + 1:stride] += np.einsum("nchw,co->nohw", x, w[:, :, i, j])
        return out
    n.out(n.relu(n.add("ConvTranspose", [n.x("x", "n", c, "h", "w"), n.floats(c, f, 3, 3, scale=0.5)], result, strides=[stride, stride], kernel_shape=[3, 3])))
    return {"n": [1, 2, 1], "h": [1, 4, 9], "w": [1, 7, 2]}


def reduce(n):
    x = n.x("x", "a", "b", "c")
    for op, f in ("ReduceMean", np.mean), ("ReduceMax", np.max), ("ReduceMin", np.min):
        axes = n.pick((0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2))
        n.out(n.add(op, [x], lambda x, f=f, axes=axes: f(x, axis=axes, keepdims=True), axes=list(axes)))
    axis = n.pick(0, 1, 2)
    n.out(n.add("ArgMax", [x], lambda x: x.argmax(axis=axis), axis=axis, keepdims=0), "int64")
    n.out(n.add("ReduceSum", [x, n.ints(1)], lambda x, a: x.sum(axis=1, keepdims=True)))
    return {"a": [1, 4, 3], "b": [1, 5, 16], "c": [1, 3, 9]}


def of_nothing(n):
    """Sums and extremes over an axis that may have no elements."""
    x = n.x("x", "n", "k")
    for op, f in ("ReduceMax", lambda x: x.max(axis=1, initial=-np.inf)), ("ReduceProd", lambda x: x.prod(axis=1)), ("ReduceL2", lambda x: np.sqrt((x ** 2).sum(axis=1))):
        n.out(n.add(op, [x], f, axes=[1], keepdims=0))
    n.out(n.add("ReduceSum", [x, n.ints(n.pick(0, 1))], lambda x, a: x.sum(axis=int(a[0]), keepdims=True)))
    n.out(n.add("MatMul", [x, n.add("Transpose", [x], np.transpose, perm=[1, 0])], np.matmul))
    return {"n": [3, 0, 0, 9], "k": [0, 4, 0, 17]}


def slice_pad(n):
    x, step = n.x("x", "n", "k"), n.pick(1, 2, 3)
    cut = n.add("Slice", [x, n.ints(1, 0), n.ints(2 ** 31, -1), n.ints(0, 1), n.ints(1, step)], lambda x, *_: x[1:, :-1:step])
    n.out(n.add("Pad", [cut, n.ints(1, 0, 2, 3)], lambda x, p: np.pad(x, ((1, 2), (0, 3)))))
    n.out(n.add("Slice", [x, n.ints(-1), n.ints(-2 ** 31), n.ints(1), n.ints(-1)], lambda x, *_: x[:, ::-1]))
    return {"n": [2, 5, 9], "k": [2, 8, 17]}


def quantized_conv(n):
    c, f = n.pick(2, 4), n.pick(3, 8)
    scale, weight_scale = np.array(0.05, "float32"), np.array(0.02, "float32")

    def quantize(x, s, z):
        return np.clip(np.rint(x / s) + z, 0, 255)

    def dequantize(x, s, z):
        return ((x.astype("float64") - z) * s).astype("float32")
    names = [n.w(scale), n.w(np.array(128, "uint8"))]
    q = lambda x: n.add("QuantizeLinear", [x, *names], lambda x, s, z: quantize(x, s, z).astype("uint8"))  # noqa: E731
    d = lambda x: n.add("DequantizeLinear", [x, *names], dequantize)  # noqa: E731
    kernel = n.add("DequantizeLinear", [n.w(n.rng.integers(-60, 60, (f, c, 3, 3)).astype("int8")), n.w(weight_scale), n.w(np.array(0, "int8"))], dequantize)
    y = n.add("Conv", [d(q(n.x("x", "n", c, "h", "w"))), kernel], lambda x, w: convolve(x, w, 1, 1), kernel_shape=[3, 3], pads=[1] * 4)
    n.out(q(n.relu(y)), "uint8")
    return {"n": [1, 2, 1], "h": [1, 5, 16], "w": [1, 8, 3]}


def trees(n):
    """A stump a column, of depth one each."""
    columns, cuts = n.pick(2, 5), n.rng.standard_normal(5).astype("float32")[:5]
    heights = n.rng.standard_normal((5, 2)).astype("float32")
    every = range(columns)
    each = lambda first, second, third: [v for k in every for v in (first(k), second(k), third(k))]  # noqa: E731
    zero = lambda k: 0  # noqa: E731
    attributes = {"nodes_treeids": each(int, int, int), "nodes_nodeids": each(zero, lambda k: 1, lambda k: 2), "nodes_featureids": each(int, zero, zero),
                  "nodes_values": each(lambda k: float(cuts[k]), lambda k: 0.0, lambda k: 0.0), "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"] * columns,
                  "nodes_truenodeids": each(lambda k: 1, zero, zero), "nodes_falsenodeids": each(lambda k: 2, zero, zero),
                  "target_treeids": [k for k in every for _ in (0, 1)], "target_nodeids": [1, 2] * columns, "target_ids": [0] * 2 * columns,
                  "target_weights": [float(h) for k in every for h in heights[k]], "n_targets": 1}

    def result(x):
        return sum(np.where(x[:, k:k + 1] <= cuts[k], heights[k, 0], heights[k, 1]) for k in every)
    n.out(n.add("TreeEnsembleRegressor", [n.x("x", "n", columns)], result, domain="ai.onnx.ml", **attributes))
    return {"n": [1, 5, 40]}


def loop(n):
    """s = tanh(s w) + x as often as an input says."""
    k = n.pick(5, 40)
    x, w = n.x("x", "n", k), n.floats(k, k)
    turns = n.x("turns", dtype="int64", draw=lambda rng, s: np.array(rng.integers(0, 6)))
    state = value("s", "float32", ("n", k))
    body = graph([node("MatMul", ["s", w], ["p"]), node("Tanh", ["p"], ["t"]), node("Add", ["t", x], ["next"]), node("Identity", ["go"], ["on"])],
                 [value("i", "int64", ()), value("go", "bool", ()), state], [value("on", "bool", ()), value("next", "float32", ("n", k))])

    def result(count, s, w):
        x = s
        for _ in range(int(count)):
            s = np.tanh(s @ w) + x
        return s
    n.nodes.append(node("Loop", [turns, "", x], ["looped"], "loop", body=body))
    n.steps.append(([turns, x, w], ["looped"], result))
    n.out("looped")
    return {"n": [1, 3, 16]}


def branching(n):
    """Each turn of a loop takes one of two ways."""
    k = n.pick(3, 17)
    x, w, zero, limit = n.x("x", "n", k), n.floats(k, k), n.w(np.float32(0)), n.ints(4)
    ways = {"then_branch": graph([node("MatMul", ["s", w], ["a"])], [], [value("a", "float32", ("n", k))]),
            "else_branch": graph([node("Sub", [x, "s"], ["b"])], [], [value("b", "float32", ("n", k))])}
    nodes = [node("ReduceSum", ["s"], ["sum"], keepdims=0), node("Less", ["sum", zero], ["low"]), node("If", ["low"], ["next"], **ways), node("Identity", ["go"], ["on"])]
    body = graph(nodes, [value("i", "int64", ()), value("go", "bool", ()), value("s", "float32", ("n", k))], [value("on", "bool", ()), value("next", "float32", ("n", k))])
    turns = n.x("turns", dtype="int64", draw=lambda rng, s: np.array(rng.integers(0, 5)))

    def result(count, x, w):
        s = x
        for _ in range(int(count)):
            s = s @ w if s.sum() < 0 else x - s
        return s
    n.nodes.append(node("Loop", [n.add("Min", [turns, limit], lambda t, m: min(int(t), 4)), "", x], ["looped"], "loop", body=body))
    n.steps.append(([turns, x, w], ["looped"], result))
    n.out("looped")
    return {"n": [1, 3, 16]}


def chosen(n):
    """What is above zero, as many places as there can be."""
    n.out(n.add("NonZero", [n.relu(n.x("x", "n", 3))], lambda x: np.stack(np.nonzero(x))), "int64")
    return {"n": [1, 4, 9]}


KINDS = [mlp, conv_stack, unet, residual, lstm, gru, attention, bert_layer, depthwise, resize, concat, pooling, embedding, norms, transposed, reduce, of_nothing, slice_pad,
         quantized_conv, trees, loop, chosen, fractions, same_padding, branching]

SLOW_TO_BUILD = [unet, residual, transposed, depthwise, bert_layer]


def made(kind, seed):
    """(the network, its sizes: {name: value} each)."""
    net = Net(seed)
    extents = kind(net)
    return net, [{e: v[min(i, len(v) - 1)] for e, v in extents.items()} for i in range(max(len(v) for v in extents.values()))]
