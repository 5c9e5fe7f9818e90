// What a case tells the program that runs it (main.cu). on_gpu.py writes the table.
#pragma once
#include <cstddef>
#include <cuda_runtime.h>

struct Array {
  const char *from, *expected; // files of `bytes` bytes; expected: of what the case stores; both
                               // nullptr: filled here
  size_t bytes;
  const char *dtype;
};
struct Case {
  const char *name;
  cudaError_t (*launch)(void *const *arrays, cudaStream_t stream);
  int n;
  const Array *arrays;
  const char *ceiling; // "fma", "mma", "mma8", "copy"; nullptr: the case is only checked
  double work;         // floating point operations, or bytes, of one launch
};
extern const Case cases[];
extern const int n_cases;
