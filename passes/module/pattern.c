/* AnnotateTIROpPattern: what a function does to its operands, as the attribute "op_pattern" that
 * fusion goes by. The names and numbers are the field's:
 *
 *   0 elementwise    out[i, j] = f(a[i, j], ...)
 *   1 broadcast      out[i, j] = f(a[i, j], b[j])         loads by some of the loops, in their
 * order 2 injective      out[i, j] = a[j // 2, i]             loads by any indices, no reduction 3
 * reduction      out[i] = sum_k f(a[i, k]) 4 out-fusable    out[i, j] = sum_k a[i, k] * b[k, j]
 * what follows it elementwise can be fused 8 opaque         anything else */
#include "fusion.h"
#include "passes.h"
#include "products.h"

#include "ir/tree/find.h"
#include "ir/tree/visit.h"

typedef struct Loads {
  const Block *block;
  Buffer out; /* what the block writes: in a reduction it is read as well */
  int pattern;
  int n_products;
  PtrMap spatial; /* variable -> its position among the iterators, plus one */
} Loads;

static bool is_spatial(const Block *b) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind != ITER_SPATIAL) return false;
  return true;
}

/* Plain variables in their order, each at most once: some of the loops. Numbers (of broadcast axes)
 * stand for none. */
static int pattern_of_load(const Loads *l, Expr load) {
  int last = 0, n = 0;
  for (int i = 0; i < load->n; i++) {
    const int at = (int)(intptr_t)tirc_map_get(&l->spatial, load->args[i]);
    if (load->args[i]->op == OP_INT) continue;
    if (!at || at <= last) return PATTERN_INJECTIVE;
    last = at;
    n++;
  }
  return n == l->block->n_iters && n == load->n ? PATTERN_ELEMENTWISE : PATTERN_BROADCAST;
}

static bool see_expr(Visitor *v, Expr e) {
  Loads *l = v->self;
  if (e->op == OP_CALL) l->pattern = PATTERN_OPAQUE; /* what a call does is not known here */
  if (e->op == OP_LOAD && e->u.buffer != l->out) {
    const int p = pattern_of_load(l, e);
    if (p > l->pattern) l->pattern = p;
  }
  return true;
}

/* Stores by the iterators in their order: otherwise somebody else's element would be written. */
static bool stores_own(const Loads *l, Stmt store) {
  int k = 0;
  for (int i = 0; i < l->block->n_iters; i++) {
    if (l->block->iters[i].kind != ITER_SPATIAL) continue;
    if (k >= store->u.store.n || store->u.store.indices[k] != l->block->iters[i].var) return false;
    k++;
  }
  return k == store->u.store.n;
}

static int pattern_of_block(Tirc *c, const Block *b) {
  Loads l = {.block = b};
  if (b->body->kind != STMT_STORE || b->n_matches || b->n_allocs) return PATTERN_OPAQUE;
  l.out = b->body->u.store.buffer;
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_SPATIAL)
      tirc_map_set(c, &l.spatial, b->iters[i].var, (void *)(intptr_t)(i + 1));
  if (!stores_own(&l, b->body)) return PATTERN_OPAQUE;
  Visitor v = {.expr = see_expr, .self = &l};
  tirc_visit_expr(&v, b->body->u.store.value);
  if (l.pattern == PATTERN_OPAQUE) return PATTERN_OPAQUE;
  if (is_spatial(b)) return l.pattern;
  if (!b->init) return PATTERN_OPAQUE;
  Expr factors[2];
  const bool is_product =
      tirc_sums_products(b, factors) && factors[0]->op == OP_LOAD && factors[1]->op == OP_LOAD;
  return is_product ? PATTERN_OUT_FUSABLE : PATTERN_REDUCTION;
}

typedef struct Blocks {
  Tirc *c;
  const Func *f;
  int n, most, n_reductions;
  bool injective_last;
} Blocks;

/* Stores to what is an argument of the function: whoever fuses would hide that it is refused. The
 * result is the last tensor; scalars stand behind it. */
static bool writes_argument(const Func *f, const Block *b) {
  int result = f->n_params - 1;
  while (result > 0 && !f->buffers[result]) result--;
  for (int i = 0; i < result; i++)
    if (b->body->kind == STMT_STORE && b->body->u.store.buffer == f->buffers[i]) return true;
  return false;
}

static bool see_block(Visitor *v, Stmt s) {
  Blocks *k = v->self;
  if (s->kind == STMT_FOR || s->kind == STMT_SEQ) return true;
  if (s->kind != STMT_BLOCK) {
    k->most = PATTERN_OPAQUE;
    return false;
  }
  const int p =
      writes_argument(k->f, &s->u.block) ? PATTERN_OPAQUE : pattern_of_block(k->c, &s->u.block);
  k->n++;
  if (p >= PATTERN_REDUCTION) k->n_reductions++;
  /* What follows a reduction in its own function is an epilogue already. */
  k->injective_last = p < PATTERN_REDUCTION && k->n_reductions;
  if (p > k->most) k->most = p;
  return false;
}

static bool is_told(const void *c, Stmt s) {
  Product p;
  return s->kind == STMT_BLOCK && tirc_told_product((Tirc *)(uintptr_t)c, &s->u.block, s->loc, &p);
}

/* Of several blocks: those before a product (a padded operand) count with it; several reductions,
 * or one that is not the end, are opaque. */
static int pattern_of(Tirc *c, const Func *f) {
  Blocks k = {.c = c, .f = f};
  if (f->body->kind != STMT_BLOCK || f->body->u.block.n_iters) return PATTERN_OPAQUE;
  if (tirc_find_stmt(f->body, is_told, c, NULL)) return PATTERN_OUT_FUSABLE;
  tirc_visit_stmts(f->body->u.block.body, see_block, &k);
  if (!k.n || k.n_reductions > 1 || k.injective_last) return PATTERN_OPAQUE;
  if (k.n > 1 && k.most < PATTERN_REDUCTION) return PATTERN_INJECTIVE;
  return k.most;
}

const Module *tirc_pass_annotate_pattern(Passes *p, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++) {
    if (tirc_attrs_get(m->funcs[i]->attrs, OP_PATTERN)) continue;
    Func *f = tirc_copy(p->c, m->funcs[i], 1);
    f->attrs = tirc_attrs_set(p->c, f->attrs, OP_PATTERN, tirc_int32(p->c, pattern_of(p->c, f)));
    m = tirc_module_with_func(p->c, m, i, f);
  }
  return m;
}

/* CleanUpTIRAttrs: what only fusion needed. */
const Module *tirc_pass_clean_attrs(Passes *p, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++) {
    if (!tirc_attrs_get(m->funcs[i]->attrs, OP_PATTERN)) continue;
    Func *f = tirc_copy(p->c, m->funcs[i], 1);
    f->attrs = tirc_attrs_remove(p->c, f->attrs, OP_PATTERN);
    m = tirc_module_with_func(p->c, m, i, f);
  }
  return m;
}
