"""Tensor cores of NVIDIA's GPUs, by the reference's names; `tirc rules tensor_intrin/cuda` prints the intrinsics. A schedule
knows them by name, so nothing has to be registered."""

from ._library import answer

WMMA_SYNC_16x16x16_f16f16f32_INTRIN = "wmma_sync_16x16x16_f16f16f32"
WMMA_SYNC_16x16x16_f16f16f32_TRANS_INTRIN = "wmma_sync_16x16x16_f16f16f32_trans"
WMMA_SYNC_16x16x16_f16f16f16_INTRIN = "wmma_sync_16x16x16_f16f16f16"
WMMA_SYNC_16x16x16_s8s8s32_INTRIN = "wmma_sync_16x16x16_s8s8s32"


def _no_store_of_mma(not_use_mma_store_intrinic):
    if not not_use_mma_store_intrinic:
        raise ValueError("there is no mma.store: not_use_mma_store_intrinic=True alone")


def get_wmma_intrin_group(load_scope, store_scope, in_dtype, out_dtype, trans_b, not_use_mma_store_intrinic=True):
    """The names of the five that a product of 16 x 16 x 16 takes."""
    _no_store_of_mma(not_use_mma_store_intrinic)
    return answer("cuda", "get_wmma_intrin_group", load_scope, store_scope, in_dtype, out_dtype, trans_b)


def get_mma_intrin_group(load_scope, store_scope, in_dtype, out_dtype, trans_a, trans_b, not_use_mma_store_intrinic=True, store_to_smem_dtype=None):
    """The names of the five that a product of mma.sync takes, from sm_80 on: 16 x 16 results, and as many steps as 32 bytes have elements."""
    _no_store_of_mma(not_use_mma_store_intrinic)
    if store_to_smem_dtype not in (None, "", out_dtype):
        raise ValueError("what is stored has the type of the sum, %s, not %s: convert it behind the store" % (out_dtype, store_to_smem_dtype))
    return answer("cuda", "get_mma_intrin_group", load_scope, store_scope, in_dtype, out_dtype, trans_a, trans_b)


def __getattr__(name):
    from ... import _doors
    return _doors.missing("tirc.tir.tensor_intrin.cuda", name)
