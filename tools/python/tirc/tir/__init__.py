"""tirc.tir: Schedule and what schedules need."""

from . import schedule
from .. import _names
from .._errors import ScheduleError
from .._module import PrimFunc
from .._schedule import Schedule, TensorIntrin, Trace, primitives
from .._values import Buffer, IntImm, Typed
from .schedule import BlockRV, BlockScope, ExprRV, LoopRV, ScheduleState, StmtSRef


class IndexMap:
    AXIS_SEPARATOR = "axis_separator"

    @staticmethod
    def from_func(mapping_function, ndim=None, inverse_index_map=None, *, index_dtype="int64"):
        return mapping_function


class IterVar:
    DataPar, CommReduce, Ordered, Opaque = 0, 2, 3, 4


class ForKind:
    SERIAL, PARALLEL, VECTORIZED, UNROLLED, THREAD_BINDING = (
        "serial", "parallel", "vectorized", "unroll", "thread_binding")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("For", "Block", "BufferLoad", "BufferRegion", "BufferStore", "SeqStmt", "IfThenElse", "Evaluate", "LetStmt"):
        return Typed.named(name)
    return _names.find("tirc.tir", name)
