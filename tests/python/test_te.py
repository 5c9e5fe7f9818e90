"""Tensor expressions: the functions that they become, and what those compute."""

import gc

import numpy as np
import pytest
import tirc as tvm
from tirc import te, topi
from tirc.script import ir as I, relax as R, tir as T


def product():
    n = te.var("n", "int64")
    A = te.placeholder((n, 8), name="A")
    B = te.placeholder((8, 6), name="B")
    k = te.reduce_axis((0, 8), name="k")
    C = te.compute((n, 6), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return A, B, C


def test_product():
    A, B, C = product()
    assert C.dtype == "float32" and C.ndim == 2 and C.shape[1] == 6 and isinstance(C, te.Tensor)
    D = te.compute(C.shape, lambda *i: te.exp(C(*i)) + T.max(C[i], 0.5), name="D")
    f = te.create_prim_func([A, B, D])
    assert "for i, j, k in T.grid(n, T.int64(6), 8):" in f.script() and 'T.block("C")' in f.script()
    assert "for i0, i1 in T.grid(n, T.int64(6)):" in f.script()
    for n in (1, 5):
        a, b, out = np.random.rand(n, 8).astype("float32"), np.random.rand(8, 6).astype("float32"), np.zeros((n, 6), "float32")
        tvm.build(tvm.IRModule.from_expr(f))(a, b, out)
        np.testing.assert_allclose(out, np.exp(a @ b) + np.maximum(a @ b, 0.5), rtol=1e-5)


def test_same_as_written():
    A, B, C = product()

    @T.prim_func
    def main(var_A: T.handle, B: T.Buffer((8, 6), "float32"), var_C: T.handle):
        T.func_attr({"tir.noalias": T.bool(True)})
        n = T.int64()
        A = T.match_buffer(var_A, (n, 8))
        C = T.match_buffer(var_C, (n, 6))
        for i, j, k in T.grid(n, T.int64(6), 8):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    written, made = (tvm.IRModule.from_expr(f) for f in (main, te.create_prim_func([A, B, C])))
    x, y = (m.script().replace("T.int64(8)", "8").replace("T.int64(6)", "6").replace("v_", "v") for m in (written, made))
    assert x == y


def test_reducer():
    A = te.placeholder((4, 9), name="A")
    k = te.reduce_axis((0, 9), name="k")
    last = te.comm_reducer(lambda x, y: (T.max(x[0], y[0]), x[1] + y[1]), lambda i, v: (te.const(-1, i), te.const(0.0, v)))
    i, s = te.compute((4,), lambda r: last((k, A[r, k]), axis=k), name="last")
    f = te.create_prim_func([A, i, s])
    a, where, total = np.random.rand(4, 9).astype("float32"), np.zeros(4, "int32"), np.zeros(4, "float32")
    tvm.build(tvm.IRModule.from_expr(f))(a, where, total)
    assert (where == 8).all()
    np.testing.assert_allclose(total, a.sum(1), rtol=1e-5)


def test_extern():
    @T.prim_func
    def double(X: T.Buffer((5,), "float32"), Y: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("double"):
                vi = T.axis.spatial(5, i)
                Y[vi] = X[vi] * T.float32(2)

    A = te.placeholder((5,), name="A")
    B = te.extern_primfunc([A], double)
    C = te.compute((5,), lambda i: B[i] + A[i], name="C")
    f = te.create_prim_func([A, C])
    a, out = np.random.rand(5).astype("float32"), np.zeros(5, "float32")
    tvm.build(tvm.IRModule.from_expr(f))(a, out)
    np.testing.assert_allclose(out, 3 * a, rtol=1e-6)


def test_types():
    A = te.placeholder((4,), "int8", name="A")
    B = te.compute((4,), lambda i: A[i].astype("int32") * A[i].astype(dtype="int32") + i.astype("int32"), name="B")
    f = te.create_prim_func([A, B])
    a, out = np.array([100, -128, 3, -1], "int8"), np.zeros(4, "int32")
    tvm.build(tvm.IRModule.from_expr(f))(a, out)
    assert (out == a.astype("int32") ** 2 + np.arange(4)).all()
    with pytest.raises(ValueError, match="'int33' is not a type"):
        te.compute((4,), lambda i: A[i].astype("int33"))


def test_numbers_in_a_schedule():
    A = te.placeholder((512,), name="A")
    sch = tvm.tir.Schedule(te.create_prim_func([A, te.compute((512,), lambda i: A[i] * 2.0, name="B")]))
    (i,) = sch.get_loops(sch.get_block("B"))
    sch.split(i, factors=[te.const(1, "int64"), te.const(512, "int32")])
    assert [sch.get(loop).extent for loop in sch.get_loops(sch.get_block("B"))] == [1, 512]
    with pytest.raises(TypeError, match="another schedule"):
        sch.split(sch.get_loops(sch.get_block("B"))[1], factors=[te.var("n"), 2])


def test_refused():
    A = te.placeholder((4, 8), name="A")
    with pytest.raises(IndexError, match="2 dimensions"):
        A[1]
    with pytest.raises(TypeError, match="indices"):
        te.compute((4, 8), lambda i: A[i, i])
    with pytest.raises(ZeroDivisionError):
        te.compute((4, 8), lambda i, j: 1 / 0)
    with pytest.raises(tvm.TVMError, match="placeholder A"):
        te.create_prim_func([te.compute((4, 8), lambda i, j: A[i, j])])
    with pytest.raises(tvm.TVMError, match="list of tensors"):
        te.create_prim_func([3, A])
    with pytest.raises(AttributeError, match="te.create_schedule is not available"):
        te.create_schedule(A)


def test_nothing_is_kept():
    A = te.placeholder((4,))
    owner = A._owner
    assert te.placeholder((5,))._owner is owner
    del A, owner
    gc.collect()
    assert te._current() is None


def test_what_is_given():
    n, m, k = te.var("n"), te.var("m"), te.var("k")
    known = tvm.arith.Analyzer()
    assert not known.can_prove(n < k)
    with known.constraint_scope(n < m):
        assert not known.can_prove(n < k)
        with known.constraint_scope(m <= k):
            assert known.can_prove(n < k) and not known.can_prove(n + 1 < k)
    assert not known.can_prove(n < k)
    with known.constraint_scope(tvm.tir.EQ(n, m)):
        assert known.can_prove(n <= m) and not known.can_prove(n < m)
    with pytest.raises(TypeError, match=r"tirc.tir.EQ\(n, m\)"):
        with known.constraint_scope(n == m):
            pass
    known.bind(n, tvm.ir.Range(0, 8))
    assert str(known.simplify((m * 8 + n) // 8)) == "m" and known.can_prove(n < 8) and not known.can_prove(n < 7)
    with pytest.raises(ValueError, match="n is bound already"):
        known.bind(n, 3)
    known.bind(n, m * 4, allow_override=True)
    assert known.simplify(n % 4) == 0 and known.modular_set(n + 1) == (4, 1)
    assert known.const_int_bound(k) == (-2**31, 2**31 - 1)
    with pytest.raises(AttributeError, match="const_int_bound"):
        known.int_set(n)


def _squared(x):
    return te.compute(x.shape, lambda *i: x(*i) * x(*i), name="squared")


GRAPH = '''@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("m", 3), "float32"), y: R.Tensor(("m", 3), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.emit_te(%s, a, y)
            R.output(b)
        return b
'''


def test_emit_te_in_a_module():
    extent = 3

    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor(("m", extent), "float32"), y: R.Tensor(("m", extent), "float32")):
            with R.dataflow():
                a = R.exp(x)
                b = R.emit_te(topi.add, a, y)
                c = R.emit_te(_squared, b, primfunc_name_hint="my_square")
                d = R.emit_te(
                    lambda p, q, axis: topi.concatenate([p, q], axis=axis), c, a, axis=1)
                R.output(d)
            return d
    assert list(M.functions) == ["add", "my_square", "te_func"] and "cls.my_square" in M.script()
    x, y = (np.random.rand(2, 3).astype("float32") for _ in "xy")
    np.testing.assert_allclose(tvm.compile(M)(x, y), np.concatenate([(np.exp(x) + y) ** 2, np.exp(x)], 1), rtol=1e-5)


def test_emit_te_of_a_name_that_is_bound_again():
    again = GRAPH.replace("a = R.exp(x)", "a = R.exp(x)\n            y = R.sum(y, axis=[1], keepdims=True)")
    given = tvm.script.from_source(again % "add", {"add": topi.add})
    x, y = (np.random.rand(2, 3).astype("float32") for _ in "xy")
    np.testing.assert_allclose(tvm.compile(given)(x, y), np.exp(x) + y.sum(1, keepdims=True), rtol=1e-5)
    alone = again.replace(", a, y)", ", (3,), \"float32\", 1.0)") % "topi.full"
    np.testing.assert_array_equal(tvm.compile(tvm.script.from_source(alone, {"topi": topi}))(x, y), np.ones(3, "float32"))


def test_emit_te_in_a_text():
    as_operator = tvm.parse(GRAPH % "tvm.topi.add")
    assert "b = R.add(a, y)" in as_operator.script() and not as_operator.functions
    given = tvm.script.from_source(GRAPH % "twice", {"twice": lambda p, q: topi.add(topi.add(p, q), q)})
    x, y = (np.random.rand(2, 3).astype("float32") for _ in "xy")
    np.testing.assert_allclose(tvm.compile(given)(x, y), np.exp(x) + 2 * y, rtol=1e-5)
    with pytest.raises(tvm.TVMError, match="takes a function of topi"):
        tvm.parse(GRAPH % "twice")
    with pytest.raises(tvm.TVMError, match="does not take topi.sort"):
        tvm.parse(GRAPH % "tvm.topi.sort")
    with pytest.raises(tvm.TVMError, match="Python cannot work out.*ZeroDivisionError"):
        tvm.script.from_source(GRAPH % "wrong", {"wrong": lambda p, q: 1 / 0})
    with pytest.raises(tvm.TVMError, match="there is none"):
        tvm.script.from_source("@R.function\ndef f(x: R.Tensor((3,), \"float32\")):\n    y = R.emit_te(g, x)\n    return y\n", {"g": _squared})
