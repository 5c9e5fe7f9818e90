"""Models against numpy: models.py TIRC EXAMPLES OUT

Weights come from a seed and go through a .safetensors file; results are compared with float64. Each model runs with its
schedules and without, on batches of several sizes where its extents are symbolic, by one thread and by two.
"""
import ctypes
import json
import math
import os
import re
import struct
import subprocess
import sys

import numpy as np

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from every import sample  # noqa: E402

tirc, examples, out = sys.argv[1:4]
rng = np.random.default_rng(1)
failures = 0


def save_safetensors(path, arrays):
    header, data = {}, b""
    for name, a in arrays.items():
        kind = {"float32": "F32", "int64": "I64", "int32": "I32"}[str(a.dtype)]
        header[name] = {"dtype": kind, "shape": list(a.shape), "data_offsets": [len(data), len(data) + a.nbytes]}
        data += a.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def run(model, inputs, weights, results, options=()):
    command = [tirc, "run", model, *options]
    if weights:
        path = os.path.join(out, "weights.safetensors")
        save_safetensors(path, weights)
        command += ["--weights", path]
    for name, a in inputs.items():
        np.save(os.path.join(out, name + ".npy"), a)
        command += ["--in", "%s=%s" % (name, os.path.join(out, name + ".npy"))]
    for name in results:
        if os.path.exists(os.path.join(out, name + ".out.npy")):
            os.remove(os.path.join(out, name + ".out.npy"))
        command += ["--out", "%s=%s" % (name, os.path.join(out, name + ".out.npy"))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\n%s%s" % (" ".join(command), done.stdout, done.stderr))
    return [np.load(os.path.join(out, name + ".out.npy")) for name in results]


def compare(what, got, expected, tolerance=1e-4):
    global failures
    expected = np.asarray(expected)
    if got.shape != expected.shape:
        print("%s: the shape is %s, not %s" % (what, got.shape, expected.shape))
        failures += 1
        return
    error = np.abs(got - expected).max(initial=0) / max(1.0, np.abs(expected).max(initial=0))
    if not error <= tolerance:
        print("%s: the error is %g" % (what, error))
        failures += 1


def floats(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype("float32")


WAYS = [[], ["--plain"], ["--threads", "2"], ["--check"]]


def mlp(ways=WAYS):
    w = {"w0": floats(784, 128, scale=0.05), "b0": floats(128), "w1": floats(128, 10, scale=0.1), "b1": floats(10)}
    for n in sample((1, 3, 8, 64, 0)):
        x = floats(n, 784)
        d = {k: v.astype("float64") for k, v in w.items()}
        expected = np.maximum(x.astype("float64") @ d["w0"] + d["b0"], 0) @ d["w1"] + d["b1"]
        for way in ways if n <= 8 else ways[:3]:
            (got,) = run(os.path.join(examples, "mlp.tir"), {"x": x}, w, ["gv"], way)
            compare("mlp, n=%d %s" % (n, way), got, expected)
            if n and not (got.argmax(1) == expected.argmax(1)).all():
                sys.exit("mlp: another class")


def conv2d(x, w):
    n, c, h, width = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.zeros((n, w.shape[0], h, width))
    for i in range(3):
        for j in range(3):
            out += np.einsum("nchw,oc->nohw", padded[:, :, i:i + h, j:j + width], w[:, :, i, j])
    return out


def residual():
    w = {"w0": floats(32, 32, 3, 3, scale=0.1), "w1": floats(32, 32, 3, 3, scale=0.1)}
    for k in "01":
        w.update({"gamma" + k: floats(32), "beta" + k: floats(32), "mean" + k: floats(32)})
        w["var" + k] = np.abs(floats(32)) + np.float32(0.5)
    d = {k: v.astype("float64") for k, v in w.items()}

    def norm(x, k):
        scale = d["gamma" + k] / np.sqrt(d["var" + k] + 1e-5)
        return x * scale[:, None, None] + (d["beta" + k] - d["mean" + k] * scale)[:, None, None]

    for n in (1, 3):
        x = floats(n, 32, 14, 14)
        a = np.maximum(norm(conv2d(x.astype("float64"), d["w0"]), "0"), 0)
        expected = np.maximum(norm(conv2d(a, d["w1"]), "1") + x, 0)
        other_layout = ["--pass=graph:" + os.path.join(examples, "nhwc.sch")]
        for way in WAYS + [other_layout] if n == 1 else WAYS[:2] + [other_layout]:
            (got,) = run(os.path.join(examples, "residual.tir"), {"x": x}, w, ["gv"], way)
            compare("residual, n=%d %s" % (n, way), got, expected)


FOLDS = '''@R.function
def main(x: R.Tensor(("n", 3, 8, 8), "float32"), y: R.Tensor(("n", 6), "float32"), w: R.Tensor((5, 3, 3, 3), "float32"), v: R.Tensor((3, 3, 3, 4), "float32"), u: R.Tensor((6, 4), "float32"), gamma: R.Tensor((5,), "float32"), beta: R.Tensor((5,), "float32"), mean: R.Tensor((5,), "float32"), var: R.Tensor((5,), "float32"), b: R.Tensor((1, 5, 1, 1), "float32"), m: R.Tensor((5, 1, 1), "float32"), gamma4: R.Tensor((4,), "float32"), beta4: R.Tensor((4,), "float32"), mean4: R.Tensor((4,), "float32"), var4: R.Tensor((4,), "float32")):
    R.func_attr({"num_input": 2})
    with R.dataflow():
        norm = R.nn.batch_norm(R.nn.conv2d(x, w, padding=1), gamma, beta, mean, var, axis=1, epsilon=0.01)[0]
        with_sum = R.nn.relu(R.nn.batch_norm(R.add(R.nn.conv2d(x, w), b), gamma, beta, mean, var)[0])
        unscaled = R.nn.batch_norm(R.nn.conv2d(x, w), gamma, beta, mean, var, center=False, scale=False)[0]
        factor = R.add(R.multiply(m, R.nn.conv2d(x, w, strides=2)), b)
        factor_of_sum = R.multiply(R.add(R.nn.conv2d(x, w), b), m)
        one = R.multiply(R.nn.conv2d(x, w), R.const(2.5, "float32"))
        last = R.nn.batch_norm(R.nn.conv2d(R.permute_dims(x, (0, 2, 3, 1)), v, data_layout="NHWC", kernel_layout="IHWO"), gamma4, beta4, mean4, var4, axis=-1)[0]
        product = R.nn.batch_norm(R.matmul(y, u), gamma4, beta4, mean4, var4)[0]
        R.output(norm, with_sum, unscaled, factor, factor_of_sum, one, last, product)
    return (norm, with_sum, unscaled, factor, factor_of_sum, one, last, product)
'''


def folds():
    """Batch norms, sums and factors behind convolutions and products, which become parts of the weights."""
    model = os.path.join(out, "folds.tir")
    with open(model, "w") as f:
        f.write(FOLDS)
    w = {"w": floats(5, 3, 3, 3), "v": floats(3, 3, 3, 4), "u": floats(6, 4)}
    for k, n in (("", 5), ("4", 4)):
        w.update({name + k: floats(n) for name in ("gamma", "beta", "mean")})
        w["var" + k] = np.abs(floats(n)) + np.float32(0.5)
    w.update({"b": floats(1, 5, 1, 1), "m": floats(5, 1, 1)})
    d = {k: a.astype("float64") for k, a in w.items()}
    x, y = floats(2, 3, 8, 8), floats(2, 6)
    whole = conv2d(x.astype("float64"), d["w"])
    inner = whole[:, :, 1:-1, 1:-1]
    last = conv2d(x.astype("float64"), d["v"].transpose(3, 0, 1, 2))[:, :, 1:-1, 1:-1].transpose(0, 2, 3, 1)

    def norm(a, axis, epsilon, k=""):
        spread = lambda v: v.reshape([-1] + [1] * (a.ndim - axis - 1))
        return (a - spread(d["mean" + k])) / np.sqrt(spread(d["var" + k]) + epsilon) * spread(d["gamma" + k]) + spread(d["beta" + k])

    expected = {"norm": norm(whole, 1, 0.01), "with_sum": np.maximum(norm(inner + d["b"], 1, 1e-5), 0),
                "unscaled": (inner - d["mean"][:, None, None]) / np.sqrt(d["var"][:, None, None] + 1e-5),
                "factor": inner[:, :, ::2, ::2] * d["m"] + d["b"], "factor_of_sum": (inner + d["b"]) * d["m"], "one": inner * 2.5,
                "last": norm(last, 3, 1e-5, "4"), "product": norm(y.astype("float64") @ d["u"], 1, 1e-5, "4")}
    for way in ([], ["--plain"], ["--skip=FoldBatchNorm"]):
        got = run(model, {"x": x, "y": y}, w, list(expected), way)
        for name, g in zip(expected, got):
            compare("%s, folded %s" % (name, way), g, expected[name])


FUSIONS = '''@R.function
def main(x: R.Tensor(("n", "s", 24), "float32"), y: R.Tensor(("n", "s", 24), "float32"), w: R.Tensor((24,), "float32"), v: R.Tensor((24, 24), "float32"), b: R.Tensor((24,), "float32")):
    R.func_attr({"num_input": 2})
    with R.dataflow():
        s = R.add(x, y)
        between = R.negative(s)
        normed = R.nn.rms_norm(s, w, axes=[-1], epsilon=0.01)
        behind = R.multiply(s, normed)
        shifted = R.nn.rms_norm(R.add(x, b), w, axes=[-1])
        again = R.nn.rms_norm(R.add(normed, y), w, axes=[-1])
        scores = R.matmul(x, R.permute_dims(y, [0, 2, 1]))
        outer = R.matmul(R.permute_dims(x, [0, 2, 1]), y)
        weighted = R.matmul(x, R.permute_dims(v))
        turned = R.permute_dims(again, [0, 2, 1])
        both = R.matmul(x, turned)
        gv = R.add(both, R.sum(turned, axis=[1], keepdims=True))
        R.output(s, between, normed, behind, shifted, again, scores, outer, weighted, gv)
    return (s, between, normed, behind, shifted, again, scores, outer, weighted, gv)
'''


def fusions():
    """Sums and their RMS norms, products with a transposed matrix; of each some that stay as they are."""
    model = os.path.join(out, "fusions.tir")
    with open(model, "w") as f:
        f.write(FUSIONS)
    w = {"w": floats(24), "v": floats(24, 24), "b": floats(24)}
    x, y = floats(2, 5, 24), floats(2, 5, 24)
    d = {k: a.astype("float64") for k, a in {"x": x, "y": y, **w}.items()}

    def norm(a, epsilon=1e-5):
        return a / np.sqrt((a * a).mean(-1, keepdims=True) + epsilon) * d["w"]

    s, turn = d["x"] + d["y"], lambda a: a.transpose(0, 2, 1)
    normed = norm(s, 0.01)
    again = norm(normed + d["y"])
    expected = {"s": s, "between": -s, "normed": normed, "behind": s * normed, "shifted": norm(d["x"] + d["b"]), "again": again,
                "scores": d["x"] @ turn(d["y"]), "outer": turn(d["x"]) @ d["y"], "weighted": d["x"] @ d["v"].T,
                "gv": d["x"] @ turn(again) + again.sum(2)[:, None, :]}
    names = ["FuseAddRMSNorm", "FuseTransposeMatmul"]
    for way in ([], ["--plain", "-D", "n=2", "-D", "s=5"], ["--skip=" + n for n in names]):
        for name, g in zip(expected, run(model, {"x": x, "y": y}, w, list(expected), way)):
            compare("%s, fused %s" % (name, way), g, expected[name])
    text = {}
    for way in ("none", *names):
        done = subprocess.run([tirc, "apply", model, "--plain", "--skip=FuseOps", *["--skip=" + n for n in names if n != way]],
                              capture_output=True, text=True, check=True)
        text[way] = re.findall(r"R.call_tir\(cls.([a-z_]+[a-z])", done.stdout)
    count = lambda way, name: text[way].count(name)
    # `between` needs the first sum; the sum with a vector stays
    if count("none", "add") != 4 or count(names[0], "add") != 3 or count(names[0], "add_rms_norm") != 2 or count(names[0], "rms_norm") != 1:
        sys.exit("FuseAddRMSNorm: %s" % text)
    # of the left matrix, of a weight and of what has another use: these stay
    if count("none", "permute_dims") != 4 or count(names[1], "permute_dims") != 3 or count(names[1], "nt_matmul") != 1:
        sys.exit("FuseTransposeMatmul: %s" % text)
    if not len(text[names[1]]) < len(text["none"]):
        sys.exit("FuseTransposeMatmul: no fewer calls: %s" % text)


def erf(x):
    return np.vectorize(math.erf, otypes=[float])(x)


def bert_layer():
    w = {}
    for k in "qkvo":
        w["w" + k], w["b" + k] = floats(768, 768, scale=0.03), floats(768, scale=0.1)
    w["w1"], w["b1"] = floats(768, 3072, scale=0.03), floats(3072, scale=0.1)
    w["w2"], w["b2"] = floats(3072, 768, scale=0.02), floats(768, scale=0.1)
    for k in "12":
        w["gamma" + k], w["beta" + k] = floats(768), floats(768)
    d = {k: v.astype("float64") for k, v in w.items()}

    def norm(x, k):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * d["gamma" + k] + d["beta" + k]

    def expected(x):
        n, s, _ = x.shape
        heads = {k: (x @ d["w" + k] + d["b" + k]).reshape(n, s, 12, 64).transpose(0, 2, 1, 3) for k in "qkv"}
        scores = heads["q"] @ heads["k"].transpose(0, 1, 3, 2) * 0.125
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        context = scores / scores.sum(-1, keepdims=True) @ heads["v"]
        merged = context.transpose(0, 2, 1, 3).reshape(n, s, 768)
        h = norm(merged @ d["wo"] + d["bo"] + x, "1")
        wide = h @ d["w1"] + d["b1"]
        wide = wide * 0.5 * (1 + erf(wide / np.sqrt(2)))
        return norm(wide @ d["w2"] + d["b2"] + h, "2")

    for n, s in sample(((2, 9), (1, 128))):
        x = floats(n, s, 768)
        for way in ([], ["-D", "n=%d" % n, "-D", "s=%d" % s], ["--plain"]):
            if way == ["--plain"] and s > 9:
                continue
            (got,) = run(os.path.join(examples, "bert_layer.tir"), {"x": x}, w, ["gv"], way)
            compare("BERT layer, n=%d s=%d %s" % (n, s, way), got, expected(x.astype("float64")), 1e-3)


def plain_gemm(library):
    """The same function where there is no OpenBLAS."""
    source = os.path.join(out, "gemm_plain.c")
    with open(source, "w") as f:
        f.write('''#include "tirc_dlpack.h"
int gemm(int n, const DLTensor *t) {
  const float *a = t[0].data, *b = t[1].data;
  float *c = t[2].data;
  const long rows = t[0].shape[0], depth = t[0].shape[1], columns = t[1].shape[1];
  if (n != 3) return 1;
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < columns; j++) {
      c[i * columns + j] = 0;
      for (long k = 0; k < depth; k++) c[i * columns + j] += a[i * depth + k] * b[k * columns + j];
    }
  return 0;
}
''')
    include = os.path.join(os.path.dirname(examples), "..", "runtime")
    subprocess.run(["cc", "-shared", "-fPIC", "-I", include, source, "-o", library], check=True)
    print("models: no OpenBLAS: a function of C stands in for it")


def foreign():
    """A function of a shared object: OpenBLAS's product."""
    library = os.path.join(out, "gemm.so")
    include = os.path.join(os.path.dirname(examples), "..", "runtime")
    source = os.path.join(examples, "gemm.c")
    blas = next((l for l in ("-lopenblas", "-l:libopenblas.so.0") if subprocess.run(
        ["cc", "-shared", "-fPIC", "-I", include, source, "-o", library, l], capture_output=True).returncode == 0), None)
    if not blas:
        plain_gemm(library)
    w = {"w": floats(64, 32), "b": floats(32)}
    for n in (1, 5, 0):
        x = floats(n, 64)
        expected = np.maximum(x.astype("float64") @ w["w"].astype("float64") + w["b"], 0)
        for way in ([], ["--check"]):
            (got,) = run(os.path.join(examples, "gemm.tir"), {"x": x}, w, ["gv"], way + ["--load", library])
            compare("gemm, n=%d %s" % (n, way), got, expected)
    mlp([["--pass=graph:" + os.path.join(examples, "blas.sch"), "--load", library]])


EMPTY = '''@R.function
def main(x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(("k", 5), "float32"), b: R.Tensor((5,), "float32"), y: R.Tensor(("n", "m"), "float32")):
    with R.dataflow():
        product = R.nn.relu(R.add(R.matmul(x, w), b))
        total = R.sum(x, axis=[1])
        greatest = R.max(x, axis=[1])
        share = R.nn.softmax(y, axis=-1)
        mixed = R.matmul(x, R.matmul(R.permute_dims(x), y))
        R.output(product, total, greatest, share, mixed)
    return (product, total, greatest, share, mixed)
'''


def empty():
    """Reductions over extents that are 0 when the model runs give the neutral elements."""
    model = os.path.join(out, "empty.tir")
    with open(model, "w") as f:
        f.write(EMPTY)
    results = ["product", "total", "greatest", "share", "mixed"]
    for n, k, m in ((3, 4, 2), (3, 0, 2), (3, 4, 0), (0, 0, 0)):
        x, w, b, y = floats(n, k), floats(k, 5), floats(5), floats(n, m)
        e = np.exp(y.astype("float64"))
        expected = [np.maximum(x @ w + b, 0), x.sum(1), x.max(1, initial=-np.inf), e / e.sum(1, keepdims=True), x @ (x.T @ y)]
        for way in ([], ["--plain", "--check"]) if k else ([], ["--plain"], ["--check"]):
            got = run(model, {"x": x, "w": w, "b": b, "y": y}, None, results, way)
            for name, g, wanted in zip(results, got, expected):
                if np.isinf(wanted).any():
                    compare("%s, k=%d %s" % (name, k, way), np.isneginf(g) * 1.0, np.isneginf(wanted) * 1.0)
                else:
                    compare("%s, n=%d k=%d m=%d %s" % (name, n, k, m, way), g, wanted)
    with open(model, "w") as f:  # which one is the greatest of none has no answer
        f.write('@R.function\ndef main(x: R.Tensor(("n", "k"), "float32")):\n    with R.dataflow():\n        where = R.argmax(x, axis=1)\n'
                '        R.output(where)\n    return where\n')
    for k, status in ((4, 0), (0, 2)):
        done = subprocess.run([tirc, "run", model, "--in", "n=3", "--in", "k=%d" % k], capture_output=True, text=True)
        if done.returncode != status or (status and "argmax of no elements" not in done.stderr):
            sys.exit("argmax of %d elements: %d\n%s" % (k, done.returncode, done.stderr))


def built(base, model, options, defines, form):
    """A shared object of the model: its C by gcc, its object linked, or as it comes; what the header says of it."""
    files = {"c": base + ".c", "obj": base + ".o", "lib": base + "_lib.so"}
    commands = [[tirc, "build", model, *options, *defines, "--emit=" + form, "-o", files[form]],
                [tirc, "build", model, *options, *defines, "--emit=header", "-o", base + ".h"]]
    shared = files[form] if form == "lib" else base + "_" + form + ".so"
    if form == "c":
        commands.append(["gcc", "-O1", "-march=haswell", "-shared", "-fPIC", files["c"], "-o", shared, "-lm"])
    if form == "obj":
        commands.append(["gcc", "-shared", files["obj"], "-o", shared, "-lm"])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit("%s\n%s" % (" ".join(command), done.stderr))
    return ctypes.CDLL(shared), open(base + ".h").read()


def block(size):
    """So many bytes, aligned to 64, with bits that are no number."""
    memory = np.full(size + 64, 255, "uint8")
    return memory, ctypes.c_void_p(memory.ctypes.data + -memory.ctypes.data % 64)


class Product(ctypes.Structure):
    """The struct NAME_product of the header."""
    _fields_ = ([(n, ctypes.c_char_p) for n in ("function", "block", "phase")] + [(n, ctypes.c_int64) for n in ("batch", "M", "N", "K")] +
                [(n, ctypes.c_char_p) for n in ("a", "b", "out", "layout")] + [("convolution", ctypes.c_int)])


TOLD = ctypes.CFUNCTYPE(None, ctypes.POINTER(Product), ctypes.c_int)


def products(model, options, weights=()):
    """The lines of --log-matmuls, without what is of that run alone."""
    log = os.path.join(out, "products.jsonl")
    subprocess.run([tirc, "run", model, *options, *weights, "--log-matmuls", log], capture_output=True, check=True)
    lines = [json.loads(line) for line in open(log)]
    return [{k: v for k, v in line.items() if k not in ("call", "seconds")} for line in lines]


def listen(library, symbol, told):
    """The code tells `told` of each product from now on; what this gives has to be kept as long."""
    def hear(product, is_done):
        p = {k: getattr(product[0], k) for k, _ in Product._fields_}
        told.append(({k: v.decode() if isinstance(v, bytes) else v for k, v in p.items()}, is_done))
    hear = TOLD(hear)
    ctypes.c_void_p.in_dll(library, symbol + "_on_product").value = ctypes.cast(hear, ctypes.c_void_p).value
    return hear


def check_told(what, told, wanted):
    """Each product before and after it, in the order of the run."""
    each = [p for p in wanted if p["phase"] == "run"]
    heard = [p for p, is_done in told if not is_done]
    if [is_done for _, is_done in told] != [0, 1] * len(heard) or heard != [p for p, is_done in told if is_done]:
        sys.exit("%s: products do not begin and end in turn: %s" % (what, told))
    if not each or heard != each:
        sys.exit("%s: the code tells of other products than the log:\n%s\n%s" % (what, heard, wanted))


def code(name, defines, shapes, options=(), packs=False, forms=("c", "obj", "lib")):
    """The model's one function against the program: random arrays, weights among them; the products that it tells of."""
    model = os.path.join(examples, name + ".tir")
    arrays = {k: floats(*shape, scale=0.1) for k, shape in shapes.items()}
    for k in arrays:
        if k.startswith("var"):
            arrays[k] = np.abs(arrays[k]) + np.float32(0.5)
    first = next(iter(arrays))
    weights = {k: v for k, v in arrays.items() if k != first}
    (expected,) = run(model, {first: arrays[first]}, weights, ["gv"], [*defines, "--plain"])
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays.values()]
    wanted = products(model, [*options, *defines])
    for form in forms:
        library, header = built(os.path.join(out, name + ("_packs%d" % len(options) if packs else "")), model, options, defines, form)
        sizes = {k: int(v) for k, v in re.findall(r"enum { %s_(workspace|prepared) = (\d+) }" % name, header)}
        if ("prepared" in sizes) != packs:
            sys.exit("%s %s: something is prepared: %s" % (name, options, "prepared" in sizes))
        got = np.full(expected.shape, np.nan, "float32")
        memory, workspace = block(sizes["workspace"])
        last = [ctypes.c_void_p(got.ctypes.data)]
        if packs:
            kept, prepared = block(sizes["prepared"])
            status = getattr(library, name + "_prepare")(*pointers[1:], prepared)
            last.append(prepared)
            if status:
                sys.exit("%s: %s_prepare gives %d" % (form, name, status))
        told = []
        status = getattr(library, name)(*pointers, *last, workspace)
        hear = listen(library, name, told)  # as long as it may be called
        status = status or getattr(library, name)(*pointers, *last, workspace)
        if status:
            sys.exit("%s: the function %s gives %d" % (form, name, status))
        check_told("%s as %s %s" % (name, form, options), told, wanted)
        compare("%s as %s %s" % (name, form, options), got, expected)


def mapped(path):
    """A file's bytes at an address that is aligned to 64, as a program maps it."""
    memory = np.memmap(path, "uint8", "r")
    return memory, ctypes.c_void_p(memory.ctypes.data)


def code_with_weights(name, defines, shapes, options=(), forms=("c", "obj", "lib")):
    """The same where the weights are known: one block, beside the code and within it."""
    model = os.path.join(examples, name + ".tir")
    first = next(iter(shapes))
    x, weights = floats(*shapes[first], scale=0.1), {k: floats(*s, scale=0.1) for k, s in shapes.items() if k != first}
    for k in weights:
        if k.startswith("var"):
            weights[k] = np.abs(weights[k]) + np.float32(0.5)
    (expected,) = run(model, {first: x}, weights, ["gv"], [*defines, "--plain"])  # writes weights.safetensors, too
    known = ["--weights", os.path.join(out, "weights.safetensors")]
    for form in forms:
        for place in ("beside", "inside"):
            base = os.path.join(out, "%s_%s%d" % (name, place, len(options)))  # a library is loaded once a name
            block_file = base + "_" + form + ".weights"
            more = ["--weights-inside"] if place == "inside" else ["--weights-out", block_file]
            library, header = built(base, model, options, [*defines, *known, *more], form)
            symbol = os.path.basename(name)
            sizes = {k: int(v) for k, v in re.findall(r"enum { %s_(\w+) = (\d+) }" % symbol, header)}
            arguments = [ctypes.c_void_p(x.ctypes.data)]
            got = np.full(expected.shape, np.nan, "float32")
            arguments.append(ctypes.c_void_p(got.ctypes.data))
            if place == "beside":
                kept, pointer = mapped(block_file)
                arguments.append(pointer)
                if kept.size != sizes["weights"]:
                    sys.exit("%s: %s has %d bytes, and the header says %d" % (name, block_file, kept.size, sizes["weights"]))
                at = {k: int(v) for k, v in re.findall(r"^  %s_weights_(\w+) = (\d+)" % symbol, header, re.M)}
                for k, v in at.items():
                    if k in weights and kept[v:v + weights[k].nbytes].tobytes() != weights[k].tobytes():
                        sys.exit("%s: %s is not at %d of its block" % (name, k, v))
                if not at or any(v % 64 for v in at.values()):
                    sys.exit("%s: offsets %s" % (name, at))
            memory, workspace = block(sizes["workspace"])
            for _ in range(2):
                status = getattr(library, symbol)(*arguments, workspace)
            if status:
                sys.exit("%s, weights %s: the function gives %d" % (name, place, status))
            compare("%s as %s, weights %s %s" % (name, form, place, options), got, expected)


ROWS = '''@R.function
def main(x: R.Tensor((4, 20000), "float32"), b: R.Tensor((20000,), "float32")):
    R.func_attr({"num_input": 1})
    gv = R.nn.softmax(R.add(x, b), axis=-1)
    return gv
'''

# A row a thread, and memory for it that is more than a stack frame has.
ROWS_PARALLEL = '''norm = sch.get_block("T_softmax_norm", func_name="softmax")
row, column = sch.get_loops(norm)
for name in ["T_softmax_expsum", "T_softmax_exp", "T_softmax_maxelem"]:
    sch.compute_at(sch.get_block(name, func_name="softmax"), row)
for name in ["T_softmax_exp", "T_softmax_norm"]:
    loops = sch.get_loops(sch.get_block(name, func_name="softmax"))
    outer, lane = sch.split(loops[-1], factors=[None, 8])
    sch.vectorize(lane)
sch.parallel(row)
'''


def threads():
    """Several callers at once, in the calling threads and with the pool, and no allocation: model_threads.c."""
    model, schedule, weights = (os.path.join(out, "rows" + end) for end in (".tir", ".sch", ".safetensors"))
    for path, text in ((model, ROWS), (schedule, ROWS_PARALLEL)):
        with open(path, "w") as f:
            f.write(text)
    x, b = floats(4, 20000), floats(20000)
    save_safetensors(weights, {"b": b})
    e = np.exp(x.astype("float64") + b)
    here = os.path.dirname(os.path.abspath(__file__))
    for form, how in (("lib", [schedule]), ("obj", [schedule]), ("c", [schedule]), ("obj", ["--plain"]), ("c", ["--plain"])):
        base = os.path.join(out, "rows" + ("_plain" if how == ["--plain"] else ""))
        code, header = built(base, model, how, ["--weights", weights, "--weights-inside"], form)
        os.replace(base + ".h", os.path.join(out, "rows.h"))
        memory, workspace = block(int(re.search(r"rows_workspace = (\d+)", header)[1]))
        got = np.full(x.shape, np.nan, "float32")
        status = code.rows(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(got.ctypes.data), workspace)
        if status:
            sys.exit("threads, %s %s: the function gives %d" % (form, how, status))
        compare("threads, %s %s" % (form, how), got, e / e.sum(1, keepdims=True))
        library, program = base + ("_lib" if form == "lib" else "_" + form) + ".so", base + "_run"
        done = subprocess.run(["gcc", "-O1", "-I", out, os.path.join(here, "model_threads.c"), library, "-Wl,-rpath," + out, "-o", program,
                               "-lpthread", "-lm"], capture_output=True, text=True)
        done = done if done.returncode else subprocess.run([program], capture_output=True, text=True)
        if done.returncode:
            sys.exit("threads, %s %s: %s%s" % (form, how, done.stdout, done.stderr))


def tuned():
    """Each distinct function of a model is tuned, known trials count, and runs take the records."""
    model, base = os.path.join(examples, "mlp.tir"), os.path.join(out, "models.db")
    common = ["--threads", "1", "--database", base]

    def say(*command, status=0):
        done = subprocess.run([tirc, *command], capture_output=True, text=True)
        if done.returncode != status:
            sys.exit("%s: status %d\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
        return done.stdout + done.stderr

    def expect(text, *words):
        missing = [w for w in words if not re.search(w, text)]
        if missing:
            sys.exit("tuned: %s is missing in:\n%s" % (missing, text))

    expect(say("tune", model, "-D", "n=4", "--show-tasks"), r"fused_matmul_add_relu +1 call\n", r"fused_matmul1_add1 +1 call\n")
    expect(say("tune", model, "-D", "n=4", "--trials", "2", *common), "trial 2 fused_matmul_add_relu", "trial 1 fused_matmul1_add1 automatic",
           "fused_matmul_add_relu: best .* 3 trials", "fused_matmul1_add1: best .* 1 trial,")
    again = say("tune", model, "-D", "n=4", "--trials", "2", *common)
    if "trial " in again.replace("trials", "") or again.count("all of them known before") != 2:
        sys.exit("tuned: the second search does not go on from the first:\n" + again)
    text = say("run", model, "-D", "n=4", "--tuned", "--explain-auto", "--check", *common)
    expect(text, "check: ok; 2 functions")
    if text.count("by the database: trial") != 2:
        sys.exit("tuned: the records are not taken:\n" + text)
    expect(say("run", model, "-D", "n=5", "--tuned", "--check", *common), "check: ok")  # of no record
    expect(say("tune", model, *common, status=2), '"n" has no value')
    expect(say("tune", model, "-D", "n=4,8", "--show-tasks", status=2), "tuned for one size at a time, not for 2")


LAYERS = '''@R.function
def main(x: R.Tensor((1, 16, 12, 12), "float32"), w0: R.Tensor((32, 16, 3, 3), "float32"), w1: R.Tensor((32, 32, 1, 1), "float32"),
         b: R.Tensor((32, 1, 1), "float32")) -> R.Tensor((1, 64, 6, 6), "float32"):
    R.func_attr({"num_input": 1})
    with R.dataflow():
        first = R.nn.relu(R.nn.conv2d(x, w0, padding=[1, 1, 1, 1]))
        second = R.add(R.add(R.nn.conv2d(first, w1), b), first)
        gv = R.nn.max_pool2d(R.concat((first, second), axis=1), pool_size=[2, 2], strides=[2, 2])
        R.output(gv)
    return gv
'''

# Groups of channels, shuffled between; groups too small for vectors stay.
GROUPS = '''@R.function
def main(x: R.Tensor((1, 8, 6, 6), "float32"), w0: R.Tensor((12, 4, 1, 1), "float32"), w1: R.Tensor((8, 6, 3, 3), "float32"),
         w2: R.Tensor((8, 2, 1, 1), "float32")) -> R.Tensor((1, 8, 6, 6), "float32"):
    R.func_attr({"num_input": 1})
    with R.dataflow():
        first = R.nn.relu(R.nn.conv2d(x, w0, groups=2))
        shuffled = R.reshape(R.permute_dims(R.reshape(first, (1, 2, 6, 6, 6)), (0, 2, 1, 3, 4)), (1, 12, 6, 6))
        second = R.nn.conv2d(shuffled, w1, padding=[1, 1, 1, 1], groups=2)
        gv = R.nn.conv2d(second, w2, groups=4)
        R.output(gv)
    return gv
'''


# Data is turned where it comes in and where it leaves, and nowhere between; weights are laid out ahead of the calls.
def layouts():
    path = os.path.join(out, "layers.tir")
    with open(path, "w") as f:
        f.write(LAYERS)

    def say(*command):
        done = subprocess.run([tirc, *command], capture_output=True, text=True)
        if done.returncode:
            sys.exit("%s: status %d\n%s%s" % (" ".join(command), done.returncode, done.stdout, done.stderr))
        return done.stdout + done.stderr

    nothing = ["-o", os.devnull]
    text = say("apply", path, "--plain", "--print-after=ConvertLayout", *nothing)
    turned = re.findall(r"R\.permute_dims\((\w+)", text)
    if len(turned) != 5 or turned.count("x") != 1 or "NCHW" in text:
        sys.exit("layouts: %s is turned:\n%s" % (turned, text))
    if "permute_dims" in say("apply", path, "--plain", "--skip=ConvertLayout", "--print-after=FoldBatchNorm", *nothing):
        sys.exit("layouts: --skip=ConvertLayout turns something")
    text = say("apply", path, "--auto", "--explain-auto")
    # of one pixel it is a product
    if len(re.findall("a (?:convolution|product): tiles of", text)) != 2 or text.count("layout_rewrite_preproc") != 2:
        sys.exit("layouts: two convolutions, whose weights are laid out ahead, are not in\n" + text)
    for more in [], ["--skip=ConvertLayout"]:
        if "check: ok" not in say("run", path, "--check", *more):
            sys.exit("layouts: wrong results %s" % more)
    path = os.path.join(out, "groups.tir")
    with open(path, "w") as f:
        f.write(GROUPS)
    text = say("apply", path, "--plain", "--print-after=ConvertLayout", *nothing)
    shapes = re.findall(r"R\.Tensor\((\(.*?\)).*= R\.(?:permute_dims|reshape)", text)
    moved = ["(1, 6, 6, 8)", "(1, 1, 4, 12)", "(1, 6, 6, 2, 6)", "(1, 6, 6, 6, 2)", "(1, 6, 6, 12)", "(3, 3, 6, 8)", "(1, 8, 6, 6)"]
    if sorted(shapes) != sorted(moved) or text.count('data_layout="NHWC"') != 2:
        sys.exit("layouts: groups: %s are turned:\n%s" % (shapes, text))
    for more in [], ["--skip=ConvertLayout"]:
        if "check: ok" not in say("run", path, "--check", *more):
            sys.exit("layouts: groups: wrong results %s" % more)


LSTM = '''@R.function
def main(g: R.Tensor((6, 2, 64), "float32"), w: R.Tensor((64, 16), "float32"), h: R.Tensor((2, 16), "float32"), l: R.Tensor((2,), "int64"),
         c: R.Tensor((2, 16), "float32"), p: R.Tensor((48,), "float32")):
    R.func_attr({"num_input": 1})
    with R.dataflow():
        gv = R.nn.lstm(g, w, h, l, c, p)
        R.output(gv)
    return gv
'''


# The products of each step of a recurrent layer are tiles, with weights turned ahead of the calls.
def steps():
    path = os.path.join(out, "lstm.tir")
    with open(path, "w") as f:
        f.write(LSTM)
    done = subprocess.run([tirc, "apply", path, "--auto", "--explain-auto"], capture_output=True, text=True)
    text = done.stdout + done.stderr
    if done.returncode or "start_of_cell, product, next" not in text or "layout_rewrite_preproc" not in text:
        sys.exit("steps: the product of a step is not a tile:\n" + text)
    done = subprocess.run([tirc, "run", path, "--check", "--range=l=0:6"], capture_output=True, text=True)
    if done.returncode or "check: ok" not in done.stdout + done.stderr:
        sys.exit("steps: wrong results:\n" + done.stdout + done.stderr)


def refused(arguments, words):
    done = subprocess.run([tirc, "build", *arguments], capture_output=True, text=True)
    if done.returncode != 2 or words not in done.stderr:
        sys.exit("%s: status %d, %s" % (" ".join(arguments), done.returncode, done.stderr))


LARGE = '''@R.function
def main(x: R.Tensor((2, 1100), "float32"), w: R.Tensor((1100, 1000), "float32")):
    R.func_attr({"num_input": 1})
    gv = R.matmul(x, w)
    return gv
'''


def wrong_weights():
    """What is no block of weights says so, and writes nothing."""
    model, path, nothing = os.path.join(out, "large.tir"), os.path.join(out, "large.safetensors"), os.path.join(out, "nothing")
    with open(model, "w") as f:
        f.write(LARGE)
    save_safetensors(path, {"w": floats(1100, 1000)})
    known = [model, "--plain", "--weights", path]
    refused([*known, "--weights-inside", "--emit=c", "-o", nothing], "4400000 bytes do not go into C source")
    refused([model, "--weights-out", nothing, "--emit=c", "-o", nothing + ".c"], "the weights are not known")
    refused([*known, "--weights-inside", "--weights-out", nothing, "--emit=obj", "-o", nothing], "leave one of them out")
    for arrays, words in (({"v": floats(3)}, "there is no weight 'w'"), ({"w": floats(1000, 1100)}, "does not fit the model"),
                          ({"w": floats(1100, 1000).view("int32")}, "does not fit the model")):
        save_safetensors(path, arrays)
        refused([*known, "--weights-out", nothing, "--emit=c", "-o", nothing + ".c"], words)
        refused([*known, "--weights-inside", "--emit=obj", "-o", nothing], words)
    if any(f.startswith("nothing") for f in os.listdir(out)):
        sys.exit("something was written: %s" % os.listdir(out))


PERCEPTRON = {"w0": (784, 128), "b0": (128,), "w1": (128, 10), "b1": (10,)}
code("mlp", ["-D", "n=4"], {"x": (4, 784), **PERCEPTRON}, packs=True)
code("mlp", ["-D", "n=4"], {"x": (4, 784), **PERCEPTRON}, ["--plain"])
code("mlp", ["-D", "n=4"], {"x": (4, 784), **PERCEPTRON}, [os.path.join(os.path.dirname(os.path.abspath(__file__)), "pack.sch")], packs=True)
code("mlp_functions", ["-D", "m=3"], {"x": (3, 784), **PERCEPTRON}, ["--plain", "--skip=FuseOps"])
code("residual", ["-D", "n=1"], {"x": (1, 32, 14, 14), **{k + i: (32, 32, 3, 3) if k == "w" else (32,) for i in "01"
                                                              for k in ("w", "gamma", "beta", "mean", "var")}},
     packs=True)  # batch norms become parts of the weights, once
code_with_weights("mlp", ["-D", "n=4"], {"x": (4, 784), **PERCEPTRON})
code_with_weights("mlp", ["-D", "n=4"], {"x": (4, 784), **PERCEPTRON},
                  [os.path.join(os.path.dirname(os.path.abspath(__file__)), "pack.sch")], ("obj",))
code_with_weights("residual", ["-D", "n=1"], {"x": (1, 32, 14, 14), **{k + i: (32, 32, 3, 3) if k == "w" else (32,) for i in "01"
                                                                           for k in ("w", "gamma", "beta", "mean", "var")}}, (), ("c", "lib"))
wrong_weights()
threads()
tuned()
mlp()
empty()
foreign()
residual()
layouts()
steps()
folds()
fusions()
bert_layer()
print("models: %d failures" % failures)
sys.exit(failures > 0)
