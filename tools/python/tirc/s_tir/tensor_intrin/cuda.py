from ...tir.tensor_intrin.cuda import get_mma_intrin_group, get_wmma_intrin_group

__all__ = ["get_mma_intrin_group", "get_wmma_intrin_group"]
