#include "tools/tool.h"

int cmd_check(Options *o) {
  tirc_module *m = NULL;
  int status = load_scheduled(o, NULL, &m);
  tirc_module_free(m);
  return status;
}
