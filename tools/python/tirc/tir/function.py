"""tirc.tir.function: functions, by where the reference keeps their classes."""

from .._module import PrimFunc
from .._schedule import TensorIntrin
from .index_map import IndexMap

__all__ = ["IndexMap", "PrimFunc", "TensorIntrin"]
