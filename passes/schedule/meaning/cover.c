#include "cover.h"

#include "finite.h"
#include "ir/tree/views.h"
#include "passes/schedule/state/nodes.h"
#include "witness.h"
#include "written_box.h"

enum { BUDGET = 30000 };

/* Something is touched, for sure, and something is to be. */
typedef struct Cover {
  Sched *s;
  Buffer of;
  Extract x;
  Relations r;
  Place *in; /* where the box is */
  Touch box;
} Cover;

static bool is_wanted(void *self, Buffer b) { return ((const Cover *)self)->of == b; }

static Cover cover(Sched *s, SRef *nest, Place *in, Buffer of) {
  Cover q = {.s = s, .of = of, .in = in};
  q.r = (Relations){.s = s, .sets = tirc_sets_of(s), .nest = nest};
  q.x = (Extract){.s = s, .wants = is_wanted, .trusts_calls = true};
  return q;
}

static void box_of_ranges(Cover *q, int n, const Range *dims, const Expr *clip) {
  Tirc *c = q->s->c;
  Expr *from = tirc_new_array(c, Expr, n + 1), *extents = tirc_new_array(c, Expr, n + 1);
  for (int d = 0; d < n; d++) {
    from[d] = dims[d].min;
    extents[d] = dims[d].extent;
    if (!clip || (tirc_is_int(from[d], 0) && tirc_expr_same(extents[d], clip[d]))) continue;
    const Expr end = tirc_min(c, tirc_add(c, from[d], extents[d]), clip[d]);
    from[d] = tirc_max(c, from[d], tirc_int(c, from[d]->dtype, 0));
    extents[d] = tirc_sub(c, end, from[d]);
  }
  q->box = (Touch){
      .buffer = q->of, .n = n, .indices = from, .extents = extents, .surely = true, .at = q->in};
}

/* The condition behind which it is not known whether a touch is reached, if there is one alone. */
static Place *open_condition(const Touch *t) {
  Place *p = t->at;
  while (p->up && !p->up->is_exact) p = p->up;
  return !p->is_exact && p->kind == PLACE_WHEN && !p->outside ? p : NULL;
}

/* The same place, where the condition at p does not matter. */
static Place *without(Tirc *c, const Place *at, const Place *p) {
  Place *out = tirc_new(c, Place);
  *out = *at;
  out->is_known = false;
  out->reached = NULL;
  if (at != p) {
    out->up = without(c, at->up, p);
  } else {
    out->a = tirc_bool(c, true);
    out->negated = false;
  }
  return out;
}

/* What is touched in both branches of a condition that is not known, in each iteration. */
static ZMap either(Cover *q, const Place *p) {
  Sets *z = q->r.sets;
  const int n = p->n_loops;
  ZMap by[2] = {tirc_z_empty(z, n, q->box.n), tirc_z_empty(z, n, q->box.n)};
  for (int i = 0; i < q->x.touches.n; i++) {
    Touch t = q->x.touches.at[i];
    const Place *own = open_condition(&t);
    bool known = true;
    if (!t.write || !own || own->a != p->a || own->up != p->up) continue;
    t.at = without(q->s->c, t.at, own);
    const ZMap one = tirc_relation_of(&q->r, &t, &known);
    if (known)
      by[own->negated] =
          tirc_z_union(z, by[own->negated], tirc_z_drop_in(z, one, n, t.at->n_loops - n));
  }
  return tirc_z_drop_in(z, tirc_z_meet(z, by[0], by[1]), 0, n);
}

/* In the loops that it needs. */
static Touch thin(Tirc *c, Touch t) {
  PtrMap used = {0};
  for (int d = 0; d < t.n; d++) {
    tirc_add_used(c, t.indices[d], &used);
    tirc_add_used(c, t.extents ? t.extents[d] : NULL, &used);
  }
  t.at = tirc_place_of_used(c, t.at, &used, false);
  return t;
}

static ZMap touched(Cover *q, bool *exact) {
  Sets *z = q->r.sets;
  ZMap all = tirc_z_empty(z, 0, q->box.n);
  for (int i = 0; i < q->x.touches.n; i++) {
    const Touch one_touch = thin(q->s->c, q->x.touches.at[i]), *t = &one_touch;
    bool known = true;
    const ZMap one = t->write ? tirc_relation_of(&q->r, t, &known) : NULL;
    const Place *open = t->write && !known ? open_condition(t) : NULL;
    if (t->write && known) all = tirc_z_union(z, all, tirc_z_drop_in(z, one, 0, t->at->n_loops));
    if (open && !open->negated) all = tirc_z_union(z, all, either(q, open));
    *exact &= known;
  }
  return all;
}

static const char *text_of(const Cover *q, const ZPoint *p) {
  Text t = {.c = q->s->c};
  tirc_text_add(&t, tirc_element_text(q->s->c, q->of, p->n_out, p->out));
  for (int i = 0; i < p->n_params; i++)
    tirc_text_addf(&t, "%s%s = %lld", i ? ", " : " for ", tirc_param_text(&q->r, p->params[i]),
                   (long long)p->of_params[i]);
  return t.at;
}

/* For more cases than there are, where what is around is not known exactly. */
static Answer ask(Cover *q, const char **missing) {
  Sets *z = q->r.sets;
  ZPoint p;
  tirc_reached(&q->r, q->in);
  bool exact = q->in->is_exact;
  q->in->is_exact = true;
  const ZMap there = touched(q, &exact), asked = tirc_relation_of(&q->r, &q->box, &exact);
  const Answer answer = tirc_z_is_subset(z, asked, there);
  if (answer != ANSWER_NO) return answer;
  exact = exact && !q->r.symbols.n;
  if (!exact || !tirc_z_sample(z, tirc_z_minus(z, asked, there), &p)) return ANSWER_UNKNOWN;
  *missing = text_of(q, &p);
  return ANSWER_NO;
}

static bool covers(Cover *q, const char **missing) {
  const ArenaMark mark = tirc_mark(q->s->c);
  *missing = NULL;
  tirc_sets_begin(q->r.sets, BUDGET);
  tirc_leave_out_common(&q->r, &q->x.touches, &q->box);
  Answer answer = ask(q, missing);
  if (answer == ANSWER_NO) { /* with all indices, for what is missing is told */
    q->r.common = (PtrMap){0};
    answer = ask(q, missing);
  }
  tirc_sets_end(q->r.sets);
  const bool all = answer == ANSWER_YES ||
                   (answer == ANSWER_UNKNOWN && tirc_finite_cover(q->s, &q->x, &q->box, missing));
  if (all) tirc_rewind(q->s->c, mark);
  return all;
}

const char *tirc_missing_text(Tirc *c, const char *missing) {
  return missing ? tirc_format(c, "%s is left out", missing) : "not provable";
}

/* --- elements --------------------------------------------------------------------------------- */

/* All the time where `in` is. */
static bool part_writes(Sched *s, SRef *block, Place *in, Stmt part, const Region *box) {
  const char *missing;
  Cover q = cover(s, block, in, box->buffer);
  q.x.self = &q;
  const Stmt plain = tirc_without_views(s->c, block->stmt);
  const Stmt body = part == tirc_block_of(block)->body ? plain->u.block.body : part;
  tirc_extract_stmt(&q.x, q.in, block, plain, body);
  box_of_ranges(&q, box->buffer->ndim, box->dims, box->buffer->shape);
  return covers(&q, &missing);
}

/* Numbers of the loops around are many, and seldom needed. */
static bool part_writes_box(Sched *s, SRef *block, Stmt part, const Region *box) {
  return tirc_sees_written(part, box) ||
         part_writes(s, block, tirc_place_of_instance(s, block), part, box) ||
         part_writes(s, block, tirc_place_in(s, block), part, box);
}

bool tirc_writes_box(Sched *s, SRef *block, const Region *box) {
  return part_writes_box(s, block, tirc_block_of(block)->body, box);
}

bool tirc_nest_writes_box(Sched *s, SRef *block, SRef *within, Expr condition, const Region *box,
                          const char **missing) {
  const char *unused;
  const Region *declared = tirc_declared_write(tirc_block_of(block), box->buffer);
  if (tirc_sees_nest_written(s, block, within, condition, box) &&
      tirc_writes_box(s, block, declared))
    return true;
  Cover q = cover(s, block, tirc_place_in(s, within), box->buffer);
  q.x.self = &q;
  q.in = tirc_place_when(s->c, q.in, condition, false);
  tirc_extract_stmt(&q.x, tirc_place_below(s->c, q.in, within, block), block, NULL,
                    tirc_without_views(s->c, block->stmt));
  box_of_ranges(&q, box->buffer->ndim, box->dims, box->buffer->shape);
  return covers(&q, missing ? missing : &unused);
}

/* --- instances -------------------------------------------------------------------------------- */

static bool is_of(const PtrMap *of, Expr var) { return !of || tirc_map_has(of, var); }

bool tirc_reaches_domain(Sched *s, SRef *block, const PtrMap *of, const char **missing) {
  if (tirc_sees_domain_reached(s, block)) return true;
  Tirc *c = s->c;
  const char *unused;
  if (!missing) missing = &unused;
  *missing = NULL;
  if (tirc_loop_of_domain(block)) return false; /* what all is, depends on when */
  const Block *b = tirc_block_of(block);
  SRef *scope = tirc_scope_root(s, block);
  struct BufferNode instances = {.name = b->name};
  Cover q = cover(s, scope, tirc_place_in(s, scope), &instances);
  Touch run = {.buffer = q.of, .write = true};
  Expr *values = tirc_new_array(c, Expr, b->n_iters + 1);
  Range *doms = tirc_new_array(c, Range, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) {
    if (!is_of(of, b->iters[i].var)) continue;
    values[run.n] = b->iter_values[i];
    doms[run.n++] = b->iters[i].dom;
  }
  instances.ndim = run.n;
  run.indices = values;
  run.at = tirc_place_when(c, tirc_place_below(c, q.in, scope, block), b->predicate, false);
  vec_push(c, q.x.touches, run);
  box_of_ranges(&q, run.n, doms, NULL);
  return covers(&q, missing);
}

/* --- predicates ------------------------------------------------------------------------------- */

static ZMap as_map(Cover *q, Place *p) {
  return tirc_z_map(q->r.sets, tirc_reached(&q->r, p), 0, NULL, NULL);
}

bool tirc_domain_implies_predicate(Sched *s, SRef *block) {
  if (tirc_sees_domain_implies_predicate(s, block)) return true;
  Tirc *c = s->c;
  const ArenaMark mark = tirc_mark(c);
  const Block *b = tirc_block_of(block);
  SRef *scope = tirc_scope_root(s, block);
  Cover q = cover(s, scope, tirc_place_in(s, scope), NULL);
  Place *in = tirc_place_below(c, q.in, scope, block);
  for (int i = 0; i < b->n_iters; i++) {
    const Range dom = b->iters[i].dom;
    in = tirc_place_when(c, in, tirc_binary(c, OP_LE, dom.min, b->iter_values[i]), false);
    in = tirc_place_when(c, in, tirc_lt(c, b->iter_values[i], tirc_add(c, dom.min, dom.extent)),
                         false);
  }
  Place *where = tirc_place_when(c, in, b->predicate, false);
  tirc_sets_begin(q.r.sets, BUDGET);
  const ZMap domain = as_map(&q, in);
  in->is_exact = true;
  const ZMap both = as_map(&q, where);
  const bool implied = where->is_exact && tirc_z_is_subset(q.r.sets, domain, both) == ANSWER_YES;
  tirc_sets_end(q.r.sets);
  tirc_rewind(c, mark);
  return implied;
}
