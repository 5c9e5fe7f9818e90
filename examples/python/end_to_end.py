"""Recognizes pictures of clothes, 28 x 28 pixels in 10 classes. Its module has a graph and functions. A pass tiles every matrix
product, relax.build compiles the rest, and VirtualMachine runs it. The weights are random.

    python3 examples/python/end_to_end.py
"""

import numpy as np

import tirc as tvm
from tirc import relax
from tirc.script import ir as I
from tirc.script import relax as R
from tirc.script import tir as T


@I.ir_module
class Clothes:
    @T.prim_func
    def dense(x: T.Buffer((1, 784), "float32"), w: T.Buffer((128, 784), "float32"), b: T.Buffer((128,), "float32"),
              z: T.Buffer((1, 128), "float32")):
        T.func_attr({"tir.noalias": True})
        y = T.alloc_buffer((1, 128))
        for i, j, k in T.grid(1, 128, 784):
            with T.block("matmul"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    y[vi, vj] = T.float32(0)
                y[vi, vj] = y[vi, vj] + x[vi, vk] * w[vj, vk]
        for i, j in T.grid(1, 128):
            with T.block("bias"):
                vi, vj = T.axis.remap("SS", [i, j])
                z[vi, vj] = y[vi, vj] + b[vj]

    @T.prim_func
    def scores(x: T.Buffer((1, 128), "float32"), w: T.Buffer((10, 128), "float32"), b: T.Buffer((10,), "float32"),
               z: T.Buffer((1, 10), "float32")):
        T.func_attr({"tir.noalias": True})
        y = T.alloc_buffer((1, 10))
        for i, j, k in T.grid(1, 10, 128):
            with T.block("matmul"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    y[vi, vj] = T.float32(0)
                y[vi, vj] = y[vi, vj] + x[vi, vk] * w[vj, vk]
        for i, j in T.grid(1, 10):
            with T.block("bias"):
                vi, vj = T.axis.remap("SS", [i, j])
                z[vi, vj] = y[vi, vj] + b[vj]

    @R.function
    def main(x: R.Tensor((1, 784), "float32"), w0: R.Tensor((128, 784), "float32"), b0: R.Tensor((128,), "float32"),
             w1: R.Tensor((10, 128), "float32"), b1: R.Tensor((10,), "float32")) -> R.Tensor((1, 10), "float32"):
        cls = Clothes
        with R.dataflow():
            lv0 = R.call_tir(cls.dense, (x, w0, b0), out_sinfo=R.Tensor((1, 128), "float32"))
            lv1 = R.nn.relu(lv0)
            out = R.call_tir(cls.scores, (lv1, w1, b1), out_sinfo=R.Tensor((1, 10), "float32"))
            R.output(out)
        return out


@tvm.transform.module_pass(opt_level=0, name="TileProducts")
class TileProducts:
    """Cuts the columns of each product into pieces, and its sum into vectors."""

    def transform_module(self, mod, ctx):
        made = mod.clone()
        for var, func in mod.functions_items():
            if not isinstance(func, tvm.tir.PrimFunc):
                continue
            sch = tvm.tir.Schedule(func)
            if not tvm.tir.schedule.has_block(sch, "matmul"):
                continue
            block = sch.get_block("matmul")
            i, j, k = sch.get_loops(block)
            j0, j1 = sch.split(j, factors=[None, 2])
            k0, k1 = sch.split(k, factors=[None, 8])
            sch.reorder(i, j0, k0, j1, k1)
            sch.unroll(j1)
            sch.decompose_reduction(block, k0)
            made.update_func(var, sch.mod["main"].with_attr("tir.is_scheduled", True))
        return made


tiled = TileProducts()(Clothes)
print(tiled["scores"].script())
rng = np.random.default_rng(0)
weights = {"w0": rng.standard_normal((128, 784)).astype("float32"), "b0": rng.standard_normal(128).astype("float32"),
           "w1": rng.standard_normal((10, 128)).astype("float32"), "b1": rng.standard_normal(10).astype("float32")}
picture = rng.random((1, 784), dtype="float32")
expected = np.maximum(picture @ weights["w0"].T + weights["b0"], 0) @ weights["w1"].T + weights["b1"]
names = "T-shirt Trouser Pullover Dress Coat Sandal Shirt Sneaker Bag Boot".split()

for mod in (Clothes, tiled):
    executable = relax.build(mod, target="llvm", params=weights)
    vm = relax.VirtualMachine(executable, tvm.cpu(), profile=True)
    out = vm["main"](tvm.nd.array(picture)).numpy()
    tvm.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-2)
    print(vm.profile("main", picture))
print("it looks like a %s" % names[int(out.argmax())])
