"""An ONNX file as a module with a graph: from_onnx, passes, separate weights, relax.build.

    python3 examples/python/onnx_model.py
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import tirc as tvm
from tirc import relax
from tirc.relax.frontend import detach_params
from tirc.relax.frontend.onnx import from_onnx

rng = np.random.default_rng(0)
weight, bias = rng.standard_normal((20, 8)).astype("float32"), rng.standard_normal(8).astype("float32")
graph = helper.make_graph(
    [helper.make_node("Gemm", ["x", "w", "b"], ["h"]), helper.make_node("Relu", ["h"], ["y"])], "layer",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 20])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 8])],
    [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
onnx.checker.check_model(model)

x = rng.standard_normal((3, 20)).astype("float32")
expected = np.maximum(x @ weight + bias, 0)

mod = from_onnx(model, shape_dict={"x": (3, 20)})
mod = tvm.transform.Sequential([relax.transform.LegalizeOps(), relax.transform.FuseOps(), relax.transform.FuseTIR()])(mod)
mod.show()
vm = relax.VirtualMachine(relax.build(mod, target="llvm"), tvm.cpu())
tvm.testing.assert_allclose(vm["main"](x).numpy(), expected, rtol=1e-4, atol=1e-5)

mod, params = detach_params(from_onnx(model, keep_params_in_input=True))
vm = relax.VirtualMachine(relax.build(mod, target="llvm"), tvm.cpu())
tvm.testing.assert_allclose(vm["main"](x, *params["main"]).numpy(), expected, rtol=1e-4, atol=1e-5)
print("%d weights, and %d rows of %d numbers are right" % ((len(params["main"]),) + expected.shape))
