"""tirc.tir.schedule.state: where the reference keeps the class."""

from . import CachedFlags, ScheduleDebugMask, ScheduleState

__all__ = ["CachedFlags", "ScheduleDebugMask", "ScheduleState"]
