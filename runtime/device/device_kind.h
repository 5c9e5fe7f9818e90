/* What a kind of device has to have. A kind's own structs begin with those below. */
#ifndef TIRC_RUNTIME_DEVICE_DEVICE_KIND_H
#define TIRC_RUNTIME_DEVICE_DEVICE_KIND_H

#include "device.h"

/* Objects have `size` zeroed bytes, with those common fields set, before a function fills the rest;
 * where it fails, its object is freed as one of use is, but a buffer's, which has no memory then.
 */
struct DeviceKind {
  const char *name;    /* as --device has it */
  const char *words;   /* as messages have it */
  const char *missing; /* the hint where there is none */
  bool takes_ptx;      /* programs are PTX, not OpenCL C */
  size_t size, program_size, kernel_size, buffer_size;
  bool (*find)(Device *d, int *n, DeviceError *e); /* loads what is needed; how many there are */
  bool (*info)(Device *d, int which, DeviceInfo *info);
  bool (*open)(Device *d, int which, DeviceError *e); /* with its info */
  void (*close)(Device *d);                           /* also what is not open */
  bool (*build)(DeviceProgram *p, const char *source, const char *what, DeviceError *e);
  void (*free_program)(DeviceProgram *p);
  bool (*kernel)(DeviceKernel *k, DeviceProgram *p, const DeviceShared *shared, DeviceError *e);
  void (*free_kernel)(DeviceKernel *k);                              /* or NULL */
  bool (*buffer)(DeviceBuffer *b, const char *what, DeviceError *e); /* of one byte at least */
  void (*borrow)(DeviceBuffer *b, uintptr_t at);                     /* or NULL */
  void (*free_buffer)(DeviceBuffer *b);                              /* one that is not borrowed */
  bool (*write)(DeviceBuffer *b, const void *from, DeviceError *e);  /* one byte at least */
  bool (*read)(DeviceBuffer *b, void *to, DeviceError *e);
  bool (*run)(Device *d, int n, const DeviceLaunch *launches, DeviceError *e);
  bool (*finish)(Device *d, const char *what, DeviceError *e);
  int64_t (*most_threads)(const DeviceKernel *k); /* of a block; 0: it does not say */
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
  bool is_borrowed; /* somebody else frees it */
};

/* Fills the error; false. */
bool tirc_device_fail(DeviceError *e, DiagCode code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Why a launch may have failed: a block with more threads than the device takes; else true. */
bool tirc_device_takes_block(const DeviceLaunch *l, DeviceError *e);

#endif
