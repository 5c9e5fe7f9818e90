#include "algebra.h"

#include <stdlib.h>

#include <math.h>

enum { MAX_TERMS = 128, MAX_POWER = 64 };

typedef struct Factor {
  int atom, power;
} Factor;

typedef struct Term {
  double coefficient;
  const Formula *exponent; /* of e; NULL: 0 */
  int n;
  const Factor *factors; /* by their atoms' numbers */
} Term;

struct Formula { /* a sum of different products, in the order of compare_products */
  int n;
  const Term *terms;
};

static const Formula ZERO = {0, NULL};

/* --- order ------------------------------------------------------------------------------------ */

static int compare(const Formula *x, const Formula *y);

static int compare_products(const Term *x, const Term *y) {
  const int by_exponent =
      compare(x->exponent ? x->exponent : &ZERO, y->exponent ? y->exponent : &ZERO);
  if (by_exponent || x->n != y->n) return by_exponent ? by_exponent : x->n - y->n;
  for (int i = 0; i < x->n; i++) {
    if (x->factors[i].atom != y->factors[i].atom) return x->factors[i].atom - y->factors[i].atom;
    if (x->factors[i].power != y->factors[i].power)
      return x->factors[i].power - y->factors[i].power;
  }
  return 0;
}

/* Sums of the same constants in another order differ in their last digits. */
static bool is_near(double x, double y) {
  return x == y || fabs(x - y) <= 1e-12 * (fabs(x) + fabs(y));
}

static int compare(const Formula *x, const Formula *y) {
  if (x == y) return 0;
  if (x->n != y->n) return x->n - y->n;
  for (int i = 0; i < x->n; i++) {
    const Term *s = &x->terms[i], *t = &y->terms[i];
    const int by_product = compare_products(s, t);
    if (by_product) return by_product;
    if (!is_near(s->coefficient, t->coefficient)) return s->coefficient < t->coefficient ? -1 : 1;
  }
  return 0;
}

bool tirc_formula_equal(const Formula *x, const Formula *y) { return compare(x, y) == 0; }

/* --- sums and products ------------------------------------------------------------------------ */

static const Formula *one_term(Algebra *a, Term t) {
  Term *terms = tirc_new(a->c, Term);
  Formula *f = tirc_new(a->c, Formula);
  *terms = t;
  *f = (Formula){1, terms};
  return f;
}

const Formula *tirc_formula_number(Algebra *a, double value) {
  return value == 0 ? &ZERO : one_term(a, (Term){.coefficient = value});
}

bool tirc_formula_is_number(const Formula *x, double *value) {
  *value = x->n ? x->terms[0].coefficient : 0;
  return x->n == 0 || (x->n == 1 && x->terms[0].n == 0 && !x->terms[0].exponent);
}

const Formula *tirc_formula_plus(Algebra *a, const Formula *x, double factor, const Formula *y) {
  Term *terms = tirc_new_array(a->c, Term, x->n + y->n + 1);
  int n = 0;
  for (int i = 0, j = 0; i < x->n || j < y->n;) {
    const int side = i == x->n ? 1 : j == y->n ? -1 : compare_products(&x->terms[i], &y->terms[j]);
    Term t = side <= 0 ? x->terms[i] : y->terms[j];
    const double added = side >= 0 ? factor * y->terms[j].coefficient : 0;
    t.coefficient = side <= 0 ? t.coefficient + added : added;
    const bool gone = side == 0 && is_near(x->terms[i].coefficient, -added);
    i += side <= 0;
    j += side >= 0;
    if (!gone && t.coefficient != 0) terms[n++] = t;
  }
  a->too_long |= n > MAX_TERMS;
  if (n == 0 || a->too_long) return &ZERO;
  Formula *f = tirc_new(a->c, Formula);
  *f = (Formula){n, terms};
  return f;
}

static Term product(Algebra *a, const Term *x, const Term *y) {
  Factor *factors = tirc_new_array(a->c, Factor, x->n + y->n + 1);
  Term t = {.coefficient = x->coefficient * y->coefficient, .factors = factors};
  for (int i = 0, j = 0; i < x->n || j < y->n;) {
    const bool left = j == y->n || (i < x->n && x->factors[i].atom <= y->factors[j].atom);
    const bool right = i == x->n || (j < y->n && y->factors[j].atom <= x->factors[i].atom);
    Factor f = left ? x->factors[i] : y->factors[j];
    if (left && right) f.power += y->factors[j].power;
    i += left;
    j += right;
    a->too_long |= abs(f.power) > MAX_POWER;
    if (f.power) factors[t.n++] = f;
  }
  t.exponent = !x->exponent   ? y->exponent
               : !y->exponent ? x->exponent
                              : tirc_formula_plus(a, x->exponent, 1, y->exponent);
  if (t.exponent && !t.exponent->n) t.exponent = NULL;
  return t;
}

static const Formula *times(Algebra *a, const Formula *x, const Formula *y) {
  const Formula *sum = &ZERO;
  a->too_long |= (int64_t)x->n * y->n > MAX_TERMS;
  for (int i = 0; i < x->n && !a->too_long; i++)
    for (int j = 0; j < y->n && !a->too_long; j++)
      sum = tirc_formula_plus(a, sum, 1, one_term(a, product(a, &x->terms[i], &y->terms[j])));
  return sum;
}

const Formula *tirc_formula_scaled(Algebra *a, const Formula *x, double *factor) {
  *factor = x->terms[0].coefficient;
  return tirc_formula_plus(a, &ZERO, 1 / *factor, x);
}

/* --- atoms ------------------------------------------------------------------------------------ */

static const Formula *atom(Algebra *a, Atom one, int power) {
  int k = 0;
  for (; k < a->atoms.n; k++) {
    const Atom *b = &a->atoms.at[k];
    bool same = b->op == one.op && b->name == one.name && b->of == one.of && b->n == one.n;
    for (int i = 0; same && i < one.n; i++) same = compare(b->args[i], one.args[i]) == 0;
    if (same) break;
  }
  if (k == a->atoms.n) vec_push(a->c, a->atoms, one);
  Factor *f = tirc_new(a->c, Factor);
  *f = (Factor){k, power};
  return one_term(a, (Term){.coefficient = 1, .n = 1, .factors = f});
}

const Formula *tirc_formula_unknown(Algebra *a, const void *name, int of) {
  return atom(a, (Atom){.op = OP_VAR, .name = name, .of = of}, 1);
}

/* The atom of this operator that a formula is; NULL: it is none. */
static const Atom *atom_of(const Algebra *a, const Formula *x, Op op) {
  if (x->n != 1 || x->terms[0].n != 1 || x->terms[0].exponent || x->terms[0].coefficient != 1 ||
      x->terms[0].factors[0].power != 1)
    return NULL;
  const Atom *k = &a->atoms.at[x->terms[0].factors[0].atom];
  return k->op == op ? k : NULL;
}

bool tirc_formula_is_unknown(const Algebra *a, const Formula *x) {
  return atom_of(a, x, OP_VAR) != NULL;
}

/* An operator that joins what it is given in any order: once, or in pairs that cancel out. */
static const Formula *joined(Algebra *a, Op op, const Formula *x, const Formula *y) {
  VEC(const Formula *) all = {0};
  const Formula *parts[] = {x, y};
  for (int p = 0; p < 2; p++) {
    const Atom *inner = atom_of(a, parts[p], op);
    for (int i = 0; i < (inner ? inner->n : 1); i++) {
      const Formula *one = inner ? inner->args[i] : parts[p];
      int k = 0;
      while (k < all.n && compare(all.at[k], one) < 0) k++;
      const bool again = k < all.n && compare(all.at[k], one) == 0;
      if (again && op != OP_BITWISE_XOR) continue;
      if (!again) vec_push(a->c, all, one);
      const int moved = again ? all.n - k - 1 : all.n - 1 - k;
      if (again)
        memmove(&all.at[k], &all.at[k + 1], (size_t)moved * sizeof *all.at);
      else
        memmove(&all.at[k + 1], &all.at[k], (size_t)moved * sizeof *all.at);
      if (again)
        all.n--;
      else
        all.at[k] = one;
    }
  }
  a->too_long |= all.n > MAX_TERMS;
  if (all.n == 0) return &ZERO;
  if (all.n == 1) return all.at[0];
  return atom(a, (Atom){.op = op, .n = all.n, .args = all.at}, 1);
}

/* --- operators -------------------------------------------------------------------------------- */

static const Formula *negative(Algebra *a, const Formula *x) {
  return tirc_formula_plus(a, &ZERO, -1, x);
}

static const Formula *quotient(Algebra *a, const Formula *x, const Formula *y) {
  if (y->n != 1) {
    const Formula **of = tirc_new(a->c, const Formula *);
    *of = y;
    return times(a, x, atom(a, (Atom){.op = OP_DIV, .n = 1, .args = of}, 1));
  }
  const Term *t = &y->terms[0];
  Factor *factors = tirc_new_array(a->c, Factor, t->n + 1);
  for (int i = 0; i < t->n; i++) factors[i] = (Factor){t->factors[i].atom, -t->factors[i].power};
  return times(a, x,
               one_term(a, (Term){.coefficient = 1 / t->coefficient,
                                  .exponent = t->exponent ? negative(a, t->exponent) : NULL,
                                  .n = t->n,
                                  .factors = factors}));
}

/* e to the power of scale * x: a logarithm in a sum is a factor. */
static const Formula *power_of_e(Algebra *a, double scale, const Formula *x) {
  const Formula *left = tirc_formula_plus(a, &ZERO, scale, x), *product = NULL;
  for (int i = 0; i < left->n; i++) {
    Term t = left->terms[i];
    const Atom *log = t.n == 1 && !t.exponent && t.coefficient == 1 && t.factors[0].power == 1
                          ? &a->atoms.at[t.factors[0].atom]
                          : NULL;
    if (!log || log->op != OP_LOG) continue;
    product = log->args[0];
    left = tirc_formula_plus(a, left, -1, one_term(a, t));
    break;
  }
  const Formula *power =
      left->n ? one_term(a, (Term){.coefficient = 1, .exponent = left}) : tirc_formula_number(a, 1);
  return product ? times(a, product, power) : power;
}

const Formula *tirc_formula_of(Algebra *a, Op op, const void *name, int n,
                               const Formula *const *args) {
  const Formula *x = n > 0 ? args[0] : NULL, *y = n > 1 ? args[1] : NULL;
  switch (op) {
  case OP_ADD: return tirc_formula_plus(a, x, 1, y);
  case OP_SUB: return tirc_formula_plus(a, x, -1, y);
  case OP_MUL: return times(a, x, y);
  case OP_FMA: return tirc_formula_plus(a, times(a, x, y), 1, args[2]);
  case OP_DIV: return y->n ? quotient(a, x, y) : &ZERO;
  case OP_EXP: return power_of_e(a, 1, x);
  case OP_EXP2: return power_of_e(a, log(2), x);
  case OP_EXP10: return power_of_e(a, log(10), x);
  case OP_MIN:
    if (name) return joined(a, op, x, y);
    return negative(a, joined(a, OP_MAX, negative(a, x), negative(a, y)));
  case OP_MAX:
  case OP_AND:
  case OP_OR:
  case OP_BITWISE_AND:
  case OP_BITWISE_OR:
  case OP_BITWISE_XOR: return joined(a, op, x, y);
  default: {
    const Formula **own = tirc_new_array(a->c, const Formula *, n + 1);
    for (int i = 0; i < n; i++) own[i] = args[i];
    return atom(a, (Atom){.op = op, .name = name, .n = n, .args = own}, 1);
  }
  }
}
