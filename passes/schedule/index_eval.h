/* Evaluates index arithmetic on given values of its variables. */
#ifndef TIRC_SCHEDULE_INDEX_EVAL_H
#define TIRC_SCHEDULE_INDEX_EVAL_H

#include "sizes.h"

/* What a variable holds: a number; nothing yet, so that it stands for a size; what nobody knows. */
typedef enum EvalKind { EVAL_NUMBER, EVAL_STANDS, EVAL_UNKNOWN } EvalKind;

typedef struct EvalValue {
  int64_t value;
  bool size; /* computed from sizes alone */
  EvalKind kind;
} EvalValue;

typedef struct IndexEval {
  Tirc *c;
  const Sizes *sizes; /* of variables that were given no value; NULL: they are not known */
  int trial;          /* which sizes */
  bool zero_loads;    /* what is loaded is taken to be 0, which it may be */
  PtrMap slots;       /* variable -> 1 + index in values, once it was given one */
  VEC(EvalValue) values;
  bool sees_size, sees_other; /* variables of both kinds */
  bool asks;                  /* whether a condition holds */
} IndexEval;

void tirc_eval_give(IndexEval *v, Expr var, int64_t value);
void tirc_eval_forget(IndexEval *v, Expr var);    /* its value is not known */
void tirc_eval_let_stand(IndexEval *v, Expr var); /* it is taken for a size */
/* Gives a variable what it is bound to; false: that is not known, and the variable is forgotten. */
bool tirc_eval_bind(IndexEval *v, Expr var, Expr value);
/* False when the value cannot be known: a load, a call, an overflow, a division by zero,
 * a variable that was forgotten. */
bool tirc_eval_index(IndexEval *v, Expr e, int64_t *out);
/* Whether what stands under a condition runs. One on sizes alone is known only where it is the same
 * for all sizes: there are more of them than are tried. */
bool tirc_eval_condition(IndexEval *v, Expr e, bool *holds);

#endif
