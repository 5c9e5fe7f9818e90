#include "command.h"
#include "tools/kit/model.h"

/* A model goes through the passes that are about its text: what follows is about machine code. */
static int check_model(const Making *o, tirc_module *m) {
  tirc_module *loops = NULL;
  const int status = run_phases(o, m, o->from.args.n > 1 ? "schedule" : "cleanup", &loops);
  tirc_module_free(loops);
  tirc_module_free(m);
  return status;
}

int cmd_check(Making *o) {
  tirc_module *m = NULL, *scheduled = NULL;
  int status = load_checked(o, &m);
  if (status != DONE) return status;
  if (tirc_module_has_graph(m)) return check_model(o, m);
  status = schedule_loaded(o, m, NULL, &scheduled);
  tirc_module_free(scheduled);
  return status;
}
