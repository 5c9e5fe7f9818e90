/* OpenBLAS, if the machine has it. It chooses its kernels when it is loaded, by the processor's
 * number, and of one that it does not know yet it takes those of a very old one (Prescott's, with
 * vectors of 128 bits). So it is told which to take, by the target's vectors, unless the user's
 * environment says so. */
#include "rivals.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };
/* cblas_sgemm */
typedef void (*Sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);
typedef struct OpenBlas {
  Sgemm sgemm;
  void (*set_threads)(int);
  Operator p;
} OpenBlas;

void *openblas_library(void) { return dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL); }

static bool find_functions(OpenBlas *o, char *(**core_name)(void), const char **why) {
  void *library = openblas_library();
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

static const struct {
  int vector_bits;
  const char *name;
} cores[] = {{128, "Nehalem"}, {256, "Haswell"}, {512, "SkylakeX"}};

bool openblas_open(const Bench *b, char *kernels, size_t size, const char **why) {
  OpenBlas o = {0};
  char *(*core_name)(void) = NULL;
  for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
    if (b->target.vector_bits == cores[i].vector_bits && strcmp(b->target.arch, "x86_64") == 0)
      setenv("OPENBLAS_CORETYPE", cores[i].name, 0);
  if (!find_functions(&o, &core_name, why)) return false;
  snprintf(kernels, size, "%s kernels", core_name ? core_name() : "unknown");
  return true;
}

/* A batch is a loop of products: it has no batched one. */
void *openblas_prepare(const Bench *b, const Case *k, const Operator *op, const char **why) {
  (void)b;
  char *(*core_name)(void);
  if (!op || op->kind != PRODUCT || op->bias) return NULL;
  OpenBlas *o = tirc_alloc(memory, sizeof *o);
  o->p = *op;
  if (find_functions(o, &core_name, why)) {
    o->set_threads(k->at.threads);
    return o;
  }
  return NULL;
}

void openblas_run(void *prepared) {
  const OpenBlas *o = prepared;
  const Operator *p = &o->p;
  size_t m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
  for (size_t i = 0; i < (size_t)p->batch; i++)
    o->sgemm(ROW_MAJOR, NO_TRANSPOSE, p->transposed ? TRANSPOSE : NO_TRANSPOSE, p->m, p->n, p->k,
             p->scale, p->a + i * m * k, p->k, p->b + i * k * n, p->transposed ? p->k : p->n, 0,
             p->c + i * m * n, p->n);
}

void openblas_free(void *prepared) { (void)prepared; }
