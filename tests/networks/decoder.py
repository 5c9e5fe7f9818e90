"""The decoder of examples/models as a file of ONNX: one token behind n, whose keys and values come in and go out.

    decoder.py FILE.tir FOLDER [--seed N] [--group N [--level N]]

FOLDER gets model.onnx, the function decode of a text that gpt2.py wrote, with weights of the seed that gpt2.py draws. It is for
`tirc bench FOLDER/model.onnx -D n=64 --vs onnxruntime`; results are token and logits, then keys and values of each layer.
--group: products are MatMulNBits of weights of four bits in groups of so many, with this accuracy_level (4: integers)."""
import argparse
import os
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "onnx"), str(HERE.parents[1] / "examples/models")]
import gpt2  # noqa: E402
from messages import field, model, node, tensor, value  # noqa: E402


def in_groups(columns, group):
    """Weights (N, K) in four bits around 8: bytes (N, K / group, group / 2) and factors, one a group."""
    parts = columns.reshape(len(columns), -1, group)
    factors = np.abs(parts).max(2) / 7
    q = (np.rint(parts / np.where(factors == 0, 1, factors)[..., None]) + 8).astype("uint8")
    return q[..., ::2] | q[..., 1::2] << 4, factors.astype("float32")


class Writer:
    def __init__(self, sizes, seed, group=0, level=0):
        self.sizes, self.nodes, self.group, self.level = sizes, [], group, level
        self.drawn = dict(gpt2.drawn(sizes, seed))
        inner = {name for name, a in self.drawn.items() if group and a.ndim == 2 and name.startswith("h_")}
        self.weights = [tensor(a, name) for name, a in self.drawn.items() if name not in inner]

    def constant(self, name, array, dtype="int64"):
        self.weights.append(tensor(np.asarray(array, dtype), name))
        return name

    def add(self, op, inputs, outputs, **attributes):
        outputs = [outputs] if isinstance(outputs, str) else outputs
        self.nodes.append(node(op, inputs, outputs, outputs[0] + "_" + op, **attributes))
        return outputs[0]

    def few_bits(self, x, w, columns, out):
        q, factors = in_groups(columns, self.group)
        inputs = [x, self.constant(w + "_q", q, "uint8"), self.constant(w + "_factors", factors.reshape(-1), "float32")]
        return self.add("MatMulNBits", inputs, out, domain="com.microsoft", K=columns.shape[1], N=len(columns), bits=4,
                        block_size=self.group, accuracy_level=self.level)

    def linear(self, x, w, out):
        name = w + "_weight"
        product = (self.few_bits(x, name, np.ascontiguousarray(self.drawn[name].T), out + "_product") if self.group else
                   self.add("MatMul", [x, name], out + "_product"))
        return self.add("Add", [product, w + "_bias"], out)

    def norm(self, x, w, out):
        return self.add("LayerNormalization", [x, w + "_weight", w + "_bias"], out, axis=-1, epsilon=1e-5)

    def heads(self, x, out, order):
        """(rows, width) as heads in this order of rows, heads and depth."""
        return self.add("Transpose", [self.add("Reshape", [x, "by_heads"], out + "_split")], out, perm=order)

    def layer(self, i, x):
        w, s = "h_%d_" % i, str(i)
        qkv = self.linear(self.norm(x, w + "ln_1", "n1_" + s), w + "attn_c_attn", "qkv_" + s)
        self.add("Split", [qkv, "thirds"], ["q_" + s, "k_" + s, "v_" + s], axis=1)
        for name, new in (("keys_", "k_"), ("values_", "v_")):
            self.add("Concat", ["past_" + name + s, new + s], name + s, axis=0)
        q, k, v = self.heads("q_" + s, "qh_" + s, [1, 0, 2]), self.heads("keys_" + s, "kh_" + s, [1, 2, 0]), self.heads("values_" + s, "vh_" + s, [1, 0, 2])
        scores = self.add("Mul", [self.add("MatMul", [q, k], "qk_" + s), "scale"], "scores_" + s)
        seen = self.add("MatMul", [self.add("Softmax", [scores], "shares_" + s, axis=-1), v], "seen_" + s)
        merged = self.add("Reshape", [self.add("Transpose", [seen], "turned_" + s, perm=[1, 0, 2]), "by_rows"], "merged_" + s)
        y = self.add("Add", [self.linear(merged, w + "attn_c_proj", "a_" + s), x], "y_" + s)
        wide = self.linear(self.norm(y, w + "ln_2", "n2_" + s), w + "mlp_c_fc", "wide_" + s)
        f = self.add("Gelu", [wide], "f_" + s, approximate="tanh")
        return self.add("Add", [self.linear(f, w + "mlp_c_proj", "narrow_" + s), y], "x_" + s)

    def bytes(self):
        z = self.sizes
        depth = z.width // z.heads
        self.constant("by_heads", [-1, z.heads, depth])
        self.constant("by_rows", [1, z.width])
        self.constant("thirds", [z.width] * 3)
        self.constant("scale", depth ** -0.5, "float32")
        self.constant("first", 0)
        place = self.add("Gather", [self.add("Shape", ["past_keys_0"], "shape"), "first"], "place", axis=0)
        x = self.add("Add", [self.add("Gather", ["wte_weight", "ids"], "words", axis=0), self.add("Gather", ["wpe_weight", place], "here", axis=0)], "x")
        for i in range(z.layers):
            x = self.layer(i, x)
        h = self.norm(x, "ln_f", "h")
        if self.group:
            logits = self.few_bits(h, "wte", self.drawn["wte_weight"], "logits")
        else:
            logits = self.add("MatMul", [h, self.add("Transpose", ["wte_weight"], "columns", perm=[1, 0])], "logits")
        self.add("ArgMax", [logits], "token", axis=1, keepdims=0)
        kept = ["%s_%d" % (name, i) for i in range(z.layers) for name in ("keys", "values")]
        inputs = [value("ids", "int64", (1,))] + [value("past_" + k, "float32", ("n", z.width)) for k in kept]
        outputs = [value("token", "int64", (1,)), value("logits", "float32", (1, z.vocabulary))] + [value(k, "float32", ("n + 1", z.width)) for k in kept]
        return model(self.nodes, inputs, outputs, self.weights, opset=20) + field(8, field(1, "com.microsoft") + field(2, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("folder")
    for name in ("seed", "group", "level"):
        parser.add_argument("--" + name, type=int, default=0)
    o = parser.parse_args()
    os.makedirs(o.folder, exist_ok=True)
    made = Writer(gpt2.sizes_of(o.text), o.seed, o.group, o.level).bytes()
    with open(os.path.join(o.folder, "model.onnx"), "wb") as f:
        f.write(made)


if __name__ == "__main__":
    main()
