"""Vectors of which a condition leaves lanes out, of sizes that the run tells: each number is the right
one, and nothing behind an array's end is touched. Usage: tails.py TIRC FOLDER"""
import ctypes
import os
import sys

import numpy as np
from guarded import Guarded, in_a_child
from kernels import libraries, write

tirc, folder = sys.argv[1:3]
HEAD = '    n = T.%s()\n    A = T.match_buffer(a, (n,), "%s")\n    B = T.match_buffer(b, (n,), "%s")\n'
LANES = '    for o in range((n + 7) // 8):\n        for v in T.vectorized(8):\n'
BODIES = {
    'scaled': ('            if o * 8 + v < n:\n                B[o * 8 + v] = A[o * 8 + v] * T.Cast(A.dtype, 3)\n',
               lambda a: a * 3),
    'shifted': ('            if o * 8 + v < n:\n                B[o * 8 + v] = T.if_then_else(o * 8 + v >= 1,'
                ' A[o * 8 + v - 1] + A[o * 8 + v], A[n - 1])\n', lambda a: np.concatenate([a[-1:], a[1:] + a[:-1]])),
    'twice': ('            if o * 8 + v < n:\n                B[o * 8 + v] = A[o * 8 + v]\n'
              '                for k in range(3):\n                    B[o * 8 + v] = B[o * 8 + v] + A[0]\n',
              lambda a: a + a[0] + a[0] + a[0]),
    'let': ('            if o * 8 + v < n:\n                with T.block("B"):\n                    x = A[o * 8 + v]\n'
            '                    B[o * 8 + v] = x * x - x\n', lambda a: a * a - a),
    'inside': ('            if o * 8 + v < n and o * 8 + v >= 2:\n                B[o * 8 + v] = A[o * 8 + v - 2]\n',
               lambda a: np.concatenate([np.full(min(2, len(a)), 7, a.dtype), a[:max(0, len(a) - 2)]])),
}
SUM = ('    s = T.alloc_buffer((8,), "%s", scope="local")\n    for v in T.vectorized(8):\n        s[v] = T.Cast(A.dtype, 0)\n'
       + LANES + '            if o * 8 + v < n:\n                s[v] = s[v] + A[o * 8 + v]\n    for v in range(8):\n'
       '        if v < n:\n            B[v] = s[v]\n')
tests, text = [], ['from tvm.script import tir as T\n']
for dtype, size in (('float32', 'int32'), ('float32', 'int64'), ('float64', 'int64'), ('int64', 'int32'), ('int8', 'int64')):
    head = HEAD % (size, dtype, dtype)
    for name, (body, right) in BODIES.items():
        tests.append(('%s_%s_%s' % (name, dtype, size), dtype, right))
        text.append('@T.prim_func\ndef %s(a: T.handle, b: T.handle):\n%s' % (tests[-1][0], head)
                    + (LANES + body).replace('A.dtype', '"%s"' % dtype))
    tests.append(('sums_%s_%s' % (dtype, size), dtype,
                  lambda a: np.array([sum(a[v::8], a.dtype.type(0)) if v < 8 else 7 for v in range(len(a))], a.dtype)))
    text.append('@T.prim_func\ndef %s(a: T.handle, b: T.handle):\n%s' % (tests[-1][0], head)
                + (SUM % dtype).replace('A.dtype', '"%s"' % dtype))
program = write(os.path.join(folder, 'tails.tir'), ''.join(text))


def check(library):
    for name, dtype, right in tests:
        for n in range(0, 18):
            a, b = [Guarded(n * np.dtype(dtype).itemsize, True, np.dtype(dtype).itemsize) for _ in 'ab']
            x, y = a.array((n,), dtype), b.array((n,), dtype)
            x[:] = np.arange(n) % 5 - 2
            y[:] = 7
            status = getattr(library, name)(ctypes.c_void_p(a.at), ctypes.c_void_p(b.at), ctypes.c_int64(n))
            assert status == 0, (name, n, status)
            if n:
                assert (y == right(x)).all(), (name, n, y, right(x))
            a.free()
            b.free()
    return 0


for where, library in libraries(tirc, program, folder, only=['gcc']):
    wrong = in_a_child(lambda: check(library))
    print('%s: %s' % (where, wrong or 'ok'))
