/* A libOpenCL.so.1 without a device, for what no device does when it is asked to: it has memory and
 * runs nothing. FAKE_OPENCL says what goes wrong, as CALL=STATUS with one of the calls below, or
 * "clFinish=hang", or "clFinish=compile", which takes 4 s the first time. */
#include "runtime/device/opencl_abi.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CL(result, name, parameters) __attribute__((visibility("default"))) result name parameters;
OPENCL_FUNCTIONS(CL)
#undef CL

struct ClMem {
  size_t bytes;
};

static int it; /* whose address stands for all that is made */
#define THING ((void *)&it)

static cl_int status_of(const char *call) {
  const char *wrong = getenv("FAKE_OPENCL");
  const size_t n = strlen(call);
  if (!wrong || strncmp(wrong, call, n) != 0 || wrong[n] != '=') return CL_SUCCESS;
  while (strcmp(wrong + n + 1, "hang") == 0) sleep(1000);
  static bool compiled;
  if (strcmp(wrong + n + 1, "compile") == 0) {
    if (!compiled) sleep(4);
    compiled = true;
    return CL_SUCCESS;
  }
  return atoi(wrong + n + 1);
}

static void *made(const char *call, cl_int *status) {
  *status = status_of(call);
  return *status == CL_SUCCESS ? THING : NULL;
}

static cl_int give(const void *from, size_t n, size_t room, void *to, size_t *bytes) {
  if (bytes) *bytes = n;
  if (to) memcpy(to, from, n < room ? n : room);
  return CL_SUCCESS;
}

/* --- devices --------------------------------------------------------------------------------- */

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *ids, cl_uint *n) {
  if (room) ids[0] = THING;
  *n = 1;
  return CL_SUCCESS;
}
cl_int clGetPlatformInfo(cl_platform_id p, cl_uint what, size_t room, void *to, size_t *bytes) {
  (void)p, (void)what;
  return give("none", 5, room, to, bytes);
}
cl_int clGetDeviceIDs(cl_platform_id p, cl_ulong kind, cl_uint room, cl_device_id *ids,
                      cl_uint *n) {
  (void)p, (void)kind;
  if (room) ids[0] = THING;
  *n = 1;
  return status_of("clGetDeviceIDs");
}
cl_int clGetDeviceInfo(cl_device_id d, cl_uint what, size_t room, void *to, size_t *bytes) {
  const cl_ulong number = what == CL_DEVICE_MAX_WORK_GROUP_SIZE ? 1024
                          : what == CL_DEVICE_LOCAL_MEM_SIZE    ? 48 << 10
                                                                : 1 << 30;
  (void)d;
  if (what == CL_DEVICE_NAME || what == CL_DEVICE_VERSION)
    return give("pretender", 10, room, to, bytes);
  return give(&number, sizeof number, room, to, bytes);
}
cl_context clCreateContext(const intptr_t *properties, cl_uint n, const cl_device_id *ids,
                           void (*hear)(const char *, const void *, size_t, void *), void *self,
                           cl_int *status) {
  (void)properties, (void)n, (void)ids, (void)hear, (void)self;
  return made("clCreateContext", status);
}
cl_int clReleaseContext(cl_context c) { return (void)c, CL_SUCCESS; }
cl_command_queue clCreateCommandQueue(cl_context c, cl_device_id d, cl_ulong how, cl_int *status) {
  (void)c, (void)d, (void)how;
  return made("clCreateCommandQueue", status);
}
cl_int clReleaseCommandQueue(cl_command_queue q) { return (void)q, CL_SUCCESS; }

/* --- programs -------------------------------------------------------------------------------- */

cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **text,
                                     const size_t *lengths, cl_int *status) {
  (void)c, (void)n, (void)text, (void)lengths;
  return made("clCreateProgramWithSource", status);
}
cl_int clBuildProgram(cl_program p, cl_uint n, const cl_device_id *ids, const char *options,
                      void (*hear)(cl_program, void *), void *self) {
  (void)p, (void)n, (void)ids, (void)options, (void)hear, (void)self;
  return status_of("clBuildProgram");
}
cl_int clGetProgramBuildInfo(cl_program p, cl_device_id d, cl_uint what, size_t room, void *to,
                             size_t *bytes) {
  (void)p, (void)d, (void)what;
  return give("line 1: not in the mood", 24, room, to, bytes);
}
cl_int clReleaseProgram(cl_program p) { return (void)p, CL_SUCCESS; }
cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *status) {
  (void)p, (void)name;
  return made("clCreateKernel", status);
}
cl_int clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id d, cl_uint what, size_t room, void *to,
                                size_t *bytes) {
  const size_t most = 1024;
  (void)k, (void)d, (void)what;
  return give(&most, sizeof most, room, to, bytes);
}
cl_int clReleaseKernel(cl_kernel k) { return (void)k, CL_SUCCESS; }
cl_int clSetKernelArg(cl_kernel k, cl_uint i, size_t bytes, const void *value) {
  (void)k, (void)i, (void)bytes, (void)value;
  return status_of("clSetKernelArg");
}

/* --- memory, and runs ------------------------------------------------------------------------ */

cl_mem clCreateBuffer(cl_context c, cl_ulong how, size_t bytes, void *from, cl_int *status) {
  (void)c, (void)how, (void)from;
  *status = status_of("clCreateBuffer");
  return *status == CL_SUCCESS ? calloc(1, sizeof(struct ClMem) + bytes) : NULL;
}
cl_int clReleaseMemObject(cl_mem m) {
  free(m);
  return CL_SUCCESS;
}
cl_int clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_uint waits, size_t at, size_t bytes,
                            const void *from, cl_uint n, const cl_event *before, cl_event *after) {
  (void)q, (void)waits, (void)n, (void)before, (void)after;
  memcpy((char *)(m + 1) + at, from, bytes);
  return status_of("clEnqueueWriteBuffer");
}
cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_uint waits, size_t at, size_t bytes,
                           void *to, cl_uint n, const cl_event *before, cl_event *after) {
  (void)q, (void)waits, (void)n, (void)before, (void)after;
  memcpy(to, (char *)(m + 1) + at, bytes);
  return status_of("clEnqueueReadBuffer");
}
cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint n, const size_t *first,
                              const size_t *threads, const size_t *block, cl_uint n_before,
                              const cl_event *before, cl_event *after) {
  (void)q, (void)k, (void)n, (void)first, (void)threads, (void)block, (void)n_before, (void)before;
  if (after) *after = THING;
  return status_of("clEnqueueNDRangeKernel");
}
/* Each kernel takes 3 ms. */
cl_int clGetEventProfilingInfo(cl_event event, cl_uint what, size_t room, void *to, size_t *bytes) {
  const cl_ulong at = what == CL_PROFILING_COMMAND_END ? 3000000 : 0;
  (void)event;
  (void)give(&at, sizeof at, room, to, bytes);
  return status_of("clGetEventProfilingInfo");
}
cl_int clReleaseEvent(cl_event event) { return (void)event, CL_SUCCESS; }
cl_int clFinish(cl_command_queue q) { return (void)q, status_of("clFinish"); }
