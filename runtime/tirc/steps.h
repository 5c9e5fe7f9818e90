/* Schedules step by step: what each call of a script did. */
#ifndef TIRC_TIRC_STEPS_H
#define TIRC_TIRC_STEPS_H

#include "schedule.h"

TIRC_C_BEGIN

/* A buffer that a block accesses, or that a block or function declares. */
typedef struct tirc_access {
  const char *buffer;
  const char *detail; /* the region, "A[vi, vk]"; for a declared buffer "float32[16, 8]" */
  const char *scope;  /* "global", ... of a declared buffer; otherwise NULL */
} tirc_access;

/* A function, loop or block of a program, in the order of its text. */
typedef enum tirc_node_kind { TIRC_FUNCTION, TIRC_LOOP, TIRC_BLOCK } tirc_node_kind;
typedef struct tirc_node {
  tirc_node_kind kind;
  int depth; /* 0: a function */
  int line;  /* in the text, from 1 */
  const char *name;
  const char *annotations; /* as text, or NULL */
  /* loops: "serial", "parallel", "vectorized", "unroll" or "thread_binding"; the extent as printed
   * ("128", "n"); the thread axis, or NULL */
  const char *loop_kind, *extent, *thread;
  /* blocks: the kinds of the iterators ("SSR"), the condition under which it runs, or NULL */
  const char *iters, *predicate;
  bool has_init;
  int n_reads, n_writes, n_allocs; /* functions: the arrays they take are their allocs */
  const tirc_access *reads, *writes, *allocs;
} tirc_node;

/* A program as text, and its loops and blocks. */
typedef struct tirc_view {
  const char *text;
  int n;
  const tirc_node *nodes;
} tirc_view;

/* Code that is legal but probably not intended. */
typedef struct tirc_warning {
  const char *code, *message; /* as passed to options->warn */
} tirc_warning;

/* One call of a primitive. */
typedef struct tirc_step {
  const char *primitive, *call; /* "split", "sch.split(j, factors=[None, 32])" */
  const char *sentence;         /* what it did */
  const char *file;
  int line, column;
  const tirc_view *before, *after; /* the same pointer if the program did not change */
  const tirc_error *error;         /* NULL: it succeeded */
  int n_warnings;
  const tirc_warning *warnings;
  const char *rule, *reason; /* of tirc_module_steps_auto: whose call it is, and why; or NULL */
} tirc_step;

typedef struct tirc_steps tirc_steps;
/* Runs a schedule script (a file; "-" is standard input) and records what each call did. A script
 * that fails has steps, too, and tirc_steps_error says how it ended. */
TIRC_API tirc_status tirc_module_steps(const tirc_module *m, const char *path,
                                       const tirc_schedule_options *options, tirc_steps **out,
                                       tirc_error **error);
TIRC_API tirc_status tirc_module_steps_text(const tirc_module *m, const char *text, size_t length,
                                            const char *name, const tirc_schedule_options *options,
                                            tirc_steps **out, tirc_error **error);
/* The steps of tirc_module_auto; its script consists of plain calls. */
TIRC_API tirc_status tirc_module_steps_auto(const tirc_module *m,
                                            const tirc_auto_options *auto_options,
                                            const tirc_schedule_options *options, tirc_steps **out,
                                            tirc_error **error);
TIRC_API void tirc_steps_free(tirc_steps *s);
TIRC_API int tirc_steps_count(const tirc_steps *s);
TIRC_API const tirc_step *tirc_steps_at(const tirc_steps *s,
                                        int i);              /* from 0; NULL after the last one */
TIRC_API const char *tirc_steps_script(const tirc_steps *s); /* the script's text */
TIRC_API const tirc_view *tirc_steps_first(const tirc_steps *s); /* before the first call */
/* The program after the whole script; NULL if the script failed. */
TIRC_API const tirc_view *tirc_steps_last(const tirc_steps *s);
TIRC_API const tirc_error *tirc_steps_error(const tirc_steps *s); /* NULL: it ran to its end */
/* The program that a view shows; it belongs to the steps. NULL for a view of other steps. */
TIRC_API const tirc_module *tirc_steps_module(const tirc_steps *s, const tirc_view *view);

TIRC_C_END
#endif
