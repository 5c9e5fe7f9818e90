"""Programs from the source text of decorated functions and classes.

The text is parsed by libtirc, not run by Python, so names in it that stand for Python values are
looked up where the function is defined: closures, the scopes around it, the module.
"""

import ast
import inspect
import sys

from . import _expand


def scopes_of(function, frame):
    """Dictionaries that a name may stand in, innermost first."""
    if inspect.isfunction(function):
        closure = inspect.getclosurevars(function) if function.__closure__ else None
        if closure:
            yield closure.nonlocals
    file = frame.f_code.co_filename
    globals_ = frame.f_globals
    while frame is not None and frame.f_code.co_filename == file:
        yield frame.f_locals
        frame = frame.f_back
    yield globals_


def _plain(value):
    """Whether the library takes it for a name's value."""
    if isinstance(value, (tuple, list)):
        return all(_plain(v) for v in value)
    return _expand.is_plain(value) or getattr(value, "shape", None) == ()  # numpy's scalars


def _defines(text, scopes):
    try:
        tree = ast.parse(text)
    except (SyntaxError, RecursionError, MemoryError) as error:  # what functions of Python gave is too deep
        from ._errors import TVMError
        raise TVMError("Python does not read the program with its values in it: %s" % error, code="source") from None
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    own = {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)} | _expand.stored(tree)
    found = {}
    for name in sorted(names - own - {"T", "I", "tir", "tvm", "range"}):
        value = next((scope[name] for scope in scopes if name in scope), None)
        if value is not None and _plain(value):
            found[name] = _expand.literal(value)
    return found


class Text:
    """The text of a function or class, as the library reads it: its lines are numbered as in the file, but for what
    macros bring. constants: names and values."""

    def __init__(self, thing, frame):
        lines, first = _lines_of(thing)
        scopes = list(scopes_of(thing, frame))
        self.file, first = inspect.getsourcefile(thing) or "<source>", max(first, 1)
        text, origins = _expand.expand(_expand.dedented(lines), self.file, first, scopes)
        self.constants = _defines(text, scopes)
        self.text, self._origins = "\n" * (first - 1) + text, origins and list(range(1, first)) + origins
        self._written = {first + i: line.strip() for i, line in enumerate(lines)}

    def place(self, error):
        """An error in it is where the user wrote it."""
        line = self._origins[error.line - 1] if self._origins and 0 < error.line <= len(self._origins) else error.line
        if error.file != self.file or not self._origins:
            return
        read = self.text.split("\n")[error.line - 1:error.line]
        if line != error.line or [part.strip() for part in read] != [self._written.get(line)]:
            error.line, error.column, error.excerpt = line, 0, None


def _lines_of(thing):
    try:
        return inspect.getsourcelines(thing)
    except (OSError, TypeError) as e:
        from ._errors import TVMError
        raise TVMError("the source text of %s is not available (%s)" % (thing.__name__, e), code="source",
                       hint="write it to a file or a notebook cell, or pass the text to tirc.parse") from None


def caller(depth=1):
    """The nearest frame outside of this package."""
    frame = sys._getframe(depth)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
        frame = frame.f_back
    return frame
