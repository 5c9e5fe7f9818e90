/* What is wrong, in numbers: two iterations and the element that they share. */
#ifndef TIRC_SCHEDULE_MEANING_WITNESS_H
#define TIRC_SCHEDULE_MEANING_WITNESS_H

#include "relation.h"

typedef struct Meeting {
  ZMap pairs;         /* of iterations that meet; both are tuples of the loops of a nest */
  ZMap first, second; /* which elements they touch */
  bool first_stores, second_stores;
} Meeting;

/* "for n = 5002: i = 0, j = 700 stores B[700, 700], which i = 700, j = 0 reads"; NULL: none was
 * found. An iteration is n numbers, each with the name of a variable; they are given back unless
 * that is NULL. */
const char *tirc_witness(const Relations *r, int n, const Expr *names, Buffer b, Meeting m,
                         const int64_t **of_first, const int64_t **of_second);
/* The same of numbers that are known. */
const char *tirc_witness_text(Tirc *c, int n, const Expr *names, Buffer b, const int64_t *first,
                              bool first_stores, const int64_t *second, bool second_stores,
                              const int64_t *element);
/* "B[700, 0]" */
const char *tirc_element_text(Tirc *c, Buffer b, int n, const int64_t *element);

#endif
