/* Models: modules with graphs, through the phases, with their weights, checked call by call. */
#include "model.h"

#include <string.h>

/* --- the phases ------------------------------------------------------------------------------- */

typedef struct Watcher {
  const Making *o;
  int status;
} Watcher;

/* --print-after and --skip go by names of phases, their numbers, and passes. */
static bool is_meant(const char *wanted, int phase, const char *name, const char *pass) {
  char *number = tirc_format(memory, "%d", phase);
  if (!wanted) return false;
  if (strcmp(wanted, "all") == 0) return pass != NULL;
  return pass ? strcmp(wanted, pass) == 0
              : strcmp(wanted, name) == 0 || strcmp(wanted, number) == 0;
}

static bool knows(const char *wanted) {
  tirc_phase_info row;
  bool known = strcmp(wanted, "all") == 0;
  for (int i = 0; tirc_phase_table(i, &row); i++)
    known |= is_meant(wanted, row.phase, row.phase_name, NULL) ||
             is_meant(wanted, row.phase, row.phase_name, row.name);
  return known;
}

/* debug-phase0.tir ... */
static int dump(const Making *o, int phase, const char *text) {
  const int status = make_folder(o->dump_dir);
  if (status != DONE) return status;
  return write_output(tirc_format(memory, "%s/debug-phase%d.tir", o->dump_dir, phase), text,
                      strlen(text));
}

static void see(void *self, int phase, const char *name, const char *pass, const char *text) {
  Watcher *w = self;
  if (is_meant(w->o->print_after, phase, name, pass))
    fprintf(stderr, "# after %s%s%s\n%s\n", pass ? "" : "the phase ", pass ? pass : name,
            pass ? "" : "", text);
  if (!pass && w->o->dump_dir && w->status == DONE) w->status = dump(w->o, phase, text);
}

static int check_names_of_passes(const Making *o) {
  if (o->print_after && !knows(o->print_after))
    return complain("`tirc explain passes` lists them", "there is no phase or pass '%s'",
                    o->print_after);
  return DONE;
}

typedef struct Choice { /* the options and what they point to */
  tirc_schedule_options schedule;
  tirc_auto_options rules;
  tirc_program_options program;
} Choice;

/* --tuned: of the records of a function, as `tirc tune` of the model makes them. */
static tirc_status schedule_tuned(void *self, const tirc_module *m, tirc_module **out,
                                  tirc_error **error) {
  const Making *o = ((const Watcher *)self)->o;
  const tirc_schedule_options s = schedule_options(o);
  const tirc_auto_options rules = auto_options(o);
  return tirc_module_tuned(m, o->database, o->threads, &rules, &s, out, error);
}

/* As a text of a script. */
static const char *quoted(const char *text) {
  char *out = NULL;
  size_t n = 0;
  FILE *f = begin_text(&out, &n);
  putc('"', f);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') putc('\\', f);
    putc(*text, f);
  }
  putc('"', f);
  return end_text(f, &out);
}

const char *quantize_pass(const Loading *o, bool measure) {
  const bool is_4 = strcmp(o->quantize, "int4") == 0;
  const int64_t group = o->group ? o->group : is_4 ? 32 : 0;
  return tirc_format(memory,
                     "prepare:quantize(bits=%d, group=%lld, zero_point=%s, only=%s, "
                     "activations=%s, measure=%s)",
                     is_4 ? 4 : 8, (long long)group, o->zero_point ? "True" : "False",
                     quoted(o->quantize_only ? o->quantize_only : "*"),
                     o->activations ? "True" : "False", measure ? "True" : "False");
}

const char *activations_pass(bool measure) {
  return measure ? "prepare:int8_activations(measure=True)" : "prepare:int8_activations()";
}

static int check_activations(const Loading *o) {
  if (!o->activations) return DONE;
  if (strcmp(o->activations, "int8") != 0)
    return complain("--activations=int8", "--activations=%s is not known", o->activations);
  return DONE;
}

int check_quantize(const Loading *o) {
  if (check_activations(o) != DONE) return BAD;
  if (!o->quantize) {
    const char *alone = o->group ? "group" : o->quantize_only ? "only" : "zero-point";
    if (!o->group && !o->quantize_only && !o->zero_point) return DONE;
    return complain("--quantize=int8 or --quantize=int4",
                    "--%s says how weights are quantized, and they are not", alone);
  }
  if (strcmp(o->quantize, "int8") != 0 && strcmp(o->quantize, "int4") != 0)
    return complain("weights become int8 or int4", "--quantize=%s is not known", o->quantize);
  return DONE;
}

/* What options ask for comes before the passes of the user's own. */
static List passes_of_options(const Loading *o) {
  List all = {0};
  if (o->quantize)
    add_to_list(&all, quantize_pass(o, false));
  else if (o->activations)
    add_to_list(&all, activations_pass(false));
  return all;
}

int rewrite_weights(const Loading *o, const tirc_module *m, tirc_module **out) {
  const List passes = passes_of_options(o);
  const tirc_program_options how = {
      .target = o->target, .operators = o->operators, .n_passes = passes.n, .passes = passes.at};
  tirc_error *e = NULL;
  *out = NULL;
  if (check_quantize(o) != DONE) return BAD;
  return passes.n && tirc_module_phases(m, "prepare", &how, out, &e) ? report(e) : DONE;
}

static List passes_of(const Making *o) {
  List all = passes_of_options(&o->from);
  for (int i = 0; i < o->pass.n; i++) add_to_list(&all, o->pass.at[i]);
  return all;
}

static void choose(const Making *o, bool poison, Watcher *w, Choice *c) {
  const List *args = &o->from.args, passes = passes_of(o);
  c->schedule = schedule_options(o);
  c->rules = auto_options(o);
  c->program = (tirc_program_options){.target = o->from.target,
                                      .operators = o->from.operators,
                                      .indices = o->indices,
                                      .n_skip = o->skip.n,
                                      .skip = o->skip.at,
                                      .n_libraries = o->load.n,
                                      .libraries = o->load.at,
                                      .n_passes = passes.n,
                                      .passes = passes.at,
                                      .plain = o->plain,
                                      .script = args->n > 1 ? args->at[1] : NULL,
                                      .rules = &c->rules,
                                      .schedule = &c->schedule,
                                      .poison = poison,
                                      .by_child = true,
                                      .self = w,
                                      .schedule_alone = o->tuned ? schedule_tuned : NULL,
                                      .after = o->print_after || o->dump_dir ? see : NULL};
}

static int check_choice(const Making *o) {
  if (o->plain && (o->from.args.n > 1 || is_automatic(o)))
    return complain("leave one of them out", "--plain is not a schedule, and there is one");
  if (o->trace_json)
    return complain("write the calls as a script", "a trace is of one function, not of a model");
  const int status = check_quantize(&o->from);
  return status == DONE ? check_names_of_passes(o) : status;
}

/* A program, or the module after the phases up to `last`. */
static int take_phases(const Making *o, bool poison, const tirc_module *m, const char *last,
                       tirc_program **program, tirc_module **module) {
  Watcher w = {o, DONE};
  tirc_error *e = NULL;
  Choice c;
  const int status = check_choice(o);
  if (status != DONE) return status;
  choose(o, poison, &w, &c);
  if (program ? tirc_program_new(m, &c.program, program, &e)
              : tirc_module_phases(m, last, &c.program, module, &e))
    return report(e);
  give_back_memory();
  return w.status;
}

int make_program(const Making *o, bool poison, const tirc_module *m, tirc_program **out) {
  return take_phases(o, poison, m, NULL, out, NULL);
}

int run_phases(const Making *o, const tirc_module *m, const char *last, tirc_module **out) {
  return take_phases(o, false, m, last, NULL, out);
}

/* --- the report ------------------------------------------------------------------------------- */

static void put_parameters(const char *what, int from, int to, const tirc_param *params) {
  for (int i = from; i < to; i++) {
    printf("%-10s%s: %s[", i == from ? what : "", params[i].name, params[i].dtype);
    for (int d = 0; d < params[i].ndim; d++) {
      if (d) printf(", ");
      if (params[i].shape[d] >= 0)
        printf("%lld", (long long)params[i].shape[d]);
      else
        printf("%s", params[i].symbol[d] ? params[i].symbol[d] : "?");
    }
    puts("]");
  }
}

static void put_operator(void *self, const char *name, int calls) {
  int *n = self;
  printf("%-10s%d x %s\n", (*n)++ ? "" : "operators", calls, name);
}

void put_prepared(FILE *to, int calls) {
  if (calls == 1) fputs("; 1 call depends only on weights and runs once", to);
  if (calls > 1) fprintf(to, "; %d calls depend only on weights and run once", calls);
}

int report_model(const tirc_module *m, const tirc_program *p, int n, const tirc_argument *args) {
  tirc_error *e = NULL;
  const tirc_param *params;
  tirc_program_size size;
  int all, told = 0;
  const int inputs = tirc_program_inputs(p), end = tirc_program_params(p);
  if (tirc_module_params(tirc_program_signature(p), NULL, &all, &params, &e) ||
      tirc_program_measure(p, n, args, &size, &e))
    return report(e);
  put_parameters("inputs", 0, inputs, params);
  put_parameters("results", end, all, params);
  if (tirc_module_operators(m, put_operator, &told, &e)) return report(e);
  printf("%-10s%d of %d functions", "calls", size.calls, size.functions);
  put_prepared(stdout, size.prepared);
  printf("\n%-10s%d, %lld bytes\n", "weights", end - inputs, (long long)size.weights);
  printf("%-10s%lld bytes, %lld without sharing\n", "workspace", (long long)size.workspace,
         (long long)size.unshared);
  printf("%-10s%lld bytes with weights, inputs and results\n", "peak",
         (long long)(size.workspace + size.packed + size.weights + size.inputs + size.results));
  return DONE;
}

/* --- weights ---------------------------------------------------------------------------------- */

int read_weights(const Making *o, const tirc_module *m, const tirc_program *p, tirc_weights **file,
                 tirc_argument *args) {
  tirc_error *e = NULL;
  int n;
  const tirc_param *params;
  if (o->weights ? tirc_weights_open(o->weights, file, &e) : tirc_module_weights(m, file, &e))
    return report(e);
  if (!*file) return DONE;
  if (tirc_module_params(tirc_program_signature(p), NULL, &n, &params, &e)) return report(e);
  for (int i = tirc_program_inputs(p); i < tirc_program_params(p); i++)
    if (!args[i].array && tirc_weights_array(*file, params[i].name, &args[i].array, &e))
      return report(e);
  return DONE;
}

/* --- each function against itself ------------------------------------------------------------- */

/* A weight in the layout that a schedule asks for, and a copy of it as it was: nothing else reads
 * that, so other values may take its place. */
typedef struct Packed {
  const void *data;
  tirc_array *weight;
} Packed;

typedef struct Checking {
  int64_t max_steps;
  const tirc_program *p;
  const tirc_module *plain;
  tirc_reference *reference; /* of the call that runs, with these arguments */
  tirc_argument *args;
  int n_done;
  const char **done; /* names of functions that were checked */
  int n_packed;
  Packed *packed;
  int status, skipped;
} Checking;

static bool is_done(Checking *k, const char *func) {
  for (int i = 0; i < k->n_done; i++)
    if (strcmp(k->done[i], func) == 0) return true;
  *one_more(k->done, k->n_done) = func;
  return false;
}

static bool takes(const tirc_param *p, const tirc_argument *a) {
  if (!p->is_array || !a->array) return !p->is_array && !a->array;
  if (p->ndim != tirc_array_ndim(a->array)) return false;
  for (int d = 0; d < p->ndim; d++)
    if (p->shape[d] >= 0 && p->shape[d] != tirc_array_shape(a->array)[d]) return false;
  return true;
}

/* The call's arguments as the function has them without its schedule, which packs no weights; NULL:
 * it has other parameters. */
static tirc_argument *plain_arguments(const Checking *k, const tirc_program_call *call) {
  int n;
  const tirc_param *params;
  if (tirc_module_params(k->plain, call->func, &n, &params, NULL) || n != call->n) return NULL;
  tirc_argument *args = tirc_alloc_array(memory, (size_t)n + 1, sizeof *args);
  for (int i = 0; i < n; i++) {
    args[i] = call->args[i];
    for (int j = 0; j < k->n_packed && args[i].array; j++)
      if (k->packed[j].data == tirc_array_data(args[i].array)) args[i].array = k->packed[j].weight;
    if (takes(&params[i], &args[i])) continue;
    return NULL;
  }
  return args;
}

/* What packs a weight is no function without schedules. */
static bool is_packing(const Checking *k, const tirc_program_call *call) {
  int n;
  const tirc_param *params;
  return call->n == 2 && call->args[0].array && call->args[1].array &&
         tirc_module_params(k->plain, call->func, &n, &params, NULL) != TIRC_OK;
}

static bool note_packed(Checking *k, const tirc_program_call *call) {
  Packed *p = one_more(k->packed, k->n_packed);
  *p = (Packed){.data = tirc_array_data(call->args[1].array)};
  return !tirc_array_copy(call->args[0].array, &p->weight, NULL);
}

static bool before_call(void *self, const tirc_program_call *call) {
  Checking *k = self;
  if (!call->func) return true;
  if (is_packing(k, call)) return note_packed(k, call);
  if (is_done(k, call->func)) return true;
  k->args = plain_arguments(k, call);
  if (!k->args) {
    k->skipped++;
    return true;
  }
  if (speech.progress)
    fprintf(stderr, "\r\033[Kcall %d of %d: %s", call->number + 1, call->of, call->func);
  k->status = make_reference(k->plain, call->func, call->n, k->args, k->max_steps, &k->reference);
  return k->status == DONE;
}

static bool after_call(void *self, const tirc_program_call *call) {
  Checking *k = self;
  tirc_check c = {.ok = true};
  if (!k->reference) return true;
  k->status = compare_results(k->reference, call->n, k->args, &c);
  if (k->status == DONE && !c.ok) {
    if (speech.progress) fprintf(stderr, "\r\033[K");
    if (!c.wrong)
      printf("check: cannot be checked; call %d of %d, %s: %lld of %lld elements hang on an "
             "address or a branch that rounding decides, or have no bounds\n",
             call->number + 1, call->of, call->func, (long long)c.undecided, (long long)c.elements);
    else
      printf("check: FAILED; call %d of %d, %s: \"%s\" element %lld is %.9g, should be %.9g: error "
             "%.2g, %.2g allowed\n",
             call->number + 1, call->of, call->func, c.param ? c.param : "?", (long long)c.at,
             c.got, c.expected, c.error, c.allowed);
    k->status = NO;
  }
  tirc_reference_free(k->reference);
  k->reference = NULL;
  k->args = NULL;
  return k->status == DONE;
}

int check_program_calls(int64_t max_steps, const tirc_program *p, tirc_executor *x, int n,
                        const tirc_argument *args) {
  tirc_error *e = NULL;
  Checking k = {.max_steps = max_steps, .p = p, .plain = tirc_program_unscheduled(p)};
  const tirc_program_watch watch = {.self = &k, .before = before_call, .tell = after_call};
  const bool failed = tirc_program_run_watched(p, x, n, args, &watch, &e);
  tirc_reference_free(k.reference);
  if (speech.progress) fprintf(stderr, "\r\033[K");
  const int compared = k.n_done - k.skipped;
  if (!failed && k.status == DONE && !compared)
    printf("check: nothing was compared: no function ran that has its parameters without a "
           "schedule\n");
  if (!failed && k.status == DONE && compared) {
    printf("check: ok; %d function%s, each against its unscheduled self on what it got\n", compared,
           plural(compared));
    if (k.skipped)
      printf("note: %d have other parameters without their schedules and were not compared\n",
             k.skipped);
  }
  for (int i = 0; i < k.n_packed; i++) tirc_array_free(k.packed[i].weight);
  return failed ? report(e) : k.status;
}
