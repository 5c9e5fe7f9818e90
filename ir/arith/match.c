/* Matching and building by the rules of rules.c: one pass over a prefix string, no tree of
 * the pattern is ever made. A rule whose result or condition would leave int64 or the constants'
 * type does not apply. */
#include "internal.h"

enum { N_VARS = 7, N_CONSTS = 3, N_CHARS = 128 };
/* Numbers from 1. */
static const uint8_t var_slots[N_CHARS] = {
    ['x'] = 1, ['y'] = 2, ['z'] = 3, ['u'] = 4, ['v'] = 5, ['s'] = 6, ['t'] = 7};

typedef struct Match {
  Simplifier *s;
  Expr vars[N_VARS];
  Expr consts[N_CONSTS];
  DType type; /* of the operands: what literals in results get; lanes 0 until known */
  bool asks;  /* what is built is no result */
  const char *p;
} Match;

typedef struct Sign {
  Op op;
  int arity; /* 0: none */
} Sign;
static const Sign signs[N_CHARS] = {
    ['+'] = {OP_ADD, 2},      ['-'] = {OP_SUB, 2},      ['*'] = {OP_MUL, 2},
    ['/'] = {OP_FLOORDIV, 2}, ['%'] = {OP_FLOORMOD, 2}, ['d'] = {OP_TRUNCDIV, 2},
    ['r'] = {OP_TRUNCMOD, 2}, ['m'] = {OP_MIN, 2},      ['M'] = {OP_MAX, 2},
    ['?'] = {OP_SELECT, 3},   ['<'] = {OP_LT, 2},       ['L'] = {OP_LE, 2},
    ['='] = {OP_EQ, 2},       ['N'] = {OP_NE, 2},       ['&'] = {OP_AND, 2},
    ['|'] = {OP_OR, 2},       ['!'] = {OP_NOT, 1},
};

static const Sign *sign_of(char ch) {
  const Sign *sign = &signs[(unsigned char)ch % N_CHARS];
  return sign->arity ? sign : NULL;
}

static int var_slot(char ch) { return var_slots[(unsigned char)ch % N_CHARS] - 1; }

static bool is_integer(Expr e) { return e->op == OP_INT && e->dtype.code != TYPE_BOOL; }

/* Most patterns fail at the first letter of an operand: seen before anything is noted. */
static bool may_match(char ch, Expr e) {
  const Sign *sign = sign_of(ch);
  return sign ? sign->op == e->op : var_slot(ch) >= 0 || is_integer(e);
}

/* A sum is one of numbers only in types that do not wrap around. */
static bool may_be_reordered(Expr e) {
  return e->op < OP_ADD || e->op > OP_MUL || tirc_is_index(e->dtype);
}

static void note_type(Match *m, Expr e) {
  if (!m->type.lanes && e->dtype.code != TYPE_BOOL) m->type = e->dtype;
}

static bool match(Match *m, Expr e) {
  char ch = *m->p++;
  int slot = var_slot(ch);
  if (slot >= 0) {
    if (m->vars[slot]) return m->vars[slot] == e || tirc_same_product(m->vars[slot], e);
    m->vars[slot] = e;
    note_type(m, e);
    return true;
  }
  const bool integer = is_integer(e);
  if (ch >= 'a' && ch <= 'c') {
    if (!integer) return false;
    Expr *bound = &m->consts[ch - 'a'];
    if (*bound) return (*bound)->u.i == e->u.i;
    *bound = e;
    note_type(m, e);
    return true;
  }
  if (ch >= '0' && ch <= '2') return integer && e->u.i == ch - '0';
  const Sign *sign = sign_of(ch);
  if (e->op != sign->op || !may_be_reordered(e)) return false;
  for (int i = 0; i < sign->arity; i++)
    if (!match(m, e->args[i])) return false;
  return true;
}

static bool is_sum(Op op) { return op == OP_ADD || op == OP_SUB || op == OP_MUL; }

/* NULL when a constant would not fit its type, or what is new below a comparison, a division or an
 * extreme might not: x < 5 - y may hold where x + y has no number. Within sums all wraps alike. */
static Expr build_below(Match *m, Op parent) {
  Tirc *c = m->s->a->c;
  char ch = *m->p++;
  int slot = var_slot(ch);
  if (slot >= 0) return m->vars[slot];
  if (ch >= 'a' && ch <= 'c') return m->consts[ch - 'a'];
  if (ch >= '0' && ch <= '2') return tirc_lit(c, m->type, ch - '0');
  if (ch == 'T' || ch == 'F') return tirc_bool(c, ch == 'T');
  const Sign *sign = sign_of(ch);
  Expr args[3];
  for (int i = 0; i < sign->arity; i++)
    if (!(args[i] = build_below(m, sign->op))) return NULL;
  if (sign->arity == 1) return tirc_not(c, args[0]);
  if (sign->op == OP_SELECT) return tirc_expr(c, OP_SELECT, args[1]->dtype, 3, args);
  Expr e = tirc_binary(c, sign->op, args[0], args[1]);
  bool folds = args[0]->op == OP_INT && args[1]->op == OP_INT;
  if (folds) return e->op != OP_INT ? NULL : e;
  return is_sum(sign->op) && !is_sum(parent) && !m->asks && tirc_may_leave_type(m->s->a, e) ? NULL
                                                                                            : e;
}

/* The whole has the value of what it stands for, so it is as good a sum. */
static Expr build(Match *m) { return build_below(m, OP_ADD); }

static void skip(Match *m) {
  char ch = *m->p++;
  const Sign *sign = sign_of(ch);
  int arity = sign ? sign->arity : ch == 'G' || ch == 'E' ? 2 : ch == 'I' ? 1 : 0;
  for (int i = 0; i < arity; i++) skip(m);
}

static bool compute(Op op, int64_t a, int64_t b, int64_t *out) {
  switch (op) {
  case OP_ADD: return !__builtin_add_overflow(a, b, out);
  case OP_SUB: return !__builtin_sub_overflow(a, b, out);
  case OP_MUL: return !__builtin_mul_overflow(a, b, out);
  case OP_LT: *out = a < b; return true;
  case OP_LE: *out = a <= b; return true;
  case OP_EQ: *out = a == b; return true;
  case OP_NE: *out = a != b; return true;
  default: break;
  }
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  switch (op) {
  case OP_FLOORDIV: *out = tirc_floordiv64(a, b); return true;
  case OP_FLOORMOD: *out = tirc_floormod64(a, b); return true;
  case OP_TRUNCDIV: *out = a / b; return true;
  case OP_TRUNCMOD: *out = a % b; return true;
  default: return false;
  }
}

/* The value of a condition; false when it has none. */
static bool evaluate(Match *m, int64_t *out);

static bool ask(Match *m, char what, int64_t *out) {
  Analyzer *a = m->s->a;
  Expr e = build(m);
  if (!e) return false;
  if (what == 'I') {
    *out = !tirc_dtype_is_float(e->dtype);
    return true;
  }
  if (what == 'G') {
    int64_t least;
    if (!evaluate(m, &least)) return false;
    *out = tirc_can_prove_ge(a, e, least);
    return true;
  }
  Expr f = build(m);
  if (!f) return false;
  *out = tirc_prove_equal(a, e, f);
  return true;
}

static bool evaluate(Match *m, int64_t *out) {
  char ch = *m->p++;
  if (ch >= '0' && ch <= '2') return *out = ch - '0', true;
  if (ch >= 'a' && ch <= 'c') return *out = m->consts[ch - 'a']->u.i, true;
  if (ch == 'G' || ch == 'E' || ch == 'I') return ask(m, ch, out);
  Op op = sign_of(ch)->op;
  int64_t x, y;
  if (!evaluate(m, &x)) return false;
  if ((op == OP_AND && !x) || (op == OP_OR && x)) {
    skip(m);
    return *out = x != 0, true;
  }
  if (!evaluate(m, &y)) return false;
  if (op == OP_AND || op == OP_OR) return *out = y != 0, true;
  return compute(op, x, y, out);
}

Expr tirc_apply_rules(Simplifier *s, RuleSet set, Expr e) {
  for (int i = 0; i < tirc_rules[set].n; i++) {
    const Rule *rule = &tirc_rules[set].at[i];
    if (!may_match(rule->pattern[0], e) || (e->n && !may_match(rule->pattern[1], e->args[0])))
      continue;
    Match m = {.s = s, .p = rule->pattern};
    m.type.lanes = 0;
    if (!match(&m, e)) continue;
    if (!m.type.lanes) m.type = e->dtype;
    int64_t holds = 1;
    m.p = rule->condition;
    m.asks = true;
    if (m.p && (!evaluate(&m, &holds) || !holds)) continue;
    m.p = rule->result;
    m.asks = false;
    Expr result = build(&m);
    if (result) return rule->again ? tirc_rewrite_again(s, result) : result;
  }
  return NULL;
}
