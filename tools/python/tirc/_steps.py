"""Schedules step by step: what each call of a script did."""

import collections
import difflib
import html
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_void_p

from . import _lib, _render
from ._module import as_module, as_text


class _View(Structure):
    _fields_ = [("text", c_char_p), ("n", c_int), ("nodes", c_void_p)]


class _Step(Structure):
    _fields_ = [("primitive", c_char_p), ("call", c_char_p), ("sentence", c_char_p), ("file", c_char_p), ("line", c_int), ("column", c_int),
                ("before", POINTER(_View)), ("after", POINTER(_View)), ("error", c_void_p), ("n_warnings", c_int), ("warnings", c_void_p),
                ("rule", c_char_p), ("reason", c_char_p)]


for _name, _argtypes, _restype in (
        ("module_steps_text", [c_void_p, c_char_p, _lib.c_size_t, c_char_p, POINTER(_lib.ScheduleOptions), POINTER(c_void_p), POINTER(c_void_p)], c_int),
        ("steps_free", [c_void_p], None), ("steps_count", [c_void_p], c_int), ("steps_at", [c_void_p, c_int], POINTER(_Step)),
        ("steps_first", [c_void_p], POINTER(_View))):
    _function = getattr(_lib.lib, "tirc_" + _name)
    _function.argtypes, _function.restype = _argtypes, _restype


class Step(collections.namedtuple("Step", "primitive call sentence error before after")):
    """One call: the call, a sentence about what it did, the message if it was refused, and the program's text before
    and after it."""

    @property
    def diff(self):
        """The lines that changed, as `diff -u` has them."""
        lines = difflib.unified_diff(self.before.splitlines(), self.after.splitlines(), n=1, lineterm="")
        return "\n".join(line for line in lines if not line.startswith(("---", "+++")))


class Steps(tuple):
    """The steps of a script, in order; a notebook shows each with what it changed."""

    def __str__(self):
        return "\n\n".join("\n".join(filter(None, (s.call, s.error or s.sentence, s.diff))) for s in self)

    def _repr_html_(self):
        return "".join("<details><summary><code>%s</code> %s</summary>%s</details>" % (
            html.escape(s.call), html.escape(s.error or s.sentence or ""), _render.diff_html(s.diff)) for s in self)


def _text(s):
    return s.decode("utf-8", "replace") if s else None


def steps(mod, script, target=None):
    """What each call of a schedule script does to a program: Steps. script: its text, or a schedule, whose trace is taken."""
    from ._runtime import cpu_of
    from ._schedule import Schedule
    module = as_module(mod, "main")
    if isinstance(script, Schedule):
        script = script.mod.trace_script() + "\napply_trace(sch)\n"
    data, options, out = as_text(script).encode(), _lib.ScheduleOptions(), c_void_p()
    options.target = cpu_of(target)
    _lib.call("module_steps_text", module._module, data, len(data), b"<script>", byref(options), byref(out))
    owner, lib = _lib.Owned(out, "steps"), _lib.lib
    found = []
    for i in range(lib.tirc_steps_count(owner)):
        s = lib.tirc_steps_at(owner, i).contents
        error = _text(lib.tirc_error_get(s.error, 1)) if s.error else None
        found.append(Step(_text(s.primitive), _text(s.call), _text(s.sentence), error, _text(s.before.contents.text), _text(s.after.contents.text)))
    return Steps(found)


__all__ = ["Step", "Steps", "steps"]
