/* Exercises: the form that lessons and courses have. An exercise is a folder:
 *
 *     README.md      the text
 *     program.tir    what is to be scheduled
 *     exercise.sch   the schedule that one begins with
 *     check.sch      the goal: a script that looks at the scheduled program
 *     hints.md       hints, apart from each other by a line `---`
 *     solution.sch   a schedule that reaches the goal
 *     schedule.sch   one that the text speaks of
 *     goal.tir       a program that is to be reached
 *
 * of which the last four may be missing. A course is a folder of folders whose names begin with a
 * digit, in the order of their names, and a README.md, whose title is the course's. */
#ifndef TIRC_TOOLS_LESSON_EXERCISE_H
#define TIRC_TOOLS_LESSON_EXERCISE_H

#include "tools/kit/kit.h"

typedef struct Exercise {
  const char *name;                               /* of its folder: "01-blocks-and-iterators" */
  const char *page, *program, *start, *check;     /* texts; */
  const char *hints, *solution, *schedule, *goal; /* or NULL */
} Exercise;

typedef struct Course {
  const char *title, *page;
  int n;
  const Exercise *at;
} Course;

/* exercise.c: the files of an exercise, in the order of its fields; false behind the last. */
typedef struct ExerciseFile {
  const char *name;
  size_t field; /* where in an Exercise */
  bool may_be_missing;
  bool is_for_learners; /* --write writes it */
} ExerciseFile;
extern const ExerciseFile exercise_files[];
extern const int n_exercise_files;
const char *exercise_text(const Exercise *x, int file);

/* The first heading of a page; its length in *n. */
const char *title_of(const char *page, size_t *n);
/* Hint number i, from 0, and its length; NULL: there are no more. */
const char *hint_of(const Exercise *x, int i, size_t *n);

/* Eight digits that differ where programs or goals do. */
char *edition_of(const Course *c);

/* course.c: the lessons that are part of the command; */
const Course *lessons(void);
/* a folder: DONE, or BAD after what is wrong with it was reported. */
int read_course(const char *folder, Course *out);
/* The exercise that a word means: its number, or the name of its folder; -1: none. */
int find_exercise(const Course *c, const char *word);

/* check.c */
typedef struct Remark {
  bool ok;
  const char *text;
} Remark;
typedef struct Outcome {
  int status; /* DONE; NO: something is missing, or the schedule is refused; BAD: it is none */
  int n;
  Remark *at;
  tirc_error *error;    /* what the schedule was refused for, or why it was not run; or NULL */
  double ratio, wanted; /* times as fast; 0: it was not measured */
} Outcome;
/* How it is checked. run and ratio are compiled.c's, or NULL: then the schedule is interpreted,
 * only where nothing else is missing, and nothing is timed. */
typedef struct CheckOptions {
  int threads;
  int64_t script_steps, max_steps; /* of the script, of the interpreter; 0: the usual, no limit */
  tirc_status (*run)(const tirc_module *m, int threads, int n, const tirc_argument *args,
                     tirc_error **e);
  /* how many times as fast a is as b */
  tirc_status (*ratio)(const tirc_module *a, const tirc_module *b, int threads, int n,
                       const tirc_argument *args, double *ratio, tirc_error **e);
} CheckOptions;
/* What a solution or a text of a learner's does as a script: itself, but for a library of rules. */
typedef struct Prepared Prepared;
const char *exercise_script(const Prepared *g, const char *text);
/* A schedule: a file, or a text whose errors have that name. */
typedef struct Attempted {
  const char *path;
  const char *text; /* NULL: the file's */
} Attempted;
/* An exercise's program and what it should compute, which many schedules share: zeroed at first,
 * and freed by the caller. */
struct Prepared {
  const Exercise *x;
  tirc_module *program;
  int n;
  const tirc_param *params;
  tirc_argument *args;
  tirc_reference *expected;
  Prepared *small; /* the one that the interpreter runs, once it was asked for; or NULL */
};
/* The program and what it is given; what it computes is found out where it is asked for first, or
 * by compute_prepared. DONE, or BAD after the error was reported. */
int prepare_exercise(const Exercise *x, Prepared *g);
int compute_prepared(Prepared *g);
/* The one that is run where a schedule is interpreted: itself, or the same with smaller sizes. NULL
 * after an error was reported. */
Prepared *interpreted(Prepared *g);
void free_prepared(Prepared *g);
/* The verdict's error is the caller's. */
Outcome check_exercise(Prepared *g, Attempted what, const CheckOptions *o);
/* The prelude of every goal. */
const char *predicates(void);

/* compiled.c: the functions of CheckOptions that need a compiler. */
tirc_status run_compiled(const tirc_module *m, int threads, int n, const tirc_argument *args,
                         tirc_error **e);
tirc_status measure_ratio(const tirc_module *a, const tirc_module *b, int threads, int n,
                          const tirc_argument *args, double *ratio, tirc_error **e);

/* cache.c: what misses a cache of so many bytes, in lines of so many, each in one of `ways` places.
 */
typedef struct CacheShape {
  int64_t size, line, ways;
} CacheShape;
typedef struct ArrayMisses {
  const char *name;
  int64_t base, bytes; /* where it begins, and an element */
  int64_t accesses, misses;
} ArrayMisses;
typedef struct CacheCount {
  int n;
  ArrayMisses *at;
  int64_t accesses, misses;
  bool whole; /* false: there are more than `most` accesses, and only those were counted */
} CacheCount;
/* Of a run of the program, which writes into args. */
tirc_status count_misses(const tirc_module *m, int n, const tirc_argument *args, CacheShape shape,
                         int64_t most, CacheCount *out, tirc_error **error);

#endif
