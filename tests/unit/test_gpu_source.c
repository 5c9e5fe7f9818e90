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

/* --- what stands in a source ------------------------------------------------------------------ */

typedef struct Row {
  const char *type, *value;           /* of the arrays' elements, and of an element of B */
  const char *cuda, *opencl, *header; /* what each has to have, or NULL */
} Row;

static const Row rows[] = {
    {"int32", "T.shift_right(A[i], S[i])", ">> (S[", ">> (S[", NULL},
    {"int32", "T.shift_right(A[i], S[i])", "] & 31)", "] & 31)", NULL},
    {"int32", "T.shift_left(A[i], S[i])", "] & 31)", "] & 31)", NULL},
    {"int64", "T.shift_right(A[i], S[i])", "] & 63)", "] & 63)", NULL},
    {"int16", "T.shift_right(A[i], S[i])", "& 15)", "& 15)", NULL},
    {"int32", "T.max(A[i], T.opaque_zero(\"int32\"))", "threadIdx_x], 0)", "threadIdx_x], 0)",
     NULL},
    {"int32", "T.shift_left(A[i], 35)", "<< 3)", "<< 3)", NULL},
    {"int32", "A[i]", "__global__ void __launch_bounds__(16) main_kernel(",
     "reqd_work_group_size(16, 1, 1)",
     "main_kernel<<<dim3(2, 1, 1), dim3(16, 1, 1), 0, stream>>>(A, B)"},
    {"int32", "A[i] + S[i]", NULL, NULL,
     "main_kernel<<<dim3(2, 1, 1), dim3(16, 1, 1), 0, stream>>>(A, S, B)"},
    {"int32", "A[i]", NULL, NULL, "main_kernel_threads_x = 16"},
    {"int32", "A[i]", NULL, NULL, "main_kernel_blocks_x = 2"},
};

static void require_text(const char *source, const char *what) {
  if (what && !strstr(source, what)) fail_msg("'%s' is not in\n%s", what, source);
}

static void check_row(Tirc *c, const void *arg) {
  const Row *row = arg;
  const char *program =
      tirc_format(c,
                  "@T.prim_func\n"
                  "def main(A: T.Buffer((32,), \"%s\"), S: T.Buffer((32,), \"%s\"), B: "
                  "T.Buffer((32,), \"%s\")):\n"
                  "    for bx in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
                  "        for tx in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
                  "            with T.block(\"B\"):\n"
                  "                i = T.axis.spatial(32, bx * 16 + tx)\n"
                  "                B[i] = %s\n",
                  row->type, row->type, row->type, row->value);
  const Module *scheduled = parse(c, program),
               *m = tirc_lower_for(c, scheduled, tirc_gpu_find("sm_75"), NULL, NULL);
  require_text(tirc_gpu_source(c, &tirc_cuda_c, m, NULL), row->cuda);
  require_text(tirc_gpu_source(c, &tirc_opencl_c, m, NULL), row->opencl);
  require_text(tirc_gpu_header(c, m, scheduled), row->header);
}

static void sources_have_what_the_rows_say(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    in_context(rows[i].value, check_row, &rows[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_load_that_two_stores_share_is_one_of_each),
      cmocka_unit_test(sources_have_what_the_rows_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
