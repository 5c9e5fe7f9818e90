"""tirc.tir.transform: a lowering pass by its name, as a pass over modules: LowerInitBlock()(mod).

The names are those of `tirc lower --only`: tirc's own and what the reference calls the same. passes() lists them.
"""

import ctypes
import difflib

from .. import _lib
from .._module import IRModule
from .._transform import ModulePass, PassContext, PassInfo, Sequential, module_pass


def passes():
    """What each pass that a module can go through by itself does: {name: help}."""
    name, help_, of, found = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_char_p(), {}
    at = ctypes.byref
    i = 0
    while _lib.lib.tirc_pass_table(i, at(name), at(help_)):
        found[name.value.decode()] = help_.value.decode()
        i += 1
    i = 0
    while _lib.lib.tirc_pass_alone_table(i, at(name), at(help_), at(of)):
        found[name.value.decode()] = help_.value.decode() if help_.value else "%s by another name." % of.value.decode()
        i += 1
    return found


def _run(mod, names, target=None):
    array = (ctypes.c_char_p * max(len(names), 1))(*[name.encode() for name in names])
    return IRModule._of(_lib.make("module", "module_lower_only", mod._module, target, len(names), array))


# What the reference's passes take besides: (name, default, the values that there are, what another one gets).
_ARGUMENTS = {
    "CompactBufferAllocation": [("is_strict", True, (True,), "buffers are as small as their accesses allow, and never smaller")],
    "ThreadSync": [("storage_scope", "shared", ("shared", "shared.dyn"),
                    "barriers are those of a block of threads; the host waits for a kernel by itself")],
    "NarrowDataType": [("target_bits", 32, (32,), "indices become int32 or stay as they are")],
    "HoistIfThenElse": [("variant", None, (None, "basic"), "every condition that may move does")],
    "CommonSubexprElimTIR": [("enable_cse_tir", True, (True,), "leave the pass out where it is not wanted"),
                             ("identify_equiv_terms", False, (False,), "expressions are the same when they read the same")],
}
_ARGUMENTS["CommonSubexprElim"] = _ARGUMENTS["CommonSubexprElimTIR"]

# What the reference has and tirc has not, and what does its work.
_INSTEAD = {
    "MakePackedAPI": "tirc.build(mod) makes functions that take arrays",
    "MakeUnpackedAPI": "mod.emit(\"c\") and mod.emit(\"header\") have functions of plain pointers",
    "LowerTVMBuiltin": "tirc.build(mod) has no calls into a runtime to lower",
    "LowerDeviceStorageAccessInfo": "special memory is for tensor intrinsics, whose scopes tirc.build(mod, target) knows",
    "LowerAutoCopy": "copies between scopes are loops that a schedule binds: sch.cache_read, sch.vectorize, sch.bind",
    "InjectPTXAsyncCopy": "the annotation software_pipeline_async_stages, by InjectSoftwarePipeline",
    "InstrumentProfileIntrinsics": "tirc.measure times programs, and `tirc bench` counts events",
    "InstrumentBoundCheckers": "tirc.interpret(mod, ...) checks every access",
    "InlinePrivateFunctions": "functions of a module do not call each other but from a graph, whose passes inline them",
    "LowerThreadAllreduce": "LowerCrossThreadReduction makes the whole of it: shuffles, shared memory and barriers",
    "Apply": "tirc.transform.module_pass, whose function makes the new module",
    "DefaultGPUSchedule": "tirc.auto(mod, target=...) schedules what has no threads",
    "BF16ComputeLegalize": "code is made for bfloat16 as it is, computed in float32",
    "BF16StorageLegalize": "code is made for bfloat16 as it is",
    "FP8ComputeLegalize": "there are no types of 8-bit floats",
    "FP8StorageLegalize": "there are no types of 8-bit floats",
}


def _takes(name, args, kwargs):
    """Refuses arguments that ask for what the pass does not do."""
    known = _ARGUMENTS.get(name, [])
    if len(args) > len(known):
        raise TypeError("%s takes %d arguments, not %d" % (name, len(known), len(args)))
    given = {known[i][0]: value for i, value in enumerate(args)}
    for key, value in kwargs.items():
        if key not in [k for k, *_ in known] or key in given:
            raise TypeError("%s takes no argument %s%s" % (name, key, ", or takes it once" if key in given else ""))
        given[key] = value
    for key, default, values, why in known:
        value = given.get(key, default)
        if value not in values:
            raise ValueError("%s takes %s=%r alone, not %r: %s" % (name, key, values[0], value, why))


def _maker(name, help_):
    def make(*args, **kwargs):
        _takes(name, args, kwargs)
        return ModulePass(lambda mod, ctx: _run(mod, [name]), PassInfo(0, "tir." + name, ()))

    make.__name__ = make.__qualname__ = name
    make.__doc__ = help_
    return make


def BindTarget(target):
    """Functions with kernels are for a GPU from here on; those for a processor are for the one that they are built for."""
    from .._runtime import cpu_of, gpu_of
    to = gpu_of(target) or cpu_of(target)
    return ModulePass(lambda mod, ctx: _run(mod, [], to), PassInfo(0, "tir.BindTarget", ()))


def Filter(fcond):
    """The functions of which fcond(function) is true, alone."""
    return ModulePass(lambda mod, ctx: IRModule({name: f for name, f in mod.functions.items() if fcond(f)}),
                      PassInfo(0, "tir.Filter", ()))


def prim_func_pass(pass_func=None, opt_level=None, name=None, required=None, traceable=False):
    """A decorator: of a function (func, mod, ctx) -> func, which becomes a pass over each function of a module; of a
    class with a method transform_function(self, func, mod, ctx), whose instances are passes."""
    import inspect

    def make(what):
        label = name or what.__name__
        if not inspect.isclass(what):
            return module_pass(lambda mod, ctx: _each(what, mod, ctx), opt_level=opt_level, name=label, required=required)
        if not callable(getattr(what, "transform_function", None)):
            raise TypeError("the class %s has no method transform_function" % what.__name__)

        class Pass(what):
            def transform_module(self, mod, ctx):
                return _each(self.transform_function, mod, ctx)

        return module_pass(Pass, opt_level=opt_level, name=label, required=required)

    return make(pass_func) if pass_func is not None else make


def _each(transform, mod, ctx):
    old = mod.functions
    new = {name: transform(f, mod, ctx) for name, f in old.items()}
    return mod if all(new[name] is old[name] for name in old) else IRModule(new)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    known = passes()
    if name in known:
        return _maker(name, known[name])
    if name in _INSTEAD:
        raise AttributeError("tirc.tir.transform has no '%s': %s" % (name, _INSTEAD[name]))
    near = difflib.get_close_matches(name, known, 1)
    raise AttributeError("tirc.tir.transform has no '%s': %s" % (
        name, "did you mean '%s'?" % near[0] if near else "tirc.tir.transform.passes() lists what there is, and "
        "tirc.lower(mod) runs all that code needs"))


def __dir__():
    return sorted(set(globals()) | set(passes()))


__all__ = ["BindTarget", "Filter", "ModulePass", "PassContext", "Sequential", "module_pass", "passes", "prim_func_pass"]
