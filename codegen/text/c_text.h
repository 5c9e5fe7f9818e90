/* Expressions as text in C and in the languages that have C's operators: how strongly each binds,
 * and where parentheses are due. */
#ifndef TIRC_CODEGEN_C_TEXT_H
#define TIRC_CODEGEN_C_TEXT_H

#include "ir/tree/ir.h"

#include <stdarg.h>

typedef enum Binds {
  BINDS_CHOICE,
  BINDS_OR,
  BINDS_AND,
  BINDS_BITS,
  BINDS_EQUAL,
  BINDS_LESS,
  BINDS_SHIFT,
  BINDS_SUM,
  BINDS_PRODUCT,
  BINDS_CAST,
  BINDS_ALL
} Binds;
typedef struct CText {
  const char *s;
  Binds binds;
} CText;

/* The text, in parentheses if it binds less than that. */
const char *tirc_c_operand(Tirc *c, CText t, Binds least);
/* a op b with the operator's c_form, in parentheses wherever precedence would be something to think
 * about: sums and products are known, and chains of one operator. */
CText tirc_c_binary(Tirc *c, Op op, CText a, CText b);
/* The one type of both operands, of a lane; thrown at loc: they have two. */
DType tirc_c_operand_type(Tirc *c, Loc loc, Expr e);
CText tirc_c_cast_to(Tirc *c, const char *type, CText v);
/* How an operator binds that has a c_form. */
Binds tirc_c_binds(Op op);
/* A finite number, in the fewest digits that are read as the same one. */
const char *tirc_c_digits(Tirc *c, DType t, double v);
/* A text as a string of C. */
const char *tirc_c_quoted(Tirc *c, const char *s);
/* Just loop variables, parameters and constants: arithmetic on them does not overflow. */
bool tirc_c_is_plain(Expr e);

#endif
