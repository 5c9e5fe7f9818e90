"""What the reference's package has and this one has not: what to use instead, by name."""

import importlib.abc
import sys

from . import __name__ as _PACKAGE

# names below the package, of modules and of what is in them
INSTEAD = {
    "relay": "models are graphs of relax, or files of ONNX: tirc.compile(\"model.onnx\")",
    "autotvm": "tirc.tune(mod), or tirc.meta_schedule.tune_tir, searches for schedules",
    "auto_scheduler": "tirc.tune(mod), or tirc.meta_schedule.tune_tir, searches for schedules",
    "rpc": "everything runs on this machine; `tirc build` makes C or objects for others",
    "micro": "`tirc build MODEL --emit=c --portable --no-alloc` makes C for small machines",
    "contrib": "products in libraries are called through R.call_dps_packed and `--load`; `tirc bench --vs` compares with them",
    "driver": "tirc.build and tirc.lower",
    "runtime.disco": "one process runs a model; threads=N is how many threads it has",
    "runtime.vm": "tirc.relax.VirtualMachine",
    "relax.frontend": "tirc.compile takes files of ONNX and modules of PyTorch; write other graphs with R.function",
    "relax.frontend.nn": "write the graph with R.function, or export it to ONNX: tirc.compile(torch_module, example)",
    "relax.frontend.torch": "tirc.compile(torch_module, example)",
    "relax.frontend.onnx": "tirc.compile(\"model.onnx\"), or `tirc import model.onnx`",
    "relax.BlockBuilder": "write the graph as text, with R.function in a class with @I.ir_module",
    "relax.dpl": "patterns are those of scripts: `tirc explain is_op`",
    "te.create_schedule": "tirc.Schedule(te.create_prim_func([A, B, C])) schedules blocks and loops",
    "tir.ir_builder": "write the program with @T.prim_func; Python's values and functions are taken in it",
    "tir.analysis.verify_gpu_code": "mod.check_code(target) warns of what a GPU cannot do",
    "tir.build": "tirc.build",
    "_ffi": "libtirc's functions are in tirc.h",
    "arith": "`tirc repl` simplifies; schedules ask the library themselves",
    "meta_schedule.tune_tasks": "tirc.meta_schedule.tune_tir",
    "meta_schedule.compile_relax": "tirc.relax.build, whose rules are the schedules; `tirc tune MODEL` tunes a model's functions",
    "meta_schedule.relax_integration": "tirc.relax.build, whose rules are the schedules; `tirc tune MODEL` tunes a model's functions",
}


def _row(path):
    """The row of a name, or of the longest of what it is in."""
    parts = path.split(".")
    return next((INSTEAD[".".join(parts[:n])] for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in INSTEAD), None)


def missing(module, name):
    """AttributeError for a name that a module has not."""
    if not name.startswith("__"):
        below = "%s.%s" % (module, name)
        use = _row(below.partition(".")[2])
        if use:
            raise AttributeError("there is no %s here; use instead: %s" % (below, use))
    raise AttributeError("module %r has no attribute %r" % (module, name))


class _Finder(importlib.abc.MetaPathFinder):
    """import tirc.relay: what to use instead."""

    def find_spec(self, name, path=None, target=None):
        package, _, below = name.partition(".")
        use = _row(below) if package == _PACKAGE and below else None
        if use:
            raise ImportError("there is no module %s; use instead: %s" % (name, use), name=name)
        return None


sys.meta_path.append(_Finder())
