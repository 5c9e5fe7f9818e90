/* Functions: of mathematics, of libm by name. */
#include "codegen/libm.h"
#include "gen.h"

const char *tirc_src_function(Gen *g, Op op, DType t) {
  const char *name = g->l->helper_of ? g->l->helper_of(g, op, t) : NULL;
  if (name) return name;
  g->uses_math = true;
  for (const FunctionName *f = g->l->functions; f->name; f++)
    if (f->op == op) return t.bits == 64 && f->wide ? f->wide : f->name;
  name = tirc_ops[op].c_form;
  return name ? tirc_format(g->c, "%s%s", name, t.bits == 32 ? g->l->float_suffix : "") : NULL;
}

CText tirc_src_call(Gen *g, const char *name, int n, const CText *args) {
  Text s = {.c = g->c};
  tirc_text_addf(&s, "%s(", name);
  for (int i = 0; i < n; i++) tirc_text_addf(&s, "%s%s", i ? ", " : "", args[i].s);
  tirc_text_add(&s, ")");
  return (CText){s.at, BINDS_ALL};
}

static CText int_math(Gen *g, Expr e, CText a) {
  const DType t = tirc_dtype_lanes(e->args[0]->dtype, 1);
  switch (e->op) {
  case OP_ABS:
    return t.code == TYPE_INT ? tirc_src_call(g, tirc_src_helper(g, HELPER_ABS, t), 1, &a) : a;
  case OP_POPCOUNT: return g->l->family->popcount(g, e, a);
  case OP_CLZ:
    a = tirc_src_call(g, tirc_src_helper(g, HELPER_CLZ, t), 1, &a);
    return tirc_src_cast(g, a, DT_INT32, e->dtype);
  default: return a; /* rounding leaves an integer alone */
  }
}

static CText float_math(Gen *g, Op op, DType t, int n, const CText *args) {
  CText one = tirc_src_float(g, t, 1);
  switch (op) {
  case OP_RSQRT:
    if (g->l->helper_of && g->l->helper_of(g, op, t)) break;
    return tirc_src_binary(g, OP_DIV, one,
                           tirc_src_call(g, tirc_src_function(g, OP_SQRT, t), n, args));
  case OP_SIGMOID: {
    CText minus = tirc_src_text(g, BINDS_CAST, "-%s", tirc_c_operand(g->c, args[0], BINDS_ALL));
    CText power = tirc_src_call(g, tirc_src_function(g, OP_EXP, t), 1, &minus);
    return tirc_src_binary(g, OP_DIV, one, tirc_src_binary(g, OP_ADD, one, power));
  }
  case OP_ISNAN:
  case OP_ISINF:
  case OP_ISFINITE:
    return tirc_src_text(g, BINDS_EQUAL, "%s(%s) != 0", tirc_src_function(g, op, t), args[0].s);
  default: break;
  }
  const char *name = tirc_src_function(g, op, t);
  if (!name)
    tirc_fail(g->c, g->loc, CODE_CODEGEN, NULL, "T.%s is not defined on %s", tirc_ops[op].name,
              tirc_dtype_name(g->c, t));
  return tirc_src_call(g, name, n, args);
}

CText tirc_src_math(Gen *g, Expr e, const Window *w) {
  const DType t = tirc_dtype_lanes(e->args[0]->dtype, 1);
  const Family *f = g->l->family;
  const bool is_small = tirc_src_is_small(t), is_vector = e->dtype.lanes > 1 && !w->lane;
  CText args[3], r;
  for (int i = 0; i < e->n; i++)
    args[i] = is_vector ? f->all_lanes(g, e->args[i], w)
                        : tirc_src_widen(g, tirc_src_operand_as(g, e->args[i], t, w), t);
  if (!tirc_dtype_is_float(t)) return int_math(g, e, args[0]);
  if (!f->written_out(g, e, w, args, &r))
    r = float_math(g, (Op)e->op, is_small ? DT_FLOAT32 : t, e->n, args);
  return is_small && e->dtype.code != TYPE_BOOL ? tirc_src_narrow(g, r, t) : r;
}

CText tirc_src_extern(Gen *g, Expr e, const Window *w) {
  int first;
  const char *name = tirc_extern_name(e, &first);
  LibmFunc f;
  const int arity = e->n - first;
  if (!tirc_libm_find(name, arity, &f))
    tirc_fail(g->c, g->loc, CODE_CODEGEN,
              "programs may call functions of libm, such as expf or pow",
              "programs may not call the function \"%s\" of %d argument%s", name, arity,
              arity == 1 ? "" : "s");
  const DType t = f.on_float ? DT_FLOAT32 : DT_FLOAT64;
  CText args[3];
  g->uses_math = true;
  if (!f.on_float) g->uses_double = true;
  for (int k = 0; k < arity; k++) args[k] = tirc_src_operand_as(g, e->args[first + k], t, w);
  const char *own = f.on_float ? tirc_format(g->c, "%s%s", f.name, g->l->float_suffix) : f.name;
  for (int op = 0; op < OP_COUNT; op++)
    if (tirc_ops[op].c_form && strcmp(tirc_ops[op].c_form, f.name) == 0)
      own = tirc_src_function(g, (Op)op, t);
  return tirc_src_cast(g, tirc_src_call(g, own, arity, args), t, e->dtype);
}
