/* The words of CUDA that tirc's kernels and launchers use, for clang without the SDK:
 *   clang-19 -x cuda --cuda-path=/nonexistent -nocudainc -nocudalib -include cuda_words.h
 * Of the host's side there is what <<<>>> becomes, which does nothing. */
#ifndef CUDA_WORDS_H
#define CUDA_WORDS_H

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

/* A special register for each axis. */
struct words_axis_of_grid {
  __declspec(property(get = get_x)) unsigned int x;
  __declspec(property(get = get_y)) unsigned int y;
  __declspec(property(get = get_z)) unsigned int z;
  __device__ static unsigned int get_x() { return __nvvm_read_ptx_sreg_ctaid_x(); }
  __device__ static unsigned int get_y() { return __nvvm_read_ptx_sreg_ctaid_y(); }
  __device__ static unsigned int get_z() { return __nvvm_read_ptx_sreg_ctaid_z(); }
};
struct words_axis_of_block {
  __declspec(property(get = get_x)) unsigned int x;
  __declspec(property(get = get_y)) unsigned int y;
  __declspec(property(get = get_z)) unsigned int z;
  __device__ static unsigned int get_x() { return __nvvm_read_ptx_sreg_tid_x(); }
  __device__ static unsigned int get_y() { return __nvvm_read_ptx_sreg_tid_y(); }
  __device__ static unsigned int get_z() { return __nvvm_read_ptx_sreg_tid_z(); }
};
extern const __device__ words_axis_of_grid blockIdx;
extern const __device__ words_axis_of_block threadIdx;
#define __syncthreads() __nvvm_bar_sync(0)

/* Functions that CUDA has on every device. */
extern "C" {
#define WORDS_FUNCTION(name)                                                                       \
  __device__ float name##f(float);                                                                 \
  __device__ double name(double);
WORDS_FUNCTION(tan)
WORDS_FUNCTION(asin)
WORDS_FUNCTION(acos)
WORDS_FUNCTION(atan)
WORDS_FUNCTION(sinh)
WORDS_FUNCTION(cosh)
WORDS_FUNCTION(asinh)
WORDS_FUNCTION(acosh)
WORDS_FUNCTION(atanh)
#undef WORDS_FUNCTION
#define WORDS_FUNCTION(name) __device__ double name(double);
WORDS_FUNCTION(exp)
WORDS_FUNCTION(exp2)
WORDS_FUNCTION(exp10)
WORDS_FUNCTION(log)
WORDS_FUNCTION(log2)
WORDS_FUNCTION(log10)
WORDS_FUNCTION(log1p)
WORDS_FUNCTION(tanh)
WORDS_FUNCTION(erf)
WORDS_FUNCTION(sin)
WORDS_FUNCTION(cos)
#undef WORDS_FUNCTION
#define WORDS_FUNCTION(name)                                                                       \
  __device__ float name##f(float, float);                                                          \
  __device__ double name(double, double);
WORDS_FUNCTION(atan2)
WORDS_FUNCTION(fmod)
WORDS_FUNCTION(hypot)
#undef WORDS_FUNCTION
__device__ double pow(double, double);
}

/* --- the host ------------------------------------------------------------------------------- */

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1)
      : x(a), y(b), z(c) {}
};
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1 } cudaError_t;
typedef enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2
} cudaMemcpyKind;
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
extern "C" {
cudaError_t cudaConfigureCall(dim3 blocks, dim3 threads, unsigned long shared = 0,
                              cudaStream_t stream = 0);
cudaError_t cudaSetupArgument(const void *from, unsigned long bytes, unsigned long offset);
cudaError_t cudaLaunch(const void *kernel);
unsigned int __cudaPushCallConfiguration(dim3 blocks, dim3 threads, unsigned long shared = 0,
                                         cudaStream_t stream = 0);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 blocks, dim3 threads, void **args,
                             unsigned long shared, cudaStream_t stream);
cudaError_t cudaGetLastError(void);
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaMalloc(void **to, unsigned long bytes);
cudaError_t cudaFree(void *at);
cudaError_t cudaMallocAsync(void **to, unsigned long bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *at, cudaStream_t stream);
cudaError_t cudaMemcpy(void *to, const void *from, unsigned long bytes, cudaMemcpyKind kind);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaEventCreate(cudaEvent_t *to);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);
}

#endif
