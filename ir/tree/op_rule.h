/* What the intrinsics of ops.def ask of their operands, and the types that operators unify to. */
#ifndef TIRC_IR_OP_RULE_H
#define TIRC_IR_OP_RULE_H

#include "ir.h"

typedef enum OpRule {
  RULE_FLOAT,
  RULE_ROUND, /* floats; an integer is its own result */
  RULE_ANY,   /* numbers */
  RULE_INT,
  RULE_TEST, /* a float; gives bool */
  RULE_BOOL
} OpRule;
OpRule tirc_op_rule(Op op); /* of an operator without a rule of its own: RULE_FLOAT */
bool tirc_fits_rule(OpRule rule, DType t);
/* The intrinsic on operands of one type that fits its rule: the result's type follows from both. */
Expr tirc_intrinsic(Tirc *c, Op op, int n, const Expr *args);
/* What both operands of a binary operator become: a plain constant follows the other one, floats
 * win over integers, more bits over fewer, signed over unsigned of the same size. */
DType tirc_common_type(Expr a, Expr b);

#endif
