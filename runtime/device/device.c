/* What kinds of devices have in common: by name, and each call by its kind. */
#include "device_kind.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const DeviceKind *const kinds[] = {&tirc_opencl, &tirc_cuda};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

const DeviceKind *tirc_device_kind(int i) { return i >= 0 && i < N_KINDS ? kinds[i] : NULL; }
const char *tirc_device_kind_name(const DeviceKind *k) { return k->name; }
bool tirc_device_takes_ptx(const DeviceKind *k) { return k->takes_ptx; }

/* "cuda", or "cuda:1" for the second one. */
const DeviceKind *tirc_device_kind_find(const char *device, int *number) {
  for (int i = 0; i < N_KINDS; i++) {
    const size_t n = strlen(kinds[i]->name);
    if (strncmp(device, kinds[i]->name, n) != 0 || (device[n] && device[n] != ':')) continue;
    char *end = NULL;
    const long which = device[n] ? strtol(device + n + 1, &end, 10) : 0;
    if (device[n] && (end == device + n + 1 || *end || which < 0 || which > 1000)) return NULL;
    *number = (int)which;
    return kinds[i];
  }
  return NULL;
}

void tirc_device_error_clear(DeviceError *e) {
  free(e->message);
  *e = (DeviceError){0};
}

bool tirc_device_fail(DeviceError *e, DiagCode code, const char *hint, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int n = vsnprintf(NULL, 0, format, args);
  *e = (DeviceError){code, hint, malloc((size_t)(n < 0 ? 0 : n) + 1)};
  if (e->message) vsnprintf(e->message, (size_t)(n < 0 ? 0 : n) + 1, format, again);
  va_end(again);
  va_end(args);
  return false;
}

bool tirc_device_fits(const Device *d, size_t bytes, const char *what, DeviceError *e) {
  const int64_t room = d->info.memory - d->used;
  const size_t size = bytes ? bytes : 1;
  if (size <= (uint64_t)d->info.largest_buffer && (int64_t)size <= room) return true;
  return tirc_device_fail(
      e, CODE_MEMORY, NULL,
      "%s has %zu bytes, and the device %s has %lld, %lld of them free, and takes buffers of up to "
      "%lld",
      what, bytes, d->info.name, (long long)d->info.memory, (long long)room,
      (long long)d->info.largest_buffer);
}

int tirc_device_list(const DeviceKind *k, void (*hear)(void *self, const DeviceInfo *info),
                     void *self, DeviceError *e) {
  return k->list(hear, self, e);
}
Device *tirc_device_open(const DeviceKind *k, int which, DeviceError *e) {
  return k->open(which, e);
}
void tirc_device_close(Device *d) {
  if (d) d->kind->close(d);
}
double tirc_device_seconds(const Device *d) { return d->seconds; }

DeviceProgram *tirc_device_build(Device *d, const char *source, const char *what, DeviceError *e) {
  return d->kind->build(d, source, what, e);
}
void tirc_device_program_free(DeviceProgram *p) {
  if (p) p->device->kind->free_program(p);
}
DeviceKernel *tirc_device_kernel(DeviceProgram *p, const char *name, const DeviceShared *shared,
                                 DeviceError *e) {
  return p->device->kind->kernel(p, name, shared, e);
}
void tirc_device_kernel_free(DeviceKernel *k) {
  if (k) k->device->kind->free_kernel(k);
}
DeviceBuffer *tirc_device_buffer(Device *d, size_t bytes, const char *what, DeviceError *e) {
  return d->kind->buffer(d, bytes, what, e);
}
DeviceBuffer *tirc_device_borrow(Device *d, uintptr_t at, size_t bytes, DeviceError *e) {
  return d->kind->borrow(d, at, bytes, e);
}
bool tirc_device_has_addresses(const DeviceKind *k) { return k->borrow != NULL; }
void tirc_device_buffer_free(DeviceBuffer *b) {
  if (b) b->device->kind->free_buffer(b);
}
bool tirc_device_write(DeviceBuffer *b, const void *from, DeviceError *e) {
  return b->device->kind->write(b, from, e);
}
bool tirc_device_read(DeviceBuffer *b, void *to, DeviceError *e) {
  return b->device->kind->read(b, to, e);
}
bool tirc_device_run(Device *d, int n, const DeviceLaunch *launches, DeviceError *e) {
  return d->kind->run(d, n, launches, e);
}
bool tirc_device_finish(Device *d, const char *what, DeviceError *e) {
  return d->kind->finish(d, what, e);
}
