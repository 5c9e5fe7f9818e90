/* T.pow by constants, which lowering makes products and roots of: machine code and C of all float
 * types, in plain and in vectorized loops, against the interpreter, which knows pow alone. Special
 * values come out exactly, other numbers within 2 units in the last place. */
#include "compare.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "codegen/c/c.h"
#include "codegen/llvm/llvm.h"
#include "passes/lower/lower.h"

static const double numbers[] = {0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.5,
                                 -0.5,
                                 2.5,
                                 -2.5,
                                 3,
                                 -3,
                                 7.25,
                                 0.1,
                                 -0.1,
                                 1e-3,
                                 -1e-3,
                                 250,
                                 -250,
                                 (double)INFINITY,
                                 -(double)INFINITY,
                                 NAN,
                                 6e-8,
                                 -6e-8,
                                 6.2e-5,
                                 65504,
                                 -65504,
                                 1e-13,
                                 -1e-13,
                                 2e12,
                                 -2e12,
                                 1e-19,
                                 2e19,
                                 1e-23,
                                 -3e25,
                                 1.2e-38,
                                 1e-45,
                                 -1e-45,
                                 3.4e38,
                                 -3.4e38,
                                 3e-40,
                                 1e-77,
                                 1e77,
                                 1e100,
                                 -1e100,
                                 1e-103,
                                 1e-154,
                                 1e154,
                                 2.3e-308,
                                 -5e-324,
                                 1.7e308,
                                 -1.7e308,
                                 16,
                                 81,
                                 1e5};
enum { N = 64, N_NUMBERS = sizeof numbers / sizeof *numbers };

static const double exponents[] = {0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 1.5};
enum { N_EXPONENTS = sizeof exponents / sizeof *exponents };

static const struct {
  const char *name;
  int digits, least; /* the least exponent of a number with all digits */
} types[] = {
    {"float16", 11, -14}, {"bfloat16", 8, -126}, {"float32", 24, -126}, {"float64", 53, -1022}};
enum { N_TYPES = sizeof types / sizeof *types };

/* Short; and so long that it is computed once for all uses: the same number in more words. */
enum { N_FORMS = 4, N_FUNCS = N_TYPES * N_EXPONENTS * N_FORMS };
static int type_of(int i) { return i / (N_EXPONENTS * N_FORMS); }
static double exponent_of(int i) { return exponents[i / N_FORMS % N_EXPONENTS]; }

static const char *program(Tirc *c) {
  Text t = {.c = c};
  for (int i = 0; i < N_FUNCS; i++) {
    const char *type = types[type_of(i)].name, *x = "A[v]";
    for (int k = 0; i % 2 && k < 3; k++) x = tirc_format(c, "T.copysign(T.fabs(%s), A[v])", x);
    tirc_text_addf(&t,
                   "@T.prim_func\ndef f%d(A: T.Buffer((%d,), \"%s\"), B: T.Buffer((%d,), "
                   "\"%s\")):\n    for o in range(4):\n        for i in %s(16):\n"
                   "            with T.block(\"B\"):\n"
                   "                v = T.axis.spatial(%d, o * 16 + i)\n"
                   "                B[v] = T.pow(%s, T.%s(%g))\n",
                   i, N, type, N, type, i / 2 % 2 ? "T.vectorized" : "range", N, x, type,
                   exponent_of(i));
  }
  return t.at;
}

static double unit(int type, double x) {
  int e = 0;
  frexp(x, &e);
  if (x == 0 || e - 1 < types[type].least) e = types[type].least + 1;
  return ldexp(1, e - types[type].digits);
}

static bool is_near(int type, double got, double should) {
  if (isnan(should)) return isnan(got);
  if (isinf(should) || isinf(got) || should == 0 || got == 0)
    if (got == should && !signbit(got) == !signbit(should)) return true;
  if (isinf(should) || isinf(got) || !signbit(got) != !signbit(should)) return false;
  return fabs(got - should) <= 2 * unit(type, should);
}

typedef struct Values {
  Tensor *in, *out, *expected;
} Values;

static void check(const char *who, int i, const Values *v, PackedFunc f) {
  void *args[] = {v->in->data, v->out->data};
  memset(v->out->data, 0, v->out->bytes);
  assert_int_equal(f(args, NULL), 0);
  for (int k = 0; k < N; k++) {
    const double got = tirc_tensor_get(v->out, k), should = tirc_tensor_get(v->expected, k);
    if (!is_near(type_of(i), got, should))
      fail_msg("%s, form %d: pow(%g, %g) of %s is %.17g, not %.17g", who, i % N_FORMS,
               tirc_tensor_get(v->in, k), exponent_of(i), types[type_of(i)].name, got, should);
  }
}

static Values values_of(Tirc *c, const Func *f) {
  const int64_t n = N;
  const DType t = f->buffers[0]->dtype;
  Values v = {tirc_tensor_new(c, t, 1, &n), tirc_tensor_new(c, t, 1, &n),
              tirc_tensor_new(c, t, 1, &n)};
  for (int k = 0; k < N; k++) tirc_tensor_set(v.in, k, numbers[k % N_NUMBERS]);
  Argument args[] = {{.tensor = v.in}, {.tensor = v.expected}};
  tirc_interpret(c, f, 2, args, 0);
  return v;
}

static char folder[] = "/tmp/powers.XXXXXX";

static void *compiled(Tirc *c, const char *text, const char *compiler, int number) {
  const char *path = tirc_format(c, "%s/%d", folder, number);
  FILE *f = fopen(tirc_format(c, "%s.c", path), "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
  const char *flags = "-Wall -Wextra -Werror -fPIC -shared";
  assert_int_equal(system(tirc_format(c, "%s %s -o %s.so %s.c -lm", compiler, flags, path, path)),
                   0);
  void *library = dlopen(tirc_format(c, "%s.so", path), RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library);
  return library;
}

static void powers_are_what_the_interpreter_has(void **state) {
  static const char *const cpus[] = {"haswell", "x86-64"};
  static const char *const compilers[] = {"gcc -O2 -march=haswell", "clang-19 -O1"};
  static Values values[N_FUNCS];
  Tirc *c = tirc_context_new();
  Trap trap;
  (void)state;
  if (!TIRC_TRY(c, trap)) fail_msg("%s", c->diag.message);
  const Module *m = parse(c, program(c)), *lowered = tirc_lower(c, m, NULL, NULL);
  for (int i = 0; i < N_FUNCS; i++) values[i] = values_of(c, m->funcs[i]);
  for (int k = 0; k < 2; k++) {
    Jit *jit = tirc_jit_new(c, lowered, cpus[k]);
    for (int i = 0; i < N_FUNCS; i++)
      check(cpus[k], i, &values[i], tirc_jit_find(jit, m->funcs[i]->name));
    tirc_jit_free(jit);
  }
  const CSource what = {.lowered = lowered, .scheduled = m, .vector_bytes = 32, .packed = true};
  const char *text = tirc_c_source(c, &what);
  for (int k = 0; k < 2; k++) {
    void *library = compiled(c, text, compilers[k], k);
    for (int i = 0; i < N_FUNCS; i++) {
      void *f = dlsym(library, tirc_format(c, "f%d__packed", i));
      assert_non_null(f);
      check(compilers[k], i, &values[i], (PackedFunc)f);
    }
    dlclose(library);
  }
  TIRC_END(c, trap);
  for (int i = 0; i < N_FUNCS; i++) {
    tirc_tensor_free(values[i].in);
    tirc_tensor_free(values[i].out);
    tirc_tensor_free(values[i].expected);
  }
  tirc_context_release(c);
}

/* Of all exponents but the last no pow is left. */
static void no_pow_is_left(void **state) {
  Tirc *c = tirc_context_new();
  Trap trap;
  (void)state;
  if (!TIRC_TRY(c, trap)) fail_msg("%s", c->diag.message);
  const Module *lowered = tirc_lower(c, parse(c, program(c)), NULL, NULL);
  for (int i = 0; i < N_FUNCS; i++) {
    const Module one = {.c = c, .name = "Module", .n_funcs = 1, .funcs = &lowered->funcs[i]};
    const bool has = strstr(tirc_print_module(c, &one, NULL), "T.pow") != NULL;
    assert_int_equal(has, exponent_of(i) == exponents[N_EXPONENTS - 1]);
  }
  TIRC_END(c, trap);
  tirc_context_release(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(powers_are_what_the_interpreter_has),
      cmocka_unit_test(no_pow_is_left),
  };
  if (!mkdtemp(folder)) return 2;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) || failed;
}
