/* Operators as oneDNN's primitives. */
#ifndef TIRC_TOOLS_BENCH_DNNL_H
#define TIRC_TOOLS_BENCH_DNNL_H

#include "rivals.h"

/* onednn.c */

/* A primitive with its arrays. Words are oneDNN's, without its prefixes: "convolution", "src",
 * "eltwise_gelu_erf". */
enum { DNNL_DIMS = 12, DNNL_ARRAYS = 5, DNNL_CALLS = 8 }; /* 12: as many as oneDNN reads */
typedef struct DnnlArray {
  const char *role, *dtype; /* dtype as in programs */
  void *data;
  int nd;
  int64_t dims[DNNL_DIMS], strides[DNNL_DIMS];
  bool anyhow; /* the primitive may have it in a layout of its own */
} DnnlArray;
typedef struct DnnlCall {
  const char *kind, *algorithm, *activation; /* the last two: or NULL */
  int64_t kernel[DNNL_DIMS], strides[DNNL_DIMS], padding[DNNL_DIMS], dilates[DNNL_DIMS];
  int axis;
  float alpha, beta, epsilon, scale; /* scale: of a product; 0 is none */
  int n;
  DnnlArray at[DNNL_ARRAYS];
} DnnlCall;
typedef struct DnnlCalls {
  int n;
  DnnlCall at[DNNL_CALLS];
  int n_scratch;
  void *scratch[DNNL_CALLS]; /* arrays in between, on the heap */
} DnnlCalls;

/* dnnl_operator.c: what the shapes of a program suggest, as a call; `ahead`: as one whose
 * weights may be laid out beforehand. */
bool dnnl_call_of(const Operator *op, bool ahead, DnnlCalls *out);
/* dnnl_calls.c: what the program says of itself, T.func_attr({"onednn": ...}) in the words of
 * onednn.sch; false with why. The strings live as long as the schedule. */
bool dnnl_has_words(const Case *k);
bool dnnl_calls_of(const Case *k, tirc_schedule **words, DnnlCalls *out, const char **why);
void dnnl_calls_free(DnnlCalls *c);

/* dnnl.c: NULL, with why, where it has none. What is free to be laid out otherwise gets its
 * contents here, or brings them back in dnnl_fetch; dnnl_run copies nothing. */
typedef enum DnnlFree { NO_ARRAYS, WEIGHTS, ALL_ARRAYS } DnnlFree;
typedef struct Dnnl Dnnl;
Dnnl *dnnl_make(const DnnlCalls *calls, DnnlFree free, const char **why);
bool dnnl_relays(const Dnnl *v); /* whether some array is in another layout */
void dnnl_run(const Dnnl *v);
void dnnl_fetch(const Dnnl *v);
void dnnl_release(Dnnl *v);
/* "convolution jit:avx2, eltwise jit:avx2" */
const char *dnnl_implementation(const Dnnl *v);

#endif
