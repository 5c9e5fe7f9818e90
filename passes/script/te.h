/* Tensor expressions: tensors as values of scripts, and the functions that they become.
 *
 *   k = te.reduce_axis((0, 8), name="k")
 *   C = te.compute((4, 4), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
 *
 * A tensor is an object "Tensor" of a script; x[i, j] is a load of its buffer. What makes it is its
 * stage. Trees are immutable, and a stage may become part of several functions: each gets loops,
 * iterators and blocks of its own. */
#ifndef TIRC_SCRIPT_TE_H
#define TIRC_SCRIPT_TE_H

#include "ir/arith/arith.h"
#include "require.h"

typedef enum StageKind { STAGE_COMPUTE, STAGE_CALL } StageKind;

/* An associative operation with its neutral element, on tuples of n values. */
typedef struct Reducer {
  int n;
  const Expr *lhs, *rhs; /* variables: what was reduced so far, one more */
  const Expr *results;   /* of the two */
  const Expr *identities;
} Reducer;

typedef struct Stage Stage;
typedef struct Tensor {
  Buffer buffer;
  const Stage *stage; /* NULL: a placeholder */
  bool has_range;     /* its elements are integers within: */
  Bound range;
  bool is_attained; /* and both ends are among them */
} Tensor;

struct Stage {
  StageKind kind;
  const char *name;
  Loc loc; /* of the call that made it */
  int n_results;
  const Tensor *const *results; /* of one shape, when computed */
  Attrs annotations;            /* of its blocks */
  /* STAGE_COMPUTE: the value of each result at the axes' variables; of a reduction, what is
   * reduced. Axes: the results' dimensions, then those that are reduced. */
  int n_axes;
  const IterVar *axes;
  const Expr *values;
  Expr condition; /* that has to hold for each element of a result, or NULL; otherwise: */
  const char *message;
  const Reducer *reducer; /* or NULL */
  /* STAGE_CALL: the parameters of func are the inputs, then the results. */
  const Func *func;
  int n_inputs;
  const Tensor *const *inputs;
};

Value tirc_te_placeholder(Script *sc, const char *name, DType t, int ndim, const Expr *shape);
const Tensor *tirc_te_tensor(Value v);                       /* NULL: it is none */
const Tensor *tirc_te_tensor_of(const Script *sc, Buffer b); /* whose elements b's are; or NULL */
const Tensor *tirc_te_copy(Script *sc, const Tensor *t);     /* a stage that copies it */
/* Results of a new stage, whose n_results and results are filled in, one a buffer. */
Value tirc_te_results(Script *sc, Stage *stage, int n, const Buffer *buffers);

/* An extent or index as an integer expression; plain numbers get the type of indices. */
Expr tirc_te_index(Script *sc, Value v, const char *what);
/* (4, n), a list, or one extent alone; *n of them. */
const Expr *tirc_te_shape(Script *sc, Value v, int *n);
DType tirc_te_dtype(Script *sc, Value v);
/* The load that x[index] is. */
Value tirc_te_item(Script *sc, const Tensor *t, Value index);
/* "Tensor((4, n), \"float32\")" */
const char *tirc_te_type_text(Tirc *c, DType t, int ndim, const Expr *shape);

/* te_ahead.c: what is known of a tensor's elements; false: nothing. */
bool tirc_te_range(Script *sc, const Tensor *t, Bound *out);
void tirc_te_know(Value tensor, Bound b, bool is_attained);

/* te_reduce.c */
typedef struct Reduction { /* u.object of a "Reduce": what te.sum gives */
  const Reducer *reducer;
  const Expr *sources;
  int n_axes;
  const IterVar *axes;
} Reduction;

/* te_func.c: a function of these tensors: placeholders, and what is computed from them. What else
 * is needed for the latter is allocated inside; what is not needed does not become part of it. The
 * function has variables of its own. *vars: those of the tensors that no extent is, for which it
 * has scalar parameters at the end. */
typedef struct Unknowns {
  int n;
  const Expr *at;
} Unknowns;
const Func *tirc_te_func(Script *sc, const char *name, int n, const Tensor *const *args,
                         Unknowns *vars);
/* The same, with assertions of these conditions in front. */
const Func *tirc_te_asserting_func(Script *sc, const char *name, int n, const Tensor *const *args,
                                   int n_needs, const Need *needs, Unknowns *vars);
/* te_fresh.c */
const Func *tirc_te_fresh(Tirc *c, const Func *f, Unknowns *vars);
/* te_call.c: the body of a stage's function on the stage's tensors; its own buffers are added to
 * `allocs`. */
typedef VEC(Buffer) Buffers;
Stmt tirc_te_call_body(Script *sc, const Stage *stage, Buffers *allocs);

Value tirc_te_run_call(Script *sc, Value self, const Args *a);
Value tirc_te_run_extern(Script *sc, Value self, const Args *a);

extern const NativeRow tirc_script_te_rows[], tirc_script_te_reduce_rows[],
    tirc_script_te_func_rows[], tirc_script_te_ahead_rows[]; /* end with name NULL */
#endif
