"""Code written for TVM's releases since 0.24 runs by changing the import: s_tir, tirx, sblocks, tvm.compile."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tirc as tvm
from tirc import s_tir, tirx
from tirc.script import ir as I
from tirc.script import tirx as T
from tirc.s_tir.schedule import LoopRV, SBlockRV


@I.ir_module(s_tir=True)
class Product:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((16, 24), "float32"), B: T.Buffer((24, 32), "float32"), bias: T.Buffer((32,), "float32"),
             D: T.Buffer((16, 32), "float32")):
        T.func_attr({"tirx.noalias": True})
        C = T.sblock_alloc_buffer((16, 32))
        for i, j, k in T.grid(16, 32, 24):
            with T.sblock("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(16, 32):
            with T.sblock("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[vi, vj] + bias[vj]


def numbers():
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(s).astype("float32") for s in [(16, 24), (24, 32), (32,)])
    return a, b, c, a @ b + c


def test_schedule_compile_run():
    sch = s_tir.Schedule(Product)
    block = sch.get_sblock("C")
    assert isinstance(block, SBlockRV) and isinstance(block, s_tir.SBlockRV)
    i, j, k = sch.get_loops(block)
    assert isinstance(i, LoopRV)
    sch.fuse_reduction_epilogue(block, "D")
    jo, ji = sch.split(j, [None, 8])
    sch.reorder(i, jo, k, ji)
    sch.parallel(i)
    sch.vectorize(ji)
    sch.decompose_reduction(block, k)
    assert isinstance(sch.get(sch.get_sblock("C_update")), tirx.SBlock)
    assert sch.state.get_sblock_scope(sch.get_sref(sch.get_sblock("root"))) is not None
    with tvm.transform.PassContext(opt_level=3):
        lib = tvm.compile(sch.mod, target="llvm")
    a, b, c, expected = numbers()
    d = tvm.runtime.empty((16, 32), "float32", tvm.cpu(0))
    lib["main"](tvm.runtime.tensor(a, tvm.cpu(0)), tvm.runtime.tensor(b), tvm.runtime.tensor(c), d)
    np.testing.assert_allclose(d.numpy(), expected, rtol=1e-4, atol=1e-4)
    assert lib.time_evaluator("main", tvm.cpu(0), number=1, repeat=2)(a, b, c, d).mean > 0


def test_layouts_by_their_names():
    sch = s_tir.Schedule(Product)
    sch.transform_sblock_layout(sch.get_sblock("D"), lambda i, j: (j, i))
    sch.reorder_sblock_iter_var("D", [1, 0])
    old = tvm.tir.Schedule(Product)
    old.transform_block_layout(old.get_block("D"), lambda i, j: (j, i))
    old.reorder_block_iter_var("D", [1, 0])
    tvm.ir.assert_structural_equal(sch.mod, old.mod)


def test_texts_in_either_dialect():
    text = Product.script(dialect="tirx")
    assert "@T.prim_func(s_tir=True)" in text and 'with T.sblock("C"):' in text and "tirx.noalias" in text
    assert 'with T.block("C"):' in Product.script() and "sblock" not in Product.script()
    again = tvm.parse(text)
    assert again.script() == Product.script()
    tvm.ir.assert_structural_equal(again, Product)
    assert Product["main"].script(dialect="tirx").count("T.sblock(") == 3
    sch = s_tir.Schedule(Product, dialect="tirx")
    sch.get_sblock("C")
    assert "sch.get_sblock(" in str(sch.trace) and str(sch.trace).startswith("# from tvm import s_tir")
    assert "T.sblock(" in sch.mod.script() and "T.block(" in sch.mod.script(dialect="tir")
    with pytest.raises(tvm.s_tir.ScheduleError) as e:
        sch.get_sblock("E")
    assert "T.sblock(" in e.value.ir


def test_a_dialect_that_is_none():
    with pytest.raises(tvm.TVMError, match="there is no dialect 'today'"):
        Product.script(dialect="today")
    with pytest.raises(TypeError):
        Product.script(dialect=3)


def test_dialect_of_the_environment():
    code = "import tirc; print(tirc.parse(%r).script())" % Product.script()
    out = subprocess.run([sys.executable, "-c", code], env={**os.environ, "TIRC_DIALECT": "tirx"}, check=True,
                         capture_output=True, text=True).stdout
    assert out.rstrip() == Product.script(dialect="tirx").rstrip()


def test_mixture_of_both():
    with pytest.raises(tvm.TVMError, match="T.block belongs to 0.20's dialect") as e:
        tvm.parse(Product.script(dialect="tirx").replace("T.sblock(\"D\")", "T.block(\"D\")"))
    assert e.value.hint == "write T.sblock"


def test_tensors_by_the_names_of_0_20():
    a = tvm.nd.array(np.arange(6, dtype="int32").reshape(2, 3), tvm.cpu(0))
    assert a.shape == (2, 3) and a.dtype == "int32" and len(a) == 2
    kept = a.numpy()
    kept[0, 0] = 7
    assert a.numpy()[0, 0] == 0
    np.testing.assert_array_equal(tvm.nd.empty((2,), "float16").copyfrom(np.ones(2)).numpy(), np.ones(2, "float16"))
    with pytest.raises(TypeError, match="a device is cpu"):
        tvm.nd.array(np.zeros(1), ("cuda", 0))
    with pytest.raises(ValueError, match=r"no cuda\(99\) on this machine"):
        tvm.nd.array(np.zeros(1), tvm.cuda(99))
    with pytest.raises(ValueError, match="opt_level only"):
        tvm.transform.PassContext(disabled_pass=["tir.Simplify"])


def test_files_say_the_same():
    """The same words in the package's own modules: whoever imports by a new name gets the old thing."""
    assert tirx.SBlock is tvm.tir.Block and s_tir.SBlockScope is tvm.tir.BlockScope
    assert s_tir.Schedule is tvm.tir.Schedule and s_tir.IndexMap is tvm.tir.IndexMap
    assert pathlib.Path(tvm.__file__).parent.joinpath("s_tir", "schedule.py").is_file()


def test_modules_where_they_are_today():
    from tirc.s_tir.dlight import gpu
    from tirc.s_tir.meta_schedule.testing import te_workload
    from tirc.s_tir.schedule.analysis import has_block
    from tirc.tirx.stmt_functor import post_order_visit
    assert gpu is tvm.dlight.gpu and tvm.dlight.__spec__.name == "tirc.dlight" and has_block is tvm.tir.schedule.has_block
    assert te_workload is tvm.meta_schedule.testing.te_workload and post_order_visit is tvm.tir.stmt_functor.post_order_visit
    with pytest.raises(ImportError, match="VirtualMachine"):
        __import__("tirc.runtime.vm")
