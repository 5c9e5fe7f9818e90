/* Do two iterations of a loop use one element, so that they cannot run at the same time?
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
 * Which element an index that is loaded names, is the author's affair. */
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
} Meet;

/* True: they do, or it cannot be proved that they do not. */
bool tirc_iterations_meet(Sched *s, SRef *loop, int n, const Watched *watched, Meet *meet);

#endif
