/* `tirc bench MODEL --vs onnxruntime`: the same file, inputs and threads, by ONNX Runtime. */
#ifndef TIRC_TOOLS_BENCH_MODEL_RIVAL_H
#define TIRC_TOOLS_BENCH_MODEL_RIVAL_H

#include "onnxruntime.h"
#include "tools/kit/kit.h"

/* A result with elements that differ by more than is allowed; the one that does most. */
typedef struct RivalDifference {
  const char *result; /* its name */
  int number;         /* of the result */
  int64_t n, elements, at;
  double most, got, wanted;
  bool is_judged;          /* by model_exact.c: */
  double own_off, its_off; /* roots of mean squares of the distances from float64 */
} RivalDifference;

/* What --vs names, before this process has read anything. A process of its own waits for the
 * inputs, to run the model once: what that one needs of memory is nothing else's. */
typedef struct ModelRival {
  const char *path;
  bool is_here;                    /* --vs names it, and there is a library */
  OnnxRuntime *runtime;            /* of this process; NULL: not started */
  int child, to_child, from_child; /* child 0: none */
  int64_t peak, own_peak;          /* bytes that its process and this one needed; 0: unknown */
  int n_inputs, n_bound;
  tirc_array **inputs, **bound; /* those of its run, and of them what --bind gave */
  double error; /* the largest difference from its results, as a part of what is allowed */
  RivalDifference *differences;
  int n_differences;
  const char *no_judge; /* why they are not judged, or NULL */
} ModelRival;

/* DONE, perhaps after saying that it is left out, or BAD after saying what cannot be compared. */
int begin_rival(const char *model, const char *vs, ModelRival *out);
/* With the model's n inputs, and what --bind made constants: memory of both, then a run here. DONE,
 * or BAD after saying why it fails. To be called when this process has run the model, and measured
 * nothing yet. */
int start_rival(ModelRival *r, const Loading *from, int threads, int n, const tirc_param *params,
                const tirc_argument *args);
/* The results of both. A float may differ by a thousandth of itself and a ten thousandth of the
 * largest of its array, an integer of 8 or 16 bits by a step, all else not at all: what does is
 * kept. DONE, or NO after saying that results are of other types or shapes. */
int compare_rival(ModelRival *r, int n, const tirc_param *params, const tirc_argument *results);
void put_rival_differences(const ModelRival *r, FILE *out);
int call_rival(void *rival); /* a tirc_contender's `call` */
void end_rival(ModelRival *r);

#endif
