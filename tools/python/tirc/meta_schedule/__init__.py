"""tirc.meta_schedule: the search, by the names of the reference. What it tries is kept in a database of tirc's (`tirc db`)."""

from . import database, space_generator, tir_integration
from .database import Database, JSONDatabase, MemoryDatabase
from .tir_integration import compile_tir, tune_tir

__all__ = ["Database", "JSONDatabase", "MemoryDatabase", "compile_tir", "database", "space_generator", "tir_integration", "tune_tir"]


def __getattr__(name):
    from .. import _doors
    return _doors.missing("tirc.meta_schedule", name)
