"""Dot products of x86, by the reference's names; `tirc rules tensor_intrin/x86` prints the intrinsics, with those that the
reference does not have. A schedule knows them by name, so nothing has to be registered."""

VNNI_DOT_16x4_INTRIN = "dot_16x4_vnni"
AVX512_DOT_16x4_INTRIN = "dot_16x4_avx512"
