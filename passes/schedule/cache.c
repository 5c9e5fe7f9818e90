/* cache_read and cache_write: a copy of a buffer in another storage scope.
 *
 * cache_read(block, i, scope): the readers of the block's i-th read buffer read a copy of it.
 *
 *   for ...: C[..] = A[..]      ->    for ax0, ax1: A_shared[v0, v1] = A[v0, v1]
 *                                     for ...: C[..] = A_shared[..]
 *
 * cache_write(block, i, scope): the block writes to a cache, and a copy brings it to the buffer.
 *
 *   for ...: C[..] = A[..]      ->    for ...: C_local[..] = A[..]
 *                                     for ax0, ax1: C[v0, v1] = C_local[v0, v1]
 *
 * A reduction block moves with its init: the partial sums stay in the cache. That is also why the
 * block must be the buffer's only writer: an init that decompose_reduction has made a block of its
 * own would go on writing the buffer while the update adds to the cache.
 *
 * What is copied is what the writer writes below the place of the copy, or for a buffer that the
 * scope only reads, what the scope declares to read of it (all of it if a block inside reads more).
 * A copy at the scope's own level makes the cache just that large; a copy inside of loops leaves it
 * the shape of the buffer.
 *
 * Errors: storage-scope, buffer-index, buffer-not-found, root-block, not-stage-pipeline,
 * region-not-covered, cache-consumer, not-single-writer, cache-placement, duplicate-region,
 * read-before-write, cache-alias, loop-variable-escapes, iterations-depend, reads-own-output. */
#include "cache.h"
#include "conflict.h"
#include "state.h"

/* The block's region of a buffer, or NULL. */
static const Region *find_region(int n, const Region *at, Buffer b) {
  for (int i = 0; i < n; i++)
    if (at[i].buffer == b) return &at[i];
  return NULL;
}

static bool is_reader(const SRef *block, Buffer b) {
  const Block *x = tirc_block_of(block);
  return find_region(x->n_reads, x->reads, b) != NULL;
}

SRef *tirc_only_writer(Sched *s, const CacheStage *stage) {
  SRef **writers;
  int n = tirc_writers_of(s, stage->scope, stage->source, &writers);
  if (n <= 1) return n ? writers[0] : NULL;
  bool has_init = false;
  for (int i = 0; i < n; i++) {
    tirc_sched_mark(s, writers[i]->stmt);
    const char *name = tirc_block_of(writers[i])->name;
    size_t length = strlen(name);
    has_init = has_init || (length > 5 && strcmp(name + length - 5, "_init") == 0);
  }
  tirc_sched_error(s, SERR_NOT_SINGLE_WRITER,
                   tirc_format(s->c, "blocks %s and %s both write %s",
                               tirc_block_of(writers[0])->name, tirc_block_of(writers[1])->name,
                               stage->source->name),
                   has_init ? NULL : "cache a buffer that one block writes, or join its writers",
                   "The buffer %s is expected to be written by single block, but got %d blocks who "
                   "write it.",
                   stage->source->name, n);
}

/* --- checks
 * ----------------------------------------------------------------------------------------- */

/* The readers of the buffer in the scope must find all that they read written by then. A write
 * cache concerns those only that turn to it. */
static void require_covered_readers(Sched *s, const CacheStage *stage) {
  SRef **readers;
  int n = tirc_readers_of(s, stage->scope, stage->source, &readers);
  for (int i = 0; i < n; i++) {
    if (readers[i]->region_cover || (stage->is_write && !tirc_is_named(stage, readers[i])))
      continue;
    tirc_sched_mark(s, readers[i]->stmt);
    tirc_sched_error(s, SERR_CACHE_REGION_COVER, NULL, NULL,
                     "Block %s reads parts of %s that its producers in the scope do not write.",
                     tirc_block_of(readers[i])->name, stage->source->name);
  }
}

static bool is_allocated_in(const SRef *scope, Buffer b) {
  const Block *x = tirc_block_of(scope);
  for (int i = 0; i < x->n_allocs; i++)
    if (x->allocs[i] == b) return true;
  return false;
}

/* A block that reads the buffer before the writer sees what the buffer held before, or what an
 * earlier iteration of a common loop wrote. The first is undefined for a buffer that the scope
 * allocates; otherwise neither survives when the block turns to the cache, nor the second when the
 * copy back waits for the end of that loop. */
void tirc_require_readers_after_writer(Sched *s, const CacheStage *stage) {
  SRef **readers;
  int n = stage->writer ? tirc_readers_of(s, stage->scope, stage->source, &readers) : 0;
  for (int i = 0; i < n; i++) {
    SRef *r = readers[i];
    if (r == stage->writer || tirc_reads_from(stage->writer, r)) continue;
    SRef *common = tirc_common_ancestor(2, (SRef *[]){r, stage->writer});
    bool to_cache = tirc_is_named(stage, r) || (!stage->is_write && !stage->consumers.n);
    bool same_loop = common != stage->scope;
    if (to_cache ? !same_loop && is_allocated_in(stage->scope, stage->source)
                 : !stage->is_write || tirc_is_ancestor(common, stage->where))
      continue;
    tirc_sched_mark(s, r->stmt);
    tirc_sched_mark(s, stage->writer->stmt);
    tirc_sched_error(
        s, SERR_READ_BEFORE_WRITE, NULL, NULL,
        "Block %s reads %s before block %s writes it, so it would see the copy too %s.",
        tirc_block_of(r)->name, stage->source->name, tirc_block_of(stage->writer)->name,
        to_cache ? "early" : "late");
  }
}

typedef struct OwnReads {
  Visitor v;
  Buffer buffer;
  const Expr *index; /* the element that may be read; NULL: none */
  bool other;        /* another one is */
} OwnReads;

static bool see_own_read(Visitor *v, Expr e) {
  OwnReads *o = v->self;
  if (e->op != OP_LOAD || e->u.buffer != o->buffer) return true;
  if (!o->index) o->other = true;
  for (int i = 0; i < e->n && o->index; i++)
    if (!tirc_expr_same(e->args[i], o->index[i])) o->other = true;
  return true;
}

/* The iterator, no spatial one, of which the condition says that it is at its start; -1: none. */
static int iter_at_start(const Block *b, Expr cond) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_SPATIAL && cond->op == OP_EQ && cond->args[0] == b->iters[i].var &&
        tirc_expr_same(cond->args[1], b->iters[i].dom.min))
      return i;
  return -1;
}

/* cond says of each iterator that is no spatial one that it is at its start, and nothing else. */
static bool is_first_iteration(const Block *b, Expr cond) {
  for (int i = 0; i < b->n_iters; i++) {
    bool found = b->iters[i].kind == ITER_SPATIAL;
    for (Expr rest = cond; rest && !found; rest = rest->op == OP_AND ? rest->args[0] : NULL)
      found = iter_at_start(b, rest->op == OP_AND ? rest->args[1] : rest) == i;
    if (!found) return false;
  }
  while (cond->op == OP_AND && iter_at_start(b, cond->args[1]) >= 0) cond = cond->args[0];
  return iter_at_start(b, cond) >= 0;
}

/* Item number i of a body if it is an init written by hand: only stores, in the first step. */
static Stmt init_by_hand(const Block *b, int i) {
  const Stmt body = b->body;
  if (body->kind != STMT_SEQ || i >= body->u.seq.n) return NULL;
  const Stmt item = tirc_item(body, i);
  if (item->kind != STMT_IF || item->u.branch.else_case) return NULL;
  const Stmt init = item->u.branch.then_case;
  for (int k = 0; init->kind == STMT_SEQ && k < init->u.seq.n; k++)
    if (tirc_item(init, k)->kind != STMT_STORE) return NULL;
  if (init->kind != STMT_SEQ && init->kind != STMT_STORE) return NULL;
  return is_first_iteration(b, item->u.branch.cond) ? init : NULL;
}

int tirc_inits_by_hand(const Block *b) {
  int n = 0;
  while (init_by_hand(b, n)) n++;
  return n;
}

typedef struct Start { /* of a buffer */
  OwnReads before;     /* what is read of it until it is stored to */
  Stmt store;
} Start;

static bool see_start(Visitor *v, Stmt s) {
  Start *k = v->self;
  if (s->kind != STMT_STORE || k->store) return !k->store;
  tirc_visit_expr(&k->before.v, s->u.store.value);
  if (s->u.store.buffer == k->before.buffer) k->store = s;
  return false;
}

/* `if vk == 0: B[vi] = 0` at the start of the body, maybe among others: an init written by hand,
 * after which the block reads nothing of B but what it wrote. */
bool tirc_starts_with_init(const Block *b, Buffer buffer) {
  Start start = {.before = {.buffer = buffer}};
  start.before.v = (Visitor){.expr = see_own_read, .self = &start.before};
  for (int i = 0; !start.store && init_by_hand(b, i); i++)
    tirc_visit_stmt(&(Visitor){.stmt = see_start, .expr = tirc_skip_expr, .self = &start},
                    init_by_hand(b, i));
  const Stmt store = start.store;
  if (!store) return false;
  for (int i = 0; i < b->n_iters; i++)
    for (int k = 0; k < store->u.store.n && b->iters[i].kind != ITER_SPATIAL; k++)
      if (tirc_uses_var(store->u.store.indices[k], b->iters[i].var)) return false;
  OwnReads in_body = {.buffer = buffer, .index = store->u.store.indices};
  in_body.v = (Visitor){.expr = see_own_read, .self = &in_body};
  tirc_visit_stmt(&in_body.v, b->body);
  return !in_body.other && !start.before.other;
}

typedef struct Elements { /* which the block stores to */
  const Block *b;
  Expr load;
  bool stored, other; /* the load is of one of them; a load is not */
} Elements;

static bool compare_store(Visitor *v, Stmt s) {
  Elements *e = v->self;
  if (s->kind != STMT_STORE || s->u.store.buffer != e->load->u.buffer) return true;
  int d = 0;
  while (d < s->u.store.n && tirc_expr_same(s->u.store.indices[d], e->load->args[d])) d++;
  e->stored |= d == s->u.store.n;
  return true;
}

static bool compare_load(Visitor *v, Expr load) {
  Elements *e = v->self;
  if (load->op != OP_LOAD || load->u.buffer != e->load->u.buffer) return true;
  Elements one = {.b = e->b, .load = load};
  tirc_visit_stmt(&(Visitor){.stmt = compare_store, .expr = tirc_skip_expr, .self = &one},
                  e->b->body);
  e->other |= !one.stored;
  return true;
}

/* Of a sum, whose regions leave out what it reads of its output. */
static bool reads_elsewhere(Tirc *c, const Block *b, Buffer buffer) {
  if (!b->init) return false;
  Elements e = {.b = b, .load = tirc_load(c, buffer, 0, NULL)};
  tirc_visit_stmt(&(Visitor){.expr = compare_load, .self = &e}, b->body);
  return e.other;
}

bool tirc_reads_own_output(Sched *s, SRef *block, Buffer b) {
  if (reads_elsewhere(s->c, tirc_block_of(block), b)) return true;
  return (is_reader(block, b) && !tirc_starts_by_hand(s, block, b)) ||
         tirc_reads_other_output(s, block) || !tirc_sums_start_in_scope(s, block);
}

static bool covers_buffer(Tirc *c, const CacheStage *stage) {
  for (int i = 0; i < stage->source->ndim && !stage->full; i++) {
    if (!tirc_is_int(stage->region[i].min, 0)) return false;
    if (!tirc_is_int(
            tirc_simplify0(c, tirc_sub(c, stage->source->shape[i], stage->region[i].extent)), 0))
      return false;
  }
  return true;
}

/* A block that moves to the cache finds nothing there but what it wrote itself. */
static void require_no_own_reads(Sched *s, const CacheStage *stage) {
  const Block *b = tirc_block_of(stage->writer);
  if (!tirc_reads_own_output(s, stage->writer, stage->source)) return;
  if (is_allocated_in(stage->scope, stage->source) && covers_buffer(s->c, stage)) return;
  tirc_sched_mark(s, stage->writer->stmt);
  tirc_sched_error(s, SERR_READS_OWN_OUTPUT, NULL, NULL,
                   "Block %s reads %s, which it also writes: moved to a cache it would read the "
                   "cache before anything is there.",
                   b->name, stage->source->name);
}

/* --- what is copied
 * ---------------------------------------------------------------------------------- */

/* A box never needs to be larger than the buffer. */
static Range clip(Tirc *c, Range r, Expr dim) {
  Analyzer *a = tirc_analyzer(c);
  Expr zero = tirc_int(c, r.min->dtype, 0);
  bool from_start = tirc_prove_ge(a, zero, r.min);
  bool to_end = tirc_prove_ge(a, tirc_add(c, r.min, r.extent), dim);
  if (from_start && to_end) return tirc_range(tirc_int(c, dim->dtype, 0), dim);
  int64_t min, extent, size;
  if (!tirc_const_int(r.min, &min) || !tirc_const_int(r.extent, &extent)) return r;
  if (min < 0) {
    if (__builtin_add_overflow(extent, min, &extent)) return r;
    min = 0;
  }
  if (tirc_const_int(dim, &size) && to_end) extent = size - min;
  if (extent < 0) extent = 0;
  return tirc_range(tirc_int(c, r.min->dtype, min), tirc_int(c, r.extent->dtype, extent));
}

/* A block may declare more than it writes: loop_partition declares for each instance what all of
 * them write. What is copied must have been written, not declared. */
static void require_written(Sched *s, const CacheStage *stage, Analyzer *a) {
  Tirc *c = s->c;
  const Block *b = tirc_block_of(stage->writer);
  Regions writes = tirc_block_access(c, stage->writer->stmt).writes;
  const Region *actual = find_region(writes.n, writes.at, stage->source);
  if (!actual) actual = find_region(b->n_writes, b->writes, stage->source);
  if (actual && !tirc_writes_region(s, stage->writer->stmt, actual) &&
      tirc_leaves_holes(s, stage->writer, actual)) {
    tirc_sched_mark(s, stage->writer->stmt);
    tirc_sched_error(
        s, SERR_CACHE_REGION_COVER, NULL, NULL,
        "Block %s writes parts of a box of %s only, so the copy would move elements that "
        "nobody wrote.",
        b->name, stage->source->name);
  }
  PtrMap bindings = {0};
  tirc_bindings_of(c, stage->writer->stmt, &bindings);
  const IntSet *sets = actual
                           ? tirc_region_upper(s, a, tirc_substitute_region(c, *actual, &bindings),
                                               b->predicate, stage->writer->parent, stage->where)
                           : NULL;
  for (int i = 0; sets && i < stage->source->ndim; i++) {
    if (!sets[i].min || !sets[i].max) continue;
    Expr reach = tirc_sub(c, sets[i].max, sets[i].min);
    if (!tirc_prove(a, tirc_lt(c, tirc_add(c, reach, tirc_int(c, reach->dtype, 1)),
                               stage->region[i].extent)))
      continue;
    tirc_sched_mark(s, stage->writer->stmt);
    tirc_sched_error(s, SERR_CACHE_REGION_COVER, NULL, NULL,
                     "Block %s declares to write more of %s than it does, and the copy would move "
                     "elements that nobody wrote.",
                     b->name, stage->source->name);
  }
}

/* The conjuncts of a condition that use none of the variables. */
static Expr part_without(Tirc *c, Expr cond, const PtrMap *vars) {
  if (cond->op == OP_AND)
    return tirc_and(c, part_without(c, cond->args[0], vars), part_without(c, cond->args[1], vars));
  return tirc_uses_any(cond, vars) ? tirc_bool(c, true) : cond;
}

static bool loads_start(const CacheStage *stage) {
  for (int i = 0; i < stage->source->ndim; i++)
    if (tirc_reads_memory(stage->region[i].min) || tirc_reads_memory(stage->region[i].extent))
      return true;
  return false;
}

/* What the loops outside of the copy decide of whether the writer runs, its copy must do too: where
 * others look at what it leaves out, and where the box starts at a number that is loaded, which may
 * be nowhere. */
static void keep_condition(Sched *s, CacheStage *stage) {
  const Block *b = tirc_block_of(stage->writer);
  stage->condition = tirc_bool(s->c, true);
  if ((!stage->is_write || is_allocated_in(stage->scope, stage->source)) && !loads_start(stage))
    return;
  if (tirc_is_guarded(s, stage->writer, stage->where)) {
    tirc_sched_mark(s, stage->writer->stmt);
    tirc_sched_error(
        s, SERR_CACHE_REGION_COVER, NULL,
        "make the condition a predicate of the block: T.where(...)",
        "Block %s runs under a condition, and the copy would move elements that nobody "
        "wrote.",
        b->name);
  }
  PtrMap inside = {0};
  for (const SRef *r = stage->writer->parent; r != stage->where; r = r->parent)
    if (tirc_is_loop(r)) tirc_map_set(s->c, &inside, tirc_loop_of(r)->var, r);
  stage->condition = part_without(s->c, b->predicate, &inside);
  SRef *nest = stage->writer;
  while (nest->parent != stage->where) nest = nest->parent;
  const Region box = {stage->source, stage->region};
  if (tirc_is_true(b->predicate) || !tirc_nest_leaves_holes(s, nest, &box, stage->condition))
    return;
  tirc_sched_mark(s, stage->writer->stmt);
  tirc_sched_error(s, SERR_CACHE_REGION_COVER, NULL, NULL,
                   "The predicate of block %s leaves out parts of the box of %s that would be "
                   "copied, and the copy would move elements that nobody wrote.",
                   b->name, stage->source->name);
}

/* A block that does not declare what blocks inside of it read may read more than the box. */
static void require_declared_readers(Sched *s, const CacheStage *stage) {
  SRef **readers;
  int n =
      covers_buffer(s->c, stage) ? 0 : tirc_readers_of(s, stage->scope, stage->source, &readers);
  for (int i = 0; i < n; i++) {
    const Block *b = tirc_block_of(readers[i]);
    bool turns = tirc_is_named(stage, readers[i]) || (!stage->is_write && !stage->consumers.n);
    if (!turns || readers[i] == stage->writer || find_region(b->n_reads, b->reads, stage->source))
      continue;
    tirc_sched_mark(s, readers[i]->stmt);
    tirc_sched_error(s, SERR_CACHE_REGION_COVER, NULL, NULL,
                     "Block %s reads %s in blocks inside of it and does not declare what, which "
                     "may be more than is cached.",
                     b->name, stage->source->name);
  }
}

typedef struct Symbols {
  const Sched *s;
  const SRef *around;
  bool found;
} Symbols;

static bool see_symbol(Visitor *v, Expr e) {
  Symbols *k = v->self;
  bool known = e->op != OP_VAR || tirc_map_has(&k->s->loops, e);
  for (const SRef *r = k->around; r && !known; r = r->parent)
    for (int i = 0; tirc_is_block(r) && i < tirc_block_of(r)->n_iters; i++)
      known |= tirc_block_of(r)->iters[i].var == e;
  k->found |= !known;
  return !k->found;
}

/* Where a predicate lets nothing run, a box may end before it starts. A symbolic extent is taken to
 * be large enough. */
static bool may_be_negative(Sched *s, SRef *around, Expr extent) {
  Symbols k = {.s = s, .around = around};
  tirc_visit_expr(&(Visitor){.expr = see_symbol, .self = &k}, extent);
  return !k.found && tirc_const_bound(tirc_analyzer_around(s, around), extent).min < 0;
}

/* The hull of what the writer writes while the loops between it and the copy run. */
static void region_of_writer(Sched *s, CacheStage *stage) {
  Tirc *c = s->c;
  const Block *b = tirc_block_of(stage->writer);
  Buffer source = stage->source;
  const Region *declared = find_region(b->n_writes, b->writes, source);
  if (!declared) {
    tirc_sched_mark(s, stage->writer->stmt);
    tirc_sched_error(
        s, SERR_CACHE_REGION_COVER, NULL,
        "cache the buffer in the scope of the block that declares to write it",
        "Block %s writes %s in blocks inside of it, but does not declare what it writes.", b->name,
        source->name);
  }
  const Region *end = b->writes + b->n_writes;
  if (find_region((int)(end - declared - 1), declared + 1, source)) {
    tirc_sched_mark(s, stage->writer->stmt);
    tirc_sched_error(s, SERR_DUPLICATE_REGION, NULL, NULL,
                     "Block %s declares more than one region of %s that it writes.", b->name,
                     source->name);
  }
  PtrMap bindings = {0};
  tirc_bindings_of(c, stage->writer->stmt, &bindings);
  Region r = tirc_substitute_region(c, *declared, &bindings);
  Analyzer *a = tirc_analyzer(c);
  const IntSet *sets =
      tirc_region_upper(s, a, r, b->predicate, stage->writer->parent, stage->where);
  Range *out = tirc_new_array(c, Range, source->ndim);
  bool never = tirc_sums_nothing(s, stage->writer);
  for (int i = 0; i < source->ndim; i++) {
    Range whole = tirc_range(tirc_int(c, source->shape[i]->dtype, 0), source->shape[i]);
    out[i] = clip(c, tirc_range_of_set(a, sets[i], whole), source->shape[i]);
    if (may_be_negative(s, stage->where, out[i].extent)) out[i] = whole;
    never |= tirc_is_int(out[i].extent, 0) && !tirc_is_int(source->shape[i], 0);
  }
  if (never) {
    tirc_sched_mark(s, stage->writer->stmt);
    tirc_sched_error(s, SERR_CACHE_REGION_COVER, NULL,
                     "a block that never runs needs no cache: remove its predicate or the block",
                     "Block %s never runs, so it writes nothing of %s that could be copied.",
                     b->name, source->name);
  }
  stage->region = out;
  require_written(s, stage, tirc_analyzer_around(s, stage->writer));
  keep_condition(s, stage);
  require_declared_readers(s, stage);
}

/* Whether the reader, below the scope, certainly reads elements outside of what that declares: a
 * copy that another primitive put there may read where its own reader does not run. */
static bool reads_more(Sched *s, const CacheStage *stage, SRef *reader, const Region *declared) {
  Tirc *c = s->c;
  const Block *b = tirc_block_of(reader);
  Analyzer *a = tirc_analyzer_around(s, stage->scope);
  PtrMap bindings = {0};
  tirc_bindings_of(c, reader->stmt, &bindings);
  for (int i = 0; i < b->n_reads; i++) {
    if (b->reads[i].buffer != stage->source) continue;
    const Region r = tirc_substitute_region(c, b->reads[i], &bindings);
    const IntSet *sets = tirc_region_upper(s, a, r, b->predicate, reader->parent, stage->scope);
    for (int d = 0; d < stage->source->ndim; d++) {
      const Expr start = declared->dims[d].min, size = stage->source->shape[d];
      const Expr end = tirc_add(c, start, declared->dims[d].extent);
      if (!sets[d].min || !sets[d].max) continue;
      const bool before = tirc_prove_lt(a, sets[d].min, start);
      if ((before && tirc_prove_lt(a, tirc_int(c, start->dtype, 0), start)) ||
          (tirc_prove_ge(a, sets[d].max, end) && tirc_prove_lt(a, end, size)))
        return true;
    }
  }
  return false;
}

static const Region *declared_input(Sched *s, const CacheStage *stage) {
  const Block *b = tirc_block_of(stage->scope);
  const Region *declared = find_region(b->n_reads, b->reads, stage->source);
  SRef **readers;
  const int n = declared ? tirc_readers_of(s, stage->scope, stage->source, &readers) : 0;
  for (int i = 0; i < n; i++)
    if (reads_more(s, stage, readers[i], declared)) return NULL;
  return declared;
}

/* What the scope declares to read of a buffer that nothing in it writes; all of it when it does
 * not, or when a block inside reads more. Where nothing runs, a box may end before it starts. */
static void region_of_input(Sched *s, CacheStage *stage) {
  const Region *declared = declared_input(s, stage);
  Range *out = tirc_new_array(s->c, Range, stage->source->ndim);
  for (int i = 0; i < stage->source->ndim; i++) {
    Expr dim = stage->source->shape[i];
    out[i] = declared ? declared->dims[i] : tirc_range(tirc_int(s->c, dim->dtype, 0), dim);
    Expr none = tirc_int(s->c, out[i].extent->dtype, 0);
    if (declared && may_be_negative(s, stage->scope, out[i].extent))
      out[i].extent = tirc_simplify0(s->c, tirc_max(s->c, out[i].extent, none));
  }
  stage->region = out;
}

/* --- the primitives
 * ---------------------------------------------------------------------------------- */

/* The named consumers; a block that holds others is one with all of them. */
static void take_consumers(Sched *s, CacheStage *stage, Value blocks) {
  for (int i = 0; blocks.kind != VAL_NONE && i < blocks.u.list->n; i++) {
    SRef *consumer = tirc_sref_of_value(s, blocks.u.list->at[i]);
    if (tirc_scope_root(s, consumer) != stage->scope) {
      tirc_sched_mark(s, consumer->stmt);
      tirc_sched_error(s, SERR_CACHE_CONSUMER, NULL, NULL,
                       "Block %s of consumer_blocks is no block of the scope %s, in which %s is "
                       "cached.",
                       tirc_block_of(consumer)->name, tirc_block_of(stage->scope)->name,
                       stage->source->name);
    }
    vec_push(s->c, stage->consumers, consumer);
  }
}

/* A cache of the box alone is indexed from where the box starts, which blocks of the scope must be
 * able to say: by iterators of the scope's block, not by loops outside of it. */
static void require_own_start(Sched *s, const CacheStage *stage) {
  for (SRef *r = stage->scope->parent; r && !stage->full; r = r->parent)
    for (int i = 0; tirc_is_loop(r) && i < stage->source->ndim; i++)
      if (tirc_uses_var(stage->region[i].min, tirc_loop_of(r)->var) ||
          tirc_uses_var(stage->region[i].extent, tirc_loop_of(r)->var)) {
        tirc_sched_mark(s, r->stmt);
        tirc_sched_error(s, SERR_LOOP_VAR_ESCAPES, NULL, NULL,
                         "The box of %s that would be cached in block %s depends on loop %s.",
                         stage->source->name, tirc_block_of(stage->scope)->name,
                         tirc_loop_of(r)->var->u.s);
      }
}

/* A reader that turns to a cache of the box alone must not look outside of it, as one may that runs
 * where a predicate about a loop around both leaves the writer out. */
static void require_readers_in_box(Sched *s, const CacheStage *stage) {
  const Region box = {stage->source, stage->region};
  for (int i = 0; i < stage->consumers.n && !stage->full; i++) {
    SRef *reader = stage->consumers.at[i];
    if (reader == stage->writer || !reads_more(s, stage, reader, &box)) continue;
    tirc_sched_mark(s, reader->stmt);
    tirc_sched_error(s, SERR_CACHE_REGION_COVER, NULL, NULL,
                     "Block %s reads more of %s than the box that would be cached.",
                     tirc_block_of(reader)->name, stage->source->name);
  }
}

static Value finish(Sched *s, CacheStage *stage, const char *storage_scope) {
  if (stage->writer) tirc_require_no_loose_use(s, stage->scope, stage->writer);
  stage->full = tirc_is_loop(stage->where);
  require_own_start(s, stage);
  if (stage->is_write) require_readers_in_box(s, stage);
  if (stage->is_write) require_no_own_reads(s, stage);
  tirc_require_readers_after_writer(s, stage);
  tirc_make_copy(s, stage, storage_scope);
  Stmt writer = stage->writer ? stage->writer->stmt : NULL;
  tirc_sched_replace(s, stage->scope, tirc_install_copy(s, stage));
  if (writer && !tirc_sref_of_block(s, stage->copy_id)->region_cover) {
    tirc_sched_mark(s, writer);
    tirc_sched_error(
        s, SERR_CACHE_REGION_COVER, NULL, NULL,
        "Block %s does not write all of the box of %s that would be copied, so the copy "
        "would move elements that nobody wrote.",
        writer->u.block.name, stage->source->name);
  }
  const uint32_t users[] = {stage->copy_id, writer ? writer->u.block.id : 0};
  for (int i = 0; i < (writer ? 2 : 1); i++)
    tirc_require_independent_around(s, 1, (SRef *[]){tirc_sref_of_block(s, users[i])});
  return tirc_value_block(stage->copy_id);
}

void tirc_prim_cache_read(Sched *s, const Value *args, Value *result) {
  SRef *block = tirc_sref_of_value(s, args[0]);
  const char *storage_scope = args[2].u.s;
  tirc_require_storage_scope(s, storage_scope);
  CacheStage stage = {.source = tirc_nth_buffer(s, block, args[1], false)};
  stage.scope = tirc_require_scope_root(s, block, false);
  tirc_require_no_loose_use(s, stage.scope, block);
  require_covered_readers(s, &stage);
  take_consumers(s, &stage, args[3]);
  stage.writer = tirc_only_writer(s, &stage);
  if (stage.writer) {
    tirc_place_copy(s, &stage);
    region_of_writer(s, &stage);
  } else {
    stage.where = stage.scope;
    stage.index = 0;
    region_of_input(s, &stage);
  }
  *result = finish(s, &stage, storage_scope);
}

void tirc_prim_cache_write(Sched *s, const Value *args, Value *result) {
  SRef *block = tirc_sref_of_value(s, args[0]);
  const char *storage_scope = args[2].u.s;
  tirc_require_storage_scope(s, storage_scope);
  CacheStage stage = {.source = tirc_nth_buffer(s, block, args[1], true), .is_write = true};
  stage.scope = tirc_require_scope_root(s, block, false);
  tirc_require_no_loose_use(s, stage.scope, block);
  take_consumers(s, &stage, args[3]);
  stage.writer = tirc_only_writer(s, &stage);
  require_covered_readers(s, &stage);
  tirc_place_copy(s, &stage);
  region_of_writer(s, &stage);
  *result = finish(s, &stage, storage_scope);
}
