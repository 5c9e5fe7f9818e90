/* Courses and verdicts as data. */
#include "lesson.h"

#include <string.h>

static Json *hints_as_json(const Exercise *x) {
  Json *list = json_object_new_array();
  const char *hint;
  size_t n;
  for (int i = 0; (hint = hint_of(x, i, &n)) != NULL; i++)
    json_object_array_add(list, json_text(tirc_strndup(memory, hint, n)));
  return list;
}

static Json *exercise_as_json(const Exercise *x, bool with_solutions) {
  Json *j = json_object_new_object();
  size_t n;
  const char *title = title_of(x->page, &n);
  add_text(j, "name", x->name);
  add_text(j, "title", tirc_strndup(memory, title, n));
  add_text(j, "page", x->page);
  add_text(j, "program", x->program);
  add_text(j, "start", x->start);
  add_text(j, "check", x->check);
  add_json(j, "hints", hints_as_json(x));
  if (with_solutions) add_some(j, "solution", x->solution);
  add_some(j, "schedule", x->schedule);
  add_some(j, "goal", x->goal);
  return j;
}

Json *course_as_json(const Course *c, bool with_solutions) {
  Json *j = json_object_new_object(), *list = json_object_new_array();
  for (int i = 0; i < c->n; i++)
    json_object_array_add(list, exercise_as_json(&c->at[i], with_solutions));
  add_text(j, "title", c->title);
  add_text(j, "edition", edition_of(c));
  add_text(j, "page", c->page);
  add_json(j, "exercises", list);
  return j;
}

bool exercise_of_json(Json *j, Exercise *out) {
  *out = (Exercise){.name = text_in(j, "name"),
                    .page = text_in(j, "page"),
                    .program = text_in(j, "program"),
                    .start = text_in(j, "start"),
                    .check = text_in(j, "check"),
                    .solution = text_in(j, "solution"),
                    .schedule = text_in(j, "schedule"),
                    .goal = text_in(j, "goal")};
  return out->name && out->program && out->check;
}

Json *outcome_as_json(const Outcome *v) {
  static const char *const results[] = {"done", "not yet", "error"};
  Json *j = json_object_new_object(), *checks = json_object_new_array();
  for (int i = 0; i < v->n; i++) {
    Json *check = json_object_new_object();
    add_bool(check, "ok", v->at[i].ok);
    add_text(check, "text", v->at[i].text);
    json_object_array_add(checks, check);
  }
  add_json(j, "checks", checks);
  if (v->wanted > 0) {
    add_number(j, "times_as_fast", v->ratio);
    add_number(j, "wanted", v->wanted);
  }
  if (v->error) add_json(j, "error", error_json(v->error));
  add_int(j, "status", v->status);
  add_text(j, "result", results[v->status]);
  return j;
}
