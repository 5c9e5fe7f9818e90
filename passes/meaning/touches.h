/* What a nest touches: who touches which elements of which buffers, when, and where in the program
 * that is written. The one walk over loops, blocks, inits, predicates, ifs, lets, views and loads.
 *
 *   for i in range(n):                      touches of A and B, at
 *     with T.block("B"):                      bind vi = i  <-  where i < 4  <-  loop i in [0, n)
 *       vi = T.axis.spatial(n, i)             with the indices [vi + 1] and [vi]
 *       T.where(i < 4)
 *       B[vi] = A[vi + 1]
 *
 * A place is a chain of what is around, from the inside out. Touches are made relations here
 * (relations.h); who asks about them in a schedule, or in lowering, knows where the chain begins.
 */
#ifndef TIRC_MEANING_TOUCHES_H
#define TIRC_MEANING_TOUCHES_H

#include "ir/arith/arith.h"
#include "ir/tree/visit.h"

typedef struct Relations Relations; /* relations.h */

typedef enum PlaceKind {
  PLACE_LOOP,   /* var runs from a, b times */
  PLACE_WHEN,   /* what follows runs where a holds, or where it does not (negated) */
  PLACE_BIND,   /* var stands for a */
  PLACE_REPEAT, /* a while loop: what follows runs as often as nobody knows */
} PlaceKind;

/* What is around a part of the program, from the inside out. */
typedef struct Place {
  struct Place *up; /* NULL: nothing */
  PlaceKind kind;
  Expr var, a, b;
  bool negated;
  bool outside; /* of the nest: it stands still, a loop's variable is a parameter */
  int n_loops;  /* of the nest, from its outermost loop to here */
  int time;     /* of a loop: which statement it is in what is around */
  const struct Analyzer *ranged; /* relation.c: which has the range of var */
  /* relation.c: where it is reached, as tuples of n_loops numbers, and what var stands for, as a
   * question to these sets has found out; the next one begins anew. */
  const struct Sets *sets;
  int64_t question;
  bool is_known, is_exact; /* not exact: it is reached there at most */
  struct isl_set *reached;
  struct isl_pw_aff *value;
} Place;

typedef struct Touch {
  Buffer buffer;
  bool write;
  bool init; /* of the block of the nest's scope, or of one that is written by hand */
  int n;     /* indices, one a dimension; in vectors each lane is an element of its own */
  const Expr *indices;
  const Expr *extents; /* NULL: one element; otherwise all of a box may be touched ... */
  bool surely;         /* ... or is */
  Place *at;
  int time;         /* which statement it is in the loop around it */
  Stmt block;       /* the child block of the nest's scope; NULL: a statement outside of blocks */
  Stmt inner, stmt; /* the innermost block, or NULL, and the statement */
  Expr load;        /* NULL: a store */
  bool address;     /* only its address is taken */
  Expr update;      /* an atomic one, of which nobody uses what it gives; or NULL */
  bool untold;      /* a call stores to parts of a box, the same for all instances, that it knows */
} Touch;

typedef VEC(Touch) Touches;

/* A view whose address goes into a call: which elements that uses is not known. */
typedef struct Opaque {
  Region shown;
  bool read, written;
} Opaque;

typedef VEC(Opaque) Opaques;

typedef struct Plain {
  PtrMap blocks; /* from a block to one, which accesses what views show in the place of the views */
  PtrMap opaque; /* that Stmt, or one of a block in it -> Opaques, or NULL */
} Plain;

typedef enum WhichInstances {
  INSTANCES_BOUND,  /* as the loops around bind their iterators */
  INSTANCES_ANY,    /* of all values of their domains, in any iteration of the loops around */
  INSTANCE_ANY,     /* one of these: it stands still */
  INSTANCE_STARTED, /* one that runs the init of the block: its sums begin */
} WhichInstances;

typedef struct Extract Extract;
struct Extract {
  Tirc *c;
  const Plain *plain;                  /* of the child blocks: without views; NULL: of none */
  bool (*wants)(void *self, Buffer b); /* touches of these; NULL: of all */
  void *self;
  WhichInstances instances; /* of the blocks of the nest's scope */
  bool trusts_calls;        /* to store to all that the block around declares to write */
  /* As lowering asks: prefetches touch nothing, by an address any element is read and stored to
   * (there are no indices), and a loop of one iteration is a loop. */
  bool lowered;
  /* Adds what a block does by its views, before its body and behind it; NULL: nothing. */
  void (*views)(Extract *x, Place *at, const Block *b, bool behind);
  Touches touches;
  PtrMap own; /* buffers that are allocated in the nest */
};

/* All in a statement at a place. `block`, `inner`: as of a touch; NULL: blocks in the statement are
 * child blocks, which `plain` has. `surrounds`: the statement that it is a part of. */
void tirc_extract(Extract *x, Place *at, Stmt block, Stmt inner, Stmt surrounds, Stmt s);
static inline Place tirc_loop_place(Expr var, Range over) {
  return (Place){.kind = PLACE_LOOP, .var = var, .a = over.min, .b = over.extent};
}
static inline Place tirc_bind_place(Expr var, Expr value) {
  return (Place){.kind = PLACE_BIND, .var = var, .a = value};
}
static inline Place tirc_when_place(Expr condition, bool negated) {
  return (Place){.kind = PLACE_WHEN, .a = condition, .negated = negated};
}

/* Further inside; NULL: nothing is around it. */
Place *tirc_place_further(Tirc *c, Place *up, Place p);
Place *tirc_place_loop(Tirc *c, Place *up, const For *loop);
/* Where a condition holds, or does not. */
Place *tirc_place_when(Tirc *c, Place *up, Expr condition, bool negated);
/* Where a value is in a range. */
Place *tirc_place_within(Tirc *c, Place *up, Expr value, Range dom);
/* The same place without those loops of the nest that surely run and that nothing needs which is
 * in `used` (variables), nor what is around: they make the tuples longer. `loosely`: without
 * conditions on other loops, too; it is reached there at most. */
Place *tirc_place_of_used(Tirc *c, Place *at, PtrMap *used, bool loosely);
Touch tirc_touch_of_used(Tirc *c, Touch t, PtrMap *used, bool loosely); /* and what it needs */
void tirc_add_used(Tirc *c, Expr e, PtrMap *used);                      /* NULL: nothing */
/* The loops of the nest around a place: n_loops of them, outermost first, in the arena. */
Place **tirc_place_loops(Tirc *c, Place *at);
/* Of all of a region; at no place yet. */
Touch tirc_region_touch(Tirc *c, const Region *box);
/* Of the same elements, in places that are reached alike. */
bool tirc_same_touch(const Touch *a, const Touch *b);
/* Two atomic updates by one operation, which may come in any order, and at the same time. */
bool tirc_updates_commute(const Touch *a, const Touch *b);
/* Whether buffers of other names are one memory, a write among its touches: two such touches. Which
 * elements they share is not asked. */
bool tirc_share_memory(Tirc *c, const Touches *of, const Touch **first, const Touch **second);
/* "A[vi + 1] (line 7)" */
const char *tirc_touch_text(Tirc *c, const Touch *t);
/* Adds a block as it is run by checks: without views. */
void tirc_add_plain_block(Tirc *c, Stmt block, Plain *to);

/* --- in numbers ------------------------------------------------------------------------------- */

/* "i = 0, j = 700 stores B[700, 700], which i = 700, j = 0 reads" */
const char *tirc_witness_text(Tirc *c, int n, const Expr *names, Buffer b, const int64_t *first,
                              bool first_stores, const int64_t *second, bool second_stores,
                              const int64_t *element);
/* "B[700, 0]" */
const char *tirc_element_text(Tirc *c, Buffer b, int n, const int64_t *element);

#endif
