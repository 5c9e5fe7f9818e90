/* factor_out(block): of a sum only its terms are left. What it starts from, and what multiplies
 * each of its terms, goes to where sums are read.
 *
 *     with T.init(): C[vi] = bias[vi]                with T.init(): C[vi] = 0
 *     C[vi] = C[vi] + A[vi, vk] * X[vk] * s    ==>   C[vi] = C[vi] + A[vi, vk] * X[vk]
 *     D[vi] = exp(C[vi])                             D[vi] = exp(bias[vi] + C[vi] * s)
 *
 * At any time each element of C that a block has stored to holds s times less, and bias less, than
 * before. So all who read it may say the same, wherever they stand: the block alone stores to C,
 * and what is moved is the same number for an element each time, which the place of the element
 * tells. That a product is rounded once an element, and not once a term, counts as little as the
 * order of the sum.
 *
 * C is a buffer of the program's own. Of a parameter, cache_write makes such a one first. */
#include "moves.h"

#include "ir/tree/print.h"

typedef struct Factor {
  Op op;
  Expr by;
} Factor;

typedef struct FactorOut {
  Sched *s;
  Tirc *c;
  SRef *block, *site; /* that allocates: */
  Buffer buffer;
  Stmt update, init;
  VEC(Factor) factors; /* in the order in which a sum is multiplied by them */
} FactorOut;

#define no_factor(f, ...)                                                                          \
  tirc_sched_error((f)->s, (f)->block->stmt, SERR_FACTOR_PATTERN,                                  \
                   tirc_format((f)->c, __VA_ARGS__), NULL,                                         \
                   "no factor can be moved out of block %s", tirc_name_of((f)->block))

/* --- the sum ---------------------------------------------------------------------------------- */

static bool is_own(const FactorOut *f, Expr e) {
  return e->op == OP_LOAD && e->u.buffer == f->buffer &&
         tirc_same_exprs(e->n, e->args, f->update->u.store.indices);
}

static void read_sum(FactorOut *f) {
  const Block *b = tirc_block_of(f->block);
  tirc_require_reduction(f->s, f->block, tirc_scope_root(f->block));
  if (b->n_matches || b->body->kind != STMT_STORE || b->init->kind != STMT_STORE)
    no_factor(f, "its body or its init is more than one store");
  f->update = b->body;
  f->init = b->init;
  f->buffer = f->update->u.store.buffer;
  const Expr value = f->update->u.store.value;
  const bool adds = value->op == OP_ADD && is_own(f, value->args[0]);
  if (!adds || f->init->u.store.buffer != f->buffer || f->buffer->dtype.code == TYPE_BOOL ||
      !tirc_same_exprs(f->update->u.store.n, f->update->u.store.indices, f->init->u.store.indices))
    no_factor(f, "it is not a sum of the form C[vi] = C[vi] + x");
  for (int i = 0; i < f->update->u.store.n; i++) {
    const Expr index = f->update->u.store.indices[i];
    bool again = false;
    for (int k = 0; k < i; k++) again |= f->update->u.store.indices[k] == index;
    if (index->op != OP_INT && (index->op != OP_VAR || again || tirc_iter_index(b, index) < 0))
      no_factor(f, "index %s of %s is not an iterator of its own", tirc_print_expr(f->c, index),
                f->buffer->name);
  }
}

static void require_own_buffer(FactorOut *f) {
  const SRefs writers = tirc_writers_of(tirc_scope_root(f->block), f->buffer);
  f->site = tirc_require_allocated(f->s, f->block, f->buffer);
  if (writers.n != 1 || f->site != tirc_scope_root(f->block))
    no_factor(f, "it is not alone in storing to %s, in the scope that allocates it",
              f->buffer->name);
  const unsigned uses = tirc_uses_of(f->site->stmt, f->buffer, NULL, NULL);
  if (uses & ~(unsigned)(USE_LOAD | USE_STORE))
    no_factor(f, "%s is used by its address, by a view or for an extent", f->buffer->name);
  if (tirc_loosely_used(f->site, NULL, f->buffer))
    no_factor(f, "a statement outside of blocks uses %s", f->buffer->name);
}

/* --- what stands still ------------------------------------------------------------------------ */

/* Whether all that the scope stores to a buffer stands ahead of the sum's nest: from there on,
 * where the sums are made and read, each element is one number. */
static bool is_settled(const FactorOut *f, Buffer b) {
  const Stmt items = tirc_body_of(f->site->stmt);
  SRef *nest = f->block;
  while (nest->parent != f->site) nest = nest->parent;
  const int first = tirc_item_index(nest);
  for (int i = first; first >= 0 && i < items->u.seq.n; i++)
    if (tirc_uses_of(tirc_item(items, i), b, NULL, NULL) & ~(unsigned)USE_LOAD) return false;
  return first >= 0;
}

/* Not an index of the sum's element, but bound to something that moves; or memory that changes. */
static bool moves(const void *self, Expr e) {
  const FactorOut *f = self;
  if (e->op == OP_CALL) return true;
  if (e->op == OP_LOAD)
    return (tirc_uses_of(f->site->stmt, e->u.buffer, NULL, NULL) & ~(unsigned)USE_LOAD) &&
           !is_settled(f, e->u.buffer);
  if (e->op != OP_VAR || !tirc_is_bound_around(f->block, e)) return false;
  for (int i = 0; i < f->update->u.store.n; i++)
    if (f->update->u.store.indices[i] == e) return false;
  return true;
}

static bool stands_still(const FactorOut *f, Expr e) { return !tirc_find_expr(e, moves, f); }

/* The term without its factors. A quotient of whole numbers is none. */
static Expr strip(FactorOut *f, Expr e) {
  if (e->op != OP_MUL && e->op != OP_DIV) return e;
  const Expr x = e->args[0], y = e->args[1];
  if (stands_still(f, y)) {
    const Expr rest = strip(f, x);
    vec_push(f->c, f->factors, ((Factor){(Op)e->op, y}));
    return rest;
  }
  if (e->op == OP_DIV) return e;
  if (stands_still(f, x)) {
    vec_push(f->c, f->factors, ((Factor){OP_MUL, x}));
    return strip(f, y);
  }
  const Expr left = strip(f, x), right = strip(f, y);
  return left == x && right == y ? e : tirc_mul(f->c, left, right);
}

/* --- the readers ------------------------------------------------------------------------------ */

static bool starts_at_zero(Expr e) {
  return tirc_is_int(e, 0) || (e->op == OP_FLOAT && e->u.f == 0);
}

static Expr of_sum(const FactorOut *f, Expr load) {
  PtrMap at = {0};
  Expr e = load;
  tirc_vars_at(f->c, load->n, f->update->u.store.indices, load->args, &at);
  for (int i = 0; i < f->factors.n; i++)
    e = tirc_binary(f->c, f->factors.at[i].op, e, tirc_substitute(f->c, f->factors.at[i].by, &at));
  const Expr start = f->init->u.store.value;
  return starts_at_zero(start) ? e : tirc_add(f->c, tirc_substitute(f->c, start, &at), e);
}

static Expr read_sums(Mutator *m, Expr e) {
  const FactorOut *f = m->self;
  e = tirc_mutate_expr_children(m, e);
  return e->op == OP_LOAD && e->u.buffer == f->buffer ? of_sum(f, e) : e;
}

static Stmt read_in_blocks(Mutator *m, Stmt s) {
  const FactorOut *f = m->self;
  if (s->kind == STMT_BLOCK && s->u.block.id == tirc_block_of(f->block)->id) return s;
  const Stmt now = tirc_mutate_stmt_children(m, s);
  const bool reads = now != s && now->kind == STMT_BLOCK && s != f->site->stmt;
  return reads ? tirc_with_own_regions(f->c, now) : now;
}

static Stmt bare_sum(FactorOut *f, Expr term) {
  Tirc *c = f->c;
  const DType t = f->buffer->dtype;
  const Expr zero = tirc_dtype_is_float(t) ? tirc_float(c, t, 0) : tirc_int(c, t, 0);
  const Stmt u = f->update;
  Block b = *tirc_block_of(f->block);
  b.init = tirc_store(c, f->buffer, u->u.store.n, u->u.store.indices, zero);
  b.body = tirc_store(c, f->buffer, u->u.store.n, u->u.store.indices,
                      tirc_add(c, u->u.store.value->args[0], term));
  return tirc_with_loc(c, tirc_with_own_regions(c, tirc_block(c, &b)), f->block->stmt->loc);
}

void tirc_prim_factor_out(Sched *s, const Value *args, Value *result) {
  (void)result;
  FactorOut f = {.s = s, .c = s->c, .block = tirc_sref_of_value(s, args[0])};
  (void)tirc_require_scope_root(s, f.block, false);
  read_sum(&f);
  require_own_buffer(&f);
  const Expr summand = f.update->u.store.value->args[1];
  if (stands_still(&f, summand)) no_factor(&f, "its terms are all the same");
  const Expr term = strip(&f, summand);
  if (!stands_still(&f, f.init->u.store.value))
    no_factor(&f, "what it starts from changes, or is not told by the place of the element");
  if (!f.factors.n && starts_at_zero(f.init->u.store.value))
    no_factor(&f, "it starts from 0, and nothing that stands still multiplies its terms");
  const Stmt sum = bare_sum(&f, term);
  Mutator m = {.c = s->c,
               .expr = read_sums,
               .stmt = read_in_blocks,
               .self = &f,
               .only = tirc_paths_to_users(s, f.site, f.buffer)};
  const Stmt readers = tirc_mutate_stmt(&m, f.site->stmt);
  tirc_sched_replace(s, f.site, tirc_replace_node(s, readers, f.block, sum));
}
