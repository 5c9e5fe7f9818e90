/* Whether a loop's iterations hand values of a buffer to one another, so that it must be allocated
 * outside of the loop.
 *
 * They do not if each iteration has written all that it reads. That is looked for read by read:
 * what the writes before it have written for sure, and what it reads, both with the loops around
 * the two standing still, as a consumer is compared with its producers. A write under a condition
 * counts only for what the condition lets through, so neither a tail nor a fill by some of the
 * iterations needs a rule of its own.
 *
 *     for i:                           the read of C[j] is covered, with i standing still:
 *       for j: if i * 8 + j < 100:     C[0 .. min(8, 100 - i * 8)) is written
 *         C[j] = A[i * 8 + j]          before
 *       for j: if i * 8 + j < 100:
 *         B[i * 8 + j] = C[j]
 *
 * What the first step of a loop inside has written is there in its later steps (the start of a
 * sum). Where nothing is known values may be handed on: to allocate further out costs memory only.
 */
#include "carries.h"

#include "accesses.h"
#include "ir/arith/box.h"
#include "ir/tree/int_op.h"

typedef struct Walk {
  Tirc *c;
  Analyzer *a;
  const For *loop;
  Buffer buffer;
  Accesses in; /* of one iteration */
} Walk;

/* --- the accesses ----------------------------------------------------------------------------- */

static bool is_view_load(const void *block, Expr e) {
  const Block *b = block;
  for (int i = 0; e->op == OP_LOAD && i < b->n_matches; i++)
    if (e->u.buffer == b->matches[i].buffer) return true;
  return false;
}

/* What a block does by its views of the buffer is what it declares. The steps of a sum go on with
 * what it declares to write. */
static void add_declared(Extract *x, Place *at, const Block *b, bool behind) {
  bool is_viewed = false;
  for (int i = 0; i < b->n_matches; i++)
    is_viewed |= x->wants(x->self, b->matches[i].source.buffer);
  for (int i = 0; is_viewed && !behind && i < b->n_reads; i++)
    tirc_add_access(x, at, &b->reads[i], false);
  for (int i = 0;
       is_viewed && (behind || tirc_find_expr_in(b->body, is_view_load, b)) && i < b->n_writes; i++)
    tirc_add_access(x, at, &b->writes[i], behind);
}

/* Whether it is that place, or further out; NULL: around everything. */
static bool is_around(const Place *p, const Place *inner) {
  while (inner && inner != p) inner = inner->up;
  return inner == p;
}

static const Place *common(const Place *x, const Place *y) {
  while (!is_around(x, y)) x = x->up;
  return x;
}

/* --- what a write has written ----------------------------------------------------------------- */

/* A write with the places up to `top` (exclusive) standing still. */
typedef struct Written {
  Walk *w;
  const Range *dims;
  VEC(Expr) vars; /* of the loops in between */
  VEC(Range) doms;
  Exprs conds;
} Written;

static bool chooses_elements(const Written *x, Expr var) {
  for (int i = 0; i < x->w->buffer->ndim; i++)
    if (tirc_uses_var(x->dims[i].min, var) || tirc_uses_var(x->dims[i].extent, var)) return true;
  return false;
}

static bool is_mentioned(const Written *x, Expr var) {
  if (chooses_elements(x, var)) return true;
  for (int i = 0; i < x->doms.n; i++)
    if (tirc_uses_var(x->doms.at[i].min, var) || tirc_uses_var(x->doms.at[i].extent, var))
      return true;
  for (int i = 0; i < x->conds.n; i++)
    if (tirc_uses_var(x->conds.at[i], var)) return true;
  return false;
}

/* The loop, which does not choose elements, stands at its first step. */
static void fix(Written *x, const Place *loop) {
  Tirc *c = x->w->c;
  int kept = 0;
  for (int i = 0; i < x->doms.n; i++) {
    const Range dom = x->doms.at[i];
    if (x->vars.at[i] == loop->var) continue;
    x->vars.at[kept] = x->vars.at[i];
    x->doms.at[kept++] = tirc_range(tirc_substitute1(c, dom.min, loop->var, loop->a),
                                    tirc_substitute1(c, dom.extent, loop->var, loop->a));
  }
  x->vars.n = x->doms.n = kept;
  for (int i = 0; i < x->conds.n; i++)
    x->conds.at[i] =
        tirc_simplify(x->w->a, tirc_substitute1(c, x->conds.at[i], loop->var, loop->a));
}

static bool stands_in_loop_of(const Place *p, Expr extent) {
  for (; p; p = p->up)
    if (p->kind == PLACE_LOOP && tirc_expr_same(p->b, extent)) return true;
  return false;
}

static bool uses_bound_around(const Walk *w, const Place *p, Expr e) {
  for (p = p->up; p; p = p->up)
    if (p->var && tirc_uses_var(e, p->var)) return true;
  return tirc_uses_var(e, w->loop->var);
}

/* Whether the loop has a step; or, where it has none, no iteration writes anything that a later one
 * could read. */
static bool runs(const Walk *w, const Place *loop) {
  if (tirc_prove_ge(w->a, loop->b, tirc_int(w->c, loop->b->dtype, 1))) return true;
  if (uses_bound_around(w, loop, loop->b)) return false;
  for (int i = 0; i < w->in.at.n; i++)
    if (w->in.at.at[i].write && !stands_in_loop_of(w->in.at.at[i].at, loop->b)) return false;
  return true;
}

/* Memory may hold something else each time. */
static bool reads_memory(const Place *p) {
  return (p->a && tirc_loads_or_calls(p->a)) || (p->b && tirc_loads_or_calls(p->b));
}

/* Whether what stands between k's loop and `top` is the same in all steps of k. */
static bool is_free_of(const Place *top, const Place *k_loop) {
  Expr k = k_loop->var;
  for (const Place *p = top; p != k_loop; p = p->up)
    if (tirc_may_be_skipped(p) || reads_memory(p) || tirc_uses_var(p->a, k) ||
        (p->b && tirc_uses_var(p->b, k)))
      return false;
  return true;
}

static bool holds_first(const Written *x, const Place *loop, Expr cond) {
  return tirc_uses_var(cond, loop->var) &&
         tirc_prove(x->w->a, tirc_substitute1(x->w->c, cond, loop->var, loop->a));
}

/* What a loop inside writes in its first step, if not in others, is there in all of them. */
static void take_first_steps(Written *x, const Place *from, const Place *top) {
  for (const Place *p = from; p; p = p->up) {
    if (p->kind != PLACE_LOOP || chooses_elements(x, p->var)) continue;
    bool by_condition = false;
    for (int i = 0; i < x->conds.n; i++) by_condition |= holds_first(x, p, x->conds.at[i]);
    if (!by_condition) continue;
    const bool stands_still = is_around(p, top);
    if (stands_still ? is_free_of(top, p) : runs(x->w, p)) fix(x, p);
  }
}

static bool collect(Written *x, const Touch *t, const Place *top) {
  const Walk *w = x->w;
  x->dims = tirc_dims_of(w->c, t);
  for (const Place *p = t->at; p != top; p = p->up) {
    if (tirc_may_be_skipped(p) && !t->write) continue; /* that it is reached is enough */
    if (tirc_may_be_skipped(p) ||
        (p->kind == PLACE_BIND ? is_mentioned(x, p->var) : reads_memory(p)))
      return false;
    if (p->kind == PLACE_LOOP) {
      vec_push(w->c, x->vars, p->var);
      vec_push(w->c, x->doms, tirc_range(p->a, p->b));
    } else if (p->kind == PLACE_WHEN) {
      tirc_lower_conjuncts(w->c, p->a, &x->conds);
    }
  }
  return true;
}

/* Whether the access stands under this condition too. */
static bool holds_for(const Walk *w, const Touch *t, const Place *top, Expr cond) {
  for (const Place *p = t->at; p != top; p = p->up) {
    Exprs all = {0};
    if (p->kind == PLACE_WHEN && !p->negated) tirc_lower_conjuncts(w->c, p->a, &all);
    for (int i = 0; i < all.n; i++)
      if (tirc_expr_same(all.at[i], cond)) return true;
  }
  return false;
}

/* Whether a condition is the same in all iterations, and around all writes: where it does not hold,
 * no iteration writes anything that a later one could read. */
static bool holds_where_written(const Walk *w, Expr cond) {
  if (tirc_loads_or_calls(cond) || tirc_uses_var(cond, w->loop->var)) return false;
  for (int i = 0; i < w->in.at.n; i++) {
    const Touch *t = &w->in.at.at[i];
    for (const Place *p = t->at; p; p = p->up)
      if (p->var && tirc_uses_var(cond, p->var)) return false;
    if (t->write && !holds_for(w, t, NULL, cond)) return false;
  }
  return true;
}

/* Whether a condition is on loops in between, all of which choose elements. */
static bool is_about_elements(const Written *x, Expr cond) {
  bool found = false;
  for (int i = 0; i < x->vars.n; i++) {
    if (!tirc_uses_var(cond, x->vars.at[i])) continue;
    if (!chooses_elements(x, x->vars.at[i])) return false;
    found = true;
  }
  return found;
}

/* The condition on the loops that a write runs in; NULL: it may leave out something else. */
static Expr condition(const Written *x, const Touch *read, const Place *top) {
  Expr all = tirc_bool(x->w->c, true);
  for (int i = 0; i < x->conds.n; i++) {
    Expr cond = x->conds.at[i];
    if (tirc_is_true(cond)) continue;
    if (is_about_elements(x, cond))
      all = tirc_and(x->w->c, all, cond);
    else if (!holds_for(x->w, read, top, cond) && !holds_where_written(x->w, cond))
      return NULL;
  }
  return all;
}

/* A box is asked for: not a triangle. */
static bool is_nested_freely(const Written *x) {
  for (int i = 0; i < x->vars.n; i++)
    for (int k = 0; k < x->doms.n; k++)
      if (tirc_uses_var(x->doms.at[k].min, x->vars.at[i]) ||
          tirc_uses_var(x->doms.at[k].extent, x->vars.at[i]))
        return false;
  return true;
}

static bool loops_run(const Written *x, const Place *from, const Place *top) {
  for (const Place *p = from; p != top; p = p->up)
    if (p->kind == PLACE_LOOP && !is_mentioned(x, p->var) && !runs(x->w, p)) return false;
  return true;
}

/* The box that a write has filled for sure when the read comes; NULL: not known. */
static const IntSet *written(Walk *w, const Touch *write, const Touch *read, const Place *top) {
  Written x = {.w = w};
  if (!collect(&x, write, top)) return NULL;
  take_first_steps(&x, write->at, top);
  Expr cond = condition(&x, read, top);
  if (!cond || !is_nested_freely(&x) || !loops_run(&x, write->at, top)) return NULL;
  for (int d = 0; d < w->buffer->ndim; d++)
    if (tirc_loads_or_calls(x.dims[d].min)) return NULL;
  return tirc_estimate_region(w->a, w->buffer->ndim, x.dims, x.vars.n, x.vars.at, x.doms.at, cond,
                              true);
}

/* --- what a read reads ------------------------------------------------------------------------ */

static const IntSet *read_box(Walk *w, const Touch *read, const Place *top) {
  PtrMap dom = {0};
  tirc_relax_place(&w->in, read->at, top, &dom);
  IntSet *out = tirc_new_array(w->c, IntSet, w->buffer->ndim + 1);
  const Range *dims = tirc_dims_of(w->c, read);
  for (int d = 0; d < w->buffer->ndim; d++)
    if (!tirc_loads_or_calls(dims[d].min)) out[d] = tirc_box_of_range(w->a, dims[d], &dom);
  return out;
}

/* The same where it is known exactly, in the words in which writes are told; NULL: it is not. */
static const IntSet *exact_read_box(Walk *w, const Touch *read, const Place *top) {
  Written x = {.w = w};
  if (!collect(&x, read, top) || !is_nested_freely(&x)) return NULL;
  Expr all = tirc_bool(w->c, true);
  for (int i = 0; i < x.conds.n; i++)
    if (is_about_elements(&x, x.conds.at[i])) all = tirc_and(w->c, all, x.conds.at[i]);
  return tirc_estimate_region(w->a, w->buffer->ndim, x.dims, x.vars.n, x.vars.at, x.doms.at, all,
                              true);
}

/* --- the question ----------------------------------------------------------------------------- */

static bool at_most(Tirc *c, Analyzer *a, Expr x, Expr y) {
  /* A difference that wraps around does not say which of both is larger. */
  const bool subtracts = !tirc_dtype_wraps(x->dtype) && !tirc_dtype_wraps(y->dtype);
  if (tirc_prove_ge(a, y, x) || (subtracts && tirc_bound_by_arms(a, tirc_sub(c, y, x)).min >= 0))
    return true;
  for (int i = 0; i < 2; i++)
    if ((x->op == OP_MIN && at_most(c, a, x->args[i], y)) ||
        (y->op == OP_MAX && at_most(c, a, x, y->args[i])))
      return true;
  return false;
}

static bool contains(Tirc *c, Analyzer *a, IntSet out, IntSet in) {
  return in.min && in.max && out.min && out.max && at_most(c, a, out.min, in.min) &&
         at_most(c, a, in.max, out.max);
}

/* Both boxes in one, if that is a box: they differ in one dimension and leave no gap there. */
static bool join(Walk *w, IntSet *into, const IntSet *more) {
  int differ = -1;
  for (int d = 0; d < w->buffer->ndim; d++) {
    if (tirc_prove_equal(w->a, into[d].min, more[d].min) &&
        tirc_prove_equal(w->a, into[d].max, more[d].max))
      continue;
    if (differ >= 0) return false;
    differ = d;
  }
  if (differ < 0) return true;
  IntSet *x = &into[differ], y = more[differ];
  Expr past_x = tirc_add(w->c, x->max, tirc_int(w->c, x->max->dtype, 1));
  Expr past_y = tirc_add(w->c, y.max, tirc_int(w->c, y.max->dtype, 1));
  if (!at_most(w->c, w->a, y.min, past_x) || !at_most(w->c, w->a, x->min, past_y)) return false;
  *x = tirc_set_union(w->a, *x, y);
  return true;
}

/* What a read reads, told in one or two ways. */
typedef struct Wanted {
  const IntSet *relaxed, *exact;
} Wanted;

static bool covers_box(Walk *w, const IntSet *box, const IntSet *read) {
  for (int d = 0; d < w->buffer->ndim; d++)
    if (!contains(w->c, w->a, box[d], read[d])) return false;
  return true;
}

static bool covers(Walk *w, const IntSet *box, const Wanted *read) {
  return (read->exact && covers_box(w, box, read->exact)) || covers_box(w, box, read->relaxed);
}

/* Whether the writes that meet the read at `top` have filled what it reads. */
static bool is_covered_at(Walk *w, int read, const Place *top) {
  const Touch *r = &w->in.at.at[read];
  Wanted wanted = {0};
  IntSet *all = NULL;
  for (int i = 0; i < read; i++) {
    const Touch *x = &w->in.at.at[i];
    if (!x->write || common(x->at, r->at) != top) continue;
    const IntSet *box = written(w, x, r, top);
    if (!box) continue;
    if (!wanted.relaxed) wanted = (Wanted){read_box(w, r, top), exact_read_box(w, r, top)};
    if (covers(w, box, &wanted)) return true;
    if (!all)
      all = tirc_copy(w->c, box, w->buffer->ndim);
    else if (join(w, all, box) && covers(w, all, &wanted))
      return true;
  }
  return false;
}

static bool is_covered(Walk *w, int read) {
  const Place *top = w->in.at.at[read].at;
  for (; top; top = top->up)
    if (is_covered_at(w, read, top)) return true;
  return is_covered_at(w, read, NULL);
}

bool tirc_lower_carries_values(Tirc *c, Analyzer *a, const For *loop, Buffer b) {
  const bool is_bound = loop->kind == LOOP_THREAD_BINDING && loop->axis != AXIS_VIRTUAL;
  if (loop->kind == LOOP_PARALLEL || is_bound || tirc_is_int(loop->extent, 1)) return false;
  Walk w = {c, a, loop, b, {.c = c, .a = a, .views = add_declared}};
  tirc_map_set(c, &w.in.targets, b->data, (void *)(uintptr_t)b);
  tirc_find_accesses(&w.in, loop->body);
  if (tirc_map_has(&w.in.opaque, b->data)) return true;
  for (int i = 0; i < w.in.at.n; i++)
    if (!w.in.at.at[i].write && !is_covered(&w, i)) return true;
  return false;
}
