/* The emulator of a GPU, for those outside. */
#include "api.h"

#include "ir/tree/find.h"
#include "runtime/emulate/emulate.h"

typedef struct Emulate {
  const tirc_module *m;
  const char *func;
  int n;
  const tirc_argument *args;
  EmulateOptions options;
  EmulateReport report;
} Emulate;

void tirc_api_require_host(Tirc *c, const Func *f) {
  if (tirc_is_kernel(f))
    tirc_fail(c, f->loc, CODE_ARGUMENT, "run the function that launches it",
              "\"%s\" is a kernel, which a host function launches", f->name);
}

static void emulate(Tirc *c, void *self) {
  Emulate *p = self;
  const Module *m = p->m->m;
  const Func *f = tirc_api_func(c, m, p->func, NULL);
  tirc_api_require_host(c, f);
  if (!tirc_has_kernels(m) && tirc_has_stores(m))
    tirc_fail(c, (Loc){m->file, 0, 0}, CODE_LOWER, "bind its loops to blockIdx.x and threadIdx.x",
              "the program binds no loops to threads of a GPU: there is nothing to emulate");
  tirc_emulate(c, m, f, p->n, tirc_api_arguments(c, f, p->n, p->args), &p->options, &p->report);
}

tirc_status tirc_module_emulate(const tirc_module *m, const char *func, int n,
                                const tirc_argument *args, const tirc_emulate_options *options,
                                tirc_emulate_report *report, tirc_error **error) {
  NEED(m, LIST(n, args));
  Emulate p = {m, func, n, args, {0}, {0}};
  if (options)
    p.options = (EmulateOptions){options->max_steps, options->blocks, options->seed,
                                 options->go_on,     options->self,   options->written};
  const tirc_status status = tirc_api_scratch(emulate, &p, &m->sources, error);
  if (report)
    *report = (tirc_emulate_report){p.report.launches, p.report.blocks, p.report.blocks_run,
                                    p.report.barriers};
  return status;
}

bool tirc_module_has_kernels(const tirc_module *m) { return m && tirc_has_kernels(m->m); }
