/* OpenBLAS, if the machine has it. It chooses its kernels when it is loaded, so the variable that
 * holds it to AVX2 must be set before. */
#include "bench.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };
Sgemm load_openblas(int threads, const char **core) {
  Sgemm sgemm;
  setenv("OPENBLAS_CORETYPE", "Haswell", 0);
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "openblas: not installed, so it is left out; on Debian: apt-get install "
                    "libopenblas0-pthread\n");
    return NULL;
  }
  void (*set_threads)(int);
  char *(*core_name)(void);
  *(void **)(&sgemm) = dlsym(library, "cblas_sgemm");
  *(void **)(&set_threads) = dlsym(library, "openblas_set_num_threads");
  *(void **)(&core_name) = dlsym(library, "openblas_get_corename");
  if (!sgemm || !set_threads) {
    fprintf(stderr, "openblas: libopenblas.so.0 has no cblas_sgemm, so it is left out\n");
    return NULL;
  }
  set_threads(threads);
  *core = core_name ? core_name() : "unknown kernels";
  return sgemm;
}

void call_library(Sgemm library, const tirc_cost *cost, const tirc_argument *args) {
  int m = (int)cost->m, n = (int)cost->n, k = (int)cost->k;
  library(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k, 1, tirc_array_data(args[cost->a].array),
          k, tirc_array_data(args[cost->b].array), n, 0, tirc_array_data(args[cost->c].array), n);
}
