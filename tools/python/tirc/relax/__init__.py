"""tirc.relax: graphs written, compiled and called, by the names of the reference."""

import re

from .._device import cpu
from .._errors import TVMError
from .._load import Loaded
from .._module import Graph as Function
from .._module import IRModule
from .._runtime import Tensor, compile, timed
from . import _weights, analysis, dpl, expr_functor, frontend, op, transform
from ._views import BindingBlock, DataflowBlock, SeqExpr, VarBinding
from .block_builder import BlockBuilder, call_dps_packed, call_tir
from .expr_functor import PyExprMutator, PyExprVisitor
from .expr import Call, Constant, DataflowVar, Expr, ShapeExpr, TensorStructInfo, Tuple, TupleGetItem, Var, const


class Executable:
    """A compiled module: what VirtualMachine takes. jit() is itself."""

    def __init__(self, mod, target=None, params=None, plain=False, schedule=None):
        self.mod, self.target, self._params, self._plain, self._schedule = mod, target, params, plain, schedule
        self._model = None

    def jit(self):
        return self

    def model(self, name):
        """The compiled graph of this name: a module's main, which calls the others."""
        if name != _main_graph(self.mod):
            raise KeyError("the graph that is compiled is %r, not %r" % (_main_graph(self.mod), name))
        if self._model is None:
            self._model = compile(self.mod, self.target, weights=self._params, plain=self._plain, schedule=self._schedule,
                                  packed=_registered(self.mod))
        return self._model

    def __getitem__(self, name):
        return VirtualMachine(self)[name]

    def export_library(self, file_name, *, fcompile=None, workspace_dir=None, cc=None):
        """Writes a shared library with its weights, which runtime.load_module reads. cc: the C compiler."""
        from .._export import export_model
        if fcompile or workspace_dir:
            raise ValueError("the C compiler links it: cc=\"clang\" says which one, and $TMPDIR where it works")
        if self._schedule:
            raise ValueError("a library has the schedules of the rules, and not those of a database: `tirc build MODEL --tuned --emit=lib`")
        made = transform.phases("cleanup" if self._plain else "schedule", self.target)(self.mod)
        export_model(made._module, self.target, self._params, file_name, cc)


class _OfLibrary(Executable):
    """A model that runtime.load_module read; its graph is main."""

    def __init__(self, loaded):
        self._loaded = loaded

    def model(self, name):
        if name != "main":
            raise KeyError("the graph of a library is 'main', not %r" % name)
        return lambda *args, **keywords: self._loaded(*[getattr(x, "_array", x) for x in args], **keywords)


def _registered(mod):
    """The functions of register_func that the graphs call."""
    from .._functions import get_global_func
    names = set(re.findall(r"R\.call_dps_packed\(\"([^\"]+)\"", mod.script()))
    found = {name: get_global_func(name, allow_missing=True) for name in sorted(names)}
    return {name: f for name, f in found.items() if f}


def _main_graph(mod):
    """The name of the graph that is compiled: main, or the only one."""
    names = re.findall(r"@R\.function[^\n]*\n\s*def (\w+)\(", mod.script())
    if not names:
        raise TVMError("the module has no graph: nothing in it is an R.function", code="argument", hint="tirc.build compiles functions")
    return "main" if "main" in names else names[0] if len(names) == 1 else None


def build(mod, target=None, params=None, relax_pipeline="default", tir_pipeline="default", exec_mode="bytecode", system_lib=False):
    """Compiles the graphs of a module. relax_pipeline None or "zero": as it stands, without schedules. params: weights by the names
    of main's parameters, which are inputs no longer. tir_pipeline: a pass that functions go through before they become code. Graphs
    are compiled in either exec_mode, "bytecode" or "compiled"."""
    _check_modes(exec_mode, system_lib, tir_pipeline)
    if not isinstance(mod, IRModule):
        raise TypeError("relax.build takes an IRModule with a graph, not %r" % (mod,))
    mod, params = _weights.weighed(mod, params)
    if isinstance(relax_pipeline, str):
        _check_pipeline(relax_pipeline)
    made = mod if relax_pipeline is None or isinstance(relax_pipeline, str) else relax_pipeline(mod)
    if callable(tir_pipeline):
        made = tir_pipeline(transform.phases("loops")(made))
    out = Executable(made, target, params, plain=relax_pipeline in (None, "zero"))
    out.model(_main_graph(made))
    return out


def _check_modes(exec_mode, system_lib, tir_pipeline):
    if exec_mode not in ("bytecode", "compiled"):
        raise ValueError("exec_mode is bytecode or compiled, not %r" % (exec_mode,))
    if system_lib:
        raise ValueError("code is not linked into the process: export_library(path) writes a library, `tirc build --emit=obj` an object")
    if tir_pipeline not in ("default", None) and not callable(tir_pipeline):
        raise ValueError("tir_pipeline is a pass, or \"default\", not %r" % (tir_pipeline,))


class VirtualMachine:
    """vm["main"](x): the results as tensors. Everything runs in the library; there is no bytecode."""

    def __init__(self, rt_mod, device=None, memory_cfg=None, profile=False):
        if memory_cfg is not None:
            raise ValueError("a model has one workspace, and no kinds of memory: leave memory_cfg out")
        self._profiles = profile
        if isinstance(rt_mod, Loaded):
            if profile:
                raise ValueError("a library's calls are not told apart: build the module here to profile it")
            rt_mod = _OfLibrary(rt_mod)
        if not isinstance(rt_mod, Executable):
            raise TypeError("a virtual machine takes what relax.build made, or runtime.load_module read, not %r" % (rt_mod,))
        if device is not None and device != cpu():
            raise ValueError("models run on cpu(), not on %r; a function runs there: tirc.build(f, \"cuda\")" % (device,))
        self._executable = rt_mod
        self._inputs, self._outputs = {}, {}

    def __getitem__(self, name):
        model = self._executable.model(name)
        return lambda *args: _tensors(model(*args))

    def profile(self, func_name, *args):
        """What each call of the graph took, as a table."""
        if not self._profiles:
            raise ValueError("a virtual machine with profile=True measures calls")
        model = self._executable.model(func_name)
        model(*args)  # what depends on weights alone is made in the first run
        return Profile(model.calls(*args))

    def set_input(self, func_name, *args, **keywords):
        self._inputs[func_name] = (args, keywords)

    def invoke_stateful(self, func_name):
        args, keywords = self._inputs[func_name]
        self._outputs[func_name] = _tensors(self._executable.model(func_name)(*args, **keywords))

    def get_outputs(self, func_name):
        return self._outputs[func_name]

    def time_evaluator(self, func_name, dev=None, number=10, repeat=1, min_repeat_ms=0, **_):
        """A function of the arguments that measures and gives a BenchmarkResult."""
        return timed(self._executable.model(func_name), number, repeat, min_repeat_ms)


class Profile:
    """calls: (function, seconds) in the order in which they ran. str gives a table, by the share of each function."""

    def __init__(self, calls):
        self.calls = list(calls)

    def csv(self):
        return "Name,Duration (us)\n" + "".join("%s,%.3f\n" % (name, seconds * 1e6) for name, seconds in self.calls)

    def _rows(self):
        total, of = sum(s for _, s in self.calls) or 1.0, {}
        for name, seconds in self.calls:
            n, before = of.get(name, (0, 0.0))
            of[name] = n + 1, before + seconds
        return [(name, n, s, 100 * s / total) for name, (n, s) in sorted(of.items(), key=lambda row: -row[1][1])]

    def __str__(self):
        rows = [("Name", "Count", "Duration (us)", "Percent")] + [(name, str(n), "%.2f" % (s * 1e6), "%.2f" % p) for name, n, s, p in self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        return "\n".join("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))) for row in rows)

    def _repr_html_(self):
        from .._render import table_html
        return table_html(("function", "calls", "us", "%"), [(name, n, "%.2f" % (s * 1e6), "%.1f" % p) for name, n, s, p in self._rows()])


def _tensors(made):
    return tuple(map(_tensors, made)) if isinstance(made, tuple) else made if isinstance(made, Tensor) else Tensor(made)


def _check_pipeline(name):
    if name not in ("zero", "default"):
        raise ValueError("there is no pipeline %r: zero and default are there" % (name,))


def get_pipeline(name="zero"):
    """The passes of a pipeline, "zero" or "default", as one: what `tirc explain passes` lists up to loops."""
    _check_pipeline(name)
    return transform.phases("loops")


def get_default_pipeline(target=None):
    del target
    return get_pipeline("default")


def __getattr__(name):
    from .. import _doors
    return _doors.missing("tirc.relax", name)


__all__ = ["BindingBlock", "BlockBuilder", "Call", "Constant", "DataflowBlock", "DataflowVar", "Executable", "Expr", "Function", "PyExprMutator",
           "PyExprVisitor", "SeqExpr", "ShapeExpr", "TensorStructInfo", "Tuple", "TupleGetItem", "Var", "VarBinding", "VirtualMachine", "analysis", "build",
           "call_dps_packed", "call_tir", "const", "expr_functor",
           "frontend", "get_default_pipeline", "get_pipeline", "op", "transform"]
