/* What a model computes but for rounding: all its floats have 64 bits.
 *
 *   lv = R.call_tir(cls.add, (x, w), out_sinfo=R.Tensor((4, 8), "float32"))   ->   ... "float64"
 *
 * Graphs call functions only, as after phase "loops". Bits that are read as floats mean nothing in
 * other ones, and what another program does to floats is not known: both are refused. */
#include "module.h"

#include "ir/tree/visit.h"

typedef struct Widening {
  Tirc *c;
  const Func *f;
  PtrMap buffers, vars; /* from what has floats of fewer bits to what takes its place */
  PtrMap memory;        /* data variable -> the first buffer that was seen to lie there */
} Widening;

static bool is_narrow(DType t) { return tirc_dtype_is_float(t) && t.bits < 64; }
static DType widened(DType t) { return is_narrow(t) ? tirc_dtype_lanes(DT_FLOAT64, t.lanes) : t; }

#define REFUSE(k, what)                                                                            \
  tirc_fail((k)->c, (k)->f->loc, CODE_UNSUPPORTED, NULL, "%s is not computed in float64: %s",      \
            (k)->f->name, what)

/* --- functions -------------------------------------------------------------------------------- */

static Expr widen_var(Widening *k, Expr var) {
  if (!is_narrow(var->dtype)) return var;
  const Expr to = tirc_var(k->c, var->u.s, widened(var->dtype));
  tirc_map_set(k->c, &k->vars, var, to);
  return to;
}

static Buffer widen_buffer(Mutator *m, Buffer b) {
  Widening *k = m->self;
  const Buffer beside = tirc_map_get(&k->memory, b->data), known = tirc_map_get(&k->buffers, b);
  if (beside && is_narrow(beside->dtype) != is_narrow(b->dtype))
    REFUSE(k, "its memory holds floats and others");
  tirc_map_set(k->c, &k->memory, b->data, b);
  if (known || !is_narrow(b->dtype)) return known ? known : b;
  struct BufferNode to = *b;
  to.dtype = widened(b->dtype);
  const Buffer wide = tirc_buffer_copy(k->c, &to);
  tirc_map_set(k->c, &k->buffers, b, wide);
  return wide;
}

/* A call of code that was compiled for the types that it has. */
static bool calls_out(Expr e) {
  static const Callee packed[] = {CALL_PACKED,          CALL_CPACKED,
                                  CALL_PACKED_LOWERED,  CALL_CPACKED_LOWERED,
                                  CALL_TVM_CALL_PACKED, CALL_TVM_CALL_PACKED_LOWERED};
  bool is = tirc_is_extern(e);
  for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) is |= tirc_calls(e, packed[i]);
  return is;
}

static Expr widen_expr(Mutator *m, Expr e) {
  Widening *k = m->self;
  Expr to = e->op == OP_VAR ? tirc_map_get(&k->vars, e) : NULL;
  if (to) return to;
  if (e->op == OP_FLOAT) return tirc_float(k->c, widened(e->dtype), e->u.f);
  if (e->op == OP_CAST) return tirc_cast(k->c, widened(e->dtype), tirc_mutate_expr(m, e->args[0]));
  if (e->op == OP_REINTERPRET && (is_narrow(e->dtype) || is_narrow(e->args[0]->dtype)))
    REFUSE(k, "it reads bits as floats");
  if (calls_out(e)) REFUSE(k, "it calls code of another library");
  if (e->op == OP_LET) {
    const Expr value = tirc_mutate_expr(m, e->args[1]), var = widen_var(k, e->args[0]),
               body = tirc_mutate_expr(m, e->args[2]);
    return tirc_expr(k->c, OP_LET, body->dtype, 3, (const Expr[]){var, value, body});
  }
  to = tirc_mutate_expr_children(m, e);
  if (!is_narrow(to->dtype)) return to;
  if (to->op == OP_CALL) return tirc_call(k->c, widened(to->dtype), to->u.callee, to->n, to->args);
  return tirc_expr(k->c, (Op)to->op, widened(to->dtype), to->n, to->args);
}

static Stmt widen_stmt(Mutator *m, Stmt s) {
  Widening *k = m->self;
  if (s->kind != STMT_LET) return tirc_mutate_stmt_children(m, s);
  const Expr value = tirc_mutate_expr(m, s->u.let.value), var = widen_var(k, s->u.let.var);
  return tirc_with_loc(k->c, tirc_let(k->c, var, value, tirc_mutate_stmt(m, s->u.let.body)),
                       s->loc);
}

static const Func *widen_func(Tirc *c, const Func *f) {
  Widening k = {.c = c, .f = f};
  Mutator m = {.c = c, .expr = widen_expr, .stmt = widen_stmt, .buffer = widen_buffer, .self = &k};
  Func *to = tirc_copy(c, f, 1);
  Expr *params = tirc_copy(c, f->params, f->n_params);
  Buffer *buffers = tirc_copy(c, f->buffers, f->n_params);
  for (int i = 0; i < f->n_params; i++) {
    if (buffers[i]) buffers[i] = widen_buffer(&m, buffers[i]);
    params[i] = widen_var(&k, params[i]);
  }
  to->params = params;
  to->buffers = buffers;
  to->body = tirc_mutate_stmt(&m, f->body);
  return to;
}

/* --- graphs ----------------------------------------------------------------------------------- */

static Info widen_info(Tirc *c, Info info) {
  if (!info || (info->kind != INFO_TENSOR && info->kind != INFO_TUPLE)) return info;
  struct StructInfo to = *info;
  Info *fields = info->n ? tirc_copy(c, info->fields, info->n) : NULL;
  bool changed = is_narrow(info->dtype);
  for (int i = 0; i < info->n; i++) {
    fields[i] = widen_info(c, info->fields[i]);
    changed |= fields[i] != info->fields[i];
  }
  to.dtype = widened(info->dtype);
  to.fields = fields;
  return changed ? tirc_info_copy(c, &to) : info;
}

static double element(DType t, const void *data, int64_t i) {
  const uint16_t *halves = data;
  if (t.bits == 32) return (double)((const float *)data)[i];
  return t.code == TYPE_BFLOAT ? tirc_bfloat_to_double(halves[i]) : tirc_half_to_double(halves[i]);
}

static Node widen_node(NodeMutator *m, Node n) {
  const Info info = widen_info(m->c, n->info);
  if (n->kind == NODE_VAR || info == n->info) return n;
  struct Node to = *n;
  to.info = info;
  if (n->kind == NODE_CONST) {
    const int64_t count = tirc_info_count(info);
    double *data = tirc_new_array(m->c, double, count);
    for (int64_t i = 0; i < count; i++) data[i] = element(n->info->dtype, n->data, i);
    to.data = data;
  }
  return tirc_graph_node(m->c, &to);
}

static Node widen_binding(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  (void)alias;
  if (value->kind == NODE_CALL || value->kind == NODE_CALL_DPS)
    tirc_fail(r->c, b->loc, CODE_UNSUPPORTED, NULL, "%s is not computed in float64", value->name);
  return tirc_mutate_node(&(NodeMutator){.c = r->c, .node = widen_node}, value);
}

static const Graph *widen_graph(Tirc *c, const Graph *g) {
  GraphRewriter r = {.c = c, .value = widen_binding};
  Node *params = tirc_copy(c, g->params, g->n_params);
  for (int i = 0; i < g->n_params; i++) {
    const Info info = widen_info(c, params[i]->info);
    if (info == params[i]->info) continue;
    params[i] = tirc_node_var(c, params[i]->name, info, params[i]->loc);
    tirc_map_set(c, &r.to, g->params[i], params[i]);
  }
  Graph *to = tirc_copy(c, tirc_rewrite_graph(&r, g), 1);
  to->params = params;
  to->info = widen_info(c, g->info);
  return to;
}

const Module *tirc_in_float64(Tirc *c, const Module *m) {
  const Func **funcs = tirc_new_array(c, const Func *, m->n_funcs);
  for (int i = 0; i < m->n_funcs; i++) funcs[i] = widen_func(c, m->funcs[i]);
  m = tirc_module_with_funcs(c, m, m->n_funcs, funcs);
  for (int i = 0; i < m->n_graphs; i++)
    m = tirc_module_with_graph(c, m, i, widen_graph(c, m->graphs[i]));
  return m;
}
