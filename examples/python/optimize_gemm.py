"""A product made faster step by step: tiles, vectors, another order of loops, a packed operand, threads. Each step is compared with
the first one, and checked.

    python3 examples/python/optimize_gemm.py [N]
"""

import sys

import numpy as np

import tirc as tvm
from tirc import te

N = int(sys.argv[1]) if len(sys.argv) > 1 else 512
TILE = 32
A = te.placeholder((N, N), name="A")
B = te.placeholder((N, N), name="B")
k = te.reduce_axis((0, N), name="k")
C = te.compute((N, N), lambda m, n: te.sum(A[m, k] * B[k, n], axis=k), name="C")
func = te.create_prim_func([A, B, C]).with_attr("global_symbol", "main")


def plain():
    return tvm.tir.Schedule(func)


def tiled(order="reduce outside", vectorize=False, packed=False, threads=False):
    """Tiles of TILE x TILE, with the sum in pieces of 4."""
    sch = plain()
    block = sch.get_block("C")
    if packed:
        copy = sch.cache_read(block, 1, "global")
        sch.transform_layout(copy, ("write", 0), lambda row, column: (column // TILE, row, column % TILE))
        sch.parallel(sch.get_loops(copy)[0])
    m, n, kk = sch.get_loops(block)
    mo, mi = sch.split(m, factors=[None, TILE])
    no, ni = sch.split(n, factors=[None, TILE])
    ko, ki = sch.split(kk, factors=[None, 4])
    sch.reorder(mo, no, ko, *((ki, mi, ni) if order == "reduce outside" else (mi, ki, ni)))
    if vectorize:
        sch.vectorize(ni)
    if threads:
        sch.parallel(mo)
    sch.decompose_reduction(block, ko)
    return sch


steps = {
    "as written": plain(),
    "tiles": tiled(),
    "vectors": tiled(vectorize=True),
    "rows first": tiled("rows outside", vectorize=True),
    "packed": tiled("rows outside", vectorize=True, packed=True),
    "threads": tiled("rows outside", vectorize=True, packed=True, threads=True),
}
a, b = (np.random.rand(N, N).astype("float32") for _ in range(2))
dev = tvm.cpu(0)
base = None
for name, sch in steps.items():
    c = tvm.nd.empty((N, N), "float32", dev)
    lib = tvm.build(sch.mod, target="llvm -mcpu=native")
    lib(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-3)
    seconds = lib.time_evaluator("main", dev, number=1, repeat=3)(a, b, c).min
    base = base or seconds
    print("%-11s %8.2f ms  %5.1f x" % (name, 1e3 * seconds, base / seconds))
