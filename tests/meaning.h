/* What a function computes: arguments for it, runs of the interpreter, and whether another function
 * computes the same. */
#ifndef TIRC_TESTS_MEANING_H
#define TIRC_TESTS_MEANING_H

#include "passes/schedule/schedule.h"
#include "runtime/interp/interp.h"

/* Parameters of a function, and steps of the interpreter that one run of it may take. */
enum { VALUES_MAX = 16, VALUES_MAX_STEPS = 4000000 };

/* Sets of sizes for scalars and the symbols in shapes: 0 has none, so there must be no symbols. In
 * the first VALUES_EQUAL_SETS all symbols have the same size, in further ones each has its own. */
enum { VALUES_EQUAL_SETS = 16 };

typedef struct Values { /* one a parameter */
  int n;
  Tensor *at[VALUES_MAX]; /* NULL: of a scalar */
  int set;                /* of sizes */
  uint64_t seed;
  double tolerance; /* relative, of what is compared with these */
} Values;

/* Whether all parameters are buffers whose shapes are known with this set of sizes, and of a size
 * to be run. */
bool values_can_be_made(Tirc *c, const Func *f, int set);
/* "for n = 7, m = 16: ": the function's scalars and symbols; "" with set 0. */
const char *values_sizes_text(Tirc *c, const Func *f, int set);
/* Small numbers for the parameters that have no tensor yet: integers, of which sums are exact in
 * any order, unless a tolerance allows for others. */
void values_make(Tirc *c, const Func *f, Values *out);
void values_free(Values *v);
/* NULL, or why the function cannot be run. */
const char *values_run(Tirc *c, const Func *f, const Values *v, const InterpOptions *o);
/* Arrays into the layout that a schedule gave the parameters of `program` in module m, or back. */
void values_relay(Tirc *c, const Module *m, Values *v, const Func *program, bool back);
/* What the program's arrays are for function f of module m; further parameters get values, too. */
void values_for(Tirc *c, const Func *program, const Module *m, const Func *f, Values *out);
/* NULL, or the first element of a parameter of f that differs. */
const char *values_compare(Tirc *c, const Func *f, const Values *expected, const Values *got);
/* The same of what a schedule made of the function: of equal candidates of an argmax any is right.
 */
const char *values_differ(Tirc *c, const Func *f, const Values *expected, const Values *got);
/* NULL when f, a function of m, computes what the program does, or runs too long. *early: an
 * instance ran on what was not there yet. */
const char *values_check(Tirc *c, const Func *program, const Module *m, const Func *f,
                         const Values *expected, bool *early);

#endif
