"""Remainders and masks of indices, which loops run through in strides: each element is the right
one, and nothing beside the array is read. Usage: remainders.py TIRC FOLDER"""
import ctypes, os, sys
from kernels import libraries, write

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from every import sample  # noqa: E402

tirc, folder = sys.argv[1:]
tests = []  # name, index (an expression of i), the same in Python, elements of B, iterations


def test(index, of, size, n=100, symbolic=False):
    tests.append(('f%d' % len(tests), index, of, size, n, symbolic))


for stride in sample(range(1, 12)):
    for modulus in (2, 4, 7, 8, 16, 32, 60, 64, 100, 128, 255, 256, 257, 512, 1000, 1024):
        test('vi * %d %% %d' % (stride, modulus), lambda i, s=stride, m=modulus: i * s % m, modulus, 600)
    for modulus in (64, 128, 256):
        for offset in (1, 5, -7, 250):
            test('(vi * %d + %d) %% %d' % (stride, offset, modulus),
                 lambda i, s=stride, m=modulus, o=offset: (i * s + o) % m, modulus, 200)
        test('T.bitwise_and(vi * %d, %d)' % (stride, modulus - 1), lambda i, s=stride, m=modulus: i * s % m, modulus)
        test('T.bitwise_and(%d, vi * %d)' % (modulus - 4, stride), lambda i, s=stride, m=modulus: i * s & (m - 4), modulus)
        test('vi * %d %% %d' % (stride, modulus), lambda i, s=stride, m=modulus: i * s % m, modulus, 200, True)
        test('T.truncmod(vi * %d, %d)' % (stride, modulus), lambda i, s=stride, m=modulus: i * s % m, modulus, 200)
    for bits in (8, 16):
        test('T.Cast("int32", T.Cast("uint%d", vi * %d))' % (bits, stride),
             lambda i, s=stride, b=bits: i * s % 2 ** b, 2 ** bits, 30000 if bits == 16 else 200)
    test('T.Cast("int32", T.Cast("uint8", vi) * T.uint8(%d))' % stride, lambda i, s=stride: i * s % 256, 256, 200)
    test('T.Cast("int32", T.shift_right(T.shift_left(T.Cast("uint32", vi * %d), T.uint32(24)), T.uint32(24)))' % stride,
         lambda i, s=stride: i * s % 256, 256, 200)

text = ['from tvm.script import tir as T\n']
for name, index, _, size, n, symbolic in tests:
    if symbolic:
        text.append('@T.prim_func\ndef %s(B: T.Buffer((%d,), "float32"), c: T.handle):\n    n = T.int32()\n'
                    '    C = T.match_buffer(c, (n,), "float32")\n    for i in range(n):\n' % (name, size))
    else:
        text.append('@T.prim_func\ndef %s(B: T.Buffer((%d,), "float32"), C: T.Buffer((%d,), "float32")):\n'
                    '    for i in range(%d):\n' % (name, size, n, n))
    text.append('        with T.block("C"):\n            vi = T.axis.spatial(%s, i)\n            C[vi] = B[%s]\n'
                % ('n' if symbolic else n, index))
program = write(os.path.join(folder, 'remainders.tir'), ''.join(text))
BESIDE = 1024
failures = []
for where, library in libraries(tirc, program, folder):
    for name, index, of, size, n, symbolic in tests:
        b = (ctypes.c_float * (size + BESIDE))(*range(size), *([-1.0] * BESIDE))
        c = (ctypes.c_float * n)()
        getattr(library, name)(b, c, *([n] if symbolic else []))
        wrong = [i for i in range(n) if c[i] != of(i)]
        if wrong:
            failures.append('%s: C[i] = B[%s], i < %d%s: %d wrong, the first at %d: %g, not %g'
                            % (where, index, n, ' (symbolic)' if symbolic else '', len(wrong), wrong[0], c[wrong[0]],
                               of(wrong[0])))
print('%d indices' % len(tests))
if failures:
    sys.exit('%d failures\n%s' % (len(failures), '\n'.join(failures[:400])))
