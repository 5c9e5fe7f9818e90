"""Programs from the source text of decorated functions, and how they show themselves."""

import io
import signal
import sys

import numpy as np
import pytest

import tirc
from support import MATMUL
from tirc.script import ir as I
from tirc.script import tir as T

N = 24
DTYPE = "float32"


@T.prim_func
def doubled(A: T.Buffer((N,), DTYPE), B: T.Buffer((N,), DTYPE)):
    for i in range(N):
        with T.block("B"):
            vi = T.axis.spatial(N, i)
            B[vi] = A[vi] * T.float32(2)


@I.ir_module
class Two:
    @T.prim_func
    def main(A: T.Buffer((N,), "float32")):
        for i in range(N):
            with T.block("A"):
                vi = T.axis.spatial(N, i)
                A[vi] = A[vi] + T.float32(1)

    @T.prim_func(private=True)
    def other(A: T.Buffer((4, 4), "int32")):
        for i, j in T.grid(4, 4):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = vi * vj


def scaled(n, factor, shape):
    @T.prim_func
    def main(A: T.Buffer((n, 2), "float32"), B: T.Buffer(shape, "float32")):
        for i, j in T.grid(n, 2):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(factor)
    return main


def test_names_of_the_module():
    assert [repr(p) for p in doubled.params] == ["A: float32[24]", "B: float32[24]"]
    assert doubled.params[1].is_written and not doubled.params[0].is_written
    a, b = np.arange(N, dtype="float32"), np.zeros(N, "float32")
    tirc.build(doubled)(a, b)
    np.testing.assert_array_equal(b, 2 * a)


def test_names_of_closures():
    for n, factor in ((3, 0.5), (np.int64(5), np.float32(4))):
        a = np.ones((n, 2), "float32")
        b = np.zeros_like(a)
        tirc.build(scaled(n, factor, (n, 2)))(a, b)
        np.testing.assert_array_equal(b, a * factor)


def test_modules():
    assert list(Two.functions) == ["main", "other"]
    built = tirc.build(Two)
    a, b = np.zeros(N, "float32"), np.zeros((4, 4), "int32")
    built(a)
    built["other"](b)
    assert a.sum() == N and b[3, 3] == 9
    alone = tirc.IRModule({"renamed": Two["other"]})
    assert list(alone.functions) == ["renamed"] and "def renamed(" in alone.script()


def test_a_schedule_of_one_function_calls_it_main():
    sch = tirc.Schedule(doubled)
    assert list(sch.mod.functions) == ["main"] and sch.func_working_on == "main"
    tirc.assert_structural_equal(sch.mod["main"], doubled)
    sch.get_block("B", func_name="main")
    built = tirc.build(sch.mod)
    for kernel in (built, built["main"], built["doubled"]):  # what it is called outside is its global_symbol
        b = np.zeros(N, "float32")
        kernel(np.ones(N, "float32"), b)
        assert b.sum() == 2 * N
    assert list(tirc.Schedule(Two["other"]).mod.functions) == ["main"]
    assert list(tirc.Schedule(Two).mod.functions) == ["main", "other"]
    assert list(tirc.build(doubled).mod.functions) == ["doubled"]


def test_a_build_has_every_function():
    built = tirc.build(tirc.IRModule({"one": doubled, "two": Two["other"]}))
    a, b = np.ones(N, "float32"), np.zeros(N, "float32")
    built["one"](a, b)
    built["two"](np.zeros((4, 4), "int32"))
    assert b.sum() == 2 * N
    for missing in (lambda: built(a, b), lambda: built["__tvm_main__"], lambda: built["three"]):
        with pytest.raises(KeyError, match="one, two"):
            missing()


def test_mistakes_have_the_place_of_the_source():
    with pytest.raises(tirc.TVMError) as caught:
        @T.prim_func
        def broken(A: T.Buffer((N,), "float32")):
            for i in range(N):
                A[i] = no_such_name
    e = caught.value
    assert isinstance(e, NameError) and e.file == __file__
    assert "no_such_name" in open(__file__).read().split("\n")[e.line - 1]
    assert "A[i] = no_such_name" in str(e)


def test_without_source_text():
    names = {"T": T}
    with pytest.raises(tirc.TVMError, match="source text"):
        exec("@T.prim_func\ndef f(a: T.int32):\n    T.evaluate(a)\n", names)


def test_text_goes_around():
    mod = tirc.parse(MATMUL)
    tirc.assert_structural_equal(tirc.parse(mod.script()), mod)
    other = tirc.parse(MATMUL.replace("24", "25"))
    assert not tirc.structural_equal(mod, other)
    assert tirc.structural_hash(tirc.parse(mod.script())) == tirc.structural_hash(mod)
    assert tirc.structural_hash(other) != tirc.structural_hash(mod)
    with pytest.raises(ValueError):
        tirc.ir.assert_structural_equal(mod, other)
    func = tirc.script.from_source(MATMUL)
    assert isinstance(func, tirc.PrimFunc) and func.name == "main"
    assert "def main" in tirc.parse("M = 4\n" + MATMUL.replace("16", "M"), M=8).script()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_colours_on_a_terminal_only(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    sch = tirc.Schedule(doubled)
    for thing in (doubled, sch, sch.mod, sch.trace):
        for out, coloured in ((io.StringIO(), False), (Terminal(), True)):
            monkeypatch.setattr(sys, "stdout", out)
            thing.show()
            assert ("\033[" in out.getvalue()) == (coloured and "sch." in out.getvalue() or coloured and "def" in out.getvalue())
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", Terminal())
    doubled.show()
    assert "\033[" not in sys.stdout.getvalue() and "@T.prim_func" in sys.stdout.getvalue()


def test_notebooks():
    for thing in (doubled, tirc.parse(MATMUL), tirc.Schedule(doubled)):
        html = thing._repr_html_()
        assert html.startswith("<pre") and "<span" in html and "def" in html
        assert "&quot;float32&quot;" in html


def test_lowered_and_emitted():
    mod = tirc.parse(MATMUL)
    assert "T.block" not in mod.lower().script()
    assert "define" in mod.emit("llvm") and "#include <stdint.h>" in mod.emit("c") and mod.emit("obj")[:4] == b"\x7fELF"
    with pytest.raises(ValueError):
        mod.emit("pdf")


def test_layouts_of_parameters():
    sch = tirc.Schedule(tirc.parse(MATMUL))
    assert sch.mod.relayout(1) is None
    sch.transform_layout("C", "B", lambda i, j: (j, i))
    text = sch.mod.relayout(1).script()
    assert "B_now[i1, i0] = B[i0, i1]" in text
    assert "B[i0, i1] = B_now[i1, i0]" in sch.mod.relayout(1, back=True).script()
    assert tirc.Schedule(sch.mod).mod.relayout(1) is None  # it counts from the schedule's start
    with pytest.raises(tirc.TVMError, match="no parameter number 7"):
        sch.mod.relayout(7)


def test_rules_schedule_it(tmp_path):
    tried = []
    mod = tirc.auto(doubled, explain=lambda *args: tried.append(args))
    assert tried[-1][0] == "main" and tried[-1][2] is True
    a, b = np.arange(N, dtype=DTYPE), np.zeros(N, DTYPE)
    tirc.build(mod)(a, b)
    assert (b == 2 * a).all()
    plain = tirc.Schedule(doubled)
    plain_calls = {}
    exec(mod.trace_script().replace(": tir.Schedule", ""), plain_calls)
    plain_calls["apply_trace"](plain)
    tirc.assert_structural_equal(plain.mod, mod)
    mine = tmp_path / "mine.sch"
    mine.write_text("def unrolls(sch, func):\n    sch.unroll(sch.get_loops('B')[0])\n    return True\nrules = [unrolls]\n")
    assert "T.unroll(24)" in tirc.auto(doubled, rules=str(mine)).script()
    mine.write_text("rules = 1\n")
    with pytest.raises(tirc.TVMError, match="rules"):
        tirc.auto(doubled, rules=str(mine))


def test_a_search_finds_it_again(tmp_path):
    heard, base = [], str(tmp_path / "tuned.db")
    with pytest.warns(tirc.ScheduleWarning, match="looks for one"):
        tirc.assert_structural_equal(tirc.tuned(doubled, threads=1, database=base), tirc.auto(doubled))
    result = tirc.tune(doubled, threads=1, trials=3, seed=1, database=base, told=heard.append)
    assert result.trials == len(heard) and heard[0].way == "automatic" and not result.wrong
    a, b = np.arange(N, dtype=DTYPE), np.zeros(N, DTYPE)
    tirc.build(result.mod)(a, b)
    assert (b == 2 * a).all()
    known = tirc.tuned(doubled, threads=1, database=base)
    tirc.build(known)(a, b)
    assert "sample" not in known.trace_script() + result.mod.trace_script()
    assert tirc.tune(doubled, threads=1, trials=9, database=False, told=lambda t: True).trials == 1
    with pytest.raises(ZeroDivisionError):
        tirc.tune(doubled, threads=1, trials=2, database=False, told=lambda t: 1 / 0)
    heard.clear()
    with pytest.raises(KeyboardInterrupt):
        tirc.tune(doubled, threads=1, trials=9, database=False,
                  told=lambda t: heard.append(t) or signal.raise_signal(signal.SIGINT))
    assert len(heard) == 1 and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(ValueError, match="from 1"):
        tirc.tune(doubled, trials=0)


def test_what_no_rule_takes_stays_as_it_is():
    nothing = tirc.parse("@T.prim_func\ndef main(A: T.Buffer((4,), 'float32')):\n    T.evaluate(0)\n")
    with pytest.warns(tirc.ScheduleWarning, match="no rule"):
        assert tirc.structural_equal(tirc.auto(nothing), nothing)


RETURNS = """@T.prim_func
def f(n: T.int32, A: T.Buffer((4,), "float32")) -> T.float32:
    x: T.float32 = T.Cast("float32", n)
    if n > 10:
        return x
    elif n > 5:
        A[0] = x
        if n > 7:
            T.ret(A[0] + T.float32(1))
        else:
            return A[1]
    else:
        for i in range(n):
            A[i] = A[i] * 2.0
    return A[2] - x
"""


def test_functions_that_return_a_value():
    mod = tirc.parse(RETURNS)
    text = mod.script()
    assert 'result: T.Buffer((1,), "float32")' in text and '"tirc.returns": T.bool(True)' in text
    assert tirc.parse(text).script() == text

    def expected(n, a):
        if n > 10:
            return n
        if n > 5:
            a[0] = n
            if n > 7:
                return n + 1
            return a[1]
        else:
            a[:n] *= 2
        return a[2] - n
    built = tirc.build(mod)
    for n in (12, 9, 6, 4, 0):
        arrays = [np.arange(4, dtype="float32") + 1 for _ in range(3)]
        wanted = expected(n, arrays[0])
        assert tirc.interpret(mod, n, arrays[1]) == built(n, arrays[2]) == wanted
        assert np.array_equal(arrays[0], arrays[1]) and np.array_equal(arrays[0], arrays[2])
    given = np.zeros(1, "float32")
    assert built["f"](12, arrays[0], given) is None and given[0] == 12
    for type_, value in (("T.int64", "n * T.int64(3)"), ("T.bool", "n > 1"), (None, "T.Cast(\"float64\", n)")):
        one = tirc.parse("@T.prim_func\ndef f(n: T.int64)%s:\n    return %s\n" % (" -> " + type_ if type_ else "", value))
        assert tirc.build(one)(5) == {"T.int64": 15, "T.bool": True}.get(type_, 5.0)
    wide = tirc.build(tirc.parse("@T.prim_func\ndef f(n: T.int64) -> \"int64\":\n    if n > 3:\n        return 1\n    return n\n    pass\n"))
    assert wide(-(1 << 40)) == -(1 << 40) and wide(4) == 1
    assert wide["f"].time(5, number=1, repeat=1).mean > 0 and wide.time_evaluator("f", number=1)(5).mean > 0
    with pytest.raises(tirc.ArgumentError, match="f takes 1 arguments, not 0"):
        wide()
    called = tirc.parse("@T.prim_func\ndef f(n: T.int32):\n    T.evaluate(T.call_intrin(\"int32\", \"tir.ret\", n))\n")
    assert tirc.build(called)(7) == 7
    assert tirc.build(tirc.parse("@T.prim_func\ndef f() -> T.int64:\n    return T.int64(42)\n"))() == 42
    with pytest.raises(tirc.TVMError, match="which others call, returns a value"):
        tirc.parse("@I.ir_module\nclass Module:\n    @T.prim_func\n    def main(n: T.int32):\n        Module.one(n)\n\n"
                   "    @T.prim_func(private=True)\n    def one(n: T.int32) -> T.int32:\n        return n\n")
