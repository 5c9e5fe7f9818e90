/* Types, constants, conversions. */
#include "gen.h"
#include "ir/number.h"

#include <math.h>
#include <stdarg.h>

CText tirc_gpu_text(Gen *g, Binds binds, const char *format, ...) {
  va_list args;
  va_start(args, format);
  CText t = {tirc_vformat(g->c, format, args), binds};
  va_end(args);
  return t;
}

bool tirc_gpu_is_small(DType t) { return tirc_dtype_is_float(t) && t.bits == 16; }

static const char *int_type(const GpuLanguage *l, DType t) {
  const int size = t.bits == 8 ? 0 : t.bits == 16 ? 1 : t.bits == 32 ? 2 : 3;
  return t.code == TYPE_INT ? l->ints[size] : l->uints[size];
}

const char *tirc_gpu_memory_type(Gen *g, DType t) {
  if (t.code == TYPE_FLOAT && t.bits == 64) return g->uses_double = true, "double";
  if (t.code == TYPE_FLOAT) return t.bits == 32 ? "float" : g->l->half;
  if (t.code == TYPE_BFLOAT) return g->l->uints[1];
  if (t.code == TYPE_BOOL) return g->l->uints[0];
  if (tirc_dtype_is_int(t)) return int_type(g->l, t);
  tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "%s has no type for a %s", g->l->name,
            tirc_dtype_name(g->c, t));
}

const char *tirc_gpu_value_type(Gen *g, DType t) {
  const DType one = tirc_dtype_lanes(t, 1);
  const char *s = t.code == TYPE_BOOL      ? "bool"
                  : tirc_gpu_is_small(one) ? "float"
                                           : tirc_gpu_memory_type(g, one);
  return t.lanes > 1 ? g->l->vector_type(g->c, s, t.lanes) : s;
}

CText tirc_gpu_literal(Gen *g, DType t, int64_t v) {
  if (t.code == TYPE_BOOL) return tirc_gpu_text(g, BINDS_ALL, "%s", v ? "true" : "false");
  if (t.code == TYPE_UINT && t.bits == 64)
    return tirc_gpu_text(g, BINDS_ALL, "%llu%s", (unsigned long long)v, g->l->ulong_suffix);
  if (t.code == TYPE_UINT && t.bits == 32)
    return tirc_gpu_text(g, BINDS_ALL, "%uu", (unsigned)(uint64_t)v);
  const bool is_long = t.bits == 64 && (!g->index || v > INT32_MAX || v < INT32_MIN);
  const char *suffix = is_long ? g->l->long_suffix : "";
  if (v == INT64_MIN || (v == INT32_MIN && !is_long)) /* its opposite is no literal of the type */
    return tirc_gpu_text(g, BINDS_ALL, "(-%lld%s - 1)", -(long long)(v + 1), suffix);
  return tirc_gpu_text(g, v < 0 ? BINDS_CAST : BINDS_ALL, "%lld%s", (long long)v, suffix);
}

CText tirc_gpu_float(Gen *g, DType t, double v) {
  const bool is_double = t.bits == 64;
  if (tirc_gpu_is_small(t))
    v = t.code == TYPE_BFLOAT ? tirc_bfloat_to_double(tirc_double_to_bfloat(v))
                              : tirc_half_to_double(tirc_double_to_half(v));
  else if (!is_double)
    v = (double)(float)v;
  if (is_double) g->uses_double = true;
  if (isnan(v) || isinf(v)) {
    const char *name = isnan(v) ? g->l->nan : g->l->infinity, *sign = v < 0 ? "-" : "";
    return tirc_gpu_text(g, *sign || is_double ? BINDS_CAST : BINDS_ALL, "%s%s%s",
                         is_double ? "(double)" : "", sign, name);
  }
  return tirc_gpu_text(g, signbit(v) ? BINDS_CAST : BINDS_ALL, "%s%s",
                       tirc_c_digits(g->c, is_double ? t : DT_FLOAT32, v), is_double ? "" : "f");
}

/* --- conversions ----------------------------------------------------------------------------- */

CText tirc_gpu_round(Gen *g, CText v, DType t) {
  const HelperId id = t.code == TYPE_BFLOAT ? HELPER_ROUND_BFLOAT16 : HELPER_ROUND_FLOAT16;
  return tirc_gpu_text(g, BINDS_ALL, "%s(%s)", tirc_gpu_helper(g, id, t), v.s);
}

/* To a small type, rounded once: a wider number first becomes the float that is nearest to it and
 * odd, which loses nothing for the second rounding. */
static CText to_small(Gen *g, CText v, DType from, DType to) {
  if (tirc_dtype_is_float(from) && from.bits == 32) return tirc_gpu_round(g, v, to);
  if (tirc_dtype_is_int(from) && from.bits >= 32) {
    if (from.bits == 64)
      v = tirc_gpu_text(g, BINDS_ALL, "%s(%s)", tirc_gpu_helper(g, HELPER_ODD_INT, from), v.s);
    v = tirc_c_cast_to(g->c, "double", v);
    g->uses_double = true;
    from = DT_FLOAT64;
  }
  if (from.bits == 64 && tirc_dtype_is_float(from))
    v = tirc_gpu_text(g, BINDS_ALL, "%s(%s)", tirc_gpu_helper(g, HELPER_ODD_FLOAT, from), v.s);
  else
    v = tirc_c_cast_to(g->c, "float", v);
  return tirc_gpu_round(g, v, to);
}

CText tirc_gpu_cast(Gen *g, CText v, DType from, DType to) {
  from.lanes = to.lanes = 1;
  if (tirc_dtype_equal(from, to) || to.code == TYPE_VOID) return v;
  if (to.code == TYPE_BOOL)
    return tirc_gpu_text(g, BINDS_EQUAL, "%s != 0", tirc_c_operand(g->c, v, BINDS_SHIFT));
  if (from.code == TYPE_HANDLE || to.code == TYPE_HANDLE)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "%s has no conversion from %s to %s", g->l->name,
              tirc_dtype_name(g->c, from), tirc_dtype_name(g->c, to));
  if (tirc_gpu_is_small(to)) {
    if (tirc_gpu_is_small(from)) return tirc_gpu_round(g, v, to);
    return to_small(g, v, from, to);
  }
  if (tirc_gpu_is_small(from) && tirc_dtype_is_float(to) && to.bits == 32) return v;
  return tirc_c_cast_to(g->c, tirc_gpu_value_type(g, to), v);
}
