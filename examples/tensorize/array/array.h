/* An array of 8 x 8 elements that is not there: the functions which drive a device do here in C
 * what it would do. */
#ifndef ARRAY_H
#define ARRAY_H
#include <stdlib.h>

static inline void *array_rows_alloc(size_t bytes) { return malloc(bytes); }
static inline void *array_weights_alloc(size_t bytes) { return malloc(bytes); }
static inline void *array_sums_alloc(size_t bytes) { return malloc(bytes); }
static inline void array_rows_free(void *p) { free(p); }
static inline void array_weights_free(void *p) { free(p); }
static inline void array_sums_free(void *p) { free(p); }

static inline void array_load(float *to, int rows_to, const float *from, int rows_from) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) to[i * rows_to + j] = from[i * rows_from + j];
}
static inline void array_store(float *to, int rows_to, const float *from, int rows_from) {
  array_load(to, rows_to, from, rows_from);
}
static inline void array_zero(float *sums, int rows) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) sums[i * rows + j] = 0;
}
static inline void array_mac(float *sums, int rows_c, const float *a, int rows_a, const float *b,
                             int rows_b) {
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      for (int k = 0; k < 8; k++) sums[i * rows_c + j] += a[i * rows_a + k] * b[k * rows_b + j];
}
#endif
