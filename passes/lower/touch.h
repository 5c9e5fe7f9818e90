/* What the statements of a kernel touch, and whether two threads of a block may touch one element.
 *
 * A kernel is walked with a chain of places (passes/meaning/touches.h). The question is asked of
 * integer sets, exactly; what they cannot be told (an index that is loaded) may be anything. */
#ifndef TIRC_LOWER_TOUCH_H
#define TIRC_LOWER_TOUCH_H

#include "internal.h"
#include "passes/meaning/touches.h"

typedef struct Threads {
  int n;
  const For *at[6]; /* the loops over threadIdx of the kernel */
  PtrMap moved[6];  /* data of what a thread has of its own, which differs along each */
} Threads;

typedef struct Question Question;
Question *tirc_question(Tirc *c, Analyzer *a, const Threads *threads);
/* Whether it has stopped to look, after so many questions, and answers that everything may meet. */
enum { MAX_QUESTIONS = 20000 };
bool tirc_question_is_tired(const Question *q);

/* Appends what a statement (or e, which is evaluated in it) touches of memory that threads share.
 * What is touched by an address is any element: it has no indices. */
void tirc_touches_of(Tirc *c, Stmt s, Place *at, Touches *out);
void tirc_touches_of_expr(Tirc *c, Expr e, Place *at, Stmt s, Touches *out);

/* Whether different threads of one block may touch one element by x and y, one of which stores.
 * Both stand below `top`, whose loops are at the same step for both; below it each is at any step.
 * If `carried` (the variable of the loop directly below top) is given, x is at an earlier step of
 * it than y, at the one before it if `next` holds. */
bool tirc_may_meet(Question *q, const Touch *x, const Touch *y, const Place *top, Expr carried,
                   bool next);
/* Whether two threads of one block surely touch one element by t, and differ in one of the numbers
 * of `besides`. */
bool tirc_surely_meet(Question *q, const Touch *t, const Touch *besides, const Place *top);

/* one_store.c: finds what moves along the axes, in the kernel's body. */
void tirc_find_moved(Tirc *c, Threads *threads, Stmt body);
/* The condition that holds for one of the threads that store the same number to the
 * same elements; NULL: for all of them. */
Expr tirc_one_thread_stores(Tirc *c, const Threads *threads, const Place *at, Stmt store);
/* Whether two threads surely store to one element at the same time, made of other numbers, where
 * what is around lets all threads through. A condition on what memory holds may let one through
 * (the index of a maximum): that is the author's affair. */
bool tirc_threads_store_others(Question *q, Tirc *c, const Threads *threads, const Touch *store,
                               const Place *top);

#endif
