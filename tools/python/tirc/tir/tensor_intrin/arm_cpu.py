"""Dot products of ARM, by the reference's names; `tirc rules tensor_intrin/arm_cpu` prints the intrinsics, with those that
the reference does not have. A schedule knows them by name, so nothing has to be registered."""

ARM_DOT_4x4_i8_NEON_INTRIN = "dot_4x4_i8i8s32_neon"
ARM_DOT_4x4_i8_SDOT_INTRIN = "dot_4x4_i8i8s32_sdot"
ARM_DOT_4x4_u8_UDOT_INTRIN = "dot_4x4_u8u8u32_udot"
ARM_DOT_4x4_u8_HDOT_INTRIN = "dot_4x4_u8u8i32_hdot"
