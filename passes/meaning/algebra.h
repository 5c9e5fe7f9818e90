/* Formulas over the real numbers in a normal form, to prove that two are equal.
 *
 *   (m + x) * 2 - x - x                             2 * m
 *   max(x, max(y, x))                               max(x, y)
 *   (d * exp(m - a) + exp(x - a)) * exp(a - b)      d * exp(m - b) + exp(x - b)
 *
 * A formula is a sum of products of atoms with a power of e. Atoms are what nothing is known of (a
 * number that is loaded), functions of formulas, and the operators that are associative and
 * commutative, of all that they join. Formulas with the same normal form are equal; others may be,
 * too. Rounding, overflow and what has no value (a quotient by 0) do not count, as where sums are
 * put into another order. */
#ifndef TIRC_MEANING_ALGEBRA_H
#define TIRC_MEANING_ALGEBRA_H

#include "ir/tree/ir.h"

typedef struct Formula Formula; /* in the arena; the same one may stand for two equal ones */

typedef struct Atom {
  Op op;
  const void *name; /* what is told apart besides the arguments; NULL: nothing */
  int of;
  int n;
  const Formula *const *args;
} Atom;

typedef struct Algebra {
  Tirc *c;
  VEC(Atom) atoms;
  bool too_long; /* a formula was given up: what came of it is worth nothing */
} Algebra;

const Formula *tirc_formula_number(Algebra *a, double value);
/* An unknown number: of the name, and of the instance that finds it there. */
const Formula *tirc_formula_unknown(Algebra *a, const void *name, int of);
bool tirc_formula_is_unknown(const Algebra *a, const Formula *x);
/* An operator on its arguments. `name`: as of the atom that it is where no rule of arithmetic
 * applies; of a minimum, that no number has an opposite: it is not the maximum of opposites. */
const Formula *tirc_formula_of(Algebra *a, Op op, const void *name, int n,
                               const Formula *const *args);
/* x + factor * y */
const Formula *tirc_formula_plus(Algebra *a, const Formula *x, double factor, const Formula *y);
bool tirc_formula_equal(const Formula *x, const Formula *y);
bool tirc_formula_is_number(const Formula *x, double *value);
/* The same with the first coefficient 1; *factor: what it was. Not of 0. */
const Formula *tirc_formula_scaled(Algebra *a, const Formula *x, double *factor);

#endif
