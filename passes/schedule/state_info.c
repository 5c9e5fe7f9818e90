/* What holds in a block scope, by TVM's definitions (BlockScope and BlockInfo): dependences between
 * the child blocks, whose bindings are affine, who reads only what its producers wrote (region
 * cover), and whether all of it makes a stage pipeline.
 *
 * Region cover of a block is computed again when it or one of its producers was rewritten or its
 * edges changed; dependences are in state_deps.c. */
#include "internal.h"
#include "state.h"

/* --- affine bindings ------------------------------------------------------------------------- */

static bool affine_over(Sched *s, const Block *b, const LoopDomain *d) {
  if (d->n == 0) return true;
  if (b->n_iters == 0) return false;
  Analyzer *a = tirc_analyzer(s->c);
  const IterMap *map = tirc_detect_iter_map(a, b->n_iters, b->iter_values, d->n, d->vars, d->doms,
                                            b->predicate, ITER_LEVEL_SURJECTIVE, true, NULL);
  for (int i = 0; map && i < map->n; i++)
    if (map->indices[i].n && !tirc_is_int(map->indices[i].args[0].scale, 1)) return false;
  return map != NULL;
}

bool tirc_is_affine_under(Sched *s, SRef *block, SRef *high) {
  LoopDomain d = tirc_loop_domain(s, block->parent, high, NULL);
  return affine_over(s, tirc_block_of(block), &d);
}

/* --- region cover ---------------------------------------------------------------------------- */

/* A region in terms of the loops around the block. */
static Region unbind(Sched *s, SRef *block, Region r) {
  PtrMap map = {0};
  tirc_bindings_of(s->c, block->stmt, &map);
  return tirc_substitute_region(s->c, r, &map);
}

/* Merges y into x where the two touch or overlap for sure; otherwise x stays. As TVM's
 * UnionLowerBound; a NULL bound is infinite. */
static IntSet lower_union(Tirc *c, Analyzer *a, IntSet x, IntSet y) {
  Expr one_past_x = x.max ? tirc_add(c, x.max, tirc_int(c, x.max->dtype, 1)) : NULL;
  Expr one_past_y = y.max ? tirc_add(c, y.max, tirc_int(c, y.max->dtype, 1)) : NULL;
  bool y_reaches = !y.min || !one_past_x || tirc_prove(a, tirc_binary(c, OP_LE, y.min, one_past_x));
  bool x_reaches = !x.min || !one_past_y || tirc_prove(a, tirc_binary(c, OP_LE, x.min, one_past_y));
  return y_reaches && x_reaches ? tirc_set_union(a, x, y) : x;
}

static bool at_most(Tirc *c, Analyzer *a, Expr x, Expr y);

/* Whether one operand of the minimum or maximum `e`, plus `rest`, is on the right side of y. */
static bool one_suffices(Tirc *c, Analyzer *a, Op op, Expr e, Expr rest, Expr y) {
  for (int i = 0; e->op == op && i < 2; i++) {
    Expr x = rest ? tirc_add(c, e->args[i], rest) : e->args[i];
    if (op == OP_MIN ? at_most(c, a, x, y) : at_most(c, a, y, x)) return true;
  }
  return e->op == OP_ADD && !rest && one_suffices(c, a, op, e->args[0], e->args[1], y);
}

/* x <= y. Where a tile's tail ends at min(i * 16 + 15, 199), one of the operands suffices, which
 * the prover does not try. */
static bool at_most(Tirc *c, Analyzer *a, Expr x, Expr y) {
  Expr difference = tirc_binary(c, OP_LE, tirc_simplify(a, x), tirc_simplify(a, y));
  return tirc_prove(a, difference) || one_suffices(c, a, OP_MIN, x, NULL, y) ||
         one_suffices(c, a, OP_MAX, y, NULL, x);
}

static bool covers(Sched *s, Analyzer *a, Buffer b, const IntSet *produced,
                   const IntSet *consumed) {
  Tirc *c = s->c;
  for (int i = 0; i < b->ndim; i++) {
    IntSet whole =
        tirc_set_of_range(c, tirc_range(tirc_int(c, b->shape[i]->dtype, 0), b->shape[i]));
    IntSet p = tirc_set_intersect(a, produced[i], whole);
    IntSet q = tirc_set_intersect(a, consumed[i], whole);
    if (!q.min || !q.max) return !p.min && !p.max;
    if (p.min && !at_most(c, a, p.min, q.min)) return false;
    if (p.max && !at_most(c, a, q.max, p.max)) return false;
  }
  return true;
}

typedef struct Edges {
  int n;
  const Dep *at; /* all into one block */
} Edges;

/* What the producers that meet the consumer at `lca` write for sure of a buffer; NULL: they do not
 * write it. *nothing: they do, but it is not known what. */
static const IntSet *produced_below(Sched *s, Analyzer *a, Edges e, SRef *const *lcas, SRef *lca,
                                    Buffer b, bool *nothing) {
  IntSet *sum = NULL;
  bool found = false;
  for (int i = 0; i < e.n; i++) {
    if (e.at[i].kind != DEP_RAW || lcas[i] != lca) continue;
    SRef *p = e.at[i].src;
    const Block *block = tirc_block_of(p);
    for (int k = 0; k < block->n_writes; k++) {
      if (block->writes[k].buffer != b) continue;
      Region r = unbind(s, p, tirc_written_region(s, p, &block->writes[k]));
      const IntSet *part = tirc_region_lower(s, a, r, block->predicate, p->parent, lca);
      bool first = !found;
      found = true;
      if (!part || (!sum && !first)) continue;
      if (!sum) {
        sum = tirc_new_array(s->c, IntSet, b->ndim + 1);
        memcpy(sum, part, (size_t)b->ndim * sizeof *sum);
      } else {
        for (int d = 0; d < b->ndim; d++) sum[d] = lower_union(s->c, a, sum[d], part[d]);
      }
    }
  }
  *nothing = found && !sum;
  return sum;
}

static Analyzer *analyzer_of_all(Sched *s, SRef *consumer, Edges e) {
  Analyzer *a = tirc_analyzer(s->c);
  for (int i = -1; i < e.n; i++)
    for (SRef *r = (i < 0 ? consumer : e.at[i].src)->parent; r; r = r->parent)
      if (tirc_is_loop(r))
        tirc_bind_range(a, tirc_loop_of(r)->var,
                        tirc_range(tirc_loop_of(r)->min, tirc_loop_of(r)->extent));
  return a;
}

static bool is_covered(Sched *s, SRef *scope, SRef *consumer, Edges e) {
  bool any = false;
  SRef **lcas = tirc_new_array(s->c, SRef *, e.n + 1);
  for (int i = 0; i < e.n; i++) {
    if (e.at[i].kind != DEP_RAW) continue;
    any = true;
    lcas[i] = tirc_common_ancestor(2, (SRef *[]){consumer, e.at[i].src});
  }
  if (!any) return true;
  Analyzer *a = analyzer_of_all(s, consumer, e);
  const Block *b = tirc_block_of(consumer);
  for (SRef *lca = consumer; lca != scope->parent; lca = lca->parent) {
    for (int i = 0; i < b->n_reads; i++) {
      bool nothing;
      const IntSet *produced = produced_below(s, a, e, lcas, lca, b->reads[i].buffer, &nothing);
      if (nothing && b->reads[i].buffer->ndim) return false;
      if (!produced) continue;
      const IntSet *consumed = tirc_region_upper(s, a, unbind(s, consumer, b->reads[i]),
                                                 b->predicate, consumer->parent, lca);
      if (!covers(s, a, b->reads[i].buffer, produced, consumed)) return false;
    }
  }
  return true;
}

/* --- a scope --------------------------------------------------------------------------------- */

static Edges edges_from(const Scope *scope, int first) {
  int end = first;
  while (end < scope->n_deps && scope->deps[end].dst == scope->deps[first].dst) end++;
  return (Edges){end - first, scope->deps + first};
}

static bool cover_of(Sched *s, SRef *scope, SRef *consumer, Edges e) {
  ArenaMark mark = tirc_mark(s->c);
  bool covered = is_covered(s, scope, consumer, e);
  tirc_rewind(s->c, mark);
  return covered;
}

/* The region cover of every block with dirty edges, and from all of them the stage pipeline. */
static void update_flags(Sched *s, SRef *block, bool all) {
  Scope *scope = block->scope;
  scope->stage_pipeline = true;
  for (int i = 0; i < scope->n_deps;) {
    Edges e = edges_from(scope, i);
    i += e.n;
    SRef *dst = e.at[0].dst;
    bool dirty = all || dst->dirty == s->stamp || dst->recheck == s->stamp;
    for (int k = 0; k < e.n; k++) {
      dirty |= e.at[k].src->dirty == s->stamp;
      if (e.at[k].kind == DEP_WAR || e.at[k].kind == DEP_OPAQUE) scope->stage_pipeline = false;
    }
    if (dirty) dst->region_cover = cover_of(s, block, dst, e);
    scope->stage_pipeline &= dst->region_cover;
  }
}

static void update_child(Sched *s, SRef *child) {
  if (child->dirty != s->stamp) return;
  ArenaMark mark = tirc_mark(s->c);
  child->affine_binding = tirc_is_affine_under(s, child, NULL);
  tirc_rewind(s->c, mark);
  child->region_cover = true;
}

void tirc_scope_rebuild(Sched *s, SRef *block, int n, SRef *const *children) {
  if (!block->parent) {
    block->affine_binding = tirc_block_of(block)->n_iters == 0;
    block->region_cover = true;
  }
  const Scope *before = block->scope;
  Scope *scope = tirc_new(s->c, Scope);
  scope->n_blocks = n;
  scope->blocks = tirc_new_array(s->c, SRef *, n + 1);
  if (n) memcpy(scope->blocks, children, (size_t)n * sizeof *scope->blocks);
  block->scope = scope;
  const bool all = tirc_find_deps(s, scope, before);
  for (int i = 0; i < n; i++) update_child(s, scope->blocks[i]);
  update_flags(s, block, all);
}

/* The list of children with `gone` taken out and `now` put in. */
static void splice(Sched *s, Scope *scope, int n_gone, SRef *const *gone, int n_now,
                   SRef *const *now) {
  int first = 0, n = scope->n_blocks - n_gone + n_now;
  while (first < scope->n_blocks && scope->blocks[first] != gone[0]) first++;
  SRef **at = tirc_new_array(s->c, SRef *, n + 1);
  if (first) memcpy(at, scope->blocks, (size_t)first * sizeof *at);
  if (n_now) memcpy(at + first, now, (size_t)n_now * sizeof *at);
  int rest = scope->n_blocks - first - n_gone;
  if (rest > 0)
    memcpy(at + first + n_now, scope->blocks + first + n_gone, (size_t)rest * sizeof *at);
  scope->n_blocks = n;
  scope->blocks = at;
}

static bool same_srefs(int n, SRef *const *a, int m, SRef *const *b) {
  return n == m && (n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0);
}

void tirc_scope_update(Sched *s, SRef *block, int n_gone, SRef *const *gone, int n_now,
                       SRef *const *now, bool dataflow) {
  const bool moved = !same_srefs(n_gone, gone, n_now, now);
  bool dirty = false;
  for (int i = 0; i < n_now; i++) dirty |= now[i]->dirty == s->stamp;
  if (!moved && !dirty && !dataflow) return; /* what it says of loops is all that changed */
  Scope *scope = tirc_new(s->c, Scope);
  const Scope *before = block->scope;
  *scope = *before;
  block->scope = scope;
  if (moved && n_gone) {
    splice(s, scope, n_gone, gone, n_now, now);
  } else if (moved) {
    SRefs all = {0};
    tirc_blocks_in(s, tirc_block_of(block)->body, &all);
    scope->n_blocks = all.n;
    scope->blocks = all.at;
  }
  const bool all = (moved || dataflow) && tirc_find_deps(s, scope, before);
  for (int i = 0; i < n_now; i++) update_child(s, now[i]);
  update_flags(s, block, all);
}
