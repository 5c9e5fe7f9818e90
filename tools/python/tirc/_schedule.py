"""Schedule: the methods of tvm.tir.Schedule, made from the library's own table of primitives."""

import ast
import collections
import ctypes
import functools
import inspect
import os
import threading
from ctypes import byref

from . import _instructions, _lib, _render, _source
from ._errors import ScheduleError, TVMError
from ._lib import Value, lib
from ._module import IRModule, PrimFunc, as_module, as_text, in_dialect, parse, structural_equal
from ._values import Deferred, Object, Typed, arguments, inward, outward
from ._warnings import Listener


class _Owner:
    """A schedule of the library, and what its values need of it. The library wants one thread at a time in a
    schedule and its copies: they share the lock, which whoever hands out `pointer` holds. Functions of the
    caller, called from within, come back to the schedule in the same thread."""

    render_level = "detail"

    def __init__(self, owned, listener, keep=(), lock=None):
        self.pointer, self.listener, self.keep = owned, listener, keep
        self.lock = lock or threading.RLock()
        self.kept, self.failure = [], None
        self.schedule = None

    def place(self):
        """Errors from here on are at the line of the caller."""
        frame = _source.caller(2)
        lib.tirc_schedule_place(self.pointer, frame.f_code.co_filename.encode(), frame.f_lineno, 0)

    def attribute(self, self_value, name):
        """Attribute of an object, or of the schedule when that is None; a Value."""
        out = Value()
        of = None if self_value is None else byref(self_value)
        with self.lock:
            self.place()
            _lib.call("schedule_attribute", self.pointer, of, name.encode(), byref(out))
        return out

    def method(self, self_value, name, args, keywords):
        with self.lock:
            return self._method(self_value, name, args, keywords)

    def _method(self, self_value, name, args, keywords):
        self.place()
        keep, out = [], Value()
        given = arguments(self, args, keywords, keep)
        of = None if self_value is None else byref(self_value)
        try:
            with self.listener:
                _lib.call("schedule_method", self.pointer, of, name.encode(), *given, byref(out))
        except Exception as error:
            failure, self.failure = self.failure, None
            if failure is not None:  # what the caller's own function raised
                raise failure from None
            if isinstance(error, ScheduleError):
                error.render_level = self.render_level
            raise
        finally:
            self.kept = []
        return outward(self, out)

    def wrap(self, type_name, value):
        if type_name == "Trace":
            return Trace(self, value)
        return Typed.named(type_name)(self, value)


def _trace_of(owner):
    return outward(owner, owner.attribute(None, "trace"))


class Trace(Object, _render.Shown):
    """The record of what a schedule did: Trace(insts, decisions), with instructions of one schedule.

    insts, decisions, and the inputs, attrs and outputs of an instruction are copies, so changing such a list does not
    change the trace. append and pop do; with_decision makes another trace."""

    def __init__(self, insts, decisions=None):
        self._by_hand = None
        if not isinstance(insts, _Owner):
            made = self._of(list(insts), dict(decisions or {}))
            insts, decisions = made._owner, made._handle
        Object.__init__(self, insts, decisions)

    def _of(self, instructions, decisions):
        if instructions and not any(map(_instructions.is_by_hand, instructions)):
            return _trace_of(instructions[0]._owner).from_insts(instructions, decisions)
        self._by_hand = instructions, decisions
        nobodys = Schedule(parse("@T.prim_func\ndef main():\n    pass\n"))
        return nobodys.trace.from_json(_instructions.as_json(instructions, decisions))

    def append(self, inst, decision=None):
        """Puts an instruction at the end, with its decision."""
        if self._by_hand is None:
            Object.__getattr__(self, "append")(inst, decision)
            return
        instructions, decisions = self._by_hand
        self._by_hand = instructions + [inst], {**decisions, **({} if decision is None else {inst: decision})}
        made = self._of(*self._by_hand)
        self._owner, self._handle = made._owner, made._handle

    def pop(self):
        """Removes the last instruction and returns it; None if there is none, or if it is a postprocessing step."""
        if self._by_hand is None:
            return Object.__getattr__(self, "pop")()
        instructions, decisions = self._by_hand
        if not instructions or instructions[-1].kind.name == "EnterPostproc":
            return None
        last = instructions[-1]
        made = self._of(instructions[:-1], {i: d for i, d in decisions.items() if i is not last})
        self._owner, self._handle = made._owner, made._handle
        return last

    def script(self, **_):
        return str(self)

    def __str__(self):
        return Object.__str__(self)

    def apply_to_schedule(self, sch, remove_postproc=False, decision_provider=None):
        """Applies the trace to sch. decision_provider(inst, inputs, attrs, decision) returns the decision of each
        instruction."""
        self._apply_there(self.as_json(remove_postproc), sch, decision_provider)

    @staticmethod
    def apply_json_to_schedule(json_obj, sch):
        """Applies a trace to sch that as_json returned, or that a tuning record contains."""
        Trace._apply_there(json_obj, sch)

    @staticmethod
    def _apply_there(json_obj, sch, decision_provider=None):
        """As a trace of sch's own: schedules share no objects. What it tensorizes with becomes known to sch."""
        for text in _texts(json_obj):
            sch._know_intrin(text)
        there = sch.trace.from_json(json_obj)
        sch._owner.method(there._handle, "apply_to_schedule", (Deferred("sch"), False, decision_provider), {})


def _texts(json_obj):
    """All that are strings in it."""
    if isinstance(json_obj, (list, tuple)):
        for item in json_obj:
            yield from _texts(item)
    elif isinstance(json_obj, str):
        yield json_obj.strip('"')


def _debug_mask(mask):
    if isinstance(mask, str):
        if mask not in ("all", "none"):
            raise ValueError('debug_mask is "all", "none" or an int, not %r' % mask)
        return 3 if mask == "all" else 0
    if not isinstance(mask, int):
        raise TypeError("debug_mask is a str or an int, not %r" % (mask,))
    return mask & 3


def _check_options(seed, level, **flags):
    if seed is not None and not isinstance(seed, int):
        raise TypeError("seed is an int or None, not %r" % (seed,))
    if seed is not None and not 1 <= seed <= 2147483647:
        raise ValueError("seed is from 1 to 2147483647, not %d" % seed)
    if level not in ("detail", "fast", "none"):
        raise ValueError('error_render_level is "detail", "fast" or "none", not %r' % (level,))
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError("%s is a bool, not %r" % (name, flag))


class Schedule(_render.Shown):
    """A schedule of a module, or of a function, which is then its "main", with the methods of tvm.tir.Schedule.
    enable_check is accepted, but no check can be left out. error_render_level says what a ScheduleError prints:
    "detail" everything, "fast" the message, "none" nothing; its fields are always set. Code that is legal but
    probably not intended gives a ScheduleWarning; with strict it is a ScheduleError, and the program does not
    change. dialect is that of the texts of its program, trace and errors; None: that of mod. Threads may share a
    schedule and its copies: their calls are serialized."""

    def __init__(self, mod, *, seed=None, debug_mask="none", error_render_level="detail",
                 enable_check=True, target=None, strict=False, dialect=None):
        module, mask = as_module(mod, "main"), _debug_mask(debug_mask)
        _check_options(seed, error_render_level, enable_check=enable_check, strict=strict)
        options, listener = _lib.ScheduleOptions(), Listener()
        from ._runtime import cpu_of, gpu_of
        options.target = gpu_of(target) or cpu_of(target)
        options.verify = mask == 3
        options.print = _lib.PRINT(lambda _, text: print(text.decode("utf-8", "replace"), end=""))
        options.strict, options.warn = strict, listener.callback
        with listener:
            owned = _lib.make("schedule", "schedule_new", in_dialect(module._module, dialect), byref(options))
        self._owner = _Owner(owned, listener, (options, module))
        self._owner.render_level = error_render_level
        if seed is not None:
            self._call("seed", seed)
        if mask in (1, 2):
            self._owner_run("sch.debug_mask = %d" % mask, "<debug_mask>")

    def _call(self, name, *args, **keywords):
        return self._owner.method(None, name, args, keywords)

    def __getattr__(self, name):  # what is no method: target, state, func_working_on, trace
        if name.startswith("_"):
            raise AttributeError(name)
        return outward(self._owner, self._owner.attribute(None, name))

    def _owner_run(self, text, name):
        data = as_text(text).encode()
        with self._owner.lock, self._owner.listener:
            _lib.call("schedule_run", self._owner.pointer, data, len(data), name.encode())

    @property
    def mod(self):
        """The program as it is now."""
        with self._owner.lock:
            return IRModule._of(_lib.make("module", "schedule_module", self._owner.pointer))

    def script(self, **options):
        return self.mod.script(**options)

    def __repr__(self):
        return "<Schedule of %s>" % ", ".join(self.mod.functions)

    def show(self, style=None, black_format=None):
        """The program and the trace, in colour on a terminal."""
        self.mod.show()
        self.trace.show()

    def copy(self):
        """A schedule of the same program that develops independently; handles are valid in both."""
        other = object.__new__(type(self))
        with self._owner.lock:
            owned = _lib.make("schedule", "schedule_copy", self._owner.pointer)
        other._owner = _Owner(owned, self._owner.listener, (self._owner.keep, self._owner), self._owner.lock)
        other._owner.render_level = self._owner.render_level
        return other

    def get(self, rand_var_or_sref):
        """The loop, block or number behind a handle."""
        return self._call("get", rand_var_or_sref)

    def get_sref(self, rand_var_or_stmt):
        """A reference to a loop or block: .stmt, .parent, .seq_index."""
        return self._call("get_sref", rand_var_or_stmt)

    def seed(self, seed):
        self._call("seed", seed)

    def fork_seed(self):
        return self._call("fork_seed")

    def work_on(self, func_name):
        """Sets the function in which get_block looks from now on."""
        self._call("work_on", func_name)

    def remove_rv(self, rand_var):
        self._call("remove_rv", rand_var)

    def _register(self, name, desc, impl, override=True):
        """Makes a tensor intrinsic known to this schedule."""
        own, text, names = self.mod.functions, "", []
        for f in (desc, impl):
            known = isinstance(f, str) or f.name in own and structural_equal(f, own[f.name])
            alias = f if isinstance(f, str) else f.name
            while not known and (alias in own or repr(alias) in names):
                alias += "_"
            text += "" if known else f.script_as(alias) + "\n"
            names.append(repr(alias))
        text += "tvm.tir.TensorIntrin.register(%r, %s, %s, override=%s)\n" % (name, *names, override)
        self._owner_run(text, "<intrinsic %s>" % name)

    def _know_intrin(self, name):
        """Tells the schedule of a tensor intrinsic that was registered, once."""
        known = self._owner.__dict__.setdefault("intrins", set())
        if name in TensorIntrin._registered and name not in known:
            self._register(name, *TensorIntrin._registered[name])
            known.add(name)

    def run_script(self, text, name="<script>"):
        """Runs the text of a schedule script on this schedule."""
        self._owner_run(text, name)


def _list(pointer):
    out, i = [], 0
    while pointer and pointer[i] is not None:
        out.append(pointer[i].decode())
        i += 1
    return out


class Primitive:
    """A row of the library's table: name, help, params [(name, default text or None)], and so on."""

    def __init__(self, number, info):
        self.number, self.name, self.help = number, info.name.decode(), info.help.decode()
        self.star, self.keyword_only, self.params = info.star, info.keyword_only, []
        for k in range(info.n_params):
            name, default = ctypes.c_char_p(), ctypes.c_char_p()
            lib.tirc_primitive_param(number, k, byref(name), byref(default))
            self.params.append((name.value.decode(), default.value.decode() if default.value else None))
        doc = _lib.PrimitiveDoc()
        known = lib.tirc_primitive_documentation(number, byref(doc))
        self.meanings = _list(doc.params) if known else []
        self.needs = _list(doc.needs) if known else []
        self.returns = doc.returns.decode() if known and doc.returns else None
        self.program, self.example = (doc.program.decode(), doc.script.decode()) if known and doc.script else (None, None)

    def signature(self):
        P = inspect.Parameter
        params, kind = [P("self", P.POSITIONAL_OR_KEYWORD)], P.POSITIONAL_OR_KEYWORD
        for k, (name, default) in enumerate(self.params):
            if k == self.star:
                params.append(P(name, P.VAR_POSITIONAL))
                kind = P.KEYWORD_ONLY
                continue
            if k == self.keyword_only:
                kind = P.KEYWORD_ONLY
            params.append(P(name, kind, default=P.empty if default is None else ast.literal_eval(default)))
        return inspect.Signature(params)

    def documentation(self):
        text = [self.help, ""]
        text += ["%s: %s" % (p[0], m) for p, m in zip(self.params, self.meanings)]
        if self.returns:
            text.append("Gives " + self.returns)
        text += ["Needs: " + need for need in self.needs]
        if self.example:
            text += ["", "Example:", ""] + ["    " + line for line in self.example.rstrip().split("\n")]
        return "\n".join(text)

    def method(self):
        name = self.name

        def method(self, *args, **keywords):
            return self._owner.method(None, name, args, keywords)

        method.__name__, method.__qualname__ = name, "Schedule." + name
        method.__doc__, method.__signature__ = self.documentation(), self.signature()
        return method


def primitives():
    """All primitives of the library."""
    out, info = [], _lib.PrimitiveInfo()
    while lib.tirc_primitive_table(len(out), byref(info)):
        out.append(Primitive(len(out), info))
    return out


for _p in primitives():
    setattr(Schedule, _p.name, _p.method())
    setattr(Schedule, lib.tirc_method_name(b"tirx", _p.name.encode()).decode(), getattr(Schedule, _p.name))


class TensorIntrin:
    """Tensor intrinsics that schedules know by name: a description and an implementation. Both are PrimFuncs, or
    names of functions of the scheduled program; functions of that program that serve as an intrinsic are removed
    from it."""

    _registered = {}

    @classmethod
    def register(cls, name, desc, impl, override=False):
        for f in (desc, impl):
            if not isinstance(f, (PrimFunc, str)):
                raise TypeError("a tensor intrinsic is made of PrimFuncs, not of %s" % type(f).__name__)
        if isinstance(desc, PrimFunc) and isinstance(impl, PrimFunc):  # errors come here, not later
            probe = Schedule(IRModule({"probe_": desc}))
            if name in cls._registered and not override:
                probe._register(name, desc, impl)
            probe._register(name, desc, impl, override)
        cls._registered[name] = (desc, impl)
        return name

    @classmethod
    def get(cls, name, allow_missing=False):
        """desc and impl of an intrinsic that was registered, or that comes with the library."""
        found = cls._registered.get(name) or _of_library(name)
        if found is None and not allow_missing:
            raise ValueError("no tensor intrinsic is called %r" % name)
        return found and Intrinsic(*found)


Intrinsic = collections.namedtuple("Intrinsic", "desc impl")


@functools.lru_cache(maxsize=None)
def _of_library(name):
    """(desc, impl) of an intrinsic that schedules know by its name; None: there is none."""
    from . import te
    try:
        found = te._owner().method(te._script("TensorIntrin"), "get", (str(name),), {})
    except TVMError:
        return None
    return tuple(next(iter(parse(str(f)).functions.values())) for f in (found.desc, found.impl))


_tensorize = Schedule.tensorize


def _tensorize_registered(self, *args, **keywords):
    name = keywords.get("tensor_intrin", args[1] if len(args) > 1 else None)
    self._know_intrin(name if isinstance(name, str) else None)
    return self._owner.method(None, "tensorize", args, keywords)


for _attribute in ("__name__", "__qualname__", "__doc__", "__signature__"):
    setattr(_tensorize_registered, _attribute, getattr(_tensorize, _attribute))
Schedule.tensorize = _tensorize_registered


def schedule_script(mod, text, name="<script>", target=None, strict=False):
    """The module that a schedule script makes from mod. With strict, warnings are errors."""
    sch = Schedule(mod, target=target, strict=strict)
    sch.run_script(text, name)
    return sch.mod


def auto(mod, target=None, rules=None, explain=None, strict=False):
    """Schedules each function of a module (or a function) by rules. Returns the scheduled module, whose
    trace_script() shows what was done. rules: the file of your own library, which is tried before the built-in one
    (`tirc rules`). explain: called with (function, rule or None, took, reason or None) for each rule that was
    tried; print works."""
    from ._runtime import cpu_of, gpu_of
    options, how, listener = _lib.ScheduleOptions(), _lib.AutoOptions(), Listener()

    def text(s):
        return s.decode("utf-8", "replace") if s else None

    def tried(_, func, rule, took, reason):
        explain(text(func), text(rule), took, text(reason))

    options.target, options.strict, options.warn = gpu_of(target) or cpu_of(target), strict, listener.callback
    options.print = _lib.PRINT(lambda _, s: print(text(s), end=""))
    how.rules = os.fsencode(rules) if rules else None
    if explain:
        how.tried = _lib.TRIED(tried)
    with listener:
        return IRModule._of(_lib.make("module", "module_auto", as_module(mod, "main")._module, byref(how), byref(options)))
