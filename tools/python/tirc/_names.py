"""The names of the language, for Python: T.Buffer, T.int32, ... in signatures, which Python
evaluates though nothing needs their values, and T.int64(4), T.max(a, b) in schedules."""

from . import _values


class Name:
    """T.something. With plain arguments an expression as text; with expressions of a schedule, what
    the schedule makes of it; otherwise something that stands in a signature."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *args, **keywords):
        for x in args:
            if isinstance(x, _values.ExprRV):
                return _of_schedule(x._owner, self._name, args, keywords)
        plain = (int, float, str, bool, _values.Deferred)
        if not keywords and all(isinstance(x, plain) for x in args):
            given = ", ".join(x._text if isinstance(x, _values.Deferred) else repr(x) for x in args)
            return _values.Deferred("T.%s(%s)" % (self._name, given))
        return self

    def __getitem__(self, _):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Name(self._name + "." + name)

    def __repr__(self):
        return "T." + self._name


def _of_schedule(owner, name, args, keywords):
    return owner.method(_namespace(), name, args, keywords)


def _namespace():
    v = _values.Value()
    v.kind = _values._lib.SCRIPT
    v.u.s = b"T"
    return v
