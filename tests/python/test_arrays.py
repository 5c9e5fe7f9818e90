"""Arrays go in and out without a copy; what does not fit is refused by name."""

import array
import ctypes
import threading

import numpy as np
import pytest

import tirc
from support import MATMUL

ADD = """
@T.prim_func
def main(A: T.Buffer((4, 6), "%(t)s"), B: T.Buffer((4, 6), "%(t)s"), C: T.Buffer((4, 6), "%(t)s")):
    for i, j in T.grid(4, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + B[vi, vj]
"""
STRIDED = """
@T.prim_func
def main(a: T.handle, s: T.float32, b: T.handle):
    n, stride = T.int64(), T.int64()
    A = T.match_buffer(a, (n,), "float32", strides=(stride,))
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * s
"""


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int32", "int64", "uint8", "uint16"])
def test_every_type(dtype):
    f = tirc.build(tirc.parse(ADD % {"t": dtype}))
    a = np.arange(24).reshape(4, 6).astype(dtype)
    b, c = (a + 1).astype(dtype), np.zeros_like(a)
    f(a, b, c)
    np.testing.assert_array_equal(c, a + b)


def test_all_of_uint64():
    text = """
@T.prim_func
def main(A: T.Buffer((4,), "uint64"), n: T.uint64, B: T.Buffer((4,), "uint64")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = T.max(A[vi], n) // T.uint64(3) + T.uint64(18446744073709551615) % T.uint64(1000)
"""
    mod, top = tirc.parse(text), 2**64 - 1
    a, got, expected = np.array([0, 2**63 - 1, 2**63, top], "uint64"), np.zeros(4, "uint64"), np.zeros(4, "uint64")
    for n in np.uint64(2**63 + 5), 2**63 + 5:
        tirc.build(mod)(a, n, got)
        tirc.interpret(mod, a, n, expected)
        assert got.tolist() == expected.tolist() == [max(int(x), 2**63 + 5) // 3 + top % 1000 for x in a]


@pytest.mark.parametrize("dtype,n", [("uint64", -1), ("uint64", 2**64), ("int64", 2**63), ("int8", 300), ("uint8", -1),
                                     ("int32", float("inf")), ("uint32", 2**32), ("int32", "4"), ("int32", 1.5),
                                     ("int32", float("nan"))])
def test_scalars_stay_in_their_types(dtype, n):
    f = tirc.build(tirc.parse("""
@T.prim_func
def main(n: T.%s, B: T.Buffer((1,), "%s")):
    B[0] = n
""" % (dtype, dtype)))
    with pytest.raises(tirc.ArgumentError, match='argument "n" of main: .* is not a value of type %s' % dtype):
        f(n, np.zeros(1, dtype))


def test_floats_may_be_infinite():
    f = tirc.build(tirc.parse("""
@T.prim_func
def main(x: T.float32, B: T.Buffer((1,), "float32")):
    B[0] = x
"""))
    b = np.zeros(1, "float32")
    f(float("inf"), b)
    assert b[0] == np.inf


def test_what_is_no_text_and_no_number_of_threads():
    mod = tirc.parse(MATMUL)
    for call in lambda: tirc.parse(None), lambda: tirc.parse(b"x"), lambda: tirc.schedule_script(mod, 3), \
            lambda: tirc.build(mod, threads="2"):
        with pytest.raises(TypeError):
            call()
    for threads in -1, 2**40:
        with pytest.raises(ValueError, match="threads is from 0"):
            tirc.build(mod, threads=threads)


def test_booleans():
    f = tirc.build(tirc.parse((ADD % {"t": "bool"}).replace("A[vi, vj] + B[vi, vj]", "A[vi, vj] and B[vi, vj]")))
    a = np.arange(24).reshape(4, 6) % 2 == 0
    b, c = np.arange(24).reshape(4, 6) % 3 == 0, np.zeros((4, 6), bool)
    f(a, b, c)
    np.testing.assert_array_equal(c, a & b)


def test_kernels_agree_with_the_interpreter():
    mod = tirc.parse(MATMUL)
    sch = tirc.Schedule(mod)
    i, j, k = sch.get_loops("C")
    sch.vectorize(sch.split(j, [None, 8])[1])
    sch.parallel(i)
    rng = np.random.default_rng(0)
    a, b = rng.random((16, 24), "float32"), rng.random((24, 32), "float32")
    got, expected = np.zeros((16, 32), "float32"), np.zeros((16, 32), "float32")
    tirc.build(sch, target="llvm -mcpu=native", threads=2)(a, b, got)
    tirc.interpret(mod, a, b, expected)
    np.testing.assert_allclose(expected, a.astype("float64") @ b, rtol=1e-5)
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_views_are_used_in_place():
    f = tirc.build(tirc.parse(STRIDED))
    base = np.arange(40, dtype="float32")
    out = np.zeros(22, "float32")
    f(base[1::2], 3, out[1:21])  # an array with a stride and an offset, and a view to write to
    np.testing.assert_array_equal(out[1:21], 3 * base[1::2])
    assert out[0] == 0 and out[21] == 0


class Producer:
    """DLPack by hand: an array of another library."""

    def __init__(self, array, device=1, versioned=False):
        self.array, self.device, self.versioned, self.deleted = array, device, versioned, 0

    def __dlpack__(self, **keywords):
        if keywords and not self.versioned:
            raise TypeError("unexpected keyword")
        from tirc import _lib, _runtime
        self.tensor = _runtime._of_numpy(self.array).tensor
        self.tensor.device.device_type = self.device
        self.managed = _lib.DLManagedTensorVersioned(1, 0, None, None, 1, self.tensor)
        at = self.managed if self.versioned else self.tensor
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.name = ctypes.c_char_p(b"dltensor_versioned" if self.versioned else b"dltensor")
        return new(ctypes.addressof(at), self.name, None)


def test_other_producers():
    f = tirc.build(tirc.parse(ADD % {"t": "float32"}))
    a = np.ones((4, 6), "float32")
    c = np.zeros_like(a)
    f(Producer(a), Producer(a, versioned=True), Producer(c))
    assert c.sum() == 48
    f(array.array("f", [1] * 24) and memoryview(a), a, c)
    with pytest.raises(tirc.ArgumentError, match='"A" of main: the tensor is on the device cuda:0'):
        f(Producer(a, device=2), a, c)
    with pytest.raises(tirc.ArgumentError, match='"C" of main: it is written, but the array is read-only'):
        f(a, a, Producer(c, versioned=True))


def test_scalars_and_buffers_of_python():
    f = tirc.build(tirc.parse(STRIDED))
    a, b = array.array("f", [1, 2, 3]), array.array("f", [0, 0, 0])
    f(a, np.float32(2), b)
    assert list(b) == [2, 4, 6]


def test_threads_share_a_kernel():
    f = tirc.build(tirc.parse(MATMUL), threads=2)
    rng = np.random.default_rng(1)
    a, b = rng.random((16, 24), "float32"), rng.random((24, 32), "float32")
    outs = [np.zeros((16, 32), "float32") for _ in range(4)]
    threads = [threading.Thread(target=lambda c=c: [f(a, b, c) for _ in range(50)]) for c in outs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for c in outs:
        np.testing.assert_allclose(c, a @ b, rtol=1e-4)


class Refusing:
    def __dlpack__(self, **_):
        raise BufferError("needs a gradient")


def test_what_does_not_fit():
    f = tirc.build(tirc.parse(ADD % {"t": "float32"}))
    a, c = np.ones((4, 6), "float32"), np.zeros((4, 6), "float32")
    frozen = c.copy()
    frozen.flags.writeable = False
    odd = np.frombuffer(bytearray(97), dtype="uint8")[1:].view("float32").reshape(4, 6)
    for args, words in (
            ((a, a), "takes 3 arguments, not 2"),
            ((a.astype("float64"), a, c), '"A" of main: the array has dtype float64'),
            ((a, a.astype("complex64"), c), '"B" of main: no kernel takes elements of dtype complex64'),
            ((a, a.astype("S4"), c), '"B" of main: no kernel takes arrays of dtype'),
            ((a, a.astype(">f4"), c), '"B" of main: no kernel takes arrays of dtype >f4'),
            ((a, a[:3], c), '"B" of main: extent 0 is 3'),
            ((a, a.reshape(6, 4).T, c), '"B" of main: stride 1 is 4'),
            ((a, a[::-1], c), '"B" of main: stride 0 is negative'),
            ((a, odd, c), '"B" of main: data .* not aligned'),
            ((a, a, frozen), '"C" of main: it is written, but the array is read-only'),
            ((a, c, c), '"C" of main is written and overlaps argument "B"'),
            ((a, Refusing(), c), '"B" of main: needs a gradient'),
            ((a, [1.0], c), '"B" of main: a list is not an array'),
            ((a, 1.0, c), '"B" of main: a float is not an array')):
        with pytest.raises(tirc.ArgumentError, match=words):
            f(*args)
    with pytest.raises(tirc.ArgumentError, match='"s" of main: a float32 is a number'):
        tirc.build(tirc.parse(STRIDED))(a[0], "x", c[0])
    frozen_in = a.copy()
    frozen_in.flags.writeable = False
    f(frozen_in, a, c)  # what is only read may be read-only
    assert c.sum() == 48


def test_timing():
    f = tirc.build(tirc.parse(ADD % {"t": "float32"}))
    a, c = np.ones((4, 6), "float32"), np.zeros((4, 6), "float32")
    result = f.time_evaluator(f.entry_name, tirc.cpu(0), number=3, repeat=4)(a, a, c)
    assert len(result.results) == 4 and 0 < result.min <= result.median <= result.max
    assert "ms" in repr(result) and f["main"].time(a, a, c, repeat=2).mean > 0


def test_build_errors_and_code():
    with pytest.raises(tirc.TVMError, match="no-such-cpu"):
        tirc.build(tirc.parse(MATMUL), target="no-such-cpu")
    assert "vfmadd" in tirc.build(tirc.parse(MATMUL)).get_source("asm")
