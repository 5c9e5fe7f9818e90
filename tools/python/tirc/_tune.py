"""Searching for the best schedule, and using the best known one."""

import collections
import os
import signal
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char_p, c_double, c_int, c_int64, c_void_p)

from . import _lib
from ._module import IRModule, as_module
from ._runtime import cpu_of, gpu_of
from ._warnings import Listener


class Task(Structure):
    _fields_ = [("module", c_void_p), ("name", c_char_p), ("weight", c_double), ("n_symbols", c_int), ("symbols", c_void_p)]


class Event(Structure):
    _fields_ = [("task", c_int), ("trial", c_int64), ("trials", c_int64), ("way", c_char_p), ("trace", c_char_p),
                ("seconds", c_double), ("code", c_char_p), ("message", c_char_p), ("best", c_double),
                ("automatic", c_double), ("elapsed", c_double), ("is_best", c_bool), ("load", c_double)]


class Failure(Structure):
    _fields_ = [("code", c_char_p), ("message", c_char_p), ("n", c_int64)]


class Result(Structure):
    _fields_ = [("module", c_void_p), ("seconds", c_double), ("automatic", c_double), ("way", c_char_p),
                ("trials", c_int64), ("failed", c_int64), ("made", c_int64), ("n_failures", c_int),
                ("failures", POINTER(Failure)), ("rank_correlation", c_double), ("wrong", c_bool)]


TOLD = CFUNCTYPE(None, c_void_p, POINTER(Event))
WARN = CFUNCTYPE(None, c_void_p, c_char_p)
GO_ON = CFUNCTYPE(c_bool, c_void_p)
WAITS = CFUNCTYPE(None, c_void_p)


class Options(Structure):
    _fields_ = [("target", c_char_p), ("rules", c_char_p), ("threads", c_int), ("trials", c_int64), ("seconds", c_double),
                ("seed", c_int64), ("max_steps", c_int64), ("database", c_char_p), ("ranking", c_char_p),
                ("mutations", c_char_p), ("lease", c_double),
                ("self", c_void_p), ("told", TOLD), ("warn", WARN), ("go_on", GO_ON), ("waits", WAITS),
                ("device", c_char_p)]


TuneResult = collections.namedtuple("TuneResult", "mod seconds automatic trials failed failures wrong")
TuneResult.__doc__ = """mod: the best schedule, None where no candidate works; seconds, automatic: what it and that of the rules
take; failures: how many candidates failed, by code; wrong: some candidate computed something else."""
Trial = collections.namedtuple("Trial", "number way seconds code message trace best task")


def _text(s):
    return s.decode("utf-8", "replace") if s else None


class _Interrupt:
    """Ctrl-C while the library searches: nothing is raised in the middle of it, the search is told to end."""

    def __enter__(self):
        self.came, self._before = False, None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.getsignal(signal.SIGINT)
            if self._before is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, *_):
        self.came = True

    def __exit__(self, *_):
        if self._before is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._before)
        if self.came:
            raise KeyboardInterrupt


def tune(mod, target=None, threads=0, trials=64, seconds=0, seed=0, rules=None, database=None, told=None, device=None):
    """Searches for the best schedule of a module (or a function) with known extents and returns a TuneResult.
    Candidates are compiled and timed, each in a separate process. database: where all trials are kept; the search
    continues from its contents (None: the default database, which `tuned` uses, too; False: none). device: None or
    "cpu", or "opencl", whose rules bind loops to blocks and threads. told: called with each Trial; a true result
    ends the search. Ctrl-C ends it, too, with a KeyboardInterrupt; what was measured is in the database."""
    return tune_all([as_module(mod, "main")], target, threads, trials, seconds, seed, rules, database, told, device)[0]


def tune_all(modules, target=None, threads=0, trials=64, seconds=0, seed=0, rules=None, database=None, told=None, device=None, ranking=None):
    """The same for several modules at once. Trials, so many for each on average, go where the largest gain is
    expected."""
    if trials < 1:
        raise ValueError("trials is a number from 1, not %r" % (trials,))
    ended, raised = [False], []

    def hear(_, e):
        e = e.contents
        if not told:
            return
        try:
            ended[0] |= bool(told(Trial(e.trial, _text(e.way), e.seconds, _text(e.code), _text(e.message),
                                        _text(e.trace), e.best, e.task)))
        except BaseException as error:  # it belongs to the caller of tune, not to the library
            raised.append(error)

    interrupt = _Interrupt()

    def go_on(_):
        return not (ended[0] or raised or interrupt.came)

    n = len(modules)
    tasks = (Task * n)(*[Task(m._module._as_parameter_, b"main", 1) for m in modules])
    options = Options(gpu_of(target) or cpu_of(target), os.fsencode(rules) if rules else None, threads, trials, seconds, seed, 0,
                      None if database is False else os.fsencode(database or ""), ranking.encode() if ranking else None, None, 0, None, TOLD(hear), WARN(), GO_ON(go_on), WAITS(),
                      device.encode() if device else None)
    results = POINTER(Result)()
    try:
        with interrupt:
            _lib.call("tune", n, tasks, byref(options), byref(results))
        out = [_result(results[i]) for i in range(n)]
    finally:
        _lib.lib.tirc_tune_results_free(n, results)
    if raised:
        raise raised[0]
    return out


def _result(r):
    best = None
    if r.module:
        best = IRModule._of(_lib.Owned(c_void_p(r.module), "module"))
        r.module = None  # it is Python's now
    failures = {_text(r.failures[i].code): r.failures[i].n for i in range(r.n_failures)}
    return TuneResult(best, r.seconds, r.automatic, r.trials, r.failed, failures, r.wrong)


def tuned(mod, target=None, threads=0, database=None, rules=None):
    """The best schedule that a database (None: the default one) has for exactly this program, the target and so many
    threads (0: one for each core). If there is none, the schedule of the rules, with a warning."""
    if database is False:
        raise ValueError("tuned looks into a database: None is the default one")
    options, how, listener = _lib.ScheduleOptions(), _lib.AutoOptions(), Listener()
    options.target, options.warn = gpu_of(target) or cpu_of(target), listener.callback
    how.rules = os.fsencode(rules) if rules else None
    with listener:
        return IRModule._of(_lib.make("module", "module_tuned", as_module(mod, "main")._module,
                                      os.fsencode(database) if database else None, threads, byref(how), byref(options)))
