/* `tirc explain`: the library's tables of errors, primitives and passes, for reading. */
#include "tool.h"

#include <string.h>

static void print_signature(int i, const tirc_primitive_info *p) {
  const char *name, *value;
  printf("sch.%s(", p->name);
  for (int k = 0; tirc_primitive_param(i, k, &name, &value); k++)
    printf("%s%s%s%s", k ? ", " : "", name, value ? "=" : "", value ? value : "");
  puts(")");
}

static bool explain_primitive(const char *name) {
  tirc_primitive_info p;
  for (int i = 0; tirc_primitive_table(i, &p); i++) {
    if (strcmp(p.name, name) != 0) continue;
    print_signature(i, &p);
    printf("    %s\n", p.help);
    return true;
  }
  return false;
}

static bool explain_error(const char *code) {
  tirc_error_info e;
  for (int i = 0; tirc_error_table(i, &e); i++) {
    if (strcmp(e.code, code) != 0) continue;
    printf("%s (a ScheduleError)\n    %s\n    What to do: %s.\n", e.code, e.title, e.hint);
    return true;
  }
  return false;
}

static bool explain_pass(const char *wanted) {
  const char *name, *help;
  for (int i = 0; tirc_pass_table(i, &name, &help); i++) {
    const char *dot = strrchr(name, '.');
    if (strcmp(name, wanted) != 0 && !(dot && strcmp(dot + 1, wanted) == 0)) continue;
    printf("%s (lowering pass number %d)\n    %s\n", name, i + 1, help);
    return true;
  }
  return false;
}

static void list_all(void) {
  tirc_primitive_info p;
  tirc_error_info e;
  const char *name, *help;
  puts("Schedule primitives:");
  for (int i = 0; tirc_primitive_table(i, &p); i++) printf("  %-26s %s\n", p.name, p.help);
  puts("\nScheduleErrors:");
  for (int i = 0; tirc_error_table(i, &e); i++) printf("  %-26s %s\n", e.code, e.title);
  puts("\nLowering passes, in order:");
  for (int i = 0; tirc_pass_table(i, &name, &help); i++) printf("  %-26s %s\n", name, help);
}

int cmd_explain(Options *o) {
  if (o->args.n == 0) {
    list_all();
    return DONE;
  }
  const char *what = o->args.at[0];
  if (explain_primitive(what) || explain_error(what) || explain_pass(what)) return DONE;
  return complain(o, "`tirc explain` lists all", "there is no error code, primitive or pass '%s'",
                  what);
}
