/* cache_inplace(block, i, scope): a block that changes a buffer in place does so in a cache.
 *
 *   for i:                                     for i:
 *       block: A[i] = f(A[i])           ->         for ax0: A_local[v0] = A[v0]
 *                                                  block: A_local[i] = f(A_local[i])
 *                                                  for ax0: A[v0] = A_local[v0]
 *
 * The copies stand right before and after the block in its innermost loop, and move the regions
 * that the block declares to read and to write. The buffer must be one of its reads and of its
 * writes (not-read-write); it may read no more of it than it declares (reads-own-output), as the
 * blocks of a sum do that reads other sums; what it reads must be covered by its producers
 * (region-not-covered); and all that is copied back must have been written, or copied in before
 * (copy-partial).
 *
 * Errors: storage-scope, root-block, not-stage-pipeline, buffer-index, buffer-not-found,
 * not-read-write, duplicate-region, region-not-covered, copy-partial, cache-alias,
 * reads-own-output, iterations-depend. */
#include "copies.h"

typedef struct Inplace {
  Sched *s;
  SRef *block, *scope, *where;
  Buffer source;
  const Region *read, *write;
  Stmt item; /* of where's body, with the block in it */
  int index; /* of that item */
} Inplace;

static const Region *only_region(Inplace *p, int n, const Region *at) {
  const Region *found = NULL;
  for (int i = 0; i < n; i++) {
    if (at[i].buffer != p->source) continue;
    if (found)
      tirc_sched_error_at(p->s, p->block->stmt, SERR_DUPLICATE_REGION, NULL, NULL,
                          "Block %s declares more than one region of %s.",
                          tirc_block_of(p->block)->name, p->source->name);
    found = &at[i];
  }
  return found;
}

static void find_regions(Inplace *p) {
  const Block *b = tirc_block_of(p->block);
  p->read = only_region(p, b->n_reads, b->reads);
  p->write = only_region(p, b->n_writes, b->writes);
  if (p->read && p->write) return;
  tirc_sched_error_at(p->s, p->block->stmt, SERR_NOT_READ_WRITE, NULL, NULL,
                      "Block %s %s %s, but does not %s it.", b->name, p->read ? "reads" : "writes",
                      p->source->name, p->read ? "write" : "read");
}

static bool is_within(Inplace *p, Range inner, Range outer) {
  Tirc *c = p->s->c;
  Analyzer *a = tirc_analyzer(c);
  return tirc_prove_ge(a, inner.min, outer.min) &&
         tirc_prove_ge(a, tirc_add(c, outer.min, outer.extent),
                       tirc_add(c, inner.min, inner.extent));
}

static bool reads_all(Inplace *p) {
  bool all = true;
  for (int d = 0; d < p->source->ndim; d++) {
    const Expr size = p->source->shape[d];
    all &= is_within(p, tirc_range(tirc_int(p->s->c, size->dtype, 0), size), p->read->dims[d]);
  }
  return all;
}

/* What sums read of their own output, they do not declare. */
static void require_declared_reads(Inplace *p) {
  Access access = tirc_block_access(p->s->c, p->block->stmt);
  const bool hides = !reads_all(p) && tirc_reads_other_output(p->s, p->block);
  for (int i = 0; i < access.reads.n; i++) {
    const Region *r = &access.reads.at[i];
    bool within = r->buffer != p->source || !hides;
    for (int d = 0; r->buffer == p->source && d < p->source->ndim; d++)
      within = within && is_within(p, r->dims[d], p->read->dims[d]);
    if (within) continue;
    tirc_sched_error_at(
        p->s, p->block->stmt, SERR_READS_OWN_OUTPUT, NULL,
        "declare in T.reads all that the block reads of the buffer",
        "Block %s reads more of %s than it declares, which the copy would leave out.",
        tirc_block_of(p->block)->name, p->source->name);
  }
}

static void require_defined_copy(Inplace *p) {
  bool within = true;
  for (int d = 0; d < p->source->ndim; d++)
    within = within && is_within(p, p->write->dims[d], p->read->dims[d]);
  if (within || (tirc_writes_box(p->s, p->block, p->write) &&
                 !tirc_is_guarded(p->s, p->block, p->block->parent)))
    return;
  tirc_sched_error_at(
      p->s, p->block->stmt, SERR_COPY_PARTIAL, NULL,
      "let the declared reads of the buffer include its declared writes",
      "Block %s declares to write parts of %s that it does not read, and is not known "
      "to write all of them, so the copy back could move what nobody computed.",
      tirc_block_of(p->block)->name, p->source->name);
}

typedef struct Uses {
  Visitor v;
  Inplace *p;
  Stmt block;
  bool found;
} Uses;

/* The item of the innermost loop's body, or of the scope's. */
static void find_place(Inplace *p) {
  p->where = p->block->parent;
  const Stmt *items;
  int n = tirc_body_items(p->s->c, tirc_body_of(p->where->stmt), &items);
  const Paths paths = tirc_paths_to(p->s, 1, &p->block);
  for (int i = 0; i < n && !p->item; i++) {
    if (!tirc_holds(items[i], p->block->stmt, &paths)) continue;
    p->item = items[i];
    p->index = i;
  }
}

static bool see_other_use(Visitor *v, Expr e) {
  Uses *u = v->self;
  u->found = u->found || (e->op == OP_LOAD && e->u.buffer->data == u->p->source->data);
  return true;
}

static bool see_other_store(Visitor *v, Stmt s) {
  Uses *u = v->self;
  if (s == u->block) return false;
  u->found = u->found || (s->kind == STMT_STORE && s->u.store.buffer->data == u->p->source->data);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_matches; i++)
    u->found = u->found || s->u.block.matches[i].source.buffer->data == u->p->source->data;
  return !u->found;
}

/* In the other branch of an if, as an example: the copies stand around that, too. */
static void require_item_alone(Inplace *p) {
  Uses u = {.p = p, .block = p->block->stmt};
  u.v = (Visitor){.stmt = see_other_store, .expr = see_other_use, .self = &u};
  tirc_visit_stmt(&u.v, p->item);
  if (!u.found) return;
  tirc_sched_mark(p->s, p->item);
  tirc_sched_error_at(
      p->s, p->block->stmt, SERR_CACHE_ALIAS, NULL, NULL,
      "%s cannot be cached: the statement that block %s is part of uses it outside of "
      "the block.",
      p->source->name, tirc_block_of(p->block)->name);
}

static bool see_view(Visitor *v, Expr e) {
  Uses *u = v->self;
  Buffer b = e->op == OP_LOAD ? e->u.buffer : NULL;
  u->found = u->found || (b && b != u->p->source && b->data == u->p->source->data) ||
             (e == u->p->source->data && (u->p->source->strides || u->p->source->elem_offset));
  return true;
}

static bool see_view_store(Visitor *v, Stmt s) {
  Uses *u = v->self;
  Buffer b = s->kind == STMT_STORE ? s->u.store.buffer : NULL;
  u->found = u->found || (b && b != u->p->source && b->data == u->p->source->data);
  return true;
}

static void require_no_alias(Inplace *p) {
  Uses u = {.p = p};
  u.v = (Visitor){.expr = see_view, .stmt = see_view_store, .self = &u};
  tirc_visit_stmt(&u.v, p->block->stmt);
  if (!u.found) return;
  tirc_sched_error_at(p->s, p->block->stmt, SERR_CACHE_ALIAS, NULL, NULL,
                      "%s cannot be cached: block %s accesses its memory in another way.",
                      p->source->name, tirc_block_of(p->block)->name);
}

/* The copies run where the predicate lets the block run. */
static void require_known_start(Inplace *p, const CacheStage *stage) {
  Tirc *c = p->s->c;
  Block runs = *tirc_block_of(p->block);
  Analyzer *a = tirc_analyzer_around(p->s, p->block->parent);
  tirc_enter_constraint(a, runs.predicate);
  runs.predicate = tirc_bool(c, true);
  for (int i = 0; i < p->source->ndim; i++)
    tirc_require_known_bound(p->s, stage, a, stage->region[i].min, tirc_block(c, &runs));
}

/* The copy of a region, in terms of the loops around. Where the block does not run, nothing is
 * copied either. */
static CacheStage make_stage(Inplace *p, const Region *declared, const char *storage_scope,
                             bool is_write) {
  Tirc *c = p->s->c;
  PtrMap bindings = {0};
  tirc_bindings_of(c, p->block->stmt, &bindings);
  CacheStage stage = {.source = p->source,
                      .scope = p->scope,
                      .where = p->where,
                      .region = tirc_substitute_region(c, *declared, &bindings).dims,
                      .full = true,
                      .is_write = is_write};
  require_known_start(p, &stage);
  tirc_make_copy(p->s, &stage, storage_scope);
  stage.copy = tirc_add_predicate(c, stage.copy, tirc_block_of(p->block)->predicate);
  return stage;
}

static Stmt with_copies(Inplace *p, const CacheStage *in, const CacheStage *out) {
  Tirc *c = p->s->c;
  PtrMap to_cache = {0}, one_cache = {0};
  tirc_map_set(c, &to_cache, p->source, in->cache);
  tirc_map_set(c, &one_cache, out->cache, in->cache);
  Stmt block = tirc_substitute_buffers(c, p->block->stmt, &to_cache);
  Stmt body = tirc_body_of(p->where->stmt);
  body = tirc_insert_item(c, body, p->index + 1, tirc_substitute_buffers(c, out->copy, &one_cache));
  body = tirc_insert_item(c, body, p->index, in->copy);
  Stmt where = tirc_replace_node(p->s, tirc_with_body(c, p->where->stmt, body), p->block, block);
  Stmt scope =
      p->where == p->scope ? where : tirc_replace_node(p->s, p->scope->stmt, p->where, where);
  return tirc_with_allocs(c, scope, tirc_body_of(scope), 1, &in->cache);
}

void tirc_prim_cache_inplace(Sched *s, const Value *args, Value *result) {
  Inplace p = {.s = s, .block = tirc_sref_of_value(s, args[0])};
  const char *storage_scope = args[2].u.s;
  tirc_require_storage_scope(s, storage_scope);
  p.source = tirc_nth_buffer(s, p.block, args[1], false);
  p.scope = tirc_require_scope_root(s, p.block, false);
  tirc_require_no_loose_use(s, p.scope, p.block);
  tirc_require_covered_readers(s, &(CacheStage){.source = p.source, .scope = p.scope});
  find_regions(&p);
  require_declared_reads(&p);
  require_defined_copy(&p);
  require_no_alias(&p);
  find_place(&p);
  require_item_alone(&p);
  CacheStage in = make_stage(&p, p.read, storage_scope, false);
  CacheStage out = make_stage(&p, p.write, storage_scope, true);
  tirc_sched_replace(s, p.scope, with_copies(&p, &in, &out));
  tirc_require_independent_around(s, 1, (SRef *[]){tirc_sref_of_block(s, in.copy_id)});
  Value copies[] = {tirc_value_block(in.copy_id), tirc_value_block(out.copy_id)};
  *result = tirc_value_list(s->c, VAL_LIST, 2, copies);
}
