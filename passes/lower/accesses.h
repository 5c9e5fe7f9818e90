/* What a statement accesses of some buffers, in order, and what stands around each access. */
#ifndef TIRC_LOWER_ACCESSES_H
#define TIRC_LOWER_ACCESSES_H

#include "internal.h"

/* One of a loop, a condition, a let, or something that may not run at all. */
typedef struct Place {
  struct Place *up; /* NULL: directly in the statement */
  int depth;
  const For *loop;
  Expr cond, var, value; /* a condition; or a let */
  const PtrMap *dom;     /* tirc_dom_of; NULL: not asked for yet */
} Place;

typedef struct Access {
  Place *at;
  Buffer buffer;
  bool write;
  const Range *dims;
} Access;

typedef struct Accesses Accesses;
struct Accesses {
  Tirc *c;
  Analyzer *a;         /* knows the variables outside, and learns the loops */
  const PtrMap *outer; /* how variables outside vary (IntSet), or NULL: they are what they are */
  PtrMap targets;      /* from the handle variables of the buffers of interest to these */
  /* Adds what a block does by its views, before its body and behind it. */
  void (*views)(Accesses *w, const Block *b, bool behind);
  VEC(Access) at;
  PtrMap bound;  /* variables that are bound inside */
  PtrMap opaque; /* handle variables of buffers that are accessed in ways that are not followed */
  Place *place;
};

void tirc_find_accesses(Accesses *w, Stmt s);
/* If it is of interest. */
void tirc_add_access(Accesses *w, Buffer b, const Range *dims, bool write);

/* From what is bound around a place, up to `top` (exclusive), to how it varies (IntSet). */
void tirc_relax_place(const Accesses *w, const Place *at, const Place *top, PtrMap *dom);
/* The same up to the statement, found once. */
const PtrMap *tirc_dom_of(const Accesses *w, Place *at);

#endif
