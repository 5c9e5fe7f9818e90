/* Programs: reading, printing, comparing, scheduling, lowering, code. */
#include "api.h"
#include "call_notes.h"
#include "local_notes.h"

#include "codegen/llvm/llvm.h"
#include "ir/arith/equal.h"
#include "ir/arith/hash.h"
#include "ir/nearest.h"
#include "ir/tree/annotations.h"
#include "ir/tree/print.h"
#include "ir/tree/verify.h"
#include "parser/onnx/onnx.h"
#include "parser/program.h"
#include "passes/lower/lower.h"
#include "passes/lower/packing.h"
#include "passes/module/pipeline.h"
#include "passes/replay/replay.h"
#include "passes/schedule/meaning/meaning.h"
#include "passes/script/script.h"

#include <inttypes.h>

tirc_module *tirc_api_module(Tirc *c, const Module *m, const Sources *sources) {
  tirc_module *r = tirc_new(c, tirc_module);
  *r = (tirc_module){.c = c, .m = m, .sources = *sources};
  r->params = tirc_new_array(c, tirc_param *, m->n_funcs);
  r->symbols = tirc_new_array(c, tirc_symbol *, m->n_funcs);
  r->n_symbols = tirc_new_array(c, int, m->n_funcs);
  for (int i = 0; i < m->n_funcs; i++) {
    r->params[i] = tirc_api_params(c, m, m->funcs[i]);
    r->symbols[i] = tirc_api_symbols(c, m->funcs[i], &r->n_symbols[i]);
  }
  return r;
}

void tirc_module_free(tirc_module *m) {
  if (m) tirc_context_release(m->c);
}

static bool has_symbol(const Func *f, const char *name) {
  Expr symbol = tirc_attrs_get(f->attrs, tirc_key(KEY_GLOBAL_SYMBOL));
  return symbol && symbol->op == OP_STRING && strcmp(symbol->u.s, name) == 0;
}

const Func *tirc_api_func(Tirc *c, const Module *m, const char *name, int *index) {
  const Func *f = name ? NULL : tirc_module_main(m);
  for (int i = 0; name && !f && i < m->n_funcs; i++)
    if (strcmp(m->funcs[i]->name, name) == 0) f = m->funcs[i];
  for (int i = 0; name && !f && i < m->n_funcs; i++)
    if (has_symbol(m->funcs[i], name)) f = m->funcs[i];
  for (int i = 0; f && i < m->n_funcs; i++)
    if (m->funcs[i] == f && index) *index = i;
  if (f) return f;
  if (name)
    tirc_fail(c, (Loc){m->file, 0, 0}, CODE_NAME, NULL, "there is no function \"%s\"", name);
  tirc_fail(c, (Loc){m->file, 0, 0}, CODE_NAME, "name one of them main, or say which one to use",
            "the module has %d functions, but none is named main", m->n_funcs);
}

Source tirc_api_keep_source(Tirc *c, Source s) {
  return (Source){tirc_strdup(c, s.name ? s.name : "<text>"), tirc_strndup(c, s.text, s.length),
                  s.length};
}

tirc_status tirc_api_make_module(void (*body)(Tirc *c, void *self), void *self, Sources *sources,
                                 tirc_module **made, tirc_module **out, tirc_error **error) {
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  tirc_status status = tirc_api_guard(c, body, self, sources, error);
  if (status == TIRC_OK) *out = *made;
  if (status != TIRC_OK || !*made) tirc_context_release(c);
  return status;
}

/* --- attributes of code ----------------------------------------------------------------------- */

typedef struct WithWish {
  const tirc_module *from;
  AnnotationKey key; /* of the module, or of each function */
  bool of_functions;
  Sources sources;
  tirc_module *result;
} WithWish;

static Attrs wish(Tirc *c, const WithWish *p, Attrs attrs) {
  return tirc_attrs_set(c, attrs, tirc_key(p->key), tirc_bool(c, true));
}

static const Module *with_functions(Tirc *c, const WithWish *p, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++) {
    Func *f = tirc_copy(c, m->funcs[i], 1);
    f->attrs = wish(c, p, f->attrs);
    m = tirc_module_with_func(c, m, i, f);
  }
  return m;
}

static void with_wish(Tirc *c, void *self) {
  WithWish *p = self;
  tirc_context_depend(c, p->from->c);
  Module *m = tirc_copy(c, p->from->m, 1);
  m->c = c;
  if (p->of_functions)
    m = tirc_copy(c, with_functions(c, p, m), 1);
  else
    m->attrs = wish(c, p, m->attrs);
  p->result = tirc_api_module(c, m, &p->sources);
  p->result->lowered = p->from->lowered;
  p->result->unscheduled = p->from->unscheduled;
  p->result->trace = p->from->trace;
  p->result->imported = p->from->imported;
  p->result->intrins = p->from->intrins;
}
static tirc_status make_with_wish(WithWish p, tirc_module **out, tirc_error **error) {
  p.sources = p.from->sources;
  return tirc_api_make_module(with_wish, &p, &p.sources, &p.result, out, error);
}
tirc_status tirc_module_with_lines(const tirc_module *m, tirc_module **out, tirc_error **error) {
  NEED(m, out);
  return make_with_wish((WithWish){.from = m, .key = KEY_DEBUG_LINES}, out, error);
}
tirc_status tirc_module_with_fast_math(const tirc_module *m, tirc_module **out,
                                       tirc_error **error) {
  NEED(m, out);
  return make_with_wish((WithWish){.from = m, .key = KEY_FAST_MATH, .of_functions = true}, out,
                        error);
}

/* --- parsing ---------------------------------------------------------------------------------- */

typedef struct Parse {
  const char *path; /* NULL: text is given */
  Source text;
  int n_defines;
  const tirc_define *defines;
  Sources sources;
  tirc_module *result;
} Parse;

static void parse(Tirc *c, void *self) {
  Parse *p = self;
  Source source = p->path ? tirc_read_source(c, p->path) : tirc_api_keep_source(c, p->text);
  p->sources = (Sources){1, {source}};
  Define *defines = tirc_new_array(c, Define, p->n_defines);
  for (int i = 0; i < p->n_defines; i++)
    defines[i] = (Define){tirc_strdup(c, tirc_api_name(c, p->defines[i].name)),
                          tirc_strdup(c, tirc_api_name(c, p->defines[i].value))};
  const Module *m = tirc_parse_module(c, &source, p->n_defines, defines);
  tirc_verify(c, m);
  p->result = tirc_api_module(c, m, &p->sources);
}

tirc_status tirc_module_read(const char *path, int n_defines, const tirc_define *defines,
                             tirc_module **out, tirc_error **error) {
  NEED(path, LIST(n_defines, defines), out);
  if (tirc_onnx_is_path(path))
    return tirc_module_import(
        path, &(tirc_import_options){.n_defines = n_defines, .defines = defines}, out, error);
  Parse p = {.path = path, .n_defines = n_defines, .defines = defines};
  return tirc_api_make_module(parse, &p, &p.sources, &p.result, out, error);
}

tirc_status tirc_module_parse(const char *text, size_t length, const char *name, int n_defines,
                              const tirc_define *defines, tirc_module **out, tirc_error **error) {
  NEED(LIST(length, text), LIST(n_defines, defines), out);
  Parse p = {.text = {name, text, length}, .n_defines = n_defines, .defines = defines};
  return tirc_api_make_module(parse, &p, &p.sources, &p.result, out, error);
}

typedef struct Alone {
  const tirc_module *from;
  const char *func, *name;
  Sources sources;
  tirc_module *result;
} Alone;

static void alone(Tirc *c, void *self) {
  Alone *p = self;
  tirc_context_depend(c, p->from->c);
  Func *f = tirc_copy(c, tirc_api_func(c, p->from->m, p->func, NULL), 1);
  if (!tirc_attrs_get(f->attrs, tirc_key(KEY_GLOBAL_SYMBOL)) &&
      !tirc_attrs_get(f->attrs, "tirc.private"))
    f->attrs = tirc_attrs_set(c, f->attrs, tirc_key(KEY_GLOBAL_SYMBOL), tirc_string(c, f->name));
  f->name = tirc_strdup(c, p->name);
  const Func **only = tirc_new(c, const Func *);
  *only = f;
  Module *m = tirc_copy(c, p->from->m, 1);
  m->c = c;
  m->n_funcs = 1;
  m->n_graphs = 0;
  m->funcs = only;
  p->result = tirc_api_module(c, m, &p->sources);
  p->result->lowered = p->from->lowered;
}

tirc_status tirc_module_alone(const tirc_module *m, const char *func, const char *name,
                              tirc_module **out, tirc_error **error) {
  NEED(m, name, out);
  Alone p = {.from = m, .func = func, .name = name, .sources = m->sources};
  return tirc_api_make_module(alone, &p, &p.sources, &p.result, out, error);
}

typedef struct WithMain {
  const tirc_module *from;
  const char *graph;
  Sources sources;
  tirc_module *result;
} WithMain;

static const Graph *renamed(Tirc *c, const Graph *g, const char *name) {
  Graph *to = tirc_copy(c, g, 1);
  to->name = tirc_strdup(c, name);
  return to;
}

static const char *listed(Tirc *c, int n, const char *const *names) {
  const char *text = n ? names[0] : "it has none";
  for (int i = 1; i < n; i++) text = tirc_format(c, "%s, %s", text, names[i]);
  return text;
}

static void make_main(Tirc *c, void *self) {
  WithMain *p = self;
  const Module *from = p->from->m;
  const char **names = tirc_new_array(c, const char *, from->n_graphs);
  const Graph **graphs = tirc_new_array(c, const Graph *, from->n_graphs);
  const char *wanted = tirc_api_name(c, p->graph);
  int at = -1;
  tirc_context_depend(c, p->from->c);
  for (int i = 0; i < from->n_graphs; i++) {
    graphs[i] = from->graphs[i];
    names[i] = graphs[i]->name;
    if (strcmp(names[i], wanted) == 0) at = i;
  }
  if (at < 0)
    tirc_fail(c, (Loc){from->file, 0, 0}, CODE_NAME, tirc_nearest(c, wanted, from->n_graphs, names),
              "the module has no graph '%s': %s", wanted, listed(c, from->n_graphs, names));
  for (int i = 0; i < from->n_graphs; i++)
    if (i != at && strcmp(names[i], "main") == 0) graphs[i] = renamed(c, graphs[i], "other_main");
  graphs[at] = renamed(c, graphs[at], "main");
  Module *m = tirc_copy(c, from, 1);
  m->c = c;
  m->graphs = (const Graph *const *)(uintptr_t)graphs;
  tirc_verify(c, m);
  p->result = tirc_api_module(c, m, &p->sources);
  p->result->imported = p->from->imported;
}

tirc_status tirc_module_with_main(const tirc_module *m, const char *graph, tirc_module **out,
                                  tirc_error **error) {
  NEED(m, graph, out);
  WithMain p = {.from = m, .graph = graph, .sources = m->sources};
  return tirc_api_make_module(make_main, &p, &p.sources, &p.result, out, error);
}

typedef struct InDialect {
  const tirc_module *from;
  const char *dialect;
  Sources sources;
  tirc_module *result;
} InDialect;

static void in_dialect(Tirc *c, void *self) {
  InDialect *p = self;
  tirc_context_depend(c, p->from->c);
  Module *m = tirc_copy(c, p->from->m, 1);
  m->c = c;
  if (!tirc_dialect_parse(p->dialect, &m->dialect))
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT,
              "the dialects are tir (release 0.20) and tirx (the newest release)",
              "there is no dialect '%s'", p->dialect);
  p->result = tirc_api_module(c, m, &p->sources);
  p->result->lowered = p->from->lowered;
  p->result->trace = p->from->trace;
  p->result->intrins = p->from->intrins;
}

const char *tirc_method_name(const char *dialect, const char *method) {
  Dialect d;
  if (!dialect || !method || !tirc_dialect_parse(dialect, &d)) return NULL;
  return tirc_word_in(d, WORD_METHOD, tirc_word_known(WORD_METHOD, method));
}

tirc_status tirc_module_in_dialect(const tirc_module *m, const char *dialect, tirc_module **out,
                                   tirc_error **error) {
  NEED(m, dialect, out);
  InDialect p = {.from = m, .dialect = dialect, .sources = m->sources};
  return tirc_api_make_module(in_dialect, &p, &p.sources, &p.result, out, error);
}

/* --- printing, comparing ---------------------------------------------------------------------- */

typedef struct Texts {
  const tirc_module *a, *b;
  char *text;
} Texts;

static void print(Tirc *c, void *self) {
  Texts *t = self;
  const char *s = tirc_print_module(c, t->a->m, NULL);
  t->text = tirc_api_copy(c, s, strlen(s));
}
tirc_status tirc_module_print(const tirc_module *m, char **text, tirc_error **error) {
  NEED(m, text);
  Texts t = {.a = m};
  tirc_status status = tirc_api_scratch(print, &t, &m->sources, error);
  if (status == TIRC_OK) *text = t.text;
  return status;
}

static void compare(Tirc *c, void *self) {
  Texts *t = self;
  const char *s = tirc_module_difference(c, t->a->m, t->b->m);
  t->text = s ? tirc_api_copy(c, s, strlen(s)) : NULL;
}
tirc_status tirc_module_compare(const tirc_module *a, const tirc_module *b, char **difference,
                                tirc_error **error) {
  NEED(a, b, difference);
  Texts t = {.a = a, .b = b};
  tirc_status status = tirc_api_scratch(compare, &t, &a->sources, error);
  if (status == TIRC_OK) *difference = t.text;
  return status;
}

static void hash(Tirc *c, void *self) {
  Texts *t = self;
  const ModuleHash h = tirc_hash_module(c, t->a->m);
  const char *s = tirc_format(c, "%016" PRIx64 "%016" PRIx64, h.word[0], h.word[1]);
  t->text = tirc_api_copy(c, s, strlen(s));
}
tirc_status tirc_module_hash(const tirc_module *m, char **out, tirc_error **error) {
  NEED(m, out);
  Texts t = {.a = m};
  tirc_status status = tirc_api_scratch(hash, &t, &m->sources, error);
  if (status == TIRC_OK) *out = t.text;
  return status;
}

/* --- scheduling ------------------------------------------------------------------------------- */

typedef struct Schedule {
  const tirc_module *from;
  bool is_trace; /* the file is a trace */
  int64_t record;
  const char *path;
  Source text;
  tirc_schedule_options options;
  Sources sources;
  tirc_module *result;
} Schedule;

static void hand_out_text(void *self, const char *text) {
  const tirc_schedule_options *o = &((Schedule *)self)->options;
  o->print(o->self, text);
}
static void hand_out_trace(void *self, Sched *s, const char *call, Loc loc, const Diag *diag) {
  const tirc_schedule_options *o = &((Schedule *)self)->options;
  (void)s;
  o->trace(o->self, call, loc.file, loc.line, diag ? diag->message : NULL);
}

static void hand_out_warning(void *self, Warning w) {
  const tirc_schedule_options *o = self;
  if (o->warn)
    o->warn(o->self, w.loc.file, w.loc.line, w.loc.column, w.message, tirc_codes[w.code].text);
}

void tirc_api_tell_warnings(Sched *s, const tirc_schedule_options *options) {
  s->strict = options->strict;
  s->warn = hand_out_warning;
  s->warn_self = (void *)(uintptr_t)options;
}

typedef struct Check {
  Tirc *c;
  const tirc_module *m;
  const tirc_schedule_options *options;
} Check;

/* One warning: an error, if the options are strict. */
static void tell_one(Tirc *c, const tirc_schedule_options *options, const Warning *w) {
  if (options->strict) tirc_raise_warning(c, *w);
  hand_out_warning((void *)(uintptr_t)options, *w);
}

typedef struct HeardWarnings {
  Tirc *c;
  VEC(Warning) all;
  VEC(int) times;
} HeardWarnings;

HeardWarnings *tirc_api_heard(Tirc *c) {
  HeardWarnings *h = tirc_new(c, HeardWarnings);
  h->c = c;
  return h;
}

static bool are_same(const Warning *a, const Warning *b) {
  const bool same_file = a->loc.file == b->loc.file ||
                         (a->loc.file && b->loc.file && !strcmp(a->loc.file, b->loc.file));
  return same_file && a->loc.line == b->loc.line && a->loc.column == b->loc.column &&
         a->code == b->code && !strcmp(a->message, b->message);
}

void tirc_api_hear(void *heard, Warning w) {
  HeardWarnings *h = heard;
  int i = 0;
  while (i < h->all.n && !are_same(&h->all.at[i], &w)) i++;
  if (i < h->all.n) {
    h->times.at[i]++;
    return;
  }
  vec_push(h->c, h->all, w);
  vec_push(h->c, h->times, 1);
}

void tirc_api_tell_heard(const HeardWarnings *h, const tirc_schedule_options *options) {
  for (int i = 0; i < h->all.n; i++) {
    Warning w = h->all.at[i];
    if (h->times.at[i] > 1)
      w.message = tirc_format(h->c, "%s (%d times)", w.message, h->times.at[i]);
    tell_one(h->c, options, &w);
  }
}

static void hear_of_program(void *self, Warning w) {
  const Check *k = self;
  tell_one(k->c, k->options, &w);
}

Sched *tirc_api_schedule(Tirc *c, const tirc_module *m, const tirc_schedule_options *options) {
  Sched *s = tirc_sched_new(c, m->m);
  tirc_context_depend(c, m->c);
  s->intrins = m->intrins;
  tirc_script_serve(s);
  s->gpu = options->target ? tirc_gpu_find(options->target) : NULL;
  s->target = tirc_llvm_cpu(c, tirc_cpu_or_default(s->gpu ? NULL : options->target));
  s->debug_mask = options->verify ? SCHED_VERIFY_ALL : 0;
  tirc_api_tell_warnings(s, options);
  tirc_program_warnings(tirc_sched_new(c, m->m), hear_of_program,
                        &(Check){.c = c, .options = options});
  return s;
}

static void check(Tirc *c, void *self) {
  Check *k = self;
  k->c = c;
  tirc_program_warnings(tirc_sched_new(c, k->m->m), hear_of_program, k);
}
tirc_status tirc_module_check(const tirc_module *m, const tirc_schedule_options *options,
                              tirc_error **error) {
  NEED(m);
  const tirc_schedule_options none = {0};
  Check k = {.m = m, .options = options ? options : &none};
  return tirc_api_scratch(check, &k, &m->sources, error);
}

/* The pass after it is VectorizeLoop. */
void tirc_api_look_at_lanes(void *self, const char *pass, const Module *m) {
  HeardWarnings *h = self;
  if (strcmp(pass, "LoopPartition") == 0) tirc_serial_notes(h->c, m, tirc_api_hear, h);
}

static void check_code(Tirc *c, void *self) {
  Check *k = self;
  k->c = c;
  HeardWarnings *h = tirc_api_heard(c);
  const Module *m = k->m->m;
  if (!k->m->lowered) m = tirc_lower(c, tirc_split_packing(c, m), tirc_api_look_at_lanes, h);
  tirc_call_notes(c, m, tirc_api_hear, h);
  tirc_local_notes(c, m, tirc_cpu_or_default(k->options->target), tirc_api_hear, h);
  tirc_api_tell_heard(h, k->options);
}
tirc_status tirc_module_check_code(const tirc_module *m, const tirc_schedule_options *options,
                                   tirc_error **error) {
  NEED(m);
  const tirc_schedule_options none = {0};
  Check k = {.m = m, .options = options ? options : &none};
  return tirc_api_scratch(check_code, &k, &m->sources, error);
}

static void run_script(Schedule *p, Sched *s, const Source *source) {
  ScriptLimits limits = {.steps = p->options.max_steps};
  p->sources.at[p->sources.n++] = *source;
  tirc_run_script(s, source, &limits, p->options.print ? hand_out_text : NULL,
                  p->options.trace ? hand_out_trace : NULL, p);
}

static void run_trace(Schedule *p, Sched *s, const Source *source) {
  TraceRecord r = tirc_trace_read(s->c, source->name, source->text, source->length, p->record);
  tirc_trace_apply(s, r.trace, false, NULL, r.loc, r.what);
}

static void schedule(Tirc *c, void *self) {
  Schedule *p = self;
  p->sources = p->from->sources;
  if (p->sources.n > 1) p->sources.n = 1;
  Source source = p->path ? tirc_read_source(c, p->path) : tirc_api_keep_source(c, p->text);
  Sched *s = tirc_api_schedule(c, p->from, &p->options);
  (p->is_trace ? run_trace : run_script)(p, s, &source);
  p->result = tirc_api_module(c, s->mod, &p->sources);
  p->result->trace = s->trace;
  p->result->intrins = s->intrins;
}

static tirc_status run_schedule(Schedule *p, const tirc_schedule_options *options,
                                tirc_module **out, tirc_error **error) {
  if (options) p->options = *options;
  return tirc_api_make_module(schedule, p, &p->sources, &p->result, out, error);
}
tirc_status tirc_module_schedule(const tirc_module *m, const char *path,
                                 const tirc_schedule_options *options, tirc_module **out,
                                 tirc_error **error) {
  NEED(m, path, out);
  return run_schedule(&(Schedule){.from = m, .path = path}, options, out, error);
}
tirc_status tirc_module_schedule_text(const tirc_module *m, const char *text, size_t length,
                                      const char *name, const tirc_schedule_options *options,
                                      tirc_module **out, tirc_error **error) {
  NEED(m, LIST(length, text), out);
  return run_schedule(&(Schedule){.from = m, .text = {name, text, length}}, options, out, error);
}

tirc_status tirc_module_replay(const tirc_module *m, const char *path, int64_t record,
                               const tirc_schedule_options *options, tirc_module **out,
                               tirc_error **error) {
  NEED(m, path, COUNT(record), out);
  Schedule p = {.from = m, .path = path, .is_trace = true, .record = record};
  return run_schedule(&p, options, out, error);
}
tirc_status tirc_module_replay_text(const tirc_module *m, const char *text, size_t length,
                                    const char *name, int64_t record,
                                    const tirc_schedule_options *options, tirc_module **out,
                                    tirc_error **error) {
  NEED(m, LIST(length, text), COUNT(record), out);
  Schedule p = {.from = m, .text = {name, text, length}, .is_trace = true, .record = record};
  return run_schedule(&p, options, out, error);
}

typedef struct TraceText {
  const tirc_module *m;
  tirc_trace_format format;
  char *text;
} TraceText;

static void trace_text(Tirc *c, void *self) {
  TraceText *t = self;
  const Trace *trace = t->m->trace ? t->m->trace : tirc_trace_new(c);
  const Dialect d = t->m->m->dialect;
  const char *s = t->format == TIRC_TRACE_SCRIPT
                      ? tirc_trace_python(c, trace, false, d)
                      : tirc_value_to_json(c, tirc_trace_as_value(c, trace, false, d));
  t->text = tirc_api_copy(c, s, strlen(s));
}
tirc_status tirc_module_trace(const tirc_module *m, tirc_trace_format format, char **text,
                              tirc_error **error) {
  NEED(m, text);
  TraceText t = {.m = m, .format = format};
  tirc_status status = tirc_api_scratch(trace_text, &t, &m->sources, error);
  if (status == TIRC_OK) *text = t.text;
  return status;
}

/* --- lowering --------------------------------------------------------------------------------- */

typedef struct Lower {
  const tirc_module *from;
  const char *target;
  void (*after)(void *, const char *, const char *);
  void *after_self;
  tirc_module *result;
  Sources sources;
  int n; /* of passes, by name */
  const char *const *passes;
} Lower;

static void show_pass(void *self, const char *pass, const Module *m) {
  Lower *p = self;
  p->after(p->after_self, pass, tirc_print_module(m->c, m, NULL));
}

static void lower(Tirc *c, void *self) {
  Lower *p = self;
  const Module *m = p->from->m;
  tirc_context_depend(c, m->c);
  const Gpu *gpu = p->target ? tirc_gpu_find(p->target) : NULL;
  if (p->target && !gpu) tirc_llvm_cpu(c, p->target);
  if (!p->from->lowered) m = tirc_lower_for(c, m, gpu, p->after ? show_pass : NULL, p);
  p->result = tirc_api_module(c, m, &p->sources);
  p->result->lowered = true;
}
tirc_status tirc_module_lower_for(const tirc_module *m, const char *target,
                                  void (*after)(void *self, const char *pass, const char *text),
                                  void *self, tirc_module **out, tirc_error **error) {
  NEED(m, out);
  Lower p = {m, target, after, self, NULL, m->sources};
  return tirc_api_make_module(lower, &p, &p.sources, &p.result, out, error);
}

static void lower_only(Tirc *c, void *self) {
  Lower *p = self;
  tirc_context_depend(c, p->from->m->c);
  const Gpu *gpu = p->target ? tirc_gpu_find(p->target) : NULL;
  if (p->target && !gpu) tirc_llvm_cpu(c, p->target);
  const Module *m = tirc_lower_only(c, p->from->m, gpu, p->n, p->passes);
  p->result = tirc_api_module(c, m, &p->sources);
  p->result->lowered = p->from->lowered;
}
tirc_status tirc_module_lower_only(const tirc_module *m, const char *target, int n,
                                   const char *const *passes, tirc_module **out,
                                   tirc_error **error) {
  NEED(m, LIST(n, passes), out);
  Lower p = {.from = m, .target = target, .sources = m->sources, .n = n, .passes = passes};
  return tirc_api_make_module(lower_only, &p, &p.sources, &p.result, out, error);
}

static void split_packing(Tirc *c, void *self) {
  Lower *p = self;
  tirc_context_depend(c, p->from->m->c);
  p->result = tirc_api_module(c, tirc_split_packing(c, p->from->m), &p->sources);
}
tirc_status tirc_module_split_packing(const tirc_module *m, tirc_module **out, tirc_error **error) {
  NEED(m, out);
  Lower p = {.from = m, .sources = m->sources};
  return tirc_api_make_module(split_packing, &p, &p.sources, &p.result, out, error);
}

typedef struct Relaid {
  const tirc_module *from;
  const char *func;
  int param;
  bool back;
  Sources sources;
  tirc_module *result;
} Relaid;

static void relayout(Tirc *c, void *self) {
  Relaid *p = self;
  const Module *m = p->from->m;
  const Func *f = tirc_api_func(c, m, p->func, NULL);
  if (p->param < 0 || p->param >= f->n_params)
    tirc_fail(c, f->loc, CODE_ARGUMENT, NULL, "%s has no parameter number %d", f->name, p->param);
  if (p->from->lowered)
    tirc_fail(c, f->loc, CODE_ARGUMENT, "ask the module before it was lowered",
              "a lowered module does not know the layouts of its parameters");
  const Module *to = tirc_relayout(c, m, f, p->param, p->back);
  if (to) p->result = tirc_api_module(c, to, &p->sources);
}
tirc_status tirc_module_relayout(const tirc_module *m, const char *func, int param, bool back,
                                 tirc_module **out, tirc_error **error) {
  NEED(m, out);
  Relaid p = {.from = m, .func = func, .param = param, .back = back};
  return tirc_api_make_module(relayout, &p, &p.sources, &p.result, out, error);
}
