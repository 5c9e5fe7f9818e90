/* What holds in a block scope, by TVM's definitions (BlockScope and BlockInfo): dependences between
 * the child blocks, whose bindings are affine, who reads only what its producers wrote (region
 * cover), and whether all of it makes a stage pipeline.
 *
 * What holds of a block is found again when it was rewritten, or when one that shares a buffer with
 * it was; dependences are in state_deps.c. */
#include "ir/tree/int_op.h"
#include "nodes.h"
#include "state.h"

/* --- affine bindings ------------------------------------------------------------------------- */

static bool affine_over(Sched *s, const Block *b, const LoopDomain *d) {
  if (d->n == 0) return true;
  if (b->n_iters == 0) return false;
  Analyzer *a = tirc_analyzer(s->c);
  const IterMap *map = tirc_detect_iter_map(a, b->n_iters, b->iter_values, d->n, d->vars, d->doms,
                                            b->predicate, ITER_LEVEL_SURJECTIVE, true, NULL);
  for (int i = 0; map && i < map->n; i++)
    if (map->indices[i].n && !tirc_is_int(map->indices[i].args[0].scale, 1)) return false;
  return map != NULL;
}

/* What a predicate says of the steps of a sum alone leaves some of them out, as in the partial sums
 * of a tail: without it more instances are told apart. */
bool tirc_is_affine_under(Sched *s, SRef *block, SRef *high) {
  LoopDomain d = tirc_loop_domain(s, block->parent, high, STORAGE_GLOBAL);
  Block b = *tirc_block_of(block);
  if (affine_over(s, &b, &d)) return true;
  if (!b.init || tirc_is_true(b.predicate)) return false;
  b.predicate = tirc_init_part(s->c, &b, b.predicate, false);
  return b.predicate != tirc_block_of(block)->predicate && affine_over(s, &b, &d);
}

/* The bindings of a triangle are those of the rectangle around it: of a loop whose length depends
 * on another one it is of no interest how long it is, nor what a predicate leaves out. */
bool tirc_is_affine_in_rectangle(Sched *s, SRef *block) {
  Block b = *tirc_block_of(block);
  LoopDomain d = tirc_loop_domain(s, block->parent, NULL, STORAGE_GLOBAL);
  bool wider = !tirc_is_true(b.predicate);
  b.predicate = tirc_bool(s->c, true);
  for (int i = 0; i < d.n; i++) {
    bool depends = false;
    for (int k = i + 1; k < d.n; k++) depends |= tirc_range_uses(d.doms[i], d.vars[k]);
    if (!depends || tirc_reads_memory(d.doms[i].extent)) continue;
    const DType t = d.vars[i]->dtype;
    d.doms[i] = tirc_range(tirc_int(s->c, t, 0), tirc_var(s->c, "longest", t));
    wider = true;
  }
  return wider && affine_over(s, &b, &d);
}

/* --- region cover ---------------------------------------------------------------------------- */

enum { MOST_CHOICES = 6 }; /* minima and maxima in a bound that are taken apart */

/* Merges y into x where the two touch or overlap for sure; otherwise x stays. As TVM's
 * UnionLowerBound; a NULL bound is infinite. */
static IntSet lower_union(Tirc *c, Analyzer *a, IntSet x, IntSet y) {
  Expr one_past_x = x.max ? tirc_add(c, x.max, tirc_int(c, x.max->dtype, 1)) : NULL;
  Expr one_past_y = y.max ? tirc_add(c, y.max, tirc_int(c, y.max->dtype, 1)) : NULL;
  bool y_reaches = !y.min || !one_past_x || tirc_prove(a, tirc_binary(c, OP_LE, y.min, one_past_x));
  bool x_reaches = !x.min || !one_past_y || tirc_prove(a, tirc_binary(c, OP_LE, x.min, one_past_y));
  return y_reaches && x_reaches ? tirc_set_union(a, x, y) : x;
}

/* A minimum or maximum among the terms of a sum; *least: the sum is the least of its operands'
 * sums. NULL: there is none. */
static Expr find_choice(Expr e, bool positive, bool *least) {
  if (e->op == OP_MIN || e->op == OP_MAX) {
    *least = (e->op == OP_MIN) == positive;
    return e;
  }
  if ((e->op != OP_ADD && e->op != OP_SUB) || tirc_dtype_wraps(e->dtype)) return NULL;
  Expr first = find_choice(e->args[0], positive, least);
  return first ? first : find_choice(e->args[1], e->op == OP_ADD ? positive : !positive, least);
}

static Expr choose(Tirc *c, Expr sum, Expr choice, int which) {
  if (sum == choice) return choice->args[which];
  if (sum->op != OP_ADD && sum->op != OP_SUB) return sum;
  Expr first = choose(c, sum->args[0], choice, which);
  Expr second = first == sum->args[0] ? choose(c, sum->args[1], choice, which) : sum->args[1];
  const bool same = first == sum->args[0] && second == sum->args[1];
  return same ? sum : tirc_binary(c, sum->op, first, second);
}

/* x <= y. Where a tile's tail ends at min(i * 16 + 15, 199), both operands must be on the right
 * side, or one of them suffices, which the prover does not try; `depth` bounds how many are taken
 * apart. */
static bool at_most(Tirc *c, Analyzer *a, Expr x, Expr y, int depth) {
  if (tirc_expr_same(x, y)) return true;
  x = tirc_simplify(a, x);
  y = tirc_simplify(a, y);
  if (tirc_prove(a, tirc_binary(c, OP_LE, x, y))) return true;
  bool x_least = false, y_least = false;
  const Expr in_x = find_choice(x, true, &x_least), in_y = find_choice(y, true, &y_least);
  if (depth == 0 || (!in_x && !in_y)) return false;
  const bool both = (in_y && y_least) || (in_x && !x_least);
  const bool take_y = in_y && y_least == both;
  bool holds[2];
  for (int i = 0; i < 2; i++)
    holds[i] = at_most(c, a, take_y ? x : choose(c, x, in_x, i), take_y ? choose(c, y, in_y, i) : y,
                       depth - 1);
  return both ? holds[0] && holds[1] : holds[0] || holds[1];
}

static bool covers(Sched *s, Analyzer *a, Buffer b, const IntSet *produced,
                   const IntSet *consumed) {
  Tirc *c = s->c;
  for (int i = 0; i < b->ndim; i++) {
    IntSet whole = tirc_set_of_range(c, tirc_whole_dim(c, b, i));
    IntSet p = tirc_set_intersect(a, produced[i], whole);
    IntSet q = tirc_set_intersect(a, consumed[i], whole);
    if (!q.min || !q.max) return !p.min && !p.max;
    if (p.min && !at_most(c, a, p.min, q.min, MOST_CHOICES)) return false;
    if (p.max && !at_most(c, a, q.max, p.max, MOST_CHOICES)) return false;
  }
  return true;
}

typedef struct Edges {
  int n;
  const Dep *at; /* all into one block */
} Edges;

/* What several writers write for sure of a buffer. */
typedef struct Written {
  bool found;  /* one of them writes it */
  IntSet *sum; /* NULL: it is not known what */
} Written;

/* Whether the init stores to just this element, whatever the step. */
static bool starts(const Block *b, const Region *r) {
  const Stmt init = b->init;
  if (!init || init->kind != STMT_STORE || init->u.store.buffer != r->buffer) return false;
  for (int d = 0; d < r->buffer->ndim; d++)
    if (!tirc_is_int(r->dims[d].extent, 1) ||
        !tirc_expr_same(r->dims[d].min, init->u.store.indices[d]))
      return false;
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_SPATIAL && tirc_region_uses(r, b->iters[i].var)) return false;
  return true;
}

/* Under what a block is sure to write: an init does not ask which steps a sum has. */
static Expr writing_condition(Sched *s, SRef *writer, const Region *r) {
  const Block *b = tirc_block_of(writer);
  if (tirc_is_true(b->predicate) || !starts(b, r)) return b->predicate;
  const InitPart part = tirc_init_of(s, writer);
  const bool regular = part.at_start && tirc_is_true(tirc_init_guard(s->c, &part));
  return regular ? part.kept : b->predicate;
}

static void add_written(Sched *s, Analyzer *a, Written *w, SRef *writer, SRef *lca, Region r) {
  const int n = r.buffer->ndim;
  const IntSet *part = tirc_region_lower(s, a, tirc_unbound_region(s->c, writer->stmt, r),
                                         writing_condition(s, writer, &r), writer->parent, lca);
  const bool first = !w->found;
  w->found = true;
  if (!part || (!w->sum && !first)) return;
  if (first) {
    w->sum = tirc_new_array(s->c, IntSet, n + 1);
    memcpy(w->sum, part, (size_t)n * sizeof *w->sum);
  } else {
    for (int d = 0; d < n; d++) w->sum[d] = lower_union(s->c, a, w->sum[d], part[d]);
  }
}

/* Of what a block does not declare, what those inside of it write for sure. */
static void add_writer(Sched *s, Analyzer *a, Written *w, SRef *writer, SRef *lca, Buffer b) {
  const Block *block = tirc_block_of(writer);
  for (int i = 0; i < block->n_writes; i++)
    if (block->writes[i].buffer == b)
      add_written(s, a, w, writer, lca, tirc_written_region(s, writer, &block->writes[i]));
  if (tirc_declared_write(block, b)) return;
  Written inner = {0};
  for (int i = 0; i < writer->scope->n_blocks; i++)
    add_writer(s, a, &inner, writer->scope->blocks[i], writer, b);
  if (inner.sum) {
    Range *dims = tirc_new_array(s->c, Range, b->ndim + 1);
    for (int d = 0; d < b->ndim; d++)
      dims[d] = tirc_range_of_set(a, inner.sum[d], tirc_whole_dim(s->c, b, d));
    add_written(s, a, w, writer, lca, (Region){b, dims});
  } else if (inner.found) {
    *w = (Written){.found = true};
  }
}

/* What the producers that meet the consumer at `lca` write for sure of a buffer; NULL: they do not
 * write it. *nothing: they do, but it is not known what. `hidden`: also what blocks inside of them
 * write that they do not declare. */
static const IntSet *produced_below(Sched *s, Analyzer *a, Edges e, SRef *const *lcas, SRef *lca,
                                    Buffer b, bool hidden, bool *nothing) {
  Written w = {0};
  for (int i = 0; i < e.n; i++)
    if (e.at[i].kind == DEP_RAW && lcas[i] == lca &&
        (hidden || tirc_declared_write(tirc_block_of(e.at[i].src), b)))
      add_writer(s, a, &w, e.at[i].src, lca, b);
  *nothing = w.found && !w.sum;
  return w.sum;
}

static Analyzer *analyzer_of_all(Sched *s, SRef *consumer, Edges e) {
  Analyzer *a = tirc_analyzer(s->c);
  tirc_bind_shapes(s, a, consumer);
  for (int i = -1; i < e.n; i++)
    for (SRef *r = (i < 0 ? consumer : e.at[i].src)->parent; r; r = r->parent)
      if (tirc_is_loop(r)) tirc_bind_loop(a, tirc_loop_of(r));
  return a;
}

/* The first n reads; `only`: of this buffer; NULL: of all. */
static bool is_covered(Sched *s, SRef *scope, SRef *consumer, Edges e, int n, Buffer only) {
  bool any = false;
  SRef **lcas = tirc_new_array(s->c, SRef *, e.n + 1);
  for (int i = 0; i < e.n; i++) {
    if (e.at[i].kind != DEP_RAW) continue;
    any = true;
    lcas[i] = tirc_common_ancestor(2, (SRef *[]){consumer, e.at[i].src});
  }
  if (!any) return true;
  Analyzer *a = analyzer_of_all(s, consumer, e);
  const Block *b = tirc_block_of(consumer);
  const bool hidden = n > b->n_reads;
  for (SRef *lca = consumer; lca != scope->parent; lca = lca->parent) {
    for (int i = 0; i < n; i++) {
      const Region *read = &consumer->accesses[0][i];
      bool nothing;
      if (only && read->buffer != only) continue;
      const IntSet *produced = produced_below(s, a, e, lcas, lca, read->buffer, hidden, &nothing);
      if (nothing && read->buffer->ndim) return false;
      if (!produced) continue;
      /* What it does not declare may be loaded to find out whether it runs. */
      const Expr when =
          i < b->n_reads ? tirc_touching_condition(s, consumer) : tirc_bool(s->c, true);
      const Region unbound = tirc_unbound_region(s->c, consumer->stmt, *read);
      const IntSet *consumed = tirc_region_upper(s, a, unbound, when, consumer->parent, lca);
      if (!covers(s, a, read->buffer, produced, consumed)) return false;
    }
  }
  return true;
}

/* --- a scope --------------------------------------------------------------------------------- */

static bool cover_of(Sched *s, SRef *scope, SRef *consumer, int n, Buffer only) {
  ArenaMark mark = tirc_mark(s->c);
  Deps deps = {0};
  tirc_deps_into(s, scope->scope, consumer, &deps);
  bool covered = is_covered(s, scope, consumer, (Edges){deps.n, deps.at}, n, only);
  tirc_rewind(s->c, mark);
  return covered;
}

/* TVM knows what blocks declare. One that declares less than those inside of it do, as
 * loop_partition leaves it, is looked at where a stage pipeline is asked for: a move may leave it
 * uncovered, when its last run is right. */
const SRef *tirc_find_uncovered(Sched *s, SRef *scope, const SRef *block) {
  for (int i = 0; scope->scope->n_hidden && i < scope->scope->n_blocks; i++) {
    SRef *r = scope->scope->blocks[i];
    if (r->hidden && (r == block || tirc_reads_from(block, r)) &&
        !cover_of(s, scope, r, r->n_accesses[0], NULL))
      return r;
  }
  return NULL;
}

bool tirc_finds_written(Sched *s, SRef *reader, Buffer b) {
  SRef *scope = tirc_scope_root(reader);
  return tirc_has_region_cover(s, reader) &&
         (!reader->hidden || cover_of(s, scope, reader, reader->n_accesses[0], b));
}

bool tirc_decides_by_written(Sched *s, SRef *block) {
  const int n = tirc_block_of(block)->n_reads + block->n_deciding;
  return !block->n_deciding || cover_of(s, tirc_scope_root(block), block, n, NULL);
}

/* A flag of a child may change what holds of the scope. */
static void count_broken(Scope *scope, SRef *child) {
  const bool now = (child->cover_known && !child->region_cover) || child->overwrites;
  scope->n_broken += now - child->broken;
  child->broken = now;
}

static void know_cover(Sched *s, SRef *scope, SRef *child) {
  if (child->cover_known) return;
  child->region_cover = cover_of(s, scope, child, tirc_block_of(child)->n_reads, NULL);
  child->cover_known = true;
  count_broken(scope->scope, child);
}

/* Most changes are followed by others before anybody asks. */
static void forget_cover(Sched *s, Scope *scope, SRef *child) {
  child->cover_known = false;
  count_broken(scope, child);
  if (child->waits == scope) return;
  vec_push(s->c, scope->unknown, child);
  child->waits = scope;
}

bool tirc_has_region_cover(Sched *s, SRef *block) {
  if (block->parent) know_cover(s, tirc_scope_root(block), block);
  return block->region_cover;
}

/* Those of the list may have gone, or to another scope. */
bool tirc_is_stage_pipeline(Sched *s, SRef *block) {
  Scope *scope = block->scope;
  while (scope->unknown.n > 0) {
    SRef *child = scope->unknown.at[--scope->unknown.n];
    if (child->waits != scope) continue;
    child->waits = NULL;
    if (child->stmt && tirc_scope_root(child) == block) know_cover(s, block, child);
  }
  return scope->n_broken == 0;
}

static void check_overwrites(Scope *scope, SRef *child) {
  child->overwrites = tirc_find_overwrites(scope, child);
  count_broken(scope, child);
}

bool tirc_has_affine_binding(Sched *s, SRef *block) {
  if (block->binding_known || !block->parent) return block->affine_binding;
  ArenaMark mark = tirc_mark(s->c);
  block->affine_binding = tirc_is_affine_under(s, block, NULL);
  block->binding_known = true;
  tirc_rewind(s->c, mark);
  return block->affine_binding;
}

/* --- the list of children --------------------------------------------------------------------- */

/* Room between two blocks for those that come between them. */
#define ORDER_GAP ((int64_t)1 << 32)

static void number(Scope *scope) {
  for (int i = 0; i < scope->n_blocks; i++) scope->blocks[i]->order = (i + 1) * ORDER_GAP;
}

void tirc_scope_rebuild(Sched *s, SRef *block, int n, SRef *const *children, bool loose) {
  if (!block->parent) {
    block->affine_binding = tirc_block_of(block)->n_iters == 0;
    block->region_cover = true;
  }
  Scope *scope = tirc_new(s->c, Scope);
  scope->n_blocks = n;
  scope->room = n;
  scope->blocks = tirc_new_array(s->c, SRef *, n + 1);
  if (n) memcpy(scope->blocks, children, (size_t)n * sizeof *scope->blocks);
  scope->loose = loose;
  block->scope = scope;
  number(scope);
  for (int i = 0; i < n; i++) {
    children[i]->broken = false;
    tirc_know_uses(s, children[i]);
    scope->n_hidden += children[i]->hidden;
    tirc_users_add(s, scope, children[i]);
  }
  for (int i = 0; i < n; i++) {
    if (children[i]->dirty == s->stamp) children[i]->binding_known = false;
    children[i]->cover_known = false;
    tirc_has_affine_binding(s, children[i]);
    know_cover(s, block, children[i]);
    check_overwrites(scope, children[i]);
  }
}

/* Whether a runs before b: by their places in the sequence where their ways down part. */
static bool runs_before(SRef *a, SRef *b) {
  const SRef *common = tirc_common_ancestor(2, (SRef *[]){a, b});
  while (a->parent != common) a = a->parent;
  while (b->parent != common) b = b->parent;
  return tirc_item_index(a) < tirc_item_index(b);
}

/* The number of kept children that run before r, which most often comes right after `guess`. */
static int place_of(SRef *const *at, int n, SRef *r, int guess) {
  if (guess > 0 && guess <= n && runs_before(at[guess - 1], r) &&
      (guess == n || runs_before(r, at[guess])))
    return guess;
  int low = 0, high = n;
  while (low < high) {
    int mid = low + (high - low) / 2;
    if (runs_before(at[mid], r))
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static void list_again(Sched *s, SRef *block) {
  SRefs all = {0};
  tirc_blocks_in(s, tirc_block_of(block)->body, &all);
  block->scope->n_blocks = all.n;
  block->scope->room = all.cap;
  block->scope->blocks = all.at;
  number(block->scope);
}

/* They come in the order of the list. */
static void remove_gone(Scope *scope, const ScopeChange *change) {
  SRef **at = scope->blocks;
  const int n = change->gone.n;
  int kept = n ? change->at[0] : scope->n_blocks;
  for (int i = 0; i < n; i++) {
    const int next = change->at[i] + 1, end = i + 1 < n ? change->at[i + 1] : scope->n_blocks;
    memmove(at + kept, at + next, (size_t)(end - next) * sizeof *at);
    kept += end - next;
  }
  scope->n_blocks = kept;
}

static void make_room(Sched *s, Scope *scope, int n) {
  if (scope->n_blocks + n <= scope->room) return;
  SRef **at = tirc_new_array(s->c, SRef *, 2 * (scope->n_blocks + n));
  if (scope->n_blocks) memcpy(at, scope->blocks, (size_t)scope->n_blocks * sizeof *at);
  scope->blocks = at;
  scope->room = 2 * (scope->n_blocks + n);
}

/* Puts r at a place of the list; false when there is no number left between its neighbours. */
static bool put_in(Scope *scope, SRef **at, int place, SRef *r) {
  const int64_t low = place ? at[place - 1]->order : 0;
  const int64_t high = place < scope->n_blocks ? at[place]->order : low + 2 * ORDER_GAP;
  memmove(at + place + 1, at + place, (size_t)(scope->n_blocks - place) * sizeof *at);
  at[place] = r;
  scope->n_blocks++;
  r->order = low + (high - low) / 2;
  return r->order > low;
}

static void edit_list(Sched *s, SRef *block, const ScopeChange *change, const SRefs *now) {
  enum { MANY = 32 };
  Scope *scope = block->scope;
  if (scope->loose || now->n > MANY) {
    list_again(s, block);
    return;
  }
  bool room = true;
  remove_gone(scope, change);
  make_room(s, scope, now->n);
  SRef **at = scope->blocks;
  for (int i = 0, guess = 0; i < now->n; i++) {
    const int place = place_of(at, scope->n_blocks, now->at[i], guess);
    room = put_in(scope, at, place, now->at[i]) && room;
    guess = place + 1;
  }
  if (!room) number(scope);
}

/* Whether the same blocks came back to the same places of the list. Only of blocks that stand in
 * loops alone is the order told by their places in sequences. */
static bool in_place(const Scope *scope, const ScopeChange *change, const SRefs *now) {
  const SRefs *gone = &change->gone;
  if (gone->n != now->n || scope->loose) return false;
  for (int i = 0; i < now->n; i++) {
    const int at = change->at[i];
    if (gone->at[i] != now->at[i]) return false;
    if (at > 0 && !runs_before(scope->blocks[at - 1], scope->blocks[at])) return false;
    if (at + 1 < scope->n_blocks && !runs_before(scope->blocks[at], scope->blocks[at + 1]))
      return false;
  }
  return true;
}

/* --- a change --------------------------------------------------------------------------------- */

static void touch(Tirc *c, ScopeChange *change, const SRef *r) {
  for (int write = 0; write < 2; write++)
    for (int i = 0; i < r->n_accesses[write]; i++)
      tirc_map_set(c, write ? &change->written : &change->read, r->accesses[write][i].buffer, r);
}

ScopeChange tirc_scope_leave(Sched *s, SRef *block, const SRefs *gone) {
  ScopeChange change = {.gone = *gone};
  Scope *scope = block->scope;
  int *at = tirc_new_array(s->c, int, gone->n + 1);
  for (int i = 0; i < gone->n; i++) {
    SRef *r = gone->at[i];
    at[i] = tirc_first_from(&(SRefs){scope->blocks, scope->n_blocks, scope->room}, r->order);
    scope->n_broken -= r->broken;
    scope->n_hidden -= r->hidden;
    r->broken = false;
    touch(s->c, &change, r);
    tirc_users_remove(scope, r);
  }
  change.at = at;
  return change;
}

static void forget_readers(Sched *s, SRef *block, const PtrMap *written) {
  for (size_t i = 0; i < written->cap; i++) {
    if (!written->values[i]) continue;
    const SRefs *readers = tirc_accessors_of(block->scope, written->keys[i], false);
    for (int k = 0; k < readers->n; k++) forget_cover(s, block->scope, readers->at[k]);
  }
}

static void check_writers(Scope *scope, const PtrMap *read) {
  for (size_t i = 0; i < read->cap; i++) {
    if (!read->values[i]) continue;
    const SRefs *writers = tirc_accessors_of(scope, read->keys[i], true);
    for (int k = 0; k < writers->n; k++) check_overwrites(scope, writers->at[k]);
  }
}

/* Blocks that share a buffer with what changed are to be looked at again. */
void tirc_scope_update(Sched *s, SRef *block, ScopeChange *change, const SRefs *now) {
  Scope *scope = block->scope;
  if (!in_place(scope, change, now)) edit_list(s, block, change, now);
  for (int i = 0; i < now->n; i++) {
    SRef *r = now->at[i];
    if (r->dirty == s->stamp) tirc_know_uses(s, r);
    scope->n_hidden += r->hidden;
    touch(s->c, change, r);
    tirc_users_add(s, scope, r);
  }
  for (int i = 0; i < now->n; i++) {
    if (now->at[i]->dirty == s->stamp) now->at[i]->binding_known = false;
    forget_cover(s, scope, now->at[i]);
    check_overwrites(scope, now->at[i]);
  }
  forget_readers(s, block, &change->written);
  check_writers(scope, &change->read);
}

static bool same_regions(int n, const Region *a, const Region *b) {
  for (int i = 0; i < n; i++) {
    if (a[i].buffer != b[i].buffer) return false;
    for (int k = 0; k < a[i].buffer->ndim; k++)
      if (!tirc_same_range(a[i].dims[k], b[i].dims[k])) return false;
  }
  return true;
}

static bool same_accesses(const SRef *a, const SRef *b) {
  bool same = a->n_deciding == b->n_deciding && a->hidden == b->hidden;
  for (int write = 0; write < 2 && same; write++)
    same = a->n_accesses[write] == b->n_accesses[write] &&
           same_regions(a->n_accesses[write], a->accesses[write], b->accesses[write]);
  return same;
}

/* Most changes leave them as they were, and no memory is kept then. */
static void know_accesses_again(Sched *s, SRef *block) {
  const ArenaMark mark = tirc_mark(s->c);
  SRef before = *block;
  tirc_know_accesses(s, block);
  if (!same_accesses(&before, block)) return;
  *block = before;
  tirc_rewind(s->c, mark);
}

void tirc_scope_spread(Sched *s, SRef *block) {
  for (SRef *around; (around = tirc_scope_root(block)) && around->scope && block->order;
       block = around) {
    SRefs one = {0};
    vec_push(s->c, one, block);
    ScopeChange change = tirc_scope_leave(s, around, &one);
    know_accesses_again(s, block);
    tirc_scope_update(s, around, &change, &one);
  }
}
