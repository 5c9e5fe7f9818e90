/* Instructions of the user's own: loops, and the C that does the same on a device.
 *
 *   with T.attr(C.data, "c_code", T.call_intrin("int32", "array.h", "array_mac({0}, {1}, {2});",
 *               T.address_of(C[0, 0]), T.address_of(A[0, 0]), n)):
 *     for i, j, k in T.grid(n, n, n): C[i, j] = C[i, j] + A[i, k] * B[k, j]
 *
 * The loops are what it means: every analysis, the interpreter and machine code take them. C source
 * has the text in their place, with the operands in it, and includes the header. That both do the
 * same is the author's word. Buffers of the scopes "array.NAME" are memory that only such text
 * reaches: C gets them from array_NAME_alloc(bytes), and gives them to array_NAME_free(p). */
#ifndef TIRC_IR_TREE_C_CODE_H
#define TIRC_IR_TREE_C_CODE_H

#include "ir.h"

typedef struct CCode {
  const char *header, *text; /* {0} in the text is the first operand */
  int n;
  const Expr *operands; /* T.address_of(...), or a number */
} CCode;

/* Whether a buffer is in such memory. */
static inline bool tirc_is_device_memory(Buffer b) { return strncmp(b->scope, "array.", 6) == 0; }

bool tirc_is_c_code(Stmt s);
/* Of a statement that is one; throws "intrinsic" where the call is not as above. */
CCode tirc_c_code_of(Tirc *c, Stmt s);

#endif
