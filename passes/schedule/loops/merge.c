/* merge(*loops): nests that follow each other run in lock step.
 *
 *   for i: for j: block B                 for i_m:
 *   for i: for j: block C                   for j: block B
 *                                  ->       for j: block C
 *   merge(i of B, i of C)
 *
 * Given are the innermost loops to be merged; those above them, up to what the nests share, are
 * merged too. The new nest stands where that of the last given loop stood, with the bodies in the
 * order in which the loops were given. Blocks and inner loops keep their handles.
 *
 * Needs: nests of the same extents, each a direct child of one loop or block, of loops that start
 * at 0, have no annotation or thread binding and nothing else in their bodies. The reference merges
 * whatever has this shape; here no two accesses to one element, one of them a write, may change
 * places (order-matters).
 *
 * Errors: no-loops, loop-repeated, merge-shape, annotated-loop, loop-start, fuse-not-only-child,
 * order-matters. */
#include "ir/tree/print.h"
#include "passes/schedule/shape/shape.h"

#include <stdlib.h>

typedef struct MergeNest {
  SRef *inner;  /* the given loop */
  SRef **loops; /* outermost first */
  int place;    /* in the shared body */
} MergeNest;

typedef struct Merge {
  Sched *s;
  Tirc *c;
  int n, depth;
  MergeNest *nests;
  SRef *shared;
  Stmt body; /* of shared */
} Merge;

/* --- the shape -------------------------------------------------------------------------------- */

static _Noreturn void bad_shape(Merge *m, SRef *loop, const char *why) {
  tirc_sched_error(m->s, loop->stmt, SERR_MERGE_SHAPE, why, NULL,
                   "loop %s cannot be merged with the others", tirc_name_of(loop));
}

static void require_mergeable(Merge *m, SRef *loop) {
  const For *f = tirc_loop_of(loop);
  bool plain = !f->annotations.n && f->kind != LOOP_THREAD_BINDING;
  if (plain && tirc_prove_equal(tirc_analyzer(m->c), f->min, tirc_int(m->c, f->min->dtype, 0)))
    return;
  tirc_sched_mark(m->s, loop->stmt);
  if (plain)
    tirc_sched_error(m->s, NULL, SERR_LOOP_START, NULL, tirc_hint_of_start(m->s, loop),
                     "loop %s starts at %s", f->var->u.s, tirc_print_expr(m->c, f->min));
  tirc_refuse(m->s, NULL, SERR_LOOP_HAS_ANNOTATION, "loop %s has %s", f->var->u.s,
              f->annotations.n ? "annotations" : "a thread binding");
}

static int read_nest(Merge *m, MergeNest *nest) {
  VEC(SRef *) up = {0};
  if (nest->inner == m->shared) bad_shape(m, nest->inner, "the other loops are inside of it");
  for (SRef *r = nest->inner; r != m->shared; r = r->parent) {
    if (!tirc_is_loop(r))
      bad_shape(m, nest->inner, "the loops are in the scopes of different blocks");
    require_mergeable(m, r);
    vec_push(m->c, up, r);
  }
  nest->loops = tirc_new_array(m->c, SRef *, up.n);
  for (int i = 0; i < up.n; i++) nest->loops[i] = up.at[up.n - 1 - i];
  for (int i = 1; i < up.n; i++) {
    if (tirc_loop_of(nest->loops[i - 1])->body == nest->loops[i]->stmt) continue;
    tirc_sched_mark(m->s, nest->loops[i - 1]->stmt);
    tirc_refuse(m->s, nest->loops[i]->stmt, SERR_FUSE_NOT_ONLY_CHILD,
                "loop %s is not alone in the body of loop %s", tirc_name_of(nest->loops[i]),
                tirc_name_of(nest->loops[i - 1]));
  }
  nest->place = tirc_item_index(nest->loops[0]);
  if (nest->place < 0)
    bad_shape(m, nest->inner, "between it and what the loops share stands another statement");
  return up.n;
}

static void read_nests(Merge *m, Value list) {
  Sched *s = m->s;
  m->n = list.u.list->n;
  if (!m->n) tirc_refuse(s, NULL, SERR_NO_LOOPS, "sch.merge is given no loop");
  m->nests = tirc_new_array(m->c, MergeNest, m->n);
  SRef **loops = tirc_new_array(m->c, SRef *, m->n);
  for (int i = 0; i < m->n; i++) {
    loops[i] = m->nests[i].inner = tirc_sref_of_value(s, list.u.list->at[i]);
    if (loops[i]->func != loops[0]->func) bad_shape(m, loops[i], "it is in another function");
    for (int k = 0; k < i; k++) {
      if (loops[k] != loops[i]) continue;
      tirc_refuse(s, loops[i]->stmt, SERR_LOOP_REPEATED, "loop %s is given twice",
                  tirc_name_of(loops[i]));
    }
  }
  if (m->n == 1) bad_shape(m, loops[0], "merge takes at least two loops");
  m->shared = tirc_common_ancestor(m->n, loops);
  m->body = tirc_body_of(m->shared->stmt);
  for (int i = 0; i < m->n; i++) {
    int depth = read_nest(m, &m->nests[i]);
    if (i == 0) m->depth = depth;
    if (depth != m->depth) bad_shape(m, loops[i], "the nests are of different depth");
    for (int k = 0; k < i; k++)
      if (m->nests[k].place == m->nests[i].place)
        bad_shape(m, loops[i], "two of the loops are in one nest");
  }
}

static void require_equal_extents(Merge *m) {
  Analyzer *a = tirc_analyzer(m->c);
  for (int i = 1; i < m->n; i++)
    for (int k = 0; k < m->depth; k++) {
      const For *x = tirc_loop_of(m->nests[0].loops[k]), *y = tirc_loop_of(m->nests[i].loops[k]);
      if (!tirc_prove_equal(a, x->extent, y->extent))
        bad_shape(m, m->nests[i].loops[k],
                  tirc_format(m->c, "its extent is %s, and that of loop %s is %s",
                              tirc_print_expr(m->c, y->extent), x->var->u.s,
                              tirc_print_expr(m->c, x->extent)));
      if (!tirc_dtype_equal(x->var->dtype, y->var->dtype))
        bad_shape(m, m->nests[i].loops[k], "the types of the loop variables differ");
    }
}

/* --- what is used ----------------------------------------------------------------------------- */

/* Data variables of the buffers that a statement reads or writes somewhere. */
typedef struct Uses {
  Tirc *c;
  PtrMap reads, writes;
} Uses;

static bool use_expr(Visitor *v, Expr e) {
  Uses *u = v->self;
  if (e->op == OP_LOAD) tirc_map_set(u->c, &u->reads, e->u.buffer->data, u);
  if (e->op == OP_VAR && e->dtype.code == TYPE_HANDLE) { /* a pointer that is handed out */
    tirc_map_set(u->c, &u->reads, e, u);
    tirc_map_set(u->c, &u->writes, e, u);
  }
  return true;
}
static bool use_stmt(Visitor *v, Stmt s) {
  Uses *u = v->self;
  if (s->kind == STMT_STORE) tirc_map_set(u->c, &u->writes, s->u.store.buffer->data, u);
  if (s->kind != STMT_BLOCK) return true;
  const Block *b = &s->u.block;
  for (int i = 0; i < b->n_reads; i++) tirc_map_set(u->c, &u->reads, b->reads[i].buffer->data, u);
  for (int i = 0; i < b->n_writes; i++)
    tirc_map_set(u->c, &u->writes, b->writes[i].buffer->data, u);
  return true;
}

static Uses uses_of(Tirc *c, Stmt s) {
  Uses u = {.c = c};
  tirc_visit_stmt(&(Visitor){.stmt = use_stmt, .expr = use_expr, .regions = true, .self = &u}, s);
  return u;
}

static bool meet(const PtrMap *x, const PtrMap *y) {
  for (size_t i = 0; i < x->cap; i++)
    if (x->keys[i] && x->values[i] && tirc_map_has(y, x->keys[i])) return true;
  return false;
}

static bool conflict(const Uses *x, const Uses *y) {
  return meet(&x->writes, &y->reads) || meet(&x->writes, &y->writes) || meet(&x->reads, &y->writes);
}

static _Noreturn void order_lost(Merge *m, Stmt x, Stmt y, const char *what) {
  tirc_sched_mark(m->s, x);
  tirc_sched_error(m->s, y, SERR_ORDER_MATTERS, what,
                   "merge loops of which each iteration uses only what the same iterations of the "
                   "others have made",
                   "in the merged loops, accesses to the same element might change places");
}

/* A nest jumps over what stands between it and the last one. */
static void require_free_way(Merge *m) {
  int target = m->nests[m->n - 1].place;
  for (int i = 0; i < m->n; i++) {
    int from = m->nests[i].place, low = from < target ? from : target;
    int high = from < target ? target : from;
    Uses own = uses_of(m->c, m->nests[i].loops[0]->stmt);
    for (int at = low + 1; at < high; at++) {
      bool is_nest = false;
      for (int k = 0; k < m->n; k++) is_nest = is_nest || m->nests[k].place == at;
      Uses other = is_nest ? (Uses){0} : uses_of(m->c, tirc_item(m->body, at));
      if (!is_nest && conflict(&own, &other))
        order_lost(m, m->nests[i].loops[0]->stmt, tirc_item(m->body, at),
                   "what stands between the nests uses the same buffers");
    }
  }
}

/* --- nest against nest ------------------------------------------------------------------------ */

/* A box of a buffer in terms of a nest's loops. */
typedef struct Box {
  Buffer buffer;
  const IntSet *dims;
  bool written;
} Box;
typedef struct Boxes {
  VEC(Box) v;
  bool opaque; /* there are accesses outside of them */
} Boxes;

static void add_boxes(Merge *m, Boxes *to, SRef *block, SRef *loop, int n, const Region *regions,
                      bool written) {
  Analyzer *a = tirc_analyzer_around(m->s, block);
  for (int i = 0; i < n; i++) {
    Region r = tirc_unbound_region(m->c, block->stmt, regions[i]);
    const IntSet *dims =
        tirc_region_upper(m->s, a, r, tirc_touching_condition(m->s, block), block->parent, loop);
    vec_push(m->c, to->v, ((Box){r.buffer, dims, written}));
  }
}

typedef struct Outside { /* what no region says */
  Visitor v;
  const Uses *other;
  bool found;
} Outside;

static bool load_outside(Visitor *v, Expr e) {
  Outside *o = v->self;
  o->found |= e->op == OP_LOAD && tirc_map_has(&o->other->writes, e->u.buffer->data);
  return true;
}

static bool outside_of_blocks(Visitor *v, Stmt s) {
  Outside *o = v->self;
  o->found |= s->kind == STMT_STORE || s->kind == STMT_EVAL;
  if (s->kind != STMT_BLOCK) return true;
  const Block *b = &s->u.block;
  tirc_visit_expr(v, b->predicate);
  for (int i = 0; i < b->n_iters; i++) {
    tirc_visit_expr(v, b->iters[i].dom.min);
    tirc_visit_expr(v, b->iters[i].dom.extent);
    tirc_visit_expr(v, b->iter_values[i]);
  }
  for (int i = 0; i < b->n_matches; i++) tirc_visit_region(v, &b->matches[i].source);
  return false;
}

/* What the other nest writes must be seen in all places where it is read. */
static Boxes boxes_of(Merge *m, SRef *loop, const Uses *other) {
  Boxes out = {0};
  const SRefs blocks = tirc_child_blocks(m->s, loop);
  Outside o = {.v = {.stmt = outside_of_blocks, .expr = load_outside, .self = &o}, .other = other};
  tirc_visit_stmt(&o.v, tirc_loop_of(loop)->body);
  out.opaque = o.found;
  for (int i = 0; i < blocks.n; i++) {
    out.opaque = out.opaque || blocks.at[i]->scope->n_blocks > 0 ||
                 tirc_reads_other_output(m->s, blocks.at[i]);
    for (int w = 0; w < 2; w++)
      add_boxes(m, &out, blocks.at[i], loop, blocks.at[i]->n_accesses[w], blocks.at[i]->accesses[w],
                w);
  }
  return out;
}

/* The loops of a nest as they count for one step of the proof: those before step k are the same in
 * both nests, loop k is `ahead`, the others are any. */
static void step_vars(Merge *m, Analyzer *a, const MergeNest *nest, int k, const Expr *same,
                      Expr at_k, PtrMap *map) {
  for (int i = 0; i < m->depth; i++) {
    const For *f = tirc_loop_of(nest->loops[i]);
    Expr var = i < k ? same[i] : i == k ? at_k : tirc_var(m->c, f->var->u.s, f->var->dtype);
    if (i > k) tirc_bind_range(a, var, tirc_range(f->min, f->extent));
    tirc_map_set(m->c, map, f->var, var);
  }
}

/* x at iterations that are later than those of y touches other elements. Later at loop k, and equal
 * in all loops outside of it. */
static bool apart_at(Merge *m, const MergeNest *nx, const Box *x, const MergeNest *ny, const Box *y,
                     int k) {
  Tirc *c = m->c;
  const For *f = tirc_loop_of(nx->loops[k]);
  int64_t extent;
  bool known = tirc_const_int(f->extent, &extent);
  if (known && extent <= 1) return true;
  Analyzer *a = tirc_analyzer_around(m->s, m->shared);
  Expr *same = tirc_new_array(c, Expr, m->depth + 1);
  for (int i = 0; i < k; i++) {
    const For *outer = tirc_loop_of(nx->loops[i]);
    same[i] = tirc_var(c, outer->var->u.s, outer->var->dtype);
    tirc_bind_range(a, same[i], tirc_range(outer->min, outer->extent));
  }
  DType t = f->var->dtype;
  Expr early = tirc_var(c, "early", t), gap = tirc_var(c, "gap", t), one = tirc_int(c, t, 1);
  Expr reach = known ? tirc_int(c, t, extent - 1) : tirc_sub(c, f->extent, one);
  tirc_bind_range(a, early, tirc_range(tirc_int(c, t, 0), reach));
  tirc_bind_range(a, gap, tirc_range(tirc_int(c, t, 0), reach));
  PtrMap of_x = {0}, of_y = {0};
  step_vars(m, a, nx, k, same, tirc_add(c, tirc_add(c, early, one), gap), &of_x);
  step_vars(m, a, ny, k, same, early, &of_y);
  for (int d = 0; d < x->buffer->ndim; d++) {
    IntSet p = x->dims[d], q = y->dims[d];
    if (q.max && p.min &&
        tirc_prove_lt(a, tirc_substitute(c, q.max, &of_y), tirc_substitute(c, p.min, &of_x)))
      return true;
    if (p.max && q.min &&
        tirc_prove_lt(a, tirc_substitute(c, p.max, &of_x), tirc_substitute(c, q.min, &of_y)))
      return true;
  }
  return false;
}

/* MergeNest x stood before y; now its later iterations come after earlier ones of y. */
static void require_order_kept(Merge *m, const MergeNest *x, const MergeNest *y, bool swapped) {
  Uses ux = uses_of(m->c, x->loops[0]->stmt), uy = uses_of(m->c, y->loops[0]->stmt);
  if (!conflict(&ux, &uy)) return;
  Boxes bx = boxes_of(m, x->inner, &uy), by = boxes_of(m, y->inner, &ux);
  if (swapped || bx.opaque || by.opaque)
    order_lost(m, x->loops[0]->stmt, y->loops[0]->stmt,
               swapped ? "the loops are not given in their order, and they share buffers"
                       : "the nests share buffers, in blocks whose regions do not say enough");
  for (int i = 0; i < bx.v.n; i++)
    for (int j = 0; j < by.v.n; j++) {
      const Box *p = &bx.v.at[i], *q = &by.v.at[j];
      if (p->buffer->data != q->buffer->data || (!p->written && !q->written)) continue;
      bool apart = p->buffer == q->buffer;
      for (int k = 0; k < m->depth && apart; k++) apart = apart_at(m, x, p, y, q, k);
      if (!apart)
        order_lost(m, x->loops[0]->stmt, y->loops[0]->stmt,
                   tirc_format(m->c,
                               "an iteration may use elements of %s that the other nest uses in an "
                               "earlier iteration",
                               p->buffer->name));
    }
}

/* --- the new nest ----------------------------------------------------------------------------- */

static Stmt merged(Merge *m, Expr *inner) {
  Tirc *c = m->c;
  Expr *vars = tirc_new_array(c, Expr, m->depth);
  Stmt *bodies = tirc_new_array(c, Stmt, m->n);
  for (int k = 0; k < m->depth; k++) {
    Expr old = tirc_loop_of(m->nests[0].loops[k])->var;
    vars[k] = tirc_var_suffixed(c, old, "_m", old->dtype);
  }
  for (int i = 0; i < m->n; i++) {
    PtrMap map = {0};
    for (int k = 0; k < m->depth; k++)
      tirc_map_set(c, &map, tirc_loop_of(m->nests[i].loops[k])->var, vars[k]);
    bodies[i] = tirc_substitute_stmt(c, tirc_loop_of(m->nests[i].inner)->body, &map);
  }
  Stmt nest = tirc_seq(c, m->n, bodies);
  for (int k = m->depth - 1; k >= 0; k--)
    nest = tirc_for_serial(c, vars[k], tirc_loop_of(m->nests[0].loops[k])->extent, nest);
  *inner = vars[m->depth - 1];
  return nest;
}

static int last_first(const void *x, const void *y) {
  return ((const MergeNest *)y)->place - ((const MergeNest *)x)->place;
}

void tirc_prim_merge(Sched *s, const Value *args, Value *result) {
  Merge m = {.s = s, .c = s->c};
  read_nests(&m, args[0]);
  require_equal_extents(&m);
  require_free_way(&m);
  for (int i = 0; i < m.n; i++)
    for (int k = i + 1; k < m.n; k++) {
      bool swapped = m.nests[i].place > m.nests[k].place;
      require_order_kept(&m, &m.nests[swapped ? k : i], &m.nests[swapped ? i : k], swapped);
    }
  Expr inner;
  Stmt nest = merged(&m, &inner);
  const int target = m.nests[m.n - 1].place;
  qsort(m.nests, (size_t)m.n, sizeof *m.nests, last_first);
  Stmt body = m.body;
  for (int i = 0; i < m.n; i++)
    body = tirc_seq_splice(s->c, body, m.nests[i].place, 1, m.nests[i].place == target, &nest);
  tirc_sched_replace(s, m.shared, tirc_with_body(s->c, m.shared->stmt, body));
  *result = tirc_value_loop(inner);
}
