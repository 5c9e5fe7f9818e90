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
 * found. */
const char *tirc_witness(const Relations *r, int n, SRef *const *chain, Buffer b, Meeting m);
/* The same of numbers that are known. */
const char *tirc_witness_text(Sched *s, int n, SRef *const *chain, Buffer b, const int64_t *first,
                              bool first_stores, const int64_t *second, bool second_stores,
                              const int64_t *element);

#endif
