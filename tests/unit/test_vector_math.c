/* exp, tanh and erf of float vectors against double precision, in units in the last place. All of
 * the float range is sampled, each exponent alike; the stated bounds are those of
 * codegen/llvm/vector_math.c. `test_vector_math STEP` looks at every STEP-th float (1: all of them;
 * takes minutes). */
#include "codegen/llvm/llvm.h"
#include "parser/program.h"
#include "passes/lower/lower.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BATCH = 4096 };
static uint32_t step = 65521; /* a prime: all low bits occur */

typedef struct Function {
  const char *name;
  double (*reference)(double);
  double bound;
} Function;
static const Function functions[] = {{"exp", exp, 1}, {"tanh", tanh, 2}, {"erf", erf, 2}};

static float of_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* The distance of two neighbouring floats at |x|. */
static double unit(double x) {
  int e;
  frexp(x, &e);
  return ldexp(1.0, (x == 0 || e < -125 ? -125 : e > 128 ? 128 : e) - 24);
}

static double error_of(float got, double expected) {
  if (isnan(expected)) return isnan(got) ? 0 : INFINITY;
  float rounded = (float)expected;
  if (isinf(rounded) || isinf(got)) return got == rounded ? 0 : INFINITY;
  if (expected == 0 && !signbit(got) != !signbit(expected)) return INFINITY;
  return fabs((double)got - expected) / unit(expected);
}

static PackedFunc compile(Tirc *c, const char *name, const char *cpu, Jit **jit) {
  const char *text = tirc_format(
      c,
      "@T.prim_func\ndef main(A: T.Buffer((4096,), \"float32\"), B: T.Buffer((4096,), "
      "\"float32\")):\n"
      "    for i in range(256):\n        for j in T.vectorized(16):\n"
      "            with T.block(\"B\"):\n                v = T.axis.spatial(4096, i * 16 + j)\n"
      "                B[v] = T.%s(A[v])\n",
      name);
  Source source = {"test", text, strlen(text)};
  *jit = tirc_jit_new(c, tirc_lower(c, tirc_parse_module(c, &source, 0, NULL), NULL, NULL), cpu);
  return tirc_jit_find(*jit, "main");
}

static void check(const Function *f, const char *cpu) {
  Tirc *c = tirc_context_new();
  Jit *jit;
  PackedFunc func = compile(c, f->name, cpu, &jit);
  static float in[BATCH], out[BATCH];
  static const uint32_t special[] = {0,          0x80000000, 1,          0x80000001, 0x7f800000,
                                     0xff800000, 0x7fc00000, 0xffc00000, 0x3f800000, 0x42b17218,
                                     0x42b17217, 0xc2cff1b5, 0xc2cff1b4, 0xc2aeac50, 0x3f200000};
  void *args[2] = {in, out};
  double worst = 0;
  float at = 0;
  uint64_t bits = 0;
  for (bool first = true; bits < (1ULL << 32); first = false) {
    for (int i = 0; i < BATCH; i++) {
      bool is_special = first && i < (int)(sizeof special / sizeof *special);
      in[i] = of_bits(is_special ? special[i] : (uint32_t)bits);
      if (!is_special) bits += step;
    }
    assert_int_equal(func(args, NULL), 0);
    for (int i = 0; i < BATCH; i++) {
      double e = error_of(out[i], f->reference((double)in[i]));
      if (!(e <= worst)) worst = e, at = in[i];
    }
  }
  print_message("%s on %s: %.3f units in the last place, at %a\n", f->name, cpu, worst, (double)at);
  assert_true(worst <= f->bound);
  tirc_jit_free(jit);
  tirc_context_release(c);
}

static void vector_functions_keep_their_bounds(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    check(&functions[i], "haswell");
    check(&functions[i], "x86-64"); /* without fused multiply-add */
  }
}

/* No call of a function is left in the loop. */
static void vector_functions_are_written_out(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  const char *text =
      "@T.prim_func\ndef main(A: T.Buffer((64,), \"float32\")):\n    for j in T.vectorized(8):\n"
      "        with T.block(\"A\"):\n            v = T.axis.spatial(64, j)\n"
      "            A[v] = T.exp(A[v]) + T.tanh(A[v]) + T.erf(A[v]) + T.sigmoid(A[v])\n";
  Source source = {"test", text, strlen(text)};
  const Module *m = tirc_lower(c, tirc_parse_module(c, &source, 0, NULL), NULL, NULL);
  Code code = tirc_llvm_emit(c, m, "haswell", EMIT_ASM);
  assert_null(strstr(code.bytes, "expf"));
  assert_null(strstr(code.bytes, "tanhf"));
  assert_null(strstr(code.bytes, "erff"));
  assert_non_null(strstr(code.bytes, "vfmadd"));
  tirc_context_release(c);
}

int main(int argc, char **argv) {
  if (argc > 1) step = (uint32_t)strtoul(argv[1], NULL, 10);
  if (step == 0) step = 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vector_functions_keep_their_bounds),
      cmocka_unit_test(vector_functions_are_written_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
