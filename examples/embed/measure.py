"""Which of several ways is faster, and how certain is that? Compares numpy with a kernel: they take turns, are
checked against the interpreter, and get intervals.

    python3 measure.py
"""

import numpy
import tirc
from tirc.script import tir as T


@T.prim_func
def main(A: T.Buffer((65536,), "float32"), B: T.Buffer((65536,), "float32")):
    for i in range(65536):
        with T.block("B"):
            v = T.axis.spatial(65536, i)
            B[v] = A[v] * A[v] + T.float32(1)


a = numpy.random.default_rng(1).random(65536, dtype="float32")
b = numpy.zeros_like(a)
kernel = tirc.build(tirc.auto(main), threads=1)["main"]
reference = tirc.Reference(main, a, b)  # the correct results, and how far float32 may differ


def wrong(x, y):
    numpy.multiply(x, x, out=y)  # omits the 1: the check finds that before anything is timed


def by_numpy(x, y):
    numpy.multiply(x, x, out=y)
    numpy.add(y, numpy.float32(1), out=y)


ways = {"tirc": kernel, "numpy": by_numpy, "wrong": wrong}
m = tirc.measure({name: tirc.Contender(call, a, b, reference=reference) for name, call in ways.items()},
                 seconds=0.05, attempts=1)
for name, f in m.items():
    print(f if f.code else "%s: %.2f us [%.2f, %.2f] in %d turns"
          % (name, 1e6 * f.median, 1e6 * f.low, 1e6 * f.high, len(f.turns)))
r = m["tirc"].times_as_fast(m["numpy"])
print("tirc is %.2f [%.2f, %.2f] times as fast as numpy%s"
      % (*r, ", surely" if m["tirc"].surely_faster(m["numpy"]) else ""))
assert m["wrong"].code == "wrong-result" and not m["numpy"].code and m["tirc"].median > 0
