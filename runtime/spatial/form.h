/* Indices of a mapping as tables, and the way through its stamps. */
#ifndef TIRC_SPATIAL_FORM_H
#define TIRC_SPATIAL_FORM_H

#include "ir/arith/index_eval.h"
#include "spatial.h"

/* The stamps of a mapping and the box of PEs that it uses. */
typedef struct Space {
  Tirc *c;
  const Mapping *m;
  int n_pes;
  int64_t size[PE_AXES];
  int64_t (*at)[PE_AXES];                  /* coordinates of each PE */
  uint64_t time, place, inside;            /* loops of each kind, as bits */
  int n_time, time_loops[MAP_LOOPS];       /* outermost first */
  int64_t low[MAP_LOOPS], high[MAP_LOOPS]; /* of each time coordinate, inclusive */
  int64_t stamp[MAP_LOOPS];                /* where it is */
  int64_t *lates;                          /* by which skewed loops are later: a row for each PE, */
  const int64_t *late;                     /* and that of the one that was entered */
  bool skewed, here; /* here: the PE that was entered does something at this stamp */
  bool mixes;        /* some form mixes kinds of loops: values of all are kept */
  int pe;
  IndexEval eval; /* value i is that of loop i */
} Space;

/* Every combination of loops that share a stamp. */
typedef struct Ties {
  int n;
  uint64_t loops; /* of these */
  int n_loops, at_loop[MAP_LOOPS];
  int64_t *values; /* n times n_loops */
} Ties;

typedef struct Mixed {
  Expr of;
  int64_t scale;
} Mixed;

typedef struct Form {
  int64_t base;
  int64_t *by_loop[MAP_LOOPS]; /* of a time loop; or NULL */
  int64_t *by_place, *by_tie;  /* never NULL */
  int n_mixed;
  Mixed *mixed;
} Form;

void tirc_space_make(Space *s, Tirc *c, const Mapping *m);
bool tirc_space_begin(Space *s);
/* `turned`: the outermost time loop that went on. False: that was the last stamp. */
bool tirc_space_next(Space *s, int *turned);
void tirc_space_enter(Space *s, int pe);
/* The loops that stand in an expression, as bits. */
uint64_t tirc_space_uses(const Space *s, Expr e);

Ties *tirc_ties(const Space *s, uint64_t loops);
Form tirc_form(Space *s, Expr e, const Ties *ties);
/* *to grows by scale times another one over the same ties. */
void tirc_form_add(Space *s, Form *to, const Form *of, int64_t scale, const Ties *ties);
/* What it can be: of an index that is not taken apart, all of the buffer's dimension. */
Bound tirc_form_bound(const Space *s, const Form *f, const Ties *ties, Buffer b, int dim);
/* At the PE that was entered, without what hangs on ties; with it. */
int64_t tirc_form_here(const Space *s, const Form *f);
int64_t tirc_form_at(Space *s, const Form *f, const Ties *ties, int tie);

#endif
