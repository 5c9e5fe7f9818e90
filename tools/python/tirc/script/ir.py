"""I: the decorator ir_module, and every other name of modules."""

from .._module import ir_module
from .._names import Name


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Name(name, "I")


__all__ = ["ir_module"]
