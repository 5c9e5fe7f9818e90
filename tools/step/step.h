/* The parts of `tirc step`: what is shown of a schedule's steps, as text, as data and as a page. */
#ifndef TIRC_TOOLS_STEP_H
#define TIRC_TOOLS_STEP_H

#include "diff.h"
#include "tools/kit/kit.h"

#include <json-c/json.h>

typedef struct StepOptions {
  Making make;
  const char *from, *to, *html, *profile, *array, *playground;
  List only, instance;
  bool as_json, report;
} StepOptions;

/* What was asked for: which of the steps. */
typedef struct StepChoice {
  int n;                        /* steps in all */
  bool *shown;                  /* one a step */
  struct json_object *warnings; /* of the program itself, or NULL */
} StepChoice;

/* tree.c: the loops and blocks of a program, one a line, indented by depth. */
char *tree_text(const tirc_view *v);
/* "for i in 128", "block C [SSR]: reads A, B; writes C"; into out. */
void tree_line(const tirc_node *node, FILE *to);

/* text.c */
void print_diff(const Diff *d, FILE *to);
/* Of a step that failed: the error and the program. */
int print_refusal(const tirc_step *step);
int print_steps(const tirc_steps *s, const StepChoice *choice);

/* json.c: adds a warning to a list, which it makes when there is none; the hint is what
 * `tirc explain` says of a code of its own. */
void add_warning(struct json_object **list, const char *code, const char *message);
struct json_object *error_as_json(const tirc_error *e);
/* All as one object; the caller owns it. */
struct json_object *steps_as_json(const tirc_steps *s, const StepChoice *choice);

/* A program as it was read: for reading it again with other constants. */
typedef struct ProgramText {
  const char *name;
  char *text;
  size_t n;
} ProgramText;

/* trace.c: the accesses of a run, at most `budget`; *whole is false when that was not all of
 * it, or it failed. given: NAME=VALUE for scalars and symbolic extents. accesses and whole may be
 * NULL. */
struct json_object *trace_as_json(const tirc_module *m, const List *given, int64_t budget,
                                  int64_t *accesses, bool *whole);

/* instance.c: DONE, or BAD after saying which --instance names nothing or no size. */
int check_instance(const StepOptions *o, const tirc_module *m);
/* The steps of a small instance of the program; NULL when there is none. *setting
 * says which. */
tirc_steps *small_instance(const StepOptions *o, const ProgramText *program, const tirc_module *m,
                           const tirc_steps *full, int64_t budget, char **setting);

/* profile.c: the time of each loop and block of the program after the last step, as an object of
 * data; DONE, or BAD. */
int add_profile(const StepOptions *o, const tirc_steps *s, struct json_object *data);

/* report.c: what its kernels ask of a GPU's memory, as an object of data; DONE, or BAD. */
int add_report(const StepOptions *o, const tirc_steps *s, struct json_object *data);

/* data.c: what a page shows, but for the accesses; `script` is what the script is called. The owner
 * is the caller. */
struct json_object *page_data(const ProgramText *program, const char *script, const tirc_steps *s,
                              const StepChoice *choice);
/* The accesses of a small instance after each step; NULL when there is none. */
struct json_object *page_traces(const StepOptions *o, const ProgramText *program,
                                const tirc_module *m, const tirc_steps *s);
/* Adds what `tirc explain` says of an error's code: CODE: {"rule", "hint", "terms"}. */
void explain_error(struct json_object *to, const tirc_error *e);
/* {"scope": "A block with ...", ...}, and {"predicate": "block-predicate", ...} */
struct json_object *page_terms(void);
struct json_object *page_synonyms(void);

/* page.c */
/* JSON inside of a script element: no `<` stands in it. */
void put_in_script(FILE *to, struct json_object *j);
/* A page with each of its marks, @css@, @js@ and @data@, replaced. */
void put_marked(FILE *to, const char *html, const char *css, const char *js,
                struct json_object *data);
/* The playground's page with what it is to show instead of its examples; DONE or BAD. */
int put_playground(FILE *to, const char *page, struct json_object *data);
int write_page(const StepOptions *o, const ProgramText *program, const tirc_module *m,
               const tirc_steps *s, const StepChoice *choice);

#endif
