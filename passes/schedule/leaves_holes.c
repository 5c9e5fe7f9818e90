/* Whether a block, or a nest, leaves holes in a box, found by running it on index arithmetic alone,
 * for the first values of the block's iterators and at several places of the loops around. Where a
 * condition is loaded, only what both of its branches write is written; an index that is, is taken
 * to be 0. What cannot be known otherwise (an extent without a value, a box or a nest that is too
 * large) counts as written. */
#include "index_eval.h"
#include "internal.h"
#include "places.h"

static const int64_t MOST = (int64_t)1 << 60; /* so that sums do not overflow */
enum { MAX_INSTANCES = 1 << 18, MAX_BOX = 1 << 18 };

typedef struct Filling {
  IndexEval values;
  const Region *box;
  PtrMap views;          /* -> MatchBuffer */
  int64_t *index;        /* of the store that runs */
  int64_t *min, *extent; /* of the box */
  bool *written;         /* one an element */
  int64_t holes;
  int steps; /* left */
  bool unknown;
} Filling;

static void run(Filling *f, Stmt s);

/* Of an index, or where the box starts. */
static bool eval_place(Filling *f, Expr e, int64_t *out) {
  f->values.zero_loads = true;
  const bool known = tirc_eval_index(&f->values, e, out);
  f->values.zero_loads = false;
  return known;
}

static int64_t value(Filling *f, Expr e) {
  int64_t out = 0;
  bool known = tirc_eval_index(&f->values, e, &out) && out > -MOST && out < MOST;
  f->unknown = f->unknown || !known;
  return known ? out : 0;
}

/* Where an access of the buffer, or of a view of it, is in the box's buffer. A view has the last
 * dimensions of what it shows. False: in another buffer, or it is not known. */
static bool index_in_box(Filling *f, Buffer b, int n, const Expr *indices, int64_t *at) {
  int64_t start;
  for (int i = 0; i < n; i++)
    if (!eval_place(f, indices[i], &at[i])) return false;
  for (const MatchBuffer *m; (m = tirc_map_get(&f->views, b)); b = m->source.buffer) {
    const int added = m->source.buffer->ndim - n;
    if (added < 0 || n + added > f->box->buffer->ndim) return false;
    for (int d = n + added; d-- > 0;) {
      if (!eval_place(f, m->source.dims[d].min, &start)) return false;
      at[d] = start + (d < added ? 0 : at[d - added]);
    }
    n += added;
  }
  return b == f->box->buffer;
}

static void store(Filling *f, Stmt s) {
  const int n = f->box->buffer->ndim;
  int64_t at = 0;
  if (s->u.store.n > n ||
      !index_in_box(f, s->u.store.buffer, s->u.store.n, s->u.store.indices, f->index))
    return;
  for (int i = 0; i < n; i++) {
    const int64_t index = f->index[i] - f->min[i];
    if (index < 0 || index >= f->extent[i]) return;
    at = at * f->extent[i] + index;
  }
  f->holes -= !f->written[at];
  f->written[at] = true;
}

/* One branch of two of which it is not known which one runs. */
static bool *after_branch(Filling *f, Stmt branch, const bool *before, int64_t n) {
  f->written = tirc_copy(f->values.c, before, (int)n);
  if (branch) run(f, branch);
  return f->written;
}

static void run_either(Filling *f, Stmt yes, Stmt no) {
  int64_t n = 1;
  bool *before = f->written;
  const int64_t holes = f->holes;
  for (int i = 0; i < f->box->buffer->ndim; i++) n *= f->extent[i];
  const bool *first = after_branch(f, yes, before, n);
  f->holes = holes;
  const bool *second = after_branch(f, no, before, n);
  f->holes = holes;
  f->written = before;
  for (int64_t i = 0; i < n; i++) {
    f->holes -= !before[i] && first[i] && second[i];
    before[i] |= first[i] && second[i];
  }
}

static void run_branch(Filling *f, Stmt s) {
  bool holds;
  if (!tirc_eval_condition(&f->values, s->u.branch.cond, &holds))
    run_either(f, s->u.branch.then_case, s->u.branch.else_case);
  else if (holds)
    run(f, s->u.branch.then_case);
  else if (s->u.branch.else_case)
    run(f, s->u.branch.else_case);
}

static void run_let(Filling *f, Stmt s) {
  (void)tirc_eval_bind(&f->values, s->u.let.var, s->u.let.value);
  run(f, s->u.let.body);
}

static void add_views(Filling *f, const Block *b) {
  for (int i = 0; i < b->n_matches; i++)
    tirc_map_set(f->values.c, &f->views, b->matches[i].buffer, &b->matches[i]);
}

static void run_block(Filling *f, const Block *b) {
  for (int i = 0; i < b->n_iters; i++)
    tirc_eval_give(&f->values, b->iters[i].var, value(f, b->iter_values[i]));
  add_views(f, b);
  if (b->init) run(f, b->init);
  run(f, b->body);
}

static void run_loop(Filling *f, const For *loop) {
  int64_t extent;
  if (!tirc_eval_index(&f->values, loop->extent, &extent)) return; /* perhaps not even once */
  int64_t min = value(f, loop->min);
  for (int64_t i = 0; i < extent && !f->unknown && f->holes; i++) {
    f->unknown = f->steps-- <= 0;
    tirc_eval_give(&f->values, loop->var, min + i);
    run(f, loop->body);
  }
}

static void run(Filling *f, Stmt s) {
  bool holds;
  if (f->unknown || !f->holes) return;
  switch (s->kind) {
  case STMT_STORE: store(f, s); return;
  case STMT_FOR: run_loop(f, &s->u.loop); return;
  case STMT_BLOCK:
    if (tirc_eval_condition(&f->values, s->u.block.predicate, &holds) && holds)
      run_block(f, &s->u.block);
    return;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) run(f, tirc_item(s, i));
    return;
  case STMT_IF: run_branch(f, s); return;
  case STMT_WHILE: return; /* perhaps not even once */
  case STMT_LET: run_let(f, s); return;
  case STMT_ALLOC:
  case STMT_DECL: run(f, s->u.alloc.body); return;
  case STMT_ATTR: run(f, s->u.attr.body); return;
  case STMT_ASSERT: run(f, s->u.check.body); return;
  case STMT_EVAL: f->unknown = s->u.eval.value->op != OP_INT; /* a call may write */
  }
}

/* Where what is around stands now: all of the box is holes. False: there is none, or one that is
 * not known or too large. */
static bool open_box(Filling *f) {
  Tirc *c = f->values.c;
  const int n = f->box->buffer->ndim;
  int64_t min = 0;
  f->holes = 1;
  f->unknown = false;
  f->min = tirc_new_array(c, int64_t, n + 1);
  f->extent = tirc_new_array(c, int64_t, n + 1);
  f->index = tirc_new_array(c, int64_t, n + 1);
  for (int i = 0; i < n && !f->unknown; i++) {
    f->unknown = !eval_place(f, f->box->dims[i].min, &min) || min <= -MOST || min >= MOST;
    int64_t end = min + value(f, f->box->dims[i].extent);
    int64_t size = value(f, f->box->buffer->shape[i]);
    f->min[i] = min > 0 ? min : 0;
    f->extent[i] = (end < size ? end : size) - f->min[i];
    f->unknown = f->unknown || f->extent[i] < 0 || f->extent[i] > MAX_BOX ||
                 (f->holes *= f->extent[i]) > MAX_BOX;
  }
  if (f->unknown || !f->holes) return false;
  f->written = tirc_new_array(c, bool, (int)f->holes);
  return true;
}

static bool block_leaves_holes(Filling *f, const Block *b) {
  if (!open_box(f)) return false;
  add_views(f, b);
  if (b->init) run(f, b->init);
  run(f, b->body);
  return !f->unknown && f->holes > 0;
}

/* At the first values of the block's iterators. */
static bool stands_at_start(Filling *f, const Block *b) {
  for (int i = 0; i < b->n_iters; i++)
    tirc_eval_give(&f->values, b->iters[i].var, value(f, b->iters[i].dom.min));
  return !f->unknown;
}

typedef struct Trial {
  Tirc *c;
  const Sizes *sizes;
  int number;
  int steps; /* left, of all trials; each may take its share */
} Trial;

static int share_of(const Trial *t) { return t->steps / (t->sizes->n_trials - t->number); }

static Filling filling(const Trial *t, const Region *box, int steps) {
  const IndexEval values = {.c = t->c, .sizes = t->sizes, .trial = t->number};
  return (Filling){.values = values, .box = box, .steps = steps};
}

static bool leaves_holes_with(Trial *t, SRef *block, const Region *box) {
  enum { START = -1 };
  const Block *b = tirc_block_of(block);
  const int n = tirc_n_places(block), share = share_of(t);
  bool found = false;
  int steps = share;
  for (int place = START; place < n && !found && steps > 0; place++) {
    ArenaMark mark = tirc_mark(t->c);
    Filling f = filling(t, box, steps);
    const bool stands = place == START
                            ? stands_at_start(&f, b)
                            : tirc_go_to_place(&f.values, block, place, false) != PLACE_EMPTY;
    found = stands && block_leaves_holes(&f, b);
    steps = f.steps;
    tirc_rewind(t->c, mark);
  }
  t->steps -= share - steps;
  return found;
}

bool tirc_leaves_holes(Sched *s, SRef *block, const Region *box) {
  Trial t = {.c = s->c, .sizes = tirc_sizes_of(s, block, NULL), .steps = MAX_INSTANCES};
  bool found = false;
  for (; t.number < t.sizes->n_trials && !found; t.number++)
    found = leaves_holes_with(&t, block, box);
  return found;
}

static bool nest_leaves_holes_with(Trial *t, SRef *nest, const Region *box, Expr condition) {
  const int n = tirc_n_places(nest->parent), share = share_of(t);
  bool found = false;
  int steps = share;
  for (int place = 0; place < n && !found && steps > 0; place++) {
    ArenaMark mark = tirc_mark(t->c);
    Filling f = filling(t, box, steps);
    bool holds;
    if (tirc_go_to_place(&f.values, nest->parent, place, false) != PLACE_EMPTY &&
        tirc_eval_condition(&f.values, condition, &holds) && holds && open_box(&f)) {
      run(&f, nest->stmt);
      found = !f.unknown && f.holes > 0;
    }
    steps = f.steps;
    tirc_rewind(t->c, mark);
  }
  t->steps -= share - steps;
  return found;
}

bool tirc_nest_leaves_holes(Sched *s, SRef *nest, const Region *box, Expr condition) {
  Trial t = {.c = s->c, .sizes = tirc_sizes_of(s, nest, condition), .steps = MAX_INSTANCES};
  bool found = false;
  for (; t.number < t.sizes->n_trials && !found; t.number++)
    found = nest_leaves_holes_with(&t, nest, box, condition);
  return found;
}
