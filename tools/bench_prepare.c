/* Before the clock runs: the program, its arrays, what they should become, and each contender
 * scheduled, compiled and checked. A contender that fails is said to and skipped. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int make_arrays(const Bench *b, Case *k) {
  tirc_error *e = NULL;
  for (int i = 0; i < k->n_params; i++) {
    const tirc_param *p = &k->params[i];
    if (!p->is_array)
      return complain(b->o, "benchmark a program of fixed extents",
                      "\"%s\" is a scalar parameter, for which bench has no value", p->name);
    for (int d = 0; d < p->ndim; d++)
      if (p->shape[d] < 0)
        return complain(b->o, "benchmark a program of fixed extents",
                        "the shape of \"%s\" is symbolic", p->name);
    if (tirc_array_new(p->dtype, p->ndim, p->shape, &k->args[i].array, &e)) return report(b->o, e);
    tirc_array_fill_random(k->args[i].array, (uint64_t)b->o->seed * 1000 + (uint64_t)i);
  }
  return DONE;
}

/* NaN where the program writes: what a contender forgets to write shows. */
static void poison(const Case *k, tirc_argument *args) {
  for (int i = 0; i < k->n_params; i++)
    if (k->params[i].is_written) tirc_array_fill_poison(args[i].array);
}

static bool has_nan(const Case *k, const tirc_argument *args) {
  for (int i = 0; i < k->n_params; i++)
    for (int64_t j = 0; k->params[i].is_written && j < tirc_array_count(args[i].array); j++)
      if (isnan(tirc_array_get(args[i].array, j))) return true;
  return false;
}

static int make_expected(const Bench *b, Case *k) {
  if (!copy_arguments(b->o, k->n_params, k->args, k->expected)) return BAD;
  poison(k, k->expected);
  int status = run_reference(b->o, k->program, k->n_params, k->expected);
  if (status == DONE && has_nan(k, k->expected))
    status = complain(b->o, "let it write its outputs without reading them first",
                      "%s reads what it should compute, so it cannot be checked", k->kernel);
  return status;
}

void call_contender(const Case *k, const Contender *c) {
  if (c->library)
    call_library(c->library, &k->cost, k->args);
  else
    (void)tirc_launch_run(c->launch);
}

static void check_contender(const Case *k, Contender *c) {
  poison(k, k->args);
  call_contender(k, c);
  Check r = compare_results(k->program, k->n_params, k->args, k->expected);
  if (r.ok) return;
  printf("%s: WRONG RESULT, skipped: \"%s\" element %lld is %g, should be %g\n", c->name,
         r.param ? r.param : "?", (long long)r.at, r.got, r.expected);
  c->skipped = true;
}

/* A script that cannot be read is a mistake of the command line, not a contender that fails. */
static bool is_unreadable(const tirc_error *e) {
  const char *code = tirc_error_get(e, TIRC_ERROR_CODE);
  return strcmp(code, "file") == 0 || strcmp(code, "syntax") == 0;
}

static void skip(Contender *c, tirc_error *e) {
  bool schedule = tirc_error_status(e) == TIRC_NO;
  printf("%s: skipped, %s [%s]%s%s:%d: %s\n", c->name, schedule ? "ScheduleError" : "error",
         tirc_error_get(e, TIRC_ERROR_CODE), tirc_error_get(e, TIRC_ERROR_FILE) ? " " : "",
         tirc_error_get(e, TIRC_ERROR_FILE) ? tirc_error_get(e, TIRC_ERROR_FILE) : "",
         tirc_error_line(e), tirc_error_message(e));
  tirc_error_free(e);
  c->skipped = true;
}

static int prepare_contender(const Bench *b, Case *k, Contender *c) {
  tirc_module *m = NULL;
  tirc_error *e = NULL;
  tirc_schedule_options s = {
      .target = b->o->target, .max_steps = b->o->script_steps, .strict = b->o->strict};
  if (!c->library &&
      (tirc_module_schedule(k->program, c->script, &s, &m, &e) ||
       tirc_kernel_new(m, NULL, b->o->target, &c->kernel, &e) ||
       tirc_launch_new(c->kernel, b->executor, k->n_params, k->args, &c->launch, &e))) {
    if (is_unreadable(e)) return report(b->o, e);
    skip(c, e);
  }
  tirc_module_free(m);
  if (!c->skipped) check_contender(k, c);
  return DONE;
}

int prepare_case(const Bench *b, Case *k) {
  tirc_error *e = NULL;
  int status = load_program_with(b->o, b->o->args.at[0], k->n_defines, k->defines, &k->program);
  if (status != DONE) return status;
  if (tirc_module_params(k->program, NULL, &k->n_params, &k->params, &e) ||
      tirc_module_cost(k->program, NULL, &k->cost, &e))
    return report(b->o, e);
  k->args = calloc((size_t)k->n_params + 1, sizeof *k->args);
  k->expected = calloc((size_t)k->n_params + 1, sizeof *k->expected);
  if (!k->args || !k->expected) return complain(b->o, NULL, "out of memory");
  status = make_arrays(b, k);
  if (status == DONE) status = make_expected(b, k);
  for (int i = 0; i < k->n_contenders && status == DONE; i++) {
    Contender *c = &k->contenders[i];
    if (b->o->progress) fprintf(stderr, "\r\033[Kpreparing %s", c->name);
    if (c->library && !k->cost.m)
      c->skipped = true;
    else
      status = prepare_contender(b, k, c);
  }
  if (b->o->progress) fprintf(stderr, "\r\033[K");
  return status;
}

/* The figures stay. */
void free_case(Case *k) {
  for (int i = 0; i < k->n_contenders; i++) {
    tirc_launch_free(k->contenders[i].launch);
    tirc_kernel_free(k->contenders[i].kernel);
    free(k->contenders[i].times);
    k->contenders[i].launch = NULL;
    k->contenders[i].kernel = NULL;
    k->contenders[i].times = NULL;
  }
  free_arguments(k->n_params, k->args);
  free_arguments(k->n_params, k->expected);
  tirc_module_free(k->program);
  k->args = k->expected = NULL;
  k->program = NULL;
}
