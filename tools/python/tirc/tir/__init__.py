"""tirc.tir: Schedule and what schedules need."""

from . import schedule, stmt_functor, transform
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


_STATEMENTS = ("Allocate", "AssertStmt", "AttrStmt", "DeclBuffer", "For", "Block", "BufferRegion", "BufferStore", "Evaluate", "IfThenElse", "LetStmt", "MatchBufferRegion", "SeqStmt", "While")
_EXPRESSIONS = ("Add", "And", "BufferLoad", "Call", "Cast", "Div", "EQ", "FloorDiv", "FloorMod", "GE", "GT", "LE", "LT", "Max", "Min", "Mod",
                "Mul", "NE", "Not", "Or", "Select", "Sub", "Var")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "BlockRealize":  # a view of a block has what its realize has
        name = "Block"
    if name in _STATEMENTS:
        return Typed.named(name)
    if name in _EXPRESSIONS:
        return Typed.named(name, ExprRV)
    return _names.find("tirc.tir", name)
