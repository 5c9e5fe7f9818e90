"""Parallel loops of emitted C on threads of the caller's, in odd pieces and from the last to the first:
the numbers are those of the same code without them, and close to the interpreter's; what a step fails
with is the status. Usage: own_threads.py TIRC FOLDER"""
import ctypes
import os
import sys
import threading

import numpy as np
from kernels import COMPILERS, STRICT, run, write

tirc, folder = sys.argv[1:3]
BODY = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)
FOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, BODY, ctypes.c_void_p, ctypes.c_int64)
ALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Runtime(ctypes.Structure):
    _fields_ = [('self', ctypes.c_void_p), ('parallel_for', FOR), ('alloc', ALLOC), ('free', FREE)]


loops = []


def odd_pieces(_, n, body, closure, chunks):
    """Pieces of 1, 3, 5 ... steps, each on a thread of its own."""
    loops.append(n)
    at, size, threads = 0, 1, []
    while at < n:
        piece = range(at, min(n, at + size))[::-1]
        threads.append(threading.Thread(target=lambda p=piece: [body(i, closure) for i in p]))
        at, size = at + size, size + 2
    for t in threads[::-1]:
        t.start()
    for t in threads:
        t.join()


HEAD = 'from tvm.script import tir as T\n\n@T.prim_func\ndef f'
PROGRAMS = {  # text, shapes of parameters (the last is written), sizes, script
    'rows': (HEAD + '(a: T.handle, b: T.handle):\n    m, n = T.int32(), T.int64()\n    A = T.match_buffer(a, (m, n))\n'
             '    B = T.match_buffer(b, (m,))\n    for i in range(m):\n        for j in range(n):\n            with T.block("B"):\n'
             '                vi, vj = T.axis.remap("SR", [i, j])\n                with T.init():\n                    B[vi] = T.float32(0)\n'
             '                B[vi] = B[vi] + A[vi, vj]\n', [(37, 53), (37,)], [37, 53], 'auto'),
    'steps': (HEAD + '(A: T.Buffer((29, 70), "float32"), k: T.int32, B: T.Buffer((29, 70), "float32")):\n'
              '    W = T.alloc_buffer((29, 70))\n    for i in T.parallel(29):\n        with T.block("W"):\n            vi = T.axis.spatial(29, i)\n'
              '            S = T.alloc_buffer((70,))\n            for j in T.vectorized(64):\n                S[j] = A[vi, j] * T.float32(2)\n'
              '            for j in range(64, 70):\n                S[j] = T.exp(A[vi, j])\n'
              '            for j in range(70):\n                W[vi, j] = S[69 - j] + T.Cast("float32", k)\n'
              '    for i in T.parallel(3, 29):\n        for j in range(70):\n            B[i, j] = W[28 - i, j] * A[3, j]\n'
              '    for i, j in T.grid(3, 70):\n        B[i, j] = W[i, j]\n', [(29, 70), 5, (29, 70)], [], None),
    'large': (HEAD + '(A: T.Buffer((9, 40000), "float32"), B: T.Buffer((9, 40000), "float32")):\n    for i in T.parallel(9):\n'
              '        with T.block("B"):\n            vi = T.axis.spatial(9, i)\n            S = T.alloc_buffer((40000,))\n'
              '            for j in range(40000):\n                S[j] = A[vi, j] + T.float32(1)\n'
              '            for j in range(40000):\n                B[vi, j] = S[39999 - j]\n', [(9, 40000), (9, 40000)], [], None),
    'fails': (HEAD + '(A: T.Buffer((50,), "float32"), B: T.Buffer((50,), "float32")):\n    for i in T.parallel(50):\n'
              '        assert A[i] > T.float32(-1000), "too small"\n        B[i] = A[i]\n', [(50,), (50,)], [], None),
}
made = 0


def alloc(_, size):
    global made
    made += 1
    return libc.aligned_alloc(64, (size + 63) // 64 * 64)


libc = ctypes.CDLL(None)
libc.aligned_alloc.restype = ctypes.c_void_p
libc.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
runtime = Runtime(None, FOR(odd_pieces), ALLOC(alloc), FREE(lambda _, p, n: libc.free(p)))


def call(function, shapes, sizes, random, *more):
    arrays = [np.asarray(random.standard_normal(s), 'float32') if isinstance(s, tuple) else s for s in shapes]
    args = [a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, np.ndarray) else ctypes.c_int32(a) for a in arrays]
    status = function(*args, *[ctypes.c_int64(s) for s in sizes], *more)
    return status, arrays


for name, (text, shapes, sizes, how) in PROGRAMS.items():
    program = write(os.path.join(folder, name + '.tir'), text.replace('def f(', 'def %s(' % name))
    made_of = [program] + (['--auto'] if how else [])
    base = os.path.join(folder, name)
    run(tirc, 'build', *made_of, '--emit=obj', '-o', base + '.o')
    run('cc', '-shared', '-o', base + '.obj.so', base + '.o', '-lm')
    libraries = [('obj', base + '.obj.so')]
    for kind in ([], ['--portable']):
        source = '%s%s.c' % (base, ''.join(kind))
        run(tirc, 'build', *made_of, '--emit=c', '--runtime', *kind, '-o', source)
        for compiler in COMPILERS:
            so = '%s.%s.so' % (source, compiler)
            standard = ['-std=c11', '-pedantic'] if kind else ['-std=gnu11']
            run(compiler, *standard, *STRICT, '-O2', '-march=haswell', '-ffp-contract=off', '-shared', '-fPIC', '-o', so, source, '-lm')
            libraries.append((compiler + ''.join(kind), so))
    right = None
    for which, so in libraries:
        library = ctypes.CDLL(so)
        del loops[:]
        made = 0
        alone, a = call(getattr(library, name), shapes, sizes, np.random.RandomState(3))
        here, b = call(getattr(library, name + '__rt'), shapes, sizes, np.random.RandomState(3), ctypes.byref(runtime))
        assert loops and alone == here == 0, (name, which, loops, alone, here)
        assert made == (9 if name == 'large' else made), (name, which, made)
        assert (a[-1] == b[-1]).all(), (name, which)
        right = a[-1] if right is None else right
        assert np.allclose(right, b[-1], 1e-5, 1e-5), (name, which)
        if name == 'fails':
            random = np.random.RandomState(3)
            bad = np.full((50,), -2000, 'float32')
            out = np.zeros((50,), 'float32')
            args = [x.ctypes.data_as(ctypes.c_void_p) for x in (bad, out)]
            assert getattr(library, name + '__rt')(*args, ctypes.byref(runtime)) > 1, which
    print('%s: %d libraries alike' % (name, len(libraries)))
