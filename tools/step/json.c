/* Steps as data: each program once, and the steps that lead from one to the next. */
#include "tools/kit/json.h"
#include "step.h"
#include "tools/teach/teach.h"

#include <string.h>

typedef struct Programs { /* the views that were met, in order */
  int n;
  const tirc_view **at;
  json_object *json;
} Programs;

static void add_given(json_object *j, const char *key, const char *text) {
  if (text) add_text(j, key, text);
}

/* --- programs --------------------------------------------------------------------------------- */

static void add_buffers(json_object *j, const char *key, int n, const tirc_access *at) {
  if (n == 0) return;
  json_object *list = json_object_new_array();
  for (int i = 0; i < n; i++) {
    json_object *b = json_object_new_object();
    add_given(b, "buffer", at[i].buffer);
    add_given(b, at[i].scope ? "type" : "region", at[i].detail);
    add_given(b, "scope", at[i].scope);
    json_object_array_add(list, b);
  }
  add_json(j, key, list);
}

static json_object *node_as_json(const tirc_node *node) {
  static const char *const kinds[] = {
      [TIRC_FUNCTION] = "function", [TIRC_LOOP] = "loop", [TIRC_BLOCK] = "block"};
  json_object *j = json_object_new_object();
  add_given(j, "kind", kinds[node->kind]);
  add_given(j, "name", node->name);
  add_int(j, "depth", node->depth);
  add_int(j, "line", node->line);
  add_given(j, "loop", node->loop_kind);
  add_given(j, "extent", node->extent);
  add_given(j, "thread", node->thread);
  add_given(j, "iters", node->iters);
  add_given(j, "where", node->predicate);
  add_given(j, "annotations", node->annotations);
  if (node->has_init) add_bool(j, "init", true);
  add_buffers(j, "reads", node->n_reads, node->reads);
  add_buffers(j, "writes", node->n_writes, node->writes);
  add_buffers(j, node->kind == TIRC_FUNCTION ? "params" : "allocates", node->n_allocs,
              node->allocs);
  return j;
}

static int program_index(Programs *p, const tirc_view *v) {
  for (int i = 0; i < p->n; i++)
    if (p->at[i] == v) return i;
  json_object *j = json_object_new_object(), *tree = json_object_new_array();
  add_given(j, "text", v->text);
  for (int i = 0; i < v->n; i++) json_object_array_add(tree, node_as_json(&v->nodes[i]));
  add_json(j, "tree", tree);
  json_object_array_add(p->json, j);
  p->at[p->n] = v;
  return p->n++;
}

/* --- steps ------------------------------------------------------------------------------------ */

json_object *error_as_json(const tirc_error *e) {
  json_object *j = json_object_new_object();
  add_given(j, "code", tirc_error_get(e, TIRC_ERROR_CODE));
  add_given(j, "message", tirc_error_message(e));
  add_given(j, "file", tirc_error_get(e, TIRC_ERROR_FILE));
  if (tirc_error_line(e) > 0) {
    add_int(j, "line", tirc_error_line(e));
    add_int(j, "column", tirc_error_column(e));
  }
  add_given(j, "call", tirc_error_get(e, TIRC_ERROR_CALL));
  add_given(j, "condition", tirc_error_get(e, TIRC_ERROR_CONDITION));
  add_given(j, "hint", tirc_error_get(e, TIRC_ERROR_HINT));
  add_given(j, "ir", tirc_error_get(e, TIRC_ERROR_IR));
  return j;
}

/* [[op, line before, line after], ...] of all lines; 0 where a line does not stand. */
static void add_diff(json_object *j, const tirc_step *step) {
  if (step->before == step->after) return;
  const Diff d = diff_texts(memory, step->before->text, step->after->text);
  json_object *list = json_object_new_array();
  for (int i = 0; i < d.n; i++) {
    json_object *line = json_object_new_array();
    json_object_array_add(line, json_object_new_string_len(&d.at[i].op, 1));
    json_object_array_add(line, json_object_new_int(d.at[i].before));
    json_object_array_add(line, json_object_new_int(d.at[i].after));
    json_object_array_add(list, line);
  }
  add_json(j, "diff", list);
}

void add_warning(json_object **list, const char *code, const char *message) {
  json_object *j = json_object_new_object();
  if (!*list) *list = json_object_new_array();
  add_given(j, "code", code);
  add_given(j, "message", message);
  if (strcmp(code, "warning") != 0) add_given(j, "hint", code_meaning(code));
  json_object_array_add(*list, j);
}

static json_object *step_as_json(Programs *p, const tirc_step *step, int number) {
  json_object *j = json_object_new_object();
  add_int(j, "number", number);
  add_given(j, "primitive", step->primitive);
  add_given(j, "call", step->call);
  add_given(j, "sentence", step->sentence);
  add_given(j, "rule", step->rule);
  add_given(j, "reason", step->reason);
  add_given(j, "file", step->file);
  add_int(j, "line", step->line);
  add_int(j, "column", step->column);
  add_bool(j, "changed", step->before != step->after);
  add_int(j, "before", program_index(p, step->before));
  add_int(j, "after", program_index(p, step->after));
  add_diff(j, step);
  json_object *warnings = NULL;
  for (int i = 0; i < step->n_warnings; i++)
    add_warning(&warnings, step->warnings[i].code, step->warnings[i].message);
  if (warnings) add_json(j, "warnings", warnings);
  if (step->error) add_json(j, "error", error_as_json(step->error));
  return j;
}

json_object *steps_as_json(const tirc_steps *s, const StepChoice *choice) {
  Programs p = {.at = tirc_alloc_array(memory, 2 * (size_t)choice->n + 1, sizeof *p.at)};
  json_object *j = json_object_new_object(), *list = json_object_new_array();
  p.json = json_object_new_array();
  (void)program_index(&p, tirc_steps_first(s));
  for (int i = 0; i < choice->n; i++)
    if (choice->shown[i]) json_object_array_add(list, step_as_json(&p, tirc_steps_at(s, i), i + 1));
  add_given(j, "script", tirc_steps_script(s));
  add_json(j, "programs", p.json);
  add_json(j, "steps", list);
  if (choice->warnings) add_json(j, "warnings", json_object_get(choice->warnings));
  if (tirc_steps_error(s)) add_json(j, "error", error_as_json(tirc_steps_error(s)));
  return j;
}
