/* Types, constants, conversions. */
#include "gen.h"

#include <math.h>
#include <stdlib.h>

const char *tirc_c_type(DType t) {
  if (t.code == TYPE_FLOAT && t.bits == 64) return "double";
  if (t.code == TYPE_FLOAT && t.bits == 32) return "float";
  if (t.code == TYPE_FLOAT || t.code == TYPE_BFLOAT) return "uint16_t";
  if (t.code == TYPE_BOOL) return "uint8_t";
  static const char *const ints[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
  static const char *const uints[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  int size = t.bits == 8 ? 0 : t.bits == 16 ? 1 : t.bits == 32 ? 2 : 3;
  if (tirc_dtype_is_int(t)) return t.code == TYPE_INT ? ints[size] : uints[size];
  return "void *";
}

const char *tirc_cg_value_type(DType t) { return t.code == TYPE_BOOL ? "bool" : tirc_c_type(t); }

const char *tirc_cg_vector(CGen *g, DType t, int lanes) {
  t.lanes = (uint16_t)lanes;
  bool known = false;
  for (int i = 0; i < g->vectors.n; i++) known = known || tirc_dtype_equal(g->vectors.at[i], t);
  if (!known) vec_push(g->c, g->vectors, t);
  return tirc_dtype_name(g->c, t);
}

bool tirc_cg_is_small(DType t) { return tirc_dtype_is_float(t) && t.bits == 16; }

CText tirc_cg_number(CGen *g, DType t, int64_t v) {
  if (t.code == TYPE_BOOL) return tirc_cg_text(g, BINDS_ALL, "%d", v != 0);
  if (t.code == TYPE_HANDLE) return tirc_cg_text(g, BINDS_ALL, "NULL");
  if (t.code == TYPE_UINT && t.bits == 64)
    return tirc_cg_text(g, BINDS_ALL, "UINT64_C(%llu)", (unsigned long long)v);
  if (t.code == TYPE_UINT && t.bits == 32) return tirc_cg_text(g, BINDS_ALL, "%uu", (unsigned)v);
  if (t.code == TYPE_UINT) return tirc_cg_text(g, BINDS_ALL, "%lld", (long long)v);
  Binds binds = v < 0 ? BINDS_CAST : BINDS_ALL;
  if (v == INT64_MIN) return tirc_cg_text(g, BINDS_ALL, "INT64_MIN");
  if (v == INT32_MIN)
    return tirc_cg_text(g, BINDS_ALL, "%s", t.bits == 64 ? "(int64_t)INT32_MIN" : "INT32_MIN");
  if (t.bits == 64 && (!g->index || v > INT32_MAX || v < INT32_MIN))
    return tirc_cg_text(g, binds, "%sINT64_C(%lld)", v < 0 ? "-" : "", (long long)(v < 0 ? -v : v));
  return tirc_cg_text(g, binds, "%lld", (long long)v);
}

CText tirc_cg_float(CGen *g, DType t, double v) {
  if (tirc_cg_is_small(t)) {
    if ((double)(float)v == v || isnan(v))
      return tirc_cg_narrow(g, tirc_cg_float(g, DT_FLOAT32, v), t);
    return tirc_cg_cast(g, tirc_cg_float(g, DT_FLOAT64, v), DT_FLOAT64, t);
  }
  const char *suffix = t.bits == 32 ? "f" : "";
  if (t.bits == 32) v = (double)(float)v;
  if (isnan(v) || isinf(v)) {
    g->uses_math = true;
    const char *name = isnan(v) ? "NAN" : v < 0 ? "-INFINITY" : "INFINITY";
    if (t.bits == 64) return tirc_cg_text(g, BINDS_CAST, "(double)%s", name);
    return tirc_cg_text(g, v < 0 ? BINDS_CAST : BINDS_ALL, "%s", name);
  }
  return tirc_cg_text(g, signbit(v) ? BINDS_CAST : BINDS_ALL, "%s%s", tirc_c_digits(g->c, t, v),
                      suffix);
}

/* --- conversions ---------------------------------------------------------------------------- */

static CText call(CGen *g, HelperId id, DType t, CText v) {
  return tirc_cg_text(g, BINDS_ALL, "%s(%s)", tirc_cg_helper(g, id, t), v.s);
}

CText tirc_cg_widen(CGen *g, CText v, DType t) {
  return call(g, t.code == TYPE_BFLOAT ? HELPER_FROM_BFLOAT16 : HELPER_FROM_FLOAT16, t, v);
}
CText tirc_cg_narrow(CGen *g, CText v, DType t) {
  return call(g, t.code == TYPE_BFLOAT ? HELPER_TO_BFLOAT16 : HELPER_TO_FLOAT16, t, v);
}

static CText to_type(CGen *g, CText v, const char *type) {
  return tirc_cg_text(g, BINDS_CAST, "(%s)%s", type, tirc_cg_operand(g, v, BINDS_CAST));
}

CText tirc_cg_cast(CGen *g, CText v, DType from, DType to) {
  from.lanes = to.lanes = 1;
  if (tirc_dtype_equal(from, to) || to.code == TYPE_VOID) return v;
  if (to.code == TYPE_HANDLE || from.code == TYPE_HANDLE) {
    if (tirc_dtype_is_float(from) || tirc_dtype_is_float(to))
      tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "a %s cannot be made a %s",
                tirc_dtype_name(g->c, from), tirc_dtype_name(g->c, to));
    if (to.code == TYPE_HANDLE) return to_type(g, to_type(g, v, "uintptr_t"), "void *");
    return to_type(g, to_type(g, v, "uintptr_t"), tirc_c_type(to));
  }
  if (tirc_cg_is_small(from)) {
    v = tirc_cg_widen(g, v, from);
    if (tirc_cg_is_small(to)) return tirc_cg_narrow(g, v, to);
    return tirc_cg_cast(g, v, DT_FLOAT32, to);
  }
  if (to.code == TYPE_BOOL)
    return tirc_cg_text(g, BINDS_EQUAL, "%s != 0", tirc_cg_operand(g, v, BINDS_SHIFT));
  if (!tirc_cg_is_small(to)) return to_type(g, v, tirc_c_type(to));
  if (from.code == TYPE_FLOAT && from.bits == 64)
    return tirc_cg_narrow(g, call(g, HELPER_ODD_FLOAT, from, v), to);
  if (tirc_dtype_is_int(from) && from.bits == 64 && to.code == TYPE_BFLOAT)
    v = call(g, HELPER_ODD_INT, from, v);
  if (tirc_dtype_is_int(from) && from.bits >= 32 && to.code == TYPE_BFLOAT)
    return tirc_cg_narrow(g, call(g, HELPER_ODD_FLOAT, DT_FLOAT64, to_type(g, v, "double")), to);
  return tirc_cg_narrow(g, tirc_cg_cast(g, v, from, DT_FLOAT32), to);
}
