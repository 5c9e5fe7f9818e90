/* What the parts of a search share: tune.c says which program is next, batch.c proposes and
 * measures some of its candidates, finals.c compares the best ones. */
#ifndef TIRC_RUNTIME_TUNE_PARTS_H
#define TIRC_RUNTIME_TUNE_PARTS_H

#include "lessons.h"
#include "runtime/measure/measure.h"
#include "store.h"

#include "passes/search/search.h"

enum { FINALISTS = 6, BATCH = 8 };

typedef struct Tuning Tuning;

typedef struct Finalist { /* a point that is kept for the end */
  SearchPoint *point;
  const char *trial; /* its id */
  double seconds;
} Finalist;

typedef struct Task {
  int number;
  const tirc_tune_task *given;
  const tirc_tune_options *options;
  Tirc *c; /* of the search */
  Search *search;
  Bed *bed;
  int threads;
  Study study;
  Finalist automatic, best[FINALISTS]; /* the fastest first */
  int n_best;
  int64_t trials, failed;
  double gained;      /* by the last batches, as a part of the best */
  double operations;  /* on floats, of a call; 0: none, or unknown */
  double loads, load; /* cores that others used: summed up over `loaded` trials; at the end */
  int64_t loaded;
  bool wrong, exhausted;
  bool is_left; /* it does not run with random arrays: nothing of it can be measured */
  VEC(double) expected, measured; /* a model's ranks before, and seconds */
  Tuning *tuning;
} Task;

struct Tuning {
  Tirc *c;
  int n;
  Task *tasks;
  const tirc_tune_options *options;
  int n_ranges;
  const tirc_input_range *ranges;
  double start;
  double peak;        /* operations on floats a second; 0: unknown, or one program alone */
  double measuring;   /* seconds that candidates took from being proposed to being measured, */
  int64_t candidates; /* and how many */
  double share_ends;  /* until when finals take turns; INFINITY: no limit */
  int64_t trials;
  Store store;
  Lessons *lessons;
  double idle, told; /* since when others have all that is left, and of that was told; 0: not */
  bool lost;         /* the database: */
  tirc_error *error; /* why */
  tirc_tune_result *results;
};

/* Without its database a search ends, with what it has. False then; the error is taken over. (By
 * its address: it may be set by what makes `status`, in the same call.) */
bool tirc_tuning_stored(Tuning *t, tirc_status status, tirc_error **e);

/* finals.c: seconds that comparing the best of all programs is expected to take. */
double tirc_tuning_finals(const Tuning *t);

/* batch.c */
bool tirc_tuning_goes_on(const Tuning *t);
/* What the options ask for; of a device a GPU. */
const char *tirc_tuning_target(const tirc_tune_options *o);
double tirc_tuning_best(const Task *t); /* seconds; INFINITY: none yet */
/* The `rank` of a search: by a model as soon as there is one, before that by the estimate. */
void tirc_tuning_rank(void *self, int n, SearchPoint **points);
/* A trial that somebody else did, or this process in an earlier life. */
void tirc_tuning_hear_of(void *self, const tirc_db_trial *trial, const Extra *e);
bool tirc_tuning_hear_news(Tuning *tuning, Task *t); /* false: the database is lost */
/* At most so many, of a budget for the program. *n: how many were measured. */
tirc_status tirc_tuning_batch(Tuning *tuning, Task *t, int most, int64_t budget, int *n,
                              tirc_error **error);

/* wait.c: a moment, while others have what is left; says who they are. */
void tirc_tuning_wait(Tuning *t);

/* results.c */
tirc_tune_result *tirc_tune_results_new(int n); /* NULL: memory is out */
void tirc_tuning_tell_loss(const Tuning *t, const Task *task, const tirc_tune_loss *loss);
void tirc_tuning_tell_load(const Tuning *t);

/* Compares the fastest schedules of a program, and fills its result. */
tirc_status tirc_tuning_finish(Tuning *tuning, Task *t, tirc_error **error);

#endif
