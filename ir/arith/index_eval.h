/* Evaluates index arithmetic on given values of its variables. */
#ifndef TIRC_IR_ARITH_INDEX_EVAL_H
#define TIRC_IR_ARITH_INDEX_EVAL_H

#include "ir/tree/ir.h"

typedef struct EvalValue {
  int64_t value;
  bool known;
} EvalValue;

typedef struct IndexEval {
  Tirc *c;
  PtrMap slots; /* variable -> 1 + index in values, once it was given one */
  VEC(EvalValue) values;
} IndexEval;

void tirc_eval_give(IndexEval *v, Expr var, int64_t value);
/* Gives a variable what it is bound to; false: that is not known, and neither is the variable. */
bool tirc_eval_bind(IndexEval *v, Expr var, Expr value);
/* False when the value cannot be known: a load, a call, an overflow, a division by zero,
 * a variable without a value. */
bool tirc_eval_index(const IndexEval *v, Expr e, int64_t *out);
bool tirc_eval_condition(const IndexEval *v, Expr e, bool *holds);

#endif
