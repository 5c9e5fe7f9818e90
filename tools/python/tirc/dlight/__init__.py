"""tirc.dlight: schedules by rules, under the names that the reference gives them; each is a rule of the library's (`tirc rules gpu`)."""

from . import gpu
from .base import ApplyDefaultSchedule, ScheduleRule

__all__ = ["ApplyDefaultSchedule", "ScheduleRule", "gpu"]


def __getattr__(name):
    from .. import _doors
    return _doors.missing("tirc.dlight", name)
