/* What the sources of kernels must have where trees are as no program that is parsed has them. */
#include "codegen/gpu/gpu.h"
#include "compare.h"
#include "ir/tree/visit.h"
#include "passes/lower/lower.h"

static const char text[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((32,), \"float32\"), B: T.Buffer((32,), \"float32\")):\n"
    "    for bx in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
    "        for tx in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
    "            for i in T.vectorized(4):\n"
    "                B[tx * 4 + i] = B[tx * 4 + i] * T.float32(2) + A[tx * 4 + i]\n";

/* The statement twice, and not a copy of it. */
static Stmt twice(Mutator *m, Stmt s) {
  s = tirc_mutate_stmt_children(m, s);
  return s->kind == STMT_STORE ? tirc_seq(m->c, 2, (Stmt[]){s, s}) : s;
}

static int count(const char *in, const char *what) {
  int n = 0;
  for (const char *p = in; (p = strstr(p, what)); p++) n++;
  return n;
}

static void check_shared_load(Tirc *c, const void *unused) {
  (void)unused;
  const Module *m = tirc_lower_for(c, parse(c, text), tirc_gpu_find("sm_75"), NULL, NULL);
  Module all = *m;
  const Func **funcs = tirc_new_array(c, const Func *, m->n_funcs);
  Mutator both = {.c = c, .stmt = twice};
  for (int i = 0; i < m->n_funcs; i++)
    funcs[i] = tirc_func_with_body(c, m->funcs[i], tirc_mutate_stmt(&both, m->funcs[i]->body));
  all.funcs = funcs;
  const char *source = tirc_gpu_source(c, &tirc_cuda_c, &all, NULL);
  if (count(source, "= *(const tirc_float32x4 *)(B + threadIdx_x * 4)") != 2)
    fail_msg("B is not loaded for each of two stores in\n%s", source);
}

static void a_load_that_two_stores_share_is_one_of_each(void **state) {
  (void)state;
  in_context("a shared load", check_shared_load, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_load_that_two_stores_share_is_one_of_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
