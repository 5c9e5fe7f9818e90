/* Arrays and DLPack tensors. */
#ifndef TIRC_TIRC_ARRAY_H
#define TIRC_TIRC_ARRAY_H

#include "../tirc_dlpack.h"
#include "base.h"

TIRC_C_BEGIN

typedef struct tirc_array tirc_array;
typedef struct tirc_npz tirc_npz;

/* Kernels take DLPack tensors: any DLTensor, from any library, without a copy; see tirc_argument
 * below for the requirements. Use tirc_array if you have no arrays of your own.
 *
 * Arrays are compact, row-major and zeroed; large ones are on huge pages if the system has them. */
TIRC_API tirc_status tirc_array_new(const char *dtype, int ndim, const int64_t *shape,
                                    tirc_array **out, tirc_error **error);
TIRC_API tirc_status tirc_array_read_npy(const char *path, tirc_array **out, tirc_error **error);
/* A file with one ONNX tensor (input_0.pb). */
TIRC_API tirc_status tirc_array_read_onnx(const char *path, tirc_array **out, tirc_error **error);
TIRC_API tirc_status tirc_array_write_npy(const tirc_array *a, const char *path,
                                          tirc_error **error);
/* .npz archives, as numpy.savez writes them: arrays by name. tirc_npz_name gives name number i,
 * NULL after the last one. */
TIRC_API tirc_status tirc_npz_open(const char *path, tirc_npz **out, tirc_error **error);
TIRC_API const char *tirc_npz_name(const tirc_npz *z, int i);
TIRC_API tirc_status tirc_npz_read(const tirc_npz *z, const char *name, tirc_array **out,
                                   tirc_error **error);
TIRC_API void tirc_npz_close(tirc_npz *z); /* NULL is fine */
/* Replaces the file, or leaves it unchanged if writing fails. */
TIRC_API tirc_status tirc_npz_write(const char *path, int n, const char *const *names,
                                    const tirc_array *const *arrays, tirc_error **error);
TIRC_API tirc_status tirc_array_copy(const tirc_array *a, tirc_array **out, tirc_error **error);
/* A new compact array with the first n rows of `a` along the axis. TIRC_BAD with the code
 * "argument": it has no such axis, or fewer rows. */
TIRC_API tirc_status tirc_array_rows(const tirc_array *a, int axis, int64_t n, tirc_array **out,
                                     tirc_error **error);
TIRC_API void tirc_array_free(tirc_array *a);
TIRC_API const char *tirc_array_dtype(const tirc_array *a);
TIRC_API int tirc_array_ndim(const tirc_array *a);
TIRC_API const int64_t *tirc_array_shape(const tirc_array *a);
TIRC_API int64_t tirc_array_count(const tirc_array *a);
TIRC_API int64_t tirc_array_bytes(const tirc_array *a); /* of its elements */
TIRC_API void *tirc_array_data(tirc_array *a);
/* The array as a tensor. The tensor shares the array's memory and is valid as long as the array. */
TIRC_API void tirc_array_tensor(tirc_array *a, DLTensor *out);
/* An array over the memory of a compact, row-major CPU tensor, without a copy. On success the array
 * owns the tensor, and tirc_array_free calls its deleter. */
TIRC_API tirc_status tirc_array_from_dlpack(DLManagedTensor *tensor, tirc_array **out,
                                            tirc_error **error);
/* The other direction: the tensor owns the array, and its deleter frees it. */
TIRC_API tirc_status tirc_array_to_dlpack(tirc_array *a, DLManagedTensor **out, tirc_error **error);
/* Floats in [-1, 1), small integers. If tirc_module_array made the array for a parameter that is
 * known to be an index (the attribute "index_ranges"), valid indices. The same seed gives the same
 * numbers on every machine. */
TIRC_API void tirc_array_fill_random(tirc_array *a, uint64_t seed);
/* Numbers from low to high, both included. TIRC_BAD with the code "argument": low and high are no
 * range, the array's type does not reach so far, or there is no integer between them. */
TIRC_API tirc_status tirc_array_fill_range(tirc_array *a, uint64_t seed, double low, double high,
                                           tirc_error **error);
/* NaN for floats, the least value for integers, so that elements which are not overwritten show. */
TIRC_API void tirc_array_fill_poison(tirc_array *a);
TIRC_API double tirc_array_get(const tirc_array *a, int64_t i); /* element i in row-major order */
TIRC_API void tirc_array_set(tirc_array *a, int64_t i, double value);

TIRC_C_END
#endif
