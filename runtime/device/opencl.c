/* OpenCL by dlopen. */
#define _GNU_SOURCE /* pthread_setattr_default_np */
#include "device_kind.h"
#include "opencl_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 32, STACK = 256 << 20 };

typedef struct Found {
  int n;
  cl_device_id ids[MOST_DEVICES];
  cl_platform_id platforms[MOST_DEVICES];
} Found;
typedef struct ClDevice {
  Device base;
  OpenCL cl;
  Found found;
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  cl_event first, last; /* of the run that is going on: its kernels, or NULL */
} ClDevice;
typedef struct ClProgram {
  DeviceProgram base;
  cl_program program;
} ClProgram;
typedef struct ClDeviceKernel {
  DeviceKernel base;
  cl_kernel kernel;
} ClDeviceKernel;
typedef struct ClBuffer {
  DeviceBuffer base;
  cl_mem memory;
} ClBuffer;

static const char no_device[] =
    "on Debian, apt-get install pocl-opencl-icd makes the processor an OpenCL device";

/* --- errors ---------------------------------------------------------------------------------- */

#define fail tirc_device_fail

static bool is_out_of_memory(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
         status == CL_OUT_OF_HOST_MEMORY || status == CL_INVALID_BUFFER_SIZE;
}

/* A status other than CL_SUCCESS, of what was done. */
static bool failed(const ClDevice *d, cl_int status, const char *what, DeviceError *e) {
  const char *words = tirc_opencl_words(status);
  if (is_out_of_memory(status))
    return fail(e, CODE_MEMORY, NULL, "%s: the device %s is out of memory or resources: %s", what,
                d->base.info.name, words);
  if (words)
    return fail(e, CODE_DEVICE, NULL, "%s: the device %s says %s", what, d->base.info.name, words);
  return fail(e, CODE_DEVICE, NULL, "%s: the device %s says %d (see OpenCL's CL/cl.h)", what,
              d->base.info.name, (int)status);
}

/* --- finding devices ------------------------------------------------------------------------- */

static bool load(OpenCL *cl, DeviceError *e) {
  *cl = (OpenCL){.library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL)};
  if (!cl->library)
    return fail(e, CODE_DEVICE, no_device,
                "OpenCL is not available: libOpenCL.so.1 cannot be loaded");
#define CL(result, name, parameters)                                                               \
  *(void **)&cl->name = dlsym(cl->library, #name);                                                 \
  if (!cl->name) return fail(e, CODE_DEVICE, no_device, "libOpenCL.so.1 has no function " #name);
  OPENCL_FUNCTIONS(CL)
#undef CL
  return true;
}

static int64_t number(const OpenCL *cl, cl_device_id id, cl_uint what, size_t size) {
  cl_ulong v = 0; /* little-endian: a size_t or a cl_uint fills its low bytes */
  cl_uint small = 0;
  if (size == sizeof small) {
    (void)cl->clGetDeviceInfo(id, what, size, &small, NULL);
    return small;
  }
  (void)cl->clGetDeviceInfo(id, what, size, &v, NULL);
  return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static bool info_of(Device *device, int which, DeviceInfo *i) {
  const ClDevice *d = (ClDevice *)device;
  const OpenCL *cl = &d->cl;
  const cl_device_id id = d->found.ids[which];
  (void)cl->clGetPlatformInfo(d->found.platforms[which], CL_PLATFORM_NAME, sizeof i->platform - 1,
                              i->platform, NULL);
  (void)cl->clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof i->name - 1, i->name, NULL);
  (void)cl->clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof i->version - 1, i->version, NULL);
  i->memory = number(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
  i->largest_buffer = number(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
  i->shared = number(cl, id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
  i->threads = number(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
  i->cores = (int)number(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
  return true;
}

static void find_all(const OpenCL *cl, Found *f) {
  cl_platform_id platforms[MOST_DEVICES];
  cl_uint n = 0;
  f->n = 0;
  if (cl->clGetPlatformIDs(MOST_DEVICES, platforms, &n) != CL_SUCCESS) return;
  for (cl_uint p = 0; p < n && p < MOST_DEVICES && f->n < MOST_DEVICES; p++) {
    cl_uint more = 0;
    const cl_uint room = (cl_uint)(MOST_DEVICES - f->n);
    if (cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, room, f->ids + f->n, &more) !=
        CL_SUCCESS)
      continue;
    for (cl_uint i = 0; i < more && i < room; i++) f->platforms[f->n++] = platforms[p];
  }
}

/* A driver that makes a device of the processor, as pocl does, has threads that it makes when it is
 * first asked; what all threads of a block hold between barriers is on the stack of one of these.
 */
static bool find(Device *device, int *n, DeviceError *e) {
  ClDevice *d = (ClDevice *)device;
  if (!load(&d->cl, e)) return false;
  pthread_attr_t usual, roomy;
  size_t size = STACK;
  const bool known = pthread_getattr_default_np(&usual) == 0;
  if (known && pthread_getattr_default_np(&roomy) == 0) {
    if (pthread_attr_getstacksize(&roomy, &size) == 0 && size < STACK &&
        pthread_attr_setstacksize(&roomy, STACK) == 0)
      (void)pthread_setattr_default_np(&roomy);
    (void)pthread_attr_destroy(&roomy);
  }
  find_all(&d->cl, &d->found);
  *n = d->found.n;
  if (!known) return true;
  (void)pthread_setattr_default_np(&usual);
  (void)pthread_attr_destroy(&usual);
  return true;
}

static bool open_device(Device *device, int which, DeviceError *e) {
  ClDevice *d = (ClDevice *)device;
  cl_int status = CL_SUCCESS;
  d->id = d->found.ids[which];
  (void)info_of(device, which, &device->info);
  d->context = d->cl.clCreateContext(NULL, 1, &d->id, NULL, NULL, &status);
  if (!d->context) return failed(d, status, "opening it", e);
  d->queue = d->cl.clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &status);
  if (!d->queue) d->queue = d->cl.clCreateCommandQueue(d->context, d->id, 0, &status);
  return d->queue ? true : failed(d, status, "opening it", e);
}

static void forget_events(ClDevice *d) {
  if (d->last && d->last != d->first) (void)d->cl.clReleaseEvent(d->last);
  if (d->first) (void)d->cl.clReleaseEvent(d->first);
  d->first = d->last = NULL;
}

/* The library stays loaded: drivers have threads of their own in it. */
static void close_device(Device *device) {
  ClDevice *d = (ClDevice *)device;
  forget_events(d);
  if (d->queue) (void)d->cl.clReleaseCommandQueue(d->queue);
  if (d->context) (void)d->cl.clReleaseContext(d->context);
}

/* --- programs -------------------------------------------------------------------------------- */

static bool fail_build(const ClDevice *d, cl_program program, cl_int status, const char *what,
                       DeviceError *e) {
  size_t n = 0;
  char *log = NULL;
  (void)d->cl.clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &n);
  if (n > 1) log = calloc(n + 1, 1);
  if (log) (void)d->cl.clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, n, log, NULL);
  fail(e, CODE_CODEGEN, "tirc build --emit=opencl shows the source",
       "the device %s does not compile %s (OpenCL's %d)%s%s", d->base.info.name, what, (int)status,
       log ? ":\n" : "", log ? log : "");
  free(log);
  return false;
}

static void free_program(DeviceProgram *program) {
  ClProgram *p = (ClProgram *)program;
  if (p->program) (void)((ClDevice *)p->base.device)->cl.clReleaseProgram(p->program);
}

static bool build(DeviceProgram *program, const char *source, const char *what, DeviceError *e) {
  ClDevice *d = (ClDevice *)program->device;
  ClProgram *p = (ClProgram *)program;
  cl_int status = CL_SUCCESS;
  p->program = d->cl.clCreateProgramWithSource(d->context, 1, &source, NULL, &status);
  if (!p->program) return failed(d, status, what, e);
  status = d->cl.clBuildProgram(p->program, 1, &d->id, "-cl-std=CL1.2", NULL, NULL);
  return status == CL_SUCCESS ? true : fail_build(d, p->program, status, what, e);
}

static void free_kernel(DeviceKernel *kernel) {
  ClDeviceKernel *k = (ClDeviceKernel *)kernel;
  if (k->kernel) (void)((ClDevice *)k->base.device)->cl.clReleaseKernel(k->kernel);
}

static bool kernel_of(DeviceKernel *kernel, DeviceProgram *program, const DeviceShared *shared,
                      DeviceError *e) {
  ClDevice *d = (ClDevice *)program->device;
  ClDeviceKernel *k = (ClDeviceKernel *)kernel;
  cl_int status = CL_SUCCESS;
  (void)shared;
  k->kernel = d->cl.clCreateKernel(((ClProgram *)program)->program, kernel->name, &status);
  return k->kernel ? true : failed(d, status, kernel->name, e);
}

/* --- memory ---------------------------------------------------------------------------------- */

static bool buffer(DeviceBuffer *b, const char *what, DeviceError *e) {
  ClDevice *d = (ClDevice *)b->device;
  cl_int status = CL_SUCCESS;
  ((ClBuffer *)b)->memory =
      d->cl.clCreateBuffer(d->context, CL_MEM_READ_WRITE, b->bytes ? b->bytes : 1, NULL, &status);
  return ((ClBuffer *)b)->memory ? true : failed(d, status, what, e);
}

static void free_buffer(DeviceBuffer *b) {
  (void)((ClDevice *)b->device)->cl.clReleaseMemObject(((ClBuffer *)b)->memory);
}

static bool write_buffer(DeviceBuffer *b, const void *from, DeviceError *e) {
  ClDevice *d = (ClDevice *)b->device;
  const cl_int status = d->cl.clEnqueueWriteBuffer(d->queue, ((ClBuffer *)b)->memory, 1, 0,
                                                   b->bytes, from, 0, NULL, NULL);
  return status == CL_SUCCESS ? true : failed(d, status, "writing to its memory", e);
}

static bool read_buffer(DeviceBuffer *b, void *to, DeviceError *e) {
  ClDevice *d = (ClDevice *)b->device;
  const cl_int status = d->cl.clEnqueueReadBuffer(d->queue, ((ClBuffer *)b)->memory, 1, 0, b->bytes,
                                                  to, 0, NULL, NULL);
  return status == CL_SUCCESS ? true : failed(d, status, "reading its memory", e);
}

/* --- runs ------------------------------------------------------------------------------------ */

static int64_t most_threads(const DeviceKernel *k) {
  const ClDevice *d = (const ClDevice *)k->device;
  size_t most = 0;
  (void)d->cl.clGetKernelWorkGroupInfo(((const ClDeviceKernel *)k)->kernel, d->id,
                                       CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
  return (int64_t)most;
}

static cl_int set_arg(const ClDevice *d, cl_kernel kernel, int i, const DeviceArg *a) {
  if (!a->buffer) return d->cl.clSetKernelArg(kernel, (cl_uint)i, a->size, a->bytes);
  return d->cl.clSetKernelArg(kernel, (cl_uint)i, sizeof(cl_mem), &((ClBuffer *)a->buffer)->memory);
}

static void note_event(ClDevice *d, cl_event event) {
  if (d->last && d->last != d->first) (void)d->cl.clReleaseEvent(d->last);
  d->last = event;
  if (!d->first) d->first = event;
}

static bool launch(ClDevice *d, const DeviceLaunch *l, DeviceError *e) {
  const ClDeviceKernel *k = (const ClDeviceKernel *)l->kernel;
  cl_event event = NULL;
  size_t global[3], local[3];
  cl_int status = CL_SUCCESS;
  for (int i = 0; i < 3; i++) {
    if (l->blocks[i] <= 0 || l->threads[i] <= 0) return true;
    local[i] = (size_t)l->threads[i];
    global[i] = (size_t)l->blocks[i] * local[i];
  }
  for (int i = 0; i < l->n && status == CL_SUCCESS; i++)
    status = set_arg(d, k->kernel, i, &l->args[i]);
  if (status == CL_SUCCESS)
    status =
        d->cl.clEnqueueNDRangeKernel(d->queue, k->kernel, 3, NULL, global, local, 0, NULL, &event);
  if (event) note_event(d, event);
  if (status == CL_SUCCESS) return true;
  return tirc_device_takes_block(l, e) ? failed(d, status, k->base.name, e) : false;
}

static bool run(Device *device, int n, const DeviceLaunch *launches, DeviceError *e) {
  ClDevice *d = (ClDevice *)device;
  forget_events(d);
  for (int i = 0; i < n; i++)
    if (!launch(d, &launches[i], e)) return false;
  return true;
}

/* From the first kernel's start to the last one's end, or -1: not all drivers have a clock. */
static double seconds_of(const ClDevice *d) {
  cl_ulong from = 0, to = 0;
  const size_t size = sizeof from;
  if (!d->first ||
      d->cl.clGetEventProfilingInfo(d->first, CL_PROFILING_COMMAND_START, size, &from, NULL) ||
      d->cl.clGetEventProfilingInfo(d->last, CL_PROFILING_COMMAND_END, size, &to, NULL))
    return -1;
  return to > from ? (double)(to - from) / 1e9 : -1;
}

static bool finish(Device *device, const char *what, DeviceError *e) {
  ClDevice *d = (ClDevice *)device;
  const cl_int status = d->cl.clFinish(d->queue);
  d->base.seconds = status == CL_SUCCESS ? seconds_of(d) : -1;
  forget_events(d);
  return status == CL_SUCCESS ? true : failed(d, status, what, e);
}

const DeviceKind tirc_opencl = {
    .name = "opencl",
    .words = "OpenCL",
    .missing = no_device,
    .size = sizeof(ClDevice),
    .program_size = sizeof(ClProgram),
    .kernel_size = sizeof(ClDeviceKernel),
    .buffer_size = sizeof(ClBuffer),
    .find = find,
    .info = info_of,
    .open = open_device,
    .close = close_device,
    .build = build,
    .free_program = free_program,
    .kernel = kernel_of,
    .free_kernel = free_kernel,
    .buffer = buffer,
    .free_buffer = free_buffer,
    .write = write_buffer,
    .read = read_buffer,
    .run = run,
    .finish = finish,
    .most_threads = most_threads,
};
