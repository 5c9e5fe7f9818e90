"""Each name of the table has an assertion on what it does, and what is not there says what to use instead."""

import importlib
import json
import pathlib
import re
import sys

import numpy as np
import pytest

import tirc as tvm
from support import MATMUL, SOURCE
from tirc import _doors, _table, dlight, ir, meta_schedule, relax, runtime, s_tir, target, te, testing, tir, tirx, topi
from tirc.meta_schedule.testing import te_workload
from tirc.relax.dpl import is_op, wildcard
from tirc.script import ir as I
from tirc.script import relax as R
from tirc.script import tir as T

sys.path.insert(0, str(SOURCE / "tests" / "onnx"))
from messages import model, node, tensor, value

n = m = None  # variables, while the checks run
X = np.arange(12, dtype="float32").reshape(3, 4) - 5
V = np.arange(4, dtype="float32")
PICTURE = np.arange(2 * 4 * 4, dtype="float32").reshape(1, 2, 4, 4)
KERNEL = np.arange(2 * 2 * 3 * 3, dtype="float32").reshape(2, 2, 3, 3)


@T.prim_func
def double(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] * T.float32(2)


@I.ir_module
class Net:
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            gv = R.nn.relu(R.matmul(x, w))
            R.output(gv)
        return gv


OUTSIDE = Net.script().replace("        with R.dataflow():\n", "").replace("            R.output(gv)\n", "").replace("            ", "        ")


class Negative(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        return relax.op.negative(call.args[0]) if call.op.name == "relax.nn.relu" else call


def visited(expr):
    found = []
    relax.analysis.post_order_visit(expr, found.append)
    return found


def negative(mod):
    made = Negative(mod)
    made.builder_.update_func("main", made.visit_expr(mod["main"]))
    return made.builder_.get()


class Called(relax.PyExprVisitor):
    def __init__(self):
        self.names = []

    def visit_call_(self, call):
        super().visit_call_(call)
        self.names.append(call.op.name)


def called(mod):
    found = Called()
    found.visit_expr(mod["main"])
    return found.names


def block(text=Net.script()):
    made, = tvm.parse(text)["main"].body.blocks
    return made


def b_like(b):
    return (b.shape, b.dtype, b.name, b.strides, b.scope(), b.offset_factor, b.elem_offset) == ([4, 8], "float16", "b", [], "global", 2, 0)


def raises(kind, call, *words):
    with pytest.raises(kind) as e:
        call()
    return all(w in str(e.value) for w in words)


def built(function=double, size=8):
    a, b = np.arange(size, dtype="float32"), np.zeros(size, "float32")
    function(a, b)
    return (b == 2 * a).all()


def of(make, *arrays):
    """What tensors of te come to, on these arrays."""
    inputs = [te.placeholder(a.shape, a.dtype.name, name="x%d" % i) for i, a in enumerate(arrays)]
    made = make(*inputs)
    outputs = list(made) if isinstance(made, (list, tuple)) else [made]
    results = [np.zeros([int(e) for e in t.shape], t.dtype) for t in outputs]
    tvm.interpret(te.create_prim_func(inputs + outputs), *arrays, *results)
    return results if isinstance(made, (list, tuple)) else results[0]


def is_(make, expected, *arrays):
    got = of(make, *arrays)
    return got.shape == np.shape(expected) and np.allclose(got, expected, rtol=1e-5, atol=1e-5)


def convolved(x, w, groups=1):
    """Without padding, at every place."""
    out = np.zeros((1, w.shape[0], x.shape[2] - w.shape[2] + 1, x.shape[3] - w.shape[3] + 1), "float32")
    per, own = w.shape[0] // groups, x.shape[1] // groups
    for o in range(w.shape[0]):
        for i in range(out.shape[2]):
            for j in range(out.shape[3]):
                g = o // per
                out[0, o, i, j] = (x[0, g * own:(g + 1) * own, i:i + w.shape[2], j:j + w.shape[3]] * w[o]).sum()
    return out


def text(e):
    return str(e).replace("T.int64(", "").replace(")", "").replace("(", "")


def view():
    return double.body.block.body


def analyzer(var, what):
    made = tvm.arith.Analyzer()
    made.bind(var, what)
    return made


def schedule():
    return tir.Schedule(double)


def block_builder(write=lambda bb, x, w: bb.emit(R.matmul(x, w)), **keywords):
    bb = relax.BlockBuilder()
    x, w = (relax.Var(name, relax.TensorStructInfo(shape, "float32")) for name, shape in (("x", (3, 4)), ("w", (4, 4))))
    with bb.function("main", [x, w], **keywords):
        with bb.dataflow():
            out = bb.emit_output(write(bb, x, w))
        bb.emit_func_output(out)
    return bb.get()


def runs(mod, expected, *args):
    vm = relax.VirtualMachine(relax.build(mod, relax_pipeline=None))
    return np.allclose(vm["main"](*args).numpy(), expected, rtol=1e-5)


def onnx_model():
    w = np.arange(32, dtype="float32").reshape(4, 8)
    return model([node("MatMul", ["x", "w"], ["y"])], [value("x", "float32", ("batch", 4))], [value("y", "float32", ("batch", 8))], [tensor(w, "w")])


def by_rule(rule, *tensors):
    """What a rule of dlight's makes of these is for blocks and threads."""
    with tvm.Target("nvidia/nvidia-t4"):
        return "blockIdx.x" in dlight.ApplyDefaultSchedule(rule)(tvm.IRModule({"main": te.create_prim_func(list(tensors))})).script()


def product(rows, columns, depth):
    a, b, k = te.placeholder((rows, depth), name="a"), te.placeholder((depth, columns), name="b"), te.reduce_axis((0, depth), name="k")
    return a, b, te.compute((rows, columns), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")


def by_rows(combine=te.sum, rows=64, columns=256):
    a, k = te.placeholder((rows, columns), name="a"), te.reduce_axis((0, columns), name="k")
    return a, te.compute((rows,), lambda i: combine(a[i, k], axis=k), name="b")


def tiled(ask, extent, **keywords):
    """What is said of a product and of tensor cores."""
    sch = tir.Schedule(te.create_prim_func(te_workload.matmul(extent, extent, extent, "float16", "float32")))
    return getattr(tir.schedule.analysis, ask)(sch, sch.get_block("C"), tir.TensorIntrin.get("wmma_sync_16x16x16_f16f16f32").desc, **keywords)


def tile_of_intrinsic():
    a, w, k = te.placeholder((64, 64), "uint8", name="a"), te.placeholder((64, 64), "int8", name="w"), te.reduce_axis((0, 64), name="k")
    sch = tir.Schedule(te.create_prim_func([a, w, te.compute((64, 64), lambda i, j: te.sum(a[i, k].astype("int32") * w[j, k].astype("int32"), axis=k),
                                                             name="C")]))
    tir.schedule.transform.tile_with_tensor_intrin(sch, sch.get_block("C"), "dot_16x4_vnni")
    return [sch.get(loop).extent for loop in sch.get_loops("C")]


def gemv():
    a, x, k = te.placeholder((64, 256), name="a"), te.placeholder((256,), name="x"), te.reduce_axis((0, 256), name="k")
    return a, x, te.compute((64,), lambda i: te.sum(a[i, k] * x[k], axis=k), name="y")


def squares():
    a, w, k = te.placeholder((64, 256), name="a"), te.placeholder((256,), name="w"), te.reduce_axis((0, 256), name="k")
    s = te.compute((64,), lambda i: te.sum(a[i, k] * a[i, k], axis=k), name="s")
    return a, w, te.compute((64, 256), lambda i, j: w[j] * a[i, j] / te.sqrt(s[i] / 256.0 + 1e-5), name="norm")


def turned():
    a = te.placeholder((64, 64), name="a")
    return a, te.compute((64, 64), lambda i, j: a[j, i], name="t")


def elements():
    a = te.placeholder((4096,), name="a")
    return a, te.compute((4096,), lambda i: a[i] + 1.0, name="b")


def tuned(function, tmp):
    mod = tvm.parse(MATMUL)
    database = function(mod, "llvm -num-cores=1", work_dir=tmp, max_trials_global=1)
    return database.query_ir_module(mod, "llvm -num-cores=1") is not None


def runs_as_known(database, asked=None):
    """The net with the schedules of a database; asked: gets what the database answers."""
    target, query = "llvm -num-cores=1", database.query_ir_module

    def note(*args):
        found = query(*args)
        if asked is not None:
            asked.append(found is not None)
        return found
    database.query_ir_module = note
    vm = relax.VirtualMachine(meta_schedule.compile_relax(database, Net, target, {"w": np.eye(4, dtype="float32")}), tvm.cpu())
    return np.allclose(vm["main"](X).numpy(), np.maximum(X, 0))


def tuned_model(function, tmp):
    asked = []
    database = function(Net, {"w": np.eye(4, dtype="float32")}, "llvm -num-cores=1", work_dir=tmp, max_trials_global=1)
    return runs_as_known(database, asked) and asked == [True]


class Broken(meta_schedule.Database):
    def query_ir_module(self, *_):
        raise KeyError("broken")


def workload(name, shape, *args):
    tensors = getattr(te_workload, name)(*args)
    return tuple(int(e) for e in tensors[-1].shape) == shape and "def main" in te.create_prim_func(list(tensors)).script()


def seen(visit):
    names = []
    visit(double.body, lambda node: names.append(type(node).__name__))
    return names


def pass_info():
    return tvm.transform.module_pass(lambda mod, ctx: mod, opt_level=2, name="same")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("table")


CHECKS = {
    "build": lambda: built(tvm.build(double)),
    "compile": lambda: built(tvm.compile(double)),
    "lower": lambda: "T.block" not in tvm.lower(double).script(),
    "cpu": lambda: tvm.cpu().exist and tvm.cpu(0).device_type == 1,
    "cuda": lambda: str(tvm.cuda(1)) == "cuda(1)",
    "opencl": lambda: tvm.opencl() == tvm.device("opencl:0"),
    "device": lambda: raises(ValueError, lambda: tvm.device("abacus"), "abacus"),
    "register_func": lambda: tvm.register_func("table.one", lambda: 1, override=True)() == 1,
    "get_global_func": lambda: raises(ValueError, lambda: tvm.get_global_func("table.none"), "register_func"),
    "IRModule": lambda: list(tvm.IRModule({"f": double, "g": double}).functions) == ["f", "g"],
    "DataType": lambda: (tvm.DataType("float16x4").bits, tvm.DataType("int8x4").itemsize) == (16, 4),
    "DataTypeCode": lambda: tvm.DataType("float32").type_code == tvm.DataTypeCode.FLOAT == 2,
    "emulate": lambda: raises(ValueError, lambda: tvm.emulate(double, target="llvm"), "GPU"),
    "steps": lambda: [s.primitive for s in tvm.steps(double, "sch.unroll(sch.get_loops('B')[0])")] == ["get_loops", "unroll"],
    "testing.assert_allclose": lambda: raises(AssertionError, lambda: testing.assert_allclose([1.0], [1.1], rtol=1e-3)),
    "testing.main": lambda: testing.main.__code__.co_argcount == 0,
    "testing.device_enabled": lambda: testing.device_enabled("llvm"),
    "testing.enabled_targets": lambda: str(testing.enabled_targets()[0][0]) == "llvm",
    "testing.requires_llvm": lambda: testing.requires_llvm()[0].args == (False,),
    "testing.requires_cuda": lambda: testing.requires_cuda()[0].args == (not tvm.cuda().exist,),
    "testing.requires_gpu": lambda: testing.requires_gpu is testing.requires_cuda,
    "testing.requires_opencl": lambda: testing.requires_opencl()[0].args == (not tvm.opencl().exist,),
    "testing.parameter": lambda: testing.parameter(1, 2, ids=["a", "b"])._pytestfixturefunction.params == (1, 2),
    "runtime.tensor": lambda: runtime.tensor([1.0, 2.0]).shape == (2,),
    "runtime.empty": lambda: runtime.empty((2, 3), "int8").dtype == "int8",
    "runtime.Tensor": lambda: runtime.tensor([1.0]).copyto(tvm.cpu()).numpy().tolist() == [1.0],
    "runtime.NDArray": lambda: isinstance(tvm.nd.array([1.0]), runtime.NDArray),
    "runtime.convert": lambda: runtime.convert([1, "a"]) == [1, "a"],
    "runtime.load_module": lambda: raises(OSError, lambda: runtime.load_module("there/is/none.so"), "none.so"),
    "runtime.Module": lambda: isinstance(tvm.build(double), runtime.Module),
    "runtime.Device": lambda: isinstance(tvm.cpu(), runtime.Device),
    "runtime.Object": lambda: isinstance(double.body, runtime.Object),
    "runtime.ndarray": lambda: runtime.ndarray.array([3]).numpy().tolist() == [3],
    "runtime.BenchmarkResult": lambda: runtime.BenchmarkResult([1.0, 3.0]).mean == 2.0,
    "runtime.ShapeTuple": lambda: runtime.ShapeTuple([1, 2]) == (1, 2),
    "ir.save_json": lambda: ir.structural_equal(ir.load_json(ir.save_json(Net)), Net) is True,
    "ir.load_json": lambda: raises(ValueError, lambda: ir.load_json("[1]"), "save_json"),
    "ir.structural_equal": lambda: ir.structural_equal(view(), view(), map_free_vars=True) and not ir.structural_equal(n, m),
    "ir.structural_hash": lambda: ir.structural_hash(double) == ir.structural_hash(double.with_attr({})),
    "ir.assert_structural_equal": lambda: raises(ValueError, lambda: ir.assert_structural_equal(n + 1, n + 2), "1", "2"),
    "ir.GlobalVar": lambda: ir.GlobalVar("f").name_hint == "f",
    "ir.Op": lambda: ir.Op.get("relax.nn.relu") == ir.Op("relax.nn.relu") != ir.Op.get("tir.exp") and raises(
        AttributeError, lambda: ir.Op.get("relax.nn.rely"), "no operator"),
    "ir.Range": lambda: (ir.Range(2, 5).extent, ir.Range.from_min_extent(1, 4).min, ir.Range(3).extent) == (3, 1, 3),
    "ir.PrimExpr": lambda: isinstance(n + 1, ir.PrimExpr) and not isinstance(double.body, ir.PrimExpr),
    "ir.Object": lambda: isinstance(n, ir.Object),
    "ir.module.IRModule": lambda: ir.module.IRModule is tvm.IRModule,
    "ir.transform.Sequential": lambda: ir.transform.Sequential([pass_info(), pass_info()])(Net) is Net,
    "ir.transform.module_pass": lambda: raises(ValueError, lambda: ir.transform.module_pass(lambda m, c: m), "opt_level"),
    "ir.transform.ModulePass": lambda: raises(TypeError, lambda: pass_info()(3), "same", "IRModule"),
    "ir.transform.Pass": lambda: isinstance(pass_info(), ir.transform.Pass),
    "ir.transform.PassInfo": lambda: (pass_info().info.name, pass_info().info.opt_level) == ("same", 2),
    "ir.transform.PassContext": lambda: raises(ValueError, lambda: ir.transform.PassContext(config={"tir.x": 1}), "tir.x"),
    "target.Target": lambda: target.Target({"kind": "cuda", "arch": "sm_80"}).arch == "sm_80",
    "target.TargetKind": lambda: target.Target("llvm").kind.name == "llvm",
    "target.cuda": lambda: target.cuda(arch="sm_80").arch == "sm_80" and target.cuda("nvidia/nvidia-t4").kind == "cuda",
    "target.target.Target": lambda: importlib.import_module("tirc.target.target").Target is tvm.Target,
    "tir.Schedule": lambda: (lambda s: s.get(s.get_loops("B")[0]).extent == 8)(schedule()),
    "tir.TensorIntrin": lambda: raises(ValueError, lambda: tir.TensorIntrin.get("table.none"), "table.none"),
    "tir.PrimFunc": lambda: isinstance(double, tir.PrimFunc) and double.attrs == {},
    "tir.Buffer": lambda: isinstance(list(double.buffer_map.values())[0], tir.Buffer),
    "tir.IndexMap": lambda: tir.IndexMap.from_func(lambda i, j: (j, i)).map_indices([1, 2]) == [2, 1] and tir.IndexMap.from_func(
        lambda i, j: (i * 4 + j,)).is_equivalent_to(tir.IndexMap.from_func(lambda i, j: ((i * 2) * 2 + j,))),
    "tir.IterVar": lambda: tir.IterVar.CommReduce == 2,
    "tir.ForKind": lambda: view().kind == tir.ForKind.SERIAL,
    "tir.Var": lambda: isinstance(n, tir.Var) and n.dtype == "int64",
    "tir.const": lambda: text(n + tir.const(3, "int64")) == "n + 3",
    "tir.IntImm": lambda: tir.IntImm("int64", 3).value == 3,
    "tir.FloatImm": lambda: is_(lambda x: te.compute((4,), lambda i: x[i] + tir.FloatImm("float32", 1.5)), V + 1.5, V),
    "tir.PrimExpr": lambda: tir.PrimExpr is ir.PrimExpr,
    "tir.Cast": lambda: isinstance(n.astype("int32"), tir.Cast) and str(tir.Cast("int32", n)) == 'T.Cast("int32", n)',
    "tir.Add": lambda: text(tir.Add(n, 1)) == "n + 1" and isinstance(n + m, tir.Add),
    "tir.Sub": lambda: text(tir.Sub(1, n)) == "1 - n",
    "tir.Mul": lambda: text(tir.Mul(n, m)) == "n * m",
    "tir.FloorDiv": lambda: text(tir.FloorDiv(n, 3)) == "n // 3",
    "tir.FloorMod": lambda: text(tir.FloorMod(n, 3)) == "n % 3",
    "tir.Max": lambda: isinstance(tir.Max(n, m), tir.Max) and text(tir.Max(n, m)) == "T.maxn, m",
    "tir.Min": lambda: isinstance(tir.Min(n, 3), tir.Min),
    "tir.EQ": lambda: text(tir.EQ(n, m)) == "n == m",
    "tir.NE": lambda: text(tir.NE(n, 2)) == "n != 2",
    "tir.LT": lambda: isinstance(n < m, tir.LT),
    "tir.LE": lambda: text(tir.LE(n, 3)) == "n <= 3",
    "tir.GT": lambda: isinstance(n > m, tir.GT),
    "tir.GE": lambda: text(tir.GE(n, m)) == "n >= m",
    "tir.And": lambda: isinstance(tir.And(n > 1, n < 3), tir.And),
    "tir.Or": lambda: isinstance(tir.Or(n > 1, m < 3), tir.Or),
    "tir.Not": lambda: issubclass(tir.Not, tir.PrimExpr),
    "tir.Select": lambda: isinstance(tir.Select(n > 1, n, m), tir.Select),
    "tir.BufferLoad": lambda: isinstance(view().body.body.value.a, tir.BufferLoad),
    "tir.if_then_else": lambda: is_(lambda x: te.compute((4,), lambda i: tir.if_then_else(i < 2, x[i], 0.0)), [0, 1, 0, 0], V),
    "tir.all": lambda: text(tir.all(n > 1, m > 2)) == "n > 1 and m > 2",
    "tir.any": lambda: text(tir.any(n > 1, m > 2)) == "n > 1 or m > 2",
    "tir.max": lambda: is_(lambda x: te.compute((4,), lambda i: tir.max(x[i], 1.5)), np.maximum(V, 1.5), V),
    "tir.min": lambda: is_(lambda x: te.compute((4,), lambda i: tir.min(x[i], 1.5)), np.minimum(V, 1.5), V),
    "tir.exp": lambda: is_(lambda x: te.compute((4,), lambda i: tir.exp(x[i])), np.exp(V), V),
    "tir.ceildiv": lambda: is_(lambda x: te.compute((4,), lambda i: tir.ceildiv(i, 2)), [0, 1, 1, 2], V),
    "tir.floordiv": lambda: is_(lambda x: te.compute((4,), lambda i: tir.floordiv(i - 3, 2)), [-2, -1, -1, 0], V),
    "tir.floormod": lambda: is_(lambda x: te.compute((4,), lambda i: tir.floormod(i - 3, 2)), [1, 0, 1, 0], V),
    "tir.indexdiv": lambda: is_(lambda x: te.compute((4,), lambda i: tir.indexdiv(i, 2)), [0, 0, 1, 1], V),
    "tir.indexmod": lambda: is_(lambda x: te.compute((4,), lambda i: tir.indexmod(i, 3)), [0, 1, 2, 0], V),
    "tir.truncdiv": lambda: is_(lambda x: te.compute((4,), lambda i: tir.truncdiv(i - 3, 2)), [-1, -1, 0, 0], V),
    "tir.decl_buffer": lambda: b_like(tir.decl_buffer((4, 8), "float16", name="b", offset_factor=2)) and tir.decl_buffer(3, scope="shared").scope() == "shared",
    "tir.build": lambda: isinstance(tir.build(double), tvm.runtime.Module),
    "tir.div": lambda: is_(lambda x: te.compute((4,), lambda i: tir.div(i - 3, 2)), [-1, -1, 0, 0], V),
    "tir.sum": lambda: raises(ValueError, lambda: tir.sum(n, n, init=1), "init"),
    "tir.convert": lambda: tir.convert(3) == 3,
    "tir.call_intrin": lambda: is_(lambda x: te.compute((4,), lambda i: tir.call_intrin("float32", "tir.exp", x[i])), np.exp(V), V),
    "tir.max_value": lambda: is_(lambda x: te.compute((1,), lambda i: tir.max_value("int8") + i.astype("int8")), [127], V),
    "tir.min_value": lambda: is_(lambda x: te.compute((1,), lambda i: tir.min_value("int8") + i.astype("int8")), [-128], V),
    "tir.Block": lambda: isinstance(view().body, tir.Block) and view().body.name_hint == "B",
    "tir.BlockRealize": lambda: isinstance(double.body, tir.BlockRealize),
    "tir.For": lambda: isinstance(view(), tir.For) and view().extent == 8,
    "tir.BufferStore": lambda: isinstance(view().body.body, tir.BufferStore),
    "tir.SeqStmt": lambda: not isinstance(view(), tir.SeqStmt),
    "tir.expr.Var": lambda: importlib.import_module("tirc.tir.expr").Var is tir.Var,
    "tir.stmt.For": lambda: importlib.import_module("tirc.tir.stmt").For is tir.For,
    "tir.op.max": lambda: text(importlib.import_module("tirc.tir.op").max(n, m)) == text(tir.max(n, m)),
    "tir.buffer.Buffer": lambda: importlib.import_module("tirc.tir.buffer").Buffer is tir.Buffer,
    "tir.function.PrimFunc": lambda: importlib.import_module("tirc.tir.function").PrimFunc is tir.PrimFunc,
    "tir.function.TensorIntrin": lambda: tir.function.TensorIntrin is tir.TensorIntrin,
    "tir.analysis.verify_well_formed": lambda: tir.analysis.verify_well_formed(double) is True,
    "tir.analysis.verify_gpu_code": lambda: tir.analysis.verify_gpu_code(double, {"max_threads_per_block": 0, "max_kernels": 0}) is True,
    "tir.analysis.verify_memory": lambda: not tir.analysis.verify_memory(double.with_attr({"target": "cuda"})),
    "tir.analysis.estimate_tir_flops": lambda: tir.analysis.estimate_tir_flops(tvm.parse(MATMUL)) == 2 * 16 * 24 * 32,
    "tir.analysis.expr_deep_equal": lambda: tir.analysis.expr_deep_equal(n + 1, n + 1) and not tir.analysis.expr_deep_equal(n + 1, m + 1),
    "tir.stmt_functor.post_order_visit": lambda: seen(tir.stmt_functor.post_order_visit)[-1] == "Block",
    "tir.stmt_functor.pre_order_visit": lambda: seen(tir.stmt_functor.pre_order_visit)[0] == "Block",
    "tir.schedule.Schedule": lambda: tir.schedule.Schedule is tir.Schedule,
    "tir.schedule.BlockRV": lambda: isinstance(schedule().get_block("B"), tir.schedule.BlockRV),
    "tir.schedule.LoopRV": lambda: isinstance(schedule().get_loops("B")[0], tir.schedule.LoopRV),
    "tir.schedule.ExprRV": lambda: isinstance(n + 1, tir.schedule.ExprRV),
    "tir.schedule.Instruction": lambda: str(tir.schedule.Instruction(tir.schedule.InstructionKind.get("GetBlock"), [], ["B", "main"],
                                                                    [tir.schedule.BlockRV()])) == '_ = sch.get_block(name="B", func_name="main")',
    "tir.schedule.InstructionKind": lambda: raises(ValueError, lambda: tir.schedule.InstructionKind.get("Spilt"), "Spilt"),
    "tir.schedule.Trace": lambda: str(tir.schedule.Trace([], {})).endswith("pass"),
    "tir.schedule.ScheduleState": lambda: isinstance(schedule().state, tir.schedule.ScheduleState),
    "tir.schedule.ScheduleDebugMask": lambda: tir.schedule.ScheduleDebugMask.VERIFY_CACHED_FLAGS == 2,
    "tir.schedule.ScheduleError": lambda: raises(tir.schedule.ScheduleError, lambda: schedule().get_block("none"), "none"),
    "tir.schedule.StmtSRef": lambda: (lambda s: s.get_sref(s.get_block("B")) == s.get_sref(s.get_block("B")))(schedule()),
    "tir.schedule.DepKind": lambda: tir.schedule.DepKind.RAW == 0,
    "tir.schedule.CachedFlags": lambda: tir.schedule.CachedFlags(True, False, True).region_cover is False,
    "tir.schedule.BlockScope": lambda: (lambda s: isinstance(s.state.get_block_scope(s.get_sref(s.get_block("root"))), tir.schedule.BlockScope))(schedule()),
    "tir.schedule.has_block": lambda: tir.schedule.has_block(schedule(), "B") and not tir.schedule.has_block(schedule(), "none"),
    "tir.schedule.schedule.ScheduleError": lambda: importlib.import_module("tirc.tir.schedule.schedule").ScheduleError is tir.ScheduleError,
    "tir.schedule.trace.Trace": lambda: importlib.import_module("tirc.tir.schedule.trace").Trace is tir.schedule.Trace,
    "tir.schedule.analysis.has_block": lambda: tir.schedule.analysis.has_block is tir.schedule.has_block,
    "tir.schedule.analysis.is_output_block": lambda: (lambda s: tir.schedule.analysis.is_output_block(s, s.get_block("B")))(schedule()),
    "tir.schedule.analysis.get_tensorize_loop_mapping": lambda: tiled("get_tensorize_loop_mapping", 64).desc_loop_indexer.values() == [0, 1, 2],
    "tir.schedule.analysis.get_auto_tensorize_mapping_info": lambda: tiled("get_auto_tensorize_mapping_info", 64).mappings[0].is_equivalent_to(
        tir.IndexMap.from_func(lambda i, j, k: (i, j, k), index_dtype="int32")),
    "tir.schedule.analysis.TensorizeInfo": lambda: tiled("get_tensorize_loop_mapping", 60) is None and tiled(
        "get_tensorize_loop_mapping", 60, allow_padding=True).block_iter_paddings == [16, 16, 16],
    "tir.schedule.analysis.AutoTensorizeMappingInfo": lambda: tir.schedule.analysis.AutoTensorizeMappingInfo([1]).mappings == [1],
    "tir.schedule.transform.tile_with_tensor_intrin": lambda: tile_of_intrinsic() == [64, 4, 16, 16, 4],
    "arith.ConstIntBound": lambda: analyzer(n, ir.Range(2, 9)).const_int_bound(n * 3) == (6, 24) and tvm.arith.Analyzer().const_int_bound(tir.Var("k", "int32") // 4)[0] == -2**29,
    "arith.ModularSet": lambda: analyzer(n, m * 4 + 2).modular_set(n * 3 + 1) == (12, 7) and tvm.arith.Analyzer().modular_set(n) == (1, 0),
    "arith.Analyzer": lambda: tvm.arith.Analyzer().can_prove_equal((n + 1) * 2, n * 2 + 2) and not tvm.arith.Analyzer().can_prove(n < 5),
    "tir.transform.passes": lambda: "LowerInitBlock" in tir.transform.passes(),
    "tir.transform.BindTarget": lambda: 'T.target("llvm")' in tir.transform.BindTarget("llvm")(tvm.IRModule({"main": double})).script(),
    "tir.transform.Filter": lambda: list(tir.transform.Filter(lambda f: f.name == "f")(tvm.IRModule({"f": double, "g": double})).functions) == ["f"],
    "tir.transform.prim_func_pass": lambda: tir.transform.prim_func_pass(lambda f, mod, ctx: f.with_attr("k", 1), opt_level=0)(
        tvm.IRModule({"f": double}))["f"].attrs["k"] == 1,
    "tirx.Var": lambda: tirx.Var is tir.Var,
    "tirx.Expr": lambda: isinstance(n, tirx.Expr),
    "tirx.SBlock": lambda: isinstance(view().body, tirx.SBlock),
    "s_tir.Schedule": lambda: s_tir.Schedule is tir.Schedule,
    "s_tir.renew_defs": lambda: s_tir.renew_defs(double).body is not double.body and ir.structural_equal(s_tir.renew_defs(double), double),
    "s_tir.dlight": lambda: s_tir.dlight is dlight,
    "s_tir.meta_schedule": lambda: s_tir.meta_schedule is meta_schedule,
    "s_tir.schedule.SBlockRV": lambda: isinstance(s_tir.Schedule(double).get_sblock("B"), s_tir.schedule.SBlockRV),
    "te.placeholder": lambda: te.placeholder((3, n), "int8").dtype == "int8",
    "te.compute": lambda: is_(lambda x: te.compute((4,), lambda i: x[3 - i]), V[::-1], V),
    "te.reduce_axis": lambda: "k" in str(te.reduce_axis((0, 4), name="k")),
    "te.var": lambda: te.var("q").dtype == "int32",
    "te.const": lambda: te.const(3, "int64").dtype == "int64",
    "te.sum": lambda: is_(lambda x: by(te.sum, x), X.sum(1), X) and text(te.sum(n, 2)) == "n + 2",
    "te.max": lambda: is_(lambda x: by(te.max, x), X.max(1), X),
    "te.min": lambda: is_(lambda x: by(te.min, x), X.min(1), X),
    "te.comm_reducer": lambda: is_(lambda x: by(te.comm_reducer(lambda a, b: a * b, lambda t: te.const(1, t)), x), X.prod(1), X),
    "te.create_prim_func": lambda: isinstance(te.create_prim_func(list(elements())), tvm.PrimFunc),
    "te.extern_primfunc": lambda: raises(TypeError, lambda: te.extern_primfunc([], 3), "prim_func"),
    "te.Tensor": lambda: is_(lambda x, v: -(2.0 - x * v), -(2 - X * V), X, V) and isinstance(te.placeholder((3,)), te.Tensor),
    "te.indexdiv": lambda: te.indexdiv(7, 2) == 3,
    "te.indexmod": lambda: te.indexmod(7, 2) == 1,
    "topi.add": lambda: is_(topi.add, X + V, X, V),
    "topi.matmul": lambda: is_(lambda a, b: topi.matmul(a, b, transp_b=True), X @ X.T, X, X),
    "topi.cast": lambda: of(lambda x: topi.cast(x, "int32"), V).dtype == "int32",
    "topi.concatenate": lambda: is_(lambda a, b: topi.concatenate([a, b], axis=1), np.concatenate([X, X], 1), X, X),
    "topi.transpose": lambda: is_(topi.transpose, X.T, X),
    "topi.expand_dims": lambda: of(lambda x: topi.expand_dims(x, 0, 2), V).shape == (1, 1, 4),
    "topi.reshape": lambda: is_(lambda x: topi.reshape(x, [4, 3]), X.reshape(4, 3), X),
    "topi.split": lambda: [p.shape for p in of(lambda x: topi.split(x, 2, axis=1), X)] == [(3, 2), (3, 2)],
    "topi.strided_slice": lambda: is_(lambda x: topi.strided_slice(x, [0, 1], [3, 4], [2, 1]), X[0:3:2, 1:4], X),
    "topi.take": lambda: is_(lambda x, i: topi.take(x, i, axis=0), X[[2, 0]], X, np.array([2, 0])),
    "topi.gather": lambda: is_(lambda x, i: topi.gather(x, 1, i), np.take_along_axis(X, np.array([[1], [0], [3]]), 1), X, np.array([[1], [0], [3]])),
    "topi.arange": lambda: is_(lambda x: topi.arange(0, 6, 2, dtype="float32"), [0, 2, 4], V),
    "topi.full": lambda: is_(lambda x: topi.full((2, 2), "float32", 3.0), np.full((2, 2), 3), V),
    "topi.trilu": lambda: is_(lambda x: topi.trilu(x, 0, upper=True), np.triu(X), X),
    "topi.argmax": lambda: is_(lambda x: topi.argmax(x, axis=1), X.argmax(1), X) and raises(ValueError, lambda: topi.argmax(n, select_last_index=True), "first"),
    "topi.argmin": lambda: is_(lambda x: topi.argmin(x, axis=0), X.argmin(0), X),
    "topi.nn.dense": lambda: is_(topi.nn.dense, X @ X.T, X, X),
    "topi.nn.matmul": lambda: is_(lambda a, b: topi.nn.matmul(a, b, transpose_a=True), X.T @ X, X, X),
    "topi.nn.batch_matmul": lambda: is_(topi.nn.batch_matmul, X[None] @ X.T[None], X[None], X[None]),
    "topi.nn.conv2d": lambda: is_(lambda x, w: topi.nn.conv2d(x, w, 1, 0, 1), convolved(PICTURE, KERNEL), PICTURE, KERNEL),
    "topi.nn.conv2d_nchw": lambda: is_(lambda x, w: topi.nn.conv2d_nchw(x, w, 1, 0, 1), convolved(PICTURE, KERNEL), PICTURE, KERNEL),
    "topi.nn.conv2d_nhwc": lambda: is_(lambda x, w: topi.nn.conv2d_nhwc(x, w, 1, 0, 1), convolved(PICTURE, KERNEL).transpose(0, 2, 3, 1),
                                       PICTURE.transpose(0, 2, 3, 1).copy(), KERNEL.transpose(2, 3, 1, 0).copy()),
    "topi.nn.group_conv2d_nchw": lambda: is_(lambda x, w: topi.nn.group_conv2d_nchw(x, w, 1, 0, 1, 2), convolved(PICTURE, KERNEL[:, :1], 2), PICTURE,
                                             KERNEL[:, :1].copy()),
    "topi.nn.depthwise_conv2d_nchw": lambda: is_(lambda x, w: topi.nn.depthwise_conv2d_nchw(x, w, 1, 0, 1), convolved(PICTURE, KERNEL[:, :1], 2), PICTURE,
                                                 KERNEL[:, :1].copy()),
    "topi.nn.conv2d_transpose_nchw": lambda: of(lambda x, w: topi.nn.conv2d_transpose_nchw(x, w, 1, 0), PICTURE, KERNEL).shape == (1, 2, 6, 6),
    "topi.nn.pad": lambda: is_(lambda x: topi.nn.pad(x, [0, 1]), np.pad(X, ((0, 0), (1, 1))), X),
    "topi.nn.pool2d": lambda: is_(lambda x: topi.nn.pool2d(x, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), "avg"),
                                  PICTURE.reshape(1, 2, 2, 2, 2, 2).mean((3, 5)), PICTURE),
    "topi.nn.global_pool": lambda: is_(lambda x: topi.nn.global_pool(x, "max"), PICTURE.max((2, 3), keepdims=True), PICTURE),
    "topi.nn.adaptive_pool": lambda: is_(lambda x: topi.nn.adaptive_pool(x, (1, 1), "avg"), PICTURE.mean((2, 3), keepdims=True), PICTURE),
    "topi.nn.relu": lambda: is_(topi.nn.relu, np.maximum(X, 0), X),
    "topi.nn.leaky_relu": lambda: is_(lambda x: topi.nn.leaky_relu(x, 0.5), np.where(X > 0, X, X / 2), X),
    "topi.nn.flatten": lambda: is_(topi.nn.flatten, PICTURE.reshape(1, -1), PICTURE),
    "topi.nn.bias_add": lambda: is_(topi.nn.bias_add, PICTURE + V[:2, None, None], PICTURE, V[:2].copy()),
    "topi.nn.layer_norm": lambda: is_(lambda x, g, b: topi.nn.layer_norm(x, g, b, [1]),
                                      (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5) * V + V, X, V, V),
    "topi.nn.rms_norm": lambda: is_(lambda x, w: topi.nn.rms_norm(x, w, [1]), X / np.sqrt((X * X).mean(1, keepdims=True) + 1e-5) * V, X, V),
    "topi.nn.scale_shift_nchw": lambda: is_(topi.nn.scale_shift_nchw, PICTURE * V[:2, None, None] + V[:2, None, None], PICTURE, V[:2].copy(), V[:2].copy()),
    "topi.nn.softmax": lambda: is_(topi.nn.softmax, np.exp(X) / np.exp(X).sum(1, keepdims=True), X),
    "topi.utils.get_const_int": lambda: raises(ValueError, lambda: topi.utils.get_const_int(n), "number"),
    "topi.utils.get_const_tuple": lambda: topi.utils.get_const_tuple((3, te.const(4, "int64"))) == (3, 4),
    "relax.build": lambda: raises(ValueError, lambda: relax.build(Net, exec_mode="slowly"), "bytecode"),
    "relax.VirtualMachine": lambda: raises(ValueError, lambda: relax.VirtualMachine(None, memory_cfg={}), "memory_cfg"),
    "relax.Executable": lambda: isinstance(relax.build(Net), relax.Executable),
    "relax.Function": lambda: isinstance(Net["main"], relax.Function) and "main" in Net and Net["main"].script().startswith("@R.function"),
    "relax.PyExprMutator": lambda: runs(negative(Net), -(X @ np.eye(4)), X, np.eye(4, dtype="float32")),
    "relax.PyExprVisitor": lambda: called(Net) == ["relax.matmul", "relax.nn.relu"],
    "relax.Call": lambda: str(relax.Call(ir.Op.get("relax.split"), [relax.Var("x"), 2], {"axis": 1})) == "R.split(x, 2, axis=1)",
    "relax.Constant": lambda: relax.const(V).data.numpy().tolist() == V.tolist() and isinstance(relax.const(1), relax.Constant),
    "relax.VarBinding": lambda: [str(b.var) for b in block().bindings] == ["lv", "gv"] and isinstance(block().bindings[0], relax.VarBinding),
    "relax.BindingBlock": lambda: isinstance(block(OUTSIDE), relax.BindingBlock),
    "relax.DataflowBlock": lambda: isinstance(block(), relax.DataflowBlock) and not isinstance(block(OUTSIDE), relax.DataflowBlock),
    "relax.SeqExpr": lambda: isinstance(Net["main"].body, relax.SeqExpr) and str(Net["main"].body.body) == "gv",
    "relax.expr_functor.PyExprMutator": lambda: relax.expr_functor.PyExprMutator is relax.PyExprMutator,
    "relax.expr_functor.mutator": lambda: issubclass(relax.expr_functor.mutator(Negative), relax.PyExprMutator),
    "relax.expr_functor.visitor": lambda: issubclass(relax.expr_functor.visitor(Called), relax.PyExprVisitor),
    "relax.BlockBuilder": lambda: runs(block_builder(), X @ np.eye(4), X, np.eye(4, dtype="float32")),
    "relax.Var": lambda: relax.Var("x", R.Tensor(("k", 4), "float16")).struct_info.dtype == "float16",
    "relax.DataflowVar": lambda: issubclass(relax.DataflowVar, relax.Var),
    "relax.Expr": lambda: str(relax.Var("x") + relax.Var("y")) == "R.add(x, y)",
    "relax.TensorStructInfo": lambda: str(relax.TensorStructInfo((n, 4), "int8")) == 'R.Tensor((n, 4), dtype="int8")',
    "relax.ShapeExpr": lambda: str(relax.ShapeExpr([n, 4])) == "R.shape([n, 4])",
    "relax.Tuple": lambda: str(relax.Tuple([relax.Var("x"), relax.Var("y")])) == "(x, y,)",
    "relax.const": lambda: runs(block_builder(lambda bb, x, w: bb.emit(x + relax.const(V))), X + V, X, np.eye(4, dtype="float32")),
    "relax.TupleGetItem": lambda: runs(block_builder(lambda bb, x, w: bb.emit(relax.TupleGetItem(bb.emit(relax.op.split(x, 2, axis=1)), 1))), X[:, 2:], X,
                                       np.eye(4, dtype="float32")),
    "relax.call_tir": lambda: str(relax.call_tir("f", (relax.Var("x"),), R.Tensor((n, 2), "float32"))) ==
    'R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((n, 2), dtype="float32"))',
    "relax.call_dps_packed": lambda: str(relax.call_dps_packed("f", relax.Var("x"), [relax.TensorStructInfo((1,), "int8")] * 2)).count("R.Tensor") == 2,
    "relax.analysis.well_formed": lambda: relax.analysis.well_formed(Net) and not relax.analysis.well_formed(
        tvm.parse(Net.script().replace("R.matmul(x, w)", "R.matmul(x, x)"))),
    "relax.analysis.post_order_visit": lambda: [x.op.name for x in visited(Net["main"]) if isinstance(x, relax.Call)] == ["relax.matmul", "relax.nn.relu"],
    "relax.transform.function_pass": lambda: runs(relax.transform.function_pass(lambda f, mod, ctx: negative(mod)["main"], opt_level=0, name="negative")(Net),
                                                  -(X @ np.eye(4)), X, np.eye(4, dtype="float32")),
    "relax.get_pipeline": lambda: raises(ValueError, lambda: relax.get_pipeline("fastest"), "fastest"),
    "relax.get_default_pipeline": lambda: "R.matmul" not in relax.get_default_pipeline("llvm")(Net).script(),
    "relax.op.add": lambda: raises(AttributeError, lambda: relax.op.ad, "add"),
    "relax.op.nn": lambda: str(relax.op.nn.relu(relax.Var("x"))) == "R.nn.relu(x)",
    "relax.transform.LegalizeOps": lambda: "R.matmul" not in relax.transform.LegalizeOps()(Net).script(),
    "relax.transform.BindParams": lambda: runs(relax.transform.BindParams("main", {"w": np.ones((4, 4), "float32")})(Net), np.maximum(
        X @ np.ones((4, 4)), 0), X),
    "relax.transform.FuseOpsByPattern": lambda: grouped("matmul_relu", PRODUCT) == ["matmul_relu"],
    "relax.dpl.is_op": lambda: grouped("any", relu_of(wildcard()) | PRODUCT) == ["any"] and raises(ValueError, lambda: is_op("relax.reluu"), "reluu"),
    "relax.dpl.wildcard": lambda: grouped("rectified", relu_of(wildcard())) == ["rectified"] and grouped("sum", wildcard() + wildcard()) == [],
    "relax.dpl.is_const": lambda: grouped("rectified", relu_of(relax.dpl.is_const())) == [] and grouped(
        "raised", relu_of(wildcard() + relax.dpl.is_const()), block_builder(lambda bb, x, w: bb.emit(relax.op.nn.relu(bb.emit(
            x + relax.const(1.0)))))) == ["raised"],
    "relax.dpl.is_tuple_get_item": lambda: grouped("part", relax.dpl.is_tuple_get_item(is_op("split")(wildcard()), 1)) == [] and grouped(
        "part", relu_of(relax.dpl.is_tuple_get_item(is_op("split")(wildcard()), 1)), block_builder(lambda bb, x, w: bb.emit(relax.op.nn.relu(bb.emit(
            relax.TupleGetItem(bb.emit(relax.op.split(x, 2, axis=1)), 1)))))) == ["part"],
    "relax.dpl.rewrite_call": lambda: "R.nn.gelu(" in rewritten() and "R.nn.relu(" not in rewritten(),
    "tir.tensor_intrin.cuda.get_mma_intrin_group": lambda: set(tir.tensor_intrin.cuda.get_mma_intrin_group(
        "shared", "global", "float16", "float32", False, True)) == {"init", "load_a", "load_b", "compute", "store"} and in_library(
        tir.tensor_intrin.cuda.get_mma_intrin_group("shared.dyn", "global", "float16", "float32", False, True)["load_b"]),
    "tir.tensor_intrin.cuda.get_wmma_intrin_group": lambda: in_library(tir.tensor_intrin.cuda.get_wmma_intrin_group(
        "shared", "global", "float16", "float32", True)["compute"]),
    "meta_schedule.MemoryDatabase": lambda: committed(meta_schedule.MemoryDatabase()),
    "meta_schedule.database.Workload": lambda: meta_schedule.database.Workload.from_json(
        meta_schedule.database.Workload(Net).as_json()).shash == meta_schedule.database.Workload(Net).shash,
    "meta_schedule.database.TuningRecord": lambda: meta_schedule.database.TuningRecord([[], []], workload_of(double), [1, 3]).mean() == 2,
    "relax.transform.phases": lambda: "call_tir" in relax.transform.phases("loops")(Net).script(),
    "relax.frontend.detach_params": lambda: relax.frontend.detach_params(Net)[1] == {"main": []},
    "relax.frontend.onnx.from_onnx": lambda: runs(relax.frontend.onnx.from_onnx(onnx_model()), X @ np.arange(32, dtype="float32").reshape(4, 8), X),
    "meta_schedule.extract_tasks": lambda: [t.mod.script().count("def main(") for t in meta_schedule.extract_tasks(Net, "llvm")] == [1],
    "meta_schedule.relax_integration.extract_tasks": lambda: raises(ValueError, lambda: meta_schedule.relax_integration.extract_tasks(
        Net, "llvm", module_equality="ignore-ndarray"), "structure"),
    "meta_schedule.relax_integration.ExtractedTask": lambda: [(t.weight, t.dispatched[0] is t.mod, t.target) for t in meta_schedule.extract_tasks(Net, "llvm")]
    == [(1, True, "llvm")],
    "meta_schedule.compile_relax": lambda: raises(KeyError, lambda: meta_schedule.compile_relax(Broken(), Net, "llvm"), "broken"),
    "meta_schedule.compile_tir": lambda: raises(tvm.TVMError, lambda: meta_schedule.tune_tir(double, "llvm", cost_model="xgb"), "cost_model"),
    "meta_schedule.Database": lambda: raises(ValueError, lambda: meta_schedule.Database("x", module_equality="ignore-ndarray"), "structure"),
    "meta_schedule.testing.te_workload.matmul": lambda: workload("matmul", (4, 5), 4, 5, 6),
    "meta_schedule.testing.te_workload.matmul_relu": lambda: workload("matmul_relu", (4, 5), 4, 5, 6, "float16", "float32"),
    "meta_schedule.testing.te_workload.batch_matmul_nkkm": lambda: workload("batch_matmul_nkkm", (2, 3, 4), 2, 3, 4, 5),
    "meta_schedule.testing.te_workload.transpose_batch_matmul": lambda: workload("transpose_batch_matmul", (1, 2, 4, 4), 1, 4, 2, 4),
    "meta_schedule.testing.te_workload.conv1d_nlc": lambda: workload("conv1d_nlc", (1, 8, 4), 1, 8, 4, 4, 3, 1, 1),
    "meta_schedule.testing.te_workload.conv2d_nhwc": lambda: workload("conv2d_nhwc", (1, 4, 4, 4), 1, 8, 8, 3, 4, 3, 2, 1),
    "meta_schedule.testing.te_workload.conv2d_nchw": lambda: workload("conv2d_nchw", (1, 4, 8, 8), 1, 8, 8, 3, 4, 3, 3, 1, 1),
    "meta_schedule.testing.te_workload.depthwise_conv2d_nhwc": lambda: workload("depthwise_conv2d_nhwc", (1, 8, 8, 4), 1, 8, 8, 4, 3, 1, 1),
    "meta_schedule.testing.te_workload.softmax_mn": lambda: workload("softmax_mn", (4, 5), 4, 5),
    "meta_schedule.testing.te_workload.norm_bmn": lambda: workload("norm_bmn", (2,), 2, 4, 5),
    "dlight.ApplyDefaultSchedule": lambda: raises(TypeError, lambda: dlight.ApplyDefaultSchedule("matmul"), "dlight.gpu"),
    "dlight.ScheduleRule": lambda: raises(NotImplementedError, lambda: dlight.ScheduleRule().apply(double, None, False), "apply"),
    "dlight.gpu.Matmul": lambda: by_rule(dlight.gpu.Matmul(), *product(64, 64, 64)) and not by_rule(dlight.gpu.Matmul(), *elements()),
    "dlight.gpu.LowBatchGEMV": lambda: by_rule(dlight.gpu.LowBatchGEMV(), *product(4, 256, 256)),
    "dlight.gpu.GEMV": lambda: by_rule(dlight.gpu.GEMV(), *gemv()),
    "dlight.gpu.Reduction": lambda: by_rule(dlight.gpu.Reduction(), *by_rows()),
    "dlight.gpu.GeneralReduction": lambda: by_rule(dlight.gpu.GeneralReduction(), *te_workload.softmax_mn(64, 256)),
    "dlight.gpu.RMSNorm": lambda: by_rule(dlight.gpu.RMSNorm(), *squares()),
    "dlight.gpu.Transpose": lambda: by_rule(dlight.gpu.Transpose(), *turned()),
    "dlight.gpu.Fallback": lambda: by_rule(dlight.gpu.Fallback(), *elements()),
    "meta_schedule.space_generator.ScheduleFn": lambda: raises(TypeError, lambda: meta_schedule.space_generator.ScheduleFn(lambda sch: None), "name"),
    "contrib.utils.tempdir": lambda: tvm.contrib.utils.tempdir().relpath("x").endswith("/x"),
    "contrib.utils.TempDirectory": lambda: tvm.contrib.utils.TempDirectory().listdir() == [],
    "script.from_source": lambda: isinstance(tvm.script.from_source(MATMUL), tvm.PrimFunc),
    "script.parser": lambda: importlib.import_module("tirc.script.parser.tir").evaluate is not None and tvm.script.parser.tir.prim_func is T.prim_func,
    "script.ir_module": lambda: isinstance(Net, tvm.IRModule),
}
IN_A_FOLDER = {
    "meta_schedule.tune_relax": lambda tmp: tuned_model(meta_schedule.tune_relax, tmp + "/relax"),
    "meta_schedule.relax_integration.tune_relax": lambda tmp: meta_schedule.relax_integration.tune_relax is meta_schedule.tune_relax,
    "meta_schedule.relax_integration.compile_relax": lambda tmp: runs_as_known(meta_schedule.Database(work_dir=tmp + "/none")),
    "meta_schedule.JSONDatabase": lambda tmp: committed(meta_schedule.JSONDatabase(work_dir=tmp)) and committed_again(tmp),
    "meta_schedule.tune_tir": lambda tmp: tuned(meta_schedule.tune_tir, tmp),
    "meta_schedule.tir_integration.tune_tir": lambda tmp: meta_schedule.tir_integration.tune_tir is meta_schedule.tune_tir,
    "meta_schedule.tir_integration.compile_tir": lambda tmp: meta_schedule.compile_tir(
        meta_schedule.Database(work_dir=tmp), double, "llvm -num-cores=1") is None,
}


def by(combine, x):
    k = te.reduce_axis((0, x.shape[1]), name="k")
    return te.compute((x.shape[0],), lambda i: combine(x[i, k], axis=k), name="r")


def relu_of(x):
    return is_op("relax.nn.relu")(x)


PRODUCT = relu_of(is_op("relax.matmul")(wildcard(), wildcard()))


def grouped(name, pattern, of=None):
    """What the graphs are called that FuseOpsByPattern makes of Net, or of another; it computes what it did."""
    made, w = relax.transform.FuseOpsByPattern([(name, pattern)])(of or Net), KERNEL.reshape(9, 4)[:4]
    assert np.array_equal(tvm.compile(made)(X, w), tvm.compile(of)(X, w) if of else np.maximum(X @ w, 0))
    return re.findall(r'"Composite": "(\w+)"', made.script())


def rewritten():
    x = wildcard()
    return relax.dpl.rewrite_call(relu_of(x), lambda expr, matchings: relax.op.nn.gelu(matchings[x]), Net["main"]).script()


def in_library(name):
    return tir.TensorIntrin.get(name).desc is not None


def workload_of(f):
    return meta_schedule.database.Workload(f)


def committed(database):
    """The better one of two schedules is found, and applied."""
    for factor, seconds in ((2, 3.0), (4, 1.0), (8, None)):
        sch = tvm.Schedule(double)
        sch.split(sch.get_loops(sch.get_child_blocks("root")[0])[0], [None, factor])
        record = meta_schedule.database.TuningRecord(sch.trace, workload_of(double), None if seconds is None else [seconds], "llvm -num-cores=1")
        database.commit_tuning_record(record)
    best = database.query_schedule(double, "llvm -num-cores=1")
    return len(database) == 3 and best.get(best.get_loops(best.get_child_blocks("root")[0])[1]).extent == 4


def committed_again(folder):
    """By another one of the same files, which are the reference's."""
    lines = [json.loads(line) for line in (pathlib.Path(folder) / "database_tuning_record.json").read_text().splitlines()]
    number, (trace, seconds, target, arguments) = lines[1]
    again = meta_schedule.JSONDatabase(work_dir=folder)
    top = again.get_top_k(again.commit_workload(double), 5)
    return (number, seconds, target["kind"], arguments[0][0]) == (0, [1.0], "llvm", "TENSOR") and trace[0][-1][0] == "Split" and len(top) == 2


@pytest.fixture
def variables():
    global n, m
    n, m = tir.Var("n", "int64"), tir.Var("m", "int64")
    yield
    n = m = None


def test_each_name(folder, variables):
    failed = []
    for name, check in CHECKS.items():
        try:
            held = check()
        except Exception as error:
            held = False
            name += " (%s: %s)" % (type(error).__name__, error)
        if not held:
            failed.append(name)
    failed += [name for name, check in IN_A_FOLDER.items() if not check(str(folder))]
    assert not failed, "\n".join(failed)


def test_the_table_is_what_is_checked():
    assert sorted(_table.path(module, name) for module, name, _ in _table.rows()) == sorted([*CHECKS, *IN_A_FOLDER])


def test_each_door():
    for name, use in _doors.INSTEAD.items():
        *modules, last = name.split(".")
        try:
            owner = tvm
            for module in modules:
                owner = getattr(owner, module)
        except AttributeError as error:  # what it is in is not there, and says so
            assert _doors.INSTEAD[".".join(name.split(".")[:-1])] in str(error), name
            continue
        with pytest.raises(AttributeError) as error:
            getattr(owner, last)
        assert use in str(error.value) or "instead" in str(error.value), name


def test_the_page_is_fresh():
    page = (SOURCE / "examples" / "guide" / "names.md").read_text()
    assert _table.page() in page, "tools/update-pages writes it again"
