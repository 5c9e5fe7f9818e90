"""tirc.arith: what the library proves of expressions of integers."""

from . import te
from ._values import ExprRV


class Analyzer:
    """simplify, can_prove, can_prove_equal: of variables of which nothing more is known than their types."""

    def simplify(self, expr, steps=2):
        """The expression in a simpler form."""
        if steps < 1:
            raise ValueError("it is simplified as far as it goes")
        return te._owner(expr).method(te._script("simplify"), "__call__", (expr,), {}) if isinstance(expr, ExprRV) else expr

    def can_prove(self, cond, strength=None):
        """Whether a condition holds for all values of its variables; False: no proof was found."""
        if strength is not None:
            raise ValueError("what can be proved is proved: strength is not a choice")
        if not isinstance(cond, ExprRV):
            return bool(cond)
        return te._owner(cond).method(te._script("known"), "__call__", (cond,), {}) is True

    def can_prove_equal(self, lhs, rhs):
        """Whether two expressions are the same for all values of their variables."""
        if not isinstance(lhs, ExprRV) and not isinstance(rhs, ExprRV):
            return lhs == rhs
        difference = lhs - rhs
        return self.can_prove(ExprRV._operate(difference, "==", difference, 0)) if isinstance(difference, ExprRV) else difference == 0

    def __getattr__(self, name):
        if name in ("bind", "update", "const_int_bound", "modular_set", "int_set", "rewrite_simplify", "canonical_simplify", "constraint_scope"):
            raise AttributeError("an Analyzer here has no %s; use instead: simplify and can_prove, which know types alone" % name)
        raise AttributeError(name)


def __getattr__(name):
    from . import _doors
    return _doors.missing("tirc.arith", name)


__all__ = ["Analyzer"]
