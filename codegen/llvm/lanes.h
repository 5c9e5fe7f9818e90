/* Arithmetic on vectors of floats, for functions that are written out. Values that a Lanes makes
 * and takes have its number of lanes; `f` is their type, `i` that of their bits. Nothing is fused
 * or reassociated but what mul_add says. */
#ifndef TIRC_CODEGEN_LLVM_LANES_H
#define TIRC_CODEGEN_LLVM_LANES_H

#include "gen.h"

typedef struct Lanes {
  Gen *g;
  LLVMBuilderRef b;
  int n, bits; /* 32 or 64 */
  LLVMTypeRef f, i;
} Lanes;

static inline Lanes lanes_of(Gen *g, int bits, int n) {
  return (Lanes){g, g->b, n, bits, tirc_gen_float_type(g, bits, n), tirc_gen_int_type(g, bits, n)};
}

static inline LLVMValueRef real(const Lanes *v, double x) {
  return tirc_gen_splat(v->g, LLVMConstReal(tirc_gen_float_type(v->g, v->bits, 1), x), v->n);
}
static inline LLVMValueRef whole(const Lanes *v, int64_t x) { return tirc_gen_int(v->g, v->i, x); }

static inline LLVMValueRef add(const Lanes *v, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFAdd(v->b, a, b, "");
}
static inline LLVMValueRef sub(const Lanes *v, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFSub(v->b, a, b, "");
}
static inline LLVMValueRef mul(const Lanes *v, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildFMul(v->b, a, b, "");
}
/* a b + c, rounded once or twice, as the processor has it */
static inline LLVMValueRef mul_add(const Lanes *v, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMValueRef args[3] = {a, b, c};
  return tirc_gen_intrinsic(v->g, "llvm.fmuladd", v->f, 3, args);
}
static inline LLVMValueRef magnitude(const Lanes *v, LLVMValueRef x) {
  return tirc_gen_intrinsic(v->g, "llvm.fabs", v->f, 1, &x);
}
static inline LLVMValueRef with_sign_of(const Lanes *v, LLVMValueRef x, LLVMValueRef sign) {
  LLVMValueRef args[2] = {x, sign};
  return tirc_gen_intrinsic(v->g, "llvm.copysign", v->f, 2, args);
}

/* Comparisons are false of NaN. */
static inline LLVMValueRef less(const Lanes *v, LLVMValueRef x, double than) {
  return LLVMBuildFCmp(v->b, LLVMRealOLT, x, real(v, than), "");
}
static inline LLVMValueRef more(const Lanes *v, LLVMValueRef x, double than) {
  return LLVMBuildFCmp(v->b, LLVMRealOGT, x, real(v, than), "");
}
static inline LLVMValueRef equal(const Lanes *v, LLVMValueRef x, double to) {
  return LLVMBuildFCmp(v->b, LLVMRealOEQ, x, real(v, to), "");
}
static inline LLVMValueRef choose(const Lanes *v, LLVMValueRef c, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildSelect(v->b, c, x, y, "");
}
/* NaN stays what it is. */
static inline LLVMValueRef at_most(const Lanes *v, LLVMValueRef x, double limit) {
  return choose(v, more(v, x, limit), real(v, limit), x);
}
static inline LLVMValueRef at_least(const Lanes *v, LLVMValueRef x, double limit) {
  return choose(v, less(v, x, limit), real(v, limit), x);
}

static inline LLVMValueRef bits_of(const Lanes *v, LLVMValueRef x) {
  return LLVMBuildBitCast(v->b, x, v->i, "");
}
static inline LLVMValueRef of_bits(const Lanes *v, LLVMValueRef i) {
  return LLVMBuildBitCast(v->b, i, v->f, "");
}

/* c[0] + c[1] x + ... */
static inline LLVMValueRef polynomial(const Lanes *v, LLVMValueRef x, int n, const double *c) {
  LLVMValueRef r = real(v, c[n - 1]);
  for (int i = n - 2; i >= 0; i--) r = mul_add(v, r, x, real(v, c[i]));
  return r;
}
#define POLYNOMIAL(v, x, c) polynomial(v, x, (int)(sizeof(c) / sizeof *(c)), c)

/* x rounded to an integer n, of at most 22 or 51 bits: adding 1.5 2^23 (2^52) leaves it in the low
 * bits of the sum. `sum` may be the rounded sum x + rounder already, or that of a product. */
typedef struct Rounded {
  LLVMValueRef n, sum;
} Rounded;

static inline LLVMValueRef rounder(const Lanes *v) {
  return real(v, v->bits == 32 ? 0x1.8p23 : 0x1.8p52);
}
static inline Rounded rounded(const Lanes *v, LLVMValueRef sum) {
  return (Rounded){sub(v, sum, rounder(v)), sum};
}
static inline LLVMValueRef as_whole(const Lanes *v, Rounded r) {
  return LLVMBuildSub(v->b, bits_of(v, r.sum), bits_of(v, rounder(v)), "");
}

/* 2^k for an exponent k of a normal number */
static inline LLVMValueRef power_of_two(const Lanes *v, LLVMValueRef k) {
  const int bias = v->bits == 32 ? 127 : 1023, fraction = v->bits == 32 ? 23 : 52;
  return of_bits(
      v, LLVMBuildShl(v->b, LLVMBuildAdd(v->b, k, whole(v, bias), ""), whole(v, fraction), ""));
}

/* x > 0 and finite is m 2^k, m from sqrt(1/2) to sqrt(2), k a whole float; of others they are some
 * numbers. `v` has 32 bits. */
typedef struct Parts {
  LLVMValueRef m, k;
} Parts;
Parts tirc_lanes_parts(const Lanes *v, LLVMValueRef x); /* vector_math.c */

/* Sine and cosine (vector_wave.c), x^y (vector_pow.c). */
LLVMValueRef tirc_lanes_wave(const Lanes *v, Op op, LLVMValueRef x);
LLVMValueRef tirc_lanes_pow(const Lanes *v, LLVMValueRef x, LLVMValueRef y);

#endif
