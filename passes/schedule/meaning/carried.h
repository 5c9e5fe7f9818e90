/* Do two iterations of a loop, or two instances of a block, use one element, so that they cannot
 * run at the same time?
 *
 *   for i in range(16):                    iteration i stores B[i]
 *     B[i] = A[i]
 *     C[i] = B[(i + 15) % 16]              iteration i + 1 reads it
 *
 * They do where one reads an element that another one stores, unless it stored to it itself before
 * it reads; and where both store to an element, unless they leave the same in it. What an iteration
 * leaves is the same when it is computed in the same steps from the same numbers: from indices, and
 * from what no iteration stores, or what all leave alike.
 *
 * Instances of a block are told apart by its spatial iterators; the steps of a sum are one. */
#ifndef TIRC_SCHEDULE_MEANING_CARRIED_H
#define TIRC_SCHEDULE_MEANING_CARRIED_H

#include "relation.h"

typedef enum WatchKind {
  WATCH_VALUES, /* only what it holds is of interest, for what is stored to others */
  WATCH_STORES, /* and what it holds in the end */
  WATCH_READS,  /* or who reads what another one stored */
  WATCH_ALL     /* and both */
} WatchKind;

typedef struct Watched {
  Buffer buffer;
  WatchKind kind;
  bool shared; /* by the iterations: a number that one stores may be read by another one at once */
} Watched;

/* What a stored number is made of, besides what all iterations find alike. */
typedef struct Made {
  bool known;
  bool adds; /* to what its element holds */
  int n;
  const Expr *leaves; /* index arithmetic */
} Made;

typedef struct Meet {
  const Touch *first, *second;
  const char *witness; /* "i = 0 stores B[0], which i = 1 reads"; NULL: it is not certain */
  const int64_t *of_first, *of_second; /* with it: which iterations, one number a name */
} Meet;

/* Which touches do not count. */
typedef enum Spared {
  SPARE_NONE,     /* what may meet, meets */
  SPARE_LOADED,   /* of elements that a loaded index names: they are the author's affair */
  SPARE_UNCERTAIN /* of which it is not certain where or whether they are */
} Spared;

/* What is told apart: the iterations of a loop, or the instances of a block. */
typedef struct Iterations {
  Sched *s;
  const Extract *x;
  SRef *nest;                 /* its outermost loop */
  int n_around;               /* loops of the nest around all touches */
  int n;                      /* numbers that tell them apart: */
  const Expr *names, *values; /* a variable, and what it is in terms of those loops */
  Spared spared;
} Iterations;

/* True: no two of them touch one element of these buffers, of which one stores to it, whenever that
 * is. */
bool tirc_elements_apart(const Iterations *of, int n, const Watched *watched);
/* Whether each of them stored itself before what it reads of the buffer. (n = 0: the nest did, in
 * all.) False also where it cannot be proved. */
bool tirc_stores_before_it_reads(const Iterations *of, Buffer b);

/* True: they do, or it cannot be proved that they do not. */
bool tirc_iterations_meet(const Iterations *of, int n, const Watched *watched, Meet *meet);

#endif
