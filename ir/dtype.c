/* Names, sizes and limits of element types, from one table. */
#include "dtype.h"

#include <float.h>
#include <stdlib.h>

static const struct {
  const char *name;
  TypeCode code;
  int bits;
} types[] = {
    {"bool", TYPE_BOOL, 1},        {"int8", TYPE_INT, 8},
    {"int16", TYPE_INT, 16},       {"int32", TYPE_INT, 32},
    {"int64", TYPE_INT, 64},       {"uint8", TYPE_UINT, 8},
    {"uint16", TYPE_UINT, 16},     {"uint32", TYPE_UINT, 32},
    {"uint64", TYPE_UINT, 64},     {"float16", TYPE_FLOAT, 16},
    {"bfloat16", TYPE_BFLOAT, 16}, {"float32", TYPE_FLOAT, 32},
    {"float64", TYPE_FLOAT, 64},   {"handle", TYPE_HANDLE, 64},
    {"void", TYPE_VOID, 0},        {"int", TYPE_INT, 32},
    {"uint", TYPE_UINT, 32},       {"float", TYPE_FLOAT, 32}, /* others' names of them */
};
enum { N_TYPES = sizeof types / sizeof *types };

double tirc_largest_float(DType t) {
  if (t.code == TYPE_BFLOAT) return 0x1.fep127;
  return t.bits == 16 ? 65504 : t.bits == 32 ? (double)FLT_MAX : DBL_MAX;
}

int tirc_dtype_bytes(DType t) { return (t.bits + 7) / 8; }

const char *tirc_dtype_name(Tirc *c, DType t) {
  for (int i = 0; i < N_TYPES; i++)
    if (types[i].code == t.code && types[i].bits == t.bits)
      return t.lanes == 1 ? types[i].name : tirc_format(c, "%sx%d", types[i].name, t.lanes);
  return "void";
}

bool tirc_dtype_parse(const char *name, DType *out) {
  for (int i = 0; i < N_TYPES; i++) {
    size_t n = strlen(types[i].name);
    if (strncmp(name, types[i].name, n) != 0) continue;
    long lanes = 1;
    if (name[n] == 'x') {
      char *end;
      if (name[n + 1] < '1' || name[n + 1] > '9') continue;
      lanes = strtol(name + n + 1, &end, 10);
      if (*end || lanes < 1 || lanes > UINT16_MAX) continue;
    } else if (name[n]) {
      continue;
    }
    *out = (DType){(uint8_t)types[i].code, (uint8_t)types[i].bits, (uint16_t)lanes};
    return true;
  }
  return false;
}
