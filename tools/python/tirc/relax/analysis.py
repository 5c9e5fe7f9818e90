"""tirc.relax.analysis: questions about modules with graphs."""

from .. import _doors
from .._errors import TVMError
from .transform import with_types


def well_formed(obj, check_struct_info=True):
    """Whether the operators of a module's graphs take what they are given."""
    if not check_struct_info:
        raise ValueError("types are looked at in any case")
    try:
        with_types(obj)
    except TVMError:
        return False
    return True


def post_order_visit(expr, fvisit):
    """Calls fvisit once with each value of a graph, those that it is made of first."""
    from .expr import Expr
    from .expr_functor import PyExprVisitor
    seen = set()

    class Each(PyExprVisitor):
        def visit_expr(self, expr):
            if isinstance(expr, Expr) and expr in seen:
                return
            PyExprVisitor.visit_expr(self, expr)
            fvisit(expr)
            seen.update([expr] if isinstance(expr, Expr) else [])
    Each().visit_expr(expr)


def __getattr__(name):
    return _doors.missing("tirc.relax.analysis", name)


__all__ = ["post_order_visit", "well_formed"]
