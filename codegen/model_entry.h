/* The one function of a model: calls of a module's functions, in order, with every pointer known
 * from the parameters. What stands behind the code of the functions themselves, as C or through
 * LLVM.
 *
 *   int NAME_prepare(weights..., void *prepared)           where something is made of weights alone
 *   int NAME(parameters..., results..., const void *prepared, void *workspace)
 *
 * The status is that of the first call that fails. */
#ifndef TIRC_CODEGEN_MODEL_ENTRY_H
#define TIRC_CODEGEN_MODEL_ENTRY_H

#include "ir/tree/ir.h"

typedef enum EntryPlace {
  ENTRY_PARAM,     /* number `at` of the parameters */
  ENTRY_WORKSPACE, /* byte `at` of the workspace */
  ENTRY_PREPARED,  /* byte `at` of what is prepared */
  ENTRY_CONST,     /* number `at` of the constants */
  ENTRY_NUMBER     /* `at` itself */
} EntryPlace;

typedef struct EntryValue {
  EntryPlace place;
  int64_t at;
} EntryValue;

typedef struct EntryCall {
  int func; /* number of the module's function; -1: `bytes` bytes from args[0] to args[1] */
  int64_t bytes;
  int n;
  const EntryValue *args;
} EntryCall;

typedef struct EntryConst {
  const void *data;
  int64_t bytes;
} EntryConst;

typedef struct ModelEntry {
  const char *name;
  int n_inputs, n_weights, n_results;
  const Buffer *params;        /* inputs, weights, results */
  const char *const *names;    /* of the parameters, in C */
  int64_t workspace, prepared; /* bytes; both are aligned to 64 */
  int n_consts;
  const EntryConst *consts;
  int n_prepare, n_calls; /* the first n_prepare of the calls fill what is prepared */
  const EntryCall *calls;
} ModelEntry;

#endif
