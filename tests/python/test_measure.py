"""tirc.measure: contenders in turns, figures with intervals, the check."""

import os
import pathlib
import runpy
import signal
import time

import numpy
import pytest
import tirc

ADD = """@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = B[vi] + A[vi]
"""


def test_figures_and_ratios():
    m = tirc.measure({"fast": lambda: time.sleep(1e-3), "slow": lambda: time.sleep(2e-2)}, seconds=0.02, turns=5,
                     attempts=1)
    fast, slow = m["fast"], m["slow"]
    assert list(m) == ["fast", "slow"] and m.attempts == 1
    assert 1e-3 <= fast.fastest <= fast.low <= fast.median <= fast.high and 2e-2 <= slow.median
    assert len(fast.turns) >= 5 and numpy.median(fast.turns) == fast.median and min(fast.samples) == fast.fastest
    r = fast.times_as_fast(slow)
    assert r.low <= r.value <= r.high and abs(r.value - slow.median / fast.median) < 1e-12
    assert fast.surely_faster(slow) and not slow.surely_faster(fast) and not fast.surely_faster(fast)


def test_the_check_begins_where_measuring_began():
    """The program adds to what its output holds: each contender is checked from the same start."""
    mod = tirc.parse(ADD)
    a, b = numpy.arange(64, dtype="float32"), numpy.ones(64, "float32")
    reference = tirc.Reference(mod, a, b)
    kernel = tirc.build(mod, threads=1)["main"]

    def twice(x, y):
        y += x
        y += x

    m = tirc.measure({"one": tirc.Contender(kernel, a, b, reference=reference),
                      "two": tirc.Contender(kernel, a, b, reference=reference),
                      "twice": tirc.Contender(twice, a, b, reference=reference)}, seconds=0.001, turns=2, attempts=1)
    assert m["one"].code is None and m["two"].code is None and m["two"].median > 0
    assert m["twice"].code == "wrong-result" and '"B" element 63' in m["twice"].message and m["twice"].median == 0
    assert m["twice"].times_as_fast(m["one"]).value == 0


def test_what_rounding_leaves_without_bounds_is_unchecked():
    mod = tirc.parse(ADD.replace("B[vi] + A[vi]", "T.float32(1) / (T.exp(A[vi]) + T.float32(1) - T.float32(1))"))
    a, b = numpy.full(64, -50, "float32"), numpy.ones(64, "float32")
    m = tirc.measure({"x": tirc.Contender(lambda x, y: None, a, b, reference=tirc.Reference(mod, a, b))}, seconds=1e-4, turns=2, attempts=1)
    assert m["x"].code == "unchecked" and "64 of 64 elements hang on" in m["x"].message


def test_prepare_and_release_and_errors():
    calls = []
    tirc.measure({"x": tirc.Contender(lambda: None, prepare=lambda: calls.append("prepare"),
                                      release=lambda: calls.append("release"))}, seconds=1e-4, turns=2, attempts=1)
    assert calls == ["prepare", "release"]
    with pytest.raises(ZeroDivisionError):
        tirc.measure({"bad": lambda: 1 / 0, "x": lambda: None}, seconds=1e-4, turns=2, attempts=1)
    with pytest.raises(tirc.ArgumentError):
        tirc.measure({"x": lambda: None}, turns=-1)
    assert len(tirc.measure({})) == 0


def test_an_interrupt_ends_it():
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tirc.measure({"x": lambda: os.kill(os.getpid(), signal.SIGINT)}, seconds=1e9, turns=1000)
    assert time.monotonic() - started < 30
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_example():
    runpy.run_path(str(pathlib.Path(__file__).parents[2] / "examples/embed/measure.py"))
