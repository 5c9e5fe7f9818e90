/* The runtime of a shared object with kernels in it, or of a program that links this library beside
 * object files of kernels: made at the first call, with TIRC_NUM_THREADS threads or one a core. */
#include "pool.h"
#include "system.h"
#include "workspace.h"

/* What kernels ask for when they are called without a runtime (codegen/llvm/llvm.h). */
const tirc_runtime *tirc_default_runtime(void);

static KernelRuntime *runtime;

static void start(void) { runtime = tirc_kernel_runtime_new(tirc_default_threads()); }

#ifdef TIRC_WINDOWS
/* At the end of a process its threads are gone before anything here is called. */
static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
static BOOL CALLBACK start_once(PINIT_ONCE o, PVOID argument, PVOID *context) {
  (void)o, (void)argument, (void)context;
  start();
  return TRUE;
}
static void once_only(void) { (void)InitOnceExecuteOnce(&once, start_once, NULL, NULL); }
#else
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void once_only(void) { (void)pthread_once(&once, start); }

__attribute__((destructor)) static void stop(void) {
  tirc_kernel_runtime_free(runtime);
  runtime = NULL;
}
#endif

/* Without threads or memory for them, loops run in the caller. */
const tirc_runtime *tirc_default_runtime(void) {
  once_only();
  return runtime ? tirc_kernel_runtime_abi(runtime) : NULL;
}
