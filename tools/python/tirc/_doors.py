"""What the reference's package has and this one has not: what to use instead, by name."""

import importlib
import importlib.abc
import importlib.machinery
import sys

from . import __name__ as _PACKAGE

# names below the package, of modules and of what is in them
INSTEAD = {
    "relay": "models are graphs of relax, or files of ONNX: tirc.compile(\"model.onnx\")",
    "autotvm": "tirc.tune(mod), or tirc.meta_schedule.tune_tir, searches for schedules",
    "auto_scheduler": "tirc.tune(mod), or tirc.meta_schedule.tune_tir, searches for schedules",
    "rpc": "everything runs on this machine; `tirc build` makes C or objects for others",
    "micro": "`tirc build MODEL --emit=c --portable --no-alloc` makes C for small machines",
    "contrib.graph_executor": "tirc.relax.VirtualMachine, or tirc.compile",
    "contrib.nvcc": "mod.emit(\"ptx\", target) needs no compiler of CUDA's",
    "contrib.cc": "lib.export_library(path, cc=\"clang\")",
    "contrib.ndk": "`tirc build --target=cortex-a72 --emit=lib`, with CC of that machine",
    "contrib.popen_pool": "tirc.tune measures in processes of its own",
    "contrib.download": "urllib",
    "contrib.cblas": "products in libraries are called through R.call_dps_packed and `--load`; `tirc bench --vs` compares with them",
    "contrib.mkl": "products in libraries are called through R.call_dps_packed and `--load`; `tirc bench --vs` compares with them",
    "contrib.mkldnn": "products in libraries are called through R.call_dps_packed and `--load`; `tirc bench --vs` compares with them",
    "contrib.dnnl": "products in libraries are called through R.call_dps_packed and `--load`; `tirc bench --vs` compares with them",
    "contrib.cublas": "products in libraries are called through R.call_dps_packed and `--load`; `tirc bench --vs` compares with them",
    "contrib.cudnn": "products in libraries are called through R.call_dps_packed and `--load`; `tirc bench --vs` compares with them",
    "contrib.cutlass": "products in libraries are called through R.call_dps_packed and `--load`; `tirc bench --vs` compares with them",
    "contrib.thrust": "products in libraries are called through R.call_dps_packed and `--load`; `tirc bench --vs` compares with them",
    "contrib.rocblas": "products in libraries are called through R.call_dps_packed and `--load`; `tirc bench --vs` compares with them",
    "runtime.disco": "one process runs a model; threads=N is how many threads it has",
    "runtime.vm": "tirc.relax.VirtualMachine",
    "relax.frontend.nn": "write the graph with R.function, or export it to ONNX: tirc.compile(torch_module, example)",
    "relax.frontend.torch": "tirc.compile(torch_module, example)",
    "relax.frontend.tflite": "export the model to ONNX: relax.frontend.onnx.from_onnx",
    "relax.frontend.stablehlo": "export the model to ONNX: relax.frontend.onnx.from_onnx",
    "relax.training": "models are run here, and trained elsewhere",
    "relax.ExternFunc": "R.call_dps_packed(\"NAME\", ...) and `--load`",
    "relax.FuncStructInfo": "a function's type follows from its text",
    "relax.ObjectStructInfo": "values of graphs are tensors: TensorStructInfo",
    "te.thread_axis": "sch.bind(loop, \"threadIdx.x\"), of a tirc.Schedule",
    "te.decl_tensor_intrin": "tir.TensorIntrin.register(name, desc, impl) and sch.tensorize(loop, name)",
    "te.extern": "te.extern_primfunc(tensors, primfunc)",
    "te.scan": "write the recurrence with @T.prim_func and a loop over time",
    "te.schedule": "tirc.Schedule(te.create_prim_func([A, B, C])) schedules blocks and loops",
    "te.tensor": "te.Tensor",
    "te.operation": "te.placeholder and te.compute make tensors; a tensor has no op",
    "te.PlaceholderOp": "te.placeholder and te.compute make tensors; a tensor has no op",
    "te.ComputeOp": "te.placeholder and te.compute make tensors; a tensor has no op",
    "te.ExternOp": "te.extern_primfunc(tensors, primfunc)",
    "te.tag_scope": "blocks are known by their names: te.compute(..., name=)",
    "te.gradient": "models are run here, and trained elsewhere",
    "te.hybrid": "write the program with @T.prim_func and te.extern_primfunc(tensors, primfunc)",
    "topi.generic": "tirc.auto(mod) schedules by rules",
    "topi.x86": "tirc.auto(mod) schedules by rules",
    "topi.cuda": "dlight.ApplyDefaultSchedule schedules for GPUs by rules",
    "topi.testing": "numpy; tirc.Reference says what a program computes",
    "topi.tag": "blocks are known by their names",
    "topi.sparse": "write the program with @T.prim_func",
    "topi.image": "relax.op.image.resize2d in a graph",
    "topi.vision": "relax.op.vision in a graph",
    "dlight.cpu": "tirc.auto(mod, target) schedules for processors by rules",
    "dlight.benchmark": "tirc.measure",
    "dlight.analysis": "`tirc rules analysis` has the questions that rules ask",
    "te.create_schedule": "tirc.Schedule(te.create_prim_func([A, B, C])) schedules blocks and loops",
    "tir.ir_builder": "write the program with @T.prim_func; Python's values and functions are taken in it",
    "tir.generic": "tir's functions themselves",
    "tir.stmt_functor.ir_transform": "views say what is there; another program is made of text: tirc.parse(f.script()...), or by a schedule",
    "tir.stmt_functor.substitute": "views say what is there; another program is made of text: tirc.parse(f.script()...), or by a schedule",
    "tir.CallEffectKind": "what a call may do is in `tirc explain NAME`",
    "tir.ProducerLoad": "a tensor's element is A[i, j]; programs have tir.BufferLoad",
    "tir.call_pure_extren": "T.call_pure_extern in a program; some scripts for TVM misspell it",
    "tir.ir_pass": "tirc.tir.transform",
    "arith.IntSet": "arith.Analyzer simplifies and proves",
    "arith.detect_iter_map": "`tirc explain` of the primitives says what maps they take",
    "arith.normalize_to_iter_sum": "arith.Analyzer().simplify",
    "tir.schedule.analysis.suggest_index_map": "`tirc rules analysis` has get_index_map",
    "ir.register_op_attr": "operators are scripts: examples/guide/developing.md",
    "ir.register_intrin_lowering": "tir.TensorIntrin.register, and `tirc run MODEL --load` for functions in C",
    "ir.container": "list and dict",
    "ir.base": "tirc.Object's views; save_json and load_json are in tirc.ir",
    "ir.DictAttrs": "dict: f.with_attr({...})",
    "ir.EnvFunc": "register_func and get_global_func",
    "ir.PointerType": "T.handle(\"float32\", \"global\") in a program",
    "ir.PrimType": "\"float32\", a text",
    "ir.instrument": "`tirc lower --print-after=all`",
    "ir.analysis": "mod.check()",
    "ir.make_node": "the constructors, or text: tirc.parse",
    "runtime.container": "str and tuple",
    "runtime.PackedFunc": "register_func and get_global_func take functions of Python",
    "runtime.save_param_dict": "a .safetensors file, which weights= takes",
    "runtime.load_param_dict": "a .safetensors file, which weights= takes",
    "runtime.profiler_vm": "tirc.relax.VirtualMachine(ex, profile=True)",
    "runtime.executor": "tirc.relax.VirtualMachine, or tirc.compile",
    "target.hexagon": "`tirc build --emit=c` makes C for other processors",
    "target.codegen": "mod.emit(\"llvm\"), and tirc.library_path",
    "target.tag": "Target(\"nvidia/nvidia-t4\"); `tirc build --target help` lists the names",
    "script.ir_builder": "Python's values, functions and T.macro stand in a program's text",
    "support": "`tirc doctor`",
    "utils": "Python's own",
    "base": "tirc.TVMError and tirc.library_path",
    "gpu": "tirc.cuda()",
    "context": "tirc.device(\"cuda\", 0)",
    "module": "tirc.runtime.load_module and tirc.build",
    "ndarray": "tirc.nd",
    "create_schedule": "tirc.Schedule(te.create_prim_func([A, B, C])) schedules blocks and loops",
    "placeholder": "te.placeholder",
    "compute": "te.compute",
    "reduce_axis": "te.reduce_axis",
    "var": "te.var",
    "sum": "te.sum",
    "max": "te.max, or tir.max of two",
    "min": "te.min, or tir.min of two",
    "meta_schedule.search_strategy": "strategy=\"evolutionary\" or \"replay-trace\"",
    "meta_schedule.runner": "candidates are measured on this machine, each in a process of its own",
    "meta_schedule.builder": "candidates are measured on this machine, each in a process of its own",
    "meta_schedule.cost_model": "the library has one, which learns from all that is in the database",
    "meta_schedule.space_generator.PostOrderApply": "`tirc rules cpu_space`, which is the usual space",
    "meta_schedule.Profiler": "tirc.tune tells each trial: told=",
    "_ffi": "libtirc's functions are in tirc.h",
    "meta_schedule.tune_tasks": "tirc.meta_schedule.tune_tir",
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


# where the releases since 0.24 have a module -> where it is
_MOVED = {"script.parser": "script", "s_tir.meta_schedule": "meta_schedule", "s_tir.dlight": "dlight", "s_tir.schedule": "tir.schedule", "s_tir.analysis": "tir.analysis",
          "tirx": "tir"}


def _moved(below):
    """The module that a name below the package means; None: itself."""
    for old, new in _MOVED.items():
        if below.startswith(old + "."):
            return new + below[len(old):]
        if below == old and old not in ("tirx", "s_tir.schedule"):
            return new
    return None


class _Loader(importlib.abc.Loader):
    """Gives a module that there is, under another name."""

    def __init__(self, module):
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        module.__spec__ = self._spec


class _Finder(importlib.abc.MetaPathFinder):
    """import tirc.relay: what to use instead; import tirc.s_tir.dlight: tirc.dlight."""

    def find_spec(self, name, path=None, target=None):
        package, _, below = name.partition(".")
        there = _moved(below) if package == _PACKAGE else None
        if there:
            return importlib.machinery.ModuleSpec(name, _Loader(importlib.import_module("%s.%s" % (_PACKAGE, there))), is_package=True)
        use = _row(below) if package == _PACKAGE and below else None
        if use:
            raise ImportError("there is no module %s; use instead: %s" % (name, use), name=name)
        return None


sys.meta_path.insert(0, _Finder())
