/* The rivals, one file each, and the operators that they compute. */
#ifndef TIRC_TOOLS_BENCH_RIVALS_H
#define TIRC_TOOLS_BENCH_RIVALS_H

#include "bench.h"

/* R(name, how to install it, what its functions begin with, is_named, finish, note) */
#define RIVALS(R)                                                                                  \
  R("openblas", "apt-get install libopenblas0-pthread", openblas, NULL, NULL, NULL)                \
  R("onednn", "apt-get install libdnnl2", onednn, dnnl_has_words, onednn_finish, onednn_note)      \
  R("onednn-prepacked", "apt-get install libdnnl2 libdnnl-dev, then build tirc again", prepacked,  \
    dnnl_has_words, prepacked_finish, NULL)                                                        \
  R("c", "apt-get install clang-19", plain_c, plain_c_takes, NULL, plain_c_note)

/* openblas.c, onednn.c: the libraries, or NULL. */
void *openblas_library(void);
void *dnnl_library(void);
bool dnnl_has_words(const Case *k);
bool plain_c_takes(const Case *k);
const char *plain_c_note(const void *prepared);
void onednn_finish(void *prepared);
const char *onednn_note(const void *prepared);
void prepacked_finish(void *prepared);
#define RIVAL(name, install, prefix, is_named, finish, note)                                       \
  bool prefix##_open(const Bench *b, char *kernels, size_t size, const char **why);                \
  void *prefix##_prepare(const Bench *b, const Case *k, const Operator *op, const char **why);     \
  void prefix##_run(void *prepared);                                                               \
  void prefix##_free(void *prepared);
RIVALS(RIVAL)
#undef RIVAL

/* operator.c. The arrays are the case's. */
typedef enum Kind { PRODUCT, CONVOLUTION, SOFTMAX, LAYER_NORM } Kind;
typedef enum Activation { LINEAR, RELU, GELU } Activation;
struct Operator {
  Kind kind;
  float *a, *b, *c; /* c: the result. LAYER_NORM: b scales, bias shifts */
  float *bias;      /* or NULL */
  /* PRODUCT: c[m, n] = activation(scale a[m, k] b + bias), `batch` times; b[k, n], or b[n, k] if
   * transposed. SOFTMAX, LAYER_NORM: over the rows of a[m, n] */
  int batch, m, n, k;
  bool transposed;
  float scale;
  Activation activation;
  /* CONVOLUTION: NCHW and OIHW, stride 1 */
  int64_t image[4], filter[4], result[4];
  int pad;
};
enum { MOST_OPERATORS = 8 };
/* What the program may be, most to least likely; how many. */
int list_operators(const Case *k, Operator *out);

/* rivals.c: the rival at work on the first operator that gives the right result. */
void *prepare_rival(const Bench *b, const Case *k, const Rival *r, const char **why);

#endif
