/* What is used of OpenCL 1.2, declared here: its headers are on few machines. */
#ifndef TIRC_RUNTIME_DEVICE_OPENCL_ABI_H
#define TIRC_RUNTIME_DEVICE_OPENCL_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct ClPlatform *cl_platform_id;
typedef struct ClDevice *cl_device_id;
typedef struct ClContext *cl_context;
typedef struct ClQueue *cl_command_queue;
typedef struct ClProgram *cl_program;
typedef struct ClKernel *cl_kernel;
typedef struct ClMem *cl_mem;
typedef struct ClEvent *cl_event;
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;

enum {
  CL_SUCCESS = 0,
  CL_DEVICE_NOT_FOUND = -1,
  CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
  CL_OUT_OF_RESOURCES = -5,
  CL_OUT_OF_HOST_MEMORY = -6,
  CL_INVALID_WORK_GROUP_SIZE = -54,
  CL_INVALID_BUFFER_SIZE = -61,
  CL_PLATFORM_NOT_FOUND_KHR = -1001,

  CL_PLATFORM_NAME = 0x0902,
  CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
  CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
  CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
  CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
  CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
  CL_DEVICE_NAME = 0x102B,
  CL_DEVICE_VERSION = 0x102F,
  CL_PROGRAM_BUILD_LOG = 0x1183,
  CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
  CL_PROFILING_COMMAND_START = 0x1282,
  CL_PROFILING_COMMAND_END = 0x1283
};
#define CL_DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)
#define CL_MEM_READ_WRITE UINT64_C(1)
#define CL_QUEUE_PROFILING_ENABLE UINT64_C(2)

/* CL(result, name, parameters) */
#define OPENCL_FUNCTIONS(CL)                                                                       \
  CL(cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                             \
  CL(cl_int, clGetPlatformInfo, (cl_platform_id, cl_uint, size_t, void *, size_t *))               \
  CL(cl_int, clGetDeviceIDs, (cl_platform_id, cl_ulong, cl_uint, cl_device_id *, cl_uint *))       \
  CL(cl_int, clGetDeviceInfo, (cl_device_id, cl_uint, size_t, void *, size_t *))                   \
  CL(cl_context, clCreateContext,                                                                  \
     (const intptr_t *, cl_uint, const cl_device_id *,                                             \
      void (*)(const char *, const void *, size_t, void *), void *, cl_int *))                     \
  CL(cl_int, clReleaseContext, (cl_context))                                                       \
  CL(cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_ulong, cl_int *))       \
  CL(cl_int, clReleaseCommandQueue, (cl_command_queue))                                            \
  CL(cl_program, clCreateProgramWithSource,                                                        \
     (cl_context, cl_uint, const char **, const size_t *, cl_int *))                               \
  CL(cl_int, clBuildProgram,                                                                       \
     (cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *),       \
      void *))                                                                                     \
  CL(cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_uint, size_t, void *, size_t *)) \
  CL(cl_int, clReleaseProgram, (cl_program))                                                       \
  CL(cl_kernel, clCreateKernel, (cl_program, const char *, cl_int *))                              \
  CL(cl_int, clGetKernelWorkGroupInfo,                                                             \
     (cl_kernel, cl_device_id, cl_uint, size_t, void *, size_t *))                                 \
  CL(cl_int, clReleaseKernel, (cl_kernel))                                                         \
  CL(cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                           \
  CL(cl_mem, clCreateBuffer, (cl_context, cl_ulong, size_t, void *, cl_int *))                     \
  CL(cl_int, clReleaseMemObject, (cl_mem))                                                         \
  CL(cl_int, clEnqueueWriteBuffer,                                                                 \
     (cl_command_queue, cl_mem, cl_uint, size_t, size_t, const void *, cl_uint, const cl_event *,  \
      cl_event *))                                                                                 \
  CL(cl_int, clEnqueueReadBuffer,                                                                  \
     (cl_command_queue, cl_mem, cl_uint, size_t, size_t, void *, cl_uint, const cl_event *,        \
      cl_event *))                                                                                 \
  CL(cl_int, clEnqueueNDRangeKernel,                                                               \
     (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *,        \
      cl_uint, const cl_event *, cl_event *))                                                      \
  CL(cl_int, clGetEventProfilingInfo, (cl_event, cl_uint, size_t, void *, size_t *))               \
  CL(cl_int, clReleaseEvent, (cl_event))                                                           \
  CL(cl_int, clFinish, (cl_command_queue))

/* opencl_status.c: "CL_INVALID_WORK_GROUP_SIZE (-54): ..."; NULL: unknown. */
const char *tirc_opencl_words(cl_int status);

typedef struct OpenCL {
  void *library;
#define CL(result, name, parameters) result(*name) parameters;
  OPENCL_FUNCTIONS(CL)
#undef CL
} OpenCL;

#endif
