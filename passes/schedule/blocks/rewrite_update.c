/* rewrite_update(block): an update of an element in the form that reductions are known by, the
 * element first and then what comes in.
 *
 *   C[vi] = C[vi] - x               C[vi] = C[vi] + x * -1     (of integers C[vi] + (0 - x))
 *   C[vi] = T.fma(a, b, C[vi])  ->  C[vi] = C[vi] + a * b
 *   C[vi] = x + C[vi]               C[vi] = C[vi] + x          (likewise *; of integers min, max)
 *   C[vi] = C[vi] + x - y           C[vi] = C[vi] + (x - y)    (likewise of one operation)
 *
 * The numbers are the same but for roundings: the order in which a sum is added up, which
 * reductions leave open, matters as much. */
#include "blocks.h"

#include "ir/tree/find.h"

typedef struct Rewrite {
  Tirc *c;
  bool done;
} Rewrite;

/* Of floats, the side of a minimum decides what becomes of a NaN. */
static bool takes_any_order(Expr e) {
  const bool extreme = e->op == OP_MIN || e->op == OP_MAX;
  return e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL ||
         (extreme && !tirc_dtype_is_float(e->dtype));
}

static bool is_difference(const void *self, Expr e) {
  (void)self;
  return e->op == OP_SUB;
}

/* 0 - x */
static bool is_negative(Expr e) {
  const Expr zero = e->op == OP_SUB ? e->args[0] : NULL;
  return zero && (tirc_is_int(zero, 0) || (zero->op == OP_FLOAT && zero->u.f == 0));
}

/* What several operations of one kind make of the operands beside `self`, which one of them takes
 * in; NULL: none does. A sum may subtract others from it, too. A float number among them may be
 * there for the rounding, as that which is added and taken away again. */
static Expr without_self(Tirc *c, Op op, Expr self, Expr e) {
  const bool subtracts = op == OP_ADD && e->op == OP_SUB;
  if (e->n != 2 || (e->op != op && !subtracts)) return NULL;
  for (int i = 0; i < (subtracts ? 1 : 2); i++) {
    if (!subtracts && tirc_expr_same(e->args[i], self)) return e->args[1 - i];
    const Expr rest = without_self(c, op, self, e->args[i]);
    if (rest && e->args[1 - i]->op == OP_FLOAT) return NULL;
    if (rest) return tirc_binary(c, (Op)e->op, i ? e->args[0] : rest, i ? rest : e->args[1]);
  }
  return NULL;
}

/* The value of an update in that form; NULL: it is in it, or is no such update. */
static Expr usual_form(Tirc *c, Stmt store) {
  const Expr value = store->u.store.value;
  /* + of truth values is or, whose reverse - is not. */
  if (value->dtype.code == TYPE_BOOL && tirc_find_expr(value, is_difference, NULL)) return NULL;
  const Expr self = tirc_load(c, store->u.store.buffer, store->u.store.n, store->u.store.indices);
  if (value->op == OP_SUB && tirc_expr_same(value->args[0], self)) {
    const Expr x = value->args[1];
    if (is_negative(x)) return tirc_add(c, self, x->args[1]);
    return tirc_add(c, self,
                    tirc_dtype_is_float(x->dtype) ? tirc_mul(c, x, tirc_float(c, x->dtype, -1))
                                                  : tirc_sub(c, tirc_int(c, x->dtype, 0), x));
  }
  if (value->op == OP_FMA && tirc_expr_same(value->args[2], self))
    return tirc_add(c, self, tirc_mul(c, value->args[0], value->args[1]));
  const Op op = value->op == OP_SUB ? OP_ADD : (Op)value->op;
  if (!takes_any_order(value) || tirc_expr_same(value->args[0], self)) return NULL;
  const Expr x = without_self(c, op, self, value);
  return x ? tirc_binary(c, op, self, x) : NULL;
}

static Stmt rewrite_store(Mutator *m, Stmt s) {
  Rewrite *r = m->self;
  if (s->kind != STMT_STORE) return tirc_mutate_stmt_children(m, s);
  const Expr value = usual_form(r->c, s);
  if (!value) return s;
  r->done = true;
  return tirc_with_loc(
      r->c, tirc_store(r->c, s->u.store.buffer, s->u.store.n, s->u.store.indices, value), s->loc);
}

void tirc_prim_rewrite_update(Sched *s, const Value *args, Value *result) {
  (void)result;
  SRef *block = tirc_sref_of_value(s, args[0]);
  Block b = *tirc_block_of(block);
  Rewrite r = {.c = s->c};
  Mutator m = {.c = s->c, .stmt = rewrite_store, .self = &r};
  b.body = tirc_mutate_stmt(&m, b.body);
  if (!r.done)
    tirc_refuse(s, block->stmt, SERR_UPDATE_FORM,
                "%s has no update in a form other than C[vi] = C[vi] + x",
                tirc_describe(s, block->stmt));
  tirc_sched_replace(s, block, tirc_with_loc(s->c, tirc_block(s->c, &b), block->stmt->loc));
}
