"""The names of the language, for Python: T.Buffer, T.int32, ... in signatures, which Python
evaluates though nothing needs their values, and T.int64(4), T.max(a, b) in schedules."""

import functools
import itertools
import re

from . import _lib, _values


_fresh = ("%s%s" % (letter, "_%d" % i if i else "") for i in itertools.count() for letter in "nmk")


class Name:
    """T.something. With plain arguments an expression as text; with expressions of a schedule, what
    the schedule makes of it; otherwise something that stands in a signature."""

    def __init__(self, name, space="T"):
        self._name, self._space = name, space

    def __call__(self, *args, **keywords):
        if not args and not keywords and self._space == "T" and re.fullmatch(r"u?int\d+", self._name):
            from .te import var
            return var(next(_fresh), self._name)  # n = T.int64(), outside of a program
        for x in args if self._space != "R" else ():
            if isinstance(x, _values.ExprRV):
                return _of_schedule(x._owner, self._name, args, keywords)
        given = [self._argument(x) for x in args] + [x and "%s=%s" % (k, x) for k, x in ((k, self._argument(x)) for k, x in keywords.items())]
        if None in given:
            return self
        return _values.Deferred.made_of(*args, *keywords.values())("%r(%s)" % (self, ", ".join(given)))

    def _argument(self, x):
        """As text; None: it has none. Of graphs, tuples and variables have one, too."""
        if isinstance(x, _values.Deferred):
            return x._text
        if isinstance(x, (int, float, str, bool)):
            return repr(x)
        if self._space == "R" and isinstance(x, _values.ExprRV):
            return str(x)
        if self._space == "R" and isinstance(x, (list, tuple)):
            parts = [self._argument(part) for part in x]
            return None if None in parts else "(%s)" % "".join(part + ", " for part in parts).rstrip(" ")
        return None

    def __getitem__(self, _):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Name(self._name + "." + name, self._space)

    def __bool__(self):
        raise TypeError("the value of %r is not known" % self)

    def __repr__(self):
        return "%s.%s" % (self._space, self._name)


@functools.lru_cache(maxsize=None)
def of_expressions():
    """The names that expressions of a schedule are made of: the language's functions that give a value, its types,
    and what scripts have as tir.NAME."""
    names, row, name, rest = set(), _lib.FunctionInfo(), _lib.c_char_p(), _lib.c_char_p()
    i = 0
    while _lib.lib.tirc_function_table(i, _lib.byref(row)):
        result = row.types.decode().rpartition("-> ")[2] if b"-> " in row.types else ""
        k = 0
        while _lib.lib.tirc_function_name(i, k, _lib.byref(name), _lib.byref(rest)):
            if result and result not in ("a loop", "loops", "with", "buffer"):
                names.add(name.value.decode().partition(".")[0])
            k += 1
        i += 1
    of_scripts, i = _lib.ScriptInfo(), 0
    while _lib.lib.tirc_script_table(i, _lib.byref(of_scripts)):
        if of_scripts.owner == b"tir":
            names.add(of_scripts.name.decode())
        i += 1
    return names


def find(module, name):
    """What a module has as NAME, for its __getattr__; AttributeError: nothing."""
    if name not in of_expressions():
        raise AttributeError("%s has no '%s': only what an expression of a schedule is made of, as %s.max and %s.int64 are"
                             % (module, name, module, module))
    return Name(name)


def _of_schedule(owner, name, args, keywords):
    return owner.method(_namespace(), name, args, keywords)


def _namespace():
    v = _values.Value()
    v.kind = _values._lib.SCRIPT
    v.u.s = b"T"
    return v
