/* `tirc tune`: searches for the best schedule. */
#include "tool.h"

static int show_space(const Options *o, const tirc_module *m) {
  const tirc_schedule_options s = {.target = o->target, .max_steps = o->script_steps};
  tirc_error *e = NULL;
  char *text = NULL;
  if (tirc_module_space(m, o->rules, &s, &text, &e)) return report(o, e);
  fputs(text, stdout);
  tirc_string_free(text);
  return DONE;
}

int cmd_tune(Options *o) {
  tirc_module *m = NULL;
  int status = load_program(o, o->args.at[0], &m);
  if (status == DONE) status = show_space(o, m);
  tirc_module_free(m);
  return status;
}
