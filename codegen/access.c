/* Accesses and allocations, as all code generators see them. */
#include "access.h"
#include "ir/arith/arith.h"

enum { STACK_ONE = 64 << 10, STACK_ALL = 512 << 10 };

Expr tirc_linear_index(Tirc *c, Buffer b, int n, Expr const *indices) {
  Expr sum = NULL;
  for (int i = 0; i < n; i++) {
    Expr index = indices[i];
    if (n > 1) index = tirc_cast(c, DT_INT64, index);
    if (b->strides) {
      index = tirc_mul(c, index, b->strides[i]);
      sum = sum ? tirc_add(c, sum, index) : index;
    } else {
      sum = sum ? tirc_add(c, tirc_mul(c, sum, b->shape[i]), index) : index;
    }
  }
  if (!sum) sum = tirc_int32(c, 0);
  if (!b->elem_offset || tirc_is_int(b->elem_offset, 0)) return sum;
  Expr offset = b->elem_offset;
  if (sum->dtype.lanes > 1) offset = tirc_broadcast(c, offset, sum->dtype.lanes);
  return tirc_add(c, sum, offset);
}

bool tirc_is_contiguous(Expr index) {
  return index->op == OP_RAMP && tirc_is_int(index->args[1], 1);
}

int tirc_index_divisor(Tirc *c, Expr index, int most) {
  const Modular m = tirc_modular(tirc_analyzer(c), index);
  int n = 1;
  while (2 * n <= most && m.coeff % (2 * n) == 0 && m.base % (2 * n) == 0) n *= 2;
  return n;
}

bool tirc_is_block_memory(Tirc *c, Loc loc, Stmt alloc) {
  const Buffer b = alloc->u.alloc.buffer;
  if (tirc_attrs_get(alloc->u.alloc.annotations, ALLOC_DATA))
    tirc_fail(c, loc, CODE_CODEGEN, "make it a parameter of the program",
              "a kernel cannot hold the constant %s", b->name);
  if (tirc_owner(b->storage) == OWNER_BLOCK) return true;
  if (b->storage != STORAGE_LOCAL)
    tirc_fail(c, loc, CODE_CODEGEN, NULL, "a kernel cannot allocate %s in \"%s\" memory", b->name,
              b->scope);
  return false;
}

int64_t tirc_kernel_bytes(Tirc *c, Loc loc, Buffer b) {
  const int64_t bytes = tirc_constant_bytes(b);
  if (bytes < 0)
    tirc_fail(c, loc, CODE_CODEGEN, "make its extents constants",
              "the buffer %s in %s memory has a size that is not a constant", b->name, b->scope);
  return bytes;
}

int64_t tirc_constant_bytes(Buffer b) {
  int64_t bytes = tirc_dtype_bytes(tirc_dtype_lanes(b->dtype, 1)), extent;
  for (int i = 0; i < b->ndim; i++) {
    if (!tirc_const_int(b->shape[i], &extent) || extent < 0) return -1;
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  }
  return bytes;
}

bool tirc_fits_stack(int64_t bytes, int64_t used) {
  return bytes >= 0 && bytes <= STACK_ONE && used + bytes <= STACK_ALL;
}
