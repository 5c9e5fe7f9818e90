/* Complete blocks and reduction blocks, by TensorIR's definitions.
 *
 * A complete block:                              A reduction block:
 *   1 all its iterators are spatial                1 it has an init
 *   2 it is dominant: the only writer of each      2 its bindings are quasi-affine
 *     buffer that it writes                        3 its iterators are spatial or reduction ones
 *   3 it reads no buffer that it writes            4 it is dominant
 *                                                  5 no reduction iterator indexes what it writes
 *
 * Each check finds the first condition that fails and says what it failed on; the number alone and
 * the sentence come from the same place. The local forms ask the same of a loop's subtree, where
 * dominance is looked for inside of the child blocks only. */
#include "ir/tree/atomic.h"
#include "ir/tree/print.h"
#include "passes/schedule/state/state.h"
#include "shape.h"

/* The first condition that failed, and in words what it failed on. */
typedef struct Failure {
  int condition;
  const char *what;
} Failure;

static const Failure holds = {0, NULL};

static const IterVar *iter_not_of(const Block *b, unsigned allowed) {
  for (int i = 0; i < b->n_iters; i++)
    if (!(allowed & (1u << b->iters[i].kind))) return &b->iters[i];
  return NULL;
}

static Failure iter_failure(Sched *s, int condition, const IterVar *iter, const char *allowed) {
  return (Failure){condition,
                   tirc_format(s->c, "iterator %s is %s, and all must be %s", iter->var->u.s,
                               tirc_iter_kind_name(iter->kind), allowed)};
}

/* --- dominance ------------------------------------------------------------------------------- */

/* Writers of a buffer among the blocks of a scope; *other is one that is not `block`. */
static int count_writers(const Scope *scope, Buffer b, SRef *block, SRef **other) {
  const SRefs *users = tirc_users_of(scope, b);
  int n = 0;
  for (int i = 0; i < users->n; i++) {
    const Block *at = tirc_block_of(users->at[i]);
    int before = n;
    for (int k = 0; k < at->n_writes; k++) n += at->writes[k].buffer == b;
    if (n == before) n += tirc_touches(users->at[i], b, true);
    if (n > before && users->at[i] != block) *other = users->at[i];
  }
  return n;
}

static const char *second_writer(Sched *s, Buffer b, SRef *other) {
  return other ? tirc_format(s->c, "block %s writes buffer %s too", tirc_name_of(other), b->name)
               : tirc_format(s->c, "it declares two regions of buffer %s that it writes", b->name);
}

/* NULL when dominant under `root`: a scope's root block, or a loop. As in TVM, a loop's own child
 * blocks do not count there, only what stands inside of them: in which order those run relative to
 * each other is the business of the scope. */
static const char *why_not_dominant(Sched *s, SRef *block, SRef *root) {
  const Block *b = tirc_block_of(block);
  const SRefs children = tirc_is_block(root) ? (SRefs){0} : tirc_child_blocks(s, root);
  for (int i = 0; i < b->n_writes; i++) {
    Buffer buffer = b->writes[i].buffer;
    SRef *other = NULL;
    if (tirc_is_block(root)) {
      if (count_writers(root->scope, buffer, block, &other) > 1)
        return second_writer(s, buffer, other);
      continue;
    }
    for (int k = 0; k < children.n; k++) {
      int writers = count_writers(children.at[k]->scope, buffer, block, &other);
      if (writers > 1) return second_writer(s, buffer, other);
      if (writers) break;
    }
  }
  return NULL;
}

/* --- a sum reads nothing else of its output ----------------------------------------------------
 *
 * The regions of a block with an init do not say so: they leave out what it writes. */

typedef struct OwnAccess {
  Sched *s;
  const Block *b;
  bool sums; /* it or a block that it is in has an init; of others, blocks inside are of interest */
  const struct OwnAccess *up; /* the block that this one is inside of; NULL: none of interest */
  PtrMap lets;                /* what variables in it stand for */
  Expr load;
  Stmt store;
  bool found;      /* a store of the block to the buffer of the load */
  const char *why; /* a load may be of an element that another instance writes */
} OwnAccess;

static const char *why_reads_other_output(Sched *s, const Block *b, const OwnAccess *up);

static bool note_let(Visitor *v, Stmt stmt) {
  OwnAccess *a = v->self;
  if (stmt->kind == STMT_LET)
    tirc_map_set(a->s->c, &a->lets, stmt->u.let.var,
                 tirc_substitute(a->s->c, stmt->u.let.value, &a->lets));
  return true;
}

static bool note_expr_let(Visitor *v, Expr e) {
  OwnAccess *a = v->self;
  if (e->op == OP_LET)
    tirc_map_set(a->s->c, &a->lets, e->args[0], tirc_substitute(a->s->c, e->args[1], &a->lets));
  return true;
}

/* An index in terms of the iterators. */
static Expr without_lets(const OwnAccess *a, Expr index) {
  for (; a; a = a->up)
    if (a->lets.n) index = tirc_substitute(a->s->c, index, &a->lets);
  return index;
}

/* Some iterator is seen by indices that differ, and by none of those that are the same. */
static bool may_be_of_another_instance(const OwnAccess *a, const Block *b, Stmt store) {
  Sched *s = a->s;
  Expr load = a->load;
  for (int i = 0; i < b->n_iters; i++) {
    Expr var = b->iters[i].var;
    bool in_same = false, in_other = false;
    for (int d = 0; d < load->n && d < store->u.store.n; d++) {
      Expr x = without_lets(a, load->args[d]), y = without_lets(a, store->u.store.indices[d]);
      if (!tirc_uses_var(x, var) && !tirc_uses_var(y, var)) continue;
      bool same = tirc_expr_same(x, y) ||
                  (x->dtype.bits == y->dtype.bits && x->dtype.lanes == y->dtype.lanes &&
                   tirc_is_int(tirc_simplify0(s->c, tirc_sub(s->c, x, y)), 0));
      *(same ? &in_same : &in_other) = true;
    }
    if (in_other && !in_same) return true;
  }
  return false;
}

/* What the buffer is a view of in the block, or one that it is inside of; or itself. */
static Buffer viewed(const OwnAccess *a, Buffer buffer) {
  for (const OwnAccess *at = a; at; at = at->up)
    for (int i = 0; i < at->b->n_matches; i++)
      if (at->b->matches[i].buffer == buffer) buffer = at->b->matches[i].source.buffer;
  return buffer;
}

static bool compare_store(Visitor *v, Stmt stmt) {
  OwnAccess *a = v->self;
  if (stmt->kind == STMT_STORE && stmt->u.store.buffer != a->load->u.buffer && !a->store &&
      viewed(a, stmt->u.store.buffer) == viewed(a, a->load->u.buffer))
    a->store = stmt;
  if (stmt->kind == STMT_STORE && stmt->u.store.buffer == a->load->u.buffer && !a->found) {
    a->found = true;
    for (const OwnAccess *at = a; at; at = at->up)
      a->found &= !may_be_of_another_instance(a, at->b, stmt);
    a->store = stmt;
  }
  return stmt->kind != STMT_BLOCK;
}

static bool find_load(Visitor *v, Expr e) {
  OwnAccess *a = v->self;
  if (!a->sums || a->why) return false;
  if (e->op != OP_LOAD) return true;
  OwnAccess one = {.s = a->s, .b = a->b, .up = a->up, .lets = a->lets, .load = e};
  tirc_visit_stmts(a->b->body, compare_store, &one);
  if (one.store && !one.found) {
    const struct StmtNode *store = one.store;
    Expr there =
        tirc_load(a->s->c, store->u.store.buffer, store->u.store.n, store->u.store.indices);
    a->why = tirc_format(a->s->c, "it reads %s, and it writes %s", tirc_print_expr(a->s->c, e),
                         tirc_print_expr(a->s->c, there));
  }
  return true;
}

/* Of a sum inside of the block that adds to what the block did not start. Where it starts is not
 * known of one whose iterators are loaded; of a block that declares nothing the sums are looked at
 * where it moves. */
static const char *why_goes_on(const OwnAccess *a, Stmt inner) {
  SRef *sref = tirc_sref_find(a->s, inner);
  const OwnAccess *whole = a;
  while (whole->up) whole = whole->up;
  if (a->sums || !whole->b->n_writes || !sref || tirc_sums_start_in_scope(a->s, sref)) return NULL;
  for (int i = 0; i < inner->u.block.n_iters; i++)
    if (tirc_reads_memory(inner->u.block.iter_values[i])) return NULL;
  for (int i = 0; i < inner->u.block.n_writes; i++) {
    const Buffer buffer = inner->u.block.writes[i].buffer;
    bool own = false;
    for (const OwnAccess *at = a; at; at = at->up)
      for (int k = 0; k < at->b->n_allocs; k++) own |= at->b->allocs[k] == buffer;
    if (!own)
      return tirc_format(a->s->c, "block %s in it may add to %s without starting it",
                         inner->u.block.name, buffer->name);
  }
  return NULL;
}

static bool find_inner(Visitor *v, Stmt stmt) {
  OwnAccess *a = v->self;
  if (a->why) return false;
  if (stmt->kind != STMT_BLOCK) return true;
  a->why = why_reads_other_output(a->s, &stmt->u.block, a);
  if (!a->why) a->why = why_goes_on(a, stmt);
  return false;
}

/* Of the block, or of one inside of it. */
static const char *why_reads_other_output(Sched *s, const Block *b, const OwnAccess *up) {
  OwnAccess a = {.s = s, .b = b, .sums = b->init || (up && up->sums), .up = up};
  Visitor lets = {.stmt = note_let, .expr = note_expr_let, .self = &a};
  Visitor v = {.stmt = find_inner, .expr = find_load, .self = &a};
  tirc_visit_stmt(&lets, b->body);
  if (b->init) tirc_visit_stmt(&lets, b->init);
  tirc_visit_stmt(&v, b->body);
  if (b->init) tirc_visit_stmt(&v, b->init);
  return a.why;
}

/* --- the definitions ------------------------------------------------------------------------- */

static Failure check_complete(Sched *s, SRef *block, SRef *root) {
  const Block *b = tirc_block_of(block);
  const IterVar *iter = iter_not_of(b, 1u << ITER_SPATIAL);
  if (iter) return iter_failure(s, 1, iter, "spatial");
  const char *dominant = why_not_dominant(s, block, root);
  if (dominant) return (Failure){2, dominant};
  for (int i = 0; i < b->n_reads; i++)
    if (tirc_declared_write(b, b->reads[i].buffer))
      return (Failure){
          3, tirc_format(s->c, "it both reads and writes buffer %s", b->reads[i].buffer->name)};
  const char *other = why_reads_other_output(s, b, NULL);
  if (other) return (Failure){3, other};
  return holds;
}

/* `triangles`: where an iteration takes a part of a rectangle, it is still independent. */
static Failure check_reduction(Sched *s, SRef *block, SRef *root, bool triangles) {
  const Block *b = tirc_block_of(block);
  if (!b->init) return (Failure){1, "it has no init (T.init())"};
  if (!tirc_has_affine_binding(s, block) && !(triangles && tirc_is_affine_in_rectangle(s, block)))
    return (Failure){2, "its bindings are not independent quasi-affine expressions of the loops"};
  const IterVar *iter = iter_not_of(b, 1u << ITER_SPATIAL | 1u << ITER_REDUCE);
  if (iter) return iter_failure(s, 3, iter, "spatial or reduce");
  const char *dominant = why_not_dominant(s, block, root);
  if (dominant) return (Failure){4, dominant};
  const char *output = tirc_why_indexed_by_reduction(s->c, b);
  if (output) return (Failure){5, output};
  const char *other = why_reads_other_output(s, b, NULL);
  if (other) return (Failure){6, other};
  if (!tirc_init_is_regular(s, block))
    return (Failure){7, "its predicate leaves steps out so that the init may run elsewhere than in "
                        "the first one, or again"};
  return holds;
}

int tirc_check_complete(Sched *s, SRef *block, SRef *scope) {
  return check_complete(s, block, scope).condition;
}

int tirc_check_reduction(Sched *s, SRef *block, SRef *scope) {
  return check_reduction(s, block, scope, false).condition;
}

static const char *in_words(Sched *s, Failure f, const char *definition) {
  if (!f.condition) return NULL;
  return tirc_format(s->c, "condition %d of %s fails: %s", f.condition, definition, f.what);
}

const char *tirc_why_not_complete(Sched *s, SRef *block, SRef *scope) {
  return in_words(s, check_complete(s, block, scope), "a complete block");
}

static const char *why_not_reduction(Sched *s, SRef *block, SRef *scope) {
  return in_words(s, check_reduction(s, block, scope, false), "a reduction block");
}

bool tirc_reads_other_output(Sched *s, const SRef *block) {
  return why_reads_other_output(s, tirc_block_of(block), NULL) != NULL;
}

/* --- or raise -------------------------------------------------------------------------------- */

/* An update whose init stands elsewhere. */
static bool is_decomposed(const Block *b) {
  return !b->init && iter_not_of(b, ~(1u << ITER_REDUCE));
}

/* Reads what it writes, and is no sum. */
static bool updates_in_place(const Block *b, Buffer buffer) {
  return tirc_declared_read(b, buffer) && tirc_declared_write(b, buffer) && !b->init &&
         !iter_not_of(b, 1u << ITER_SPATIAL);
}

const char *tirc_hint_of_update(Sched *s, const SRef *scope, Buffer buffer) {
  const SRefs *users = tirc_users_of(scope->scope, buffer);
  for (int i = 0; i < users->n; i++)
    if (updates_in_place(tirc_block_of(users->at[i]), buffer))
      return tirc_format(s->c, "block %s updates %s in place: let it write to another buffer",
                         tirc_name_of(users->at[i]), buffer->name);
  return NULL;
}

/* What to do about a block that is neither complete nor a reduction; NULL: what the table says. */
static const char *hint_for(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  const SRef *scope = tirc_scope_root(block);
  const char *hint = NULL;
  if (!scope || iter_not_of(b, 1u << ITER_SPATIAL | 1u << ITER_REDUCE)) return NULL;
  if (is_decomposed(b) && tirc_block_of(scope)->init)
    return tirc_format(s->c,
                       "call it before blockize, which left the init in block %s, or take a loop "
                       "around that block",
                       tirc_name_of(scope));
  for (int i = 0; i < b->n_writes && !hint; i++)
    hint = tirc_hint_of_update(s, scope, b->writes[i].buffer);
  return hint;
}

const char *tirc_hint_of_start(Sched *s, const SRef *loop) {
  const For *f = tirc_loop_of(loop);
  const char *length = tirc_print_expr(s->c, tirc_simplify0(s->c, f->extent));
  return tirc_format(s->c, "write the loop as range(%s), and add %s to %s in the block's bindings",
                     length, tirc_print_expr(s->c, f->min), f->var->u.s);
}

void tirc_require_complete(Sched *s, SRef *block, SRef *scope) {
  const char *why = tirc_why_not_complete(s, block, scope);
  if (!why) return;
  tirc_sched_error(s, block->stmt, SERR_NOT_COMPLETE_BLOCK, why, hint_for(s, block),
                   "block %s is not a complete block", tirc_name_of(block));
}

/* The block of the scope that is the init of this one, as decompose_reduction leaves it. */
static const Block *init_of(Sched *s, SRef *block, SRef *scope) {
  const Block *b = tirc_block_of(block);
  const SRefs blocks = is_decomposed(b) ? tirc_child_blocks(s, scope) : (SRefs){0};
  for (int i = 0; i < blocks.n && blocks.at[i] != block; i++) {
    const Block *other = tirc_block_of(blocks.at[i]);
    for (int k = 0; k < other->n_writes; k++)
      for (int w = 0; w < b->n_writes; w++)
        if (other->writes[k].buffer == b->writes[w].buffer) return other;
  }
  return NULL;
}

void tirc_require_reduction(Sched *s, SRef *block, SRef *scope) {
  const char *why = why_not_reduction(s, block, scope);
  if (!why) return;
  const Block *init = init_of(s, block, scope);
  const char *hint = hint_for(s, block);
  if (init)
    hint = tirc_format(s->c,
                       "block %s is its init already: the reduction was decomposed; decompose it "
                       "once, after all that needs a reduction block",
                       init->name);
  tirc_sched_error(s, block->stmt, SERR_NOT_REDUCTION_BLOCK, why, hint,
                   "block %s is not a reduction block", tirc_name_of(block));
}

void tirc_require_complete_or_reduction(Sched *s, SRef *block, SRef *scope) {
  const char *complete = tirc_why_not_complete(s, block, scope);
  const char *reduction = complete ? why_not_reduction(s, block, scope) : NULL;
  if (!reduction) return;
  tirc_sched_error(s, block->stmt, SERR_NOT_COMPLETE_OR_REDUCTION,
                   tirc_format(s->c, "%s; %s", complete, reduction), hint_for(s, block),
                   "block %s is neither a complete block nor a reduction block",
                   tirc_name_of(block));
}

/* A scan is neither: its steps need those before them. Its rows may be apart nevertheless, in all
 * that it stores to. Of one with an init nothing is said: that runs at each step of the scan. */
static bool scans_apart(Sched *s, SRef *loop, SRefs blocks, const Block *b) {
  bool scans = false;
  for (int i = 0; i < b->n_iters; i++) scans |= b->iters[i].kind == ITER_SCAN;
  scans &= !b->init;
  for (int i = 0; i < b->n_writes && scans; i++)
    scans = tirc_iterations_apart(s, loop, blocks, b->writes[i].buffer);
  return scans;
}

/* Atomic updates are neither complete nor a reduction: others store to the same elements. They come
 * in any order, which tirc_require_independent sees. */
void tirc_require_compact_dataflow(Sched *s, SRef *subtree) {
  const SRefs blocks = tirc_child_blocks(s, subtree);
  for (int i = 0; i < blocks.n; i++) {
    if (tirc_is_loop(subtree) && tirc_updates_atomically(tirc_block_of(blocks.at[i]))) continue;
    if (tirc_is_loop(subtree) && scans_apart(s, subtree, blocks, tirc_block_of(blocks.at[i])))
      continue;
    const char *complete =
        in_words(s, check_complete(s, blocks.at[i], subtree), "a local complete block");
    if (!complete) continue;
    const char *reduction =
        in_words(s, check_reduction(s, blocks.at[i], subtree, true), "a local reduction block");
    if (!reduction) continue;
    const char *root = tirc_label(s, subtree, 0), *child = tirc_label(s, blocks.at[i], 1);
    const char *hint = hint_for(s, blocks.at[i]);
    if (!is_decomposed(tirc_block_of(blocks.at[i])))
      hint =
          tirc_format(s->c, "take a loop that has only complete and reduction blocks below it%s%s",
                      hint ? "; " : "", hint ? hint : "");
    tirc_sched_error(s, NULL, SERR_NOT_COMPACT_DATAFLOW,
                     tirc_format(s->c, "%s; %s", complete, reduction), hint,
                     "The queried subtree root %s in SRef tree does not have compact dataflow, "
                     "because its child block %s on SRef tree is neither a local complete block "
                     "nor a local reduction block.",
                     root, child);
  }
}

bool tirc_uses_memory_of(const SRef *block, Buffer b) {
  for (int write = 0; write < 2; write++)
    for (int i = 0; i < block->n_accesses[write]; i++)
      if (block->accesses[write][i].buffer->data == b->data) return true;
  return false;
}
