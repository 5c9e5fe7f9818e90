/* Schedules of exercises as machine code: run, and timed. */
#include "exercise.h"

typedef struct Runner {
  tirc_kernel *kernel;
  tirc_launch *launch;
} Runner;

static void free_runner(Runner *r) {
  tirc_launch_free(r->launch);
  tirc_kernel_free(r->kernel);
}

static tirc_status make_runner(const tirc_module *m, tirc_executor *x, int n,
                               const tirc_argument *args, Runner *r, tirc_error **e) {
  tirc_status status = tirc_kernel_new(m, NULL, NULL, &r->kernel, e);
  if (status == TIRC_OK) status = tirc_launch_new(r->kernel, x, n, args, &r->launch, e);
  return status;
}

tirc_status run_compiled(const tirc_module *m, int threads, int n, const tirc_argument *args,
                         tirc_error **e) {
  tirc_kernel *kernel = NULL;
  tirc_executor *x = NULL;
  tirc_status status = tirc_executor_new(threads, &x, e);
  if (status == TIRC_OK) status = tirc_kernel_new(m, NULL, NULL, &kernel, e);
  if (status == TIRC_OK) status = tirc_kernel_run(kernel, x, n, args, e);
  tirc_kernel_free(kernel);
  tirc_executor_free(x);
  return status;
}

tirc_status measure_ratio(const tirc_module *a, const tirc_module *b, int threads, int n,
                          const tirc_argument *args, double *ratio, tirc_error **e) {
  static const tirc_measure_options brief = {.seconds = 0.14, .turns = 7, .attempts = 1};
  tirc_executor *x = NULL;
  tirc_measurement *m = NULL;
  Runner r[2] = {{0}};
  tirc_status status = tirc_executor_new(threads, &x, e);
  if (status == TIRC_OK) status = make_runner(a, x, n, args, &r[0], e);
  if (status == TIRC_OK) status = make_runner(b, x, n, args, &r[1], e);
  if (status == TIRC_OK) {
    const tirc_contender c[2] = {tirc_launch_contender("a", r[0].launch),
                                 tirc_launch_contender("b", r[1].launch)};
    status = tirc_measure(2, c, &brief, &m, e);
  }
  if (status == TIRC_OK)
    *ratio =
        tirc_times_as_fast(tirc_measurement_figures(m, 0), tirc_measurement_figures(m, 1)).value;
  tirc_measurement_free(m);
  for (int i = 0; i < 2; i++) free_runner(&r[i]);
  tirc_executor_free(x);
  return status;
}
