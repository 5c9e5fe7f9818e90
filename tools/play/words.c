/* The tables of the language as data: what an editor completes and explains. */
#include "play.h"
#include "tools/kit/json.h"
#include "tools/step/step.h"

static Json *params_as_json(int primitive, int n, const char *const *meanings) {
  Json *list = json_object_new_array();
  const char *name, *value;
  for (int k = 0; k < n; k++) {
    if (!tirc_primitive_param(primitive, k, &name, &value)) break;
    Json *j = json_object_new_object();
    add_text(j, "name", name);
    add_some(j, "default", value);
    if (meanings && *meanings) add_text(j, "help", *meanings++);
    json_object_array_add(list, j);
  }
  return list;
}

static Json *errors_of(const int *errors) {
  Json *list = json_object_new_array();
  tirc_error_info e;
  for (; errors && *errors >= 0; errors++)
    if (tirc_error_table(*errors, &e)) json_object_array_add(list, json_text(e.code));
  return list;
}

static Json *needs_of(const char *const *needs) {
  Json *list = json_object_new_array();
  for (; needs && *needs; needs++) json_object_array_add(list, json_text(*needs));
  return list;
}

static Json *primitives(void) {
  Json *list = json_object_new_array();
  tirc_primitive_info p;
  for (int i = 0; tirc_primitive_table(i, &p); i++) {
    Json *j = json_object_new_object();
    tirc_primitive_doc doc = {0};
    (void)tirc_primitive_documentation(i, &doc);
    add_text(j, "name", p.name);
    add_text(j, "help", p.help);
    add_int(j, "star", p.star);
    add_json(j, "params", params_as_json(i, p.n_params, doc.params));
    add_some(j, "returns", doc.returns);
    add_json(j, "needs", needs_of(doc.needs));
    add_json(j, "errors", errors_of(doc.errors));
    json_object_array_add(list, j);
  }
  return list;
}

/* The functions of programs: T.grid, T.block ... */
static Json *functions(void) {
  Json *list = json_object_new_array();
  tirc_function_info f;
  const char *name, *arguments;
  for (int i = 0; tirc_function_table(i, &f); i++)
    for (int k = 0; tirc_function_name(i, k, &name, &arguments); k++) {
      Json *j = json_object_new_object();
      add_text(j, "name", name);
      add_text(j, "arguments", arguments);
      add_text(j, "topic", f.topic);
      add_text(j, "help", f.help);
      json_object_array_add(list, j);
    }
  return list;
}

static Json *script_words(void) {
  static const char *const kinds[] = {[TIRC_SCRIPT_FUNCTION] = "function",
                                      [TIRC_SCRIPT_METHOD] = "method",
                                      [TIRC_SCRIPT_ATTRIBUTE] = "attribute",
                                      [TIRC_SCRIPT_EXCEPTION] = "exception"};
  Json *list = json_object_new_array();
  tirc_script_info s;
  for (int i = 0; tirc_script_table(i, &s); i++) {
    Json *j = json_object_new_object();
    add_text(j, "kind", kinds[s.kind]);
    add_some(j, "owner", s.owner);
    add_text(j, "name", s.name);
    json_object_array_add(list, j);
  }
  return list;
}

static Json *errors(void) {
  Json *list = json_object_new_array();
  tirc_error_info e;
  for (int i = 0; tirc_error_table(i, &e); i++) {
    Json *j = json_object_new_object();
    add_text(j, "code", e.code);
    add_text(j, "title", e.title);
    add_text(j, "hint", e.hint);
    json_object_array_add(list, j);
  }
  return list;
}

Json *words_as_json(void) {
  Json *j = json_object_new_object();
  add_json(j, "primitives", primitives());
  add_json(j, "functions", functions());
  add_json(j, "scripts", script_words());
  add_json(j, "errors", errors());
  add_json(j, "terms", page_terms());
  add_json(j, "synonyms", page_synonyms());
  return j;
}
