/* make_blocks(block_or_loop): statements outside of blocks get a block each.
 *
 *   for i, j in T.grid(8, 8):            for i, j in T.grid(8, 8):
 *       C[i, j] = 0.0                        with T.block("C"):
 *       for k in range(8):          ->           vi, vj = T.axis.remap("SS", [i, j])
 *           C[i, j] += A[i, k]                   C[vi, vj] = 0.0
 *                                            for k in range(8):
 *                                                with T.block("C_1"):
 *                                                    vi, vj, vk = T.axis.remap("SSR", [i, j, k])
 *                                                    C[vi, vj] = C[vi, vj] + A[vi, vk]
 *
 * A statement is a store, or an if, a let or a while without loops in it; `if k == 0: C[i] = 0` and
 * the store to C[i] that follows it are one. Its block has an iterator
 * for each loop of the scope around it, over what that loop runs through at most. Nothing comes to
 * run at another time; what is decided is what the iterators are called:
 *   reduce   the element does not move with it, and the updates of one element commute
 *   spatial  instances that differ in spatial iterators never meet, of which one stores
 *   scan     otherwise, where the block reads what it stores to; opaque where it does not, or
 *            makes a call that nothing is known of
 * (add_root_block gives the block of a function that has none.)
 * A loop whose range is not known before the scope runs (its bounds are loaded, or let), or of
 * another type than int32 and int64, stays in the body of a block. Statements that get addresses
 * stay as they are. */
#include "blocks.h"
#include "passes/schedule/state/state.h"

typedef struct Maker {
  Sched *s;
  Tirc *c;
  Analyzer *a;
  VEC(const For *) loops; /* of the scope, around the present statement */
  VEC(Range) doms;        /* what these run through at most */
  PtrMap sets;            /* the same by variable */
  PtrMap moving;          /* these variables, and what is let in the scope */
  VEC(uint32_t) made;
  StrMap names; /* of blocks that were made */
  int func;
} Maker;

/* --- what gets a block ------------------------------------------------------------------------ */

typedef struct Parts {
  bool stores, loops, blocks, opaque;
} Parts;

static bool see_address(Visitor *v, Expr e) {
  ((Parts *)v->self)->opaque |= e->dtype.code == TYPE_HANDLE;
  return true;
}

static bool see_part(Visitor *v, Stmt s) {
  Parts *p = v->self;
  p->stores |= s->kind == STMT_STORE;
  p->loops |= s->kind == STMT_FOR;
  p->blocks |= s->kind == STMT_BLOCK;
  p->opaque |=
      s->kind == STMT_EVAL || s->kind == STMT_ALLOC || s->kind == STMT_DECL || s->kind == STMT_ATTR;
  return s->kind != STMT_BLOCK;
}

static Parts parts_of(Stmt s) {
  Parts p = {0};
  tirc_visit_stmt(&(Visitor){.expr = see_address, .stmt = see_part, .self = &p}, s);
  return p;
}

/* --- the block -------------------------------------------------------------------------------- */

static bool is_store(const void *unused, Stmt s) { return (void)unused, s->kind == STMT_STORE; }

const char *tirc_stored_name(Stmt s) {
  const Stmt store = tirc_find_stmt(s, is_store, NULL, NULL);
  return store ? store->u.store.buffer->name : NULL;
}

static bool is_taken(Sched *s, int func, const char *name, const StrMap *made) {
  SRefs found = {0};
  tirc_blocks_named(s, func, name, &found);
  return found.n || tirc_strmap_get(made, name);
}

const char *tirc_free_block_name(Sched *s, int func, const char *base, StrMap *made) {
  const char *name = base;
  for (int i = 1; is_taken(s, func, name, made); i++) name = tirc_format(s->c, "%s_%d", base, i);
  *tirc_strmap_at(s->c, made, name) = (void *)(uintptr_t)name;
  return name;
}

/* Its iterators keep their order until more is known. */
static Stmt block_of(Maker *k, Stmt s) {
  Tirc *c = k->c;
  const int n = k->loops.n;
  IterVar *iters = tirc_new_array(c, IterVar, n + 1);
  Expr *values = tirc_new_array(c, Expr, n + 1);
  PtrMap map = {0};
  for (int i = 0; i < n; i++) {
    const Expr var = k->loops.at[i]->var;
    values[i] = var;
    iters[i] = (IterVar){tirc_var(c, tirc_format(c, "v%s", var->u.s), var->dtype), k->doms.at[i],
                         ITER_OPAQUE};
    tirc_map_set(c, &map, var, iters[i].var);
  }
  const Block b = {.name = tirc_free_block_name(k->s, k->func, tirc_stored_name(s), &k->names),
                   .n_iters = n,
                   .iters = iters,
                   .iter_values = values,
                   .predicate = tirc_bool(c, true),
                   .body = tirc_substitute_stmt(c, s, &map)};
  const Stmt block =
      tirc_infer_regions(c, tirc_with_loc(c, tirc_block(c, &b), s->loc), false, false);
  vec_push(c, k->made, block->u.block.id);
  return block;
}

/* --- the walk --------------------------------------------------------------------------------- */

/* What a loop runs through at most, whatever loops around it do. */
static bool range_of(Maker *k, const For *f, Range *out) {
  const Range r = tirc_loop_range(f);
  int64_t n;
  *out = r;
  if (!tirc_dtype_equal(f->var->dtype, DT_INT32) && !tirc_dtype_equal(f->var->dtype, DT_INT64))
    return false; /* an iterator has one of these types */
  if (tirc_loads_or_calls(r.min) || tirc_loads_or_calls(r.extent)) return false;
  if (!tirc_range_uses_any(r, &k->moving)) return true;
  const IntSet set = tirc_box_of_range(k->a, r, &k->sets);
  if (!set.min || !set.max || tirc_uses_any(set.min, &k->moving) ||
      tirc_uses_any(set.max, &k->moving))
    return false;
  *out = tirc_range_of_set(k->a, set, r);
  if (tirc_const_int(out->extent, &n) && n < 0) out->extent = tirc_int(k->c, f->var->dtype, 0);
  return tirc_dtype_equal(out->min->dtype, f->var->dtype) &&
         tirc_dtype_equal(out->extent->dtype, f->var->dtype);
}

static void enter(Maker *k, const For *f, Range dom) {
  IntSet *set = tirc_new(k->c, IntSet);
  *set = tirc_set_of_range(k->c, dom);
  vec_push(k->c, k->loops, f);
  vec_push(k->c, k->doms, dom);
  tirc_map_set(k->c, &k->sets, f->var, set);
  tirc_map_set(k->c, &k->moving, f->var, set);
}

static void leave(Maker *k) {
  k->loops.n--;
  k->doms.n--;
}

static void note_let(Maker *k, Stmt let) {
  k->s->lets = true; /* around blocks, from now on */
  tirc_map_set(k->c, &k->moving, let->u.let.var, (void *)(uintptr_t)let);
}

static bool is_bounded_by(const void *var, Stmt s) {
  return s->kind == STMT_FOR && tirc_range_uses(tirc_loop_range(&s->u.loop), var);
}

/* Whether a let says how long a loop in it is. */
static bool lets_bounds(Stmt s) {
  return s->kind == STMT_LET && tirc_find_stmt(s->u.let.body, is_bounded_by, s->u.let.var, NULL);
}

static bool loads_from(const void *buffer, Expr e) {
  return e->op == OP_LOAD && e->u.buffer == buffer;
}

/* Whether `first` stores to the element of `next`, which loads of its buffer, under a condition: as
 * what starts a sum by hand. */
static bool starts(Stmt first, Stmt next) {
  if (first->kind != STMT_IF || first->u.branch.else_case || next->kind != STMT_STORE) return false;
  const Stmt start = first->u.branch.then_case;
  if (start->kind != STMT_STORE || start->u.store.buffer != next->u.store.buffer) return false;
  if (!tirc_find_expr(next->u.store.value, loads_from, next->u.store.buffer)) return false;
  for (int i = 0; i < start->u.store.n; i++)
    if (!tirc_expr_same(start->u.store.indices[i], next->u.store.indices[i])) return false;
  return true;
}

static Stmt with_blocks(Mutator *m, Stmt s);

static Stmt items_with_blocks(Mutator *m, Stmt seq) {
  Maker *k = m->self;
  const int n = seq->u.seq.n;
  VEC(Stmt) items = {0};
  for (int i = 0; i < n; i++) {
    const Stmt item = tirc_item(seq, i), next = i + 1 < n ? tirc_item(seq, i + 1) : NULL;
    const bool both =
        next && starts(item, next) && !parts_of(item).opaque && !parts_of(next).opaque;
    vec_push(
        k->c, items,
        both ? block_of(k, tirc_with_loc(k->c, tirc_seq(k->c, 2, (Stmt[]){item, next}), item->loc))
             : with_blocks(m, item));
    i += both;
  }
  return tirc_seq(k->c, items.n, items.at);
}

static Stmt with_blocks(Mutator *m, Stmt s) {
  Maker *k = m->self;
  Range dom;
  if (s->kind == STMT_BLOCK) return s;
  if (s->kind == STMT_SEQ) return items_with_blocks(m, s);
  const bool loop = s->kind == STMT_FOR, known = !loop || range_of(k, &s->u.loop, &dom);
  if (s->kind == STMT_STORE || s->kind == STMT_IF || s->kind == STMT_LET || s->kind == STMT_WHILE ||
      !known) {
    const Parts p = parts_of(s);
    if (p.stores && !p.blocks && !p.opaque && (!p.loops || !known || lets_bounds(s)))
      return block_of(k, s);
  }
  if (!known) return s;
  if (loop) enter(k, &s->u.loop, dom);
  if (s->kind == STMT_LET) note_let(k, s);
  const Stmt to = tirc_mutate_stmt_children(m, s);
  if (loop) leave(k);
  return to;
}

/* Enters the loops around the loop that was given, outermost first. False: one of them has no range
 * that is known. */
static bool enter_above(Maker *k, SRef *r) {
  Range dom;
  if (!tirc_is_loop(r->parent)) return true;
  if (!enter_above(k, r->parent)) return false;
  const Steps steps = tirc_steps_between(k->c, r->parent);
  for (int i = 0; i < steps.n; i++)
    if (steps.at[i].stmt->kind == STMT_LET) note_let(k, steps.at[i].stmt);
  const For *f = tirc_loop_of(r->parent);
  if (!range_of(k, f, &dom)) return false;
  enter(k, f, dom);
  return true;
}

/* --- kinds ------------------------------------------------------------------------------------ */

typedef struct Kinds {
  Maker *of;
  SRef *block;
  IterKind *at;
} Kinds;

static Stmt with_kinds(const Kinds *k) {
  Tirc *c = k->of->c;
  Block to = *tirc_block_of(k->block);
  IterVar *iters = tirc_new_array(c, IterVar, to.n_iters + 1);
  for (int i = 0; i < to.n_iters; i++)
    iters[i] = (IterVar){to.iters[i].var, to.iters[i].dom, k->at[i]};
  to.iters = iters;
  return tirc_with_loc(c, tirc_block(c, &to), k->block->stmt->loc);
}

/* With these kinds its instances certainly do not depend on each other. */
static bool holds(const Kinds *k) {
  tirc_sched_replace(k->of->s, k->block, with_kinds(k));
  return !tirc_instances_depend(k->of->s, k->block);
}

static bool reads_output(const Block *b, bool all) {
  int n = 0;
  for (int i = 0; i < b->n_writes; i++) n += tirc_declared_read(b, b->writes[i].buffer) != NULL;
  return all ? n == b->n_writes : n > 0;
}

static bool moves_element(const Block *b, Expr var) {
  for (int i = 0; i < b->n_writes; i++)
    if (tirc_region_uses(&b->writes[i], var)) return true;
  return false;
}

static void decide(Maker *of, uint32_t id) {
  Kinds k = {of, tirc_sref_of_block(of->s, id), NULL};
  const Block *b = tirc_block_of(k.block);
  const int n = b->n_iters;
  const IterKind ordered = reads_output(b, false) ? ITER_SCAN : ITER_OPAQUE;
  bool reduces = false;
  k.at = tirc_new_array(of->c, IterKind, n + 1);
  for (int i = 0; i < n; i++) {
    const bool sums = reads_output(b, true) && !moves_element(b, b->iters[i].var);
    k.at[i] = sums ? ITER_REDUCE : ITER_SPATIAL;
    reduces |= sums;
  }
  if (tirc_find_expr_in(b->body, tirc_is_opaque_call, NULL)) return;
  if (reduces && !tirc_update_commutes(of->c, &with_kinds(&k)->u.block))
    for (int i = 0; i < n; i++) k.at[i] = ITER_SPATIAL;
  if (holds(&k)) return;
  bool *open = tirc_new_array(of->c, bool, n + 1);
  for (int i = 0; i < n; i++) {
    open[i] = k.at[i] == ITER_SPATIAL;
    if (open[i]) k.at[i] = ordered;
  }
  for (int i = 0; i < n; i++) {
    if (!open[i]) continue;
    k.at[i] = ITER_SPATIAL;
    if (!holds(&k)) k.at[i] = ordered;
  }
  tirc_sched_replace(of->s, k.block, with_kinds(&k));
}

/* --- the call --------------------------------------------------------------------------------- */

void tirc_prim_make_blocks(Sched *s, const Value *args, Value *result) {
  Tirc *c = s->c;
  SRef *at = tirc_sref_of_value(s, args[0]);
  Maker k = {.s = s, .c = c, .func = at->func, .a = tirc_analyzer_around(s, at)};
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = with_blocks, .self = &k};
  const bool block = tirc_is_block(at);
  const Parts p = parts_of(tirc_body_of(at->stmt));
  *result = tirc_value_list(c, VAL_LIST, 0, NULL);
  /* A block with nothing but statements in it is one that was made already. */
  if (block ? at->parent && !p.loops && !p.blocks : !enter_above(&k, at)) return;
  const Stmt body = tirc_body_of(at->stmt);
  const Stmt to = block ? tirc_with_body(c, at->stmt, tirc_mutate_stmt(&m, body))
                        : tirc_mutate_stmt(&m, at->stmt);
  if (!k.made.n) return;
  tirc_sched_replace(s, at, to);
  for (int i = 0; i < k.made.n; i++) {
    decide(&k, k.made.at[i]);
    tirc_value_append(c, *result, tirc_value_block(k.made.at[i]));
  }
}
