/* CUDA's driver by dlopen. Programs are PTX, which the driver compiles for the GPU that it has. */
#include "cuda_abi.h"
#include "device_kind.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct CuDevice {
  Device base;
  Cuda cu;
  CuDeviceNumber number;
  CuContextRef context;
  CuEventRef begin, end;
} CuDevice;
typedef struct CuProgram {
  DeviceProgram base;
  CuModuleRef module;
} CuProgram;
typedef struct CuKernel {
  DeviceKernel base;
  CuFunctionRef function;
  int64_t dynamic; /* bytes of shared memory that a launch asks for */
} CuKernel;
typedef struct CuBuffer {
  DeviceBuffer base;
  CuPointer at;
} CuBuffer;

static const char no_device[] = "it is part of the driver of an NVIDIA GPU; --device emulate and "
                                "--device opencl do not need it";
#define fail tirc_device_fail

/* --- errors ---------------------------------------------------------------------------------- */

/* "CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed", as the driver says it. */
static void words_of(const Cuda *cu, CuResult status, char *words, size_t size) {
  const char *name = NULL, *text = NULL;
  (void)cu->cuGetErrorName(status, &name);
  (void)cu->cuGetErrorString(status, &text);
  snprintf(words, size, "%s: %s (%d)", name ? name : "an error", text ? text : "unknown",
           (int)status);
}

static bool failed(const CuDevice *d, CuResult status, const char *what, DeviceError *e) {
  char words[256];
  words_of(&d->cu, status, words, sizeof words);
  const bool is_memory =
      status == CUDA_ERROR_OUT_OF_MEMORY || status == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  return fail(e, is_memory ? CODE_MEMORY : CODE_DEVICE, NULL, "%s: the device %s says %s", what,
              d->base.info.name, words);
}

/* --- finding devices ------------------------------------------------------------------------- */

static bool load(Cuda *cu, DeviceError *e) {
  *cu = (Cuda){.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)};
  if (!cu->library)
    return fail(e, CODE_DEVICE, no_device, "CUDA is not available: libcuda.so.1 cannot be loaded");
#define CU(name, parameters)                                                                       \
  *(void **)&cu->name = dlsym(cu->library, #name);                                                 \
  if (!cu->name) return fail(e, CODE_DEVICE, no_device, "libcuda.so.1 has no function " #name);
  CUDA_FUNCTIONS(CU)
#undef CU
  const CuResult status = cu->cuInit(0);
  if (status == CUDA_SUCCESS) return true;
  char words[256];
  words_of(cu, status, words, sizeof words);
  return fail(e, CODE_DEVICE, no_device, "the CUDA driver cannot be started: %s", words);
}

static int attribute(const Cuda *cu, CuDeviceNumber number, int which) {
  int v = 0;
  (void)cu->cuDeviceGetAttribute(&v, which, number);
  return v;
}

static bool info_of(Device *device, int which, DeviceInfo *i) {
  const Cuda *cu = &((CuDevice *)device)->cu;
  CuDeviceNumber number = 0;
  size_t bytes = 0;
  int version = 0;
  if (cu->cuDeviceGet(&number, which) != CUDA_SUCCESS) return false;
  (void)cu->cuDeviceGetName(i->name, sizeof i->name - 1, number);
  (void)cu->cuDeviceTotalMem_v2(&bytes, number);
  (void)cu->cuDriverGetVersion(&version);
  const int major = attribute(cu, number, CU_ATTRIBUTE_MAJOR);
  const int minor = attribute(cu, number, CU_ATTRIBUTE_MINOR);
  snprintf(i->platform, sizeof i->platform, "NVIDIA CUDA");
  snprintf(i->version, sizeof i->version, "CUDA %d.%d, compute capability %d.%d", version / 1000,
           version % 1000 / 10, major, minor);
  i->memory = i->largest_buffer = (int64_t)bytes;
  i->shared = attribute(cu, number, CU_ATTRIBUTE_SHARED);
  i->threads = attribute(cu, number, CU_ATTRIBUTE_THREADS);
  i->cores = attribute(cu, number, CU_ATTRIBUTE_MULTIPROCESSORS);
  return true;
}

static bool find(Device *device, int *n, DeviceError *e) {
  CuDevice *d = (CuDevice *)device;
  if (!load(&d->cu, e)) return false;
  (void)d->cu.cuDeviceGetCount(n);
  return true;
}

static bool open_device(Device *device, int which, DeviceError *e) {
  CuDevice *d = (CuDevice *)device;
  CuResult status = d->cu.cuDeviceGet(&d->number, which);
  if (status == CUDA_SUCCESS) (void)info_of(device, which, &device->info);
  if (status == CUDA_SUCCESS) status = d->cu.cuDevicePrimaryCtxRetain(&d->context, d->number);
  if (status == CUDA_SUCCESS) status = d->cu.cuCtxSetCurrent(d->context);
  if (status == CUDA_SUCCESS) status = d->cu.cuEventCreate(&d->begin, CU_EVENT_DEFAULT);
  if (status == CUDA_SUCCESS) status = d->cu.cuEventCreate(&d->end, CU_EVENT_DEFAULT);
  return status == CUDA_SUCCESS ? true : failed(d, status, "opening it", e);
}

/* The device, to be worked with on this thread: what is current is a thread's own. */
static CuDevice *entered(Device *device) {
  CuDevice *d = (CuDevice *)device;
  if (d->context) (void)d->cu.cuCtxSetCurrent(d->context);
  return d;
}

static void close_device(Device *device) {
  CuDevice *d = entered(device);
  if (d->begin) (void)d->cu.cuEventDestroy_v2(d->begin);
  if (d->end) (void)d->cu.cuEventDestroy_v2(d->end);
  if (d->context) (void)d->cu.cuDevicePrimaryCtxRelease_v2(d->number);
}

/* --- programs -------------------------------------------------------------------------------- */

static void free_program(DeviceProgram *program) {
  CuProgram *p = (CuProgram *)program;
  if (p->module) (void)entered(p->base.device)->cu.cuModuleUnload(p->module);
}

static bool build(DeviceProgram *program, const char *ptx, const char *what, DeviceError *e) {
  CuDevice *d = entered(program->device);
  CuProgram *p = (CuProgram *)program;
  char log[4096] = "", words[256];
  int options[2] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
  void *values[2] = {log, (void *)(uintptr_t)sizeof log};
  const CuResult status = d->cu.cuModuleLoadDataEx(&p->module, ptx, 2, options, values);
  if (status == CUDA_SUCCESS) return true;
  p->module = NULL;
  words_of(&d->cu, status, words, sizeof words);
  return fail(e, CODE_CODEGEN, "tirc build --emit=ptx shows the code",
              "the device %s does not accept the code of %s: %s%s%.*s", d->base.info.name, what,
              words, *log ? ":\n" : "", (int)sizeof log - 1, log);
}

static bool kernel_of(DeviceKernel *kernel, DeviceProgram *program, const DeviceShared *shared,
                      DeviceError *e) {
  CuDevice *d = entered(program->device);
  CuKernel *k = (CuKernel *)kernel;
  k->dynamic = shared->dynamic;
  CuResult status =
      d->cu.cuModuleGetFunction(&k->function, ((CuProgram *)program)->module, kernel->name);
  if (status == CUDA_SUCCESS && k->dynamic > 0)
    status = d->cu.cuFuncSetAttribute(k->function, CU_FUNCTION_DYNAMIC_SHARED, (int)k->dynamic);
  return status == CUDA_SUCCESS ? true : failed(d, status, kernel->name, e);
}

/* --- memory ---------------------------------------------------------------------------------- */

static bool buffer(DeviceBuffer *b, const char *what, DeviceError *e) {
  CuDevice *d = entered(b->device);
  const CuResult status = d->cu.cuMemAlloc_v2(&((CuBuffer *)b)->at, b->bytes ? b->bytes : 1);
  return status == CUDA_SUCCESS ? true : failed(d, status, what, e);
}

static void borrow(DeviceBuffer *b, uintptr_t at) { ((CuBuffer *)b)->at = at; }

static void free_buffer(DeviceBuffer *b) {
  (void)entered(b->device)->cu.cuMemFree_v2(((CuBuffer *)b)->at);
}

static bool write_buffer(DeviceBuffer *b, const void *from, DeviceError *e) {
  CuDevice *d = entered(b->device);
  const CuResult status = d->cu.cuMemcpyHtoD_v2(((CuBuffer *)b)->at, from, b->bytes);
  return status == CUDA_SUCCESS ? true : failed(d, status, "writing to its memory", e);
}

static bool read_buffer(DeviceBuffer *b, void *to, DeviceError *e) {
  CuDevice *d = entered(b->device);
  const CuResult status = d->cu.cuMemcpyDtoH_v2(to, ((CuBuffer *)b)->at, b->bytes);
  return status == CUDA_SUCCESS ? true : failed(d, status, "reading its memory", e);
}

/* --- runs ------------------------------------------------------------------------------------ */

static int64_t most_threads(const DeviceKernel *k) {
  int most = 0;
  (void)((const CuDevice *)k->device)
      ->cu.cuFuncGetAttribute(&most, CU_FUNCTION_THREADS, ((const CuKernel *)k)->function);
  return most;
}

static bool launch(CuDevice *d, const DeviceLaunch *l, DeviceError *e) {
  enum { MOST_ARGS = 256 };
  CuKernel *k = (CuKernel *)l->kernel;
  void *args[MOST_ARGS];
  unsigned blocks[3], threads[3];
  static const int64_t most_blocks[3] = {INT32_MAX, 65535, 65535};
  for (int i = 0; i < 3; i++) {
    if (l->blocks[i] <= 0 || l->threads[i] <= 0) return true;
    if (l->blocks[i] > most_blocks[i])
      return fail(e, CODE_LIMIT, "bind the longest loop to blockIdx.x",
                  "%s has %lld blocks along %c, but CUDA allows at most %lld", k->base.name,
                  (long long)l->blocks[i], "xyz"[i], (long long)most_blocks[i]);
    blocks[i] = (unsigned)l->blocks[i];
    threads[i] = (unsigned)l->threads[i];
  }
  if (l->n > MOST_ARGS)
    return fail(e, CODE_LIMIT, NULL, "%s has more than %d parameters", k->base.name, MOST_ARGS);
  for (int i = 0; i < l->n; i++)
    args[i] = l->args[i].buffer ? (void *)&((CuBuffer *)l->args[i].buffer)->at
                                : (void *)(uintptr_t)l->args[i].bytes;
  const CuResult status =
      d->cu.cuLaunchKernel(k->function, blocks[0], blocks[1], blocks[2], threads[0], threads[1],
                           threads[2], (unsigned)k->dynamic, NULL, args, NULL);
  if (status == CUDA_SUCCESS) return true;
  return tirc_device_takes_block(l, e) ? failed(d, status, k->base.name, e) : false;
}

static bool run(Device *device, int n, const DeviceLaunch *launches, DeviceError *e) {
  CuDevice *d = entered(device);
  CuResult status = d->cu.cuEventRecord(d->begin, NULL);
  if (status != CUDA_SUCCESS) return failed(d, status, "an event", e);
  for (int i = 0; i < n; i++)
    if (!launch(d, &launches[i], e)) return false;
  status = d->cu.cuEventRecord(d->end, NULL);
  return status == CUDA_SUCCESS ? true : failed(d, status, "an event", e);
}

static bool finish(Device *device, const char *what, DeviceError *e) {
  CuDevice *d = entered(device);
  const CuResult status = d->cu.cuCtxSynchronize();
  float milliseconds = 0;
  if (status != CUDA_SUCCESS) return failed(d, status, what, e);
  const bool known = d->cu.cuEventElapsedTime(&milliseconds, d->begin, d->end) == CUDA_SUCCESS;
  d->base.seconds = known ? (double)milliseconds / 1e3 : -1;
  return true;
}

const DeviceKind tirc_cuda = {
    .name = "cuda",
    .words = "CUDA",
    .missing = no_device,
    .takes_ptx = true,
    .size = sizeof(CuDevice),
    .program_size = sizeof(CuProgram),
    .kernel_size = sizeof(CuKernel),
    .buffer_size = sizeof(CuBuffer),
    .find = find,
    .info = info_of,
    .open = open_device,
    .close = close_device,
    .build = build,
    .free_program = free_program,
    .kernel = kernel_of,
    .buffer = buffer,
    .borrow = borrow,
    .free_buffer = free_buffer,
    .write = write_buffer,
    .read = read_buffer,
    .run = run,
    .finish = finish,
    .most_threads = most_threads,
};
