/* The difference of two texts, line by line. Two lines are the same when they differ in their
 * indentation at most, as all lines below a new loop do. */
#ifndef TIRC_TOOLS_DIFF_H
#define TIRC_TOOLS_DIFF_H

#include "ir/context.h"

typedef struct DiffLine {
  char op;           /* ' ' same, '>' same with other indentation, '-' gone, '+' new */
  int before, after; /* line numbers from 1; 0 where the line does not stand */
  const char *text;  /* of the text after, or the one before where it is gone; not terminated */
  size_t n;
} DiffLine;

typedef struct Diff {
  int n, changed; /* lines, and those that are gone or new */
  DiffLine *at;
} Diff;

/* In the memory of c; the texts must stay. */
Diff diff_texts(Tirc *c, const char *before, const char *after);

#endif
