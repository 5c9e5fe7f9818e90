/* The reference interpreter on programs as text: what they compute, and what it refuses. Every
 * array starts as 0, 1, 2, ...; the last parameter is the result. */
#include "parser/program.h"
#include "runtime/interp/interp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Case {
  const char *name, *text;
  const char *error;   /* code of the expected error, NULL for none */
  const char *mention; /* what its message must contain */
  int n;
  double expected[8]; /* the first elements of the last parameter */
} Case;

#define HEAD "@T.prim_func\n"
static const Case cases[] = {
    {"matmul",
     HEAD "def main(A: T.Buffer((2, 2), 'float32'), B: T.Buffer((2, 2), 'float32'), "
          "C: T.Buffer((2, 2), 'float32')):\n"
          "    for i, j, k in T.grid(2, 2, 2):\n"
          "        with T.block('C'):\n"
          "            vi, vj, vk = T.axis.remap('SSR', [i, j, k])\n"
          "            with T.init():\n"
          "                C[vi, vj] = T.float32(0)\n"
          "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n",
     NULL,
     NULL,
     4,
     {2, 3, 6, 11}},
    {"predicate",
     HEAD "def main(A: T.Buffer((5,), 'float32'), B: T.Buffer((5,), 'float32')):\n"
          "    for i, j in T.grid(2, 3):\n"
          "        with T.block('B'):\n"
          "            T.where(i * 3 + j < 5)\n"
          "            v = T.axis.spatial(5, i * 3 + j)\n"
          "            B[v] = A[v] * T.float32(2)\n",
     NULL,
     NULL,
     5,
     {0, 2, 4, 6, 8}},
    {"floor division",
     HEAD "def main(A: T.Buffer((4,), 'int32')):\n"
          "    A[0] = (0 - A[3]) // 2\n"
          "    A[1] = (0 - A[3]) % 2\n"
          "    A[2] = T.truncdiv(0 - A[3], 2)\n"
          "    A[3] = T.truncmod(0 - A[3], 2)\n",
     NULL,
     NULL,
     4,
     {-2, 1, -1, -1}},
    {"float32 rounds after each operation",
     HEAD "def main(A: T.Buffer((2,), 'float32')):\n"
          "    A[0] = (T.float32(16777216) + A[1]) - T.float32(16777216)\n",
     NULL,
     NULL,
     1,
     {0}},
    {"float16 storage",
     HEAD "def main(A: T.Buffer((2,), 'float16')):\n"
          "    A[0] = T.float16(2048) + A[1]\n",
     NULL,
     NULL,
     1,
     {2048}},
    {"bfloat16 storage",
     HEAD "def main(A: T.Buffer((2,), 'bfloat16')):\n"
          "    A[0] = T.bfloat16(256) + A[1]\n",
     NULL,
     NULL,
     1,
     {256}},
    {"uint8 wraps",
     HEAD "def main(A: T.Buffer((2,), 'uint8')):\n"
          "    A[0] = A[1] - T.uint8(2)\n",
     NULL,
     NULL,
     1,
     {255}},
    {"int32 overflows",
     HEAD "def main(A: T.Buffer((2,), 'int32')):\n"
          "    A[0] = A[1] * 2147483647 + 1\n",
     "overflow",
     "int32",
     0,
     {0}},
    {"division by zero",
     HEAD "def main(A: T.Buffer((2,), 'int32')):\n"
          "    A[1] = A[1] // A[0]\n",
     "division",
     "A[1]",
     0,
     {0}},
    {"vectors",
     HEAD "def main(A: T.Buffer((8,), 'float32'), B: T.Buffer((8,), 'float32')):\n"
          "    B[0:4] = A[4:8] + T.Broadcast(T.float32(1), 4)\n"
          "    B[T.Ramp(4, 1, 4)] = A[T.Ramp(6, -2, 4)]\n",
     NULL,
     NULL,
     8,
     {5, 6, 7, 8, 6, 4, 2, 0}},
    {"vector stores read everything first",
     HEAD "def main(A: T.Buffer((5,), 'float32')):\n"
          "    A[1:5] = A[0:4]\n",
     NULL,
     NULL,
     5,
     {0, 0, 1, 2, 3}},
    {"while, let, if",
     HEAD "def main(A: T.Buffer((4,), 'int32')):\n"
          "    while A[0] < 5:\n"
          "        x: T.int32 = A[0] + 1\n"
          "        if x % 2 == 0:\n"
          "            A[1] = A[1] + x\n"
          "        else:\n"
          "            A[2] = A[2] + x\n"
          "        A[0] = x\n",
     NULL,
     NULL,
     3,
     {5, 7, 11}},
    {"if_then_else is lazy",
     HEAD "def main(A: T.Buffer((4,), 'float32')):\n"
          "    for i in range(4):\n"
          "        A[i] = T.if_then_else(i > 0, A[i - 1], T.float32(9))\n",
     NULL,
     NULL,
     4,
     {9, 9, 9, 9}},
    {"Select evaluates both",
     HEAD "def main(A: T.Buffer((4,), 'float32')):\n"
          "    for i in range(4):\n"
          "        A[i] = T.Select(i > 0, A[i - 1], T.float32(9))\n",
     "out-of-bounds",
     "i = 0",
     0,
     {0}},
    {"out of bounds",
     HEAD "def main(A: T.Buffer((4, 4), 'float32')):\n"
          "    for i, j in T.grid(4, 4):\n"
          "        A[i, j] = A[j, i + 1]\n",
     "out-of-bounds",
     "dimension 1",
     0,
     {0}},
    {"iterator out of its domain",
     HEAD "def main(A: T.Buffer((4,), 'float32')):\n"
          "    for i in range(4):\n"
          "        with T.block('A'):\n"
          "            v = T.axis.spatial(3, i)\n"
          "            A[v] = T.float32(1)\n",
     "out-of-bounds",
     "\"A\"",
     0,
     {0}},
    {"uninitialised",
     HEAD "def main(A: T.Buffer((4,), 'float32')):\n"
          "    B = T.alloc_buffer((4,), 'float32')\n"
          "    for i in range(3):\n"
          "        with T.block('B'):\n"
          "            v = T.axis.spatial(3, i)\n"
          "            B[v] = A[v]\n"
          "    for i in range(4):\n"
          "        with T.block('A'):\n"
          "            v = T.axis.spatial(4, i)\n"
          "            A[v] = B[v] + T.float32(1)\n",
     "uninitialised",
     "i = 3",
     0,
     {0}},
    {"copies carry poison along",
     HEAD "def main(A: T.Buffer((4,), 'float32')):\n"
          "    B = T.alloc_buffer((4,), 'float32')\n"
          "    D = T.alloc_buffer((4,), 'float32')\n"
          "    for i in range(4):\n"
          "        with T.block('D'):\n"
          "            v = T.axis.spatial(4, i)\n"
          "            D[v] = B[v]\n"
          "    for i in range(4):\n"
          "        with T.block('A'):\n"
          "            v = T.axis.spatial(4, i)\n"
          "            A[v] = T.if_then_else(v < 0, D[v], T.float32(3))\n",
     NULL,
     NULL,
     4,
     {3, 3, 3, 3}},
    {"a copy to an argument is a use",
     HEAD "def main(A: T.Buffer((4,), 'float32')):\n"
          "    B = T.alloc_buffer((4,), 'float32')\n"
          "    for i in range(4):\n"
          "        with T.block('A'):\n"
          "            v = T.axis.spatial(4, i)\n"
          "            A[v] = B[v]\n",
     "uninitialised",
     "\"B\"",
     0,
     {0}},
    {"match_buffer",
     HEAD "def main(A: T.Buffer((4, 4), 'float32')):\n"
          "    for i in range(2):\n"
          "        with T.block('A'):\n"
          "            v = T.axis.spatial(2, i)\n"
          "            T.reads(A[v * 2:v * 2 + 2, 1:3])\n"
          "            T.writes(A[v * 2:v * 2 + 2, 1:3])\n"
          "            s = T.int32()\n"
          "            t = T.int32()\n"
          "            V = T.match_buffer(A[v * 2:v * 2 + 2, 1:3], (2, 2), "
          "'float32', strides=[s, t], offset_factor=1)\n"
          "            for a, b in T.grid(2, 2):\n"
          "                V[a, b] = T.Cast('float32', s)\n",
     NULL,
     NULL,
     8,
     {0, 4, 4, 3, 4, 4, 4, 7}},
    {"symbolic extents",
     HEAD "def main(a: T.handle, b: T.handle):\n"
          "    n = T.int32()\n"
          "    A = T.match_buffer(a, (n, n * 2), 'float32')\n"
          "    B = T.match_buffer(b, (n,), 'float32')\n"
          "    for i in range(n):\n"
          "        B[i] = A[i, n * 2 - 1]\n",
     NULL,
     NULL,
     4,
     {7, 15, 23, 31}},
    {"libm",
     HEAD "def main(A: T.Buffer((4,), 'float32')):\n"
          "    A[0] = T.call_extern('float32', 'cbrtf', T.float32(27))\n"
          "    A[1] = T.sqrt(A[1]) + T.exp(A[0] - T.float32(3))\n"
          "    A[2] = T.max(A[2], A[3]) * T.floor(T.float32(1.5))\n"
          "    A[3] = T.fabs(T.float32(-2)) + T.pow(A[3], T.float32(2))\n",
     NULL,
     NULL,
     4,
     {3, 2, 3, 11}},
    {"functions without an operator of their own",
     HEAD "def main(A: T.Buffer((4,), 'float64')):\n"
          "    A[3] = T.hypot(A[3], A[2] + A[2])\n"
          "    A[2] = T.acosh(A[1]) + T.atanh(A[0])\n"
          "    A[1] = T.asinh(A[0])\n",
     NULL,
     NULL,
     4,
     {0, 0, 0, 5}},
    {"an intrinsic of a GPU",
     HEAD "def main(A: T.Buffer((1,), 'float32')):\n"
          "    T.tvm_storage_sync('shared')\n",
     "unsupported",
     "tvm_storage_sync",
     0,
     {0}},
    {"unknown external function",
     HEAD "def main(A: T.Buffer((1,), 'float32')):\n"
          "    T.evaluate(T.call_extern('int32', 'launch', A[0]))\n",
     "unsupported",
     "launch",
     0,
     {0}},
    {"too many steps",
     HEAD "def main(A: T.Buffer((1,), 'float32')):\n"
          "    for i in range(1000000000):\n"
          "        A[0] = A[0] + T.float32(1)\n",
     "steps",
     "100000",
     0,
     {0}},
};

/* Extents that are symbolic in a case are 4. */
static Tensor *make_tensor(Tirc *c, Buffer b) {
  int64_t shape[TENSOR_MAX_NDIM];
  for (int d = 0; d < b->ndim; d++)
    if (!tirc_const_int(b->shape[d], &shape[d])) shape[d] = b->shape[d]->op == OP_VAR ? 4 : 8;
  Tensor *t = tirc_tensor_new(c, b->dtype, b->ndim, shape);
  for (int64_t i = 0; i < t->count; i++) tirc_tensor_set(t, i, (double)i);
  return t;
}

static bool run(Tirc *c, const Case *k, Tensor **tensors, int *n) {
  Trap trap;
  if (!TIRC_TRY(c, trap)) return false;
  Source source = {k->name, k->text, strlen(k->text)};
  const Module *m = tirc_parse_module(c, &source, 0, NULL);
  const Func *f = tirc_module_main(m);
  Argument args[8] = {{0}};
  for (int i = 0; i < f->n_params; i++) args[i].tensor = tensors[i] = make_tensor(c, f->buffers[i]);
  *n = f->n_params;
  tirc_interpret(c, f, f->n_params, args, 100000);
  TIRC_END(c, trap);
  return true;
}

static void run_case(void **state) {
  const Case *k = *state;
  Tirc *c = tirc_context_new();
  Tensor *tensors[8] = {NULL};
  int n = 0;
  bool ok = run(c, k, tensors, &n);
  if (!ok && !k->error) fail_msg("%s: %s", tirc_codes[c->diag.code].text, c->diag.message);
  if (k->error) {
    assert_false(ok);
    assert_string_equal(tirc_codes[c->diag.code].text, k->error);
    if (!strstr(c->diag.message, k->mention))
      fail_msg("'%s' has no '%s'", c->diag.message, k->mention);
  }
  for (int i = 0; i < k->n; i++)
    if (tirc_tensor_get(tensors[n - 1], i) != k->expected[i])
      fail_msg("element %d is %g, not %g", i, tirc_tensor_get(tensors[n - 1], i), k->expected[i]);
  for (int i = 0; i < 8; i++) tirc_tensor_free(tensors[i]);
  tirc_context_release(c);
}

static const Func *parse(Tirc *c, Source source) {
  Trap trap;
  if (!TIRC_TRY(c, trap)) return NULL;
  const Func *f = tirc_module_main(tirc_parse_module(c, &source, 0, NULL));
  TIRC_END(c, trap);
  return f;
}

static bool interpret(Tirc *c, const Func *f, const Argument *args) {
  Trap trap;
  if (!TIRC_TRY(c, trap)) return false;
  tirc_interpret(c, f, f->n_params, args, 0);
  TIRC_END(c, trap);
  return true;
}

/* Of memory that is not written: small integers instead of an error, anew for each run of what
 * allocates it, and others for another seed. */
static void arbitrary(void **state) {
  (void)state;
  static const char text[] = HEAD "def main(A: T.Buffer((2, 64), 'float32')):\n"
                                  "    for i in range(2):\n"
                                  "        with T.block('rows'):\n"
                                  "            v = T.axis.spatial(2, i)\n"
                                  "            B = T.alloc_buffer((64,), 'float32')\n"
                                  "            for j in range(64):\n"
                                  "                with T.block('A'):\n"
                                  "                    vj = T.axis.spatial(64, j)\n"
                                  "                    A[v, vj] = B[vj] * T.float32(2)\n";
  Tirc *c = tirc_context_new();
  const Func *f = parse(c, (Source){"arbitrary.tir", text, strlen(text)});
  assert_non_null(f);
  Tensor *of[2];
  int differ = 0, anew = 0;
  for (unsigned k = 0; k < 2; k++) {
    of[k] = tirc_tensor_new(c, f->buffers[0]->dtype, 2, (int64_t[]){2, 64});
    Argument args[] = {{.tensor = of[k]}};
    assert_true(tirc_interpret_with(c, f, 1, args, &(InterpOptions){.arbitrary = 1 + k}));
  }
  for (int i = 0; i < 128; i++) {
    const double value = tirc_tensor_get(of[0], i);
    if (value != (double)(int)(value / 2) * 2 || value < -6 || value > 6)
      fail_msg("element %d is %g", i, value);
    differ += value != tirc_tensor_get(of[1], i);
    anew += value != tirc_tensor_get(of[0], (i + 64) % 128);
  }
  assert_true(differ > 32 && anew > 32);
  for (int k = 0; k < 2; k++) tirc_tensor_free(of[k]);
  tirc_context_release(c);
}

/* What float32 loses, double keeps: in an intermediate buffer, in a parameter that sums grow in,
 * and bits are those of float32 either way. Bounds are still checked. */
static void in_double(void **state) {
  (void)state;
  static const struct {
    bool in_double;
    double expected[3];
  } runs[] = {{false, {0, 0, 1}}, {true, {1, 3, 1}}};
  const char *text = HEAD "def main(A: T.Buffer((3,), 'float32'), B: T.Buffer((3,), 'float32')):\n"
                          "    D = T.alloc_buffer((1,), 'float32')\n"
                          "    D[0] = A[1] * T.float32(16777216) + A[1]\n"
                          "    B[0] = D[0] - T.float32(16777216)\n"
                          "    B[1] = T.float32(1e8)\n"
                          "    for i in range(3):\n"
                          "        B[1] = B[1] + A[1]\n"
                          "    B[1] = B[1] - T.float32(1e8)\n"
                          "    B[2] = T.reinterpret('float32', T.reinterpret('int32', A[1]))\n";
  for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
    Tirc *c = tirc_context_new();
    const Func *f = parse(c, (Source){"double.tir", text, strlen(text)});
    assert_non_null(f);
    Argument args[2] = {{.tensor = make_tensor(c, f->buffers[0])},
                        {.tensor = make_tensor(c, f->buffers[1])}};
    Trap trap;
    bool ok = TIRC_TRY(c, trap);
    if (ok) {
      InterpOptions options = {.in_double = runs[r].in_double};
      assert_true(tirc_interpret_with(c, f, 2, args, &options));
      TIRC_END(c, trap);
    }
    if (!ok) fail_msg("%s", c->diag.message);
    for (int i = 0; i < 3; i++)
      if (tirc_tensor_get(args[1].tensor, i) != runs[r].expected[i])
        fail_msg("element %d is %g, not %g", i, tirc_tensor_get(args[1].tensor, i),
                 runs[r].expected[i]);
    for (int i = 0; i < 2; i++) tirc_tensor_free(args[i].tensor);
    tirc_context_release(c);
  }
}

/* What is tried where a branch is not decided, and fails there, costs no memory. */
static void attempts_in_little_memory(void **state) {
  (void)state;
  enum { ROOM = 700 << 10 };
  const char *text =
      HEAD "def main(A: T.Buffer((3,), 'float32'), C: T.Buffer((4000,), 'float32')):\n"
           "    for i in range(4000):\n"
           "        if A[0] * A[1] + A[2] >= T.float32(1677803648):\n"
           "            C[i] = A[i * i + 3]\n";
  Tirc *c = tirc_context_new();
  const Func *f = parse(c, (Source){"attempts.tir", text, strlen(text)});
  assert_non_null(f);
  Argument args[2] = {{.tensor = make_tensor(c, f->buffers[0])},
                      {.tensor = make_tensor(c, f->buffers[1])}};
  static const double values[] = {40961, 40961, 63.5}; /* either by how it is rounded */
  for (int i = 0; i < 3; i++) tirc_tensor_set(args[0].tensor, i, values[i]);
  ElementBounds bounds[2] = {0};
  InterpOptions options = {.bounds = bounds};
  c->max_bytes = c->bytes + ROOM;
  Trap trap;
  const bool ok = TIRC_TRY(c, trap);
  if (ok) {
    assert_true(tirc_interpret_with(c, f, 2, args, &options));
    TIRC_END(c, trap);
  }
  if (!ok) fail_msg("%s", c->diag.message);
  assert_int_equal(bounds[1].undecided[7], BOUND_OPEN);
  for (int i = 0; i < 2; i++) {
    free(bounds[i].lo), free(bounds[i].hi), free(bounds[i].undecided), free(bounds[i].inside);
    tirc_tensor_free(args[i].tensor);
  }
  tirc_context_release(c);
}

/* Sums of products run as plain loops in double, unless somebody observes: then step by step. Both
 * do the same to the last bit, and complain of the same. */
#define SUM(a, b, c, loops, extents, iters, init, sum)                                             \
  HEAD "def main(A: T.Buffer(" a ", 'float64'), B: T.Buffer(" b ", 'float64'), C: T.Buffer(" c     \
       ", 'float64')):\n"                                                                          \
       "    for " loops " in T.grid(" extents "):\n"                                               \
       "        with T.block('C'):\n"                                                              \
       "            " iters "\n" init "            " sum "\n"
#define INIT(c) "            with T.init():\n                " c " = T.float64(0.25)\n"
#define IJK "vi, vj, vk = T.axis.remap('SSR', [i, j, k])"
#define PRODUCT "C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]"
#define ALLOCATED(what, then)                                                                      \
  HEAD "def main(A: T.Buffer((9,), 'float64'), C: T.Buffer((9,), 'float64')):\n"                   \
       "    D = T.alloc_buffer((9,), 'float64')\n"                                                 \
       "    E = T.alloc_buffer((9,), 'float64')\n"                                                 \
       "    for i in range(8):\n"                                                                  \
       "        E[i] = A[i]\n"                                                                     \
       "    for i, k in T.grid(" what "):\n"                                                       \
       "        with T.block('D'):\n"                                                              \
       "            vi, vk = T.axis.remap('SR', [i, k])\n" INIT(                                   \
           "D[vi]") "            D[vi] = D[vi] + A[vk] * E[vi]\n"                                  \
                    "    for i in range(" then "):\n"                                              \
                    "        C[i] = D[i] * T.float64(3)\n"
static const char *const sums[] = {
    SUM("(5, 7)", "(7, 6)", "(5, 6)", "i, j, k", "5, 6, 7", IJK, INIT("C[vi, vj]"), PRODUCT),
    SUM("(5, 7)", "(7, 6)", "(5, 6)", "k, i, j", "7, 5, 6", IJK, INIT("C[vi, vj]"), PRODUCT),
    SUM("(5, 7)", "(7, 6)", "(5, 6)", "j, k, i", "6, 7, 5", IJK, "", PRODUCT),
    SUM("(1, 7)", "(7, 1)", "(1, 1)", "i, j, k", "1, 1, 7", IJK, INIT("C[vi, vj]"), PRODUCT),
    SUM("(5, 1)", "(1, 6)", "(5, 6)", "i, j, k", "5, 6, 1", IJK, INIT("C[vi, vj]"), PRODUCT),
    SUM("(1, 1)", "(1, 1)", "(1, 1)", "i, j, k", "1, 1, 1", IJK, INIT("C[vi, vj]"), PRODUCT),
    /* both operands along k */
    SUM("(5, 7)", "(6, 7)", "(5, 6)", "i, j, k", "5, 6, 7", IJK, INIT("C[vi, vj]"),
        "C[vi, vj] = C[vi, vj] + B[vj, vk] * A[vi, vk]"),
    /* the loops of the reduction change places, so its order does */
    SUM("(4, 3, 5)", "(3, 5)", "(4,)", "k, i, h", "5, 4, 3",
        "vi, vh, vk = T.axis.remap('SRR', [i, h, k])", INIT("C[vi]"),
        "C[vi] = C[vi] + A[vi, vh, vk] * B[vh, vk]"),
    SUM("(4, 5, 3)", "(5, 3)", "(4,)", "i, h, k", "4, 3, 5",
        "vi, vh, vk = T.axis.remap('SRR', [i, h, k])", INIT("C[vi]"),
        "C[vi] = C[vi] + A[vi, vk, vh] * B[vk, vh]"),
    /* a convolution, split channels, a flipped filter, a stride of 2 */
    SUM("(8, 13)", "(4, 8, 3)", "(4, 5)", "o, w, c, d, r", "4, 5, 2, 4, 3",
        "vo = T.axis.spatial(4, o)\n            vw = T.axis.spatial(5, w)\n"
        "            vc = T.axis.reduce(8, c * 4 + d)\n            vr = T.axis.reduce(3, r)",
        INIT("C[vo, vw]"), "C[vo, vw] = C[vo, vw] + A[vc, vw * 2 + vr] * B[vo, vc, 2 - vr]"),
    /* several iterations into one element, in an order that counts */
    SUM("(5, 7)", "(7, 6)", "(10,)", "i, j, k", "5, 6, 7", IJK, "",
        "C[vi + vj] = C[vi + vj] + A[vi, vk] * B[vk, vj]"),
    SUM("(5, 7)", "(7, 6)", "(10,)", "i, j, k", "5, 6, 7", IJK, INIT("C[vi + vj]"),
        "C[vi + vj] = C[vi + vj] + A[vi, vk] * B[vk, vj]"),
    SUM("(5, 7)", "(7, 6)", "(5, 7)", "i, j, k", "5, 6, 7", IJK, INIT("C[vi, vk]"),
        "C[vi, vk] = C[vi, vk] + A[vi, vk] * B[vk, vj]"),
    SUM("(7, 5)", "(7, 5)", "(4,)", "j, i, k", "4, 5, 7", IJK, "",
        "C[vj] = C[vj] + A[vk, vi] * B[vk, vi]"),
    SUM("(40,)", "(40,)", "(9,)", "i, k", "8, 8", "vi, vk = T.axis.remap('SR', [i, k])",
        INIT("C[vi]"), "C[vi] = C[vi] + A[vi * 2 + 3 - 1] * B[20 - 2 * vk]"),
    SUM("(9,)", "(9,)", "(9,)", "i, k", "8, 8", "vi, vk = T.axis.remap('SR', [i, k])", "",
        "C[vi] = C[vi] + C[vi + 1] * B[vk]"),
    SUM("(9,)", "(9,)", "(9,)", "i, k", "8, 8", "vi, vk = T.axis.remap('SR', [i, k])",
        INIT("C[8 - vi]"), "C[8 - vi] = C[8 - vi] + A[vi] * B[7 - vk]"),
    /* outside of an array, of an iterator's domain */
    SUM("(6, 7)", "(8, 6)", "(5, 6)", "i, j, k", "5, 6, 8", IJK, INIT("C[vi, vj]"), PRODUCT),
    SUM("(5, 7)", "(7, 6)", "(5, 6)", "i, j, k", "5, 6, 8", IJK, INIT("C[vi, vj]"), PRODUCT),
    SUM("(5, 7)", "(7, 6)", "(5, 6)", "i, j, k", "5, 6, 7", IJK, INIT("C[vi, vj]"),
        "C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk - 1, vj]"),
    SUM("(9,)", "(9,)", "(9,)", "i, k", "8, 8",
        "vi = T.axis.spatial(7, i)\n            vk = T.axis.reduce(8, k)", INIT("C[vi]"),
        "C[vi] = C[vi] + A[vi] * B[vk]"),
    /* memory that was written, in part, and not at all */
    ALLOCATED("8, 9", "8"),
    ALLOCATED("8, 9", "9"),
    ALLOCATED("9, 9", "9"),
};

static bool run_sum(Tirc *c, const Func *f, Tensor *const *tensors, const InterpOptions *o) {
  Argument args[3];
  Trap trap;
  for (int i = 0; i < f->n_params; i++) {
    args[i] = (Argument){.tensor = tensors[i]};
    for (int64_t j = 0; j < tensors[i]->count; j++)
      tirc_tensor_set(tensors[i], j, 1 / (double)(3 + i + j));
  }
  if (!TIRC_TRY(c, trap)) return false;
  (void)tirc_interpret_with(c, f, f->n_params, args, o);
  TIRC_END(c, trap);
  return true;
}

static void sums_of_products(void **state) {
  (void)state;
  static const int64_t limits[] = {0, 1, 95, 96, 244, 245};
  static const InterpObserver nobody = {0};
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
      Tirc *c = tirc_context_new();
      const Func *f = parse(c, (Source){"sum.tir", sums[i], strlen(sums[i])});
      if (!f) fail_msg("sum %zu: %s", i, c->diag.message);
      Tensor *fast[3] = {NULL}, *slow[3] = {NULL};
      for (int p = 0; p < f->n_params; p++)
        fast[p] = make_tensor(c, f->buffers[p]), slow[p] = make_tensor(c, f->buffers[p]);
      InterpOptions o = {.max_steps = limits[l], .in_double = true};
      bool ok = run_sum(c, f, fast, &o);
      Diag said = c->diag;
      o.observer = &nobody;
      assert_int_equal(run_sum(c, f, slow, &o), ok);
      if (!ok) assert_int_equal(said.code, c->diag.code);
      if (!ok) assert_string_equal(said.message, c->diag.message);
      for (int p = 0; p < f->n_params; p++) {
        if (memcmp(fast[p]->data, slow[p]->data, fast[p]->bytes) != 0)
          fail_msg("sum %zu: parameter %d differs", i, p);
        tirc_tensor_free(fast[p]);
        tirc_tensor_free(slow[p]);
      }
      tirc_context_release(c);
    }
}

typedef struct Seen {
  Text text; /* i0, of a loop that stands at 0; "!" for an access */
} Seen;

static void see_place(void *self, int n, Stmt const *loops, const int64_t *values) {
  Seen *seen = self;
  tirc_text_add(&seen->text, "|");
  for (int i = 0; i < n; i++)
    tirc_text_addf(&seen->text, " %s%lld", loops[i]->u.loop.var->u.s, (long long)values[i]);
}

static bool see_any_access(void *self, int array, int64_t element, bool is_write) {
  (void)array, (void)element, (void)is_write;
  tirc_text_add(&((Seen *)self)->text, "!");
  return true;
}

/* What stands between blocks, as a condition after a loop, belongs to the loops around it. */
static void places_of_accesses(void **state) {
  (void)state;
  static const char program[] = "@T.prim_func\n"
                                "def main(A: T.Buffer((2,), \"float32\")):\n"
                                "    for i in range(2):\n"
                                "        for j in range(1):\n"
                                "            A[j] = T.float32(0)\n"
                                "        if A[i] < T.float32(0):\n"
                                "            A[i] = T.float32(1)\n";
  Tirc *c = tirc_context_new();
  const Func *f = parse(c, (Source){"places.tir", program, strlen(program)});
  assert_non_null(f);
  Tensor *a = make_tensor(c, f->buffers[0]);
  Seen seen = {.text = {.c = c}};
  const InterpObserver observer = {.self = &seen, .place = see_place, .access = see_any_access};
  assert_true(run_sum(c, f, &a, &(InterpOptions){.max_steps = 100, .observer = &observer}));
  assert_string_equal(seen.text.at, "| i0| i0 j0!| i0!| i1| i1 j0!| i1!|");
  tirc_tensor_free(a);
  tirc_context_release(c);
}

/* Shapes that do not fit are refused before anything runs. */
static void wrong_arguments(void **state) {
  (void)state;
  Tirc *c = tirc_context_new();
  const char *text = HEAD "def main(a: T.handle, b: T.handle):\n"
                          "    n = T.int32()\n"
                          "    A = T.match_buffer(a, (n, 3), 'float32')\n"
                          "    B = T.match_buffer(b, (n,), 'float32')\n"
                          "    for i in range(n):\n"
                          "        B[i] = A[i, 0]\n";
  Source source = {"wrong", text, strlen(text)};
  const Func *f = parse(c, source);
  assert_non_null(f);
  static const struct {
    DType dtype;
    int64_t rows, columns, n;
    bool ok;
  } rows[] = {{DT_FLOAT32, 4, 3, 4, true},
              {DT_FLOAT32, 4, 3, 5, false},
              {DT_FLOAT32, 4, 2, 4, false},
              {DT_FLOAT64, 4, 3, 4, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    Tensor *a = tirc_tensor_new(c, rows[i].dtype, 2, (int64_t[]){rows[i].rows, rows[i].columns});
    Tensor *b = tirc_tensor_new(c, DT_FLOAT32, 1, &rows[i].n);
    Argument args[2] = {{.tensor = a}, {.tensor = b}};
    assert_int_equal(interpret(c, f, args), rows[i].ok);
    if (!rows[i].ok) assert_string_equal(tirc_codes[c->diag.code].text, "argument");
    tirc_tensor_free(a);
    tirc_tensor_free(b);
  }
  tirc_context_release(c);
}

int main(void) {
  enum { N = sizeof cases / sizeof *cases };
  struct CMUnitTest tests[N + 6];
  for (int i = 0; i < N; i++)
    tests[i] =
        (struct CMUnitTest){cases[i].name, run_case, NULL, NULL, (void *)(uintptr_t)&cases[i]};
  tests[N] = (struct CMUnitTest)cmocka_unit_test(wrong_arguments);
  tests[N + 1] = (struct CMUnitTest)cmocka_unit_test(in_double);
  tests[N + 2] = (struct CMUnitTest)cmocka_unit_test(sums_of_products);
  tests[N + 3] = (struct CMUnitTest)cmocka_unit_test(arbitrary);
  tests[N + 4] = (struct CMUnitTest)cmocka_unit_test(places_of_accesses);
  tests[N + 5] = (struct CMUnitTest)cmocka_unit_test(attempts_in_little_memory);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
