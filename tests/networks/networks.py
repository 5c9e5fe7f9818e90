"""Networks with weights from a seed: files of ONNX to measure, and to test with.

    networks.py small_residual|small_attention|bert FOLDER        node by node, without any other file
    networks.py LIGHT/model.onnx FOLDER                           the structure of a network whose weights are one constant each

FOLDER gets model.onnx, input_0.pb and, of the small ones, output_0.pb as numpy computes it in double precision (tirc run
FOLDER/model.onnx --test-data FOLDER; of BERT's sums some end nearer to zero than such a comparison allows). The ONNX project's light networks (light_resnet50.onnx and others, in its package
onnx.backend.test) make each weight of one number, by ConstantOfShape: layout and order of such weights change no result. Here each
gets elements of its own, as the initialisation of He et al. (2015) has them, sqrt(2 / fan in) wide, so that values neither vanish
nor overflow; batch norms get statistics and scales around 1. Only this second form needs python3-onnx."""
import argparse
import math
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "onnx"))
from messages import model, node, tensor, value  # noqa: E402


def he(rng, shape, fan_in):
    return (rng.standard_normal(shape, dtype=np.float32) * np.float32(math.sqrt(2 / fan_in))).astype(np.float32)


# --- node by node ----------------------------------------------------------------------------------------------------------------


def convolve(x, w, stride, pad):
    """NCHW and OIHW, a sum of shifted products."""
    (n, _, height, width), (filters, _, kh, kw) = x.shape, w.shape
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    h, v = (height + 2 * pad - kh) // stride + 1, (width + 2 * pad - kw) // stride + 1
    y = np.zeros((n, filters, h, v))
    for i in range(kh):
        for j in range(kw):
            y += np.einsum("nchw,oc->nohw", x[:, :, i:i + h * stride:stride, j:j + v * stride:stride], w[:, :, i, j])
    return y


def pool(x, size, stride, pad):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
    return windows[:, :, ::stride, ::stride].max(axis=(4, 5))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class Network:
    """A file in the making; of each value the elements are known, in double precision."""

    def __init__(self, seed):
        self.rng, self.nodes, self.weights, self.values, self.count = np.random.default_rng(seed), [], [], {}, 0

    def name(self, word):
        self.count += 1
        return f"{word}_{self.count}"

    def weight(self, array):
        name = self.name("w")
        self.weights.append(tensor(array, name))
        self.values[name] = array.astype(np.float64) if array.dtype == np.float32 else array
        return name

    def uniform(self, n, low, high):
        return self.weight(self.rng.uniform(low, high, n).astype(np.float32))

    def add(self, op, inputs, result, **attributes):
        out = self.name(op.lower())
        self.nodes.append(node(op, inputs, [out], out, **attributes))
        self.values[out] = result(*(self.values[i] for i in inputs))
        return out

    def input(self, name, shape):
        array = self.rng.standard_normal(shape).astype(np.float32)
        self.values[name], self.given = array.astype(np.float64), (name, array)
        return name

    def save(self, folder, out):
        name, array = self.given
        y = self.values[out]
        os.makedirs(folder, exist_ok=True)
        text = model(self.nodes, [value(name, "float32", array.shape)], [value(out, "float32", y.shape)], self.weights)
        files = {"model.onnx": text, "input_0.pb": tensor(array, name)}
        if y.size < 1000:
            files["output_0.pb"] = tensor(y.astype(np.float32), out)
        for file, content in files.items():
            with open(os.path.join(folder, file), "wb") as f:
                f.write(content)

    # --- layers ---

    def binary(self, op, a, b):
        return self.add(op, [a, b], {"Add": np.add, "Div": np.divide, "Mul": np.multiply}[op])

    def relu(self, x):
        return self.add("Relu", [x], lambda x: np.maximum(x, 0))

    def convolution(self, x, filters, size, stride=1):
        channels, pad = self.values[x].shape[1], size // 2
        w = self.weight(he(self.rng, (filters, channels, size, size), channels * size * size))
        return self.add("Conv", [x, w], lambda x, w: convolve(x, w, stride, pad), kernel_shape=[size, size], strides=[stride, stride],
                        pads=[pad] * 4)

    def batch_norm(self, x):
        n = self.values[x].shape[1]
        inputs = [x, self.uniform(n, 0.5, 1), self.uniform(n, -0.1, 0.1), self.uniform(n, -0.1, 0.1), self.uniform(n, 0.5, 1.5)]

        def result(x, *parts):
            scale, shift, mean, variance = (p[:, None, None] for p in parts)
            return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift
        return self.add("BatchNormalization", inputs, result, epsilon=1e-5)

    def linear(self, x, n):
        k = self.values[x].shape[-1]
        w = self.weight((self.rng.standard_normal((k, n), dtype=np.float32) / np.float32(math.sqrt(k))).astype(np.float32))
        return self.binary("Add", self.add("MatMul", [x, w], np.matmul), self.uniform(n, -0.1, 0.1))

    def reshape(self, x, shape):
        return self.add("Reshape", [x, self.weight(np.array(shape, np.int64))], lambda x, s: x.reshape(s))

    def transpose(self, x, order):
        return self.add("Transpose", [x], lambda x: x.transpose(order), perm=order)

    def layer_norm(self, x):
        n = self.values[x].shape[-1]

        def result(x, scale, shift):
            centred = x - x.mean(axis=-1, keepdims=True)
            return centred / np.sqrt((centred ** 2).mean(axis=-1, keepdims=True) + 1e-12) * scale + shift
        return self.add("LayerNormalization", [x, self.uniform(n, 0.5, 1.5), self.uniform(n, -0.1, 0.1)], result, axis=-1, epsilon=1e-12)

    def gelu(self, x):
        """As exporters write it: x / 2 * (1 + erf(x / sqrt(2)))."""
        scalar = lambda v: self.weight(np.array(v, np.float32))  # noqa: E731
        erf = self.add("Erf", [self.binary("Div", x, scalar(math.sqrt(2)))], np.vectorize(math.erf))
        return self.binary("Mul", self.binary("Mul", x, self.binary("Add", erf, scalar(1))), scalar(0.5))


def small_residual(seed):
    """A stem and two blocks, the second with stride 2 and a convolution of 1x1 beside it; 10 classes."""
    n = Network(seed)
    x = n.relu(n.batch_norm(n.convolution(n.input("x", (1, 3, 30, 30)), 16, 7, 2)))
    x = n.add("MaxPool", [x], lambda x: pool(x, 3, 2, 1), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for filters, stride in (16, 1), (40, 2):
        y = n.relu(n.batch_norm(n.convolution(x, filters, 3, stride)))
        y = n.batch_norm(n.convolution(y, filters, 3))
        x = n.relu(n.binary("Add", y, x if stride == 1 else n.batch_norm(n.convolution(x, filters, 1, stride))))
    x = n.add("GlobalAveragePool", [x], lambda x: x.mean(axis=(2, 3), keepdims=True))
    x = n.add("Flatten", [x], lambda x: x.reshape(1, -1), axis=1)
    return n, n.add("Softmax", [n.linear(x, 10)], softmax, axis=-1)


def attention(seed, rows, width, heads, inner):
    """A layer of BERT (Devlin et al., 2018): attention and two products, each with a sum and a layer norm behind it."""
    n = Network(seed)
    size = width // heads
    x = n.input("x", (1, rows, width))
    split = lambda t, order: n.transpose(n.reshape(t, (1, rows, heads, size)), order)  # noqa: E731
    q, k, v = (split(n.linear(x, width), order) for order in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))
    scores = n.binary("Div", n.add("MatMul", [q, k], np.matmul), n.weight(np.array(math.sqrt(size), np.float32)))
    mixed = n.add("MatMul", [n.add("Softmax", [scores], softmax, axis=-1), v], np.matmul)
    mixed = n.reshape(n.transpose(mixed, (0, 2, 1, 3)), (1, rows, width))
    x = n.layer_norm(n.binary("Add", n.linear(mixed, width), x))
    return n, n.layer_norm(n.binary("Add", n.linear(n.gelu(n.linear(x, inner)), width), x))


MADE = {"small_residual": small_residual, "small_attention": lambda seed: attention(seed, 12, 48, 3, 100),
        "bert": lambda seed: attention(seed, 128, 768, 12, 3072)}


# --- a file's structure ----------------------------------------------------------------------------------------------------------


def draw(rng, shape, op, place):
    """The elements of a weight by the node that takes it, and which of its inputs it is."""
    n = int(np.prod(shape))
    uniform = lambda low, high: rng.uniform(low, high, shape).astype(np.float32)  # noqa: E731
    if op == "BatchNormalization":
        return uniform(*((0.3, 0.7), (-0.1, 0.1), (-0.1, 0.1), (0.8, 1.2))[place - 1])
    if op == "Mul":
        return uniform(0.7, 1.3)
    if len(shape) > 1 and op in ("Conv", "Gemm", "MatMul"):
        return he(rng, shape, n // shape[0])
    return uniform(-0.1, 0.1)


def seeded(path, seed, folder):
    sys.path = [p for p in sys.path if not p.endswith(os.path.join("..", "onnx"))]  # where a test is named as the package
    import onnx
    from onnx import numpy_helper
    m = onnx.load(path)
    graph, rng = m.graph, np.random.default_rng(seed)
    users = {i: (n, place) for n in reversed(graph.node) for place, i in enumerate(n.input)}
    arrays = {t.name: numpy_helper.to_array(t) for t in graph.initializer}

    def new(name, shape):
        user, place = users[name]
        while user.op_type in ("Unsqueeze", "Reshape"):
            user, place = users[user.output[0]]
        return numpy_helper.from_array(draw(rng, shape, user.op_type, place), name)

    for source in [n for n in graph.node if n.op_type == "ConstantOfShape" and n.input[0] in arrays]:
        graph.node.remove(source)
        graph.initializer.append(new(source.output[0], [int(e) for e in arrays[source.input[0]]]))
    for t in graph.initializer:
        a = arrays.get(t.name)
        if a is not None and a.dtype == np.float32 and a.size > 1 and np.all(a == a.flat[0]) and t.name in users:
            t.CopyFrom(new(t.name, a.shape))
    used = {i for n in graph.node for i in n.input}
    for t in [t for t in graph.initializer if t.name not in used]:
        graph.initializer.remove(t)
    for i in [i for i in graph.input if i.name in arrays]:
        graph.input.remove(i)
    m.ir_version = max(m.ir_version, 4)  # from there on a weight need not be an input
    x = graph.input[0]
    shape = [d.dim_value for d in x.type.tensor_type.shape.dim]
    os.makedirs(folder, exist_ok=True)
    onnx.save(m, os.path.join(folder, "model.onnx"))
    with open(os.path.join(folder, "input_0.pb"), "wb") as f:
        f.write(tensor(rng.standard_normal(shape).astype(np.float32), x.name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    if o.network in MADE:
        network, out = MADE[o.network](o.seed)
        network.save(o.folder, out)
    elif os.path.exists(o.network):
        seeded(o.network, o.seed, o.folder)
    else:
        sys.exit(f"networks.py: no file {o.network}, and not one of {', '.join(MADE)}")


if __name__ == "__main__":
    main()
