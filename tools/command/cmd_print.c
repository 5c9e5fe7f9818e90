#include "command.h"
#include "tools/kit/model.h"

#include <string.h>

int cmd_print(Making *o) {
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  char *text = NULL;
  int status = load_program(&o->from, o->from.args.at[0], &m);
  if (status == DONE && tirc_module_has_graph(m)) {
    tirc_module *typed = NULL;
    status = run_phases(o, m, NULL, &typed);
    tirc_module_free(m);
    m = typed;
  }
  if (status == DONE && tirc_module_print(m, &text, &e)) status = report(e);
  if (status == DONE) status = write_output(o->from.output, text, strlen(text));
  tirc_string_free(text);
  tirc_module_free(m);
  return status;
}
