"""tirc.relax: graphs compiled and called, by the names of the reference."""

import re

from .._device import cpu
from .._errors import TVMError
from .._module import IRModule
from .._runtime import BenchmarkResult, Tensor, compile
from . import transform


class Executable:
    """A compiled module: what VirtualMachine takes. jit() is itself."""

    def __init__(self, mod, target=None, params=None, plain=False):
        self.mod, self.target, self._params, self._plain = mod, target, params, plain
        self._model = None

    def jit(self):
        return self

    def model(self, name):
        """The compiled graph of this name: a module's main, which calls the others."""
        if name != _main_graph(self.mod):
            raise KeyError("the graph that is compiled is %r, not %r" % (_main_graph(self.mod), name))
        if self._model is None:
            self._model = compile(self.mod, self.target, weights=self._params, plain=self._plain)
        return self._model

    def __getitem__(self, name):
        return VirtualMachine(self)[name]


def _main_graph(mod):
    """The name of the graph that is compiled: main, or the only one."""
    names = re.findall(r"@R\.function[^\n]*\n\s+def (\w+)\(", mod.script())
    if not names:
        raise TVMError("the module has no graph: nothing in it is an R.function", code="argument", hint="tirc.build compiles functions")
    return "main" if "main" in names else names[0] if len(names) == 1 else None


def build(mod, target=None, params=None, relax_pipeline="default", tir_pipeline="default", exec_mode="bytecode", system_lib=None):
    """Compiles the graphs of a module. relax_pipeline None or "zero": as it stands, without schedules. params: weights by name."""
    del exec_mode, system_lib, tir_pipeline
    if not isinstance(mod, IRModule):
        raise TypeError("relax.build takes an IRModule with a graph, not %r" % (mod,))
    if isinstance(relax_pipeline, str):
        _check_pipeline(relax_pipeline)
    made = mod if relax_pipeline is None or isinstance(relax_pipeline, str) else relax_pipeline(mod)
    out = Executable(made, target, params, plain=relax_pipeline in (None, "zero"))
    out.model(_main_graph(made))
    return out


class VirtualMachine:
    """vm["main"](x): the results as tensors. Everything runs in the library; there is no bytecode."""

    def __init__(self, rt_mod, device=None, memory_cfg=None, profile=False):
        del memory_cfg, profile
        if not isinstance(rt_mod, Executable):
            raise TypeError("a virtual machine takes what relax.build made, not %r" % (rt_mod,))
        if device is not None and device != cpu():
            raise ValueError("models run on cpu(), not on %r; a function runs there: tirc.build(f, \"cuda\")" % (device,))
        self._executable = rt_mod
        self._inputs, self._outputs = {}, {}

    def __getitem__(self, name):
        model = self._executable.model(name)
        return lambda *args: _tensors(model(*args))

    def set_input(self, func_name, *args, **keywords):
        self._inputs[func_name] = (args, keywords)

    def invoke_stateful(self, func_name):
        args, keywords = self._inputs[func_name]
        self._outputs[func_name] = _tensors(self._executable.model(func_name)(*args, **keywords))

    def get_outputs(self, func_name):
        return self._outputs[func_name]

    def time_evaluator(self, func_name, dev=None, number=10, repeat=1, min_repeat_ms=0, **_):
        """A function of the arguments that measures and gives a BenchmarkResult."""
        import time
        model = self._executable.model(func_name)

        def seconds(args, n):
            start = time.perf_counter()
            for _ in range(n):
                model(*args)
            return time.perf_counter() - start

        def run(*args):
            model(*args)
            n = number
            while min_repeat_ms and seconds(args, n) * 1e3 < min_repeat_ms:
                n *= 2
            return BenchmarkResult([seconds(args, n) / n for _ in range(repeat)])
        return run


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


__all__ = ["Executable", "VirtualMachine", "build", "get_default_pipeline", "get_pipeline", "transform"]
