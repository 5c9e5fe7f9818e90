/* The data of a page: the steps, what is explained of their words and errors, the scripts, and the
 * accesses of a small instance. */
#include "step.h"
#include "tools/kit/json.h"
#include "tools/teach/teach.h"

#include <string.h>

enum { ACCESSES = 24000, LEAST_ACCESSES = 1500 };
static const size_t most_bytes = 1300000; /* of all traces together */

/* Number of the trace in the list; the same one is kept once. */
static int add_trace(json_object *list, json_object *trace, size_t *bytes) {
  const char *text = json_object_to_json_string(trace);
  int n = (int)json_object_array_length(list);
  for (int i = 0; i < n; i++)
    if (strcmp(json_object_to_json_string(json_object_array_get_idx(list, (size_t)i)), text) == 0) {
      json_object_put(trace);
      return i;
    }
  *bytes += strlen(text);
  json_object_array_add(list, trace);
  return n;
}

/* traces: each once; traceOf: of the first program, and of the one after each step. */
static json_object *trace_all(const tirc_steps *s, const List *given, int64_t budget,
                              size_t *bytes) {
  json_object *j = json_object_new_object(), *list = json_object_new_array();
  json_object *numbers = json_object_new_array();
  const tirc_view *last = NULL;
  int number = 0;
  for (int i = -1; i < tirc_steps_count(s); i++) {
    const tirc_view *v = i < 0 ? tirc_steps_first(s) : tirc_steps_at(s, i)->after;
    if (v != last)
      number =
          add_trace(list, trace_as_json(tirc_steps_module(s, v), given, budget, NULL, NULL), bytes);
    last = v;
    json_object_array_add(numbers, json_object_new_int(number));
  }
  add_json(j, "traces", list);
  add_json(j, "traceOf", numbers);
  return j;
}

json_object *page_traces(const StepOptions *o, const ProgramText *program, const tirc_module *m,
                         const tirc_steps *s) {
  char *setting = NULL;
  int64_t budget = ACCESSES;
  size_t bytes;
  tirc_steps *small = small_instance(o, program, m, s, budget, &setting);
  if (!small || tirc_steps_count(small) != tirc_steps_count(s)) {
    tirc_steps_free(small);
    return NULL;
  }
  json_object *j = NULL;
  do {
    json_object_put(j);
    bytes = 0;
    j = trace_all(small, &o->instance, budget, &bytes);
    budget /= 2;
  } while (bytes > most_bytes && budget >= LEAST_ACCESSES);
  add_text(j, "setting", setting ? setting : "");
  tirc_steps_free(small);
  return j;
}

/* --- words ------------------------------------------------------------------------------------ */

/* {"scope": "A block with ...", ...}: what `tirc explain` says of each term. */
json_object *page_terms(void) {
  json_object *j = json_object_new_object();
  tirc_definition_info d;
  for (int i = 0; tirc_definition_table(i, &d); i++)
    add_json(j, d.name, json_object_new_string(d.text));
  return j;
}

/* {"predicate": "block-predicate", ...} */
json_object *page_synonyms(void) {
  json_object *j = json_object_new_object();
  const char *word, *term;
  for (int i = 0; synonym(i, &word, &term); i++) add_json(j, word, json_object_new_string(term));
  return j;
}

/* The terms that error number k is about. */
static json_object *terms_of(int k) {
  json_object *list = json_object_new_array();
  tirc_definition_info d;
  for (int i = 0; tirc_definition_table(i, &d); i++)
    for (const int *error = d.errors; *error >= 0; error++)
      if (*error == k) json_object_array_add(list, json_object_new_string(d.name));
  return list;
}

void explain_error(json_object *to, const tirc_error *e) {
  const char *code = tirc_error_get(e, TIRC_ERROR_CODE), *meaning = code_meaning(code);
  json_object *j = json_object_new_object();
  if (meaning) add_json(j, "rule", json_object_new_string(meaning));
  tirc_error_info info;
  for (int i = 0; !meaning && tirc_error_table(i, &info); i++) {
    if (strcmp(info.code, code) != 0) continue;
    add_json(j, "rule", json_object_new_string(info.title));
    add_json(j, "hint", json_object_new_string(info.hint));
    add_json(j, "terms", terms_of(i));
  }
  add_json(to, code, j);
}

static json_object *explanations(const tirc_steps *s) {
  json_object *j = json_object_new_object();
  for (int i = 0; i < tirc_steps_count(s); i++)
    if (tirc_steps_at(s, i)->error) explain_error(j, tirc_steps_at(s, i)->error);
  if (tirc_steps_error(s)) explain_error(j, tirc_steps_error(s));
  return j;
}

/* --- scripts ---------------------------------------------------------------------------------- */

static bool has_script(json_object *list, const char *file) {
  for (size_t i = 0; i < json_object_array_length(list); i++) {
    json_object *known = json_object_object_get(json_object_array_get_idx(list, i), "file");
    if (strcmp(json_object_get_string(known), file) == 0) return true;
  }
  return false;
}

static void add_script(json_object *list, const char *file, const char *text) {
  json_object *j = json_object_new_object();
  add_text(j, "file", file);
  add_text(j, "text", text);
  json_object_array_add(list, j);
}

/* The script, and those that it imports functions from, as far as calls stand in them. */
static json_object *scripts(const tirc_steps *s, const char *main_script) {
  json_object *list = json_object_new_array();
  add_script(list, main_script, tirc_steps_script(s));
  for (int i = 0; i < tirc_steps_count(s); i++) {
    const char *file = tirc_steps_at(s, i)->file;
    char *text = NULL;
    size_t n;
    if (!file || has_script(list, file)) continue;
    if (read_text(file, &text, &n) == DONE) add_script(list, file, text);
  }
  return list;
}

/* --- all of it -------------------------------------------------------------------------------- */

json_object *page_data(const ProgramText *program, const char *script, const tirc_steps *s,
                       const StepChoice *choice) {
  json_object *data = steps_as_json(s, choice);
  add_text(data, "programFile", program->name);
  add_text(data, "scriptFile", script);
  add_json(data, "scripts", scripts(s, script));
  add_json(data, "terms", page_terms());
  add_json(data, "synonyms", page_synonyms());
  add_json(data, "explanations", explanations(s));
  return data;
}
