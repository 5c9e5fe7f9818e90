/* Compiled functions and their calls, for what runs several of them. */
#ifndef TIRC_RUNTIME_API_KERNEL_H
#define TIRC_RUNTIME_API_KERNEL_H

#include "api.h"
#include "codegen/llvm/llvm.h"

struct tirc_kernel {
  Tirc *c; /* holds this struct */
  const Func *func, *lowered;
  const tirc_param *params;
  Sources sources;
  Jit *jit;
  PackedFunc entry;
  size_t stack;               /* that a run needs, 0: hardly any */
  struct OnDevice *on_device; /* instead of jit and entry; or NULL */
};

struct tirc_launch {
  Tirc *c; /* holds this struct */
  const tirc_kernel *kernel;
  PackedFunc entry;
  const tirc_runtime *runtime;
  void **packed;
  PtrMap symbols; /* the scalars that it is called with: from the lowered function's to INT */
  struct DeviceCall *device_call; /* instead of entry; or NULL */
};

/* What a kernel says of function `func` (NULL: main) of m; k->c is set, entry and jit are the
 * caller's to fill in. */
void tirc_api_describe_kernel(tirc_kernel *k, const tirc_module *m, const Module *lowered,
                              const char *func);
/* A call in context c, which it lives in. Throws "argument". */
tirc_launch *tirc_api_launch(Tirc *c, const tirc_kernel *k, tirc_executor *x, int n,
                             const tirc_argument *args);
/* Calls `body` where there is stack enough for runs of the kernel; false: there is no memory for
 * it. To ask takes a microsecond or more, as long as a short run. */
bool tirc_api_on_stack_for(const tirc_kernel *k, void (*body)(void *self), void *self);
/* One run, by a caller that has stack enough: as tirc_launch_run. */
int tirc_api_run_once(const tirc_launch *launch);
/* What a status of tirc_launch_run other than 0 means. */
tirc_status tirc_api_launch_failed(const tirc_launch *launch, int failed, tirc_error **error);

#endif
