/* Does each instance of the statement run once, on one element and at one stamp, or one after the
 * other within it? The loops of a mapping are just that: those of the array tell the element (a
 * skew only moves its stamps), those outside tell the stamp, those inside which of a stamp's
 * instances it is. So the mapping is one-to-one, up to ties, where no two runs of the loops bind
 * the block's iterators alike. For all sizes of the program, by integer sets. */
#include "spatial.h"

#include "passes/meaning/relations.h"

static void add_values(Text *t, int n, const Expr *names, const int64_t *at) {
  for (int i = 0; i < n; i++)
    tirc_text_addf(t, "%s%s = %lld", i ? ", " : "", names[i]->u.s, (long long)at[i]);
}

/* "i = 0, j = 0 and i = 0, j = 1 run the same"; NULL: no example was found. */
static const char *example(const Mapping *m, Sets *z, ZMap instances) {
  ZPoint p;
  const ZMap alike = tirc_z_compose(z, instances, tirc_z_reverse(z, instances));
  if (!tirc_z_sample(z, tirc_z_meet(z, alike, tirc_z_later(z, m->n_loops)), &p)) return NULL;
  Expr *names = tirc_new_array(m->c, Expr, m->n_loops + 1);
  for (int i = 0; i < m->n_loops; i++) names[i] = m->loops[i].var;
  Text t = {.c = m->c};
  add_values(&t, p.n_in, names, p.in);
  tirc_text_add(&t, " and ");
  add_values(&t, p.n_out, names, p.out);
  return t.at;
}

OneToOne tirc_mapping_once(const Mapping *m, const Func *f) {
  OneToOne out = {ONCE_UNKNOWN, NULL};
  bool exact = true;
  Relations r = {.c = m->c, .sets = tirc_sets_new(m->c), .func = f};
  Expr *iters = tirc_new_array(m->c, Expr, m->n_iters + 1);
  for (int i = 0; i < m->n_iters; i++) iters[i] = m->iters[i].var;
  const Touch all = {.n = m->n_iters, .indices = iters, .at = m->at};
  tirc_sets_begin(r.sets, SETS_BUDGET);
  const ZMap instances = tirc_relation_of(&r, &all, &exact);
  switch (exact ? tirc_z_is_function(r.sets, tirc_z_reverse(r.sets, instances)) : ANSWER_UNKNOWN) {
  case ANSWER_YES: out.once = ONCE_YES; break;
  case ANSWER_NO:
    out.once = ONCE_NO;
    out.example = example(m, r.sets, instances);
    break;
  case ANSWER_UNKNOWN: break;
  }
  tirc_sets_end(r.sets);
  return out;
}
