/* Residues: what an expression is modulo some number, e == coeff * k + base. Coefficient 1 says
 * nothing, coefficient 0 says that e is the constant base. Otherwise 0 <= base < coeff. */
#include "internal.h"

static const Modular anything = {1, 0};

static Modular residue(int64_t coeff, int64_t base) {
  if (coeff == INT64_MIN) return anything;
  if (coeff < 0) coeff = -coeff;
  return (Modular){coeff, coeff ? tirc_floormod64(base, coeff) : base};
}

static Modular sum(Modular x, Modular y, bool minus) {
  int64_t base;
  if (minus ? __builtin_sub_overflow(x.base, y.base, &base)
            : __builtin_add_overflow(x.base, y.base, &base))
    return anything;
  return residue(tirc_gcd(x.coeff, y.coeff), base);
}

static Modular product(Modular x, Modular y) {
  int64_t both, left, right, base;
  if (__builtin_mul_overflow(x.coeff, y.coeff, &both) ||
      __builtin_mul_overflow(x.coeff, y.base, &left) ||
      __builtin_mul_overflow(x.base, y.coeff, &right) ||
      __builtin_mul_overflow(x.base, y.base, &base))
    return anything;
  return residue(tirc_gcd(both, tirc_gcd(left, right)), base);
}

/* Of values that may come from either. */
static Modular either(Modular x, Modular y) {
  int64_t distance;
  if (__builtin_sub_overflow(x.base, y.base, &distance)) return anything;
  return residue(tirc_gcd(tirc_gcd(x.coeff, y.coeff), distance), x.base);
}

static Modular quotient(Analyzer *a, Expr x, int64_t divisor, bool down) {
  Modular m = tirc_modular(a, x);
  if (divisor == 0 || divisor == INT64_MIN || divisor == -1 || m.coeff % divisor != 0)
    return anything;
  if (m.coeff == 0 && m.base % divisor != 0) return anything;
  if (m.base % divisor == 0) return residue(m.coeff / divisor, m.base / divisor);
  if (divisor > 0 && (down || tirc_can_prove_ge(a, x, 0)))
    return residue(m.coeff / divisor, tirc_floordiv64(m.base, divisor));
  return anything;
}

static Modular variable(Analyzer *a, Expr var) {
  VarInfo *info = tirc_map_get(&a->vars, var);
  Modular m = info && info->has_modular ? info->modular : anything;
  for (int i = 0; i < a->modulars.n; i++) {
    Modular known = a->modulars.at[i].modular;
    if (a->modulars.at[i].var == var && m.coeff != 0 && known.coeff > m.coeff) m = known;
  }
  return m;
}

Modular tirc_modular(Analyzer *a, Expr e) {
  if (e->op == OP_INT) return residue(0, e->u.i);
  if (e->op == OP_VAR) return variable(a, e);
  if (e->op == OP_CAST) {
    bool widens = tirc_is_index(e->args[0]->dtype) && tirc_is_index(e->dtype) &&
                  e->dtype.bits >= e->args[0]->dtype.bits;
    return widens ? tirc_modular(a, e->args[0]) : anything;
  }
  if (!tirc_is_index(e->dtype)) return anything;
  if (e->op == OP_SELECT || e->op == OP_IF_THEN_ELSE)
    return either(tirc_modular(a, e->args[1]), tirc_modular(a, e->args[2]));
  int64_t by;
  switch (e->op) {
  case OP_ADD:
  case OP_SUB:
    return sum(tirc_modular(a, e->args[0]), tirc_modular(a, e->args[1]), e->op == OP_SUB);
  case OP_MUL: return product(tirc_modular(a, e->args[0]), tirc_modular(a, e->args[1]));
  case OP_MIN:
  case OP_MAX: return either(tirc_modular(a, e->args[0]), tirc_modular(a, e->args[1]));
  case OP_TRUNCDIV:
  case OP_FLOORDIV:
    if (!tirc_const_int(e->args[1], &by)) return anything;
    return quotient(a, e->args[0], by, e->op == OP_FLOORDIV);
  case OP_TRUNCMOD:
  case OP_FLOORMOD: {
    /* The remainder differs from the dividend by a multiple of the divisor. */
    if (!tirc_const_int(e->args[1], &by) || by == 0) return anything;
    Modular m = tirc_modular(a, e->args[0]);
    return residue(tirc_gcd(m.coeff, by), m.base);
  }
  default: return anything;
  }
}
