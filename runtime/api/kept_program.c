#include "kept_program.h"

#include "rules_apart.h"

#include "codegen/llvm/cache.h"
#include "codegen/llvm/key.h"
#include "codegen/llvm/llvm.h"
#include "ir/arith/equal.h"
#include "ir/gpu.h"
#include "ir/tree/copy.h"
#include "ir/tree/print.h"
#include "ir/tree/symbols.h"
#include "parser/program.h"
#include "passes/script/calibration.h"
#include "passes/script/reads.h"

#include <stdlib.h>

/* --- entries are numbers and texts ------------------------------------------------------------ */

static void put_number(Text *t, int64_t n) { tirc_text_addn(t, (const char *)&n, sizeof n); }

/* All lie at multiples of 8, where object files are read. */
static size_t filled_up(size_t n) { return (n + 7) / 8 * 8; }

static void put_bytes(Text *t, const char *s, size_t n) {
  static const char zeros[8];
  put_number(t, (int64_t)n);
  if (n) tirc_text_addn(t, s, n);
  if (n % 8) tirc_text_addn(t, zeros, filled_up(n) - n);
}

static void put_text(Text *t, const char *s) {
  put_number(t, s != NULL);
  if (s) put_bytes(t, s, strlen(s));
}

typedef struct Reading {
  Tirc *c;
  const char *at, *end;
} Reading;

/* An entry has a sum and its whole key, so that this is a defect of whoever wrote it. */
static _Noreturn void damaged(const Reading *r) {
  tirc_fail(r->c, (Loc){0}, CODE_FILE, NULL, "it is not whole");
}

static int64_t take_number(Reading *r) {
  int64_t n;
  if ((size_t)(r->end - r->at) < sizeof n) damaged(r);
  memcpy(&n, r->at, sizeof n);
  r->at += sizeof n;
  return n;
}

static Source take_bytes(Reading *r) {
  const int64_t n = take_number(r), left = r->end - r->at;
  if (n < 0 || n > left || (int64_t)filled_up((size_t)n) > left) damaged(r);
  const Source s = {"<kept>", r->at, (size_t)n};
  r->at += filled_up((size_t)n);
  return s;
}

static const char *take_text(Reading *r) {
  if (!take_number(r)) return NULL;
  const Source s = take_bytes(r);
  return tirc_strndup(r->c, s.text, s.length);
}

/* --- what is told ----------------------------------------------------------------------------- */

enum { TOLD_END, TOLD_WARNING, TOLD_PRINT };

static void note_warning(void *self, const char *file, int line, int column, const char *message,
                         const char *code) {
  MakingNotes *n = self;
  put_number(&n->told, TOLD_WARNING);
  put_text(&n->told, file);
  put_number(&n->told, line);
  put_number(&n->told, column);
  put_text(&n->told, message);
  put_text(&n->told, code);
  if (n->given.warn) n->given.warn(n->given.self, file, line, column, message, code);
}

static void note_print(void *self, const char *text) {
  MakingNotes *n = self;
  put_number(&n->told, TOLD_PRINT);
  put_text(&n->told, text);
  if (n->given.print) n->given.print(n->given.self, text);
}

static void pass_trace(void *self, const char *call, const char *file, int line,
                       const char *failure) {
  const MakingNotes *n = self;
  n->given.trace(n->given.self, call, file, line, failure);
}

void tirc_making_notes(MakingNotes *n, Tirc *c, const tirc_schedule_options *given) {
  *n = (MakingNotes){.c = c, .told = {.c = c}};
  if (given) n->given = *given;
  n->own = n->given;
  n->own.self = n;
  n->own.warn = note_warning;
  n->own.print = note_print;
  n->own.trace = n->given.trace ? pass_trace : NULL;
}

static void tell_again(Reading *r, const tirc_schedule_options *o) {
  for (int64_t kind; (kind = take_number(r)) != TOLD_END;) {
    if (kind == TOLD_PRINT) {
      const char *text = take_text(r);
      if (o && o->print) o->print(o->self, text);
      continue;
    }
    const char *file = take_text(r);
    const int line = (int)take_number(r), column = (int)take_number(r);
    const char *message = take_text(r), *code = take_text(r);
    if (o && o->warn) o->warn(o->self, file, line, column, message, code);
  }
}

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

/* Whoever watches it being made, or makes a part of it, is no text; bodies are all that a GPU's
 * host code has. */
static bool can_keep(const tirc_module *from, const tirc_program_options *o) {
  if (o->after || (o->schedule_alone && !o->script) || (o->rules && o->rules->tried) ||
      (o->schedule && (o->schedule->trace || o->schedule->verify)) || o->n_libraries)
    return false;
  if (from->lowered || from->trace || from->intrins || (o->target && tirc_gpu_find(o->target)))
    return false;
  for (int i = 0; i < from->m->n_funcs; i++)
    if (from->m->funcs[i]->relayouts) return false;
  return true;
}

static void add_list(Text *t, const char *name, int n, const char *const *at) {
  for (int i = 0; i < n; i++) tirc_text_addf(t, "%s %s\n", name, at[i]);
}

static void add_options(Text *t, const tirc_program_options *o) {
  tirc_text_addf(t, "plain %d indices %s\n", o->plain, o->indices ? o->indices : "-");
  add_list(t, "skip", o->n_skip, o->skip);
  add_list(t, "pass", o->n_passes, o->passes);
  add_list(t, "script", o->script != NULL, &o->script);
  add_list(t, "rules", o->rules && o->rules->rules, o->rules ? &o->rules->rules : NULL);
  const tirc_schedule_options *s = o->schedule;
  if (s)
    tirc_text_addf(t, "steps %lld strict %d target %s\n", (long long)s->max_steps, s->strict,
                   s->target ? s->target : "-");
}

static void add_target(Text *t, const char *target, ScriptReads *reads) {
  target = tirc_cpu_or_default(target);
  tirc_text_addf(t, "program for %s\n", target);
  if (strcmp(target, "native") != 0) return;
  const Cpu *cpu = tirc_llvm_cpu(t->c, target);
  tirc_text_addf(t, "%s %s, %d, %d and %d KiB, %d cores\n", cpu->name, cpu->features, cpu->l1_kib,
                 cpu->l2_kib, cpu->l3_kib, cpu->cores);
  tirc_script_reads(reads, tirc_calibration_find(t->c, cpu).file);
}

static void add_reads(const tirc_program_options *o, ScriptReads *r) {
  if (o->operators) tirc_script_reads_folder(r, o->operators);
  if (o->script) tirc_script_reads(r, o->script);
  if (o->rules && o->rules->rules) tirc_script_reads(r, o->rules->rules);
  for (int i = 0; i < o->n_passes; i++) {
    const char *colon = strchr(o->passes[i], ':');
    const char *arguments;
    if (colon) tirc_script_reads(r, tirc_pass_file(r->c, colon + 1, &arguments));
  }
}

/* All that decides what the program is; NULL: that cannot be said. */
static const char *key_of(Tirc *c, const tirc_module *from, const tirc_program_options *o) {
  const char *machine = tirc_key_of_machine(c);
  Text t = {.c = c};
  ScriptReads reads = {.c = c, .text = {.c = c}};
  if (!machine) return NULL;
  tirc_text_add(&t, machine);
  add_target(&t, o->target, &reads);
  add_options(&t, o);
  add_reads(o, &reads);
  for (int i = 0; i < from->m->n_constants; i++)
    tirc_text_addf(&t, "%s = %s\n", from->m->constants[i].name,
                   tirc_print_expr(c, from->m->constants[i].value));
  if (reads.text.n) tirc_text_add(&t, reads.text.at);
  tirc_text_add(&t, tirc_print_module_bits(c, from->m));
  /* a key is a text: what stands behind a NUL would be no part of it */
  const bool is_text = !reads.text.n || strlen(reads.text.at) == reads.text.n;
  return reads.is_open || !is_text ? NULL : t.at;
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

static const Module *lowered_of(Tirc *c, const tirc_program *p) {
  Module *to = tirc_copy(c, p->module->m, 1);
  const Func **funcs = tirc_new_array(c, const Func *, to->n_funcs);
  for (int i = 0; i < to->n_funcs; i++) funcs[i] = p->kernels[i].lowered;
  to->funcs = funcs;
  to->n_graphs = 0;
  return to;
}

static bool same_names(Tirc *c, const Func *a, const Func *b) {
  Expr *x, *y;
  const int n = tirc_symbolic_params(c, a, &x), m = tirc_symbolic_params(c, b, &y);
  if (n != m || a->n_params != b->n_params || strcmp(a->name, b->name) != 0) return false;
  for (int i = 0; i < n; i++)
    if (strcmp(x[i]->u.s, y[i]->u.s) != 0 || !tirc_dtype_equal(x[i]->dtype, y[i]->dtype))
      return false;
  for (int i = 0; i < a->n_params; i++)
    if (!a->buffers[i] != !b->buffers[i] ||
        (a->buffers[i] && strcmp(a->buffers[i]->name, b->buffers[i]->name) != 0))
      return false;
  return true;
}

/* Whether what is read is what was written, with the names that callers see. */
static bool is_same(Tirc *c, const Module *a, const Module *b) {
  if (a->n_funcs != b->n_funcs || a->n_graphs != b->n_graphs) return false;
  for (int i = 0; i < a->n_funcs; i++)
    if (!same_names(c, a->funcs[i], b->funcs[i])) return false;
  return !tirc_module_difference(c, a, b);
}

static const Module *read_module(Tirc *c, Source text) {
  return tirc_parse_module(c, &text, 0, NULL);
}

static const Plan *plan_of(Tirc *c, const Module **m) {
  Passes *passes = tirc_passes_open(c, NULL);
  *m = tirc_infer(passes, *m);
  return tirc_plan(passes, *m);
}

/* --- keeping ---------------------------------------------------------------------------------- */

typedef struct Work {
  tirc_program *p;
  const tirc_module *from;
  const tirc_program_options *o;
  const MakingNotes *notes;
  CodeCache cache;
  const char *key; /* of the heap */
  bool found;
} Work;

static bool put_module(Text *t, Tirc *c, const Module *m, const Module **back) {
  const char *text = tirc_print_module(c, m, NULL);
  put_bytes(t, text, strlen(text));
  *back = read_module(c, (Source){"<kept>", text, strlen(text)});
  return is_same(c, m, *back);
}

/* A constant that stands in several places is one tensor, and several once it has been read. */
static int count_made(const Plan *plan) {
  int n = 0;
  for (int i = 0; i < plan->n_tensors; i++) n += plan->tensors[i].place != PLAN_CONST;
  return n;
}

static bool put_modules(Text *t, Tirc *c, const tirc_program *p) {
  const Module *back;
  if (!put_module(t, c, without_bodies(c, lowered_of(c, p)), &back)) return false;
  if (!put_module(t, c, without_bodies(c, p->module->m), &back)) return false;
  const Plan *plan = plan_of(c, &back), *was = p->plan;
  return count_made(plan) == count_made(was) && plan->n_calls == was->n_calls &&
         plan->n_prepare == was->n_prepare && plan->n_inputs == was->n_inputs &&
         plan->n_checks == was->n_checks && plan->n_bounds == was->n_bounds &&
         plan->n_guards == was->n_guards && same_names(c, plan->signature, was->signature);
}

static void put_functions(Text *t, const tirc_program *p) {
  for (int i = 0; i < p->module->m->n_funcs; i++) {
    const tirc_kernel *k = &p->kernels[i];
    put_number(t, (int64_t)k->stack);
    for (int j = 0; j < k->func->n_params; j++) put_number(t, k->params[j].is_written);
  }
}

/* False: not all of the code is in the cache. */
static bool put_code(Text *t, Tirc *c, const Work *k) {
  const Module *lowered = lowered_of(c, k->p);
  const char *machine = tirc_key_of_machine(c), *cpu = tirc_cpu_or_default(k->o->target);
  for (int i = 0; i < lowered->n_funcs; i += FUNCS_TOGETHER) {
    const int left = lowered->n_funcs - i;
    const Module *some =
        tirc_module_of_some(c, lowered, i, left < FUNCS_TOGETHER ? left : FUNCS_TOGETHER);
    Kept object = tirc_cache_find(&k->cache, tirc_key_of_code(c, machine, some, cpu));
    if (!object.bytes) return false;
    put_bytes(t, object.object, object.n);
    free(object.bytes);
  }
  return true;
}

static void keep(Tirc *c, void *self) {
  const Work *k = self;
  Text t = {.c = c};
  const char *key = key_of(c, k->from, k->o);
  if (!key || tirc_cache_sum(key) != k->notes->made_of) return;
  if (k->notes->told.n) tirc_text_addn(&t, k->notes->told.at, k->notes->told.n);
  put_number(&t, TOLD_END);
  if (!put_modules(&t, c, k->p)) return;
  put_functions(&t, k->p);
  if (put_code(&t, c, k)) tirc_cache_keep(&k->cache, key, t.at, t.n);
}

/* Where it cannot be kept, it was made all the same. */
void tirc_program_keep(Tirc *c, tirc_program *p, const tirc_module *from,
                       const tirc_program_options *options, const MakingNotes *notes) {
  Work k = {.p = p, .from = from, .o = options, .notes = notes, .cache = tirc_cache_open()};
  Trap trap;
  if (!*k.cache.folder || !p->module->m->n_funcs || !can_keep(from, options)) return;
  if (!TIRC_TRY(c, trap)) {
    c->trap = trap.outer;
    return;
  }
  tirc_api_apart(c, keep, &k);
  TIRC_END(c, trap);
}

/* --- finding ---------------------------------------------------------------------------------- */

static void take_functions(Tirc *c, tirc_program *p, const Module *lowered, Reading *r) {
  const Module *m = p->module->m;
  p->kernels = tirc_new_array(c, tirc_kernel, m->n_funcs);
  for (int i = 0; i < m->n_funcs; i++) {
    tirc_kernel *k = &p->kernels[i];
    *k = (tirc_kernel){.c = c,
                       .sources = p->sources,
                       .func = m->funcs[i],
                       .params = p->module->params[i],
                       .lowered = lowered->funcs[i],
                       .stack = (size_t)take_number(r)};
    for (int j = 0; j < k->func->n_params; j++)
      p->module->params[i][j].is_written = take_number(r) != 0;
  }
}

static void take_code(Tirc *c, tirc_program *p, const Module *lowered, Reading *r) {
  p->jit = tirc_jit_open(c);
  for (int i = 0; i < lowered->n_funcs; i += FUNCS_TOGETHER) {
    const int left = lowered->n_funcs - i;
    const Source object = take_bytes(r);
    tirc_jit_add_object(
        c, p->jit,
        tirc_module_of_some(c, lowered, i, left < FUNCS_TOGETHER ? left : FUNCS_TOGETHER),
        object.text, object.length);
  }
  for (int i = 0; i < lowered->n_funcs; i++) {
    p->kernels[i].entry = tirc_jit_find(p->jit, lowered->funcs[i]->name);
    if (!p->kernels[i].entry) damaged(r);
  }
}

static void take_program(Tirc *c, tirc_program *p, Reading *r) {
  const Module *lowered = read_module(c, take_bytes(r)), *m = read_module(c, take_bytes(r));
  p->plan = plan_of(c, &m);
  p->module = tirc_api_module(c, m, &p->sources);
  if (m->n_funcs != lowered->n_funcs) damaged(r);
  take_functions(c, p, lowered, r);
  take_code(c, p, lowered, r);
}

static void warn_damaged(const tirc_program_options *o) {
  const tirc_schedule_options *s = o->schedule;
  if (s && s->warn)
    s->warn(s->self, NULL, 0, 0, "the program in the code cache is damaged: it is made again",
            "file");
}

static void find(Tirc *apart, void *self) {
  Work *k = self;
  const char *key = key_of(apart, k->from, k->o);
  if (key) k->key = tirc_api_copy(apart, key, strlen(key));
}

static bool take(Tirc *c, tirc_program *p, const tirc_program_options *o, const Kept *kept) {
  Reading r = {c, kept->object, kept->object + kept->n};
  Reading told = r;
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    c->trap = trap.outer;
    tirc_jit_free(p->jit);
    p->jit = NULL;
    warn_damaged(o);
    return false;
  }
  tell_again(&r, NULL);
  take_program(c, p, &r);
  TIRC_END(c, trap);
  tell_again(&told, o->schedule);
  return true;
}

bool tirc_program_find(Tirc *c, tirc_program *p, const tirc_module *from,
                       const tirc_program_options *options, uint64_t *made_of) {
  Work k = {.p = p, .from = from, .o = options, .cache = tirc_cache_open()};
  Trap trap;
  *made_of = 0;
  if (!*k.cache.folder || !can_keep(from, options)) return false;
  if (!TIRC_TRY(c, trap)) { /* what cannot be read is said by whoever makes it */
    c->trap = trap.outer;
    return false;
  }
  tirc_api_apart(c, find, &k);
  TIRC_END(c, trap);
  if (k.key) *made_of = tirc_cache_sum(k.key);
  Kept kept = k.key ? tirc_cache_find(&k.cache, k.key) : (Kept){0};
  free((char *)(uintptr_t)k.key);
  if (kept.was_damaged) warn_damaged(options);
  const bool found = kept.bytes && take(c, p, options, &kept);
  free(kept.bytes);
  return found;
}
