"""Tensor cores of NVIDIA's GPUs, by the reference's names; `tirc rules tensor_intrin/cuda` prints the intrinsics. A schedule
knows them by name, so nothing has to be registered."""

WMMA_SYNC_16x16x16_f16f16f32_INTRIN = "wmma_sync_16x16x16_f16f16f32"
WMMA_SYNC_16x16x16_f16f16f32_TRANS_INTRIN = "wmma_sync_16x16x16_f16f16f32_trans"
WMMA_SYNC_16x16x16_f16f16f16_INTRIN = "wmma_sync_16x16x16_f16f16f16"
WMMA_SYNC_16x16x16_s8s8s32_INTRIN = "wmma_sync_16x16x16_s8s8s32"

_SHORT = {"float16": "f16", "float32": "f32", "int8": "s8", "int32": "s32"}


def get_wmma_intrin_group(load_scope, store_scope, in_dtype, out_dtype, trans_b, not_use_mma_store_intrinic=True):
    """The names of the five that a product of 16 x 16 x 16 takes."""
    of, to, trans = _SHORT[in_dtype], _SHORT[out_dtype], "_trans" if trans_b else ""
    load, store = load_scope.replace(".", "_"), store_scope.replace(".", "_")
    return {
        "init": "wmma_fill_16x16x16_" + to,
        "load_a": "wmma_load_16x16x16_%s_a_%s" % (of, load),
        "load_b": "wmma_load_16x16x16_%s_b%s_%s" % (of, trans, load),
        "compute": "wmma_sync_16x16x16_%s%s%s%s" % (of, of, to, trans),
        "store": "wmma_store_16x16x16_%s_%s" % (to, store),
    }
