/* The variables that the shapes of a function's buffers leave open. */
#include "symbols.h"

#include "visit.h"

typedef struct Collector {
  Tirc *c;
  PtrMap known; /* scalar parameters and what was found */
  VEC(Expr) found;
} Collector;

static bool collect(Visitor *v, Expr e) {
  Collector *k = v->self;
  if (e->op == OP_VAR && !tirc_map_has(&k->known, e)) {
    tirc_map_set(k->c, &k->known, e, e);
    vec_push(k->c, k->found, e);
  }
  return true;
}

static void collect_buffer(Visitor *v, Buffer b) {
  for (int d = 0; d < b->ndim; d++) tirc_visit_expr(v, b->shape[d]);
  for (int d = 0; b->strides && d < b->ndim; d++) tirc_visit_expr(v, b->strides[d]);
  if (b->elem_offset) tirc_visit_expr(v, b->elem_offset);
}

int tirc_symbolic_params(Tirc *c, const Func *f, Expr **out) {
  Collector k = {.c = c};
  Visitor v = {.expr = collect, .self = &k};
  for (int i = 0; i < f->n_params; i++)
    if (!f->buffers[i]) tirc_map_set(c, &k.known, f->params[i], f->params[i]);
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i]) collect_buffer(&v, f->buffers[i]);
  *out = k.found.at;
  return k.found.n;
}

int tirc_extent_params(Tirc *c, const Func *f, Expr **out) {
  Expr *symbols;
  int n = tirc_symbolic_params(c, f, &symbols);
  Expr *all = tirc_new_array(c, Expr, n + f->n_params);
  for (int i = 0; i < n; i++) all[i] = symbols[i];
  for (int i = 0; i < f->n_params; i++)
    if (!f->buffers[i] && tirc_dtype_is_int(f->params[i]->dtype)) all[n++] = f->params[i];
  *out = all;
  return n;
}
