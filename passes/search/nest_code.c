/* What machine code makes of the loops around a store, as the estimate has it: which ones are
 * written out, which one becomes vectors, and what waits for the turn before. */
#include "nest.h"

#include "ir/tree/visit.h"

#include <math.h>

/* Cycles: an addition that waits for the last one, one that waits for the last one's store, an
 * instruction, exp and its like, a quotient of indices. */
static const double LATENCY = 4, FORWARD = 8, INSTRUCTION = 0.3, FUNCTION = 14, QUOTIENT = 4;
/* Instructions that are under way at a time; of a body that the code generator writes out; values
 * that stay in registers over a loop; additions to one element whose end is foreseen. */
static const double WINDOW = 256, WRITTEN_OUT = 150, HELD = 14, FORESEEN = 48;
enum { MANY = 64 }; /* copies of a body */

double tirc_extent_of(const For *f) {
  int64_t n;
  return tirc_const_int(f->extent, &n) ? (double)(n > 0 ? n : 0) : (double)UNKNOWN;
}

const For *tirc_innermost(const Nest *n) { return n->n ? n->loops[n->n - 1] : NULL; }

/* Whether an access goes on by one element, or stays where it is. */
static bool is_close(const Touch *a, int l) {
  return (a->stride[l] == 0 || a->stride[l] == 1) && !a->bends[l];
}

/* Vectors of n elements, and what is left of them in short ones and one by one. */
static double pieces(double n, double lanes) {
  const double rest = lanes > 1 ? fmod(n, lanes) : n;
  return lanes <= 1 ? n : floor(n / lanes) + (lanes > 4 ? floor(rest / 4) + fmod(rest, 4) : rest);
}

static double widest(const Touches *t) { return t->at[0].bytes ? 32.0 / t->at[0].bytes : 1; }

/* Whether what is stored is what was there, and something more. */
static bool is_update(const Touches *t) {
  for (int a = 1; a < t->n; a++)
    if (t->at[a].buffer == t->at[0].buffer && t->at[a].again) return true;
  return false;
}

/* Loops that are vectorized, or unrolled, and short ones inside; an init that several loops of a
 * sum decide on is worth more, since it goes. */
static int written_out_from(const Nest *n, const Touches *t) {
  double instructions = t->n + t->ops + 1 - (is_update(t) ? 2 : 0);
  int l = n->n;
  for (; l > 0; l--) {
    const For *f = n->loops[l - 1];
    const bool is_short = instructions * tirc_extent_of(f) <= WRITTEN_OUT * (n->splits_sum ? 2 : 1);
    if (f->kind == LOOP_VECTORIZED) continue;
    if (f->kind != LOOP_UNROLLED && (f->kind != LOOP_SERIAL || !is_short)) break;
    if (f->kind == LOOP_UNROLLED && tirc_extent_of(f) > (double)MANY) break;
    instructions *= tirc_extent_of(f);
  }
  return l;
}

/* How many instances of the loop around what is written out run side by side: the code generator's
 * vectors go along one element after the other, and not through functions. */
static double lanes_around(const Nest *n, const Touches *t, int from) {
  const For *f = from ? n->loops[from - 1] : NULL;
  if (!f || f->kind == LOOP_UNROLLED || (f->kind == LOOP_PARALLEL && n->threads > 1)) return 1;
  const bool goes_on = t->at[0].stride[from - 1] == 1 || t->at[0].fresh[from - 1];
  if (t->functions > 0 || !goes_on) return 1;
  for (int l = from - 1; n->guard && l < n->n; l++)
    if (tirc_uses_var(n->guard, n->loops[l]->var)) return 1;
  for (int l = from; l < n->n; l++)
    if (n->loops[l]->kind == LOOP_VECTORIZED || (t->at[0].stride[l] != 0 && !t->at[0].own))
      return 1;
  for (int a = 0; a < t->n; a++)
    if (!is_close(&t->at[a], from - 1)) return 1;
  return tirc_extent_of(f) > 0 ? tirc_extent_of(f) / pieces(tirc_extent_of(f), widest(t)) : 1;
}

/* Along a vector it runs once for all lanes, unless its elements are apart. */
double tirc_nest_copies(const Nest *n, const Touches *t, int from, const Touch *move) {
  double times = 1;
  for (int l = from; l < n->n; l++) {
    const double extent = tirc_extent_of(n->loops[l]);
    if (move && move->stride[l] == 0) continue;
    const bool is_vector = n->loops[l]->kind == LOOP_VECTORIZED && t->at[0].stride[l] == 1 &&
                           (!move || move->stride[l] == 1);
    times *= is_vector ? ceil(extent / widest(t)) : extent;
  }
  return times;
}

/* Of a turn. Accesses that do not move in the loop around stay in registers, as many as there are.
 */
static double count_accesses(const Nest *n, const Touches *t, int from, double turns) {
  double held = 0, moving = 0;
  for (int a = 0; a < t->n; a++) {
    const bool bends = from && t->at[a].bends[from - 1];
    const bool stays = from && t->at[a].stride[from - 1] == 0 && !bends;
    const double times = t->at[a].own ? 0 : tirc_nest_copies(n, t, from, &t->at[a]);
    *(stays ? &held : &moving) += t->at[a].again && stays ? 0 : times;
    if (bends) moving += times * QUOTIENT / INSTRUCTION;
  }
  return moving + (held <= HELD ? held / turns : held);
}

/* Cycles of a turn that waits: additions to one element follow each other. Where they end before
 * the window does, others have begun, unless nobody foresees the end. */
static double count_waits(const Nest *n, const Touches *t, int from, double instructions) {
  const Touch *sum = &t->at[0];
  double chain = t->ops > 1 ? LATENCY : LATENCY - 1, turns = 1, length;
  int l = n->n;
  if (!is_update(t)) return 0;
  for (; l > from; l--)
    if (sum->stride[l - 1] == 0 && !sum->fresh[l - 1]) chain *= tirc_extent_of(n->loops[l - 1]);
  length = chain / LATENCY;
  for (; l > 0 && sum->stride[l - 1] == 0 && !sum->fresh[l - 1]; l--) {
    if (sum->bends[l - 1]) return chain + FORWARD;
    turns *= tirc_extent_of(n->loops[l - 1]);
  }
  if (turns > 1 && turns * length > FORESEEN) return chain;
  return chain / (1 + WINDOW / fmax(1, turns * instructions));
}

Code tirc_nest_code(const Nest *n, const Touches *t) {
  Code k = {.from = written_out_from(n, t)};
  k.lanes = lanes_around(n, t, k.from);
  const double each = tirc_nest_copies(n, t, k.from, NULL);
  const double turns = k.from ? tirc_extent_of(n->loops[k.from - 1]) / k.lanes : 1;
  const double instructions = count_accesses(n, t, k.from, fmax(1, turns)) + t->ops * each;
  k.work = INSTRUCTION * instructions + FUNCTION * t->functions * each;
  k.waits = count_waits(n, t, k.from, instructions + t->functions * each * FUNCTION * 2);
  return k;
}
