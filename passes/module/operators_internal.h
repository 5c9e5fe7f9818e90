/* What operators.c and operator_program.c share. */
#ifndef TIRC_MODULE_OPERATORS_INTERNAL_H
#define TIRC_MODULE_OPERATORS_INTERNAL_H

#include "operators.h"
#include "passes/script/te.h"

typedef struct OperatorRow { /* of a table */
  const char *name, *file, *function;
  const char *folder;    /* the user's, or NULL */
  const Operator *known; /* once somebody asked; or NULL */
} OperatorRow;

struct Operators {
  Tirc *c;
  Script *sc;
  VEC(OperatorRow) rows;
};

#endif
