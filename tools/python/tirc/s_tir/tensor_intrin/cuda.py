from ...tir.tensor_intrin.cuda import get_wmma_intrin_group

__all__ = ["get_wmma_intrin_group"]
