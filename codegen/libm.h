/* The functions of libm.def, for all code generators. */
#ifndef TIRC_CODEGEN_LIBM_H
#define TIRC_CODEGEN_LIBM_H

#include "ir/tree/ir.h"

typedef struct LibmFunc {
  const char *name; /* without the f */
  bool on_float;    /* it was named with the f */
} LibmFunc;
bool tirc_libm_find(const char *name, int arity, LibmFunc *out);
/* Whether code may call a C function of that name, so that no function of a program may have it. */
bool tirc_is_library_name(const char *name);
/* T.call_extern(dtype, "name", ...) and T.call_pure_extern: the name ("" when there is none) and
 * the number of the first operand. */
const char *tirc_extern_name(Expr call, int *first);

#endif
