/* Types and conversions. Most of this file is float16 and bfloat16: no processor that we aim at
 * computes in them, so they are kept as bits, widened to float (exact) and narrowed after each
 * operation (to nearest, ties to even). Where the processor has no conversion either, the bits are
 * moved by hand: a float16 is a float whose exponent is off by 112, so a shift and a multiplication
 * by 2^112 widen it, subnormal numbers included. */
#include "gen.h"

/* LLVM takes time and memory beyond all measure for vectors that are much longer than registers. */
enum { MAX_LANES = 1024 };

static LLVMTypeRef vector_of(LLVMTypeRef t, int lanes) {
  return lanes > 1 ? LLVMVectorType(t, (unsigned)lanes) : t;
}

LLVMTypeRef tirc_gen_int_type(Gen *g, int bits, int lanes) {
  return vector_of(LLVMIntTypeInContext(g->context, (unsigned)bits), lanes);
}

LLVMTypeRef tirc_gen_float_type(Gen *g, int bits, int lanes) {
  LLVMTypeRef t = bits == 64   ? LLVMDoubleTypeInContext(g->context)
                  : bits == 16 ? LLVMHalfTypeInContext(g->context)
                               : LLVMFloatTypeInContext(g->context);
  return vector_of(t, lanes);
}

bool tirc_gen_is_small_float(DType t) { return tirc_dtype_is_float(t) && t.bits == 16; }

static void check_lanes(Gen *g, int lanes) {
  if (lanes > MAX_LANES)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, "split the T.vectorized loop into shorter ones",
              "a vector of %d lanes is too long: %d is the limit", lanes, MAX_LANES);
}

LLVMTypeRef tirc_gen_type(Gen *g, DType t) {
  check_lanes(g, t.lanes);
  if (t.code == TYPE_HANDLE) return LLVMPointerTypeInContext(g->context, 0);
  if (t.code == TYPE_VOID) return LLVMVoidTypeInContext(g->context);
  if (t.code == TYPE_BOOL) return tirc_gen_int_type(g, 1, t.lanes);
  if (tirc_dtype_is_int(t) || tirc_gen_is_small_float(t))
    return tirc_gen_int_type(g, t.bits, t.lanes);
  return tirc_gen_float_type(g, t.bits, t.lanes);
}

LLVMTypeRef tirc_gen_memory_type(Gen *g, DType t) {
  return t.code == TYPE_BOOL ? tirc_gen_int_type(g, 8, t.lanes) : tirc_gen_type(g, t);
}

static LLVMValueRef constant_splat(Gen *g, LLVMTypeRef t, LLVMValueRef scalar) {
  if (LLVMGetTypeKind(t) != LLVMVectorTypeKind) return scalar;
  unsigned n = LLVMGetVectorSize(t);
  LLVMValueRef *lanes = tirc_new_array(g->c, LLVMValueRef, n);
  for (unsigned i = 0; i < n; i++) lanes[i] = scalar;
  return LLVMConstVector(lanes, n);
}

static LLVMTypeRef scalar_of(LLVMTypeRef t) {
  return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
}

LLVMValueRef tirc_gen_int(Gen *g, LLVMTypeRef t, int64_t v) {
  return constant_splat(g, t, LLVMConstInt(scalar_of(t), (unsigned long long)v, true));
}

static LLVMValueRef float_const(Gen *g, LLVMTypeRef t, double v) {
  return constant_splat(g, t, LLVMConstReal(scalar_of(t), v));
}

LLVMValueRef tirc_gen_splat(Gen *g, LLVMValueRef scalar, int lanes) {
  if (lanes <= 1) return scalar;
  check_lanes(g, lanes);
  LLVMTypeRef t = LLVMVectorType(LLVMTypeOf(scalar), (unsigned)lanes);
  if (LLVMIsConstant(scalar)) return constant_splat(g, t, scalar);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(g->context);
  LLVMValueRef one =
      LLVMBuildInsertElement(g->b, LLVMGetPoison(t), scalar, LLVMConstInt(i32, 0, false), "");
  LLVMValueRef mask = LLVMConstNull(LLVMVectorType(i32, (unsigned)lanes));
  return LLVMBuildShuffleVector(g->b, one, LLVMGetPoison(t), mask, "splat");
}

/* --- float16 and bfloat16 ------------------------------------------------------------------- */

/* Shorthands over vectors of 32-bit integers and floats of as many lanes as the value at hand. */
typedef struct Small {
  Gen *g;
  LLVMTypeRef i16, i32, f32;
} Small;

static Small small_of(Gen *g, int lanes) {
  return (Small){g, tirc_gen_int_type(g, 16, lanes), tirc_gen_int_type(g, 32, lanes),
                 tirc_gen_float_type(g, 32, lanes)};
}
static LLVMValueRef k32(const Small *s, int64_t v) { return tirc_gen_int(s->g, s->i32, v); }
static LLVMValueRef and32(const Small *s, LLVMValueRef a, int64_t m) {
  return LLVMBuildAnd(s->g->b, a, k32(s, m), "");
}
static LLVMValueRef shr32(const Small *s, LLVMValueRef a, int by) {
  return LLVMBuildLShr(s->g->b, a, k32(s, by), "");
}
static LLVMValueRef shl32(const Small *s, LLVMValueRef a, int by) {
  return LLVMBuildShl(s->g->b, a, k32(s, by), "");
}
static LLVMValueRef as_float(const Small *s, LLVMValueRef a) {
  return LLVMBuildBitCast(s->g->b, a, s->f32, "");
}
static LLVMValueRef as_bits(const Small *s, LLVMValueRef a) {
  return LLVMBuildBitCast(s->g->b, a, s->i32, "");
}

static LLVMValueRef half_to_float(const Small *s, LLVMValueRef bits16) {
  LLVMBuilderRef b = s->g->b;
  LLVMValueRef h = LLVMBuildZExt(b, bits16, s->i32, "");
  LLVMValueRef magnitude = and32(s, h, 0x7fff);
  LLVMValueRef scaled = LLVMBuildFMul(b, as_float(s, shl32(s, magnitude, 13)),
                                      float_const(s->g, s->f32, 0x1p112), "");
  LLVMValueRef special = LLVMBuildICmp(b, LLVMIntUGT, magnitude, k32(s, 0x7bff), "");
  LLVMValueRef finite = as_bits(s, scaled);
  LLVMValueRef inf = LLVMBuildOr(b, finite, k32(s, 0x7f800000), "");
  LLVMValueRef result = LLVMBuildSelect(b, special, inf, finite, "");
  return as_float(s, LLVMBuildOr(b, result, shl32(s, and32(s, h, 0x8000), 16), ""));
}

static LLVMValueRef float_to_half(const Small *s, LLVMValueRef v) {
  LLVMBuilderRef b = s->g->b;
  LLVMValueRef bits = as_bits(s, v), magnitude = and32(s, bits, 0x7fffffff);
  /* Too large for a float16: infinity, or NaN when it was one. */
  LLVMValueRef is_nan = LLVMBuildICmp(b, LLVMIntUGT, magnitude, k32(s, 0x7f800000), "");
  LLVMValueRef special = LLVMBuildSelect(b, is_nan, k32(s, 0x7e00), k32(s, 0x7c00), "");
  /* Subnormal: adding 0.5 shifts the bits into place and rounds them. */
  LLVMValueRef shifted =
      LLVMBuildFAdd(b, as_float(s, magnitude), float_const(s->g, s->f32, 0.5), "");
  LLVMValueRef subnormal = LLVMBuildSub(b, as_bits(s, shifted), k32(s, 0x3f000000), "");
  /* Normal: rebias the exponent, add half of the last place less one, and the last bit. */
  LLVMValueRef odd = and32(s, shr32(s, magnitude, 13), 1);
  LLVMValueRef rounded =
      LLVMBuildAdd(b, LLVMBuildAdd(b, magnitude, k32(s, (int32_t)0xc8000fff), ""), odd, "");
  LLVMValueRef normal = shr32(s, rounded, 13);
  LLVMValueRef is_sub = LLVMBuildICmp(b, LLVMIntULT, magnitude, k32(s, 113 << 23), "");
  LLVMValueRef is_big = LLVMBuildICmp(b, LLVMIntUGE, magnitude, k32(s, 143 << 23), "");
  LLVMValueRef r = LLVMBuildSelect(b, is_sub, subnormal, normal, "");
  r = LLVMBuildSelect(b, is_big, special, r, "");
  r = LLVMBuildOr(b, r, and32(s, shr32(s, bits, 16), 0x8000), "");
  return LLVMBuildTrunc(b, r, s->i16, "");
}

static LLVMValueRef float_to_bfloat(const Small *s, LLVMValueRef v) {
  LLVMBuilderRef b = s->g->b;
  LLVMValueRef bits = as_bits(s, v), high = shr32(s, bits, 16);
  LLVMValueRef bias = LLVMBuildAdd(b, and32(s, high, 1), k32(s, 0x7fff), "");
  LLVMValueRef rounded = shr32(s, LLVMBuildAdd(b, bits, bias, ""), 16);
  LLVMValueRef nan = LLVMBuildOr(b, high, k32(s, 0x40), "");
  LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, v, v, "");
  return LLVMBuildTrunc(b, LLVMBuildSelect(b, is_nan, nan, rounded, ""), s->i16, "");
}

LLVMValueRef tirc_gen_widen(Gen *g, LLVMValueRef v, DType t) {
  Small s = small_of(g, t.lanes);
  if (t.code == TYPE_BFLOAT) return as_float(&s, shl32(&s, LLVMBuildZExt(g->b, v, s.i32, ""), 16));
  if (!g->target->f16c) return half_to_float(&s, v);
  LLVMValueRef half = LLVMBuildBitCast(g->b, v, tirc_gen_float_type(g, 16, t.lanes), "");
  return LLVMBuildFPExt(g->b, half, s.f32, "");
}

LLVMValueRef tirc_gen_narrow(Gen *g, LLVMValueRef v, DType t) {
  Small s = small_of(g, t.lanes);
  if (t.code == TYPE_BFLOAT) return float_to_bfloat(&s, v);
  if (!g->target->f16c) return float_to_half(&s, v);
  LLVMValueRef half = LLVMBuildFPTrunc(g->b, v, tirc_gen_float_type(g, 16, t.lanes), "");
  return LLVMBuildBitCast(g->b, half, s.i16, "");
}

/* --- casts ---------------------------------------------------------------------------------- */

/* A double as the float that rounds to odd: rounding that once more to 11 or 8 bits gives what one
 * rounding of the double would have. */
static LLVMValueRef double_to_odd_float(Gen *g, LLVMValueRef v, int lanes) {
  Small s = small_of(g, lanes);
  LLVMTypeRef f64 = tirc_gen_float_type(g, 64, lanes);
  LLVMValueRef near = LLVMBuildFPTrunc(g->b, v, s.f32, "");
  LLVMValueRef back = LLVMBuildFPExt(g->b, near, f64, "");
  LLVMValueRef inexact = LLVMBuildFCmp(g->b, LLVMRealONE, back, v, "");
  LLVMValueRef abs_back = tirc_gen_intrinsic(g, "llvm.fabs", f64, 1, &back);
  LLVMValueRef abs_v = tirc_gen_intrinsic(g, "llvm.fabs", f64, 1, &v);
  LLVMValueRef above = LLVMBuildFCmp(g->b, LLVMRealOGT, abs_back, abs_v, "");
  LLVMValueRef bits = as_bits(&s, near);
  LLVMValueRef below = LLVMBuildSub(g->b, bits, LLVMBuildZExt(g->b, above, s.i32, ""), "");
  LLVMValueRef odd = LLVMBuildOr(g->b, below, k32(&s, 1), "");
  return as_float(&s, LLVMBuildSelect(g->b, inexact, odd, bits, ""));
}

/* A 64-bit integer of more bits than a double has as the one that rounds to odd, likewise. */
static LLVMValueRef to_odd_int(Gen *g, LLVMValueRef v, DType from) {
  const int more = 11;
  LLVMTypeRef t = LLVMTypeOf(v);
  LLVMValueRef zero = LLVMConstNull(t), rest_mask = tirc_gen_int(g, t, (1 << more) - 1);
  LLVMValueRef rest = LLVMBuildAnd(g->b, v, rest_mask, "");
  LLVMValueRef sticky =
      LLVMBuildOr(g->b, LLVMBuildSub(g->b, v, rest, ""), tirc_gen_int(g, t, 1 << more), "");
  /* -2^53 to 2^53 - 1, or 0 to 2^53 - 1 */
  LLVMValueRef from_least = v;
  int width = 53;
  if (from.code == TYPE_INT) {
    from_least = LLVMBuildAdd(g->b, v, tirc_gen_int(g, t, INT64_C(1) << 53), "");
    width = 54;
  }
  LLVMValueRef large =
      LLVMBuildICmp(g->b, LLVMIntUGE, from_least, tirc_gen_int(g, t, INT64_C(1) << width), "");
  LLVMValueRef inexact = LLVMBuildICmp(g->b, LLVMIntNE, rest, zero, "");
  return LLVMBuildSelect(g->b, LLVMBuildAnd(g->b, large, inexact, ""), sticky, v, "");
}

static LLVMValueRef from_int(Gen *g, LLVMValueRef v, DType from, DType to);

static LLVMValueRef to_small(Gen *g, LLVMValueRef v, DType from, DType to) {
  DType f32 = tirc_dtype_lanes(DT_FLOAT32, to.lanes);
  if (tirc_gen_is_small_float(from)) {
    v = tirc_gen_widen(g, v, from);
  } else if (tirc_dtype_is_float(from) && from.bits == 64) {
    v = double_to_odd_float(g, v, to.lanes);
  } else if (tirc_dtype_is_int(from) && from.bits >= 32 && to.code == TYPE_BFLOAT) {
    if (from.bits == 64) v = to_odd_int(g, v, from);
    v = double_to_odd_float(g, from_int(g, v, from, tirc_dtype_lanes(DT_FLOAT64, to.lanes)),
                            to.lanes);
  } else {
    v = tirc_gen_cast(g, v, from, f32);
  }
  return tirc_gen_narrow(g, v, to);
}

static LLVMValueRef to_bool(Gen *g, LLVMValueRef v, DType from) {
  LLVMTypeRef t = LLVMTypeOf(v);
  if (tirc_gen_is_small_float(from)) {
    v = tirc_gen_widen(g, v, from);
    t = LLVMTypeOf(v);
  }
  if (tirc_dtype_is_float(from)) return LLVMBuildFCmp(g->b, LLVMRealUNE, v, LLVMConstNull(t), "");
  return LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(t), "");
}

static LLVMValueRef from_float(Gen *g, LLVMValueRef v, DType from, DType to) {
  LLVMTypeRef t = tirc_gen_type(g, to);
  if (to.code == TYPE_INT) return LLVMBuildFPToSI(g->b, v, t, "");
  if (to.code == TYPE_UINT) return LLVMBuildFPToUI(g->b, v, t, "");
  if (to.bits == from.bits) return v;
  return to.bits > from.bits ? LLVMBuildFPExt(g->b, v, t, "") : LLVMBuildFPTrunc(g->b, v, t, "");
}

/* LLVM 19's vectoriser of straight-line code computes in as few bits as sign-extend to the number
 * and converts these few as unsigned ones: float(uint16(int8(-1))) was 255. Of 459 programs of
 * casts of narrow integers in loops of 2, 4 and 8 it made 47 wrong. So no scalar is converted as
 * unsigned but in a wider type, that of 64 bits by halves: x / 2 with what is lost as its last bit,
 * twice. */
static LLVMValueRef unsigned_to_float(Gen *g, LLVMValueRef v, DType from, LLVMTypeRef t) {
  if (from.code == TYPE_BOOL || from.lanes > 1) return LLVMBuildUIToFP(g->b, v, t, "");
  if (from.bits < 64) {
    LLVMTypeRef wide = tirc_gen_type(g, from.bits < 32 ? DT_INT32 : DT_INT64);
    return LLVMBuildSIToFP(g->b, LLVMBuildZExt(g->b, v, wide, ""), t, "");
  }
  LLVMValueRef one = LLVMConstInt(LLVMTypeOf(v), 1, false), zero = LLVMConstNull(LLVMTypeOf(v));
  LLVMValueRef half =
      LLVMBuildOr(g->b, LLVMBuildLShr(g->b, v, one, ""), LLVMBuildAnd(g->b, v, one, ""), "");
  LLVMValueRef twice = LLVMBuildSIToFP(g->b, half, t, "");
  twice = LLVMBuildFAdd(g->b, twice, twice, "");
  LLVMValueRef large = LLVMBuildICmp(g->b, LLVMIntSLT, v, zero, "");
  return LLVMBuildSelect(g->b, large, twice, LLVMBuildSIToFP(g->b, v, t, ""), "");
}

static LLVMValueRef from_int(Gen *g, LLVMValueRef v, DType from, DType to) {
  LLVMTypeRef t = tirc_gen_type(g, to);
  bool is_signed = from.code == TYPE_INT;
  if (tirc_dtype_is_float(to))
    return is_signed ? LLVMBuildSIToFP(g->b, v, t, "") : unsigned_to_float(g, v, from, t);
  int bits = from.code == TYPE_BOOL ? 1 : from.bits;
  if (to.bits == bits) return v;
  if (to.bits < bits) return LLVMBuildTrunc(g->b, v, t, "");
  return is_signed ? LLVMBuildSExt(g->b, v, t, "") : LLVMBuildZExt(g->b, v, t, "");
}

LLVMValueRef tirc_gen_cast(Gen *g, LLVMValueRef v, DType from, DType to) {
  if (from.lanes == 1 && to.lanes > 1) {
    v = tirc_gen_splat(g, v, to.lanes);
    from.lanes = to.lanes;
  }
  if (tirc_dtype_equal(from, to) || to.code == TYPE_VOID) return v;
  if (to.code == TYPE_HANDLE || from.code == TYPE_HANDLE) {
    LLVMTypeRef t = tirc_gen_type(g, to);
    if (to.code != TYPE_HANDLE) return LLVMBuildPtrToInt(g->b, v, t, "");
    if (tirc_dtype_is_int(from)) return LLVMBuildIntToPtr(g->b, v, t, "");
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "a %s cannot be made a handle",
              tirc_dtype_name(g->c, from));
  }
  if (to.code == TYPE_BOOL) return to_bool(g, v, from);
  if (tirc_gen_is_small_float(to)) return to_small(g, v, from, to);
  if (tirc_gen_is_small_float(from)) {
    v = tirc_gen_widen(g, v, from);
    from = tirc_dtype_lanes(DT_FLOAT32, from.lanes);
  }
  return tirc_dtype_is_float(from) ? from_float(g, v, from, to) : from_int(g, v, from, to);
}

LLVMValueRef tirc_gen_index(Gen *g, LLVMValueRef v, DType t) {
  DType i64 = tirc_dtype_lanes(DT_INT64, t.lanes);
  return t.bits == 64 && tirc_dtype_is_int(t) ? v : tirc_gen_cast(g, v, t, i64);
}
