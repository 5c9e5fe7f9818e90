/* inline_let(block): a name in the block's body is replaced by what it stands for.
 *
 *   with T.block("C"):                       with T.block("C"):
 *       p = A[vi, vk] * B[vk, vj]       ->       C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
 *       C[vi, vj] = C[vi, vj] + p
 *
 * A name that is used several times, or in a loop, makes its value be computed that often: unless
 * the value is a number that is there already (a load, an index), such a name stays. `duplicate`
 * takes these, too, as long as the text does not grow without measure. Names for addresses and in
 * the shapes of buffers stay in any case, and so do those that load and are used in blocks inside,
 * which would have to declare another read.
 *
 * The value is computed later than before: nothing in between may store to what it loads. */
#include "blocks.h"

enum {
  CHEAP_SIZE = 16, /* nodes of a value that may stand in several places */
  MOST_ADDED = 256 /* nodes that one name may add */
};

typedef struct InlineLet {
  Sched *s;
  Tirc *c;
  Analyzer *a;
  PtrMap views; /* from the data of a view to that of what it shows */
  bool duplicate;
} InlineLet;

/* --- what is known of a name ------------------------------------------------------------------ */

typedef struct Name {
  const InlineLet *in;
  Expr var;
  VEC(Expr) loads;      /* in its value */
  PtrMap inside;        /* what is defined in its body: another number each time */
  int uses, loops;      /* so far; around the present statement, in the body */
  int blocks;           /* the same: blocks */
  bool in_block;        /* it is used in a block inside of the body */
  bool in_shape;        /* the shape of a buffer uses it */
  bool opaque;          /* its value calls what may store, or give another value next time */
  Stmt stored, present; /* where what it loads is, or may be, stored to; where the walk is */
  Stmt late;            /* the first use behind that */
} Name;

static bool calls_opaquely(Expr e) { return tirc_find_expr(e, tirc_is_opaque_call, NULL); }

static const void *memory_of(const InlineLet *in, Buffer b) {
  const void *data = b->data;
  for (const void *shown; (shown = tirc_map_get(&in->views, data));) data = shown;
  return data;
}

static bool collect_load(Visitor *v, Expr e) {
  Name *n = v->self;
  if (e->op == OP_LOAD) vec_push(n->in->c, n->loads, e);
  return true;
}

/* Whether some index is certain to be another one than that of the load. */
static bool is_elsewhere(const Name *n, Expr load, Stmt store) {
  if (load->u.buffer != store->u.store.buffer) return false;
  for (int d = 0; d < load->n; d++)
    if (tirc_uses_any(store->u.store.indices[d], &n->inside)) return false;
  for (int d = 0; d < load->n; d++) {
    const Expr x = load->args[d], y = store->u.store.indices[d];
    if (x->dtype.lanes == 1 && y->dtype.lanes == 1 && tirc_dtype_equal(x->dtype, y->dtype) &&
        !tirc_loads_or_calls(x) && !tirc_loads_or_calls(y) &&
        tirc_prove(n->in->a, tirc_binary(n->in->c, OP_NE, x, y)))
      return true;
  }
  return false;
}

/* Whether the statement itself, not one in it, may store to what the value loads. */
static bool may_store(const Name *n, Stmt s) {
  for (int i = 0; s->kind == STMT_STORE && i < n->loads.n; i++)
    if (memory_of(n->in, n->loads.at[i]->u.buffer) == memory_of(n->in, s->u.store.buffer) &&
        !is_elsewhere(n, n->loads.at[i], s))
      return true;
  return false;
}

static bool may_store_test(const void *name, Stmt s) {
  if (may_store(name, s)) return true;
  bool found = false;
  if (s->kind == STMT_EVAL && ((const Name *)name)->loads.n)
    found = calls_opaquely(s->u.eval.value);
  return found;
}

/* --- where it is used ------------------------------------------------------------------------- */

static void mark_stored(Name *n) {
  if (!n->stored) n->stored = n->present;
}

static bool see_use(Visitor *v, Expr e) {
  Name *n = v->self;
  if (e != n->var) return true;
  n->uses += n->loops ? 2 : 1;
  n->in_block |= n->blocks > 0;
  if (n->stored && !n->late) n->late = n->present;
  return true;
}

/* A call in an expression may come before the use in it, or after it; one that is all of a
 * statement gets its arguments first. */
static void look(Name *n, Expr e) {
  const bool calls = n->loads.n && calls_opaquely(e);
  bool nested = calls && !tirc_is_opaque_call(NULL, e);
  for (int i = 0; calls && i < e->n; i++) nested |= calls_opaquely(e->args[i]);
  if (nested) mark_stored(n);
  tirc_visit_expr(&(Visitor){.expr = see_use, .self = n}, e);
  if (calls) mark_stored(n);
}

static bool buffer_uses(Buffer b, Expr var) {
  return tirc_any_uses(b->ndim, b->shape, var) ||
         (b->strides && tirc_any_uses(b->ndim, b->strides, var)) ||
         (b->elem_offset && tirc_uses_var(b->elem_offset, var)) || b->data == var;
}

static void walk(Name *n, Stmt s);

/* In a second iteration all of the first one has come before. */
static void walk_repeated(Name *n, Stmt all, Stmt body) {
  const Stmt stored = tirc_find_stmt(all, may_store_test, n, NULL);
  if (stored && !n->stored) n->stored = stored;
  n->loops++;
  if (all->kind == STMT_WHILE) look(n, all->u.loop_while.cond);
  walk(n, body);
  n->loops--;
}

static void walk_either(Name *n, Stmt s) {
  look(n, s->u.branch.cond);
  const Stmt before = n->stored;
  walk(n, s->u.branch.then_case);
  const Stmt behind = n->stored;
  n->stored = before;
  if (s->u.branch.else_case) walk(n, s->u.branch.else_case);
  if (!n->stored) n->stored = behind;
}

static void walk_block(Name *n, Stmt s) {
  const Block *b = &s->u.block;
  for (int i = 0; i < b->n_iters; i++) {
    look(n, b->iters[i].dom.min);
    look(n, b->iters[i].dom.extent);
    look(n, b->iter_values[i]);
  }
  look(n, b->predicate);
  for (int i = 0; i < b->n_allocs; i++) n->in_shape |= buffer_uses(b->allocs[i], n->var);
  for (int i = 0; i < b->n_matches; i++) {
    const MatchBuffer *m = &b->matches[i];
    n->in_shape |= buffer_uses(m->buffer, n->var);
    for (int d = 0; d < m->source.buffer->ndim; d++)
      n->in_shape |= tirc_uses_var(m->source.dims[d].min, n->var) ||
                     tirc_uses_var(m->source.dims[d].extent, n->var);
  }
  n->blocks++;
  if (b->init) walk(n, b->init);
  walk(n, b->body);
  n->blocks--;
}

static void walk(Name *n, Stmt s) {
  n->present = s;
  switch (s->kind) {
  case STMT_FOR:
    look(n, s->u.loop.min);
    look(n, s->u.loop.extent);
    walk_repeated(n, s, s->u.loop.body);
    break;
  case STMT_WHILE: walk_repeated(n, s, s->u.loop_while.body); break;
  case STMT_BLOCK: walk_block(n, s); break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) walk(n, tirc_item(s, i));
    break;
  case STMT_STORE:
    for (int i = 0; i < s->u.store.n; i++) look(n, s->u.store.indices[i]);
    look(n, s->u.store.value);
    if (may_store(n, s)) mark_stored(n);
    break;
  case STMT_EVAL: look(n, s->u.eval.value); break;
  case STMT_IF: walk_either(n, s); break;
  case STMT_LET:
    look(n, s->u.let.value);
    walk(n, s->u.let.body);
    break;
  case STMT_ALLOC:
  case STMT_DECL:
    n->in_shape |= buffer_uses(s->u.alloc.buffer, n->var);
    walk(n, s->u.alloc.body);
    break;
  case STMT_ATTR:
    n->in_shape |= s->u.attr.node == n->var;
    look(n, s->u.attr.value);
    walk(n, s->u.attr.body);
    break;
  case STMT_ASSERT:
    look(n, s->u.check.cond);
    walk(n, s->u.check.body);
    break;
  }
}

typedef struct Inside {
  Tirc *c;
  PtrMap *vars;
} Inside;

static bool note_defined(Visitor *v, Stmt s) {
  const Inside *k = v->self;
  if (s->kind == STMT_FOR) tirc_map_set(k->c, k->vars, s->u.loop.var, s);
  if (s->kind == STMT_LET) tirc_map_set(k->c, k->vars, s->u.let.var, s);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_iters; i++)
    tirc_map_set(k->c, k->vars, s->u.block.iters[i].var, s);
  return true;
}

static Name name_of(const InlineLet *in, Stmt let) {
  Name n = {.in = in, .var = let->u.let.var, .opaque = calls_opaquely(let->u.let.value)};
  tirc_visit_expr(&(Visitor){.expr = collect_load, .self = &n}, let->u.let.value);
  tirc_visit_stmts(let->u.let.body, note_defined, &(Inside){in->c, &n.inside});
  walk(&n, let->u.let.body);
  return n;
}

/* --- the rewrite ------------------------------------------------------------------------------ */

static bool costs(const void *unused, Expr e) {
  (void)unused;
  const bool number = e->n == 0 || e->op == OP_LOAD || e->op == OP_CAST;
  return !number && (!tirc_dtype_is_int(e->dtype) || tirc_divides(e) || e->op == OP_CALL);
}

static bool is_cheap(Expr value) {
  return value->size <= CHEAP_SIZE && !tirc_find_expr(value, costs, NULL);
}

static bool is_expr_let(const void *unused, Expr e) { return (void)unused, e->op == OP_LET; }

static bool stays(const InlineLet *in, const Name *n, Expr value) {
  if (n->var->dtype.code == TYPE_HANDLE || n->in_shape || (n->in_block && n->loads.n)) return true;
  if (n->uses < 2) return false;
  if (tirc_find_expr(value, is_expr_let, NULL)) return true;
  return in->duplicate ? (int64_t)value->size * n->uses > MOST_ADDED : !is_cheap(value);
}

static void require_same_value(const InlineLet *in, const Name *n, Stmt let) {
  const char *name = n->var->u.s;
  if (n->opaque)
    tirc_sched_error(
        in->s, let, SERR_VALUE_MAY_CHANGE,
        "its value is the result of a call, which may store or return a different value each time",
        NULL, "%s cannot be replaced by its value", name);
  if (!n->late) return;
  tirc_sched_mark(in->s, n->late);
  const char *what =
      n->stored->kind == STMT_STORE
          ? tirc_format(in->c, "%s is stored to before %s is used", n->stored->u.store.buffer->name,
                        name)
          : tirc_format(in->c, "a call that may store to what it loads stands before a use of %s",
                        name);
  tirc_sched_error(in->s, n->stored, SERR_VALUE_MAY_CHANGE, what, NULL,
                   "%s cannot be replaced by its value", name);
}

static Stmt without_names(Mutator *m, Stmt s) {
  if (s->kind == STMT_BLOCK) return s; /* what is in it, it lets itself */
  if (s->kind != STMT_LET) return tirc_mutate_stmt_children(m, s);
  const InlineLet *in = m->self;
  const Expr var = s->u.let.var, value = s->u.let.value;
  const Name n = name_of(in, s);
  if (stays(in, &n, value)) return tirc_mutate_stmt_children(m, s);
  require_same_value(in, &n, s);
  return tirc_mutate_stmt(
      m, tirc_substitute1_stmt(in->c, s->u.let.body, var, tirc_cast(in->c, var->dtype, value)));
}

static void see_views(InlineLet *in, SRef *block) {
  for (const SRef *r = block; r; r = r->parent)
    for (int i = 0; tirc_is_block(r) && i < tirc_block_of(r)->n_matches; i++)
      tirc_map_set(in->c, &in->views, tirc_block_of(r)->matches[i].buffer->data,
                   (void *)(uintptr_t)tirc_block_of(r)->matches[i].source.buffer->data);
}

static bool note_views(Visitor *v, Stmt s) {
  InlineLet *in = v->self;
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_matches; i++)
    tirc_map_set(in->c, &in->views, s->u.block.matches[i].buffer->data,
                 (void *)(uintptr_t)s->u.block.matches[i].source.buffer->data);
  return true;
}

static bool same_regions(Regions x, Regions y) {
  if (x.n != y.n) return false;
  for (int i = 0; i < x.n; i++) {
    if (x.at[i].buffer != y.at[i].buffer) return false;
    for (int d = 0; d < x.at[i].buffer->ndim; d++)
      if (!tirc_same_range(x.at[i].dims[d], y.at[i].dims[d])) return false;
  }
  return true;
}

void tirc_prim_inline_let(Sched *s, const Value *args, Value *result) {
  (void)result;
  Tirc *c = s->c;
  SRef *block = tirc_sref_of_value(s, args[0]);
  InlineLet in = {.s = s, .c = c, .a = tirc_analyzer_around(s, block), .duplicate = args[1].u.b};
  see_views(&in, block);
  tirc_visit_stmts(block->stmt, note_views, &in);
  Block to = *tirc_block_of(block);
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = without_names, .self = &in};
  to.body = tirc_mutate_stmt(&m, to.body);
  if (to.init) to.init = tirc_mutate_stmt(&m, to.init);
  const Block *was = tirc_block_of(block);
  if (to.body == was->body && to.init == was->init) return;
  /* What was declared as it follows from the body, follows from the new one. */
  const Access access = tirc_block_access(c, block->stmt);
  const bool known = !access.opaque.n;
  const bool reads = known && same_regions(access.reads, tirc_declared(was, false));
  const bool writes = known && same_regions(access.writes, tirc_declared(was, true));
  const Stmt with = tirc_with_loc(c, tirc_block(c, &to), block->stmt->loc);
  tirc_sched_replace(s, block, tirc_infer_regions(c, with, !reads, !writes));
}
