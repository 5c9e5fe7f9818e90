/* run_traces FOLDER
 *
 * For each NAME.tir of the folder, a matrix product that a search scheduled: the unscheduled
 * product of that shape must become it through the trace as a script (NAME.trace.py) and through
 * the tuning record (NAME.record.json), and the trace of either must print as that script and be
 * stored as that record's instructions and decisions. */
#include "runtime/tirc.h"

#include <dirent.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void fail(const char *name, const char *what, const char *why) {
  printf("FAIL %s: %s: %s\n", name, what, why ? why : "?");
  failures++;
}

/* False after the failure was counted. */
static bool succeeded(const char *name, const char *what, tirc_status status, tirc_error *e) {
  if (status == TIRC_OK) return true;
  fail(name, what, tirc_error_message(e));
  tirc_error_free(e);
  return false;
}

static char *read_file(const char *path) {
  FILE *f = fopen(path, "rb");
  char *text = calloc(1, 1 << 20);
  if (f && text) text[fread(text, 1, (1 << 20) - 1, f)] = 0;
  if (f) fclose(f);
  return text;
}

/* C = A B with the extents of a scheduled product. */
static bool unscheduled(const char *name, const tirc_module *scheduled, tirc_module **out) {
  static const char format[] =
      "@T.prim_func\n"
      "def main(A: T.Buffer((%lld, %lld), \"float32\"), B: T.Buffer((%lld, %lld), \"float32\"),\n"
      "         C: T.Buffer((%lld, %lld), \"float32\")):\n"
      "    T.func_attr({\"tir.noalias\": T.bool(True)})\n"
      "    for i, j, k in T.grid(%lld, %lld, %lld):\n"
      "        with T.block(\"C\"):\n"
      "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
      "            with T.init():\n"
      "                C[vi, vj] = T.float32(0)\n"
      "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n";
  char text[2000];
  int n;
  const tirc_param *p;
  tirc_error *e = NULL;
  if (!succeeded(name, "parameters", tirc_module_params(scheduled, NULL, &n, &p, &e), e))
    return false;
  const long long m = p[0].shape[0], k = p[0].shape[1], w = p[1].shape[1];
  snprintf(text, sizeof text, format, m, k, k, w, m, w, m, w, k);
  return succeeded(name, "the product",
                   tirc_module_parse(text, strlen(text), name, 0, NULL, out, &e), e);
}

static void check_program(const char *name, const char *what, const tirc_module *expected,
                          const tirc_module *got) {
  char *difference = NULL;
  tirc_error *e = NULL;
  if (!succeeded(name, what, tirc_module_compare(expected, got, &difference, &e), e)) return;
  if (difference) fail(name, what, difference);
  tirc_string_free(difference);
}

static void check_script(const char *name, const tirc_module *m, const char *path) {
  char *expected = read_file(path), *got = NULL;
  tirc_error *e = NULL;
  if (succeeded(name, "printing the trace", tirc_module_trace(m, TIRC_TRACE_SCRIPT, &got, &e), e)) {
    const size_t n = strlen(got);
    if (strncmp(expected, got, n) || strcmp(expected + n, "\n"))
      fail(name, "the trace prints as", got);
  }
  tirc_string_free(got);
  free(expected);
}

static void check_record(const char *name, const tirc_module *m, const char *path) {
  char *text = read_file(path), *got = NULL;
  tirc_error *e = NULL;
  struct json_object *record = json_tokener_parse(text), *stored = NULL;
  if (!record) {
    fail(name, "the record", "no JSON");
  } else if (succeeded(name, "storing the trace", tirc_module_trace(m, TIRC_TRACE_JSON, &got, &e),
                       e)) {
    struct json_object *trace = json_object_array_get_idx(json_object_array_get_idx(record, 1), 0);
    stored = json_tokener_parse(got);
    if (!json_object_equal(trace, stored)) fail(name, "the trace is stored as", got);
  }
  json_object_put(record);
  json_object_put(stored);
  tirc_string_free(got);
  free(text);
}

static void run(const char *folder, const char *name) {
  char tir[600], script[600], record[600];
  snprintf(tir, sizeof tir, "%s/%s.tir", folder, name);
  snprintf(script, sizeof script, "%s/%s.trace.py", folder, name);
  snprintf(record, sizeof record, "%s/%s.record.json", folder, name);
  tirc_module *expected = NULL, *base = NULL, *by_script = NULL, *by_record = NULL;
  const tirc_schedule_options verified = {.verify = true};
  tirc_error *e = NULL;
  if (succeeded(name, tir, tirc_module_read(tir, 0, NULL, &expected, &e), e) &&
      unscheduled(name, expected, &base)) {
    if (succeeded(name, "script", tirc_module_schedule(base, script, &verified, &by_script, &e),
                  e)) {
      check_program(name, "the script's program", expected, by_script);
      check_script(name, by_script, script);
      check_record(name, by_script, record);
    }
    if (succeeded(name, "record", tirc_module_replay(base, record, 0, NULL, &by_record, &e), e)) {
      check_program(name, "the record's program", expected, by_record);
      check_script(name, by_record, script);
      check_record(name, by_record, record);
    }
  }
  tirc_module_free(by_record);
  tirc_module_free(by_script);
  tirc_module_free(base);
  tirc_module_free(expected);
}

static int is_program(const struct dirent *entry) {
  const size_t n = strlen(entry->d_name);
  return n > 4 && n < 200 && !strcmp(entry->d_name + n - 4, ".tir");
}

int main(int argc, char **argv) {
  struct dirent **entries;
  int n = argc == 2 ? scandir(argv[1], &entries, is_program, alphasort) : -1;
  if (n <= 0) {
    fprintf(stderr, "usage: run_traces FOLDER\n");
    return 2;
  }
  for (int i = 0; i < n; i++) {
    entries[i]->d_name[strlen(entries[i]->d_name) - 4] = 0;
    run(argv[1], entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  printf("%d programs, %d failures\n", n, failures);
  return failures ? 1 : 0;
}
