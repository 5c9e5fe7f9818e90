"""tirc.relax.transform: each pass over graphs alone, as `tirc explain passes` lists them: FuseOps()(mod)."""

import ctypes
import functools

from .. import _lib
from .._module import IRModule
from .._runtime import cpu_of
from .._transform import ModulePass, PassInfo


@functools.lru_cache(maxsize=None)
def _table():
    """[(phase, name, help)] of all passes, in their order."""
    rows, row = [], _lib.PhaseInfo()
    while _lib.lib.tirc_phase_table(len(rows), ctypes.byref(row)):
        rows.append((row.phase_name.decode(), row.name.decode(), row.help.decode()))
    return rows


def _run(mod, last, skip, target=None, scripts=()):
    options = _lib.ProgramOptions(target=cpu_of(target))
    options.n_passes, options.passes = len(scripts), (ctypes.c_char_p * max(len(scripts), 1))(*[s.encode() for s in scripts])
    options.n_skip, options.skip = len(skip), (ctypes.c_char_p * max(len(skip), 1))(*[s.encode() for s in skip])
    return IRModule._of(_lib.make("module", "module_phases", mod._module, last and last.encode(), ctypes.byref(options)))


def with_types(mod):
    """With what is known of each value of its graphs."""
    return _run(mod, None, [])


def phases(last, target=None):
    """All passes up to a phase, as one; schedules are for the target."""
    return ModulePass(lambda mod, _: _run(mod, last, [], target), PassInfo(0, last, ()))


def alone(mod, path):
    """What the script of a pass at the path makes of a module, and nothing else."""
    phase = _table()[0][0]
    return _run(mod, phase, sorted({n for _, n, _ in _table()}), scripts=["%s:%s" % (phase, path)])


def FuseOpsByPattern(patterns, bind_constants=True, annotate_codegen=False):
    """Each match of a pattern, [(name, pattern of relax.dpl)], becomes a graph of its own with the attribute Composite. bind_constants:
    constants are in it, and no parameters. Compiled, such a graph is one function."""
    from . import dpl
    if annotate_codegen:
        raise ValueError("no other compiler takes parts of graphs: functions of a shared object do, by `patterns` of a script, "
                         "tirc build --pass=graph:FILE.sch --load LIBRARY, or R.call_dps_packed")
    run = dpl.fused(patterns, bind_constants)
    return ModulePass(lambda mod, _: run(mod), PassInfo(0, "FuseOpsByPattern", ()))


def BindParams(func_name, params):
    """Parameters of a graph become weights of these arrays, by name."""
    def run(mod, _):
        from ._weights import main_of, with_weights
        if func_name != main_of(mod):
            raise ValueError("weights are those of %s, not of %r" % (main_of(mod), func_name))
        all_of_them = {**(mod._params or {}), **{str(k): v for k, v in params.items()}}
        return IRModule._of(with_weights(mod, all_of_them)._module, all_of_them)
    return ModulePass(run, PassInfo(0, "BindParams", ()))


def function_pass(pass_func=None, opt_level=None, name=None, required=None, traceable=False):
    """A decorator: of a function (func, mod, ctx) -> func, which becomes a pass over each graph of a module; of a class with a method
    transform_function(self, func, mod, ctx), whose instances are passes."""
    from ..tir.transform import each_pass
    return each_pass(lambda mod: mod.graphs, pass_func, opt_level, name, required)


def __getattr__(name):
    found = [(phase, help) for phase, n, help in _table() if n == name]
    if not found:
        from .. import _doors
        return _doors.missing("tirc.relax.transform", name)
    phase, help = found[0]

    def make(**options):
        if options:
            raise TypeError("%s takes no options here, not %s" % (name, ", ".join(options)))
        others = sorted({n for _, n, _ in _table()} - {name})
        return ModulePass(lambda mod, _: _run(mod, phase, others), PassInfo(0, name, ()))
    make.__name__, make.__doc__ = name, help
    return make


def __dir__():
    return sorted({n for _, n, _ in _table()} | {"BindParams", "FuseOpsByPattern", "function_pass"})
