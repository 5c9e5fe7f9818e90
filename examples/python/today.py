"""A sum of rows with the names of TVM's releases since 0.24, in a function that uses Python's values.

    python3 examples/python/today.py
"""

import types

import numpy as np

import tirc as tvm
from tirc import s_tir
from tirc.script import tirx as T

config = types.SimpleNamespace(rows=64, columns=1000, dtype="float32", scale=0.5)


def scaled(x):
    return x * T.float32(config.scale)


@T.prim_func(s_tir=True)
def row_sums(A: T.Buffer((config.rows, config.columns), config.dtype), B: T.Buffer((config.rows,), config.dtype)):
    for i, k in T.grid(config.rows, config.columns):
        with T.sblock("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + scaled(A[vi, vk])


sch = s_tir.Schedule(tvm.IRModule({"main": row_sums}))
block = sch.get_sblock("B")
i, k = sch.get_loops(block)
partial = sch.rfactor(sch.split(k, factors=[None, 8])[1], factor_axis=1)
print(sch.mod.script())

a, b = np.random.rand(config.rows, config.columns).astype("float32"), np.zeros(config.rows, "float32")
tvm.compile(sch.mod)(a, b)
tvm.testing.assert_allclose(b, a.sum(1) * config.scale, rtol=1e-4)
print("the sums are right")
