/* What the statements of a kernel touch, and whether two threads of a block may touch one element.
 *
 * A kernel is walked with a chain of places: loops, conditions and lets around a statement. The
 * question is asked of integer sets (ir/arith/set.h), exactly; what they cannot be told (an index
 * that is loaded) may be anything. */
#ifndef TIRC_LOWER_TOUCH_H
#define TIRC_LOWER_TOUCH_H

#include "internal.h"

/* One of a loop, a condition, a let. */
typedef struct Place {
  const struct Place *up; /* NULL: directly in the kernel */
  const For *loop;
  Expr cond;
  bool is_not; /* the condition does not hold */
  Expr var, value;
} Place;

typedef struct Fixed { /* a loop stands at one step */
  const struct Fixed *next;
  Expr var, value;
} Fixed;

typedef struct Touch {
  Buffer buffer;
  bool write;
  Expr index; /* flat; a scalar or a vector. NULL: any element */
  const Place *at;
  const Fixed *fixed;
  Stmt stmt;
} Touch;
typedef VEC(Touch) Touches;

typedef struct Threads {
  int n;
  const For *at[6]; /* the loops over threadIdx of the kernel */
} Threads;

typedef struct Question Question;
Question *tirc_question(Tirc *c, Analyzer *a, const Threads *threads);

/* Appends what an evaluation of e, or the statement itself (a store or an evaluation), touches of
 * memory that threads share. */
void tirc_touches_of_expr(Tirc *c, Expr e, const Place *at, Stmt stmt, Touches *out);
void tirc_touches_of(Tirc *c, Stmt s, const Place *at, Touches *out);
bool tirc_threads_share(Buffer b);

/* Whether different threads of one block may touch one element by x and y, one of which stores.
 * Both stand below `top`, whose loops are at the same step for both; below it each is at any step.
 * If `carried` (the loop directly below top) is given, x is at an earlier step of it than y, at the
 * one before it if `next` holds. */
bool tirc_may_meet(Question *q, const Touch *x, const Touch *y, const Place *top,
                   const For *carried, bool next);

#endif
