/* ONNX files as plain structs: what stands in them, in the file's own words. Read with protobuf-c
 * from ONNX's schema; what the operators mean is not known here (passes/module/onnx).
 *
 * All of it lives in the context that it was read in, bytes of tensors included, but for external
 * data, which is mapped and goes with the context. Errors are thrown: codes "file" (cannot be read,
 * is no ONNX, is cut off) and "onnx" (with the node's or the tensor's name). */
#ifndef TIRC_PARSER_ONNX_H
#define TIRC_PARSER_ONNX_H

#include "ir/dtype.h"

typedef struct OnnxTensor {
  const char *name; /* "": it has none */
  DType dtype;
  int ndim;
  const int64_t *dims;
  int64_t count;    /* of elements */
  const void *data; /* row by row, as the machine has them */
  int bits;         /* 4: of the file's type, whose numbers have a byte each here; otherwise 0 */
} OnnxTensor;

typedef enum OnnxAttrKind {
  ONNX_INT,
  ONNX_FLOAT,
  ONNX_STRING,
  ONNX_TENSOR,
  ONNX_INTS,
  ONNX_FLOATS,
  ONNX_STRINGS,
  ONNX_GRAPH,
  ONNX_REFERENCE, /* in a function: an attribute of the node that calls it, or its default */
  ONNX_OTHER      /* a type, several graphs ...: nothing of it is read */
} OnnxAttrKind;

typedef struct OnnxAttr {
  const char *name;
  OnnxAttrKind kind;
  int n; /* INTS, FLOATS, STRINGS; 1: INT, FLOAT, STRING */
  const int64_t *ints;
  const float *floats;
  const char *const *strings;
  const OnnxTensor *tensor;
  const struct OnnxModel *graph; /* a graph of its own, without path and opset */
  const char *of;                /* REFERENCE: that attribute's name */
} OnnxAttr;

typedef struct OnnxNode {
  const char *op, *domain; /* domain "": ONNX's own */
  const char *name;        /* never empty: where the file has none, "Conv 3", by its place */
  int n_inputs, n_outputs, n_attrs;
  const char *const *inputs; /* "": left out */
  const char *const *outputs;
  const OnnxAttr *attrs;
  int n_captures; /* values that graphs among the attributes use, and that stand outside of them */
  const char *const *captures;
} OnnxNode;

/* One extent of an input: a number, or a name ("" where the file gives neither). */
typedef struct OnnxDim {
  int64_t value; /* -1: name */
  const char *name;
} OnnxDim;

typedef struct OnnxValue { /* an input or output of the graph */
  const char *name;
  bool is_tensor, has_shape;
  DType dtype; /* VOID: the file does not say, or it is one that there is not here */
  int ndim;
  const OnnxDim *dims;
} OnnxValue;

/* An operator that the file itself defines, by nodes. */
typedef struct OnnxFunction {
  const char *name, *domain;
  const struct OnnxModel *body; /* inputs and outputs are names; opset is the function's own */
  int n_defaults;               /* of attributes; others are left out where the node has none */
  const OnnxAttr *defaults;
} OnnxFunction;

typedef struct OnnxModel OnnxModel;
struct OnnxModel {
  const char *path;
  int64_t opset; /* of ONNX's own domain */
  int n_inputs, n_outputs, n_nodes, n_weights;
  const OnnxValue *inputs; /* that have no initializer */
  const OnnxValue *outputs;
  const OnnxNode *nodes;     /* in an order in which each stands behind those it uses */
  const OnnxTensor *weights; /* the initializers */
  int n_functions;           /* of a file */
  const OnnxFunction *functions;
  int n_files; /* of external data that were mapped, each once; of a file, too */
  const char *const *files;
};

const OnnxModel *tirc_onnx_read(Tirc *c, const char *path);
/* A file that holds one tensor, as the ONNX project's tests have them. */
const OnnxTensor *tirc_onnx_read_tensor(Tirc *c, const char *path);
/* Whether a path ends with .onnx. */
static inline bool tirc_onnx_is_path(const char *path) {
  const size_t n = strlen(path);
  return n > 5 && !strcmp(path + n - 5, ".onnx");
}

#endif
