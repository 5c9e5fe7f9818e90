/* Padding that a new layout brings (TVM's TransformLayoutPlanner); see layout.h for the two plans.
 *
 * A write can be turned into loops over the new shape where it is all that perfectly nested serial
 * loops do, one loop for each index, each over the whole extent of its dimension. Over the padding
 * the old indices are outside of the old shape; so nothing but the value that is stored, which the
 * padding does not compute, may use them. */
#include "layout.h"

/* The loops that something depends on: from number `first` to number `last` of those around it. */
typedef struct Reach {
  int first, last;
} Reach;

typedef struct Write {
  Stmt store, block; /* block: the innermost around it, or NULL */
  int n;
  const Stmt *loops; /* from the first to the last that its indices depend on */
  bool row_major;
} Write;

typedef struct Planner {
  Mutator m; /* used for walking only */
  Tirc *c;
  const LayoutChange *l;
  PtrMap reach;  /* variable -> Reach * */
  PtrMap values; /* variable of a let or block -> value in terms of loops */
  VEC(Stmt) loops;
  Stmt block;
  VEC(Write) writes;
} Planner;

/* --- the writes ------------------------------------------------------------------------------- */

typedef struct ReachSearch {
  const PtrMap *reach;
  Reach found;
} ReachSearch;

static bool widen(Visitor *v, Expr e) {
  ReachSearch *search = v->self;
  const Reach *r = e->op == OP_VAR ? tirc_map_get(search->reach, e) : NULL;
  if (!r) return true;
  Reach *found = &search->found;
  if (found->first < 0 || r->first < found->first) found->first = r->first;
  if (r->last > found->last) found->last = r->last;
  return true;
}

static Reach reach_of(Planner *p, int n, const Expr *at) {
  ReachSearch search = {.reach = &p->reach, .found = {-1, -1}};
  for (int i = 0; i < n; i++) tirc_visit_expr(&(Visitor){.expr = widen, .self = &search}, at[i]);
  return search.found;
}

static void define(Planner *p, Expr var, Expr value) {
  Reach r = reach_of(p, 1, &value);
  if (r.first < 0) return;
  Reach *kept = tirc_copy(p->c, &r, 1);
  tirc_map_set(p->c, &p->reach, var, kept);
  tirc_map_set(p->c, &p->values, var, tirc_substitute(p->c, value, &p->values));
}

static bool is_row_major(Planner *p, const Write *w) {
  Buffer b = p->l->from;
  Stmt store = w->store;
  if (w->n == 0 || w->n != b->ndim || w->n != store->u.store.n) return false;
  for (int i = 0; i < w->n; i++) {
    const For *loop = &w->loops[i]->u.loop;
    Expr index = tirc_substitute(p->c, store->u.store.indices[i], &p->values);
    bool whole = index == loop->var && tirc_is_int(loop->min, 0) &&
                 tirc_expr_same(loop->extent, b->shape[i]) && loop->kind == LOOP_SERIAL;
    if (!whole || (i > 0 && w->loops[i - 1]->u.loop.body != w->loops[i])) return false;
  }
  return true;
}

static void add_write(Planner *p, Stmt store) {
  Write w = {.store = store, .block = p->block};
  Reach r = reach_of(p, store->u.store.n, store->u.store.indices);
  if (r.first >= 0) {
    w.n = r.last - r.first + 1;
    Stmt *loops = tirc_new_array(p->c, Stmt, w.n);
    for (int i = 0; i < w.n; i++) loops[i] = p->loops.at[r.first + i];
    w.loops = loops;
  }
  w.row_major = is_row_major(p, &w);
  vec_push(p->c, p->writes, w);
}

static Stmt walk(Mutator *m, Stmt s) {
  Planner *p = m->self;
  Stmt outer = p->block;
  switch (s->kind) {
  case STMT_FOR: {
    Reach *r = tirc_new(p->c, Reach);
    *r = (Reach){p->loops.n, p->loops.n};
    tirc_map_set(p->c, &p->reach, s->u.loop.var, r);
    vec_push(p->c, p->loops, s);
    tirc_mutate_stmt_children(m, s);
    p->loops.n--;
    return s;
  }
  case STMT_BLOCK:
    for (int i = 0; i < s->u.block.n_iters; i++)
      define(p, s->u.block.iters[i].var, s->u.block.iter_values[i]);
    p->block = s;
    tirc_mutate_stmt_children(m, s);
    p->block = outer;
    return s;
  case STMT_LET: define(p, s->u.let.var, s->u.let.value); break;
  case STMT_STORE:
    if (s->u.store.buffer == p->l->from) add_write(p, s);
    return s;
  default: break;
  }
  tirc_mutate_stmt_children(m, s);
  return s;
}

/* --- loops over the new shape ----------------------------------------------------------------- */

/* Fresh variables like those of the inverse, with a prefix; and the inverse and the padding in
 * terms of them. */
typedef struct NewIndices {
  Expr *vars;
  Expr *old; /* the old indices */
  Expr padding;
} NewIndices;

static NewIndices new_indices(const LayoutChange *l, const char *prefix) {
  Tirc *c = l->c;
  NewIndices x = {tirc_new_array(c, Expr, l->map.n_outputs + 1),
                  tirc_new_array(c, Expr, l->map.n_inputs + 1), NULL};
  PtrMap map = {0};
  for (int i = 0; i < l->map.n_outputs; i++) {
    Expr var = l->inverse.vars[i];
    x.vars[i] = tirc_var(c, tirc_format(c, "%s%s", prefix, var->u.s), l->to->shape[i]->dtype);
    tirc_map_set(c, &map, var, x.vars[i]);
  }
  for (int i = 0; i < l->map.n_inputs; i++)
    x.old[i] = tirc_substitute(c, l->inverse.indices[i], &map);
  x.padding = tirc_substitute(c, l->inverse.padding, &map);
  return x;
}

static Expr pad_value(const LayoutChange *l, const Expr *indices) {
  return tirc_map_indices(l->c, tirc_analyzer(l->c), &l->pad, indices)[0];
}

static Stmt loops_over(const LayoutChange *l, const NewIndices *loops, Stmt body) {
  for (int i = l->map.n_outputs; i-- > 0;)
    body = tirc_for_serial(l->c, loops->vars[i], l->to->shape[i], body);
  return body;
}

/* --- replacing the loops of a write ----------------------------------------------------------- */

typedef struct Replacer {
  Mutator m;
  Tirc *c;
  const LayoutChange *l;
  const Write *write;
  NewIndices loops, iters; /* iters: of the block, when its iterators are the buffer's indices */
  int first_iter;          /* where they start among the block's; -1: they are not */
  PtrMap old;              /* old loop variables and iterators -> expressions */
  bool all_replaced;
} Replacer;

/* Where the write's indices stand as iterators of its block, next to each other; -1: nowhere. */
static int iters_of_indices(const Write *w) {
  if (!w->block) return -1;
  const Block *b = &w->block->u.block;
  int n = w->store->u.store.n;
  for (int first = 0; first + n <= b->n_iters; first++) {
    int i = 0;
    while (i < n && b->iters[first + i].var == w->store->u.store.indices[i] &&
           b->iters[first + i].kind == ITER_SPATIAL)
      i++;
    if (i == n) return first;
  }
  return -1;
}

static bool see_load(Visitor *v, Expr e) {
  Replacer *r = v->self;
  if (e->op != OP_LOAD || e->u.buffer != r->l->from) return true;
  Stmt write = r->write->store;
  r->all_replaced &= tirc_same_exprs(e->n, e->args, write->u.store.indices);
  return true;
}

static Stmt replace_store(Replacer *r, Stmt s) {
  Stmt write = r->write->store;
  if (s->u.store.buffer != write->u.store.buffer ||
      !tirc_same_exprs(s->u.store.n, s->u.store.indices, write->u.store.indices)) {
    r->all_replaced = false;
    return s;
  }
  /* The new loops run in another order, in which an element may be read after its store. */
  tirc_visit_expr(&(Visitor){.expr = see_load, .self = r}, s->u.store.value);
  const NewIndices *at = r->first_iter >= 0 ? &r->iters : &r->loops;
  Expr value = tirc_substitute(r->c, s->u.store.value, &r->old);
  Expr args[3] = {at->padding, tirc_substitute(r->c, pad_value(r->l, at->vars), &r->old), value};
  Expr chosen = tirc_expr(r->c, OP_IF_THEN_ELSE, value->dtype, 3, args);
  Stmt to = tirc_store(r->c, r->l->to, r->l->map.n_outputs, at->vars, chosen);
  return tirc_with_loc(r->c, to, s->loc);
}

static Stmt replace_iters(Replacer *r, Stmt s) {
  Block b = s->u.block;
  int n_old = r->write->store->u.store.n, n_new = r->l->map.n_outputs, n = 0;
  IterVar *iters = tirc_new_array(r->c, IterVar, b.n_iters + n_new);
  Expr *values = tirc_new_array(r->c, Expr, b.n_iters + n_new);
  for (int i = 0; i <= b.n_iters; i++) {
    for (int k = 0; i == r->first_iter && k < n_new; k++, n++) {
      iters[n] =
          (IterVar){r->iters.vars[k], tirc_from_zero(r->c, r->l->to->shape[k]), ITER_SPATIAL};
      values[n] = r->loops.vars[k];
    }
    if (i == b.n_iters || (i >= r->first_iter && i < r->first_iter + n_old)) continue;
    iters[n] = b.iters[i];
    values[n++] = b.iter_values[i];
  }
  b.n_iters = n;
  b.iters = iters;
  b.iter_values = values;
  return tirc_with_loc(r->c, tirc_block(r->c, &b), s->loc);
}

static Expr replace_var(Mutator *m, Expr e) {
  Replacer *r = m->self;
  return tirc_substitute(r->c, e, &r->old);
}

static Stmt replace_in(Mutator *m, Stmt s) {
  Replacer *r = m->self;
  if (s->kind == STMT_STORE && s->u.store.buffer == r->l->from) return replace_store(r, s);
  Stmt to = tirc_mutate_stmt_children(m, s);
  bool is_block = r->first_iter >= 0 && s == r->write->block;
  return is_block ? replace_iters(r, to) : to;
}

/* Looks for anything in the loops that must not run over the padding. */
typedef struct OtherUses {
  Mutator m; /* used for walking only */
  Replacer *r;
  bool found;
} OtherUses;

static Expr other_expr(Mutator *m, Expr e) {
  OtherUses *u = m->self;
  u->found = u->found || tirc_uses_any(e, &u->r->old);
  return e;
}

static Stmt other_stmt(Mutator *m, Stmt s) {
  OtherUses *u = m->self;
  const Replacer *r = u->r;
  if (s->kind == STMT_STORE && s->u.store.buffer == r->l->from) return s;
  if (s->kind == STMT_BLOCK && s == r->write->block) {
    Block b = s->u.block; /* without what is replaced, and without regions */
    int n = r->write->store->u.store.n;
    for (int i = 0; i < b.n_iters; i++)
      if (r->first_iter < 0 || i < r->first_iter || i >= r->first_iter + n)
        other_expr(m, b.iter_values[i]);
    other_expr(m, b.predicate);
    if (b.init) tirc_mutate_stmt(m, b.init);
    tirc_mutate_stmt(m, b.body);
    u->found = u->found || b.n_matches > 0;
    return s;
  }
  bool allowed = s->kind == STMT_FOR || s->kind == STMT_SEQ || s->kind == STMT_IF;
  u->found = u->found || !allowed;
  return u->found ? s : tirc_mutate_stmt_children(m, s);
}

static bool has_other_uses(Replacer *r, Stmt body) {
  OtherUses u = {.r = r};
  u.m = (Mutator){.c = r->c, .expr = other_expr, .stmt = other_stmt, .self = &u};
  tirc_mutate_stmt(&u.m, body);
  return u.found;
}

/* NULL when the loops do more than to write these elements. */
static Stmt replacement(const LayoutChange *l, const Write *w) {
  Tirc *c = l->c;
  Replacer r = {.c = c, .l = l, .write = w, .all_replaced = true};
  r.loops = new_indices(l, "");
  r.first_iter = iters_of_indices(w);
  for (int i = 0; i < w->n; i++) tirc_map_set(c, &r.old, w->loops[i]->u.loop.var, r.loops.old[i]);
  if (r.first_iter >= 0) {
    r.iters = new_indices(l, "v_");
    for (int i = 0; i < w->n; i++)
      tirc_map_set(c, &r.old, w->store->u.store.indices[i], r.iters.old[i]);
  }
  r.m = (Mutator){.c = c, .expr = replace_var, .stmt = replace_in, .self = &r};
  Stmt body = w->loops[w->n - 1]->u.loop.body;
  if (has_other_uses(&r, body)) return NULL;
  body = tirc_mutate_stmt(&r.m, body);
  return r.all_replaced ? loops_over(l, &r.loops, body) : NULL;
}

/* --- filling the padding afterwards ----------------------------------------------------------- */

static Stmt fill_padding(const LayoutChange *l) {
  Tirc *c = l->c;
  int n = l->map.n_outputs;
  NewIndices loops = new_indices(l, ""), at = new_indices(l, "v_");
  IterVar *iters = tirc_new_array(c, IterVar, n + 1);
  for (int i = 0; i < n; i++)
    iters[i] = (IterVar){at.vars[i], tirc_whole_dim(c, l->to, i), ITER_SPATIAL};
  Stmt body = tirc_store(c, l->to, n, at.vars, pad_value(l, at.vars));
  Stmt block =
      tirc_storing_block(c, tirc_format(c, "buffer_%s_padding", l->to->name), n, iters, loops.vars,
                         loops.padding, (Region){0}, tirc_point(c, l->to, at.vars), body);
  return loops_over(l, &loops, block);
}

/* --- the plan --------------------------------------------------------------------------------- */

static bool has_loop(int n, const Stmt *at, Stmt loop) {
  for (int i = 0; i < n; i++)
    if (at[i] == loop) return true;
  return false;
}

/* Loops that several writes share (an init and its update) are replaced once: the replacement of
 * any of them covers all, or none is possible. */
static PaddingPlan replace_loops(Planner *p) {
  VEC(Stmt) replaced = {0};
  VEC(Stmt) with = {0};
  for (int i = 0; i < p->writes.n; i++) {
    const Write *w = &p->writes.at[i];
    if (!w->row_major || has_loop(replaced.n, replaced.at, w->loops[0])) continue;
    Stmt to = replacement(p->l, w);
    if (!to) continue;
    vec_push(p->c, replaced, w->loops[0]);
    vec_push(p->c, with, to);
  }
  return (PaddingPlan){.n = replaced.n, .replaced = replaced.at, .with = with.at};
}

PaddingPlan tirc_plan_padding(const LayoutChange *l) {
  Planner p = {.c = l->c, .l = l};
  p.m = (Mutator){.c = l->c, .expr = tirc_keep_expr, .stmt = walk, .self = &p};
  p.m.only = tirc_paths_to_users(l->s, l->scope, l->from);
  tirc_mutate_stmt(&p.m, l->scope->stmt);
  if (!p.writes.n)
    tirc_refuse(l->s, NULL, SERR_PAD_OF_INPUT,
                "No block writes %s, so no block can store the pad value in its padding.",
                l->from->name);
  PaddingPlan plan = replace_loops(&p);
  if (plan.n) return plan;
  const Write *last = &p.writes.at[p.writes.n - 1];
  plan.after = last->n ? last->loops[0] : last->block;
  plan.fill = fill_padding(l);
  return plan;
}
