/* Functions: of mathematics, of libm, of the processor. All of them take scalars, but those of
 * mathematics that are written out for vectors (lanes.c). */
#include "codegen/libm.h"
#include "gen.h"
#include "ir/tree/intrinsic.h"

/* --- mathematics ---------------------------------------------------------------------------- */

static CText call(CGen *g, const char *name, DType t, int n, const CText *args) {
  Text s = {.c = g->c};
  g->uses_math = true;
  tirc_text_addf(&s, "%s%s(", name, t.bits == 32 ? "f" : "");
  for (int i = 0; i < n; i++) tirc_text_addf(&s, "%s%s", i ? ", " : "", args[i].s);
  tirc_text_add(&s, ")");
  return (CText){s.at, BINDS_ALL};
}

static CText helper(CGen *g, HelperId id, DType t, CText a) {
  return tirc_cg_text(g, BINDS_ALL, "%s(%s)", tirc_cg_helper(g, id, t), a.s);
}

static CText int_math(CGen *g, Expr e, CText a) {
  DType t = tirc_dtype_lanes(e->args[0]->dtype, 1), u = t;
  if (t.code == TYPE_INT) u.code = TYPE_UINT;
  switch (e->op) {
  case OP_ABS: return t.code == TYPE_INT ? helper(g, HELPER_ABS, t, a) : a;
  case OP_POPCOUNT:
    a = tirc_cg_text(g, BINDS_ALL, "%s(%s)", tirc_ops[OP_POPCOUNT].c_form,
                     tirc_cg_cast_to(g, tirc_c_type(u), a).s);
    return tirc_cg_cast(g, a, DT_INT32, e->dtype);
  case OP_CLZ: return tirc_cg_cast(g, helper(g, HELPER_CLZ, t, a), DT_INT32, e->dtype);
  default: return a; /* rounding leaves an integer alone */
  }
}

static CText float_math(CGen *g, Op op, DType t, int n, const CText *args) {
  CText one = tirc_cg_float(g, t, 1);
  switch (op) {
  case OP_RSQRT: return tirc_cg_binary(g, OP_DIV, one, call(g, "sqrt", t, n, args));
  case OP_SIGMOID: {
    CText minus = tirc_cg_text(g, BINDS_CAST, "-%s", tirc_cg_operand(g, args[0], BINDS_ALL));
    return tirc_cg_binary(g, OP_DIV, one,
                          tirc_cg_binary(g, OP_ADD, one, call(g, "exp", t, 1, &minus)));
  }
  case OP_EXP10: return helper(g, HELPER_EXP10, t, args[0]);
  case OP_ISNAN:
  case OP_ISINF:
  case OP_ISFINITE:
    g->uses_math = true;
    return tirc_cg_text(g, BINDS_EQUAL, "%s(%s) != 0", tirc_ops[op].c_form, args[0].s);
  default: break;
  }
  if (!tirc_ops[op].c_form)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "T.%s is not defined on %s", tirc_ops[op].name,
              tirc_dtype_name(g->c, t));
  return call(g, tirc_ops[op].c_form, t, n, args);
}

CText tirc_cg_math(CGen *g, Expr e, const Window *w) {
  DType t = tirc_dtype_lanes(e->args[0]->dtype, 1);
  bool is_small = tirc_cg_is_small(t), is_test = e->dtype.code == TYPE_BOOL;
  CText args[3];
  if (e->dtype.lanes > 1 && !w->lane) {
    for (int i = 0; i < e->n; i++) args[i] = tirc_cg_vector_value(g, e->args[i], t, w);
    return tirc_cg_lane_function(g, e, w->n, args);
  }
  for (int i = 0; i < e->n; i++) {
    args[i] = tirc_cg_cast(g, tirc_cg_expr(g, e->args[i], w), e->args[i]->dtype, t);
    if (is_small) args[i] = tirc_cg_widen(g, args[i], t);
  }
  if (!tirc_dtype_is_float(t)) return int_math(g, e, args[0]);
  CText r = tirc_cg_has_lane_function(e)
                ? tirc_cg_lane_function(g, e, 1, args)
                : float_math(g, (Op)e->op, is_small ? DT_FLOAT32 : t, e->n, args);
  return is_small && !is_test ? tirc_cg_narrow(g, r, t) : r;
}

/* --- libm by name --------------------------------------------------------------------------- */

static CText emit_extern(CGen *g, Expr e, const Window *w) {
  int first;
  const char *name = tirc_extern_name(e, &first);
  LibmFunc f;
  int arity = e->n - first;
  if (!tirc_libm_find(name, arity, &f))
    tirc_fail(g->c, g->loc, CODE_CODEGEN, "functions of libm can be called, like expf or pow",
              "the function \"%s\" of %d argument%s is not one that programs may call", name, arity,
              arity == 1 ? "" : "s");
  DType t = f.on_float ? DT_FLOAT32 : DT_FLOAT64;
  CText args[3];
  for (int k = 0; k < arity; k++) {
    Expr arg = e->args[first + k];
    args[k] = tirc_cg_cast(g, tirc_cg_expr(g, arg, w), arg->dtype, t);
  }
  return tirc_cg_cast(g, call(g, f.name, t, arity, args), t, e->dtype);
}

/* --- LLVM's intrinsics ---------------------------------------------------------------------- */

static CText each(CGen *g, const IntrinsicCall *k, Expr e, const Window *w) {
  CText args[3];
  for (int i = 0; i < k->n; i++) args[i] = tirc_cg_expr(g, k->args[i], w);
  return call(g, k->c_form, e->dtype, k->n, args);
}

/* start + the lanes of the last operand, in a loop inside of the expression. */
static CText sum(CGen *g, const IntrinsicCall *k, Expr e, const Window *w) {
  (void)w;
  Expr v = k->args[k->n - 1];
  DType t = tirc_dtype_lanes(e->dtype, 1), u = t;
  if (u.code == TYPE_INT) u.code = TYPE_UINT;
  const char *type = tirc_c_type(u);
  CText start = k->n > 1 ? tirc_cg_scalar(g, k->args[0]) : tirc_cg_number(g, u, 0);
  if (v->dtype.lanes == 1 && k->n > 1)
    return tirc_cg_binary(g, OP_ADD, start, tirc_cg_scalar(g, v));
  if (v->dtype.lanes == 1) return tirc_cg_scalar(g, v);
  int mark = tirc_cg_open_scope(g);
  const char *total = tirc_cg_name(g, "sum"), *lane = tirc_cg_name(g, "lane");
  Window all = {0, 0, lane};
  CText x = tirc_cg_expr(g, v, &all);
  if (t.code == TYPE_INT) x = tirc_cg_cast_to(g, type, x);
  const char *next = tirc_cg_operand(g, x, BINDS_PRODUCT);
  tirc_cg_close_scope(g, mark);
  CText r = tirc_cg_text(
      g, BINDS_ALL, "({ %s %s = %s; for (int %s = 0; %s < %d; %s++) %s = (%s)(%s + %s); %s; })",
      type, total, start.s, lane, lane, v->dtype.lanes, lane, total, type, total, next, total);
  return t.code == TYPE_INT ? tirc_cg_cast_to(g, tirc_c_type(t), r) : r;
}

/* The products of neighbours 2i and 2i + 1. */
static void neighbours(CGen *g, const IntrinsicCall *k, const Window *w, const char *products[2]) {
  for (int i = 0; i < 2; i++) {
    const char *lane =
        tirc_format(g->c, i ? "(2 * %s + 1)" : "(2 * %s)", tirc_cg_lane_number(g, w));
    Window at = {0, 0, lane};
    CText a = tirc_cg_expr(g, k->args[0], &at), b = tirc_cg_expr(g, k->args[1], &at);
    products[i] = tirc_cg_binary(g, OP_MUL, a, b).s;
  }
}

static CText madd_ub(CGen *g, const IntrinsicCall *k, Expr e, const Window *w) {
  (void)e;
  const char *p[2];
  neighbours(g, k, w, p);
  return tirc_cg_text(g, BINDS_CAST, "(int16_t)%s(%s(%s + %s, 32767), -32768)",
                      tirc_cg_helper(g, HELPER_MAX, DT_INT32),
                      tirc_cg_helper(g, HELPER_MIN, DT_INT32), p[0], p[1]);
}

static CText madd_wd(CGen *g, const IntrinsicCall *k, Expr e, const Window *w) {
  (void)e;
  const char *p[2];
  neighbours(g, k, w, p);
  return tirc_cg_text(g, BINDS_CAST, "(int32_t)((uint32_t)(%s) + (uint32_t)(%s))", p[0], p[1]);
}

static CText emit_llvm(CGen *g, Expr e, const Window *w) {
  static CText (*const shapes[])(CGen *, const IntrinsicCall *, Expr, const Window *) = {
      [SHAPE_EACH] = each,       [SHAPE_FSUM] = sum,        [SHAPE_ISUM] = sum,
      [SHAPE_MADD_UB] = madd_ub, [SHAPE_MADD_WD] = madd_wd,
  };
  IntrinsicCall k = tirc_llvm_call(g->c, e, g->loc);
  return shapes[k.shape](g, &k, e, w);
}

/* --- the others ----------------------------------------------------------------------------- */

/* T.prefetch(T.address_of(A[i, j]) or A[i, j], rw=0, locality=3, cache_type=1) */
static CText emit_prefetch(CGen *g, Expr e, const Window *w) {
  static const int64_t defaults[4] = {0, 0, 3, 1};
  static const int64_t largest[4] = {0, 1, 3, 1};
  if (e->n < 1 || e->n > 4) tirc_cg_unsupported(g, e);
  int64_t v[4];
  for (int i = 1; i < 4; i++) {
    v[i] = defaults[i];
    if (i < e->n && (!tirc_const_int(e->args[i], &v[i]) || v[i] < 0 || v[i] > largest[i]))
      tirc_fail(g->c, g->loc, CODE_CODEGEN, "T.prefetch(address, rw, locality, cache_type)",
                "argument %d of T.prefetch is no constant from 0 to %d", i, (int)largest[i]);
  }
  Expr at = e->args[0];
  if (at->op == OP_CALL && strcmp(at->u.s, "address_of") == 0 && at->n == 1) at = at->args[0];
  if (at->op != OP_LOAD && at->dtype.code != TYPE_HANDLE) tirc_cg_unsupported(g, e);
  CText p = at->op == OP_LOAD ? tirc_cg_address(g, at) : tirc_cg_expr(g, at, w);
  return tirc_cg_text(g, BINDS_ALL, "__builtin_prefetch(%s, %d, %d)", p.s, (int)v[1], (int)v[2]);
}

static CText emit_address_of(CGen *g, Expr e, const Window *w) {
  (void)w;
  if (e->n != 1 || e->args[0]->op != OP_LOAD) tirc_cg_unsupported(g, e);
  return tirc_cg_cast_to(g, "void *", tirc_cg_address(g, e->args[0]));
}

static CText emit_assume(CGen *g, Expr e, const Window *w) {
  (void)e;
  (void)w;
  return tirc_cg_number(g, DT_BOOL, 1);
}

/* T.opaque_zero(dtype) */
static CText emit_opaque_zero(CGen *g, Expr e, const Window *w) {
  (void)w;
  if (!tirc_dtype_is_int(e->dtype) || e->dtype.lanes != 1) tirc_cg_unsupported(g, e);
  g->uses_zero = true;
  return tirc_cg_cast(g, tirc_cg_text(g, BINDS_ALL, "tirc_zero"), DT_INT64, e->dtype);
}

CText tirc_cg_call(CGen *g, Expr e, const Window *w) {
  static const struct {
    const char *name;
    CText (*emit)(CGen *, Expr, const Window *);
  } calls[] = {
      {"prefetch", emit_prefetch},     {"address_of", emit_address_of},
      {"call_extern", emit_extern},    {"call_pure_extern", emit_extern},
      {"assume", emit_assume},         {"opaque_zero", emit_opaque_zero},
      {"call_llvm_intrin", emit_llvm}, {"call_llvm_pure_intrin", emit_llvm},
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(calls[i].name, e->u.s) == 0) return calls[i].emit(g, e, w);
  tirc_cg_unsupported(g, e);
}
