#include "init_first.h"

enum { BUDGET = 30000 };

/* Instances with the init, or those without, as touches of the sum that they belong to. */
static Touch instances(Tirc *c, Place *at, const Block *b, bool with_init) {
  Expr *sum = tirc_new_array(c, Expr, b->n_iters + 1), start = tirc_bool(c, true);
  Touch t = {.indices = sum};
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_SPATIAL)
      sum[t.n++] = b->iter_values[i];
    else
      start = tirc_and(c, start, tirc_eq(c, b->iter_values[i], b->iters[i].dom.min));
  t.at = tirc_place_when(c, at, start, !with_init);
  return t;
}

bool tirc_init_comes_first(Sched *s, SRef *in, int n, const For *const *loops, const Block *block,
                           Expr condition) {
  const ArenaMark mark = tirc_mark(s->c);
  Sets *z = tirc_sets_of(s);
  Relations r = {.s = s, .sets = z, .nest = in};
  Place *at = tirc_place_around(s, in);
  for (int i = 0; i < n; i++) at = tirc_place_loop(s->c, at, loops[i]);
  at = tirc_place_when(s->c, at, condition, false);
  const Touch first = instances(s->c, at, block, true), other = instances(s->c, at, block, false);
  bool exact = true, any = true;
  tirc_sets_begin(z, BUDGET);
  const ZMap inits = tirc_relation_of(&r, &first, &exact);
  const ZMap others = tirc_relation_of(&r, &other, &any);
  const ZMap started = tirc_z_compose(z, tirc_z_reverse(z, tirc_z_later(z, n)), inits);
  const bool proved = exact && tirc_z_is_empty(z, tirc_z_minus(z, others, started)) == ANSWER_YES;
  tirc_sets_end(z);
  tirc_rewind(s->c, mark);
  return proved;
}
