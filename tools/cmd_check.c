#include "tool.h"

int cmd_check(Options *o) {
  tirc_module *m = NULL;
  int status = load_program(o, o->args.at[0], &m);
  tirc_module_free(m);
  return status;
}
