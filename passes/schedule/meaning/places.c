#include "places.h"

#include "passes/schedule/state/nodes.h"

static Place *outside(Tirc *c, Place *up, Place p) {
  p.outside = !up || !up->n_loops || p.kind == PLACE_LOOP;
  return tirc_place_further(c, up, p);
}

static Place *outside_when(Tirc *c, Place *up, Expr condition, bool negated) {
  if (tirc_is_true(condition) && !negated) return up;
  return outside(c, up, tirc_when_place(condition, negated));
}

static Place *outside_iter(Tirc *c, Place *up, const IterVar *iter) {
  return outside(c, up, tirc_loop_place(iter->var, iter->dom));
}

static Place everywhere(Tirc *c) { return tirc_when_place(tirc_bool(c, true), false); }

/* By what stands between a loop or block and what is around it. */
static Place *below_steps(Tirc *c, Place *at, SRef *r, bool in_nest) {
  const Steps steps = tirc_steps_between(c, r);
  for (int i = 0; i < steps.n; i++) {
    const struct StmtNode *s = steps.at[i].stmt;
    const Expr cond = s->kind == STMT_IF ? s->u.branch.cond : NULL;
    if (cond) at = (in_nest ? tirc_place_when : outside_when)(c, at, cond, steps.at[i].negated);
    if (s->kind == STMT_LET)
      at = (in_nest ? tirc_place_further : outside)(c, at,
                                                    tirc_bind_place(s->u.let.var, s->u.let.value));
    if (s->kind == STMT_WHILE && (in_nest || (at && at->n_loops)))
      at = tirc_place_further(c, at, (Place){.kind = PLACE_REPEAT});
  }
  return at;
}

static Place *around(Tirc *c, SRef *r, const PtrMap *moves);

/* In a loop or block, and in what is around it, from the function's root on; of the nest are the
 * loops in `moves`, or none. */
static Place *within(Tirc *c, SRef *r, const PtrMap *moves) {
  Place *at = around(c, r, moves);
  if (tirc_is_loop(r)) {
    const Place loop = tirc_loop_place(tirc_loop_of(r)->var, tirc_loop_range(tirc_loop_of(r)));
    return moves && tirc_map_has(moves, r) ? tirc_place_further(c, at, loop) : outside(c, at, loop);
  }
  const Block *b = tirc_block_of(r);
  at = outside_when(c, at, b->predicate, false);
  for (int i = 0; i < b->n_iters; i++) {
    at = outside_iter(c, at, &b->iters[i]);
    at = outside_when(c, at, tirc_eq(c, b->iters[i].var, b->iter_values[i]), false);
  }
  return at;
}

static Place *around(Tirc *c, SRef *r, const PtrMap *moves) {
  if (!r->parent) return outside(c, NULL, everywhere(c));
  return below_steps(c, within(c, r->parent, moves), r, false);
}

Place *tirc_place_around(Tirc *c, SRef *in) { return around(c, in, NULL); }

Place *tirc_place_in(Tirc *c, SRef *in) {
  return tirc_place_further(c, within(c, in, NULL), everywhere(c));
}

Place *tirc_place_below(Tirc *c, Place *in, const SRef *where, SRef *r) {
  Place *at = in;
  if (r->parent != where)
    at = tirc_place_loop(c, tirc_place_below(c, in, where, r->parent), tirc_loop_of(r->parent));
  return below_steps(c, at, r, true);
}

Place *tirc_place_of_instance(Tirc *c, SRef *block) {
  const Block *b = tirc_block_of(block);
  Place *at = outside(c, NULL, everywhere(c));
  for (int i = 0; i < b->n_iters; i++) at = outside_iter(c, at, &b->iters[i]);
  return at;
}

void tirc_extract_nest(Extract *x, int n, SRef *const *chain) {
  Place *at = tirc_place_around(x->c, chain[0]);
  for (int i = 0; i < n; i++) at = tirc_place_loop(x->c, at, tirc_loop_of(chain[i]));
  tirc_extract(x, at, NULL, NULL, chain[n - 1]->stmt, tirc_loop_of(chain[n - 1])->body);
}

void tirc_extract_block(Extract *x, SRef *block, const PtrMap *moves) {
  tirc_extract(x, around(x->c, block, moves), NULL, NULL, NULL, block->stmt);
}

Plain tirc_plain_blocks(Sched *s, SRefs blocks) {
  Plain p = {0};
  for (int i = 0; i < blocks.n; i++) tirc_add_plain_block(s->c, blocks.at[i]->stmt, &p);
  return p;
}

/* --- relations -------------------------------------------------------------------------------- */

Sets *tirc_sets_of(Sched *s) {
  if (!s->sets) s->sets = tirc_sets_new(s->c);
  return s->sets;
}

static bool changes(const Relations *r, Expr e) { return tirc_loads_change(r->state, r->nest, e); }

const Relations *tirc_relations_in(Sched *s, SRef *nest) {
  Relations *r = tirc_new(s->c, Relations);
  *r = (Relations){.c = s->c,
                   .sets = tirc_sets_of(s),
                   .changes = changes,
                   .state = s,
                   .nest = nest,
                   .func = s->mod->funcs[nest->func]};
  return r;
}
