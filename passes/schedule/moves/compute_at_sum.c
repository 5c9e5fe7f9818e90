/* A complete block may run an instance twice: it stores the same value again, or first a
 * preliminary one and then the final one. A reduction block may not, unless its init runs in
 * between:
 *
 *     for i, k:                                   k is the producer's reduction
 *         C[i] += A[i, k]
 *         D[()] += C[i]                           init at i == 0: adds every C[i] once for each k
 *
 * One whose init goes on with what is there must not run again at all.
 *
 * The same holds for a sum over a loop around the block in a block within it, as loop_partition of
 * an inner loop makes it.
 *
 * Moved by compute_at a reduction runs from init to end in each iteration of the loop. Moved by
 * reverse_compute_at some of its reduction iterators may follow loops that are there already. */
#include "ir/tree/print.h"
#include "moves.h"

typedef struct Loops {
  VEC(const For *) at; /* outermost first */
  int n_outer;         /* those that were there before */
} Loops;

static Loops loops_of(Sched *s, SRef *loop, Stmt nest, const Block **block) {
  Loops l = {0};
  const SRefs above = tirc_loops_above(s, loop);
  for (int i = 0; i < above.n; i++) vec_push(s->c, l.at, tirc_loop_of(above.at[i]));
  vec_push(s->c, l.at, tirc_loop_of(loop));
  l.n_outer = l.at.n;
  for (; nest->kind == STMT_FOR; nest = nest->u.loop.body) vec_push(s->c, l.at, &nest->u.loop);
  *block = &nest->u.block;
  return l;
}

/* The bit 1 << IterKind of each iterator whose binding uses the loop. */
static unsigned uses(const Block *b, const For *loop) { return tirc_kinds_moved(b, loop->var); }

_Noreturn static void repeated(Sched *s, const Block *b, const char *why) {
  tirc_sched_error(s, NULL, SERR_REPEATED_REDUCTION, why, NULL,
                   "the reduction block \"%s\" would add the same instances several times",
                   b->name);
}

static void require_one_adder(Sched *s, const Block *b, const For *loop, bool is_producer) {
  const unsigned sums = 1u << ITER_REDUCE, used = uses(b, loop);
  if (loop->kind != LOOP_PARALLEL && loop->kind != LOOP_VECTORIZED) return;
  if (!(used & sums) && (used || is_producer)) return;
  tirc_refuse(s, NULL, SERR_SHARED_REDUCTION,
              "the iterations of loop %s (%s) would add to the same element in block \"%s\"",
              loop->var->u.s, tirc_loop_kind_name(loop->kind), b->name);
}

/* Whether a loop moves reduction iterators and others at once, as the parts of a fused one do: in
 * another order than that of the fused one, the first instance of an element may be any. */
static bool mixes_kinds(const Block *b, const Loops *l) {
  for (int i = 0; b->init && i < l->at.n; i++) {
    const unsigned kinds = uses(b, l->at.at[i]);
    if (kinds & 1u << ITER_REDUCE && kinds & ~(1u << ITER_REDUCE)) return true;
  }
  return false;
}

static int place_of_loop(const Loops *l, Expr var) {
  int i = 0;
  while (i < l->at.n && l->at.at[i]->var != var) i++;
  return i;
}

/* Whether the parts of a fused number are whole loops, the larger ones further out. */
static bool is_in_order(const IterSum *sum, const Loops *l) {
  int64_t scale, next;
  for (int i = 0; i < sum->n; i++) {
    const IterMark *mark = sum->args[i].source;
    if (!mark->var || !tirc_is_int(sum->args[i].lower_factor, 1) ||
        !tirc_expr_same(mark->extent, sum->args[i].extent) ||
        !tirc_const_int(sum->args[i].scale, &scale) || scale <= 0)
      return false;
    if (i + 1 == sum->n) continue;
    const IterSplit *after = &sum->args[i + 1];
    if (!tirc_const_int(after->scale, &next) || scale <= next || !after->source->var ||
        place_of_loop(l, mark->var) >= place_of_loop(l, after->source->var))
      return false;
  }
  return true;
}

/* Whether it is a number that counts up while the nest runs, or a digit of one. */
static bool is_counting(const IterMark *mark, const Loops *l) {
  int64_t scale;
  if (mark->var) return true;
  if (mark->sum->n == 1)
    return tirc_const_int(mark->sum->args[0].scale, &scale) && scale > 0 &&
           is_counting(mark->sum->args[0].source, l);
  return is_in_order(mark->sum, l);
}

/* Whether the iterators are digits of such numbers: then those of the reduction are all 0 in the
 * first instance of an element. */
static bool counts_up(const IterMap *map, const Loops *l) {
  for (int i = 0; i < map->n; i++)
    for (int k = 0; k < map->indices[i].n; k++)
      if (!is_counting(map->indices[i].args[k].source, l)) return false;
  return true;
}

static SRef *nest_of(Sched *s, SRef *loop) {
  const SRefs above = tirc_loops_above(s, loop);
  return above.n ? above.at[0] : loop;
}

/* Each combination of the loops that the bindings use is another instance, and the first one for an
 * element is the one with the init. */
static void require_distinct(Sched *s, SRef *loop, const Block *b, const Loops *l) {
  Expr *vars = tirc_new_array(s->c, Expr, l->at.n + 1);
  Range *doms = tirc_new_array(s->c, Range, l->at.n + 1);
  int n = 0;
  for (int i = 0; i < l->at.n; i++) {
    if (!uses(b, l->at.at[i])) continue;
    vars[n] = l->at.at[i]->var;
    doms[n++] = tirc_range(l->at.at[i]->min, l->at.at[i]->extent);
  }
  const char *why = "two iterations may run the same instance";
  const IterMap *map =
      tirc_detect_iter_map(tirc_analyzer(s->c), b->n_iters, b->iter_values, n, vars, doms,
                           b->predicate, ITER_LEVEL_BIJECTIVE, true, &why);
  if (!map) repeated(s, b, why);
  int64_t scale;
  for (int i = 0; i < map->n; i++)
    for (int k = 0; b->iters[i].kind == ITER_REDUCE && k < map->indices[i].n; k++)
      if (!tirc_const_int(map->indices[i].args[k].scale, &scale) || scale < 0)
        repeated(s, b, "the init would not come first");
  if (mixes_kinds(b, l) && !counts_up(map, l) &&
      !tirc_init_comes_first(s, nest_of(s, loop), l->at.n, l->at.at, b, b->predicate))
    repeated(s, b, "the init is not known to come first");
}

typedef struct OuterSums {
  const Loops *l;
  const Block *moved;
  unsigned *kinds; /* for each loop, of iterators of the blocks within the moved one */
} OuterSums;

static bool see_inner_block(Visitor *v, Stmt stmt) {
  OuterSums *o = v->self;
  const Block *b = &stmt->u.block;
  if (stmt->kind != STMT_BLOCK || b == o->moved) return true;
  for (int i = 0; i < o->l->at.n; i++) o->kinds[i] |= uses(b, o->l->at.at[i]);
  return true;
}

/* Blocks within the moved one may sum over the loops around it: none may run them again. */
static void require_inner_sums_once(Sched *s, const Loops *l, Stmt nest, const Block *moved) {
  OuterSums o = {l, moved, tirc_new_array(s->c, unsigned, l->at.n + 1)};
  tirc_visit_stmts(nest, see_inner_block, &o);
  bool summed = false;
  for (int i = 0; i < l->at.n; i++) {
    const For *f = l->at.at[i];
    if (summed && !o.kinds[i] && !uses(moved, f) && !tirc_is_int(f->extent, 1))
      repeated(s, moved, tirc_format(s->c, "once for each iteration of loop %s", f->var->u.s));
    summed |= (o.kinds[i] & 1u << ITER_REDUCE) != 0;
  }
}

void tirc_require_sums_once(Sched *s, SRef *loop, Stmt nest, bool is_producer) {
  const Block *b;
  Loops l = loops_of(s, loop, nest, &b);
  const bool summing = tirc_iter_kinds(b->n_iters, b->iters) & 1u << ITER_REDUCE;
  bool summed = tirc_init_reads_output(b);
  tirc_sched_mark(s, loop->stmt);
  require_inner_sums_once(s, &l, nest, b);
  if (!summing && !summed) return;
  for (int i = 0; i < l.n_outer; i++) {
    const For *f = l.at.at[i];
    unsigned used = uses(b, f);
    require_one_adder(s, b, f, is_producer);
    if (summed && !used && !tirc_is_int(f->extent, 1))
      repeated(s, b, tirc_format(s->c, "once for each iteration of loop %s", f->var->u.s));
    summed |= (used & (1u << ITER_REDUCE)) != 0;
  }
  if (summed) require_distinct(s, loop, b, &l);
}
