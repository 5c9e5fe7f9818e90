/* Which of several ways is faster, and how certain is that? Compares code of our own with kernels
 * of the library: they take turns, are checked against the interpreter, and get intervals.
 *
 *     cc measure.c $(pkg-config --cflags --libs tirc) -o measure && ./measure
 */
#include <tirc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 16, WAYS = 3 };

static const char program[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((65536,), 'float32'), B: T.Buffer((65536,), 'float32')):\n"
    "    for i in range(65536):\n"
    "        with T.block('B'):\n"
    "            v = T.axis.spatial(65536, i)\n"
    "            B[v] = A[v] * A[v] + T.float32(1)\n";

/* Any failure ends the program with the library's message. */
/* e: a pointer, since C may read the arguments in any order. */
static void must(tirc_status status, tirc_error **e) {
  if (status == TIRC_OK) return;
  fprintf(stderr, "error [%s]: %s\n", tirc_error_get(*e, TIRC_ERROR_CODE), tirc_error_message(*e));
  exit((int)status);
}

typedef struct Arrays {
  const float *a;
  float *b;
} Arrays;

static int by_hand(void *self) {
  const Arrays *x = self;
  for (int i = 0; i < N; i++) x->b[i] = x->a[i] * x->a[i] + 1;
  return 0; /* anything else means that it failed */
}

/* Omits the last element: the check finds that before anything is timed. */
static int wrong(void *self) {
  const Arrays *x = self;
  for (int i = 0; i < N - 1; i++) x->b[i] = x->a[i] * x->a[i] + 1;
  return 0;
}

static void tell(const char *name, const tirc_figures *f) {
  if (f->code)
    printf("%s: %s, %s\n", name, f->code, f->message);
  else
    printf("%s: %.2f us [%.2f, %.2f] in %d turns\n", name, 1e6 * f->median, 1e6 * f->low,
           1e6 * f->high, f->n_turns);
}

int main(void) {
  tirc_error *e = NULL;
  tirc_module *m, *scheduled;
  tirc_kernel *kernel;
  tirc_executor *threads;
  tirc_launch *launch;
  tirc_argument args[2] = {{.array = NULL}};
  const int64_t shape[] = {N};
  must(tirc_module_parse(program, strlen(program), "program", 0, NULL, &m, &e), &e);
  must(tirc_module_auto(m, NULL, NULL, &scheduled, &e), &e);
  must(tirc_kernel_new(scheduled, "main", NULL, &kernel, &e), &e);
  must(tirc_executor_new(1, &threads, &e), &e);
  for (int i = 0; i < 2; i++) must(tirc_array_new("float32", 1, shape, &args[i].array, &e), &e);
  tirc_array_fill_random(args[0].array, 1);
  must(tirc_launch_new(kernel, threads, 2, args, &launch, &e), &e);

  /* The correct results: the interpreter's, and how far float32 may differ from them. */
  tirc_reference *reference;
  must(tirc_reference_new(m, "main", 2, args, NULL, &reference, &e), &e);

  Arrays own = {tirc_array_data(args[0].array), tirc_array_data(args[1].array)};
  tirc_contender ways[WAYS] = {tirc_launch_contender("tirc", launch),
                               {.name = "by hand", .self = &own, .call = by_hand},
                               {.name = "wrong", .self = &own, .call = wrong}};
  for (int i = 0; i < WAYS; i++) ways[i].reference = reference, ways[i].n = 2, ways[i].args = args;

  const tirc_measure_options options = {.seconds = 0.05, .attempts = 1};
  tirc_measurement *measured;
  must(tirc_measure(WAYS, ways, &options, &measured, &e), &e);
  for (int i = 0; i < WAYS; i++) tell(ways[i].name, tirc_measurement_figures(measured, i));
  const tirc_figures *of = tirc_measurement_figures(measured, 0),
                     *base = tirc_measurement_figures(measured, 1);
  const tirc_ratio r = tirc_times_as_fast(of, base);
  printf("tirc is %.2f [%.2f, %.2f] times as fast as by hand%s\n", r.value, r.low, r.high,
         tirc_surely_faster(of, base) ? ", surely" : "");
  if (tirc_measurement_conditions(measured)->disturbance > 1)
    printf("something disturbed the machine meanwhile\n");
  const bool found = tirc_measurement_figures(measured, 2)->code != NULL;

  tirc_measurement_free(measured);
  tirc_reference_free(reference);
  tirc_launch_free(launch);
  tirc_executor_free(threads);
  tirc_kernel_free(kernel);
  for (int i = 0; i < 2; i++) tirc_array_free(args[i].array);
  tirc_module_free(scheduled);
  tirc_module_free(m);
  return found ? 0 : 1;
}
