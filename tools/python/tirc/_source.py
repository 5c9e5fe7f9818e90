"""Programs from the source text of decorated functions and classes.

The text is parsed by libtirc, not run by Python, so names in it that stand for Python values are
looked up where the function is defined: closures, the scopes around it, the module.
"""

import ast
import inspect
import sys
import textwrap


def _literal(value):
    """value as text of the language; None when it has none."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()  # numpy's scalars
    if isinstance(value, (tuple, list)):
        parts = [_literal(v) for v in value]
        return None if None in parts else "(%s,)" % ", ".join(parts) if parts else "()"
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return repr(kind(value))
    return None


def _scopes(function, frame):
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


def _defines(text, function, frame):
    names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    scopes = list(_scopes(function, frame))
    found = {}
    for name in sorted(names - {"T", "I", "tir", "tvm", "range"}):
        value = next((scope[name] for scope in scopes if name in scope), None)
        literal = None if value is None else _literal(value)
        if literal is not None:
            found[name] = literal
    return found


def text_of(thing, frame):
    """(text, file, constants) of a function or class; the text's lines are numbered as in the file."""
    try:
        lines, first = inspect.getsourcelines(thing)
    except (OSError, TypeError) as e:
        from ._errors import TVMError
        raise TVMError("the source text of %s is not available (%s)" % (thing.__name__, e), code="source",
                       hint="write it to a file or a notebook cell, or pass the text to tirc.parse") from None
    text = textwrap.dedent("".join(lines))
    defines = _defines(text, thing, frame)
    return "\n" * (max(first, 1) - 1) + text, inspect.getsourcefile(thing) or "<source>", defines


def caller(depth=1):
    """The nearest frame outside of this package."""
    frame = sys._getframe(depth)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
        frame = frame.f_back
    return frame
