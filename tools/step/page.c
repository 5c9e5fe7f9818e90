/* `tirc step --html`: one page with everything in it: the steps as data, the accesses of a small
 * instance, and the files of tools/page, which the build puts into page.inc. */
#include "step.h"
#include "tools/kit/json.h"
#include "tools/teach/teach.h"

#include <string.h>

#include "page.inc" /* page_html, page_css, page_js: texts */

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

static json_object *traces(const StepOptions *o, const ProgramText *program, const tirc_module *m,
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
static json_object *terms(void) {
  json_object *j = json_object_new_object();
  tirc_definition_info d;
  for (int i = 0; tirc_definition_table(i, &d); i++)
    add_json(j, d.name, json_object_new_string(d.text));
  return j;
}

/* {"predicate": "block-predicate", ...} */
static json_object *synonyms(void) {
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

/* Adds what `tirc explain` says of an error's code: {"rule", "hint", "terms"}. */
static void explain(json_object *to, const tirc_error *e) {
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
    if (tirc_steps_at(s, i)->error) explain(j, tirc_steps_at(s, i)->error);
  if (tirc_steps_error(s)) explain(j, tirc_steps_error(s));
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

/* --- the page --------------------------------------------------------------------------------- */

void put_in_script(FILE *to, json_object *j) {
  for (const char *s = json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN); *s; s++)
    if (*s == '<')
      fputs("\\u003c", to);
    else
      fputc(*s, to);
}

void put_marked(FILE *to, const char *html, const char *css, const char *js, json_object *data) {
  for (const char *at = html, *mark; *at; at = mark) {
    mark = strchr(at, '@');
    fwrite(at, 1, mark ? (size_t)(mark - at) : strlen(at), to);
    if (!mark) return;
    size_t n = strcspn(mark + 1, "@") + 2;
    if (n == 5 && strncmp(mark, "@css@", n) == 0)
      fputs(css, to);
    else if (n == 4 && strncmp(mark, "@js@", n) == 0)
      fputs(js, to);
    else if (n == 6 && strncmp(mark, "@data@", n) == 0)
      put_in_script(to, data);
    else
      n = 1, fputc('@', to);
    mark += n;
  }
}

static void put_page(FILE *to, json_object *data) {
  put_marked(to, page_html, page_css, page_js, data);
}

int write_page(const StepOptions *o, const ProgramText *program, const tirc_module *m,
               const tirc_steps *s, const StepChoice *choice) {
  const List *args = &o->make.from.args;
  char *text = NULL;
  size_t n = 0;
  json_object *data = steps_as_json(s, choice);
  FILE *f = begin_text(&text, &n);
  add_text(data, "programFile", program->name);
  const char *script = is_automatic(&o->make)          ? "<auto>"
                       : strcmp(args->at[1], "-") == 0 ? "<stdin>"
                                                       : args->at[1];
  add_text(data, "scriptFile", script);
  add_json(data, "scripts", scripts(s, script));
  add_json(data, "terms", terms());
  add_json(data, "synonyms", synonyms());
  add_json(data, "explanations", explanations(s));
  add_json(data, "run", traces(o, program, m, s));
  put_page(f, data);
  json_object_put(data);
  (void)end_text(f, &text);
  return write_output(o->html, text, n);
}
