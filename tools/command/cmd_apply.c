#include "command.h"

#include <stdlib.h>
#include <string.h>

static int save_trace(const ApplyOptions *o, const tirc_module *m) {
  tirc_error *e = NULL;
  char *text = NULL;
  if (!o->save_trace) return DONE;
  if (tirc_module_trace(m, TIRC_TRACE_JSON, &text, &e)) return report(e);
  int status = write_output(o->save_trace, text, strlen(text));
  tirc_string_free(text);
  return status;
}

/* What is wrong with the program comes before that there is no schedule for it. */
static int miss_schedule(const Loading *o) {
  tirc_module *m = NULL;
  int status = load_program(o, o->args.at[0], &m);
  tirc_module_free(m);
  return status != DONE ? status
                        : complain("tirc print shows a program as it is",
                                   "tirc apply needs a schedule script, --auto or --trace-json");
}

int cmd_apply(ApplyOptions *o) {
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  char *text = NULL;
  if (o->make.from.args.n < 2 && !o->make.trace_json && !is_automatic(&o->make) && !o->make.plain)
    return miss_schedule(&o->make.from);
  if (o->make.debug_mask && strcmp(o->make.debug_mask, "all") != 0 &&
      strcmp(o->make.debug_mask, "none") != 0)
    return complain(NULL, "--debug-mask is all or none, not '%s'", o->make.debug_mask);
  o->make.needs_trace = o->as_script || o->save_trace;
  int status = load_scheduled(&o->make, NULL, &m);
  if (status == DONE) status = save_trace(o, m);
  if (status == DONE && (o->as_script ? tirc_module_trace(m, TIRC_TRACE_SCRIPT, &text, &e)
                                      : tirc_module_print(m, &text, &e)))
    status = report(e);
  char *whole = tirc_format(memory, "%s%s", text ? text : "", o->as_script ? "\n" : "");
  if (status == DONE) status = write_output(o->make.from.output, whole, strlen(whole));
  tirc_string_free(text);
  tirc_module_free(m);
  return status;
}
