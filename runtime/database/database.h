/* The database: programs, the schedules that were tried on them, what was measured. One interface;
 * behind it a file (SQLite) or a server that many machines share (PostgreSQL). schema.sql, which
 * both read, says what each column holds.
 *
 *     tirc_db *db;
 *     char *task;
 *     tirc_db_trial *best;
 *     if (tirc_db_open(NULL, TIRC_DB_WRITE, &db, &error) ||
 *         tirc_db_put_task(db, &(tirc_db_task){.module = m, .target = "haswell", .threads = 2,
 *                                              .machine = &machine}, &task, &error) ||
 *         tirc_db_put_trial(db, &(tirc_db_trial){.task = task, .trace = json, .n_samples = 10,
 *                                                .samples = seconds}, NULL, &error) ||
 *         tirc_db_best(db, m, "haswell", 2, NULL, &best, &error)) ...
 *
 * Conventions are those of tirc.h: a status and an error as value; what is given out is freed by
 * the function named for it; strings of a record belong to the record. A `tirc_db` is used by one
 * thread at a time; any number of processes use one database at once.
 *
 * Each call that writes is stored whole or not at all when it returns, whatever happens to the
 * process then. Several become one between tirc_db_begin and tirc_db_commit. A server that is lost
 * is waited for and called again; only where that would tear a tirc_db_begin from its
 * tirc_db_commit does the call fail at once, and nothing since the begin is stored.
 *
 * Errors have the code "database" and the status TIRC_BAD. TIRC_NO is an answer: there is no such
 * database (open for reading), there is no such record. */
#ifndef TIRC_RUNTIME_DATABASE_H
#define TIRC_RUNTIME_DATABASE_H

#include "runtime/tirc.h"

typedef struct tirc_db tirc_db;

/* --- opening ---------------------------------------------------------------------------------- */

typedef enum tirc_db_mode {
  TIRC_DB_READ, /* must be there, else TIRC_NO */
  TIRC_DB_WRITE /* is made if it is missing */
} tirc_db_mode;

/* A path, postgresql://..., or NULL: $TIRC_DATABASE, else tirc/tirc.db in the user's data folder,
 * which is made for writing. */
tirc_status tirc_db_open(const char *where, tirc_db_mode mode, tirc_db **out, tirc_error **error);
void tirc_db_close(tirc_db *db);
/* For messages: the path, or the URL without a password. */
const char *tirc_db_name(const tirc_db *db);

/* A server that is lost is waited for so many seconds ($TIRC_DATABASE_WAIT, else 300; negative
 * leaves that as it is), then the
 * call fails: nothing that was stored is lost with it. `tell` is called once when the waiting
 * begins and once when it has ended well. */
void tirc_db_on_waiting(tirc_db *db, double seconds, void (*tell)(void *self, const char *message),
                        void *self);

tirc_status tirc_db_begin(tirc_db *db, tirc_error **error);
tirc_status tirc_db_commit(tirc_db *db, tirc_error **error);
void tirc_db_rollback(tirc_db *db); /* does nothing outside of begin and commit */

/* --- what is tuned ---------------------------------------------------------------------------- */

typedef struct tirc_db_described { /* a machine or an environment */
  const char *profile;             /* of a machine, a short name: amd-epyc-2-cores */
  const char *description;         /* a JSON object */
} tirc_db_described;

typedef struct tirc_db_task {
  /* Given: */
  const tirc_module *module; /* the unscheduled program; */
  const char *program;       /* or its canonical text, which is parsed, */
  const char *name;          /* what people call it, or NULL */
  const char *target;
  int threads;
  const tirc_db_described *machine; /* NULL: unknown */
  /* And besides, where it is read (machine is set, with its profile): */
  const char *id, *workload, *hash;
  int64_t n_queued, n_running, n_done,
      n_failed;           /* trials; n_failed have a code, but for the hopeless */
  double best;            /* seconds, NaN where there are none */
  double created, latest; /* when the last trial was finished, or NaN */
} tirc_db_task;

/* *id is on the heap (tirc_string_free) like all ids given out. Putting what is there gives the
 * same id, and so do programs that are structurally equal. */
tirc_status tirc_db_put_task(tirc_db *db, const tirc_db_task *task, char **id, tirc_error **error);
tirc_status tirc_db_put_environment(tirc_db *db, const char *description, char **id,
                                    tirc_error **error);

/* --- trials ----------------------------------------------------------------------------------- */

typedef enum tirc_db_state { TIRC_DB_DONE, TIRC_DB_QUEUED, TIRC_DB_RUNNING } tirc_db_state;

/* The circumstances of measuring; zero and NULL where unknown. */
typedef struct tirc_db_conditions {
  double clock_low, clock_high, load;
  bool load_is_known; /* put: though it is 0, and no clock is known */
  const char *pages, *environment /* its id */, *command;
  int64_t seed;
} tirc_db_conditions;

typedef struct tirc_db_trial {
  const char *id; /* NULL when put */
  const char *task;
  const char *trace; /* [instructions, decisions], what tirc_module_trace gives as JSON */
  tirc_db_state state;
  int attempts;
  const char *worker;
  double predicted;
  const char *code, *message; /* of what went wrong, or TIRC_HOPELESS; NULL: it ran */
  double
      seconds; /* the median of the samples (put: reckoned); NaN where there are none, or a code */
  int n_samples;
  const double *samples;
  tirc_db_conditions conditions;
  const char *source, *more;
  double created, finished; /* put: 0 is now */
} tirc_db_trial;
void tirc_db_trial_free(tirc_db_trial *t);

/* Stores a trial as it is. One of the same trace in the same task stays if it is done; *stored (or
 * NULL) then is false. */
tirc_status tirc_db_put_trial(tirc_db *db, const tirc_db_trial *t, bool *stored,
                              tirc_error **error);

/* The winner of a structurally equal program, else its fastest trial; TIRC_NO: there is none.
 * machine: of that profile only; NULL: of any. */
tirc_status tirc_db_best(tirc_db *db, const tirc_module *m, const char *target, int threads,
                         const char *machine, tirc_db_trial **out, tirc_error **error);

/* Work, for any number of workers at once.
 *
 * propose: stores n trials (task and trace, perhaps predicted) as queued, those whose trace the
 * task has not got yet, until it has `budget` trials of any state. *accepted of them were. */
tirc_status tirc_db_propose(tirc_db *db, const char *task, int64_t budget, int n,
                            const tirc_db_trial *trials, int64_t *accepted, tirc_error **error);
/* A queued trial of the task (NULL: of any), the one with the greatest `predicted`; or one whose
 * worker's lease has ended. It is the caller's for `lease` seconds. A trial that has taken three
 * workers with it is done, with the code "worker-lost". TIRC_NO: nothing is to be had now. */
tirc_status tirc_db_take(tirc_db *db, const char *task, const char *worker, double lease,
                         tirc_db_trial **out, tirc_error **error);
/* Prolongs the lease of all that the worker has; *held (or NULL): how many trials that is. */
tirc_status tirc_db_renew(tirc_db *db, const char *worker, double lease, int64_t *held,
                          tirc_error **error);
/* Those who have trials of the task now, and for how many seconds at least, unless they go on. */
typedef struct tirc_db_worker {
  const char *name;
  int64_t n_trials;
  double left;
} tirc_db_worker;
tirc_status tirc_db_workers(tirc_db *db, const char *task,
                            void (*visit)(void *self, const tirc_db_worker *w), void *self,
                            tirc_error **error);
/* The worker is known to be lost: what it has can be taken at once. */
tirc_status tirc_db_expire(tirc_db *db, const char *worker, tirc_error **error);
/* Stores what a trial that was taken came to: t->id, worker, code or samples, conditions.
 * *stored (or NULL) is false where another worker has meanwhile taken it over. */
tirc_status tirc_db_finish(tirc_db *db, const tirc_db_trial *t, bool *stored, tirc_error **error);
/* More samples of a trial that is done without a code; its time is then the median of all. */
tirc_status tirc_db_add_samples(tirc_db *db, const char *trial, int n, const double *samples,
                                tirc_error **error);
/* The trial won when the fastest ones were measured again, in turns: it is its task's best from
 * now on, whatever others took when they were measured once. */
tirc_status tirc_db_set_winner(tirc_db *db, const char *trial, tirc_error **error);
/* A search that had no such end found one that took so many seconds: a slower winner is none. */
tirc_status tirc_db_drop_winner(tirc_db *db, const char *task, double seconds, tirc_error **error);
/* A trial that ran when it was measured failed later. Its samples stay, its time does not. */
tirc_status tirc_db_refute(tirc_db *db, const char *trial, const char *code, const char *message,
                           tirc_error **error);
/* Gives back what the worker has taken and not finished. */
tirc_status tirc_db_release(tirc_db *db, const char *worker, tirc_error **error);

/* --- lists: visit is called for each record, which lives as long as the call; false ends the list.
 * The database is not used meanwhile.
 */

typedef struct tirc_db_filter { /* zero and NULL: all */
  const char *task;             /* an id or how it begins */
  const char *workload;         /* an id or hash or how it begins, or the name */
  const char *target, *machine; /* a profile */
  int threads;
} tirc_db_filter;

tirc_status tirc_db_tasks(tirc_db *db, const tirc_db_filter *filter,
                          bool (*visit)(void *self, const tirc_db_task *t), void *self,
                          tirc_error **error);
/* The winner, then those that are done, the fastest first; `limit` of them, 0: all. */
tirc_status tirc_db_trials(tirc_db *db, const char *task, int64_t limit,
                           bool (*visit)(void *self, const tirc_db_trial *t), void *self,
                           tirc_error **error);

/* *queued and *running of a task. */
tirc_status tirc_db_unfinished(tirc_db *db, const char *task, int64_t *queued, int64_t *running,
                               tirc_error **error);
/* Those that are done and that the caller does not know, the fastest first. */
tirc_status tirc_db_news(tirc_db *db, const char *task, bool (*knows)(void *self, const char *id),
                         void (*visit)(void *self, const tirc_db_trial *t), void *self,
                         tirc_error **error);

/* The trial whose id begins so; TIRC_NO: none does, or several do. */
tirc_status tirc_db_find_trial(tirc_db *db, const char *id, tirc_db_trial **out,
                               tirc_error **error);

/* --- results of bench and of studies: one contender in one setting of one run ----------------- */

typedef struct tirc_db_result {
  const char *id;            /* when read */
  const char *session;       /* any text that the contenders of a run share */
  const tirc_module *module; /* the unscheduled program; when read NULL, and `program` set, */
  const char *workload, *hash, *name, *program;
  const char *setting;       /* JSON: {"kernel": "qkv", "M": 128} */
  const char *contender;     /* rule_based, openblas, tuned, FMA ceiling, ... */
  const char *schedule;      /* its text, or NULL */
  const char *schedule_hash; /* when read */
  const char *target;
  int threads;
  const tirc_db_described *machine;
  const char *code, *message; /* NULL: it ran */
  double seconds;             /* the figure; put: 0 is the samples' median; NaN: there is none */
  int n_samples;
  const double *samples;
  bool disturbed; /* by others on the machine */
  tirc_db_conditions conditions;
  const char *more; /* JSON */
  double created;   /* put: 0 is now */
} tirc_db_result;
tirc_status tirc_db_put_result(tirc_db *db, const tirc_db_result *r, tirc_error **error);
/* In the order of their time. contender: NULL, of all. The filter's task is not looked at. */
tirc_status tirc_db_results(tirc_db *db, const tirc_db_filter *filter, const char *contender,
                            bool (*visit)(void *self, const tirc_db_result *r), void *self,
                            tirc_error **error);
/* What schedules are known by in results: the same text has the same hash. */
tirc_status tirc_db_text_hash(const char *text, char **hash, tirc_error **error);

/* --- whole databases -------------------------------------------------------------------------- */

typedef struct tirc_db_counts {
  int64_t workloads, tasks, trials, models, results;
} tirc_db_counts;
/* What `from` has and `db` has not, with *added of each (or NULL). A trial that is done there and
 * waiting here is done here, too; a model that was trained on more trials takes the other's place.
 * Each piece is stored for good, so what ends midway is done again. */
tirc_status tirc_db_merge(tirc_db *db, tirc_db *from, tirc_db_counts *added, tirc_error **error);
/* Of each task that the filter lets through the `keep` fastest trials stay, and those that are not
 * done; *removed (or NULL) have gone. */
tirc_status tirc_db_prune(tirc_db *db, const tirc_db_filter *filter, int64_t keep, int64_t *removed,
                          tirc_error **error);

/* --- models ----------------------------------------------------------------------------------- */

typedef struct tirc_db_model {
  const char *kind;   /* cost, knobs, ... */
  const char *target; /* with the kind, what it is known by: a newer one takes its place */
  const char *description;
  int64_t trained_on;
  const void *data;
  size_t n;
  double created; /* when read */
} tirc_db_model;
tirc_status tirc_db_put_model(tirc_db *db, const tirc_db_model *m, tirc_error **error);
/* TIRC_NO: there is none. */
tirc_status tirc_db_get_model(tirc_db *db, const char *kind, const char *target,
                              tirc_db_model **out, tirc_error **error);
void tirc_db_model_free(tirc_db_model *m);

#endif
