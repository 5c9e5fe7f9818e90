/* What a .npz archive holds, without its elements. */
#ifndef TIRC_RUNTIME_NPZ_H
#define TIRC_RUNTIME_NPZ_H

#include "runtime/tirc.h"
#include "tensor.h"

typedef struct NpyHeader {
  char descr[8]; /* the element type in NumPy's words: "<f4" */
  bool fortran;
  int ndim;
  int64_t shape[TENSOR_MAX_NDIM];
} NpyHeader;

/* From an open file, which is closed only when it throws. */
NpyHeader tirc_npy_read_header(Tirc *c, const char *path, FILE *f);

/* Of one array of an archive; what follows its header is not read. */
tirc_status tirc_npz_header(const tirc_npz *z, const char *name, NpyHeader *out,
                            tirc_error **error);

#endif
