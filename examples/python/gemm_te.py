"""A product with bias from tensor expressions, in tiles: what te's schedules did, now with blocks and loops.

    python3 examples/python/gemm_te.py
"""

import numpy as np

import tirc as tvm
from tirc import te

M, K, N = 128, 192, 96
A = te.placeholder((M, K), name="A", dtype="float32")
B = te.placeholder((K, N), name="B", dtype="float32")
bias = te.placeholder((N,), name="bias", dtype="float32")
k = te.reduce_axis((0, K), name="k")
C = te.compute((M, N), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
D = te.compute((M, N), lambda i, j: C[i, j] + bias[j], name="D")

func = te.create_prim_func([A, B, bias, D])
sch = tvm.tir.Schedule(func)
product, last = sch.get_block("C"), sch.get_block("D")
i, j = sch.get_loops(last)
i0, i1 = sch.split(i, factors=[None, 4])
j0, j1 = sch.split(j, factors=[None, 16])
sch.reorder(i0, j0, i1, j1)
sch.compute_at(product, j0)
sch.vectorize(j1)
kk = sch.get_loops(product)[-1]
sch.reorder(kk, *sch.get_loops(product)[-3:-1])
sch.vectorize(sch.get_loops(product)[-1])
sch.parallel(i0)
sch.decompose_reduction(product, kk)
sch.mod.show()

a, b, v = (np.random.rand(*shape).astype("float32") for shape in ((M, K), (K, N), (N,)))
d = np.zeros((M, N), "float32")
with tvm.target.Target("llvm -mcpu=haswell"):
    lib = tvm.build(sch.mod)
lib["main"](a, b, v, d)
tvm.testing.assert_allclose(d, a @ b + v, rtol=1e-4)
print("the product is right")
