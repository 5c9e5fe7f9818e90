/* Functions of mathematics that are written out (codegen/lanes.h), for languages that have none, on
 * one float: each is a helper.
 *
 *   static __device__ inline float tirc_exp(float x) { ... return v40; } */
#include "codegen/text/lanes.h"
#include "codegen/fast_math.h"
#include "gen.h"

typedef struct Row {
  Op op;
  HelperId id;
  double power; /* its second argument, if that is a number */
} Row;
static const Row rows[] = {
    {OP_EXP, HELPER_EXP, 0},     {OP_EXP2, HELPER_EXP2, 0}, {OP_EXP10, HELPER_EXP10, 0},
    {OP_LOG, HELPER_LOG, 0},     {OP_LOG2, HELPER_LOG2, 0}, {OP_LOG10, HELPER_LOG10, 0},
    {OP_LOG1P, HELPER_LOG1P, 0}, {OP_TANH, HELPER_TANH, 0}, {OP_ERF, HELPER_ERF, 0},
    {OP_SIN, HELPER_SIN, 0},     {OP_COS, HELPER_COS, 0},   {OP_POW, HELPER_POW, 0},
    {OP_POW, HELPER_SQUARE, 2},  {OP_POW, HELPER_CUBE, 3},  {OP_POW, HELPER_ROOT, 0.5},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *helper(Gen *g, Op op, double power) {
  for (int i = 0; i < ROWS; i++)
    if (rows[i].op == op && rows[i].power == power)
      return tirc_src_helper(g, rows[i].id, DT_FLOAT32);
  return NULL;
}

const char *tirc_gpu_helper_of(Gen *g, Op op, DType t) {
  const FastMath *fast =
      g->kernels->k && g->kernels->k->f ? tirc_fast_math(g->kernels->k->f, op, t) : NULL;
  if (fast) return tirc_format(g->c, "tirc_fast_%s", fast->name);
  return t.bits == 32 ? helper(g, op, 0) : NULL;
}

/* Powers that are products or roots. */
bool tirc_gpu_written_out(Gen *g, Expr e, const Window *w, const CText *args, CText *value) {
  Expr y = e->op == OP_POW && g->l->helper_of ? e->args[1] : NULL;
  (void)w;
  if (y && y->op == OP_BROADCAST) y = y->args[0];
  if (!y || y->op != OP_FLOAT || y->u.f == 0 || e->dtype.bits > 32) return false;
  const char *name = helper(g, OP_POW, y->u.f);
  if (name) *value = tirc_src_call(g, name, 1, args);
  return name != NULL;
}

/* By the rest of a large number, which takes integers of 64 bits. */
static Lane unless_far(const Lanes *v, Op op, Lane x, Lane near, Lane is_far) {
  LaneWriter *w = v->self;
  const char *type = tirc_src_lane_type(v, KIND_FLOAT);
  tirc_text_addf(&w->out, "  %s y = %s;\n  if (%s) {\n    %s q;\n", type, near->s, is_far->s,
                 tirc_src_lane_type(v, KIND_WHOLE));
  w->is_inside = true;
  Lane q = tirc_src_lane_value(v, KIND_WHOLE, "q");
  Lane r = tirc_src_lane_define(v, KIND_FLOAT, tirc_format(w->g->c, "tirc_far_rest(%s, &q)", x->s));
  tirc_text_addf(&w->out, "    y = %s;\n  }\n", tirc_lanes_wave_of(v, op, x, r, q)->s);
  w->is_inside = false;
  return tirc_src_lane_value(v, KIND_FLOAT, "y");
}

void tirc_gpu_write_function(Gen *g, Text *out, HelperId id) {
  static const LaneMaker maker = {tirc_src_lane_real, tirc_src_lane_whole, tirc_src_lane_apply,
                                  unless_far};
  LaneWriter w = {.g = g, .out = {.c = g->c}};
  const Lanes v = {&maker, &w, 1, 32};
  const Row *row = rows;
  while (row->id != id) row++;
  const bool has_y = row->op == OP_POW && row->power == 0;
  const Lane y = has_y ? tirc_src_lane_value(&v, KIND_FLOAT, "y") : real(&v, row->power);
  const Lane args[2] = {tirc_src_lane_value(&v, KIND_FLOAT, "x"), y};
  const Lane r = tirc_vector_math(&v, row->op, args);
  tirc_text_addf(out, "%s float %s(float x%s) {\n%s  return %s;\n}\n", g->l->function,
                 tirc_src_helper(g, id, DT_FLOAT32), has_y ? ", float y" : "", w.out.at, r->s);
}
