#include "kept_program.h"

#include "rules_apart.h"

#include "codegen/llvm/key.h"
#include "codegen/llvm/llvm.h"
#include "ir/gpu.h"
#include "ir/tree/copy.h"

#include <stdlib.h>

/* --- options --------------------------------------------------------------------------------- */

static const char *kept_text(Tirc *c, const char *s) { return s ? tirc_strdup(c, s) : NULL; }

static const char *const *kept_list(Tirc *c, int n, const char *const *from) {
  const char **to = tirc_new_array(c, const char *, n);
  for (int i = 0; i < n; i++) to[i] = tirc_strdup(c, from[i]);
  return to;
}

tirc_program_options *tirc_options_to_keep(Tirc *c, const tirc_program_options *o) {
  tirc_program_options *to = tirc_copy(c, o, 1);
  to->by_child = false; /* this process may have threads by then */
  to->target = kept_text(c, o->target);
  to->operators = kept_text(c, o->operators);
  to->script = kept_text(c, o->script);
  to->indices = kept_text(c, o->indices);
  to->skip = kept_list(c, o->n_skip, o->skip);
  to->passes = kept_list(c, o->n_passes, o->passes);
  to->libraries = kept_list(c, o->n_libraries, o->libraries);
  if (o->rules) {
    tirc_auto_options rules = {.rules = kept_text(c, o->rules->rules)};
    to->rules = tirc_copy(c, &rules, 1);
  }
  if (o->schedule) {
    tirc_schedule_options s = {.target = kept_text(c, o->schedule->target),
                               .max_steps = o->schedule->max_steps,
                               .strict = o->schedule->strict};
    to->schedule = tirc_copy(c, &s, 1);
  }
  return to;
}

/* --- keys ------------------------------------------------------------------------------------- */

typedef struct Work {
  tirc_program *p; /* to be kept, or filled in */
  const tirc_module *from;
  const tirc_program_options *o;
} Work;

/* Whoever watches it being made, or makes a part of it, is no text; bodies are all that a GPU's
 * host code has. */
static bool can_keep(const Work *k) {
  const tirc_program_options *o = k->o;
  const tirc_module *from = k->from;
  if (o->after || (o->schedule_alone && !o->script) || (o->rules && o->rules->tried) ||
      (o->schedule && (o->schedule->trace || o->schedule->verify)) || o->n_libraries)
    return false;
  if (from->lowered || from->trace || from->intrins || (o->target && tirc_gpu_find(o->target)))
    return false;
  for (int i = 0; i < from->m->n_funcs; i++)
    if (from->m->funcs[i]->relayouts) return false;
  return true;
}

static void add_options(Text *t, const tirc_program_options *o) {
  tirc_text_addf(t, "plain %d indices %s\n", o->plain, o->indices ? o->indices : "-");
  tirc_key_list(t, "skip", o->n_skip, o->skip);
  tirc_key_list(t, "pass", o->n_passes, o->passes);
  tirc_key_list(t, "script", o->script != NULL, &o->script);
}

static void add_reads(const tirc_program_options *o, ScriptReads *r) {
  if (o->operators) tirc_script_reads_folder(r, o->operators);
  if (o->script) tirc_script_reads(r, o->script);
  for (int i = 0; i < o->n_passes; i++) {
    const char *colon = strchr(o->passes[i], ':');
    const char *arguments;
    if (colon) tirc_script_reads(r, tirc_pass_file(r->c, colon + 1, &arguments));
  }
}

static const char *key_of(Tirc *c, const void *self) {
  const tirc_program_options *o = ((const Work *)self)->o;
  EntryKey k;
  if (!tirc_key_begin(&k, c, "program", o->target)) return NULL;
  add_options(&k.text, o);
  tirc_key_of_schedule(&k, o->schedule);
  tirc_key_of_rules(&k, o->rules);
  add_reads(o, &k.reads);
  return tirc_key_end(&k, ((const Work *)self)->from->m);
}

/* --- functions without bodies ----------------------------------------------------------------- */

static const Module *without_bodies(Tirc *c, const Module *m) {
  Module *to = tirc_copy(c, m, 1);
  const Func **funcs = tirc_new_array(c, const Func *, m->n_funcs);
  for (int i = 0; i < m->n_funcs; i++) {
    Func *f = tirc_copy(c, m->funcs[i], 1);
    f->relayouts = NULL;
    f->body = tirc_eval(c, tirc_int32(c, 0));
    funcs[i] = f;
  }
  to->funcs = funcs;
  to->c = c;
  to->is_class = true;
  to->n_constants = 0;
  return to;
}

static const Plan *plan_of(Tirc *c, const Module **m) {
  Passes *passes = tirc_passes_open(c, NULL);
  *m = tirc_infer(passes, *m);
  return tirc_plan(passes, *m);
}

/* --- keeping ---------------------------------------------------------------------------------- */

/* A constant that stands in several places is one tensor, and several once it has been read. */
static int count_made(const Plan *plan) {
  int n = 0;
  for (int i = 0; i < plan->n_tensors; i++) n += plan->tensors[i].place != PLAN_CONST;
  return n;
}

static bool put_modules(Text *t, const tirc_program *p) {
  Tirc *c = t->c;
  const Module *back;
  if (!tirc_put_module(t, without_bodies(c, tirc_program_lowered(c, p)), &back)) return false;
  if (!tirc_put_module(t, without_bodies(c, p->module->m), &back)) return false;
  const Plan *plan = plan_of(c, &back), *was = p->plan;
  return count_made(plan) == count_made(was) && plan->n_calls == was->n_calls &&
         plan->n_prepare == was->n_prepare && plan->n_inputs == was->n_inputs &&
         plan->n_checks == was->n_checks && plan->n_bounds == was->n_bounds &&
         plan->n_guards == was->n_guards && tirc_same_names(c, plan->signature, was->signature);
}

static void put_functions(Text *t, const tirc_program *p) {
  for (int i = 0; i < p->module->m->n_funcs; i++) {
    const tirc_kernel *k = &p->kernels[i];
    tirc_put_number(t, (int64_t)k->stack);
    for (int j = 0; j < k->func->n_params; j++) tirc_put_number(t, k->params[j].is_written);
  }
}

/* False: not all of the code is in the cache. */
static bool put_code(Text *t, const Work *k) {
  Tirc *c = t->c;
  const CodeCache cache = tirc_cache_open();
  const Module *lowered = tirc_program_lowered(c, k->p);
  const char *machine = tirc_key_of_machine(c), *cpu = tirc_cpu_or_default(k->o->target);
  for (int i = 0; i < lowered->n_funcs; i += FUNCS_TOGETHER) {
    const Module *some = tirc_module_of_some(c, lowered, i, FUNCS_TOGETHER);
    Kept object = tirc_cache_find(&cache, tirc_key_of_code(c, machine, some, cpu));
    if (!object.bytes) return false;
    tirc_put_bytes(t, object.object, object.n);
    free(object.bytes);
  }
  return true;
}

static bool put_program(Text *t, const void *self) {
  const Work *k = self;
  if (!put_modules(t, k->p)) return false;
  put_functions(t, k->p);
  return put_code(t, k);
}

/* --- finding ---------------------------------------------------------------------------------- */

static void take_functions(Tirc *c, tirc_program *p, const Module *lowered, EntryReading *r) {
  const Module *m = p->module->m;
  p->kernels = tirc_new_array(c, tirc_kernel, m->n_funcs);
  for (int i = 0; i < m->n_funcs; i++) {
    tirc_kernel *k = &p->kernels[i];
    *k = (tirc_kernel){.c = c,
                       .sources = p->sources,
                       .func = m->funcs[i],
                       .params = p->module->params[i],
                       .lowered = lowered->funcs[i],
                       .stack = (size_t)tirc_take_number(r)};
    for (int j = 0; j < k->func->n_params; j++)
      p->module->params[i][j].is_written = tirc_take_number(r) != 0;
  }
}

static void take_code(Tirc *c, tirc_program *p, const Module *lowered, EntryReading *r) {
  p->jit = tirc_jit_open(c);
  for (int i = 0; i < lowered->n_funcs; i += FUNCS_TOGETHER) {
    const Source object = tirc_take_bytes(r);
    tirc_jit_add_object(c, p->jit, tirc_module_of_some(c, lowered, i, FUNCS_TOGETHER), object.text,
                        object.length);
  }
  for (int i = 0; i < lowered->n_funcs; i++) {
    p->kernels[i].entry = tirc_jit_find(p->jit, lowered->funcs[i]->name);
    if (!p->kernels[i].entry) tirc_entry_damaged(r);
  }
}

static void take_program(EntryReading *r, void *self) {
  tirc_program *p = ((const Work *)self)->p;
  Tirc *c = r->c;
  const Module *lowered = tirc_take_module(r), *m = tirc_take_module(r);
  p->plan = plan_of(c, &m);
  p->module = tirc_api_module(c, m, &p->sources);
  if (m->n_funcs != lowered->n_funcs) tirc_entry_damaged(r);
  take_functions(c, p, lowered, r);
  take_code(c, p, lowered, r);
}

/* --- entries ---------------------------------------------------------------------------------- */

static const EntryKind programs = {"program", key_of, put_program, take_program};

void tirc_program_keep(Tirc *c, tirc_program *p, const tirc_module *from,
                       const tirc_program_options *options, const MakingNotes *notes) {
  const Work k = {p, from, options};
  if (p->module->m->n_funcs && can_keep(&k)) tirc_entry_keep(c, &programs, &k, notes);
}

bool tirc_program_find(Tirc *c, tirc_program *p, const tirc_module *from,
                       const tirc_program_options *options, uint64_t *made_of) {
  Work k = {p, from, options};
  *made_of = 0;
  if (!can_keep(&k)) return false;
  if (tirc_entry_find(c, &programs, &k, options->schedule, made_of)) return true;
  tirc_jit_free(p->jit);
  p->jit = NULL;
  return false;
}
