/* Functions of float vectors that are written out (codegen/lanes.h), in GNU's vectors or, for one
 * lane, in scalars: each as a function of its own in front of those that call it. One on vectors
 * takes and gives pointers, as a vector that registers are too short for has no fixed way to be
 * passed:
 *
 *   static inline float32x8 *tirc_exp_float32x8(float32x8 *x) { ... *x = v40; return x; }
 *
 * Compilers that may reassociate would undo what the functions do, and have libm's instead. */
#include "codegen/text/lanes.h"
#include "gen.h"

static Lane unless_far(const Lanes *v, Op op, Lane x, Lane near, Lane is_far) {
  LaneWriter *w = v->self;
  const char *name = tirc_format(w->g->c, "v%d", w->n_values++), *function = tirc_ops[op].c_form;
  w->g->uses_math = true;
  tirc_text_addf(&w->out, "  %s %s = %s;\n", tirc_src_lane_type(v, KIND_FLOAT), name, near->s);
  if (v->n == 1) {
    const char *rarely = tirc_cg_is_portable(w->g) ? "(%s)" : "(__builtin_expect(%s, 0))";
    tirc_text_addf(&w->out, "  if %s %s = %sf(%s);\n", tirc_format(w->g->c, rarely, is_far->s),
                   name, function, x->s);
    return tirc_src_lane_value(v, KIND_FLOAT, name);
  }
  tirc_text_addf(&w->out, "  uint64_t any[%d];\n  memcpy(any, &%s, sizeof any);\n", v->n / 2,
                 is_far->s);
  tirc_text_add(&w->out, "  if (__builtin_expect((any[0]");
  for (int i = 1; i < v->n / 2; i++) tirc_text_addf(&w->out, " | any[%d]", i);
  tirc_text_add(&w->out, ") != 0, 0)) {\n");
  tirc_src_each_lane(v, name, x->s, function);
  tirc_text_add(&w->out, "  }\n");
  return tirc_src_lane_value(v, KIND_FLOAT, name);
}

/* libm's function of x and y; 10^x is not one that all have. */
static const char *libm_call(LaneWriter *w, Op op, const char *x, const char *y) {
  w->g->uses_math = true;
  if (op == OP_EXP10) return tirc_format(w->g->c, "powf(10.0f, %s)", x);
  if (op == OP_SIGMOID) return tirc_format(w->g->c, "1.0f / (1.0f + expf(-%s))", x);
  if (op == OP_POW) return tirc_format(w->g->c, "powf(%s, %s)", x, y);
  return tirc_format(w->g->c, "%sf(%s)", tirc_ops[op].c_form, x);
}

static void write_libm(LaneWriter *w, const LaneFunction *f) {
  const bool is_scalar = f->lanes == 1;
  const char *y = is_scalar ? "y" : "(*y)[i]";
  if (f->has_power) y = tirc_src_float(w->g, DT_FLOAT32, f->power).s;
  const char *call = libm_call(w, f->op, is_scalar ? "x" : "(*x)[i]", y);
  tirc_text_add(&w->out, "#if defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__\n");
  if (!is_scalar)
    tirc_text_addf(&w->out, "  for (int i = 0; i < %d; i++) (*x)[i] = %s;\n", f->lanes, call);
  tirc_text_addf(&w->out, "  return %s;\n#else\n", is_scalar ? call : "x");
}

static void write_function(Gen *g, const LaneFunction *f) {
  static const LaneMaker maker = {tirc_src_lane_real, tirc_src_lane_whole, tirc_src_lane_apply,
                                  unless_far};
  LaneWriter w = {.g = g, .out = {.c = g->c}};
  const Lanes v = {&maker, &w, f->lanes, 32};
  const char *t = tirc_src_lane_type(&v, KIND_FLOAT), *star = f->lanes > 1 ? "*" : "";
  const bool has_y = f->op == OP_POW && !f->has_power;
  const char *y = has_y ? tirc_format(g->c, ", %s%s %sy", *star ? "const " : "", t, star) : "";
  tirc_text_addf(&w.out, "\nstatic inline %s %s%s(%s %sx%s) {\n", t, star, f->name, t, star, y);
  write_libm(&w, f);
  Lane args[2] = {tirc_src_lane_value(&v, KIND_FLOAT, tirc_format(g->c, "%sx", star))};
  if (*star) args[0] = tirc_src_lane_define(&v, KIND_FLOAT, "*x");
  if (f->op == OP_POW && f->has_power) args[1] = tirc_src_lane_real(&v, f->power);
  if (has_y)
    args[1] = *star ? tirc_src_lane_define(&v, KIND_FLOAT, "*y")
                    : tirc_src_lane_value(&v, KIND_FLOAT, "y");
  const Lane r = tirc_vector_math(&v, f->op, args);
  tirc_text_addf(
      &w.out, *star ? "  *x = %s;\n  return x;\n#endif\n}\n" : "  return %s;\n#endif\n}\n", r->s);
  tirc_text_add(&g->file->lane_texts, w.out.at);
}

/* The name of the function, which is written if nothing has needed it yet. */
static const char *name_of(Gen *g, LaneFunction f) {
  int n_powers = 0;
  for (int i = 0; i < g->file->lane_functions.n; i++) {
    const LaneFunction *k = &g->file->lane_functions.at[i];
    if (k->op == f.op && k->lanes == f.lanes && k->has_power == f.has_power &&
        memcmp(&k->power, &f.power, sizeof f.power) == 0)
      return k->name;
    n_powers += k->has_power && k->lanes == f.lanes;
  }
  const char *which = f.has_power ? tirc_format(g->c, "_%d", n_powers) : "";
  f.name = tirc_format(g->c, "tirc_%s%s_float32x%d", tirc_ops[f.op].name, which, f.lanes);
  vec_push(g->c, g->file->lane_functions, f);
  write_function(g, &f);
  return f.name;
}

static bool find_number(Expr e, double *number) {
  if (e->op == OP_BROADCAST) e = e->args[0];
  if (e->op == OP_FLOAT) *number = e->u.f;
  return e->op == OP_FLOAT;
}

bool tirc_cg_has_lane_function(Expr e) {
  const DType t = e->dtype;
  return t.lanes > 1 && tirc_dtype_is_float(t) && t.bits <= 32 && tirc_has_vector_math((Op)e->op);
}

bool tirc_cg_lane_function(Gen *g, Expr e, const Window *w, const CText *args, CText *value) {
  if (!tirc_cg_has_lane_function(e)) return false;
  const int lanes = w->lane ? 1 : w->n;
  LaneFunction f = {.op = (Op)e->op, .lanes = lanes};
  f.has_power = e->op == OP_POW && find_number(e->args[1], &f.power);
  const char *name = name_of(g, f), *y = "";
  const bool has_y = e->op == OP_POW && !f.has_power;
  if (lanes == 1) {
    *value = tirc_src_call(g, name, has_y ? 2 : 1, args);
    return true;
  }
  const char *t = tirc_cg_vector(g, DT_FLOAT32, lanes);
  if (has_y) y = tirc_format(g->c, ", (%s[]){%s}", t, args[1].s);
  *value = tirc_src_text(g, BINDS_CAST, "*%s((%s[]){%s}%s)", name, t, args[0].s, y);
  return true;
}
