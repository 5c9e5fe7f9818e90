"""tirc: a small TensorIR compiler. Programs, schedules and kernels in Python, without compiled code
of its own: everything is done by libtirc.

    import tirc
    from tirc.script import tir as T

    @T.prim_func
    def double(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        for i in range(128):
            with T.block("B"):
                vi = T.axis.spatial(128, i)
                B[vi] = A[vi] * T.float32(2)

    sch = tirc.Schedule(double)
    i, = sch.get_loops(sch.get_block("B"))
    sch.vectorize(sch.split(i, factors=[None, 8])[1])
    sch.mod.show()
    tirc.build(sch.mod)(a, b)        # numpy arrays, or whatever has __dlpack__

Measured against other ways, with intervals, and checked against the interpreter:

    kernel, reference = tirc.build(sch.mod)["main"], tirc.Reference(double, a, b)
    m = tirc.measure({"mine": tirc.Contender(kernel, a, b, reference=reference),
                      "numpy": lambda: numpy.multiply(a, 2, out=b)})
    m["mine"].times_as_fast(m["numpy"]), m["mine"].surely_faster(m["numpy"])

Names and behaviour are those of tvm where both have them, so code written for
tvm.tir.Schedule runs after `import tirc as tvm`.
"""

from . import _doors, _lib, error, ir, nd, runtime, s_tir, script, target, te, testing, tir, tirx, transform
from ._device import Device, cpu, cuda, device, opencl
from ._errors import ArgumentError, ScheduleError, TVMError
from ._functions import get_global_func, register_func
from ._load import Loaded, load
from ._measure import Contender, Figures, Measurement, Ratio, measure
from ._model import Model
from ._module import (IRModule, PrimFunc, assert_structural_equal, difference, ir_module, operator, parse,
                      prim_func, read, spatial_log_cost, structural_equal, structural_hash)
from ._runtime import BenchmarkResult, CheckResult, EmulateReport, Kernel, Reference, build, compile, emulate, interpret, lower
from ._schedule import Schedule, TensorIntrin, auto, primitives, schedule_script
from ._steps import Step, Steps, steps
from ._target import Target
from ._tune import Trial, TuneResult, tune, tuned
from ._warnings import ScheduleWarning

TircError = TVMError
__version__ = _lib.lib.tirc_version().decode()
library_path = _lib.library_path
DataType, DataTypeCode, register_global_func = runtime.DataType, runtime.DataTypeCode, register_func


def __getattr__(name):
    if name in ("arith", "contrib", "dlight", "driver", "meta_schedule", "relax", "topi"):  # imported when they are asked for
        import importlib
        return importlib.import_module("." + name, __name__)
    return _doors.missing(__name__, name)


__all__ = [
    "ArgumentError", "BenchmarkResult", "CheckResult", "Contender", "DataType", "DataTypeCode", "Device", "EmulateReport", "Figures", "IRModule", "Kernel", "Loaded", "Measurement", "Model",
    "PrimFunc", "Ratio", "Reference", "Schedule", "ScheduleError",
    "ScheduleWarning", "Step", "Steps", "TVMError", "Target", "TensorIntrin", "TircError", "Trial", "TuneResult",
    "assert_structural_equal", "auto", "build", "compile", "cpu", "cuda", "device",
    "difference", "emulate", "error", "get_global_func", "interpret", "ir", "ir_module", "load", "lower", "measure", "nd", "opencl", "operator", "parse", "prim_func", "primitives", "read",
    "register_func", "register_global_func", "runtime", "s_tir", "schedule_script", "script", "steps", "structural_equal", "structural_hash", "target", "te", "testing", "tir",
    "tirx", "transform", "tune", "tuned"
]
