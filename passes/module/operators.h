/* Operators: what a graph calls R.add, R.nn.relu ... is a function of the script language that
 * makes a program. C knows how to find and call such a function, and no operator's name.
 *
 *   "nn.relu", x: Tensor((n, 784), "float32")   ->   @T.prim_func
 *                                                    def relu(x: T.Buffer((n, 784)), compute: ...):
 *                                                        ... one block a te.compute ...
 *                                                    and the result's type
 *
 * Which function an operator is stands in a table, operators/table.sch: its name, and
 * "FILE.FUNCTION" of a script beside the table. A user's folder has a table of its own; its rows
 * come first.
 *
 * All results live in the context that the operators were opened in. Errors are thrown: what an
 * operator does not accept names the operator and the types of its operands, with the place in the
 * script. */
#ifndef TIRC_MODULE_OPERATORS_H
#define TIRC_MODULE_OPERATORS_H

#include "ir/arith/arith.h"
#include "passes/record/value.h"
#include "passes/script/require.h"
#include "passes/script/script.h"

typedef struct TensorType {
  DType dtype;
  int ndim;
  const Expr *shape;  /* ndim extents: constants, variables, or sums and products of such */
  const Bound *range; /* the integers that its elements are known to lie between, or NULL */
  bool is_attained;   /* the least and the greatest are among them */
} TensorType;

typedef struct Operators Operators;
/* folder: the user's own, whose table.sch is looked at first, or NULL. limits: of one call, or
 * NULL.
 */
Operators *tirc_operators_open(Tirc *c, const char *folder, const ScriptLimits *limits);
/* What the scripts do about indices: "check", "clip" or "trust"; NULL, as it is at first: nothing
 * is said of them. */
void tirc_operators_set_indices(Operators *ops, const char *indices);

/* One row of the table, with what its function says of itself. */
typedef struct OperatorParam {
  const char *name;
  const char *type;   /* as annotated: "Tensor", "int", "list" ...; NULL: the text does not say */
  const char *usual;  /* the default as Python text; NULL: it has to be given */
  const Value *value; /* that, or NULL */
  bool rest;          /* *xs: all operands that are left */
} OperatorParam;
typedef struct Operator {
  const char *name;     /* "nn.relu" */
  const char *function; /* "relu" */
  const char *path;     /* of its script: a file, or "<operators>/elementwise.sch" */
  const char *summary;  /* the first line of the function's own text, or "" */
  int n_params;
  const OperatorParam *params;
  Value callee;
} Operator;
int tirc_n_operators(Operators *ops);
const char *tirc_operator_name(Operators *ops, int i);           /* in the table's order */
const Operator *tirc_operator(Operators *ops, const char *name); /* NULL: there is none */
/* A name that was meant, as "did you mean 'add'?", and how an operator is added. */
const char *tirc_operator_hint(Operators *ops, const char *name);

/* A tensor as an argument. Other arguments are plain values: numbers (a typed one as VAL_EXPR),
 * strings, lists and tuples (of tensors: concat; of extents: reshape), None. */
Value tirc_operator_tensor(Operators *ops, const char *name, TensorType type);

typedef struct OperatorCall {
  const char *name;      /* of the operator */
  const char *func_name; /* of the prim_func to be made; NULL: the operator's function */
  int n_args;            /* by position */
  const Value *args;
  int n_keywords;
  const char *const *keywords;
  const Value *values;
  bool asserts; /* func asserts what has to hold when it runs, and `needs` has nothing */
} OperatorCall;

/* A function that runs before the operator's: on one operand, which its result stands for. */
typedef struct AheadProgram {
  int operand;      /* the number of the parameter of the operator's func that the result is */
  Expr first, end;  /* between which its elements are, in the caller's variables */
  const Func *func; /* of the operand and its result, which has the operand's type; NULL: it is
                     * known that they are, or nobody looks */
  int n_vars;       /* scalars behind these, as of OperatorProgram */
  const Expr *vars;
} AheadProgram;

/* The parameters of func are the tensors among the arguments, in the order in which they stand
 * there (by position, then by keyword; each place one parameter, used or not), then the results,
 * then n_vars scalars that the shapes of these do not tell: to be called with `vars`. A variable of
 * an argument's shape has its like of the same name in func, which shares nothing with the
 * caller's.
 *
 * Functions `ahead` run before func, one after the other: the result of each stands for the operand
 * that it was made of. Where it is known which numbers an operand has to have, func and they have
 * the attribute "index_ranges". */
typedef struct OperatorProgram {
  const Func *func;
  int n_ahead;
  const AheadProgram *ahead;
  int n_results;
  const TensorType *results; /* in the caller's variables */
  bool is_tuple;             /* the operator gives a tuple, of one perhaps */
  int n_vars;
  const Expr *vars; /* the caller's variables */
  int n_needs;      /* what only a run tells and has to hold then, in the caller's variables */
  const Need *needs;
} OperatorProgram;
OperatorProgram tirc_operator_program(Operators *ops, const OperatorCall *call);

/* A call as words: tensors by position, NAME=SHAPE:TYPE, several of one operand joined by +, and
 * all else by keyword, NAME=VALUE. In a shape, extents stand between x or commas; a name is a
 * variable. x=4x5:float32   x=n,784:float32   xs=4x5:float32+2x5:float32   axis=-1   dtype=float16
 */
OperatorCall tirc_operator_call_of_words(Operators *ops, const char *name, int n,
                                         const char *const *words);

#endif
