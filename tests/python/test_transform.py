"""Passes over modules: functions and classes, and the pass of a script does the same."""

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
