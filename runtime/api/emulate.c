/* The emulator of a GPU, for those outside. */
#include "api.h"

#include "ir/tree/annotations.h"
#include "ir/tree/find.h"
#include "ir/tree/print.h"
#include "runtime/emulate/costs.h"
#include "runtime/emulate/emulate.h"

#include <stdlib.h>

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
              "\"%s\" is a kernel; a host function has to launch it", f->name);
}

static void emulate(Tirc *c, void *self) {
  Emulate *p = self;
  const Module *m = p->m->m;
  const Func *f = tirc_api_func(c, m, p->func, NULL);
  tirc_api_require_host(c, f);
  if (!tirc_has_kernels(m) && tirc_has_stores(m))
    tirc_fail(c, (Loc){m->file, 0, 0}, CODE_LOWER, "bind its loops to blockIdx.x and threadIdx.x",
              "the program binds no loops to threads of a GPU, so there is nothing to emulate");
  tirc_emulate(c, m, f, p->n, tirc_api_arguments(c, f, p->n, p->args), &p->options, &p->report);
}

static EmulateOptions options_of(const tirc_emulate_options *o) {
  return o ? (EmulateOptions){.max_steps = o->max_steps,
                              .blocks = o->blocks,
                              .seed = o->seed,
                              .go_on = o->go_on,
                              .self = o->self,
                              .written = o->written}
           : (EmulateOptions){0};
}

static void give_report(const Emulate *p, tirc_emulate_report *to) {
  if (to)
    *to = (tirc_emulate_report){p->report.launches, p->report.blocks, p->report.blocks_run,
                                p->report.barriers};
}

tirc_status tirc_module_emulate(const tirc_module *m, const char *func, int n,
                                const tirc_argument *args, const tirc_emulate_options *options,
                                tirc_emulate_report *report, tirc_error **error) {
  NEED(m, LIST(n, args));
  Emulate p = {m, func, n, args, options_of(options), {0}};
  const tirc_status status = tirc_api_scratch(emulate, &p, &m->sources, error);
  give_report(&p, report);
  return status;
}

/* --- what they ask of memory ------------------------------------------------------------------ */

struct tirc_costs {
  Tirc *c;
  Costs all;
};

static const char *first_line(Tirc *c, Stmt s) {
  const char *text = tirc_print_stmt(c, s, DIALECT_TIR);
  while (*text == ' ') text++;
  return tirc_strndup(c, text, strcspn(text, "\n"));
}

tirc_status tirc_module_emulate_costs(const tirc_module *m, const char *func, int n,
                                      const tirc_argument *args,
                                      const tirc_emulate_options *options,
                                      tirc_emulate_report *report, tirc_costs **out,
                                      tirc_error **error) {
  NEED(m, LIST(n, args), out);
  Tirc *c = tirc_context_new();
  tirc_costs *costs = c ? calloc(1, sizeof *costs) : NULL;
  *out = NULL;
  if (!costs) {
    tirc_context_release(c);
    return tirc_api_no_memory(error);
  }
  costs->c = costs->all.c = c;
  Emulate p = {m, func, n, args, options_of(options), {0}};
  p.options.costs = &costs->all;
  const tirc_status status = tirc_api_guard(c, emulate, &p, &m->sources, error);
  give_report(&p, report);
  if (status != TIRC_OK)
    tirc_costs_free(costs);
  else
    *out = costs;
  return status;
}

void tirc_costs_free(tirc_costs *costs) {
  if (!costs) return;
  tirc_context_release(costs->c);
  free(costs);
}

bool tirc_costs_kernel(const tirc_costs *costs, int i, tirc_kernel_costs *out) {
  if (!costs || !out || i < 0 || i >= costs->all.kernels.n) return false;
  const KernelCosts *k = &costs->all.kernels.at[i];
  const Occupancy o = tirc_occupancy(tirc_gpu_of(k->kernel), k->threads, k->shared, k->registers);
  *out = (tirc_kernel_costs){
      k->kernel->name, k->launches, k->blocks,    k->blocks_run, k->threads, k->shared,    k->asked,
      k->needed,       k->own,      k->registers, o.blocks,      o.warps,    o.most_warps, o.bound};
  return true;
}

bool tirc_costs_access(const tirc_costs *costs, int i, tirc_access_costs *out) {
  if (!costs || !out || i < 0 || i >= costs->all.accesses.n) return false;
  const AccessCosts *a = &costs->all.accesses.at[i];
  *out = (tirc_access_costs){a->kernel->name, first_line(costs->c, a->stmt),
                             a->buffer->name, a->line,
                             a->shared,       a->stores,
                             a->warps,        a->asked,
                             a->ideal};
  return true;
}

bool tirc_costs_branch(const tirc_costs *costs, int i, tirc_branch_costs *out) {
  if (!costs || !out || i < 0 || i >= costs->all.branches.n) return false;
  const BranchCosts *b = &costs->all.branches.at[i];
  *out = (tirc_branch_costs){b->kernel->name, first_line(costs->c, b->stmt), b->line, b->warps,
                             b->parted};
  return true;
}

bool tirc_module_has_kernels(const tirc_module *m) { return m && tirc_has_kernels(m->m); }
