"""Rules schedule a product, a matrix times a vector and a sum for a GPU; the emulator runs the resulting kernels.

    python3 examples/python/dlight_gpu.py
"""

import numpy as np

import tirc as tvm
from tirc import dlight as dl
from tirc import te

M, N, K = 64, 96, 80
A = te.placeholder((M, K), name="A")
B = te.placeholder((K, N), name="B")
x = te.placeholder((K,), name="x")
k, r = te.reduce_axis((0, K), name="k"), te.reduce_axis((0, K), name="r")
product = te.compute((M, N), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="product")
vector = te.compute((M,), lambda i: te.sum(A[i, r] * x[r], axis=r), name="vector")
half = te.compute((M, K), lambda i, j: A[i, j] * 0.5, name="half")

mod = tvm.IRModule({"product": te.create_prim_func([A, B, product]), "vector": te.create_prim_func([A, x, vector]),
                    "half": te.create_prim_func([A, half])})
target = tvm.target.Target("nvidia/nvidia-t4")
with target:
    mod = dl.ApplyDefaultSchedule(dl.gpu.Matmul(), dl.gpu.GEMV(), dl.gpu.Reduction(), dl.gpu.Fallback())(mod)
mod["vector"].show()

rng = np.random.default_rng(0)
a, b, v = (rng.standard_normal(shape).astype("float32") for shape in ((M, K), (K, N), (K,)))
for name, given, expected in (("product", (a, b), a @ b), ("vector", (a, v), a @ v), ("half", (a,), a / 2)):
    out = np.zeros(expected.shape, "float32")
    report = tvm.emulate(mod[name], *given, out, target=target)
    tvm.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-4)
    print("%s: %d blocks of threads, the numbers are right" % (name, report.blocks))
source = tvm.build(mod["half"], target=target).imported_modules[0].get_source()
print("the kernel of half has %d lines of CUDA C" % len(source.splitlines()))
