#include "model_exact.h"

#include "tools/kit/model.h"

#include <math.h>
#include <string.h>

/* The model in float64, and the arrays of a run. */
typedef struct Exact {
  const Making *make;
  tirc_module *calls, *wide;
  tirc_program *program;
  tirc_weights *weights;
  int n;
  const tirc_param *params;
  tirc_argument *args, *given; /* the latter of its weights, views of `weights` */
  tirc_error *error;
} Exact;

static bool make_exact(Exact *x, const tirc_module *m) {
  static const char *const folds = "FoldConstant"; /* in the types of the file */
  const tirc_program_options options = {.target = x->make->from.target,
                                        .operators = x->make->from.operators,
                                        .indices = x->make->indices,
                                        .n_skip = 1,
                                        .skip = &folds,
                                        .by_child = true};
  return !tirc_module_phases(m, "loops", &options, &x->calls, &x->error) &&
         !tirc_module_in_float64(x->calls, &x->wide, &x->error) &&
         !tirc_program_new(x->wide, &options, &x->program, &x->error) &&
         !tirc_module_params(tirc_program_signature(x->program), NULL, &x->n, &x->params,
                             &x->error);
}

/* Its parameter i, with the elements of `from`, unless that is a result. */
static bool convert(Exact *x, int i, tirc_array *from) {
  const char *type = x->params[i].dtype;
  tirc_array **to = &x->args[i].array;
  if (tirc_array_new(type, tirc_array_ndim(from), tirc_array_shape(from), to, &x->error))
    return false;
  if (i >= tirc_program_params(x->program)) return true;
  if (strcmp(tirc_array_dtype(from), type) == 0)
    memcpy(tirc_array_data(*to), tirc_array_data(from), (size_t)tirc_array_bytes(from));
  else
    for (int64_t k = 0; k < tirc_array_count(from); k++)
      tirc_array_set(*to, k, tirc_array_get(from, k));
  return true;
}

static bool fill_exact(Exact *x, const tirc_module *m, const RivalRun *of) {
  const int params = tirc_program_params(x->program);
  x->args = tirc_alloc_array(memory, (size_t)x->n + 1, sizeof *x->args);
  x->given = tirc_alloc_array(memory, (size_t)x->n + 1, sizeof *x->given);
  if (x->n - params != of->n - of->first) return false;
  if (read_weights(x->make, m, x->program, &x->weights, x->given) != DONE) return false;
  for (int i = 0; i < x->n; i++) {
    tirc_array *from = i < params ? x->given[i].array : of->args[i - params + of->first].array;
    for (int k = 0; k < of->first && !from; k++)
      if (strcmp(of->params[k].name, x->params[i].name) == 0) from = of->args[k].array;
    if (!from || !convert(x, i, from)) return false;
  }
  return true;
}

/* The root of the mean square. */
static double distance(const tirc_array *a, const tirc_array *b) {
  const int64_t n = tirc_array_count(a);
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    const double x = tirc_array_get(a, i), y = tirc_array_get(b, i);
    if (x != y && !(isnan(x) && isnan(y))) sum += (x - y) * (x - y);
  }
  return sqrt(sum / (double)(n ? n : 1));
}

static void judge(const ModelRival *r, const Exact *x, const RivalRun *of) {
  for (int i = 0; i < r->n_differences; i++) {
    RivalDifference *d = &r->differences[i];
    tirc_array *its = onnxruntime_output(r->runtime, d->number);
    const tirc_array *own = of->args[of->first + d->number].array,
                     *exact = x->args[tirc_program_params(x->program) + d->number].array;
    d->is_judged = its && tirc_array_count(its) == tirc_array_count(own);
    if (d->is_judged) d->own_off = distance(own, exact);
    if (d->is_judged) d->its_off = distance(its, exact);
    tirc_array_free(its);
  }
}

void judge_rival(ModelRival *r, const Making *make, const tirc_module *m, tirc_executor *executor,
                 const RivalRun *of) {
  Exact x = {.make = make};
  if (make_exact(&x, m) && fill_exact(&x, m, of) &&
      !tirc_program_run(x.program, executor, x.n, x.args, &x.error))
    judge(r, &x, of);
  else
    r->no_judge = copied(x.error ? tirc_error_get(x.error, TIRC_ERROR_MESSAGE) : "memory");
  tirc_error_free(x.error);
  free_arguments(x.args ? x.n : 0, x.args);
  tirc_weights_close(x.weights);
  tirc_program_free(x.program);
  tirc_module_free(x.wide);
  tirc_module_free(x.calls);
}
