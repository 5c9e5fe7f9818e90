#include "fast_math.h"

#include "ir/gpu.h"
#include "ir/tree/annotations.h"

#include <stdlib.h>

static const FastMath rows[] = {
#define FAST(...) {__VA_ARGS__},
#include "fast_math.def"
#undef FAST
};

/* Code that names no target is for the least one that is usual, which has all. */
static bool has(const Func *kernel, const FastMath *row) {
  const Gpu *gpu = tirc_gpu_of(kernel);
  return !gpu || strncmp(gpu->arch, "sm_", 3) != 0 || atoi(gpu->arch + 3) >= row->least;
}

const FastMath *tirc_fast_math(const Func *kernel, Op op, DType t) {
  const Expr asked = tirc_attrs_get(kernel->attrs, tirc_key(KEY_FAST_MATH));
  if (!asked || !tirc_is_true(asked) || t.bits != 32 || t.code != TYPE_FLOAT) return NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].op == op) return has(kernel, &rows[i]) ? &rows[i] : NULL;
  return NULL;
}
