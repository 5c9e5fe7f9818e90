"""Measuring: contenders in turns, figures with intervals."""

import collections
import contextlib
import ctypes
import signal
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_void_p

from . import _lib
from ._runtime import Kernel, _arguments

STEP = ctypes.CFUNCTYPE(c_int, c_void_p)
TOLD = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_int)
GO_ON = ctypes.CFUNCTYPE(c_bool, c_void_p)


class _Contender(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("self", c_void_p), ("prepare", STEP), ("call", STEP), ("release", STEP),
                ("reference", c_void_p), ("n", c_int), ("args", POINTER(_lib.Argument)), ("seconds", c_void_p)]


class _Figures(ctypes.Structure):
    _fields_ = [("n_samples", c_int), ("n_turns", c_int), ("samples", POINTER(c_double)), ("turns", POINTER(c_double)),
                ("turn_samples", POINTER(c_int)), ("median", c_double), ("low", c_double), ("high", c_double),
                ("fastest", c_double), ("spread", c_double), ("calls", c_double), ("code", c_char_p),
                ("message", c_char_p)]


class _Conditions(ctypes.Structure):
    _fields_ = [("attempts", c_int), ("load", c_double), ("clock_low", c_double), ("clock_high", c_double),
                ("disturbance", c_double)]


class _Options(ctypes.Structure):
    _fields_ = [("seconds", c_double), ("turns", c_int), ("attempts", c_int), ("cores", c_int), ("self", c_void_p),
                ("told", TOLD), ("go_on", GO_ON)]


class _Ratio(ctypes.Structure):
    _fields_ = [("value", c_double), ("low", c_double), ("high", c_double)]


_lib.lib.tirc_measure.argtypes = [c_int, POINTER(_Contender), POINTER(_Options), POINTER(c_void_p), POINTER(c_void_p)]
_lib.lib.tirc_measure.restype = c_int
for _name, _argtypes, _restype in (
        ("measurement_free", [c_void_p], None),
        ("measurement_figures", [c_void_p, c_int], POINTER(_Figures)),
        ("measurement_conditions", [c_void_p], POINTER(_Conditions)),
        ("launch_contender", [c_char_p, c_void_p], _Contender),
        ("times_as_fast", [POINTER(_Figures), POINTER(_Figures)], _Ratio),
        ("surely_faster", [POINTER(_Figures), POINTER(_Figures)], c_bool)):
    _function = getattr(_lib.lib, "tirc_" + _name)
    _function.argtypes, _function.restype = _argtypes, _restype

Ratio = collections.namedtuple("Ratio", "value low high")
Ratio.__doc__ = "How many times as fast, with its 95 % interval; value 0: unknown."


class Contender:
    """One way to do some work: a kernel with its arguments, or any callable with its own. prepare and release are
    called before and after all measurements. reference says what the arguments should be after one call, starting
    from their state when measuring begins."""

    def __init__(self, call, *args, prepare=None, release=None, reference=None):
        self.call, self.args, self.prepare, self.release, self.reference = call, args, prepare, release, reference


class Figures:
    """The measurements of a contender, in seconds per call: the median of its turns with the ends of its 95 %
    interval (low, high), the fastest sample, the spread between the quartiles divided by the median, all samples
    in order of time, and turns. If nothing was measured, code and message say why: "left-out", "failed",
    "wrong-result", "unchecked"."""

    def __init__(self, name, pointer, owner):
        f = pointer.contents
        self._pointer, self._owner, self.name = pointer, owner, name
        self.samples, self.turns = tuple(f.samples[:f.n_samples]), tuple(f.turns[:f.n_turns])
        self.median, self.low, self.high, self.fastest = f.median, f.low, f.high, f.fastest
        self.spread, self.calls = f.spread, int(f.calls)
        self.code, self.message = (x.decode("utf-8", "replace") if x else None for x in (f.code, f.message))

    def times_as_fast(self, base):
        """How many times as fast as the other one: a Ratio."""
        r = _lib.lib.tirc_times_as_fast(self._pointer, base._pointer)
        return Ratio(r.value, r.low, r.high)

    def surely_faster(self, base):
        """Whether the whole interval of that ratio is above 1."""
        return _lib.lib.tirc_surely_faster(self._pointer, base._pointer)

    def __repr__(self):
        if self.code:
            return "<Figures of %s: %s, %s>" % (self.name, self.code, self.message)
        return "<Figures of %s: %.4g ms [%.4g, %.4g]>" % (self.name, 1e3 * self.median, 1e3 * self.low, 1e3 * self.high)


class Measurement(collections.abc.Mapping):
    """The Figures by the contenders' names, and the state of the machine during the measurement: attempts, load
    (cores that other processes used), clock (hertz, between the quartiles), disturbance (above 1, times are
    doubtful)."""

    def __init__(self, names, owner):
        lib = _lib.lib
        self._figures = {name: Figures(name, lib.tirc_measurement_figures(owner, i), owner)
                         for i, name in enumerate(names)}
        c = lib.tirc_measurement_conditions(owner).contents
        self.attempts, self.load, self.disturbance = c.attempts, c.load, c.disturbance
        self.clock = (c.clock_low, c.clock_high)

    def __getitem__(self, name):
        return self._figures[name]

    def __iter__(self):
        return iter(self._figures)

    def __len__(self):
        return len(self._figures)

    def _rows(self):
        base = next((f for f in self._figures.values() if not f.code), None)
        for name, f in self._figures.items():
            if f.code:
                yield name, f.code, f.message or "", ""
                continue
            r = f.times_as_fast(base)
            yield (name, "%.4g" % (1e3 * f.median), "%.4g to %.4g" % (1e3 * f.low, 1e3 * f.high),
                   "" if f is base else "%.2f [%.2f, %.2f]" % (r.value, r.low, r.high))

    def _repr_html_(self):
        from ._render import table_html
        return table_html(("contender", "ms", "95 % interval", "times as fast as the first"), self._rows())


class _Run:
    """What must live while the library measures, and what a callback raised."""

    def __init__(self):
        self.keep, self.locks, self.raised = [], [], None

    def step(self, function, *args):
        def run(_):
            try:
                function(*args)
                return 0
            except BaseException as e:  # nothing may pass through the library
                self.raised = self.raised or e
                return 1
        self.keep.append(STEP(run))
        return self.keep[-1]

    def go_on(self, _):
        return self.raised is None

    @contextlib.contextmanager
    def interruptible(self):
        """Ctrl-C ends measuring, and is raised when the library has returned."""
        def interrupt(*_):
            self.raised = self.raised or KeyboardInterrupt()
        try:
            before = signal.signal(signal.SIGINT, interrupt)
        except ValueError:  # another thread than the main one: it gets none
            yield
            return
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def contender(self, name, given):
        c = given if isinstance(given, Contender) else Contender(given)
        name = name.encode()
        if isinstance(c.call, Kernel):
            args, keep = _arguments(c.call.func, c.args)
            launch = _lib.make("launch", "launch_new", c.call._kernel, c.call._executor, len(c.args), args)
            self.keep += [args, keep, launch, c.call]
            self.locks.append(c.call._lock)
            out = _lib.lib.tirc_launch_contender(name, launch)
        else:
            out = _Contender(name=name, call=self.step(c.call, *c.args))
        if c.prepare:
            out.prepare = self.step(c.prepare)
        if c.release:
            out.release = self.step(c.release)
        if c.reference:
            args, keep = _arguments(c.reference.func, c.args)
            self.keep += [args, keep, c.reference]
            out.reference, out.n = c.reference._reference._as_parameter_, len(c.args)
            out.args = ctypes.cast(args, POINTER(_lib.Argument))
        self.keep.append(name)
        return out


def measure(contenders, seconds=0.3, turns=0, attempts=3, cores=0):
    """Measures contenders, a dict of Contender (or callables) by name. They take turns of some calls each, until each
    has had so many seconds and turns (0: 9). If something disturbs the machine, everything is measured again, at
    most `attempts` times. cores: keeps the process on the first so many cores. Returns a Measurement.

        c = {"mine": tirc.Contender(kernel, a, b, c), "numpy": lambda: numpy.matmul(a, b, out=c)}
        m = tirc.measure(c)
        m["mine"].times_as_fast(m["numpy"])      # Ratio(value=..., low=..., high=...)"""
    run = _Run()
    at = (_Contender * max(len(contenders), 1))(*(run.contender(name, c) for name, c in contenders.items()))
    options = _Options(seconds, turns, attempts, cores, None, TOLD(), GO_ON(run.go_on))
    out = c_void_p()
    with contextlib.ExitStack() as stack:
        for lock in sorted(set(run.locks), key=id):
            stack.enter_context(lock)
        stack.enter_context(run.interruptible())
        _lib.call("measure", len(contenders), at, byref(options), byref(out))
    owner = _lib.Owned(out, "measurement")
    if run.raised:
        raise run.raised
    return Measurement(list(contenders), owner)
