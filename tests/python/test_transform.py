"""Passes over modules: functions and classes, and the pass of a script does the same."""

import numpy as np
import pytest

import tirc
from support import EXAMPLES
from tirc import tir

TEXT = (EXAMPLES / "models" / "mlp_functions.tir").read_text()
# Without the graph: what schedules are of.
FUNCTIONS = TEXT[:TEXT.index("    @R.function")]


def tile(mod, ctx):
    sch = tir.Schedule(mod)
    for gv in mod.functions:
        f = mod[gv]
        if not isinstance(f, tir.PrimFunc):
            continue
        try:
            block = sch.get_block("T_matmul_NN", func_name=gv.name_hint)
            i, j, k = sch.get_loops(block)
            i0, i1 = sch.split(i, factors=[None, 64])
            j0, j1 = sch.split(j, factors=[None, 64])
            sch.reorder(i0, j0, i1, j1, k)
            sch.reverse_compute_at(block, i0)
        except tir.ScheduleError:
            continue
    return sch.mod


def test_the_calls_before_one_that_raises_stay():
    mod = tirc.parse(FUNCTIONS)
    tiled = tirc.ir.transform.module_pass(tile, opt_level=0)(mod)
    assert tiled.script().count("for i_0, j_0, i_1, j_1, k in") == 2
    assert list(tiled.functions) == ["matmul", "add", "relu", "matmul1", "add1"]
    assert [gv.name_hint for gv in mod.functions] == list(tiled.functions)


def test_class():
    @tirc.ir.transform.module_pass(opt_level=1, name="Tile")
    class Tile:
        def __init__(self, size=64):
            self.size = size

        def transform_module(self, mod, ctx):
            return tile(mod, ctx) if self.size == 64 else mod

    mod = tirc.parse(FUNCTIONS)
    one = Tile()
    assert one.info.name == "Tile" and one.size == 64
    tirc.assert_structural_equal(one(mod), tile(mod, None))
    tirc.assert_structural_equal(Tile(8)(mod), mod)
    tirc.assert_structural_equal(tirc.ir.transform.Sequential([Tile(8), one])(mod), tile(mod, None))


def test_refused():
    with pytest.raises(ValueError):
        tirc.ir.transform.module_pass(tile)
    with pytest.raises(TypeError, match="no method transform_module"):
        tirc.ir.transform.module_pass(opt_level=0)(type("Nothing", (), {}))
    with pytest.raises(TypeError, match="gives int"):
        tirc.ir.transform.module_pass(lambda mod, ctx: 3, opt_level=0)(tirc.parse(FUNCTIONS))
    with pytest.raises(TypeError, match="takes an IRModule"):
        tirc.ir.transform.module_pass(tile, opt_level=0)(3)


MATMUL = (EXAMPLES / "matmul" / "matmul.tir").read_text()


def test_one_lowering_pass():
    mod = tirc.parse(MATMUL, M=8, N=8, K=8)
    made = tir.transform.LowerInitBlock()(mod)
    assert "T.init()" in mod.script() and "T.init()" not in made.script() and "T.block(" in made.script()
    both = tirc.transform.Sequential([tir.transform.LowerInitBlock(), tirc.tirx.transform.ConvertBlocksToOpaque()])(mod)
    tirc.assert_structural_equal(both, tirc.s_tir.transform.ConvertBlocksToOpaque()(made))
    assert tirc.s_tir.transform.LowerInitBlock().info.name == "tir.LowerInitBlock"
    assert isinstance(tir.transform.Simplify(), tirc.transform.Pass) and "Simplify" in dir(tir.transform)


def test_arguments_of_lowering_passes():
    assert tir.transform.CompactBufferAllocation(is_strict=True) and tir.transform.ThreadSync("shared")
    with pytest.raises(ValueError, match="barriers are those of a block"):
        tir.transform.ThreadSync("global")
    with pytest.raises(TypeError, match="takes no argument"):
        tir.transform.Simplify(hard=True)
    with pytest.raises(TypeError, match="takes 0 arguments"):
        tir.transform.Simplify(1)


def test_passes_that_there_are_not():
    for name, words in (("Simplfy", "did you mean 'Simplify'"), ("MakePackedAPI", "tirc.build"), ("Nothing", "passes()")):
        with pytest.raises(AttributeError, match=words.replace("(", "\\(").replace(")", "\\)")):
            getattr(tir.transform, name)


def test_passes_over_functions():
    mod = tirc.parse(FUNCTIONS)
    kept = tir.transform.Filter(lambda f: f.name != "relu")(mod)
    assert list(kept.functions) == ["matmul", "add", "matmul1", "add1"]
    seen = []

    @tir.transform.prim_func_pass(opt_level=0)
    def look(func, mod, ctx):
        seen.append((func.name, ctx.opt_level))
        return func

    with tirc.transform.PassContext(opt_level=3, config={"tir.Simplify": {"transitively_prove_inequalities": True}}) as ctx:
        assert tirc.transform.PassContext.current() is ctx
        assert look(mod) is mod
    assert seen == [(name, 3) for name in mod.functions]
    assert tirc.transform.PassContext.current() is not ctx
    with pytest.raises(ValueError, match="no option 'tir.disable_vectorize'"):
        tirc.transform.PassContext(config={"tir.disable_vectorize": True})


def test_bind_target():
    threads = tirc.parse("""
@T.prim_func
def main(A: T.Buffer((32,), "float32")):
    for i in T.thread_binding(32, thread="threadIdx.x"):
        A[i] = T.float32(1)
""")
    assert 'T.target("sm_80")' in tir.transform.BindTarget("sm_80")(threads).script()
    tirc.assert_structural_equal(tir.transform.BindTarget("llvm")(threads), threads)


HOISTED = """
@T.prim_func
def main(A: T.Buffer((4, 8), "int32"), B: T.Buffer((8,), "int32"), n: T.int32, m: T.int32):
    for i in range(4):
        for j in range(8):
            x: T.int32 = n * 2 + i
            if i < n and j < 5:
                A[i, j] = A[i, j] + x
            else:
                A[i, j] = T.if_then_else(m > 2, j, 7 - j)
    for j in range(8):
        if B[0] > 3:
            B[j] = B[j] + 1
        if n > 0:
            if m // n == 1:
                B[j] = B[j] * 2
"""

REPEATED = """
@T.prim_func
def main(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32"), n: T.int32, m: T.int32):
    A[0] = (n + m) * (n + m) + (n - m)
    for i in range(15):
        B[i] = A[i] + (i * n + m) * 2
        A[i + 1] = A[i] - B[i + 1] % 9 + (i * n + m) * (n - m)
        if n > 3:
            B[i + 1] = m // n + (i * n + m)
        else:
            A[i] = m % 4 + m // 7
    if m > 0:
        B[0] = n // m + n // m
"""

THREADS = """
@T.prim_func
def main(A: T.Buffer((64,), "int32"), n: T.int32):
    for b in T.thread_binding(2, thread="blockIdx.x"):
        for t in T.thread_binding(32, thread="threadIdx.x"):
            if n < 3:
                A[b * 32 + t] = A[b * 32 + t] + n
"""


def numbers(mod, n, m=None):
    arrays = [np.random.default_rng(n).integers(-9, 9, p.shape, "int32") for p in mod["main"].params if p.shape]
    tirc.interpret(mod, *arrays, *[s for s in (n, m) if s is not None])
    return arrays


@pytest.mark.parametrize("text, name, words", [
    (HOISTED, "HoistIfThenElse", ["if n > 0:\n        for j in range(8):"]),
    (HOISTED, "HoistExpression", ["if m > 2:\n        for i in", "x: T.int32 = n * 2 + i\n            if i < n"]),
    (REPEATED, "CommonSubexprElim", ["cse_v1", "n - m"]),
    (HOISTED, "CommonSubexprElim", []),
    (REPEATED, "HoistExpression", ["if n > 3:\n        for i in range(15):"]),
], ids=range(5))
def test_numbers_before_and_after(text, name, words):
    mod = tirc.parse(text)
    made = getattr(tir.transform, name)()(mod)
    for part in words:
        assert part in made.script()
    for n in (0, 1, 2, 5):
        for m in (0, 2, 3):
            for a, b in zip(numbers(mod, n, m), numbers(made, n, m)):
                np.testing.assert_array_equal(a, b)


def test_what_could_fail_stays():
    """A quotient by what may be 0 and what a loop overwrites are computed where they were."""
    made = tir.transform.HoistExpression()(tirc.parse(HOISTED)).script()
    assert made.index("for j in range(8):\n            if B[0] > 3:") < made.index("if m // n == 1:")
    once = tir.transform.CommonSubexprElim()(tirc.parse(REPEATED)).script()
    assert "n // m + n // m" in once


def test_kernels_stay_whole_unless_asked():
    mod = tirc.parse(THREADS)
    tirc.assert_structural_equal(tir.transform.HoistIfThenElse()(mod), mod)
    made = tir.transform.HoistExpression()(mod)
    assert made.script().index("if n < 3") < made.script().index("thread_binding")
    for n in (1, 4):
        np.testing.assert_array_equal(numbers(mod, n)[0], numbers(made, n)[0])


def test_assumptions_go():
    mod = tirc.parse("""
@T.prim_func
def main(A: T.Buffer((4,), "int32")):
    for i in range(4):
        T.assume(A[i] > 0)
    for i in range(4):
        A[i] = 3
""")
    made = tir.transform.RemoveAssume()(mod).script()
    assert "assume" not in made and made.count("for") == 1


def test_indices_of_32_bits():
    mod = tirc.parse("""
@T.prim_func
def main(A: T.Buffer((T.int64(4), T.int64(8)), "int32"), n: T.int64):
    for i, j in T.grid(T.int64(4), T.int64(8)):
        A[i, j] = T.Cast("int32", i * T.int64(8) + j)
""")
    made = tir.transform.NarrowDataType(32)(mod)
    assert "for i, j in T.grid(4, 8):\n        A[i, j] = " in made.script()
    np.testing.assert_array_equal(numbers(mod, 2)[0], numbers(made, 2)[0])


def test_annotations_are_checked():
    text = """
@T.prim_func
def main(A: T.Buffer((4,), "int32")):
    for i in T.serial(4, annotations={"software_pipeline_stage": [0, 1], "software_pipeline_order": [1, 1]}):
        A[i] = 1
        A[i] = 2
"""
    with pytest.raises(tirc.TVMError, match="software_pipeline_order"):
        tir.transform.InjectSoftwarePipeline()(tirc.parse(text))
