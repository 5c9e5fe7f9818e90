/* oneDNN: its sgemm for plain products, its primitives for other operators (bench_dnnl.c). */
#include "bench_dnnl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { ISA_AVX2 = 7 }; /* dnnl_cpu_isa_avx2 */

void *dnnl_library(void) {
  void *l = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  return l ? l : dlopen("libdnnl.so.3", RTLD_NOW | RTLD_LOCAL);
}

/* It is built with OpenMP, whose number of threads belongs to the calling thread. */
void dnnl_threads(int n) {
  void *omp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  void (*set)(int) = NULL;
  if (omp) *(void **)(&set) = dlsym(omp, "omp_set_num_threads");
  if (set) set(n);
}

bool dnnl_open_with_isa(const Bench *b, char *kernels, size_t size, const char **why) {
  void *l = dnnl_library();
  int (*set_isa)(int) = NULL, (*get_isa)(void) = NULL;
  *why = "it is not installed";
  if (!l) return false;
  *(void **)(&set_isa) = dlsym(l, "dnnl_set_max_cpu_isa");
  *(void **)(&get_isa) = dlsym(l, "dnnl_get_effective_cpu_isa");
  *why = "it cannot be held to AVX2";
  if (!set_isa || !get_isa) return false;
  /* The second call fails, as the first has decided. */
  if (b->target.vector_bits == 256) (void)set_isa(ISA_AVX2);
  int isa = get_isa();
  if (b->target.vector_bits == 256 && isa > ISA_AVX2) return false;
  snprintf(kernels, size, "%s", isa == ISA_AVX2 ? "AVX2" : isa > ISA_AVX2 ? "AVX-512" : "AVX");
  return true;
}

/* --- sgemm -------------------------------------------------------------------------------------
 */

typedef int (*DnnlSgemm)(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k,
                         float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                         float beta, float *c, int64_t ldc);
typedef struct OneDnn {
  DnnlSgemm sgemm;
  Operator p;
  Dnnl *primitive; /* instead */
} OneDnn;

bool onednn_open(const Bench *b, char *kernels, size_t size, const char **why) {
  if (!dnnl_open_with_isa(b, kernels, size, why)) return false;
  *why = "it has no dnnl_sgemm";
  return dlsym(dnnl_library(), "dnnl_sgemm") != NULL;
}

void *onednn_prepare(const Bench *b, const Case *k, const Operator *op, const char **why) {
  (void)b;
  OneDnn *o = op ? calloc(1, sizeof *o) : NULL;
  if (!o) return NULL;
  o->p = *op;
  dnnl_threads(k->threads);
  if (op->kind == PRODUCT && op->batch == 1 && !op->bias)
    *(void **)(&o->sgemm) = dlsym(dnnl_library(), "dnnl_sgemm");
  else
    o->primitive = dnnl_make(op, false, why);
  if (o->sgemm || o->primitive) return o;
  free(o);
  return NULL;
}

void onednn_run(void *prepared) {
  const OneDnn *o = prepared;
  const Operator *p = &o->p;
  if (o->primitive)
    dnnl_run(o->primitive);
  else
    (void)o->sgemm('N', p->transposed ? 'T' : 'N', p->m, p->n, p->k, p->scale, p->a, p->k, p->b,
                   p->transposed ? p->k : p->n, 0, p->c, p->n);
}

void onednn_free(void *prepared) {
  OneDnn *o = prepared;
  dnnl_release(o->primitive);
  free(o);
}

/* --- weights laid out beforehand ---------------------------------------------------------------
 */

bool prepacked_open(const Bench *b, char *kernels, size_t size, const char **why) {
  float zeros[64] = {0}, result[64];
  char isa[32];
  Operator op = {.kind = PRODUCT,
                 .batch = 1,
                 .m = 8,
                 .n = 8,
                 .k = 8,
                 .scale = 1,
                 .a = zeros,
                 .b = zeros,
                 .c = result};
  if (!dnnl_open_with_isa(b, isa, sizeof isa, why)) return false;
  Dnnl *v = dnnl_make(&op, true, why);
  if (!v) return false;
  snprintf(kernels, size, "%s, %s", isa, dnnl_implementation(v));
  dnnl_release(v);
  return true;
}

void *prepacked_prepare(const Bench *b, const Case *k, const Operator *op, const char **why) {
  (void)b;
  if (!op) return NULL;
  dnnl_threads(k->threads);
  return dnnl_make(op, true, why);
}

void prepacked_run(void *prepared) { dnnl_run(prepared); }
void prepacked_free(void *prepared) { dnnl_release(prepared); }
