/* The parts of `tirc step`: what is shown of a schedule's steps, as text, as data and as a page. */
#ifndef TIRC_TOOLS_STEP_H
#define TIRC_TOOLS_STEP_H

#include "diff.h"
#include "tool.h"

#include <json-c/json.h>

/* What was asked for: which of the steps. */
typedef struct StepChoice {
  int n;       /* steps in all */
  bool *shown; /* one a step */
} StepChoice;

/* tree.c: the loops and blocks of a program, one a line, indented by depth. On the heap, NULL when
 * memory is out. */
char *tree_text(const tirc_view *v);
/* "for i in 128", "block C [SSR]: reads A, B; writes C"; into out. */
void tree_line(const tirc_node *node, FILE *to);

/* step_text.c */
void print_diff(const Options *o, const Diff *d, FILE *to);
/* Two trees beside each other where the width (in characters) allows, otherwise one below the
 * other. */
void print_trees(const Options *o, const char *before, const char *after, int width, FILE *to);
int print_steps(const Options *o, const tirc_steps *s, const StepChoice *choice);

/* step_json.c: all as one object; the caller owns it. NULL when memory is out. */
struct json_object *steps_as_json(const tirc_steps *s, const StepChoice *choice);

#endif
