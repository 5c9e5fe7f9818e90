"""Products of bytes less their zero points, made of a target's dot products of bytes: the instruction in assembly, and what C
computes for that target against what `tirc run` does without the pass, number by number."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from test_conversions import TIRC
from messages import model, node, tensor, value

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "c_source"))
from compilers import compiled, model_of  # noqa: E402

rng = np.random.default_rng(5)
HOST = [["gcc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-march=native", "-O1", "-shared", "-fPIC"]]
CROSS, QEMU = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")


def drawn(dtype, *shape):
    limits = np.iinfo(dtype)
    edges = rng.choice(np.array([limits.min, limits.max], dtype), shape)
    return np.where(rng.random(shape) < 0.3, edges, rng.integers(limits.min, limits.max + 1, shape).astype(dtype))


def scales(*shape):
    return rng.uniform(0.001, 0.01, shape).astype("float32")


def says(*words, status=0, **environment):
    done = subprocess.run([TIRC, *map(str, words)], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == status, done.stdout[-800:] + done.stderr[-2000:]
    return done.stdout


class Net:
    """A model of one input or two; weights by name."""

    def __init__(self, folder, nodes, inputs, dtype, shape, weights):
        folder = pathlib.Path(tempfile.mkdtemp(dir=folder))  # a library that is loaded answers for its path
        self.folder, self.path, self.inputs = folder, folder / "net.onnx", inputs
        self.path.write_bytes(model(nodes, [value(n, str(a.dtype), list(a.shape)) for n, a in inputs.items()],
                                    [value("y", dtype, shape)], [tensor(a, n) for n, a in weights.items()]))
        for n, a in inputs.items():
            np.save(folder / (n + ".npy"), a)

    def ran(self, *how):
        given = [w for n in self.inputs for w in ("--in", "%s=%s" % (n, self.folder / (n + ".npy")))]
        says("run", self.path, *how, *given, "--out", "y=%s" % (self.folder / "y.npy"))
        return np.load(self.folder / "y.npy")

    def wanted(self):
        return self.ran("--plain", "--skip=ByteProducts")

    def built(self, target, kind):
        to = self.folder / ("net." + {"header": "h", "c": "c", "asm": "s", "obj": "o"}[kind])
        linker = {"CC": CROSS} if target.startswith("neoverse") and CROSS else {}
        says("build", self.path, "--target=" + target, "--weights-inside", "--emit=" + kind, "-o", to, **linker)
        return to

    def by_c(self, target):
        library = compiled(self.built(target, "c"), HOST)
        library = library.rename(self.folder / (target + ".so"))
        params, call = model_of(self.built(target, "header"), library, "net")
        arrays = {p: np.full(shape, 77, dtype) if role == "written" else np.ascontiguousarray(self.inputs[p])
                  for p, (dtype, shape, role) in params.items()}
        call(arrays)
        return arrays["y"]

    def check(self, targets):
        want = self.wanted()
        for target, instruction in targets.items():
            text = self.built(target, "asm").read_text()
            assert re.search(r"\b%s\b" % instruction, text), (target, instruction)
            assert (self.by_c(target) == want).all(), target
        assert (self.ran("--target=native") == want).all()  # with the instructions that this processor has
        return want


# types, zero points (None, "one", "rows" or "columns", "given": of the left one by the run)
PRODUCTS = [("uint8", "int8", "one", None, {"cascadelake": "vpdpbusd", "neoverse-n1": "sdot", "neoverse-v1": "usdot"}),
            ("int8", "int8", "given", None, {"sapphirerapids": "vpdpbusd", "lunarlake": "vpdpbssd"}),
            ("int8", "uint8", None, "columns", {"cascadelake": "vpdpbusd", "neoverse-n1": "sdot"}),
            ("uint8", "uint8", "rows", "one", {"znver4": "vpdpbusd", "neoverse-n1": "udot"})]


@pytest.mark.parametrize("a,b,a_zero,b_zero,targets", PRODUCTS)
def test_matmul_integer(tmp_path, a, b, a_zero, b_zero, targets):
    M, N, K = 7, 21, 36
    q, w = drawn(a, M, K), drawn(b, K, N)
    inputs, weights, names = {"q": q}, {"w": w}, ["q", "w"]
    z, u = {None: 0, "one": drawn(a)[()], "rows": drawn(a, M), "given": drawn(a)[()]}[a_zero], 0
    if a_zero or b_zero:
        names.append("z" if a_zero else "")
        (inputs if a_zero == "given" else weights).update({"z": np.asarray(z)} if a_zero else {})
    if b_zero:
        u = weights["u"] = drawn(b, N) if b_zero == "columns" else np.asarray(drawn(b)[()])
        names.append("u")
    want = Net(tmp_path, [node("MatMulInteger", names, ["y"])], inputs, "int32", [M, N], weights).check(targets)
    left = q.astype("int64") - (np.reshape(z, (-1, 1)) if a_zero == "rows" else z)
    assert (want == left @ (w.astype("int64") - u)).all()


def test_matmul_of_two_inputs(tmp_path):
    q, w = drawn("uint8", 40, 64), drawn("int8", 64, 48)
    net = Net(tmp_path, [node("MatMulInteger", ["q", "w", "z", "u"], ["y"])], {"q": q, "w": w}, "int32", [40, 48],
              {"z": np.uint8(3), "u": np.int8(-5)})
    want = net.check({"cascadelake": "vpdpbusd"})
    assert (want == (q.astype("int64") - 3) @ (w.astype("int64") + 5)).all()


def qlinear_matmul(a, z):
    q, w = drawn(a, 2, 9, 32), drawn("int8", 32, 24)
    nodes = [node("QLinearMatMul", ["q", "s", "z", "w", "t", "u", "r", "v"], ["y"])]
    return nodes, q, a, [2, 9, 24], {"s": np.float32(0.02), "z": z, "w": w, "t": np.float32(0.01), "u": np.int8(0), "r": np.float32(0.3), "v": z}


def qlinear_conv(a, z, pads, b="int8", zeros=0, O=12):
    q, w = drawn(a, 1, 8, 9, 7), drawn(b, O, 8, 3, 3)
    nodes = [node("QLinearConv", ["q", "s", "z", "w", "t", "u", "r", "v", "b"], ["y"], pads=pads)]
    shape = [1, O, 7 + pads[0] + pads[2], 5 + pads[1] + pads[3]]
    return nodes, q, a, shape, {"s": np.float32(0.02), "z": z, "w": w, "t": scales(O), "u": np.full(O, zeros, b), "r": np.float32(0.3), "v": z,
                                "b": rng.integers(-900, 900, O).astype("int32")}


def qgemm():
    q, w = drawn("uint8", 5, 32), drawn("int8", 20, 32)
    nodes = [node("QGemm", ["q", "s", "z", "w", "t", "u", "b", "r", "v"], ["y"], domain="com.microsoft", transB=1)]
    return nodes, q, "uint8", [5, 20], {"s": np.float32(0.02), "z": np.uint8(9), "w": w, "t": scales(20), "u": np.zeros(20, "int8"),
                                         "b": rng.integers(-900, 900, 20).astype("int32"), "r": np.float32(0.2), "v": np.uint8(7)}


def dynamic():
    x, w = rng.uniform(-2, 3, (6, 32)).astype("float32"), drawn("int8", 32, 20)
    return [node("DynamicQuantizeMatMul", ["q", "w", "t"], ["y"], domain="com.microsoft")], x, "float32", [6, 20], {"w": w, "t": scales(20)}


def steps():
    q, w = drawn("uint8", 6, 32), drawn("int8", 32, 20)
    nodes = [node("DequantizeLinear", ["q", "s", "z"], ["x"]), node("DequantizeLinear", ["w", "t"], ["v"], axis=1), node("MatMul", ["x", "v"], ["y"])]
    return nodes, q, "float32", [6, 20], {"s": np.float32(0.02), "z": np.uint8(128), "w": w, "t": scales(20)}


NETS = [lambda: qlinear_conv("uint8", np.uint8(100), [1, 1, 1, 1]), qgemm, dynamic, steps, lambda: qlinear_matmul("uint8", np.uint8(8)),
        lambda: qlinear_matmul("int8", np.int8(-3)), lambda: qlinear_conv("int8", np.int8(0), [0, 2, 1, 0]),
        lambda: qlinear_conv("int8", np.int8(5), [0, 0, 0, 0]), lambda: qlinear_conv("uint8", np.uint8(0), [1, 1, 1, 1], "uint8", 128)]


@pytest.mark.parametrize("n", range(len(NETS)))
def test_quantized(tmp_path, n):
    nodes, q, dtype, shape, weights = NETS[n]()
    Net(tmp_path, nodes, {"q": q}, dtype, shape, weights).check({"cascadelake": "vpdpbusd", "neoverse-n1": "sdot"})


@pytest.mark.parametrize("make", [lambda: qlinear_matmul("uint8", np.uint8(8)), lambda: qlinear_conv("uint8", np.uint8(100), [1, 1, 1, 1], O=16)])
def test_requantized_in_registers(tmp_path, make):
    """Sums become bytes where they are: no vector of them goes to memory."""
    nodes, q, dtype, shape, weights = make()
    text = Net(tmp_path, nodes, {"q": q}, dtype, shape, weights).built("cascadelake", "asm").read_text()
    function = next(f for f in re.split(r"\n(?=\w[\w.]*:\n)", text) if re.search(r"\bvpdpbusd\b", f))
    assert re.search(r"\bvpmovu?s?db\t%zmm", function), function
    assert not re.search(r"\bvmov\w*\t%zmm\d+, \S*\(", function), function


def test_what_stays(tmp_path):
    """Sums of no multiple of four products, and zero points of a convolution's weight that are no 128."""
    net = Net(tmp_path, [node("MatMulInteger", ["q", "w"], ["y"])], {"q": drawn("uint8", 16, 30)}, "int32", [16, 32], {"w": drawn("int8", 30, 32)})
    net.check({"cascadelake": "vpdpwssd"})
    nodes, q, dtype, shape, weights = qlinear_conv("uint8", np.uint8(3), [1, 1, 1, 1], "int8", 2)
    Net(tmp_path, nodes, {"q": q}, dtype, shape, weights).check({"cascadelake": "vpdpwssd"})


def test_weights_stay_bytes(tmp_path):
    """In the block of weights, too."""
    w = drawn("int8", 512, 256)
    net = Net(tmp_path, [node("MatMulInteger", ["q", "w", "z"], ["y"])], {"q": drawn("uint8", 4, 512)}, "int32", [4, 256], {"w": w, "z": np.uint8(3)})
    says("build", net.path, "--target=cascadelake", "--weights-out", tmp_path / "block", "--emit=asm", "-o", tmp_path / "net.s")
    assert w.nbytes <= (tmp_path / "block").stat().st_size < 1.5 * w.nbytes


MAIN = """#include <stdio.h>
static char in[4096], out[4096];
static _Alignas(64) char memory[1 << 20];
int net(const void *q, void *y, void *workspace);
int main(void) {
  if (!fread(in, 1, sizeof in, stdin)) return 9;
  int status = net(in, out, memory);
  fwrite(out, 1, SIZE, stdout);
  return status;
}
"""


@pytest.mark.skipif(not (CROSS and QEMU), reason="needs a cross compiler for ARM, and qemu")
def test_on_arm(tmp_path):
    nodes, q, dtype, shape, weights = qlinear_conv("uint8", np.uint8(100), [1, 1, 1, 1])
    net = Net(tmp_path, nodes, {"q": q}, dtype, shape, weights)
    want = net.wanted()
    (tmp_path / "main.c").write_text(MAIN)
    for kind, target in (("obj", "neoverse-n1"), ("c", "neoverse-n1"), ("obj", "neoverse-v1")):
        subprocess.run([CROSS, "-static", "-O1", "-march=armv8.6-a+sve", "-fopenmp", "-DSIZE=%d" % want.nbytes, "-o", tmp_path / "run", tmp_path / "main.c",
                        net.built(target, kind), "-lm"], check=True)
        done = subprocess.run([QEMU, "-cpu", "max", tmp_path / "run"], input=q.tobytes(), capture_output=True)
        assert done.returncode == 0 and (np.frombuffer(done.stdout, want.dtype).reshape(want.shape) == want).all(), (kind, target)


def test_activations(tmp_path):
    """Products of floats in integers of 8 bits, each row of the data and each channel of the weights with a scale of its own."""
    x, w = (rng.standard_normal((6, 32)) * rng.uniform(0.01, 100, (6, 1))).astype("float32"), (rng.standard_normal((32, 20)) * rng.uniform(0.01, 9, 20)).astype("float32")
    x[3], w[:, 4] = 0, 0
    net = Net(tmp_path, [node("MatMul", ["x", "w"], ["y"])], {"x": x}, "float32", [6, 20], {"w": w})
    told = says("run", net.path, "--activations=int8", "--in", "x=%s" % (net.folder / "x.npy"), "--out", "y=%s" % (net.folder / "y.npy"))
    assert re.search(r"^error of y: 0\.0[01]", told, re.M) and re.search(r"^  w +0\.0[01]", told, re.M), told
    by_row, by_column = [np.where(most == 0, 1, most) / 127 for most in (abs(x).max(1, keepdims=True), abs(w).max(0, keepdims=True))]
    want = (np.rint(x / by_row) @ np.rint(w / by_column)) * by_row * by_column
    assert np.allclose(np.load(net.folder / "y.npy"), want, rtol=1e-2, atol=1e-4)
    assert "R.quantize" in says("import", net.path, "--activations=int8")
