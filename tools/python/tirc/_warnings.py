"""The library's warnings as Python's: what becomes of them, the filters of `warnings` decide."""

import warnings

from . import _lib, _source


class ScheduleWarning(UserWarning):
    """Code that is legal but probably not intended. Fields: code ("spatial-dependence", "race", "out-of-bounds",
    "no-reduction", "local-in-memory", "call-a-lane", "serial-lanes", or "warning" for those without a code of
    their own), message, file, line, column; file is None if there is no place."""

    def __init__(self, message="", code="warning", file=None, line=0, column=0):
        super().__init__(message if code == "warning" else "%s [%s]" % (message, code))
        self.message, self.code = message, code
        self.file, self.line, self.column = file, line, column


class Listener:
    """Around calls of the library: `with listener:`. It tells what it heard when the library is back, so that
    a filter may turn it into an exception."""

    def __init__(self):
        heard = self._heard = []

        def hear(_, file, line, column, message, code):
            file = file.decode("utf-8", "replace") if file else None
            heard.append(ScheduleWarning(message.decode("utf-8", "replace"), code.decode(), file, line, column))

        self.callback = _lib.WARN(hear)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        heard = self._heard[:]
        self._heard.clear()
        frame = _source.caller() if heard else None
        for w in heard:
            place = (w.file, w.line) if w.file else (frame.f_code.co_filename, frame.f_lineno)
            warnings.warn_explicit(w, None, *place, module=frame.f_globals.get("__name__"),
                                   registry=frame.f_globals.setdefault("__warningregistry__", {}))


def check(kind, module, target, strict, *code):
    """What tirc_module_check, tirc_module_check_code or, with the kind of its code, tirc_module_check_kernels has to say."""
    listener, options = Listener(), _lib.ScheduleOptions()
    options.target, options.strict, options.warn = target, strict, listener.callback
    with listener:
        _lib.call(kind, module, *code, _lib.byref(options))
