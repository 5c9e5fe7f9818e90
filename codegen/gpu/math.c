/* Functions: of mathematics by the target's own, of libm by name, of a warp. */
#include "codegen/libm.h"
#include "gen.h"
#include "ir/tree/intrinsic.h"

/* Those of functions.def, on floats; 0: none. */
static const HelperId written_out[OP_COUNT] = {
    [OP_EXP] = HELPER_EXP,     [OP_EXP2] = HELPER_EXP2, [OP_EXP10] = HELPER_EXP10,
    [OP_LOG] = HELPER_LOG,     [OP_LOG2] = HELPER_LOG2, [OP_LOG10] = HELPER_LOG10,
    [OP_LOG1P] = HELPER_LOG1P, [OP_TANH] = HELPER_TANH, [OP_ERF] = HELPER_ERF,
    [OP_SIN] = HELPER_SIN,     [OP_COS] = HELPER_COS,   [OP_POW] = HELPER_POW,
};

const char *tirc_gpu_function(Gen *g, Op op, DType t) {
  const char *name = tirc_ops[op].c_form;
  if (g->l->written_out && t.bits == 32 && written_out[op])
    return tirc_gpu_helper(g, written_out[op], DT_FLOAT32);
  for (const GpuFunction *f = g->l->functions; f->name; f++)
    if (f->op == op) return t.bits == 64 && f->wide ? f->wide : f->name;
  if (!name) return NULL;
  return tirc_format(g->c, "%s%s", name, t.bits == 32 ? g->l->float_suffix : "");
}

static CText call(Gen *g, const char *name, int n, const CText *args) {
  Text s = {.c = g->c};
  tirc_text_addf(&s, "%s(", name);
  for (int i = 0; i < n; i++) tirc_text_addf(&s, "%s%s", i ? ", " : "", args[i].s);
  tirc_text_add(&s, ")");
  return (CText){s.at, BINDS_ALL};
}

static CText int_math(Gen *g, Expr e, CText a) {
  DType t = tirc_dtype_lanes(e->args[0]->dtype, 1), u = t;
  if (t.code == TYPE_INT) u.code = TYPE_UINT;
  switch (e->op) {
  case OP_ABS: return t.code == TYPE_INT ? call(g, tirc_gpu_helper(g, HELPER_ABS, t), 1, &a) : a;
  case OP_POPCOUNT:
    if (u.bits < 32) u = DT(TYPE_UINT, 32);
    a = tirc_gpu_cast(g, a, t, u);
    return tirc_gpu_cast(g, call(g, tirc_gpu_function(g, OP_POPCOUNT, u), 1, &a), u, e->dtype);
  case OP_CLZ:
    return tirc_gpu_cast(g, call(g, tirc_gpu_helper(g, HELPER_CLZ, t), 1, &a), DT_INT32, e->dtype);
  default: return a; /* rounding leaves an integer alone */
  }
}

static CText float_math(Gen *g, Op op, DType t, int n, const CText *args) {
  CText one = tirc_gpu_float(g, t, 1);
  switch (op) {
  case OP_RSQRT:
    return tirc_c_binary(g->c, OP_DIV, one, call(g, tirc_gpu_function(g, OP_SQRT, t), n, args));
  case OP_SIGMOID: {
    CText minus = tirc_gpu_text(g, BINDS_CAST, "-%s", tirc_c_operand(g->c, args[0], BINDS_ALL));
    return tirc_c_binary(
        g->c, OP_DIV, one,
        tirc_c_binary(g->c, OP_ADD, one, call(g, tirc_gpu_function(g, OP_EXP, t), 1, &minus)));
  }
  case OP_ISNAN:
  case OP_ISINF:
  case OP_ISFINITE:
    return tirc_gpu_text(g, BINDS_EQUAL, "%s(%s) != 0", tirc_gpu_function(g, op, t), args[0].s);
  default: break;
  }
  const char *name = tirc_gpu_function(g, op, t);
  if (!name)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "T.%s is not defined on %s", tirc_ops[op].name,
              tirc_dtype_name(g->c, t));
  return call(g, name, n, args);
}

bool tirc_gpu_math_on_vectors(Op op) {
  switch (op) {
  case OP_ISNAN:
  case OP_ISINF:
  case OP_ISFINITE:
  case OP_POPCOUNT:
  case OP_CLZ: return false;
  default: return true;
  }
}

/* Powers that are products or roots, where pow is written out, in doubles; HELPER_COUNT: another.
 */
static HelperId short_power(Gen *g, Expr e) {
  Expr y = e->op == OP_POW && g->l->written_out ? e->args[1] : NULL;
  if (y && y->op == OP_BROADCAST) y = y->args[0];
  if (!y || y->op != OP_FLOAT || e->dtype.bits > 32) return HELPER_COUNT;
  return y->u.f == 2     ? HELPER_SQUARE
         : y->u.f == 3   ? HELPER_CUBE
         : y->u.f == 0.5 ? HELPER_ROOT
                         : HELPER_COUNT;
}

CText tirc_gpu_math(Gen *g, Expr e, const char *lane) {
  const DType t = tirc_dtype_lanes(e->args[0]->dtype, 1);
  const bool is_small = tirc_gpu_is_small(t), is_vector = e->dtype.lanes > 1 && !lane;
  CText args[3];
  for (int i = 0; i < e->n; i++)
    args[i] =
        is_vector ? tirc_gpu_all_lanes(g, e->args[i]) : tirc_gpu_operand_as(g, e->args[i], t, lane);
  if (!tirc_dtype_is_float(t)) return int_math(g, e, args[0]);
  const HelperId power = short_power(g, e);
  CText r = power != HELPER_COUNT ? call(g, tirc_gpu_helper(g, power, DT_FLOAT32), 1, args)
                                  : float_math(g, (Op)e->op, is_small ? DT_FLOAT32 : t, e->n, args);
  return is_small && e->dtype.code != TYPE_BOOL ? tirc_gpu_round(g, r, t) : r;
}

/* --- calls ----------------------------------------------------------------------------------- */

static CText emit_extern(Gen *g, Expr e, const char *lane) {
  int first;
  const char *name = tirc_extern_name(e, &first);
  LibmFunc f;
  const int arity = e->n - first;
  if (!tirc_libm_find(name, arity, &f))
    tirc_fail(g->c, g->loc, CODE_CODEGEN, "functions of libm can be called, like expf or pow",
              "the function \"%s\" of %d argument%s is not one that programs may call", name, arity,
              arity == 1 ? "" : "s");
  const DType t = f.on_float ? DT_FLOAT32 : DT_FLOAT64;
  CText args[3];
  if (!f.on_float) g->uses_double = true;
  for (int k = 0; k < arity; k++) args[k] = tirc_gpu_operand_as(g, e->args[first + k], t, lane);
  const char *own = f.on_float ? tirc_format(g->c, "%s%s", f.name, g->l->float_suffix) : f.name;
  for (int op = 0; op < OP_COUNT; op++)
    if (tirc_ops[op].c_form && strcmp(tirc_ops[op].c_form, f.name) == 0)
      own = tirc_gpu_function(g, (Op)op, t);
  return tirc_gpu_cast(g, call(g, own, arity, args), t, e->dtype);
}

static CText emit_shuffle(Gen *g, Expr e, const char *lane) {
  CText args[5];
  if (!g->l->shuffle)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, "lower for a target whose threads form no warps",
              "%s has no T.%s", g->l->name, e->u.s);
  if (e->n != 5) tirc_gpu_unsupported(g, e);
  for (int i = 0; i < e->n; i++) args[i] = tirc_gpu_expr(g, e->args[i], lane);
  return g->l->shuffle(g, e, e->n, args);
}

/* T.opaque_zero(dtype), which loops for a processor's vectors are kept from wrapping by. */
static CText emit_zero(Gen *g, Expr e, const char *lane) {
  (void)lane;
  return tirc_gpu_literal(g, tirc_dtype_lanes(e->dtype, 1), 0);
}

static CText emit_active_mask(Gen *g, Expr e, const char *lane) {
  (void)lane;
  if (!g->l->active_mask) tirc_gpu_unsupported(g, e);
  return tirc_gpu_text(g, BINDS_ALL, "%s", g->l->active_mask);
}

static CText emit_operand(Gen *g, Expr e, const char *lane) {
  if (e->n != 1) tirc_gpu_unsupported(g, e);
  return tirc_gpu_expr(g, e->args[0], lane);
}

CText tirc_gpu_call(Gen *g, Expr e, const char *lane) {
  static const struct {
    const char *name;
    CText (*emit)(Gen *, Expr, const char *);
  } calls[] = {{"call_extern", emit_extern},
               {"call_pure_extern", emit_extern},
               {"opaque_zero", emit_zero},
               {"tvm_warp_activemask", emit_active_mask},
               {"tvm_thread_invariant", emit_operand},
               {"tvm_warp_shuffle", emit_shuffle},
               {"tvm_warp_shuffle_up", emit_shuffle},
               {"tvm_warp_shuffle_down", emit_shuffle}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(calls[i].name, e->u.s) == 0) return calls[i].emit(g, e, lane);
  Expr sum = tirc_llvm_sum_of_lanes(g->c, e, g->loc);
  if (sum) return tirc_gpu_expr(g, sum, NULL);
  tirc_gpu_unsupported(g, e);
}
