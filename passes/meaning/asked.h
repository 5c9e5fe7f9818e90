/* Questions about what a nest touches. First they are asked of sets, for all sizes: whether two
 * iterations meet (apart.c), whether a new order of loops keeps what the program means
 * (schedule/meaning/order.c). Where these cannot say, a nest with constant bounds is run through
 * (finite.c, which knows no sets). */
#ifndef TIRC_MEANING_ASKED_H
#define TIRC_MEANING_ASKED_H

#include "touches.h"

/* --- apart ------------------------------------------------------------------------------------ */

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
  const Relations *in; /* as they are asked of: nothing is known yet */
  const Extract *x;
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

/* --- order ------------------------------------------------------------------------------------ */

/* What the accesses of one block to one buffer may do to each other. */
typedef struct User {
  Stmt block; /* NULL: statements outside of blocks */
  Buffer buffer;
  bool init;        /* its init alone, or what is left of the block then */
  bool update;      /* its instances come in any order */
  bool stores_once; /* no element is stored to twice, or always the same number */
  bool last_counts; /* nobody reads in between: what is stored last, stays */
} User;

typedef struct Nest {
  const Relations *in; /* nothing is known yet */
  const Extract *x;    /* all that it touches */
  int n;               /* loops, outermost first: */
  const Expr *names;
  const int *order; /* the new place i is the old place order[i] */
  int n_users;
  const User *users;
} Nest;

/* Which user a touch belongs to; n_users: none. An init is a user of its own or a part of its
 * block. */
int tirc_user_of(const Nest *nest, const Touch *t);

typedef struct Loss {
  const User *first, *second; /* who would run before whom */
  const char *witness;        /* "i = 0, j = 1 stores B[1, 1], which i = 1, j = 0 reads"; NULL: it
                               * is not certain that they meet */
} Loss;

/* --- finite ----------------------------------------------------------------------------------- */

/* The same by running through all instances, on index arithmetic alone. Never through a part of
 * them: where there are too many, or a number is not known, nothing is proved. */

/* Whether the order is kept. False also where it cannot be found out. */
bool tirc_finite_order(const Nest *nest, const Extract *x, Loss *loss);
/* As tirc_iterations_meet, with what each of its touches is made of. True also where it cannot be
 * found out; then `meet` stays as it is. */
bool tirc_finite_meet(const Iterations *of, const Made *made, int n, const Watched *watched,
                      Meet *meet);
/* Whether what x surely stores is all of the box. Where an element is certain not to be, *missing
 * names it. */
bool tirc_finite_cover(const Extract *x, const Touch *box, const char **missing);

#endif
