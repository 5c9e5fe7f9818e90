/* A program that calls a kernel made ahead of time, and checks what it computes. */
#include "matmul.h"

#include <math.h>
#include <stdio.h>

enum { M = 128, N = 768, K = 768 };
static float A[M * K], B[K * N], C[M * N];

int main(void) {
  for (int i = 0; i < M * K; i++) A[i] = (float)(i % 17) / 17;
  for (int i = 0; i < K * N; i++) B[i] = (float)(i % 13) / 13;
  int status = matmul(A, B, C);
  if (status) return status;
  double worst = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++) sum += (double)A[i * K + k] * (double)B[k * N + j];
      worst = fmax(worst, fabs(sum - (double)C[i * N + j]) / sum);
    }
  printf("matmul: largest relative error %.1e\n", worst);
  return worst < 1e-4 ? 0 : 1;
}
