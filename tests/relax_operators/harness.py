"""One operator against numpy: by the interpreter, by machine code as it is written, and by machine code with --auto;
with a symbolic extent, one program at several sizes. With TIRC_AS_C set, as C, too, both ways (tests/c_source/compilers.py)."""

import os
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import pytest
import tirc

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "c_source"))
from compilers import WAYS, compiled, function_of  # noqa: E402

SEED = np.random.default_rng(7)
FOLDER = os.environ.get("TIRC_OPERATORS")  # of scripts that are being written; otherwise those that are built in
CHECKED = set()  # operators that ran, for the test of the table
EVERY_WAY = "TIRC_AS_C" in os.environ  # what a test wants as C is, else, compiled in one way


def floats(*shape, low=-2.0, high=2.0, dtype="float32"):
    return SEED.uniform(low, high, shape).astype(dtype)


def ints(*shape, low=-5, high=6, dtype="int32"):
    return SEED.integers(low, high, shape).astype(dtype)


def bools(*shape):
    return SEED.integers(0, 2, shape).astype(bool)


def _dtype(array):
    return "bool" if array.dtype == bool else str(array.dtype)


def _tensor(array, symbols):
    """Extents that symbols names are unknown to the program: {extent: name}."""
    extents = [symbols.get(e, str(e)) for e in array.shape]
    return ",".join(extents) + ("," if len(extents) == 1 else "") + ":" + _dtype(array)


def words_of(operands, attributes, symbols):
    words = []
    for i, operand in enumerate(operands):
        if isinstance(operand, (list, tuple)):
            words.append("x%d=%s" % (i, "+".join(_tensor(a, symbols) for a in operand) + "+" * (len(operand) == 1)))
        else:
            words.append("x%d=%s" % (i, _tensor(operand, symbols)))
    return words + ["%s=%s" % (k, v if isinstance(v, str) else repr(v)) for k, v in attributes.items()]


def _flat(operands):
    return [a for operand in operands for a in (operand if isinstance(operand, (list, tuple)) else [operand])]


def _tolerance(dtype):
    return {"float16": 2e-2, "float32": 3e-5, "float64": 1e-12}.get(str(dtype), 0)


def _compare(got, want, how, tolerance):
    for i, (g, w) in enumerate(zip(got, want)):
        w = np.asarray(w)
        assert g.shape == w.shape and g.dtype == w.dtype, "%s, result %d: %s %s" % (how, i, g.shape, g.dtype)
        t = tolerance or _tolerance(w.dtype)
        np.testing.assert_allclose(g.astype("float64"), w.astype("float64"), rtol=t, atol=t,
                                   err_msg="%s, result %d" % (how, i))


def _run(kernel, arrays, scalars, want, how, tolerance):
    results = [np.full(w.shape, 77, dtype=w.dtype) for w in want]
    kernel(*[a.copy() for a in arrays], *results, *scalars)
    _compare(results, want, how, tolerance)


def _scheduled(mod):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tirc.ScheduleWarning)  # a function that no rule takes runs as it is
        return tirc.auto(mod)


def _auto(mod):
    return tirc.build(_scheduled(mod), threads=2)


def _as_c(mod):
    """As machine code is called; without the folder, which nothing needs then."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "c.c"
        source.write_text(mod.emit("c"))
        return function_of(source, compiled(source, WAYS if EVERY_WAY else WAYS[:1]))


def check(name, operands, expected, symbols=None, scalars=(), tolerance=0, interpreted=True, as_c=EVERY_WAY, **attributes):
    """expected: an array, or a tuple of such."""
    CHECKED.add(name)
    want = [np.asarray(e) for e in (expected if isinstance(expected, (list, tuple)) else [expected])]
    arrays = [np.ascontiguousarray(a).reshape(a.shape) for a in _flat(operands)]
    mod = tirc.operator(name, *words_of(operands, attributes, symbols or {}), folder=FOLDER)
    assert tirc.structural_equal(tirc.parse(mod.script()), mod)
    if interpreted:
        _run(lambda *a: tirc.interpret(mod, *a), arrays, scalars, want, "interpreter", tolerance)
    _run(tirc.build(mod, threads=1), arrays, scalars, want, "machine code", tolerance)
    _run(_auto(mod), arrays, scalars, want, "--auto", tolerance)
    for how, each in (("C", mod), ("C of --auto", _scheduled(mod))) if as_c else ():
        _run(_as_c(each), arrays, scalars, want, how, tolerance)


def symbolic(name, extent, symbol, sizes, case, **attributes):
    """One program with an unknown extent, at several sizes: case(size) gives operands and what is expected."""
    operands, _ = case(extent)
    mod = tirc.operator(name, *words_of(operands, attributes, {extent: symbol}), folder=FOLDER)
    kernels = {"machine code": tirc.build(mod, threads=1), "--auto": _auto(mod)}
    for size in sizes:
        operands, expected = case(size)
        want = [np.asarray(e) for e in (expected if isinstance(expected, (list, tuple)) else [expected])]
        for how, kernel in kernels.items():
            _run(kernel, _flat(operands), (), want, "%s, %s = %d" % (how, symbol, size), 0)


def refused(name, operands, *parts, **attributes):
    """The message has these parts, and a place in a script."""
    with pytest.raises(tirc.TircError) as caught:
        tirc.operator(name, *words_of(operands, attributes, {}), folder=FOLDER)
    text = str(caught.value)
    for part in ("R." + name,) + parts:
        assert part in text, text
    assert ".sch" in str(caught.value.file) and caught.value.line > 0
