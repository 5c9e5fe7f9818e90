"""I: the decorator ir_module."""

from .._module import ir_module

__all__ = ["ir_module"]
