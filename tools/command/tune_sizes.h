/* A program that is tuned for several sizes: a search for each number and range of --sizes. */
#ifndef TIRC_TOOLS_COMMAND_TUNE_SIZES_H
#define TIRC_TOOLS_COMMAND_TUNE_SIZES_H

#include "tools/bench/bench.h"

/* The cases, each as one for each combination of the sizes that its program notes; what they were
 * of is left in *from, one a case, until it is freed. NULL: no program notes any. */
typedef struct SizedCases {
  int n;
  tirc_module **from;
} SizedCases;
int cases_by_sizes(Bench *b, SizedCases *out);
/* Notes in the database for which sizes the programs were tuned. */
int keep_sizes(const SizedCases *s, const char *database, const char *target);
void free_sized_cases(SizedCases *s);

#endif
