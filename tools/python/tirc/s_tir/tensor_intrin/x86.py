from ...tir.tensor_intrin.x86 import VNNI_DOT_16x4_INTRIN

__all__ = ["VNNI_DOT_16x4_INTRIN"]
