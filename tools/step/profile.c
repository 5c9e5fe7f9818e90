/* `tirc step --html --profile=blocks`: the scheduled program is run, on random arrays, and its time
 * by block goes into the page. */
#include "step.h"
#include "tools/kit/json.h"

#include <string.h>

static int fill_arguments(const tirc_module *m, int n, const tirc_param *params,
                          tirc_argument *args) {
  tirc_error *e = NULL;
  for (int i = 0; i < n; i++) {
    if (!params[i].is_array)
      return complain("`tirc run --profile=blocks --in NAME=VALUE` shows its time",
                      "--profile: the program takes a scalar, \"%s\"", params[i].name);
    if (tirc_module_array(m, NULL, n, args, 0, NULL, i, NULL, &args[i].array, &e)) return report(e);
    tirc_array_fill_random(args[i].array, (uint64_t)i);
  }
  return DONE;
}

static Json *profile_json(const tirc_profile *p) {
  Json *all = json_object_new_object(), *parts = json_object_new_array();
  tirc_profile_summary summary = {0};
  tirc_profile_part part;
  (void)tirc_profile_summarize(p, &summary);
  add_number(all, "seconds", summary.seconds);
  add_number(all, "probes", summary.probes);
  add_int(all, "threads", summary.threads);
  for (int i = 0; tirc_profile_get(p, i, &part); i++)
    json_object_array_add(parts, profile_part_json(&part, NULL));
  add_json(all, "parts", parts);
  return all;
}

static int measure(const StepOptions *o, const tirc_module *m, int n, const tirc_argument *args,
                   Json *data) {
  const tirc_profile_options options = {.target = o->make.from.target};
  tirc_error *e = NULL;
  tirc_executor *x = NULL;
  tirc_profile *p = NULL;
  int status = DONE;
  if (tirc_executor_new(o->make.threads, &x, &e) ||
      tirc_profile_new(m, NULL, &options, x, n, args, &p, &e))
    status = report(e);
  if (status == DONE) add_json(data, "profile", profile_json(p));
  tirc_profile_free(p);
  tirc_executor_free(x);
  return status;
}

int add_profile(const StepOptions *o, const tirc_steps *s, Json *data) {
  const tirc_module *m = tirc_steps_module(s, tirc_steps_last(s));
  tirc_error *e = NULL;
  int n = 0;
  const tirc_param *params;
  if (!o->profile) return DONE;
  if (tirc_module_params(m, NULL, &n, &params, &e)) return report(e);
  tirc_argument *args = tirc_alloc_array(memory, (size_t)n + 1, sizeof *args);
  int status = fill_arguments(m, n, params, args);
  if (status == DONE) status = measure(o, m, n, args, data);
  for (int i = 0; i < n; i++) tirc_array_free(args[i].array);
  return status;
}
