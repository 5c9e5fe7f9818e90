/* The lines of a suite, or the one that the -D options make. */
#ifndef TIRC_TOOLS_BENCH_SETTINGS_H
#define TIRC_TOOLS_BENCH_SETTINGS_H

#include "bench.h"

enum { MOST_AXES = 16 };
typedef struct Axis {
  char *name;
  int n;
  char **values;
} Axis;
typedef struct Line {
  int number; /* in its file */
  char *kernel;
  char *file; /* as in a Case, and the text */
  const char *text;
  int calls; /* a run of what the suite is of; 0: not said */
  int n;
  Axis axes[MOST_AXES];
} Line;

/* settings.c: adds "M=16,32", or replaces the axis of that name; false when it is none. */
bool add_axis(Line *l, const char *text);
/* The line's cases. DONE or BAD */
int add_line(Bench *b, const Line *l);

#endif
