/* What a warp does on tensor cores, as a line of PTX for code generators that have those. Sources:
 * NVIDIA's PTX ISA, "wmma.load", "wmma.mma", "wmma.store", "ldmatrix", "mma". Of mma.sync only the
 * operands are fragments; sums are plain arrays of the thread's own, eight elements a tile. */
#ifndef TIRC_CODEGEN_WMMA_H
#define TIRC_CODEGEN_WMMA_H

#include "ir/tree/ir.h"

/* A buffer of fragments: each thread has some registers of each. */
typedef struct WmmaFragments {
  Buffer buffer;
  enum { WMMA_SUM, WMMA_A, WMMA_B } role; /* in products */
  bool by_columns;                        /* how an operand is loaded */
  int registers;       /* of one fragment: a float each, a 32-bit integer, or two float16 in one */
  DType held;          /* float32, int32, or uint32: two float16 or four int8 */
  int64_t count, tile; /* how many; elements of one in the buffer */
} WmmaFragments;

/* Those of a kernel that T.attr(.., "tensor_core", ..) names: from data variable to WmmaFragments.
 */
PtrMap tirc_wmma_fragments(Tirc *c, Stmt kernel);

/* Whether a fragment's number depends on the loop's variable. Registers have no numbers at run
 * time: such a loop has to be written out. */
bool tirc_wmma_numbers(const PtrMap *fragments, const For *loop);

/* One call. Operands of the line are numbered: first the registers of `out`, then of each of `in`,
 * then the pointer, then the stride. */
typedef struct WmmaPart {
  const WmmaFragments *of;
  Expr index; /* which fragment of the buffer */
} WmmaPart;
typedef struct WmmaCall {
  const char *ptx; /* NULL: all registers of `out` become `value` */
  Expr value;
  WmmaPart out, in[3]; /* of NULL: none */
  int n_in;
  Expr place, stride; /* the first element in memory, an OP_LOAD; NULL: none, or no stride */
} WmmaCall;
/* What a call is: one of them or two, of two halves. `mark` stands before an operand's number: '%'
 * or
 * '$'. */
enum { WMMA_MOST_CALLS = 2 };
int tirc_wmma_calls(Tirc *c, const PtrMap *fragments, Expr call, char mark, WmmaCall *out);

#endif
