from ...tir.tensor_intrin.arm_cpu import (ARM_DOT_4x4_i8_NEON_INTRIN, ARM_DOT_4x4_i8_SDOT_INTRIN,
                                         ARM_DOT_4x4_u8_HDOT_INTRIN, ARM_DOT_4x4_u8_UDOT_INTRIN)

__all__ = ["ARM_DOT_4x4_i8_NEON_INTRIN", "ARM_DOT_4x4_i8_SDOT_INTRIN", "ARM_DOT_4x4_u8_HDOT_INTRIN",
           "ARM_DOT_4x4_u8_UDOT_INTRIN"]
