/* Evaluates index arithmetic on given values of its variables. */
#ifndef TIRC_SCHEDULE_INDEX_EVAL_H
#define TIRC_SCHEDULE_INDEX_EVAL_H

#include "../../ir/ir.h"

typedef struct IndexEval {
  Tirc *c;
  int64_t otherwise; /* the value of a variable that was given none */
  bool zero_loads;   /* what is loaded is taken to be 0, which it may be */
  PtrMap slots;      /* variable -> 1 + index in values; -1: its value is not known */
  VEC(int64_t) values;
} IndexEval;

void tirc_eval_give(IndexEval *v, Expr var, int64_t value);
void tirc_eval_forget(IndexEval *v, Expr var); /* its value is not known */
/* False when the value cannot be known: a load, a call, an overflow, a division by zero,
 * a variable that was forgotten. */
bool tirc_eval_index(IndexEval *v, Expr e, int64_t *out);

#endif
