"""What scripts for the reference ask of the package by name, an assertion on what it does for each."""

import subprocess
import sys

import numpy as np
import pytest

import tirc as tvm
from support import MATMUL
from tirc.script import ir as I
from tirc.script import relax as R
from tirc.script import tir as T


@I.ir_module
class Net:
    @T.prim_func
    def relu(x: T.Buffer((4, 4), "float32"), y: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            with T.block("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.max(x[vi, vj], T.float32(0))

    @R.function
    def main(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        cls = Net
        with R.dataflow():
            lv = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((4, 4), "float32"))
            gv = R.add(lv, lv)
            R.output(gv)
        return gv


def raises(kind, call, *words):
    with pytest.raises(kind) as e:
        call()
    return all(w in str(e.value) for w in words)


def active():
    with tvm.target.Target("llvm -mcpu=haswell") as t, tvm.target.Target("cuda"):
        inner = tvm.target.Target.current().kind.name
    return t == tvm.Target("llvm -mcpu=haswell") and inner == "cuda" and tvm.target.Target.current() is None


def registered():
    tvm.register_func("test.names.add", lambda a, b: a + b, override=True)

    @tvm.register_func("test.names.twice", override=True)
    def twice(x):
        return 2 * x
    return tvm.get_global_func("test.names.add")(1, 2) == 3 and tvm.get_global_func("test.names.twice")(4) == 8


NAMES = {
    "testing.assert_allclose": lambda: raises(AssertionError, lambda: tvm.testing.assert_allclose([1.0, 2.0], [1.0, 2.1], rtol=1e-3)),
    "testing.assert_allclose of shapes": lambda: raises(AssertionError, lambda: tvm.testing.assert_allclose([1.0], [[1.0]]), "shapes"),
    "testing.device_enabled": lambda: tvm.testing.device_enabled("llvm"),
    "testing.enabled_targets": lambda: str(tvm.testing.enabled_targets()[0][0]) == "llvm",
    "testing.requires_llvm": lambda: tvm.testing.requires_llvm()[0].args == (False,),
    "cpu": lambda: tvm.cpu().exist and tvm.cpu() == tvm.device("llvm") and tvm.cpu(0).device_type == 1,
    "cuda": lambda: str(tvm.cuda(1)) == "cuda(1)" and not tvm.cuda(77).exist,
    "opencl": lambda: tvm.opencl() == tvm.device("opencl:0"),
    "device": lambda: raises(ValueError, lambda: tvm.device("abacus"), "abacus", "opencl"),
    "device that there is not": lambda: raises(ValueError, lambda: tvm.nd.array([1.0], tvm.cuda(77)), "cuda(77)", "get_source"),
    "runtime.tensor": lambda: tvm.runtime.tensor(np.ones(3, "float32"), tvm.cpu()).shape == (3,),
    "runtime.NDArray": lambda: isinstance(tvm.nd.array([1.0]), tvm.runtime.NDArray),
    "runtime.NDArray.copyto": lambda: tvm.nd.array([1.0, 2.0]).copyto(tvm.cpu()).numpy().tolist() == [1.0, 2.0],
    "runtime.convert": lambda: tvm.runtime.convert([1, "a"]) == [1, "a"],
    "runtime.DataType": lambda: (tvm.DataType("float16x4").bits, tvm.DataType("bool").lanes, tvm.DataType("int8x4").itemsize) == (16, 1, 4),
    "runtime.DataType, wrong": lambda: raises(ValueError, lambda: tvm.DataType("float33q"), "float33q"),
    "ir.IRModule": lambda: tvm.ir.module.IRModule is tvm.IRModule,
    "ir.save_json": lambda: tvm.ir.structural_equal(tvm.ir.load_json(tvm.ir.save_json(Net)), Net) is True,
    "ir.load_json": lambda: raises(ValueError, lambda: tvm.ir.load_json("[1]"), "save_json"),
    "ir.transform.Sequential": lambda: tvm.transform.Sequential([tvm.transform.module_pass(lambda m, c: m, opt_level=0, name="same")])(Net) is Net,
    "target.Target.current": active,
    "target.Target.attrs": lambda: tvm.target.Target("llvm -mcpu=native -num-cores 4").attrs == {"mcpu": "native", "num-cores": 4},
    "target.Target of a dict": lambda: tvm.target.Target({"kind": "cuda", "arch": "sm_80"}).arch == "sm_80",
    "target.Target of a tag": lambda: tvm.target.Target("nvidia/nvidia-t4").kind.name == "cuda",
    "target.Target.from_device": lambda: tvm.target.Target.from_device("cpu").mcpu == "native",
    "target.Target.export": lambda: tvm.Target(tvm.Target("cuda -arch=sm_75", host="llvm").export()).host.kind == "llvm",
    "register_func": registered,
    "get_global_func": lambda: tvm.get_global_func("there.is.none", allow_missing=True) is None,
    "get_global_func of none": lambda: raises(ValueError, lambda: tvm.get_global_func("there.is.none"), "register_func"),
    "tir.schedule.schedule": lambda: __import__("tirc.tir.schedule.schedule", fromlist=["x"]).ScheduleError is tvm.tir.ScheduleError,
    "tir.schedule.trace": lambda: __import__("tirc.tir.schedule.trace", fromlist=["x"]).Trace is tvm.tir.schedule.Trace,
    "te.create_schedule": lambda: raises(AttributeError, lambda: tvm.te.create_schedule, "create_prim_func"),
    "relay": lambda: raises(ImportError, lambda: __import__("tirc.relay"), "tirc.compile"),
    "autotvm": lambda: raises(AttributeError, lambda: tvm.autotvm, "tune"),
    "rpc": lambda: raises(ImportError, lambda: exec("from tirc import rpc"), "this machine"),
    "runtime.disco": lambda: raises(AttributeError, lambda: tvm.runtime.disco, "threads"),
    "relax.frontend.nn": lambda: raises(ImportError, lambda: exec("from tirc.relax.frontend import nn"), "R.function"),
    "nothing": lambda: raises(AttributeError, lambda: tvm.nothing_of_that_name, "nothing_of_that_name"),
}


@pytest.mark.parametrize("name", NAMES)
def test_name(name):
    assert NAMES[name]()


def test_relax():
    from tirc import relax
    x = np.arange(-8, 8, dtype="float32").reshape(4, 4)
    expected = 2 * np.maximum(x, 0)
    vm = relax.VirtualMachine(relax.build(Net, target="llvm"), tvm.cpu())
    out = vm["main"](tvm.nd.array(x))
    np.testing.assert_array_equal(out.numpy(), expected)
    vm.set_input("main", x)
    vm.invoke_stateful("main")
    np.testing.assert_array_equal(vm.get_outputs("main").numpy(), expected)
    assert vm.time_evaluator("main", tvm.cpu(), number=2, repeat=3)(x).min > 0
    with pytest.raises(KeyError, match="main"):
        vm["relu"]
    with pytest.raises(tvm.TVMError, match="no graph"):
        relax.build(tvm.parse(MATMUL))
    with pytest.raises(ValueError, match="no pipeline"):
        relax.get_pipeline("fastest")
    with pytest.raises(TypeError, match="takes an IRModule"):
        relax.build(5)
    with pytest.raises(ValueError, match="models run on cpu"):
        relax.VirtualMachine(relax.build(Net), tvm.cuda())
    with pytest.raises(TypeError, match="not None"):
        tvm.Target(None)
    plain = relax.build(Net, relax_pipeline=None)
    np.testing.assert_array_equal(relax.VirtualMachine(plain)["main"](x).numpy(), expected)


def test_relax_transform():
    from tirc import relax
    legal = relax.transform.LegalizeOps()(Net)
    assert "R.add" in Net.script() and "R.add" not in legal.script() and "cls.add" in legal.script()
    fused = tvm.transform.Sequential([relax.transform.LegalizeOps(), relax.transform.AnnotateTIROpPattern(), relax.transform.FuseOps(),
                                      relax.transform.FuseTIR(), relax.transform.DeadCodeElimination()])(Net)
    assert len(fused.functions) == 1 and "fused_relu_add" in fused.functions
    with pytest.raises(AttributeError, match="ToMixedPrecision"):
        relax.transform.ToMixedPrecision
    with pytest.raises(TypeError, match="no options"):
        relax.transform.FuseOps(fuse_opt_level=0)
    assert "R.add" not in relax.get_pipeline("zero")(Net).script()


def test_records_of_a_target():
    from tirc import meta_schedule as ms
    mod, database = tvm.parse(MATMUL), ms.MemoryDatabase()
    workload = ms.database.Workload(mod)
    for seconds, target in ((1.0, "cuda -arch=sm_80"), (2.0, {"kind": "llvm", "num-cores": 4}), (0.5, None)):
        database.commit_tuning_record(ms.database.TuningRecord(tvm.Schedule(mod).trace, workload, [seconds], target))
    assert [database.query_tuning_record(mod, t).mean() for t in ("llvm -num-cores=4", {"kind": "cuda", "arch": "sm_80"}, None)] == [2.0, 1.0, 0.5]
    assert database.query_schedule(mod, "llvm -num-cores=4") and database.query_schedule(mod, "llvm -num-cores=1") is None
    assert database.query_ir_module(mod, "opencl") is None


def test_two_databases_of_a_folder(tmp_path):
    from tirc import meta_schedule as ms
    programs = [tvm.parse(MATMUL.replace("32,", "%d," % n).replace("32)", "%d)" % n)) for n in (24, 32, 40)]
    one, other = ms.JSONDatabase(work_dir=str(tmp_path)), ms.JSONDatabase(work_dir=str(tmp_path))
    for seconds, (database, mod) in enumerate([(one, programs[0]), (other, programs[1]), (one, programs[2]), (other, programs[0])], 1):
        record = ms.database.TuningRecord(tvm.Schedule(mod).trace, ms.database.Workload(mod), [seconds], "llvm")
        database.commit_tuning_record(record)
    again = ms.JSONDatabase(work_dir=str(tmp_path))
    assert [[r.mean() for r in again.get_top_k(ms.database.Workload(mod), 5)] for mod in programs] == [[1, 4], [2], [3]]
    (tmp_path / "database_workload.json").write_text("")
    with pytest.raises(ValueError, match="lost workloads"):
        one.commit_workload(tvm.parse(MATMUL.replace("float32", "float64")))


def test_stores_of_tensor_cores():
    from tirc.tir.tensor_intrin import cuda
    with pytest.raises(ValueError, match="not_use_mma_store_intrinic"):
        cuda.get_mma_intrin_group("shared", "global", "float16", "float32", False, True, not_use_mma_store_intrinic=False)
    with pytest.raises(ValueError, match="not_use_mma_store_intrinic"):
        cuda.get_wmma_intrin_group("shared", "global", "float16", "float32", True, False)


def test_meta_schedule(tmp_path):
    from tirc import meta_schedule as ms
    mod = tvm.parse(MATMUL)
    database = ms.tune_tir(mod, "llvm -num-cores=1", work_dir=str(tmp_path), max_trials_global=4, num_trials_per_iter=2)
    sch = ms.tir_integration.compile_tir(database, mod, "llvm -num-cores=1")
    assert len(sch.trace.insts) > 3
    tvm.ir.assert_structural_equal(sch.mod, database.query_ir_module(mod, "llvm -num-cores=1"))
    other = tvm.parse(MATMUL.replace("32,", "24,").replace("32)", "24)"))
    assert ms.JSONDatabase(work_dir=str(tmp_path)).query_schedule(other, "llvm -num-cores=1") is None
    with pytest.raises(tvm.TVMError, match="no cost_model"):
        ms.tune_tir(mod, "llvm", work_dir=str(tmp_path), max_trials_global=1, cost_model=object())


def test_main_of_testing(tmp_path):
    path = tmp_path / "test_some.py"
    path.write_text("import tirc as tvm\nimport tirc.testing\ndef test_one():\n    assert tvm.cpu().exist\n"
                    "if __name__ == '__main__':\n    tvm.testing.main()\n")
    run = subprocess.run([sys.executable, str(path), "-q", "-p", "no:cacheprovider"], capture_output=True, text=True)
    assert run.returncode == 0 and "1 passed" in run.stdout


@T.prim_func
def chain(a: T.handle, B: T.Buffer((8,), "float32")):
    T.func_attr({"tir.noalias": True, "k": [1, 2]})
    n = T.int64()
    A = T.match_buffer(a, (n,))
    C = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi] + T.float32(1)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.max(C[vi], T.float32(0))


def test_views():
    from tirc import tir
    root = chain.body.block
    assert isinstance(chain.body, tir.BlockRealize) and root.name_hint == "root" and root.alloc_buffers[0].name == "C"
    first, second = root.body.seq
    assert isinstance(first, tir.For) and first.loop_var.name == "i" and first.extent == 8
    store = first.body.body
    assert isinstance(store, tir.BufferStore) and isinstance(store.value, tir.Add) and isinstance(store.value.a, tir.BufferLoad)
    assert store.value.a.buffer.name == "A" and isinstance(second.body.body.value, tir.Max)
    assert [b.name for b in chain.buffer_map.values()] == ["A", "B"] and chain.attrs["k"] == [1, 2]
    n = tir.Var("n", "int64")
    assert isinstance(n, tir.Var) and isinstance(n + 1, tir.Add) and str(tir.Max(3, 4)) == "T.Max(3, 4)"


def test_attributes_of_functions():
    more = chain.with_attr("x", 3)
    assert more.attrs == {"tir.noalias": True, "k": [1, 2], "x": 3} and more.without_attr("k").attrs == {"tir.noalias": True, "x": 3}
    assert chain.same_as(chain) and not chain.same_as(more) and chain != more
    bare = more.without_attr("k").without_attr("x").without_attr("tir.noalias")
    tvm.ir.assert_structural_equal(bare.with_attr({"tir.noalias": True, "k": [1, 2]}), chain)
    with pytest.raises(TypeError, match="numbers, texts"):
        chain.with_attr("x", object())


def test_parameters_and_their_buffers():
    f = tvm.parse(MATMUL)["main"]
    assert [f.buffer_map[p].name for p in f.params] == [p.name for p in f.params]
    assert [f.buffer_map[v] for v in f.buffer_map] == list(f.buffer_map.values())
    assert [f.buffer_map.get(p) for p in f.params] == [f.buffer_map[p] for p in f.params] and all(p in f.buffer_map for p in f.params)
    assert "A" not in f.buffer_map and f.buffer_map.get("A", 1) == 1
    with pytest.raises(KeyError):
        f.buffer_map["A"]


def test_source_of_c():
    lib = tvm.build(tvm.parse(MATMUL), target="c")
    assert "#include" in lib.get_source() and "define" in lib.get_source("ll")
    for target in ({"kind": "c"}, tvm.target.Target("c -mcpu=haswell")):
        assert "#include" in tvm.build(tvm.parse(MATMUL), target=target).get_source()
    assert "define" in tvm.build(tvm.parse(MATMUL), target={"kind": "llvm"}).get_source()


def test_visits():
    from tirc.tir.stmt_functor import post_order_visit, pre_order_visit
    seen, before = [], []
    post_order_visit(chain.body, lambda node: seen.append(type(node).__name__))
    assert seen.count("BufferStore") == 2 and seen.count("BufferLoad") == 2 and seen.count("Max") == 1 and seen[-1] == "Block"
    assert seen.index("BufferLoad") < seen.index("Add") < seen.index("BufferStore") < seen.index("For")
    pre_order_visit(chain.body, lambda node: before.append(type(node).__name__) or type(node).__name__ != "For")
    assert before[0] == "Block" and before.count("For") == 2 and "BufferStore" not in before


def test_visits_of_every_statement():
    from tirc.tir.stmt_functor import post_order_visit

    @T.prim_func
    def main(A: T.Buffer((8,), "int32"), n: T.int32):
        assert n > 0, "n"
        B = T.decl_buffer((4,), "int32", data=A.data)
        while A[0] < n:
            A[0] = A[0] + 1
        with T.attr(0, "key", 3):
            B[1] = 2
    seen = []
    post_order_visit(main.body, lambda node: seen.append(type(node).__name__))
    assert {"While", "AssertStmt", "DeclBuffer", "AttrStmt"} <= set(seen) and seen.count("BufferStore") == 2


def test_what_a_state_knows():
    from tirc.tir.schedule.state import CachedFlags
    sch = tvm.tir.Schedule(chain)
    flags = lambda name: sch.state._get_cached_flags(sch.get_sref(sch.get_block(name)))
    assert flags("root") == flags("B") == CachedFlags(True, True, True)
    sch.unroll(sch.split(sch.get_loops("C")[0], [3, None])[0])
    assert flags("C").affine_binding and sch.state.mod["main"].body.block.body.seq[0].extent == 3

    @T.prim_func
    def late(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        C = T.alloc_buffer((8,))
        for i in range(4):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = A[vi]
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = C[vi]
    sch = tvm.tir.Schedule(late)
    assert flags("B") == CachedFlags(True, False, True) and not flags("root").stage_pipeline
    with pytest.raises(TypeError, match="reference of a block"):
        sch.state._get_cached_flags(sch.get_sref(sch.get_loops("B")[0]))


@pytest.mark.parametrize("call, words", [
    (lambda s: s.compute_at(s.get_block("C"), s.get_loops("C")[0]), "an ancestor of block C"),
    (lambda s: s.reverse_compute_at(s.get_block("B"), s.get_loops("B")[0]), "under the same block scope"),
    (lambda s: s.get_block("wrong"), "Cannot find a block with the name: wrong")])
def test_words_that_people_look_for(call, words):
    with pytest.raises(tvm.tir.ScheduleError, match=words):
        call(tvm.tir.Schedule(chain))


def test_handles_that_are_gone_can_be_looked_at():
    sch = tvm.tir.Schedule(chain)
    (loop,) = sch.get_loops("C")
    sch.split(loop, factors=[None, 4])
    assert "no longer in the program" in repr(sch.trace.insts[-1].inputs) and "for i_0" in repr(sch.trace.insts[-1].outputs)
    with pytest.raises(ValueError, match="no longer in the program"):
        str(loop)


def test_instructions_by_hand():
    from tirc.tir.schedule import BlockRV, Instruction, InstructionKind, LoopRV, Trace
    kind = InstructionKind.get
    assert kind("GetBlock").is_pure and not kind("EnterPostproc").is_pure and kind("Split").name == "Split"
    with pytest.raises(ValueError, match="no kind of instructions 'Spilt'"):
        kind("Spilt")
    b, i, outer, inner = BlockRV(), LoopRV(), LoopRV(), LoopRV()
    get = Instruction(kind=kind("GetBlock"), inputs=[], attrs=["C", "main"], outputs=[b])
    loops = Instruction(kind=kind("GetLoops"), inputs=[b], attrs=[], outputs=[i])
    split = Instruction(kind=kind("Split"), inputs=[i, None, tvm.tir.IntImm("int32", 4)], attrs=[True, False], outputs=[outer, inner])
    assert str(get) == '_ = sch.get_block(name="C", func_name="main")' and str(loops) == "_, = sch.get_loops(block=_)"
    trace = Trace(insts=[get, loops], decisions={})
    assert str(trace) == '\n'.join(("# from tvm import tir", "def apply_trace(sch: tir.Schedule) -> None:",
                                    '  b0 = sch.get_block(name="C", func_name="main")', "  l1, = sch.get_loops(block=b0)"))
    assert trace.as_json() == [[["GetBlock", [], ["C", "main"], ["b0"]], ["GetLoops", ["b0"], [], ["l1"]]], []]
    trace.append(split)
    sch = tvm.tir.Schedule(chain)
    trace.apply_to_schedule(sch, remove_postproc=False)
    assert [sch.get(x).extent for x in sch.get_loops("C")] == [2, 4]
    assert trace.pop() is split and len(trace.insts) == 2 and trace.get_decision(trace.insts[0]) is None
    empty = Trace([], {})
    assert str(empty).endswith("  pass") and empty.pop() is None
    sample = Instruction(kind("SampleCategorical"), [], [[tvm.tir.IntImm("int32", 3), 5], [tvm.tir.FloatImm("float32", 0.5), 0.5]], [tvm.tir.Var("v", "int32")])
    assert Trace([sample], {sample: tvm.tir.IntImm("int32", 1)}).as_json()[1] == [[0, 1]]
    with pytest.raises(ValueError, match="none before it gives"):
        Trace([split], {})
    with pytest.raises(AttributeError, match="belongs to no schedule"):
        b.name


@T.prim_func
def scale(a: T.handle, b: T.handle, k: T.float32):
    n = T.int64()
    A = T.match_buffer(a, (n, 4))
    B = T.match_buffer(b, (n, 4))
    assert n < 9, "few rows"
    for i in T.parallel(n):
        for j in range(4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * k


def test_libraries(tmp_path):
    lib = tvm.build(tvm.IRModule({"scale": scale, "chain": chain}))
    lib.export_library(tmp_path / "two.so")
    lib.export_library(tmp_path / "two.o")
    assert (tmp_path / "two.o").read_bytes()[:4] == b"\x7fELF"
    back = tvm.runtime.load_module(tmp_path / "two.so")
    a, b = np.arange(20, dtype="float32").reshape(5, 4), np.zeros((5, 4), "float32")
    back["scale"](a, b, 3.0)
    np.testing.assert_array_equal(b, 3 * a)
    assert back.time_evaluator("scale", number=1)(a, b, 2.0).mean > 0
    for args, words in (((a.T, b, 1.0), "not float32"), ((a[:, ::2], b, 1.0), "not compact"), ((a.astype("int32"), b, 1.0), "int32"),
                        ((a, b[:4], 1.0), "scale"), ((a,), "takes 3 arguments")):
        with pytest.raises(tvm.ArgumentError, match=words):
            back["scale"](*args)
    with pytest.raises(tvm.TVMError, match="few rows"):
        back["scale"](np.zeros((9, 4), "float32"), np.zeros((9, 4), "float32"), 1.0)
    with pytest.raises(KeyError, match="scale, chain"):
        back["none"]
    with pytest.raises(ValueError, match="a library is a .so"):
        lib.export_library(tmp_path / "two.tar")
    with pytest.raises(tvm.TVMError, match="cannot be run"):
        lib.export_library(tmp_path / "two.so", cc="/there/is/no/cc")


def test_library_with_a_packed_operand(tmp_path):
    sch = tvm.tir.Schedule(tvm.parse(MATMUL))
    copy = sch.cache_read("C", 1, "global")
    sch.transform_layout(copy, ("write", 0), lambda k, j: (j, k))
    sch.annotate(copy, "meta_schedule.layout_rewrite_preproc", True)
    sch.annotate(sch.get_block("root"), "layout_free_buffers", [1])
    tvm.build(sch.mod).export_library(tmp_path / "packed.so")
    back = tvm.runtime.load_module(tmp_path / "packed.so")
    with pytest.raises(tvm.TVMError, match="an operand that its schedule packs"):
        back["main"]

    @T.prim_func
    def rows(A: T.Buffer((4, 4), "float32", strides=(8, 1)), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i, 0]
    tvm.build(rows).export_library(tmp_path / "rows.so")
    with pytest.raises(tvm.TVMError, match="strides"):
        tvm.runtime.load_module(tmp_path / "rows.so")["rows"]


def test_library_of_a_model(tmp_path):
    from tirc import relax

    @I.ir_module
    class Layer:
        @R.function
        def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32"), b: R.Tensor((4,), "float32")):
            with R.dataflow():
                gv = R.add(R.matmul(x, w), b)
                R.output(gv)
            return gv
    rng = np.random.default_rng(1)
    x, w, b = (rng.standard_normal(s).astype("float32") for s in ((4, 4), (4, 4), (4,)))
    built = relax.build(Layer, params={"w": w})
    built.export_library(tmp_path / "layer.so")
    for made in (built, tvm.runtime.load_module(tmp_path / "layer.so")):
        np.testing.assert_allclose(relax.VirtualMachine(made, tvm.cpu())["main"](x, b).numpy(), x @ w + b, rtol=1e-5)
    assert sum(seconds for _, seconds in relax.VirtualMachine(built, profile=True).profile("main", x, b).calls) > 0
    with pytest.raises(ValueError, match="profile=True"):
        relax.VirtualMachine(built).profile("main", x, b)
    with pytest.raises(ValueError, match="no parameter v"):
        relax.build(Layer, params={"v": w})
    with pytest.raises(ValueError, match="export_library"):
        relax.build(Layer, system_lib=True)
    seen = []
    relax.build(Layer, tir_pipeline=lambda mod: seen.append(len(mod.functions)) or mod)
    assert seen == [1] or seen == [2]


def test_block_builder():
    from tirc import relax, te, topi
    rows = T.int64()
    x, w, b = (relax.Var(name, R.Tensor(shape, "float32")) for name, shape in (("x", (rows, 8)), ("w", (4, 8)), ("b", (4,))))
    bb = relax.BlockBuilder()
    with bb.function("forward"):
        with bb.dataflow():
            y = bb.emit(relax.op.matmul(x, relax.op.permute_dims(w)) + b)
            z = bb.emit_te(topi.nn.relu, y)
            s = bb.emit_te(lambda t: te.compute(t.shape, lambda i, j: te.max(t[i, j], 0) + 1.0, name="more"), z, primfunc_name_hint="more")
            bb.emit_output(s)
        bb.emit_func_output(s, params=[x, w, b])
    mod = bb.get()
    assert sorted(mod.functions) == ["more", "relu"] and [str(e) for e in s.shape] == [str(rows), "4"]
    data = [np.arange(n, dtype="float32").reshape(shape) - 9 for n, shape in ((24, (3, 8)), (32, (4, 8)), (4, (4,)))]
    vm = relax.VirtualMachine(relax.build(mod, relax_pipeline=None))
    np.testing.assert_allclose(vm["forward"](*data).numpy(), np.maximum(data[0] @ data[1].T + data[2], 0) + 1)
    refused = relax.BlockBuilder()
    with pytest.raises(ValueError, match="returns nothing"):
        with refused.function("f", [x]):
            pass
    with pytest.raises(ValueError, match="belongs into"):
        refused.emit(x)
    with pytest.raises(ValueError, match="gives nothing"):
        with refused.function("f", [x]), refused.dataflow():
            refused.emit(x + x)
    with pytest.raises(TypeError, match="a value of a graph is a tensor"):
        relax.Var("x", "R.Tensor(().__class__.__bases__, 'float32')")
    with pytest.raises(TypeError, match="not a int"):
        relax.frontend.onnx.from_onnx(5)
    with pytest.raises(ValueError, match="is for GPUs"), tvm.target.Target("llvm"):
        tvm.dlight.ApplyDefaultSchedule(tvm.dlight.gpu.Fallback())(tvm.IRModule({"main": chain}))
    with pytest.raises(TypeError, match="a graph has no"):
        relax.op.add(x, object())


def test_functions_in_their_places():
    mod = Net.clone()
    relu = mod["relu"]
    mod.update_func("relu", relu.with_attr("k", 1))
    mod["other"] = relu
    assert mod["relu"].attrs["k"] == 1 and relu.attrs == {} and sorted(mod.functions) == ["other", "relu"] and "R.function" in mod.script()
    assert mod.get_global_var("relu") == "relu" and mod.get_global_vars()[-1] == "main" and len(Net.functions) == 1 and mod.astext() == mod.script()
    with pytest.raises(ValueError, match="no function 'none'"):
        mod.get_global_var("none")
    mod.update_func("main", tvm.parse(Net.script().replace("R.add(lv, lv)", "R.multiply(lv, lv)"))["main"])
    assert "R.multiply" in mod["main"].script() and "R.add" in Net["main"].script() and mod["main"] != Net["main"]
    again = tvm.IRModule({name: Net[name] for name in Net.get_global_vars()})
    assert "cls = Module" in again.script() and again["main"].script().replace("Module", "Net") == Net["main"].script()
    one = tvm.IRModule({"main": relu})
    one.update({"second": relu})
    assert sorted(one.functions) == ["main", "second"]
    assert "(4, 4) float32" in mod._repr_html_() and "cls =" not in mod._repr_html_().partition("</svg>")[0]


def test_space_of_a_function(tmp_path):
    from tirc import meta_schedule as ms

    def tiles(sch):
        i, j, k = sch.get_loops(sch.get_block("C"))
        sch.split(j, factors=sch.sample_perfect_tile(j, n=2))
    mod = tvm.parse(MATMUL)
    ms.tune_tir(mod, "llvm -num-cores=1", work_dir=str(tmp_path), max_trials_global=2, space=ms.space_generator.ScheduleFn(tiles),
                strategy="replay-trace", task_scheduler="round-robin")
    with pytest.raises(tvm.TVMError, match="task_scheduler"):
        ms.tune_tir(mod, "llvm", task_scheduler="other")
