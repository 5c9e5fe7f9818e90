/* What threads make together of a value each, where a program says so itself:
 *
 *   with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope", ...):
 *     T.tvm_thread_allreduce(T.uint32(1), v, True, r[0], tx)      ->    (all_reduce.c) of v
 *                                                                       r[0] = what they make
 *
 * The call has the number of values, the values, a condition without which a thread brings what
 * changes nothing, where the results go, and the threads along which they are made one. The threads
 * of a block that are not among them make results of their own. */
#include "cross_thread.h"

typedef struct Allreduce {
  Tirc *c;
  const Gpu *gpu;
  VEC(const For *) threads; /* of the kernel */
  Expr reducer;             /* of the attribute around, or NULL */
} Allreduce;

static Reducer reducer_of(Tirc *c, Expr e) {
  const int n = tirc_reducer_size(e);
  Reducer r = {.n = n,
               .buffers = tirc_new_array(c, Buffer, n),
               .inits = tirc_copy(c, e->args + 3 * n, n),
               .combiners = tirc_copy(c, e->args + 2 * n, n),
               .self = tirc_copy(c, e->args, n),
               .rhs = tirc_copy(c, e->args + n, n)};
  return r;
}

static Group group_of(Allreduce *k, Stmt s, int n, const Expr *along) {
  Tirc *c = k->c;
  Group g = {.size = 1, .groups = 1, .lanes = true};
  bool others = false;
  int64_t extent;
  g.place = g.number = tirc_int32(c, 0);
  for (int i = 0; i < k->threads.n; i++) {
    const For *t = k->threads.at[i];
    if (!tirc_is_thread_axis(t->axis)) continue;
    if (!tirc_const_int(t->extent, &extent) || extent < 1 || extent > 1 << 16)
      tirc_fail(c, tirc_place_of(s), CODE_LOWER, NULL,
                "T.tvm_thread_allreduce needs a constant extent of %s", t->thread);
    bool is_in = false;
    for (int a = 0; a < n; a++) is_in |= tirc_uses_var(along[a], t->var);
    if (is_in && others) g.lanes = false;
    others |= !is_in && extent > 1;
    Expr *to = is_in ? &g.place : &g.number;
    int64_t *size = is_in ? &g.size : &g.groups;
    *to = tirc_add(c, *to, tirc_mul(c, tirc_cast(c, DT_INT32, t->var), tirc_int32(c, *size)));
    *size *= extent;
  }
  g.lanes &= (g.size & (g.size - 1)) == 0;
  return g;
}

/* threadIdx.x first: the order in which threads lie in warps. */
static void sort_threads(Allreduce *k) {
  for (int i = 1; i < k->threads.n; i++)
    for (int j = i; j > 0 && k->threads.at[j]->axis < k->threads.at[j - 1]->axis; j--) {
      const For *t = k->threads.at[j];
      k->threads.at[j] = k->threads.at[j - 1];
      k->threads.at[j - 1] = t;
    }
}

static Expr brought(Tirc *c, Expr cond, Expr value, Expr none) {
  Expr args[] = {cond, value, tirc_cast(c, value->dtype, none)};
  if (tirc_is_constant(cond) && cond->u.i) return value;
  return tirc_expr(c, OP_IF_THEN_ELSE, value->dtype, 3, args);
}

static Stmt all_reduce(Allreduce *k, Stmt s, Expr call) {
  Tirc *c = k->c;
  int64_t n;
  const bool counts = call->n > 0 && tirc_const_int(call->args[0], &n);
  if (!k->reducer || !counts || n != tirc_reducer_size(k->reducer) || call->n < 2 + 2 * n)
    tirc_fail(
        c, tirc_place_of(s), CODE_LOWER,
        "with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), \"reduce_scope\", 0):",
        "T.tvm_thread_allreduce must take as many values as the T.comm_reducer of the attribute "
        "around it");
  const Reducer r = reducer_of(c, k->reducer);
  if (r.n > MAX_COMPONENTS)
    tirc_fail(c, tirc_place_of(s), CODE_LOWER, NULL, "more than %d values are reduced at once",
              MAX_COMPONENTS);
  Expr values[MAX_COMPONENTS], result[MAX_COMPONENTS];
  for (int i = 0; i < n; i++) {
    values[i] = brought(c, call->args[1 + n], call->args[1 + i], r.inits[i]);
    if (call->args[2 + n + i]->op != OP_LOAD)
      tirc_fail(c, tirc_place_of(s), CODE_LOWER, NULL, "a result must be an element of a buffer");
  }
  sort_threads(k);
  const Group g = group_of(k, s, call->n - 2 - 2 * (int)n, call->args + 2 + 2 * n);
  Buffers allocs = {0};
  Stmts out = {0};
  tirc_lower_all_reduce(c, &r, k->gpu, &g, values, true, &allocs, &out, result);
  for (int i = 0; i < n; i++) {
    const Expr to = call->args[2 + n + i];
    vec_push(c, out, tirc_store(c, to->u.buffer, to->n, to->args, result[i]));
  }
  Stmt body = tirc_seq(c, out.n, out.at);
  for (int i = allocs.n - 1; i >= 0; i--)
    body = tirc_alloc_stmt(c, STMT_ALLOC, allocs.at[i], (Attrs){0}, body);
  return body;
}

static Stmt visit(Mutator *m, Stmt s) {
  Allreduce *k = m->self;
  if (s->kind == STMT_EVAL && tirc_calls(s->u.eval.value, CALL_TVM_THREAD_ALLREDUCE))
    return all_reduce(k, s, s->u.eval.value);
  if (s->kind == STMT_ATTR && s->u.attr.node && tirc_reducer_size(s->u.attr.node)) {
    const Expr outer = k->reducer;
    k->reducer = s->u.attr.node;
    Stmt body = tirc_mutate_stmt(m, s->u.attr.body);
    k->reducer = outer;
    return body;
  }
  /* barriers see to it that what one thread stores in shared memory is there for the others */
  if (s->kind == STMT_ATTR && strcmp(s->u.attr.key, "volatile_scope") == 0)
    return tirc_mutate_stmt(m, s->u.attr.body);
  if (!tirc_is_thread_loop(s)) return tirc_mutate_stmt_children(m, s);
  const int n = k->threads.n;
  const For **before = tirc_copy(k->c, k->threads.at, n);
  vec_push(k->c, k->threads, &s->u.loop);
  s = tirc_mutate_stmt_children(m, s);
  k->threads.n = n;
  for (int i = 0; i < n; i++) k->threads.at[i] = before[i];
  return s;
}

Stmt tirc_lower_thread_all_reduce(Tirc *c, const Func *f) {
  Allreduce k = {.c = c, .gpu = tirc_gpu_of(f)};
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = visit, .self = &k};
  return tirc_mutate_stmt(&m, f->body);
}
