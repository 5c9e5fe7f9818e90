/* Does a new order of a nest's loops keep what the program means: do two accesses to one element,
 * one of them a store, change places?
 *
 * Exactly where the accesses are quasi-affine, for all sizes; by running through all instances of a
 * nest with constant bounds where they are not, or where that takes too many operations. */
#ifndef TIRC_SCHEDULE_MEANING_ORDER_H
#define TIRC_SCHEDULE_MEANING_ORDER_H

#include "relation.h"

/* What the accesses of one block to one buffer may do to each other. */
typedef struct User {
  SRef *block; /* NULL: statements outside of blocks */
  Buffer buffer;
  bool init;        /* its init alone, or what is left of the block then */
  bool update;      /* its instances come in any order */
  bool stores_once; /* no element is stored to twice, or always the same number */
  bool last_counts; /* nobody reads in between: what is stored last, stays */
} User;

typedef struct Nest {
  Sched *s;
  const Extract *x; /* all that it touches */
  int n;
  SRef *const *chain, *const *order; /* its loops, outermost first, as they are and as they come */
  int n_users;
  const User *users;
} Nest;

/* Which user a touch belongs to; n_users: none. An init is a user of its own or a part of its
 * block. */
int tirc_user_of(const Nest *nest, const Touch *t);
/* The variables of the chain. */
const Expr *tirc_names_of(const Nest *nest);

typedef struct Loss {
  const User *first, *second; /* who would run before whom */
  const char *witness;        /* "i = 0, j = 1 stores B[1, 1], which i = 1, j = 0 reads"; NULL: it
                               * is not certain that they meet */
} Loss;

/* False: the order is lost, or cannot be proved to be kept. */
bool tirc_keeps_order(const Nest *nest, Loss *loss);

#endif
