/* The runtime of a shared object with kernels in it, or of a program that links this library beside
 * object files of kernels: made at the first call, with TIRC_NUM_THREADS threads or one a core. */
#include "pool.h"
#include "workspace.h"

#include <pthread.h>

/* What kernels ask for when they are called without a runtime (codegen/llvm/llvm.h). */
const tirc_runtime *tirc_default_runtime(void);

static KernelRuntime *runtime;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start(void) { runtime = tirc_kernel_runtime_new(tirc_default_threads()); }

__attribute__((destructor)) static void stop(void) {
  tirc_kernel_runtime_free(runtime);
  runtime = NULL;
}

/* Without threads or memory for them, loops run in the caller. */
const tirc_runtime *tirc_default_runtime(void) {
  pthread_once(&once, start);
  return runtime ? tirc_kernel_runtime_abi(runtime) : NULL;
}
