"""A product scheduled by hand: TVM's scripts of this kind run once you change the import.

    python3 examples/python/tensorir.py
"""

import numpy as np

import tirc as tvm
from tirc.ir.module import IRModule
from tirc.script import tir as T

N, FACTOR = 256, 8


@tvm.script.ir_module
class Product:
    @T.prim_func
    def main(A: T.Buffer((N, N), "float32"), B: T.Buffer((N, N), "float32"), C: T.Buffer((N, N), "float32")):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i, j, k in T.grid(N, N, N):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


assert isinstance(Product, IRModule)
sch = tvm.tir.Schedule(Product)
block = sch.get_block("C", func_name="main")
i, j, k = sch.get_loops(block)
j0, j1 = sch.split(j, factors=[None, FACTOR])
sch.reorder(i, j0, k, j1)
sch.vectorize(j1)
sch.parallel(i)
sch.decompose_reduction(block, k)
print(sch.mod.script())
print(sch.trace)

lib = tvm.build(sch.mod, target="llvm")
dev = tvm.cpu(0)
a = tvm.nd.array(np.random.rand(N, N).astype("float32"), dev)
b = tvm.nd.array(np.random.rand(N, N).astype("float32"), dev)
c = tvm.nd.empty((N, N), "float32", dev)
lib["main"](a, b, c)
tvm.testing.assert_allclose(c.numpy(), a.numpy() @ b.numpy(), rtol=1e-4)
before = tvm.build(Product, target="llvm").time_evaluator("main", dev, number=1, repeat=3)(a, b, c).median
after = lib.time_evaluator("main", dev, number=3, repeat=3)(a, b, c).median
print("%.2f ms as it was written, %.2f ms scheduled" % (before * 1e3, after * 1e3))
