/* An index map as a trace keeps it: its results in terms of its own variables, which is a function
 * that can be called, and the text of a lambda. */
#ifndef TIRC_RECORD_RECORDED_MAP_H
#define TIRC_RECORD_RECORDED_MAP_H

#include "trace.h"

typedef struct RecordedMap {
  Callable base;
  Tirc *c;
  Expr *vars;
  Value results;
  int n_rvs; /* random variables in the results, each as a variable, "$17$" */
  Expr *rv_vars;
  const Value *rvs; /* numbers as they were drawn */
} RecordedMap;

/* How it is called; a function value is a recorded map where its Callable has this. */
Value tirc_call_map(Callable *self, int n, const Value *args);
static inline const RecordedMap *tirc_recorded_map(Value v) {
  const Callable *fn = v.kind == VAL_FUNCTION ? v.u.object : NULL;
  return fn && fn->call == tirc_call_map ? v.u.object : NULL;
}
/* With its text: "lambda i0, i1: (i1, i0)". */
Value tirc_map_value(RecordedMap *m);
Expr *tirc_map_variables(Tirc *c, int n); /* i0, i1, ... */
/* A value, the expressions in it with variables replaced. */
Value tirc_value_substituted(Tirc *c, Value v, const PtrMap *map);
/* Of a recorded function that gives a range for each dimension, what the reference records: a map
 * that gives all their bounds, one after the other. */
Value tirc_recorded_bounds(Tirc *c, Value ranges);
/* Takes the axis separators out of a recorded map: the list of the places where they stood, which
 * is empty when there are none. */
Value tirc_take_separators(Tirc *c, Value *map);

#endif
