/* A search's side of the database: what is to be measured waits there, whoever proposed it, and
 * goes to one worker, that is one process which searches; what each of them finds all of them hear.
 * A search that keeps nothing has a database of its own, in memory. */
#ifndef TIRC_RUNTIME_TUNE_STORE_H
#define TIRC_RUNTIME_TUNE_STORE_H

#include "runtime/database/database.h"
#include "runtime/database/worker.h"
#include "runtime/measure/measure.h"

#include "passes/search/estimate.h"
#include "passes/search/search.h"

typedef struct Store {
  tirc_db *db;
  char *environment;
  char worker[WORKER_NAME]; /* who takes trials */
  double lease;             /* seconds for which a trial is a worker's, unless that renews it */
  double renewed;           /* when that was */
} Store;
/* where: as for tirc_db_open, "" the default; NULL: nowhere. lease: 0: a minute. target: what is
 * tuned for, or NULL. */
tirc_status tirc_store_open(Store *s, const char *where, double lease, const char *target,
                            tirc_error **error);
/* Gives back what was taken and not finished. */
void tirc_store_close(Store *s);
/* To be called now and then while what was taken is worked on. */
tirc_status tirc_store_renew(Store *s, tirc_error **error);

/* One program on this machine, with what is known of its trials. */
typedef struct Study {
  char *id;
  Tirc *c;
  StrMap known;            /* ids of trials that were heard of */
  int64_t queued, running; /* at the last look, by anybody */
} Study;
tirc_status tirc_store_join(Store *s, const tirc_tune_task *task, const char *target, int threads,
                            Study *out, tirc_error **error);
void tirc_study_free(Study *t);

/* What tirc keeps with a trial besides its times: {"hash": of the scheduled program, "way":
 * "goto_product", "features": [...]}, the features those of this version's estimate. */
typedef struct Extra {
  uint64_t hash;
  char way[80];
  bool has_features;
  float features[PROGRAM_FEATURES];
} Extra;
bool tirc_extra_read(const char *more, Extra *out);

/* Workers that have trials which are not done. */
typedef struct Others {
  int64_t workers, trials;
  char first[WORKER_NAME]; /* the name of one */
  double left;             /* seconds until all that they have can be taken, unless they go on */
} Others;
/* Those that are known to have ended are none: what they had can be taken at once. */
tirc_status tirc_store_others(Store *s, const Study *t, Others *out, tirc_error **error);

/* Visits each trial that was done since the last call, the fastest first, and counts the others. */
tirc_status tirc_store_news(Store *s, Study *t,
                            void (*visit)(void *self, const tirc_db_trial *trial, const Extra *e),
                            void *self, tirc_error **error);
/* The points wait to be measured, as far as the task then has no more than `budget` trials. */
tirc_status tirc_store_propose(Store *s, const Study *t, int64_t budget, int n,
                               SearchPoint *const *points, tirc_error **error);
/* The most promising one that waits, or one that a lost worker had; NULL: there is none now. */
tirc_status tirc_store_take(Store *s, const Study *t, tirc_db_trial **out, tirc_error **error);
/* features: NULL, or of the point. *stored: false where another worker has taken it over. */
tirc_status tirc_store_finish(Store *s, Study *t, const tirc_db_trial *trial, const SearchPoint *p,
                              const float *features, const Measured *m, int64_t seed, bool *stored,
                              tirc_error **error);

#endif
