/* Whether a block writes all that it declares to write. Declared regions are boxes around what is
 * written, and may be larger: a store under a condition, or in every second element, writes less.
 * What must not be overwritten with leftovers needs to know more. */
#include "internal.h"

#include "ir/access.h"

typedef struct MustWrite {
  Sched *s;
  const Region *box; /* to be filled */
  VEC(Expr) vars;    /* the loops inside of the block, on the way down */
  VEC(Range) doms;
} MustWrite;

/* A predicate on a loop that chooses no element narrows no box: nothing may be left of the loop. */
static bool holds_never(MustWrite *w, Expr predicate) {
  Analyzer *a = tirc_analyzer(w->s->c);
  for (int i = 0; i < w->vars.n; i++) tirc_bind_range(a, w->vars.at[i], w->doms.at[i]);
  return !tirc_is_true(predicate) && tirc_prove(a, tirc_not(w->s->c, predicate));
}

static bool fills_box(MustWrite *w, const Range *dims, Expr predicate) {
  Tirc *c = w->s->c;
  Analyzer *a = tirc_analyzer(c);
  LoopDomain loops = {w->vars.n, w->vars.at, w->doms.at};
  if (!tirc_is_about(predicate, &loops) || holds_never(w, predicate)) return false;
  int n = w->box->buffer->ndim;
  const IntSet *sets =
      tirc_estimate_region(a, n, dims, loops.n, loops.vars, loops.doms, predicate, true);
  for (int i = 0; i < n; i++) {
    if (!sets || !sets[i].min || !sets[i].max) return false;
    Expr end = tirc_add(c, w->box->dims[i].min, w->box->dims[i].extent);
    Expr after = tirc_add(c, sets[i].max, tirc_int(c, sets[i].max->dtype, 1));
    if (!tirc_prove_equal(a, sets[i].min, w->box->dims[i].min) || !tirc_prove_equal(a, after, end))
      return false;
  }
  return true;
}

static bool writes(MustWrite *w, Stmt s);

static bool store_writes(MustWrite *w, Stmt s) {
  if (s->u.store.buffer != w->box->buffer) return false;
  Tirc *c = w->s->c;
  Range *dims = tirc_new_array(c, Range, s->u.store.n + 1);
  for (int i = 0; i < s->u.store.n; i++)
    dims[i] = tirc_range(s->u.store.indices[i], tirc_int(c, s->u.store.indices[i]->dtype, 1));
  return fills_box(w, dims, tirc_bool(c, true));
}

static bool block_writes(MustWrite *w, Stmt s) {
  const Block *b = &s->u.block;
  PtrMap bindings = {0};
  tirc_bindings_of(w->s->c, s, &bindings);
  for (int i = 0; i < b->n_writes; i++) {
    if (b->writes[i].buffer != w->box->buffer) continue;
    Region r = tirc_substitute_region(w->s->c, b->writes[i], &bindings);
    if (fills_box(w, r.dims, b->predicate) && tirc_writes_region(w->s, s, &b->writes[i]))
      return true;
  }
  return false;
}

static bool is_empty(const Region *box) {
  for (int i = 0; i < box->buffer->ndim; i++)
    if (tirc_is_int(box->dims[i].extent, 0)) return true;
  return false;
}

static bool loop_writes(MustWrite *w, const For *loop) {
  if (tirc_is_int(loop->extent, 0)) return is_empty(w->box); /* not even an init runs */
  vec_push(w->s->c, w->vars, loop->var);
  vec_push(w->s->c, w->doms, tirc_range(loop->min, loop->extent));
  bool all = writes(w, loop->body);
  w->vars.n--;
  w->doms.n--;
  return all;
}

static bool writes(MustWrite *w, Stmt s) {
  switch (s->kind) {
  case STMT_STORE: return store_writes(w, s);
  case STMT_BLOCK: return block_writes(w, s);
  case STMT_FOR: return loop_writes(w, &s->u.loop);
  case STMT_LET: return writes(w, s->u.let.body);
  case STMT_ATTR: return writes(w, s->u.attr.body);
  case STMT_ASSERT: return writes(w, s->u.check.body);
  case STMT_ALLOC:
  case STMT_DECL: return writes(w, s->u.alloc.body);
  case STMT_IF:
    return s->u.branch.else_case && writes(w, s->u.branch.then_case) &&
           writes(w, s->u.branch.else_case);
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++)
      if (writes(w, tirc_item(s, i))) return true;
    return false;
  default: return false;
  }
}

bool tirc_writes_region(Sched *s, Stmt block, const Region *declared) {
  MustWrite w = {.s = s, .box = declared};
  return writes(&w, block->u.block.body);
}

static bool is_point(const Region *r) {
  for (int i = 0; i < r->buffer->ndim; i++)
    if (!tirc_is_int(r->dims[i].extent, 1)) return false;
  return true;
}

Region tirc_written_region(Sched *s, SRef *block, const Region *declared) {
  if (is_point(declared)) return *declared;
  const Block *b = tirc_block_of(block);
  Analyzer *a = tirc_analyzer(s->c);
  for (int i = 0; i < b->n_iters; i++) tirc_bind_range(a, b->iters[i].var, b->iters[i].dom);
  Access access = tirc_block_access(s->c, block->stmt);
  if (tirc_region_of(access.opaque.n, access.opaque.at, declared->buffer)) return *declared;
  for (int i = 0; i < access.writes.n; i++) {
    const Region *actual = &access.writes.at[i];
    for (int d = 0; actual->buffer == declared->buffer && d < declared->buffer->ndim; d++)
      if (tirc_prove_lt(a, actual->dims[d].extent, declared->dims[d].extent)) return *actual;
  }
  return *declared;
}
