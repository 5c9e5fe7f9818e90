"""R: the decorator function of graphs, and every other name of theirs."""

from .._expand import macro
from .._module import function
from .._names import Name


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Name(name, "R")


__all__ = ["function", "macro"]
