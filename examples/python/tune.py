"""Searches for schedules of a program, keeps them in a folder, and uses the best one.

    python3 examples/python/tune.py
"""

import sys
import tempfile

import numpy as np

import tirc as tvm
from tirc import meta_schedule as ms
from tirc.script import tir as T


@T.prim_func
def scores(A: T.Buffer((64, 96), "float32"), B: T.Buffer((96, 80), "float32"), C: T.Buffer((64, 80), "float32")):
    for i, j, k in T.grid(64, 80, 96):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


trials = int(sys.argv[1]) if len(sys.argv) > 1 else 16
target = tvm.target.Target("llvm -num-cores=1")
mod = tvm.IRModule({"main": scores})
with tempfile.TemporaryDirectory() as folder:
    database = ms.tune_tir(mod=mod, target=target, max_trials_global=trials, num_trials_per_iter=8, work_dir=folder)
    sch = ms.tir_integration.compile_tir(database, mod, target)
sch.trace.show()
a, b, c = (np.random.rand(*shape).astype("float32") for shape in ((64, 96), (96, 80), (64, 80)))
tvm.build(sch.mod, target=target)(a, b, c)
tvm.testing.assert_allclose(c, a @ b, rtol=1e-4)
print("the best of %d is right" % trials)
