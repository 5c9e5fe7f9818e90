"""Schedules in Python: handles, values in both directions, errors, copies, traces."""

import threading

import numpy as np
import pytest

import tirc
from support import EXAMPLES, MATMUL
from tirc.script import tir as T


@pytest.fixture
def sch():
    return tirc.Schedule(tirc.parse(MATMUL), seed=1)


def test_handles_and_what_is_behind_them(sch):
    block = sch.get_block("C")
    i, j, k = loops = sch.get_loops(block)
    assert isinstance(block, tirc.tir.BlockRV) and all(isinstance(x, tirc.tir.LoopRV) for x in loops)
    assert i == sch.get_loops("C")[0] and i != j and len({i, j, k, sch.get_loops(block)[0]}) == 3
    assert [sch.get(x).extent for x in loops] == [16, 32, 24] and sch.get(i).extent.value == 16
    assert isinstance(sch.get(i), tirc.tir.For) and isinstance(sch.get(block), tirc.tir.Block)
    assert [v.kind for v in sch.get(block).iter_vars] == ["spatial", "spatial", "reduce"]
    assert [v.dom.extent for v in sch.get(block).iter_vars] == [16, 32, 24]
    assert [r.buffer.name for r in sch.get(block).reads] == ["A", "B"]
    assert sch.get(block).reads[0].buffer.shape == [16, 24]
    assert "for i" in str(sch.get(i)) and "LoopRV" in repr(i)
    with pytest.raises(AttributeError, match="no attribute"):
        sch.get(i).nonsense


def test_expressions(sch):
    extent = sch.get(sch.get_block("C")).iter_vars[0].var
    assert isinstance(extent, tirc.tir.ExprRV)
    assert str((extent * 2 + 1) // 3 % 5 - 7) == "(%s * 2 + 1) // 3 %% 5 - 7" % extent
    assert str(8 - extent) == "8 - %s" % extent and str(extent < 3) == "%s < 3" % extent
    with pytest.raises(TypeError, match="not known"):
        bool(extent < 3)


def test_arguments_of_every_kind(sch):
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    a, b = sch.split(i, [np.int64(4), None], preserve_unit_iters=True)
    c, d = sch.split(j, factors=(T.int64(4), sch.get(a).extent * 2))
    assert sch.get(b).extent == 4 and sch.get(d).extent == 8
    sch.annotate(a, "key", {"list": [1, 2.5, "three", True], "text": "x"})
    assert sch.get(a).annotations == {"key": {"list": [1, 2.5, "three", True], "text": "x"}}
    sch.transform_layout(block, ("write", 0), lambda i, j: [j // 8, i, j % 8])
    sch.transform_layout(block, "A", index_map=lambda *i: (i[1], i[0]))
    assert "C: T.Buffer((4, 16, 8)" in sch.mod.script() and "A: T.Buffer((24, 16)" in sch.mod.script()


def test_parameters_for_keywords_are_the_last_indices(sch):
    sch.transform_layout("C", "A", lambda *i, k: (k // 8, *i, k % 8))
    sch.transform_layout("C", "C", lambda i, *, j: (j, i))
    sch.transform_layout("C", "C", lambda i, j, *, n=2: (i // n, j, i % n))
    assert "A: T.Buffer((3, 16, 8)" in sch.mod.script() and "C: T.Buffer((16, 16, 2)" in sch.mod.script()


def test_what_a_function_of_ones_own_raises_comes_out(sch):
    before = sch.mod.script()
    with pytest.raises(ZeroDivisionError):
        sch.transform_layout("C", "A", lambda i, j: (1 // 0, j))
    with pytest.raises(tirc.TVMError, match="gives a str"):
        sch.transform_layout("C", "A", lambda i, j: (i, "x"))
    with pytest.raises(TypeError, match="takes no class"):
        sch.annotate("C", "x", int)
    with pytest.raises(ValueError, match="character 0"):
        sch.get_block("C\0")
    with pytest.raises(TypeError, match="takes no object"):
        sch.transform_layout("C", "A", lambda i, j: (i, object()))
    assert sch.mod.script() == before


def test_schedule_errors(sch):
    i, j, k = sch.get_loops("C")
    before = sch.mod.script()
    with pytest.raises(tirc.ScheduleError) as caught:
        sch.parallel(k)
    e = caught.value
    assert isinstance(e, tirc.TVMError) and isinstance(e, RuntimeError)
    assert e.primitive == "parallel" and e.call == "sch.parallel(k)" and e.code == "not-data-parallel"
    assert "reduce" in e.condition and e.hint and "^^^" in e.ir
    assert e.location[0] == __file__ and "sch.parallel(k)" in open(__file__).read().split("\n")[e.line - 1]
    for part in (e.message, e.code, e.condition, e.hint, "sch.parallel(k)", "^^^"):
        assert part in str(e)
    assert sch.mod.script() == before


def test_places_of_errors(sch):
    i, j, k = sch.get_loops("C")
    for call in (lambda: sch.splitt(i),
                 lambda: i.nothing,
                 lambda: sch.get(i).nothing,
                 lambda: sch.parallel(k)):
        with pytest.raises(tirc.TVMError) as caught:
            call()
        assert caught.value.location[:2] == (__file__, call.__code__.co_firstlineno)


def test_wrong_arguments(sch):
    i, j, k = sch.get_loops("C")
    for call in (lambda: sch.split(i), lambda: sch.split(i, [2, None], nonsense=1), lambda: sch.split("C", [2, None]),
                 lambda: sch.split(i, object()), lambda: sch.fuse([i, j])):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(OverflowError):
        sch.split(i, [2**64, None])
    with pytest.raises(tirc.ArgumentError):
        sch.split(i, [2**64 - 1, None])
    sch.split(i, [2, None])
    with pytest.raises(ValueError, match="no longer in the program"):
        sch.parallel(i)
    with pytest.raises(IndexError):
        sch.parallel(i)
    with pytest.raises(tirc.ArgumentError, match="another schedule"):
        tirc.Schedule(sch.mod).parallel(j)
    with pytest.raises(AttributeError):
        sch.paralel(j)
    with pytest.raises(TypeError):
        tirc.Schedule("no module")


def test_copies_go_their_own_way(sch):
    loops = sch.get_loops("C")
    other = sch.copy()
    other.vectorize(loops[1])
    assert "vectorized" in other.mod.script() and "vectorized" not in sch.mod.script()
    sch.parallel(loops[0])
    del sch
    assert "parallel" not in other.mod.script()


def test_traces_of_schedules_apart(sch):
    i, _, _ = sch.get_loops("C")
    sch.split(i, sch.sample_perfect_tile(i, 2, decision=[8, 2]))
    seen = []

    def provider(inst, inputs, attrs, decision):
        seen.append(inst.kind.name)
        return [4, 4] if decision else None

    again = tirc.Schedule(tirc.parse(MATMUL))
    sch.trace.apply_to_schedule(again, remove_postproc=False, decision_provider=provider)
    assert seen == [inst.kind.name for inst in sch.trace.insts]
    assert [again.get(x).extent for x in again.get_loops("C")][:2] == [4, 4]
    third = tirc.Schedule(tirc.parse(MATMUL))
    tirc.tir.schedule.Trace.apply_json_to_schedule(sch.trace.as_json(), third)
    assert str(third.trace) == str(sch.trace)
    insts = sch.trace.insts
    made = tirc.tir.schedule.Trace(insts[:-1], {insts[-2]: [2, 8]})
    made.append(insts[-1])
    assert made.get_decision(insts[-2]) == [2, 8] and len(made.insts) == len(insts)
    with pytest.raises(ZeroDivisionError):
        sch.trace.apply_to_schedule(third, decision_provider=lambda *_: 1 // 0)


@pytest.mark.parametrize("ranges", [lambda vi, vj, vk: ((vi, vi + 1), (vk, vk + 1)), lambda vi, vj, vk: [(vi, vi + 1), [vk, vk + 1]]])
def test_text_of_a_trace_is_that_of_its_json(sch, ranges):
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    sch.annotate_buffer_access(block, 0, "read", ranges)
    sch.transform_layout(block, ("read", 0), lambda a, b: [b, a])
    again = tirc.Schedule(tirc.parse(MATMUL))
    tirc.tir.schedule.Trace.apply_json_to_schedule(sch.trace.as_json(), again)
    assert str(again.trace) == str(sch.trace)
    assert again.trace.as_json() == sch.trace.as_json()


def test_traces_and_sampling(sch):
    i, j, k = sch.get_loops("C")
    tile = sch.sample_perfect_tile(j, n=2)
    assert tile[0] * tile[1] == 32
    sch.split(j, tile)
    assert "factors=[v" in str(sch.trace)  # they stand as random variables
    assert [inst.kind.name for inst in sch.trace.insts] == ["GetBlock", "GetLoops", "SamplePerfectTile", "Split"]
    again = tirc.Schedule(tirc.parse(MATMUL))
    sch.trace.apply_to_schedule(again, remove_postproc=False)
    tirc.assert_structural_equal(again.mod, sch.mod)
    assert isinstance(sch.trace.as_json(), (list, tuple))
    assert tirc.Schedule(sch.mod, seed=3).fork_seed() == tirc.Schedule(sch.mod, seed=3).fork_seed()


def test_traces_know_what_was_registered():
    mod = tirc.read(EXAMPLES / "tensorize" / "dot" / "dot.tir")
    own = mod.functions
    main = tirc.IRModule({"main": own["main"]})
    tirc.TensorIntrin.register("dot32", own["dot32_desc"], own["dot32_avx2"])
    try:
        sch, again, third = (tirc.Schedule(main) for _ in range(3))
        block = sch.get_block("C")
        k, inner = sch.split(sch.get_loops(block)[2], [None, 32])
        sch.decompose_reduction(block, k)
        sch.tensorize(inner, "dot32")
        sch.trace.apply_to_schedule(again)
        tirc.tir.Trace.apply_json_to_schedule(sch.trace.as_json(), third)
        for other in (again, third):
            tirc.assert_structural_equal(other.mod, sch.mod)
    finally:
        tirc.TensorIntrin._registered.clear()


def test_several_functions():
    text = "@I.ir_module\nclass Module:\n" + "".join(
        "    " + line + "\n" for f in ("one", "two") for line in MATMUL.replace("main", f).strip().split("\n"))
    sch = tirc.Schedule(tirc.parse(text))
    sch.work_on("two")
    assert sch.func_working_on == "two"
    sch.parallel(sch.get_loops("C")[0])
    assert "parallel" in sch.mod["two"].script() and "parallel" not in sch.mod["one"].script()
    assert sch.get_block("C", func_name="one") != sch.get_block("C")


def test_results_outlive_their_schedule():
    def scheduled():
        s = tirc.Schedule(tirc.parse(MATMUL))
        return s.mod, s.get(s.get_loops("C")[2]), s.trace

    mod, loop, trace = scheduled()
    assert loop.extent == 24 and "C" in str(trace) and mod["main"].params[0].shape == (16, 24)


@pytest.mark.parametrize("options, error", [
    ({"seed": 0}, ValueError), ({"seed": 2**31}, ValueError), ({"seed": "x"}, TypeError),
    ({"debug_mask": "some"}, ValueError), ({"debug_mask": 2.5}, TypeError),
    ({"error_render_level": "x"}, ValueError), ({"enable_check": 1}, TypeError)])
def test_what_the_constructor_refuses(options, error):
    with pytest.raises(error, match=next(iter(options))):
        tirc.Schedule(tirc.parse(MATMUL), **options)


@pytest.mark.parametrize("mask, verified", [("none", 0), ("all", 3), (0, 0), (1, 1), (2, 2), (3, 3), (True, 1)])
def test_debug_mask(mask, verified):
    sch = tirc.Schedule(tirc.parse(MATMUL), debug_mask=mask)
    assert sch.state.debug_mask == verified


def test_error_render_level():
    texts = {}
    for level in ("detail", "fast", "none"):
        sch = tirc.Schedule(tirc.parse(MATMUL), error_render_level=level, enable_check=False)
        for own in (sch, sch.copy()):
            with pytest.raises(tirc.ScheduleError) as caught:
                own.parallel(own.get_loops("C")[2])
            assert caught.value.code == "not-data-parallel" and "for i" in caught.value.ir
            texts[level] = str(caught.value)
    assert "hint:" in texts["detail"] and "hint:" not in texts["fast"] and texts["fast"] in texts["detail"]
    assert texts["fast"] and texts["none"] == "(not rendered)"
    with pytest.raises(tirc.ScheduleError) as caught:
        tirc.Schedule(tirc.parse(MATMUL), error_render_level="fast").get_block("none")
    assert str(caught.value) == "Cannot find a block with the specified name" and "none" in caught.value.message


def test_references_to_statements(sch):
    from tirc.tir.schedule import DepKind, StmtSRef
    block = sch.get_block("C")
    ref = sch.get_sref(block)
    assert isinstance(ref, StmtSRef) and ref == sch.state.get_sref(sch.get(block)) and ref != ref.parent
    assert ref.stmt.name_hint == "C" and sch.get(ref) == ref.stmt and ref.seq_index == -1
    assert ref.parent.stmt.loop_var.name == "k" and ref.parent.parent.parent.parent.parent is None
    cached = sch.get_sref(sch.cache_read(block, 0, "local"))
    scope = sch.state.get_block_scope(sch.get_sref(sch.get_block("root")))
    dep, = scope.get_deps_by_src(cached)
    assert dep.dst == ref and dep.kind == DepKind.RAW and scope.get_deps_by_dst(cached) == []
    with pytest.raises(TypeError, match="takes a block or a loop"):
        sch.get_sref("C")


def test_modules_are_where_they_are_looked_for():
    from tirc.error import TVMError
    from tirc.ir import IRModule
    from tirc.target import Target
    from tirc.tir.schedule import BlockRV, LoopRV, Schedule, ScheduleDebugMask, Trace
    assert (TVMError, IRModule, Target) == (tirc.TVMError, tirc.ir.IRModule, tirc.target.Target)
    assert Schedule is tirc.Schedule and Trace is tirc.tir.schedule.Trace and LoopRV is tirc.tir.LoopRV
    assert BlockRV is tirc.tir.schedule.BlockRV and ScheduleDebugMask.VERIFY_CACHED_FLAGS == 2


FOUR = "@T.prim_func\ndef main(A: T.Buffer((4, 64), 'float32')):\n" + "".join("""\
    for i in range(64):
        with T.block("b%d"):
            v = T.axis.spatial(64, i)
            A[%d, v] = T.float32(1)
""" % (k, k) for k in range(4))


@pytest.mark.parametrize("copied", [False, True])
def test_threads_share_a_schedule(copied):
    """Each thread has a block of its own, of one schedule or of its copies, and finds it as it left it."""
    sch = tirc.Schedule(tirc.parse(FOUR))
    schedules, failures = [sch.copy() if copied else sch for _ in range(4)], []

    def work(k, sch):
        try:
            for n in (1, 2, 4, 8, 16) * 5:
                loop, = sch.get_loops("b%d" % k)
                outer, inner = sch.split(loop, factors=[None, n])
                assert sch.get(inner).extent == n and "for i" in str(sch.get(outer))
                with pytest.raises(tirc.ScheduleError):
                    sch.fuse(inner, outer)
                assert "b%d" % k in sch.mod.script()
                sch.fuse(outer, inner)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k, schedules[k])) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures
