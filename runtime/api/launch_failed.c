/* Why a call failed, from the status that its code gave. */
#include "kernel.h"
#include "on_device.h"

#include "codegen/failures.h"
#include "passes/lower/extents.h"

typedef struct Failed {
  const tirc_launch *launch;
  int status;
} Failed;

/* Memory may be out because an extent came out wrong. */
static void fail_call(Tirc *c, void *self) {
  const Failed *failed = self;
  const tirc_launch *launch = failed->launch;
  const tirc_kernel *k = launch->kernel;
  if (failed->status == DEVICE_FAILED) tirc_device_call_failed(c, launch->device_call);
  Failures all = {0};
  tirc_failures_add(c, &all, k->lowered);
  const Failure *failure = tirc_failure_of_code(&all, failed->status);
  const bool is_written = failure && failure->assertion->loc.line > 0;
  Loc loc = k->func->loc;
  const char *why =
      is_written ? NULL : tirc_failed_extent(c, k->lowered->body, &launch->symbols, &loc);
  if (why) tirc_fail(c, loc, "assert", "use smaller extents, or wider types", "%s", why);
  if (failed->status == CODE_NO_MEMORY) tirc_fail(c, (Loc){0}, "memory", NULL, "out of memory");
  const char *message = failure ? failure->assertion->u.check.message : NULL;
  tirc_fail(c, is_written ? failure->assertion->loc : loc, "assert", NULL,
            "the assertion fails: %s", message ? message : "");
}

tirc_status tirc_api_launch_failed(const tirc_launch *launch, int failed, tirc_error **error) {
  Failed failure = {launch, failed};
  return tirc_api_scratch(fail_call, &failure, &launch->kernel->sources, error);
}
