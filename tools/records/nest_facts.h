/* What a schedule amounts to, in words of tuning: tiles by level, the order of loops, the width of
 * vectors, unrolling, how many pieces run in parallel, caches, where the sum is begun. They are
 * read from the calls and from the loops around the block with the most work. */
#ifndef TIRC_TOOLS_NEST_FACTS_H
#define TIRC_TOOLS_NEST_FACTS_H

#include "tools/kit/kit.h"

enum { MOST_AXES = 8, MOST_LEVELS = 12, MOST_CALLS = 8 };

typedef struct Axis { /* a loop of the unscheduled program */
  char name[32];
  bool reduction;
  int64_t extent;
  int n; /* its levels, outermost first, after all splits */
  struct Level {
    char name[48];
    int64_t extent;
  } levels[MOST_LEVELS];
  int64_t tile; /* iterations of it below the outermost loop of a reduction */
} Axis;

typedef struct Facts {
  int n_axes;
  Axis axes[MOST_AXES];
  char block[64], order[400];
  int64_t vector_width, unroll, parallel;                                        /* 1, 0, 1: none */
  char cache_writes[128], cache_reads[128], computed_at[200], decomposed_at[64]; /* "": none */
  tirc_steps *steps;                                                             /* all calls */
} Facts;

/* program: canonical text. TIRC_NO or TIRC_BAD: the trace cannot be replayed on it. */
tirc_status read_facts(const char *program, const char *trace, Facts *out, tirc_error **error);
/* The same of a program that nothing schedules: its axes. */
tirc_status read_axes(const tirc_module *program, Facts *out, tirc_error **error);
void free_facts(Facts *f);

#endif
