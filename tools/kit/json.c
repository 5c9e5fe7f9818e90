#include "json.h"

#include "ir/utf8.h"

#include <math.h>
#include <string.h>

Json *json_text(const char *text) {
  if (!text) return NULL;
  char *valid = tirc_alloc(memory, 3 * strlen(text) + 1);
  return json_object_new_string(tirc_utf8_repair(valid, text));
}

Json *json_number(double v) { return isfinite(v) ? json_object_new_double(v) : NULL; }

Json *json_pair(double a, double b) { return json_numbers(2, (const double[]){a, b}); }

Json *json_numbers(int n, const double *v) {
  Json *list = json_object_new_array();
  for (int i = 0; i < n; i++) json_object_array_add(list, json_number(v[i]));
  return list;
}

Json *json_texts(int n, const char *const *texts) {
  Json *list = json_object_new_array();
  for (int i = 0; i < n; i++) json_object_array_add(list, json_text(texts[i]));
  return list;
}

void add_json(Json *j, const char *key, Json *value) { json_object_object_add(j, key, value); }
void add_text(Json *j, const char *key, const char *text) { add_json(j, key, json_text(text)); }
void add_some(Json *j, const char *key, const char *text) {
  if (text && *text) add_text(j, key, text);
}
void add_int(Json *j, const char *key, int64_t v) { add_json(j, key, json_object_new_int64(v)); }
void add_number(Json *j, const char *key, double v) { add_json(j, key, json_number(v)); }
void add_known(Json *j, const char *key, double v) {
  add_json(j, key, v != 0 ? json_number(v) : NULL);
}
void add_pair(Json *j, const char *key, double a, double b) { add_json(j, key, json_pair(a, b)); }
void add_bool(Json *j, const char *key, bool v) { add_json(j, key, json_object_new_boolean(v)); }

double number_in(Json *j, const char *key) {
  Json *v = NULL;
  return json_object_object_get_ex(j, key, &v) ? json_object_get_double(v) : 0;
}

const char *text_in(Json *j, const char *key) {
  Json *v = NULL;
  return json_object_object_get_ex(j, key, &v) ? json_object_get_string(v) : NULL;
}

static const char *written(Json *j, int style, bool spaced) {
  style |= JSON_C_TO_STRING_NOSLASHESCAPE | (spaced ? JSON_C_TO_STRING_SPACED : 0);
  return json_object_to_json_string_ext(j, style);
}

Json *profile_part_json(const tirc_profile_part *p, const char *unit) {
  Json *row = json_object_new_object();
  add_text(row, "name", p->name);
  add_text(row, "kind", p->kind);
  add_int(row, "parent", p->parent);
  if (!p->is_block && p->parent >= 0) add_int(row, "extent", p->extent);
  add_bool(row, "timed", p->is_timed);
  add_number(row, "float_ops", p->float_ops);
  if (p->integer_ops > 0) add_number(row, "integer_ops", p->integer_ops);
  add_int(row, "bytes_read", p->bytes_read);
  add_int(row, "bytes_written", p->bytes_written);
  if (!p->is_timed) return row;
  add_number(row, "times", p->times);
  add_number(row, unit ? unit : "seconds", p->seconds);
  add_number(row, unit ? tirc_format(memory, "own_%s", unit) : "own_seconds", p->own);
  if (!unit) add_int(row, "threads", p->threads);
  return row;
}

char *json_string(Json *j, bool spaced) {
  char *copy = tirc_strdup(memory, written(j, JSON_C_TO_STRING_PLAIN, spaced));
  json_object_put(j);
  return copy;
}

int write_json(const char *path, Json *j, bool spaced) {
  const char *text = written(j, JSON_C_TO_STRING_PRETTY, spaced);
  char *line = tirc_format(memory, "%s\n", text);
  json_object_put(j);
  return write_output(path, line, strlen(line));
}
