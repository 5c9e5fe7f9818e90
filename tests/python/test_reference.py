"""tirc.Reference: what a function should compute, and how far from it a result may be."""

import numpy
import tirc

PRODUCT = """@T.prim_func
def main(A: T.Buffer((6, 20), "float32"), B: T.Buffer((20, 5), "float32"), C: T.Buffer((6, 5), "float32")):
    for i, j, k in T.grid(6, 5, 20):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def test_results_against_a_reference():
    mod = tirc.parse(PRODUCT)
    rng = numpy.random.default_rng(1)
    a, b = (rng.random(shape, dtype="float32") for shape in ((6, 20), (20, 5)))
    c = numpy.zeros((6, 5), "float32")
    reference = tirc.Reference(mod, a, b, c)
    assert not c.any()  # the arguments stay as they are
    tirc.build(mod)(a, b, c)
    check = reference.check(a, b, c)
    assert check and check.ok and check.elements == 30 and check.undecided == 0
    c[2, 3] *= numpy.float32(1.0001)
    check = reference.check(a, b, c)
    assert not check and check.param == "C" and check.at == 13 and check.error > check.allowed > 0
