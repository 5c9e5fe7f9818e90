/* Machine code against the interpreter, on every program of programs.h, for several processors,
 * with and without a runtime; and what the generated code must look like. */
#include "codegen/failures.h"
#include "codegen/llvm/llvm.h"
#include "compare.h"
#include "ir/tree/find.h"
#include "passes/lower/lower.h"
#include "programs.h"
#include "runtime/kernel/workspace.h"

#include <stdlib.h>

/* One tensor's data, or the address of a scalar in its own type. */
static void fill_args(Tirc *c, const Func *f, Run *r, int64_t *values, void **args) {
  Expr *symbols;
  int n = tirc_symbolic_params(c, f, &symbols);
  tirc_bind_arguments(c, f, r->n, r->args, values);
  static const float one_and_a_half = 1.5F;
  for (int i = 0; i < r->n; i++) {
    Argument *a = &r->args[i];
    if (a->tensor)
      args[i] = a->tensor->data;
    else if (!tirc_dtype_is_float(f->params[i]->dtype))
      args[i] = &a->i;
    else
      args[i] = (void *)(uintptr_t)&one_and_a_half;
  }
  for (int i = 0; i < n; i++) args[r->n + i] = &values[i];
}

typedef struct Case {
  const Program *program;
  const char *cpu;
} Case;

static void run_compiled(Tirc *c, const Func *f, PackedFunc func, const Run *input,
                         const tirc_runtime *rt, Run *out) {
  void *args[2 * MAX_PARAMS];
  int64_t values[MAX_PARAMS];
  *out = copy_run(c, input);
  fill_args(c, f, out, values, args);
  assert_int_equal(func(args, rt), 0);
}

static void check_case(Tirc *c, const void *arg) {
  const Case *k = arg;
  const Module *m = parse(c, k->program->text);
  const Func *f = m->funcs[0];
  Run input = new_run(c, f, k->program->symbol), expected = copy_run(c, &input), alone, pooled;
  tirc_interpret(c, f, expected.n, expected.args, 0);
  Jit *j = tirc_jit_new(c, tirc_lower(c, m, NULL, NULL), k->cpu);
  PackedFunc func = tirc_jit_find(j, f->name);
  assert_non_null(func);
  KernelRuntime *rt = tirc_kernel_runtime_new(3);
  assert_non_null(rt);
  run_compiled(c, f, func, &input, NULL, &alone);
  run_compiled(c, f, func, &input, tirc_kernel_runtime_abi(rt), &pooled);
  tirc_kernel_runtime_free(rt);
  tirc_jit_free(j);
  const char *what = tirc_format(c, "%s on %s", k->program->name, k->cpu);
  assert_same_run(what, &expected, &alone, k->program->tolerance);
  assert_same_run(tirc_format(c, "%s, with threads", what), &expected, &pooled,
                  k->program->tolerance);
  free_run(&input);
  free_run(&expected);
  free_run(&alone);
  free_run(&pooled);
}

static void check_all(const char *cpu) {
  for (int i = 0; i < N_PROGRAMS; i++)
    in_context(programs[i].name, check_case, &(Case){&programs[i], cpu});
}

static void machine_code_agrees_on_haswell(void **state) {
  (void)state;
  check_all("haswell");
}
static void machine_code_agrees_on_this_machine(void **state) {
  (void)state;
  check_all("native");
}
/* No FMA, no float16 conversion, 128-bit vectors. */
static void machine_code_agrees_on_the_oldest_processor(void **state) {
  (void)state;
  check_all("x86-64");
}

/* --- float16 and bfloat16, all values ------------------------------------------------------- */

#define CONVERT(from, to)                                                                          \
  "@T.prim_func\ndef main(A: T.Buffer((65536,), \"" from "\"), B: T.Buffer((65536,), \"" to        \
  "\")):\n    for i in range(65536):\n        B[i] = T.Cast(\"" to "\", A[i])\n"

typedef struct Conversion {
  const char *text, *cpu;
} Conversion;

/* Every 16-bit pattern, widened and narrowed again, is itself (NaN stays NaN). */
static void check_conversion(Tirc *c, const void *arg) {
  const Conversion *k = arg;
  const Module *m = parse(c, k->text);
  const Func *f = m->funcs[0];
  Run r = new_run(c, f, 0), expected;
  bool narrows = f->buffers[0]->dtype.bits > 16;
  for (int64_t i = 0; i < 65536; i++) {
    if (!narrows)
      ((uint16_t *)r.args[0].tensor->data)[i] = (uint16_t)i;
    else {
      /* Values around every float16: the halfway points and their neighbours. */
      double v = tirc_half_to_double((uint16_t)(i % 0x7c00));
      double next = tirc_half_to_double((uint16_t)(i % 0x7c00 + 1));
      tirc_tensor_set(r.args[0].tensor, i, (v + next) / 2 * (1 + (double)(i % 3 - 1) * 0x1p-23));
    }
  }
  expected = copy_run(c, &r);
  tirc_interpret(c, f, r.n, expected.args, 0);
  Jit *j = tirc_jit_new(c, tirc_lower(c, m, NULL, NULL), k->cpu);
  void *args[2] = {r.args[0].tensor->data, r.args[1].tensor->data};
  int status = tirc_jit_find(j, "main")(args, NULL);
  tirc_jit_free(j);
  assert_int_equal(status, 0);
  assert_same_run(tirc_format(c, "%.60s on %s", k->text + 30, k->cpu), &expected, &r, 0);
  free_run(&r);
  free_run(&expected);
}

static void small_floats_convert_exactly(void **state) {
  (void)state;
  static const char *const texts[] = {
      CONVERT("float16", "float32"),  CONVERT("bfloat16", "float32"),
      CONVERT("float32", "float16"),  CONVERT("float32", "bfloat16"),
      CONVERT("float64", "float16"),  CONVERT("float64", "bfloat16"),
      CONVERT("float16", "bfloat16"), CONVERT("bfloat16", "float16")};
  static const char *const cpus[] = {"haswell", "x86-64"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (int k = 0; k < 2; k++)
      in_context(cpus[k], check_conversion, &(Conversion){texts[i], cpus[k]});
}

/* --- failures at run time ------------------------------------------------------------------- */

typedef struct Accounts {
  int64_t live; /* bytes */
  int calls, fail_at;
  int64_t chunks; /* asked for by the last parallel loop */
} Accounts;

static void *counted_alloc(void *self, size_t bytes) {
  Accounts *a = self;
  if (a->calls++ == a->fail_at) return NULL;
  a->live += (int64_t)bytes;
  return aligned_alloc(64, (bytes + 63) / 64 * 64);
}
static void counted_free(void *self, void *p, size_t bytes) {
  ((Accounts *)self)->live -= (int64_t)bytes;
  free(p);
}
static void serial_for(void *self, int64_t n, void (*body)(int64_t, void *), void *closure,
                       int64_t chunks) {
  ((Accounts *)self)->chunks = chunks;
  for (int64_t i = 0; i < n; i++) body(i, closure);
}

/* Three buffers, two of them inside of a parallel loop, and too large for the stack there. */
static const char three_workspaces[] = FUNC(
    "a: T.handle, b: T.handle",
    "    n = T.int32()\n    A = T.match_buffer(a, (n, n))\n    B = T.match_buffer(b, (n, n))\n"
    "    with T.block(\"root\"):\n        X = T.alloc_buffer((n, n))\n"
    "        Y = T.alloc_buffer((n, n * 1000))\n        Z = T.alloc_buffer((n, n * 1000))\n"
    "        for i, j in T.grid(n, n):\n            with T.block(\"X\"):\n"
    "                vi, vj = T.axis.remap(\"SS\", [i, j])\n                X[vi, vj] = A[vj, vi]\n"
    "        for i in T.parallel(n):\n            for j in range(n * 1000):\n"
    "                with T.block(\"Y\"):\n"
    "                    vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                    Y[vi, vj] = X[vi, vj % n]\n"
    "            for j in range(n * 1000):\n                with T.block(\"Z\"):\n"
    "                    vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                    Z[vi, vj] = Y[vi, n * 1000 - 1 - vj]\n"
    "            for j in range(n):\n                with T.block(\"B\"):\n"
    "                    vi, vj = T.axis.remap(\"SS\", [i, j])\n"
    "                    B[vi, vj] = Z[vi, vj * 1000]\n");

/* So many nests that each becomes a function: a chain, some of it parallel with memory of its own.
 * Its buffers differ in shape, so that they do not share memory. */
static const char *many_nests(Tirc *c) {
  enum { NESTS = 80 };
  Text t = {.c = c};
  tirc_text_add(&t, FUNC("a: T.handle, b: T.handle, k: T.float32, more: T.bool",
                         "    n = T.int32()\n    A = T.match_buffer(a, (n, n))\n"
                         "    B = T.match_buffer(b, (n, n))\n    with T.block(\"root\"):\n"));
  for (int i = 0; i < NESTS; i++) {
    if (i % 4)
      tirc_text_addf(&t, "        X%d = T.alloc_buffer((n + %d, n))\n", i, i);
    else
      tirc_text_addf(&t, "        X%d = T.alloc_buffer((%d, 64))\n", i, 64 + i);
    if (i % 20 == 19) tirc_text_addf(&t, "        Y%d = T.alloc_buffer((n, n))\n", i);
  }
  for (int i = 0; i <= NESTS; i++) {
    const char *from = i ? tirc_format(c, "X%d", i - 1) : "A";
    const char *to = i < NESTS ? tirc_format(c, "X%d", i) : "B";
    if (i % 20 == 19)
      tirc_text_addf(&t,
                     "        for i in T.parallel(n):\n            for j in range(n):\n"
                     "                with T.block(\"Y%d\"):\n"
                     "                    vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                     "                    Y%d[vi, vj] = %s[vi, vj] * k\n"
                     "            for j in range(n):\n                with T.block(\"X%d\"):\n"
                     "                    vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                     "                    %s[vi, vj] = Y%d[vi, n - 1 - vj]\n",
                     i, i, from, i, to, i);
    else
      tirc_text_addf(
          &t,
          "        for i, j in T.grid(n, n):\n            with T.block(\"X%d\"):\n"
          "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
          "                %s[vi, vj] = T.if_then_else(more, %s[vj, vi] + A[vi, vj], k)\n",
          i, to, from);
  }
  return t.at;
}

static void check_exhaustion(Tirc *c, const void *arg) {
  const Module *m = parse(c, arg ? arg : many_nests(c));
  Run r = new_run(c, m->funcs[0], 5), expected = copy_run(c, &r);
  tirc_interpret(c, m->funcs[0], expected.n, expected.args, 0);
  Jit *j = tirc_jit_new(c, tirc_lower(c, m, NULL, NULL), "haswell");
  void *args[2 * MAX_PARAMS];
  int64_t values[MAX_PARAMS];
  fill_args(c, m->funcs[0], &r, values, args);
  int total = -1;
  for (int fail_at = 0; fail_at < 1000 && total < 0; fail_at++) {
    Accounts a = {.fail_at = fail_at};
    tirc_runtime rt = {&a, serial_for, counted_alloc, counted_free};
    int status = tirc_jit_find(j, "main")(args, &rt);
    assert_int_equal(a.live, 0);
    if (status == 0)
      total = a.calls;
    else
      assert_int_equal(status, 1);
  }
  tirc_jit_free(j);
  assert_same_run("after the last try", &expected, &r, 0);
  free_run(&r);
  free_run(&expected);
  assert_true(total >= (arg ? 3 : 60)); /* it allocated, and succeeded in the end */
}

static void exhausted_memory_is_reported_and_nothing_leaks(void **state) {
  (void)state;
  in_context("check_exhaustion", check_exhaustion, three_workspaces);
  in_context("check_exhaustion of many nests", check_exhaustion, NULL);
}

static void check_chunks(Tirc *c, const void *arg) {
  const char *loop = arg;
  const char *text = tirc_format(
      c, FUNC(B1(A, 12), "    for i in T.%s:\n        A[i] = T.Cast(\"float32\", i)\n"), loop);
  Jit *j = tirc_jit_new(c, tirc_lower(c, parse(c, text), NULL, NULL), "haswell");
  float data[12] = {0};
  Accounts a = {.fail_at = -1, .chunks = -1};
  tirc_runtime rt = {&a, serial_for, counted_alloc, counted_free};
  assert_int_equal(tirc_jit_find(j, "main")((void *[]){data}, &rt), 0);
  tirc_jit_free(j);
  assert_int_equal(a.chunks, strstr(loop, "annotations") ? 5 : 0);
  assert_true(data[11] == 11);
}

static void a_parallel_loop_is_cut_as_annotated(void **state) {
  (void)state;
  in_context("check_chunks", check_chunks, "parallel(12)");
  in_context("check_chunks", check_chunks, "parallel(12, annotations={\"parallel_chunks\": 5})");
  char code[40];
  error_code(check_chunks, "parallel(12, annotations={\"parallel_chunks\": 0})", code, sizeof code);
  assert_string_equal(code, "lower");
}

/* chunks: of the call of parallel_for; -1: the caller runs the loop by itself. */
static void check_least(Tirc *c, const void *arg) {
  const int *least_and_chunks = arg;
  const char *text =
      tirc_format(c,
                  FUNC("n: T.int64, " B1(A, 12),
                       "    for i in T.parallel(n, annotations={\"parallel_from\": %d}):\n"
                       "        A[i] = T.Cast(\"float32\", i)\n"),
                  least_and_chunks[0]);
  Jit *j = tirc_jit_new(c, tirc_lower(c, parse(c, text), NULL, NULL), "haswell");
  float data[12] = {0};
  int64_t n = 11;
  Accounts a = {.fail_at = -1, .chunks = -1};
  tirc_runtime rt = {&a, serial_for, counted_alloc, counted_free};
  assert_int_equal(tirc_jit_find(j, "main")((void *[]){&n, data}, &rt), 0);
  tirc_jit_free(j);
  assert_int_equal(a.chunks, least_and_chunks[1]);
  assert_true(data[10] == 10 && data[11] == 0);
}

static void few_iterations_run_in_the_caller(void **state) {
  (void)state;
  in_context("check_least", check_least, (int[]){11, 0});
  in_context("check_least", check_least, (int[]){12, -1});
}

static void check_assert(Tirc *c, const void *arg) {
  (void)arg;
  const Module *m = parse(c, FUNC("n: T.int32, " B1(A, 4), "    assert n > 3, \"n is too small\"\n"
                                                           "    A[0] = T.float32(5)\n"));
  Jit *j = tirc_jit_new(c, tirc_lower(c, m, NULL, NULL), "haswell");
  float data[4] = {0};
  int32_t small = 3, large = 4;
  int bad = tirc_jit_find(j, "main")((void *[]){&small, data}, NULL);
  float untouched = data[0];
  int good = tirc_jit_find(j, "main")((void *[]){&large, data}, NULL);
  tirc_jit_free(j);
  assert_int_equal(bad, 2);
  assert_true(untouched == 0);
  assert_int_equal(good, 0);
  assert_true(data[0] == 5);
}

static void a_failed_assertion_is_a_status(void **state) {
  (void)state;
  in_context("check_assert", check_assert, NULL);
}

static bool is_assertion(const void *unused, Stmt s) {
  return (void)unused, s->kind == STMT_ASSERT;
}

/* Not one that says something else. */
static void ask_code(Tirc *c, const void *arg) {
  (void)arg;
  const Module *m =
      parse(c, FUNC("A: T.Buffer((3,), \"int32\")", "    assert 1 < 2, \"never\"\n    A[0] = 1\n"));
  const Func *f = m->funcs[0];
  const Failures none = {0};
  tirc_failure_code(c, &none, f, tirc_find_stmt(f->body, is_assertion, NULL, NULL));
}

static void an_assertion_without_a_code_is_an_error(void **state) {
  (void)state;
  char code[40];
  error_code(ask_code, NULL, code, sizeof code);
  assert_string_equal(code, "codegen");
}

static void check_zero_division(Tirc *c, const void *arg) {
  (void)arg;
  const Module *m = parse(c, FUNC("A: T.Buffer((3,), \"int32\"), B: T.Buffer((3,), \"int32\")",
                                  "    for i in range(3):\n        A[i] = A[i] // B[i]\n"));
  Jit *j = tirc_jit_new(c, tirc_lower(c, m, NULL, NULL), "haswell");
  int32_t a[3] = {7, INT32_MIN, -7}, b[3] = {0, -1, 2};
  int status = tirc_jit_find(j, "main")((void *[]){a, b}, NULL);
  tirc_jit_free(j);
  assert_int_equal(status, 0);
  assert_int_equal(a[0], 0);
  assert_int_equal(a[1], INT32_MIN);
  assert_int_equal(a[2], -4);
}

static void division_by_zero_does_not_trap(void **state) {
  (void)state;
  in_context("check_zero_division", check_zero_division, NULL);
}

/* --- what comes out ------------------------------------------------------------------------- */

static Code emit(Tirc *c, const char *text, const char *cpu, EmitKind kind) {
  return tirc_llvm_emit(c, tirc_lower(c, parse(c, text), NULL, NULL), cpu, kind);
}

static const char tile[] =
    FUNC(B2(A, 64, 64) ", " B2(B, 64, 64) ", " B2(C, 64, 64),
         "    for i in T.parallel(64):\n        for k in range(64):\n"
         "            for j in T.vectorized(32):\n                with T.block(\"C\"):\n"
         "                    vi, vk = T.axis.remap(\"SR\", [i, k])\n"
         "                    vj = T.axis.spatial(64, j)\n"
         "                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n");

static void check_emission(Tirc *c, const void *arg) {
  (void)arg;
  for (int kind = EMIT_LLVM; kind <= EMIT_OBJ; kind++) {
    Code one = emit(c, tile, "haswell", (EmitKind)kind),
         two = emit(c, tile, "haswell", (EmitKind)kind);
    assert_int_equal(one.n, two.n);
    assert_memory_equal(one.bytes, two.bytes, one.n);
  }
  assert_memory_equal(emit(c, tile, "haswell", EMIT_OBJ).bytes, "\177ELF", 4);
  assert_non_null(strstr(emit(c, tile, "haswell", EMIT_LLVM).bytes, "define"));
  Code text = emit(c, tile, "haswell", EMIT_ASM);
  assert_non_null(strstr(text.bytes, "vfmadd"));
  assert_non_null(strstr(text.bytes, "%ymm"));
  assert_null(strstr(text.bytes, "%zmm"));
  assert_null(strstr(emit(c, tile, "x86-64", EMIT_ASM).bytes, "%ymm"));
}

static void emission_is_reproducible_and_vectorized(void **state) {
  (void)state;
  in_context("check_emission", check_emission, NULL);
}

static void check_prefetch(Tirc *c, const void *arg) {
  (void)arg;
  static const char text[] =
      FUNC(B1(A, 64) ", " B1(B, 64),
           "    for i in range(64):\n"
           "        T.evaluate(T.prefetch(T.address_of(A[i]), 0, 3, 1))\n        B[i] = A[i]\n");
  assert_non_null(strstr(emit(c, text, "haswell", EMIT_ASM).bytes, "prefetcht0"));
}

static void prefetch_is_an_instruction(void **state) {
  (void)state;
  in_context("check_prefetch", check_prefetch, NULL);
}

/* --- errors --------------------------------------------------------------------------------- */

typedef struct Refusal {
  const char *text, *cpu, *code;
  bool jit;
} Refusal;

static void compile(Tirc *c, const void *arg) {
  const Refusal *r = arg;
  if (!r->jit)
    emit(c, r->text, r->cpu, EMIT_OBJ);
  else
    tirc_jit_free(tirc_jit_new(c, tirc_lower(c, parse(c, r->text), NULL, NULL), r->cpu));
}

static void what_cannot_be_compiled_is_an_error(void **state) {
  (void)state;
  static const char plain[] = MAP("float32", "float32", "A[i]");
  static const char system_call[] =
      MAP("float32", "float32", "T.call_extern(\"float32\", \"system\", A[i])");
  static const char arity[] = MAP("float32", "float32", "T.call_extern(\"float32\", \"expf\")");
  static const char wide[] = FUNC("A: T.Buffer((4096,), \"float32\")",
                                  "    A[T.Ramp(0, 1, 4096)] = T.Broadcast(T.float32(0), 4096)\n");
  static const Refusal refusals[] = {
      {wide, "haswell", "codegen", true},   {plain, "no-such-cpu", "target", false},
      {plain, "haswel", "target", true},    {plain, "", "target", false},
      {plain, "i386", "target", false},     {system_call, "haswell", "codegen", true},
      {arity, "haswell", "codegen", false},
  };
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    char code[40];
    error_code(compile, &refusals[i], code, sizeof code);
    assert_string_equal(code, refusals[i].code);
  }
}

static void code_for_any_known_processor_can_be_emitted(void **state) {
  (void)state;
  static const char plain[] = MAP("float32", "float32", "A[i] * B[i]");
  for (int i = 0; tirc_cpu_number(i); i++) {
    char code[40];
    error_code(compile, &(Refusal){plain, tirc_cpu_number(i)->name, "", false}, code, sizeof code);
    assert_string_equal(code, "");
  }
}

typedef struct Width {
  const char *cpu, *instruction;
  int bits, registers;
} Width;

/* A loop vectorized to the width that the table states uses registers of that width. */
static void vectors_are_as_wide_as_stated(void **state) {
  (void)state;
  static const Width widths[] = {
      {"x86-64", "addps\t%xmm", 128, 16},  {"sandybridge", "vaddps\t", 256, 16},
      {"haswell", "%ymm", 256, 16},        {"znver3", "%ymm", 256, 16},
      {"skylake-avx512", "%zmm", 512, 32}, {"znver4", "%zmm", 512, 32},
      {"sapphirerapids", "%zmm", 512, 32}, {"neoverse-n1", "fadd\tv0.4s", 128, 32},
      {"aarch64", "fadd\tv0.4s", 128, 32}, {"apple-m1", "fadd.4s", 128, 32},
  };
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
    const Width *w = &widths[i];
    const Cpu *cpu = tirc_cpu_find(w->cpu);
    assert_non_null(cpu);
    assert_int_equal(tirc_cpu_vector_bits(cpu), w->bits);
    assert_int_equal(tirc_cpu_vector_registers(cpu), w->registers);
    Tirc *c = tirc_context_new();
    const char *text = tirc_format(
        c,
        "@T.prim_func\ndef main(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), "
        "\"float32\")):\n"
        "    for i in range(%d):\n        for j in T.vectorized(%d):\n"
        "            with T.block(\"B\"):\n                v = T.axis.spatial(64, i * %d + j)\n"
        "                B[v] = A[v] + A[v]\n",
        64 * 32 / w->bits, w->bits / 32, w->bits / 32);
    assert_non_null(strstr(emit(c, text, w->cpu, EMIT_ASM).bytes, w->instruction));
    tirc_context_release(c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(machine_code_agrees_on_haswell),
      cmocka_unit_test(machine_code_agrees_on_this_machine),
      cmocka_unit_test(machine_code_agrees_on_the_oldest_processor),
      cmocka_unit_test(small_floats_convert_exactly),
      cmocka_unit_test(exhausted_memory_is_reported_and_nothing_leaks),
      cmocka_unit_test(a_failed_assertion_is_a_status),
      cmocka_unit_test(an_assertion_without_a_code_is_an_error),
      cmocka_unit_test(division_by_zero_does_not_trap),
      cmocka_unit_test(emission_is_reproducible_and_vectorized),
      cmocka_unit_test(a_parallel_loop_is_cut_as_annotated),
      cmocka_unit_test(few_iterations_run_in_the_caller),
      cmocka_unit_test(prefetch_is_an_instruction),
      cmocka_unit_test(what_cannot_be_compiled_is_an_error),
      cmocka_unit_test(code_for_any_known_processor_can_be_emitted),
      cmocka_unit_test(vectors_are_as_wide_as_stated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
