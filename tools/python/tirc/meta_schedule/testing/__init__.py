"""tirc.meta_schedule.testing: programs that tests of schedules are written about."""

from . import te_workload

__all__ = ["te_workload"]
