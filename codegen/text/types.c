/* Types, constants, conversions. */
#include "gen.h"
#include "ir/number.h"

#include <math.h>

CText tirc_src_text(Gen *g, Binds binds, const char *format, ...) {
  va_list args;
  va_start(args, format);
  CText t = {tirc_vformat(g->c, format, args), binds};
  va_end(args);
  return t;
}

bool tirc_src_is_small(DType t) { return tirc_dtype_is_float(t) && t.bits == 16; }

bool tirc_src_computes(DType t) {
  return tirc_dtype_is_int(t) || (t.code == TYPE_FLOAT && t.bits >= 32);
}

const char *tirc_src_type(const Language *l, DType t) {
  const int size = t.bits == 8 ? 0 : t.bits == 16 ? 1 : t.bits == 32 ? 2 : 3;
  if (t.code == TYPE_FLOAT) return t.bits == 64 ? "double" : t.bits == 32 ? "float" : l->half;
  if (t.code == TYPE_BFLOAT) return l->uints[1];
  if (t.code == TYPE_BOOL) return l->uints[0];
  if (tirc_dtype_is_int(t)) return t.code == TYPE_INT ? l->ints[size] : l->uints[size];
  return l->handle;
}

const char *tirc_src_memory_type(Gen *g, DType t) {
  const char *s = tirc_src_type(g->l, t);
  if (t.code == TYPE_FLOAT && t.bits == 64) g->uses_double = true;
  if (s) return s;
  tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "%s has no type for a %s", g->l->name,
            tirc_dtype_name(g->c, t));
}

const char *tirc_src_value_type(Gen *g, DType t) {
  if (t.lanes > 1) return g->l->vector_type(g, t);
  if (t.code == TYPE_BOOL) return "bool";
  return tirc_src_is_small(t) && !g->l->family->small_bits ? "float" : tirc_src_memory_type(g, t);
}

CText tirc_src_number(Gen *g, DType t, int64_t v) { return g->l->family->number(g, t, v); }

CText tirc_src_float(Gen *g, DType t, double v) {
  const bool is_double = t.bits == 64;
  if (tirc_src_is_small(t) && g->l->family->small_bits) {
    if ((double)(float)v == v || isnan(v))
      return tirc_src_narrow(g, tirc_src_float(g, DT_FLOAT32, v), t);
    return tirc_src_cast(g, tirc_src_float(g, DT_FLOAT64, v), DT_FLOAT64, t);
  }
  if (tirc_src_is_small(t))
    v = t.code == TYPE_BFLOAT ? tirc_bfloat_to_double(tirc_double_to_bfloat(v))
                              : tirc_half_to_double(tirc_double_to_half(v));
  else if (!is_double)
    v = (double)(float)v;
  if (is_double) g->uses_double = true;
  if (isnan(v) || isinf(v)) {
    const char *name = isnan(v) ? g->l->nan : g->l->infinity, *sign = v < 0 ? "-" : "";
    g->uses_math = true;
    return tirc_src_text(g, *sign || is_double ? BINDS_CAST : BINDS_ALL, "%s%s%s",
                         is_double ? "(double)" : "", sign, name);
  }
  return tirc_src_text(g, signbit(v) ? BINDS_CAST : BINDS_ALL, "%s%s",
                       tirc_c_digits(g->c, is_double ? t : DT_FLOAT32, v), is_double ? "" : "f");
}

/* --- conversions ----------------------------------------------------------------------------- */

static CText helper(Gen *g, HelperId id, DType t, CText v) {
  return tirc_src_text(g, BINDS_ALL, "%s(%s)", tirc_src_helper(g, id, t), v.s);
}

CText tirc_src_widen(Gen *g, CText v, DType t) {
  if (!g->l->family->small_bits || !tirc_src_is_small(t)) return v;
  return helper(g, t.code == TYPE_BFLOAT ? HELPER_FROM_BFLOAT16 : HELPER_FROM_FLOAT16, t, v);
}

CText tirc_src_narrow(Gen *g, CText v, DType t) {
  const bool as_bits = g->l->family->small_bits;
  if (t.code == TYPE_BFLOAT)
    return helper(g, as_bits ? HELPER_TO_BFLOAT16 : HELPER_ROUND_BFLOAT16, t, v);
  return helper(g, as_bits ? HELPER_TO_FLOAT16 : HELPER_ROUND_FLOAT16, t, v);
}

/* To a small type, rounded once: a wider number first becomes the float that is nearest to it and
 * odd, which loses nothing for the second rounding. An integer that a float does not hold is too
 * large for a float16 anyway, so that C makes a float of any; kernels go by doubles. */
static CText to_small(Gen *g, CText v, DType from, DType to) {
  const bool may_be_float = g->l->family->small_bits && to.code == TYPE_FLOAT;
  if (tirc_dtype_is_int(from) && from.bits >= 32 && !may_be_float) {
    if (from.bits == 64) v = helper(g, HELPER_ODD_INT, from, v);
    v = tirc_src_cast_to(g, DT_FLOAT64, v);
    from = DT_FLOAT64;
  }
  if (from.bits == 64 && tirc_dtype_is_float(from))
    v = helper(g, HELPER_ODD_FLOAT, from, v);
  else
    v = tirc_src_cast(g, v, from, DT_FLOAT32);
  return tirc_src_narrow(g, v, to);
}

CText tirc_src_cast(Gen *g, CText v, DType from, DType to) {
  from.lanes = to.lanes = 1;
  if (tirc_dtype_equal(from, to) || to.code == TYPE_VOID) return v;
  if (to.code == TYPE_HANDLE || from.code == TYPE_HANDLE)
    return g->l->family->cast_handle(g, v, from, to);
  if (tirc_src_is_small(from)) {
    v = tirc_src_widen(g, v, from);
    from = DT_FLOAT32;
    if (tirc_dtype_equal(from, to)) return v;
  }
  if (to.code == TYPE_BOOL)
    return tirc_src_text(g, BINDS_EQUAL, "%s != 0", tirc_c_operand(g->c, v, BINDS_SHIFT));
  return tirc_src_is_small(to) ? to_small(g, v, from, to) : tirc_src_cast_to(g, to, v);
}
