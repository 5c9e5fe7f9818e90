/* Questions about the shape of the sref tree, and the small rewrites that every primitive is made
 * of. */
#include "nodes.h"
#include "state.h"

/* --- shapes ---------------------------------------------------------------------------------- */

bool tirc_is_bound_around(const SRef *at, Expr var) {
  for (; at; at = at->parent)
    if (tirc_is_loop(at) ? tirc_loop_of(at)->var == var
                         : tirc_iter_index(tirc_block_of(at), var) >= 0)
      return true;
  return false;
}

bool tirc_is_ancestor(const SRef *high, const SRef *low) {
  while (low && low != high) low = low->parent;
  return low != NULL;
}

static int depth_of(const SRef *r) {
  int depth = 0;
  for (; r; r = r->parent) depth++;
  return depth;
}

static SRef *common2(SRef *a, SRef *b) {
  int da = depth_of(a), db = depth_of(b);
  for (; da > db; da--) a = a->parent;
  for (; db > da; db--) b = b->parent;
  while (a != b) {
    a = a->parent;
    b = b->parent;
  }
  return a;
}

SRef *tirc_common_ancestor(int n, SRef *const *at) {
  SRef *r = at[0];
  for (int i = 1; i < n; i++) r = common2(r, at[i]);
  return r;
}

SRefs tirc_writers_of(const SRef *scope, Buffer b) {
  return *tirc_accessors_of(scope->scope, b, true);
}
SRefs tirc_readers_of(const SRef *scope, Buffer b) {
  return *tirc_accessors_of(scope->scope, b, false);
}

static bool find_steps(Tirc *c, Stmt s, Stmt to, Steps *out) {
  const bool is_step = s->kind != STMT_SEQ;
  Stmt below;
  if (s == to) return true;
  for (int i = 0; (below = tirc_below(s, i)); i++) {
    if (is_step) vec_push(c, *out, ((Step){s, i > 0}));
    if (find_steps(c, below, to, out)) return true;
    out->n -= is_step;
  }
  return false;
}

Steps tirc_steps_between(Tirc *c, SRef *inner) {
  Steps out = {0};
  if (!tirc_stands_directly(inner))
    (void)find_steps(c, tirc_body_of(inner->parent->stmt), inner->stmt, &out);
  return out;
}

/* --- searches -------------------------------------------------------------------------------- */

static bool is_written_load(const void *scope, Expr e) {
  return e->op == OP_LOAD && tirc_writers_of(scope, e->u.buffer).n;
}

Expr tirc_reads_written(const SRef *scope, Expr e) {
  return tirc_find_expr(e, is_written_load, scope);
}

SRef *tirc_allocator_of(SRef *sref, Buffer b) {
  for (SRef *r = sref; r; r = r->parent) {
    if (!tirc_is_block(r)) continue;
    for (int i = 0; i < tirc_block_of(r)->n_allocs; i++)
      if (tirc_block_of(r)->allocs[i] == b) return r;
  }
  return NULL;
}

bool tirc_is_parameter(Sched *s, const SRef *block, Buffer b) {
  const Func *f = s->mod->funcs[block->func];
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i] == b) return true;
  return false;
}

bool tirc_is_load_of_stored(const void *sref, Expr e) {
  return e->op == OP_LOAD && tirc_touches(sref, e->u.buffer, true);
}

static bool loads_in_shapes(const void *buffer, Stmt s) { return tirc_shapes_load(s, buffer); }

void tirc_require_not_in_shapes(Sched *s, SRef *site, Buffer b) {
  if (!tirc_find_stmt(site->stmt, loads_in_shapes, b, tirc_paths_to_users(s, site, b))) return;
  tirc_refuse(s, site->stmt, SERR_BUFFER_NOT_PLAIN,
              "%s cannot change: an extent of a buffer is loaded from it.", b->name);
}

/* --- rewrites -------------------------------------------------------------------------------- */

Stmt tirc_with_body(Tirc *c, Stmt s, Stmt body) {
  if (tirc_body_of(s) == body) return s;
  struct StmtNode *copy = tirc_copy(c, s, 1);
  if (s->kind == STMT_FOR)
    copy->u.loop.body = body;
  else
    copy->u.block.body = body;
  return tirc_stmt_done(c, copy);
}

Stmt tirc_with_allocs(Tirc *c, Stmt block, Stmt body, int n, const Buffer *buffers) {
  struct StmtNode *copy = tirc_copy(c, block, 1);
  Block *to = &copy->u.block;
  Buffer *allocs = tirc_alloc_array(c, (size_t)(to->n_allocs + n), sizeof *allocs);
  if (to->n_allocs) memcpy(allocs, to->allocs, (size_t)to->n_allocs * sizeof *allocs);
  if (n) memcpy(allocs + to->n_allocs, buffers, (size_t)n * sizeof *allocs);
  to->n_allocs += n;
  to->allocs = allocs;
  to->body = body;
  return tirc_stmt_done(c, copy);
}

Stmt tirc_without_alloc(Tirc *c, Stmt block, Buffer gone) {
  Block b = block->u.block;
  Buffer *kept = tirc_new_array(c, Buffer, b.n_allocs + 1);
  int n = 0;
  for (int i = 0; i < b.n_allocs; i++)
    if (b.allocs[i] != gone) kept[n++] = b.allocs[i];
  b.allocs = kept;
  b.n_allocs = n;
  return tirc_with_loc(c, tirc_block(c, &b), block->loc);
}

int tirc_body_items(Tirc *c, Stmt body, const Stmt **out) {
  const bool seq = body->kind == STMT_SEQ;
  const int n = seq ? body->u.seq.n : 1;
  Stmt *items = tirc_new_array(c, Stmt, n);
  if (!seq) items[0] = body;
  for (int p = 0; seq && p < body->u.seq.n_parts; p++) {
    const SeqPart *part = &body->u.seq.parts[p];
    memcpy(items + part->first, part->at,
           (size_t)(tirc_part_end(body, part) - part->first) * sizeof *items);
  }
  *out = items;
  return n;
}

Stmt tirc_insert_item(Tirc *c, Stmt body, int index, Stmt what) {
  const int n = body->kind == STMT_SEQ ? body->u.seq.n : 1;
  return tirc_seq_splice(c, body, index < 0 || index > n ? n : index, 0, 1, &what);
}

Stmt tirc_insert_below_decls(Tirc *c, Stmt body, int index, Stmt what) {
  const bool declares =
      body->kind == STMT_DECL ||
      (body->kind == STMT_ALLOC && tirc_attrs_get(body->u.alloc.annotations, ALLOC_DATA));
  if (!declares) return tirc_insert_item(c, body, index, what);
  return tirc_alloc_stmt(c, body->kind, body->u.alloc.buffer, body->u.alloc.annotations,
                         tirc_insert_below_decls(c, body->u.alloc.body, index, what));
}

int tirc_item_with(Sched *s, const SRef *node, SRef *below, Stmt *item) {
  const Stmt *items;
  const int n = tirc_body_items(s->c, tirc_body_of(node->stmt), &items);
  const Paths paths = tirc_paths_to(s, 1, &below);
  int at = 0;
  while (at < n - 1 && !tirc_holds(items[at], below->stmt, &paths)) at++;
  *item = items[at];
  return at;
}

Stmt tirc_storing_block(Tirc *c, const char *name, int n, const IterVar *iters, const Expr *values,
                        Expr predicate, Region from, Region to, Stmt store) {
  return tirc_block(c, &(Block){.name = name,
                                .n_iters = n,
                                .iters = iters,
                                .iter_values = values,
                                .predicate = predicate,
                                .n_reads = from.buffer != NULL,
                                .reads = &from,
                                .n_writes = 1,
                                .writes = &to,
                                .body = store});
}

Expr tirc_var_suffixed(Tirc *c, Expr var, const char *suffix, DType t) {
  return tirc_var(c, tirc_format(c, "%s%s", var->u.s, suffix), t);
}

static bool may_divide_by_0(const void *unused, Expr e) {
  (void)unused;
  int64_t by;
  return tirc_divides(e) && !tirc_const_int(e->args[1], &by);
}

static bool may_fail(Expr e) {
  return tirc_reads_memory(e) || tirc_find_expr(e, may_divide_by_0, NULL);
}

/* A condition that reads memory or divides may do so only where the other one holds. */
static Stmt guard(Mutator *m, Stmt s) {
  if (s->kind != STMT_BLOCK) return tirc_mutate_stmt_children(m, s);
  struct StmtNode *copy = tirc_copy(m->c, s, 1);
  Expr old = s->u.block.predicate, added = m->self;
  copy->u.block.predicate = may_fail(old) ? tirc_and(m->c, added, old) : tirc_and(m->c, old, added);
  return tirc_stmt_done(m->c, copy);
}

Stmt tirc_add_predicate(Tirc *c, Stmt s, Expr cond) {
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = guard, .self = (void *)(uintptr_t)cond};
  return tirc_mutate_stmt(&m, s);
}

Region tirc_substitute_region(Tirc *c, Region r, const PtrMap *map) {
  Range *dims = tirc_new_array(c, Range, r.buffer->ndim + 1);
  for (int i = 0; i < r.buffer->ndim; i++) {
    dims[i].min = tirc_substitute(c, r.dims[i].min, map);
    dims[i].extent = tirc_substitute(c, r.dims[i].extent, map);
  }
  return (Region){r.buffer, dims};
}

const Expr *tirc_substitute_all(Tirc *c, int n, const Expr *from, const PtrMap *map) {
  Expr *to = tirc_new_array(c, Expr, n + 1);
  for (int i = 0; i < n; i++) to[i] = tirc_substitute(c, from[i], map);
  return to;
}

Region tirc_unbound_region(Tirc *c, Stmt block, Region r) {
  PtrMap bindings = {0};
  tirc_bindings_of(c, block, &bindings);
  return tirc_substitute_region(c, r, &bindings);
}

typedef struct Exchange {
  Stmt from, to;
} Exchange;

static Stmt exchange(Mutator *m, Stmt s) {
  const Exchange *x = m->self;
  return s == x->from ? x->to : tirc_mutate_stmt_children(m, s);
}

Stmt tirc_replace_stmt(Tirc *c, Stmt s, Stmt from, Stmt to) {
  Exchange x = {from, to};
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = exchange, .self = &x};
  return tirc_mutate_stmt(&m, s);
}

static void enter(Sched *s, Paths *paths, SRef *r, const char *path) {
  tirc_path_set(s->c, paths, tirc_identity(r->stmt), path);
  if (!r->parent) return;
  Stmt body = tirc_body_of(r->parent->stmt);
  const SRef *scope = r->parent;
  while (!tirc_is_block(scope)) scope = scope->parent;
  if (body->kind != STMT_SEQ || body->u.seq.n_parts == 1 || scope->scope->loose) return;
  tirc_path_set_in(s->c, paths, body, tirc_item_index(r));
}

void tirc_add_path(Sched *s, Paths *paths, SRef *to) {
  enter(s, paths, to, &tirc_path_all);
  for (SRef *r = to->parent; r && !tirc_map_has(&paths->at, tirc_identity(r->stmt)); r = r->parent)
    enter(s, paths, r, &tirc_path_on);
}

Paths tirc_paths_to(Sched *s, int n, SRef *const *at) {
  Paths paths = {0};
  for (int i = 0; i < n; i++) tirc_add_path(s, &paths, at[i]);
  return paths;
}

Paths *tirc_paths_to_users(Sched *s, SRef *scope, Buffer b) {
  if (scope->scope->loose) return NULL;
  Paths *paths = tirc_new(s->c, Paths);
  for (SRef *r = scope; r; r = r->parent) enter(s, paths, r, &tirc_path_on);
  for (int data = 0; data < 2; data++) {
    const SRefs *users = tirc_users_of(scope->scope, data ? (const void *)b->data : b);
    for (int i = 0; i < users->n; i++) tirc_add_path(s, paths, users->at[i]);
  }
  return paths;
}

/* Stops at the node: what is in it is not looked at. */
Stmt tirc_replace_node(Sched *s, Stmt in, SRef *from, Stmt to) {
  const Paths paths = tirc_paths_to(s, 1, &from);
  Exchange x = {from->stmt, to};
  Mutator m = {.c = s->c, .expr = tirc_keep_expr, .stmt = exchange, .self = &x, .only = &paths};
  return tirc_mutate_stmt(&m, in);
}

/* --- bindings -------------------------------------------------------------------------------- */

typedef struct Bindings {
  Analyzer *a;
  bool preserve_unit_iters;
  VEC(Expr) vars;
  VEC(Range) doms;
} Bindings;

static void enter_loop(Tirc *c, Bindings *b, const For *loop) {
  vec_push(c, b->vars, loop->var);
  vec_push(c, b->doms, tirc_range(loop->min, loop->extent));
}

static Stmt simplify_block(Mutator *m, Stmt s) {
  Bindings *b = m->self;
  const Block *block = &s->u.block;
  if (block->n_iters == 0) return tirc_mutate_stmt_children(m, s);
  Expr *values = tirc_new_array(m->c, Expr, block->n_iters);
  tirc_iter_map_simplify(b->a, block->n_iters, block->iter_values, b->vars.n, b->vars.at,
                         b->doms.at, block->predicate, ITER_LEVEL_SURJECTIVE,
                         !b->preserve_unit_iters, values);
  for (int i = 0; i < block->n_iters; i++) /* a number has the iterator's type */
    if (values[i]->op == OP_INT) values[i] = tirc_cast(m->c, block->iters[i].var->dtype, values[i]);
  struct StmtNode *copy = tirc_copy(m->c, s, 1);
  copy->u.block.iter_values = values;
  return tirc_stmt_done(m->c, copy);
}

static Stmt simplify_below(Mutator *m, Stmt s) {
  Bindings *b = m->self;
  if (s->kind == STMT_BLOCK) return simplify_block(m, s);
  if (s->kind != STMT_FOR) return tirc_mutate_stmt_children(m, s);
  enter_loop(m->c, b, &s->u.loop);
  Stmt to = tirc_mutate_stmt_children(m, s);
  b->vars.n--;
  b->doms.n--;
  return to;
}

Stmt tirc_simplify_bindings(Sched *s, Stmt stmt, SRefs above, bool preserve_unit_iters) {
  Bindings b = {.a = tirc_analyzer(s->c), .preserve_unit_iters = preserve_unit_iters};
  for (int i = 0; i < above.n; i++) enter_loop(s->c, &b, tirc_loop_of(above.at[i]));
  Mutator m = {.c = s->c, .expr = tirc_keep_expr, .stmt = simplify_below, .self = &b};
  return tirc_mutate_stmt(&m, stmt);
}

/* --- labels ---------------------------------------------------------------------------------- */

const char *tirc_describe(Sched *s, Stmt stmt) {
  return stmt->kind == STMT_FOR ? tirc_format(s->c, "loop %s", stmt->u.loop.var->u.s)
                                : tirc_format(s->c, "block %s", stmt->u.block.name);
}

const char *tirc_label(Sched *s, SRef *sref, int number) {
  tirc_sched_mark(s, sref->stmt);
  bool loop = tirc_is_loop(sref);
  return tirc_format(s->c, "tir.%s#%d (%s)", loop ? "For" : "Block", number, tirc_name_of(sref));
}
