"""Networks of well-known structure, with weights of a seed, to measure: structures.py NAME FOLDER [--seed N]

NAME: resnet50, mobilenet_v2, efficientnet_b0, unet or vit. FOLDER gets model.onnx, one image in float32 (NCHW, 224 wide; of unet
256). Batch norms are folded into the convolutions before them, as exporters do. Weights are as wide as keeps values finite:
what a network computes is compared with another runtime's, and means nothing."""
import argparse
import os
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "onnx"))
from messages import model, node, tensor, value  # noqa: E402


class Writer:
    def __init__(self, seed):
        self.rng, self.nodes, self.weights, self.count = np.random.default_rng(seed), [], [], 0

    def name(self, word):
        self.count += 1
        return "%s%d" % (word, self.count)

    def constant(self, array, dtype="float32"):
        name = self.name("w")
        self.weights.append(tensor(np.asarray(array, dtype), name))
        return name

    def drawn(self, *shape, fan_in):
        return self.constant(self.rng.standard_normal(shape, dtype=np.float32) / np.float32(fan_in ** 0.5))

    def op(self, kind, *inputs, **attributes):
        out = self.name("t")
        self.nodes.append(node(kind, inputs, [out], out, **attributes))
        return out

    def conv(self, x, ci, co, size, stride=1, groups=1):
        w = self.drawn(co, ci // groups, size, size, fan_in=ci // groups * size * size)
        return self.op("Conv", x, w, self.constant(0.1 * self.rng.standard_normal(co)), strides=[stride, stride], pads=[size // 2] * 4,
                       group=groups, kernel_shape=[size, size])

    def relu(self, x):
        return self.op("Relu", x)

    def linear(self, x, i, o):
        return self.op("Add", self.op("MatMul", x, self.drawn(i, o, fan_in=i)), self.constant(np.zeros(o)))

    def classify(self, x, width):
        flat = self.op("Flatten", self.op("GlobalAveragePool", x))
        return self.op("Gemm", flat, self.drawn(width, 1000, fan_in=width), self.constant(np.zeros(1000)))


def resnet50(w):
    def block(x, ci, width, stride):
        y = w.relu(w.conv(x, ci, width, 1))
        y = w.conv(w.relu(w.conv(y, width, width, 3, stride)), width, 4 * width, 1)
        short = x if ci == 4 * width and stride == 1 else w.conv(x, ci, 4 * width, 1, stride)
        return w.relu(w.op("Add", y, short))

    x = w.op("MaxPool", w.relu(w.conv("x", 3, 64, 7, 2)), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            x, channels = block(x, channels, width, stride if i == 0 else 1), 4 * width
    return w.classify(x, channels), 224, (1, 1000)


def inverted(w, x, ci, co, times, size, stride, act, squeeze=None):
    """A wide depthwise convolution between two narrow ones, the short cut between the narrow ends."""
    wide = ci * times
    y = act(w.conv(x, ci, wide, 1)) if times > 1 else x
    y = act(w.conv(y, wide, wide, size, stride, groups=wide))
    if squeeze:
        z = act(w.conv(w.op("GlobalAveragePool", y), wide, squeeze, 1))
        y = w.op("Mul", y, w.op("Sigmoid", w.conv(z, squeeze, wide, 1)))
    y = w.conv(y, wide, co, 1)
    return w.op("Add", x, y) if stride == 1 and ci == co else y


def mobilenet_v2(w):
    def act(x):
        return w.op("Clip", x, w.constant(0), w.constant(6))

    x, ci = act(w.conv("x", 3, 32, 3, 2)), 32
    for times, co, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(count):
            x, ci = inverted(w, x, ci, co, times, 3, stride if i == 0 else 1, act), co
    return w.classify(act(w.conv(x, 320, 1280, 1)), 1280), 224, (1, 1000)


def efficientnet_b0(w):
    def act(x):
        return w.op("Mul", x, w.op("Sigmoid", x))

    x, ci = act(w.conv("x", 3, 32, 3, 2)), 32
    for times, co, count, stride, size in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
                                           (6, 320, 1, 1, 3)):
        for i in range(count):
            x, ci = inverted(w, x, ci, co, times, size, stride if i == 0 else 1, act, squeeze=ci // 4), co
    return w.classify(act(w.conv(x, 320, 1280, 1)), 1280), 224, (1, 1000)


def unet(w):
    def double(x, ci, co):
        return w.relu(w.conv(w.relu(w.conv(x, ci, co, 3)), co, co, 3))

    x, ci, kept = "x", 3, []
    for co in (32, 64, 128, 256):
        x, ci = double(x, ci, co), co
        kept.append((x, co))
        x = w.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x, ci = double(x, 256, 512), 512
    for y, co in reversed(kept):
        x = w.op("ConvTranspose", x, w.drawn(ci, co, 2, 2, fan_in=ci), strides=[2, 2], kernel_shape=[2, 2])
        x, ci = double(w.op("Concat", y, x, axis=1), 2 * co, co), co
    return w.conv(x, 32, 2, 1), 256, (1, 2, 256, 256)


def vit(w):
    width, heads, rows = 768, 12, 197

    def norm(x):
        return w.op("LayerNormalization", x, w.constant(np.ones(width)), w.constant(np.zeros(width)), axis=-1)

    def gelu(x):
        e = w.op("Add", w.op("Erf", w.op("Mul", x, w.constant(0.5 ** 0.5))), w.constant(1))
        return w.op("Mul", w.op("Mul", x, e), w.constant(0.5))

    split, joined = w.constant([1, rows, heads, 64], "int64"), w.constant([1, rows, width], "int64")
    x = w.op("Conv", "x", w.drawn(width, 3, 16, 16, fan_in=768), strides=[16, 16], kernel_shape=[16, 16])
    x = w.op("Transpose", w.op("Reshape", x, w.constant([1, width, 196], "int64")), perm=[0, 2, 1])
    x = w.op("Concat", w.constant(np.full((1, 1, width), 0.02)), x, axis=1)
    for _ in range(12):
        y = norm(x)
        q, k, v = (w.op("Transpose", w.op("Reshape", w.linear(y, width, width), split), perm=p) for p in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        shares = w.op("Softmax", w.op("Mul", w.op("MatMul", q, k), w.constant(0.125)), axis=-1)
        seen = w.op("Reshape", w.op("Transpose", w.op("MatMul", shares, v), perm=[0, 2, 1, 3]), joined)
        x = w.op("Add", x, w.linear(seen, width, width))
        x = w.op("Add", x, w.linear(gelu(w.linear(norm(x), width, 4 * width)), 4 * width, width))
    first = w.op("Gather", norm(x), w.constant(0, "int64"), axis=1)
    return w.op("Gemm", first, w.drawn(width, 1000, fan_in=width), w.constant(np.zeros(1000))), 224, (1, 1000)


NETWORKS = {f.__name__: f for f in (resnet50, mobilenet_v2, efficientnet_b0, unet, vit)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=list(NETWORKS))
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    w = Writer(o.seed)
    out, side, shape = NETWORKS[o.network](w)
    os.makedirs(o.folder, exist_ok=True)
    with open(os.path.join(o.folder, "model.onnx"), "wb") as f:
        f.write(model(w.nodes, [value("x", "float32", (1, 3, side, side))], [value(out, "float32", shape)], w.weights))


main()
