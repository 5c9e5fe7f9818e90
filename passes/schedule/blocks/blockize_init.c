/* The init of a block that blockize divides: it moves to the outer block, as a block of its own in
 * copies of the inner loops, and must then run as often as before. */
#include "blocks.h"

#include "ir/tree/print.h"

/* The init runs where the reduction iterators start, so again and again over one of another kind.
 */
static bool repeats_init(const Blockize *b) {
  for (int i = 0; i < b->n_inner; i++)
    if (b->inner[i].kind != ITER_SPATIAL && b->inner[i].kind != ITER_REDUCE &&
        !tirc_is_int(b->inner[i].dom.extent, 1))
      return true;
  return false;
}

/* Before, every visit of the first reduction step ran the init. After, it runs once for each
 * instance of the outer block: the inner loops must not visit an instance twice. */
static void require_no_repetition(Blockize *b) {
  Expr *vars = tirc_new_array(b->c, Expr, b->loops.n + 1);
  Range *doms = tirc_new_array(b->c, Range, b->loops.n + 1);
  Expr predicate = b->inner_predicate;
  int n = 0;
  for (int i = 0; i < b->loops.n; i++) {
    const For *f = tirc_loop_of(b->loops.at[i]);
    if (tirc_is_int(f->extent, 1)) {
      predicate = tirc_substitute1(b->c, predicate, f->var, f->min);
      continue;
    }
    vars[n] = f->var;
    doms[n++] = tirc_range(f->min, f->extent);
  }
  predicate = tirc_simplify0(b->c, predicate);
  const int ways = repeats_init(b) ? 0 : 2;
  for (int with = 0; with < ways; with++)
    if (!n || tirc_detect_iter_map(tirc_analyzer(b->c), b->n_inner, b->inner_values, n, vars, doms,
                                   with ? predicate : NULL, ITER_LEVEL_BIJECTIVE, true, NULL))
      return;
  tirc_sched_mark(b->s, b->loops.at[b->loops.n - 1]->stmt);
  tirc_sched_error(b->s, b->block->stmt, SERR_REPEATED_REDUCTION, NULL,
                   "blockize at a loop that is inside of the one that repeats the reduction",
                   "within one run of loop %s, block %s may run more than once for the same values "
                   "of its iterators, and its init would run only once",
                   tirc_name_of(b->loops.at[b->loops.n - 1]), tirc_name_of(b->block));
}

/* The init runs where all reduction iterators are at the start of their domains; the loops must
 * pass there, because the new block's iterators start where its loops do. */
static void require_start(Blockize *b) {
  const Block *block = tirc_block_of(b->block);
  for (int i = 0; i < block->n_iters; i++) {
    const IterVar *iter = &block->iters[i];
    Expr start = tirc_substitute(b->c, block->iter_values[i], &b->starts);
    if (iter->kind == ITER_SPATIAL || tirc_prove_equal(b->a, start, iter->dom.min) ||
        !tirc_uses_any(block->iter_values[i], &b->starts))
      continue;
    tirc_sched_error(b->s, b->block->stmt, SERR_NOT_DIVISIBLE, NULL,
                     "let the domains of the reduction iterators be those of their loops",
                     "the loops around block %s do not start where its init runs", block->name);
  }
}

/* For the init, the loops that it leaves out are at their start. */
static PtrMap starts_of_others(Blockize *b, const PtrMap *kept) {
  PtrMap starts = {0};
  for (int i = 0; i < b->loops.n; i++) {
    const For *f = tirc_loop_of(b->loops.at[i]);
    if (!tirc_map_has(kept, f->var)) tirc_map_set(b->c, &starts, f->var, f->min);
  }
  return starts;
}

static bool is_of_reduction(const Blockize *b, Expr loop_var) {
  for (int i = 0; i < b->n_inner; i++)
    if (b->inner[i].kind == ITER_REDUCE && tirc_uses_var(b->inner_values[i], loop_var)) return true;
  return false;
}

/* A loop that no iterator stands on (any more) must run at its start, if it does anywhere. */
static void require_held_at_start(Blockize *b, const PtrMap *starts) {
  PtrMap idle = {0};
  Analyzer *a = tirc_analyzer_around(b->s, b->block->parent);
  for (int i = 0; i < b->loops.n; i++) {
    const For *f = tirc_loop_of(b->loops.at[i]);
    if (tirc_map_has(starts, f->var) && !is_of_reduction(b, f->var))
      tirc_map_set(b->c, &idle, f->var, f->min);
  }
  if (tirc_holds_at_start(b->c, a, b->inner_predicate, &idle)) return;
  tirc_refuse(b->s, b->block->stmt, SERR_NOT_DIVISIBLE,
              "the predicate of block %s lets its init run in only some iterations of a loop that "
              "is not bound to an iterator",
              tirc_name_of(b->block));
}

static Expr init_predicate(Blockize *b, const PtrMap *starts) {
  if (!tirc_uses_any(b->inner_predicate, starts)) return b->inner_predicate;
  require_held_at_start(b, starts);
  return tirc_simplify0(b->c, tirc_substitute(b->c, b->inner_predicate, starts));
}

static bool used_by_init(const IterVar *iter, Stmt init) {
  return iter->kind == ITER_SPATIAL && tirc_stmt_uses_var(init, iter->var);
}

/* Declared regions of the init's block can use only iterators that it keeps. */
static void require_own_regions(Blockize *b, const Block *inner) {
  PtrMap left = {0};
  for (int i = 0; i < b->n_inner; i++)
    if (!used_by_init(&b->inner[i], inner->init))
      tirc_map_set(b->c, &left, b->inner[i].var, b->inner[i].var);
  for (int i = 0; i < b->n_inner; i++) {
    if (b->inner[i].kind == ITER_SPATIAL || !tirc_stmt_uses_var(inner->init, b->inner[i].var))
      continue;
    tirc_sched_error(b->s, b->block->stmt, SERR_LOOP_VAR_ESCAPES, NULL,
                     "let the init store only to elements that spatial iterators select",
                     "the init of %s uses %s, which its own block would not have",
                     tirc_describe(b->s, b->block->stmt), b->inner[i].var->u.s);
  }
  if (!tirc_blockize_escapes(&left, inner->n_writes, inner->writes)) return;
  tirc_sched_error(b->s, b->block->stmt, SERR_LOOP_VAR_ESCAPES, NULL,
                   "declare the region that the init writes, in terms of what it uses",
                   "%s declares that it writes a region by an iterator that its init does not use",
                   tirc_describe(b->s, b->block->stmt));
}

/* The init as a block of its own, in copies of the loops that its iterators are bound to. */
static Stmt outer_init(Blockize *b, const Block *inner) {
  Tirc *c = b->c;
  Block init = {.name = tirc_format(c, "%s_init", inner->name),
                .n_writes = inner->n_writes,
                .writes = inner->writes,
                .body = inner->init};
  IterVar *iters = tirc_new_array(c, IterVar, b->n_inner + 1);
  Expr *values = tirc_new_array(c, Expr, b->n_inner + 1);
  PtrMap fresh = {0}, kept = {0};
  for (int i = 0; i < b->n_inner; i++) {
    if (!used_by_init(&b->inner[i], inner->init)) continue;
    Expr old = b->inner[i].var;
    iters[init.n_iters] = b->inner[i];
    iters[init.n_iters].var = tirc_var_suffixed(c, old, "_init", old->dtype);
    tirc_map_set(c, &fresh, old, iters[init.n_iters].var);
    values[init.n_iters++] = b->inner_values[i];
  }
  init.iters = iters;
  init.iter_values = values;
  for (int i = 0; i < b->loops.n; i++)
    for (int k = 0; k < init.n_iters; k++)
      if (tirc_uses_var(values[k], tirc_loop_of(b->loops.at[i])->var))
        tirc_map_set(c, &kept, tirc_loop_of(b->loops.at[i])->var, b->loops.at[i]);
  const PtrMap starts = starts_of_others(b, &kept);
  init.predicate = init_predicate(b, &starts);
  Stmt nest = tirc_infer_regions(c, tirc_block(c, &init), false, true);
  for (int i = 0; i < b->loops.n; i++) {
    For f = *tirc_loop_of(b->loops.at[i]);
    if (!tirc_map_has(&kept, f.var)) continue;
    Expr var = tirc_var_suffixed(c, f.var, "", f.var->dtype);
    tirc_map_set(c, &fresh, f.var, var);
    f.var = var;
    f.min = tirc_substitute(c, f.min, &starts);
    f.extent = tirc_simplify0(c, tirc_substitute(c, f.extent, &starts));
    f.body = nest;
    nest = tirc_for(c, &f);
  }
  return tirc_substitute_stmt(c, nest, &fresh);
}

/* Whether the inner block adds to what others left: the steps before it, or the init when no
 * iterator of its own says that it is a reduction. */
static bool adds_to_others(const Blockize *b) {
  return (tirc_iter_kinds(b->n_outer, b->outer) & 1u << ITER_REDUCE) ||
         !(tirc_iter_kinds(b->n_inner, b->inner) & 1u << ITER_REDUCE);
}

static void require_divisible_init(Blockize *b, SRef *loop, const Block *inner) {
  for (int i = 0; i < b->loops.n; i++) tirc_require_iterations(b->s, b->block, b->loops.at[i]);
  if (!tirc_init_runs_with_body(b->s, b->block))
    tirc_sched_error(b->s, b->block->stmt, SERR_NOT_DIVISIBLE, NULL,
                     "call decompose_reduction before blockize",
                     "the init of block %s also runs where its predicate skips the step",
                     tirc_name_of(b->block));
  /* Of more than one sum the inits of all come before the first update. */
  if (tirc_iter_kinds(b->n_inner, b->inner) & 1u << ITER_SPATIAL)
    tirc_require_own_init(b->s, b->block, loop);
  tirc_require_no_views(b->s, b->block);
  require_start(b);
  require_no_repetition(b);
  if (b->loops.n) tirc_require_init_once(b->s, b->block, b->loops.at[b->loops.n - 1]);
  require_own_regions(b, inner);
}

/* Nor does the outer block hold its init back by what it says of steps alone. */
static void require_outer_init(Blockize *b, SRef *loop, const Block *outer) {
  Analyzer *a = tirc_analyzer_around(b->s, loop->parent);
  const LoopDomain d = tirc_loop_domain(b->s, loop->parent, NULL, STORAGE_GLOBAL);
  if (tirc_find_init_part(a, b->c, outer, d.n, d.vars, d.doms).always) return;
  tirc_sched_error(
      b->s, b->block->stmt, SERR_NOT_DIVISIBLE, NULL, "call decompose_reduction before blockize",
      "the init of the block around %s would also run where its predicate skips the step",
      tirc_describe(b->s, b->block->stmt));
}

Stmt tirc_blockize_init(Blockize *b, SRef *loop, const Block *outer, Block *inner) {
  const Block old = *inner;
  require_divisible_init(b, loop, &old);
  Block started = *outer;
  started.init = old.init;
  require_outer_init(b, loop, &started);
  inner->init = NULL;
  if (adds_to_others(b)) {
    Region *reads = tirc_new_array(b->c, Region, old.n_reads + old.n_writes);
    inner->n_reads = 0;
    for (int i = 0; i < old.n_writes; i++) reads[inner->n_reads++] = old.writes[i];
    for (int i = 0; i < old.n_reads; i++) reads[inner->n_reads++] = old.reads[i];
    inner->reads = reads;
  }
  return outer_init(b, &old);
}
