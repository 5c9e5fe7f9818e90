"""tirc.script: `from tirc.script import tir as T, ir as I, relax as R`; tirx is the same, by its name since TVM 0.24."""

from .. import _expand
from .._module import ir_module, parse
from . import ir, relax, tir, tirx


def from_source(text, extra_vars=None, check_well_formed=True):
    """A program from text; extra_vars are Python's values that stand in it, and functions that it calls."""
    known = dict(extra_vars or {})
    text, _ = _expand.expand(text, "<text>", 1, [known])
    mod = parse(text, **{k: v for k, v in known.items() if isinstance(v, (int, float, str, tuple))})
    functions = mod.functions
    return mod if "class " in text or len(functions) != 1 else next(iter(functions.values()))


def __getattr__(name):
    if name == "parser":
        import sys
        return sys.modules[__name__]  # script.parser.tir is script.tir
    from .. import _doors
    return _doors.missing("tirc.script", name)


__all__ = ["from_source", "ir", "ir_module", "relax", "tir", "tirx"]
