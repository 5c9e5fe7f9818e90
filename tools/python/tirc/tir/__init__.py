"""tirc.tir: Schedule and what schedules need."""

from . import analysis, buffer, expr, function, op, schedule, stmt, stmt_functor, tensor_intrin, transform
from .. import _names
from .._errors import ScheduleError
from .._module import PrimFunc
from .._schedule import Schedule, TensorIntrin, Trace, primitives
from .._values import Buffer, IntImm, Typed
from .index_map import IndexMap
from .schedule import BlockRV, BlockScope, ExprRV, LoopRV, ScheduleState, StmtSRef


class IterVar:
    DataPar, CommReduce, Ordered, Opaque = 0, 2, 3, 4


class ForKind:
    SERIAL, PARALLEL, VECTORIZED, UNROLLED, THREAD_BINDING = (
        "serial", "parallel", "vectorized", "unroll", "thread_binding")


PrimExpr = ExprRV


def convert(value):
    """Returns its argument: Python's values need no conversion."""
    return value


def build(mod, target=None, **how):
    """tirc.build."""
    from .._runtime import build as of_tirc
    return of_tirc(mod, target, **how)


def div(a, b):
    """The quotient towards zero, as C has it."""
    return _names.find("tirc.tir", "truncdiv")(a, b)


def decl_buffer(shape, dtype=None, name="buffer", data=None, strides=None, elem_offset=None, scope="", data_alignment=-1, offset_factor=0,
                buffer_type="", axis_separators=None, span=None):
    """A buffer of no program, whose shape, dtype, name, strides and scope() a program's text may ask: T.match_buffer(a, b.shape, b.dtype)."""
    if buffer_type:
        raise ValueError("a buffer's shape is its shape here, and no buffer_type")
    made = Buffer()
    if data is not None:
        made.data = data
    made.shape = list(shape) if isinstance(shape, (list, tuple)) else [shape]
    made.dtype, made.name, made.strides, made.elem_offset = str(dtype or "float32"), name, list(strides or []), elem_offset or 0
    made.data_alignment, made.offset_factor, made.axis_separators = 64 if data_alignment < 0 else data_alignment, offset_factor or 1, list(axis_separators or [])
    made.scope = lambda: scope or "global"
    return made


def call_intrin(dtype, func_name, *args):
    """A function of the language by its name: call_intrin("float32", "tir.exp", x)."""
    made = _names.find("tirc.tir", str(func_name).rpartition(".")[2])(*args)
    if getattr(made, "dtype", dtype) != dtype:
        raise TypeError("%s gives %s here, not %s" % (func_name, made.dtype, dtype))
    return made


def sum(expr, axis, where=None, init=None):
    """te.sum."""
    from ..te import sum as of_te
    if where is not None or init is not None:
        raise ValueError("a sum here has no where and no init: te.if_then_else within it, and init added to it")
    return of_te(expr, axis)


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
    if name not in _names.of_expressions():
        from .. import _doors
        if "tir." + name in _doors.INSTEAD:
            return _doors.missing("tirc.tir", name)
    return _names.find("tirc.tir", name)
