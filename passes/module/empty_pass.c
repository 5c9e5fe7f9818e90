/* InitEmptyReductions: what is reduced over no elements is the reduction's neutral element, as
 * numpy and the graph's operators have it. Of a prim_func by itself an init belongs to the first
 * iteration, so where an extent that is known at run time only may be 0, it is written before:
 *
 *   for i, k in T.grid(m, n):                 if 0 < n:
 *       with T.block("C"):                        ... as it was scheduled ...
 *           with T.init(): C[i] = 0     ->    else:
 *           C[i] = C[i] + A[i, k]                 for i in range(m):
 *                                                     with T.block("C_init"): C[i] = 0
 *
 * Where several extents decide, one of them 0 is no reason for the others to have no elements: then
 * the updates stand behind their inits. */
#include "passes.h"

#include "ir/arith/access.h"
#include "ir/arith/equal.h"
#include "ir/tree/visit.h"
#include "passes/lower/packing.h"

typedef struct Emptying {
  Tirc *c;
  Analyzer *known;
  VEC(Expr) extents; /* that may be 0, of reductions of the present function */
} Emptying;

/* A nest of loops around one block, and nothing else. */
typedef struct Nest {
  int n;
  Stmt *loops; /* outermost first */
  Stmt block;
} Nest;

static bool open_nest(Tirc *c, Stmt s, Nest *out) {
  VEC(Stmt) loops = {0};
  for (; s->kind == STMT_FOR; s = s->u.loop.body) vec_push(c, loops, s);
  *out = (Nest){loops.n, loops.at, s};
  return s->kind == STMT_BLOCK && tirc_is_int(s->u.block.predicate, 1);
}

static bool drives(const Block *b, Expr loop, IterKind kind) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == kind && tirc_uses_var(b->iter_values[i], loop)) return true;
  return false;
}

/* A loop of the reduction whose extent the loops around do not decide, and that may be 0. */
static bool may_be_empty(Emptying *e, const Nest *nest, int i) {
  const For *loop = &nest->loops[i]->u.loop;
  if (!drives(&nest->block->u.block, loop->var, ITER_REDUCE)) return false;
  for (int k = 0; k < i; k++)
    if (tirc_uses_var(loop->extent, nest->loops[k]->u.loop.var)) return false;
  return !tirc_prove_lt(e->known, tirc_int(e->c, loop->extent->dtype, 0), loop->extent);
}

static Stmt close_nest(const Emptying *e, const Nest *nest, const Block *b, bool spatial_only) {
  Stmt s = tirc_infer_regions(e->c, tirc_block(e->c, b), false, false);
  for (int i = nest->n - 1; i >= 0; i--) {
    For loop = nest->loops[i]->u.loop;
    if (spatial_only && !drives(&nest->block->u.block, loop.var, ITER_SPATIAL)) continue;
    loop.body = s;
    s = tirc_for(e->c, &loop);
  }
  return s;
}

static int n_items(Stmt s) { return s->kind == STMT_SEQ ? s->u.seq.n : 1; }
static Stmt item_of(Stmt s, int i) { return s->kind == STMT_SEQ ? tirc_item(s, i) : s; }

static Stmt init_of(const Emptying *e, const Nest *nest) {
  Block b = nest->block->u.block;
  IterVar *iters = tirc_new_array(e->c, IterVar, b.n_iters);
  Expr *values = tirc_new_array(e->c, Expr, b.n_iters);
  int n = 0;
  for (int i = 0; i < b.n_iters; i++) {
    if (b.iters[i].kind != ITER_SPATIAL) continue;
    iters[n] = b.iters[i];
    values[n++] = b.iter_values[i];
  }
  b.id = 0;
  b.name = tirc_format(e->c, "%s_init", b.name);
  b.n_iters = n;
  b.iters = iters;
  b.iter_values = values;
  b.body = b.init;
  b.init = NULL;
  b.n_reads = b.n_writes = 0;
  b.annotations = (Attrs){0};
  return tirc_clone_fresh(e->c, close_nest(e, nest, &b, true));
}

static Stmt update_of(const Emptying *e, const Nest *nest) {
  Block b = nest->block->u.block;
  b.init = NULL;
  b.n_reads = b.n_writes = 0;
  return close_nest(e, nest, &b, false);
}

static void note_extent(Emptying *e, Expr extent) {
  for (int i = 0; i < e->extents.n; i++)
    if (tirc_expr_equal(e->c, e->extents.at[i], extent)) return;
  vec_push(e->c, e->extents, extent);
}

/* The function with inits of their own; `with_updates`: what they start is still there. */
static const Func *with_inits(Emptying *e, const Func *f, bool with_updates) {
  Tirc *c = e->c;
  const Block *root = f->body->kind == STMT_BLOCK ? &f->body->u.block : NULL;
  VEC(Stmt) body = {0};
  e->extents.n = 0;
  if (!root || root->n_iters || root->init) return f;
  for (int i = 0; i < n_items(root->body); i++) {
    const Stmt item = item_of(root->body, i);
    Nest nest;
    bool empties = false;
    const bool is_nest = open_nest(c, item, &nest) && nest.block->u.block.init;
    for (int k = 0; is_nest && k < nest.n; k++) {
      if (!may_be_empty(e, &nest, k)) continue;
      empties = true;
      note_extent(e, nest.loops[k]->u.loop.extent);
    }
    if (empties) vec_push(c, body, init_of(e, &nest));
    if (empties && with_updates) vec_push(c, body, update_of(e, &nest));
    if (!empties) vec_push(c, body, item);
  }
  if (!e->extents.n) return f;
  Block to = *root;
  to.body = tirc_seq(c, body.n, body.at);
  return tirc_func_with_body(c, f, tirc_block(c, &to));
}

/* The function with the parameters of its schedule: rules give copies, whose buffers and extents
 * are their own. NULL: the schedule has others, or other than a root block. */
static const Func *with_parameters_of(Tirc *c, const Func *f, const Func *of) {
  Match match = {.c = c};
  PtrMap buffers = {0};
  const int n = f->n_params;
  if (n != of->n_params || of->body->kind != STMT_BLOCK) return NULL;
  for (int i = 0; i < n; i++) {
    if (!f->buffers[i] != !of->buffers[i]) return NULL;
    if (f->buffers[i])
      tirc_map_set(c, &buffers, f->buffers[i], of->buffers[i]);
    else
      tirc_map_set(c, &match.symbols, f->params[i], of->params[i]);
  }
  if (tirc_match_params(&match, n, tirc_buffer_infos(c, n, f->buffers),
                        tirc_buffer_infos(c, n, of->buffers)) >= 0)
    return NULL;
  const Stmt body = tirc_substitute_stmt(c, f->body, &match.symbols);
  return tirc_func_with_body(c, of, tirc_substitute_buffers(c, body, &buffers));
}

static Expr all_run(const Emptying *e) {
  Expr all = tirc_bool(e->c, true);
  for (int i = 0; i < e->extents.n; i++) {
    const Expr extent = e->extents.at[i];
    all = tirc_and(e->c, all, tirc_lt(e->c, tirc_int(e->c, extent->dtype, 0), extent));
  }
  return all;
}

/* The scheduled function where all have elements, `empty` where one has none. Copies of weights
 * stay at the top, where SplitPacking finds them. */
static const Func *choose(const Emptying *e, const Func *scheduled, const Func *empty) {
  Tirc *c = e->c;
  Block root = scheduled->body->u.block, other = empty->body->u.block;
  PtrMap own = {0};
  Buffer *allocs = tirc_new_array(c, Buffer, other.n_allocs);
  for (int i = 0; i < other.n_allocs; i++) {
    struct BufferNode node = *other.allocs[i];
    node.data = tirc_var(c, node.name, DT_HANDLE);
    allocs[i] = tirc_buffer_copy(c, &node);
    tirc_map_set(c, &own, other.allocs[i], allocs[i]);
  }
  other.id = 0;
  other.name = "empty";
  other.annotations = (Attrs){0};
  other.n_reads = other.n_writes = 0;
  Stmt otherwise = tirc_substitute_buffers(c, tirc_block(c, &other), &own);
  otherwise = tirc_clone_fresh(c, tirc_infer_regions(c, otherwise, false, false));
  VEC(Stmt) front = {0}, rest = {0};
  for (int i = 0; i < n_items(root.body); i++) {
    const Stmt item = item_of(root.body, i);
    if (tirc_packs(item))
      vec_push(c, front, item);
    else
      vec_push(c, rest, item);
  }
  vec_push(c, front, tirc_if(c, all_run(e), tirc_seq(c, rest.n, rest.at), otherwise));
  root.body = tirc_seq(c, front.n, front.at);
  return tirc_func_with_body(c, scheduled, tirc_block(c, &root));
}

const Module *tirc_pass_init_empty(Passes *p, const Module *m) {
  Emptying e = {.c = p->c};
  if (!p->unscheduled) p->unscheduled = m;
  const Module *plain = p->unscheduled;
  for (int i = 0; i < plain->n_funcs; i++) {
    const Func *was = plain->funcs[i], *is = tirc_module_func(m, was->name);
    tirc_know_extents(p->c, was);
    e.known = tirc_analyzer(p->c);
    const Func *whole = with_inits(&e, was, true);
    if (!is || whole == was) continue;
    const Func *here = is != was ? with_parameters_of(p->c, was, is) : NULL;
    const Func *to = here ? choose(&e, is, with_inits(&e, here, e.extents.n > 1)) : whole;
    p->unscheduled = tirc_module_with_func(p->c, p->unscheduled, i, whole);
    for (int k = 0; k < m->n_funcs; k++)
      if (m->funcs[k] == is) m = tirc_module_with_func(p->c, m, k, to);
  }
  return m;
}

const Module *tirc_unscheduled(const Passes *p) { return p->unscheduled; }
