/* Expressions as text in C. */
#include "c_text.h"

#include "ir/number.h"
#include "ir/tree/visit.h"

const char *tirc_c_operand(Tirc *c, CText t, Binds least) {
  return t.binds < least ? tirc_format(c, "(%s)", t.s) : t.s;
}

Binds tirc_c_binds(Op op) {
  switch (op) {
  case OP_OR: return BINDS_OR;
  case OP_AND: return BINDS_AND;
  case OP_EQ:
  case OP_NE: return BINDS_EQUAL;
  case OP_LT:
  case OP_LE:
  case OP_GT:
  case OP_GE: return BINDS_LESS;
  case OP_ADD:
  case OP_SUB: return BINDS_SUM;
  case OP_MUL:
  case OP_DIV:
  case OP_TRUNCDIV:
  case OP_TRUNCMOD: return BINDS_PRODUCT;
  case OP_SHIFT_LEFT:
  case OP_SHIFT_RIGHT: return BINDS_SHIFT;
  default: return BINDS_BITS;
  }
}

/* What an operand needs so that neither the compiler nor a reader has to think about precedence:
 * sums and products are known, and chains of one operator; all else gets parentheses. */
static Binds least_of(Op op, Binds operand, bool is_right) {
  switch (tirc_c_binds(op)) {
  case BINDS_SUM: return is_right ? BINDS_PRODUCT : BINDS_SUM;
  case BINDS_PRODUCT: return is_right ? BINDS_CAST : BINDS_PRODUCT;
  case BINDS_EQUAL:
  case BINDS_LESS: return BINDS_SUM;
  case BINDS_AND:
  case BINDS_OR: return operand == tirc_c_binds(op) ? operand : BINDS_EQUAL;
  default: return BINDS_CAST;
  }
}

DType tirc_c_operand_type(Tirc *c, Loc loc, Expr e) {
  DType t = e->args[0]->dtype, u = e->args[1]->dtype;
  t.lanes = u.lanes = 1;
  if (!tirc_dtype_equal(t, u))
    tirc_fail(c, loc, CODE_CODEGEN, "cast one of them",
              "the operands of %s have the different types %s and %s", tirc_ops[e->op].name,
              tirc_dtype_name(c, t), tirc_dtype_name(c, u));
  return t;
}

CText tirc_c_binary(Tirc *c, Op op, CText a, CText b) {
  const char *x = tirc_c_operand(c, a, least_of(op, a.binds, false));
  const char *y = tirc_c_operand(c, b, least_of(op, b.binds, true));
  return (CText){tirc_format(c, "%s %s %s", x, tirc_ops[op].c_form, y), tirc_c_binds(op)};
}

CText tirc_c_cast_to(Tirc *c, const char *type, CText v) {
  return (CText){tirc_format(c, "(%s)%s", type, tirc_c_operand(c, v, BINDS_CAST)), BINDS_CAST};
}

const char *tirc_c_digits(Tirc *c, DType t, double v) {
  char *s = tirc_format(c, t.bits == 32 ? "%.9g" : "%.17g", v);
  for (int digits = 1; digits < 17; digits++) {
    char *shorter = tirc_format(c, "%.*g", digits, v);
    double back = tirc_parse_double(shorter, NULL);
    if (t.bits == 32 ? (float)back == (float)v : back == v) {
      s = shorter;
      break;
    }
  }
  return strpbrk(s, ".e") ? s : tirc_format(c, "%s.0", s);
}

static bool find_data(Visitor *v, Expr e) {
  if (e->op == OP_LOAD || e->op == OP_CALL || e->op == OP_CAST || e->op == OP_LET)
    *(bool *)v->self = true;
  return true;
}

bool tirc_c_is_plain(Expr e) {
  bool found = false;
  tirc_visit_expr(&(Visitor){.expr = find_data, .self = &found}, e);
  return !found;
}

const char *tirc_c_quoted(Tirc *c, const char *s) {
  Text t = {.c = c};
  tirc_text_add(&t, "\"");
  for (const unsigned char *p = (const unsigned char *)s; *p; p++)
    tirc_text_addf(&t, *p < ' ' || *p > '~' || strchr("\"\\?", *p) ? "\\%03o" : "%c", *p);
  tirc_text_add(&t, "\"");
  return t.at;
}
