/* Statements with bounds. Where it is not decided which way is taken, both run: the one that the
 * values take, and then the other, whose stores leave the values as they are; what either stores
 * joins what was there. What cannot be run so (a loop without a known end, a block somewhere else)
 * runs as the values say, and then all that it may write is open. */
#include "code.h"

static bool is_decided(const Reach *b) { return !b->open && b->lo.i == b->hi.i; }

static bool is_point(Run *run, const Node *n) {
  Reach b;
  if (!n || !n->bound) return true;
  get_bound(run, n, &b);
  return is_decided(&b);
}

/* --- two ways --------------------------------------------------------------------------------- */

static void run_body(Run *run, const void *self, void *out) {
  const Step *s = self;
  (void)out;
  s->run(run, s);
}
static void run_block_inside(Run *run, const void *self, void *out) {
  (void)out;
  tirc_run_block(run, self);
}

/* `of`: the statement whose stores are meant where the way that is not taken cannot be run. */
static void run_perhaps(Run *run, const Step *of,
                        void (*body)(Run *run, const void *self, void *out), const Step *s,
                        bool taken) {
  if (!s) return;
  run->unsure++;
  if (taken) {
    body(run, s, NULL);
  } else {
    run->untaken++;
    if (!tirc_run_attempt(run, body, s, NULL)) tirc_doubt_all(run, of);
    run->untaken--;
  }
  run->unsure--;
}

static void run_if(Run *run, const Step *s) {
  Reach b;
  run->at = s;
  get_bound(run, s->u.other.value, &b);
  const Step *taken = b.v.i ? s->u.other.body : s->u.other.otherwise;
  const Step *other = b.v.i ? s->u.other.otherwise : s->u.other.body;
  if (is_decided(&b)) {
    if (taken) taken->run(run, taken);
    return;
  }
  run_perhaps(run, s, run_body, taken, true);
  run_perhaps(run, s, run_body, other, false);
}

void tirc_run_under_rest(Run *run, const Step *s,
                         void (*body)(Run *run, const void *self, void *out)) {
  Reach b = {.v.i = 1};
  if (!s->u.block.rest->bound) {
    if (get_i(run, s->u.block.rest)) body(run, s, NULL);
    return;
  }
  get_bound(run, s->u.block.rest, &b);
  if (!is_decided(&b))
    run_perhaps(run, s, body, s, b.v.i != 0);
  else if (b.v.i)
    body(run, s, NULL);
}

static bool has_known_place(Run *run, const Step *s) {
  for (int i = 0; i < s->u.block.n_iters; i++)
    if (!is_point(run, s->u.block.values[i]) || !is_point(run, s->u.block.min[i]) ||
        !is_point(run, s->u.block.extent[i]))
      return false;
  return true;
}

static void run_block(Run *run, const Step *s) {
  Reach b = {.v.i = 1, .lo.i = 1, .hi.i = 1};
  run->at = s;
  if (s->u.block.predicate) get_bound(run, s->u.block.predicate, &b);
  if (is_decided(&b) && !b.v.i) return;
  const bool known = has_known_place(run, s);
  if (is_decided(&b))
    tirc_run_block(run, s);
  else
    run_perhaps(run, s, run_block_inside, s, b.v.i != 0);
  if (!known) tirc_doubt_all(run, s);
}

/* --- loops ------------------------------------------------------------------------------------ */

static void run_for(Run *run, const Step *s) {
  const bool known = is_point(run, s->u.loop.min) && is_point(run, s->u.loop.extent);
  s->run_plainly(run, s);
  if (!known) tirc_doubt_all(run, s);
}

static void run_while(Run *run, const Step *s) {
  bool known = true;
  for (;;) {
    Reach b;
    run->at = s;
    get_bound(run, s->u.other.value, &b);
    known = known && is_decided(&b);
    if (!b.v.i) break;
    tirc_count_step(run);
    s->u.other.body->run(run, s->u.other.body);
  }
  if (!known) tirc_doubt_all(run, s);
}

/* --- values ----------------------------------------------------------------------------------- */

static void run_let(Run *run, const Step *s) {
  run->at = s;
  tirc_bind_bounds(run, s->u.other.value, s->u.other.cell, s->bounds);
  s->u.other.body->run(run, s->u.other.body);
}

static void run_assert(Run *run, const Step *s) {
  Reach b;
  run->at = s;
  get_bound(run, s->u.other.value, &b);
  if (!b.hi.i && !b.open)
    tirc_run_fail(run, CODE_ASSERT, NULL, "the assertion fails: %s", s->stmt->u.check.message);
  if (s->u.other.body) s->u.other.body->run(run, s->u.other.body);
}

/* --- the table -------------------------------------------------------------------------------- */

static bool differs(int n, const Node *const *at) {
  for (int i = 0; i < n; i++)
    if (at[i] && at[i]->bound) return true;
  return false;
}

static bool hangs_on_bounds(const Step *s) {
  switch (s->stmt->kind) {
  case STMT_FOR: return differs(2, (const Node *[]){s->u.loop.min, s->u.loop.extent});
  case STMT_BLOCK:
    return differs(1, &s->u.block.predicate) || differs(1, &s->u.block.rest) ||
           differs(s->u.block.n_iters, s->u.block.values) ||
           differs(s->u.block.n_iters, s->u.block.min) ||
           differs(s->u.block.n_iters, s->u.block.extent);
  default: return differs(1, &s->u.other.value);
  }
}

void tirc_compile_bound_branch(Compiler *k, Step *s) {
  static void (*const runners[])(Run *, const Step *) = {
      [STMT_FOR] = run_for,     [STMT_BLOCK] = run_block, [STMT_IF] = run_if,
      [STMT_WHILE] = run_while, [STMT_LET] = run_let,     [STMT_ASSERT] = run_assert,
  };
  if (!k->bounded || !hangs_on_bounds(s)) return;
  s->doubt = tirc_find_doubt(k, s->stmt);
  s->run_plainly = s->run;
  s->run = runners[s->stmt->kind];
}
