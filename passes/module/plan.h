/* A plan: what a graph is to whoever runs it, and nothing of a graph is left in it. Tensors, and
 * calls of prim_funcs in their order; all extents are constants or expressions of the symbols that
 * the parameters' shapes tell.
 *
 *   main(x, w) -> y           tensors: x, w (parameters), y (a result), lv (workspace)
 *       lv = mm(x, w)         calls:   mm(x, w, lv)
 *       y = relu(lv)                   relu(lv, y)
 */
#ifndef TIRC_MODULE_PLAN_H
#define TIRC_MODULE_PLAN_H

#include "module.h"

typedef enum PlanPlace {
  PLAN_PARAM,    /* number `index` of the signature's parameters */
  PLAN_RESULT,   /* likewise, behind main's own */
  PLAN_CONST,    /* data */
  PLAN_PREPARED, /* made once, of weights and constants alone: index among these */
  PLAN_WORKSPACE,
  PLAN_VIEW /* it lies where tensor number `index` does, which is none, and comes before it */
} PlanPlace;

typedef struct PlanTensor {
  Buffer buffer; /* name, type, shape: in the signature's symbols */
  PlanPlace place;
  int index;
  const void *data;
  int first, last; /* WORKSPACE: the calls that write it first, and read it last */
  int guard;       /* that of the calls that write it */
} PlanTensor;

/* A branch of an `if`: what it consists of runs where `tensor`, one bool, is `taken`, and where
 * that holds in which the `if` itself stands. */
typedef struct PlanGuard {
  int outer; /* number of a guard; -1: the plan itself */
  int tensor;
  bool taken;
} PlanGuard;

typedef struct PlanCall {
  const Func *func;     /* of the module; NULL: a copy of tensors[0] to tensors[1] */
  const char *symbol;   /* of another program, where func is NULL */
  const char *operator; /* where it came from, for reports */
  int n, n_written;     /* the last n_written of the tensors are results */
  const int *tensors;
  int n_scalars; /* behind the tensors */
  const Expr *scalars;
  int guard; /* number of the branch that it is part of; -1: it runs each time */
  Loc loc;
} PlanCall;

/* Has to hold when it runs: that extents are the same, of R.match_cast; or, where b is NULL, the
 * condition a, which an operator in a branch asks. Main's own conditions are asserted by the
 * signature. */
typedef struct PlanCheck {
  Expr a, b;
  Loc loc;
  const char *what;
  int guard;
} PlanCheck;

/* What the graph says of an extent: tir_var_lower_bound, tir_var_upper_bound. */
typedef struct PlanBound {
  Expr symbol;
  int64_t lower, upper; /* INT64_MAX: none */
} PlanBound;

typedef struct Plan {
  /* Main's parameters, then its results, as buffers of a function that does nothing: how arguments
   * are bound, checked and described is that of any function. */
  const Func *signature;
  int n_inputs; /* parameters in front: the rest are weights */
  int n_params, n_results;
  int n_tensors;
  const PlanTensor *tensors;
  int n_prepare; /* calls in front that depend on weights and constants alone */
  int n_calls;
  const PlanCall *calls;
  int n_guards;
  const PlanGuard *guards; /* an outer one comes before those inside */
  int n_checks;
  const PlanCheck *checks;
  int n_bounds;
  const PlanBound *bounds;
} Plan;

/* The plan of the module's main graph, all of whose calls are R.call_tir or R.call_dps_packed; in
 * p's context. Parameters that only name extents, R.Shape([n, 4]), are none of the plan's. Throws
 * "unsupported" for what is left of operators and for what else is no tensor. */
const Plan *tirc_plan(Passes *p, const Module *m);
/* The same for code, which is prepared before any extent is known: calls whose extents only the run
 * tells are none of those in front. */
const Plan *tirc_plan_for_code(Passes *p, const Module *m);

/* --- memory ----------------------------------------------------------------------------------- */

/* Where tensors lie in one workspace, in bytes: those that are alive at once lie apart. A tensor
 * lives from call `first` to call `last`, both included. Greedy by size; every offset is a multiple
 * of 64. Gives the size of the workspace, -1 where it does not fit into an int64_t. */
typedef struct MemoryUse {
  int64_t bytes;
  int first, last;
  int64_t offset; /* comes out */
} MemoryUse;
int64_t tirc_plan_memory(Tirc *c, int n, MemoryUse *uses);
/* Independent of how they were placed: the first pair that is alive at once and overlaps, or that
 * lies outside of the workspace (then *b == *a). False: there is none. */
bool tirc_memory_conflict(int n, const MemoryUse *uses, int64_t total, int *a, int *b);

#endif
