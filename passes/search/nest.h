/* The loops around a statement, and how its accesses move in them. */
#ifndef TIRC_SEARCH_NEST_H
#define TIRC_SEARCH_NEST_H

#include "estimate.h"

enum {
  MAX_LOOPS = 64,
  MAX_ACCESSES = 32,
  UNKNOWN = 64
}; /* UNKNOWN: an extent that only a call tells */

typedef struct Together {
  double work, waits;
} Together;

typedef struct Nest { /* the loops around a statement, outermost first */
  Tirc *c;
  int n, threads, n_caches;
  CpuCache caches[CPU_CACHES]; /* of the target */
  const For *loops[MAX_LOOPS];
  int64_t step[MAX_LOOPS]; /* of their variables in a turn */
  PtrMap bindings;         /* iterator -> its value in terms of loops */
  PtrMap turned;           /* loops whose turns are counted */
  PtrMap together;         /* from a loop to what the statements in it take: Together */
  bool is_init;            /* of a sum */
  Expr guard;              /* a condition that is none on a split loop's end, or NULL */
  bool splits_sum;         /* several loops of a sum decide whether it begins */
  PtrMap homes;            /* the handle of an allocated buffer -> its Home */
  double cycles;
  StoreFeatures *heaviest; /* STORES of them, by cycles, the first one the most; or NULL */
  double all[STORE_FEATURES];
} Nest;

/* The loops around all accesses to a buffer that the function allocates: it has room for what one
 * of their iterations uses, and each has it again. */
typedef struct Home {
  bool is_used;
  int n, most; /* most: loops around those over which a sum grows in it */
  const For *loops[MAX_LOOPS];
} Home;

typedef struct Touch { /* an access: by how many elements it moves in each loop */
  int bytes;
  Buffer buffer;
  bool written, is_known, own, again; /* own: of a buffer that stays in registers; again: another
                                         access moves through the same buffer in the same way */
  double most;                        /* bytes of the buffer */
  int64_t stride[MAX_LOOPS];
  bool turns[MAX_LOOPS]; /* comes back in the loop to where it was: a fused one */
  bool bends[MAX_LOOPS]; /* its steps in the loop are not all the same */
  bool fresh[MAX_LOOPS]; /* each iteration of the loop has the buffer for itself */
} Touch;

typedef struct Touches {
  Nest *nest;
  int n;
  Touch at[MAX_ACCESSES];
  double ops, functions;
} Touches;

double tirc_extent_of(const For *f);      /* of one that is not known, a usual one */
const For *tirc_innermost(const Nest *n); /* or NULL */

/* What machine code makes of the loops around a store: the innermost ones are written out, and the
 * one around them may run in vectors. */
typedef struct Code {
  int from;     /* the first of those that are written out */
  double lanes; /* instances of the body, or of what is written out, that run side by side */
  double work;  /* cycles of a turn of the loop around: of its instructions, */
  double waits; /* and of what waits for the turn before */
} Code;
/* How often something that moves so runs in what is written out from loop `from` on. move: NULL for
 * what is computed. */
double tirc_nest_copies(const Nest *n, const Touches *t, int from, const Touch *move);
Code tirc_nest_code(const Nest *n, const Touches *t);

#endif
