"""Warnings of the library as Python's: where they point, what filters do, and strict schedules."""

import warnings

import pytest

import tirc
from support import MATMUL
from tirc.script import tir as T


@T.prim_func
def shifted(A: T.Buffer((9,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi + 1] = A[vi]


TILE = """
i, j, k = sch.get_loops("C")
io, ii = sch.split(i, factors=[None, 128])
sch.reorder(io, j, k, ii)
sch.reverse_compute_at(sch.cache_write("C", 0, "local"), j)
"""


def line(number):
    return open(__file__).read().split("\n")[number - 1]


@pytest.fixture
def sch():
    return tirc.Schedule(tirc.parse(MATMUL))


def test_a_program_is_warned_of_where_its_block_stands():
    for make in (lambda: tirc.Schedule(shifted), tirc.ir.IRModule({"shifted": shifted}).check):
        with pytest.warns(tirc.ScheduleWarning, match=r"block A declares its iterator vi spatial.*\[spatial-dep") as heard:
            make()
        assert len(heard) == 1 and heard[0].message.code == "spatial-dependence"
    with pytest.warns(tirc.ScheduleWarning) as heard:
        tirc.Schedule(shifted)
    w = heard[0].message
    assert (heard[0].filename, heard[0].lineno) == (w.file, w.line) and 'T.block("A")' in line(w.line)
    assert w.file == __file__ and "[" not in w.message.replace("A[", "") and isinstance(w, UserWarning)


def test_a_call_is_warned_of_at_its_line(sch):
    j = sch.get_loops("C")[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sch.vectorize(j)
    with pytest.warns(tirc.ScheduleWarning, match="loop j is vectorized already") as heard:
        sch.vectorize(j)
        sch.copy().vectorize(j)
    assert [h.message.code for h in heard] == ["warning"] * 2 and heard[0].filename == __file__
    assert "sch.vectorize(j)" in line(heard[0].lineno) and "copy()" in line(heard[1].lineno)
    with pytest.warns(tirc.ScheduleWarning) as heard, pytest.raises(tirc.ScheduleError, match="get_block"):
        sch.run_script("sch.vectorize(sch.get_loops('C')[1])\nsch.get_block('none')", "text")
    assert (heard[0].filename, heard[0].lineno, len(heard)) == ("text", 1, 1)


def test_filters(sch):
    j = sch.get_loops("C")[1]
    sch.vectorize(j)
    with warnings.catch_warnings():
        warnings.simplefilter("error", tirc.ScheduleWarning)
        with pytest.raises(tirc.ScheduleWarning, match="vectorized already"):
            sch.vectorize(j)
        warnings.simplefilter("ignore", tirc.ScheduleWarning)
        sch.vectorize(j)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        for _ in range(3):
            sch.vectorize(j)
    assert len(heard) == 1  # once a line
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sch.parallel(sch.get_loops("C")[0])  # nothing is left over


def test_strict_schedules():
    mod = tirc.parse(MATMUL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sch = tirc.Schedule(mod, strict=True)
        i, j, k = sch.get_loops("C")
        sch.vectorize(j)
        before = sch.mod.script()
        trace = str(sch.trace)
        for s in (sch, sch.copy()):
            with pytest.raises(tirc.ScheduleError, match="loop i|vectorized loop") as caught:
                s.vectorize(i)
            assert caught.value.code == "warning" and caught.value.primitive == "vectorize"
            assert s.mod.script() == before and str(s.trace) == trace
        for refused in (lambda: tirc.Schedule(shifted, strict=True), lambda: tirc.schedule_script(shifted, "", strict=True),
                        lambda: tirc.IRModule({"main": shifted}).check(strict=True)):
            with pytest.raises(tirc.ScheduleError) as caught:
                refused()
            assert caught.value.code == "spatial-dependence" and "strict=True" in caught.value.hint
        with pytest.raises(TypeError, match="strict is a bool"):
            tirc.Schedule(mod, strict=1)


def test_code_is_asked_for():
    plain = tirc.parse(MATMUL.replace("16", "128"))
    mod = tirc.schedule_script(plain, TILE)
    with pytest.warns(tirc.ScheduleWarning, match=r'"C_local" \(local\) stays in memory.*\[local-in-memory\]') as heard:
        mod.check_code()
    assert heard[0].message.file is None and heard[0].filename == __file__ and "check_code" in line(heard[0].lineno)
    with pytest.raises(tirc.ScheduleError) as caught:
        mod.check_code(target="haswell", strict=True)
    assert caught.value.code == "local-in-memory"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain.check()
        tirc.schedule_script(plain, TILE + "sch.unroll(ii)\nsch.unroll(sch.get_loops('C_local')[-1])\n").check_code()
