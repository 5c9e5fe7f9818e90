/* Diagnostics: `file:line:column: error: message`, the source line with a caret, which condition
 * failed, the program with the places underlined, and what to do; or all of that as one JSON object
 * a line. */
#include "kit.h"

#include "ir/utf8.h"

#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What steers a terminal: controls, C1's as well, and what turns the direction of a text. */
static bool steers(const unsigned char *s, size_t n, bool in_a_line) {
  if (*s == '\n' || *s == '\t') return in_a_line;
  if (*s < 0x20 || *s == 0x7F) return true;
  if (n == 2) return *s == 0xC2 && s[1] < 0xA0;
  if (n != 3 || *s != 0xE2) return false;
  return (s[1] == 0x80 && s[2] >= 0xA8 && s[2] <= 0xAE) ||
         (s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9);
}

static void put_shown(FILE *to, const char *text, size_t size, bool in_a_line) {
  const unsigned char *s = (const unsigned char *)text, *end = s + size;
  while (s < end && *s) {
    size_t n = tirc_utf8_length(s, (size_t)(end - s));
    if (n && !steers(s, n, in_a_line))
      fwrite(s, 1, n, to);
    else
      fputs("\xEF\xBF\xBD", to);
    s += n ? n : 1;
  }
}

void put_clean(FILE *to, const char *text, size_t size) { put_shown(to, text, size, false); }

void put_name(FILE *to, const char *name) { put_shown(to, name, strlen(name), true); }

char *shown_name(const char *name) {
  char *out = NULL;
  size_t n = 0;
  FILE *f = begin_text(&out, &n);
  put_name(f, name);
  return end_text(f, &out);
}

/* Messages quote files, scripts and arguments. */
static void put_clean_text(FILE *to, const char *text) { put_clean(to, text, strlen(text)); }

Speech speech;

const char *paint(const char *colour) { return speech.colour ? colour : ""; }

static void print_place(const char *file, int line, int column) {
  if (!file)
    fputs("tirc: ", stderr);
  else {
    put_clean_text(stderr, file);
    if (line > 0) fprintf(stderr, ":%d:%d", line, column);
    fputs(": ", stderr);
  }
}

static void put_lines(const char *text) {
  put_clean_text(stderr, text);
  if (!*text || text[strlen(text) - 1] != '\n') fputc('\n', stderr);
}

static void print_part(const char *title, const char *text) {
  if (!text || !*text) return;
  fprintf(stderr, "%s%s:%s ", paint(BOLD), title, paint(RESET));
  put_lines(text);
}

static char *clean(const char *text) {
  char *out = NULL;
  size_t n = 0;
  FILE *f = begin_text(&out, &n);
  put_clean_text(f, text);
  return end_text(f, &out);
}

/* A part in sentences, which are wrapped. */
static void print_sentences(const char *title, const char *text) {
  char *words = text && is_wrapped(stderr) && !strchr(text, '\n') ? clean(text) : NULL;
  if (!words) {
    print_part(title, text);
    return;
  }
  fprintf(stderr, "%s%s:%s ", paint(BOLD), title, paint(RESET));
  put_wrapped(stderr, (int)strlen(title) + 2, 2, words);
}

static void put_program(const char *ir) {
  char *text = speech.full ? NULL : abbreviate(ir);
  put_lines(text ? text : ir);
}

bool has_page(const char *code) {
  tirc_error_info e;
  for (int i = 0; tirc_error_table(i, &e); i++)
    if (strcmp(e.code, code) == 0) return true;
  return false;
}

static void report_text(const tirc_error *e) {
  const char *code = tirc_error_get(e, TIRC_ERROR_CODE), *ir = tirc_error_get(e, TIRC_ERROR_IR);
  const char *excerpt = tirc_error_get(e, TIRC_ERROR_EXCERPT);
  fputs(paint(BOLD), stderr);
  print_place(tirc_error_get(e, TIRC_ERROR_FILE), tirc_error_line(e), tirc_error_column(e));
  fprintf(stderr, "%serror:%s ", paint(RED), paint(RESET));
  put_clean_text(stderr, tirc_error_message(e));
  fprintf(stderr, "%s [%s]%s\n", paint(DIM), code, paint(RESET));
  if (excerpt) put_lines(excerpt);
  print_part("call", tirc_error_get(e, TIRC_ERROR_CALL));
  print_sentences("condition", tirc_error_get(e, TIRC_ERROR_CONDITION));
  if (ir) put_program(ir);
  print_sentences("hint", tirc_error_get(e, TIRC_ERROR_HINT));
  if (tirc_error_get(e, TIRC_ERROR_CALL) && has_page(code))
    fprintf(stderr, "%smore:%s tirc explain %s\n", paint(BOLD), paint(RESET), code);
}

const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

const char *interval_text(char out[INTERVAL_TEXT], int width, int digits, double low, double high) {
  if (!isfinite(high))
    snprintf(out, INTERVAL_TEXT, "[%*s, %*s]", width, "-", width, "-");
  else if (width)
    snprintf(out, INTERVAL_TEXT, "[%*.*f, %*.*f]", width, digits, low, width, digits, high);
  else
    snprintf(out, INTERVAL_TEXT, "[%.*g, %.*g]", digits, low, digits, high);
  return out;
}

const char *rounded_text(char out[INTERVAL_TEXT], double value, double low, double high) {
  const double half = fmax(high - value, value - low);
  if (!isfinite(half)) return snprintf(out, INTERVAL_TEXT, "%.2g", value), out;
  if (!(half > 0)) return snprintf(out, INTERVAL_TEXT, "%.4g", value), out;
  const int power = (int)floor(log10(half)), digit = half / pow(10, power) < 2 ? power - 1 : power;
  const double unit = pow(10, digit);
  const int behind = digit < 0 ? -digit : 0;
  snprintf(out, INTERVAL_TEXT, "%.*f ± %.*f", behind, round(value / unit) * unit, behind,
           ceil(half / unit) * unit);
  return out;
}

static void add(struct json_object *j, const char *key, const char *value) {
  char *text = value ? clean(value) : NULL;
  if (text) json_object_object_add(j, key, json_object_new_string(text));
}

/* What errors, warnings and complaints have in common. */
static struct json_object *new_json(const char *severity, int status, const char *code,
                                    const char *message) {
  struct json_object *j = json_object_new_object();
  add(j, "severity", severity);
  json_object_object_add(j, "status", json_object_new_int(status));
  add(j, "code", code);
  add(j, "message", message);
  return j;
}

static void add_place(struct json_object *j, const char *file, int line, int column) {
  add(j, "file", file);
  if (line <= 0) return;
  json_object_object_add(j, "line", json_object_new_int(line));
  json_object_object_add(j, "column", json_object_new_int(column));
}

static void put_json(struct json_object *j) {
  fprintf(stderr, "%s\n", json_object_to_json_string_ext(j, JSON_C_TO_STRING_NOSLASHESCAPE));
  json_object_put(j);
}

struct json_object *error_json(const tirc_error *e) {
  struct json_object *j = new_json("error", (int)tirc_error_status(e),
                                   tirc_error_get(e, TIRC_ERROR_CODE), tirc_error_message(e));
  add_place(j, tirc_error_get(e, TIRC_ERROR_FILE), tirc_error_line(e), tirc_error_column(e));
  add(j, "excerpt", tirc_error_get(e, TIRC_ERROR_EXCERPT));
  add(j, "primitive", tirc_error_get(e, TIRC_ERROR_PRIMITIVE));
  add(j, "call", tirc_error_get(e, TIRC_ERROR_CALL));
  add(j, "condition", tirc_error_get(e, TIRC_ERROR_CONDITION));
  add(j, "ir", tirc_error_get(e, TIRC_ERROR_IR));
  add(j, "hint", tirc_error_get(e, TIRC_ERROR_HINT));
  return j;
}

void show_error(const tirc_error *e) {
  if (speech.json)
    put_json(error_json(e));
  else
    report_text(e);
}

int report(tirc_error *e) {
  int status = (int)tirc_error_status(e);
  show_error(e);
  tirc_error_free(e);
  return status;
}

int complain(const char *hint, const char *format, ...) {
  char message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (speech.json) {
    struct json_object *j = new_json("error", BAD, "usage", message);
    add(j, "hint", hint);
    put_json(j);
    return BAD;
  }
  if (strncmp(message, "usage:", 6) == 0)
    put_lines(message);
  else {
    fprintf(stderr, "%stirc: %serror:%s ", paint(BOLD), paint(RED), paint(RESET));
    put_lines(message);
  }
  print_sentences("hint", hint);
  return BAD;
}

void warn_about(void *self, const char *file, int line, int column, const char *message,
                const char *code) {
  (void)self;
  if (speech.json) {
    struct json_object *j = new_json("warning", DONE, code, message);
    add_place(j, file, line, column);
    put_json(j);
    return;
  }
  print_place(file, line, column);
  fprintf(stderr, "%swarning:%s ", paint(YELLOW), paint(RESET));
  put_clean_text(stderr, message);
  if (strcmp(code, "warning") != 0) fprintf(stderr, "%s [%s]%s", paint(DIM), code, paint(RESET));
  fputc('\n', stderr);
}
