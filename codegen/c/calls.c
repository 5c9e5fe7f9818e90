/* Functions: of libm by name, of the processor. All of them take scalars. */
#include "gen.h"
#include "ir/tree/atomic.h"
#include "ir/tree/intrinsic.h"

CText tirc_cg_popcount(Gen *g, Expr e, CText a) {
  const DType u = tirc_src_unsigned(tirc_dtype_lanes(e->args[0]->dtype, 1));
  a = tirc_src_cast_to(g, u, a);
  const char *function = tirc_cg_is_portable(g) ? tirc_src_helper(g, HELPER_POPCOUNT, DT_VOID)
                                                : tirc_ops[OP_POPCOUNT].c_form;
  return tirc_src_cast(g, tirc_src_call(g, function, 1, &a), DT_INT32, e->dtype);
}

/* --- LLVM's intrinsics ---------------------------------------------------------------------- */

static CText each(Gen *g, const IntrinsicCall *k, Expr e, const Window *w) {
  CText args[3];
  for (int i = 0; i < k->n; i++) args[i] = tirc_src_expr(g, k->args[i], w);
  g->uses_math = true;
  return tirc_src_call(g, tirc_format(g->c, "%s%s", k->c_form, e->dtype.bits == 32 ? "f" : ""),
                       k->n, args);
}

/* start + lane 0 + lane 1 ...; integers wrap. */
static CText sum_written_out(Gen *g, CText start, Expr v, DType t) {
  const char *type = tirc_c_type(t.code == TYPE_INT ? tirc_src_unsigned(t) : t);
  Text all = {.c = g->c};
  tirc_text_addf(&all, "(%s)%s", type, tirc_c_operand(g->c, start, BINDS_CAST));
  for (int i = 0; i < v->dtype.lanes; i++) {
    const Window one = {0, 0, tirc_format(g->c, "%d", i)};
    tirc_text_addf(&all, " + (%s)%s", type,
                   tirc_c_operand(g->c, tirc_src_expr(g, v, &one), BINDS_CAST));
  }
  return tirc_src_text(g, BINDS_CAST, "(%s)(%s)", tirc_c_type(t), all.at);
}

/* start + the lanes of the last operand, in a loop inside of the expression. */
static CText sum(Gen *g, const IntrinsicCall *k, Expr e, const Window *w) {
  (void)w;
  Expr v = k->args[k->n - 1];
  DType t = tirc_dtype_lanes(e->dtype, 1), u = t;
  if (u.code == TYPE_INT) u.code = TYPE_UINT;
  const char *type = tirc_c_type(u);
  CText start = k->n > 1 ? tirc_src_scalar(g, k->args[0]) : tirc_src_number(g, u, 0);
  if (v->dtype.lanes == 1 && k->n > 1)
    return tirc_src_binary(g, OP_ADD, start, tirc_src_scalar(g, v));
  if (v->dtype.lanes == 1) return tirc_src_scalar(g, v);
  if (tirc_cg_is_portable(g)) return sum_written_out(g, start, v, t);
  const int mark = g->taken.n;
  const char *total = tirc_src_name(g, "sum"), *lane = tirc_src_name(g, "lane");
  Window all = {0, 0, lane};
  CText x = tirc_src_expr(g, v, &all);
  if (t.code == TYPE_INT) x = tirc_c_cast_to(g->c, type, x);
  const char *next = tirc_c_operand(g->c, x, BINDS_PRODUCT);
  g->taken.n = mark;
  CText r = tirc_src_text(
      g, BINDS_ALL, "({ %s %s = %s; for (int %s = 0; %s < %d; %s++) %s = (%s)(%s + %s); %s; })",
      type, total, start.s, lane, lane, v->dtype.lanes, lane, total, type, total, next, total);
  return t.code == TYPE_INT ? tirc_c_cast_to(g->c, tirc_c_type(t), r) : r;
}

/* The products of neighbours 2i and 2i + 1. */
static void neighbours(Gen *g, const IntrinsicCall *k, const Window *w, const char *products[2]) {
  for (int i = 0; i < 2; i++) {
    const char *lane = tirc_format(g->c, i ? "(2 * %s + 1)" : "(2 * %s)", tirc_src_lane(g, w));
    Window at = {0, 0, lane};
    CText a = tirc_src_expr(g, k->args[0], &at), b = tirc_src_expr(g, k->args[1], &at);
    products[i] = tirc_src_binary(g, OP_MUL, a, b).s;
  }
}

static CText madd_ub(Gen *g, const IntrinsicCall *k, Expr e, const Window *w) {
  (void)e;
  const char *p[2];
  neighbours(g, k, w, p);
  return tirc_src_text(g, BINDS_CAST, "(int16_t)%s(%s(%s + %s, 32767), -32768)",
                       tirc_src_helper(g, HELPER_MAX, DT_INT32),
                       tirc_src_helper(g, HELPER_MIN, DT_INT32), p[0], p[1]);
}

static CText madd_wd(Gen *g, const IntrinsicCall *k, Expr e, const Window *w) {
  (void)e;
  const char *p[2];
  neighbours(g, k, w, p);
  return tirc_src_text(g, BINDS_CAST, "(int32_t)((uint32_t)(%s) + (uint32_t)(%s))", p[0], p[1]);
}

/* One lane of a dot product, in an expression. */
static CText dot(Gen *g, const IntrinsicCall *k, Expr e, const Window *w) {
  const Dot *d = k->dot;
  Expr a = tirc_dot_elements(g->c, k, 1), b = tirc_dot_elements(g->c, k, 2);
  const char *x[4], *y[4];
  (void)e;
  for (int i = 0; i < d->terms; i++) {
    const Window at = {0, 0, tirc_format(g->c, "(%d * %s + %d)", d->terms, tirc_src_lane(g, w), i)};
    x[i] = tirc_src_expr(g, a, &at).s;
    y[i] = tirc_src_expr(g, b, &at).s;
  }
  const char *sum = tirc_c_operand(g->c, tirc_src_expr(g, k->args[0], w), BINDS_CAST);
  g->uses_math |= d->sums != DOT_WRAPS;
  if (d->sums != DOT_WRAPS)
    return tirc_src_text(
        g, BINDS_ALL, "%s(%s, (const uint16_t[]){%s, %s}, (const uint16_t[]){%s, %s})",
        tirc_src_helper(g, d->sums == DOT_TO_ODD ? HELPER_DOT_TO_ODD : HELPER_DOT_ODD_EVEN,
                        DT_FLOAT32),
        sum, x[0], x[1], y[0], y[1]);
  Text all = {.c = g->c};
  tirc_text_addf(&all, "(uint32_t)%s", sum);
  for (int i = 0; i < d->terms; i++)
    tirc_text_addf(&all, " + (uint32_t)((int32_t)(%s) * (int32_t)(%s))", x[i], y[i]);
  return tirc_src_text(g, BINDS_CAST, "(int32_t)(%s)", all.at);
}

static CText emit_llvm(Gen *g, Expr e, const Window *w) {
  static CText (*const shapes[])(Gen *, const IntrinsicCall *, Expr, const Window *) = {
      [SHAPE_EACH] = each,       [SHAPE_FSUM] = sum,        [SHAPE_ISUM] = sum,
      [SHAPE_MADD_UB] = madd_ub, [SHAPE_MADD_WD] = madd_wd, [SHAPE_DOT] = dot,
  };
  IntrinsicCall k = tirc_llvm_call(g->c, e, g->loc);
  return shapes[k.shape](g, &k, e, w);
}

/* --- the others ----------------------------------------------------------------------------- */

/* T.prefetch(T.address_of(A[i, j]) or A[i, j], rw=0, locality=3, cache_type=1) */
static CText emit_prefetch(Gen *g, Expr e, const Window *w) {
  static const int64_t defaults[4] = {0, 0, 3, 1};
  static const int64_t largest[4] = {0, 1, 3, 1};
  if (e->n < 1 || e->n > 4) tirc_src_unsupported(g, e);
  int64_t v[4];
  for (int i = 1; i < 4; i++) {
    v[i] = defaults[i];
    if (i < e->n && (!tirc_const_int(e->args[i], &v[i]) || v[i] < 0 || v[i] > largest[i]))
      tirc_fail(g->c, g->loc, CODE_CODEGEN, "T.prefetch(address, rw, locality, cache_type)",
                "argument %d of T.prefetch is not a constant from 0 to %d", i, (int)largest[i]);
  }
  Expr at = e->args[0];
  if (tirc_calls(at, CALL_ADDRESS_OF) && at->n == 1) at = at->args[0];
  if (at->op != OP_LOAD && at->dtype.code != TYPE_HANDLE) tirc_src_unsupported(g, e);
  if (tirc_cg_is_portable(g)) return tirc_src_text(g, BINDS_CAST, "(void)0");
  CText p = at->op == OP_LOAD ? tirc_cg_address(g, at) : tirc_src_expr(g, at, w);
  return tirc_src_text(g, BINDS_ALL, "__builtin_prefetch(%s, %d, %d)", p.s, (int)v[1], (int)v[2]);
}

static CText emit_address_of(Gen *g, Expr e, const Window *w) {
  (void)w;
  if (e->n != 1 || e->args[0]->op != OP_LOAD) tirc_src_unsupported(g, e);
  return tirc_c_cast_to(g->c, "void *", tirc_cg_address(g, e->args[0]));
}

static CText emit_assume(Gen *g, Expr e, const Window *w) {
  (void)e;
  (void)w;
  return tirc_src_number(g, DT_BOOL, 1);
}

/* The functions of helpers.def. */
static CText emit_atomic(Gen *g, Expr e, const Window *w) {
  static const struct {
    Op op;
    HelperId id;
  } of[] = {{OP_ADD, HELPER_ATOMIC_ADD},       {OP_MIN, HELPER_ATOMIC_MIN},
            {OP_MAX, HELPER_ATOMIC_MAX},       {OP_BITWISE_AND, HELPER_ATOMIC_AND},
            {OP_BITWISE_OR, HELPER_ATOMIC_OR}, {OP_NONE, HELPER_ATOMIC_CAS}};
  Atomic a;
  if (!tirc_atomic(e, &a) || e->dtype.lanes > 1) tirc_src_unsupported(g, e);
  size_t row = 0;
  while (of[row].op != a.op) row++;
  const DType t = a.place->dtype;
  const HelperId id = tirc_dtype_is_float(t) ? HELPER_ATOMIC_SUM : of[row].id;
  CText args[3] = {tirc_cg_address(g, a.place)};
  int n = 1;
  if (a.compare) args[n++] = tirc_src_operand_as(g, a.compare, t, w);
  args[n++] = tirc_src_operand_as(g, a.value, t, w);
  return tirc_src_call(g, tirc_src_helper(g, id, t), n, args);
}

/* T.opaque_zero(dtype) */
static CText emit_opaque_zero(Gen *g, Expr e, const Window *w) {
  (void)w;
  if (!tirc_dtype_is_int(e->dtype) || e->dtype.lanes != 1) tirc_src_unsupported(g, e);
  g->file->uses_zero = true;
  return tirc_src_cast(g, tirc_src_text(g, BINDS_ALL, "tirc_zero"), DT_INT64, e->dtype);
}

/* T.amx_permitted() */
static CText emit_amx_permitted(Gen *g, Expr e, const Window *w) {
  (void)e;
  (void)w;
  if (tirc_cg_is_portable(g)) return tirc_src_number(g, DT_BOOL, 1);
  return tirc_src_call(g, tirc_src_helper(g, HELPER_AMX_PERMITTED, DT_VOID), 0, NULL);
}

/* T.clock() */
static CText emit_clock(Gen *g, Expr e, const Window *w) {
  (void)e;
  (void)w;
  const HelperId id = tirc_cg_is_portable(g) ? HELPER_CLOCK_OF_C : HELPER_CLOCK;
  return tirc_src_call(g, tirc_src_helper(g, id, DT_VOID), 0, NULL);
}

CText tirc_cg_call(Gen *g, Expr e, const Window *w) {
  static CText (*const calls[CALL_COUNT])(Gen *, Expr, const Window *) = {
      [CALL_PREFETCH] = emit_prefetch,
      [CALL_ADDRESS_OF] = emit_address_of,
#define ATOMIC(id, name, op) [CALL_##id] = emit_atomic,
#include "ir/tree/atomics.def"
#undef ATOMIC
      [CALL_EXTERN] = tirc_src_extern,
      [CALL_PURE_EXTERN] = tirc_src_extern,
      [CALL_ASSUME] = emit_assume,
      [CALL_OPAQUE_ZERO] = emit_opaque_zero,
      [CALL_AMX_PERMITTED] = emit_amx_permitted,
      [CALL_CLOCK] = emit_clock,
      [CALL_LLVM_INTRIN] = emit_llvm,
      [CALL_LLVM_PURE_INTRIN] = emit_llvm,
  };
  if (calls[e->u.callee]) return calls[e->u.callee](g, e, w);
  tirc_src_unsupported(g, e);
}
