// C = A x B of 1024 x 1024 floats by the kernel that tirc made: see the Makefile.
#include "matmul_tirc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1024, ROUNDS = 20 };

static void check(cudaError_t error, const char *what) {
  if (!error) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

static float *filled() {
  float *a = (float *)malloc(sizeof(float) * N * N);
  if (!a) exit(1);
  for (int i = 0; i < N * N; i++) a[i] = (float)(rand() % 1001) / 1000.0f - 0.5f;
  return a;
}

static float *on_device(const float *from) {
  float *to = nullptr;
  check(cudaMalloc((void **)&to, sizeof(float) * N * N), "memory");
  if (from) check(cudaMemcpy(to, from, sizeof(float) * N * N, cudaMemcpyHostToDevice), "a copy");
  return to;
}

// The largest error among elements of some rows, against sums in double.
static double error_of(const float *a, const float *b, const float *c) {
  double worst = 0;
  for (int i = 0; i < N; i += 61)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++) sum += (double)a[i * N + k] * b[k * N + j];
      worst = fmax(worst, fabs(sum - c[i * N + j]));
    }
  return worst;
}

int main() {
  float *a = filled(), *b = filled(), *c = filled(), milliseconds = 0;
  float *at_a = on_device(a), *at_b = on_device(b), *at_c = on_device(nullptr);
  check(matmul_launch(at_a, at_b, at_c), "the first launch");
  check(cudaMemcpy(c, at_c, sizeof(float) * N * N, cudaMemcpyDeviceToHost), "a copy");
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "an event");
  check(cudaEventCreate(&end), "an event");
  check(cudaEventRecord(begin), "an event");
  for (int i = 0; i < ROUNDS; i++) check(matmul_launch(at_a, at_b, at_c), "a launch");
  check(cudaEventRecord(end), "an event");
  check(cudaEventSynchronize(end), "the launches");
  check(cudaEventElapsedTime(&milliseconds, begin, end), "the time");
  const double error = error_of(a, b, c), flops = 2.0 * N * N * N * ROUNDS;
  printf("%d x %d blocks of %d x %d threads\n", (int)matmul_kernel_blocks_x,
         (int)matmul_kernel_blocks_y, (int)matmul_kernel_threads_x, (int)matmul_kernel_threads_y);
  printf("%.0f GFLOPS; largest error %.2g: %s\n", flops / milliseconds / 1e6, error,
         error < 1e-3 ? "right" : "WRONG");
  return error < 1e-3 ? 0 : 1;
}
