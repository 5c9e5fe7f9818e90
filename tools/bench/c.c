/* What one would write in C, compiled when the bench starts: for a product the three loops, the
 * inner one along memory so that the compiler can make vectors of it; for other programs their own
 * loops, as `tirc build --emit=c` prints them. On one thread. */
#include "rivals.h"

#include <string.h>

static const char product[] =
    "#include <math.h>\n"
    "static float activation(float x) { return ACTIVATION; }\n"
    "static void product(const float *restrict A, const float *restrict B, const float *restrict "
    "bias,\n"
    "                    float *restrict C) {\n"
    "  for (long i = 0; i < M; i++) {\n"
    "    for (long j = 0; j < N; j++) C[i * N + j] = 0;\n"
    "#if TRANSPOSED\n"
    "    for (long j = 0; j < N; j++)\n"
    "      for (long k = 0; k < K; k++)\n"
    "        C[i * N + j] += A[i * K + k] * B[j * K + k];\n"
    "#else\n"
    "    for (long k = 0; k < K; k++)\n"
    "      for (long j = 0; j < N; j++)\n"
    "        C[i * N + j] += A[i * K + k] * B[k * N + j];\n"
    "#endif\n"
    "#if AFTER\n"
    "    for (long j = 0; j < N; j++)\n"
    "      C[i * N + j] = activation(C[i * N + j] * SCALE + (bias ? bias[j] : 0));\n"
    "#endif\n"
    "  }\n"
    "}\n";
static const char *const activations[] = {
    [LINEAR] = "x", [RELU] = "x > 0 ? x : 0", [GELU] = "0.5f * x * (1 + erff(x * 0.70710678f))"};

bool plain_c_open(const Bench *b, char *kernels, size_t size, const char **why) {
  const char *compiler = first_compiler();
  *why = "there is no C compiler";
  if (compiler) snprintf(kernels, size, "on 1 thread, %s -O3 -march=%s", compiler, b->target.name);
  return compiler != NULL;
}

/* The place of an array among the parameters. */
static int place_of(const Case *k, const float *data) {
  int i = 0;
  while (i < k->n_params - 1 &&
         (!k->args[i].array || tirc_array_data(k->args[i].array) != (const void *)data))
    i++;
  return i;
}

static char *write_product(const Case *k, const Operator *op) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = begin_text(&text, &size);
  fprintf(f, "enum { M = %d, N = %d, K = %d };\n#define TRANSPOSED %d\n#define SCALE (float)%.9g\n",
          op->m, op->n, op->k, op->transposed, (double)op->scale);
  fprintf(f, "#define ACTIVATION (%s)\n#define AFTER %d\n%s", activations[op->activation],
          op->bias || op->activation || op->scale < 1, product);
  fputs("static int bench_kernel(", f);
  for (int i = 0; i < k->n_params; i++)
    fprintf(f, "%s%s p%d", i ? ", " : "", k->params[i].is_array ? "float *" : "double", i);
  fprintf(f, ") {\n  for (long b = 0; b < %d; b++) product(p%d + b * M * K, p%d + b * N * K, ",
          op->batch, place_of(k, op->a), place_of(k, op->b));
  if (op->bias)
    fprintf(f, "p%d", place_of(k, op->bias));
  else
    fputs("0", f);
  fprintf(f, ", p%d + b * M * N);\n  return 0;\n}\n", place_of(k, op->c));
  return end_text(f, &text);
}

void *plain_c_prepare(const Bench *b, const Case *k, const Operator *op, const char **why) {
  tirc_error *e = NULL;
  const char *compiler = first_compiler();
  Compiled *c = NULL;
  if (!compiler || (op && op->kind != PRODUCT)) return NULL;
  if (op) {
    c = compile_source(b, k, NULL, "bench_kernel", compiler, write_product(k, op), k->args, why);
  } else
    c = compile_contender(b, k, k->program, compiler, k->args, why, &e);
  if (!c && e) *why = "it has no form in C";
  tirc_error_free(e);
  return c;
}

void plain_c_run(void *prepared) { call_compiled(prepared); }
void plain_c_free(void *prepared) { (void)prepared; }
