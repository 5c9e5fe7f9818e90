/* RewriteDataflowReshape: a function that gives elements of its argument, in their order, says so;
 * a plan then reads the argument in the place of the result, and nothing is copied.
 *
 *   R[0, i, j, k] = A[i, j * 16 + k]     A: (n, 64), R: (1, n, 4, 16)
 *
 * All that is stored must come from the place of the same number, counted along rows, and the two
 * have as many elements. */
#include "passes.h"

#include "ir/arith/arith.h"
#include "ir/tree/annotations.h"
#include "ir/tree/visit.h"

typedef struct Same {
  Tirc *c;
  Analyzer *known;
  Buffer from; /* the argument, and what was copied from it so */
  PtrMap copies;
  int n_stores;
  bool holds;
} Same;

/* The number of an element along rows. */
static Expr number_of(Tirc *c, Buffer b, const Expr *indices) {
  Expr at = tirc_int(c, DT_INT64, 0);
  for (int d = 0; d < b->ndim; d++)
    at = tirc_add(c, tirc_mul(c, at, tirc_cast(c, DT_INT64, b->shape[d])),
                  tirc_cast(c, DT_INT64, indices[d]));
  return at;
}

static bool is_plain(Buffer b) { return !b->strides && !b->elem_offset; }

static bool keeps_order(Same *k, Stmt s) {
  const Buffer to = s->u.store.buffer;
  const Expr value = s->u.store.value;
  if (value->op != OP_LOAD) return false;
  const Buffer from = value->u.buffer;
  if (from != k->from && !tirc_map_has(&k->copies, from)) return false;
  if (!is_plain(to) || !is_plain(from) || !tirc_dtype_equal(to->dtype, from->dtype)) return false;
  const Expr apart =
      tirc_sub(k->c, number_of(k->c, from, value->args), number_of(k->c, to, s->u.store.indices));
  return tirc_is_int(tirc_simplify(k->known, apart), 0);
}

static bool see_stmt(Visitor *v, Stmt s) {
  Same *k = v->self;
  switch (s->kind) {
  case STMT_FOR:
  case STMT_SEQ: return k->holds;
  case STMT_BLOCK:
    k->holds = k->holds && !s->u.block.n_matches && tirc_is_true(s->u.block.predicate);
    for (int i = 0; i < s->u.block.n_iters; i++)
      tirc_bind_range(k->known, s->u.block.iters[i].var, s->u.block.iters[i].dom);
    return k->holds;
  case STMT_STORE:
    k->holds = k->holds && keeps_order(k, s);
    k->n_stores++;
    tirc_map_set(k->c, &k->copies, s->u.store.buffer, k);
    return false;
  default: k->holds = false; return false;
  }
}

static Expr size_of(Tirc *c, Buffer b) {
  Expr n = tirc_int(c, DT_INT64, 1);
  for (int d = 0; d < b->ndim; d++) n = tirc_mul(c, n, tirc_cast(c, DT_INT64, b->shape[d]));
  return n;
}

static bool gives_argument(Tirc *c, const Func *f) {
  if (f->n_params < 2 || !f->buffers[0] || !f->buffers[1]) return false;
  const Expr sizes[] = {size_of(c, f->buffers[0]), size_of(c, f->buffers[1])};
  if (!tirc_prove_equal(tirc_analyzer(c), sizes[0], sizes[1])) return false;
  for (int i = 2; i < f->n_params; i++)
    if (f->buffers[i]) return false;
  Same k = {.c = c, .known = tirc_analyzer(c), .from = f->buffers[0], .holds = true};
  tirc_visit_stmts(f->body, see_stmt, &k);
  return k.holds && k.n_stores && tirc_map_has(&k.copies, f->buffers[1]);
}

const Module *tirc_pass_same_elements(Passes *p, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++) {
    if (!gives_argument(p->c, m->funcs[i])) continue;
    Func *f = tirc_copy(p->c, m->funcs[i], 1);
    f->attrs = tirc_attrs_set(p->c, f->attrs, tirc_key(KEY_SAME_ELEMENTS), tirc_bool(p->c, true));
    m = tirc_module_with_func(p->c, m, i, f);
  }
  return m;
}
