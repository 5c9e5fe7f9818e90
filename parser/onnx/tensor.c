/* Tensors of ONNX: bytes as they are, or a field of numbers for each type. */
#include "internal.h"

#include <limits.h>
#include <stdlib.h>

enum { MOST_DIMS = 32 };

bool tirc_onnx_dtype(int32_t number, DType *out) {
  static const DType types[] = {
      [ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT] = {TYPE_FLOAT, 32, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__UINT8] = {TYPE_UINT, 8, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__INT8] = {TYPE_INT, 8, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__UINT16] = {TYPE_UINT, 16, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__INT16] = {TYPE_INT, 16, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__INT32] = {TYPE_INT, 32, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__INT64] = {TYPE_INT, 64, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__BOOL] = {TYPE_BOOL, 1, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16] = {TYPE_FLOAT, 16, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE] = {TYPE_FLOAT, 64, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__UINT32] = {TYPE_UINT, 32, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__UINT64] = {TYPE_UINT, 64, 1},
      [ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16] = {TYPE_BFLOAT, 16, 1},
  };
  const int32_t n = sizeof types / sizeof *types;
  if (number <= 0 || number >= n || types[number].code == TYPE_VOID) return false;
  *out = types[number];
  return true;
}

/* Two numbers a byte, the first one lowest; here each has a byte. */
enum { TYPE_UINT4 = 21, TYPE_INT4 = 22 };

static bool half_byte(int32_t number, DType *out) {
  if (number != TYPE_UINT4 && number != TYPE_INT4) return false;
  *out = (DType){number == TYPE_INT4 ? TYPE_INT : TYPE_UINT, 8, 1};
  return true;
}

static const char *type_name(int32_t number) {
  static const char *const names[] = {
      "undefined",      "float32",    "uint8",          "int8",       "uint16",   "int16",
      "int32",          "int64",      "string",         "bool",       "float16",  "float64",
      "uint32",         "uint64",     "complex64",      "complex128", "bfloat16", "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4"};
  const int32_t n = sizeof names / sizeof *names;
  return number >= 0 && number < n ? names[number] : "unknown";
}

/* --- numbers in fields ------------------------------------------------------------------------ */

/* int32_data holds all that is narrower, the bits of 16-bit floats too. */
static void *from_int32(OnnxFile *f, DType t, size_t n, const int32_t *from) {
  const size_t bytes = (size_t)tirc_dtype_bytes(t);
  uint8_t *to = tirc_alloc_array(f->c, n, bytes);
  for (size_t i = 0; i < n; i++) {
    const uint32_t v = (uint32_t)from[i];
    if (t.code == TYPE_BOOL)
      to[i] = v != 0;
    else if (bytes == 1)
      to[i] = (uint8_t)v;
    else if (bytes == 2)
      memcpy(to + 2 * i, &(uint16_t){(uint16_t)v}, 2);
    else
      memcpy(to + 4 * i, &v, 4);
  }
  return to;
}

static void *from_uint64(OnnxFile *f, DType t, size_t n, const uint64_t *from) {
  if (t.bits == 64) return (void *)(uintptr_t)from;
  uint32_t *to = tirc_new_array(f->c, uint32_t, n);
  for (size_t i = 0; i < n; i++) to[i] = (uint32_t)from[i];
  return to;
}

/* The elements and how many there are, from the field for this type. */
static const void *from_field(OnnxFile *f, const Onnx__TensorProto *p, DType t, size_t *n) {
  if (t.code == TYPE_FLOAT && t.bits == 32) return *n = p->n_float_data, p->float_data;
  if (t.code == TYPE_FLOAT && t.bits == 64) return *n = p->n_double_data, p->double_data;
  if (t.code == TYPE_INT && t.bits == 64) return *n = p->n_int64_data, p->int64_data;
  if (t.code == TYPE_UINT && t.bits >= 32)
    return *n = p->n_uint64_data, from_uint64(f, t, *n, p->uint64_data);
  return *n = p->n_int32_data, from_int32(f, t, *n, p->int32_data);
}

/* --- bytes ------------------------------------------------------------------------------------ */

static int64_t number_of(OnnxFile *f, const char *what, const char *key, const char *value) {
  char *end;
  const bool digits = value[0] >= '0' && value[0] <= '9';
  const long long v = digits ? strtoll(value, &end, 10) : -1;
  if (v < 0 || *end || v == LLONG_MAX)
    ONNX_FAIL(f, CODE_ONNX, NULL, "%s: its external data has the %s '%s', which is not a number",
              what, key, value);
  return v;
}

/* A file beside the model: no way out of its folder. */
static bool is_inside(const char *location) {
  if (!*location || *location == '/') return false;
  for (const char *at = location; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
    if (!strncmp(at, "..", 2) && (at[2] == '/' || !at[2])) return false;
  return true;
}

static void note_external(OnnxFile *f, const char *path) {
  for (int i = 0; i < f->external.n; i++)
    if (!strcmp(f->external.at[i], path)) return;
  vec_push(f->c, f->external, path);
}

static const uint8_t *external(OnnxFile *f, const Onnx__TensorProto *p, const char *what,
                               int64_t bytes) {
  const char *location = "";
  int64_t offset = 0, length = bytes;
  for (size_t i = 0; i < p->n_external_data; i++) {
    const char *key = p->external_data[i]->key, *value = p->external_data[i]->value;
    if (!key || !value) continue;
    if (!strcmp(key, "location")) location = value;
    if (!strcmp(key, "offset")) offset = number_of(f, what, key, value);
    if (!strcmp(key, "length")) length = number_of(f, what, key, value);
  }
  if (!is_inside(location))
    ONNX_FAIL(f, CODE_ONNX, "external data lies in files beside the model",
              "%s: its data is to be in the file '%s'", what, location);
  const char *slash = strrchr(f->path, '/');
  const char *path =
      slash ? tirc_format(f->c, "%.*s/%s", (int)(slash - f->path), f->path, location) : location;
  size_t size;
  const uint8_t *data = tirc_onnx_map(f, path, what, &size);
  note_external(f, path);
  if (length != bytes)
    ONNX_FAIL(f, CODE_ONNX, NULL, "%s takes %lld bytes, and %lld are given in '%s'", what,
              (long long)bytes, (long long)length, path);
  if ((uint64_t)offset > size || (uint64_t)bytes > size - (uint64_t)offset)
    ONNX_FAIL(f, CODE_ONNX, "is the file cut off?",
              "%s: '%s' has %zu bytes, and bytes %lld to %lld are asked of it", what, path, size,
              (long long)offset, (long long)offset + (long long)bytes);
  return data + offset;
}

/* Elements stand where their type may stand. */
static const void *aligned(OnnxFile *f, const void *data, size_t bytes, int each) {
  if ((uintptr_t)data % (uintptr_t)each == 0) return data;
  void *to = tirc_alloc(f->c, bytes);
  return memcpy(to, data, bytes);
}

static const void *elements(OnnxFile *f, const Onnx__TensorProto *p, const char *what,
                            const OnnxTensor *t) {
  const int each = tirc_dtype_bytes(t->dtype);
  int64_t bytes;
  size_t n;
  if (__builtin_mul_overflow(t->count, (int64_t)each, &bytes) || bytes > (int64_t)(SIZE_MAX / 2))
    ONNX_FAIL(f, CODE_ONNX, NULL, "%s is too large: its size does not fit into 64 bits", what);
  if (p->has_data_location && p->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
    return bytes ? aligned(f, external(f, p, what, bytes), (size_t)bytes, each) : "";
  if (p->has_raw_data || t->count == 0) {
    if (p->has_raw_data && p->raw_data.len != (size_t)bytes)
      ONNX_FAIL(f, CODE_ONNX, NULL, "%s takes %lld bytes, and %zu are there", what,
                (long long)bytes, p->raw_data.len);
    return bytes ? aligned(f, p->raw_data.data, (size_t)bytes, each) : "";
  }
  const void *data = from_field(f, p, t->dtype, &n);
  if (n != (size_t)t->count)
    ONNX_FAIL(f, CODE_ONNX, NULL, "%s takes %lld elements, and %zu are there", what,
              (long long)t->count, n);
  return data;
}

/* The bytes of `packed`, as one number a byte. */
static const void *apart(OnnxFile *f, const OnnxTensor *t, const uint8_t *packed) {
  uint8_t *to = tirc_alloc(f->c, (size_t)t->count + 1);
  for (int64_t i = 0; i < t->count; i++) {
    const uint8_t v = i % 2 ? packed[i / 2] >> 4 : packed[i / 2] & 15;
    to[i] = t->dtype.code == TYPE_INT && v > 7 ? (uint8_t)(v - 16) : v;
  }
  return to;
}

/* Of numbers of 4 bits: as bytes of half as many, which are then taken apart. */
static const void *half_bytes(OnnxFile *f, const Onnx__TensorProto *p, const char *what,
                              const OnnxTensor *t) {
  OnnxTensor packed = *t;
  packed.dtype = (DType){TYPE_UINT, 8, 1};
  packed.count = t->count / 2 + t->count % 2;
  return apart(f, t, elements(f, p, what, &packed));
}

OnnxTensor tirc_onnx_tensor(OnnxFile *f, const Onnx__TensorProto *p, const char *what) {
  OnnxTensor t = {.name = p->name ? p->name : "", .ndim = (int)p->n_dims, .count = 1};
  if (*t.name) what = tirc_format(f->c, "the tensor '%s'", t.name);
  t.bits = half_byte(p->data_type, &t.dtype) ? 4 : 0;
  if (!t.bits && !tirc_onnx_dtype(p->data_type, &t.dtype))
    ONNX_FAIL(f, CODE_ONNX,
              "types are bool, int4, uint4, int8 to uint64, float16, bfloat16, float32 and float64",
              "%s holds %s elements", what, type_name(p->data_type));
  if (p->n_dims > MOST_DIMS)
    ONNX_FAIL(f, CODE_ONNX, NULL, "%s has %zu dimensions: at most %d", what, p->n_dims, MOST_DIMS);
  t.dims = p->dims;
  for (int d = 0; d < t.ndim; d++) {
    if (t.dims[d] < 0)
      ONNX_FAIL(f, CODE_ONNX, NULL, "%s has the negative extent %lld", what, (long long)t.dims[d]);
    if (__builtin_mul_overflow(t.count, t.dims[d], &t.count))
      ONNX_FAIL(f, CODE_ONNX, NULL, "%s is too large: its size does not fit into 64 bits", what);
  }
  if (p->segment)
    ONNX_FAIL(f, CODE_ONNX, NULL, "%s is stored in segments, which is not read", what);
  t.data = t.bits ? half_bytes(f, p, what, &t) : elements(f, p, what, &t);
  return t;
}
