"""tirc.s_tir: Schedule and what schedules need, by the names of TVM's releases since 0.24."""

from . import schedule
from ..tir import transform
from .._errors import ScheduleError
from .._schedule import Schedule, TensorIntrin, Trace
from ..tir import ForKind, IndexMap, IterVar
from .schedule import LoopRV, SBlockRV, SBlockScope, ScheduleState, StmtSRef

__all__ = [
    "ForKind", "IndexMap", "IterVar", "LoopRV", "SBlockRV", "SBlockScope", "Schedule", "ScheduleError", "ScheduleState",
    "StmtSRef", "TensorIntrin", "Trace", "renew_defs", "schedule", "transform"
]


def renew_defs(func):
    """The same function, with new variables and buffers."""
    from .._module import parse
    return parse(func.script_as(func.name), "<renewed>")[func.name]


def __getattr__(name):
    if name in ("dlight", "meta_schedule"):  # where the releases since 0.24 have them
        import importlib
        return importlib.import_module("tirc." + name)
    from .. import _doors
    return _doors.missing("tirc.s_tir", name)
