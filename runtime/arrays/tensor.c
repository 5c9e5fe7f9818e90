/* Tensors: compact arrays of the C heap. */
#include "tensor.h"

#include "runtime/kernel/pages.h"
#include "runtime/kernel/timer.h"

#include <stdlib.h>

/* What programs of older releases of the reference ask of every array. */
enum { USUAL_ALIGNMENT = 128, MOST_ALIGNMENT = 1 << 21 };

static void *allocate(Tirc *c, size_t bytes, size_t align) {
  size_t size = tirc_pages_size(bytes);
  void *p = size ? tirc_pages_new_at(size, align) : NULL;
  if (!p)
    tirc_fail(c, (Loc){0}, CODE_MEMORY, "use smaller extents",
              "a tensor of %zu bytes does not fit into memory", bytes);
  memset(p, 0, bytes);
  return p;
}

static size_t alignment_of(int64_t asked) {
  size_t align = USUAL_ALIGNMENT;
  while (asked > 0 && align < MOST_ALIGNMENT && (uint64_t)asked % (2 * align) == 0) align *= 2;
  return align;
}

Tensor *tirc_tensor_new(Tirc *c, DType dtype, int ndim, const int64_t *shape) {
  return tirc_tensor_new_at(c, dtype, ndim, shape, USUAL_ALIGNMENT);
}

Tensor *tirc_tensor_new_at(Tirc *c, DType dtype, int ndim, const int64_t *shape, int64_t align) {
  int64_t count = 1, bytes;
  if (ndim < 0 || ndim > TENSOR_MAX_NDIM)
    tirc_fail(c, (Loc){0}, CODE_SHAPE, NULL, "a tensor has at most %d dimensions, not %d",
              TENSOR_MAX_NDIM, ndim);
  for (int d = 0; d < ndim; d++) {
    if (shape[d] < 0)
      tirc_fail(c, (Loc){0}, CODE_SHAPE, "extents start at 0",
                "extent %lld of dimension %d is negative", (long long)shape[d], d);
    if (__builtin_mul_overflow(count, shape[d], &count))
      tirc_fail(c, (Loc){0}, CODE_SHAPE, "use smaller extents",
                "the number of elements of a tensor overflows 64 bits");
  }
  if (__builtin_mul_overflow(count, (int64_t)tirc_dtype_bytes(dtype), &bytes) ||
      bytes > tirc_machine_memory())
    tirc_fail(c, (Loc){0}, CODE_MEMORY, "use smaller extents",
              "a tensor of %lld elements does not fit into memory", (long long)count);
  void *data = allocate(c, (size_t)bytes, alignment_of(align));
  Tensor *t = calloc(1, sizeof *t);
  if (!t) {
    free(data);
    tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  }
  t->dtype = tirc_dtype_lanes(dtype, 1);
  t->ndim = ndim;
  for (int d = 0; d < ndim; d++) t->shape[d] = shape[d];
  t->count = count;
  t->bytes = (size_t)bytes;
  t->data = data;
  return t;
}

void tirc_tensor_free(Tensor *t) {
  if (t) free(t->data);
  free(t);
}

Tensor *tirc_tensor_clone(Tirc *c, const Tensor *t) {
  enum { PAGE = 4096 }; /* more is chance */
  const uintptr_t at = (uintptr_t)t->data, align = at & -at;
  return tirc_tensor_clone_at(c, t, align > PAGE ? PAGE : (int64_t)align);
}

Tensor *tirc_tensor_clone_at(Tirc *c, const Tensor *t, int64_t align) {
  Tensor *r = tirc_tensor_new_at(c, t->dtype, t->ndim, t->shape, align);
  memcpy(r->data, t->data, t->bytes);
  return r;
}

/* splitmix64: short, and the same everywhere. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

void tirc_tensor_random(Tensor *t, uint64_t seed) {
  uint64_t state = seed * UINT64_C(0xd1342543de82ef95) + 1;
  for (int64_t i = 0; i < t->count; i++) {
    uint64_t r = next_random(&state);
    if (tirc_dtype_is_float(t->dtype)) /* 24 bits: exact in float32 */
      tirc_tensor_set(t, i, (double)(int64_t)(r >> 40) * 0x1p-23 - 1.0);
    else if (t->dtype.code == TYPE_INT)
      tirc_tensor_set_int(t, i, (int64_t)(r >> 33) % 16 - 8);
    else
      tirc_tensor_set_int(
          t, i, t->dtype.code == TYPE_BOOL ? (int64_t)(r >> 63) : (int64_t)(r >> 33) % 16);
  }
}

static double between(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

void tirc_tensor_random_in(Tensor *t, uint64_t seed, double low, double high) {
  uint64_t state = seed * UINT64_C(0xd1342543de82ef95) + 1;
  const bool floats = tirc_dtype_is_float(t->dtype);
  const double least = __builtin_ceil(low), count = __builtin_floor(high) - least + 1;
  for (int64_t i = 0; i < t->count; i++) {
    const double r = (double)(next_random(&state) >> 11) * 0x1p-53;
    const double x = floats ? between(low * (1 - r) + high * r, low, high)
                            : between(least + __builtin_floor(r * count), least, high);
    tirc_tensor_set(t, i, x);
    /* rounding to a narrow type may have left the range */
    if (floats && tirc_tensor_get(t, i) < low) tirc_tensor_set(t, i, low);
    if (floats && tirc_tensor_get(t, i) > high) tirc_tensor_set(t, i, high);
  }
}

/* How one element type lies in memory: ROW(code, bits, C type, from memory, to memory). */
#define SAME(x) (x)
#define ELEMENT_TYPES(FLT, INTEGER)                                                                \
  FLT(TYPE_FLOAT, 64, double, SAME, (double))                                                      \
  FLT(TYPE_FLOAT, 32, float, (double), (float))                                                    \
  FLT(TYPE_FLOAT, 16, uint16_t, tirc_half_to_double, tirc_double_to_half)                          \
  FLT(TYPE_BFLOAT, 16, uint16_t, tirc_bfloat_to_double, tirc_double_to_bfloat)                     \
  INTEGER(TYPE_BOOL, 1, uint8_t)                                                                   \
  INTEGER(TYPE_BOOL, 8, uint8_t)                                                                   \
  INTEGER(TYPE_INT, 8, int8_t)                                                                     \
  INTEGER(TYPE_INT, 16, int16_t)                                                                   \
  INTEGER(TYPE_INT, 32, int32_t)                                                                   \
  INTEGER(TYPE_INT, 64, int64_t)                                                                   \
  INTEGER(TYPE_UINT, 8, uint8_t)                                                                   \
  INTEGER(TYPE_UINT, 16, uint16_t)                                                                 \
  INTEGER(TYPE_UINT, 32, uint32_t)                                                                 \
  INTEGER(TYPE_UINT, 64, uint64_t)

#define KEY(code, bits) ((code) << 8 | (bits))

double tirc_tensor_get(const Tensor *t, int64_t i) {
  switch (KEY(t->dtype.code, t->dtype.bits)) {
#define FLT(code, bits, T, from, to)                                                               \
  case KEY(code, bits): {                                                                          \
    return from(((const T *)t->data)[i]);                                                          \
  }
#define INTEGER(code, bits, T)                                                                     \
  case KEY(code, bits): {                                                                          \
    return (double)((const T *)t->data)[i];                                                        \
  }
    ELEMENT_TYPES(FLT, INTEGER)
#undef FLT
#undef INTEGER
  }
  return 0;
}

int64_t tirc_tensor_get_int(const Tensor *t, int64_t i) {
  switch (KEY(t->dtype.code, t->dtype.bits)) {
#define FLT(code, bits, T, from, to)
#define INTEGER(code, bits, T)                                                                     \
  case KEY(code, bits): return (int64_t)((const T *)t->data)[i];
    ELEMENT_TYPES(FLT, INTEGER)
#undef FLT
#undef INTEGER
  }
  return (int64_t)tirc_tensor_get(t, i);
}

void tirc_tensor_set(Tensor *t, int64_t i, double v) {
  switch (KEY(t->dtype.code, t->dtype.bits)) {
#define FLT(code, bits, T, from, to)                                                               \
  case KEY(code, bits):                                                                            \
    ((T *)t->data)[i] = to(v);                                                                     \
    return;
#define INTEGER(code, bits, T)
    ELEMENT_TYPES(FLT, INTEGER)
#undef FLT
#undef INTEGER
  }
  const bool large = t->dtype.code == TYPE_UINT && t->dtype.bits == 64 && v >= 0x1p63;
  tirc_tensor_set_int(t, i, large ? (int64_t)(uint64_t)v : (int64_t)v);
}

void tirc_tensor_set_int(Tensor *t, int64_t i, int64_t v) {
  switch (KEY(t->dtype.code, t->dtype.bits)) {
#define FLT(code, bits, T, from, to)                                                               \
  case KEY(code, bits):                                                                            \
    ((T *)t->data)[i] = to((double)v);                                                             \
    return;
#define INTEGER(code, bits, T)                                                                     \
  case KEY(code, bits): ((T *)t->data)[i] = (T)v; return;
    ELEMENT_TYPES(FLT, INTEGER)
#undef FLT
#undef INTEGER
  }
}
