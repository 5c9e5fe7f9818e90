"""The library's errors as exceptions.

TVMError is the base of all. ScheduleError means that the input is well formed, but the answer is no;
the others also are what Python would raise for the like (TypeError for wrong arguments, ValueError
for a handle that is no longer in the program, ...).
"""

import linecache

from ._lib import lib

_FIELDS = ("code", "message", "hint", "file", "excerpt", "primitive", "call", "condition", "ir")


_FAST = {"block-not-found": "Cannot find a block with the specified name"}


class TVMError(RuntimeError):
    """Fields: code, message, hint, file, line, column, excerpt; missing ones are None."""

    primitive = call = condition = ir = None
    render_level = "detail"  # of the schedule: Schedule(mod, error_render_level=...)

    def __init__(self, message="", **fields):
        super().__init__(message)
        self.message, self.code = message, "error"
        self.hint = self.file = self.excerpt = None
        self.line = self.column = 0
        self.__dict__.update(fields)

    @property
    def location(self):
        """(file, line, column), or None."""
        return (self.file, self.line, self.column) if self.file and self.line else None

    def _source(self):
        if self.excerpt:
            return self.excerpt.rstrip("\n")
        line = linecache.getline(self.file, self.line).strip() if self.location else ""
        return "%5d | %s" % (self.line, line) if line else None

    def render(self):
        """The whole error as text: what the command prints."""
        place = "%s:%d: " % (self.file, self.line) if self.location else ""
        parts = ["%s%s [%s]" % (place, self.message, self.code), self._source()]
        parts += [name + ": " + text for name, text in (("call", self.call), ("condition", self.condition)) if text]
        parts += [self.ir and self.ir.rstrip("\n"), self.hint and "hint: " + self.hint]
        return "\n".join(part for part in parts if part)

    def __str__(self):
        return self.render() if self.render_level == "detail" else self._fast() if self.render_level == "fast" else "(not rendered)"

    def _fast(self):
        """One sentence, which names nothing of the program where the reference's does not."""
        return _FAST.get(self.code, self.message)


class ScheduleError(TVMError):
    """A call that would change what the program computes. Besides the fields of TVMError: primitive, call, condition
    (which condition of which definition does not hold) and ir, the program with the places in question underlined."""


def _kind(*bases):
    name = bases[0].__name__
    return type(name, (TVMError,) + bases, {"__doc__": "A %s of the library." % name})


_CLASSES = {code: _kind(base) for base, codes in (
    (TypeError, ("argument", "type")), (ValueError, ("value", "buffer-not-found")),
    (NameError, ("name",)), (AttributeError, ("attribute",)), (IndexError, ("index",)),
    (KeyError, ("key",)), (LookupError, ("lookup",)), (AssertionError, ("assert",)),
    (ZeroDivisionError, ("zero-division",)), (OverflowError, ("overflow",)), (MemoryError, ("memory",)),
    (OSError, ("file",)), (ImportError, ("import",))) for code in codes}
_CLASSES["stale-handle"] = _kind(ValueError, IndexError)  # gone, and of another schedule
ArgumentError = _CLASSES["argument"]


def take(error):
    """The exception for a tirc_error, which is freed."""
    fields = {}
    for i, name in enumerate(_FIELDS):
        text = lib.tirc_error_get(error, i)
        fields[name] = text.decode("utf-8", "replace") if text is not None else None
    fields["line"], fields["column"] = lib.tirc_error_line(error), lib.tirc_error_column(error)
    no = lib.tirc_error_status(error) == 1
    lib.tirc_error_free(error)
    cls = ScheduleError if no else _CLASSES.get(fields["code"], TVMError)
    return cls(**fields)
