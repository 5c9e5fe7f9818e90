#include "accesses.h"

#include "ir/arith/box.h"

static Place *enter(Accesses *w, Place p) {
  Place *up = w->place, *to = tirc_new(w->c, Place);
  *to = p;
  to->up = up;
  to->depth = up ? up->depth + 1 : 1;
  w->place = to;
  return up;
}

static void give_up(Accesses *w, Expr data) {
  if (tirc_map_has(&w->targets, data)) tirc_map_set(w->c, &w->opaque, data, data);
}

void tirc_add_access(Accesses *w, Buffer b, const Range *dims, bool write) {
  const Buffer target = tirc_map_get(&w->targets, b->data);
  if (!target) return;
  if (b != target) give_up(w, b->data);
  vec_push(w->c, w->at, ((Access){w->place, b, write, dims}));
}

static void add_element(Accesses *w, Buffer b, const Expr *indices, bool write) {
  if (tirc_map_has(&w->targets, b->data))
    tirc_add_access(w, b, tirc_point(w->c, b, indices).dims, write);
}

static void walk_expr(Accesses *w, Expr e) {
  Place *up = w->place;
  if (e->op == OP_VAR) give_up(w, e);
  if (e->op == OP_CALL && !strcmp(e->u.s, "prefetch")) return;
  if (e->op == OP_CALL && !strcmp(e->u.s, "address_of") && e->n == 1 && e->args[0]->op == OP_LOAD)
    give_up(w, e->args[0]->u.buffer->data);
  if (e->op == OP_LOAD) add_element(w, e->u.buffer, e->args, false);
  if (e->op == OP_IF_THEN_ELSE) {
    walk_expr(w, e->args[0]);
    enter(w, (Place){.cond = e->args[0]});
    walk_expr(w, e->args[1]);
    w->place = up;
    walk_expr(w, e->args[2]);
    return;
  }
  if (e->op == OP_LET) {
    walk_expr(w, e->args[1]);
    tirc_map_set(w->c, &w->bound, e->args[0], (void *)e->args[0]);
    enter(w, (Place){.var = e->args[0], .value = e->args[1]});
    walk_expr(w, e->args[2]);
    w->place = up;
    return;
  }
  for (int i = 0; i < e->n; i++) walk_expr(w, e->args[i]);
}

static void walk_in(Accesses *w, Place p, Stmt s) {
  Place *up = enter(w, p);
  tirc_find_accesses(w, s);
  w->place = up;
}

static void walk_loop(Accesses *w, const For *loop) {
  walk_expr(w, loop->min);
  walk_expr(w, loop->extent);
  tirc_map_set(w->c, &w->bound, loop->var, (void *)loop->var);
  tirc_bind_range(w->a, loop->var, tirc_range(loop->min, loop->extent));
  walk_in(w, (Place){.loop = loop}, loop->body);
}

static void walk_block(Accesses *w, const Block *b) {
  for (int i = 0; i < b->n_matches; i++)
    for (int d = 0; d < b->matches[i].source.buffer->ndim; d++) {
      walk_expr(w, b->matches[i].source.dims[d].min);
      walk_expr(w, b->matches[i].source.dims[d].extent);
    }
  walk_expr(w, b->predicate);
  Place *up = enter(w, (Place){.cond = b->predicate});
  if (b->n_matches) w->views(w, b, false);
  tirc_find_accesses(w, b->body);
  if (b->n_matches) w->views(w, b, true);
  w->place = up;
}

void tirc_find_accesses(Accesses *w, Stmt s) {
  switch (s->kind) {
  case STMT_FOR: walk_loop(w, &s->u.loop); break;
  case STMT_BLOCK: walk_block(w, &s->u.block); break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) tirc_find_accesses(w, tirc_item(s, i));
    break;
  case STMT_STORE:
    for (int i = 0; i < s->u.store.n; i++) walk_expr(w, s->u.store.indices[i]);
    walk_expr(w, s->u.store.value);
    add_element(w, s->u.store.buffer, s->u.store.indices, true);
    break;
  case STMT_EVAL: walk_expr(w, s->u.eval.value); break;
  case STMT_IF:
    walk_expr(w, s->u.branch.cond);
    walk_in(w, (Place){.cond = s->u.branch.cond}, s->u.branch.then_case);
    if (s->u.branch.else_case) walk_in(w, (Place){0}, s->u.branch.else_case);
    break;
  case STMT_WHILE:
    walk_expr(w, s->u.loop_while.cond);
    walk_in(w, (Place){0}, s->u.loop_while.body);
    break;
  case STMT_LET:
    walk_expr(w, s->u.let.value);
    tirc_map_set(w->c, &w->bound, s->u.let.var, (void *)s->u.let.var);
    walk_in(w, (Place){.var = s->u.let.var, .value = s->u.let.value}, s->u.let.body);
    break;
  case STMT_DECL: give_up(w, s->u.alloc.buffer->data); /* fall through */
  case STMT_ALLOC: tirc_find_accesses(w, s->u.alloc.body); break;
  case STMT_ATTR:
    walk_expr(w, s->u.attr.value);
    tirc_find_accesses(w, s->u.attr.body);
    break;
  case STMT_ASSERT:
    walk_expr(w, s->u.check.cond);
    tirc_find_accesses(w, s->u.check.body);
    break;
  }
}

/* --- how it varies ---------------------------------------------------------------------------- */

static void relax(const Accesses *w, const Place *at, PtrMap *dom) {
  IntSet *set = tirc_new(w->c, IntSet);
  if (at->cond) tirc_narrow_by_condition(w->a, at->cond, dom);
  if (at->loop) {
    const Expr past = tirc_add(w->c, at->loop->min, at->loop->extent);
    const Expr last = tirc_sub(w->c, past, tirc_int(w->c, at->loop->min->dtype, 1));
    set->min = tirc_eval_set(w->a, at->loop->min, dom).min;
    set->max = tirc_eval_set(w->a, last, dom).max;
    tirc_map_set(w->c, dom, at->loop->var, set);
  } else if (at->var) {
    if (!tirc_loads_or_calls(at->value) && tirc_dtype_is_int(at->value->dtype))
      *set = tirc_eval_set(w->a, at->value, dom);
    tirc_map_set(w->c, dom, at->var, set);
  }
}

void tirc_relax_place(const Accesses *w, const Place *at, const Place *top, PtrMap *dom) {
  if (at == top) return;
  tirc_relax_place(w, at->up, top, dom);
  relax(w, at, dom);
}

const PtrMap *tirc_dom_of(const Accesses *w, Place *at) {
  static const PtrMap nothing;
  if (!at) return w->outer ? w->outer : &nothing;
  if (at->dom) return at->dom;
  const PtrMap *around = tirc_dom_of(w, at->up);
  PtrMap *dom = tirc_new(w->c, PtrMap);
  for (size_t i = 0; i < around->cap; i++)
    if (around->keys[i] && around->values[i])
      tirc_map_set(w->c, dom, around->keys[i], around->values[i]);
  relax(w, at, dom);
  return at->dom = dom;
}
