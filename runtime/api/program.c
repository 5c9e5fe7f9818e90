/* Programs: made by the phases of a module, run call by call. */
#include "program.h"
#include "kept_program.h"
#include "phases_apart.h"
#include "rules_apart.h"

#include "ir/gpu.h"
#include "ir/tree/copy.h"
#include "ir/tree/print.h"
#include "ir/tree/symbols.h"
#include "ir/tree/verify.h"
#include "passes/lower/lower.h"
#include "passes/module/pipeline.h"
#include "passes/schedule/schedule.h"
#include "passes/script/script.h"
#include "runtime/interp/interp.h"
#include "runtime/kernel/timer.h"

#include <dlfcn.h>
#include <stdlib.h>

bool tirc_module_has_graph(const tirc_module *m) { return m && m->m->n_graphs > 0; }

const char *tirc_module_input(const tirc_module *m, int i) {
  const Graph *g = m ? tirc_module_main_graph(m->m) : NULL;
  return g && i >= 0 && i < g->n_params ? g->params[i]->name : NULL;
}

bool tirc_phase_table(int i, tirc_phase_info *out) {
  if (i < 0 || i >= tirc_n_module_passes || !out) return false;
  const ModulePass *p = &tirc_module_passes[i];
  *out = (tirc_phase_info){p->phase, tirc_phases[p->phase].name, tirc_phases[p->phase].help,
                           p->name, p->help};
  return true;
}

/* --- the phases ------------------------------------------------------------------------------- */

typedef struct Making {
  const tirc_module *from;
  tirc_program_options options;
  const char *last;
  Sources sources;
  tirc_program *program;
  tirc_module *module;
  bool is_again; /* of one that was kept: for its bodies */
  PackedFunctions packed;
  Tirc *c;
} Making;

static void show(void *self, int phase, const char *pass, const Module *m) {
  Making *k = self;
  Tirc *c = m->c == k->from->c ? k->c : m->c; /* that of the caller's module is not ours to fill */
  k->options.after(k->options.self, phase, tirc_phases[phase].name, pass,
                   tirc_print_module(c, m, NULL));
}

static void hand_out_text(void *self, const char *text) {
  const tirc_schedule_options *o = self;
  if (o->print) o->print(o->self, text);
}

static bool same_parameter(const Func *a, const Func *b, int i) {
  const Buffer x = a->buffers[i], y = b->buffers[i];
  if (!x != !y) return false;
  if (!x) return tirc_dtype_equal(a->params[i]->dtype, b->params[i]->dtype);
  if (!tirc_dtype_equal(x->dtype, y->dtype) || x->ndim != y->ndim) return false;
  for (int d = 0; d < x->ndim; d++)
    if (x->shape[d]->op == OP_INT && y->shape[d]->op == OP_INT &&
        x->shape[d]->u.i != y->shape[d]->u.i)
      return false;
  return true;
}

/* The function that the caller gave in the place of f. */
static const Func *main_of(Tirc *c, const Module *m, const Func *f) {
  static const char hint[] = "what schedules a function gives a module with it alone, as main";
  const Func *to = m->n_funcs == 1 ? m->funcs[0] : tirc_module_func(m, "main");
  if (!to)
    tirc_fail(c, f->loc, CODE_ARGUMENT, hint, "%s: the module given as its schedule has %s",
              f->name, m->n_funcs ? "several functions, none of them main" : "no function");
  bool is_same = to->n_params == f->n_params;
  for (int i = 0; is_same && i < f->n_params; i++) is_same = same_parameter(f, to, i);
  if (!is_same)
    tirc_fail(c, f->loc, CODE_ARGUMENT, hint,
              "%s: the function given as its schedule has other parameters", f->name);
  return to;
}

/* One function by the caller's way; what is thrown is the error that the caller gave. */
static const Func *schedule_one(Making *k, Tirc *c, const tirc_module *all, const Func *f) {
  tirc_module *alone = NULL, *to = NULL;
  tirc_error *e = NULL;
  tirc_status status = tirc_module_alone(all, f->name, "main", &alone, &e);
  if (status == TIRC_OK) status = k->options.schedule_alone(k->options.self, alone, &to, &e);
  tirc_module_free(alone);
  if (status != TIRC_OK) {
    const DiagCode code = tirc_code_of(tirc_error_get(e, TIRC_ERROR_CODE), CODE_FAILED);
    const char *hint = tirc_error_get(e, TIRC_ERROR_HINT),
               *message = tirc_error_get(e, TIRC_ERROR_MESSAGE);
    hint = hint ? tirc_strdup(c, hint) : NULL;
    message = tirc_strdup(c, message ? message : "it has no schedule");
    tirc_error_free(e);
    tirc_fail(c, f->loc, code, hint, "%s: %s", f->name, message);
  }
  tirc_context_depend(c, to->c);
  const Module *given = to->m;
  tirc_module_free(to); /* its nodes stay with c */
  Func *scheduled = tirc_copy(c, main_of(c, given, f), 1);
  scheduled->name = f->name;
  return scheduled;
}

static const Module *schedule_each(Making *k, Tirc *c, const Module *m) {
  const tirc_module *all = tirc_api_module(c, m, &k->sources);
  for (int i = 0; i < m->n_funcs; i++)
    m = tirc_module_with_func(c, m, i, schedule_one(k, c, all, all->m->funcs[i]));
  return m;
}

/* Phase "schedule": a script for the whole module, or the rules for each function. */
static const Module *schedule(void *self, Tirc *c, const Module *m) {
  Making *k = self;
  const tirc_schedule_options none = {.target = k->options.target};
  const tirc_schedule_options *o = k->options.schedule ? k->options.schedule : &none;
  const tirc_auto_options *rules = k->options.rules;
  const ScriptLimits limits = {.steps = o->max_steps};
  if (k->options.plain) return m;
  if (k->options.schedule_alone && !k->options.script) return schedule_each(k, c, m);
  if (!k->options.script)
    return tirc_schedule_by_rules(c, m, &(RulesApart){&k->sources, o, rules, hand_out_text});
  Sched *s = tirc_api_schedule(c, tirc_api_module(c, m, &k->sources), o);
  const Source source = tirc_read_source(k->c, k->options.script); /* outlives the phase */
  k->sources.at[k->sources.n == 2 ? 1 : k->sources.n++] = source;
  tirc_run_script(s, &source, &limits, hand_out_text, NULL, (void *)(uintptr_t)o);
  return s->mod;
}

void tirc_api_evaluate(void *self, Tirc *c, const Func *f, int n, const PassArray *arrays) {
  enum { MOST_STEPS = 1 << 24 };
  Argument *args = tirc_new_array(c, Argument, n);
  (void)self;
  for (int i = 0; i < n; i++) {
    const PassArray *a = &arrays[i];
    Tensor *t = args[i].tensor = tirc_new(c, Tensor);
    *t = (Tensor){.dtype = a->dtype, .ndim = a->ndim, .count = 1, .bytes = (size_t)a->bytes};
    if (a->ndim > TENSOR_MAX_NDIM)
      tirc_fail(c, f->loc, CODE_SHAPE, NULL, "an array of more than %d dimensions",
                TENSOR_MAX_NDIM);
    for (int d = 0; d < a->ndim; d++) t->count *= t->shape[d] = a->shape[d];
    t->data = a->data;
  }
  tirc_interpret(c, f, n, args, MOST_STEPS);
}

static void check_indices(Tirc *c, const char *indices) {
  static const char *const known[] = {"check", "clip", "trust"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!indices || strcmp(indices, known[i]) == 0) return;
  tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "indices must be check, clip or trust, not '%s'",
            indices);
}

/* A kernel of a GPU has nobody to tell of an index: it takes the nearest one. */
static const char *indices_of(const tirc_program_options *o) {
  if (o->indices) return o->indices;
  return o->target && tirc_gpu_find(o->target) ? "clip" : "check";
}

static PipelineOptions pipeline_options(Tirc *c, Making *k) {
  const char *target = k->options.target;
  const Gpu *gpu = target ? tirc_gpu_find(target) : NULL;
  return (PipelineOptions){.gpu = gpu,
                           .cpu = gpu ? NULL : tirc_llvm_cpu(c, tirc_cpu_or_default(target)),
                           .operators = k->options.operators,
                           .indices = indices_of(&k->options),
                           .n_skip = k->options.n_skip,
                           .skip = k->options.skip,
                           .n_extra = k->options.n_passes,
                           .extra = k->options.passes,
                           .schedule = schedule,
                           .evaluate = tirc_api_evaluate,
                           .after = k->options.after ? show : NULL,
                           .self = k};
}

static void run_phases(Tirc *c, void *self) {
  Making *k = self;
  const int last = k->last ? tirc_find_phase(k->last) : 0;
  k->c = c;
  check_indices(c, k->options.indices);
  k->sources = k->from->sources;
  if (k->sources.n > 1) k->sources.n = 1;
  if (last < 0)
    tirc_fail(c, (Loc){0}, CODE_NAME, "tirc explain passes lists them", "there is no phase '%s'",
              k->last);
  PhasesApart phases = {.options = pipeline_options(c, k), .last = last};
  tirc_context_depend(c, k->from->c);
  if (k->last)
    tirc_run_phases_apart(c, k->from->m, &phases);
  else
    phases.made = tirc_infer(tirc_passes_open(c, &phases.options), k->from->m);
  k->module = tirc_api_module(c, phases.made, &k->sources);
  k->module->unscheduled = phases.unscheduled;
}

tirc_status tirc_module_phases(const tirc_module *m, const char *last,
                               const tirc_program_options *options, tirc_module **out,
                               tirc_error **error) {
  Making k = {.from = m, .last = last};
  if (options) k.options = *options;
  const tirc_program_options *o = &k.options;
  NEED(m, LIST(o->n_skip, o->skip), LIST(o->n_libraries, o->libraries),
       LIST(o->n_passes, o->passes), out);
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  const tirc_status status = tirc_api_guard(c, run_phases, &k, &k.sources, error);
  if (status == TIRC_OK)
    *out = k.module;
  else
    tirc_context_release(c);
  return status;
}

static void widen(Tirc *c, void *self) {
  Making *k = self;
  tirc_context_depend(c, k->from->c);
  const Module *m = tirc_in_float64(c, k->from->m);
  tirc_verify(c, m);
  k->module = tirc_api_module(c, m, &k->sources);
}

tirc_status tirc_module_in_float64(const tirc_module *m, tirc_module **out, tirc_error **error) {
  NEED(m, out);
  Making k = {.from = m, .sources = m->sources};
  return tirc_api_make_module(widen, &k, &k.sources, &k.module, out, error);
}

/* --- programs --------------------------------------------------------------------------------- */

static tirc_module *signature_module(Tirc *c, const Plan *plan, const Sources *sources) {
  Module *m = tirc_new(c, Module);
  *m = (Module){.c = c, .name = "Module", .n_funcs = 1};
  m->funcs = tirc_copy(c, &plan->signature, 1);
  return tirc_api_module(c, m, sources);
}

typedef struct Compiling {
  tirc_program *p;
  const Module *lowered;
  const char *target;
  int first; /* of FUNCS_TOGETHER */
} Compiling;

static void describe(Tirc *apart, tirc_program *p, const Module *lowered, int i) {
  tirc_kernel *k = &p->kernels[i];
  const Func *f = p->module->m->funcs[i];
  Expr *symbols;
  k->c = p->c;
  tirc_api_describe_kernel(k, p->module, lowered, f->name);
  const int n = tirc_symbolic_params(apart, k->func, &symbols);
  k->lowered = tirc_func_copy(p->c, apart, k->lowered, n, symbols);
}

static void lower_some(Tirc *apart, void *self) {
  const Compiling *k = self;
  const Module *m = tirc_module_of_some(apart, k->p->module->m, k->first, FUNCS_TOGETHER);
  const Module *lowered = tirc_lower(apart, m, NULL, NULL);
  for (int i = 0; i < m->n_funcs; i++) describe(apart, k->p, lowered, k->first + i);
}

static void compile_some(Tirc *apart, void *self) {
  const Compiling *k = self;
  const Module *m = tirc_module_of_some(apart, k->lowered, k->first, FUNCS_TOGETHER);
  tirc_jit_add(apart, k->p->jit, m, k->target);
}

/* Lowering and LLVM leave as much behind as rules do. */
static void some_apart(Tirc *c, Compiling *k, void (*body)(Tirc *apart, void *self)) {
  const int n = k->p->module->m->n_funcs;
  for (k->first = 0; k->first < n; k->first += FUNCS_TOGETHER) tirc_api_apart(c, body, k);
}

const Module *tirc_program_lowered(Tirc *c, const tirc_program *p) {
  const Func **funcs = tirc_new_array(c, const Func *, p->module->m->n_funcs);
  Module *to = tirc_copy(c, p->module->m, 1);
  for (int i = 0; i < to->n_funcs; i++) funcs[i] = p->kernels[i].lowered;
  to->funcs = funcs;
  to->n_graphs = 0;
  return to;
}

static void compile(Tirc *c, tirc_program *p, const char *target, bool by_child) {
  const int n = p->module->m->n_funcs;
  p->kernels = tirc_new_array(c, tirc_kernel, n);
  if (!n) return;
  Compiling k = {.p = p, .target = tirc_cpu_or_default(target)};
  some_apart(c, &k, lower_some);
  k.lowered = tirc_program_lowered(c, p);
  if (by_child) p->jit = tirc_jit_by_child(c, k.lowered, k.target, FUNCS_TOGETHER, &p->made_in);
  if (!p->jit) {
    p->jit = tirc_jit_open(c);
    some_apart(c, &k, compile_some);
  }
  for (int i = 0; i < n; i++) {
    const Func *f = p->module->m->funcs[i];
    p->kernels[i].entry = tirc_jit_find(p->jit, f->name);
    if (!p->kernels[i].entry)
      tirc_fail(c, f->loc, CODE_CODEGEN, NULL, "there is no code for \"%s\"", f->name);
  }
}

static ForeignCall find_packed(const PackedFunctions *all, const char *name) {
  for (int i = 0; i < all->n; i++)
    if (strcmp(all->at[i].name, name) == 0) return all->at[i].call;
  return NULL;
}

static PackedFunctions copy_packed(Tirc *c, const PackedFunctions *all) {
  tirc_packed_function *at = tirc_copy(c, all->at, all->n);
  for (int i = 0; i < all->n; i++) at[i].name = tirc_strdup(c, at[i].name);
  return (PackedFunctions){all->n, at};
}

/* What the plan calls of the caller, and of other programs, in the order of the libraries. */
static void find_foreign(Tirc *c, tirc_program *p) {
  p->foreign = tirc_new_array(c, ForeignCall, p->plan->n_calls);
  for (int i = 0; i < p->plan->n_calls; i++) {
    const PlanCall *call = &p->plan->calls[i];
    if (call->symbol) p->foreign[i] = find_packed(&p->packed, call->symbol);
    for (int k = 0; call->symbol && !p->foreign[i] && k < p->n_libraries; k++)
      *(void **)&p->foreign[i] = dlsym(p->libraries[k], call->symbol);
    if (call->symbol && !p->foreign[i])
      tirc_fail(c, call->loc, CODE_NAME, "--load FILE.so loads a shared library that has it",
                "no library has the symbol \"%s\"", call->symbol);
  }
}

static void open_libraries(Tirc *c, tirc_program *p, int n, const char *const *paths) {
  p->libraries = tirc_new_array(c, void *, n);
  for (int i = 0; i < n; i++) {
    void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
      tirc_fail(c, (Loc){0}, CODE_FILE, "a path with a slash in it names a file: ./mine.so",
                "cannot load '%s': %s", paths[i], dlerror());
    p->libraries[p->n_libraries++] = library;
  }
}

static void close_libraries(tirc_program *p) {
  for (int i = 0; i < p->n_libraries; i++) dlclose(p->libraries[i]);
}

/* The phases, and code for what they made. */
static void make_anew(Tirc *c, Making *k, tirc_program *p) {
  PhasesApart phases = {.options = pipeline_options(c, k), .last = tirc_n_phases - 1};
  tirc_run_phases_apart(c, k->from->m, &phases);
  const Module *m = phases.made;
  p->plan = tirc_plan(tirc_passes_open(c, &phases.options), m);
  p->module = tirc_api_module(c, m, &k->sources);
  p->unscheduled = tirc_api_module(c, phases.unscheduled ? phases.unscheduled : m, &k->sources);
  compile(c, p, k->options.target, k->options.by_child);
}

/* What was made of the same before, or else made now, and kept. */
static void find_or_make(Tirc *c, Making *k, tirc_program *p) {
  const tirc_program_options given = k->options;
  MakingNotes *notes = tirc_new(c, MakingNotes);
  uint64_t made_of = 0;
  if (!k->is_again && tirc_program_find(c, p, k->from, &given, &made_of)) {
    p->from = k->from;
    p->options = tirc_options_to_keep(c, &given);
    return;
  }
  tirc_making_notes(notes, c, given.schedule);
  notes->made_of = made_of;
  if (!given.schedule) notes->own.target = given.target;
  k->options.schedule = &notes->own;
  make_anew(c, k, p);
  k->options.schedule = given.schedule;
  if (!k->is_again) tirc_program_keep(c, p, k->from, &given, notes);
}

/* What is prepared is the same for all extents. */
static bool has_shared(const Plan *plan) {
  bool shared = false;
  for (int i = 0; i < plan->n_tensors; i++) {
    const PlanTensor *t = &plan->tensors[i];
    int64_t known;
    if (t->place != PLAN_PREPARED) continue;
    for (int d = 0; d < t->buffer->ndim; d++)
      if (!tirc_const_int(t->buffer->shape[d], &known)) return false;
    shared = true;
  }
  return shared;
}

static void make_program(Tirc *c, void *self) {
  Making *k = self;
  tirc_program *p = tirc_new(c, tirc_program);
  k->c = c;
  check_indices(c, k->options.indices);
  k->program = p;
  k->sources = k->from->sources;
  if (k->sources.n > 1) k->sources.n = 1;
  if (k->options.by_child && k->options.target && !strcmp(k->options.target, "native"))
    tirc_llvm_host_by_child(c);
  tirc_context_depend(c, k->from->c);
  *p = (tirc_program){.c = c, .poison = k->options.poison, .sources = k->sources};
  find_or_make(c, k, p);
  p->sources = k->sources;
  p->signature = signature_module(c, p->plan, &p->sources);
  p->n_symbols = tirc_symbolic_params(c, p->plan->signature, &p->symbols);
  p->is_open = tirc_frame_open(c, p->plan);
  p->shares = has_shared(p->plan);
  p->prepared.weights = tirc_new_array(c, const void *, p->plan->n_params);
  p->placed = (Placement){0, tirc_new_array(c, MemoryUse, p->plan->n_tensors), -1};
  p->placed_once = (Placement){0, tirc_new_array(c, MemoryUse, p->plan->n_tensors), -1};
  open_libraries(c, p, k->options.n_libraries, k->options.libraries);
  p->packed = copy_packed(c, &k->packed);
  find_foreign(c, p);
}

static tirc_status new_program(Making *k, tirc_program **out, tirc_error **error) {
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  tirc_status status = tirc_api_guard(c, make_program, k, &k->sources, error);
  if (status == TIRC_OK && pthread_mutex_init(&k->program->lock, NULL)) {
    status = tirc_api_no_memory(error);
  } else if (status == TIRC_OK) {
    *out = k->program;
    return status;
  }
  if (k->program) {
    close_libraries(k->program);
    tirc_jit_free(k->program->jit);
  }
  tirc_context_release(c);
  return status;
}

tirc_status tirc_program_new_with(const tirc_module *m, const tirc_program_options *options, int n,
                                  const tirc_packed_function *functions, tirc_program **out,
                                  tirc_error **error) {
  Making k = {.from = m, .packed = {n, functions}};
  if (options) k.options = *options;
  const tirc_program_options *o = &k.options;
  NEED(m, LIST(o->n_skip, o->skip), LIST(o->n_libraries, o->libraries),
       LIST(o->n_passes, o->passes), LIST(n, functions), out);
  return new_program(&k, out, error);
}

tirc_status tirc_program_new(const tirc_module *m, const tirc_program_options *options,
                             tirc_program **out, tirc_error **error) {
  return tirc_program_new_with(m, options, 0, NULL, out, error);
}

const tirc_program *tirc_program_whole(const tirc_program *p) {
  tirc_program *shared = (tirc_program *)(uintptr_t)p;
  if (!p || !p->options) return p;
  pthread_mutex_lock(&shared->lock);
  Making k = {.from = p->from, .options = *p->options, .is_again = true, .packed = p->packed};
  if (!p->whole) (void)new_program(&k, &shared->whole, NULL);
  pthread_mutex_unlock(&shared->lock);
  return p->whole;
}

void tirc_program_free(tirc_program *p) {
  if (!p) return;
  for (Frame *f = p->idle, *next; f; f = next) {
    next = f->next;
    tirc_frame_free(f);
  }
  free(p->prepared.memory);
  tirc_program_free(p->whole);
  pthread_mutex_destroy(&p->lock);
  close_libraries(p);
  tirc_jit_free(p->jit);
  tirc_context_release(p->c);
}

const tirc_module *tirc_program_signature(const tirc_program *p) { return p ? p->signature : NULL; }
int tirc_program_inputs(const tirc_program *p) { return p ? p->plan->n_inputs : 0; }
int tirc_program_params(const tirc_program *p) { return p ? p->plan->n_params : 0; }
int tirc_program_count(const tirc_program *p, int result, int *axis) {
  return tirc_program_count_at(p, result, 0, axis);
}
int tirc_program_count_at(const tirc_program *p, int result, int i, int *axis) {
  int along = -1;
  const int count =
      p && i >= 0 ? tirc_result_count(p->plan->signature->attrs, result, i, &along) : -1;
  if (count >= 0 && axis) *axis = along;
  return count;
}
const tirc_module *tirc_program_module(const tirc_program *p) {
  p = tirc_program_whole(p);
  return p ? p->module : NULL;
}
const tirc_module *tirc_program_unscheduled(const tirc_program *p) {
  p = tirc_program_whole(p);
  return p ? p->unscheduled : NULL;
}

/* --- runs ------------------------------------------------------------------------------------- */

typedef struct Run {
  const tirc_program *p;
  tirc_executor *x;
  int n;
  const tirc_argument *args;
  const tirc_program_watch *watch;
  Frame *frame;
  tirc_program_size *size;
  int failed, last; /* status of the call that failed, which it is, */
  const tirc_launch *launch;
  const Diag *refused; /* the branch that is taken, for these extents */
  bool is_prepared;    /* what depends on weights alone is there, */
  bool shares, makes;  /* in what frames share, and this run makes it */
  bool has_prepared;   /* which is decided: to be left at the end */
} Run;

enum { MOST_IDLE = 8 };

/* An idle frame: one for these extents, else the oldest one, if there are no more to be, else
 * NULL. */
static Frame *take(const tirc_program *p, const int64_t *symbols, bool *fits) {
  tirc_program *shared = (tirc_program *)(uintptr_t)p;
  const size_t bytes = (size_t)p->n_symbols * sizeof *symbols;
  pthread_mutex_lock(&shared->lock);
  Frame **at = &shared->idle, *f;
  int n = 0;
  for (; *at; at = &(*at)->next, n++)
    if ((*fits = !bytes || !memcmp((*at)->symbols, symbols, bytes)) ||
        (n == MOST_IDLE - 1 && !(*at)->next))
      break;
  f = *at;
  if (f) *at = f->next;
  pthread_mutex_unlock(&shared->lock);
  return f;
}

static void give_back(const tirc_program *p, Frame *f) {
  tirc_program *shared = (tirc_program *)(uintptr_t)p;
  Frame *surplus = NULL;
  pthread_mutex_lock(&shared->lock);
  f->next = shared->idle;
  shared->idle = f;
  int n = 0;
  for (Frame *k = f; k; k = k->next)
    if (++n == MOST_IDLE && k->next) {
      surplus = k->next;
      k->next = surplus->next;
      break;
    }
  pthread_mutex_unlock(&shared->lock);
  tirc_frame_free(surplus);
}

/* Whether parameter k is all that the result begins with: then it may lie there already. */
static bool begins_as(const Run *r, int result, int k) {
  const Plan *plan = r->p->plan;
  const Tensor *to = r->args[result].array->t, *from = r->args[k].array->t;
  if (k >= plan->n_params || to->data != from->data) return false;
  for (int i = 0; i < plan->n_calls; i++) {
    const PlanCall *call = &plan->calls[i];
    if (call->func || call->symbol || call->guard >= 0) continue;
    const PlanTensor *a = &plan->tensors[call->tensors[0]], *b = &plan->tensors[call->tensors[1]];
    if (a->place == PLAN_PARAM && a->index == k && b->place == PLAN_RESULT && b->index == result)
      return true;
  }
  return false;
}

/* What is written is nobody else's. */
static void check_results(Tirc *c, const Run *r) {
  const Func *f = r->p->plan->signature;
  for (int i = r->p->plan->n_params; i < r->n; i++)
    for (int k = 0; k < i; k++)
      if (tirc_tensors_overlap(r->args[i].array->t, r->args[k].array->t) && !begins_as(r, i, k))
        tirc_fail(c, f->loc, CODE_ARGUMENT, "give each result an array of its own",
                  "the result \"%s\" overlaps with \"%s\"", f->buffers[i]->name,
                  f->buffers[k]->name);
}

static const int64_t *symbols_of(Tirc *c, const Run *r) {
  int64_t *symbols = tirc_new_array(c, int64_t, r->p->n_symbols);
  const Func *f = r->p->plan->signature;
  tirc_bind_arguments(c, f, r->n, tirc_api_arguments(c, f, r->n, r->args), symbols);
  for (int i = 0; i < r->n; i++)
    if (!r->args[i].array)
      tirc_fail(c, f->loc, CODE_ARGUMENT, NULL, "argument \"%s\" is not an array",
                f->buffers[i]->name);
  check_results(c, r);
  return symbols;
}

/* Whether the weights lie there, and `at` is where they lie from now on. */
static bool are_weights(const Run *r, const void **at) {
  const Plan *plan = r->p->plan;
  bool same = true;
  for (int i = plan->n_inputs; i < plan->n_params; i++) {
    const void *now = r->args[i].array->t->data;
    same &= at[i] == now;
    at[i] = now;
  }
  return same;
}

static bool same_weights(const Run *r, const void *const *at) {
  const Plan *plan = r->p->plan;
  bool same = true;
  for (int i = plan->n_inputs; i < plan->n_params; i++) same &= at[i] == r->args[i].array->t->data;
  return same;
}

/* What depends on weights alone is computed again where they lie elsewhere. One run makes what all
 * share, while no other one reads it; who cannot wait for that has memory of its own. */
static void take_prepared(Tirc *c, Run *r) {
  tirc_program *p = (tirc_program *)(uintptr_t)r->p;
  Prepared *all = &p->prepared;
  if (p->shares) {
    pthread_mutex_lock(&p->lock);
    const bool ready = all->is_ready && same_weights(r, all->weights);
    r->makes = !all->users && (!ready || r->watch);
    r->shares = r->makes || (ready && !r->watch);
    r->is_prepared = ready && !r->makes;
    if (r->shares) all->users++;
    if (r->makes) all->is_ready = false;
    if (r->makes) are_weights(r, all->weights);
    pthread_mutex_unlock(&p->lock);
  }
  if (r->shares) {
    r->frame->prepared = all->memory;
    return;
  }
  tirc_frame_pack(c, r->frame);
  const bool same = are_weights(r, r->frame->weights);
  r->is_prepared = r->frame->is_prepared = r->frame->is_prepared && same;
}

static void leave_prepared(Run *r, bool made) {
  tirc_program *p = (tirc_program *)(uintptr_t)r->p;
  if (!r->shares) {
    r->frame->is_prepared = made;
    return;
  }
  pthread_mutex_lock(&p->lock);
  p->prepared.users--;
  if (r->makes) p->prepared.is_ready = made;
  pthread_mutex_unlock(&p->lock);
}

static int run_call(const Run *r, int i) {
  const PlanCall *call = &r->p->plan->calls[i];
  Frame *f = r->frame;
  if (f->launches[i]) return tirc_launch_run(f->launches[i]);
  if (f->foreign[i]) return r->p->foreign[i](call->n, f->foreign[i]);
  const Tensor *from = &f->tensors[call->tensors[0]], *to = &f->tensors[call->tensors[1]];
  if (to->data != from->data) memcpy(to->data, from->data, from->bytes);
  return 0;
}

/* Whether the branch runs that the call is part of: conditions from the outermost on, as an inner
 * one has no value where the outer one is not taken. */
static bool is_taken(Run *r, int guard) {
  const PlanGuard *g = guard < 0 ? NULL : &r->p->plan->guards[guard];
  if (!g) return true;
  if (!is_taken(r, g->outer)) return false;
  if (*(const bool *)r->frame->tensors[g->tensor].data != g->taken) return false;
  if (!r->refused) r->refused = r->frame->refused[guard];
  return true;
}

static bool tell(const Run *r, int i, double seconds, bool before) {
  const PlanCall *call = &r->p->plan->calls[i];
  bool (*ask)(void *, const tirc_program_call *) = before ? r->watch->before : r->watch->tell;
  const tirc_program_call told = {.number = i,
                                  .of = r->p->plan->n_calls,
                                  .func = call->func ? call->func->name : NULL,
                                  .seconds = seconds,
                                  .n = call->n + call->n_scalars,
                                  .args = r->frame->arguments[i],
                                  .n_written = call->n_written};
  return !ask || ask(r->watch->self, &told);
}

/* 0, or the status of the launch that failed; *stopped: the watcher has seen enough. */
static int run_watched(const Run *r, int i, bool *stopped) {
  const int repeat = r->watch->repeat > 1 ? r->watch->repeat : 1;
  double least = 0;
  if ((*stopped = !tell(r, i, 0, true))) return 0;
  for (int k = 0; k < repeat; k++) {
    const double start = tirc_now();
    const int failed = run_call(r, i);
    const double took = tirc_now() - start;
    if (failed) return failed;
    if (!k || took < least) least = took;
  }
  *stopped = !tell(r, i, least, false);
  return 0;
}

static void poison(const Run *r) {
  const Plan *plan = r->p->plan;
  memset(r->frame->workspace, 0xff, (size_t)r->frame->total);
  for (int i = plan->n_params; i < r->n; i++)
    memset(r->args[i].array->t->data, 0xff, r->args[i].array->t->bytes);
}

static void run_frame(Run *r) {
  const Plan *plan = r->p->plan;
  Frame *f = r->frame;
  bool stopped = false;
  tirc_frame_bind(r->p, f, r->args);
  for (int i = 0; i < plan->n_calls; i++)
    if (f->launches[i]) f->launches[i]->runtime = r->x ? tirc_api_runtime(r->x) : NULL;
  if (r->p->poison) poison(r);
  const int from = r->is_prepared && !r->watch ? plan->n_prepare : 0;
  for (int i = from; i < plan->n_calls && !r->failed && !stopped; i++) {
    if (!is_taken(r, plan->calls[i].guard)) continue;
    if (r->refused) break;
    r->launch = f->launches[i];
    r->last = i;
    r->failed = r->watch ? run_watched(r, i, &stopped) : run_call(r, i);
  }
  leave_prepared(r, !r->failed && !r->refused && !stopped);
}

static void prepare_run(Tirc *c, void *self) {
  Run *r = self;
  r->args = tirc_api_arrays(c, r->p->plan->signature, r->n, r->args);
  const int64_t *symbols = symbols_of(c, r);
  if (r->size) {
    tirc_frame_sizes(c, r->p, symbols, r->size);
    return;
  }
  bool fits = false;
  Frame *idle = take(r->p, symbols, &fits);
  r->frame = fits ? idle : tirc_frame_new(c, r->p, idle, symbols, r->args);
  tirc_frame_work(c, r->p, r->frame);
  take_prepared(c, r);
  r->has_prepared = true;
  if (!r->is_prepared || r->watch) tirc_frame_prepare(c, r->p, r->frame);
}

/* The call that ended the run. */
static void fail_foreign(Tirc *c, void *self) {
  const Run *r = self;
  const PlanCall *call = &r->p->plan->calls[r->last];
  tirc_fail(c, call->loc, CODE_CALL, NULL, "\"%s\" failed with status %d", call->symbol, r->failed);
}

static void fail_refused(Tirc *c, void *self) {
  c->diag = *((const Run *)self)->refused;
  tirc_throw(c);
}

static tirc_status run_in(Tirc *c, Run *r, tirc_error **error) {
  tirc_status status = tirc_api_guard(c, prepare_run, r, &r->p->sources, error);
  if (status != TIRC_OK && r->has_prepared) leave_prepared(r, false);
  if (status != TIRC_OK && r->frame) give_back(r->p, r->frame);
  if (status != TIRC_OK) return status;
  run_frame(r);
  if (r->refused)
    status = tirc_api_scratch(fail_refused, r, &r->p->sources, error);
  else if (r->failed && r->launch)
    status = tirc_api_launch_failed(r->launch, r->failed, error);
  else if (r->failed)
    status = tirc_api_scratch(fail_foreign, r, &r->p->sources, error);
  give_back(r->p, r->frame);
  return status;
}

/* The context holds arrays for tensors as long as the run takes. */
static tirc_status run(Run *r, tirc_error **error) {
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  const tirc_status status = run_in(c, r, error);
  tirc_context_release(c);
  return status;
}

tirc_status tirc_program_run(const tirc_program *p, tirc_executor *x, int n,
                             const tirc_argument *args, tirc_error **error) {
  NEED(p, LIST(n, args));
  const tirc_status status = run(&(Run){.p = p, .x = x, .n = n, .args = args}, error);
  const tirc_program *whole = status == TIRC_OK || !p->options ? NULL : tirc_program_whole(p);
  if (!whole) return status;
  if (error) tirc_error_free(*error); /* the one that can say why is that of the bodies */
  return run(&(Run){.p = whole, .x = x, .n = n, .args = args}, error);
}

tirc_status tirc_program_run_watched(const tirc_program *p, tirc_executor *x, int n,
                                     const tirc_argument *args, const tirc_program_watch *watch,
                                     tirc_error **error) {
  NEED(p, LIST(n, args), watch);
  if (tirc_program_whole(p)) p = tirc_program_whole(p);
  return run(&(Run){.p = p, .x = x, .n = n, .args = args, .watch = watch}, error);
}

tirc_status tirc_program_measure(const tirc_program *p, int n, const tirc_argument *args,
                                 tirc_program_size *out, tirc_error **error) {
  NEED(p, LIST(n, args), out);
  tirc_program_size size;
  Run r = {.p = p, .n = n, .args = args, .size = &size};
  const tirc_status status = tirc_api_scratch(prepare_run, &r, &p->sources, error);
  if (status == TIRC_OK) *out = size;
  return status;
}
