/* Functions of tensor expressions: the stages that are needed, in order, a block each.
 *
 *   C = te.compute((m, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
 *
 *   for i, j, k in T.grid(m, n, l):
 *       with T.block("C"):
 *           v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
 *           with T.init():
 *               C[v_i, v_j] = T.float32(0.0)
 *           C[v_i, v_j] = C[v_i, v_j] + A[v_i, v_k] * B[v_k, v_j]
 */
#include "ir/arith/access.h"
#include "ir/tree/annotations.h"
#include "ir/tree/verify.h"
#include "ir/tree/visit.h"
#include "te.h"

typedef struct Builder {
  Script *sc;
  Tirc *c;
  PtrMap is_param; /* buffer -> itself */
  PtrMap placed;   /* stage -> itself, as soon as it is looked at */
  StrMap names;    /* of blocks so far */
  VEC(const Stage *) order;
  VEC(Stmt) body;
  Buffers allocs;
} Builder;

/* --- which stages, in which order ------------------------------------------------------------- */

static void need(Builder *b, const Stage *s);

static bool need_load(Visitor *v, Expr e) {
  Builder *b = v->self;
  const Tensor *t = e->op == OP_LOAD ? tirc_te_tensor_of(b->sc, e->u.buffer) : NULL;
  if (t && t->stage) need(b, t->stage);
  if (t && !t->stage && !tirc_map_has(&b->is_param, e->u.buffer))
    tirc_script_error(b->sc, "ValueError", "add it to the arguments",
                      "the placeholder %s is used, but it is not an argument of the function",
                      e->u.buffer->name);
  return true;
}

/* Producers first. */
static void need(Builder *b, const Stage *s) {
  Visitor v = {.expr = need_load, .self = b};
  if (tirc_map_has(&b->placed, s)) return;
  tirc_script_tick(b->sc, 1);
  if (++b->sc->nesting > SCRIPT_MAX_NESTING)
    tirc_script_limit(b->sc, NULL, "too many stages depend on one another");
  tirc_map_set(b->c, &b->placed, s, s);
  for (int i = 0; s->kind == STAGE_CALL && i < s->n_inputs; i++) {
    if (s->inputs[i]->stage) need(b, s->inputs[i]->stage);
  }
  for (int i = 0; s->kind == STAGE_COMPUTE && i < (s->reducer ? s->reducer->n : s->n_results); i++)
    tirc_visit_expr(&v, s->values[i]);
  if (s->condition) tirc_visit_expr(&v, s->condition);
  tirc_script_leave(b->sc);
  vec_push(b->c, b->order, s);
}

/* --- a compute as a nest ---------------------------------------------------------------------- */

static const char *block_name(Builder *b, const char *name) {
  const char *fresh = name;
  for (int i = 1; tirc_strmap_get(&b->names, fresh); i++)
    fresh = tirc_format(b->c, "%s_%d", name, i);
  *tirc_strmap_at(b->c, &b->names, fresh) = b;
  return fresh;
}

typedef struct Nest { /* of one block */
  int n;              /* iterators: at least one */
  Expr *loops, *vars; /* loops[i] NULL: no loop, the iterator is 0 */
  IterVar *iters;
  PtrMap map; /* axis variable -> variable of the iterator */
  Analyzer *known;
} Nest;

static Nest open_nest(Builder *b, const Stage *s) {
  Tirc *c = b->c;
  const int n = s->n_axes ? s->n_axes : 1;
  Nest nest = {.n = n,
               .loops = tirc_new_array(c, Expr, n),
               .vars = tirc_new_array(c, Expr, n),
               .iters = tirc_new_array(c, IterVar, n),
               .known = tirc_analyzer(c)};
  if (!s->n_axes) {
    const DType t = b->sc->te.wide ? DT_INT64 : DT_INT32;
    nest.vars[0] = tirc_var(c, "vi", t);
    nest.iters[0] =
        (IterVar){nest.vars[0], tirc_range(tirc_int(c, t, 0), tirc_int(c, t, 1)), ITER_SPATIAL};
  }
  for (int i = 0; i < s->n_axes; i++) {
    const IterVar *axis = &s->axes[i];
    const char *name = axis->var->u.s;
    nest.loops[i] = tirc_var(c, name, axis->var->dtype);
    nest.vars[i] = tirc_var(c, tirc_format(c, "v_%s", name), axis->var->dtype);
    nest.iters[i] = (IterVar){nest.vars[i], axis->dom, axis->kind};
    tirc_map_set(c, &nest.map, axis->var, nest.vars[i]);
    /* Of extent 1 it stays an iterator, as the reference has it: it is not replaced by 0. */
    if (!tirc_is_int(axis->dom.extent, 1)) tirc_bind_range(nest.known, nest.vars[i], axis->dom);
  }
  return nest;
}

static Expr value_in(Builder *b, const Nest *nest, Expr e) {
  return tirc_simplify(nest->known, tirc_substitute(b->c, e, &nest->map));
}

static Stmt close_nest(Builder *b, const Stage *s, const Nest *nest, const char *name, Stmt init,
                       Stmt body) {
  Tirc *c = b->c;
  Expr *values = tirc_new_array(c, Expr, nest->n);
  for (int i = 0; i < nest->n; i++)
    values[i] = nest->loops[i] ? nest->loops[i] : tirc_int(c, nest->vars[i]->dtype, 0);
  Stmt stmt = tirc_block(c, &(Block){.name = block_name(b, name),
                                     .n_iters = nest->n,
                                     .iters = nest->iters,
                                     .iter_values = values,
                                     .predicate = tirc_bool(c, true),
                                     .annotations = s->annotations,
                                     .init = init,
                                     .body = body});
  stmt = tirc_infer_regions(c, stmt, false, false);
  for (int i = nest->n - 1; i >= 0; i--) {
    if (!nest->loops[i]) continue;
    const Range dom = nest->iters[i].dom;
    stmt = tirc_for(c, &(For){.var = nest->loops[i],
                              .min = dom.min,
                              .extent = dom.extent,
                              .kind = LOOP_SERIAL,
                              .body = stmt});
  }
  return stmt;
}

/* Where a stage stores its results: the iterators of the dimensions. */
static Stmt store(Builder *b, const Stage *s, const Nest *nest, int i, Expr value) {
  Buffer to = s->results[i]->buffer;
  return tirc_store(b->c, to, to->ndim, nest->vars, value);
}

static Stmt checked(Builder *b, const Stage *s, const Nest *nest, Stmt body) {
  if (!s->condition) return body;
  return tirc_assert_stmt(b->c, value_in(b, nest, s->condition), s->message, body);
}

/* Results that do not depend on each other: a nest each. */
static void add_compute(Builder *b, const Stage *s) {
  for (int i = 0; i < s->n_results; i++) {
    Nest nest = open_nest(b, s);
    Stmt body = store(b, s, &nest, i, value_in(b, &nest, s->values[i]));
    body = checked(b, s, &nest, body);
    vec_push(b->c, b->body, close_nest(b, s, &nest, s->results[i]->buffer->name, NULL, body));
  }
}

/* The new value of result i: what the results hold, combined with one more element. */
static Expr combined(Builder *b, const Stage *s, const Nest *nest, int i) {
  const Reducer *r = s->reducer;
  PtrMap map = {0};
  for (int k = 0; k < r->n; k++) {
    Buffer held = s->results[k]->buffer;
    tirc_map_set(b->c, &map, r->lhs[k], tirc_load(b->c, held, held->ndim, nest->vars));
    tirc_map_set(b->c, &map, r->rhs[k], value_in(b, nest, s->values[k]));
  }
  return tirc_substitute(b->c, r->results[i], &map);
}

/* Of several results all new values are known before the first is stored:
 *   v_x_v0: T.int32 = ...
 *   v_x_v1: T.float32 = ...
 *   x_v0[...] = v_x_v0
 *   x_v1[...] = v_x_v1 */
static Stmt update(Builder *b, const Stage *s, const Nest *nest) {
  Tirc *c = b->c;
  const int n = s->reducer->n;
  if (n == 1) return store(b, s, nest, 0, combined(b, s, nest, 0));
  Expr *vars = tirc_new_array(c, Expr, n);
  Stmt *stores = tirc_new_array(c, Stmt, n);
  for (int i = 0; i < n; i++) {
    Buffer to = s->results[i]->buffer;
    vars[i] = tirc_var(c, tirc_format(c, "v_%s", to->name), to->dtype);
    stores[i] = store(b, s, nest, i, vars[i]);
  }
  Stmt body = tirc_seq(c, n, stores);
  for (int i = n - 1; i >= 0; i--) body = tirc_let(c, vars[i], combined(b, s, nest, i), body);
  return body;
}

static void add_reduction(Builder *b, const Stage *s) {
  const int n = s->reducer->n;
  Nest nest = open_nest(b, s);
  Stmt *init = tirc_new_array(b->c, Stmt, n);
  for (int i = 0; i < n; i++) init[i] = store(b, s, &nest, i, s->reducer->identities[i]);
  Stmt body = checked(b, s, &nest, update(b, s, &nest));
  vec_push(b->c, b->body, close_nest(b, s, &nest, s->name, tirc_seq(b->c, n, init), body));
}

/* --- the function ----------------------------------------------------------------------------- */

static void add_stage(Builder *b, const Stage *s) {
  for (int i = 0; i < s->n_results; i++)
    if (!tirc_map_has(&b->is_param, s->results[i]->buffer))
      vec_push(b->c, b->allocs, s->results[i]->buffer);
  if (s->kind == STAGE_CALL)
    vec_push(b->c, b->body, tirc_te_call_body(b->sc, s, &b->allocs));
  else if (s->reducer)
    add_reduction(b, s);
  else
    add_compute(b, s);
}

static void verify(Tirc *c, const Func *f) {
  const Module m = {.c = c, .name = "Module", .n_funcs = 1, .funcs = &f};
  tirc_verify(c, &m);
}

static void set_params(Builder *b, int n, const Tensor *const *args, Func *f) {
  Expr *params = tirc_new_array(b->c, Expr, n);
  Buffer *buffers = tirc_new_array(b->c, Buffer, n);
  for (int i = 0; i < n; i++) {
    buffers[i] = args[i]->buffer;
    params[i] = tirc_var(b->c, tirc_format(b->c, "var_%s", buffers[i]->name), DT_HANDLE);
    if (tirc_map_has(&b->is_param, buffers[i]))
      tirc_script_error(b->sc, "ValueError", NULL, "the tensor %s is given twice as an argument",
                        buffers[i]->name);
    tirc_map_set(b->c, &b->is_param, buffers[i], buffers[i]);
  }
  f->n_params = n;
  f->params = params;
  f->buffers = buffers;
}

/* What a function that is called says of its loops holds for them here, too. */
static bool is_scheduled(const Builder *b) {
  const char *key = tirc_key(KEY_IS_SCHEDULED);
  for (int i = 0; i < b->order.n; i++)
    if (b->order.at[i]->kind == STAGE_CALL && tirc_attrs_get(b->order.at[i]->func->attrs, key))
      return true;
  return false;
}

/* A result that begins as an argument does is that of the function alone: others would move it. */
static Attrs starts_as(const Builder *b, Attrs attrs) {
  const char *key = tirc_key(KEY_STARTS_AS);
  const Expr value = b->order.n == 1 && b->order.at[0]->kind == STAGE_CALL
                         ? tirc_attrs_get(b->order.at[0]->func->attrs, key)
                         : NULL;
  if (!value) return attrs;
  attrs = tirc_attrs_set(b->c, attrs, tirc_key(KEY_NOALIAS), tirc_bool(b->c, false));
  return tirc_attrs_set(b->c, attrs, key, value);
}

const Func *tirc_te_func(Script *sc, const char *name, int n, const Tensor *const *args,
                         Unknowns *vars) {
  return tirc_te_asserting_func(sc, name, n, args, 0, NULL, vars);
}

const Func *tirc_te_asserting_func(Script *sc, const char *name, int n, const Tensor *const *args,
                                   int n_needs, const Need *needs, Unknowns *vars) {
  Tirc *c = sc->c;
  Builder b = {.sc = sc, .c = c};
  Func *f = tirc_new(c, Func);
  *f = (Func){.name = name, .loc = sc->loc};
  f->attrs = tirc_attrs_set(c, f->attrs, tirc_key(KEY_NOALIAS), tirc_bool(c, true));
  set_params(&b, n, args, f);
  for (int i = 0; i < n; i++)
    if (args[i]->stage) need(&b, args[i]->stage);
  for (int i = 0; i < b.order.n; i++) add_stage(&b, b.order.at[i]);
  if (is_scheduled(&b))
    f->attrs = tirc_attrs_set(c, f->attrs, tirc_key(KEY_IS_SCHEDULED), tirc_bool(c, true));
  f->attrs = starts_as(&b, f->attrs);
  Stmt body = tirc_seq(c, b.body.n, b.body.at);
  for (int i = n_needs - 1; i >= 0; i--)
    body = tirc_assert_stmt(c, needs[i].cond, needs[i].message, body);
  f->body = tirc_block(c, &(Block){.name = "root",
                                   .predicate = tirc_bool(c, true),
                                   .n_allocs = b.allocs.n,
                                   .allocs = b.allocs.at,
                                   .body = body});
  const Func *own = tirc_te_fresh(c, f, vars);
  verify(c, own);
  return own;
}

/* create_prim_func([A, B, C]) */
static Value run_create(Script *sc, Value self, const Args *a) {
  const Value v = a->at[0];
  const bool several = v.kind == VAL_LIST || v.kind == VAL_TUPLE;
  const int n = several ? v.u.list->n : 1;
  const Tensor **args = tirc_new_array(sc->c, const Tensor *, n);
  (void)self;
  for (int i = 0; i < n; i++) {
    args[i] = tirc_te_tensor(several ? v.u.list->at[i] : v);
    if (!args[i])
      tirc_script_error(sc, "TypeError", "te.create_prim_func([A, B, C])",
                        "create_prim_func() needs a list of tensors, not of %s",
                        tirc_script_a_type(sc, several ? v.u.list->at[i] : v));
  }
  Unknowns vars;
  return tirc_script_object("PrimFunc", tirc_te_func(sc, "main", n, args, &vars));
}

const NativeRow tirc_script_te_func_rows[] = {
    {"te", "create_prim_func", run_create, 1, 1, NULL},
    {"te", "call_prim_func", tirc_te_run_call, 2, 2, NULL},
    {"te", "extern_primfunc", tirc_te_run_extern, 2, 2, NULL},
    {0},
};
