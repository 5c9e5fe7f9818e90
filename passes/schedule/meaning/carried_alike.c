/* What iterations leave behind: whether all that store to an element leave the same there, so that
 * it does not matter who is the last. */
#include "carried_parts.h"

#include "meaning.h"
#include "passes/schedule/state/nodes.h"

enum { MOST_LEAVES = 12 }; /* of which one number is made */

typedef struct Leaves {
  Question *q;
  const Touch *of;
  bool adds; /* to what its element holds */
  VEC(Expr) at;
} Leaves;

bool tirc_carried_is_own(const Touch *of, const struct ExprNode *load) {
  return load->u.buffer == of->buffer && load->n == of->n &&
         tirc_same_exprs(load->n, load->args, of->indices);
}

static bool add_leaf(Leaves *l, Expr e) {
  for (int i = 0; i < l->at.n; i++)
    if (tirc_expr_same(l->at.at[i], e)) return true;
  vec_push(l->q->s->c, l->at, e);
  return l->at.n <= MOST_LEAVES;
}

/* What a number is made of, down to index arithmetic. False: of what may be different each time. */
static bool find_leaves(Leaves *l, Expr e) {
  if (tirc_is_constant(e)) return true;
  if (e->op == OP_CALL || e->op == OP_LET) return false;
  if (tirc_dtype_is_int(e->dtype) && e->dtype.lanes == 1 && !tirc_reads_memory(e))
    return add_leaf(l, e);
  if (e->op == OP_LOAD && tirc_carried_is_own(l->of, e)) return l->adds = true;
  if (e->op == OP_LOAD) {
    Stored *from = tirc_carried_stored_of(l->q, e->u.buffer);
    if (from && !tirc_carried_is_alike(l->q, from)) return false;
    if (from && from->constant) return true;
  }
  if (e->op == OP_VAR) {
    Place *p = l->of->at;
    while (p && p->var != e) p = p->up;
    return !p || p->outside || (p->kind == PLACE_BIND && find_leaves(l, p->a));
  }
  for (int i = 0; i < e->n; i++)
    if (!find_leaves(l, e->args[i])) return false;
  return true;
}

Made tirc_carried_made_of(Question *q, const Touch *t) {
  Leaves l = {.q = q, .of = t};
  if (t->stmt->kind != STMT_STORE || !find_leaves(&l, t->stmt->u.store.value)) return (Made){0};
  const bool commutes = t->inner && tirc_update_commutes(q->s->c, &t->inner->u.block);
  return (Made){!l.adds || commutes, l.adds, l.at.n, l.at.at};
}

/* From the iteration to [element, when in the iteration if asked, what the number is made of]. */
static ZMap steps_of(Question *q, const Known *k, bool when, bool *exact) {
  const Touch *t = k->touch;
  const int n_when = when ? q->width - q->of->n : 0, n = t->n + n_when + k->made.n;
  Expr *all = tirc_new_array(q->s->c, Expr, n + 1);
  if (t->n) memcpy(all, t->indices, (size_t)t->n * sizeof *all);
  if (when) memcpy(all + t->n, tirc_carried_time_of(q, t) + q->of->n, (size_t)n_when * sizeof *all);
  if (k->made.n) memcpy(all + t->n + n_when, k->made.leaves, (size_t)k->made.n * sizeof *all);
  *exact = true;
  return tirc_carried_by_iteration(q, t, tirc_carried_values_at(q, t, n, all, exact), 0, exact);
}

/* Whether there is one number for an element, whoever stores it. */
static bool is_function(Question *q, const Known *k) {
  bool exact;
  const ZMap steps = tirc_z_from_head(q->z, steps_of(q, k, false, &exact), k->touch->n);
  return !k->made.adds && tirc_z_is_function(q->z, steps) == ANSWER_YES;
}

/* From iterations to all elements that they may store to. */
static ZMap all_stores(Question *q, Buffer b) {
  ZMap all = tirc_z_empty(q->z, q->of->n, b->ndim);
  for (int i = 0; i < q->known.n; i++) {
    const Known *k = tirc_carried_touch_of(q, i, b, true);
    if (k) all = tirc_z_union(q->z, all, k->whole);
  }
  return all;
}

/* Whether each iteration that stores to an element does so in the same steps, at the same times, as
 * any other one. */
static bool same_steps(Question *q, const Known *k, ZMap all) {
  bool exact;
  const ZMap steps = steps_of(q, k, true, &exact);
  const ZMap needed = tirc_z_compose(q->z, all, tirc_z_from_head(q->z, steps, k->touch->n));
  return exact && tirc_z_is_subset(q->z, needed, steps) == ANSWER_YES;
}

/* All that is stored, if that is one constant; NULL otherwise. */
static Expr constant_of(const Question *q, Buffer b) {
  Expr constant = NULL;
  for (int i = 0; i < q->known.n; i++) {
    const Touch *t = q->known.at[i].touch;
    if (!t->write || t->buffer != b) continue;
    const Expr value = t->stmt->kind == STMT_STORE ? t->stmt->u.store.value : NULL;
    if (!value || !tirc_is_constant(value)) return NULL;
    if (constant && !tirc_expr_same(constant, value)) return NULL;
    constant = value;
  }
  return constant;
}

bool tirc_carried_reads_own_stores(Question *q, Buffer b) {
  for (int i = 0; i < q->known.n; i++) {
    const Known *k = tirc_carried_touch_of(q, i, b, false);
    if (k && (k->is_spared || tirc_z_is_empty(q->z, tirc_carried_exposed(q, k)) != ANSWER_YES))
      return false;
  }
  return true;
}

static bool look_alike(Question *q, Stored *b) {
  const Expr constant = constant_of(q, b->buffer);
  const bool covered = tirc_carried_reads_own_stores(q, b->buffer);
  const Known *only = NULL;
  int stores = 0;
  if (covered) b->constant = constant;
  if (constant) return b->shared || covered;
  if (!b->shared && !covered) return false;
  for (int i = 0; i < q->known.n; i++) {
    Known *k = tirc_carried_touch_of(q, i, b->buffer, true);
    if (!k) continue;
    k->made = tirc_carried_made_of(q, k->touch);
    if (k->is_spared || !k->made.known) return false;
    only = k;
    stores++;
  }
  if (stores == 1 && is_function(q, only)) return true;
  /* Memory that is shared may be read between two stores. */
  const ZMap all = b->shared ? NULL : all_stores(q, b->buffer);
  for (int i = 0; i < q->known.n; i++) {
    const Known *k = tirc_carried_touch_of(q, i, b->buffer, true);
    if (k && (b->shared || !same_steps(q, k, all))) return false;
  }
  return true;
}

bool tirc_carried_is_alike(Question *q, Stored *b) {
  if (b->alike == ALIKE_ASKED) return false; /* it is made of itself */
  if (b->alike == ALIKE_UNKNOWN) {
    b->alike = ALIKE_ASKED;
    b->alike = look_alike(q, b) ? ALIKE_YES : ALIKE_NO;
  }
  return b->alike == ALIKE_YES;
}
