/* Devices that programs run on beside the processor: found when they are asked for, by dlopen, so
 * that nothing of theirs is needed to build or to start. One row of functions a kind
 * (device_kind.h): OpenCL, and CUDA's driver.
 *
 * What fails fills a DeviceError and gives NULL or false; its message is on the heap. A device and
 * what was made on it belong to one thread at a time, and not to a child that was forked later. */
#ifndef TIRC_RUNTIME_DEVICE_H
#define TIRC_RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/codes.h"

typedef struct DeviceError {
  DiagCode code;    /* CODE_DEVICE, _MEMORY, _CODEGEN or _LIMIT */
  const char *hint; /* or NULL */
  char *message;    /* NULL: memory is out */
} DeviceError;
void tirc_device_error_clear(DeviceError *e);

typedef struct Device Device;
typedef struct DeviceProgram DeviceProgram;
typedef struct DeviceKernel DeviceKernel;
typedef struct DeviceBuffer DeviceBuffer;

typedef struct DeviceInfo {
  char name[128], platform[128], version[128];
  int64_t memory, largest_buffer; /* bytes */
  int64_t shared;                 /* of one block */
  int64_t threads;                /* of one block */
  int cores;
} DeviceInfo;

typedef struct DeviceArg {
  DeviceBuffer *buffer; /* or, NULL, a scalar: */
  unsigned char bytes[8];
  size_t size;
} DeviceArg;
typedef struct DeviceLaunch {
  DeviceKernel *kernel;
  int n;
  const DeviceArg *args;
  int64_t blocks[3], threads[3]; /* no block: nothing runs */
} DeviceLaunch;

typedef struct DeviceKind DeviceKind;
extern const DeviceKind tirc_opencl, tirc_cuda;
const DeviceKind *tirc_device_kind(int i); /* NULL behind the last one */
const char *tirc_device_kind_name(const DeviceKind *k);
bool tirc_device_takes_ptx(const DeviceKind *k); /* for its programs; else they are OpenCL C */
/* Of "opencl", or "cuda:1", which is number 1; NULL: there is no such kind. */
const DeviceKind *tirc_device_kind_find(const char *device, int *number);

/* Calls hear(self, info) for each device of a kind; the number of them. */
int tirc_device_list(const DeviceKind *k, void (*hear)(void *self, const DeviceInfo *info),
                     void *self, DeviceError *e);
/* Number `which` of that list. */
Device *tirc_device_open(const DeviceKind *k, int which, DeviceError *e);
void tirc_device_close(Device *d);

/* `what` names it in messages. */
DeviceProgram *tirc_device_build(Device *d, const char *source, const char *what, DeviceError *e);
void tirc_device_program_free(DeviceProgram *p);
/* Bytes of shared memory that a block of a kernel needs, and those that its launches ask for. */
typedef struct DeviceShared {
  int64_t all, dynamic;
} DeviceShared;
DeviceKernel *tirc_device_kernel(DeviceProgram *p, const char *name, const DeviceShared *shared,
                                 DeviceError *e);
void tirc_device_kernel_free(DeviceKernel *k);

DeviceBuffer *tirc_device_buffer(Device *d, size_t bytes, const char *what, DeviceError *e);
/* Memory of the device that is somebody else's, at one of its addresses; whether a kind has such.
 */
DeviceBuffer *tirc_device_borrow(Device *d, uintptr_t at, size_t bytes, DeviceError *e);
bool tirc_device_has_addresses(const DeviceKind *k);
void tirc_device_buffer_free(DeviceBuffer *b);
bool tirc_device_write(DeviceBuffer *b, const void *from, DeviceError *e); /* all of it */
bool tirc_device_read(DeviceBuffer *b, void *to, DeviceError *e);

/* One after the other; begins them, and tirc_device_finish waits for all; `what` names them in
 * messages. */
bool tirc_device_run(Device *d, int n, const DeviceLaunch *launches, DeviceError *e);
bool tirc_device_finish(Device *d, const char *what, DeviceError *e);
/* What the last run took by the device's own clock, once it is finished, from its first kernel's
 * start to the end of the last; -1: it has none, or no kernel ran. */
double tirc_device_seconds(const Device *d);

#endif
