"""A graph written call by call with BlockBuilder, from operators and tensor expressions, and the same from an ONNX file.

    python3 examples/python/block_builder.py
"""

import numpy as np

import tirc as tvm
from tirc import relax, te, tir, topi

n = tir.Var("n", "int64")
x = relax.Var("x", relax.TensorStructInfo((n, 32), "float32"))
w = relax.Var("w", relax.TensorStructInfo((32, 16), "float32"))
b = relax.Var("b", relax.TensorStructInfo((16,), "float32"))


def shifted(t, by):
    return te.compute(t.shape, lambda i, j: t[i, j] - by, name="shifted")


bb = relax.BlockBuilder()
with bb.function("main", [x, w, b]):
    with bb.dataflow():
        y = bb.emit_te(topi.matmul, x, w)
        y = bb.emit(relax.op.nn.relu(relax.op.add(y, b)))
        z = bb.emit_te(shifted, y, 0.5)
        out = bb.emit_output(relax.op.nn.softmax(z, axis=-1))
    bb.emit_func_output(out)
mod = bb.get()
mod.show()

rng = np.random.default_rng(0)
data = [rng.standard_normal(shape).astype("float32") for shape in ((5, 32), (32, 16), (16,))]
vm = relax.VirtualMachine(relax.build(mod, target="llvm"), tvm.cpu())
got = vm["main"](*map(tvm.nd.array, data)).numpy()
hidden = np.maximum(data[0] @ data[1] + data[2], 0) - 0.5
expected = np.exp(hidden) / np.exp(hidden).sum(1, keepdims=True)
tvm.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-5)
print("%d rows of %d shares are right" % got.shape)
