"""The schedule of examples/matmul/rule_based.sch as people write it against TVM: a program, and a
function that takes a tvm.tir.Schedule. test_tvm.py runs this file with `tvm` in its two imports
replaced by `tirc`, and nothing else."""

import tvm
from tvm.script import tir as T

M, N, K = 128, 768, 768


@T.prim_func
def matmul(A: T.Buffer((M, K), "float32"), B: T.Buffer((K, N), "float32"), C: T.Buffer((M, N), "float32")):
    for i, j, k in T.grid(M, N, K):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


def rule_based(sch: tvm.tir.Schedule) -> None:
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    extent_m, extent_n = int(sch.get(i).extent), int(sch.get(j).extent)
    assert [v.iter_type for v in sch.get(block).iter_vars] == [0, 0, 2] and extent_n % 64 == 0
    tm = extent_m if extent_m <= 32 else (64 if extent_m % 64 == 0 else 32)
    io, ii = sch.split(i, factors=[None, tm])
    jo, ji = sch.split(j, factors=[None, 64])
    ko, ki = sch.split(k, factors=[None, 8])
    ji_o, j_vec = sch.split(ji, factors=[None, 32])
    sch.reorder(io, jo, ko, ii, ji_o, ki, j_vec)
    write_back = sch.cache_write(block, 0, "global")
    sch.reverse_compute_at(write_back, jo)
    fused = sch.fuse(io, jo)
    sch.parallel(fused)
    sch.vectorize(j_vec)
    wb_o, wb_vec = sch.split(sch.get_loops(write_back)[-1], factors=[None, 32])
    sch.vectorize(wb_vec)
    sch.unroll(ki)
    sch.annotate(fused, "pragma_auto_unroll_max_step", 64)
    sch.annotate(fused, "pragma_unroll_explicit", 1)
    sch.decompose_reduction(block, ko)


def main():
    sch = tvm.tir.Schedule(matmul)
    rule_based(sch)
    return sch
