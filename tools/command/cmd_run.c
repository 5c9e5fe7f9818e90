/* `tirc run`: arrays from files or at random, one run, a summary, files written, results checked.
 */
#include "emulate.h"
#include "tools/bench/bench.h"
#include "tools/bench/blocks.h"
#include "tools/kit/model.h"

#include <math.h>
#include <string.h>

typedef struct Session {
  const RunOptions *o;
  const tirc_module *plain, *m; /* without and with the schedule */
  const tirc_program *program;  /* of a model, whose signature both are; or NULL */
  const tirc_module *model;     /* as it was read */
  tirc_weights *weights;
  int n;
  const tirc_param *params;
  tirc_argument *args;
  tirc_argument *cut;   /* of a model: results of which only some rows count, as these; or none */
  tirc_argument *shown; /* the arguments, with these in place of the results */
  tirc_reference *reference;
  Emulated emulated;
  double on_device; /* seconds of kernels by a device's clock; 0 or less: not known */
  int n_symbols;
  tirc_symbol *symbols; /* in the shapes; known if the command line gives them or arrays tell */
} Session;

/* The first value behind "NAME=" in a list of them, or NULL. */
static const char *given(const List *list, const char *name, const char *in_file) {
  const char *value = NULL;
  for (int i = 0; i < list->n && !value; i++) value = value_of_name(list->at[i], name, in_file);
  return value;
}

static const char *given_param(const List *list, const tirc_param *p) {
  return given(list, p->name, p->in_file);
}

/* What a name could have been. */
static char *list_names(const Session *s, bool symbols) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = begin_text(&text, &size);
  for (int p = 0; p < s->n; p++) fprintf(f, "%s%s", p ? ", " : "", s->params[p].in_file);
  for (int k = 0; symbols && k < s->n_symbols; k++) fprintf(f, ", %s", s->symbols[k].in_file);
  return end_text(f, &text);
}

static int no_such_name(const Session *s, const char *option, const char *text, bool symbols) {
  if (!strchr(text, '=')) return complain(NULL, "--%s takes NAME=FILE, not '%s'", option, text);
  char *names = list_names(s, symbols);
  complain(NULL, "--%s %s: the function has no parameter '%.*s'; it has %s", option, text,
           (int)strcspn(text, "="), text, names ? names : "others");
  return BAD;
}

static int check_names(const Session *s, const List *list, const char *option) {
  const bool in = list == &s->o->run.in;
  for (int i = 0; i < list->n; i++) {
    bool known = is_archive(list->at[i]) && !strchr(list->at[i], '=');
    for (int p = 0; p < s->n; p++) known |= value_of_param(list->at[i], &s->params[p]) != NULL;
    for (int k = 0; k < s->n_symbols && in; k++)
      known |= value_of_name(list->at[i], s->symbols[k].name, s->symbols[k].in_file) != NULL;
    if (!known) return no_such_name(s, option, list->at[i], in);
  }
  return DONE;
}

static int fill_scalar(const Session *s, int i, const char *value) {
  if (!value)
    return complain("give --in NAME=VALUE, or -D NAME=VALUE",
                    "the scalar parameter \"%s\" has no value", s->params[i].name);
  return read_scalar(&s->params[i], value, &s->args[i]);
}

static int fill_symbol(const Session *s, tirc_symbol *symbol) {
  const char *value = given(&s->o->run.in, symbol->name, symbol->in_file);
  return value ? read_extent(value, symbol) : DONE;
}

/* Before any array takes its memory. */
static int check_shape(const Session *s, int i) {
  tirc_error *e = NULL;
  int64_t *shape = tirc_alloc_array(memory, (size_t)s->params[i].ndim + 1, sizeof *shape);
  return tirc_module_shape(s->m, NULL, s->n, s->args, s->n_symbols, s->symbols, i, shape, &e)
             ? report(e)
             : DONE;
}

/* What the files left: at random, in the shape that follows from all that is given. */
static int fill_array(const Session *s, int i) {
  tirc_error *e = NULL;
  if (tirc_module_array(s->m, NULL, s->n, s->args, s->n_symbols, s->symbols, i, NULL,
                        &s->args[i].array, &e))
    return report(e);
  const bool is_weight =
      s->program && i >= tirc_program_inputs(s->program) && i < tirc_program_params(s->program);
  return (is_weight ? fill_weight : fill_random)(&s->o->run, &s->params[i], i, s->args[i].array);
}

/* An array of the parameter's shape, where its strides have the elements. Whether it fits at all,
 * the call says. */
static void lay_out_array(const Session *s, int i) {
  tirc_array *out = NULL;
  if (tirc_array_ndim(s->args[i].array) != s->params[i].ndim ||
      tirc_module_array(s->m, NULL, s->n, s->args, s->n_symbols, s->symbols, i, s->args[i].array,
                        &out, NULL))
    return;
  tirc_array_free(s->args[i].array);
  s->args[i].array = out;
}

/* --test-data: the file's inputs in their order, but for those that were bound. */
static int take_test_inputs(const Session *s) {
  TestArrays given;
  const char *name;
  int param, n = 0, status = read_test_arrays(&s->o->run.make.from, "input", &given);
  while (tirc_import_input(s->model, n, &param)) n++;
  if (status == DONE && given.n != n)
    status = complain(NULL, "the folder '%s' has %d inputs, and the model takes %d",
                      s->o->run.make.from.test_data, given.n, n);
  for (int i = 0; i < given.n && status == DONE; i++) {
    name = tirc_import_input(s->model, i, &param);
    if (!name || param < 0) continue;
    if (status == DONE) status = take_bits(s->params[param].dtype, &given.at[i]);
    tirc_array_free(s->args[param].array);
    s->args[param].array = given.at[i];
    given.at[i] = NULL;
  }
  free_test_arrays(&given);
  return status;
}

static int read_files(Session *s) {
  int status = s->o->run.make.from.test_data && s->program ? take_test_inputs(s) : DONE;
  for (int i = 0; i < s->n && status == DONE; i++) {
    const char *file = s->params[i].is_array ? given_param(&s->o->run.in, &s->params[i]) : NULL;
    if (file) status = read_array_file(&s->params[i], file, &s->args[i].array);
  }
  if (status == DONE) status = read_archives(&s->o->run, s->n, s->params, s->args);
  if (status == DONE && s->program)
    status = read_weights(&s->o->run.make, s->model, s->program, &s->weights, s->args);
  return status;
}

static int find_symbols(Session *s) {
  tirc_error *e = NULL;
  const tirc_symbol *symbols;
  if (tirc_module_symbols(s->m, NULL, &s->n_symbols, &symbols, &e)) return report(e);
  s->symbols = tirc_alloc_array(memory, (size_t)s->n_symbols + 1, sizeof *s->symbols);
  for (int k = 0; k < s->n_symbols; k++) s->symbols[k] = symbols[k];
  return DONE;
}

/* Of a file that is mapped: it stays where it is. */
static bool is_weight(const Session *s, int i) {
  return s->weights && i >= tirc_program_inputs(s->program) && i < tirc_program_params(s->program);
}

static int fill_arguments(Session *s) {
  tirc_error *e = NULL;
  if (tirc_module_params(s->m, NULL, &s->n, &s->params, &e)) return report(e);
  int status = find_symbols(s);
  if (status == DONE) status = check_names(s, &s->o->run.in, "in");
  if (status == DONE) status = check_names(s, &s->o->run.out, "out");
  if (status == DONE) status = check_range_names(&s->o->run, s->n, s->params, 1);
  s->args = tirc_alloc_array(memory, (size_t)s->n + 1, sizeof *s->args);
  if (status == DONE) status = read_files(s);
  for (int i = 0; i < s->n && status == DONE; i++)
    if (!s->params[i].is_array)
      status = fill_scalar(s, i, given_param(&s->o->run.in, &s->params[i]));
  for (int k = 0; k < s->n_symbols && status == DONE; k++) status = fill_symbol(s, &s->symbols[k]);
  for (int i = 0; i < s->n && status == DONE; i++)
    if (s->args[i].array && !is_weight(s, i)) lay_out_array(s, i);
  for (int i = 0; i < s->n && status == DONE; i++)
    if (s->params[i].is_array && !s->args[i].array) status = check_shape(s, i);
  for (int i = 0; i < s->n && status == DONE; i++)
    if (s->params[i].is_array && !s->args[i].array) status = fill_array(s, i);
  /* A call passes no symbols: what is given for them must be what the arrays say. */
  if (status == DONE &&
      tirc_module_shape(s->m, NULL, s->n, s->args, s->n_symbols, s->symbols, -1, NULL, &e))
    status = report(e);
  return status;
}

/* False when it fails. */
static bool run_kernel(Session *s, const tirc_kernel *k, tirc_executor *x, tirc_error **e) {
  tirc_launch *l = NULL;
  if (!s->o->run.watch) return tirc_kernel_run(k, x, s->n, s->args, e) == TIRC_OK;
  if (tirc_launch_new(k, x, s->n, s->args, &l, e)) return false;
  watch_launch(&s->o->run, l, true);
  const tirc_status status = tirc_launch_time(l, 1, 0, 0, NULL, e);
  watch_launch(&s->o->run, l, false);
  s->on_device = tirc_launch_seconds(l);
  tirc_launch_free(l);
  return status == TIRC_OK;
}

static int run_compiled(Session *s, double *seconds) {
  tirc_executor *x = NULL;
  tirc_kernel *k = NULL;
  tirc_error *e = NULL;
  double start = 0;
  bool failed =
      tirc_executor_new(s->o->run.make.threads, &x, &e) ||
      tirc_kernel_new_on(s->m, NULL, s->o->run.device_name, s->o->run.make.from.target, &k, &e) ||
      (start = tirc_seconds(), !run_kernel(s, k, x, &e));
  *seconds = tirc_seconds() - start;
  tirc_kernel_free(k);
  tirc_executor_free(x);
  return failed ? report(e) : DONE;
}

/* The time is that of a second run: the first one computes what depends on weights alone. */
static int run_model_once(const Session *s, double *seconds) {
  tirc_executor *x = NULL;
  tirc_error *e = NULL;
  int status = DONE;
  if (tirc_executor_new(s->o->run.make.threads, &x, &e)) return report(e);
  if (s->o->check) status = check_program_calls(s->o->run.max_steps, s->program, x, s->n, s->args);
  for (int i = 0; i < 2 && status == DONE; i++) {
    const double start = tirc_seconds();
    if (tirc_program_run(s->program, x, s->n, s->args, &e)) status = report(e);
    *seconds = tirc_seconds() - start;
  }
  if (status == DONE && s->o->log_matmuls)
    status = log_products(s->o->log_matmuls, s->program, x, s->n, s->args);
  tirc_executor_free(x);
  return status;
}

static int run_once(Session *s, double *seconds) {
  tirc_error *e = NULL;
  if (s->program) return run_model_once(s, seconds);
  double start = tirc_seconds();
  if (s->o->array) {
    const int status = run_on_array(s->o, s->m, s->n, s->args);
    *seconds = tirc_seconds() - start;
    return status;
  }
  if (s->o->run.device != DEVICE_EMULATE && !s->o->interpret) return run_compiled(s, seconds);
  if (s->o->run.device == DEVICE_EMULATE) {
    const int status = emulate(s->o, s->m, s->n, s->args, &s->emulated);
    *seconds = tirc_seconds() - start;
    return status;
  }
  bool failed = tirc_module_interpret(s->m, NULL, s->n, s->args, s->o->run.max_steps, &e);
  *seconds = tirc_seconds() - start;
  return failed ? report(e) : DONE;
}

/* Behind all else: the arrays that it writes are written again. */
static int profile(const Session *s) {
  const RunOptions *o = s->o;
  tirc_executor *x = NULL;
  tirc_error *e = NULL;
  BlockTimes *t = NULL;
  if (tirc_executor_new(o->run.make.threads, &x, &e)) return report(e);
  int status =
      time_blocks(s->m, o->run.device_name, o->run.make.from.target, x, 0, s->n, s->args, &t);
  if (status == DONE && o->as_json) status = write_json(NULL, block_times_json(t), false);
  if (status == DONE && !o->as_json) put_block_times(stdout, t);
  free_block_times(t);
  tirc_executor_free(x);
  return status;
}

/* What is told, written and compared of results is the rows that count. */
static int choose_shown(Session *s) {
  const int at = s->program ? tirc_program_params(s->program) : s->n;
  s->cut = tirc_alloc_array(memory, (size_t)s->n + 1, sizeof *s->cut);
  s->shown = tirc_alloc_array(memory, (size_t)s->n + 1, sizeof *s->shown);
  for (int i = 0; i < at; i++) s->shown[i] = s->args[i];
  return rows_that_count(s->program, s->n - at, s->args + at, s->cut + at, s->shown + at);
}

/* "A: float32[2, 3] from -1 to 2.5, sum 4.75" */
static void summarise_array(const tirc_param *p, const tirc_array *a) {
  double least = (double)INFINITY, most = -(double)INFINITY, sum = 0;
  int64_t n = tirc_array_count(a), nans = 0;
  for (int64_t i = 0; i < n; i++) {
    double v = tirc_array_get(a, i);
    if (isnan(v))
      nans++;
    else
      least = fmin(least, v), most = fmax(most, v), sum += v;
  }
  printf("%s: %s[", p->in_file, tirc_array_dtype(a));
  for (int d = 0; d < tirc_array_ndim(a); d++)
    printf("%s%lld", d ? ", " : "", (long long)tirc_array_shape(a)[d]);
  if (n == nans)
    printf("] %s", n ? "all of it NaN" : "empty");
  else
    printf("] from %g to %g, sum %g", least, most, sum);
  if (nans && nans < n) printf(", and %lld NaN", (long long)nans);
  putchar('\n');
}

static void summarise(const Session *s, double seconds) {
  for (int i = 0; i < s->n; i++)
    if (s->shown[i].array && s->params[i].is_written)
      summarise_array(&s->params[i], s->shown[i].array);
  printf("time: %.3g ms (one run, the %s", seconds * 1e3, s->program ? "second" : "first");
  if (s->on_device > 0) printf("; its kernels %.3g ms, by the device's clock", s->on_device * 1e3);
  puts(")");
}

/* "float32[2, n]", as far as it fits */
static void put_type(const tirc_param *p, size_t n, char *to) {
  size_t at = (size_t)snprintf(to, n, "%s[", p->dtype);
  for (int d = 0; d < p->ndim && at < n; d++) {
    const char *comma = d ? ", " : "";
    bool known = p->shape[d] >= 0;
    at += (size_t)(known ? snprintf(to + at, n - at, "%s%lld", comma, (long long)p->shape[d])
                         : snprintf(to + at, n - at, "%s%s", comma,
                                    p->symbol[d] ? p->symbol[d] : "?"));
  }
  if (at < n) snprintf(to + at, n - at, "]");
}

/* A schedule may give a parameter another shape: then the arrays that the program took before
 * follow from those of now. */
static int require_same_parameters(const Session *s) {
  int n = 0;
  const tirc_param *was = NULL;
  tirc_error *e = NULL;
  if (tirc_module_params(s->plain, NULL, &n, &was, &e)) return report(e);
  for (int i = 0; i < n && i < s->n; i++) {
    char before[256], after[256];
    put_type(&was[i], sizeof before, before);
    put_type(&s->params[i], sizeof after, after);
    if (strcmp(before, after) == 0 || is_relaid(s->m, i)) continue;
    return complain("run it without --check, or let the schedule leave the parameter as it is and "
                    "transform the layout of a copy: cache_read or cache_write, then "
                    "transform_layout",
                    "--check cannot compare with the unscheduled program: the schedule changed the "
                    "parameter \"%s\" from %s to %s",
                    was[i].name, before, after);
  }
  return DONE;
}

/* Before the compiled code runs, which checks nothing: the interpreter reports an index outside of
 * a buffer, a division by zero. */
static int compute_expected(Session *s) {
  tirc_argument *start = tirc_alloc_array(memory, (size_t)s->n + 1, sizeof *start);
  int status = copy_back(s->plain, s->m, s->n, s->args, start);
  if (status == DONE)
    status = make_reference(s->plain, NULL, s->n, start, s->o->run.max_steps, &s->reference);
  free_arguments(s->n, start);
  return status;
}

static void print_check(const Session *s, const tirc_check *c) {
  tirc_cost cost = {.reduction = 1};
  (void)tirc_module_call_cost(s->plain, NULL, s->n, s->args, &cost, NULL);
  char *against = tirc_format(
      memory, "(reductions of length %g, against the reference interpreter)", cost.reduction);
  if (c->ok)
    printf("check: ok; largest error %.2g of %.2g allowed %s\n", c->error, c->allowed, against);
  else if (c->wrong)
    printf("check: FAILED; \"%s\" element %lld is %.9g, should be %.9g: error %.2g, %.2g allowed "
           "%s\n",
           c->param ? c->param : "?", (long long)c->at, c->got, c->expected, c->error, c->allowed,
           against);
  else
    printf("check: cannot be checked\n");
  if (c->undecided)
    printf("note: %lld of %lld elements hang on an address or a branch that rounding decides, "
           "or have no bounds: several results are right\n",
           (long long)c->undecided, (long long)c->elements);
  if (c->nan_order)
    printf("note: %lld elements differ by the order in which a NaN comes to max or min, which a "
           "schedule may change: they are not compared\n",
           (long long)c->nan_order);
}

static int check(const Session *s) {
  tirc_check c = {.ok = false};
  tirc_argument *got = tirc_alloc_array(memory, (size_t)s->n + 1, sizeof *got);
  int status = copy_back(s->plain, s->m, s->n, s->args, got);
  if (status == DONE) leave_unwritten(&s->emulated, s->reference, s->n, got);
  if (status == DONE) status = compare_results(s->reference, s->n, got, &c);
  free_arguments(s->n, got);
  if (status != DONE) return status;
  print_check(s, &c);
  return c.ok ? DONE : NO;
}

/* What is measured is compiled code of one function, here. */
static int check_profile(const RunOptions *o, bool of_model) {
  if (!o->profile) return DONE;
  const char *other = o->interpret ? "--interpret" : o->array ? "--array" : NULL;
  return other
             ? complain("leave one of them out", "--profile is of compiled code, without %s", other)
             : check_profile_word(o->profile, of_model);
}

static int run_session(Session *s) {
  const RunOptions *o = s->o;
  const bool check_whole = o->check && !s->program;
  double seconds = 0;
  int status = fill_arguments(s);
  if (status == DONE && check_whole) status = require_same_parameters(s);
  if (status == DONE && check_whole) status = compute_expected(s);
  if (status == DONE) status = run_once(s, &seconds);
  if (status == DONE) status = choose_shown(s);
  if (status == DONE && !(o->profile && o->as_json)) summarise(s, seconds);
  if (status == DONE && s->program && (o->run.make.from.quantize || o->run.make.from.activations))
    status = report_quantized(o, s->model, s->program, s->n, s->args, seconds);
  if (status == DONE && s->program && o->report)
    status = report_model(s->model, s->program, s->n, s->args);
  if (status == DONE) status = write_array_files(&o->run, s->n, s->params, s->shown);
  if (status == DONE && check_whole) status = check(s);
  if (status == DONE && o->profile) status = profile(s);
  if (status == DONE && s->program && o->run.make.from.test_data) {
    const int at = tirc_program_params(s->program);
    status = compare_test_data(&o->run.make.from, s->n - at, s->params + at, s->shown + at);
  }
  return status;
}

int run_module(const RunOptions *o, const tirc_module *plain, const tirc_module *m) {
  if (o->report && o->run.device != DEVICE_EMULATE)
    return complain("add --device emulate, which needs no GPU",
                    "--report is of --device emulate, and of models");
  Session s = {.o = o, .plain = plain, .m = m};
  int status = check_profile(o, false);
  if (status == DONE) status = run_session(&s);
  free_arguments(s.n, s.args);
  free_arguments(s.n, s.cut);
  tirc_reference_free(s.reference);
  return status;
}

static int run_model(const RunOptions *o, const tirc_module *m) {
  tirc_program *p = NULL;
  Session s = {.o = o, .model = m};
  if (o->array)
    return complain("a program whose loops are bound to pe.x, pe.y, pe.z runs there",
                    "--array runs one function, and this is a model");
  if (o->interpret)
    return complain("--check runs each of its functions by the interpreter",
                    "--interpret runs one function, and this is a model");
  if (o->run.device != DEVICE_CPU)
    return complain("leave it out; one function of it, as a program, runs there",
                    "a model is for the processor, and not for --device %s", o->run.device_name);
  int status = check_profile(o, true);
  if (status == DONE) status = make_program(&o->run.make, o->check, m, &p);
  s.program = p;
  s.plain = s.m = tirc_program_signature(p);
  if (status == DONE) status = run_session(&s);
  free_arguments(s.n, s.args);
  free_arguments(s.n, s.cut);
  tirc_weights_close(s.weights);
  tirc_program_free(p);
  return status;
}

/* -D of a scalar or an extent, as other commands have it, is its --in, which comes first. */
static int take_sizes(RunOptions *o) {
  Loading *from = &o->run.make.from;
  const char *path = from->args.at[0];
  tirc_module *plain = from->define.n && !is_onnx(path) ? read_plain(path, NULL) : NULL;
  const bool has_sizes = plain && !tirc_module_has_graph(plain); /* a model's are its constants */
  int n = 0, status = DONE;
  for (int i = 0; has_sizes && i < from->define.n; i++) {
    const char *define = from->define.at[i];
    char *name = tirc_strndup(memory, define, strcspn(define, "="));
    if (strchr(define, '=') && is_size(plain, name))
      add_to_list(&o->run.in, define);
    else
      from->define.at[n++] = define;
  }
  if (has_sizes) from->define.n = n;
  tirc_module_free(plain);
  return status;
}

static int run(void *options) {
  RunOptions *o = options;
  tirc_module *unscheduled = NULL, *m = NULL, *loaded = NULL;
  int status = take_sizes(o);
  if (status == DONE) status = load_checked(&o->run.make, &loaded);
  const bool is_model = status == DONE && tirc_module_has_graph(loaded);
  if (is_model) status = run_model(o, loaded);
  if (is_model) tirc_module_free(loaded);
  if (!is_model && status == DONE) status = schedule_loaded(&o->run.make, loaded, &unscheduled, &m);
  if (!is_model && status == DONE) status = run_module(o, unscheduled ? unscheduled : m, m);
  tirc_module_free(unscheduled);
  tirc_module_free(m);
  return status;
}

int cmd_run(RunOptions *o) {
  if (o->run.make.lines && speech.perf_map)
    return complain("leave one of them out",
                    "-g and --perf-map do not go together: code with lines "
                    "has no map");
  return run_on_device(&o->run, run, o);
}
