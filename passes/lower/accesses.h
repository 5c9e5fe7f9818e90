/* What a statement accesses of some buffers, in order, and how far what is around each varies. */
#ifndef TIRC_LOWER_ACCESSES_H
#define TIRC_LOWER_ACCESSES_H

#include "internal.h"
#include "passes/meaning/touches.h"

typedef struct Accesses {
  Tirc *c;
  Analyzer *a;         /* knows the variables outside, and learns the loops */
  const PtrMap *outer; /* how variables outside vary (IntSet), or NULL: they are what they are */
  PtrMap targets;      /* from the handle variables of the buffers of interest to these */
  /* Adds what a block does by its views, before its body and behind it. */
  void (*views)(Extract *x, Place *at, const Block *b, bool behind);
  Touches at;
  PtrMap opaque; /* handle variables of buffers that are accessed in ways that are not followed */
  PtrMap doms;   /* tirc_dom_of a place, where it was asked for, */
  PtrMap sums;   /* and tirc_bounded_sums of it */
} Accesses;

void tirc_find_accesses(Accesses *w, Stmt s);
/* In `views`: of all of a region, if it is of interest. */
void tirc_add_access(Extract *x, Place *at, const Region *of, bool write);
const Range *tirc_dims_of(Tirc *c, const Touch *t);

/* One that may not be reached at all, whatever else is so. */
static inline bool tirc_may_be_skipped(const Place *p) {
  return p->kind == PLACE_REPEAT || (p->kind == PLACE_WHEN && p->negated);
}
/* From what is bound around a place, up to `top` (exclusive), to how it varies (IntSet). */
void tirc_relax_place(const Accesses *w, const Place *at, const Place *top, PtrMap *dom);
/* The same up to the statement, found once. */
const PtrMap *tirc_dom_of(Accesses *w, const Place *at);

#endif
