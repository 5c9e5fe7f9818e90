"""tirc.tir.schedule: the schedule, and the classes of what it gives."""

from enum import IntEnum

from ..._errors import ScheduleError
from ..._schedule import Schedule, Trace
from ..._values import BlockRV, ExprRV, LoopRV, StmtSRef, Typed

BlockScope, Dependency, Instruction, InstructionKind, ScheduleState = map(
    Typed.named, ("BlockScope", "Dependency", "Instruction", "InstructionKind", "ScheduleState"))


class ScheduleDebugMask(IntEnum):
    """What is verified after each primitive: Schedule(mod, debug_mask=...)."""

    VERIFY_SREF_TREE = 1
    VERIFY_CACHED_FLAGS = 2


class DepKind(IntEnum):
    """The kind of a dependence between two blocks."""

    RAW, WAW, WAR, OPAQUE = range(4)


SBlockRV, SBlockScope = BlockRV, BlockScope  # as the releases since 0.24 call them

__all__ = [
    "BlockRV", "BlockScope", "DepKind", "Dependency", "ExprRV", "Instruction", "InstructionKind", "LoopRV",
    "SBlockRV", "SBlockScope", "Schedule", "ScheduleDebugMask", "ScheduleError", "ScheduleState", "StmtSRef", "Trace"
]
