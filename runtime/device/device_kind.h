/* What a kind of device has to have. A kind's own structs begin with those below. */
#ifndef TIRC_RUNTIME_DEVICE_DEVICE_KIND_H
#define TIRC_RUNTIME_DEVICE_DEVICE_KIND_H

#include "device.h"

struct DeviceKind {
  const char *name; /* as --device has it */
  bool takes_ptx;   /* programs are PTX, not OpenCL C */
  int (*list)(void (*hear)(void *self, const DeviceInfo *info), void *self, DeviceError *e);
  Device *(*open)(int which, DeviceError *e);
  void (*close)(Device *d);
  DeviceProgram *(*build)(Device *d, const char *source, const char *what, DeviceError *e);
  void (*free_program)(DeviceProgram *p);
  DeviceKernel *(*kernel)(DeviceProgram *p, const char *name, const DeviceShared *shared,
                          DeviceError *e);
  void (*free_kernel)(DeviceKernel *k);
  DeviceBuffer *(*buffer)(Device *d, size_t bytes, const char *what, DeviceError *e);
  DeviceBuffer *(*borrow)(Device *d, uintptr_t at, size_t bytes, DeviceError *e); /* or NULL */
  void (*free_buffer)(DeviceBuffer *b);
  bool (*write)(DeviceBuffer *b, const void *from, DeviceError *e);
  bool (*read)(DeviceBuffer *b, void *to, DeviceError *e);
  bool (*run)(Device *d, int n, const DeviceLaunch *launches, DeviceError *e);
  bool (*finish)(Device *d, const char *what, DeviceError *e);
};

struct Device {
  const DeviceKind *kind;
  DeviceInfo info;
  int64_t used;   /* bytes of buffers */
  double seconds; /* of the last run by its own clock, or -1 */
};
struct DeviceProgram {
  Device *device;
};
struct DeviceKernel {
  Device *device;
  char *name;
};
struct DeviceBuffer {
  Device *device;
  size_t bytes;
};

/* Fills the error; false. */
bool tirc_device_fail(DeviceError *e, DiagCode code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether a buffer of that size fits; fails otherwise. */
bool tirc_device_fits(const Device *d, size_t bytes, const char *what, DeviceError *e);

#endif
