# A model in which two nodes share a constant: shared_constant.py FILE.onnx
import sys, onnx, numpy as np
from onnx import helper as h, numpy_helper as n
c = h.make_node("Constant", [], ["c"], value=n.from_array(np.arange(1, 9, dtype=np.float32)))
nodes = [c, h.make_node("Add", ["x", "c"], ["a"]), h.make_node("MatMul", ["a", "w"], ["b"]), h.make_node("Add", ["b", "c"], ["y"])]
t = lambda s, d: h.make_tensor_value_info(s, onnx.TensorProto.FLOAT, d)
g = h.make_graph(nodes, "g", [t("x", [4, 8])], [t("y", [4, 8])], [n.from_array(np.eye(8, dtype=np.float32) * 0.5, "w")])
onnx.save(h.make_model(g, opset_imports=[h.make_opsetid("", 13)], ir_version=8), sys.argv[1])
