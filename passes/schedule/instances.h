/* Do two instances use one element, so that it matters which of them comes first? Runs a few of
 * them on index arithmetic alone; what is found is certain, or may happen, and much may be missed.
 */
#ifndef TIRC_SCHEDULE_INSTANCES_H
#define TIRC_SCHEDULE_INSTANCES_H

#include "../../ir/ir.h"
#include "index_eval.h"

/* A store, or a load in one (or in what else `stmt` is). */
typedef struct Site {
  Stmt block, stmt; /* the innermost block */
  Expr load;        /* NULL: the store */
} Site;

typedef struct Instances {
  Tirc *c;
  IndexEval env;  /* what the variables stand at; its owner sets those outside of what is run, and
                   * the sizes */
  int n;          /* numbers that tell instances from each other */
  int64_t *at;    /* those of the one that runs */
  PtrMap watched; /* buffers whose elements are followed */
  PtrMap by_data; /* the same by the variables of their memory and of that of their views */
  PtrMap views;   /* views in what is run -> MatchBuffer */
  PtrMap matters; /* variables that decide which elements are used, and whether */
  PtrMap values;  /* variables that are bound to what is not known -> a hash of it */
  int steps;      /* left */
  bool outside;   /* what is read outside of what is run is not followed */
  bool may;       /* what stands under a condition that is not known counts, too */
  const struct Branch *branch; /* of such a condition; NULL: what runs is certain */
  uint64_t branches;           /* so far */
  Stmt block;                  /* the innermost one that runs */
  struct Element *table;
  uint64_t mask, used;
  /* The result. */
  bool found;
  Buffer buffer;
  Site first, second;
  const int64_t *of_first, *of_second; /* their numbers */
} Instances;

/* Different instances have different n numbers. */
void tirc_instances_open(Instances *r, Tirc *c, int n, int max_steps);
typedef enum WatchKind {
  WATCH_VALUES, /* only what it holds is of interest, for what is stored to others */
  WATCH_STORES, /* and what it holds in the end */
  WATCH_READS,  /* or who reads what another one stored */
  WATCH_ALL     /* and both */
} WatchKind;
void tirc_instances_watch(Instances *r, Buffer b, WatchKind kind);
/* From here on its elements are others: what was done to it counts no more. */
void tirc_instances_renew(Instances *r, Buffer b);
/* After that: what is to be run, all of it. Takes buffers out that are used in another way than by
 * loads and stores, or live inside of the statement only. False: none is left. */
bool tirc_instances_look(Instances *r, Stmt stmt);
/* Whether a loop over this variable must be run from end to end. */
bool tirc_instances_matters(const Instances *r, Expr var);
/* A variable that is bound outside of what is run gets the value of an expression, as far as it is
 * known. */
void tirc_instances_give(Instances *r, Expr var, Expr value);
/* Runs a statement for the instance whose numbers are in r->at; if it is run in parts, all come in
 * their order. False: two instances were found, or the steps are used up. */
bool tirc_instances_run(Instances *r, Stmt stmt);

/* Places of a loop that are worth a look: all of a short one; otherwise start, middle, end, and the
 * neighbours of the constants that stand in the statement, and more from the start. At most `most`.
 */
int tirc_instances_sample(Tirc *c, int64_t extent, Stmt stmt, int most, int64_t **out);
/* "A[vi + 1] (line 7)" */
const char *tirc_site_text(Tirc *c, const Site *site);

#endif
