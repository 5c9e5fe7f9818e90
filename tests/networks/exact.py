"""In float64 a network computes what numpy does in double precision, much nearer than in the types of the file: exact.py [KIND...]

The kinds are those of kinds.py; with none given, some of them. Functions that read bits as floats are refused."""
import ctypes
import os
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "python"))
from kinds import KINDS, made  # noqa: E402
import tirc  # noqa: E402
from tirc import _lib, _model  # noqa: E402
from tirc.relax import transform  # noqa: E402
from tirc import IRModule  # noqa: E402

USUAL = ["mlp", "attention", "norms", "branching"]
NEAR = 1e-13  # float32 alone comes as near as 1e-8
FOLDED = 1e-7  # what is folded on import is of the types of the file


def in_float64(module):
    calls = transform._run(IRModule._of(module), "loops", ["FoldConstant"])
    return _lib.make("module", "module_in_float64", calls._module)


def check(kind):
    net, sizes = made(kind, 1)
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(net.text())
        file.flush()
        module = _model.read_model(file.name, {})
    weights = _model.weights_of(module)
    widened = {n: w.astype("float64") if w.dtype.kind == "f" else w for n, w in weights.items()}
    exact = _model.Model(in_float64(module), weights=widened)
    off = 0
    for size in sizes:
        arrays = net.draw(size, np.random.default_rng(2))
        wide = [a.astype(p.dtype) for a, p in zip(arrays, exact.inputs)]
        results = exact(*wide)
        for got, want in zip(results if isinstance(results, tuple) else [results], net.wanted(arrays)):
            assert not got.size or got.dtype == np.float64 or got.dtype.kind != "f", got.dtype
            assert got.shape == want.shape, (got.shape, want.shape)
            if got.size:
                off = max(off, np.abs(got.astype("float64") - want).max() / max(1e-30, np.abs(want).max()))
    return off


def check_refused(value, why):
    """Bits that are read as floats are none of float64, nor is what another library computes of floats."""
    text = """@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = %s
    @R.function
    def main(x: R.Tensor((4,), "int32")):
        cls = Module
        with R.dataflow():
            gv = R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((4,), "float32"))
            R.output(gv)
        return gv
""" % value
    with tempfile.NamedTemporaryFile("w", suffix=".tir") as file:
        file.write(text)
        file.flush()
        module = _model.read_model(file.name, {})
    try:
        in_float64(module)
    except tirc.TVMError as error:
        assert error.code == "unsupported" and "f is not computed in float64: it " + why in str(error), error
        return
    raise AssertionError("%s became float64" % value)


check_refused('T.reinterpret("float32", A[vi])', "reads bits as floats")
check_refused('T.call_extern("float32", "expf", T.Cast("float32", A[vi]))', "calls code of another library")
check_refused('T.call_pure_extern("float32", "expf", T.Cast("float32", A[vi]))', "calls code of another library")
for kind in KINDS:
    if kind.__name__ in (sys.argv[1:] or USUAL):
        off = check(kind)
        print(kind.__name__, off, flush=True)
        assert off < (NEAR if kind.__name__ in USUAL else FOLDED), kind.__name__
