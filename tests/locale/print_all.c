/* Prints what the library makes of numbers and letters, in the locale of the environment: locale.sh
 * compares it with the C locale's. usage: print_all [DATABASE] */
#include "passes/search/model.h"
#include "runtime/database/database.h"
#include "runtime/tirc.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char program[] =
    "# from tvm.script import tir as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((16,), \"float32\"), INIT: T.Buffer((16,), \"float64\")):\n"
    "    for i in range(16):\n"
    "        with T.block(\"INIT\"):\n"
    "            vi = T.axis.spatial(16, i)\n"
    "            T.reads(A[vi])\n"
    "            T.writes(INIT[vi])\n"
    "            INIT[vi] = T.Cast(\"float64\", A[vi] * T.float32(1.5) + T.float32(2.25e-1)) + "
    "T.float64(0.1)\n";
static const char script[] =
    "i, = sch.get_loops('INIT')\n"
    "io, ii = sch.split(i, factors=[None, 4])\n"
    "sch.annotate(io, 'weight', 0.5)\n"
    "sch.annotate(io, 'TITLE'.lower(), 'title'.upper())\n"
    "print(1.5, 1e-7, float('2.75'), round(3.14159, 3), f'{2.5:.3e} {0.25:g}')\n"
    "print('{:.4f}'.format(1 / 3), str(0.1), [1.5, 2.5], float('1e3'), 12345678.5)\n"
    "sch.annotate(ii, 'table', [1.5, {'a': 0.25}])\n";

/* As bits: what printf makes of it is the host's. */
static void print_bits(double x) {
  unsigned long long bits;
  memcpy(&bits, &x, sizeof bits);
  printf("%016llx ", bits);
}

static void check(tirc_status status, tirc_error **e, const char *what) {
  if (status == TIRC_OK) return;
  fprintf(stderr, "%s: %s\n", what, tirc_error_message(*e));
  exit(1);
}
static void show(const char *what, char *text) {
  printf("--- %s\n%s\n", what, text ? text : "(null)");
  tirc_string_free(text);
}
static void say(void *self, const char *text) {
  (void)self;
  fputs(text, stdout);
}
static void show_error(const char *what, tirc_error *e) {
  printf("--- %s\n%s\n%s\n", what, tirc_error_message(e),
         tirc_error_get(e, TIRC_ERROR_EXCERPT) ? tirc_error_get(e, TIRC_ERROR_EXCERPT) : "");
  tirc_error_free(e);
}

static void show_code(const tirc_module *m) {
  static const tirc_emit_kind kinds[] = {TIRC_EMIT_LLVM,      TIRC_EMIT_ASM,
                                         TIRC_EMIT_C,         TIRC_EMIT_HEADER,
                                         TIRC_EMIT_ANNOTATED, TIRC_EMIT_ANNOTATIONS};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char *bytes;
    size_t n;
    tirc_error *e = NULL;
    check(tirc_module_emit(m, kinds[i], "haswell", "kernel", &bytes, &n, &e), &e, "emit");
    show("code", bytes);
  }
}

static void show_run(const tirc_module *m) {
  tirc_array *a, *c;
  tirc_kernel *k;
  tirc_error *e = NULL;
  const int64_t shape[] = {16};
  check(tirc_array_new("float32", 1, shape, &a, &e), &e, "array");
  check(tirc_array_new("float64", 1, shape, &c, &e), &e, "array");
  for (int i = 0; i < 16; i++) tirc_array_set(a, i, 0.75 * i);
  const tirc_argument args[] = {{.array = a}, {.array = c}};
  check(tirc_kernel_new(m, "main", "haswell", &k, &e), &e, "kernel");
  check(tirc_kernel_run(k, NULL, 2, args, &e), &e, "run");
  for (int i = 0; i < 16; i++) print_bits(tirc_array_get(c, i));
  check(tirc_module_interpret(m, "main", 2, args, 0, &e), &e, "interpret");
  for (int i = 0; i < 16; i++) print_bits(tirc_array_get(c, i));
  puts("");
  tirc_kernel_free(k);
  tirc_array_free(a);
  tirc_array_free(c);
}

/* A cost model that learns, is written, is read, and predicts. */
static void show_model(void) {
  enum { N = 64, WIDTH = 3 };
  float rows[N * WIDTH], labels[N], out[N];
  const void *bytes;
  size_t n;
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < WIDTH; k++) rows[i * WIDTH + k] = (float)(i * (k + 1) % 17) * 0.3F;
    labels[i] = rows[i * WIDTH] * 1.7F - rows[i * WIDTH + 1] * 0.4F;
  }
  Model *m = tirc_model_new(MODEL_COST), *again = tirc_model_new(MODEL_COST);
  if (m && tirc_model_train(m, N, WIDTH, rows, labels) && tirc_model_save(m, &bytes, &n) && again &&
      tirc_model_load(again, bytes, n) && tirc_model_predict(again, N, WIDTH, rows, out)) {
    fwrite(bytes, 1, n, stdout);
    for (int i = 0; i < N; i++) print_bits((double)out[i]);
  }
  tirc_model_free(m);
  tirc_model_free(again);
}

/* Into a database and out of it again. */
static void show_database(const char *path, const tirc_module *m, const char *trace) {
  tirc_db *db;
  tirc_error *e = NULL;
  char *task;
  tirc_db_trial *best;
  const double samples[] = {0.0015, 0.00175, 1.0 / 3};
  check(tirc_db_open(path, TIRC_DB_WRITE, &db, &e), &e, "database");
  check(tirc_db_put_task(db, &(tirc_db_task){.module = m, .target = "haswell", .threads = 1}, &task,
                         &e),
        &e, "task");
  check(tirc_db_put_trial(db,
                          &(tirc_db_trial){.task = task,
                                           .trace = trace,
                                           .predicted = 0.125,
                                           .n_samples = 3,
                                           .samples = samples,
                                           .conditions = {.clock_low = 2.5, .load = 0.5},
                                           .created = 1.5,
                                           .finished = 2.5},
                          NULL, &e),
        &e, "trial");
  check(tirc_db_best(db, m, "haswell", 1, NULL, &best, &e), &e, "best");
  printf("--- stored\n%s\n", best->trace);
  print_bits(best->seconds);
  print_bits(best->predicted);
  print_bits(best->conditions.clock_low);
  for (int i = 0; i < best->n_samples; i++) print_bits(best->samples[i]);
  puts("");
  tirc_db_trial_free(best);
  tirc_string_free(task);
  tirc_db_close(db);
}

int main(int argc, char **argv) {
  const char *locale = setlocale(LC_ALL, "");
  if (!locale) return fprintf(stderr, "there is no such locale\n"), 1;
  char number[16];
  snprintf(number, sizeof number, "%.1f", 1.5);
  fprintf(stderr, "%s: %s\n", locale, number); /* what the host sees, for locale.sh */

  tirc_error *e = NULL;
  tirc_module *m, *fast, *other;
  char *text, *trace;
  const tirc_schedule_options options = {.print = say};
  check(tirc_module_parse(program, strlen(program), "p.tir", 0, NULL, &m, &e), &e, "parse");
  check(tirc_module_print(m, &text, &e), &e, "print");
  show("the program", text);
  check(tirc_module_schedule_text(m, script, strlen(script), "s.sch", &options, &fast, &e), &e,
        "schedule");
  check(tirc_module_print(fast, &text, &e), &e, "print");
  show("the scheduled program", text);
  for (int format = 0; format < 2; format++)
    if (tirc_module_trace(fast, (tirc_trace_format)format, &text, &e) == TIRC_OK)
      show("a trace", text);
    else
      show_error("no trace", e);
  check(tirc_module_trace(fast, TIRC_TRACE_JSON, &trace, &e), &e, "trace");
  check(tirc_module_replay_text(m, trace, strlen(trace), "t.json", 0, NULL, &other, &e), &e,
        "replay");
  check(tirc_module_compare(fast, other, &text, &e), &e, "compare");
  show("the difference", text);
  tirc_module_free(other);
  const char *const records = "[0, [[[], []], [1.5e-3, 0.25], {}, []]]";
  check(tirc_module_replay_text(m, records, strlen(records), "r.json", 0, NULL, &other, &e), &e,
        "record");
  tirc_module_free(other);
  show_code(fast);
  show_run(fast);
  check(tirc_module_auto(m, NULL, &options, &other, &e), &e, "auto");
  check(tirc_module_print(other, &text, &e), &e, "print");
  show("by rules", text);
  tirc_module_free(other);
  if (tirc_module_read("no/such/file.tir", 0, NULL, &other, &e)) show_error("no file", e);
  const char *const wrong = "x = T.float32(1.5) + T.int64(2.5)\nsch.split('INIT', factors=[2.5])\n";
  if (tirc_module_schedule_text(m, wrong, strlen(wrong), "s.sch", NULL, &other, &e))
    show_error("an error", e);
  const char *const inexact = "@T.prim_func\ndef main(A: T.Buffer((4,), \"int32\")):\n    A[0] = "
                              "T.int32(1.5)\n";
  if (tirc_module_parse(inexact, strlen(inexact), "p.tir", 0, NULL, &other, &e))
    show_error("an error of the program", e);
  show_model();
  if (argc > 1) show_database(argv[1], m, trace);
  tirc_string_free(trace);
  tirc_module_free(fast);
  tirc_module_free(m);
  return 0;
}
