"""tirc.tir.function: functions, by where the reference keeps their classes."""

from .._module import PrimFunc
from .._schedule import TensorIntrin


def __getattr__(name):
    from .. import tir
    if name == "IndexMap":
        return tir.IndexMap
    raise AttributeError("module 'tirc.tir.function' has no attribute %r" % name)


__all__ = ["PrimFunc", "TensorIntrin"]
