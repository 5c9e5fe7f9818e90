/* OpenBLAS, if the machine has it. It chooses its kernels when it is loaded, so the variable that
 * holds it to the target's instructions must be set before. */
#include "bench_rivals.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };
/* cblas_sgemm */
typedef void (*Sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);
typedef struct OpenBlas {
  Sgemm sgemm;
  void (*set_threads)(int);
  Product p;
} OpenBlas;

static bool find_functions(OpenBlas *o, char *(**core_name)(void), const char **why) {
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    *why = "it is not installed";
    return false;
  }
  *(void **)(&o->sgemm) = dlsym(library, "cblas_sgemm");
  *(void **)(&o->set_threads) = dlsym(library, "openblas_set_num_threads");
  *(void **)(core_name) = dlsym(library, "openblas_get_corename");
  *why = "libopenblas.so.0 has no cblas_sgemm";
  return o->sgemm && o->set_threads;
}

bool openblas_open(const Bench *b, char *kernels, size_t size, const char **why) {
  OpenBlas o = {0};
  char *(*core_name)(void) = NULL;
  if (b->target.vector_bits == 256) setenv("OPENBLAS_CORETYPE", "Haswell", 0);
  if (!find_functions(&o, &core_name, why)) return false;
  snprintf(kernels, size, "%s kernels", core_name ? core_name() : "unknown");
  return true;
}

void *openblas_prepare(const Bench *b, const Case *k, const char **why) {
  (void)b;
  char *(*core_name)(void);
  Product p;
  OpenBlas *o = get_product(k, &p, why) ? calloc(1, sizeof *o) : NULL;
  if (!o) return NULL;
  o->p = p;
  if (find_functions(o, &core_name, why)) {
    o->set_threads(k->threads);
    return o;
  }
  free(o);
  return NULL;
}

void openblas_run(void *prepared) {
  const OpenBlas *o = prepared;
  Product p = o->p;
  o->sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, p.m, p.n, p.k, 1, p.a, p.k, p.b, p.n, 0, p.c,
           p.n);
}

void openblas_free(void *prepared) { free(prepared); }

bool get_product(const Case *k, Product *p, const char **why) {
  const tirc_cost *c = &k->cost;
  *why = "the program is not a float32 matrix product";
  if (!c->m) return false;
  *p = (Product){(int)c->m,
                 (int)c->n,
                 (int)c->k,
                 tirc_array_data(k->args[c->a].array),
                 tirc_array_data(k->args[c->b].array),
                 tirc_array_data(k->args[c->c].array)};
  return true;
}
