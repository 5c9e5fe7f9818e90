"""tirc.tir.schedule: the schedule, and the classes of what it gives."""

from enum import IntEnum
from typing import NamedTuple

from ..._errors import ScheduleError
from ..._instructions import Instruction, InstructionKind
from ..._schedule import Schedule, Trace
from ..._values import BlockRV, ExprRV, LoopRV, Object, StmtSRef, Typed

BlockScope, Dependency = map(Typed.named, ("BlockScope", "Dependency"))


class CachedFlags(NamedTuple):
    """What a state knows about a block."""

    affine_binding: bool
    region_cover: bool
    stage_pipeline: bool


class ScheduleState(Object):
    """What a schedule knows about its program: mod, get_sref, get_block_scope."""

    def _get_cached_flags(self, block_sref):
        return CachedFlags(*self.cached_flags(block_sref))


Typed.classes["ScheduleState"] = ScheduleState


class ScheduleDebugMask(IntEnum):
    """What is verified after each primitive: Schedule(mod, debug_mask=...)."""

    VERIFY_SREF_TREE = 1
    VERIFY_CACHED_FLAGS = 2


class DepKind(IntEnum):
    """The kind of a dependence between two blocks."""

    RAW, WAW, WAR, OPAQUE = range(4)


from . import analysis, transform  # noqa: E402
from .analysis import has_block  # noqa: E402

SBlockRV, SBlockScope = BlockRV, BlockScope  # as the releases since 0.24 call them



def __getattr__(name):
    from ... import _doors
    return _doors.missing("tirc.tir.schedule", name)


__all__ = [
    "BlockRV", "BlockScope", "CachedFlags", "DepKind", "Dependency", "ExprRV", "Instruction", "InstructionKind", "LoopRV",
    "SBlockRV", "SBlockScope", "Schedule", "ScheduleDebugMask", "ScheduleError", "ScheduleState", "StmtSRef", "Trace", "analysis", "has_block", "transform"
]
