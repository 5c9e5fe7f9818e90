/* The parts of `tirc study`: a script says what is compared (read.c, plans.c,
 * study.def), what the database lacks of it is measured (run.c), claims are judged from what
 * it has (claims.c), and a folder gets the report (report.c). */
#ifndef TIRC_TOOLS_STUDY_H
#define TIRC_TOOLS_STUDY_H

#include "tools/bench/bench.h"
#include "tools/results/database.h"
#include "tools/results/held.h"

#include "runtime/api/schedule.h"

typedef struct StudyOptions {
  Asked asked;
  const char *write;
  List define; /* "M=[16, 32]": in place of the study's line M = ... */
  bool quick, names, again;
} StudyOptions;

/* A contender of the study; those of the same text in a setting are measured once. */
typedef struct Plan {
  Contender what;
  const char *expect_error; /* or NULL */
  const char *of, *value;   /* of ablate: the contender whose schedule was changed, and to what */
  const char *missing;      /* why it cannot be measured at all; NULL: it can */
  CeilingKind ceiling;      /* none, but of the last ones, which no study names */
  char *hash;               /* of its text; NULL: it has none, or one for each setting */
  Loc loc;
} Plan;

typedef struct Names {
  int n;
  const char **at;
} Names;

/* A ratio, or range of ratios, that was published or is expected. */
enum { MOST_KEYS = 4 };
typedef struct Foretold {
  const char *keys[MOST_KEYS]; /* contender, kernel, setting, threads, in any order; NULL: any */
  double low, high;
} Foretold;
typedef VEC(Foretold) ForetoldList;
extern const char each_setting[]; /* the key of a figure that is every setting's */

typedef enum Grouping { BY_ALL, BY_KERNEL, BY_SETTING, BY_THREADS } Grouping;

typedef struct Comparison { /* table() */
  const char *title, *note;
  Names of, against;
  Grouping by;
  bool is_time; /* the ratio of times, not of speeds */
  ForetoldList published, expected;
  Loc loc;
} Comparison;

typedef struct Figure { /* plot() */
  const char *title, *kind, *note;
  Names of;
  const char *against; /* the contender that all are compared with; NULL: rates are drawn */
  bool is_time;        /* that ratio is one of times, not of speeds */
  Loc loc;
} Figure;

typedef struct Estimate {             /* estimate() */
  const char *title, *against, *note; /* against: or NULL */
  Names of;
  Loc loc;
} Estimate;

typedef struct Workload { /* workload() or suite() */
  const char *program, *suite, *name;
  Names sizes; /* "M=16,32" */
  Loc loc;
} Workload;

/* What is measured for one target. */
typedef struct Ground {
  Bench b;
  Held **held;       /* [case * plans + plan]; NULL: the database has none */
  char **texts;      /* hashes of schedules that each setting has its own of, likewise */
  char **hashes;     /* of the programs, [case] */
  bool *bare;        /* no rule schedules it: `auto` is the program as it is, likewise */
  bool *lacks;       /* what the database had not all of at the start, likewise */
  char *environment; /* now; JSON */
  bool *sized;       /* whether sizes are besides the program, likewise */
} Ground;

typedef struct Study {
  const StudyOptions *o;
  Running usual;                     /* no options of programs and schedules */
  const char *title, *path, *folder; /* folder: where the script is, with a slash, or "" */
  char *report;                      /* the folder of the report */
  tirc_schedule *script;             /* what is read lives in its memory */
  VEC(Workload) workloads;
  VEC(Plan) plans;
  VEC(Comparison) comparisons;
  VEC(Figure) figures;
  VEC(Figure) tile_tables; /* tiles() */
  VEC(Estimate) estimates;
  VEC(const char *) targets;
  const char *threads; /* "1,2" */
  int turns, attempts;
  double seconds, cool_down;
  bool pin;
  int n_grounds;
  Ground *grounds;
  int n_units, n_done;       /* settings, and those that nothing is missing of */
  int n_missing, n_measured; /* settings: in this run */
  double started;
} Study;

/* read.c: DONE, or the exit status after the error was reported */
int read_study(Study *s);
void print_study_names(FILE *to);
/* plans.c */
int find_plan(const Study *s, const char *name); /* -1: there is none */
/* Where the text has `name = ` at the start of a line, and the line's end; NULL: nowhere. */
const char *find_assignment(const char *text, const char *name, const char **end);
typedef struct Made {
  bool untuned; /* nothing was tuned of the program */
  bool bare;    /* no rule schedules it */
} Made;
/* A `warn` whose self is one. */
void note_made(void *self, const char *file, int line, int column, const char *message,
               const char *code);

/* run.c */
int prepare_study(Study *s); /* what there is to measure, and what the database has of it */
int run_study(Study *s);     /* what is missing; NO after an interrupt */
int close_study(Study *s);   /* the databases: BAD after saying what is not stored */
void free_study(Study *s);
const Held *held(const Study *s, const Ground *g, const Case *k, int plan);

/* claims.c */
typedef enum Verdict { NOT_SAID, CARRIES_OVER, DIFFERS, UNDECIDED } Verdict;
typedef struct Judged {
  const Foretold *figure; /* NULL: nobody said one for this row */
  Verdict verdict;
  const char *why; /* of UNDECIDED */
} Judged;
typedef struct Claim {
  const Comparison *of;
  const char *contender, *kernel; /* kernel NULL: all */
  const Case *setting;            /* of a table by setting, else NULL */
  const Ground *ground;
  int threads;
  bool is_doubtful;     /* measured while the machine was busy */
  tirc_ratio measured;  /* value 0: there is nothing to compare */
  int n, n_busy, n_all; /* settings in it, left out as busy, and in all */
  Judged published, expected;
} Claim;
/* Visits the rows of a comparison, in order. */
void visit_claims(const Study *s, const Comparison *t, void (*visit)(void *self, const Claim *c),
                  void *self);
const char *verdict_name(Verdict v, bool expected);
typedef struct Total {
  double seconds; /* of all calls of what was measured */
  int n, n_all;   /* settings with a median, and in all */
  bool busy;
} Total;
Total sum_of_calls(const Study *s, const Ground *g, int threads, int plan);
/* Of a contender that must fail: whether it did, everywhere; *message gets what happened. */
Verdict judge_failure(const Study *s, int plan, const char **message);

/* tiles.c */
typedef struct Tiles {
  int64_t m, n, k, vector_width;
} Tiles;
/* Of any scheduled program; false: it is no product. */
bool tiles_of(const tirc_module *plain, const tirc_module *scheduled, Tiles *out);

/* plot.c: FOLDER/NAME.svg and .png; false when there is nothing to draw */
bool draw_figure(const Study *s, const Ground *g, const Figure *f, const char *kernel, int threads,
                 const char *name);

/* report.c */
int write_report(const Study *s);
/* data.c: DONE or BAD */
int write_report_data(const Study *s);

#endif
