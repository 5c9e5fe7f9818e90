/* The inside of structural equality: what its files share. */
#ifndef TIRC_ARITH_EQUAL_INTERNAL_H
#define TIRC_ARITH_EQUAL_INTERNAL_H

#include "arith.h"
#include "equal.h"

typedef struct Equal {
  Tirc *c;
  Analyzer *analyzer;
  PtrMap to_b, to_a; /* variables, buffers and data variables, both ways */
  const char *where; /* "function main, block C": for the message */
  const char *why;   /* the first difference */
  bool closed;       /* free variables stand for themselves */
} Equal;

/* Notes the first difference; false. */
bool tirc_equal_differ(Equal *q, const char *what, const char *a, const char *b);
void tirc_equal_pair(Equal *q, const void *a, const void *b);
/* Whether they stand for each other; what has no partner yet gets this one. */
bool tirc_equal_is_pair(Equal *q, const void *a, const void *b);
bool tirc_equal_expr(Equal *q, const char *what, Expr a, Expr b);
bool tirc_equal_int(Equal *q, const char *what, int a, int b);
bool tirc_equal_text(Equal *q, const char *what, const char *a, const char *b);
bool tirc_equal_attrs(Equal *q, const char *what, Attrs a, Attrs b);

/* equal_graph.c: the first difference between the graphs of two modules, or NULL. */
const char *tirc_graphs_difference(Tirc *c, const Module *a, const Module *b);

#endif
