"""tirc.relax.transform: each pass over graphs alone, as `tirc explain passes` lists them: FuseOps()(mod)."""

import ctypes
import functools

from .. import _lib
from .._module import IRModule
from .._transform import ModulePass, PassInfo


@functools.lru_cache(maxsize=None)
def _table():
    """[(phase, name, help)] of all passes, in their order."""
    rows, row = [], _lib.PhaseInfo()
    while _lib.lib.tirc_phase_table(len(rows), ctypes.byref(row)):
        rows.append((row.phase_name.decode(), row.name.decode(), row.help.decode()))
    return rows


def _run(mod, last, skip):
    options = _lib.ProgramOptions()
    options.n_skip, options.skip = len(skip), (ctypes.c_char_p * max(len(skip), 1))(*[s.encode() for s in skip])
    return IRModule._of(_lib.make("module", "module_phases", mod._module, last and last.encode(), ctypes.byref(options)))


def with_types(mod):
    """With what is known of each value of its graphs."""
    return _run(mod, None, [])


def phases(last):
    """All passes up to a phase, as one."""
    return ModulePass(lambda mod, _: _run(mod, last, []), PassInfo(0, last, ()))


def BindParams(func_name, params):
    """Parameters of a graph become weights of these arrays, by name."""
    if func_name != "main":
        raise ValueError("weights are those of main, not of %r" % (func_name,))

    def run(mod, _):
        from ._weights import with_weights
        all_of_them = {**(mod._params or {}), **{str(k): v for k, v in params.items()}}
        return IRModule._of(with_weights(mod, all_of_them)._module, all_of_them)
    return ModulePass(run, PassInfo(0, "BindParams", ()))


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
    return sorted({n for _, n, _ in _table()} | {"BindParams"})
