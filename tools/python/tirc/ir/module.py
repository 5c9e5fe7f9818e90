"""tirc.ir.module: where the reference keeps the class."""

from .._module import IRModule

__all__ = ["IRModule"]
