/* Finding the one access of a block to a buffer, and sending it elsewhere; see copies.h. */
#include "copies.h"

/* --- the access ------------------------------------------------------------------------------- */

typedef struct Search {
  Mutator m; /* used for walking only */
  Reindex *r;
  PtrMap local; /* variables that loops around the block and statements inside of it define, and
                   buffers that live in it */
  int conditions;
  bool sure;
} Search;

static _Noreturn void bad_access(Reindex *r, const char *why) {
  tirc_refuse(r->s, r->block->stmt, SERR_REINDEX_ACCESS, "Block %s %s %s.", tirc_name_of(r->block),
              why, r->source->name);
}

static void see_access(Search *f, int n, const Expr *indices, bool store) {
  Reindex *r = f->r;
  if (f->conditions == 0 && store == r->is_write) f->sure = true;
  if (r->old && !tirc_same_exprs(n, r->old, indices))
    bad_access(r, "accesses different elements of");
  if (!r->old) r->old = indices;
  if (!r->old) r->old = tirc_new_array(r->c, Expr, 1); /* no dimensions */
}

static Expr search_expr(Mutator *m, Expr e) {
  Search *f = m->self;
  if (e == f->r->source->data) bad_access(f->r, "uses the address of");
  bool lazy = e->op == OP_IF_THEN_ELSE || e->op == OP_AND || e->op == OP_OR;
  for (int i = 0; i < e->n; i++) {
    f->conditions += lazy && i > 0;
    search_expr(m, e->args[i]);
    f->conditions -= lazy && i > 0;
  }
  if (e->op == OP_LOAD && e->u.buffer == f->r->source) see_access(f, e->n, e->args, false);
  return e;
}

static void search_body(Search *f, Stmt s, bool conditional) {
  f->conditions += conditional;
  tirc_mutate_stmt_children(&f->m, s);
  f->conditions -= conditional;
}

static Stmt search_stmt(Mutator *m, Stmt s) {
  Search *f = m->self;
  int64_t extent;
  switch (s->kind) {
  case STMT_BLOCK:
    tirc_refuse(f->r->s, f->r->block->stmt, SERR_NOT_LEAF, "Block %s has block %s inside of it.",
                tirc_name_of(f->r->block), s->u.block.name);
  case STMT_FOR:
    tirc_map_set(f->r->c, &f->local, s->u.loop.var, s);
    search_body(f, s, !tirc_const_int(s->u.loop.extent, &extent) || extent < 1);
    break;
  case STMT_LET:
    tirc_map_set(f->r->c, &f->local, s->u.let.var, s);
    search_body(f, s, false);
    break;
  case STMT_ALLOC:
  case STMT_DECL:
    tirc_map_set(f->r->c, &f->local, s->u.alloc.buffer, s);
    search_body(f, s, false);
    break;
  case STMT_IF:
  case STMT_WHILE: search_body(f, s, true); break;
  default: search_body(f, s, false); break;
  }
  if (s->kind == STMT_STORE && s->u.store.buffer == f->r->source)
    see_access(f, s->u.store.n, s->u.store.indices, true);
  return s;
}

static bool is_local(const void *local, Expr e) {
  return (e->op == OP_VAR && tirc_map_has(local, e)) ||
         (e->op == OP_LOAD && tirc_map_has(local, e->u.buffer));
}

static void require_no_local(Search *f) {
  Reindex *r = f->r;
  for (int i = 0; i < r->source->ndim; i++) {
    if (!tirc_find_expr(r->old[i], is_local, &f->local)) continue;
    tirc_refuse(r->s, r->block->stmt, SERR_LOOP_VAR_ESCAPES,
                "An index of %s in block %s uses a variable or buffer that is defined around or "
                "inside of it, which the copy could not use.",
                r->source->name, tirc_name_of(r->block));
  }
}

void tirc_find_access(Reindex *r) {
  Tirc *c = r->c;
  const Block *b = tirc_block_of(r->block);
  Search f = {.r = r};
  const SRefs loops = tirc_loops_above(r->s, r->block);
  for (int i = 0; i < loops.n; i++)
    tirc_map_set(c, &f.local, tirc_loop_of(loops.at[i])->var, loops.at[i]);
  f.m = (Mutator){.c = c, .expr = search_expr, .stmt = search_stmt, .self = &f};
  for (int i = 0; i < b->n_matches; i++)
    if (b->matches[i].source.buffer->data == r->source->data) bad_access(r, "has a view of");
  for (int i = 0; i < b->n_matches; i++) tirc_map_set(c, &f.local, b->matches[i].buffer, &f);
  for (int i = 0; i < b->n_allocs; i++) tirc_map_set(c, &f.local, b->allocs[i], &f);
  if (b->init) tirc_mutate_stmt(&f.m, b->init);
  tirc_mutate_stmt(&f.m, b->body);
  if (!r->old) bad_access(r, "nowhere loads or stores");
  require_no_local(&f);
  r->conditional = !f.sure || tirc_is_guarded(r->s, r->block, r->scope);
}

void tirc_require_inside(Reindex *r, bool all_instances) {
  const Block *b = tirc_block_of(r->block);
  r->conditional |= r->is_write && tirc_sums_nothing(r->s, r->block);
  if (all_instances && !r->conditional) return;
  Analyzer *a = tirc_analyzer_around(r->s, r->block);
  bool inside = !r->is_write || !r->conditional;
  for (int i = 0; inside && i < r->source->ndim; i++)
    inside = tirc_surely_indexes(a, r->old[i], r->source->shape[i]) &&
             !tirc_failing_part(r->s, r->block, a, r->old[i], NULL);
  if (inside) return;
  tirc_refuse(r->s, r->block->stmt, SERR_REINDEX_COVER,
              "Block %s %s elements of %s only under a condition or for a part of its iterators' "
              "domains, but the copy would also move other elements.",
              b->name, r->is_write ? "writes" : "reads", r->source->name);
}

void tirc_require_own_domains(const Reindex *r) {
  const SRef *l = tirc_loop_of_domain(r->block);
  if (!l) return;
  tirc_refuse(r->s, l->stmt, SERR_LOOP_VAR_ESCAPES,
              "A domain of block %s depends on loop %s, which the copy could not use.",
              tirc_name_of(r->block), tirc_name_of(l));
}

/* --- the stage -------------------------------------------------------------------------------- */

SRef *tirc_index_writer(Reindex *r, Buffer *written) {
  for (int i = 0; i < r->source->ndim; i++) {
    const Expr load = tirc_reads_written(r->scope, r->old[i]);
    if (!load) continue;
    *written = load->u.buffer;
    return tirc_writers_of(r->scope, *written).at[0];
  }
  return NULL;
}

Stmt tirc_copy_block(Reindex *r, const char *name, int n_iters, const IterVar *iters,
                     const Expr *values, const PtrMap *replaced) {
  Tirc *c = r->c;
  const Expr *outside = tirc_substitute_all(c, r->source->ndim, r->old, replaced);
  const Expr *inside = tirc_substitute_all(c, r->copy->ndim, r->indices, replaced);
  Buffer from = r->is_write ? r->copy : r->source, to = r->is_write ? r->source : r->copy;
  const Expr *load_at = r->is_write ? inside : outside, *store_at = r->is_write ? outside : inside;
  Region reads = tirc_point(c, from, load_at), writes = tirc_point(c, to, store_at);
  Stmt body = tirc_store(c, to, to->ndim, store_at, tirc_load(c, from, from->ndim, load_at));
  Stmt block =
      tirc_storing_block(c, name, n_iters, iters, values, tirc_bool(c, true), reads, writes, body);
  /* Indices that load other buffers are no reads of the stage in TVM; here they are, as soon as
   * something depends on it. */
  Buffer index;
  return tirc_index_writer(r, &index) ? tirc_infer_regions(c, block, false, false) : block;
}

void tirc_reindexed_buffer(Reindex *r, Buffer b, int ndim, const Expr *shape) {
  struct BufferNode copy = tirc_dense(b);
  copy.ndim = ndim;
  copy.shape = shape;
  copy.one_stride = false;
  copy.n_axis_separators = 0;
  r->copy = tirc_buffer_copy(r->c, &copy);
}

/* --- rewriting -------------------------------------------------------------------------------- */

typedef struct Rewrite {
  Mutator m;
  Reindex *r;
  bool inside; /* of the block */
} Rewrite;

static Expr rewrite_expr(Mutator *m, Expr e) {
  Rewrite *w = m->self;
  if (w->inside && e->op == OP_LOAD && e->u.buffer == w->r->source)
    return tirc_load(m->c, w->r->copy, w->r->copy->ndim, w->r->indices);
  return tirc_mutate_expr_children(m, e);
}

static const Region *rewrite_regions(Reindex *r, int n, const Region *from) {
  Region *out = tirc_new_array(r->c, Region, n + 1);
  for (int i = 0; i < n; i++)
    out[i] = from[i].buffer == r->source ? tirc_point(r->c, r->copy, r->indices) : from[i];
  return out;
}

/* What the bindings and the predicate load is no access of the block: its iterators have no values
 * there yet. */
static Stmt rewrite_block(Rewrite *w, Stmt s) {
  w->inside = true;
  Block b = tirc_mutate_stmt_children(&w->m, s)->u.block;
  w->inside = false;
  b.iter_values = s->u.block.iter_values;
  b.predicate = s->u.block.predicate;
  b.reads = rewrite_regions(w->r, b.n_reads, b.reads);
  b.writes = rewrite_regions(w->r, b.n_writes, b.writes);
  return tirc_with_loc(w->r->c, tirc_block(w->r->c, &b), s->loc);
}

static Stmt rewrite_stmt(Mutator *m, Stmt s) {
  Rewrite *w = m->self;
  Reindex *r = w->r;
  if (s == r->block->stmt) return rewrite_block(w, s);
  if (s->kind == STMT_STORE && w->inside && s->u.store.buffer == r->source) {
    Expr value = tirc_mutate_expr(m, s->u.store.value);
    Stmt to = tirc_store(m->c, r->copy, r->copy->ndim, r->indices, value);
    return tirc_with_loc(m->c, to, s->loc);
  }
  Stmt to = tirc_mutate_stmt_children(m, s);
  if (s != r->where->stmt) return to;
  return tirc_with_body(m->c, to,
                        tirc_insert_below_decls(m->c, tirc_body_of(to), r->index, r->stage));
}

static Stmt find_block(Stmt nest) {
  while (nest->kind == STMT_FOR) nest = nest->u.loop.body;
  return nest;
}

Value tirc_install_reindex(Reindex *r) {
  Rewrite w = {.r = r};
  SRef *at[] = {r->block, r->where};
  const Paths paths = tirc_paths_to(r->s, r->where == r->scope ? 1 : 2, at);
  w.m = (Mutator){r->c, rewrite_expr, rewrite_stmt, NULL, &w, &paths};
  Stmt scope = rewrite_stmt(&w.m, r->scope->stmt);
  scope = tirc_with_allocs(r->c, scope, scope->u.block.body, 1, &r->copy);
  tirc_sched_replace(r->s, r->scope, scope);
  return tirc_value_block(find_block(r->stage)->u.block.id);
}
