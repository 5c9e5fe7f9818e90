/* Kernels that run on a device: what a module's host function allocates and launches there. */
#ifndef TIRC_RUNTIME_API_ON_DEVICE_H
#define TIRC_RUNTIME_API_ON_DEVICE_H

#include "ir/gpu.h"
#include "kernel.h"
#include "passes/lower/lower.h"

/* Throws "argument" unless it names a device: "opencl", "opencl:1", "cuda"; the kind of GPU that
 * its kernels are for. */
GpuKind tirc_require_device(Tirc *c, const char *device);

/* A module with kernels: m itself, or what lowering it for the GPU of this name makes of it. Throws
 * "target" unless the GPU is of that kind. The observer, or NULL, as of tirc_lower_for. */
const Module *tirc_lower_for_device(Tirc *c, const Module *m, const char *target, GpuKind kind,
                                    LowerObserver observer, void *self);

/* The kernels of a module that was lowered for the GPU of this name, compiled for a device.
 * Released with c. Throws "device", "codegen", "memory", "limit". */
struct OnDevice *tirc_on_device(Tirc *c, const Module *lowered, const char *target,
                                const char *device);

/* Where its kernels run; tensors that are addresses there are taken without a copy. */
DLDevice tirc_device_place(const struct OnDevice *on);

/* What a call of the host function does there, for these sizes and arguments: its
 * arrays' copies, what it allocates, and its launches, one after the other, which only run again
 * where the call is repeated. Released with c. */
typedef struct DeviceCall DeviceCall;
DeviceCall *tirc_device_call(Tirc *c, struct OnDevice *on, const Func *host, const PtrMap *symbols,
                             const Argument *args);

/* Arrays go there, kernels run, and what is written comes back: 0, or DEVICE_FAILED. */
enum { DEVICE_FAILED = -1 };
int tirc_device_call_run(DeviceCall *call);
/* From now on arrays stay there, and runs are the kernels alone; or no more, and then what was
 * written comes back. */
int tirc_device_call_stay(DeviceCall *call, bool stays);
/* From now on of each kernel before it begins, and it ends before the next one does; NULL: no more.
 */
void tirc_device_call_tell(DeviceCall *call, void (*starts)(void *self, const char *kernel),
                           void *self);
/* What the last run's kernels took by the device's own clock, or -1. */
double tirc_device_call_seconds(const DeviceCall *call);
/* Throws what the last failure was. */
_Noreturn void tirc_device_call_failed(Tirc *c, const DeviceCall *call);

#endif
