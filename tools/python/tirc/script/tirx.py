"""T of the releases since 0.24: the decorator prim_func, and every other name of the language."""

from .._expand import macro
from .._module import prim_func
from .._names import Name

inline = macro


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Name(name)


__all__ = ["macro", "prim_func"]
