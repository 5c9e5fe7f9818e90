/* A program that makes, schedules and runs a kernel: it builds a matmul in code, schedules it call
 * by call, compiles it, runs it on its own memory, checks and times it.
 *
 *     cc jit.c $(pkg-config --cflags --libs tirc) -o jit && ./jit
 *
 * It shows these parts of the header, in order: the builder, schedules call by call with Python's
 * kinds of arguments, a refused call, printing, DLPack tensors over plain C arrays, timing. */
#include <tirc.h>

#include <stdio.h>
#include <stdlib.h>

enum { M = 128, N = 192, K = 160 };

/* Any failure ends the program with the library's message. */
/* e: a pointer, since C may read the arguments in any order. */
static void must(tirc_status status, tirc_error **e) {
  if (status == TIRC_OK) return;
  const char *hint = tirc_error_get(*e, TIRC_ERROR_HINT);
  fprintf(stderr, "error [%s]: %s\n", tirc_error_get(*e, TIRC_ERROR_CODE), tirc_error_message(*e));
  if (hint) fprintf(stderr, "hint: %s\n", hint);
  exit((int)status);
}

/* C[i, j] += A[i, k] * B[k, j], built with the functions of the builder. */
static tirc_module *matmul(void) {
  tirc_builder *b;
  tirc_module *m;
  tirc_error *e = NULL;
  must(tirc_builder_new(&b, &e), &e);
  tirc_build_func(b, "main");
  tirc_term extent[] = {tirc_build_int(b, NULL, M), tirc_build_int(b, NULL, N),
                        tirc_build_int(b, NULL, K)};
  tirc_term shape_a[] = {extent[0], extent[2]}, shape_b[] = {extent[2], extent[1]};
  tirc_term A = tirc_build_buffer(b, "A", "float32", 2, shape_a, NULL);
  tirc_term B = tirc_build_buffer(b, "B", "float32", 2, shape_b, NULL);
  tirc_term C = tirc_build_buffer(b, "C", "float32", 2, extent, NULL);
  tirc_term loop[3], v[3];
  tirc_build_grid(b, 3, (const char *const[]){"i", "j", "k"}, extent, loop);
  tirc_build_block(b, "C");
  v[0] = tirc_build_axis(b, "spatial", "vi", NULL, extent[0], loop[0]);
  v[1] = tirc_build_axis(b, "spatial", "vj", NULL, extent[1], loop[1]);
  v[2] = tirc_build_axis(b, "reduce", "vk", NULL, extent[2], loop[2]);
  tirc_build_init(b);
  tirc_build_store(b, C, 2, v, tirc_build_float(b, "float32", 0));
  tirc_build_end(b);
  tirc_term at_a[] = {v[0], v[2]}, at_b[] = {v[2], v[1]};
  tirc_term product =
      tirc_build_op(b, "*", tirc_build_load(b, A, 2, at_a), tirc_build_load(b, B, 2, at_b));
  tirc_build_store(b, C, 2, v, tirc_build_op(b, "+", tirc_build_load(b, C, 2, v), product));
  tirc_build_end(b); /* the block */
  tirc_build_end(b); /* the grid */
  tirc_build_end(b); /* the function */
  must(tirc_builder_module(b, &m, &e), &e);
  tirc_builder_free(b);
  return m;
}

/* sch.NAME(args...) */
static tirc_value call(tirc_schedule *s, const char *name, int n, const tirc_value *args) {
  tirc_value result;
  tirc_error *e = NULL;
  must(tirc_schedule_call(s, name, n, args, 0, NULL, NULL, &result, &e), &e);
  return result;
}

/* [outer, inner] of sch.split(loop, factors=[None, inner]) */
static const tirc_value *split(tirc_schedule *s, tirc_value loop, int64_t inner) {
  tirc_value factors[] = {tirc_none(), tirc_integer(inner)};
  tirc_value args[] = {loop, tirc_list_of(2, factors)};
  return call(s, "split", 2, args).u.items;
}

static tirc_module *tune(const tirc_module *m) {
  tirc_schedule *s;
  tirc_module *tuned;
  tirc_error *e = NULL;
  must(tirc_schedule_new(m, NULL, &s, &e), &e);
  tirc_value name = tirc_text("C"), block = call(s, "get_block", 1, &name);
  const tirc_value *ijk = call(s, "get_loops", 1, &block).u.items;

  /* A call that would change what the program computes is refused, and nothing has changed. */
  if (tirc_schedule_call(s, "parallel", 1, &ijk[2], 0, NULL, NULL, NULL, &e) == TIRC_NO) {
    printf("refused: %s\n  %s\n", tirc_error_get(e, TIRC_ERROR_CALL), tirc_error_message(e));
    tirc_error_free(e);
  }
  const tirc_value *i = split(s, ijk[0], 8), *j = split(s, ijk[1], 32);
  tirc_value order[] = {i[0], j[0], ijk[2], i[1], j[1]};
  call(s, "reorder", 5, order);
  call(s, "parallel", 1, &i[0]);
  call(s, "unroll", 1, &i[1]);
  call(s, "vectorize", 1, &j[1]);
  tirc_value at[] = {block, ijk[2]};
  call(s, "decompose_reduction", 2, at);
  must(tirc_schedule_module(s, &tuned, &e), &e);
  tirc_schedule_free(s);
  return tuned;
}

/* A DLPack tensor over a C array: no copy, no ownership. */
static DLTensor tensor(float *data, int64_t shape[2]) {
  DLTensor t = {.data = data, .device = {kDLCPU, 0}, .ndim = 2, .shape = shape};
  t.dtype = (DLDataType){kDLFloat, 32, 1};
  return t;
}

static double largest_error(const float *a, const float *b, const float *c) {
  double worst = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++) sum += (double)a[i * K + k] * (double)b[k * N + j];
      double off = sum - (double)c[i * N + j];
      if (off < 0) off = -off;
      if (!(off <= worst)) worst = off;
    }
  return worst;
}

static float a[M * K], b[K * N], c[M * N];

int main(void) {
  tirc_error *e = NULL;
  tirc_module *m = matmul(), *tuned = tune(m);
  char *text;
  must(tirc_module_print(tuned, &text, &e), &e);
  fputs(text, stdout);
  tirc_string_free(text);

  tirc_kernel *kernel;
  tirc_executor *threads;
  must(tirc_kernel_new(tuned, "main", "native", &kernel, &e), &e);
  must(tirc_executor_new(0, &threads, &e), &e);
  for (int i = 0; i < M * K; i++) a[i] = (float)(i % 17) / 17 - 0.5f;
  for (int i = 0; i < K * N; i++) b[i] = (float)(i % 23) / 23 - 0.5f;
  DLTensor t[] = {tensor(a, (int64_t[]){M, K}), tensor(b, (int64_t[]){K, N}),
                  tensor(c, (int64_t[]){M, N})};
  tirc_argument args[] = {{.tensor = &t[0]}, {.tensor = &t[1]}, {.tensor = &t[2]}};
  must(tirc_kernel_run(kernel, threads, 3, args, &e), &e);
  double error = largest_error(a, b, c);

  tirc_launch *launch;
  double seconds[5], best = 1e9;
  must(tirc_launch_new(kernel, threads, 3, args, &launch, &e), &e);
  must(tirc_launch_time(launch, 10, 5, 0.01, seconds, &e), &e);
  for (int i = 0; i < 5; i++)
    if (seconds[i] < best) best = seconds[i];
  printf("largest error %.2g; %.1f us, %.1f GFLOP/s on %d threads\n", error, 1e6 * best,
         2e-9 * (double)(M * N * K) / best, tirc_executor_threads(threads));

  tirc_launch_free(launch);
  tirc_kernel_free(kernel);
  tirc_executor_free(threads);
  tirc_module_free(tuned);
  tirc_module_free(m);
  return error < 1e-4 ? 0 : 1;
}
