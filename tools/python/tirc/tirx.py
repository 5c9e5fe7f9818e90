"""tirc.tirx: what tirc.tir has, by the names of TVM's releases since 0.24 (tirx.SBlock is a tir.Block)."""

__path__ = []  # what is imported below it is asked for by name

from . import tir
from ._module import PrimFunc
from .tir import Buffer, ForKind, IndexMap, IntImm, IterVar, transform


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "Expr":
        return tir.PrimExpr
    return getattr(tir, name[1:] if name.startswith("SBlock") else name)


__all__ = ["Buffer", "ForKind", "IndexMap", "IntImm", "IterVar", "PrimFunc", "transform"]
