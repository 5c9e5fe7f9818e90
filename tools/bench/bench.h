/* The parts of `tirc bench`. */
#ifndef TIRC_TOOLS_BENCH_H
#define TIRC_TOOLS_BENCH_H

#include "runtime/measure/statistics.h"
#include "runtime/measure/turns.h"
#include "tools/kit/json.h"
#include "tools/kit/kit.h"
#include "tools/results/chart.h"

typedef struct Bench Bench;
typedef struct Case Case;
typedef struct Operator Operator; /* rivals.h */

/* Somebody else's way to compute the program, named by --vs; see rivals.c. */
typedef struct Rival {
  const char *name, *install; /* how to get it */
  /* Before anything is measured: false, with why, when it cannot be used; otherwise `kernels` gets
   * which of its kernels it runs. */
  bool (*open)(const Bench *b, char *kernels, size_t size, const char **why);
  /* For one case: what run takes, or NULL, perhaps with why, when it has no such operator. Without
   * an operator the program is none that is known. */
  void *(*prepare)(const Bench *b, const Case *k, const Operator *op, const char **why);
  void (*run)(void *prepared);
  void (*free)(void *prepared);
  /* These may be NULL. Whether the program says what it is, so that prepare needs no operator; */
  bool (*is_named)(const Case *k);
  /* brings results to the arrays of the case, where run leaves them elsewhere; */
  void (*finish)(void *prepared);
  const char *(*note)(const void *prepared); /* what runs, for the table */
} Rival;
const Rival *find_rival(const char *name, size_t length);

/* A rule of the schedule that --ablate names; see ablate.c. */
typedef struct Rule {
  const char *name, *script;
  const char *start; /* of its definition in the script */
} Rule;

/* The machine; clocks in hertz, caches in bytes. */
typedef struct Profile {
  char cpu[256], governor[64], huge_pages[32]; /* "" unknown */
  int cores;
  int64_t l1, l2, l3;
  double clock_first, clock_low, clock_high;
} Profile;

/* A schedule's code as C, compiled and loaded; see backend.c. */
typedef struct Compiled Compiled;

/* What the program cannot do without, and nothing else: it computes nothing. */
typedef struct Ceiling {
  CeilingKind kind;
  bool (*has_work)(const Case *k);
  void (*run)(const Case *k);
} Ceiling;
enum { N_CEILINGS = 3 };

/* One way to compute the program: a schedule, or a rival; or a ceiling. What a study plans is one
 * that nothing is prepared of yet. */
typedef struct Contender {
  const char *name;   /* the script's file name without its ending, or the rival's */
  const char *script; /* NULL for a rival and a ceiling */
  const char *text;   /* of the schedule, if that is not what the file has */
  bool by_trace;      /* what the script comes to is what it is known by */
  bool tuned;         /* the best of the database; the script is "tuned" */
  bool automatic;     /* made by --auto; the script is "auto" */
  bool plain;         /* the program as it is */
  const Rival *rival;
  const Ceiling *ceiling; /* or NULL */
  const Case *of;         /* the case that it is the ceiling of */
  const Rule *without;    /* of the script, or NULL */
  char *note;             /* what a rival runs; or NULL */
  void *prepared;
  const struct Contender *ahead;  /* the one that this is, but for packing before the clock runs */
  struct Contender *packed_ahead; /* of that one: this; or NULL */
  tirc_argument *packed;          /* arrays that take the place of parameters */
  tirc_module *relaid;            /* the scheduled program, if that is because of their layout */
  bool skipped;                   /* its schedule fails, or its results are wrong */
  const char *compiler;           /* of the schedule's code as C; NULL: by LLVM in this process */
  Compiled *compiled;
  tirc_kernel *kernel;
  tirc_launch *launch;
  char *schedule; /* the text of what was run, for the database; NULL: it has none */
  /* What was measured; or, with a code, the error in which its schedule ended. */
  tirc_figures f;
  double counted[N_COUNTERS]; /* in all timed calls */
  tirc_module *scheduled;     /* of which blocks are timed; NULL: of none, or see relaid */
  Json *blocks;               /* their times, or NULL */
} Contender;

/* One program at one setting of its constants and one number of threads. */
struct Case {
  Setting at;
  char *file;       /* the program that the suite names, as messages do; NULL: the command line's */
  const char *text; /* of a program that is part of the command; NULL: it is a file */
  int line;         /* of the suite */
  tirc_executor *executor;
  int vector_bits;       /* of the target */
  tirc_array *from, *to; /* of the bandwidth ceiling, which may write past the caches */
  bool past_caches;
  tirc_conditions meanwhile; /* of the calmest attempt, whose the figures are */
  int64_t huge_bytes;        /* of this process on huge pages */
  tirc_module *program;
  tirc_cost cost;
  double integer_ops; /* on what is loaded; and the bits of the narrowest */
  int integer_bits;
  int n_params;
  tirc_param *params; /* their shapes without symbols */
  int n_symbols;
  tirc_symbol *symbols; /* of the program's shapes, with the values that they have here */
  tirc_argument *args;
  tirc_reference *reference;
  int n_contenders; /* the same ones in each case, the ceilings last */
  Contender *contenders;
  bool unstored; /* the database could not take it yet: its samples stay */
};

/* Where results are kept; see store.c. */
typedef struct ResultStore {
  struct tirc_db *db; /* NULL: nowhere */
  char *environment, *command, *machine;
  char session[96], profile[160];
} ResultStore;

/* How it is measured, and beside what, whoever asks for it. */
typedef struct Manner {
  const char *target, *threads; /* NULL: the usual ones; threads: "1,2" */
  const char *device;           /* what schedules run on; NULL: the processor */
  const char *database;         /* where the results go, and where --tuned looks; or NULL */
  double seconds, cool_down;    /* of timed calls for each contender; between cases */
  int turns;                    /* each contender has at least so many; 0: what is usual */
  int64_t attempts;
  bool pin, counters;
  bool ahead; /* a schedule that packs operands is measured without that, too */
  const char *vs, *ablate, *backend;
  bool tuned;  /* the best schedule that is known is a contender, too */
  bool blocks; /* each schedule is timed by block, too */
} Manner;

typedef struct BenchOptions {
  Running run;
  Manner how;
  const char *suite, *plot, *against, *figures, *write;
  const char *profile; /* NULL: none; "": of a model's functions; "blocks" */
  bool compare;
} BenchOptions;

struct Bench {
  const Running *o; /* the program, and what is said of its arrays and schedules */
  Manner how;
  bool of_programs; /* the suite's, each unscheduled and by --auto */
  bool tunes;       /* it is a search, which needs no schedules */
  tirc_target_info target;
  Profile profile;
  int n_threads; /* the numbers of threads to measure with */
  struct Threads {
    int threads;
    tirc_executor *executor;
  } * threads;
  int n_backends;
  struct Backend {
    char name[64], compiler[64]; /* compiler "": none */
  } backends[8];
  int n_rivals;
  struct Opened {
    const Rival *rival;
    char kernels[128];
  } rivals[8];
  int n_planned; /* the contenders of each case, but for ceilings */
  Contender *planned;
  int n_passed;      /* cases before the one that is measured that were not: they have figures */
  Counters counters; /* of --counters */
  ResultStore store; /* of --store */
  FILE *out;         /* where the tables go; NULL: nowhere */
  bool wrong;        /* some contender computed something else */
  double started;
  int n_cases, n_measured;
  Case *cases;
};

int bench_model(const BenchOptions *o); /* bench_model.c: of a model */
/* The command without its command line: these contenders of the program that the options name,
 * tables and all. best (or NULL) gets the seconds of each one's fastest call, 0 where there is
 * none.
 */
int bench_contenders(const Running *o, const Manner *how, int n, Contender *planned, double *best);
/* What is measured for: the target, the threads, the backends. DONE or BAD */
int open_bench(Bench *b);
void close_bench(Bench *b);
/* False after saying that it is left out, and why. */
bool open_rival(Bench *b, const Rival *r);
/* settings.c: whether the command line names a program and something to measure; BAD after saying
 * that it does not. */
bool has_contenders(const Bench *b);
int usage_of_bench(void);
/* settings.c, suite.c: the cases, of a suite (NULL: of none) and -D. DONE or BAD */
int make_cases(Bench *b, const char *suite);
/* The lines of the suite, with these -D over them; says whether they name programs. DONE or
 * BAD */
int read_suite(Bench *b, const char *name, const List *define);
/* Each program that the command line names, with the -D options that it has the name of. */
int read_programs(Bench *b);
/* A suite that is part of the command, as files in a folder. */
int write_suite(const char *suite, const char *folder);
/* A program that is part of the command, as a suite names it: conv2d.tir; or NULL. */
const char *known_program(const char *name);
bool is_known_suite(const char *name);
int multiply_threads(Bench *b); /* every case for each number of threads: DONE or BAD */
void free_cases(Bench *b);
char *name_of_case(const Case *k); /* qkv/M=16,N=768 */
/* arrays.c: DONE or BAD. A program that the command line or a suite names; */
int load_named(const Loading *o, const char *file, const char *text, int n,
               const tirc_define *defines, tirc_module **out);
/* whether a name is that of a scalar parameter or of a symbolic extent, not of a constant; */
bool is_size(const tirc_module *m, const char *name);
/* a program (text: NULL, or what stands in the file) without its settings; NULL: it has no sense
 * without them, or can be read but once; */
tirc_module *read_plain(const char *file, const char *text);
/* the program with the setting's constants; */
int load_case(const Bench *b, Case *k);
/* its parameters, random arrays and scalars by the setting's sizes. */
int make_arrays(const Bench *b, Case *k);
/* Of a program without scalars and symbols: random arrays, to be freed by free_arguments. */
tirc_status random_arguments(const tirc_module *m, int *n, tirc_argument **args, tirc_error **e);
/* The same for parameter i of the scheduled program, where its layout is another. */
bool new_array_after(const Case *k, const tirc_module *scheduled, int i, tirc_array **out,
                     tirc_error **e);
void poison_results(const Case *k, tirc_argument *args); /* NaN where the program writes */
/* prepare.c */
/* DONE, or BAD when nothing can be measured at all */
int prepare_case(Bench *b, Case *k);
void release_case(Case *k);                /* its figures stay */
void release_arrays(Case *k);              /* and its program */
void release_samples(Case *k);             /* and what the database needs */
int call_contender(void *contender);       /* other than 0: it has failed */
double contender_seconds(void *contender); /* tirc_launch_seconds of its launch, or -1 */
/* backend.c */
int read_backends(Bench *b); /* DONE or BAD */
Compiled *compile_contender(const Bench *b, const Case *k, const tirc_module *m,
                            const char *compiler, const tirc_argument *args, const char **why,
                            tirc_error **e);
/* From a source with a function `callee` that takes the parameters, and behind them the symbolic
 * extents of m unless that is NULL; NULL, with why, and the compiler's errors to b->out. */
Compiled *compile_source(const Bench *b, const Case *k, const tirc_module *m, const char *callee,
                         const char *compiler, const char *source, const tirc_argument *args,
                         const char **why);
void call_compiled(const Compiled *c);
const char *first_compiler(void); /* of C; NULL when there is none */
/* ahead.c: skipped when the schedule packs nothing ahead */
void prepare_ahead(const Bench *b, const Case *k, Contender *c, const tirc_module *scheduled);
/* What it is called with. */
tirc_argument *contender_arguments(const Case *k, const Contender *c);
void release_ahead(const Case *k, Contender *c);
/* ceiling.c: the last contenders of a case. */
int ceiling_bits(const Bench *b); /* of their vectors; 0: the processor has no AVX2 and FMA */
int count_cost(Case *k);          /* for its arguments; DONE or BAD */
void add_ceilings(const Bench *b, Case *k);
int prepare_ceiling(Case *k, Contender *c); /* DONE or BAD */
void release_ceilings(Case *k);
/* The one that takes longer; NULL where none was measured: no AVX2 and FMA. */
const Contender *binding_ceiling(const Case *k);
/* The best rate of the FMA ceiling in any call of the run on so many threads, operations a second;
 * or 0. */
double best_rate(const Bench *b, int threads);
/* What the binding ceiling takes at its best: at that rate, or in the best of its calls; or 0. */
double best_seconds(const Bench *b, const Case *k);
/* measure.c */
void measure_case(Bench *b, Case *k); /* again while something disturbs it */

/* noise.c */
int list_disturbances(const Case *k, const char **names);         /* at most N_DISTURBANCES words */
void describe_disturbance(const Case *k, char *out, size_t size); /* "" if it is none */
void print_disturbance(const Bench *b, const Case *k);
/* Why its share of the binding ceiling is above 100 %; false if it is not. */
bool explain_excess(const Bench *b, const Case *k, const Contender *c, char *out, size_t size);
void print_excesses(const Bench *b, const Case *k);

/* stats.c */
/* How many times faster `of` is than `base`, of the same case. Either may be NULL. */
tirc_ratio ratio_to(const Contender *of, const Contender *base);
typedef struct Lowest {
  const Case *at;
  double ratio;
} Lowest;
/* The same over all measured cases that `chosen` lets in (NULL: any kernel; threads 0: any): the
 * geometric mean for contender i against contender `base`, and the case with the lowest ratio. */
tirc_ratio mean_ratio(const Bench *b, const char *kernel, int threads, int i, int base,
                      Lowest *lowest);
enum { BINDING = -1 }; /* as base: the ceiling that binds in each case */
/* The same for the binding ceiling at its best against contender i, or 0. */
double mean_best_share(const Bench *b, const char *kernel, int threads, int i);
/* The same for contender i against itself on the fewest threads of the run. */
tirc_ratio mean_scaling(const Bench *b, const char *kernel, int threads, int i, Lowest *lowest);
int fewest_threads(const Bench *b);
bool is_chosen(const Bench *b, const Case *k, const char *kernel, int threads);
/* Whether there is any figure of contender i in what is chosen. */
bool was_measured(const Bench *b, const char *kernel, int threads, int i);
/* The kernels' names, each once. */
int list_kernels(const Bench *b, const char **out, int most);

int contender_width(const Case *k, const char *head); /* of a column with the measured contenders */

/* print.c */
void tell(const Bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void print_case(const Bench *b, const Case *k);
void print_summary(const Bench *b);
/* counts.c: --counters */
int start_counters(Bench *b); /* before any thread is started */
void print_counts(const Bench *b, const Case *k);
/* What one call counts; NaN where that is not known. */
double count_of(const Contender *c, CounterKind kind);
/* overview.c: of a suite of programs, a row for each */
void print_overview(const Bench *b, int threads);
/* json.c */
int write_figures(const Bench *b, const char *path);
void add_setting(Json *j, const Case *k); /* M, N, K, and what -D sets */
/* store.c: every sample, in a database. Before anything is measured: DONE or BAD; */
int open_store(Bench *b);
char *environment_description(const Bench *b); /* versions, as JSON */
/* when a case was measured: stored whole or, after a warning, tried again after the next one; */
void store_case(Bench *b, Case *k);
/* what still waits goes to a database at that path instead: BAD after saying so, if there is any;
 */
int rescue_store(Bench *b, const char *path);
/* at the end: what could not be stored so far. DONE, or BAD after saying what is not stored. */
int close_store(Bench *b);
/* profile.c */
void profile_machine(Profile *p);
void print_profile(const Bench *b);
/* Of this process, in bytes: the line of that name in /proc/self/FILE, or 0; and its huge pages. */
int64_t process_memory(const char *file, const char *what);
int64_t huge_pages_in_use(void);
/* ablate.c */
/* The script without each of its rules. DONE or BAD */
int plan_rules(Bench *b, const char *path);
/* Where the text defines `def rule_x(`, given rule_x; or NULL. */
const char *find_rule_named(const char *text, const char *name);
/* The text with a return at the start of rule_x; NULL: it has no body. */
char *script_without(const char *text, const char *name);
void keep_failure(Contender *c, const tirc_error *e);
void print_ablation(const Bench *b);
/* chart.c */
/* What was measured so far, for pictures. */
void chart_of(const Bench *b, Chart *out);
/* compare.c: two files that write_figures wrote */
int compare_files(const List *args);

#endif
