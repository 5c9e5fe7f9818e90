/* Tensors: DLPack's layout, plain compact row-major arrays of the C heap, and
 * views of what comes from outside. */
#ifndef TIRC_RUNTIME_TENSOR_H
#define TIRC_RUNTIME_TENSOR_H

#include "ir/dtype.h"

#include <stdio.h>

#define TENSOR_MAX_NDIM 32

typedef struct Tensor {
  DType dtype;
  int ndim;
  int64_t shape[TENSOR_MAX_NDIM];
  const int64_t *strides; /* in elements; NULL: compact, row-major */
  int64_t count;          /* elements, or with strides those from the first to the last */
  size_t bytes;
  void *data;  /* aligned to 128 at least and owned, unless it came from outside */
  bool is_far; /* data is an address of a device, where nothing here may look */
} Tensor;

static inline bool tirc_tensors_overlap(const Tensor *a, const Tensor *b) {
  const char *x = a->data, *y = b->data;
  return a->bytes && b->bytes && x < y + b->bytes && y < x + a->bytes;
}

/* Zeroed. Throws "shape" on negative extents or overflow, "memory" when it is too large. Large ones
 * lie on huge pages (pages.h). */
Tensor *tirc_tensor_new(Tirc *c, DType dtype, int ndim, const int64_t *shape);
/* The same where its data is a multiple of so many bytes, as a program asks of its parameters. */
enum { TENSOR_OF_FILE_ALIGN = 4096 }; /* of which no program is known that reads it */
Tensor *tirc_tensor_new_at(Tirc *c, DType dtype, int ndim, const int64_t *shape, int64_t align);
void tirc_tensor_free(Tensor *t);                    /* NULL is fine */
Tensor *tirc_tensor_clone(Tirc *c, const Tensor *t); /* aligned as t is */
Tensor *tirc_tensor_clone_at(Tirc *c, const Tensor *t, int64_t align);
/* Uniform in [-1, 1) for floats, small integers for ints, from a seed; same on every machine. */
void tirc_tensor_random(Tensor *t, uint64_t seed);
/* Uniform from low to high, both included; integers between them, of which there must be one. */
void tirc_tensor_random_in(Tensor *t, uint64_t seed, double low, double high);
/* One element as double / int64, whatever the dtype (float16, bfloat16 included), and back. */
double tirc_tensor_get(const Tensor *t, int64_t i);
int64_t tirc_tensor_get_int(const Tensor *t, int64_t i);
void tirc_tensor_set(Tensor *t, int64_t i, double v);
void tirc_tensor_set_int(Tensor *t, int64_t i, int64_t v);

/* .npy files, versions 1 to 3, C order (Fortran order is transposed on reading). Throws "file" or
 * "npy" with the path and the reason. bfloat16 is stored as "<V2". */
Tensor *tirc_npy_read(Tirc *c, const char *path);
void tirc_npy_write(Tirc *c, const char *path, const Tensor *t);
/* The same from a stream, which is closed in any case; the path is for messages. whole: nothing may
 * follow the array. */
Tensor *tirc_npy_read_stream(Tirc *c, const char *path, FILE *stream, bool whole);
/* What stands before the elements in such a file, n bytes in c. */
const char *tirc_npy_header(Tirc *c, const char *path, const Tensor *t, size_t *n);

#endif
