#include "places.h"

#include "internal.h"

static bool moves(const SRef *r) {
  return tirc_is_loop(r) && !tirc_is_int(tirc_loop_of(r)->extent, 1);
}

enum { MOST_EVEN = 16, MOST_ODD = 4, UNKNOWN = 3 };

/* At how many places the innermost loop and each second one from there stands, and the others. */
typedef struct Widths {
  int even, odd;
} Widths;

static Widths widths_of(const SRef *around) {
  Widths w = {1, 1};
  bool odd = false;
  for (const SRef *r = around; r; r = r->parent) {
    int64_t extent;
    if (!moves(r)) continue;
    if (!tirc_const_int(tirc_loop_of(r)->extent, &extent)) extent = UNKNOWN;
    int *width = odd ? &w.odd : &w.even;
    const int most = odd ? MOST_ODD : MOST_EVEN;
    if (extent > *width) *width = extent < most ? (int)extent : most;
    odd = !odd;
  }
  return w;
}

int tirc_n_places(const SRef *around) {
  const Widths w = widths_of(around);
  return w.even * w.odd;
}

static void give_unknown(IndexEval *env, Expr var, bool still) {
  if (still)
    tirc_eval_give(env, var, env->otherwise);
  else
    tirc_eval_forget(env, var);
}

/* Number `k` of `n` places, from the start to the end. */
static PlaceState at_loop(IndexEval *env, const For *f, int k, int n, bool still) {
  int64_t min, extent;
  if (!tirc_eval_index(env, f->min, &min) || !tirc_eval_index(env, f->extent, &extent)) {
    give_unknown(env, f->var, still);
    return PLACE_UNKNOWN;
  }
  if (extent > n && n > 1)
    tirc_eval_give(env, f->var,
                   min + k * (extent / (n - 1)) + (k == n - 1 ? extent % (n - 1) - 1 : 0));
  else
    tirc_eval_give(env, f->var, min + (k < extent ? k : extent - 1));
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
  return known ? PLACE_RUNS : PLACE_UNKNOWN;
}

/* Whether a condition or a let stands between it and what is around it. */
static bool stands_in_other(SRef *r) {
  return r->parent && tirc_body_of(r->parent->stmt) != r->stmt && tirc_item_index(r) < 0;
}

static PlaceState go(IndexEval *env, SRef *r, int place, Widths w, bool still, bool odd) {
  if (!r) return PLACE_RUNS;
  const bool moved = moves(r);
  const PlaceState outer = go(env, r->parent, place, w, still, odd != moved);
  const int k = !moved ? 0 : odd ? place / w.even : place % w.even;
  const PlaceState own = tirc_is_loop(r)
                             ? at_loop(env, tirc_loop_of(r), k, odd ? w.odd : w.even, still)
                             : at_block(env, r, still);
  if (own == PLACE_RUNS && outer == PLACE_RUNS && stands_in_other(r)) return PLACE_UNKNOWN;
  return outer > own ? outer : own;
}

PlaceState tirc_go_to_place(IndexEval *env, SRef *around, int place, bool still) {
  return go(env, around, place, widths_of(around), still, false);
}
