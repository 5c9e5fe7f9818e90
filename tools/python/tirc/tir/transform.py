"""tirc.tir.transform: a lowering pass by its name, as a pass over modules: LowerInitBlock()(mod).

The names are those of `tirc lower --only`: tirc's own and what the reference calls the same. passes() lists them.
"""

import ast
import ctypes
import difflib
import re

from .. import _lib
from .._module import IRModule
from .._target import Target
from .._transform import ModulePass, PassContext, PassInfo, Sequential, module_pass, options_of


def passes():
    """The passes that can be applied one at a time, with their help: {name: help}."""
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


def options(name):
    """What an option of a pass, asked for by PassContext(config={"tir.NAME": {option: True}}), does: {option: help}."""
    of, option, help_, found = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_char_p(), {}
    at, i = ctypes.byref, 0
    while _lib.lib.tirc_pass_option_table(i, at(of), at(option), at(help_)):
        if of.value.decode() == name:
            found[option.value.decode()] = help_.value.decode()
        i += 1
    return found


def _asked(name):
    """NAME+option+option, by the contexts around."""
    return "+".join([name] + options_of(name, options(name)))


def _run(mod, names, target=None):
    array = (ctypes.c_char_p * max(len(names), 1))(*[name.encode() for name in names])
    return IRModule._of(_lib.make("module", "module_lower_only", mod._module, target, len(names), array))


# What the reference's passes take besides: (name, default, the values that there are, what another one gets).
_ARGUMENTS = {
    "CompactBufferAllocation": [("is_strict", True, (True, False), "")],  # which may grow where it is off; ours do not
    "ThreadSync": [("storage_scope", "shared", ("shared", "shared.dyn"),
                    "barriers are those of a block of threads; the host waits for a kernel by itself")],
    "NarrowDataType": [("target_bits", 32, (32,), "indices become int32 or stay as they are")],
    "HoistIfThenElse": [("variant", None, (None, "basic"), "every condition that may move does")],
    "CommonSubexprElimTIR": [("enable_cse_tir", True, (True,), "leave the pass out where it is not wanted"),
                             ("identify_equiv_terms", False, (False, True), "")],
}
_ARGUMENTS["CommonSubexprElim"] = _ARGUMENTS["CommonSubexprElimTIR"]

# What the reference has and tirc has not, and what does its work.
_INSTEAD = {
    "MakePackedAPI": "tirc.build(mod) makes functions that take arrays",
    "MakeUnpackedAPI": "mod.emit(\"c\") and mod.emit(\"header\") have functions of plain pointers",
    "LowerAutoCopy": "copies between scopes are loops that a schedule binds: sch.cache_read, sch.vectorize, sch.bind",
    "InjectPTXAsyncCopy": "the annotation software_pipeline_async_stages, by InjectSoftwarePipeline",
    "InstrumentBoundCheckers": "tirc.interpret(mod, ...) checks every access",
    "Apply": "tirc.transform.module_pass, whose function makes the new module",
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
        equivalent = name.startswith("CommonSubexprElim") and (kwargs.get("identify_equiv_terms") or args[1:2] == (True,))
        if equivalent:  # terms that mean the same read the same once they are simplified
            return ModulePass(lambda mod, ctx: _run(mod, ["RenormalizeSplitPattern", name]), PassInfo(0, "tir." + name, ()))
        return ModulePass(lambda mod, ctx: _run(mod, [_asked(name)]), PassInfo(0, "tir." + name, ()))

    make.__name__ = make.__qualname__ = name
    make.__doc__ = help_
    return make


def _with_word(name, f, word):
    """The function with one more attribute, `"key": value` as text."""
    from .._module import parse
    text = f.script_as(name)
    if "T.func_attr({" in text:
        text = text.replace("T.func_attr({", "T.func_attr({" + word + ", ", 1)
    else:
        head, colon, body = text.partition("):\n")
        text = "%s%s    T.func_attr({%s})\n%s" % (head, colon, word, body)
    return parse(text, name).functions[name]


def _told(target, exposed):
    """A target as a program has it; functions that others call know their host's, too."""
    host = ', host="%s"' % target.host if target.host and exposed else ""
    return 'T.target("%s"%s)' % (target, host)


def _target_of(text):
    """(call, text) of a function's attribute T.target(...); None: it has none."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    for call in calls:
        if ast.unparse(call.func) == "T.func_attr":
            attrs = dict(zip(map(ast.unparse, call.args[0].keys), call.args[0].values))
            found = attrs.get("'target'")
            return found and (found, ast.get_source_segment(text, found))
    return None


def _has_host(call):
    said = ast.literal_eval(call.args[0])
    return bool(call.keywords) or len(call.args) > 1 or isinstance(said, dict) and "host" in said


def _bound(name, f, target):
    from .._module import parse
    text = f.script_as(name)
    exposed = "private=True" not in text
    known = _target_of(text)
    if not known:
        return _with_word(name, f, '"target": ' + _told(target, exposed))
    call, said = known
    if not (exposed and target.host) or _has_host(call):
        return f
    return parse(text.replace(said, '%s, host="%s")' % (said[:-1], target.host)), name).functions[name]


def BindTarget(target):
    """Assigns a target to each function that has none. The target's host is that of functions that are not private."""
    to = target if isinstance(target, Target) else Target(target)

    def each(mod, ctx):
        out = mod.clone()
        for name, f in mod.functions.items():
            out.update_func(name, _bound(name, f, to))
        return out
    return ModulePass(each, PassInfo(0, "tir.BindTarget", ()))


def Filter(fcond):
    """Keeps only the functions for which fcond(function) is true."""
    return ModulePass(lambda mod, ctx: IRModule({**{name: f for name, f in mod.functions.items() if fcond(f)}, **mod.graphs}),
                      PassInfo(0, "tir.Filter", ()))


_ONE_THREAD_A_POINT = """
MOST_THREADS, MOST_BLOCKS = 1024, 256
for block in sch.get_child_blocks(sch.get_block("root")):
    loops, iters = sch.get_loops(block), sch.get(block).iter_vars
    if (loops and len(loops) != len(iters)) or any([sch.get(l).kind == "thread_binding" for l in loops]):
        continue
    apart = [] if not loops else [l for l, i in zip(loops, iters) if i.kind == "spatial"]
    if apart and len(apart) < len(loops):
        sch.reorder(*apart, *[l for l, i in zip(loops, iters) if i.kind != "spatial"])
    points = sch.fuse(*apart) if apart else sch.add_unit_loop(loops[0] if loops else block)
    extent = sch.get(points).extent
    if isinstance(extent, int) and extent <= MOST_THREADS * MOST_BLOCKS:
        bx, tx = sch.split(points, factors=[None, min(extent, MOST_THREADS)])
    else:
        rest, bx, tx = sch.split(points, factors=[None, MOST_BLOCKS, MOST_THREADS])
        sch.reorder(bx, tx, rest)
    sch.bind(bx, "blockIdx.x")
    sch.bind(tx, "threadIdx.x")
"""


def _scheduled(name, f):
    """The function with a thread for each point of each block that has no threads, and a word that it is scheduled."""
    from .._module import parse
    from .._schedule import schedule_script
    text = f.script_as(name)
    if '"tir.is_scheduled"' in text:
        return f
    if '"kind": "llvm"' not in text and 'T.target("llvm' not in text:
        text = schedule_script(IRModule({name: f}), _ONE_THREAD_A_POINT, "DefaultGPUSchedule").functions[name].script_as(name)
    return _with_word(name, parse(text, name).functions[name], '"tir.is_scheduled": T.bool(True)')


def DefaultGPUSchedule():
    """Each block of a function without threads gets a thread for each of its points."""
    return ModulePass(lambda mod, _: _replaced(mod, mod.functions, lambda f: _scheduled(f.name, f)), PassInfo(0, "tir.DefaultGPUSchedule", ()))


def prim_func_pass(pass_func=None, opt_level=None, name=None, required=None, traceable=False):
    """A decorator: of a function (func, mod, ctx) -> func, which becomes a pass over each function of a module; of a
    class with a method transform_function(self, func, mod, ctx), whose instances are passes."""
    return each_pass(lambda mod: mod.functions, pass_func, opt_level, name, required)


def _replaced(mod, functions, transform):
    """The module with what transform gives for these functions of it; itself where that is what they are."""
    new = {var: transform(old) for var, old in functions.items()}
    changed = {var: f for var, f in new.items() if f is not functions[var]}
    made = mod.clone() if changed else mod
    for var, f in changed.items():
        made.update_func(var, f)
    return made


def each_pass(functions, pass_func, opt_level, name, required):
    """Such a decorator, for what functions(mod) has by name."""
    import inspect

    def each(transform, mod, ctx):
        return _replaced(mod, functions(mod), lambda f: transform(f, mod, ctx))

    def make(what):
        label = name or what.__name__
        if not inspect.isclass(what):
            return module_pass(lambda mod, ctx: each(what, mod, ctx), opt_level=opt_level, name=label, required=required)
        if not callable(getattr(what, "transform_function", None)):
            raise TypeError("the class %s has no method transform_function" % what.__name__)

        class Pass(what):
            def transform_module(self, mod, ctx):
                return each(self.transform_function, mod, ctx)

        return module_pass(Pass, opt_level=opt_level, name=label, required=required)

    return make(pass_func) if pass_func is not None else make


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


__all__ = ["BindTarget", "DefaultGPUSchedule", "Filter", "ModulePass", "PassContext", "Sequential", "module_pass", "options", "passes", "prim_func_pass"]
