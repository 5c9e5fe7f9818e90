"""tirc.ir: IRModule and comparisons; passes over modules."""

import json

from . import module, transform
from .._values import ExprRV as PrimExpr
from .._values import Object, Op, Range
from .._module import GlobalVar, IRModule, PrimFunc, assert_structural_equal, parse, structural_equal, structural_hash


def save_json(node):
    """A module, a function or a plain value as JSON, which load_json reads. Programs are text in it."""
    if isinstance(node, (IRModule, PrimFunc)):
        return json.dumps({"tirc": "module" if isinstance(node, IRModule) else "function", "text": node.script()})
    return json.dumps({"tirc": "value", "value": node})


def load_json(text):
    """What save_json wrote."""
    saved = json.loads(text)
    if not isinstance(saved, dict) or saved.get("tirc") not in ("module", "function", "value"):
        raise ValueError("this is nothing that tirc.ir.save_json wrote")
    if saved["tirc"] == "value":
        return saved["value"]
    mod = parse(saved["text"], "<json>")
    return mod if saved["tirc"] == "module" else next(iter(mod.functions.values()))


def __getattr__(name):
    from .. import _doors
    return _doors.missing("tirc.ir", name)


__all__ = ["GlobalVar", "IRModule", "Object", "Op", "PrimExpr", "Range", "assert_structural_equal", "load_json", "module", "save_json", "structural_equal", "structural_hash",
           "transform"]
