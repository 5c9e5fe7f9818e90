/* How far the accesses to buffers reach while the loops inside of a statement run, the variables
 * outside being fixed. Conditions around an access narrow it. One walk serves any number of
 * buffers. */
#include "regions.h"

typedef struct Target {
  Buffer buffer;
  Reach *reach;
} Target;

typedef struct Collector {
  Tirc *c;
  Analyzer *a;
  PtrMap targets; /* from a buffer's handle variable to its Target */
  PtrMap dom;     /* from a variable bound inside to its IntSet */
} Collector;

static const Target *target_of(const Collector *k, Expr data) {
  return tirc_map_get(&k->targets, data);
}

static PtrMap copy_map(Tirc *c, const PtrMap *from) {
  PtrMap to = {0};
  for (size_t i = 0; i < from->cap; i++)
    if (from->keys[i] && from->values[i]) tirc_map_set(c, &to, from->keys[i], from->values[i]);
  return to;
}

static void give_up(const Target *t) {
  if (t) t->reach->is_opaque = true;
}

static void widen(Collector *k, IntSet **sets, int n, const Expr *indices) {
  if (!*sets) {
    *sets = tirc_new_array(k->c, IntSet, n);
    for (int i = 0; i < n; i++) (*sets)[i] = tirc_eval_set(k->a, indices[i], &k->dom);
    return;
  }
  for (int i = 0; i < n; i++)
    (*sets)[i] = tirc_set_union(k->a, (*sets)[i], tirc_eval_set(k->a, indices[i], &k->dom));
}

static void access(Collector *k, Buffer b, int n, const Expr *indices, bool is_write) {
  const Target *t = target_of(k, b->data);
  if (!t) return;
  if (b != t->buffer) {
    give_up(t);
    return;
  }
  for (int i = 0; i < n; i++)
    if (tirc_lower_reads_memory(indices[i])) give_up(t);
  widen(k, is_write ? &t->reach->writes : &t->reach->reads, n, indices);
}

static void collect_expr(Collector *k, Expr e);

static void collect_guarded(Collector *k, Expr cond, Expr e) {
  PtrMap outer = k->dom;
  k->dom = copy_map(k->c, &outer);
  tirc_narrow_by_condition(k->a, cond, &k->dom);
  collect_expr(k, e);
  k->dom = outer;
}

static void collect_expr(Collector *k, Expr e) {
  if (e->op == OP_VAR) give_up(target_of(k, e));
  if (e->op == OP_CALL && strcmp(e->u.s, "prefetch") == 0) return;
  if (e->op == OP_CALL && strcmp(e->u.s, "address_of") == 0 && e->n == 1 &&
      e->args[0]->op == OP_LOAD)
    give_up(target_of(k, e->args[0]->u.buffer->data));
  if (e->op == OP_LOAD) access(k, e->u.buffer, e->n, e->args, false);
  if (e->op == OP_IF_THEN_ELSE) {
    collect_expr(k, e->args[0]);
    collect_guarded(k, e->args[0], e->args[1]);
    collect_expr(k, e->args[2]);
    return;
  }
  if (e->op == OP_LET) {
    IntSet *set = tirc_new(k->c, IntSet);
    *set = tirc_lower_reads_memory(e->args[1]) ? (IntSet){0}
                                               : tirc_eval_set(k->a, e->args[1], &k->dom);
    tirc_map_set(k->c, &k->dom, e->args[0], set);
  }
  for (int i = e->op == OP_LET ? 1 : 0; i < e->n; i++) collect_expr(k, e->args[i]);
}

static void collect(Collector *k, Stmt s);

static void collect_under(Collector *k, Expr cond, Stmt s) {
  if (tirc_is_true(cond)) return collect(k, s);
  PtrMap outer = k->dom;
  k->dom = copy_map(k->c, &outer);
  tirc_narrow_by_condition(k->a, cond, &k->dom);
  collect(k, s);
  k->dom = outer;
}

static void collect_loop(Collector *k, const For *loop) {
  collect_expr(k, loop->min);
  collect_expr(k, loop->extent);
  Tirc *c = k->c;
  Expr last = tirc_sub(c, tirc_add(c, loop->min, loop->extent), tirc_int(c, loop->min->dtype, 1));
  IntSet *set = tirc_new(c, IntSet);
  set->min = tirc_eval_set(k->a, loop->min, &k->dom).min;
  set->max = tirc_eval_set(k->a, last, &k->dom).max;
  tirc_bind_range(k->a, loop->var, tirc_range(loop->min, loop->extent));
  tirc_map_set(c, &k->dom, loop->var, set);
  collect(k, loop->body);
  tirc_map_remove(&k->dom, loop->var);
}

static void collect_block(Collector *k, const Block *b) {
  for (int i = 0; i < b->n_matches; i++) {
    const Region *r = &b->matches[i].source;
    for (int d = 0; d < r->buffer->ndim; d++) {
      collect_expr(k, r->dims[d].min);
      collect_expr(k, r->dims[d].extent);
    }
    if (!target_of(k, r->buffer->data)) continue;
    Expr *low = tirc_new_array(k->c, Expr, r->buffer->ndim);
    Expr *high = tirc_new_array(k->c, Expr, r->buffer->ndim);
    for (int d = 0; d < r->buffer->ndim; d++) {
      low[d] = r->dims[d].min;
      high[d] = tirc_sub(k->c, tirc_add(k->c, low[d], r->dims[d].extent),
                         tirc_int(k->c, low[d]->dtype, 1));
    }
    for (int write = 0; write < 2; write++) {
      access(k, r->buffer, r->buffer->ndim, low, write);
      access(k, r->buffer, r->buffer->ndim, high, write);
    }
  }
  collect_expr(k, b->predicate);
  collect_under(k, b->predicate, b->body);
}

static void collect_let(Collector *k, Stmt s) {
  collect_expr(k, s->u.let.value);
  IntSet *set = tirc_new(k->c, IntSet);
  if (!tirc_lower_reads_memory(s->u.let.value) && tirc_dtype_is_int(s->u.let.value->dtype))
    *set = tirc_eval_set(k->a, s->u.let.value, &k->dom);
  tirc_map_set(k->c, &k->dom, s->u.let.var, set);
  collect(k, s->u.let.body);
}

static void collect(Collector *k, Stmt s) {
  switch (s->kind) {
  case STMT_FOR: collect_loop(k, &s->u.loop); break;
  case STMT_BLOCK: collect_block(k, &s->u.block); break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) collect(k, tirc_item(s, i));
    break;
  case STMT_STORE:
    for (int i = 0; i < s->u.store.n; i++) collect_expr(k, s->u.store.indices[i]);
    collect_expr(k, s->u.store.value);
    access(k, s->u.store.buffer, s->u.store.n, s->u.store.indices, true);
    break;
  case STMT_EVAL: collect_expr(k, s->u.eval.value); break;
  case STMT_IF:
    collect_expr(k, s->u.branch.cond);
    collect_under(k, s->u.branch.cond, s->u.branch.then_case);
    if (s->u.branch.else_case) collect(k, s->u.branch.else_case);
    break;
  case STMT_WHILE:
    collect_expr(k, s->u.loop_while.cond);
    collect(k, s->u.loop_while.body);
    break;
  case STMT_LET: collect_let(k, s); break;
  case STMT_DECL:
    give_up(target_of(k, s->u.alloc.buffer->data));
    collect(k, s->u.alloc.body);
    break;
  case STMT_ALLOC: collect(k, s->u.alloc.body); break;
  case STMT_ATTR:
    collect_expr(k, s->u.attr.value);
    collect(k, s->u.attr.body);
    break;
  case STMT_ASSERT:
    collect_expr(k, s->u.check.cond);
    collect(k, s->u.check.body);
    break;
  }
}

const Reach *tirc_lower_reach(Tirc *c, Analyzer *a, Stmt s, int n, const Buffer *buffers,
                              const PtrMap *outer) {
  Reach *reach = tirc_new_array(c, Reach, n + 1);
  Target *targets = tirc_new_array(c, Target, n + 1);
  Collector k = {.c = c, .a = a, .dom = copy_map(c, outer)};
  for (int i = 0; i < n; i++) {
    targets[i] = (Target){buffers[i], &reach[i]};
    tirc_map_set(c, &k.targets, buffers[i]->data, &targets[i]);
  }
  if (n) collect(&k, s);
  return reach;
}
