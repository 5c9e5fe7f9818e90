/* Diagnostics: `file:line:column: error: message`, the source line with a caret, which condition
 * failed, the program with the places underlined, and what to do; or all of that as one JSON object
 * a line. */
#include "tool.h"

#include <json-c/json.h>
#include <stdarg.h>
#include <string.h>

const char *paint(const Options *o, const char *colour) { return o->colour ? colour : ""; }

static void print_place(const char *file, int line, int column) {
  if (!file)
    fputs("tirc: ", stderr);
  else if (line > 0)
    fprintf(stderr, "%s:%d:%d: ", file, line, column);
  else
    fprintf(stderr, "%s: ", file);
}

/* A titled part, its further lines indented like the first. */
static void print_part(const Options *o, const char *title, const char *text) {
  if (!text || !*text) return;
  fprintf(stderr, "%s%s:%s ", paint(o, BOLD), title, paint(o, RESET));
  fprintf(stderr, "%s%s", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
}

static void report_text(const Options *o, const tirc_error *e) {
  const char *code = tirc_error_get(e, TIRC_ERROR_CODE), *ir = tirc_error_get(e, TIRC_ERROR_IR);
  const char *excerpt = tirc_error_get(e, TIRC_ERROR_EXCERPT);
  fputs(paint(o, BOLD), stderr);
  print_place(tirc_error_get(e, TIRC_ERROR_FILE), tirc_error_line(e), tirc_error_column(e));
  fprintf(stderr, "%serror:%s %s%s [%s]%s\n", paint(o, RED), paint(o, RESET), tirc_error_message(e),
          paint(o, DIM), code, paint(o, RESET));
  if (excerpt) fprintf(stderr, "%s%s", excerpt, excerpt[strlen(excerpt) - 1] == '\n' ? "" : "\n");
  print_part(o, "call", tirc_error_get(e, TIRC_ERROR_CALL));
  print_part(o, "condition", tirc_error_get(e, TIRC_ERROR_CONDITION));
  if (ir) fprintf(stderr, "%s%s", ir, ir[strlen(ir) - 1] == '\n' ? "" : "\n");
  print_part(o, "hint", tirc_error_get(e, TIRC_ERROR_HINT));
}

static void add(struct json_object *j, const char *key, const char *value) {
  if (value) json_object_object_add(j, key, json_object_new_string(value));
}

static void report_json(const tirc_error *e) {
  struct json_object *j = json_object_new_object();
  json_object_object_add(j, "status", json_object_new_int((int)tirc_error_status(e)));
  add(j, "code", tirc_error_get(e, TIRC_ERROR_CODE));
  add(j, "message", tirc_error_message(e));
  add(j, "file", tirc_error_get(e, TIRC_ERROR_FILE));
  if (tirc_error_line(e) > 0) {
    json_object_object_add(j, "line", json_object_new_int(tirc_error_line(e)));
    json_object_object_add(j, "column", json_object_new_int(tirc_error_column(e)));
  }
  add(j, "excerpt", tirc_error_get(e, TIRC_ERROR_EXCERPT));
  add(j, "primitive", tirc_error_get(e, TIRC_ERROR_PRIMITIVE));
  add(j, "call", tirc_error_get(e, TIRC_ERROR_CALL));
  add(j, "condition", tirc_error_get(e, TIRC_ERROR_CONDITION));
  add(j, "ir", tirc_error_get(e, TIRC_ERROR_IR));
  add(j, "hint", tirc_error_get(e, TIRC_ERROR_HINT));
  fprintf(stderr, "%s\n", json_object_to_json_string_ext(j, JSON_C_TO_STRING_NOSLASHESCAPE));
  json_object_put(j);
}

int report(const Options *o, tirc_error *e) {
  int status = (int)tirc_error_status(e);
  if (o->json_errors)
    report_json(e);
  else
    report_text(o, e);
  tirc_error_free(e);
  return status;
}

int complain(const Options *o, const char *hint, const char *format, ...) {
  char message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (o->json_errors) {
    struct json_object *j = json_object_new_object();
    json_object_object_add(j, "status", json_object_new_int(BAD));
    add(j, "code", "usage");
    add(j, "message", message);
    add(j, "hint", hint);
    fprintf(stderr, "%s\n", json_object_to_json_string_ext(j, JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(j);
    return BAD;
  }
  if (strncmp(message, "usage:", 6) == 0)
    fprintf(stderr, "%s\n", message);
  else
    fprintf(stderr, "%stirc: %serror:%s %s\n", paint(o, BOLD), paint(o, RED), paint(o, RESET),
            message);
  print_part(o, "hint", hint);
  return BAD;
}

void warn_about(void *options, const char *file, int line, int column, const char *message) {
  const Options *o = options;
  if (o->json_errors) {
    struct json_object *j = json_object_new_object();
    json_object_object_add(j, "status", json_object_new_int(DONE));
    add(j, "code", "warning");
    add(j, "message", message);
    add(j, "file", file);
    json_object_object_add(j, "line", json_object_new_int(line));
    json_object_object_add(j, "column", json_object_new_int(column));
    fprintf(stderr, "%s\n", json_object_to_json_string_ext(j, JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(j);
    return;
  }
  print_place(file, line, column);
  fprintf(stderr, "%swarning:%s %s\n", paint(o, YELLOW), paint(o, RESET), message);
}
