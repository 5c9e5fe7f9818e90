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
  const char *indices;      /* NULL: nothing is done about them */
  const char *shelf, *list; /* "": the operators' own folder; and the name of the dict there */
  VEC(OperatorRow) rows;
};

/* Functions that make graphs of what another format has: the folder `shelf` beside the operators,
 * whose table has a dict of the same name. A user's folder may lack it. */
Operators *tirc_conversions_open(Tirc *c, const char *folder, const char *shelf);

#endif
