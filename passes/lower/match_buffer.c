/* Views become accesses to what they show: ir/tree/views.h. By itself the pass also sees to it that
 * a view lies where its declaration says. */
#include "internal.h"

#include "ir/tree/print.h"

#include "ir/tree/views.h"

Stmt tirc_lower_match_buffer(Tirc *c, const Func *f) { return tirc_without_views(c, f->body); }

static Expr stride_of(Tirc *c, Buffer b, int dim) {
  if (b->strides) return b->strides[dim];
  Expr stride = tirc_int32(c, 1);
  for (int i = b->ndim - 1; i > dim; i--) stride = tirc_mul(c, stride, b->shape[i]);
  return stride;
}

typedef struct Bound1 {
  Tirc *c;
  Analyzer *a;
  PtrMap values; /* of variables in declarations of views */
} Bound1;

static void check(Bound1 *k, Stmt s, const MatchBuffer *m, const char *what, Expr said, Expr is) {
  if (!said) return;
  Expr other = said->op == OP_VAR ? tirc_map_get(&k->values, said) : said;
  if (said->op == OP_VAR && !other) {
    tirc_map_set(k->c, &k->values, said, is);
    return;
  }
  if (other->op != OP_INT && said->op != OP_VAR) return;
  if (tirc_prove_equal(k->a, tirc_cast(k->c, is->dtype, other), is)) return;
  tirc_fail(k->c, tirc_place_of(s), CODE_LOWER, "leave it out, or give it a variable of its own",
            "the view %s is declared with %s %s, but has %s", m->buffer->name, what,
            tirc_print_expr(k->c, other), tirc_print_expr(k->c, is));
}

static bool see(Visitor *v, Stmt s) {
  Bound1 *k = v->self;
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_matches; i++) {
    const MatchBuffer *m = &s->u.block.matches[i];
    Buffer view = m->buffer, b = m->source.buffer;
    const int skip = b->ndim - view->ndim;
    Expr offset = b->elem_offset ? b->elem_offset : tirc_int32(k->c, 0);
    for (int d = 0; d < b->ndim; d++)
      offset = tirc_add(k->c, offset, tirc_mul(k->c, m->source.dims[d].min, stride_of(k->c, b, d)));
    check(k, s, m, "elem_offset", view->elem_offset, tirc_simplify0(k->c, offset));
    for (int d = 0; view->strides && skip >= 0 && d < view->ndim; d++)
      check(k, s, m, "a stride", view->strides[d],
            tirc_simplify0(k->c, stride_of(k->c, b, d + skip)));
  }
  return true;
}

Stmt tirc_lower_match_buffer_alone(Tirc *c, const Func *f) {
  Bound1 k = {.c = c, .a = tirc_analyzer(c)};
  tirc_visit_stmts(f->body, see, &k);
  return tirc_lower_match_buffer(c, f);
}
