/* Structural equality: the same tree up to the names of variables, buffers and functions and the
 * order of dictionary keys. Block names, loop kinds, extents, bindings, predicates, regions,
 * dtypes, scopes, annotations and attributes count. Index expressions are compared after
 * simplification under the ranges of the loops and iterators around them, and what iterators are
 * bound to where the block's predicate holds. */
#ifndef TIRC_IR_EQUAL_H
#define TIRC_IR_EQUAL_H

#include "ir/tree/ir.h"

/* NULL when equal; otherwise the first difference in words, with both sides. Functions are matched
 * by name, or by position when both modules have one function. */
const char *tirc_module_difference(Tirc *c, const Module *a, const Module *b);
/* Structural equality of expressions, free variables being compared by identity. */
bool tirc_expr_equal(Tirc *c, Expr a, Expr b);

#endif
