"""tirc.arith: what the library proves of expressions of integers."""

import contextlib
from typing import NamedTuple

from . import te
from ._values import ExprRV


class ConstIntBound(NamedTuple):
    """The least and the greatest number that an expression is known to be; NEG_INF and POS_INF where there is none."""

    min_value: int
    max_value: int


ConstIntBound.POS_INF = (1 << 63) - 1
ConstIntBound.NEG_INF = -ConstIntBound.POS_INF


class ModularSet(NamedTuple):
    """An expression is base + coeff * k, for an integer k."""

    coeff: int
    base: int


class Analyzer:
    """simplify, can_prove, const_int_bound, modular_set: of variables of which their types are known, and what bind and constraint_scope
    say."""

    def __init__(self):
        self._given, self._bound = [], {}

    def _call(self, name, expr):
        given = [e for _, facts in self._bound.values() for e in facts] + self._given
        return te._owner(expr).method(te._script(name), "__call__", (expr, given) if given else (expr,), {})

    def bind(self, var, expr, allow_override=False):
        """var is equal to expr, or in a Range of ints or expressions, from now on."""
        if hash(var) in self._bound and not allow_override:
            raise ValueError("%s is bound already; allow_override=True binds it anew" % var)
        if hasattr(expr, "extent"):
            one = expr.extent == 1 if isinstance(expr.extent, int) else False
            facts = [_equal(var, expr.min)] if one else [var >= expr.min, var < expr.min + expr.extent]
        else:
            facts = [_equal(var, expr)]
        self._bound[hash(var)] = var, [f for f in facts if isinstance(f, ExprRV)]

    @contextlib.contextmanager
    def constraint_scope(self, constraint):
        """with analyzer.constraint_scope(n % 4 == 0): the condition holds within. Of two variables: tirc.tir.EQ(n, m)."""
        if not isinstance(constraint, ExprRV):
            raise TypeError("constraint_scope wants a condition, not %r: == of two expressions is an answer of Python; write tirc.tir.EQ(n, m)"
                            % (constraint,))
        self._given.append(constraint)
        try:
            yield
        finally:
            self._given.pop()

    def simplify(self, expr, steps=2):
        """The expression in a simpler form."""
        if steps < 1:
            raise ValueError("it is simplified as far as it goes")
        return self._call("simplify", expr) if isinstance(expr, ExprRV) else expr

    rewrite_simplify = canonical_simplify = simplify

    def const_int_bound(self, expr):
        """A ConstIntBound."""
        least, greatest, _, _ = self._call("limits", expr)
        return ConstIntBound(ConstIntBound.NEG_INF if least is None else least, ConstIntBound.POS_INF if greatest is None else greatest)

    def modular_set(self, expr):
        """A ModularSet."""
        return ModularSet(*self._call("limits", expr)[2:])

    def can_prove(self, cond, strength=None):
        """Whether a condition holds for all values of its variables; False: no proof was found."""
        if strength is not None:
            raise ValueError("what can be proved is proved: strength is not a choice")
        if not isinstance(cond, ExprRV):
            return bool(cond)
        return self._call("known", cond) is True

    def can_prove_equal(self, lhs, rhs):
        """Whether two expressions are the same for all values of their variables."""
        if not isinstance(lhs, ExprRV) and not isinstance(rhs, ExprRV):
            return lhs == rhs
        difference = lhs - rhs
        return self.can_prove(_equal(difference, 0)) if isinstance(difference, ExprRV) else difference == 0

    def __getattr__(self, name):
        if name in ("update", "int_set"):
            raise AttributeError("an Analyzer here has no %s; use instead: bind, constraint_scope and const_int_bound" % name)
        raise AttributeError(name)


def _equal(a, b):
    """a == b as an expression; of expressions, == of Python says whether they are one."""
    return ExprRV._operate(a, "==", a, b)


def __getattr__(name):
    from . import _doors
    return _doors.missing("tirc.arith", name)


__all__ = ["Analyzer", "ConstIntBound", "ModularSet"]
