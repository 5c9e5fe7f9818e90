/* Kernels of several programs, one of them a model, in one library. */
#include "positive.h"
#include "total.h"
#include "twice.h"

#include <stdio.h>

int main(void) {
  static _Alignas(64) float a[64], b[64], sum[1];
  for (int i = 0; i < 64; i++) a[i] = (float)(i % 2 ? i : -i);
  if (twice(a, b) || b[3] != 6) return 1;
  if (total(a, sum) || sum[0] != 32) return 2;
  if (positive(a, b, NULL) || b[2] != 0 || b[3] != 3) return 3;
  puts("right");
  return 0;
}
