"""tirc.s_tir.schedule: the schedule, and the classes of what it gives."""

__path__ = []  # what is imported below it is asked for by name

from ..tir.schedule import analysis, transform
from ..tir.schedule import (DepKind, Dependency, ExprRV, Instruction, InstructionKind, LoopRV, SBlockRV, SBlockScope,
                            Schedule, ScheduleDebugMask, ScheduleError, ScheduleState, StmtSRef, Trace)

__all__ = [
    "DepKind", "Dependency", "ExprRV", "Instruction", "InstructionKind", "LoopRV", "SBlockRV", "SBlockScope", "Schedule",
    "ScheduleDebugMask", "ScheduleError", "ScheduleState", "StmtSRef", "Trace", "analysis", "transform"
]
