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

/* --only=A,B --only=C: A, B, C. */
static void add_names(const char *text, List *out) {
  for (size_t n; *text; text += n + (text[n] == ',')) {
    n = strcspn(text, ",");
    if (n) out->at[out->n++] = tirc_strndup(memory, text, n);
  }
}

static int most_names(const List *texts) {
  int n = 0;
  for (int i = 0; i < texts->n; i++) n += 1 + (int)strlen(texts->at[i]);
  return n;
}

static int lower_only(const Making *o, const tirc_module *m, tirc_module **out, tirc_error **e) {
  List names = {0, tirc_new_array(memory, const char *, most_names(&o->only))};
  for (int i = 0; i < o->only.n; i++) add_names(o->only.at[i], &names);
  if (!names.n) return complain("`tirc explain` lists the passes", "--only names no pass");
  return tirc_module_lower_only(m, o->from.target, names.n, names.at, out, e) ? report(*e) : DONE;
}

int cmd_lower(Making *o) {
  tirc_module *m = NULL, *lowered = NULL;
  tirc_error *e = NULL;
  char *text = NULL;
  Shown shown = {o->print_after, stdout};
  if (o->print_after && !pass_exists(o->print_after))
    return complain("`tirc explain` lists the passes", "there is no pass '%s'", o->print_after);
  if (o->print_after && o->only.n)
    return complain("print what --only makes, which is the program after its last pass",
                    "--print-after is for the whole pipeline, and --only runs a part");
  int status = load_scheduled(o, NULL, &m);
  if (status == DONE && o->only.n)
    status = lower_only(o, m, &lowered, &e);
  else if (status == DONE &&
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
