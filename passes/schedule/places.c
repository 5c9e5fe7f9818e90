#include "places.h"

#include "between.h"
#include "internal.h"

static bool moves(const SRef *r) {
  return tirc_is_loop(r) && !tirc_is_int(tirc_loop_of(r)->extent, 1);
}

enum { MOST = 64, MOST_INNER = 16, MOST_OUTER = 4, UNKNOWN = 3, ALL = 256 };

static int64_t extent_of(const For *f) {
  int64_t extent;
  return tirc_const_int(f->extent, &extent) ? extent : UNKNOWN;
}

/* Whether all loops together have so few places that each is worth a look. */
static bool is_small(const SRef *around) {
  int64_t n = 1;
  for (const SRef *r = around; r && n <= ALL; r = r->parent) {
    const int64_t extent = moves(r) ? extent_of(tirc_loop_of(r)) : 1;
    n = extent > ALL ? extent : extent < 1 ? n : n * extent;
  }
  return n <= ALL;
}

bool tirc_are_all_places(const SRef *around) {
  int64_t extent;
  for (const SRef *r = around; r; r = r->parent)
    if (tirc_is_loop(r) && !tirc_const_int(tirc_loop_of(r)->extent, &extent)) return false;
  return is_small(around);
}

/* At how many places the moving loop number `depth` (0: the innermost) stands in combination with
 * all places of those inside of it, of which there are `stride`. */
static int width_of(const For *f, int depth, int stride, bool small) {
  const int64_t extent = extent_of(f);
  if (small) return extent < 1 ? 1 : (int)extent;
  int most = depth ? MOST_OUTER : MOST_INNER;
  if (most > MOST / stride) most = MOST / stride;
  return extent < 1 ? 1 : extent < most ? (int)extent : most;
}

int tirc_n_places(const SRef *around) {
  int n = 1, depth = 0;
  const bool small = is_small(around);
  for (const SRef *r = around; r; r = r->parent)
    if (moves(r)) n *= width_of(tirc_loop_of(r), depth++, n, small);
  return n;
}

/* The place, out of MOST_INNER, of a loop that is not combined with the others. */
static int scattered(int place, int depth) {
  const uint64_t mixed =
      (uint64_t)place * 0x9e3779b97f4a7c15u + (uint64_t)depth * 0xbf58476d1ce4e5b9u;
  return place ? (int)((mixed ^ mixed >> 29) * 0x94d049bb133111ebu >> 60) : 0;
}

static void bind(IndexEval *env, Expr var, Expr value, bool still) {
  if (!tirc_eval_bind(env, var, value) && still) tirc_eval_let_stand(env, var);
}

/* Number `k` of `n` places, from the start to the end. */
static PlaceState at_loop(IndexEval *env, const For *f, int k, int n, bool still) {
  int64_t min, extent;
  if (!tirc_eval_index(env, f->min, &min) || !tirc_eval_index(env, f->extent, &extent)) {
    if (still)
      tirc_eval_let_stand(env, f->var);
    else
      tirc_eval_forget(env, f->var);
    return PLACE_UNKNOWN;
  }
  if (extent > n && n > 1)
    tirc_eval_give(env, f->var,
                   min + k * (extent / (n - 1)) + (k == n - 1 ? extent % (n - 1) - 1 : 0));
  else
    tirc_eval_give(env, f->var, min + (extent > 0 ? k % extent : 0));
  return extent < 1 ? PLACE_EMPTY : PLACE_RUNS;
}

static PlaceState at_block(IndexEval *env, const SRef *r, bool still) {
  const Block *b = tirc_block_of(r);
  bool holds;
  const bool known = tirc_eval_condition(env, b->predicate, &holds);
  for (int i = 0; i < b->n_iters; i++) bind(env, b->iters[i].var, b->iter_values[i], still);
  if (known && !holds) return PLACE_EMPTY;
  return known ? PLACE_RUNS : PLACE_UNKNOWN;
}

/* What stands around a loop or block in its parent's body, and whether its conditions let that run.
 */
static PlaceState go_between(IndexEval *env, SRef *r, bool still) {
  PlaceState state = PLACE_RUNS;
  Steps steps = {0};
  bool holds;
  tirc_steps_between(env->c, r, &steps);
  for (int i = 0; i < steps.n; i++) {
    const struct StmtNode *s = steps.at[i].stmt;
    PlaceState own = s->kind == STMT_WHILE ? PLACE_UNKNOWN : PLACE_RUNS;
    if (s->kind == STMT_IF && !tirc_eval_condition(env, s->u.branch.cond, &holds))
      own = PLACE_UNKNOWN;
    else if (s->kind == STMT_IF && holds == steps.at[i].negated)
      own = PLACE_EMPTY;
    if (own > state) state = own;
    if (s->kind == STMT_LET) bind(env, s->u.let.var, s->u.let.value, still);
  }
  return state;
}

typedef struct Going {
  IndexEval *env;
  int place;
  bool still, small;
} Going;

static PlaceState go(const Going *to, SRef *r, int depth, int stride) {
  if (!r) return PLACE_RUNS;
  IndexEval *env = to->env;
  const int place = to->place;
  const bool moved = moves(r), still = to->still;
  const int width = moved ? width_of(tirc_loop_of(r), depth, stride, to->small) : 1;
  PlaceState outer = go(to, r->parent, depth + moved, stride * width), own;
  const PlaceState between = go_between(env, r, still);
  if (between > outer) outer = between;
  if (tirc_is_block(r))
    own = at_block(env, r, still);
  else if (width > 1)
    own = at_loop(env, tirc_loop_of(r), place / stride % width, width, still);
  else
    own = at_loop(env, tirc_loop_of(r), moved ? scattered(place, depth) : 0, MOST_INNER, still);
  return outer > own ? outer : own;
}

PlaceState tirc_go_to_place(IndexEval *env, SRef *around, int place, bool still) {
  const Going to = {env, place, still, is_small(around)};
  return go(&to, around, 0, 1);
}
