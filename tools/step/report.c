/* `tirc step --html --report`: what the kernels of the scheduled program ask of a GPU's memory, as
 * the emulator counts it. The program is read again from the text that the page shows, so that
 * lines are those of that text. */
#include "step.h"
#include "tools/kit/json.h"

#include <string.h>

static int count_costs(const StepOptions *o, const tirc_module *lowered, Json *data) {
  enum { BLOCKS = 4 };
  const tirc_emulate_options options = {.blocks = BLOCKS};
  tirc_argument *args = NULL;
  tirc_costs *costs = NULL;
  tirc_error *e = NULL;
  int n = 0, status = DONE;
  if (!small_arguments(lowered, &o->instance, &n, &args, &e) ||
      tirc_module_emulate_costs(lowered, NULL, n, args, &options, NULL, &costs, &e))
    status = report(e);
  if (costs) add_json(data, "report", costs_json(costs));
  if (args) free_arguments(n, args);
  tirc_costs_free(costs);
  return status;
}

int add_report(const StepOptions *o, const tirc_steps *s, Json *data) {
  const tirc_view *last = tirc_steps_last(s);
  tirc_module *m = NULL, *lowered = NULL;
  tirc_error *e = NULL;
  const char *target = o->make.from.target ? o->make.from.target : "emulated";
  int status = DONE;
  if (!o->report || !last) return DONE;
  if (tirc_module_parse(last->text, strlen(last->text), "<scheduled>", 0, NULL, &m, &e) ||
      tirc_module_lower_for(m, target, NULL, NULL, &lowered, &e))
    status = report(e);
  else if (!tirc_module_has_kernels(lowered))
    status = complain("bind its loops: sch.bind(loop=i, thread_axis=\"blockIdx.x\")",
                      "--report: the scheduled program has no kernels of a GPU");
  if (status == DONE) status = count_costs(o, lowered, data);
  tirc_module_free(lowered);
  tirc_module_free(m);
  return status;
}
