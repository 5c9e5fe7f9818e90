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

/* NULL where memory is out. */
static void *object(size_t size, DeviceError *e) {
  void *x = calloc(1, size);
  if (!x) tirc_device_fail(e, CODE_MEMORY, NULL, "out of memory");
  return x;
}

/* --- devices ---------------------------------------------------------------------------------- */

/* A device that is not open yet, and how many there are; NULL: none. */
static Device *found(const DeviceKind *k, int *n, DeviceError *e) {
  Device *d = object(k->size, e);
  *n = 0;
  if (!d) return NULL;
  *d = (Device){.kind = k, .seconds = -1};
  if (k->find(d, n, e)) {
    if (*n > 0) return d;
    tirc_device_fail(e, CODE_DEVICE, k->missing, "%s has no device here", k->words);
  }
  tirc_device_close(d);
  return NULL;
}

int tirc_device_list(const DeviceKind *k, void (*hear)(void *self, const DeviceInfo *info),
                     void *self, DeviceError *e) {
  int n = 0;
  Device *d = found(k, &n, e);
  for (int i = 0; d && i < n; i++) {
    DeviceInfo info = {.name = "?"};
    if (k->info(d, i, &info)) hear(self, &info);
  }
  tirc_device_close(d);
  return n;
}

Device *tirc_device_open(const DeviceKind *k, int which, DeviceError *e) {
  int n = 0;
  Device *d = found(k, &n, e);
  if (!d) return NULL;
  if (which < 0 || which >= n)
    tirc_device_fail(e, CODE_DEVICE, "tirc doctor lists them",
                     "%s has %d device%s on this machine, and none with number %d", k->words, n,
                     n == 1 ? "" : "s", which);
  else if (k->open(d, which, e))
    return d;
  tirc_device_close(d);
  return NULL;
}

void tirc_device_close(Device *d) {
  if (!d) return;
  d->kind->close(d);
  free(d);
}
double tirc_device_seconds(const Device *d) { return d->seconds; }

/* --- programs --------------------------------------------------------------------------------- */

DeviceProgram *tirc_device_build(Device *d, const char *source, const char *what, DeviceError *e) {
  DeviceProgram *p = object(d->kind->program_size, e);
  if (!p) return NULL;
  p->device = d;
  if (d->kind->build(p, source, what, e)) return p;
  tirc_device_program_free(p);
  return NULL;
}

void tirc_device_program_free(DeviceProgram *p) {
  if (!p) return;
  p->device->kind->free_program(p);
  free(p);
}

DeviceKernel *tirc_device_kernel(DeviceProgram *p, const char *name, const DeviceShared *shared,
                                 DeviceError *e) {
  const DeviceInfo *info = &p->device->info;
  if (shared->all > info->shared) {
    tirc_device_fail(e, CODE_LIMIT, NULL,
                     "a block of %s needs %lld bytes of shared memory, but the device %s has %lld",
                     name, (long long)shared->all, info->name, (long long)info->shared);
    return NULL;
  }
  DeviceKernel *k = object(p->device->kind->kernel_size, e);
  if (!k) return NULL;
  *k = (DeviceKernel){p->device, strdup(name)};
  if (!k->name)
    tirc_device_fail(e, CODE_MEMORY, NULL, "out of memory");
  else if (p->device->kind->kernel(k, p, shared, e))
    return k;
  tirc_device_kernel_free(k);
  return NULL;
}

void tirc_device_kernel_free(DeviceKernel *k) {
  if (!k) return;
  if (k->device->kind->free_kernel) k->device->kind->free_kernel(k);
  free(k->name);
  free(k);
}

bool tirc_device_takes_block(const DeviceLaunch *l, DeviceError *e) {
  const Device *d = l->kernel->device;
  const int64_t threads = l->threads[0] * l->threads[1] * l->threads[2];
  const int64_t says = d->kind->most_threads(l->kernel), most = says ? says : d->info.threads;
  if (threads <= most) return true;
  return tirc_device_fail(e, CODE_LIMIT, NULL,
                          "a block of %s has %lld threads, but the device %s allows %lld",
                          l->kernel->name, (long long)threads, d->info.name, (long long)most);
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool has_room(const Device *d, size_t bytes, const char *what, DeviceError *e) {
  const int64_t room = d->info.memory - d->used;
  const size_t size = bytes ? bytes : 1;
  if (size <= (uint64_t)d->info.largest_buffer && (int64_t)size <= room) return true;
  return tirc_device_fail(e, CODE_MEMORY, NULL,
                          "%s has %zu bytes, but the device %s has %lld bytes, of which %lld are "
                          "free, and allows buffers of up to %lld",
                          what, bytes, d->info.name, (long long)d->info.memory, (long long)room,
                          (long long)d->info.largest_buffer);
}

DeviceBuffer *tirc_device_buffer(Device *d, size_t bytes, const char *what, DeviceError *e) {
  DeviceBuffer *b = has_room(d, bytes, what, e) ? object(d->kind->buffer_size, e) : NULL;
  if (!b) return NULL;
  *b = (DeviceBuffer){.device = d, .bytes = bytes};
  if (!d->kind->buffer(b, what, e)) {
    free(b);
    return NULL;
  }
  d->used += (int64_t)bytes;
  return b;
}

DeviceBuffer *tirc_device_borrow(Device *d, uintptr_t at, size_t bytes, DeviceError *e) {
  DeviceBuffer *b = object(d->kind->buffer_size, e);
  if (!b) return NULL;
  *b = (DeviceBuffer){d, bytes, true};
  d->kind->borrow(b, at);
  return b;
}
bool tirc_device_has_addresses(const DeviceKind *k) { return k->borrow != NULL; }

void tirc_device_buffer_free(DeviceBuffer *b) {
  if (b && !b->is_borrowed) {
    b->device->kind->free_buffer(b);
    b->device->used -= (int64_t)b->bytes;
  }
  free(b);
}

bool tirc_device_write(DeviceBuffer *b, const void *from, DeviceError *e) {
  return !b->bytes || b->device->kind->write(b, from, e);
}
bool tirc_device_read(DeviceBuffer *b, void *to, DeviceError *e) {
  return !b->bytes || b->device->kind->read(b, to, e);
}

/* --- runs ------------------------------------------------------------------------------------- */

bool tirc_device_run(Device *d, int n, const DeviceLaunch *launches, DeviceError *e) {
  return d->kind->run(d, n, launches, e);
}
bool tirc_device_finish(Device *d, const char *what, DeviceError *e) {
  return d->kind->finish(d, what, e);
}
