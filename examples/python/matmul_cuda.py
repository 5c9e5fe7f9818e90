"""A product of two square matrices for a GPU: a search if there is one, otherwise rules; writes CUDA C.

    python3 examples/python/matmul_cuda.py [N] [TRIALS]
"""

import sys
import tempfile

import tirc as tvm
from tirc import meta_schedule as ms
from tirc.script import tir as T

N = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
trials = int(sys.argv[2]) if len(sys.argv) > 2 else 64


@tvm.script.ir_module
class MatMul:
    @T.prim_func
    def main(A: T.Buffer((N, N), "float32"), B: T.Buffer((N, N), "float32"), C: T.Buffer((N, N), "float32")):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i, j, k in T.grid(N, N, N):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


target = tvm.target.Target("nvidia/geforce-rtx-3070")
if tvm.cuda().exist:
    with tempfile.TemporaryDirectory() as folder:
        database = ms.tune_tir(mod=MatMul, target=target, max_trials_global=trials, num_trials_per_iter=64, work_dir=folder)
        sch = ms.tir_integration.compile_tir(database, MatMul, target)
    sch.trace.show()
    mod = sch.mod
else:
    from tirc import dlight as dl
    with target:
        mod = dl.ApplyDefaultSchedule(dl.gpu.Matmul())(MatMul)

lib = tvm.build(mod, target=target)
print(lib.imported_modules[0].get_source())
header = mod.emit("cuda-header", target)
with tempfile.NamedTemporaryFile("w", suffix=".cuh") as file:
    file.write(header)
    print("%s: a header of %d lines, with the sizes of the launch" % (file.name, len(header.splitlines())))
print("a kernel for %d x %d x %d" % (N, N, N))
