/* The parts of `tirc results`. */
#ifndef TIRC_TOOLS_RESULTS_H
#define TIRC_TOOLS_RESULTS_H

#include "tools/kit/table.h"
#include "tools/results/chart.h"
#include "tools/results/database.h"
#include "tools/results/held.h"

typedef struct ResultsOptions {
  Asked asked;
  List kernel;
  const char *pivot, *against, *plot;
  bool md, latex;
} ResultsOptions;

/* A contender in a setting on a kind of machine: the result that counts. */
typedef struct Stored {
  Setting at;              /* its defines are the sizes */
  Held *held;              /* what counts, and what is older or was disturbed */
  struct json_object *all; /* all that is known of it */
} Stored;

typedef struct Results {
  const ResultsOptions *o;
  int n, room, n_older; /* results that others came before */
  Stored *at;
} Results;

/* The value of a size or "kernel", "contender", ...; NULL: it has none. */
const char *dimension(const Stored *s, const char *name, char *buffer, size_t size);
bool is_same_setting(const Stored *a, const Stored *b); /* and program, target, machine */
/* By value where both are numbers. */
int compare_values(const char *a, const char *b);

TableStyle style_of(const ResultsOptions *o);
const char *note_of(const Results *r); /* what the stars mean; NULL: there are none */

/* results_pivot.c, results_plot.c: DONE or BAD */
int put_pivot(const Results *r);
int draw_results(const Results *r);

#endif
