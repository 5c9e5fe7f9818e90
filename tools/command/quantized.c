/* `tirc run MODEL --quantize=int4`, --activations=int8: what it costs and what it saves. The model
 * runs once more with its floats, for its results, bytes and time, and once with both products
 * beside each other. */
#include "command.h"
#include "tools/kit/model.h"

#include <math.h>
#include <string.h>

/* --- another run of the model ----------------------------------------------------------------- */

typedef struct Again {
  tirc_program *program;
  int n, params;
  const tirc_param *param;
  tirc_argument *args; /* inputs and weights are those of the first run */
  double seconds, bytes;
} Again;

/* What a run reads of weights and of what is made of them: each array once. */
typedef struct Reads {
  int prepared; /* so many calls run once */
  int n_weights;
  const void **weights;
  int n_seen;
  const void **seen;
  double bytes;
} Reads;

static bool has(int n, const void *const *at, const void *data) {
  for (int i = 0; i < n; i++)
    if (at[i] == data) return true;
  return false;
}

static bool note_reads(void *self, const tirc_program_call *call) {
  Reads *r = self;
  const int read = call->n - call->n_written;
  for (int i = 0; i < call->n; i++) {
    tirc_array *a = call->args[i].array;
    if (!a) continue;
    const void *data = tirc_array_data(a);
    if (call->number < r->prepared) {
      if (i >= read) *one_more(r->weights, r->n_weights) = data;
    } else if (has(r->n_weights, r->weights, data) && !has(r->n_seen, r->seen, data)) {
      *one_more(r->seen, r->n_seen) = data;
      r->bytes += (double)tirc_array_bytes(a);
    }
  }
  return true;
}

static int count_reads(const tirc_program *p, tirc_executor *x, int n, const tirc_argument *args,
                       double *bytes) {
  tirc_error *e = NULL;
  tirc_program_size size;
  Reads r = {0};
  const tirc_program_watch watch = {.self = &r, .tell = note_reads};
  if (tirc_program_measure(p, n, args, &size, &e)) return report(e);
  r.prepared = size.prepared;
  for (int i = tirc_program_inputs(p); i < tirc_program_params(p); i++)
    *one_more(r.weights, r.n_weights) = tirc_array_data(args[i].array);
  if (tirc_program_run_watched(p, x, n, args, &watch, &e)) return report(e);
  *bytes = r.bytes;
  return DONE;
}

/* The weights that this program has, by their names: passes drop those that nobody uses. */
static int take_arguments(Again *k, const tirc_program *of, const tirc_argument *args) {
  tirc_error *e = NULL;
  int n;
  const tirc_param *params;
  const tirc_module *signature = tirc_program_signature(k->program);
  if (tirc_module_params(signature, NULL, &k->n, &k->param, &e) ||
      tirc_module_params(tirc_program_signature(of), NULL, &n, &params, &e))
    return report(e);
  k->params = tirc_program_params(k->program);
  k->args = tirc_alloc_array(memory, (size_t)k->n + 1, sizeof *k->args);
  for (int i = 0; i < k->params; i++)
    for (int j = 0; j < tirc_program_params(of); j++)
      if (strcmp(k->param[i].name, params[j].name) == 0) k->args[i] = args[j];
  for (int i = k->params; i < k->n; i++)
    if (tirc_module_array(signature, NULL, k->n, k->args, 0, NULL, i, NULL, &k->args[i].array, &e))
      return report(e);
  return DONE;
}

static int run_again(const Making *how, const tirc_module *model, const tirc_program *of,
                     const tirc_argument *args, bool counts, Again *k) {
  tirc_executor *x = NULL;
  tirc_error *e = NULL;
  int status = make_program(how, false, model, &k->program);
  if (status == DONE) status = take_arguments(k, of, args);
  if (status == DONE && tirc_executor_new(how->threads, &x, &e)) status = report(e);
  for (int i = 0; i < 2 && status == DONE; i++) {
    const double start = tirc_seconds();
    if (tirc_program_run(k->program, x, k->n, k->args, &e)) status = report(e);
    k->seconds = tirc_seconds() - start;
  }
  if (status == DONE && counts) status = count_reads(k->program, x, k->n, k->args, &k->bytes);
  tirc_executor_free(x);
  return status;
}

static void end(Again *k) {
  for (int i = k->params; k->args && i < k->n; i++) tirc_array_free(k->args[i].array);
  tirc_program_free(k->program);
}

/* --- what is told ----------------------------------------------------------------------------- */

/* "error of gv: 0.0071 (relative, root mean square), at most 0.0061 of its largest element" */
static void put_error(const tirc_param *p, const tirc_array *got, const tirc_array *wanted) {
  double square = 0, of = 0, most = 0, largest = 0;
  const int64_t n = tirc_array_count(wanted);
  int64_t others = 0;
  for (int64_t i = 0; i < n; i++) {
    const double a = tirc_array_get(wanted, i), d = tirc_array_get(got, i) - a;
    square += d * d, of += a * a;
    most = fmax(most, fabs(d)), largest = fmax(largest, fabs(a));
    others += d != 0;
  }
  if (strncmp(p->dtype, "float", 5) != 0)
    printf("error of %s: %lld of %lld elements differ\n", p->in_file, (long long)others,
           (long long)n);
  else
    printf("error of %s: %.2g (relative, root mean square), at most %.2g of its largest element\n",
           p->in_file, of > 0 ? sqrt(square / of) : sqrt(square),
           largest > 0 ? most / largest : most);
}

#define PREFIX "error_"

static void put_products(const Again *k, int from) {
  puts("error of each product (computed with float inputs), relative to its root mean square:");
  for (int i = from; i < k->n; i++)
    printf("  %-32s %.2g\n", k->param[i].in_file + strlen(PREFIX),
           tirc_array_get(k->args[i].array, 0));
}

int report_quantized(const RunOptions *o, const tirc_module *model, const tirc_program *p, int n,
                     const tirc_argument *args, double seconds) {
  Making how = o->run.make;
  const int params = tirc_program_params(p);
  Again floats = {0}, both = {0};
  tirc_executor *x = NULL;
  tirc_error *e = NULL;
  double bytes = 0;
  const Loading *asked = &o->run.make.from;
  how.from.quantize = how.from.quantize_only = how.from.activations = NULL;
  how.from.group = 0;
  how.from.zero_point = false;
  how.quiet = true;
  int status = run_again(&how, model, p, args, true, &floats);
  add_to_list(&how.pass, asked->quantize ? quantize_pass(asked, true) : activations_pass(true));
  if (status == DONE) status = run_again(&how, model, p, args, false, &both);
  if (status == DONE && tirc_executor_new(how.threads, &x, &e)) status = report(e);
  if (status == DONE) status = count_reads(p, x, n, args, &bytes);
  tirc_executor_free(x);
  for (int i = 0; i < n - params && status == DONE; i++)
    put_error(&floats.param[floats.params + i], args[params + i].array,
              floats.args[floats.params + i].array);
  if (status == DONE) {
    put_products(&both, both.params + n - params);
    printf("weights that a run reads: %.4g MB, %.4g MB in floats\n", bytes / 1e6,
           floats.bytes / 1e6);
    printf("time: %.3g ms, %.3g ms in floats (one run each)\n", seconds * 1e3,
           floats.seconds * 1e3);
  }
  end(&both);
  end(&floats);
  return status;
}
