/* loop_partition(loop, factors): the iterations of a loop, dealt out to several loops one after the
 * other.
 *
 *   for i in range(100):                  block B_i_common:
 *     block B: vi = i               ->      block B_i0_partition:
 *                                             for i0 in range(32):
 *   loop_partition(i, [32, 64])                 block B_i0: vi in [0, 32) = i0
 *                                           block B_i1_partition:
 *                                             for i1 in range(32, 96): ...
 *                                           block B_i2_partition:
 *                                             for i2 in range(96, 100): ...
 *
 * The factors are lengths; one of them may be None, and what they leave over is one more part. All
 * parts are copies: handles of the loop and of what is below it die. Where an iterator is bound to
 * the loop itself, the iterator's domain shrinks to that of the part, and the block declares what
 * all instances of the part touch. The blocks around the parts declare no regions.
 *
 * An init belongs to the first part of a reduction only: the later parts add to what they find.
 * (The reference leaves it in all parts, whose blocks then start anew.) In the same way a loop that
 * does not start at 0 is dealt out from its own start.
 *
 * Needs: constant bounds, a loop without annotation and thread binding that leads to one block. */
#include "ir/tree/print.h"
#include "loops.h"
#include "passes/schedule/blocks/blocks.h"

typedef struct Partition {
  Sched *s;
  Tirc *c;
  SRef *loop, *block;
  int64_t min, extent;
  int n;
  int64_t *ends; /* of the parts, as values of the loop variable */
} Partition;

/* --- checks ----------------------------------------------------------------------------------- */

static void read_bounds(Partition *p) {
  const For *f = tirc_loop_of(p->loop);
  int64_t end;
  if (tirc_const_int(f->min, &p->min) && tirc_const_int(f->extent, &p->extent) &&
      !__builtin_add_overflow(p->min, p->extent, &end) && end <= tirc_dtype_max(f->var->dtype))
    return;
  tirc_refuse(p->s, p->loop->stmt, SERR_SYMBOLIC_LOOP, "loop %s runs over [%s, %s + %s)",
              f->var->u.s, tirc_print_expr(p->c, f->min), tirc_print_expr(p->c, f->min),
              tirc_print_expr(p->c, f->extent));
}

static int64_t factor_of(Partition *p, Value v, int position) {
  if (v.kind != VAL_INT)
    tirc_sched_error(p->s, NULL, SERR_SPLIT_FACTOR, NULL, "use a number",
                     "the factor at position %d is %s, which is not known", position,
                     tirc_print_expr(p->c, v.u.expr));
  if (v.u.i <= 0)
    tirc_refuse(p->s, NULL, SERR_SPLIT_FACTOR, "the factor at position %d is %lld", position,
                (long long)v.u.i);
  return v.u.i;
}

static void read_factors(Partition *p, Value list) {
  int n = list.u.list->n, missing = -1;
  int64_t sum = 0;
  int64_t *lengths = tirc_new_array(p->c, int64_t, n + 1);
  for (int i = 0; i < n; i++) {
    if (list.u.list->at[i].kind != VAL_NONE) {
      lengths[i] = factor_of(p, list.u.list->at[i], i);
      if (__builtin_add_overflow(sum, lengths[i], &sum)) sum = p->extent;
      continue;
    }
    if (missing >= 0)
      tirc_refuse(p->s, NULL, SERR_SPLIT_TWO_INFERRED,
                  "the factors at positions %d and %d are None", missing, i);
    missing = i;
  }
  if (sum >= p->extent)
    tirc_refuse(p->s, p->loop->stmt, SERR_PARTITION_TOO_LONG,
                "the factors add up to %lld, but loop %s has %lld iterations", (long long)sum,
                tirc_name_of(p->loop), (long long)p->extent);
  if (missing < 0) missing = n++;
  lengths[missing] = p->extent - sum;
  p->n = n;
  p->ends = lengths;
  for (int i = 0; i < n; i++) p->ends[i] += i ? p->ends[i - 1] : p->min;
}

void tirc_require_bare_loop(Sched *s, SRef *loop) {
  const For *f = tirc_loop_of(loop);
  if (!f->annotations.n && f->kind != LOOP_THREAD_BINDING) return;
  tirc_refuse(s, loop->stmt, SERR_LOOP_HAS_ANNOTATION, "loop %s has %s", f->var->u.s,
              f->annotations.n ? "annotations" : "a thread binding");
}

/* --- one part --------------------------------------------------------------------------------- */

typedef struct Part {
  Tirc *c;
  int64_t min, end;
  bool first;
  Expr loop_var;
  Analyzer *loops; /* knows the loops of the part */
  PtrMap vars;     /* theirs */
} Part;

/* The iterator that is bound to the loop itself; -1: none. */
static int bound_iter(const Part *p, const Block *b) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iter_values[i] == p->loop_var) return i;
  return -1;
}

/* Whether no instance of the part is one at which the reduction starts. */
static bool starts_elsewhere(const Part *p, const Block *b) {
  for (int i = 0; i < b->n_iters; i++) {
    int64_t start;
    if (b->iters[i].kind != ITER_REDUCE || !tirc_uses_var(b->iter_values[i], p->loop_var)) continue;
    if (tirc_const_int(b->iters[i].dom.min, &start) &&
        tirc_const_bound(p->loops, b->iter_values[i]).min > start)
      return true;
  }
  return false;
}

/* The element of a buffer that an instance accesses, when it is one whose indices are variables. */
typedef struct PlainAccess {
  Buffer buffer;
  int n;
  const Expr *indices;
  bool other; /* it accesses another one, too */
} PlainAccess;

static void note(PlainAccess *a, Buffer buffer, int n, const Expr *indices) {
  if (buffer != a->buffer) return;
  if (!a->indices) a->indices = indices;
  a->n = n;
  for (int i = 0; i < n; i++)
    a->other = a->other || indices[i]->op != OP_VAR || indices[i] != a->indices[i];
}
static bool note_load(Visitor *v, Expr e) {
  if (e->op == OP_LOAD) note(v->self, e->u.buffer, e->n, e->args);
  return true;
}
static bool note_store(Visitor *v, Stmt s) {
  if (s->kind == STMT_STORE) note(v->self, s->u.store.buffer, s->u.store.n, s->u.store.indices);
  return true;
}

/* The domains of the iterators that index the buffer, when an instance accesses that one element
 * only and the loops do not bound them; otherwise the region as it was. */
static Region whole_region(const Part *p, const Block *b, Region r) {
  PlainAccess a = {.buffer = r.buffer};
  tirc_visit_stmt(&(Visitor){.stmt = note_store, .expr = note_load, .self = &a}, b->body);
  if (!a.indices || a.other || a.n != r.buffer->ndim) return r;
  Range *dims = tirc_new_array(p->c, Range, a.n + 1);
  for (int d = 0; d < a.n; d++) {
    const int i = tirc_iter_index(b, a.indices[d]);
    if (i < 0 || tirc_range_uses_any(b->iters[i].dom, &p->vars)) return r;
    dims[d] = b->iters[i].dom;
  }
  return (Region){r.buffer, dims};
}

static const Region *whole_regions(const Part *p, const Block *b, int n, const Region *from) {
  Region *to = tirc_new_array(p->c, Region, n + 1);
  for (int i = 0; i < n; i++) to[i] = whole_region(p, b, from[i]);
  return to;
}

static void shrink_domain(const Part *p, Block *b, int bound) {
  IterVar *iters = tirc_copy(p->c, b->iters, b->n_iters);
  DType t = iters[bound].var->dtype;
  const Expr extent = iters[bound].dom.extent; /* of no steps there is no first one */
  if (b->init && iters[bound].kind == ITER_REDUCE && extent->op != OP_INT)
    b->predicate =
        tirc_and(p->c, b->predicate, tirc_lt(p->c, tirc_int(p->c, extent->dtype, 0), extent));
  iters[bound].dom = tirc_range(tirc_int(p->c, t, p->min), tirc_int(p->c, t, p->end - p->min));
  b->iters = iters;
  b->reads = whole_regions(p, b, b->n_reads, b->reads);
  b->writes = whole_regions(p, b, b->n_writes, b->writes);
}

static Stmt rewrite(Mutator *m, Stmt s) {
  Part *p = m->self;
  if (s->kind == STMT_FOR) {
    tirc_bind_loop(p->loops, &s->u.loop);
    tirc_map_set(p->c, &p->vars, s->u.loop.var, s);
  }
  if (s->kind != STMT_BLOCK) return tirc_mutate_stmt_children(m, s);
  struct StmtNode *copy = tirc_new(p->c, struct StmtNode);
  *copy = *tirc_mutate_stmt_children(m, s);
  Block *b = &copy->u.block;
  b->name = tirc_format(p->c, "%s_%s", b->name, p->loop_var->u.s);
  if (b->init && !p->first && starts_elsewhere(p, b)) tirc_drop_init(p->c, b, false);
  int bound = bound_iter(p, b);
  if (bound >= 0) shrink_domain(p, b, bound);
  return tirc_stmt_done(p->c, copy);
}

static Stmt make_part(Partition *p, int i, const char *prefix, Expr *var) {
  Tirc *c = p->c;
  const For *old = tirc_loop_of(p->loop);
  DType t = old->var->dtype;
  *var = tirc_var_suffixed(c, old->var, tirc_format(c, "%d", i), t);
  Part part = {.c = c,
               .min = i ? p->ends[i - 1] : p->min,
               .end = p->ends[i],
               .first = i == 0,
               .loop_var = *var,
               .loops = tirc_analyzer_around(p->s, p->loop)};
  Range range = tirc_range(tirc_int(c, t, part.min), tirc_int(c, t, part.end - part.min));
  tirc_bind_range(part.loops, *var, range);
  tirc_map_set(c, &part.vars, *var, *var);
  Stmt body = tirc_substitute1_stmt(c, tirc_clone_fresh(c, old->body), old->var, *var);
  Mutator m = {.c = c, .stmt = rewrite, .self = &part};
  For loop = {.var = *var, .min = range.min, .extent = range.extent};
  loop.body = tirc_mutate_stmt(&m, body);
  return tirc_block(
      c, &(Block){.name = tirc_format(c, "%s%d_partition", prefix, i), .body = tirc_for(c, &loop)});
}

void tirc_prim_loop_partition(Sched *s, const Value *args, Value *result) {
  Partition p = {.s = s, .c = s->c, .loop = tirc_sref_of_value(s, args[0])};
  read_bounds(&p);
  read_factors(&p, args[1]);
  tirc_require_bare_loop(s, p.loop);
  p.block = tirc_blockize_only_child(s, p.loop);
  const char *prefix = tirc_format(s->c, "%s_%s", tirc_name_of(p.block), tirc_name_of(p.loop));
  Stmt *parts = tirc_new_array(s->c, Stmt, p.n);
  *result = tirc_value_list(s->c, VAL_LIST, 0, NULL);
  for (int i = 0; i < p.n; i++) {
    Expr var;
    parts[i] = make_part(&p, i, prefix, &var);
    tirc_value_append(s->c, *result, tirc_value_loop(var));
  }
  Block common = {.name = tirc_format(s->c, "%s_common", prefix),
                  .body = tirc_seq(s->c, p.n, parts)};
  tirc_sched_replace(s, p.loop, tirc_block(s->c, &common));
}
