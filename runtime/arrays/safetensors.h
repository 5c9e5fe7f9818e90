/* Tensors in a .safetensors file: eight bytes, lowest first, that are the length of a header; the
 * header, a JSON object {NAME: {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}; the
 * elements, row by row. The file is mapped, and tensors are views of it. */
#ifndef TIRC_RUNTIME_SAFETENSORS_H
#define TIRC_RUNTIME_SAFETENSORS_H

#include "tensor.h"

typedef struct StoredTensor {
  const char *name;
  Tensor tensor; /* data: in the mapping; of an odd address where the file puts it there */
} StoredTensor;

typedef struct Safetensors {
  Tirc *c; /* of the names */
  const char *path;
  void *mapping;
  size_t bytes;
  int n;
  const StoredTensor *at; /* in the order of the header */
} Safetensors;

/* Throws "file" or "safetensors" with the path and the tensor: a header that is cut off, too long
 * or no JSON, two tensors of a name, unknown types, offsets beyond the end, that overlap, or do not
 * go with the shape. The result lives in c; unmap it. */
Safetensors *tirc_safetensors_map(Tirc *c, const char *path);
void tirc_safetensors_unmap(Safetensors *s);
/* Writes such a file, elements in the order of their sizes so that each lies where its type may.
 * Throws "file"; nothing of it stays then. */
void tirc_safetensors_write(Tirc *c, const char *path, int n, const StoredTensor *at);
const StoredTensor *tirc_safetensors_find(const Safetensors *s, const char *name); /* or NULL */

#endif
