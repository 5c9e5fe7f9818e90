/* How processors round a sum of two products of bfloat16. Both flush what is subnormal to a zero of
 * its sign, operands and results, in whatever mode the processor is, and have one NaN.
 *
 *   x86, AVX512_BF16   fma(a[0], b[0], fma(a[1], b[1], sum)), each to nearest, ties to even: the odd one first
 *   ARM, FEAT_BF16     sum + (a[0] * b[0] + a[1] * b[1]), each of the four operations to odd */
#ifndef TIRC_IR_DOT_SUMS_H
#define TIRC_IR_DOT_SUMS_H

#include <stdint.h>

/* a and b: the bits of two bfloat16. */
float tirc_dot_odd_even(float sum, const uint16_t a[2], const uint16_t b[2]);
float tirc_dot_to_odd(float sum, const uint16_t a[2], const uint16_t b[2]);

#endif
