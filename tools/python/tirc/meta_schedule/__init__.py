"""tirc.meta_schedule: the search, by the names of the reference. What it tries is kept in a database of tirc's (`tirc db`)."""

from . import database, relax_integration, space_generator, tir_integration
from .database import Database, JSONDatabase, MemoryDatabase
from .relax_integration import compile_relax, extract_tasks, tune_relax
from .tir_integration import compile_tir, tune_tir

__all__ = ["Database", "JSONDatabase", "MemoryDatabase", "compile_relax", "compile_tir", "database", "extract_tasks", "relax_integration",
           "space_generator", "tir_integration", "tune_relax", "tune_tir"]


def __getattr__(name):
    from .. import _doors
    return _doors.missing("tirc.meta_schedule", name)
