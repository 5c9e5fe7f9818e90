/* Searching for the best schedule. */
#ifndef TIRC_TIRC_TUNE_H
#define TIRC_TIRC_TUNE_H

#include "run.h"
#include "schedule.h"

TIRC_C_BEGIN

/* A program to be tuned: tirc_module_space says what is tried. */
typedef struct tirc_tune_task {
  const tirc_module *module;
  const char *name; /* for what is told, or NULL */
  double weight;    /* how much its time counts; 0: 1 */
  int n_symbols;    /* values for its symbolic extents and scalars, to measure with */
  const tirc_symbol *symbols;
} tirc_tune_task;

/* The code of a trial that works, and was called only a few times because the fastest of its calls
 * was far slower than the best: its samples are a bound, and no time. */
#define TIRC_HOPELESS "hopeless"

/* One candidate that was measured. */
typedef struct tirc_tune_event {
  int task;
  int64_t trial, trials; /* of the task, from 1; of all tasks together so far */
  const char *way;       /* the rule of the space that made it */
  const char *trace;     /* as JSON, with its decisions */
  /* The median; INFINITY: it failed, for the reason `code`, or it is "hopeless": several calls were
   * each far slower than the best, and how slow it usually is was not measured. */
  double seconds;
  const char *code, *message;
  double best, automatic; /* of the task so far, and of --auto's schedule; INFINITY: none yet */
  double elapsed;         /* seconds since the start */
  bool is_best;
  double load; /* cores that other processes used meanwhile */
} tirc_tune_event;

typedef struct tirc_tune_failure {
  const char *code; /* a ScheduleError's, "declined" by a rule, "timeout", "crash", "memory", ... */
  const char *message; /* of the first one */
  int64_t n;
} tirc_tune_failure;

typedef struct tirc_tune_result {
  tirc_module *module; /* the best schedule, plain calls its trace; NULL: no candidate works */
  double seconds, automatic; /* measured in turns at the end; INFINITY: not */
  const char *way;
  int64_t trials, failed, made; /* measured, of them those that failed, and candidates looked at */
  int n_failures;
  const tirc_tune_failure *failures;
  double rank_correlation; /* of what was expected with what was measured; NAN: of too few */
  bool wrong;              /* some candidate computed something else: a defect of ours */
} tirc_tune_result;

/* What the random arrays of a parameter are drawn from. */
typedef struct tirc_input_range {
  const char *param;
  double low, high;
} tirc_input_range;

typedef struct tirc_tune_options {
  const char *target; /* NULL: "haswell" */
  const char *rules;  /* a library whose rules come before the built-in ones, or NULL */
  int threads;        /* 0: as for tirc_executor_new */
  int64_t trials;     /* for each task on the average; 0: 64 */
  double seconds;     /* the search ends after so many, 0: no limit */
  int64_t seed;       /* the same one draws the same, but what is measured differs */
  int64_t max_steps;  /* of a rule library; 0: as schedules */
  /* Where all trials are kept, a path or postgresql://..., "" the default: what is there of a task
   * counts, and the search goes on from it. Any number of processes search together in one. NULL:
   * nowhere. */
  const char *database;
  /* What says which candidates are measured: "model" (NULL: this), "estimate", or "random", which
   * draws each anew and learns nothing. */
  const char *ranking;
  /* How often what kind of decision is changed to make a candidate of another: "tile=1,category=1,
   * parallel=0.5,location=0.5,way=0.1" (NULL: this), some of them or all. */
  const char *mutations;
  double lease; /* seconds after which a process that says nothing is taken for lost; 0: 60 */
  void *self;   /* handed to the functions, each of which may be NULL */
  void (*told)(void *self, const tirc_tune_event *event);
  /* The database is waited for; it is there again; other processes have what is left to do. */
  void (*warn)(void *self, const char *message);
  bool (*go_on)(void *self); /* false ends the search with what it has */
  void (*waits)(void *self); /* other processes have what is left to do; called now and then */
  /* What candidates run on, as for tirc_kernel_new_on; NULL: the processor. A device needs rules
   * that bind loops to blocks and threads; target is then the GPU's, and the database keeps the
   * trials under it, or under "opencl". */
  const char *device;
} tirc_tune_options;

/* Searches for the best schedules of n programs: candidates are compiled and timed, each in a
 * process of its own, and every new best is compared with what the program itself computes. results
 * gets n; free them with tirc_tune_results_free. TIRC_NO: the database was lost on the way; results
 * holds what there was until then, and *error says why. TIRC_BAD: a library of rules is wrong, a
 * program has an extent without a value, or does not run, or there is no such database. */
TIRC_API tirc_status tirc_tune(int n, const tirc_tune_task *tasks, const tirc_tune_options *options,
                               tirc_tune_result **results, tirc_error **error);
/* The same, with inputs that a program can do something with; a task without such a parameter
 * passes a range over. */
TIRC_API tirc_status tirc_tune_in_ranges(int n, const tirc_tune_task *tasks,
                                         const tirc_tune_options *options, int n_ranges,
                                         const tirc_input_range *ranges, tirc_tune_result **results,
                                         tirc_error **error);
TIRC_API void tirc_tune_results_free(int n, tirc_tune_result *results);
/* Cores that other processes used while the candidates of task i were measured, or while the best
 * ones were compared at the end, whichever is more: above a tenth, times are disturbed. */
TIRC_API double tirc_tune_load(const tirc_tune_result *results, int i);
/* The best schedule that a database (NULL: the default) has for this very program (its structural
 * hash), the target and so many threads (0: as for tirc_executor_new), of this machine or else of
 * any; its trace is plain calls. A record that cannot be applied is passed over for the fastest of
 * the same task that can. Where there is none, it is what tirc_module_auto makes, and options->warn
 * is told ("not-tuned"), or, with options->strict, that is an error and TIRC_NO.
 * auto_options->tried hears which record was taken. TIRC_BAD: the database cannot be read. */
TIRC_API tirc_status tirc_module_tuned(const tirc_module *m, const char *database, int threads,
                                       const tirc_auto_options *auto_options,
                                       const tirc_schedule_options *options, tirc_module **out,
                                       tirc_error **error);
/* Notes in a database (NULL: the default) for which sizes a program was tuned: those that
 * tirc_module_with_sizes noted in it. From then on tirc_module_tuned makes of the program, also
 * where no sizes are noted in it, a function that chooses by them: each number and range has the
 * best schedule of tirc_module_for_sizes. target: NULL for "haswell". */
TIRC_API tirc_status tirc_module_keep_sizes(const tirc_module *m, const char *database,
                                            const char *target, tirc_error **error);

TIRC_C_END
#endif
