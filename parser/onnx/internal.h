/* What the files of this room share. */
#ifndef TIRC_PARSER_ONNX_INTERNAL_H
#define TIRC_PARSER_ONNX_INTERNAL_H

#include "onnx.h"

#include "onnx.pb-c.h"

typedef struct OnnxFile {
  Tirc *c;
  const char *path;
  ProtobufCAllocator allocator; /* the context's arena */
  VEC(const char *) external;   /* files that were mapped beside it */
} OnnxFile;

#define ONNX_FAIL(f, code, hint, ...)                                                              \
  tirc_fail((f)->c, (Loc){(f)->path, 0, 0}, code, hint, __VA_ARGS__)

/* tensor.c: `what` says in messages which tensor it is. */
OnnxTensor tirc_onnx_tensor(OnnxFile *f, const Onnx__TensorProto *from, const char *what);
/* The type of an element, false: it has none here. */
bool tirc_onnx_dtype(int32_t number, DType *out);
/* read.c: a file, read-only, that is unmapped with the context. Extent 0 gives a size of 0. `what`
 * (or NULL) is in it, for messages. */
const uint8_t *tirc_onnx_map(OnnxFile *f, const char *path, const char *what, size_t *size);
/* order.c: nodes behind those that they use. Throws for a cycle, for a value that two nodes give,
 * and for one that none does; in a graph within a node (inner), such a value stands outside. */
const OnnxNode *tirc_onnx_in_order(OnnxFile *f, const OnnxModel *m, bool inner);
/* The captures of a node whose attributes are read. */
void tirc_onnx_find_captures(OnnxFile *f, OnnxNode *n);

#endif
