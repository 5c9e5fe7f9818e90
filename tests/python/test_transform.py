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
    bound = tir.transform.BindTarget(tirc.target.Target("cuda", host="llvm"))(threads)
    assert 'T.target("cuda", host="llvm")' in bound.script()
    assert tir.transform.BindTarget("llvm")(bound).script() == bound.script()  # it has one
    as_dict = threads.script().replace("):\n", '):\n    T.func_attr({"target": T.target({"kind": "llvm", "mcpu": "haswell"})})\n', 1)
    hosted = tir.transform.BindTarget(tirc.target.Target("cuda", host="llvm"))(tirc.parse(as_dict)).script()
    assert hosted.count('"target"') == 1 and 'T.target({"kind": "llvm", "mcpu": "haswell"}, host="llvm")' in hosted
    assert tir.transform.BindTarget(tirc.target.Target("cuda", host="c"))(tirc.parse(hosted)).script() == hosted
    private = tirc.parse(threads.script().replace("@T.prim_func", "@T.prim_func(private=True)"))
    assert "host" not in tir.transform.BindTarget(tirc.target.Target("cuda", host="llvm"))(private).script()


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
    arrays = [np.random.default_rng(n or 0).integers(-9, 9, p.shape, "int32") for p in mod["main"].params if p.shape]
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


def simplified(text, **options):
    with tirc.transform.PassContext(config={"tir.Simplify": options}):
        return tir.transform.Simplify()(tirc.parse(text)).script()


def less(text, **options):
    with tirc.transform.PassContext(config={"tir.RemoveNoOp": options}):
        return tir.transform.RemoveNoOp()(tirc.parse(text)).script()


KNOWN = """
@T.prim_func
def main(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32"), n: T.int32):
    for i in range(16):
        A[i] = i
%s
    for j in range(16):
        if A[j] %s:
            B[j] = 42
        else:
            B[j] = 100
"""


def test_simplify_by_what_memory_holds():
    text = KNOWN % ("", "< 16")
    assert "else" in simplified(text)  # unless it is asked for
    for middle, condition, decided in [
            ("", "< 16", True), ("", "== j", True), ("", "> 15", True), ("", "< n", False),
            ("    A[n] = 99", "< 16", False),           # any element
            ("    if n == 3:\n        A[3] = 99", "< 16", False),
            ("    if n == 3:\n        A[3] = 3", "< 16", True),
            ("    T.call_extern(\"int32\", \"other\", A.data)", "< 16", False),
            ("    for k in range(n):\n        A[k] = 99", "< 16", False)]:
        made = simplified(KNOWN % (middle, condition), propagate_knowns_to_prove_conditional=True)
        assert ("else" not in made) == decided, (middle, condition, made)


def test_simplify_values_and_conjunctions():
    text = "@T.prim_func\ndef main(A: T.Buffer((2,), \"int32\")):\n    A[0] = 5\n    A[1] = A[0] + 7\n"
    assert "A[1] = 12" in simplified(text, propagate_knowns_to_simplify_expressions=True)
    assert "A[1] = A[0] + 7" in simplified(text)
    text = "@T.prim_func\ndef main(A: T.Buffer((4,), \"bool\")):\n    A[3] = A[0] or (A[1] and A[2])\n"
    assert "(A[0] or A[1]) and (A[0] or A[2])" in simplified(text, convert_boolean_to_and_of_ors=True)
    assert "A[0] or A[1] and A[2]" in simplified(text)
    text = "@T.prim_func\ndef main(A: T.Buffer((4,), \"bool\"), i: T.int32, j: T.int32):\n    A[3] = i == 2 or j == 0 or i != 3\n"
    assert "A[3] = j == 0 or i != 3" in simplified(text, convert_boolean_to_and_of_ors=True)
    assert "A[3] = i == 2 or" in simplified(text)
    with pytest.raises(tirc.TVMError, match="no option 'propagate'"):
        tir.transform._run(tirc.parse(text), ["Simplify+propagate"])


@pytest.mark.parametrize("known, asked, decided", [
    ("n < m and m <= l", "n < l", "True"), ("n < m and m <= l", "n + 1 < l", None), ("n + 3 <= m and m < l - 2", "n + 6 <= l", "True"),
    ("n + 3 <= m and m < l - 2", "n + 7 <= l", None), ("l > m and m >= n", "l <= n", "False"), ("n == m and m != l", "n == l", "False"),
    ("n <= m and m != l", "n == l", None), ("7 <= n and n < m", "8 <= m", "True"), ("7 <= n and n < m", "9 <= m", None), ("n < m and m <= 7", "n <= 6", "True"),
    ("n < m and m < l and l < n", "n < 9", None)])
def test_simplify_by_chains(known, asked, decided):
    text = "@T.prim_func\ndef main(A: T.Buffer((1,), \"bool\"), n: T.int32, m: T.int32, l: T.int32):\n    if %s:\n        A[0] = %s\n" % (known, asked)
    said = [v for v in ("True", "False") if "A[0] = T.bool(%s)" % v in simplified(text, transitively_prove_inequalities=True)]
    assert said == ([decided] if decided else [])
    assert "A[0] = T.bool" not in simplified(text)  # unless it is asked for


RUNS = """@T.prim_func
def main(A: T.Buffer((16,), "bool"), n: T.int32, m: T.int32, l: T.int32):
    A[0] = %s
    for i in range(%s):
        A[1] = %s
        for j in range(i, l):
            A[2] = %s
    A[3] = %s
"""


@pytest.mark.parametrize("over, inside, below, outside", [("n", "i < n", "j < l", "n > 0"), ("n, m", "i >= n", "j >= n", "m > n")])
def test_simplify_by_chains_through_loops(over, inside, below, outside):
    """A loop's range says something where an iteration runs, and not before or after it."""
    text = RUNS % (outside, over, inside, below, outside)
    done = simplified(text, transitively_prove_inequalities=True, apply_constraints_to_boolean_branches=True)
    assert [at for at in range(4) if "A[%d] = T.bool(True)" % at in done] == [1, 2]
    done = simplified(text.replace("A[3] = " + outside, "if %s and l > 0:\n        A[3] = T.bool(False)" % outside),
                      transitively_prove_inequalities=True, apply_constraints_to_boolean_branches=True, convert_boolean_to_and_of_ors=True,
                      propagate_knowns_to_prove_conditional=True)
    assert "n" in done.split("if ")[1].split(":")[0]


@pytest.mark.parametrize("over, stored, gone", [("A[0]", "A[0] = 0", False), ("A[0]", "B[0] = 0", True), ("A[0], A[0] + 1", "A[0] = 0", False)])
def test_simplify_a_range_that_its_body_changes(over, stored, gone):
    text = """@T.prim_func
def main(A: T.Buffer((1,), "int32"), B: T.Buffer((16,), "int32")):
    for i in range(%s):
        %s
        if i < A[0] + 1:
            B[i] = 1
""" % (over, stored)
    assert ("if " not in simplified(text)) == gone
    a, b, c, d = np.full(1, 4, "int32"), np.zeros(16, "int32"), np.full(1, 4, "int32"), np.zeros(16, "int32")
    tirc.interpret(tirc.parse(text), a, b)
    tirc.build(tirc.parse(text))(c, d)
    assert np.array_equal(b, d)


def test_simplify_to_what_is_left():
    """Where n <= m, m <= n is n == m."""
    for known, asked, left in [("n <= m", "m <= n", "m == n"), ("n <= m", "n != m", "n < m"), ("n != 0", "n <= 0", "n < 0"), ("n != 0", "n <= 1", "n <= 1")]:
        text = "@T.prim_func\ndef main(A: T.Buffer((1,), \"bool\"), n: T.int32, m: T.int32):\n    if %s:\n        A[0] = %s\n" % (known, asked)
        assert "A[0] = %s" % left in simplified(text)


CALLS = """N = 4
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8,), "float32")):
        N = T.meta_var(3)
        for i in range(8):
            Module.row(A.data, B.data, i, i + N)

    @T.prim_func(private=True)
    def row(a: T.handle("float32"), b: T.handle("float32"), r: T.int32, more: T.int32):
        A = T.decl_buffer((8, N), "float32", data=a)
        B = T.decl_buffer((8,), "float32", data=b)
        Module.clear(b, r)
        for i in range(N):
            B[r] = B[r] + A[r, i] + T.Cast("float32", more)

    @T.prim_func(private=True)
    def clear(b: T.handle("float32"), r: T.int32):
        B = T.decl_buffer((8,), "float32", data=b)
        B[r] = T.float32(0)
"""


def test_functions_that_call_each_other():
    mod = tirc.parse(CALLS)
    a, b = np.arange(32, dtype="float32").reshape(8, 4), np.ones(8, "float32")
    tirc.interpret(mod, a, b, func="main")
    assert np.array_equal(b, a.sum(axis=1) + 4 * (np.arange(8) + 3))
    again = tirc.parse(mod.script())
    assert tirc.structural_equal(mod, again) and list(mod.functions) == ["main", "row", "clear"]
    alone = tir.transform.InlinePrivateFunctions()(mod)
    assert list(alone.functions) == ["main"]
    c = np.ones(8, "float32")
    tirc.build(alone)(a, c)
    assert np.array_equal(b, c)


@pytest.mark.parametrize("old, new, said", [
    ("Module.clear(b, r)", "Module.row(a, b, r, more)", "row calls itself, or functions call each other more than 16 deep"),
    ("Module.clear(b, r)", "Module.clear(b)", "clear takes 2 arguments, not 1"), ("Module.clear(b, r)", "Module.clear(b, r=r)", "given by position"),
    ("Module.clear(b, r)", "Module.other(b)", "has no function 'other'"), ("i + N)", "T.float32(1))", "'more' has type int32, and not float32"),
    ("        Module.clear(b, r)", "        Module.clear(b, r)\n        B[i] = T.float32(1)", "'i' is not defined"),
    ("more: T.int32", "more: T.Buffer((1,), \"float32\")", "takes pointers and numbers, and 'more' is none"),
    ("        B[r] = T.float32(0)", "        T.func_attr({\"target\": T.target(\"cuda\")})\n        B[r] = T.float32(0)", "clear is for another target than row")])
def test_calls_that_are_refused(old, new, said):
    with pytest.raises(tirc.TVMError) as e:
        tirc.parse(CALLS.replace(old, new, 1))
    assert said in str(e.value)


def test_calls_of_calls_of_calls():
    """A few lines are not made millions of statements: each call is a copy."""
    text = "@I.ir_module\nclass Module:\n    @T.prim_func\n    def main(A: T.Buffer((8,), \"float32\")):\n        Module.f%d(A.data)\n"
    text += "    @T.prim_func(private=True)\n    def f0(a: T.handle(\"float32\")):\n        A = T.decl_buffer((8,), \"float32\", data=a)\n        A[0] = T.float32(1)\n"
    for i in range(1, 16):
        text += "    @T.prim_func(private=True)\n    def f%d(a: T.handle(\"float32\")):\n" % i + "        Module.f%d(a)\n" % (i - 1) * 8
    with pytest.raises(tirc.TVMError, match="the function has more than 4096 calls of functions, with those in what it calls"):
        tirc.parse(text % 15)
    assert tirc.parse(text.split("    @T.prim_func(private=True)\n    def f4")[0] % 3).script().count("T.float32(1.0)") == 1 + 8 + 64 + 512 + 512


def test_pure_packed_functions_write_their_results():
    text = """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = %s
            R.output(y)
        return y
"""
    written = tirc.parse(text % 'R.call_dps_packed("twice", (x,), out_sinfo=R.Tensor((4,), "float32"))')
    for info in ('R.Tensor((4,), "float32")', '(R.Tensor((4,), "float32"),)'):
        assert tirc.structural_equal(tirc.parse(text % 'R.call_pure_packed("twice", x, sinfo_args=%s)' % info), written)
    for call, said in [('"twice", x', "has no sinfo_args"), ('"twice", x, sinfo_args=R.Tensor(ndim=1)', "needs a shape and a dtype")]:
        with pytest.raises(tirc.TVMError, match=said):
            tirc.parse(text % "R.call_pure_packed(%s)" % call)


OVERWRITTEN = """
@T.prim_func
def main(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32"), n: T.int32):
    for i in range(4, 12):
        A[i] = 100
%s
    for i in range(16):
        %s
"""


def test_stores_that_nothing_reads():
    for middle, store, gone in [
            ("", "A[i] = 42", True), ("    for i in range(16):\n        B[i] = 1", "A[i] = 42", True),
            ("    B[0] = A[4]", "A[i] = 42", False), ("    B[0] = A[3]", "A[i] = 42", True), ("    B[0] = A[n]", "A[i] = 42", False),
            ("    T.call_extern(\"int32\", \"other\", A.data)", "A[i] = 42", False), ("", "A[i] = A[i] + 1", False),
            ("    T.evaluate(T.call_extern(\"int32\", \"other\"))", "A[i] = 42", False)]:
        text = OVERWRITTEN % (middle, store)
        assert ("100" not in less(text, use_dataflow_analysis=True)) == gone, (middle, store)
        assert "100" in less(text)


def test_of_two_stores_of_one_value_one_stays():
    text = "@T.prim_func\ndef main(A: T.Buffer((4,), \"int32\")):\n    for i in range(4):\n        A[i] = i\n    for i in range(4):\n        A[i] = i\n"
    assert less(text, use_dataflow_analysis=True).count("A[i] = i") == 1


def test_conditions_that_need_not_be_asked():
    def made(text):
        with tirc.transform.PassContext(config={"tir.ReduceBranchingThroughOvercompute": {"use_dataflow_analysis": True}}):
            return tir.transform.ReduceBranchingThroughOvercompute()(tirc.parse(text)).script()
    head = "@T.prim_func\ndef main(A: T.Buffer((16,), \"int32\"), B: T.Buffer((1,), \"int32\")):\n"
    text = head + "    for i in range(16):\n        if i < 14:\n            A[i] = 1\n    for i in range(14, 16):\n        A[i] = %s\n"
    assert "if" not in made(text % "2")
    assert "if" in made(text % "A[i] + 1")
    assert "if" not in made(head + "    for i in range(16):\n        if i > 0:\n            B[0] = B[0] + i * i\n")
    assert "if" in made(head + "    for i in range(16):\n        if i > 0:\n            B[0] = B[0] + i + 1\n")


def test_undefined_values_are_not_stored():
    head = "@T.prim_func\ndef main(A: T.Buffer((2,), \"int32\")):\n"
    made = tir.transform.RemoveStoreUndef()(tirc.parse(head + "    v = T.undef(dtype=\"int32\")\n    A[0] = v + 1\n    A[1] = 2\n"))
    assert "A[0]" not in made.script() and "A[1] = 2" in made.script()
    with pytest.raises(tirc.TVMError, match="chooses an element"):
        tir.transform.RemoveStoreUndef()(tirc.parse(head + "    A[T.undef(dtype=\"int32\")] = 5\n"))


ALL_REDUCE = """
@T.prim_func
def main(A: T.Buffer((8, %d), "float32"), B: T.Buffer((8,), "float32")):
    for i in T.thread_binding(8, thread="blockIdx.x"):
        for tx in T.thread_binding(%d, thread="threadIdx.x"):
            r = T.decl_buffer((1,), "float32", scope="local")
            with T.attr(T.comm_reducer(lambda x, y: %s, [T.float32(%s)]), "reduce_scope", T.reinterpret("handle", T.uint64(0))):
                T.tvm_thread_allreduce(T.uint32(1), A[i, tx], T.bool(True), r[0], tx)
            if tx == 0:
                B[i] = r[0]
"""


@pytest.mark.parametrize("threads, combine, none", [(32, "x + y", 0), (6, "x + y", 0), (128, "T.max(x, y)", -1e30), (64, "x * y", 1)])
def test_what_threads_make_together(threads, combine, none):
    mod = tirc.parse(ALL_REDUCE % (threads, threads, combine, none))
    assert tirc.difference(mod, tirc.parse(mod.script())) is None
    a = np.random.default_rng(0).uniform(0.5, 1.5, (8, threads)).astype("float32")
    want = {"x + y": a.sum(1), "T.max(x, y)": a.max(1), "x * y": a.prod(1)}[combine]
    lowered = tir.transform.LowerThreadAllreduce()(mod)
    assert "allreduce" not in lowered.script()
    for program in (mod, lowered):
        b = np.zeros(8, "float32")
        tirc.emulate(program, a, b)
        np.testing.assert_allclose(b, want, rtol=1e-4)


def test_marks_around_loops():
    mod = tirc.parse(LOOPS)
    for config, marks in [({}, 0), ({"tir.instrument_lwp": True}, 2), ({"tir.instrument_lwp": True, "tir.instr_siblings": False}, 3),
                          ({"tir.instrument_lwp": True, "tir.instr_siblings": False, "tir.lwp_max_depth": 1}, 1)]:
        with tirc.transform.PassContext(config=config):
            made = tir.transform.InstrumentProfileIntrinsics()(mod)
        assert made.script().count("T.start_profile_intrinsic") == marks, config
        np.testing.assert_array_equal(numbers(mod, None)[0], numbers(made, None)[0])


LOOPS = """
@T.prim_func
def main(A: T.Buffer((4, 4), "int32")):
    for i in range(4):
        for j, k in T.grid(4, 1):
            A[i, j] = i
        for j, k in T.grid(4, 1):
            A[i, j] = A[i, j] + j
"""


def test_a_thread_for_each_point():
    mod = tirc.parse("""
@T.prim_func
def main(A: T.Buffer((8, 16), "int32"), B: T.Buffer((8, 16), "int32")):
    for i, j in T.grid(8, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1
""")
    made = tir.transform.DefaultGPUSchedule()(mod)
    assert 'T.thread_binding(128, thread="threadIdx.x")' in made.script() and "tir.is_scheduled" in made.script()
    a, b = np.arange(128, dtype="int32").reshape(8, 16), np.zeros((8, 16), "int32")
    tirc.emulate(made, a, b)
    np.testing.assert_array_equal(b, a + 1)
    assert tir.transform.DefaultGPUSchedule()(made).script() == made.script()


def test_bfloat16_in_float32():
    """Sums are of float32 then, and nothing of bfloat16 is computed; what is stored is rounded to even."""
    before = tirc.parse("""
@T.prim_func
def main(A: T.Buffer((6,), "bfloat16"), B: T.Buffer((6,), "float32")):
    C = T.decl_buffer((6,), "bfloat16")
    for i in range(6):
        C[i] = A[i] + T.bfloat16(1)
    for i in range(6):
        B[i] = T.Cast("float32", C[i]) * T.float32(2)
        A[i] = T.Cast("bfloat16", B[i])
""")
    wide = tir.transform.BF16ComputeLegalize()(before)
    assert 'T.decl_buffer((6,))' in wide.script() and "T.bfloat16" not in wide.script()
    only_bits = tir.transform.BF16StorageLegalize()(wide)
    assert "bfloat16" not in only_bits.script()
    given = np.array([1, 1.0078125, 3.5, -2, 0.001, 65536], "float32")
    bits = (given.view("uint32") >> 16).astype("uint16")
    stored, sums = bits.copy(), np.zeros(6, "float32")
    tirc.interpret(only_bits, stored, sums)
    exact = (bits.astype("uint32") << 16).view("float32") + np.float32(1)
    np.testing.assert_array_equal(sums, exact * 2)
    u = sums.view("uint32").astype("uint64")
    np.testing.assert_array_equal(stored, ((u + ((u >> 16) & 1) + 0x7FFF) >> 16).astype("uint16"))
    with pytest.raises(tirc.TVMError, match="BF16ComputeLegalize"):
        tir.transform.BF16StorageLegalize()(before)


def bits_of(text):
    """The program without bfloat16, as its text is read again."""
    made = tir.transform.BF16StorageLegalize()(tir.transform.BF16ComputeLegalize()(tirc.parse(text)))
    assert "bfloat16" not in made.script()
    return tirc.parse(made.script())


def test_bfloat16_variables_need_float32():
    for x in ["x: T.bfloat16 = A[i]\n        B[i] = x", "x: T.bfloat16 = A[i]\n        B[i] = A[i]",
              "x = T.bfloat16()\n        B[i] = T.Let(x, where={x: A[i]})"]:
        text = """
@T.prim_func
def main(A: T.Buffer((16,), "bfloat16"), B: T.Buffer((16,), "bfloat16")):
    for i in range(16):
        %s
""" % x
        with pytest.raises(tirc.TVMError, match="run BF16ComputeLegalize first") as e:
            tir.transform.BF16StorageLegalize()(tirc.parse(text))
        assert e.value.line in (5, 6)


def test_bfloat16_constants_are_rounded():
    made = bits_of("""
@T.prim_func
def main(A: T.Buffer((2,), "bfloat16"), B: T.Buffer((2,), "int32")):
    for i in range(2):
        B[i] = T.if_then_else(A[i] == T.bfloat16(0.1), 1, 0)
""")
    equal = np.zeros(2, "int32")
    tirc.interpret(made, np.array([0x3DCD, 0x3DCC], "uint16"), equal)
    np.testing.assert_array_equal(equal, [1, 0])


def test_bfloat16_that_others_look_at():
    """What a view shows, and what a call gets the address of, stays as it is."""
    made = bits_of("""
@T.prim_func
def main(A: T.Buffer((16,), "bfloat16"), B: T.Buffer((16,), "bfloat16")):
    C = T.alloc_buffer((16,), "bfloat16")
    for i in range(16):
        with T.block("a"):
            v = T.axis.spatial(16, i)
            C[v] = A[v] + A[v]
    with T.block("x"):
        D = T.match_buffer(C[0:16], (16,), "bfloat16")
        T.reads(C[0:16])
        T.writes(B[0:16])
        for i in range(16):
            B[i] = D[i]
""")
    doubled = np.zeros(16, "uint16")
    tirc.interpret(made, np.full(16, 0x3F81, "uint16"), doubled)
    np.testing.assert_array_equal(doubled, np.full(16, 0x4001))
    wide = tir.transform.BF16ComputeLegalize()(tirc.parse("""
@T.prim_func
def main(A: T.Buffer((16,), "bfloat16"), B: T.Buffer((16,), "bfloat16")):
    C = T.decl_buffer((16,), "bfloat16")
    for i in range(16):
        C[i] = A[i] + A[i]
    T.evaluate(T.call_extern("int32", "f", T.address_of(C[0])))
    for i in range(16):
        B[i] = C[i]
"""))
    assert 'C = T.decl_buffer((16,), "bfloat16")' in wide.script() and "T.address_of(C[0])" in wide.script()


def test_bfloat16_constants_as_bits():
    made = bits_of("""
@T.prim_func
def main(B: T.Buffer((2,), "bfloat16")):
    C = T.allocate_const([1.5, 0.1], "bfloat16", [2])
    C_1 = T.decl_buffer((2,), "bfloat16", data=C)
    for i in range(2):
        B[i] = C_1[i]
""")
    bits = np.zeros(2, "uint16")
    tirc.interpret(made, bits)
    np.testing.assert_array_equal(bits, [0x3FC0, 0x3DCD])


def test_bfloat16_of_graphs_stays():
    with pytest.raises(tirc.TVMError, match="parameters of f are bfloat16, and so are the tensors that main calls it with"):
        tir.transform.BF16StorageLegalize()(tirc.parse("""
@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer((16,), "bfloat16"), B: T.Buffer((16,), "bfloat16")):
        for i in range(16):
            with T.block("b"):
                v = T.axis.spatial(16, i)
                B[v] = A[v]

    @R.function
    def main(x: R.Tensor((16,), dtype="bfloat16")) -> R.Tensor((16,), dtype="bfloat16"):
        cls = Module
        with R.dataflow():
            g = R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((16,), dtype="bfloat16"))
            R.output(g)
        return g
"""))


def test_text_with_functions():
    """What a text calls and does not have comes with it."""
    f = tirc.script.from_source("""
@T.prim_func
def main(A: T.Buffer((n,), "float32")):
    for i in range(n):
        A[i] = twice(A[i])
""", {"n": 4, "twice": lambda x: x + x})
    a = np.arange(4, dtype="float32")
    tirc.interpret(f, a)
    assert a.tolist() == [0, 2, 4, 6]


SHARED = """
@T.prim_func
def f(A: T.Buffer((1024,), "float32"), B: T.Buffer((1024,), "float32")):
    S = T.alloc_buffer((1024,), scope="shared")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for t in T.thread_binding(256, thread="threadIdx.x"):
            for i in range(4):
                with T.block("s"):
                    vi = T.axis.spatial(1024, t * 4 + i)
                    S[vi] = A[vi]
        for t in T.thread_binding(256, thread="threadIdx.x"):
            for i in range(4):
                with T.block("b"):
                    vi = T.axis.spatial(1024, t * 4 + i)
                    B[vi] = S[vi]
"""


def test_blocks_that_a_pass_makes_are_new():
    """What a pass gives can be scheduled on."""
    mod = tirc.tir.transform.PlanAndUpdateBufferAllocationLocation()(tirc.parse(SHARED))
    sch = tirc.Schedule(mod)
    assert [sch.get(sch.get_block(name)).name_hint for name in ("s", "b")] == ["s", "b"]


def test_limits_of_kernels():
    verify = tirc.tir.analysis.verify_gpu_code
    mod = tirc.parse(SHARED)
    for limit, most in [("max_threads_per_block", 256), ("max_thread_x", 256), ("max_shared_memory_per_block", 4096), ("max_kernels", 1)]:
        assert verify(mod, {limit: most}) and not verify(mod, {limit: most - 1}), limit
    assert verify(mod, {"max_vthread": 0, "max_thread_y": 0, "max_local_memory_per_block": 0})
    lowered = tirc.tir.transform.LowerOpaqueBlock()(tirc.tir.transform.ConvertBlocksToOpaque()(mod))
    assert verify(lowered, {"max_shared_memory_per_block": 4096}) and not verify(lowered, {"max_threads_per_block": 32})
    with pytest.raises(ValueError, match="no limit 'max_threads'"):
        verify(mod, {"max_threads": 1})


BESIDE = """
@T.prim_func
def f(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for b in T.thread_binding(2, "blockIdx.x"):
        for v in T.thread_binding(4, "vthread.x"):
            for t in T.thread_binding(32, "threadIdx.x"):
                with T.block("first"):
                    S = T.alloc_buffer((32,), scope="shared")
                    S[t] = A[b * 32 + t]
                    B[b * 32 + t] = S[t]
        for v in T.thread_binding(2, "vthread.x"):
            for w in T.thread_binding(3, "vthread.y"):
                for t in T.thread_binding(32, "threadIdx.x"):
                    with T.block("second"):
                        S = T.alloc_buffer((32,), scope="shared")
                        S[t] = B[b * 32 + t]
                        B[b * 32 + t] = S[t]
"""


def test_limits_of_loops_beside_each_other():
    """Virtual threads are counted where they are in each other, memory as often as it is made, whatever its name is."""
    verify = tirc.tir.analysis.verify_gpu_code
    mod = tirc.parse(BESIDE)
    for limit, most in [("max_threads_per_block", 32), ("max_vthread", 6), ("max_shared_memory_per_block", 256)]:
        assert verify(mod, {limit: most}) and not verify(mod, {limit: most - 1}), limit
    other = tirc.parse(BESIDE.replace("T.thread_binding(32", "T.thread_binding(16", 1))
    assert not verify(other, {"max_threads_per_block": 1024})  # a kernel has one extent for each axis


def test_memory_of_one_name():
    text = """
@T.prim_func
def f(A: T.Buffer((64,), "float32")):
    T.func_attr({"target": "cuda"})
    U = T.alloc_buffer((64,))
    with T.block("own"):
        S = T.alloc_buffer((64,))
        S[0] = T.float32(1)
    with T.block("other"):
        S = T.match_buffer(U[0:64], (64,))
        S[0] = T.float32(1)
"""
    verify = tirc.tir.analysis.verify_memory
    assert verify(tirc.parse(text).functions["f"]) and not verify(tirc.parse(text.replace("U[0:64]", "A[0:64]")).functions["f"])


def test_memory_of_kernels():
    verify = tirc.tir.analysis.verify_memory
    f = tirc.parse(SHARED).functions["f"]
    assert verify(f) and verify(f.with_attr({"target": "cuda"}))
    host = tirc.parse(SHARED.replace("T.thread_binding(1, thread=\"blockIdx.x\")", "range(1)").replace("T.thread_binding(256, thread=\"threadIdx.x\")", "range(256)"))
    host = host.functions["f"]
    assert verify(host) and verify(host.with_attr({"target": "llvm"})) and not verify(host.with_attr({"target": "cuda"}))


def test_indices_of_32_bits_by_force():
    mod = tirc.parse("""
@T.prim_func
def main(A: T.Buffer((T.int64(4),), "float32"), n: T.int64):
    for i in range(T.int64(4)):
        with T.block("A"):
            vi = T.axis.spatial(T.int64(4), i)
            m: T.int64 = T.Cast("int64", A[vi]) + n
            A[vi] = T.Select(n <= vi, T.Cast("float32", vi * T.int64(3)), T.Cast("float32", m))
""")
    made = tir.transform.ForceNarrowIndexToInt32()(mod)
    text = made.script()
    assert "n: T.int32" in text and "T.axis.spatial(4, i)" in text and "int64" not in text
    for n in (0, 2, 9):
        a = np.arange(4, dtype="float32") * 7
        b = a.copy()
        tirc.interpret(mod, a, n)
        tirc.interpret(made, b, n)
        np.testing.assert_array_equal(a, b)
    with pytest.raises(tirc.TVMError, match="the elements of A have 64 bits"):
        tir.transform.ForceNarrowIndexToInt32()(tirc.parse("@T.prim_func\ndef main(A: T.Buffer((4,), \"int64\")):\n    A[0] = T.int64(1)\n"))
    with pytest.raises(tirc.TVMError, match="does not fit 32 bits"):
        tir.transform.ForceNarrowIndexToInt32()(tirc.parse(
            "@T.prim_func\ndef main(A: T.Buffer((4,), \"int32\")):\n    for i in range(T.int64(5000000000)):\n        A[i % T.int64(4)] = 1\n"))


DOUBLED = """
@T.prim_func
def main(A: T.Buffer((16, 32), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        memory = T.allocate([32], "float32", "local")
        cache = T.Buffer(%s, "float32", data=memory)
        T.attr(memory, "double_buffer_scope", 1)
        for j in range(32):
            cache[j] = A[i, j]
        B[i] = cache[0] + cache[31]
"""


def test_double_buffers():
    mod = tirc.parse(DOUBLED % 32)
    assert mod.script().count('scope="local"') == 2
    made = tir.transform.InjectDoubleBuffer()(mod)
    assert "cache[i % 2 * 32 + j] = A[i, j]" in made.script()
    a = np.random.rand(16, 32).astype("float32")
    x, y = np.zeros(16, "float32"), np.zeros(16, "float32")
    tirc.interpret(mod, a, x)
    tirc.interpret(made, a, y)
    np.testing.assert_array_equal(x, y)
    part = tirc.parse(DOUBLED.replace("cache[31]", "cache[1]").replace("range(32)", "range(16)") % 16)
    assert tirc.structural_equal(part, tir.transform.InjectDoubleBuffer()(part))


def test_unrolling_what_registers_hold():
    mod = tirc.parse("""
@T.prim_func
def main(B: T.Buffer((4,), "float32")):
    A = T.decl_buffer((4,), scope="local")
    for i in range(4):
        A[i] = B[i]
    for i in range(4):
        B[3 - i] = A[i]
""")
    assert tir.transform.UnrollLoop()(mod).script().count("in range(4)") == 2
    with tirc.transform.PassContext(config={"tir.UnrollLoop": {"unroll_local_access": True}}):
        made = tir.transform.UnrollLoop()(mod)
    assert "range" not in made.script()
    x, y = np.arange(4, dtype="float32"), np.arange(4, dtype="float32")
    tirc.interpret(mod, x)
    tirc.interpret(made, y)
    np.testing.assert_array_equal(x, y)
    with pytest.raises(ValueError, match="pragma_auto_unroll_max_step"):
        tirc.transform.PassContext(config={"tir.UnrollLoop": {"auto_max_step": 16}})


def test_comparisons_of_quotients():
    mod = tirc.parse("""
@T.prim_func
def main(A: T.Buffer((256,), "int32")):
    for i, j in T.grid(8, 32):
        A[i * 32 + j] = T.Select(128 <= i * 32 + j, 1, 0) + T.Select(129 <= i * 32 + j, 1, 0)
""")
    made = tir.transform.RenormalizeSplitPattern()(mod)
    assert "T.Select(4 <= i, 1, 0) + T.Select(129 <= i * 32 + j, 1, 0)" in made.script()
    x, y = np.zeros(256, "int32"), np.zeros(256, "int32")
    tirc.interpret(mod, x)
    tirc.interpret(made, y)
    np.testing.assert_array_equal(x, y)


def test_double_buffers_that_blocks_see_stay():
    mod = tirc.parse("""
@T.prim_func
def main(A: T.Buffer((16, 32), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        memory = T.allocate([32], "float32", "local")
        cache = T.Buffer(32, "float32", data=memory)
        T.attr(memory, "double_buffer_scope", 1)
        for j in range(32):
            cache[j] = A[i, j]
        with T.block("q"):
            vi = T.axis.spatial(16, i)
            part = T.match_buffer(cache[0:16], (16,), scope="local")
            B[vi] = part[0]
""")
    made = tir.transform.InjectDoubleBuffer()(mod)
    a, b = np.arange(512, dtype="float32").reshape(16, 32), np.zeros(16, "float32")
    tirc.interpret(made, a, b)
    assert (b == a[:, 0]).all()


def test_a_thread_is_launched_once_by_each_kernel():
    mod = tirc.parse("""
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    i = T.env_thread("threadIdx.x")
    j = T.env_thread("threadIdx.x")
    k = T.env_thread("threadIdx.x")
    with T.launch_thread(i, 4):
        with T.launch_thread(k, 8):
            A[k] = 1.0
        with T.launch_thread(j, 4):
            B[j] = A[i] * 2.0
    with T.launch_thread(i, 4):
        with T.launch_thread(j, 4):
            C[j] = C[j] + B[i] + 1.0
""")
    assert mod.script().count("threadIdx.x") == 3
    a, b, c = np.zeros(8, "float32"), np.zeros(4, "float32"), np.zeros(4, "float32")
    tirc.interpret(mod, a, b, c)
    assert (b == 2).all() and (c == 3).all()


def test_threads_launched_within_themselves():
    mod = tirc.parse("""
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    j = T.env_thread("threadIdx.x")
    i = T.env_thread("threadIdx.x")
    T.launch_thread(i, 4)
    T.launch_thread(j, 4)
    for k in range(8):
        if T.ignore_loop_partition(k < 6):
            B[j, k] = A[i, k] * 2.0
""")
    assert mod.script().count("threadIdx.x") == 1
    a, b = np.ones((4, 8), "float32"), np.zeros((4, 8), "float32")
    tirc.interpret(mod, a, b)
    assert b.sum() == 48
