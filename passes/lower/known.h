/* What memory holds while a function runs, found by going through its turns: loops of constant
 * extents, every element of small memory by itself, as a number or as an expression of what the
 * function is given. Of an if whose condition stays open both branches are gone through, and what
 * differs between them is unknown behind it; where a loop has no constant extent, nothing is known
 * of what it touches. So what is said here holds in every turn, and what is not is no claim. */
#ifndef TIRC_LOWER_KNOWN_H
#define TIRC_LOWER_KNOWN_H

#include "internal.h"

/* Of a statement, over all of its turns. */
typedef struct Turns {
  bool any, yes, no, open; /* an if: its condition was true, false, undecided */
  bool used;               /* a store: something may read what it stored in one of its turns */
  bool changes;            /* a store: it may store something else than what is there */
  bool varies;             /* a store: its values are not one constant */
  Expr constant;           /* that constant */
} Turns;

typedef struct Known {
  PtrMap turns; /* of an if or a store to its Turns; one that never runs has none */
} Known;

/* NULL: the function has too many turns, or threads whose order is not the one that is written. */
const Known *tirc_known_turns(Tirc *c, const Func *f);

static inline const Turns *tirc_turns_of(const Known *k, Stmt s) {
  return tirc_map_get(&k->turns, s);
}

/* known_memory.c: what every element holds at one point. */
typedef struct Pending { /* stores of which an element may have its value, none of them read yet */
  Turns *store;
  const struct Pending *next;
} Pending;
typedef struct Cell1 {
  Expr value; /* never NULL */
  const Pending *pending;
} Cell1;
typedef struct Store1 { /* the memory behind a data variable */
  Buffer buffer;
  int64_t n;  /* elements; 0: they are not told apart, and nothing is known of any */
  bool given; /* it is a parameter's, so that whoever called reads it in the end */
} Store1;
typedef struct Memory {
  Tirc *c;
  VEC(Store1) stores;
  PtrMap number; /* of a data variable: its place in stores, from 1 */
  int64_t work;  /* that may still be done */
} Memory;
typedef struct State1 {
  Cell1 **cells; /* by the place in stores; NULL where elements are not told apart */
} State1;

void tirc_memory_add(Memory *m, Buffer b, bool given, bool apart);
/* Elements of a memory as nothing is known of them. */
Cell1 *tirc_memory_unknown(Memory *m, const Store1 *s);
State1 tirc_memory_start(Memory *m);
State1 tirc_memory_copy(Memory *m, State1 s);
/* What holds after either: into `to`. */
void tirc_memory_join(Memory *m, State1 to, State1 other);
/* The element's number; -1: it is not known, or the memory's are not told apart. */
int64_t tirc_memory_place(const Memory *m, Buffer b, const Expr *indices, int *store);
void tirc_memory_read(State1 s, int store, int64_t n, int64_t place); /* place -1: any */
/* Nothing is known any more; what stands there may be read. */
void tirc_memory_forget(Memory *m, State1 s, int store);

#endif
