/* Element types. A DType names a scalar or a vector of `lanes` scalars. */
#ifndef TIRC_IR_DTYPE_H
#define TIRC_IR_DTYPE_H

#include "context.h"

typedef enum TypeCode {
  TYPE_VOID,
  TYPE_BOOL, /* bits = 1 in names, one byte in memory */
  TYPE_INT,
  TYPE_UINT,
  TYPE_FLOAT,
  TYPE_BFLOAT,
  TYPE_HANDLE /* a pointer; also the type of a parameter that a buffer is matched to */
} TypeCode;

typedef struct DType {
  uint8_t code, bits;
  uint16_t lanes;
} DType;

#define DT(code_, bits_) ((DType){(code_), (bits_), 1})
#define DT_VOID DT(TYPE_VOID, 0)
#define DT_BOOL DT(TYPE_BOOL, 1)
#define DT_INT32 DT(TYPE_INT, 32)
#define DT_INT64 DT(TYPE_INT, 64)
#define DT_UINT64 DT(TYPE_UINT, 64)
#define DT_FLOAT32 DT(TYPE_FLOAT, 32)
#define DT_FLOAT64 DT(TYPE_FLOAT, 64)
#define DT_HANDLE DT(TYPE_HANDLE, 64)

static inline bool tirc_dtype_equal(DType a, DType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
static inline DType tirc_dtype_lanes(DType t, int lanes) {
  t.lanes = (uint16_t)lanes;
  return t;
}
static inline bool tirc_dtype_is_int(DType t) { return t.code == TYPE_INT || t.code == TYPE_UINT; }
static inline bool tirc_dtype_is_float(DType t) {
  return t.code == TYPE_FLOAT || t.code == TYPE_BFLOAT;
}
/* Bytes of one scalar in memory: bool 1, handle 8, void 0. */
int tirc_dtype_bytes(DType t);
/* "float32", "int32x4", "bool", "handle", "void"; parse returns false when it is no type. Types
 * accepted: bool, int8..int64, uint8..uint64, float16, bfloat16, float32, float64, handle, void. */
const char *tirc_dtype_name(Tirc *c, DType t);
bool tirc_dtype_parse(const char *name, DType *out);
/* The least and greatest value of an integer type (uint64's greatest is clipped to INT64_MAX;
 * tirc_limit has it whole). */
static inline int64_t tirc_dtype_min(DType t) {
  if (t.code != TYPE_INT) return 0;
  return t.bits >= 64 ? INT64_MIN : -(INT64_C(1) << (t.bits - 1));
}
static inline int64_t tirc_dtype_max(DType t) {
  if (t.code == TYPE_BOOL) return 1;
  int bits = t.code == TYPE_INT ? t.bits - 1 : t.bits;
  return bits >= 63 ? INT64_MAX : (INT64_C(1) << bits) - 1;
}
double tirc_largest_float(DType t); /* finite */
/* Floats of 16 bits, as they lie in memory. */
double tirc_half_to_double(uint16_t h);
uint16_t tirc_double_to_half(double v); /* round to nearest even */
double tirc_bfloat_to_double(uint16_t h);
uint16_t tirc_double_to_bfloat(double v);
uint16_t tirc_double_to_16_bits(DType t, double v);

#endif
