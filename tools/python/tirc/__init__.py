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

Names and behaviour are those of tvm where both have them, so code written for
tvm.tir.Schedule runs after `import tirc as tvm`.
"""

from . import _lib, error, ir, script, target, tir
from ._errors import ArgumentError, ScheduleError, TVMError
from ._module import (IRModule, PrimFunc, assert_structural_equal, difference, ir_module, operator, parse,
                      prim_func, read, structural_equal, structural_hash)
from ._runtime import BenchmarkResult, CheckResult, Kernel, Reference, Target, build, cpu, interpret
from ._schedule import Schedule, TensorIntrin, auto, primitives, schedule_script
from ._tune import Trial, TuneResult, tune, tuned
from ._warnings import ScheduleWarning

TircError = TVMError
__version__ = _lib.lib.tirc_version().decode()
library_path = _lib.library_path


__all__ = [
    "ArgumentError", "BenchmarkResult", "CheckResult", "IRModule", "Kernel", "PrimFunc", "Reference", "Schedule", "ScheduleError",
    "ScheduleWarning", "TVMError", "Target", "TensorIntrin", "TircError", "Trial", "TuneResult",
    "assert_structural_equal", "auto", "build", "cpu",
    "difference", "error", "interpret", "ir", "ir_module", "operator", "parse", "prim_func", "primitives", "read",
    "schedule_script", "script", "structural_equal", "structural_hash", "target", "tir", "tune",
    "tuned"
]
