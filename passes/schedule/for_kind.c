/* How the iterations of a loop are run.
 *
 *   for i in range(8):      parallel(i)     for i in T.parallel(8):
 *     ...               ->                    ...
 *
 * and so with vectorize, unroll and bind (T.thread_binding). Except for unroll, which keeps the
 * order, the loop must have compact dataflow below it, affine bindings, and reach spatial iterators
 * only; a loop bound to threadIdx may reach reduction iterators too (a cross-thread reduction).
 *
 * Errors: not-compact-dataflow, not-data-parallel, thread-binding-iterator, thread-axis. */
#include "../../ir/print.h"
#include "../../ir/visit.h"
#include "internal.h"

/* Rank 0: blockIdx; 1: threadIdx and virtual threads; -1: no thread. dim -1: no dimension. */
typedef struct ThreadScope {
  int rank, dim;
} ThreadScope;

static bool ends_in_axis(const char *tag, size_t prefix) {
  return tag[prefix] >= 'x' && tag[prefix] <= 'z' && !tag[prefix + 1];
}

static ThreadScope thread_scope(Sched *s, const char *tag) {
  if (!strcmp(tag, "vthread") || !strcmp(tag, "cthread")) return (ThreadScope){1, -1};
  if (!strncmp(tag, "vthread.", 8) && ends_in_axis(tag, 8)) return (ThreadScope){1, -1};
  if (!strncmp(tag, "blockIdx.", 9) && ends_in_axis(tag, 9)) return (ThreadScope){0, tag[9] - 'x'};
  if (!strncmp(tag, "threadIdx.", 10) && ends_in_axis(tag, 10))
    return (ThreadScope){1, tag[10] - 'x'};
  tirc_sched_error(s, SERR_THREAD_AXIS, NULL, NULL, "\"%s\" is no thread axis", tag);
}

typedef struct Check {
  Sched *s;
  SRef *loop;
  LoopKind kind;
  ThreadScope thread;
} Check;

static _Noreturn void wrong_iter(Check *k, Stmt block, int i) {
  Sched *s = k->s;
  const Block *b = &block->u.block;
  const char *what = tirc_format(
      s->c, "iterator %s of block %s is %s, and it is bound to %s", b->iters[i].var->u.s, b->name,
      tirc_iter_kind_name(b->iters[i].kind), tirc_print_expr(s->c, b->iter_values[i]));
  const char *var = tirc_loop_of(k->loop)->var->u.s;
  tirc_sched_mark(s, k->loop->stmt);
  tirc_sched_mark(s, block);
  if (k->kind == LOOP_THREAD_BINDING)
    tirc_sched_error(s, SERR_BIND_ITER_KIND, what, NULL, "loop %s cannot be bound to a thread axis",
                     var);
  tirc_sched_error(s, SERR_NOT_DATA_PARALLEL, what, NULL,
                   "the iterations of loop %s cannot run at the same time", var);
}

/* Blocks inside of blocks are looked at too; those in an init are no blocks of the schedule. */
static bool check_block(Visitor *v, Stmt stmt) {
  Check *k = v->self;
  if (stmt->kind != STMT_BLOCK) return true;
  if (!tirc_sref_find(k->s, stmt)) return false;
  const Block *b = &stmt->u.block;
  for (int i = 0; i < b->n_iters; i++) {
    if (!tirc_uses_var(b->iter_values[i], tirc_loop_of(k->loop)->var)) continue;
    bool cross_thread =
        b->iters[i].kind == ITER_REDUCE && k->thread.rank == 1 && k->thread.dim >= 0;
    if (b->iters[i].kind != ITER_SPATIAL && !cross_thread) wrong_iter(k, stmt, i);
  }
  return true;
}

static bool skip_expr(Visitor *v, Expr e) {
  (void)v;
  (void)e;
  return false;
}

static void require_parallelizable(Sched *s, SRef *loop, LoopKind kind, ThreadScope thread) {
  tirc_require_compact_dataflow(s, loop);
  Check k = {s, loop, kind, thread};
  Visitor v = {.stmt = check_block, .expr = skip_expr, .self = &k};
  tirc_visit_stmt(&v, tirc_loop_of(loop)->body);
}

static void set_kind(Sched *s, SRef *loop, LoopKind kind, const char *thread) {
  struct StmtNode *copy = tirc_new(s->c, struct StmtNode);
  *copy = *loop->stmt;
  copy->u.loop.kind = kind;
  copy->u.loop.thread = thread;
  tirc_sched_replace(s, loop, copy);
}

static void run_in_parallel(Sched *s, Value loop, LoopKind kind, const char *thread,
                            ThreadScope scope) {
  SRef *r = tirc_sref_of_value(s, loop);
  require_parallelizable(s, r, kind, scope);
  set_kind(s, r, kind, thread);
}

static const ThreadScope no_thread = {-1, -1};

void tirc_prim_parallel(Sched *s, const Value *args, Value *result) {
  (void)result;
  run_in_parallel(s, args[0], LOOP_PARALLEL, NULL, no_thread);
}

void tirc_prim_vectorize(Sched *s, const Value *args, Value *result) {
  (void)result;
  run_in_parallel(s, args[0], LOOP_VECTORIZED, NULL, no_thread);
}

void tirc_prim_bind(Sched *s, const Value *args, Value *result) {
  (void)result;
  run_in_parallel(s, args[0], LOOP_THREAD_BINDING, args[1].u.s, thread_scope(s, args[1].u.s));
}

void tirc_prim_unroll(Sched *s, const Value *args, Value *result) {
  (void)result;
  set_kind(s, tirc_sref_of_value(s, args[0]), LOOP_UNROLLED, NULL);
}
