/* Types and constants, and the row of C. */
#include "gen.h"

const char *tirc_c_type(DType t) { return tirc_src_type(&tirc_c_language, t); }

const char *tirc_cg_vector(Gen *g, DType t, int lanes) {
  t.lanes = (uint16_t)lanes;
  bool known = false;
  for (int i = 0; i < g->file->vectors.n; i++)
    known = known || tirc_dtype_equal(g->file->vectors.at[i], t);
  if (!known) vec_push(g->c, g->file->vectors, t);
  return tirc_dtype_name(g->c, t);
}

static CText number(Gen *g, DType t, int64_t v) {
  if (t.code == TYPE_BOOL) return tirc_src_text(g, BINDS_ALL, "%d", v != 0);
  if (t.code == TYPE_HANDLE) return tirc_src_text(g, BINDS_ALL, "NULL");
  if (t.code == TYPE_UINT && t.bits == 64)
    return tirc_src_text(g, BINDS_ALL, "UINT64_C(%llu)", (unsigned long long)v);
  if (t.code == TYPE_UINT && t.bits == 32) return tirc_src_text(g, BINDS_ALL, "%uu", (unsigned)v);
  if (t.code == TYPE_UINT) return tirc_src_text(g, BINDS_ALL, "%lld", (long long)v);
  Binds binds = v < 0 ? BINDS_CAST : BINDS_ALL;
  if (v == INT64_MIN) return tirc_src_text(g, BINDS_ALL, "INT64_MIN");
  if (v == INT32_MIN)
    return tirc_src_text(g, BINDS_ALL, "%s", t.bits == 64 ? "(int64_t)INT32_MIN" : "INT32_MIN");
  if (t.bits == 64 && (!g->index || v > INT32_MAX || v < INT32_MIN))
    return tirc_src_text(g, binds, "%sINT64_C(%lld)", v < 0 ? "-" : "",
                         (long long)(v < 0 ? -v : v));
  return tirc_src_text(g, binds, "%lld", (long long)v);
}

static CText cast_handle(Gen *g, CText v, DType from, DType to) {
  if (tirc_dtype_is_float(from) || tirc_dtype_is_float(to))
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "a %s cannot be made a %s",
              tirc_dtype_name(g->c, from), tirc_dtype_name(g->c, to));
  return tirc_c_cast_to(g->c, tirc_c_type(to), tirc_c_cast_to(g->c, "uintptr_t", v));
}

/* --- the row -------------------------------------------------------------------------------- */

static const char *vector_type(Gen *g, DType t) { return tirc_cg_vector(g, t, t.lanes); }

static const char *helper_of(Gen *g, Op op, DType t) {
  g->uses_math = true;
  return op == OP_EXP10 ? tirc_src_helper(g, HELPER_POWER_OF_10, t) : NULL;
}

static Emit *const exprs[OP_COUNT] = {
    [OP_LET] = tirc_cg_let,   [OP_REINTERPRET] = tirc_cg_reinterpret,
    [OP_RAMP] = tirc_cg_ramp, [OP_LOAD] = tirc_cg_load,
    [OP_CALL] = tirc_cg_call,
};
static EmitStmt *const stmts[STMT_ASSERT + 1] = {
    [STMT_ATTR] = tirc_cg_attr,   [STMT_FOR] = tirc_cg_for,     [STMT_SEQ] = tirc_cg_seq,
    [STMT_STORE] = tirc_cg_store, [STMT_IF] = tirc_cg_if,       [STMT_EVAL] = tirc_cg_eval,
    [STMT_LET] = tirc_cg_bind,    [STMT_ALLOC] = tirc_cg_alloc, [STMT_ASSERT] = tirc_cg_check,
};
static const Family family = {
    .small_bits = true,
    .exprs = exprs,
    .stmts = stmts,
    .number = number,
    .cast_handle = cast_handle,
    .popcount = tirc_cg_popcount,
    .vector_arith = tirc_cg_vector_arith,
    .all_lanes = tirc_cg_all_lanes,
    .written_out = tirc_cg_lane_function,
    .is_decided = tirc_cg_is_decided,
};

static const FunctionName functions[] = {{OP_ISNAN, "isnan", NULL},
                                         {OP_ISINF, "isinf", NULL},
                                         {OP_ISFINITE, "isfinite", NULL},
                                         {OP_COUNT, NULL, NULL}};

const Language tirc_c_language = {
    .name = "C",
    .family = &family,
    .ints = {"int8_t", "int16_t", "int32_t", "int64_t"},
    .uints = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
    .half = "uint16_t",
    .handle = "void *",
    .function = "static inline",
    .function_of_both = "static inline",
    .global = "",
    .restrict_of = "restrict ",
    .float_suffix = "f",
    .infinity = "INFINITY",
    .nan = "NAN",
    .floor_quotient = "($T)floor((double)($T)(a / b))",
    .end_odd = "  bits |= 1u;\n"
               "  memcpy(&near, &bits, sizeof near);\n"
               "  return near;\n",
    .functions = functions,
    .helper_of = helper_of,
    .vector_type = vector_type,
};
