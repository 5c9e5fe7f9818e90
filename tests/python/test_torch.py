"""tirc.compile of a module of PyTorch. Where there is no PyTorch, one stands in that has as much of it: a module's class, and an
exporter that writes files as PyTorch's does, with functions of onnxscript, opset 18 and names with dots."""

import pathlib
import sys
import types

import numpy as np
import pytest

import tirc
from support import SOURCE

sys.path.insert(0, str(SOURCE / "tests" / "onnx"))
from messages import function, model, node, tensor, value

rng = np.random.default_rng(7)
W, B = rng.standard_normal((3, 4)).astype("float32"), rng.standard_normal(3).astype("float32")


def file_of(rows):
    linear = function("torch_nn_modules_linear_Linear_fc_1", "pkg.torch.2.5.0", ["x", "weight", "bias"], ["addmm"],
                      [node("Gemm", ["x", "weight", "bias"], ["addmm"], alpha=1.0, beta=1.0, transA=0, transB=1)], opset=18)
    nodes = [node("torch_nn_modules_linear_Linear_fc_1", ["x", "fc.weight", "fc.bias"], ["addmm"], name="fc", domain="pkg.torch.2.5.0"),
             node("Relu", ["addmm"], ["relu"])]
    return model(nodes, [value("x", "float32", [rows, 4])], [value("relu", "float32", [rows, 3])], [tensor(W, "fc.weight"), tensor(B, "fc.bias")],
                 opset=18, functions=[linear])


class StandIn:
    """torch, of one version."""

    def __init__(self, monkeypatch, is_new):
        self.calls = []
        Module = type("Module", (), {"__module__": "torch.nn.modules.module", "training": True,
                                     "eval": lambda m: m.train(False), "train": lambda m, mode=True: setattr(m, "training", mode)})
        self.module = type("Net", (Module,), {"__module__": "mine"})()
        torch, onnx = types.ModuleType("torch"), types.ModuleType("torch.onnx")
        torch.onnx, torch.__version__ = onnx, "2.5.0" if is_new else "1.13.0"

        class Program:
            def save(program, path):
                pathlib.Path(path).write_bytes(file_of("s0" if self.calls[-1][1].get("dynamic_shapes") else 2))

        def export(module, args, f=None, **more):
            assert not module.training
            self.calls.append((args, more))
            return Program().save(f) if f else Program()
        onnx.export = export
        if is_new:
            onnx.ONNXProgram = Program
        monkeypatch.setitem(sys.modules, "torch", torch)
        monkeypatch.setitem(sys.modules, "torch.onnx", onnx)


def expected(x):
    return np.maximum(x @ W.T + B, 0)


@pytest.mark.parametrize("is_new", [True, False])
def test_compiled(monkeypatch, is_new):
    torch = StandIn(monkeypatch, is_new)
    x = rng.standard_normal((2, 4)).astype("float32")
    net = tirc.compile(torch.module, x)
    assert np.allclose(net(x), expected(x), atol=1e-5)
    assert torch.module.training and torch.calls[0][0] == (x,) and ("dynamo" in torch.calls[0][1]) == is_new
    net = tirc.compile(torch.module, "haswell", example=(x,), threads=1)
    assert np.allclose(net(x), expected(x), atol=1e-5)


def test_open_extents(monkeypatch):
    torch = StandIn(monkeypatch, True)
    net = tirc.compile(torch.module, rng.standard_normal((2, 4)).astype("float32"), dynamic_shapes=({0: "s0"},))
    for rows in (1, 5):
        x = rng.standard_normal((rows, 4)).astype("float32")
        assert np.allclose(net(x), expected(x), atol=1e-5)


def test_refused(monkeypatch):
    torch = StandIn(monkeypatch, False)
    with pytest.raises(ValueError, match="compile\\(module, example\\)"):
        tirc.compile(torch.module)
    with pytest.raises(ValueError, match="2.5 and later"):
        tirc.compile(torch.module, np.zeros((2, 4), "float32"), dynamic_shapes={})
    assert torch.module.training
    with pytest.raises(ValueError, match="for a module of PyTorch"):
        tirc.compile("none.onnx", example=np.zeros(1))


def test_torch_itself():
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
    x = torch.randn(2, 4)
    assert torch.allclose(torch.from_numpy(np.asarray(tirc.compile(net, x)(x.numpy()))), net(x), atol=1e-5)
