/* Index maps in which a digit is turned by the other indices, as in the layouts that keep the
 * columns of a tile in different banks:
 *
 *   (i, (j // 8 ^ i % 8) * 8 + j % 8)        (i, (j + i) % 12)
 *
 * Without the turn these are sums of splits, here (i, j // 8, j % 8) and (i, j), which
 * index_inverse.c inverts. The turn changes nothing but the digit, and what it turns by follows
 * from the other indices of the result; so the digit follows, too, turned back. An exclusive or
 * keeps a digit among its numbers where these are a power of two and what it is turned by is one of
 * them. */
#include "layout.h"

enum { MOST_TURNS = 3 };

/* An index (turned digit) * unit + low + high * n * unit; its parts are indices of their own
 * without turns. */
typedef struct Turn {
  int output, first; /* which one of the map; where its high, digit and low are without turns */
  Op op;             /* OP_BITWISE_XOR, or OP_ADD around n */
  Expr digit, by, rest;
  int64_t n, unit; /* the digit has the numbers from 0 to n - 1 */
} Turn;

typedef struct Turned {
  Tirc *c;
  Analyzer *a; /* knows the inputs */
  const IndexMap *map;
  int n;
  Turn turns[MOST_TURNS];
  IndexMap without;
} Turned;

/* --- the map without turns -------------------------------------------------------------------- */

/* How many numbers the digit has: what it is taken around, or the power of two that bounds it. */
static bool count_digit(const Turned *w, Expr around, Turn *t) {
  const Bound all = tirc_const_bound(w->a, t->digit), by = tirc_const_bound(w->a, t->by);
  if (all.min < 0 || all.max > INT32_MAX) return false;
  if (around) return tirc_const_int(around, &t->n) && all.max < t->n;
  for (t->n = 1; t->n <= all.max;) t->n *= 2;
  return by.min >= 0 && by.max < t->n;
}

/* second: the digit is the right operand. */
static bool is_turn(const Turned *w, Expr e, bool second, Turn *t) {
  const bool around = e->op == OP_FLOORMOD && e->args[0]->op == OP_ADD;
  if (e->op != OP_BITWISE_XOR && !around) return false;
  const Expr both = around ? e->args[0] : e;
  t->op = around ? OP_ADD : OP_BITWISE_XOR;
  t->digit = both->args[second];
  t->by = both->args[!second];
  t->unit = 1;
  t->rest = tirc_int(w->c, e->dtype, 0);
  return count_digit(w, around ? e->args[1] : NULL, t);
}

static bool find_turn(const Turned *w, Expr e, bool second, Turn *t) {
  int64_t k;
  if (is_turn(w, e, second, t)) return true;
  if (e->op == OP_MUL && tirc_const_int(e->args[1], &k) && k > 0 && k <= INT32_MAX &&
      find_turn(w, e->args[0], second, t) && t->unit == 1) {
    t->unit = k;
    t->rest = tirc_mul(w->c, t->rest, e->args[1]);
    return true;
  }
  for (int i = 0; e->op == OP_ADD && i < 2; i++) {
    if (!find_turn(w, e->args[i], second, t)) continue;
    t->rest = tirc_add(w->c, t->rest, e->args[1 - i]);
    return true;
  }
  return false;
}

/* What stands beside the digit, in units of n * unit, and below the unit. */
static bool add_parts(Turned *w, const Turn *t, Expr *out) {
  Tirc *c = w->c;
  const DType type = t->digit->dtype;
  const Expr all = tirc_int(c, type, t->n * t->unit);
  out[0] = tirc_simplify(w->a, tirc_floordiv(c, t->rest, all));
  out[1] = t->digit;
  out[2] = tirc_simplify(w->a, tirc_floormod(c, t->rest, all));
  return tirc_const_bound(w->a, out[2]).max < t->unit;
}

/* False: no index turns, or it is not known to be one of those above. */
static bool take_turns(Turned *w, unsigned second) {
  Tirc *c = w->c;
  int n = 0;
  Expr *outputs = tirc_new_array(c, Expr, w->map->n_outputs + 2 * MOST_TURNS + 1);
  w->n = 0;
  for (int i = 0; i < w->map->n_outputs; i++) {
    Turn t = {.output = i, .first = n};
    if (w->n == MOST_TURNS || !find_turn(w, w->map->outputs[i], second >> w->n & 1, &t)) {
      outputs[n++] = w->map->outputs[i];
      continue;
    }
    if (!add_parts(w, &t, outputs + n)) return false;
    n += 3;
    w->turns[w->n++] = t;
  }
  w->without = (IndexMap){
      .n_inputs = w->map->n_inputs, .inputs = w->map->inputs, .n_outputs = n, .outputs = outputs};
  return w->n > 0;
}

/* --- turned back ------------------------------------------------------------------------------ */

static bool uses_digits(const Turned *w, const InverseMap *inverse, Expr e) {
  for (int i = 0; i < w->n; i++)
    if (tirc_uses_var(e, inverse->vars[w->turns[i].first + 1])) return true;
  return false;
}

/* What a digit is turned by, from the other indices; NULL: it takes a digit. */
static Expr turned_by(const Turned *w, const InverseMap *inverse, const Turn *t) {
  PtrMap inputs = {0};
  for (int i = 0; i < w->map->n_inputs; i++)
    tirc_map_set(w->c, &inputs, w->map->inputs[i], inverse->indices[i]);
  Expr by = tirc_simplify(tirc_analyzer(w->c), tirc_substitute(w->c, t->by, &inputs));
  return uses_digits(w, inverse, by) ? NULL : by;
}

/* The parts of an index of the result, `by` of other ones. */
static void take_apart(const Turned *w, const InverseMap *inverse, const Turn *t, Expr index,
                       Expr by, PtrMap *parts) {
  Tirc *c = w->c;
  const Expr n = tirc_int(c, index->dtype, t->n), unit = tirc_int(c, index->dtype, t->unit);
  const Expr digit = tirc_floormod(c, tirc_floordiv(c, index, unit), n);
  const Expr back = t->op == OP_ADD
                        ? tirc_floormod(c, tirc_sub(c, digit, by), n)
                        : tirc_expr(c, OP_BITWISE_XOR, index->dtype, 2, (Expr[]){digit, by});
  tirc_map_set(c, parts, inverse->vars[t->first], tirc_floordiv(c, index, tirc_mul(c, n, unit)));
  tirc_map_set(c, parts, inverse->vars[t->first + 1], back);
  tirc_map_set(c, parts, inverse->vars[t->first + 2], tirc_floormod(c, index, unit));
}

/* The inverse of the map from the one without turns. */
static bool turn_back(const Turned *w, const InverseMap *without, InverseMap *out) {
  Tirc *c = w->c;
  const int n = w->map->n_outputs;
  Expr *vars = tirc_new_array(c, Expr, n + 1);
  Expr *indices = tirc_new_array(c, Expr, w->map->n_inputs + 1);
  PtrMap others = {0}, parts = {0};
  for (int i = 0, k = 0, turn = 0; i < n; i++) {
    vars[i] = tirc_var(c, tirc_format(c, "axis%d", i), w->map->outputs[i]->dtype);
    const bool turns = turn < w->n && w->turns[turn].output == i;
    if (!turns) tirc_map_set(c, &parts, without->vars[k], vars[i]);
    if (turns)
      take_apart(w, without, &w->turns[turn], vars[i], tirc_int(c, vars[i]->dtype, 0), &parts);
    k += turns ? 3 : 1;
    turn += turns;
  }
  others = parts;
  for (int i = 0; i < w->n; i++) {
    const Expr by = turned_by(w, without, &w->turns[i]);
    if (!by) return false;
    take_apart(w, without, &w->turns[i], vars[w->turns[i].output], tirc_substitute(c, by, &others),
               &parts);
  }
  Analyzer *plain = tirc_analyzer(c);
  for (int i = 0; i < w->map->n_inputs; i++)
    indices[i] = tirc_simplify(plain, tirc_substitute(c, without->indices[i], &parts));
  *out = (InverseMap){vars, indices,
                      tirc_simplify(plain, tirc_substitute(c, without->padding, &parts)), false};
  return true;
}

/* Without turns a digit must have all its numbers, and some have no place of their own otherwise.
 */
static bool is_whole(const Turned *w, Sched *s, Analyzer *a, const Expr *shape) {
  const Expr *extents = tirc_map_shape(s, a, &w->without, shape);
  for (int i = 0; i < w->n; i++) {
    const Turn *t = &w->turns[i];
    int64_t digits, lows;
    if (!tirc_const_int(extents[t->first + 1], &digits) || digits != t->n ||
        !tirc_const_int(extents[t->first + 2], &lows) || lows != t->unit)
      return false;
  }
  return true;
}

bool tirc_invert_turned(Sched *s, const SRef *block, const IndexMap *map, const Expr *shape,
                        InverseMap *out) {
  Turned w = {.c = s->c, .a = tirc_analyzer(s->c), .map = map};
  for (int i = 0; i < map->n_inputs; i++)
    tirc_bind_range(w.a, map->inputs[i], tirc_from_zero(s->c, shape[i]));
  for (unsigned second = 0; second < 1 << MOST_TURNS; second++) {
    InverseMap without;
    const bool takes = take_turns(&w, second);
    if (second >> w.n) return false;
    if (takes && !tirc_invert_map(s, block, &w.without, shape, false, &without) &&
        is_whole(&w, s, tirc_analyzer_of_shapes(s, block), shape) && turn_back(&w, &without, out))
      return true;
  }
  return false;
}
