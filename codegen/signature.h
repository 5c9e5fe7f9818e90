/* What a prim_func takes in machine code and in C, and what may be assumed of its pointers. */
#ifndef TIRC_CODEGEN_SIGNATURE_H
#define TIRC_CODEGEN_SIGNATURE_H

#include "ir/tree/ir.h"

typedef struct Param {
  Expr var;        /* one of the program's, or a symbolic extent */
  Buffer buffer;   /* or NULL */
  bool is_apart;   /* its memory is no other parameter's */
  bool is_written; /* through it, or through what shares its data */
} Param;
typedef struct Signature {
  int n;
  Param *params;
  bool restrict_data; /* different data variables never alias */
} Signature;
/* Parameters in their order, then the symbolic extents that no scalar parameter gives. */
Signature tirc_signature(Tirc *c, const Func *f);

#endif
