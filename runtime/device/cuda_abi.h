/* What is used of CUDA's driver, declared here: its headers are on few machines. Functions with
 * _v2 are those that cuda.h gives the name without it. */
#ifndef TIRC_RUNTIME_DEVICE_CUDA_ABI_H
#define TIRC_RUNTIME_DEVICE_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int CuResult, CuDeviceNumber;
typedef uint64_t CuPointer;
typedef struct CuContext *CuContextRef;
typedef struct CuModule *CuModuleRef;
typedef struct CuFunction *CuFunctionRef;
typedef struct CuStream *CuStreamRef;
typedef struct CuEvent *CuEventRef;

enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,

  CU_ATTRIBUTE_THREADS = 1, /* of a block */
  CU_ATTRIBUTE_MULTIPROCESSORS = 16,
  CU_ATTRIBUTE_MAJOR = 75, /* of the compute capability */
  CU_ATTRIBUTE_MINOR = 76,
  CU_ATTRIBUTE_SHARED = 97, /* bytes of a block, if it asks */

  CU_FUNCTION_THREADS = 0,
  CU_FUNCTION_DYNAMIC_SHARED = 8,

  CU_JIT_ERROR_LOG = 5,
  CU_JIT_ERROR_LOG_BYTES = 6,

  CU_EVENT_DEFAULT = 0
};

/* CU(name, parameters) */
#define CUDA_FUNCTIONS(CU)                                                                         \
  CU(cuInit, (unsigned))                                                                           \
  CU(cuDriverGetVersion, (int *))                                                                  \
  CU(cuGetErrorName, (CuResult, const char **))                                                    \
  CU(cuGetErrorString, (CuResult, const char **))                                                  \
  CU(cuDeviceGetCount, (int *))                                                                    \
  CU(cuDeviceGet, (CuDeviceNumber *, int))                                                         \
  CU(cuDeviceGetName, (char *, int, CuDeviceNumber))                                               \
  CU(cuDeviceTotalMem_v2, (size_t *, CuDeviceNumber))                                              \
  CU(cuDeviceGetAttribute, (int *, int, CuDeviceNumber))                                           \
  CU(cuDevicePrimaryCtxRetain, (CuContextRef *, CuDeviceNumber))                                   \
  CU(cuDevicePrimaryCtxRelease_v2, (CuDeviceNumber))                                               \
  CU(cuCtxSetCurrent, (CuContextRef))                                                              \
  CU(cuCtxSynchronize, (void))                                                                     \
  CU(cuModuleLoadDataEx, (CuModuleRef *, const void *, unsigned, int *, void **))                  \
  CU(cuModuleUnload, (CuModuleRef))                                                                \
  CU(cuModuleGetFunction, (CuFunctionRef *, CuModuleRef, const char *))                            \
  CU(cuFuncGetAttribute, (int *, int, CuFunctionRef))                                              \
  CU(cuFuncSetAttribute, (CuFunctionRef, int, int))                                                \
  CU(cuMemAlloc_v2, (CuPointer *, size_t))                                                         \
  CU(cuMemFree_v2, (CuPointer))                                                                    \
  CU(cuMemcpyHtoD_v2, (CuPointer, const void *, size_t))                                           \
  CU(cuMemcpyDtoH_v2, (void *, CuPointer, size_t))                                                 \
  CU(cuEventCreate, (CuEventRef *, unsigned))                                                      \
  CU(cuEventDestroy_v2, (CuEventRef))                                                              \
  CU(cuEventRecord, (CuEventRef, CuStreamRef))                                                     \
  CU(cuEventElapsedTime, (float *, CuEventRef, CuEventRef))                                        \
  CU(cuLaunchKernel, (CuFunctionRef, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
                      unsigned, CuStreamRef, void **, void **))

typedef struct Cuda {
  void *library;
#define CU(name, parameters) CuResult(*name) parameters;
  CUDA_FUNCTIONS(CU)
#undef CU
} Cuda;

#endif
