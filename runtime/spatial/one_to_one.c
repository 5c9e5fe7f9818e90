/* Does each instance of the statement run once, on one element and at one stamp, or one after the
 * other within it? The loops of a mapping are just that: those of the array tell the element (a
 * skew only moves its stamps), those outside tell the stamp, those inside which of a stamp's
 * instances it is. An instance is what the iterators of all blocks around the statement are, and
 * the loops inside of these blocks. So the mapping is one-to-one, up to ties, where no two runs of
 * the loops bind these alike. For all sizes of the program, by integer sets. */
#include "spatial.h"

#include "ir/tree/find.h"
#include "ir/tree/visit.h"
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

typedef struct Naming {
  Tirc *c;
  PtrMap own; /* variables that tell instances apart */
} Naming;

static bool see_iters(Visitor *v, Stmt s) {
  Naming *k = v->self;
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_iters; i++)
    tirc_map_set(k->c, &k->own, s->u.block.iters[i].var, k);
  return true;
}

static bool see_loops(Visitor *v, Stmt s) {
  Naming *k = v->self;
  if (s->kind == STMT_FOR) tirc_map_set(k->c, &k->own, s->u.loop.var, k);
  return true;
}

typedef struct Instance {
  VEC(Expr) is;
  PtrMap others; /* of what is around the statement: loops and names that are no part of it */
} Instance;

static Instance instance_of(const Mapping *m) {
  Naming k = {.c = m->c};
  Instance out = {0};
  tirc_visit_stmts(m->nest, see_iters, &k);
  tirc_visit_stmts(m->inner->u.block.body, see_loops, &k);
  for (const Place *p = m->at; p; p = p->up) {
    if (!p->var) continue;
    if (tirc_map_has(&k.own, p->var))
      vec_push(m->c, out.is, p->var);
    else
      tirc_map_set(m->c, &out.others, p->var, p->var);
  }
  return out;
}

OneToOne tirc_mapping_once(const Mapping *m, const Func *f) {
  OneToOne out = {ONCE_UNKNOWN, NULL};
  bool exact = true;
  if (!m->inner) return (OneToOne){ONCE_YES, NULL}; /* each iteration is an instance of its own */
  const Instance own = instance_of(m);
  Relations r = {.c = m->c, .sets = tirc_sets_new(m->c), .func = f};
  const Touch all = {.n = own.is.n, .indices = own.is.at, .at = m->at};
  tirc_sets_begin(r.sets, SETS_BUDGET);
  const ZMap instances = tirc_relation_of(&r, &all, &exact);
  switch (exact ? tirc_z_is_function(r.sets, tirc_z_reverse(r.sets, instances)) : ANSWER_UNKNOWN) {
  case ANSWER_YES: out.once = ONCE_YES; break;
  case ANSWER_NO:
    /* A block that takes what its iterators do not say may mean an instance for each of these. */
    if (tirc_stmt_uses_any(m->inner->u.block.body, &own.others)) break;
    out.once = ONCE_NO;
    out.example = example(m, r.sets, instances);
    break;
  case ANSWER_UNKNOWN: break;
  }
  tirc_sets_end(r.sets);
  return out;
}
