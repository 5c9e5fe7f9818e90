/* An import of an ONNX file at work: what its parts share. */
#ifndef TIRC_MODULE_ONNX_IMPORT_H
#define TIRC_MODULE_ONNX_IMPORT_H

#include "onnx.h"

#include "graph_branch.h"
#include "graph_builder.h"
#include "operators_internal.h"

/* The shelf of operators that says what nodes become. */
#define SHELF "onnx"

/* A name of a graph within a node, and what it was outside: NULL, nothing. */
typedef struct Hidden {
  const char *name;
  Value *value;
} Hidden;

/* A function of the file at work: the node that calls it, and where that stands. */
typedef struct Called {
  const OnnxNode *node;
  const OnnxFunction *function;
  const struct Called *outer; /* NULL: in the file's graph */
} Called;

typedef struct Importing {
  Tirc *c;
  const OnnxModel *model;
  const OnnxImport *options;
  GraphMaker maker;
  Operators *conversions;
  const OnnxNode *node; /* that is converted */
  StrMap values;        /* name -> Value * */
  VEC(Hidden) hidden;   /* while graphs within nodes are converted, the innermost last */
  PtrMap few_bits;      /* value -> the OnnxTensor of 4 bits that it is */
  PtrMap inner_weights; /* of graphs within nodes: OnnxTensor -> Value * */
  StrMap symbols;       /* names of extents -> variables */
  Attrs names;          /* "file_names" of inputs and extents */
  Needs needs;          /* what conversions ask of extents */
  int depth;            /* of graphs within nodes, and of functions */
  int within;           /* of graphs within nodes: a script is at work that runs them */
  const Called *called; /* or NULL */
  int64_t opset;        /* of the nodes that are converted now */
  int n_converted;
  int n_apart;      /* of Ifs within whose branches what follows them is converted now */
  uintptr_t needed; /* inputs that have to be constants */
  bool *is_bound;
  int *places;
} Importing;

#define FAIL(k, hint, ...)                                                                         \
  tirc_fail((k)->c, (Loc){(k)->model->path, 0, 0}, CODE_ONNX, hint, __VA_ARGS__)

/* --- values by name: onnx_nodes.c ------------------------------------------------------------- */

Value tirc_import_value(Importing *k, const char *name); /* fails where nothing gives it */
void tirc_import_put(Importing *k, const char *name, Value v);
/* The names of a graph within a node end with it: what they stood for, they stand for again. */
void tirc_import_leave_names(Importing *k, int from);
Value tirc_import_tensor(Importing *k, const OnnxTensor *t, const char *name);

/* --- nodes: onnx_nodes.c ---------------------------------------------------------------------- */

/* One node; what is wrong with it is said with its name. */
void tirc_import_node(Importing *k, const OnnxNode *n);
/* Those of a graph from one on. */
void tirc_import_nodes(Importing *k, const OnnxModel *g, int from);
/* What a script asks of a value that only the run knows; self: the import's maker. */
void tirc_import_not_known(void *self, Script *sc, Node v);

/* --- an If and what follows it: onnx_apart.c -------------------------------------------------- */

/* Node number `at`. False: what follows it was part of its branches, and is converted, too. */
bool tirc_import_next(Importing *k, const OnnxModel *g, int at);

/* --- inputs: onnx.c --------------------------------------------------------------------------- */

/* What the user gave for an input; NULL: nothing. */
const OnnxBound *tirc_import_bound(const Importing *k, const char *name);

#endif
