"""Arrays of indices for the cases, and models of ONNX."""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "onnx"))
from messages import model, node, tensor, value  # noqa: E402

out = pathlib.Path(sys.argv[1])
for name, ids in {"good": [0, 3, -2, -5], "far": [0, 1, 10 ** 9, 2], "near": [0, 1, 4, 2], "below": [0, -7, 0, 2], "last": [0, 1, 2 ** 31 - 2, 3],
                  "largest": [0, 1, 2 ** 31 - 1, 3]}.items():
    np.save(out / ("%s.npy" % name), np.array(ids, "int32"))
for name, n in {"two": 2, "three": 3, "five": 5}.items():
    np.save(out / ("%s.npy" % name), np.arange(n, dtype="float32"))
np.save(out / "none.npy", np.zeros((5, 0, 3), "float32"))
np.save(out / "table.npy", np.arange(15, dtype="float32").reshape(5, 3))


def write(name, op, inputs, shape, constants=(), **attributes):
    own = [value(n, t, s) for n, t, s in inputs]
    names = [n for n, _, _ in inputs] + [n for n, _ in constants]
    (out / name).write_bytes(model([node(op, sorted(names), ["y"], **attributes)], own, [value("y", "float32", shape)],
                                   [tensor(a, n) for n, a in constants]))


write("scatter.onnx", "ScatterElements", [("a", "float32", [5]), ("b", "int32", [4]), ("c", "float32", [4])], [5])
write("nd.onnx", "ScatterND", [("a", "float32", [5]), ("b", "int64", [4, 1]), ("c", "float32", [4])], [5])
write("constant.onnx", "Gather", [("a", "float32", [5])], [2], [("b", np.int64([1, 7]))])
