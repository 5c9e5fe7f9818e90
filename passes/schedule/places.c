#include "places.h"

#include "internal.h"

static bool moves(const SRef *r) {
  return tirc_is_loop(r) && !tirc_is_int(tirc_loop_of(r)->extent, 1);
}

int tirc_n_places(const SRef *around) {
  int n = 1;
  for (const SRef *r = around; r && n < 9; r = r->parent)
    if (moves(r)) n *= 3;
  return n;
}

static void give_unknown(IndexEval *env, Expr var, bool still) {
  if (still)
    tirc_eval_give(env, var, env->otherwise);
  else
    tirc_eval_forget(env, var);
}

static PlaceState at_loop(IndexEval *env, const For *f, int third, bool still) {
  int64_t min, extent;
  if (!tirc_eval_index(env, f->min, &min) || !tirc_eval_index(env, f->extent, &extent)) {
    give_unknown(env, f->var, still);
    return PLACE_UNKNOWN;
  }
  tirc_eval_give(env, f->var, min + (third == 0 ? 0 : third == 1 ? extent / 2 : extent - 1));
  return extent < 1 ? PLACE_EMPTY : PLACE_RUNS;
}

static PlaceState at_block(IndexEval *env, const SRef *r, bool still) {
  const Block *b = tirc_block_of(r);
  int64_t value, holds;
  const bool known = tirc_eval_index(env, b->predicate, &holds);
  for (int i = 0; i < b->n_iters; i++)
    if (tirc_eval_index(env, b->iter_values[i], &value))
      tirc_eval_give(env, b->iters[i].var, value);
    else
      give_unknown(env, b->iters[i].var, still);
  if (known && !holds) return PLACE_EMPTY;
  return known && !r->scope->loose ? PLACE_RUNS : PLACE_UNKNOWN;
}

static PlaceState go(IndexEval *env, const SRef *r, int place, bool still, bool odd) {
  if (!r) return PLACE_RUNS;
  const bool moved = moves(r);
  const PlaceState outer = go(env, r->parent, place, still, odd != moved);
  const int third = !moved ? 0 : odd ? place / 3 : place % 3;
  const PlaceState own =
      tirc_is_loop(r) ? at_loop(env, tirc_loop_of(r), third, still) : at_block(env, r, still);
  return outer > own ? outer : own;
}

PlaceState tirc_go_to_place(IndexEval *env, const SRef *around, int place, bool still) {
  return go(env, around, place, still, false);
}
