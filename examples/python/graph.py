"""Two layers as a module with a graph: a pass turns it into loops, relax.build compiles it, and VirtualMachine runs it.

    python3 examples/python/graph.py
"""

import numpy as np

import tirc as tvm
from tirc import relax
from tirc.script import ir as I
from tirc.script import relax as R
from tirc.script import tir as T


@I.ir_module
class Mlp:
    @R.function
    def main(x: R.Tensor(("n", 784), "float32"), w0: R.Tensor((784, 128), "float32"), b0: R.Tensor((128,), "float32"),
             w1: R.Tensor((128, 10), "float32"), b1: R.Tensor((10,), "float32")) -> R.Tensor(("n", 10), "float32"):
        n = T.int64()
        with R.dataflow():
            hidden = R.nn.relu(R.add(R.matmul(x, w0), b0))
            out = R.add(R.matmul(hidden, w1), b1)
            R.output(out)
        return out


legal = relax.transform.LegalizeOps()(Mlp)
print(legal.script())

rng = np.random.default_rng(0)
weights = [rng.standard_normal(shape).astype("float32") for shape in ((784, 128), (128,), (128, 10), (10,))]
x = rng.standard_normal((5, 784)).astype("float32")
vm = relax.VirtualMachine(relax.build(Mlp, target="llvm"), tvm.cpu())
out = vm["main"](tvm.nd.array(x), *map(tvm.nd.array, weights))
expected = np.maximum(x @ weights[0] + weights[1], 0) @ weights[2] + weights[3]
tvm.testing.assert_allclose(out.numpy(), expected, rtol=1e-3, atol=1e-3)
print("%d rows of %d scores are right" % out.shape)
