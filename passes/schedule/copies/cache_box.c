/* The box of a buffer that a cache holds: the hull of what its writer writes below the copy, or
 * what a block declares to read of an input. No element is copied that nobody wrote, and no block
 * that turns to the cache finds less there than it reads. */
#include "copies.h"
#include "ir/arith/index_eval.h"
#include "ir/tree/print.h"
#include "passes/schedule/state/state.h"

static bool covers_buffer(Tirc *c, const CacheStage *stage) {
  for (int i = 0; i < stage->source->ndim && !stage->full; i++) {
    const Range r = stage->region[i];
    const Expr rest = tirc_simplify0(c, tirc_sub(c, stage->source->shape[i], r.extent));
    if (!tirc_is_int(r.min, 0) || !tirc_is_int(rest, 0)) return false;
  }
  return true;
}

void tirc_require_no_own_reads(Sched *s, const CacheStage *stage) {
  const Block *b = tirc_block_of(stage->writer);
  if (!tirc_reads_own_output(s, stage->writer, stage->source)) return;
  if (tirc_is_own_buffer(stage) && covers_buffer(s->c, stage)) return;
  tirc_sched_error(s, stage->writer->stmt, SERR_READS_OWN_OUTPUT, NULL,
                   tirc_hint_of_update(s, stage->scope, stage->source),
                   "Block %s reads %s, which it also writes: moved to a cache it would read the "
                   "cache before anything is there.",
                   b->name, stage->source->name);
}

/* A box never needs to be larger than the buffer. */
static Range clip(Tirc *c, Range r, Expr dim) {
  Analyzer *a = tirc_analyzer(c);
  Expr zero = tirc_int(c, r.min->dtype, 0);
  bool from_start = tirc_prove_ge(a, zero, r.min);
  bool to_end = tirc_prove_ge(a, tirc_add(c, r.min, r.extent), dim);
  if (from_start && to_end) return tirc_from_zero(c, dim);
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

static bool loads_start(const CacheStage *stage) {
  for (int i = 0; i < stage->source->ndim; i++)
    if (tirc_reads_memory(stage->region[i].min) || tirc_reads_memory(stage->region[i].extent))
      return true;
  return false;
}

static _Noreturn void not_written(Sched *s, const CacheStage *stage, const char *missing) {
  tirc_sched_error(s, stage->writer->stmt, SERR_CACHE_REGION_COVER,
                   tirc_missing_text(s->c, missing), NULL,
                   "Block %s is not known to write all of the box of %s that would be copied, and "
                   "the copy would move elements that nobody wrote.",
                   tirc_name_of(stage->writer), stage->source->name);
}

/* What is not written, is copied back over what others see. What the loops outside of the copy
 * decide of whether the writer runs, its copy must do too; and also where the box starts at a
 * number that is loaded, which may be nowhere. Of a buffer of the scope's own it is enough that
 * each instance writes what it declares: the cache holds the rest as long as the buffer does. */
static void require_written(Sched *s, CacheStage *stage) {
  const Block *b = tirc_block_of(stage->writer);
  const Region box = {stage->source, stage->region};
  const bool own = tirc_is_own_buffer(stage);
  const char *missing = NULL;
  stage->condition = tirc_bool(s->c, true);
  if (!loads_start(stage) && (!stage->is_write || own)) {
    const Region *declared = tirc_declared_write(b, stage->source);
    if (stage->is_write && !tirc_writes_box(s, stage->writer, declared))
      not_written(s, stage, NULL);
    return;
  }
  if (tirc_is_guarded(s, stage->writer, stage->where))
    tirc_sched_error(
        s, stage->writer->stmt, SERR_CACHE_REGION_COVER, NULL,
        "make the condition a predicate of the block: T.where(...)",
        "Block %s runs under a condition, and the copy would move elements that nobody wrote.",
        b->name);
  PtrMap inside = {0};
  for (const SRef *r = stage->writer->parent; r != stage->where; r = r->parent)
    if (tirc_is_loop(r)) tirc_map_set(s->c, &inside, tirc_loop_of(r)->var, r);
  stage->condition =
      tirc_conjuncts(s->c, tirc_touching_condition(s, stage->writer), &inside, false);
  if (!tirc_nest_writes_box(s, stage->writer, stage->where, stage->condition, &box, &missing))
    not_written(s, stage, missing);
}

static bool surely_leaves(Tirc *c, Analyzer *a, Range box, Expr size, IntSet read) {
  const Expr end = tirc_add(c, box.min, box.extent);
  if (!read.min || !read.max) return false;
  const bool before = tirc_prove_lt(a, read.min, box.min);
  return (before && tirc_prove_lt(a, tirc_int(c, box.min->dtype, 0), box.min)) ||
         (tirc_prove_ge(a, read.max, end) && tirc_prove_lt(a, end, size));
}

static bool may_leave(Analyzer *a, Range box, Expr size, IntSet read) {
  return !(tirc_is_int(box.min, 0) && tirc_expr_same(box.extent, size)) &&
         !tirc_set_surely_in(a, read, box);
}

/* Whether the reader, below the scope, certainly declares to read elements outside of what that
 * declares, as a copy that another primitive put there may read where its own reader does not run;
 * or may load some that it does not declare. `maybe`: or may declare some. */
static bool reads_more(Sched *s, const CacheStage *stage, SRef *reader, const Region *declared,
                       bool maybe) {
  Tirc *c = s->c;
  const Block *b = tirc_block_of(reader);
  Analyzer *a = tirc_analyzer_around(s, stage->scope);
  for (int i = 0; i < reader->n_accesses[0]; i++) {
    if (reader->accesses[0][i].buffer != stage->source) continue;
    const bool declares = i < b->n_reads;
    const Region r = tirc_unbound_region(c, reader->stmt, reader->accesses[0][i]);
    const IntSet *sets =
        declares ? tirc_used_box(s, a, reader, r, false, maybe ? stage->where : stage->scope)
                 : tirc_region_upper(s, a, r, tirc_bool(c, true), reader->parent, stage->scope);
    for (int d = 0; d < stage->source->ndim; d++) {
      const Range box = declared->dims[d];
      const Expr size = stage->source->shape[d];
      if (declares && !maybe ? surely_leaves(c, a, box, size, sets[d])
                             : may_leave(a, box, size, sets[d]))
        return true;
    }
  }
  return false;
}

/* A block that does not declare what blocks inside of it read may read more than the box; region
 * cover is about what the writer declares, of which blocks inside of it may leave some out. */
static void require_declared_readers(Sched *s, const CacheStage *stage) {
  const Region box = {stage->source, stage->region};
  const bool less = tirc_uses_less(s, stage->writer, stage->source, true);
  const SRefs readers =
      covers_buffer(s->c, stage) ? (SRefs){0} : tirc_readers_of(stage->scope, stage->source);
  for (int i = 0; i < readers.n; i++) {
    const Block *b = tirc_block_of(readers.at[i]);
    const bool told = tirc_declared_read(b, stage->source);
    if (!tirc_turns_to_cache(stage, readers.at[i]) || readers.at[i] == stage->writer ||
        (told && !(less && reads_more(s, stage, readers.at[i], &box, true))))
      continue;
    tirc_refuse(s, readers.at[i]->stmt, SERR_CACHE_REGION_COVER,
                told ? "Block %s reads %s, and may read more than blocks in its producer write."
                     : "Block %s reads %s in blocks inside of it and does not declare what, which "
                       "may be more than is cached.",
                b->name, stage->source->name);
  }
}

typedef struct Symbols {
  const Sched *s;
  const SRef *around;
  IndexEval large; /* symbols; loops and iterators are at 0 */
  bool found;
} Symbols;

static bool see_symbol(Visitor *v, Expr e) {
  enum { LARGE = 1 << 20 };
  Symbols *k = v->self;
  bool known =
      e->op != OP_VAR || tirc_map_has(&k->s->loops, e) || tirc_is_bound_around(k->around, e);
  if (e->op == OP_VAR) tirc_eval_give(&k->large, e, known ? 0 : LARGE);
  k->found |= !known;
  return true;
}

/* Where a predicate lets nothing run, a box may end before it starts. Symbols are taken to be large
 * enough, but not if it is shorter the larger they are. */
static bool may_be_negative(Sched *s, SRef *around, Expr extent, bool *symbolic) {
  Symbols k = {.s = s, .around = around, .large = {.c = s->c}};
  int64_t value;
  tirc_visit_expr(&(Visitor){.expr = see_symbol, .self = &k}, extent);
  *symbolic = k.found;
  if (!k.found) return tirc_const_bound(tirc_analyzer_around(s, around), extent).min < 0;
  return tirc_eval_index(&k.large, extent, &value) && value < 0;
}

static Expr at_least_0(Tirc *c, Expr extent) {
  return tirc_simplify0(c, tirc_max(c, extent, tirc_int(c, extent->dtype, 0)));
}

/* The hull of what the writer writes while the loops between it and the copy run. */
void tirc_box_of_writer(Sched *s, CacheStage *stage) {
  Tirc *c = s->c;
  const Block *b = tirc_block_of(stage->writer);
  Buffer source = stage->source;
  const Region *declared = tirc_declared_write(b, source);
  if (!declared)
    tirc_sched_error(
        s, stage->writer->stmt, SERR_CACHE_REGION_COVER, NULL,
        "cache the buffer in the scope of the block that declares to write it",
        "Block %s writes %s in blocks inside of it, but does not declare what it writes.", b->name,
        source->name);
  const Region *end = b->writes + b->n_writes;
  if (tirc_region_of((int)(end - declared - 1), declared + 1, source))
    tirc_refuse(s, stage->writer->stmt, SERR_DUPLICATE_REGION,
                "Block %s declares more than one region of %s that it writes.", b->name,
                source->name);
  Region r = tirc_unbound_region(c, stage->writer->stmt, *declared);
  Analyzer *a = tirc_analyzer(c);
  const IntSet *sets = tirc_used_box(s, a, stage->writer, r, true, stage->where);
  Range *out = tirc_new_array(c, Range, source->ndim);
  bool never = tirc_sums_nothing(s, stage->writer);
  for (int i = 0; i < source->ndim; i++) {
    Range whole = tirc_whole_dim(c, source, i);
    out[i] = clip(c, tirc_range_of_set(a, sets[i], whole), source->shape[i]);
    bool symbolic;
    if (may_be_negative(s, stage->where, out[i].extent, &symbolic))
      out[i] = symbolic ? tirc_range(out[i].min, at_least_0(c, out[i].extent)) : whole;
    never |= tirc_is_int(out[i].extent, 0) && !tirc_is_int(source->shape[i], 0);
  }
  if (never)
    tirc_sched_error(s, stage->writer->stmt, SERR_CACHE_REGION_COVER, NULL,
                     "remove the block or its predicate: a block that never runs needs no cache",
                     "Block %s never runs, so it writes nothing of %s that could be copied.",
                     b->name, source->name);
  stage->region = out;
  require_written(s, stage);
  require_declared_readers(s, stage);
}

static const Region *declared_input(Sched *s, const CacheStage *stage) {
  const Block *b = tirc_block_of(stage->scope);
  const Region *declared = tirc_declared_read(b, stage->source);
  const SRefs readers = declared ? tirc_readers_of(stage->scope, stage->source) : (SRefs){0};
  for (int i = 0; i < readers.n; i++)
    if (reads_more(s, stage, readers.at[i], declared, false)) return NULL;
  return declared;
}

/* The copy stands at the start of the scope, before what others of its blocks do. */
static void require_known_start(Sched *s, const CacheStage *stage, Analyzer *a, Range r) {
  tirc_require_known_bound(s, stage, a, r.min, tirc_block_of(stage->scope)->body);
  if (!tirc_reads_written(stage->scope, r.min) && !tirc_reads_written(stage->scope, r.extent))
    return;
  tirc_refuse(s, NULL, SERR_CACHE_REGION_COVER,
              "The box of %s that would be copied, %s elements from %s, is loaded from what blocks "
              "of the scope write.",
              stage->source->name, tirc_print_expr(s->c, r.extent), tirc_print_expr(s->c, r.min));
}

/* The hull of what the readers that turn to the cache use of it, where each has predicates inside
 * that leave some of it out; NULL: some may use all. */
static const Region *used_input(Sched *s, const CacheStage *stage) {
  Tirc *c = s->c;
  const int ndim = stage->source->ndim;
  Analyzer *a = tirc_analyzer_around(s, stage->scope);
  IntSet *hull = NULL;
  const SRefs readers = tirc_readers_of(stage->scope, stage->source);
  for (int i = 0; i < readers.n; i++) {
    const Region *declared = tirc_declared_read(tirc_block_of(readers.at[i]), stage->source);
    if (!tirc_turns_to_cache(stage, readers.at[i])) continue;
    if (!declared || !tirc_uses_less(s, readers.at[i], stage->source, false)) return NULL;
    const Region r = tirc_unbound_region(c, readers.at[i]->stmt, *declared);
    const IntSet *one = tirc_used_box(s, a, readers.at[i], r, false, stage->scope);
    for (int d = 0; d < ndim && hull; d++) hull[d] = tirc_set_union(a, hull[d], one[d]);
    if (!hull) hull = tirc_copy(c, one, ndim);
  }
  if (!hull) return NULL;
  Range *dims = tirc_new_array(c, Range, ndim);
  Region *out = tirc_new(c, Region);
  for (int d = 0; d < ndim; d++) {
    const Expr size = stage->source->shape[d];
    dims[d] = clip(c, tirc_range_of_set(a, hull[d], tirc_whole_dim(c, stage->source, d)), size);
  }
  *out = (Region){stage->source, dims};
  return out;
}

/* What the scope declares to read of a buffer that nothing in it writes; all of it when it does
 * not, or when a block inside reads more. Where nothing runs, a box may end before it starts. */
void tirc_box_of_input(Sched *s, CacheStage *stage) {
  const Region *declared = declared_input(s, stage);
  if (!declared) declared = used_input(s, stage);
  Analyzer *a = tirc_analyzer_around(s, stage->scope);
  Range *out = tirc_new_array(s->c, Range, stage->source->ndim);
  for (int i = 0; i < stage->source->ndim; i++) {
    out[i] = declared ? declared->dims[i] : tirc_whole_dim(s->c, stage->source, i);
    bool symbolic;
    if (declared && may_be_negative(s, stage->scope, out[i].extent, &symbolic))
      out[i].extent = at_least_0(s->c, out[i].extent);
    require_known_start(s, stage, a, out[i]);
  }
  stage->region = out;
}

void tirc_require_readers_in_box(Sched *s, const CacheStage *stage) {
  const Region box = {stage->source, stage->region};
  for (int i = 0; i < stage->consumers.n && !stage->full; i++) {
    SRef *reader = stage->consumers.at[i];
    if (reader == stage->writer || !reads_more(s, stage, reader, &box, false)) continue;
    tirc_refuse(s, reader->stmt, SERR_CACHE_REGION_COVER,
                "Block %s reads more of %s than the box that would be cached.",
                tirc_name_of(reader), stage->source->name);
  }
}

static bool is_condition(const struct StmtNode *s) {
  return s->kind == STMT_IF || s->kind == STMT_WHILE;
}

/* Whether a condition which is not around the reader, too, decides whether `at` runs. */
static bool may_not_run(Sched *s, SRef *at, SRef *reader) {
  const SRef *common = tirc_common_ancestor(2, (SRef *[]){at, reader});
  Steps shared = {0};
  while (reader != common && reader->parent != common) reader = reader->parent;
  if (reader != common) shared = tirc_steps_between(s->c, reader);
  for (SRef *r = at; r != common; r = r->parent) {
    const Steps steps = tirc_steps_between(s->c, r);
    for (int i = 0; i < steps.n; i++) {
      const Step *x = &steps.at[i], *y = i < shared.n ? &shared.at[i] : NULL;
      const bool both = r->parent == common && y && x->stmt == y->stmt && x->negated == y->negated;
      if (is_condition(x->stmt) && !both) return true;
    }
  }
  return false;
}

void tirc_require_readers_with_cache(Sched *s, const CacheStage *stage) {
  SRef *at = stage->is_write ? stage->writer : stage->where;
  const bool open = stage->writer && !tirc_is_own_buffer(stage);
  const SRefs readers = open ? tirc_readers_of(stage->scope, stage->source) : (SRefs){0};
  for (int i = 0; i < readers.n; i++) {
    if (readers.at[i] == stage->writer || !tirc_turns_to_cache(stage, readers.at[i]) ||
        !may_not_run(s, at, readers.at[i]))
      continue;
    tirc_sched_mark(s, stage->writer->stmt);
    tirc_sched_error(s, readers.at[i]->stmt, SERR_CACHE_REGION_COVER, NULL,
                     "name the blocks that share the condition in consumer_blocks",
                     "The cache of %s would be filled only under a condition, but block %s reads "
                     "it outside of that condition.",
                     stage->source->name, tirc_name_of(readers.at[i]));
  }
}
