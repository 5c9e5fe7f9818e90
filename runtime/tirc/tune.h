/* Searching for the best schedule. */
#ifndef TIRC_TIRC_TUNE_H
#define TIRC_TIRC_TUNE_H

#include "run.h"
#include "schedule.h"

TIRC_C_BEGIN

/* A program to be tuned; tirc_module_space shows what is tried. */
typedef struct tirc_tune_task {
  const tirc_module *module;
  const char *name; /* for reports, or NULL */
  double weight;    /* the weight of its time; 0: 1 */
  int n_symbols;    /* values for its symbolic extents and scalars, to measure with */
  const tirc_symbol *symbols;
} tirc_tune_task;

/* The code of a trial that works, but was called only a few times because the fastest of its calls
 * was far slower than the best. Its samples are a bound, not a time. */
#define TIRC_HOPELESS "hopeless"

/* One candidate that was measured. */
typedef struct tirc_tune_event {
  int task;
  int64_t trial, trials; /* of the task, from 1; of all tasks so far */
  const char *way;       /* the rule of the space that made it */
  const char *trace;     /* as JSON, with its decisions */
  /* The median. INFINITY: it failed, with the reason `code`, or it is "hopeless": several calls
   * were each far slower than the best, and its usual time was not measured. */
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
  tirc_module *module; /* the best schedule; its trace is plain calls. NULL: no candidate works */
  double seconds, automatic; /* measured in turns at the end; INFINITY: not measured */
  const char *way;
  int64_t trials, failed, made; /* measured, failed ones among these, candidates made */
  int n_failures;
  const tirc_tune_failure *failures;
  double rank_correlation; /* of expected and measured times; NAN: too few */
  bool wrong;              /* some candidate computed something else: a bug in tirc */
} tirc_tune_result;

/* The range from which the random elements of a parameter are drawn. */
typedef struct tirc_input_range {
  const char *param;
  double low, high;
} tirc_input_range;

typedef struct tirc_tune_options {
  const char *target; /* NULL: "haswell" */
  const char *rules;  /* a library whose rules come before the built-in ones, or NULL */
  int threads;        /* 0: as for tirc_executor_new */
  int64_t trials;     /* for each task on average; 0: 64 */
  double seconds;     /* the search ends after so many, 0: no limit */
  int64_t seed;       /* the same seed draws the same, but measured times differ */
  int64_t max_steps;  /* of a rule library; 0: as for schedules */
  /* Where all trials are kept: a path or postgresql://...; "": the default. Previous trials of a
   * task count, and the search continues from them. Any number of processes can search together in
   * one database. NULL: nowhere. */
  const char *database;
  /* What chooses the candidates to be measured: "model" (NULL: this), "estimate", or "random",
   * which draws each candidate at random and learns nothing. */
  const char *ranking;
  /* How often each kind of decision is changed to make one candidate from another: all or some of
   * "tile=1,category=1,parallel=0.5,location=0.5,way=0.1" (NULL: this). */
  const char *mutations;
  double lease; /* after so many seconds a silent process counts as lost; 0: 60 */
  void *self;   /* handed to the functions, each of which may be NULL */
  void (*told)(void *self, const tirc_tune_event *event);
  /* The search waits for the database; the database is back; other processes have the rest of the
   * work. */
  void (*warn)(void *self, const char *message);
  bool (*go_on)(void *self); /* false ends the search with the results so far */
  void (*waits)(void *self); /* other processes have what is left to do; called now and then */
  /* Where candidates run, as for tirc_kernel_new_on; NULL: the processor. A device needs rules that
   * bind loops to blocks and threads. target is then the GPU's, and the database keeps the trials
   * under it, or under "opencl". */
  const char *device;
} tirc_tune_options;

/* Searches for the best schedules of n programs. Candidates are compiled and timed, each in a
 * separate process, and every new best is compared with what the program itself computes. results
 * gets n entries; free them with tirc_tune_results_free. TIRC_NO: the database was lost during the
 * search; results holds what was found until then, and *error says why. TIRC_BAD: a library of
 * rules is wrong, a program has an extent without a value or does not run, or there is no such
 * database. */
TIRC_API tirc_status tirc_tune(int n, const tirc_tune_task *tasks, const tirc_tune_options *options,
                               tirc_tune_result **results, tirc_error **error);
/* The same, with inputs from given ranges, so that a program can use them; a task without such a
 * parameter ignores its range. */
TIRC_API tirc_status tirc_tune_in_ranges(int n, const tirc_tune_task *tasks,
                                         const tirc_tune_options *options, int n_ranges,
                                         const tirc_input_range *ranges, tirc_tune_result **results,
                                         tirc_error **error);
TIRC_API void tirc_tune_results_free(int n, tirc_tune_result *results);
/* Cores that other processes used while the candidates of task i were measured, or while the best
 * ones were compared at the end, whichever is more. Above a tenth, times are disturbed. */
TIRC_API double tirc_tune_load(const tirc_tune_result *results, int i);
/* A candidate that was the fastest in its own trial, and is not the result: in the comparison at
 * the end, in turns with the others, it lost. */
typedef struct tirc_tune_loss {
  const char *way;      /* the rule of the space that made it; as long as the results */
  double trial, finals; /* seconds in its trial, and at the end; INFINITY: it failed there */
  bool to_automatic;    /* --auto's schedule stays, as no other was certainly faster */
} tirc_tune_loss;
/* Whether that happened to task i; *out is filled in then. */
TIRC_API bool tirc_tune_lost(const tirc_tune_result *results, int i, tirc_tune_loss *out);
/* The best schedule that a database (NULL: the default) has for exactly this program (by its
 * structural hash), the target and so many threads (0: as for tirc_executor_new), of this machine
 * or else of any machine. Its trace consists of plain calls. If a record cannot be applied, the
 * fastest one of the same task that can is used. If there is none, the result is that of
 * tirc_module_auto, and options->warn is called ("not-tuned"); with options->strict, that is an
 * error and TIRC_NO. auto_options->tried receives which record was taken. TIRC_BAD: the database
 * cannot be read. */
TIRC_API tirc_status tirc_module_tuned(const tirc_module *m, const char *database, int threads,
                                       const tirc_auto_options *auto_options,
                                       const tirc_schedule_options *options, tirc_module **out,
                                       tirc_error **error);
/* Records in a database (NULL: the default) for which sizes a program was tuned, namely those that
 * tirc_module_with_sizes noted in it. From then on, tirc_module_tuned turns the program, even if no
 * sizes are noted in it, into a function that chooses by these sizes: each number and range has the
 * best schedule of tirc_module_for_sizes. target: NULL for "haswell". */
TIRC_API tirc_status tirc_module_keep_sizes(const tirc_module *m, const char *database,
                                            const char *target, tirc_error **error);

TIRC_C_END
#endif
