/* What `tirc tune` shows while it searches: on a terminal a table that is written over, elsewhere
 * a line a trial. */
#ifndef TIRC_TOOLS_TUNE_SHOW_H
#define TIRC_TOOLS_TUNE_SHOW_H

#include "command.h"
#include "tools/bench/bench.h"

typedef struct TuneRow { /* of a task */
  const char *name;
  int64_t trials, failed;
  double best, automatic; /* seconds; INFINITY: there is none yet */
  double ceiling;         /* seconds that the ceiling takes which binds; 0: unknown */
  const char *binds;      /* its name */
} TuneRow;

typedef struct TuneTable {
  const TuneOptions *o;
  FILE *out; /* for what is no table: not where the script goes */
  int n;
  TuneRow *rows;
  int drawn; /* lines of it that stand on the terminal */
} TuneTable;

/* The ceiling that binds of a case whose program is loaded, measured at once: DONE or BAD. Where
 * the processor has none of them, the row stays without. */
int measure_ceiling(Bench *b, Case *k, TuneRow *row);
void show_trial(TuneTable *t, const tirc_tune_event *e);
/* Takes the table away, for what is printed next. */
void clear_table(TuneTable *t);
/* "0.1344 ms", or "-" */
const char *time_text(double seconds, char *out, size_t size);
/* "1.07", or "-" */
const char *gain_text(double automatic, double best, char *out, size_t size);

#endif
