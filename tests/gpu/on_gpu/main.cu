// Are the kernels of tirc right on this GPU, and how far are they from what it can do?
//
// Each case of the table is launched, and what it stores is compared with what a processor computed; or it is timed (the
// best of some rounds), beside a ceiling that is measured first: multiply-adds in registers (fma), mma.sync of float16
// and of int8 (mma, mma8), a copy (copy). cuBLAS is timed, too, where the toolkit has it.
#include "on_gpu.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>
#if __has_include(<cublas_v2.h>) && defined(WITH_CUBLAS)
#include <cublas_v2.h>
#endif

static void must(cudaError_t e, const char *what) {
  if (e == cudaSuccess) return;
  printf("%s: %s\n", what, cudaGetErrorString(e));
  exit(2);
}

// --- ceilings -----------------------------------------------------------------------------------

enum { LOOPS = 2048, CHAINS = 16 };

__global__ void multiply_add(float *out, float x) {
  float sum[CHAINS];
  for (int i = 0; i < CHAINS; i++) sum[i] = threadIdx.x + i;
  for (int k = 0; k < LOOPS; k++)
#pragma unroll
    for (int i = 0; i < CHAINS; i++) sum[i] = fmaf(sum[i], x, x);
  float all = 0;
  for (int i = 0; i < CHAINS; i++) all += sum[i];
  if (all == 12345) *out = all;
}

__global__ void tensor_half(float *out, unsigned x) {
  float sum[8][4] = {};
  for (int k = 0; k < LOOPS; k++)
#pragma unroll
    for (int i = 0; i < 8; i++)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                   : "+f"(sum[i][0]), "+f"(sum[i][1]), "+f"(sum[i][2]), "+f"(sum[i][3])
                   : "r"(x));
  float all = 0;
  for (int i = 0; i < 8; i++) all += sum[i][0] + sum[i][1] + sum[i][2] + sum[i][3];
  if (all == 12345) *out = all;
}

__global__ void tensor_bytes(int *out, unsigned x) {
  int sum[8][4] = {};
  for (int k = 0; k < LOOPS; k++)
#pragma unroll
    for (int i = 0; i < 8; i++)
      asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                   : "+r"(sum[i][0]), "+r"(sum[i][1]), "+r"(sum[i][2]), "+r"(sum[i][3])
                   : "r"(x));
  int all = 0;
  for (int i = 0; i < 8; i++) all += sum[i][0] + sum[i][1] + sum[i][2] + sum[i][3];
  if (all == 12345) *out = all;
}

__global__ void copy(float4 *to, const float4 *from, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) to[i] = from[i];
}

template <class F> static double best_seconds(F launch, int rounds = 10) {
  cudaEvent_t begin, end;
  float ms, best = 1e30f;
  must(cudaEventCreate(&begin), "an event");
  must(cudaEventCreate(&end), "an event");
  for (int i = 0; i < rounds + 2; i++) {
    must(cudaEventRecord(begin), "an event");
    launch();
    must(cudaEventRecord(end), "an event");
    must(cudaEventSynchronize(end), "a kernel");
    must(cudaEventElapsedTime(&ms, begin, end), "the time");
    if (i >= 2) best = std::min(best, ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return best * 1e-3;
}

static std::map<std::string, double> measure_ceilings() {
  std::map<std::string, double> c;
  cudaDeviceProp p;
  must(cudaGetDeviceProperties(&p, 0), "the device");
  const int blocks = p.multiProcessorCount * 8, threads = 256;
  void *out;
  must(cudaMalloc(&out, 4), "memory");
  const double all = (double)blocks * threads * LOOPS, warps = all / 32;
  c["fma"] = 2 * CHAINS * all / best_seconds([&] { multiply_add<<<blocks, threads>>>((float *)out, 0.5f); });
  c["mma"] = 2.0 * 16 * 8 * 16 * 8 * warps / best_seconds([&] { tensor_half<<<blocks, threads>>>((float *)out, 0x34003400u); });
  c["mma8"] = 2.0 * 16 * 8 * 32 * 8 * warps / best_seconds([&] { tensor_bytes<<<blocks, threads>>>((int *)out, 0x01010101u); });
  const size_t bytes = (size_t)1 << 30;
  void *from, *to;
  must(cudaMalloc(&from, bytes), "memory");
  must(cudaMalloc(&to, bytes), "memory");
  c["copy"] = 2.0 * bytes / best_seconds([&] { copy<<<blocks * 4, 512>>>((float4 *)to, (const float4 *)from, bytes / 16); });
  cudaFree(from);
  cudaFree(to);
  cudaFree(out);
  printf("%s, %d multiprocessors: fma %.1f TFLOP/s, mma.sync %.0f TFLOP/s, of int8 %.0f TOP/s, copy %.2f TB/s\n", p.name,
         p.multiProcessorCount, c["fma"] * 1e-12, c["mma"] * 1e-12, c["mma8"] * 1e-12, c["copy"] * 1e-12);
  return c;
}

#if __has_include(<cublas_v2.h>) && defined(WITH_CUBLAS)
static void measure_cublas() {
  const int n = 4096;
  const float one = 1, none = 0;
  cublasHandle_t h;
  void *a, *b, *c;
  if (cublasCreate(&h) != CUBLAS_STATUS_SUCCESS) return;
  must(cudaMalloc(&a, 4ull * n * n), "memory");
  must(cudaMalloc(&b, 4ull * n * n), "memory");
  must(cudaMalloc(&c, 4ull * n * n), "memory");
  must(cudaMemset(a, 0x34, 4ull * n * n), "memory");
  must(cudaMemset(b, 0x34, 4ull * n * n), "memory");
  const double f = best_seconds([&] { cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, (float *)a, n, (float *)b, n, &none, (float *)c, n); });
  const double t = best_seconds([&] {
    cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, CUDA_R_16F, n, b, CUDA_R_16F, n, &none, c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  });
  printf("cuBLAS, %d^3: float32 %.1f TFLOP/s, float16 %.0f TFLOP/s\n", n, 2e-12 * n * n * n / f, 2e-12 * n * n * n / t);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  cublasDestroy(h);
}
#else
static void measure_cublas() { printf("cuBLAS is not here\n"); }
#endif

// --- cases --------------------------------------------------------------------------------------

static std::vector<char> read(const char *path, size_t bytes) {
  std::vector<char> all(bytes);
  FILE *f = fopen(path, "rb");
  if (!f || fread(all.data(), 1, bytes, f) != bytes) printf("cannot read %s\n", path), exit(2);
  fclose(f);
  return all;
}

// Numbers of either sign between 1/4 and 1 in size; of int8 any.
__global__ void fill(unsigned *at, size_t words, unsigned clear, unsigned set) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x) {
    unsigned h = (unsigned)i * 2654435761u;
    h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
    at[i] = (h & ~clear) | set;
  }
}

static void filled(void *at, const Array &a) {
  const bool half = !strcmp(a.dtype, "float16"), whole = !strcmp(a.dtype, "float32");
  fill<<<1024, 256>>>((unsigned *)at, a.bytes / 4, half ? 0x7c007c00u : whole ? 0x7f800000u : 0u,
                      half ? 0x34003400u : whole ? 0x3e800000u : 0u);
}

static double number(const char *at, const char *dtype, size_t i) {
  if (!strcmp(dtype, "float32")) return ((const float *)at)[i];
  if (!strcmp(dtype, "int32")) return ((const int32_t *)at)[i];
  if (!strcmp(dtype, "int8")) return ((const int8_t *)at)[i];
  if (!strcmp(dtype, "uint8") || !strcmp(dtype, "bool")) return ((const uint8_t *)at)[i];
  if (!strcmp(dtype, "int64")) return (double)((const int64_t *)at)[i];
  if (!strcmp(dtype, "float64")) return ((const double *)at)[i];
  const uint16_t h = ((const uint16_t *)at)[i];
  if (!strcmp(dtype, "float16")) {
    const int e = h >> 10 & 31, m = h & 1023;
    const double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h >> 15 ? -v : v;
  }
  const uint32_t bits = (uint32_t)h << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

static size_t size_of(const char *dtype) {
  const char *digits = strpbrk(dtype, "0123456789");
  return digits ? (size_t)atoi(digits) / 8 : 1;
}

// Whether what is stored is what was expected: integers are, floats up to the roundings of another order.
static bool is_right(const Case &c, const Array &a, const char *got) {
  const std::vector<char> expected = read(a.expected, a.bytes);
  const size_t n = a.bytes / size_of(a.dtype);
  const bool is_float = strstr(a.dtype, "float");
  const double allowed = !is_float ? 0 : !strcmp(a.dtype, "float64") ? 1e-10 : !strcmp(a.dtype, "float32") ? 2e-4 : !strcmp(a.dtype, "float16") ? 4e-3 : 3e-2;
  double largest = 1;
  for (size_t i = 0; i < n; i++) {
    const double x = fabs(number(expected.data(), a.dtype, i));
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  for (size_t i = 0; i < n; i++) {
    const double x = number(got, a.dtype, i), y = number(expected.data(), a.dtype, i);
    if (x == y || (std::isnan(x) && std::isnan(y)) || fabs(x - y) <= allowed * largest) continue;
    printf("WRONG  %s: element %zu of %zu is %.9g, should be %.9g\n", c.name, i, n, x, y);
    return false;
  }
  return true;
}

static bool run(const Case &c, std::map<std::string, double> &ceilings) {
  std::vector<void *> at((size_t)c.n);
  bool right = true;
  for (int i = 0; i < c.n; i++) {
    must(cudaMalloc(&at[(size_t)i], (c.arrays[i].bytes + 255) / 256 * 256), "memory");
    if (c.arrays[i].from)
      must(cudaMemcpy(at[(size_t)i], read(c.arrays[i].from, c.arrays[i].bytes).data(), c.arrays[i].bytes, cudaMemcpyHostToDevice), "a copy");
    else if (c.ceiling)
      filled(at[(size_t)i], c.arrays[i]);
    else
      must(cudaMemset(at[(size_t)i], 0xff, c.arrays[i].bytes), "memory");
  }
  cudaError_t e = c.launch(at.data(), 0);
  if (!e) e = cudaDeviceSynchronize();
  if (e) {
    printf("WRONG  %s: %s\n", c.name, cudaGetErrorString(e));
    exit(1);  // what follows would only say the same
  }
  if (c.ceiling) {
    const double rate = c.work / best_seconds([&] { c.launch(at.data(), 0); }), share = rate / ceilings[c.ceiling];
    printf("%-28s %8.2f T%s/s, %.2f of %s\n", c.name, rate * 1e-12, !strcmp(c.ceiling, "copy") ? "B" : "FLOP", share, c.ceiling);
  }
  for (int i = 0; i < c.n && !c.ceiling; i++) {
    if (!c.arrays[i].expected) continue;
    std::vector<char> got(c.arrays[i].bytes);
    must(cudaMemcpy(got.data(), at[(size_t)i], c.arrays[i].bytes, cudaMemcpyDeviceToHost), "a copy");
    right &= is_right(c, c.arrays[i], got.data());
  }
  for (void *p : at) cudaFree(p);
  return right;
}

int main(int argc, char **argv) {
  const double limit = argc > 1 ? atof(argv[1]) : 180;
  const auto start = std::chrono::steady_clock::now();
  int n = 0, checked = 0, wrong = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) {
    printf("there is no GPU\n");
    return 77;
  }
  std::map<std::string, double> ceilings = measure_ceilings();
  measure_cublas();
  fflush(stdout);
  for (int i = 0; i < n_cases; i++) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > limit) {
      printf("stopped after %.0f s: %d of %d cases are left\n", limit, n_cases - i, n_cases);
      break;
    }
    checked++;
    wrong += !run(cases[i], ceilings);
    fflush(stdout);
  }
  printf("%d cases, %d wrong\n", checked, wrong);
  return wrong ? 1 : 0;
}
