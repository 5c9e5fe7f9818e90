"""Programs for GPUs: their source, from a module that is built."""
import pytest

import tirc

PROGRAM = """
@T.prim_func
def add(A: T.Buffer((100,), "float32"), B: T.Buffer((100,), "float32")):
    for i in range(100):
        with T.block("B"):
            vi = T.axis.spatial(100, i)
            B[vi] = A[vi] + T.float32(1)
"""


def bound():
    sch = tirc.Schedule(tirc.parse(PROGRAM))
    bx, tx = sch.split(sch.get_loops(sch.get_block("B"))[0], [None, 32])
    sch.bind(bx, "blockIdx.x")
    sch.bind(tx, "threadIdx.x")
    return sch.mod


@pytest.mark.parametrize("target, word", [
    ("cuda", "__launch_bounds__(32) add_kernel("), ("nvidia/nvidia-t4", "__global__"),
    ("cuda -arch=sm_80", "__global__"), ({"kind": "cuda", "arch": "sm_90"}, "__global__"), ("opencl", "__kernel void add_kernel("),
])
def test_source(target, word):
    built = tirc.build(bound(), target=target)
    assert word in built.imported_modules[0].get_source()
    assert built.get_source() == built.imported_modules[0].get_source()


def test_ptx():
    assert ".visible .entry add_kernel(" in bound().emit("ptx", "sm_80")


def test_of_a_processor():
    assert tirc.build(tirc.parse(PROGRAM)).imported_modules == []


def test_no_such_gpu():
    with pytest.raises(tirc.TVMError, match="sm_1 is not the name of a GPU"):
        tirc.build(bound(), target="sm_1")


def test_no_loop_of_threads():
    with pytest.raises(tirc.TVMError, match="no loop is bound to blocks or threads"):
        tirc.build(tirc.parse(PROGRAM), target="cuda")
