/* compute_at, reverse_compute_at, compute_inline, reverse_compute_inline: what they make of small
 * programs, and the code of each error. A case is data: a program, a script, and what must come
 * out: a program, or "! code". Every legal case is also run before and after by the interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ir/arith/equal.h"
#include "ir/tree/print.h"
#include "ir/tree/verify.h"
#include "parser/program.h"
#include "passes/script/script.h"
#include "runtime/interp/interp.h"

#define HEAD "from tvm.script import tir as T\n@T.prim_func\n"

/* B = A * 2, then C = B + 1 */
#define CHAIN                                                                                      \
  HEAD "def main(A: T.Buffer((8, 6), 'float32'), C: T.Buffer((8, 6), 'float32')):\n"               \
       "    B = T.alloc_buffer((8, 6), 'float32')\n"                                               \
       "    for i, j in T.grid(8, 6):\n"                                                           \
       "        with T.block('B'):\n"                                                              \
       "            vi, vj = T.axis.remap('SS', [i, j])\n"                                         \
       "            B[vi, vj] = A[vi, vj] * T.float32(2)\n"                                        \
       "    for i, j in T.grid(8, 6):\n"                                                           \
       "        with T.block('C'):\n"                                                              \
       "            vi, vj = T.axis.remap('SS', [i, j])\n"                                         \
       "            C[vi, vj] = B[vi, vj] + T.float32(1)\n"
/* two consumers of B */
#define FANOUT                                                                                     \
  HEAD "def main(A: T.Buffer((8,), 'float32'), C: T.Buffer((8,), 'float32'), "                     \
       "D: T.Buffer((8,), 'float32')):\n"                                                          \
       "    B = T.alloc_buffer((8,), 'float32')\n"                                                 \
       "    for i in range(8):\n"                                                                  \
       "        with T.block('B'):\n"                                                              \
       "            vi = T.axis.spatial(8, i)\n"                                                   \
       "            B[vi] = A[vi] * T.float32(2)\n"                                                \
       "    for i in range(8):\n"                                                                  \
       "        with T.block('C'):\n"                                                              \
       "            vi = T.axis.spatial(8, i)\n"                                                   \
       "            C[vi] = B[vi] + T.float32(1)\n"                                                \
       "    for i in range(8):\n"                                                                  \
       "        with T.block('D'):\n"                                                              \
       "            vi = T.axis.spatial(8, i)\n"                                                   \
       "            D[vi] = B[7 - vi] * T.float32(3)\n"
/* rows summed, then scaled */
#define ROWSUM                                                                                     \
  HEAD "def main(A: T.Buffer((8, 6), 'float32'), D: T.Buffer((8,), 'float32')):\n"                 \
       "    S = T.alloc_buffer((8,), 'float32')\n"                                                 \
       "    for i, k in T.grid(8, 6):\n"                                                           \
       "        with T.block('S'):\n"                                                              \
       "            vi, vk = T.axis.remap('SR', [i, k])\n"                                         \
       "            with T.init():\n"                                                              \
       "                S[vi] = T.float32(0)\n"                                                    \
       "            S[vi] = S[vi] + A[vi, vk]\n"                                                   \
       "    for i in range(8):\n"                                                                  \
       "        with T.block('D'):\n"                                                              \
       "            vi = T.axis.spatial(8, i)\n"                                                   \
       "            D[vi] = S[vi] * T.float32(2)\n"
/* three neighbours summed */
#define STENCIL                                                                                    \
  HEAD "def main(A: T.Buffer((16,), 'float32'), C: T.Buffer((14,), 'float32')):\n"                 \
       "    B = T.alloc_buffer((16,), 'float32')\n"                                                \
       "    for i in range(16):\n"                                                                 \
       "        with T.block('B'):\n"                                                              \
       "            vi = T.axis.spatial(16, i)\n"                                                  \
       "            B[vi] = A[vi] * T.float32(2)\n"                                                \
       "    for i in range(14):\n"                                                                 \
       "        with T.block('C'):\n"                                                              \
       "            vi = T.axis.spatial(14, i)\n"                                                  \
       "            C[vi] = B[vi] + B[vi + 1] + B[vi + 2]\n"
/* a vector folded into a matrix */
#define RESHAPE                                                                                    \
  HEAD "def main(A: T.Buffer((12,), 'float32'), C: T.Buffer((6, 2), 'float32')):\n"                \
       "    B = T.alloc_buffer((12,), 'float32')\n"                                                \
       "    for i in range(12):\n"                                                                 \
       "        with T.block('B'):\n"                                                              \
       "            vi = T.axis.spatial(12, i)\n"                                                  \
       "            B[vi] = A[vi] * T.float32(2)\n"                                                \
       "    for i, j in T.grid(6, 2):\n"                                                           \
       "        with T.block('C'):\n"                                                              \
       "            vi, vj = T.axis.remap('SS', [i, j])\n"                                         \
       "            C[vi, vj] = B[vi * 2 + vj] + T.float32(1)\n"
/* an opaque block names its loop's variable */
#define LOOSE                                                                                      \
  HEAD "def main(A: T.Buffer((8,), 'float32'), B: T.Buffer((8,), 'float32'), "                     \
       "C: T.Buffer((8,), 'float32')):\n"                                                          \
       "    for i in range(8):\n"                                                                  \
       "        with T.block('B'):\n"                                                              \
       "            vi = T.axis.spatial(8, i)\n"                                                   \
       "            B[vi] = A[vi]\n"                                                               \
       "    for i in range(8):\n"                                                                  \
       "        with T.block('C'):\n"                                                              \
       "            C[i] = A[i] + T.float32(1)\n"
#define LOOSE_SCALAR                                                                               \
  HEAD "def main(A: T.Buffer((1,), 'float32'), C: T.Buffer((1,), 'float32')):\n"                   \
       "    B = T.alloc_buffer((), 'float32')\n"                                                   \
       "    for i in range(1):\n"                                                                  \
       "        with T.block('B'):\n"                                                              \
       "            B[()] = A[i]\n"                                                                \
       "    for i in range(1):\n"                                                                  \
       "        with T.block('C'):\n"                                                              \
       "            vi = T.axis.spatial(1, i)\n"                                                   \
       "            C[vi] = B[()] + T.float32(1)\n"
/* D only where its loop says so, which its domain does not say */
#define HALF                                                                                       \
  HEAD "def main(A: T.Buffer((8,), 'float32'), C: T.Buffer((8,), 'float32')):\n"                   \
       "    B = T.alloc_buffer((8,), 'float32')\n"                                                 \
       "    for i in range(8):\n"                                                                  \
       "        with T.block('B'):\n"                                                              \
       "            vi = T.axis.spatial(8, i)\n"                                                   \
       "            B[vi] = A[vi]\n"                                                               \
       "    for i in range(8):\n"                                                                  \
       "        with T.block('C'):\n"                                                              \
       "            vi = T.axis.spatial(8, i)\n"                                                   \
       "            T.where(i < 4)\n"                                                              \
       "            C[vi] = B[vi] + T.float32(1)\n"
/* a border that reads nothing */
#define PADDED                                                                                     \
  HEAD "def main(A: T.Buffer((6,), 'float32'), C: T.Buffer((8,), 'float32')):\n"                   \
       "    B = T.alloc_buffer((6,), 'float32')\n"                                                 \
       "    for i in range(6):\n"                                                                  \
       "        with T.block('B'):\n"                                                              \
       "            vi = T.axis.spatial(6, i)\n"                                                   \
       "            B[vi] = A[vi] * T.float32(2)\n"                                                \
       "    for i in range(8):\n"                                                                  \
       "        with T.block('C'):\n"                                                              \
       "            vi = T.axis.spatial(8, i)\n"                                                   \
       "            C[vi] = T.if_then_else(1 <= vi and vi < 7, B[vi - 1], T.float32(0))\n"
/* sums of sums */
#define TWO_SUMS                                                                                   \
  HEAD "def main(A: T.Buffer((8, 6), 'float32'), D: T.Buffer((1,), 'float32')):\n"                 \
       "    S = T.alloc_buffer((8,), 'float32')\n"                                                 \
       "    for i, k in T.grid(8, 6):\n"                                                           \
       "        with T.block('S'):\n"                                                              \
       "            vi, vk = T.axis.remap('SR', [i, k])\n"                                         \
       "            with T.init():\n"                                                              \
       "                S[vi] = T.float32(0)\n"                                                    \
       "            S[vi] = S[vi] + A[vi, vk]\n"                                                   \
       "    for j, i in T.grid(1, 8):\n"                                                           \
       "        with T.block('D'):\n"                                                              \
       "            vj, vi = T.axis.remap('SR', [j, i])\n"                                         \
       "            with T.init():\n"                                                              \
       "                D[vj] = T.float32(0)\n"                                                    \
       "            D[vj] = D[vj] + S[vi]\n"
#define GET(name) "sch.get_block('" name "')"
#define LOOP(name, i) "sch.get_loops(sch.get_block('" name "'))[" #i "]"

typedef struct Case {
  const char *title, *program, *script, *expected; /* NULL: any legal program of the same meaning */
} Case;

static const Case cases[] = {
    {"compute_at a row", CHAIN, "sch.compute_at(" GET("B") ", " LOOP("C", 0) ")\n",
     HEAD "def main(A: T.Buffer((8, 6), 'float32'), C: T.Buffer((8, 6), 'float32')):\n"
          "    B = T.alloc_buffer((8, 6), 'float32')\n"
          "    for i in range(8):\n"
          "        for ax0 in range(6):\n"
          "            with T.block('B'):\n"
          "                vi, vj = T.axis.remap('SS', [i, ax0])\n"
          "                B[vi, vj] = A[vi, vj] * T.float32(2)\n"
          "        for j in range(6):\n"
          "            with T.block('C'):\n"
          "                vi, vj = T.axis.remap('SS', [i, j])\n"
          "                C[vi, vj] = B[vi, vj] + T.float32(1)\n"},
    {"unit loops kept", CHAIN,
     "sch.compute_at(" GET("B") ", " LOOP("C", 1) ", preserve_unit_loops=True)\n",
     HEAD "def main(A: T.Buffer((8, 6), 'float32'), C: T.Buffer((8, 6), 'float32')):\n"
          "    B = T.alloc_buffer((8, 6), 'float32')\n"
          "    for i, j in T.grid(8, 6):\n"
          "        for ax0, ax1 in T.grid(1, 1):\n"
          "            with T.block('B'):\n"
          "                vi = T.axis.spatial(8, i + ax0)\n"
          "                vj = T.axis.spatial(6, j + ax1)\n"
          "                B[vi, vj] = A[vi, vj] * T.float32(2)\n"
          "        with T.block('C'):\n"
          "            vi, vj = T.axis.remap('SS', [i, j])\n"
          "            C[vi, vj] = B[vi, vj] + T.float32(1)\n"},
    {"a neighbourhood", STENCIL, "sch.compute_at(" GET("B") ", " LOOP("C", 0) ")\n",
     HEAD "def main(A: T.Buffer((16,), 'float32'), C: T.Buffer((14,), 'float32')):\n"
          "    B = T.alloc_buffer((16,), 'float32')\n"
          "    for i in range(14):\n"
          "        for ax0 in range(3):\n"
          "            with T.block('B'):\n"
          "                vi = T.axis.spatial(16, i + ax0)\n"
          "                B[vi] = A[vi] * T.float32(2)\n"
          "        with T.block('C'):\n"
          "            vi = T.axis.spatial(14, i)\n"
          "            C[vi] = B[vi] + B[vi + 1] + B[vi + 2]\n"},
    {"a tile that does not divide", STENCIL,
     "sch.split(" LOOP("C", 0) ", [None, 5])\nsch.compute_at(" GET("B") ", " LOOP("C", 0) ")\n",
     NULL},
    {"consumer under its producer's rows", ROWSUM,
     "sch.reverse_compute_at(" GET("D") ", " LOOP("S", 0) ")\n",
     HEAD "def main(A: T.Buffer((8, 6), 'float32'), D: T.Buffer((8,), 'float32')):\n"
          "    S = T.alloc_buffer((8,), 'float32')\n"
          "    for i in range(8):\n"
          "        for k in range(6):\n"
          "            with T.block('S'):\n"
          "                vi, vk = T.axis.remap('SR', [i, k])\n"
          "                with T.init():\n"
          "                    S[vi] = T.float32(0)\n"
          "                S[vi] = S[vi] + A[vi, vk]\n"
          "        with T.block('D'):\n"
          "            vi = T.axis.spatial(8, i)\n"
          "            D[vi] = S[vi] * T.float32(2)\n"},
    {"consumer under a tile that does not divide", CHAIN,
     "sch.split(" LOOP("B", 1) ", [None, 4])\n"
                               "sch.reverse_compute_at(" GET("C") ", " LOOP("B", 1) ")\n",
     HEAD "def main(A: T.Buffer((8, 6), 'float32'), C: T.Buffer((8, 6), 'float32')):\n"
          "    B = T.alloc_buffer((8, 6), 'float32')\n"
          "    for i, j_0 in T.grid(8, 2):\n"
          "        for j_1 in range(4):\n"
          "            with T.block('B'):\n"
          "                vi = T.axis.spatial(8, i)\n"
          "                vj = T.axis.spatial(6, j_0 * 4 + j_1)\n"
          "                T.where(j_0 * 4 + j_1 < 6)\n"
          "                B[vi, vj] = A[vi, vj] * T.float32(2)\n"
          "        for ax0 in range(4):\n"
          "            with T.block('C'):\n"
          "                vi = T.axis.spatial(8, i)\n"
          "                vj = T.axis.spatial(6, j_0 * 4 + ax0)\n"
          "                T.where(j_0 * 4 + ax0 < 6)\n"
          "                C[vi, vj] = B[vi, vj] + T.float32(1)\n"},
    {"tiles of 3 seen as pairs: the second of a pair is not lost", RESHAPE,
     "sch.split(" LOOP("B", 0) ", [None, 3])\n"
                               "try:\n"
                               "    sch.reverse_compute_at(" GET("C") ", " LOOP(
                                   "B", 0) ")\n"
                                           "except ScheduleError as e:\n"
                                           "    pass\n",
     NULL},
    {"loop above the block already", CHAIN, "sch.compute_at(" GET("B") ", " LOOP("B", 0) ")\n",
     "! not-same-scope"},
    {"an output block", CHAIN, "sch.compute_at(" GET("C") ", " LOOP("B", 0) ")\n",
     "! output-block"},
    {"a consumer elsewhere", FANOUT, "sch.compute_at(" GET("B") ", " LOOP("D", 0) ")\n",
     "! required-block-not-under-loop"},
    {"no producer under the loop", FANOUT,
     "sch.reverse_compute_at(" GET("D") ", " LOOP("C", 0) ")\n", "! required-block-not-under-loop"},
    {"no such place", CHAIN, "sch.compute_at(" GET("B") ", " LOOP("C", 0) ", index=7)\n",
     "! insert-index"},
    {"a neighbourhood under its producer", STENCIL,
     "sch.reverse_compute_at(" GET("C") ", " LOOP("B", 0) ")\n", "! domain-not-solvable"},
    {"a loop variable would leave its loop", LOOSE,
     "sch.reverse_compute_at(" GET("C") ", " LOOP("B", 0) ")\n", "! loop-variable-escapes"},
    {"nor when inlined", LOOSE_SCALAR, "sch.compute_inline(" GET("B") ")\n",
     "! loop-variable-escapes"},
    {"a predicate that the domain does not imply", HALF,
     "sch.reverse_compute_at(" GET("C") ", " LOOP("B", 0) ")\n", "! predicate-lost"},
    {"instances that no iteration of the producer would run", PADDED,
     "sch.reverse_compute_at(" GET("C") ", " LOOP("B", 0) ")\n", "! instances-lost"},
    {"the other way round", PADDED, "sch.compute_at(" GET("B") ", " LOOP("C", 0) ")\n", NULL},
    {"a sum under the rows that it sums", TWO_SUMS,
     "sch.reverse_compute_at(" GET("D") ", " LOOP("S", 0) ")\n", NULL},
    {"a sum inside of another one adds too often", TWO_SUMS,
     "sch.reverse_compute_at(" GET("D") ", " LOOP("S", 1) ")\n", "! repeated-reduction"},
    {"threads would share a sum", TWO_SUMS,
     "sch.parallel(" LOOP("S", 0) ")\n"
                                  "sch.reverse_compute_at(" GET("D") ", " LOOP("S", 0) ")\n",
     "! shared-reduction"},
    {"inlined into two consumers", FANOUT, "sch.compute_inline(" GET("B") ")\n",
     HEAD "def main(A: T.Buffer((8,), 'float32'), C: T.Buffer((8,), 'float32'), "
          "D: T.Buffer((8,), 'float32')):\n"
          "    for i in range(8):\n"
          "        with T.block('C'):\n"
          "            vi = T.axis.spatial(8, i)\n"
          "            C[vi] = A[vi] * T.float32(2) + T.float32(1)\n"
          "    for i in range(8):\n"
          "        with T.block('D'):\n"
          "            vi = T.axis.spatial(8, i)\n"
          "            D[vi] = A[7 - vi] * T.float32(2) * T.float32(3)\n"},
    {"folded into its producer", CHAIN, "sch.reverse_compute_inline(" GET("C") ")\n",
     HEAD "def main(A: T.Buffer((8, 6), 'float32'), C: T.Buffer((8, 6), 'float32')):\n"
          "    for i, j in T.grid(8, 6):\n"
          "        with T.block('B'):\n"
          "            vi, vj = T.axis.remap('SS', [i, j])\n"
          "            C[vi, vj] = A[vi, vj] * T.float32(2) + T.float32(1)\n"},
    {"folded through a fused index", RESHAPE, "sch.reverse_compute_inline(" GET("C") ")\n",
     HEAD "def main(A: T.Buffer((12,), 'float32'), C: T.Buffer((6, 2), 'float32')):\n"
          "    for i in range(12):\n"
          "        with T.block('B'):\n"
          "            vi = T.axis.spatial(12, i)\n"
          "            C[vi // 2, vi % 2] = A[vi] * T.float32(2) + T.float32(1)\n"},
    {"an init", ROWSUM, "sch.compute_inline(" GET("S") ")\n", "! has-init"},
    {"inlining an output", CHAIN, "sch.compute_inline(" GET("C") ")\n", "! output-block"},
    {"nothing to fold into", CHAIN, "sch.reverse_compute_inline(" GET("B") ")\n",
     "! not-single-buffer"},
    {"a producer with other consumers", FANOUT, "sch.reverse_compute_inline(" GET("C") ")\n",
     "! not-single-producer"},
    {"several elements", STENCIL, "sch.reverse_compute_inline(" GET("C") ")\n", "! inline-pattern"},
    {"a producer that is no complete block", ROWSUM, "sch.reverse_compute_inline(" GET("D") ")\n",
     "! not-single-producer"},
};

static Source source_of(const char *name, const char *text) {
  return (Source){name, text, strlen(text)};
}

static const Module *parse(Tirc *c, const char *text) {
  Source s = source_of("case.tir", text);
  const Module *m = tirc_parse_module(c, &s, 0, NULL);
  tirc_verify(c, m);
  return m;
}

/* The last parameter, an output, after running m on fixed data. */
static Tensor *outcome(Tirc *c, const Module *m) {
  const Func *f = tirc_module_main(m);
  Argument args[4] = {0};
  for (int i = 0; i < f->n_params; i++) {
    int64_t shape[2] = {0};
    for (int d = 0; d < f->buffers[i]->ndim; d++)
      tirc_const_int(f->buffers[i]->shape[d], &shape[d]);
    args[i].tensor = tirc_tensor_new(c, f->buffers[i]->dtype, f->buffers[i]->ndim, shape);
    for (int64_t k = 0; k < args[i].tensor->count; k++)
      tirc_tensor_set(args[i].tensor, k, (double)(k * 7 % 11));
  }
  tirc_interpret(c, f, f->n_params, args, 0);
  for (int i = 0; i + 1 < f->n_params; i++) tirc_tensor_free(args[i].tensor);
  return args[f->n_params - 1].tensor;
}

static void expect_same_meaning(Tirc *c, const Module *before, const Module *after) {
  Tensor *x = outcome(c, before), *y = outcome(c, after);
  assert_memory_equal(x->data, y->data, x->bytes);
  tirc_tensor_free(x);
  tirc_tensor_free(y);
}

/* NULL when the case holds. */
static const char *run_case(Tirc *c, const Case *k) {
  const Module *m = parse(c, k->program);
  const char *before = tirc_print_module(c, m, NULL);
  Sched *s = tirc_sched_new(c, m);
  Source script = source_of("case.sch", k->script);
  bool refused = k->expected && k->expected[0] == '!';
  Trap t;
  if (TIRC_TRY(c, t)) {
    tirc_run_script(s, &script, NULL, NULL, NULL, NULL);
    TIRC_END(c, t);
    if (refused) return tirc_format(c, "not refused:\n%s", tirc_print_module(c, s->mod, NULL));
  } else {
    if (!refused || strcmp(c->diag.code, k->expected + 2) != 0)
      return tirc_format(c, "[%s] %s", c->diag.code, c->diag.message);
    const char *after = tirc_print_module(c, s->mod, NULL);
    bool one_call = strchr(k->script, '\n')[1] == 0;
    return one_call && strcmp(before, after) != 0 ? "it changed the module" : NULL;
  }
  tirc_verify(c, s->mod);
  expect_same_meaning(c, m, s->mod);
  const char *why = k->expected ? tirc_module_difference(c, s->mod, parse(c, k->expected)) : NULL;
  return why ? tirc_format(c, "%s\n%s", why, tirc_print_module(c, s->mod, NULL)) : NULL;
}

static void test_cases(void **state) {
  (void)state;
  volatile int n_failed = 0;
  for (volatile size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    Tirc *c = tirc_context_new();
    const char *volatile why = NULL;
    Trap t;
    if (TIRC_TRY(c, t)) {
      why = run_case(c, &cases[i]);
      TIRC_END(c, t);
    } else {
      why = tirc_format(c, "[%s] line %d: %s", c->diag.code, c->diag.loc.line, c->diag.message);
    }
    if (why) {
      n_failed++;
      print_error("%s: %s\n", cases[i].title, why);
    }
    tirc_context_release(c);
  }
  assert_int_equal(n_failed, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
