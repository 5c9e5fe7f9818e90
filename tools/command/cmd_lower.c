/* `tirc lower`: the program after the passes, or after one of them, or after each. */
#include "command.h"

#include <string.h>

typedef struct Shown {
  const char *pass; /* NULL: nothing; "all" */
  FILE *to;
} Shown;

/* A pass goes by its full name or by what stands behind the dot. */
static bool is_pass(const char *name, const char *wanted) {
  const char *dot = strrchr(name, '.');
  return strcmp(name, wanted) == 0 || (dot && strcmp(dot + 1, wanted) == 0);
}

static void show(void *self, const char *pass, const char *text) {
  const Shown *s = self;
  if (strcmp(s->pass, "all") == 0 || is_pass(pass, s->pass))
    fprintf(s->to, "# after %s\n%s\n", pass, text);
}

static bool pass_exists(const char *wanted) {
  const char *name, *help;
  for (int i = 0; tirc_pass_table(i, &name, &help); i++)
    if (is_pass(name, wanted)) return true;
  return strcmp(wanted, "all") == 0;
}

int cmd_lower(Making *o) {
  tirc_module *m = NULL, *lowered = NULL;
  tirc_error *e = NULL;
  char *text = NULL;
  Shown shown = {o->print_after, stdout};
  if (o->print_after && !pass_exists(o->print_after))
    return complain("`tirc explain` lists the passes", "there is no pass '%s'", o->print_after);
  int status = load_scheduled(o, NULL, &m);
  if (status == DONE &&
      tirc_module_lower_for(m, o->from.target, shown.pass ? show : NULL, &shown, &lowered, &e))
    status = report(e);
  if (status == DONE && !shown.pass) {
    if (tirc_module_print(lowered, &text, &e))
      status = report(e);
    else
      status = write_output(o->from.output, text, strlen(text));
  }
  tirc_string_free(text);
  tirc_module_free(lowered);
  tirc_module_free(m);
  return status;
}
