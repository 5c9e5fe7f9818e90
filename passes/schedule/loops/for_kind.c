/* How the iterations of a loop are run.
 *
 *   for i in range(8):      parallel(i)     for i in T.parallel(8):
 *     ...               ->                    ...
 *
 * and so with vectorize, unroll and bind (T.thread_binding). Except for unroll, which keeps the
 * order, the loop must have compact dataflow below it, affine bindings, and reach spatial iterators
 * only; a loop bound to threadIdx may reach reduction iterators too (a cross-thread reduction), and
 * so may one bound to pe.x, .y or .z: elements of an array hand their sums on.
 * What is harmless but hardly meant is warned of: a vectorized loop in another, such a reduction,
 * two extents of one thread axis in a kernel. */
#include "ir/nearest.h"
#include "ir/tree/print.h"
#include "loops.h"

static ThreadAxis thread_axis(Sched *s, const char *tag) {
  static const char *const axes[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x",
                                     "blockIdx.y",  "blockIdx.z",  "vthread",     "pe.x",
                                     "pe.y",        "pe.z"};
  const ThreadAxis axis = tirc_gpu_axis(tag);
  const char *behind = axis == AXIS_VIRTUAL ? tag + strlen("vthread") : "";
  if (axis != AXIS_UNKNOWN &&
      (!*behind || (behind[0] == '.' && behind[1] && !behind[2] && strchr("xyz", behind[1]))))
    return axis;
  tirc_sched_error(s, NULL, SERR_THREAD_AXIS, NULL,
                   tirc_nearest(s->c, tag, sizeof axes / sizeof *axes, axes),
                   "\"%s\" is not a thread axis", tag);
}

typedef struct Check {
  Sched *s;
  SRef *loop;
  LoopKind kind;
  ThreadAxis axis;
  PtrMap moved; /* the loop's variable, and what is let from it */
} Check;

static _Noreturn void wrong_iter(Check *k, Stmt block, int i) {
  Sched *s = k->s;
  const Block *b = &block->u.block;
  const char *what = tirc_format(
      s->c, "iterator %s of block %s is %s, and it is bound to %s", b->iters[i].var->u.s, b->name,
      tirc_iter_kind_name(b->iters[i].kind), tirc_print_expr(s->c, b->iter_values[i]));
  const char *var = tirc_name_of(k->loop);
  tirc_sched_mark(s, k->loop->stmt);
  tirc_sched_mark(s, block);
  if (k->kind == LOOP_THREAD_BINDING)
    tirc_sched_error(s, NULL, SERR_BIND_ITER_KIND, what, NULL,
                     "loop %s cannot be bound to a thread axis", var);
  tirc_sched_error(s, NULL, SERR_NOT_DATA_PARALLEL, what, NULL,
                   "the iterations of loop %s cannot run at the same time", var);
}

/* Harmless: the code of both is right, with one vector operation for each iteration of the outer.
 */
static void warn_of_nest(Check *k, const For *outer, const For *inner) {
  tirc_sched_warn(k->s, "loop %s is in vectorized loop %s and is vectorized, too: vectorize one",
                  inner->var->u.s, outer->var->u.s);
}

static void warn_of_vectorized(Check *k) {
  const For *loop = tirc_loop_of(k->loop);
  if (k->kind != LOOP_VECTORIZED) return;
  if (loop->kind == LOOP_VECTORIZED)
    tirc_sched_warn(k->s, "loop %s is vectorized already", loop->var->u.s);
  for (SRef *r = k->loop->parent; r; r = r->parent)
    if (tirc_is_loop(r) && tirc_loop_of(r)->kind == LOOP_VECTORIZED)
      warn_of_nest(k, tirc_loop_of(r), loop);
}

/* Blocks inside of blocks are looked at too; those in an init are no blocks of the schedule. */
static bool check_block(Visitor *v, Stmt stmt) {
  Check *k = v->self;
  if (stmt->kind == STMT_FOR && stmt->u.loop.kind == LOOP_VECTORIZED && k->kind == LOOP_VECTORIZED)
    warn_of_nest(k, tirc_loop_of(k->loop), &stmt->u.loop);
  if (stmt->kind == STMT_LET && tirc_uses_any(stmt->u.let.value, &k->moved))
    tirc_map_set(k->s->c, &k->moved, stmt->u.let.var, stmt->u.let.var);
  if (stmt->kind != STMT_BLOCK) return true;
  if (!tirc_sref_find(k->s, stmt)) return false;
  const Block *b = &stmt->u.block;
  for (int i = 0; i < b->n_iters; i++) {
    if (!tirc_uses_any(b->iter_values[i], &k->moved)) continue;
    bool cross_thread = b->iters[i].kind == ITER_REDUCE && tirc_is_thread_axis(k->axis);
    bool cross_pe = b->iters[i].kind == ITER_REDUCE && tirc_pe_axis(k->axis) >= 0;
    if (b->iters[i].kind != ITER_SPATIAL && !cross_thread && !cross_pe) wrong_iter(k, stmt, i);
    if (cross_thread && !k->s->gpu)
      tirc_sched_warn(k->s,
                      "loop %s is a reduction of block %s: its threads add to the same elements, "
                      "which takes a cross-thread reduction: lowered for a GPU, it is made one",
                      tirc_name_of(k->loop), b->name);
  }
  return true;
}

static void check_iterators(Sched *s, SRef *loop, LoopKind kind, ThreadAxis axis) {
  Check k = {s, loop, kind, axis, {0}};
  tirc_map_set(s->c, &k.moved, tirc_loop_of(loop)->var, tirc_loop_of(loop)->var);
  tirc_visit_stmts(tirc_loop_of(loop)->body, check_block, &k);
  warn_of_vectorized(&k);
}

/* --- loops that a program brings ---------------------------------------------------------------
 *
 * Of what the primitives ask, that which says that a result is wrong. The rest is what they need in
 * order to know that it is right, which programs that were scheduled further do not keep. */

static bool check_concurrent(Visitor *v, Stmt stmt) {
  const Telling *r = v->self;
  Tirc *c = r->s->c;
  SRef *loop = stmt->kind == STMT_FOR && tirc_runs_at_once(&stmt->u.loop)
                   ? tirc_sref_find(r->s, stmt)
                   : NULL;
  if (!loop || tirc_is_int(stmt->u.loop.extent, 1)) return true;
  const For *f = &stmt->u.loop;
  const bool is_virtual = f->axis == AXIS_VIRTUAL;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    if (f->thread) (void)thread_axis(r->s, f->thread);
    check_iterators(r->s, loop, f->kind, f->axis);
    tirc_refuse_dependence(r->s, loop, f->axis);
    TIRC_END(c, trap);
    return true;
  }
  const DiagCode code = c->diag.code;
  if (code != SERR_NOT_DATA_PARALLEL && code != SERR_ITERATIONS_DEPEND &&
      (is_virtual || code != SERR_BIND_ITER_KIND))
    return true;
  r->tell(r->self, (Warning){CODE_RACE, stmt->loc,
                             tirc_format(c, "%s: %s", c->diag.message, c->diag.condition)});
  return true;
}

void tirc_racing_loops(Telling *t) {
  Visitor v = {.stmt = check_concurrent, .expr = tirc_skip_expr, .self = t};
  tirc_visit_module(&v, t->s->mod);
}

/* --- thread axes of a kernel -------------------------------------------------------------------
 *
 * A kernel is what is in an outermost loop that is bound; there an axis has one extent. Virtual
 * threads are no axes of the machine. */

typedef struct Axis {
  Sched *s;
  const For *loop; /* bound to it just now */
  bool warned;
} Axis;

static bool compare_extent(Visitor *v, Stmt stmt) {
  Axis *a = v->self;
  const For *f = &stmt->u.loop;
  if (stmt->kind != STMT_FOR || a->warned || f->var == a->loop->var || f->axis != a->loop->axis ||
      tirc_is_int(tirc_simplify0(a->s->c, tirc_sub(a->s->c, f->extent, a->loop->extent)), 0))
    return true;
  a->warned = true;
  tirc_sched_warn(a->s, "loops %s (%s) and %s (%s) give %s different extents in one kernel",
                  f->var->u.s, tirc_print_expr(a->s->c, f->extent), a->loop->var->u.s,
                  tirc_print_expr(a->s->c, a->loop->extent), f->thread);
  return true;
}

static void warn_of_extents(Sched *s, SRef *loop) {
  SRef *kernel = loop;
  for (SRef *r = loop->parent; r; r = r->parent)
    if (tirc_is_loop(r) && tirc_loop_of(r)->kind == LOOP_THREAD_BINDING) kernel = r;
  Axis a = {.s = s, .loop = tirc_loop_of(loop)};
  tirc_visit_stmts(kernel->stmt, compare_extent, &a);
}

static void set_kind(Sched *s, SRef *loop, LoopKind kind, const char *thread) {
  struct StmtNode *copy = tirc_copy(s->c, loop->stmt, 1);
  copy->u.loop.kind = kind;
  copy->u.loop.thread = thread;
  copy->u.loop.axis = tirc_gpu_axis(thread);
  tirc_sched_replace(s, loop, copy);
  tirc_mark_changed(s, loop, NULL);
}

/* One of the orders that threads may have: the last iteration first. */
static void run_backwards(Sched *s, SRef *r) {
  Tirc *c = s->c;
  const For *f = tirc_loop_of(r);
  const Expr ends = tirc_sub(c, tirc_add(c, tirc_add(c, f->min, f->min), f->extent),
                             tirc_int(c, f->var->dtype, 1));
  const Expr back = tirc_simplify0(c, tirc_sub(c, ends, f->var));
  const Stmt body = tirc_substitute1_stmt(c, f->body, f->var, back);
  tirc_sched_replace(s, r, tirc_with_body(c, r->stmt, body));
}

static void run_in_parallel(Sched *s, Value loop, LoopKind kind, const char *thread) {
  const ThreadAxis axis = thread ? thread_axis(s, thread) : AXIS_NONE;
  SRef *r = tirc_sref_of_value(s, loop);
  if (s->unchecked) {
    run_backwards(s, r);
  } else {
    tirc_require_compact_dataflow(s, r);
    check_iterators(s, r, kind, axis);
    tirc_require_independent(s, r, axis);
  }
  set_kind(s, r, kind, thread);
}

void tirc_prim_parallel(Sched *s, const Value *args, Value *result) {
  (void)result;
  run_in_parallel(s, args[0], LOOP_PARALLEL, NULL);
}

void tirc_prim_vectorize(Sched *s, const Value *args, Value *result) {
  (void)result;
  run_in_parallel(s, args[0], LOOP_VECTORIZED, NULL);
}

void tirc_prim_bind(Sched *s, const Value *args, Value *result) {
  (void)result;
  run_in_parallel(s, args[0], LOOP_THREAD_BINDING, args[1].u.s);
  SRef *loop = tirc_sref_of_value(s, args[0]);
  if ((int)tirc_loop_of(loop)->axis < GPU_AXES) warn_of_extents(s, loop);
}

void tirc_prim_unroll(Sched *s, const Value *args, Value *result) {
  (void)result;
  set_kind(s, tirc_sref_of_value(s, args[0]), LOOP_UNROLLED, NULL);
}
