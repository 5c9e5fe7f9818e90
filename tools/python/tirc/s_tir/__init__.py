"""tirc.s_tir: Schedule and what schedules need, by the names of TVM's releases since 0.24."""

from . import schedule
from ..tir import transform
from .._errors import ScheduleError
from .._schedule import Schedule, TensorIntrin, Trace
from ..tir import ForKind, IndexMap, IterVar
from .schedule import LoopRV, SBlockRV, SBlockScope, ScheduleState, StmtSRef

__all__ = [
    "ForKind", "IndexMap", "IterVar", "LoopRV", "SBlockRV", "SBlockScope", "Schedule", "ScheduleError", "ScheduleState",
    "StmtSRef", "TensorIntrin", "Trace", "schedule", "transform"
]
