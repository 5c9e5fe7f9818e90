/* The rivals, one file each. */
#ifndef TIRC_TOOLS_BENCH_RIVALS_H
#define TIRC_TOOLS_BENCH_RIVALS_H

#include "bench.h"

/* R(name, how to install it, what its functions begin with) */
#define RIVALS(R)                                                                                  \
  R("openblas", "apt-get install libopenblas0-pthread", openblas)                                  \
  R("onednn", "apt-get install libdnnl2", onednn)                                                  \
  R("onednn-prepacked", "apt-get install libdnnl2 libdnnl-dev, then build tirc again", prepacked)  \
  R("c", "apt-get install clang-19", plain_c)

#define RIVAL(name, install, prefix)                                                               \
  bool prefix##_open(const Bench *b, char *kernels, size_t size, const char **why);                \
  void *prefix##_prepare(const Bench *b, const Case *k, const char **why);                         \
  void prefix##_run(void *prepared);                                                               \
  void prefix##_free(void *prepared);
RIVALS(RIVAL)
#undef RIVAL

/* C[m, n] = A[m, k] * B[k, n], if the case is that. */
typedef struct Product {
  int m, n, k;
  const float *a, *b;
  float *c;
} Product;
bool get_product(const Case *k, Product *p, const char **why);

#endif
