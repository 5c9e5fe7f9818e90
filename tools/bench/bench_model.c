/* `tirc bench MODEL`: whole runs of a model, and with --profile each of its functions: calls, time,
 * share, rates, and how near it comes to the ceiling that binds it. */
#include "bench.h"
#include "ir/cpu.h"
#include "model_exact.h"
#include "tools/kit/json.h"
#include "tools/kit/model.h"
#include "tools/kit/table.h"
#include "traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct FunctionFigures {
  const char *name;
  int calls;
  double seconds, bytes;       /* of all calls together */
  double operations, integers; /* on floats, and on integers that are loaded */
  double ceiling;              /* seconds that the binding one takes, */
  const char *binds;           /* and which that is */
  double busy; /* by the estimate, the share of the threads' time in which they work; 0: unknown */
  double one_thread, threads; /* what that is made of, of all calls: cycles of threads that work,
                                 and of all of them */
} FunctionFigures;

typedef struct ModelBench {
  const BenchOptions *o;
  FILE *out;
  tirc_program *program;
  tirc_executor *x;
  int n;
  const tirc_param *params;
  tirc_argument *args;
  int n_extents;        /* that the code leaves open, */
  tirc_symbol *extents; /* with their values in the run */
  tirc_module *model;   /* as it was read */
  tirc_weights *weights;
  tirc_measurement *measured; /* whole runs, */
  const tirc_figures *f;      /* its figures, */
  ModelRival rival;           /* and who takes turns with it, */
  tirc_error *error;          /* or why one of them failed */
  FunctionFigures *functions;
  int n_functions, vector_bits;
  double peak;            /* operations a second */
  double integer_peak[4]; /* the same on integers of 8, 16, 32 and 64 bits; 0: not measured */
  tirc_program_size size;
} ModelBench;

/* --- arguments -------------------------------------------------------------------------------- */

static int refuse_extent(const tirc_param *p, int d) {
  const char *name = p->symbol[d];
  char *hint = tirc_format(
      memory, "give it a size: -D %.80s=8, or --in %.80s=8, which leaves it open in the code",
      name ? name : "NAME", name ? name : "NAME");
  return complain(hint, "extent %d of \"%s\" is \"%s\"", d, p->name, name ? name : "an expression");
}

static tirc_symbol *extent_given(const ModelBench *b, const char *text, const char **value) {
  for (int k = 0; k < b->n_extents; k++)
    if ((*value = value_of_name(text, b->extents[k].name, b->extents[k].in_file)))
      return &b->extents[k];
  return NULL;
}

static int read_extents(ModelBench *b, const tirc_module *signature) {
  tirc_error *e = NULL;
  const tirc_symbol *extents;
  const char *value;
  if (tirc_module_symbols(signature, NULL, &b->n_extents, &extents, &e)) return report(e);
  b->extents = tirc_alloc_array(memory, (size_t)b->n_extents + 1, sizeof *b->extents);
  for (int k = 0; k < b->n_extents; k++) b->extents[k] = extents[k];
  for (int i = 0; i < b->o->run.in.n; i++) {
    tirc_symbol *extent = extent_given(b, b->o->run.in.at[i], &value);
    if (!extent)
      return complain("it takes NAME=N, an extent that -D leaves open; `tirc import` lists them",
                      "the model has no open extent for --in %s", b->o->run.in.at[i]);
    if (read_extent(value, extent) != DONE) return BAD;
  }
  return DONE;
}

static bool is_open(const ModelBench *b, const tirc_param *p, int d) {
  for (int k = 0; k < b->n_extents; k++)
    if (p->symbol[d] && strcmp(b->extents[k].name, p->symbol[d]) == 0)
      return !b->extents[k].is_known;
  return p->shape[d] < 0;
}

static int fill_arguments(ModelBench *b) {
  tirc_error *e = NULL;
  const tirc_module *signature = tirc_program_signature(b->program);
  if (tirc_module_params(signature, NULL, &b->n, &b->params, &e)) return report(e);
  b->args = tirc_alloc_array(memory, (size_t)b->n + 1, sizeof *b->args);
  int status = read_extents(b, signature);
  if (status == DONE)
    status = read_weights(&b->o->run.make, b->model, b->program, &b->weights, b->args);
  for (int i = 0; i < b->n && status == DONE; i++) {
    if (b->args[i].array) continue;
    for (int d = 0; d < b->params[i].ndim; d++)
      if (i < tirc_program_params(b->program) && is_open(b, &b->params[i], d))
        return refuse_extent(&b->params[i], d);
    if (tirc_module_array(signature, NULL, b->n, b->args, b->n_extents, b->extents, i, NULL,
                          &b->args[i].array, &e))
      return report(e);
    const bool is_weight =
        i >= tirc_program_inputs(b->program) && i < tirc_program_params(b->program);
    status =
        (is_weight ? fill_weight : fill_random)(&b->o->run, &b->params[i], i, b->args[i].array);
  }
  return status;
}

/* --- measuring -------------------------------------------------------------------------------- */

static int call_program(void *self) {
  ModelBench *b = self;
  return tirc_program_run(b->program, b->x, b->n, b->args, &b->error) != TIRC_OK;
}

static bool goes_on(void *self) {
  const ModelBench *b = self;
  return !b->error && !was_interrupted();
}

static int compare_results_of(ModelBench *b, int n, const tirc_param *params,
                              const tirc_argument *results) {
  tirc_argument *cut = tirc_alloc_array(memory, (size_t)n + 1, sizeof *cut),
                *shown = tirc_alloc_array(memory, (size_t)n + 1, sizeof *shown);
  int status = rows_that_count(b->program, n, results, cut, shown);
  if (status == DONE) status = compare_rival(&b->rival, n, params, shown);
  free_arguments(n, cut);
  return status;
}

/* A run of each, and whether they agree. */
static int meet_rival(ModelBench *b) {
  const int inputs = tirc_program_inputs(b->program), params = tirc_program_params(b->program);
  if (call_program(b)) return report(b->error);
  int status = start_rival(&b->rival, &b->o->run.make.from, tirc_executor_threads(b->x), inputs,
                           b->params, b->args);
  if (status == DONE)
    status = compare_results_of(b, b->n - params, b->params + params, b->args + params);
  return status;
}

/* By turns of its own, as all that is measured. */
static int time_runs(ModelBench *b) {
  enum { TURNS = 5, TURNS_BESIDE = 9 };
  tirc_error *e = NULL;
  const tirc_contender c[] = {{.name = "model", .self = b, .call = call_program},
                              {.name = "onnxruntime", .self = &b->rival, .call = call_rival}};
  const tirc_measure_options options = {.seconds = b->o->how.seconds > 0 ? b->o->how.seconds : 1,
                                        .turns = b->rival.runtime ? TURNS_BESIDE : TURNS,
                                        .attempts = (int)b->o->how.attempts,
                                        .self = b,
                                        .go_on = goes_on};
  if (tirc_measure(b->rival.runtime ? 2 : 1, c, &options, &b->measured, &e)) return report(e);
  b->f = tirc_measurement_figures(b->measured, 0);
  return b->error ? report(b->error) : DONE;
}

static FunctionFigures *figures_of(ModelBench *b, const char *name) {
  for (int i = 0; i < b->n_functions; i++)
    if (strcmp(b->functions[i].name, name) == 0) return &b->functions[i];
  FunctionFigures *f = one_more(b->functions, b->n_functions);
  return *f = (FunctionFigures){.name = name}, f;
}

static double time_traffic(const ModelBench *b, int64_t read, int64_t written) {
  tirc_array *from = NULL, *to = NULL;
  double least = 0;
  if (new_buffer(read, &from, NULL) && new_buffer(written, &to, NULL))
    least = time_moves(b->x, b->vector_bits, from, read, to, written, false);
  tirc_array_free(from);
  tirc_array_free(to);
  return least;
}

/* Rounds of loops that threads do not share evenly, what runs on one thread, and their start. */
static void count_busy(const ModelBench *b, const char *func, FunctionFigures *f) {
  const int threads = tirc_executor_threads(b->x);
  double one = 0, all = 0;
  const tirc_module *m = tirc_program_module(b->program);
  if (tirc_module_estimate(m, func, 1, &one, NULL) != TIRC_OK ||
      tirc_module_estimate(m, func, threads, &all, NULL) != TIRC_OK || all <= 0)
    return;
  f->busy = fmin(1, one / (threads * all));
  f->one_thread += f->busy * threads * all;
  f->threads += threads * all;
}

/* What so many operations on integers of so many bits take; their rate is measured when it is first
 * asked for. 0: it cannot be. */
static double seconds_of_integers(ModelBench *b, double operations, int bits) {
  double *peak = &b->integer_peak[bits <= 8 ? 0 : bits <= 16 ? 1 : bits <= 32 ? 2 : 3];
  if (operations > 0 && *peak <= 0) *peak = rate_of_integers(b->x, b->vector_bits, bits);
  return *peak > 0 ? operations / *peak : 0;
}

static void bind(FunctionFigures *f, const double seconds[3]) {
  static const char *const names[] = {"FMA", "integers", "memory"};
  int most = 0;
  for (int i = 1; i < 3; i++)
    if (seconds[i] >= seconds[most] && seconds[i] > 0) most = i;
  f->ceiling += seconds[most];
  f->binds = names[most];
}

/* The ceilings are taken at the first call of a function, beside it. */
static bool note_call(void *self, const tirc_program_call *call) {
  ModelBench *b = self;
  if (call->number < b->size.prepared) return !was_interrupted(); /* once for all runs */
  FunctionFigures *f = figures_of(b, call->func ? call->func : "(copy)");
  tirc_cost cost = {0};
  double integers = 0;
  int bits = 0;
  int64_t read = 0, written = 0;
  if (!f) return false;
  if (call->func)
    (void)tirc_module_call_cost(tirc_program_module(b->program), call->func, call->n, call->args,
                                &cost, NULL);
  if (call->func)
    (void)tirc_module_call_integers(tirc_program_module(b->program), call->func, call->n,
                                    call->args, &integers, &bits, NULL);
  int arrays = 0, k = 0;
  for (int i = 0; i < call->n; i++) arrays += call->args[i].array != NULL;
  for (int i = 0; i < call->n; i++) {
    if (!call->args[i].array) continue;
    *(k++ < arrays - call->n_written ? &read : &written) += tirc_array_bytes(call->args[i].array);
  }
  const double seconds[] = {
      b->peak > 0 ? cost.float_ops / b->peak : 0,
      b->vector_bits ? seconds_of_integers(b, integers, bits) : 0,
      b->vector_bits ? time_traffic(b, read, written) : 0,
  };
  if (call->func) count_busy(b, call->func, f);
  f->calls++;
  f->seconds += call->seconds;
  f->operations += cost.float_ops;
  f->integers += integers;
  f->bytes += (double)(read + written);
  bind(f, seconds);
  return !was_interrupted();
}

static int by_time(const void *a, const void *b) {
  const FunctionFigures *x = a, *y = b;
  return x->seconds < y->seconds ? 1 : x->seconds > y->seconds ? -1 : strcmp(x->name, y->name);
}

static int profile(ModelBench *b) {
  enum { REPEAT = 7 };
  tirc_error *e = NULL;
  tirc_target_info target;
  const tirc_program_watch watch = {.self = b, .repeat = REPEAT, .tell = note_call};
  if (tirc_target_find(tirc_cpu_or_default(b->o->run.make.from.target), &target, &e))
    return report(e);
  b->vector_bits = tirc_executor_fma(b->x, target.vector_bits, 0);
  if (b->vector_bits) b->peak = rate_of_fma(b->x, b->vector_bits);
  if (tirc_program_run_watched(b->program, b->x, b->n, b->args, &watch, &e)) return report(e);
  if (b->n_functions) qsort(b->functions, (size_t)b->n_functions, sizeof *b->functions, by_time);
  return DONE;
}

/* --- what comes out --------------------------------------------------------------------------- */

static double total_seconds(const ModelBench *b) {
  double total = 0;
  for (int i = 0; i < b->n_functions; i++) total += b->functions[i].seconds;
  return total;
}

static void add_figures(Table *t, const tirc_figures *f, const tirc_ratio *ratio, int64_t peak) {
  char text[INTERVAL_TEXT];
  add_cell(t, "%.3f", 1e3 * f->median);
  add_cell(t, "%.3f", 1e3 * f->fastest);
  add_cell(t, "%.1f %%", 100 * f->spread);
  add_cell(t, "%d", f->n_samples);
  if (ratio->value > 0)
    add_cell(t, "%.3f %s", ratio->value, interval_text(text, 0, 3, ratio->low, ratio->high));
  else
    add_cell(t, "-");
  if (peak)
    add_cell(t, "%.1f", (double)peak * 1e-6);
  else
    add_cell(t, "-");
}

static void put_rival(const ModelBench *b) {
  static const char *const heads[] = {"contender", "median ms",     "min ms", "spread",
                                      "reps",      "x onnxruntime", "peak MB"};
  const tirc_figures *its = tirc_measurement_figures(b->measured, 1);
  const tirc_ratio ratio = tirc_times_as_fast(b->f, its), one = {1, 1, 1};
  Table t = {.columns = 7, .right = 0x7e};
  fprintf(b->out, "onnxruntime %s; results differ by %.1g of what is allowed\n",
          onnxruntime_version(b->rival.runtime), b->rival.error);
  put_rival_differences(&b->rival, b->out);
  for (int i = 0; i < 7; i++) add_cell(&t, "%s", heads[i]);
  add_cell(&t, "tirc");
  add_figures(&t, b->f, &ratio, b->rival.own_peak);
  add_cell(&t, "onnxruntime");
  add_figures(&t, its, &one, b->rival.peak);
  put_table(b->out, &t);
}

/* Of all calls together; 0: unknown. */
static double busy_in_all(const ModelBench *b) {
  double one = 0, all = 0;
  for (int i = 0; i < b->n_functions; i++) {
    one += b->functions[i].one_thread;
    all += b->functions[i].threads;
  }
  return all > 0 ? one / all : 0;
}

static void put_busy(Table *t, const FunctionFigures *f) {
  if (f->busy > 0)
    add_cell(t, "%.0f %%", 100 * f->busy);
  else
    add_cell(t, "-");
}

static void put_profile(const ModelBench *b) {
  static const char *const heads[] = {"function", "calls",  "us",       "share", "GOP/s",
                                      "GB/s",     "% peak", "bound by", "busy"};
  const int columns = tirc_executor_threads(b->x) > 1 ? 9 : 8;
  Table t = {.columns = columns, .right = 0x17e};
  const double total = total_seconds(b);
  for (int i = 0; i < columns; i++) add_cell(&t, "%s", heads[i]);
  for (int i = 0; i < b->n_functions; i++) {
    const FunctionFigures *f = &b->functions[i];
    add_cell(&t, "%s", f->name);
    add_cell(&t, "%d", f->calls);
    add_cell(&t, "%.2f", f->seconds * 1e6);
    add_cell(&t, "%.1f %%", total > 0 ? 100 * f->seconds / total : 0);
    add_cell(&t, "%.2f", f->seconds > 0 ? (f->operations + f->integers) / f->seconds * 1e-9 : 0);
    add_cell(&t, "%.2f", f->seconds > 0 ? f->bytes / f->seconds * 1e-9 : 0);
    add_cell(&t, "%.1f", f->seconds > 0 ? 100 * f->ceiling / f->seconds : 0);
    add_cell(&t, "%s", b->vector_bits ? f->binds : "-");
    if (columns > 8) put_busy(&t, f);
  }
  put_table(b->out, &t);
  if (columns > 8 && busy_in_all(b) > 0)
    fprintf(b->out, "busy in all: %.0f %%\n", 100 * busy_in_all(b));
}

static Json *profile_json(const ModelBench *b) {
  Json *list = json_object_new_array();
  for (int i = 0; i < b->n_functions; i++) {
    const FunctionFigures *f = &b->functions[i];
    Json *row = json_object_new_object();
    add_text(row, "function", f->name);
    add_int(row, "calls", f->calls);
    add_number(row, "seconds", f->seconds);
    add_number(row, "float_ops", f->operations);
    if (f->integers > 0) add_number(row, "integer_ops", f->integers);
    add_number(row, "bytes", f->bytes);
    if (f->busy > 0) add_number(row, "busy", f->busy);
    if (f->busy > 0) add_number(row, "idle_cycles", f->threads - f->one_thread);
    if (b->vector_bits) {
      add_number(row, "ceiling_seconds", f->ceiling);
      add_text(row, "ceiling", strcmp(f->binds, "memory") == 0 ? "bandwidth" : f->binds);
    }
    json_object_array_add(list, row);
  }
  return list;
}

static Json *rival_json(const ModelBench *b) {
  const tirc_figures *its = tirc_measurement_figures(b->measured, 1);
  const tirc_ratio ratio = tirc_times_as_fast(b->f, its);
  Json *all = json_object_new_object();
  add_text(all, "name", "onnxruntime");
  add_text(all, "version", onnxruntime_version(b->rival.runtime));
  add_number(all, "median_seconds", its->median);
  add_pair(all, "median_seconds_95", its->low, its->high);
  add_json(all, "seconds", json_numbers(its->n_samples, its->samples));
  add_number(all, "times_as_fast", ratio.value);
  add_pair(all, "times_as_fast_95", ratio.low, ratio.high);
  add_int(all, "peak_bytes", b->rival.peak);
  add_int(all, "own_peak_bytes", b->rival.own_peak);
  if (isfinite(b->rival.error)) add_number(all, "difference_of_allowed", b->rival.error);
  add_int(all, "making_peak_bytes", b->size.made_in);
  return all;
}

static int put_json(const ModelBench *b) {
  Json *all = json_object_new_object();
  add_text(all, "model", b->o->run.make.from.args.at[0]);
  add_int(all, "threads", tirc_executor_threads(b->x));
  add_number(all, "median_seconds", b->f->median);
  add_pair(all, "median_seconds_95", b->f->low, b->f->high);
  add_json(all, "seconds", json_numbers(b->f->n_samples, b->f->samples));
  add_int(all, "workspace_bytes", b->size.workspace);
  add_int(all, "prepared_calls", b->size.prepared);
  add_int(all, "weight_bytes", b->size.weights);
  if (b->rival.runtime) add_json(all, "vs", rival_json(b));
  if (b->o->profile) add_json(all, "functions", profile_json(b));
  if (b->o->profile && busy_in_all(b) > 0) add_number(all, "busy", busy_in_all(b));
  return write_json(b->o->figures, all, false);
}

static int run(ModelBench *b) {
  tirc_error *e = NULL;
  int status = fill_arguments(b);
  if (status != DONE) return status;
  if (tirc_program_measure(b->program, b->n, b->args, &b->size, &e)) return report(e);
  catch_interrupts();
  if (b->rival.is_here) status = meet_rival(b);
  if (status == DONE) status = time_runs(b);
  if (status == DONE && b->o->profile) status = profile(b);
  if (status == DONE && b->rival.n_differences)
    judge_rival(&b->rival, &b->o->run.make, b->model, b->x,
                &(RivalRun){b->n, tirc_program_params(b->program), b->params, b->args});
  if (status != DONE || !b->f->n_samples) return status == DONE ? NO : status;
  fprintf(b->out,
          "%s: median %.3f ms, least %.3f ms of %d runs, %d thread%s, %d calls of %d functions",
          b->o->run.make.from.args.at[0], 1e3 * b->f->median, 1e3 * b->f->fastest, b->f->n_samples,
          tirc_executor_threads(b->x), plural(tirc_executor_threads(b->x)), b->size.calls,
          b->size.functions);
  put_prepared(b->out, b->size.prepared);
  fputc('\n', b->out);
  if (b->rival.runtime) put_rival(b);
  if (b->rival.runtime && b->size.made_in)
    fprintf(b->out, "the child process that generated the code had a peak of %.1f MB\n",
            (double)b->size.made_in * 1e-6);
  if (b->o->profile) put_profile(b);
  if (b->o->figures) status = put_json(b);
  return was_interrupted() || (status == DONE && b->rival.n_differences) ? NO : status;
}

static int measure_model(ModelBench *b) {
  const BenchOptions *o = b->o;
  Making make = o->run.make;
  tirc_error *e = NULL;
  char *end;
  make.tuned = o->how.tuned;
  const long threads = o->how.threads ? strtol(o->how.threads, &end, 10) : 0;
  if (o->how.threads && (*end || threads < 0 || threads > MOST_THREADS))
    return complain("a model is measured with one number of threads",
                    "--threads takes a number here, not '%s'", o->how.threads);
  int status = begin_rival(o->run.make.from.args.at[0], o->how.vs, &b->rival);
  if (status == DONE)
    status = load_program(&o->run.make.from, o->run.make.from.args.at[0], &b->model);
  if (status == DONE && !tirc_module_has_graph(b->model)) return usage_of_bench();
  if (status == DONE) status = make_program(&make, false, b->model, &b->program);
  if (status == DONE && tirc_executor_new((int)threads, &b->x, &e)) status = report(e);
  return status == DONE ? run(b) : status;
}

int bench_model(const BenchOptions *o) {
  ModelBench b = {.o = o, .out = o->figures && strcmp(o->figures, "-") == 0 ? stderr : stdout};
  const int status = measure_model(&b);
  end_rival(&b.rival);
  free_arguments(b.n, b.args);
  tirc_measurement_free(b.measured);
  tirc_weights_close(b.weights);
  tirc_executor_free(b.x);
  tirc_program_free(b.program);
  tirc_module_free(b.model);
  return status;
}
