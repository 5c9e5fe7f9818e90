"""tirc.ir: IRModule and comparisons; passes over modules."""

from . import _transform as transform
from ._module import GlobalVar, IRModule, assert_structural_equal, structural_equal, structural_hash

__all__ = ["GlobalVar", "IRModule", "assert_structural_equal", "structural_equal", "structural_hash", "transform"]
