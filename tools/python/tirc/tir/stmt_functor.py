"""tirc.tir.stmt_functor: walks over the views of a program, PrimFunc.body and what is in it."""

from .._values import ExprRV, Object

# of each kind what is in it, in the order in which it is visited
_PARTS = {
    "For": ("min", "extent", "body"), "Block": ("iter_values", "predicate", "iter_vars", "reads", "writes", "match_buffers", "init", "body"),
    "IterVar": ("dom",), "Range": ("min", "extent"), "BufferRegion": ("region",), "MatchBufferRegion": ("source",),
    "BufferStore": ("value", "indices"), "BufferLoad": ("indices",), "Evaluate": ("value",), "SeqStmt": ("seq",),
    "IfThenElse": ("condition", "then_case", "else_case"), "LetStmt": ("value", "body"), "While": ("condition", "body"),
    "Allocate": ("body",), "DeclBuffer": ("body",), "AttrStmt": ("value", "body"), "AssertStmt": ("condition", "body")}
_LEAVES = ("Buffer", "Var", "IntImm", "FloatImm", "StringImm")


def _parts(node):
    kind = type(node).__name__
    names = _PARTS.get(kind)
    if names is None and kind not in _LEAVES and isinstance(node, ExprRV):
        names = ("args",)
    if names is None and kind not in _LEAVES:
        raise TypeError("a walk does not know what is in a %s" % kind)
    for name in names or ():
        part = getattr(node, name)
        yield from part if isinstance(part, (list, tuple)) else (part,)


def _visit(node, before, after):
    if not isinstance(node, Object):
        return  # a number or a text of Python's
    if before is not None and before(node) is False:
        return
    for part in _parts(node):
        _visit(part, before, after)
    if after is not None:
        after(node)


def post_order_visit(stmt, fvisit):
    """Calls fvisit with each statement and expression, what is in it first."""
    _visit(stmt, None, fvisit)


def pre_order_visit(stmt, fvisit):
    """Calls fvisit with each statement and expression; what is in it comes after, unless it returns False."""
    _visit(stmt, fvisit, None)


def __getattr__(name):
    from .. import _doors
    return _doors.missing("tirc.tir.stmt_functor", name)


__all__ = ["post_order_visit", "pre_order_visit"]
