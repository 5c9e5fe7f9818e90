/* Runs the model once, on numbers that are the same on every machine, and prints the results. */
#include "model.h"

#include <stdio.h>

#ifdef INT8
typedef int8_t Number;
#else
typedef float Number;
#endif

static Number x[28 * 28], scores[10];
static _Alignas(64) unsigned char workspace[model_workspace + 1];

int main(void) {
  uint32_t seed = 1;
  for (int i = 0; i < 28 * 28; i++) {
    seed = seed * 1664525u + 1013904223u;
    const int drawn = (int)(seed >> 24) - 128;
#ifdef INT8
    x[i] = (Number)drawn;
#else
    x[i] = (Number)drawn / 128;
#endif
  }
  const int status = model(x, scores, workspace);
  if (status) printf("model: %s\n", model_error_text(status));
  for (int i = 0; i < 10; i++) printf("%.6f\n", (double)scores[i]);
  return status;
}
