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
 * places (order-matters). */
#include "ir/tree/print.h"
#include "loops.h"
#include "passes/schedule/meaning/places.h"

#include <stdlib.h>

typedef struct MergeNest {
  SRef **loops; /* outermost first; the last one was given */
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

#define bad_shape(m, loop, ...)                                                                    \
  tirc_sched_error((m)->s, (loop)->stmt, SERR_MERGE_SHAPE, tirc_format((m)->c, __VA_ARGS__), NULL, \
                   "loop %s cannot be merged with the others", tirc_name_of(loop))

static int read_nest(Merge *m, SRef *inner, MergeNest *nest) {
  VEC(SRef *) up = {0};
  if (inner == m->shared) bad_shape(m, inner, "the other loops are inside of it");
  for (SRef *r = inner; r != m->shared; r = r->parent) {
    if (!tirc_is_loop(r)) bad_shape(m, inner, "the loops are in the scopes of different blocks");
    tirc_require_bare_loop(m->s, r);
    tirc_require_zero_start(m->s, r);
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
    bad_shape(m, inner, "between it and what the loops share stands another statement");
  return up.n;
}

static void read_nests(Merge *m, Value list) {
  Sched *s = m->s;
  m->n = list.u.list->n;
  if (!m->n) tirc_refuse(s, NULL, SERR_NO_LOOPS, "sch.merge got no loop");
  m->nests = tirc_new_array(m->c, MergeNest, m->n);
  SRefs loops = {0};
  for (int i = 0; i < m->n; i++) {
    SRef *loop = tirc_sref_of_value(s, list.u.list->at[i]);
    if (i && loop->func != loops.at[0]->func) bad_shape(m, loop, "it is in another function");
    if (tirc_is_among(loop, loops))
      tirc_refuse(s, loop->stmt, SERR_LOOP_REPEATED, "loop %s is given twice", tirc_name_of(loop));
    vec_push(m->c, loops, loop);
  }
  if (m->n == 1) bad_shape(m, loops.at[0], "merge takes at least two loops");
  m->shared = tirc_common_ancestor(m->n, loops.at);
  m->body = tirc_body_of(m->shared->stmt);
  for (int i = 0; i < m->n; i++) {
    int depth = read_nest(m, loops.at[i], &m->nests[i]);
    if (i == 0) m->depth = depth;
    if (depth != m->depth) bad_shape(m, loops.at[i], "the nests are of different depth");
    for (int k = 0; k < i; k++)
      if (m->nests[k].place == m->nests[i].place)
        bad_shape(m, loops.at[i], "two of the loops are in one nest");
  }
}

static void require_equal_extents(Merge *m) {
  Analyzer *a = tirc_analyzer(m->c);
  for (int i = 1; i < m->n; i++)
    for (int k = 0; k < m->depth; k++) {
      const For *x = tirc_loop_of(m->nests[0].loops[k]), *y = tirc_loop_of(m->nests[i].loops[k]);
      if (!tirc_prove_equal(a, x->extent, y->extent))
        bad_shape(m, m->nests[i].loops[k], "its extent is %s, and that of loop %s is %s",
                  tirc_print_expr(m->c, y->extent), x->var->u.s, tirc_print_expr(m->c, x->extent));
      if (!tirc_dtype_equal(x->var->dtype, y->var->dtype))
        bad_shape(m, m->nests[i].loops[k], "the types of the loop variables differ");
    }
}

/* --- what is used ----------------------------------------------------------------------------- */

static Touches touches_of(Merge *m, Stmt s) {
  const Plain plain = tirc_plain_blocks(m->s, tirc_child_blocks(m->s, m->shared));
  Extract x = {.c = m->c, .plain = &plain};
  tirc_extract(&x, tirc_place_in(m->c, m->shared), NULL, NULL, NULL, s);
  return x.touches;
}

/* Whether both use a buffer that one of them writes. */
static bool conflict(Merge *m, Stmt x, Stmt y) {
  if (m->s->unchecked) return false;
  const Touches of_x = touches_of(m, x), of_y = touches_of(m, y);
  for (int i = 0; i < of_x.n; i++)
    for (int k = 0; k < of_y.n; k++)
      if (of_x.at[i].buffer->data == of_y.at[k].buffer->data &&
          (of_x.at[i].write || of_y.at[k].write))
        return true;
  return false;
}

static _Noreturn void order_lost(Merge *m, Stmt x, Stmt y, const char *what) {
  tirc_sched_mark(m->s, x);
  tirc_sched_error(m->s, y, SERR_ORDER_MATTERS, what,
                   "merge only loops whose iterations use nothing but the results of the same "
                   "iterations of the other loops",
                   "in the merged loops, accesses to the same element might change their order");
}

/* A nest jumps over what stands between it and the last one. */
static void require_free_way(Merge *m) {
  int target = m->nests[m->n - 1].place;
  for (int i = 0; i < m->n; i++) {
    int from = m->nests[i].place, low = from < target ? from : target;
    int high = from < target ? target : from;
    for (int at = low + 1; at < high; at++) {
      bool is_nest = false;
      for (int k = 0; k < m->n; k++) is_nest = is_nest || m->nests[k].place == at;
      if (!is_nest && conflict(m, m->nests[i].loops[0]->stmt, tirc_item(m->body, at)))
        order_lost(m, m->nests[i].loops[0]->stmt, tirc_item(m->body, at),
                   "what stands between the nests uses the same buffers");
    }
  }
}

/* Nest x stood before y; now its later iterations come after earlier ones of y. */
static void require_order_kept(Merge *m, const MergeNest *x, const MergeNest *y, bool swapped) {
  const Stmt first = x->loops[0]->stmt, second = y->loops[0]->stmt;
  if (!conflict(m, first, second)) return;
  const char *lost = swapped ? "the loops are not given in their order, and they share buffers"
                             : tirc_lost_in_step(m->s, m->depth, x->loops, y->loops);
  if (lost) order_lost(m, first, second, lost);
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
    bodies[i] = tirc_substitute_stmt(c, tirc_loop_of(m->nests[i].loops[m->depth - 1])->body, &map);
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
