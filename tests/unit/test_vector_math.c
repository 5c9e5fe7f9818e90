/* Functions of float vectors that are written out against double precision, in units in the last
 * place. All of the float range is sampled, each exponent alike; the stated bounds are those of
 * codegen/vector_math.c. Pairs of numbers are random ones and all pairs of special ones. Machine
 * code and what a compiler makes of emitted C are looked at, each with and without fused
 * multiply-add, and C also where it has the lanes of a vector one by one.
 *
 * `test_vector_math STEP [NAME [FIRST]]` looks at every STEP-th float from FIRST on, of one
 * function or of all. All floats, which no other test looks at (minutes a function), and in parts:
 *     build/test/tests/unit/test_vector_math 1 log2
 *     for i in 0 1; do build/test/tests/unit/test_vector_math 2 log2 $i & done; wait */
#include "codegen/c/c.h"
#include "codegen/llvm/llvm.h"
#include "parser/program.h"
#include "passes/lower/lower.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LANES = 16, BATCH = 4096 };
static uint32_t step = 20011; /* a prime: all low bits occur */
static uint32_t first_bits;
static const char *only; /* the function asked for, or NULL */

/* `text` is of A[v]. */
typedef struct Function {
  const char *name, *text;
  double (*reference)(double);
  double bound;
} Function;

static double square(double x) { return x * x; }
static double cube(double x) { return x * x * x; }
static double inverse(double x) { return 1 / x; }
static double same(double x) { return x; }
static double half_power(double x) { return pow(x, 0.5); }
static double other_power(double x) { return pow(x, (double)0.6f); }
static double even_power(double x) { return pow(x, -4); }
static double no_power(double x) { return pow(x, 0); }
static double sigmoid(double x) { return 1 / (1 + exp(x < -88 ? 88 : -x)); }
static double power_of_ten(double x) { return pow(10, x); }

static const Function functions[] = {
    {"exp", "T.exp(A[v])", exp, 1},
    {"exp2", "T.exp2(A[v])", exp2, 2},
    {"tanh", "T.tanh(A[v])", tanh, 2},
    {"erf", "T.erf(A[v])", erf, 2},
    {"sigmoid", "T.sigmoid(T.Select(A[v] < T.float32(-88), T.float32(-88), A[v]))", sigmoid, 2},
    {"log", "T.log(A[v])", log, 2},
    {"log2", "T.log2(A[v])", log2, 2},
    {"exp10", "T.exp10(A[v])", power_of_ten, 2},
    {"log10", "T.log10(A[v])", log10, 2},
    {"log1p", "T.log1p(A[v])", log1p, 2},
    {"sin", "T.sin(A[v])", sin, 2},
    {"cos", "T.cos(A[v])", cos, 2},
    {"first power", "T.pow(A[v], T.float32(1))", same, 0},
    {"square", "T.pow(A[v], T.float32(2))", square, 0.5},
    {"cube", "T.pow(A[v], T.float32(3))", cube, 2},
    {"inverse", "T.pow(A[v], T.float32(-1))", inverse, 0.5},
    {"half power", "T.pow(A[v], T.float32(0.5))", half_power, 0.5},
    {"other power", "T.pow(A[v], T.float32(0.6))", other_power, 1},
    {"even power", "T.pow(A[v], T.float32(-4))", even_power, 1},
    {"no power", "T.pow(A[v], T.float32(0))", no_power, 0},
};

static float of_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* The distance of two neighbouring floats at |x|, by the bits of exponents: this is asked of all
 * floats. */
static double unit(double x) {
  enum { MANTISSA = 52, BIAS = 1023, LEAST = -126, MOST = 127 };
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int e = (int)(bits >> MANTISSA & 0x7ff) - BIAS;
  if (e < LEAST) e = LEAST;
  if (e > MOST) e = MOST;
  bits = (uint64_t)(e - 23 + BIAS) << MANTISSA;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static double error_of(float got, double expected) {
  if (isnan(expected)) return isnan(got) ? 0 : INFINITY;
  float rounded = (float)expected;
  if (isinf(rounded) || isinf(got)) return got == rounded ? 0 : INFINITY;
  if (!signbit(got) != !signbit(expected)) return INFINITY;
  return fabs((double)got - expected) / unit(expected);
}

/* Ways to run a function. */
static const struct {
  const char *name, *cpu;
  const char *compiler; /* of C; NULL: machine code */
  int vector_bytes;
  bool by_lanes; /* in an operation that C has no vectors for */
} ways[] = {
    {"haswell", "haswell", NULL, 0, false},
    {"x86-64", "x86-64", NULL, 0, false},
    {"haswell in C", NULL, "cc -O2 -march=haswell", 32, false},
    {"x86-64 in C", NULL, "cc -O1 -ffp-contract=off", 16, false},
    {"haswell in C, by lanes", NULL, "cc -O2 -march=haswell", 32, true},
};
enum { WAYS = sizeof ways / sizeof *ways };

static const char pow_text[] = "T.pow(A[v], B[v])";
enum { FUNCTIONS = sizeof functions / sizeof *functions, POW = FUNCTIONS };

/* C[i] = TEXT of A[i] and B[i], for each function, pow last, and each way. */
typedef struct Kernels {
  Tirc *c;
  Jit *jit[WAYS];
  void *library[WAYS];
  PackedFunc run[FUNCTIONS + 1][WAYS];
} Kernels;
static Kernels kernels;

static const Module *all_functions(Tirc *c, bool by_lanes) {
  Text t = {.c = c};
  tirc_text_add(&t, "@I.ir_module\nclass Module:\n");
  for (int i = 0; i <= FUNCTIONS; i++) {
    const char *f = i == POW ? pow_text : functions[i].text;
    tirc_text_addf(&t,
                   "  @T.prim_func\n"
                   "  def f%d(A: T.Buffer((%d,), \"float32\"), B: T.Buffer((%d,), \"float32\"), "
                   "C: T.Buffer((%d,), \"float32\")):\n"
                   "    for i in range(%d):\n      for j in T.vectorized(%d):\n"
                   "        with T.block(\"C\"):\n"
                   "          v = T.axis.spatial(%d, i * %d + j)\n"
                   "          C[v] = %s\n",
                   i, BATCH, BATCH, BATCH, BATCH / LANES, LANES, BATCH, LANES,
                   by_lanes ? tirc_format(c, "T.copysign(%s, %s)", f, f) : f);
  }
  Source source = {"test", t.at, (size_t)t.n};
  return tirc_lower(c, tirc_parse_module(c, &source, 0, NULL), NULL, NULL);
}

static void *load_c(Tirc *c, const Module *m, int way) {
  char folder[] = "/tmp/tirc_vector_math_XXXXXX";
  assert_non_null(mkdtemp(folder));
  const char *path = tirc_format(c, "%s/f.c", folder), *so = tirc_format(c, "%s/f.so", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(tirc_c_source(
            c, &(CSource){.lowered = m, .vector_bytes = ways[way].vector_bytes, .packed = true}),
        file);
  fclose(file);
  const char *command = tirc_format(c, "%s -Wall -Wextra -Werror -fPIC -shared -o %s %s -lm",
                                    ways[way].compiler, so, path);
  assert_int_equal(system(command), 0);
  void *library = dlopen(so, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library);
  remove(path), remove(so), rmdir(folder);
  return library;
}

static int compile(void **state) {
  Kernels *k = &kernels;
  (void)state;
  k->c = tirc_context_new();
  for (int way = 0; way < WAYS; way++) {
    const Module *m = all_functions(k->c, ways[way].by_lanes);
    if (ways[way].compiler)
      k->library[way] = load_c(k->c, m, way);
    else
      k->jit[way] = tirc_jit_new(k->c, m, ways[way].cpu);
    for (int i = 0; i <= FUNCTIONS; i++)
      k->run[i][way] =
          ways[way].compiler
              ? (PackedFunc)(uintptr_t)dlsym(k->library[way], tirc_format(k->c, "f%d__packed", i))
              : tirc_jit_find(k->jit[way], tirc_format(k->c, "f%d", i));
  }
  return 0;
}

static int free_kernels(void **state) {
  (void)state;
  for (int i = 0; i < WAYS; i++) {
    tirc_jit_free(kernels.jit[i]);
    if (kernels.library[i]) dlclose(kernels.library[i]);
  }
  tirc_context_release(kernels.c);
  return 0;
}

/* What was farthest off, by each way. */
typedef struct Worst {
  double error;
  float x, y;
} Worst;

/* One batch of arguments and what is right. */
typedef struct Batch {
  float x[BATCH], y[BATCH];
  double expected[BATCH];
} Batch;
static Batch batch;

static void run_batch(int function, Worst worst[WAYS]) {
  static float out[BATCH];
  void *args[3] = {batch.x, batch.y, out};
  for (int way = 0; way < WAYS; way++) {
    assert_int_equal(kernels.run[function][way](args, NULL), 0);
    for (int i = 0; i < BATCH; i++) {
      const double e = error_of(out[i], batch.expected[i]);
      if (!(e <= worst[way].error)) worst[way] = (Worst){e, batch.x[i], batch.y[i]};
    }
  }
}

static void judge(const char *name, double bound, const Worst worst[WAYS]) {
  for (int i = 0; i < WAYS; i++) {
    print_message("%s on %s: %.3f units in the last place, at %a, %a\n", name, ways[i].name,
                  worst[i].error, (double)worst[i].x, (double)worst[i].y);
    assert_true(worst[i].error <= bound);
  }
}

/* Bits of floats where something begins: zeros, subnormal and normal numbers, infinities, NaN,
 * powers of two and what is beside them, bounds of exp, exp10, tanh, sin, log1p, integers that are
 * odd, even, the last. */
static const uint32_t special[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x7f7fffff,
    0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x3f800000, 0xbf800000, 0x3f7fffff,
    0x3f800001, 0x40000000, 0xc0000000, 0x40400000, 0xc0400000, 0x3f000000, 0xbf000000, 0x3f3504f3,
    0x3f3504f4, 0x3fb504f3, 0x42b17218, 0x42b17217, 0xc2cff1b5, 0xc2cff1b4, 0xc2aeac50, 0x3f200000,
    0x43000000, 0x42ffffff, 0xc3150000, 0xc3160000, 0xc3160001, 0x48000000, 0x47ffffff, 0xc8000000,
    0x40490fdb, 0x3fc90fdb, 0x4b7fffff, 0x4b800000, 0x4b800001, 0xcb7fffff, 0x4affffff, 0x4b000001,
    0x421a209a, 0x421a209b, 0xc23369f4, 0xc23369f5, 0xbf7fffff, 0xbf800001, 0xbe95f61a, 0x3ed413cd,
    0x7f3504f3, 0x7eb504f3};
enum { SPECIAL = (int)(sizeof special / sizeof *special) };

static void check(int function) {
  const Function *f = &functions[function];
  Worst worst[WAYS] = {{0}};
  uint64_t bits = first_bits;
  for (bool first = true; bits < (1ULL << 32); first = false) {
    for (int i = 0; i < BATCH; i++) {
      const bool is_special = first && i < SPECIAL;
      batch.x[i] = of_bits(is_special ? special[i] : (uint32_t)bits);
      batch.expected[i] = f->reference((double)batch.x[i]);
      if (!is_special) bits += step;
    }
    run_batch(function, worst);
  }
  judge(f->name, f->bound, worst);
}

static bool is_asked(const char *name) { return !only || strcmp(only, name) == 0; }

static void vector_functions_keep_their_bounds(void **state) {
  (void)state;
  for (int i = 0; i < FUNCTIONS; i++)
    if (is_asked(functions[i].name)) check(i);
}

/* --- pow ------------------------------------------------------------------------------------- */

static uint32_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (uint32_t)(*state >> 32);
}

/* Any bits; results that are numbers, subnormal ones too; negative numbers to whole powers. */
static void draw_pair(uint64_t *state, int i) {
  float x = of_bits(next_random(state)), y = of_bits(next_random(state));
  const double part = (double)next_random(state) / 0x1p32;
  if (i % 4 && isfinite(x) && x != 0) {
    y = (float)((part * 280 - 151) / log2(fabs((double)x)));
    x = fabsf(x);
  }
  if (i % 4 == 2) y = (float)((int)(next_random(state) % 41) - 20);
  if (i % 4 == 2) x = of_bits(0x3e000000u + next_random(state) % 0x02800000u);
  if (i % 8 == 2) x = -x;
  if (i % 4 == 3) { /* near 1, where a logarithm is small */
    x = of_bits(0x3f700000u + next_random(state) % 0x00200000u);
    y = (float)((part * 280 - 151) / log2((double)x));
  }
  batch.x[i] = x, batch.y[i] = y;
  batch.expected[i] = pow((double)x, (double)y);
}

static void pow_keeps_its_bound(void **state) {
  (void)state;
  enum { PAIRS = 1 << 20 };
  if (!is_asked("pow")) return;
  Worst worst[WAYS] = {{0}};
  uint64_t random = 1;
  for (int at = 0; at < PAIRS; at += BATCH) {
    for (int i = 0; i < BATCH; i++) draw_pair(&random, i);
    run_batch(POW, worst);
  }
  for (int at = 0; at < SPECIAL * SPECIAL; at += BATCH) {
    for (int i = 0; i < BATCH; i++) {
      const int pair = (at + i) % (SPECIAL * SPECIAL);
      batch.x[i] = of_bits(special[pair / SPECIAL]), batch.y[i] = of_bits(special[pair % SPECIAL]);
      batch.expected[i] = pow((double)batch.x[i], (double)batch.y[i]);
    }
    run_batch(POW, worst);
  }
  judge("pow", 1, worst);
}

/* No call of a function is left in the loop. */
static void vector_functions_are_written_out(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  const char *text =
      "@T.prim_func\ndef main(A: T.Buffer((64,), \"float32\")):\n    for j in T.vectorized(8):\n"
      "        with T.block(\"A\"):\n            v = T.axis.spatial(64, j)\n"
      "            A[v] = T.exp(A[v]) + T.tanh(A[v]) + T.erf(A[v]) + T.sigmoid(A[v]) + T.log(A[v])"
      " + T.exp2(A[v]) + T.log2(A[v]) + T.pow(A[v], A[v + 8])"
      " + T.exp10(A[v]) + T.log10(A[v]) + T.log1p(A[v])\n";
  Source source = {"test", text, strlen(text)};
  const Module *m = tirc_lower(c, tirc_parse_module(c, &source, 0, NULL), NULL, NULL);
  Code code = tirc_llvm_emit(c, m, "haswell", EMIT_ASM);
  static const char *const names[] = {"expf", "exp2f", "exp10f", "tanhf",  "erff",
                                      "logf", "log2f", "log10f", "log1pf", "powf"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_null(strstr(code.bytes, names[i]));
  assert_non_null(strstr(code.bytes, "vfmadd"));
  tirc_context_release(c);
}

int main(int argc, char **argv) {
  if (argc > 1) step = (uint32_t)strtoul(argv[1], NULL, 10);
  if (step == 0) step = 1;
  if (argc > 2) only = argv[2];
  if (argc > 3) first_bits = (uint32_t)strtoul(argv[3], NULL, 10);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vector_functions_keep_their_bounds),
      cmocka_unit_test(pow_keeps_its_bound),
      cmocka_unit_test(vector_functions_are_written_out),
  };
  return cmocka_run_group_tests(tests, compile, free_kernels);
}
