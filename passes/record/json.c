/* JSON: values to text and back, and the records of a tuning database.
 *
 * json-c keeps its objects on the heap, so nothing here unwinds while one is alive: what may raise
 * runs under a trap that frees the object first. */
#include "ir/json_check.h"
#include "ir/tree/print.h"
#include "ir/utf8.h"
#include "trace.h"

#include <json-c/json.h>
#include <math.h>

typedef struct json_object Json;

/* --- writing ---------------------------------------------------------------------------------- */

static Json *json_of(Tirc *c, Value v) {
  Json *out;
  switch (v.kind) {
  case VAL_BOOL: return json_object_new_boolean(v.u.b);
  case VAL_INT: return json_object_new_int64(v.u.i);
  case VAL_EXPR:
    return v.u.expr->op == OP_LARGE_UINT ? json_object_new_uint64((uint64_t)v.u.expr->u.i) : NULL;
  case VAL_FLOAT: return json_object_new_double_s(v.u.f, tirc_value_repr(c, v));
  case VAL_STR: return json_object_new_string(v.u.s);
  case VAL_LIST:
  case VAL_TUPLE:
    out = json_object_new_array();
    for (int i = 0; i < v.u.list->n; i++) json_object_array_add(out, json_of(c, v.u.list->at[i]));
    return out;
  case VAL_DICT:
    out = json_object_new_object();
    for (int i = 0; i + 1 < v.u.list->n; i += 2)
      if (v.u.list->at[i].kind == VAL_STR)
        json_object_object_add(out, v.u.list->at[i].u.s, json_of(c, v.u.list->at[i + 1]));
    return out;
  default: return NULL;
  }
}

const char *tirc_value_to_json(Tirc *c, Value v) {
  const size_t limit = c->max_bytes;
  c->max_bytes = 0; /* nothing raises while the object is alive */
  Json *j = json_of(c, v);
  const char *text =
      tirc_strdup(c, json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN |
                                                           JSON_C_TO_STRING_NOSLASHESCAPE));
  json_object_put(j);
  c->max_bytes = limit;
  return text;
}

/* --- reading ---------------------------------------------------------------------------------- */

static Value value_of(Tirc *c, Json *j) {
  Value out;
  switch (json_object_get_type(j)) {
  case json_type_boolean: return tirc_value_bool(json_object_get_boolean(j));
  case json_type_int:
    return json_object_get_uint64(j) > INT64_MAX
               ? tirc_value_expr(tirc_uint64(c, json_object_get_uint64(j)))
               : tirc_value_int(json_object_get_int64(j));
  case json_type_double: return tirc_value_float(json_object_get_double(j));
  case json_type_string: return tirc_value_str(tirc_strdup(c, json_object_get_string(j)));
  case json_type_array:
    out = tirc_value_list(c, VAL_LIST, 0, NULL);
    for (size_t i = 0; i < json_object_array_length(j); i++)
      tirc_value_append(c, out, value_of(c, json_object_array_get_idx(j, i)));
    return out;
  case json_type_object:
    out = tirc_value_list(c, VAL_DICT, 0, NULL);
    json_object_object_foreach(j, key, inner) {
      tirc_value_append(c, out, tirc_value_str(tirc_strdup(c, key)));
      tirc_value_append(c, out, value_of(c, inner));
    }
    return out;
  default: return VALUE_NONE;
  }
}

/* Takes j over. */
static Value value_of_object(Tirc *c, Json *j) {
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    Value v = value_of(c, j);
    TIRC_END(c, trap);
    json_object_put(j);
    return v;
  }
  json_object_put(j);
  tirc_throw(c);
}

Value tirc_value_of_json(Tirc *c, const char *text) {
  if (tirc_json_check_text(c, text, strlen(text)).what) return VALUE_NONE;
  Json *j = json_tokener_parse(text);
  return j ? value_of_object(c, j) : VALUE_NONE;
}

/* --- records ---------------------------------------------------------------------------------- */

static Json *item(Json *j, size_t i) {
  bool array = json_object_is_type(j, json_type_array);
  return array && i < json_object_array_length(j) ? json_object_array_get_idx(j, i) : NULL;
}

static size_t length(Json *j) {
  return json_object_is_type(j, json_type_array) ? json_object_array_length(j) : 0;
}

/* The record inside of what one line holds: with or without the number of its workload; NULL for a
 * bare trace. */
static Json *record_of(Json *j) {
  if (length(j) == 2 && json_object_is_type(item(j, 0), json_type_int)) return item(j, 1);
  return length(j) == 4 ? j : NULL;
}

static double mean_seconds(Json *record) {
  Json *seconds = item(record, 1);
  double sum = 0;
  for (size_t i = 0; i < length(seconds); i++) sum += json_object_get_double(item(seconds, i));
  return length(seconds) ? sum / (double)length(seconds) : INFINITY;
}

/* One JSON value after another. */
typedef struct Values {
  Tirc *c;
  const char *file, *text;
  size_t n, at;
  int line;
} Values;

static void skip_space(Values *v) {
  for (; v->at < v->n && v->text[v->at] && strchr(" \t\r\n", v->text[v->at]); v->at++)
    if (v->text[v->at] == '\n') v->line++;
}

/* The next one, and *loc where it begins; NULL at the end. Throws "json". */
static Json *next_value(Values *v, Loc *loc) {
  skip_space(v);
  *loc = (Loc){v->file, v->line, 1};
  if (v->at == v->n) return NULL;
  JsonFault fault;
  const size_t start = v->at, end = tirc_json_check(v->c, v->text, v->n, start, &fault);
  if (!fault.what && v->text[start] == 'n') fault = (JsonFault){"null is none", start, false};
  for (; v->at < (fault.what ? fault.at : end); v->at++)
    if (v->text[v->at] == '\n') v->line++;
  if (fault.what)
    tirc_fail(v->c, (Loc){v->file, v->line, 1}, CODE_JSON,
              fault.changed ? "tirc could not keep this value exactly"
                            : "the file must hold one JSON value, such as {...}; a trace file has "
                              "one value per line, or a bare [instructions, decisions]",
              "%s%s", fault.changed ? "" : "this is not JSON: ", fault.what);
  struct json_tokener *tok = json_tokener_new();
  const size_t n = end - start + 1; /* with what stands behind, if only a NUL: it ends a number */
  Json *j = !tok || n > INT32_MAX ? NULL : json_tokener_parse_ex(tok, v->text + start, (int)n);
  const enum json_tokener_error error = tok ? json_tokener_get_error(tok) : json_tokener_success;
  if (tok) json_tokener_free(tok);
  if (j && error == json_tokener_success) return j;
  json_object_put(j);
  tirc_fail(v->c, *loc, CODE_MEMORY, NULL, "out of memory");
}

/* The number of the record to be taken, from 1; 0 when there is none at all. */
static int64_t choose(Values v, int64_t wanted) {
  double best = INFINITY;
  int64_t n = 0, chosen = 0;
  Loc loc;
  Json *j;
  while (n != wanted || !wanted) {
    j = next_value(&v, &loc);
    if (!j) break;
    n++;
    Json *record = record_of(j);
    const double seconds = record ? mean_seconds(record) : INFINITY;
    if (!chosen || seconds < best) {
      best = seconds;
      chosen = n;
    }
    json_object_put(j);
  }
  return wanted && n < wanted ? -n : wanted ? wanted : chosen;
}

/* The parser of JSON lets other bytes pass. */
static void require_utf8(Tirc *c, const char *file, const char *text, size_t n) {
  Loc loc = {file, 1, 1};
  for (size_t at = 0, k; at < n; at += k) {
    k = tirc_utf8_length(text + at, n - at);
    if (!k)
      tirc_fail(c, loc, CODE_JSON, "save the file as UTF-8", "the byte 0x%02X is not UTF-8 text",
                (unsigned char)text[at]);
    loc.column++;
    if (text[at] == '\n') loc.line++, loc.column = 1;
  }
}

Value tirc_value_of_json_file(Tirc *c, const char *file, const char *text, size_t n) {
  require_utf8(c, file, text, n);
  Values v = {.c = c, .file = file, .text = text, .n = n, .line = 1};
  Loc loc;
  Json *j = next_value(&v, &loc);
  if (!j) tirc_fail(c, loc, CODE_JSON, NULL, "the file is empty");
  skip_space(&v);
  if (v.at == v.n) return value_of_object(c, j);
  json_object_put(j);
  tirc_fail(c, (Loc){v.file, v.line, 1}, CODE_JSON,
            "a file that a script reads must hold only one value",
            "there is more text after the JSON value");
}

TraceRecord tirc_trace_read(Tirc *c, const char *file, const char *text, size_t n, int64_t record) {
  require_utf8(c, file, text, n);
  Values v = {.c = c, .file = file, .text = text, .n = n, .line = 1};
  const int64_t chosen = choose(v, record);
  Loc loc = {file, 1, 1};
  if (chosen == 0) tirc_fail(c, loc, CODE_TRACE, NULL, "the file has no trace");
  if (chosen < 0)
    tirc_fail(c, loc, CODE_TRACE, "records are counted from 1",
              "there is no record %lld: the file has %lld", (long long)record, (long long)-chosen);
  Json *j = next_value(&v, &loc);
  for (int64_t i = 1; i < chosen; i++) {
    json_object_put(j);
    j = next_value(&v, &loc);
  }
  Json *outer = record_of(j), *trace = outer ? item(outer, 0) : j;
  const char *volatile what = outer ? "record" : "the trace";
  json_object_get(trace);
  json_object_put(j);
  Value value = value_of_object(c, trace);
  if (outer) what = tirc_format(c, "record %lld", (long long)chosen);
  return (TraceRecord){tirc_trace_of_value(c, value, loc, what), loc, what};
}
