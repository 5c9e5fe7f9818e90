#include "accesses.h"

#include "ir/arith/box.h"

static bool is_wanted(void *self, Buffer b) {
  const Accesses *w = self;
  return tirc_map_has(&w->targets, b->data);
}

void tirc_add_access(Extract *x, Place *at, const Region *of, bool write) {
  if (!is_wanted(x->self, of->buffer)) return;
  Touch t = tirc_region_touch(x->c, of);
  t.at = at;
  t.write = write;
  vec_push(x->c, x->touches, t);
}

const Range *tirc_dims_of(Tirc *c, const Touch *t) {
  if (!t->extents) return tirc_point(c, t->buffer, t->indices).dims;
  Range *dims = tirc_new_array(c, Range, t->n + 1);
  for (int d = 0; d < t->n; d++) dims[d] = tirc_range(t->indices[d], t->extents[d]);
  return dims;
}

static void give_up(Accesses *w, Expr data) {
  if (tirc_map_has(&w->targets, data)) tirc_map_set(w->c, &w->opaque, data, data);
}

static bool see_pointer(Visitor *v, Expr e) {
  if (e->op == OP_VAR) give_up(v->self, e);
  return !tirc_is_hint(e);
}

static bool see_decl(Visitor *v, Stmt s) {
  if (s->kind == STMT_DECL) give_up(v->self, s->u.alloc.buffer->data);
  return true;
}

static void learn_loops(Accesses *w, Place *p) {
  if (!p || p->ranged == w->a) return;
  p->ranged = w->a;
  learn_loops(w, p->up);
  if (p->kind == PLACE_LOOP) tirc_bind_range(w->a, p->var, tirc_range(p->a, p->b));
}

void tirc_find_accesses(Accesses *w, Stmt s) {
  Extract x = {.c = w->c, .wants = is_wanted, .self = w, .lowered = true, .views = w->views};
  tirc_extract(&x, NULL, s, NULL, s, s);
  tirc_visit_stmt(&(Visitor){.stmt = see_decl, .expr = see_pointer, .self = w}, s);
  w->at = x.touches;
  for (int i = 0; i < w->at.n; i++) {
    const Touch *t = &w->at.at[i];
    learn_loops(w, t->at);
    if (t->address || tirc_map_get(&w->targets, t->buffer->data) != t->buffer)
      give_up(w, t->buffer->data);
  }
}

/* --- how it varies ---------------------------------------------------------------------------- */

static void relax(const Accesses *w, const Place *at, PtrMap *dom) {
  if (at->kind == PLACE_WHEN && !at->negated) tirc_narrow_by_condition(w->a, at->a, dom);
  if (at->kind != PLACE_LOOP && at->kind != PLACE_BIND) return;
  IntSet *set = tirc_new(w->c, IntSet);
  if (at->kind == PLACE_LOOP)
    *set = tirc_box_of_range(w->a, tirc_range(at->a, at->b), dom);
  else if (!tirc_loads_or_calls(at->a) && tirc_dtype_is_int(at->a->dtype))
    *set = tirc_eval_set(w->a, at->a, dom);
  tirc_map_set(w->c, dom, at->var, set);
}

void tirc_relax_place(const Accesses *w, const Place *at, const Place *top, PtrMap *dom) {
  if (at == top) return;
  tirc_relax_place(w, at->up, top, dom);
  relax(w, at, dom);
}

const PtrMap *tirc_dom_of(Accesses *w, const Place *at) {
  static const PtrMap nothing;
  if (!at) return w->outer ? w->outer : &nothing;
  PtrMap *dom = tirc_map_get(&w->doms, at);
  if (dom) return dom;
  dom = tirc_new(w->c, PtrMap);
  *dom = tirc_map_copy(w->c, tirc_dom_of(w, at->up));
  relax(w, at, dom);
  tirc_map_set(w->c, &w->doms, at, dom);
  return dom;
}
