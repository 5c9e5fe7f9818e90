"""Values and functions of Python in programs."""

import math
import types

import numpy as np
import pytest

import tirc
from tirc.script import ir as I
from tirc.script import relax as R
from tirc.script import tir as T

cfg = types.SimpleNamespace(n=8, relu=True, dtype=np.dtype("float32"), tile=(2, 4), long=T.int64(8))
sizes = {"n": 8, "names": ["A", "B"]}
n64 = T.int64(8)
shape = [8]


def equal(a, b):
    tirc.assert_structural_equal(a, b)


@T.prim_func
def plain(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + A[vi] * T.float32(0.5)


def test_attributes_items_calls():
    @T.prim_func
    def main(A: T.Buffer((cfg.n,), cfg.dtype), B: T.Buffer((sizes["n"],), np.float32)):
        for i in range(math.ceil(cfg.n / 1)):
            with T.block(sizes["names"][1]):
                vi = T.axis.spatial(len(cfg.tile) * 4, i)
                B[vi] = A[vi] + A[vi] * T.float32(1 / cfg.tile[0])
    equal(main, plain)


def test_starred():
    @T.prim_func
    def main(A: T.Buffer(tuple(shape), "float32"), B: T.Buffer((*shape,), "float32")):
        for i, j in T.grid(*cfg.tile):
            A[i * 4 + j] = B[i * 4 + j]
    assert "T.grid(2, 4)" in main.script()


def test_typed_constants():
    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for i in range(n64):
            A[i] = T.float32(1)
        for j in range(cfg.long * 2 // 2):
            A[j] = T.float32(1)
    assert main.script().count("T.int64(8)") == 2


def twice(x):
    return x + x


half = lambda a, i: a[i] * T.float32(0.5)


def power(x, n, start=None):
    """A loop of Python's, over the program's expression."""
    y = x if start is None else start
    for _ in range(n - 1 if start is None else n):
        y = y * x
    return y


def pair(a, i):
    return a[i], a[i + 1]


def test_functions():
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + half(A, vi)
    equal(main, plain)

    @T.prim_func
    def powers(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = twice(power(A[i] + T.float32(1),
                               3)) + power(A[i], 2, start=T.max(A[i], T.float32(0)))
            if i + 1 < 8 and A[7 - i] < twice(A[i]):
                B[i] = -twice(x=B[i])
    a = np.linspace(-1, 1, 8).astype("float32")
    b, expected = np.zeros(8, "float32"), 2 * (a + 1)**3 + np.maximum(a, 0) * a * a
    tirc.build(powers)(a, b)
    expected = np.where((np.arange(8) < 7) & (a[::-1] < 2 * a), -2 * expected, expected)
    np.testing.assert_allclose(b, expected, rtol=1e-5)


def test_conditions_of_python():
    def make(relu):
        settings = types.SimpleNamespace(relu=relu)

        @T.prim_func
        def main(A: T.Buffer((8,), "float32")):
            for i in range(8):
                if settings.relu:
                    A[i] = T.max(A[i], T.float32(0))
                else:
                    A[i] = A[i] + T.float32(1)
        return main
    assert "T.max" in make(True).script() and "T.max" not in make(False).script()


def test_a_name_of_the_program_is_the_program_s():
    i, vi, A = types.SimpleNamespace(n=3), [5], {"x": 1}  # noqa: they are hidden

    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + A[vi] * T.float32(0.5)
    equal(main, plain)


@T.macro
def add(A, i, by=1.0):
    """A line of text, and one of the program."""
    A[i] = A[i] + T.float32(by)


@T.macro
def add_all(A, n, i):
    for vi in range(n):
        x = A[vi] * T.float32(cfg.tile[0])
        A[vi] = x + T.Cast("float32", i)


def test_macros():
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for vi in range(2):
            add(A, vi)
            add_all(B, cfg.n, i=vi)
            add(A, i=vi * 2, by=T.float32(2))
            add_all(A, 8, 3)

    @T.prim_func
    def by_hand(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for t in range(2):
            A[t] = A[t] + T.float32(1)
            for vi in range(8):
                x = B[vi] * T.float32(2)
                B[vi] = x + T.Cast("float32", t)
            A[t * 2] = A[t * 2] + T.float32(2)
            for vi in range(8):
                x = A[vi] * T.float32(2)
                A[vi] = x + T.float32(3)
    equal(main, by_hand)


def test_hygiene():
    value = 1.0

    @T.macro
    def of_its_own(A, i):
        A[i] = T.float32(value)

    @T.macro(hygienic=False)
    def of_the_caller(A, i):
        A[i] = T.float32(value)

    @T.macro
    def both(A, i):
        of_its_own(A, i)
        x = A[i] + T.float32(1)
        A[i] = x

    def make(value):
        @T.prim_func
        def main(A: T.Buffer((3,), "float32")):
            x: T.float32 = A[0]
            of_its_own(A, 0)
            of_the_caller(A, 1)
            both(A, 2)
            A[0] = A[0] + x
        return main
    a = np.array([5, 0, 0], "float32")
    tirc.build(make(7.0))(a)
    assert list(a) == [6, 7, 2]


def test_a_module():
    @I.ir_module
    class Module:
        @T.prim_func
        def scale(A: T.Buffer((cfg.n,), "float32"), B: T.Buffer((cfg.n,), "float32")):
            for i in range(cfg.n):
                B[i] = twice(A[i])

        @R.function
        def main(x: R.Tensor((cfg.n,), cfg.dtype)) -> R.Tensor((cfg.n,), "float32"):
            cls = Module
            y = R.call_tir(cls.scale, (x,), out_sinfo=R.Tensor((sizes["n"],), "float32"))
            return y
    assert "R.Tensor((8,)" in Module.script() and "A[i] + A[i]" in Module.script()


def line_of(text):
    with open(__file__) as f:
        return next(i for i, line in enumerate(f, 1) if text in line)


def test_errors_are_where_the_user_wrote_them():
    with pytest.raises(tirc.TVMError, match=r"Python cannot work out cfg.missing \(AttributeError") as e:
        @T.prim_func
        def main(A: T.Buffer((8,), "float32")):
            A[cfg.missing] = T.float32(1)
    assert e.value.line == line_of("A[cfg.missing] = ") and e.value.file == __file__
    with pytest.raises(tirc.TVMError, match="'unknown' is not defined") as e:
        @T.prim_func
        def behind(A: T.Buffer((8,), "float32")):
            add_all(A, 8, 3)
            add_all(A, 8, 4)
            A[0] = unknown  # noqa: behind
    assert e.value.line == line_of("unknown  # noqa: behind") and "unknown" in str(e.value)
    with pytest.raises(tirc.TVMError, match="the value of the expression") as e:
        def decide(x):
            return x if x > 0 else -x

        @T.prim_func
        def truth(A: T.Buffer((8,), "float32")):
            A[0] = decide(A[1])
    assert e.value.line == line_of("= decide(A[1])")
    with pytest.raises(tirc.TVMError, match="missing a required argument: 'i'"):
        @T.prim_func
        def few(A: T.Buffer((8,), "float32")):
            add(A)
    with pytest.raises(TypeError, match="within a program"):
        add(1, 2)
    with pytest.raises(tirc.TVMError, match="a program has no object"):
        nothing = lambda x: object()

        @T.prim_func
        def no_value(A: T.Buffer((8,), "float32")):
            A[0] = nothing(A[1])


def numbers(function, n=8):
    a = np.zeros(n, "float32")
    tirc.build(function)(a)
    return a.tolist()


def test_names_of_comprehensions_are_their_own():
    x, w = 100, [1, 2, 3]  # noqa: the program's x is another

    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for x in range(8):
            A[x] = T.Cast("float32", sum(w[k] for k in range(3)) * x)
    assert numbers(main) == [6 * x for x in range(8)]
    with pytest.raises(tirc.TVMError):
        @T.prim_func
        def mixed(A: T.Buffer((8,), "float32")):
            for x in range(8):
                A[x] = T.Cast("float32", w[sum(1 for x in w) - 2] * x * x.bit_length())


def test_a_comprehension_beside_a_name_of_the_program():
    x, w = 100, [1, 2, 3]  # noqa

    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for x in range(8):
            A[x] = T.Cast("float32", w[sum(1 for x in w) - 2] * x)
    assert numbers(main) == [2 * x for x in range(8)]


@T.macro
def add_twice(A, i):
    for k in range(2):
        A[i] = A[i] + T.float32(1)


def test_calls_of_macros_stand_alone():
    with pytest.raises(tirc.TVMError, match="a line of its own") as e:
        @T.prim_func
        def first(A: T.Buffer((8,), "float32")):
            for i in range(8):
                add_twice(A, i); A[i] = A[i] + T.float32(100)  # noqa: two
    assert e.value.line == line_of("# noqa: two")
    with pytest.raises(tirc.TVMError, match="a line of its own"):
        @T.prim_func
        def second(A: T.Buffer((8,), "float32")):
            for i in range(8):
                if i < 4: add_twice(A, i)  # noqa

    @T.prim_func
    def third(A: T.Buffer((8,), "float32")):
        for i in range(8):
            add_twice(A,
                      i)  # a comment
            A[i] = A[i] * T.float32(2)
    assert numbers(third) == [4] * 8


def test_locals_and_parameters_of_macros():
    @T.macro
    def shift(B, v):
        t = B[v] + T.float32(1)
        B[v] = t

    @T.macro
    def next_of(A, i, k):
        k = k + 1
        A[i] = A[i] + T.Cast("float32", k)

    @T.macro
    def apply(A, i, function, names):
        A[i] = function(A[i]) + T.float32(sum(len(i) for i in names))

    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for i in range(8):
            t = T.float32(3)
            shift(A, i)
            shift(A, i)
            apply(A, i, twice, ["ab", "c"])
            A[i] = A[i] + t
    assert numbers(main) == [2 * 2 + 3 + 3] * 8
    with pytest.raises(tirc.TVMError, match="assigns its parameter k"):
        @T.prim_func
        def other(A: T.Buffer((8,), "float32")):
            next_of(A, 0, 4)


def test_text_of_python():
    name = "part"

    @T.macro
    def named(A, i, what):
        with T.block(f"{what}_{cfg.n}"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(1)

    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for i in range(8):
            named(A, i, "fill")
        for i in range(8):
            with T.block(f"{name}_{cfg.n}"):
                vi = T.axis.spatial(8, i)
                A[vi] = A[vi] + T.float32(1)
    assert 'T.block("fill_8")' in main.script() and 'T.block("part_8")' in main.script()


def test_calls_that_return_nothing():
    noted = []

    def note(x):
        noted.append(str(x))

    @T.prim_func
    def main(A: T.Buffer((8,), "float32")):
        for i in range(8):
            note(
                i + 1)
            A[i] = T.min(T.float32(1), math.inf) + T.max(A[i], T.float32(-math.inf))
    assert noted == ["(i + 1)"] and numbers(main) == [1] * 8


def test_a_parameter_hides_a_name_of_python():
    n = 5  # noqa

    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), n: T.int32):
        for i in range(8):
            A[i] = T.Cast("float32", n)
    a = np.zeros(8, "float32")
    tirc.build(main)(a, 7)
    assert a[0] == 7


n = 128
a = 3


def test_symbols_hide_names_of_python():
    @T.prim_func
    def main(a: T.handle):
# a comment at the margin
        n = T.int32()
        A = T.match_buffer(a, (n,), "int32")
        for i in range(n):
            A[i] = 5 + \
  n
    out = np.zeros(4, "int32")
    tirc.build(main)(out)
    assert (out == 9).all()


def test_what_is_too_deep():
    def deep(x, n=3000):
        for _ in range(n):
            x = x + 1
        return x
    with pytest.raises(tirc.TVMError):
        @T.prim_func
        def main(A: T.Buffer((8,), "int32")):
            A[0] = deep(A[1])


kept = 3


@T.macro
def keeps(A, i):
    kept: T.float32 = A[i] * T.float32(2)
    A[i] = kept


def test_names_of_a_macro_stay_in_it():
    @T.prim_func
    def f(A: T.Buffer((8,), "float32")):
        for i in range(8):
            keeps(A, i)
            A[i] = A[i] + T.float32(kept)
    a = np.ones(8, "float32")
    tirc.interpret(f, a)
    assert (a == 5).all()


def test_an_error_behind_an_expansion_shows_the_line_that_was_written():
    sizes = {"n": 8}
    with pytest.raises(tirc.TVMError, match="'nothing' is not defined") as caught:
        @T.prim_func
        def f(A: T.Buffer((8,), "float32")):
            for i in range(8):
                A[i] = T.float32(sizes["n"]) + nothing
    assert 'A[i] = T.float32(sizes["n"]) + nothing' in str(caught.value)


def test_nonlocal_names():
    """A program may say where its names are, as a function of Python does that only uses them in annotations."""
    def made(dtype, scale, op):
        @I.ir_module
        class Module:
            @T.prim_func
            def f(A: T.Buffer((4,), dtype)):
                nonlocal dtype, scale
                for i in range(4):
                    A[i] = A[i] * scale

            @R.function
            def main(x: R.Tensor((4,), dtype)):
                nonlocal dtype
                gv = op(x)
                return gv
        return Module

    text = made("float32", 3, R.abs).script()
    assert 'R.Tensor((4,), dtype="float32")' in text and "A[i] * T.float32(3" in text and "R.abs(x)" in text and "nonlocal" not in text
