/* Why a call failed, from the status that its code gave. */
#include "kernel.h"
#include "on_device.h"

#include "ir/tree/visit.h"
#include "passes/lower/extents.h"

typedef struct Asserts {
  int n;
  Stmt first;
} Asserts;

static bool count_assert(Visitor *v, Stmt s) {
  Asserts *a = v->self;
  if (s->kind == STMT_ASSERT && a->n++ == 0) a->first = s;
  return true;
}

typedef struct Failure {
  const tirc_launch *launch;
  int status;
} Failure;

/* The code says that an assertion failed, but not which. Memory may be out because an extent came
 * out wrong. */
static void fail_call(Tirc *c, void *self) {
  const Failure *failure = self;
  const tirc_launch *launch = failure->launch;
  const tirc_kernel *k = launch->kernel;
  if (failure->status == DEVICE_FAILED) tirc_device_call_failed(c, launch->device_call);
  const char *why = tirc_failed_extent(c, k->lowered->body, &launch->symbols);
  if (why) tirc_fail(c, k->func->loc, "assert", "use smaller extents, or wider types", "%s", why);
  enum { NO_MEMORY = 1 }; /* see codegen/llvm/llvm.h */
  if (failure->status == NO_MEMORY) tirc_fail(c, (Loc){0}, "memory", NULL, "out of memory");
  Asserts a = {0};
  Visitor v = {.stmt = count_assert, .self = &a};
  tirc_visit_stmt(&v, k->func->body);
  if (a.n == 1)
    tirc_fail(c, a.first->loc, "assert", NULL, "the assertion fails: %s",
              a.first->u.check.message ? a.first->u.check.message : "");
  tirc_fail(c, k->func->loc, "assert", "the reference interpreter says which: tirc run --interpret",
            "one of the %d assertions of %s fails", a.n, k->func->name);
}

tirc_status tirc_api_launch_failed(const tirc_launch *launch, int failed, tirc_error **error) {
  Failure failure = {launch, failed};
  return tirc_api_scratch(fail_call, &failure, &launch->kernel->sources, error);
}
