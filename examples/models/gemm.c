/* A matrix product of a BLAS as a function that a graph can call: gemm.tir has
 *
 *     R.call_dps_packed("gemm", (x, w), out_sinfo=R.Tensor((n, 32), "float32"))
 *
 *   cc -shared -fPIC -I ../../runtime gemm.c -o gemm.so -lopenblas
 *   tirc run gemm.tir --in n=8 --load ./gemm.so
 */
#include "tirc_dlpack.h"

void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

enum { ROW_MAJOR = 101, AS_IT_IS = 111 };

/* The arguments, then the result; all arrays are compact. */
int gemm(int n_tensors, const DLTensor *t) {
  if (n_tensors != 3 || t[0].ndim != 2 || t[1].ndim != 2) return 1;
  const int m = (int)t[0].shape[0], k = (int)t[0].shape[1], n = (int)t[1].shape[1];
  if (m)
    cblas_sgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, m, n, k, 1, t[0].data, k, t[1].data, n, 0, t[2].data,
                n);
  return 0;
}
