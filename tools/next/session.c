/* A script's schedule, to be copied for each call that is tried, with the names that the calls use.
 */
#include "next.h"

#include <string.h>

/* By way of a dict: the API evaluates expressions as arguments. */
bool value_of(tirc_schedule *s, const char *name, tirc_value *out) {
  tirc_value key = tirc_text("x"), self = tirc_script(tirc_format(memory, "{'x': %s}", name));
  return tirc_schedule_method(s, &self, "get", 1, &key, 0, NULL, NULL, out, NULL) == TIRC_OK;
}

static void find_names(Session *q, const char *script) {
  size_t at = 0;
  for (char *name; (name = next_variable(script, &at)) != NULL;) {
    Name *x = &q->names[q->n_names];
    bool wanted = q->n_names < MOST_NAMES && strlen(name) < 64 && value_of(q->s, name, &x->value) &&
                  (x->value.kind == TIRC_KIND_LOOP || x->value.kind == TIRC_KIND_BLOCK);
    if (wanted) x->name = name, q->n_names++;
  }
}

tirc_status begin_session(const NextQuestion *ask, const tirc_schedule_options *options,
                          Session *out, tirc_error **error) {
  out->n_names = 0;
  tirc_status status = tirc_schedule_new(ask->program, options, &out->s, error);
  if (status == TIRC_OK)
    status = tirc_schedule_run(out->s, ask->script, strlen(ask->script), ask->script_name, error);
  if (status == TIRC_OK) find_names(out, ask->script);
  return status;
}

tirc_schedule *copy_of(const Session *q) {
  tirc_schedule *copy = NULL;
  if (tirc_schedule_copy(q->s, &copy, NULL)) return NULL;
  for (int i = 0; i < q->n_names; i++)
    (void)tirc_schedule_set(copy, q->names[i].name, &q->names[i].value, NULL);
  return copy;
}
