/* ONNX models as modules: a graph of the operators that scripts say a node stands for
 * (operators/onnx), the same that a Relax text gives. Shapes that the file computes are computed
 * here; weights become parameters behind the inputs. */
#ifndef TIRC_MODULE_ONNX_H
#define TIRC_MODULE_ONNX_H

#include "parser/onnx/onnx.h"
#include "pipeline.h"

typedef struct OnnxBound { /* an input that is a constant of the model */
  const char *name;
  const OnnxTensor *value;
  bool if_needed; /* only where something else cannot be made without it */
} OnnxBound;

typedef struct OnnxImport {
  const char *operators; /* a folder of operators that come first, or NULL */
  int n_dims;
  const char *const *dims; /* extents by their names */
  const int64_t *extents;
  int n_bound;
  const OnnxBound *bound;
  void (*evaluate)(void *self, Tirc *c, const Func *f, int n, const PassArray *arrays);
} OnnxImport;

typedef struct OnnxWeight { /* a parameter behind the inputs */
  const char *name;
  Info info;
  const void *data; /* in the context of the file */
} OnnxWeight;

typedef struct OnnxModule OnnxModule;
struct OnnxModule {
  const Module *m;
  const OnnxModel *model;
  const int *inputs; /* of each input of the model: its number among main's parameters; -1: bound */
  int n_weights;
  const OnnxWeight *weights;
};

/* All in c, which refers to that of the model. Throws "onnx", "type" ..., with the node's name. */
const OnnxModule *tirc_onnx_import(Tirc *c, const OnnxModel *model, const OnnxImport *options);
/* The same in context `to`; elements that are the model's stay there. */
const OnnxModule *tirc_onnx_module_copy(Tirc *to, Tirc *scratch, const OnnxModule *from);

#endif
