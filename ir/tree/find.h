/* What is asked of trees. */
#ifndef TIRC_IR_FIND_H
#define TIRC_IR_FIND_H

#include "visit.h"

/* Of T.comm_reducer(lambda x, y: x + y, [T.float32(0)]): how many values it makes of two of each.
 * Its operands are so many names of the left ones and of the right ones, which stand for nothing
 * outside of it, what becomes of them, and what changes nothing. 0: it is no such call, or only its
 * text. */
static inline int tirc_reducer_size(Expr e) {
  const bool is = tirc_calls(e, CALL_COMM_REDUCER) && e->n >= 4 && e->n % 4 == 0;
  return is && e->args[0]->op == OP_VAR ? e->n / 4 : 0;
}

/* Whether a value is loaded, or made by a call that may. */
bool tirc_reads_memory(Expr e);

/* The load of which it takes the address; NULL: it is no such call. */
Expr tirc_addressed(Expr e);

/* A test: a call of which it is not known that it does nothing but give a value, each time the
 * same. */
bool tirc_is_opaque_call(const void *unused, Expr e);

/* Whether it loads or calls anything, so that it must not be moved. */
bool tirc_loads_or_calls(Expr e);

/* Whether a variable stands in one of n expressions. */
bool tirc_any_uses(int n, const Expr *at, Expr var);

/* The first expression of an expression or statement that a test picks; NULL: none. */
typedef bool ExprTest(const void *self, Expr e);
bool tirc_is_load_of(const void *buffer, Expr e); /* a test */
Expr tirc_find_expr(Expr in, ExprTest *is, const void *self);
Expr tirc_find_expr_in(Stmt in, ExprTest *is, const void *self);
/* The first statement that a test picks; NULL: none. `only` as of a visitor. */
typedef bool StmtTest(const void *self, Stmt s);
Stmt tirc_find_stmt(Stmt in, StmtTest *is, const void *self, const Paths *only);
bool tirc_is_block_stmt(const void *unused, Stmt s); /* a test */
/* Whether a function of the module stores anything: what has no turns at all does not. */
bool tirc_has_stores(const Module *m);
bool tirc_same_exprs(int n, const Expr *a, const Expr *b);

/* How a statement uses a buffer; `besides`, which is in it, does not count. Views do not name it.
 */
typedef enum BufferUse {
  USE_LOAD = 1,
  USE_STORE = 2,
  USE_POINTER = 4, /* its data, handed out */
  USE_VIEW = 8,
  USE_SHAPE = 16,      /* loaded for an extent of a buffer */
  USE_OTHER = 32,      /* another buffer of the same memory is loaded or stored to ... */
  USE_OTHER_VIEW = 64, /* ... or viewed ... */
  USE_OTHER_MADE = 128 /* ... or one is made there */
} BufferUse;
unsigned tirc_uses_of(Stmt s, Buffer b, Stmt besides, const Paths *only);
/* Whether a variable of these stands in a statement. */
bool tirc_stmt_uses_any(Stmt s, const PtrMap *vars);
/* Whether a statement is, or has in it, that very one. */
bool tirc_holds(Stmt s, Stmt what, const Paths *only);
/* Whether it is T.Select(T.isnan(x), x, y): y, but that a NaN in x is kept. */
bool tirc_keeps_nan(Expr e);
/* Whether it is a quotient or a remainder of whole numbers. */
bool tirc_divides(Expr e);

/* The bit 1 << IterKind of each iterator of a block that a loop moves, and whether it moves one of
 * that kind. */
unsigned tirc_kinds_moved(const Block *b, Expr loop_var);
static inline bool tirc_moves(const Block *b, Expr loop_var, IterKind kind) {
  return tirc_kinds_moved(b, loop_var) & 1u << kind;
}
/* The same bits of all of n iterators. */
unsigned tirc_iter_kinds(int n, const IterVar *iters);
/* Which iterator of the block it is; -1: none. */
int tirc_iter_index(const Block *b, Expr var);
/* Whether an extent of a buffer that the statement itself makes is loaded from b. */
bool tirc_shapes_load(Stmt s, Buffer b);

#endif
