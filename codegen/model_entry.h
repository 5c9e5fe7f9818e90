/* The one function of a model: calls of a module's functions, in order, with every pointer known
 * from the parameters. What stands behind the code of the functions themselves, as C or through
 * LLVM.
 *
 *   int NAME_prepare(weights..., void *prepared)           where something is made of weights alone
 *   int NAME(parameters..., results..., const void *prepared, void *workspace)
 *
 * Where the weights are known when the code is made, they are one block, in which lies what the
 * calls read of them and of constants, prepared already. It is beside the code, or linked with it
 * as NAME_weights:
 *
 *   int NAME(inputs..., results..., const void *weights, void *workspace)
 *   int NAME(inputs..., results..., void *workspace)
 *
 * const tirc_model_info *NAME_info(void) tells what these are (codegen/c/info.c).
 *
 * Extents that only the run knows lead the parameters of NAME, each an int64_t, and
 *
 *   int64_t NAME_workspace_size(extents...)
 *
 * tells how large the workspace is; 0 where NAME would refuse them. Products are not told of then.
 *
 * The status is that of the first call that fails, and const char *NAME_error_text(int code) says
 * what it means. Where the functions multiply matrices, the
 * variable NAME_on_product is a function that is told of each product, before it and after it. */
#ifndef TIRC_CODEGEN_MODEL_ENTRY_H
#define TIRC_CODEGEN_MODEL_ENTRY_H

#include "ir/tree/ir.h"

typedef enum EntryPlace {
  ENTRY_PARAM,     /* number `at` of the parameters */
  ENTRY_WORKSPACE, /* byte `at` of the workspace */
  ENTRY_PREPARED,  /* byte `at` of what is prepared */
  ENTRY_WEIGHTS,   /* byte `at` of the block of weights */
  ENTRY_CONST,     /* number `at` of the constants */
  ENTRY_NUMBER,    /* `at` itself */
  /* Where extents are open: number `at` of what the function of sizes computes, */
  ENTRY_SIZE,
  ENTRY_WORKSPACE_SIZE /* and that byte of the workspace */
} EntryPlace;

typedef struct EntryValue {
  EntryPlace place;
  int64_t at;
} EntryValue;

/* out[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n] */
typedef struct EntryProduct {
  const char *function, *block;
  int64_t batch, m, n, k;
  const char *a, *b, *out; /* types of elements */
  const char *layout;      /* "NN"; T where a matrix lies the other way round */
  bool is_convolution;
} EntryProduct;

/* A bool in memory that has to be `is`. */
typedef struct EntryCondition {
  EntryValue at;
  bool is;
} EntryCondition;

typedef struct EntryCall {
  int func; /* number of the module's function; -1: `bytes` bytes from args[0] to args[1] */
  int64_t bytes;
  int size; /* of the copy, where it is no number: that of what is computed; otherwise 0 */
  int n;
  const EntryValue *args;
  int n_products;
  const EntryProduct *products;
  int branch;       /* of an `if`, a number that calls of one branch share; -1: it runs each time */
  int n_conditions; /* of the branch: asked in this order, a later one only where all before hold */
  const EntryCondition *conditions;
} EntryCall;

typedef struct EntryConst {
  const void *data;
  int64_t bytes;
  bool is_read; /* by the code; others only by what fills the block of weights */
} EntryConst;

typedef enum EntryWeights {
  WEIGHTS_PARAMS, /* a parameter each */
  WEIGHTS_BESIDE, /* a block whose address is a parameter */
  WEIGHTS_INSIDE  /* a block that the code knows */
} EntryWeights;

typedef struct EntryPart { /* of the block */
  const char *name;        /* in C */
  Buffer buffer;
  int64_t at, bytes;
  int param;        /* the parameter that it is a copy of, or -1: */
  const void *data; /* the constant; NULL: a call that prepares writes it */
} EntryPart;

/* What the code tells of a parameter. */
typedef struct EntryTensor {
  const char *in_file, *name; /* what the file calls it, and C */
  const char *dtype;
  int ndim;
  const int64_t *shape;       /* -1: only the run knows it */
  const char *const *extents; /* as text: "3", "n", "n * 2" */
} EntryTensor;

/* A result of which only the run knows how many rows mean something: as many as another one says.
 */
typedef struct EntryRows {
  int result, count, axis; /* numbers of results */
} EntryRows;

/* An extent that only the run knows, which leads the parameters. */
typedef struct EntryExtent {
  Expr var;
  const char *in_file, *name;
  int64_t lower, upper;
} EntryExtent;

typedef struct ModelEntry {
  const char *name;
  int n_inputs, n_weights, n_results;
  const Buffer *params;       /* inputs, weights, results */
  const char *const *names;   /* of the parameters, in C, */
  const EntryTensor *tensors; /* what the code tells of them */
  int n_rows;
  const EntryRows *rows;
  const char *version; /* of what made it */
  /* Extents that only the run knows: `sizes` is the function of the module that takes them and
   * writes n_sizes numbers, of which the first is the size of the workspace. It fails where the
   * extents are not allowed. */
  int n_extents;
  const EntryExtent *extents; /* by their names in C */
  int sizes, n_sizes;
  int64_t workspace, prepared; /* bytes; both are aligned to 64 */
  int n_consts;
  const EntryConst *consts;
  int n_prepare, n_calls; /* the first n_prepare of the calls fill what is prepared */
  const EntryCall *calls;
  /* Not for WEIGHTS_PARAMS: what fills the block is no part of the code then. */
  EntryWeights place;
  int64_t weights; /* bytes, aligned to 64 */
  int n_parts;
  const EntryPart *parts;
  const void *block; /* C, WEIGHTS_INSIDE: its bytes */
} ModelEntry;

/* Whether the code has a function that prepares. */
static inline bool tirc_entry_prepares(const ModelEntry *e) {
  return e->place == WEIGHTS_PARAMS && e->prepared > 0;
}

/* The calls in front that are no part of the code: they fill the block of weights. */
static inline int tirc_entry_first_call(const ModelEntry *e) {
  return e->place == WEIGHTS_PARAMS ? 0 : e->n_prepare;
}

/* How many products the code tells of. */
static inline int tirc_entry_products(const ModelEntry *e) {
  int n = 0;
  for (int i = tirc_entry_first_call(e); i < e->n_calls; i++) n += e->calls[i].n_products;
  return n;
}

/* Of main: inputs, weights, results. */
static inline int tirc_entry_params(const ModelEntry *e) {
  return e->n_inputs + e->n_weights + e->n_results;
}

/* What NAME_info says of the code, in this form of it. */
enum { ENTRY_INFO_FORMAT = 2 };
typedef struct EntryInfo {
  int n_weights; /* that are parameters */
  int64_t workspace, weights, prepared;
} EntryInfo;
static inline EntryInfo tirc_entry_info(const ModelEntry *e) {
  return (EntryInfo){.n_weights = e->place == WEIGHTS_PARAMS ? e->n_weights : 0,
                     .workspace = e->n_extents ? -1 : e->workspace,
                     .weights = e->place == WEIGHTS_BESIDE ? e->weights : -1,
                     .prepared = tirc_entry_prepares(e) ? e->prepared : 0};
}

/* Whether parameter i of main is one of the code's. */
static inline bool tirc_entry_has_param(const ModelEntry *e, int i) {
  return e->place == WEIGHTS_PARAMS || i < e->n_inputs || i >= e->n_inputs + e->n_weights;
}

#endif
