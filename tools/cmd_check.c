#include "tool.h"

#include <string.h>

int cmd_check(Options *o) {
  tirc_module *m = NULL;
  const char *end = strrchr(o->args.at[0], '.');
  if (end && strcmp(end, ".sch") == 0 && o->args.n == 1)
    return complain(o, "tirc check PROG FILE.sch tries it on its program",
                    "'%s' is a schedule, not a program", o->args.at[0]);
  int status = load_scheduled(o, NULL, &m);
  tirc_module_free(m);
  return status;
}
