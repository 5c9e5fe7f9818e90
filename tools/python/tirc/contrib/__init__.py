"""tirc.contrib: what scripts use of it beside other libraries."""

from . import utils


def __getattr__(name):
    from .. import _doors
    return _doors.missing("tirc.contrib", name)


__all__ = ["utils"]
