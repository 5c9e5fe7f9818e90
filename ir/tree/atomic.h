/* Atomic updates: the threads of a GPU, or of a processor, that change one element do it one after
 * the other, in any order.
 *
 *   T.atomic_add(T.address_of(H[k]), 1)       H[k] = H[k] + 1, and no update is lost
 *
 * Elements are int32, int64, uint32 or uint64 of scope global or shared. Sums of float32 and
 * float64 are there where the program says `unordered=True`: they depend on the order of threads.
 */
#ifndef TIRC_IR_ATOMIC_H
#define TIRC_IR_ATOMIC_H

#include "ir.h"

typedef struct Atomic {
  Expr place; /* the load that names the element */
  Expr value;
  Expr compare;     /* of T.atomic_cas; else NULL */
  Op op;            /* OP_NONE: T.atomic_cas */
  const char *name; /* "atomic_add" */
} Atomic;

/* False: it is another expression. */
bool tirc_atomic(Expr e, Atomic *out);
bool tirc_is_atomic(Expr e);
static inline bool tirc_is_atomic_stmt(Stmt s) {
  return s->kind == STMT_EVAL && tirc_is_atomic(s->u.eval.value);
}
/* Whether updates by both leave the same in whatever order: they are of one operation. */
bool tirc_atomics_commute(Expr a, Expr b);

/* NULL: elements of this type have such updates; else why not. `unordered`: it is allowed that the
 * result depends on the order. */
const char *tirc_atomic_refused(Tirc *c, Callee callee, DType t, bool unordered);
/* By the name behind "T." or "tir."; CALL_COUNT: none. */
Callee tirc_find_atomic(const char *name);
/* That of an operation, but OP_NONE; CALL_COUNT: none. And the operation of one. */
Callee tirc_atomic_of(Op op);
Op tirc_atomic_op(Callee callee);
/* value: of the element's type; compare: NULL but for T.atomic_cas. */
Expr tirc_atomic_update(Tirc *c, Callee callee, Expr place, Expr compare, Expr value,
                        bool unordered);

/* What it is where nothing else runs: H[k] = H[k] + 1. */
Stmt tirc_atomic_as_store(Tirc *c, Stmt eval);
/* What the element becomes, if it is `now`. */
Expr tirc_atomic_result(Tirc *c, const Atomic *a, Expr now);
/* Whether all that a block stores it stores by atomic updates, of which nobody uses what they give.
 */
bool tirc_updates_atomically(const Block *b);

#endif
