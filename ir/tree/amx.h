/* Products of tiles that x86's AMX does in one instruction for each 64 bytes of a row of A:
 *
 *   with T.attr(C.data, "amx", T.call_intrin("int32", "tdpbusd", m, n, k, T.address_of(C[0, 0]), c,
 *               T.address_of(A[0, 0]), a, T.address_of(B[0, 0, 0]), b)):
 *     for i, j, l in T.grid(m, n, k):
 *       C[i, j] = C[i, j] + Cast("int32", A[i, l]) * Cast("int32", B[l // 4, j, l % 4])
 *
 * m rows and n columns of C, at most 32 each: up to two by two tiles of 16, which share what they
 * read. k elements of a row of A; c, a and b are elements from one row in memory to the next. Of B
 * the four rows, or two of bfloat16, that a sum takes at a time lie beside each other in a column.
 * The loops are what it means, and what runs where the instruction is not made. That they are the
 * same is the author's word. */
#ifndef TIRC_IR_TREE_AMX_H
#define TIRC_IR_TREE_AMX_H

#include "ir.h"

enum { AMX_ROWS = 16, AMX_ROW_BYTES = 64, AMX_SIDE = 2 };

typedef struct AmxPlace {
  Expr first, stride; /* an OP_LOAD; elements from one row to the next */
  int bytes;          /* of an element */
} AmxPlace;
typedef struct Amx {
  const char *name;    /* "tdpbusd" */
  const char *feature; /* of a processor that has it */
  int terms;           /* products that a sum takes at a time */
  int m, n, k;
  AmxPlace c, a, b;
} Amx;

/* Tiles for n rows of C or of 4 bytes of its columns, and the rows of the one at a place. */
static inline int tirc_amx_tiles(int n) { return (n + AMX_ROWS - 1) / AMX_ROWS; }
static inline int tirc_amx_rows(int n, int at) {
  return n - at * AMX_ROWS < AMX_ROWS ? n - at * AMX_ROWS : AMX_ROWS;
}

bool tirc_is_amx(Stmt s);
/* Of a statement that is one; throws "intrinsic" where the call is not as above. */
Amx tirc_amx_of(Tirc *c, Stmt s);

#endif
