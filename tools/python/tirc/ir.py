"""tirc.ir: IRModule and comparisons."""

from ._module import IRModule, assert_structural_equal, structural_equal, structural_hash

__all__ = ["IRModule", "assert_structural_equal", "structural_equal", "structural_hash"]
