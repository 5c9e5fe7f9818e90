#include "atomic.h"

#include "find.h"

typedef struct Row {
  Callee callee;
  const char *name;
  Op op;
} Row;

static const Row rows[] = {
#define ATOMIC(id, name, op) {CALL_##id, name, OP_##op},
#include "atomics.def"
#undef ATOMIC
};
enum { ROWS = sizeof rows / sizeof *rows };

static const Row *row_of_callee(Callee callee) {
  for (int i = 0; i < ROWS; i++)
    if (rows[i].callee == callee) return &rows[i];
  return NULL;
}

static const Row *row_of(Expr e) { return e->op == OP_CALL ? row_of_callee(e->u.callee) : NULL; }

bool tirc_is_atomic(Expr e) { return tirc_atomic(e, &(Atomic){0}); }

bool tirc_atomic(Expr e, Atomic *out) {
  const Row *row = row_of(e);
  const Expr at = row && e->n >= 2 ? e->args[0] : NULL;
  if (!at || !tirc_calls(at, CALL_ADDRESS_OF) || at->n != 1 || at->args[0]->op != OP_LOAD)
    return false;
  const bool compares = row->op == OP_NONE;
  if (compares && e->n < 3) return false;
  *out = (Atomic){at->args[0], e->args[compares ? 2 : 1], compares ? e->args[1] : NULL, row->op,
                  row->name};
  return true;
}

bool tirc_atomics_commute(Expr a, Expr b) {
  const Row *row = row_of(a);
  return row && row == row_of(b) && row->op != OP_NONE;
}

Callee tirc_find_atomic(const char *name) {
  for (int i = 0; i < ROWS; i++)
    if (strcmp(rows[i].name, name) == 0) return rows[i].callee;
  return CALL_COUNT;
}

Callee tirc_atomic_of(Op op) {
  for (int i = 0; i < ROWS; i++)
    if (rows[i].op == op && op != OP_NONE) return rows[i].callee;
  return CALL_COUNT;
}

Op tirc_atomic_op(Callee callee) {
  const Row *row = row_of_callee(callee);
  return row ? row->op : OP_NONE;
}

const char *tirc_atomic_refused(Tirc *c, Callee callee, DType t, bool unordered) {
  const bool whole = tirc_dtype_is_int(t) && t.code != TYPE_BOOL && t.bits >= 32;
  const bool sums = callee == CALL_ATOMIC_ADD && t.code == TYPE_FLOAT && t.bits >= 32;
  if (t.lanes != 1) return "it takes one element, not a vector";
  if (whole || (sums && unordered)) return NULL;
  if (sums)
    return tirc_format(c,
                       "a sum of %s depends on the order in which threads add, which nothing "
                       "determines",
                       tirc_dtype_name(c, t));
  return tirc_format(c,
                     "%s has no such update: int32, int64, uint32 and uint64 do, and sums of "
                     "float32 and float64",
                     tirc_dtype_name(c, t));
}

Expr tirc_atomic_update(Tirc *c, Callee callee, Expr place, Expr compare, Expr value,
                        bool unordered) {
  Expr args[3] = {tirc_call(c, DT_HANDLE, CALL_ADDRESS_OF, 1, &place)};
  int n = 1;
  if (compare) args[n++] = compare;
  args[n++] = value;
  if (unordered && !compare) args[n++] = tirc_bool(c, true);
  return tirc_call(c, place->dtype, callee, n, args);
}

Expr tirc_atomic_result(Tirc *c, const Atomic *a, Expr now) {
  if (a->op == OP_NONE)
    return tirc_expr(
        c, OP_SELECT, now->dtype, 3,
        (Expr[]){tirc_expr(c, OP_EQ, DT_BOOL, 2, (Expr[]){now, a->compare}), a->value, now});
  return tirc_expr(c, a->op, now->dtype, 2, (Expr[]){now, a->value});
}

Stmt tirc_atomic_as_store(Tirc *c, Stmt eval) {
  Atomic a;
  if (eval->kind != STMT_EVAL || !tirc_atomic(eval->u.eval.value, &a)) return NULL;
  const Stmt s = tirc_store(c, a.place->u.buffer, a.place->n, a.place->args,
                            tirc_atomic_result(c, &a, a.place));
  return tirc_with_loc(c, s, eval->loc);
}

static bool stores_or_calls(const void *unused, Stmt s) {
  (void)unused;
  return s->kind == STMT_STORE || s->kind == STMT_BLOCK || s->kind == STMT_WHILE ||
         (s->kind == STMT_EVAL && !tirc_is_atomic_stmt(s));
}

static bool is_update(const void *unused, Stmt s) { return (void)unused, tirc_is_atomic_stmt(s); }

bool tirc_updates_atomically(const Block *b) {
  return !b->init && !tirc_find_stmt(b->body, stores_or_calls, NULL, NULL) &&
         tirc_find_stmt(b->body, is_update, NULL, NULL);
}
