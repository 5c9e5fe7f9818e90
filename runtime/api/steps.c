/* Schedules, step by step: the recorded calls with views of the programs between them. Everything
 * lives in one context, the errors apart. */
#include "api.h"

#include "ir/tree/outline.h"
#include "passes/record/trace.h"
#include "passes/schedule/call/steps.h"
#include "passes/script/script.h"

typedef struct Shown { /* a view, and what it is a view of */
  tirc_view view;
  const Module *m;
  tirc_module *module;
} Shown;

struct tirc_steps {
  Tirc *c; /* holds this very struct, too */
  int n;
  tirc_step *at;
  tirc_error **errors;       /* one a step, or NULL */
  const Shown *first, *last; /* last: NULL for a script that failed */
  PtrMap shown;              /* Module -> Shown */
  Source script;
  tirc_error *error;
};

typedef struct Run {
  const tirc_module *from;
  const char *path;
  Source text;
  tirc_schedule_options options;
  Sources sources;
  SchedSteps recorded;
  const Module *end; /* NULL: the script failed */
  tirc_steps *result;
} Run;

static void hand_out_text(void *self, const char *text) {
  const Run *r = self;
  if (r->options.print) r->options.print(r->options.self, text);
}

/* What can fail without a script: reading it. */
static void read_script(Tirc *c, void *self) {
  Run *r = self;
  tirc_context_depend(c, r->from->c);
  r->result = tirc_new(c, tirc_steps);
  *r->result = (tirc_steps){.c = c};
  r->sources = r->from->sources;
  r->sources.n = r->sources.n > 1 ? 1 : r->sources.n;
  Source s = r->path ? tirc_read_source(c, r->path) : tirc_api_keep_source(c, r->text);
  r->sources.at[r->sources.n++] = r->result->script = s;
  (void)tirc_parse_syntax(c, &s); /* a script that is none has no steps */
}

static void run_script(Tirc *c, void *self) {
  Run *r = self;
  ScriptLimits limits = {.steps = r->options.max_steps};
  Sched *s = tirc_api_schedule(c, r->from, &r->options);
  tirc_sched_record(s, &r->recorded);
  tirc_run_script(s, &r->result->script, &limits, hand_out_text, NULL, r);
  r->end = s->mod;
}

/* --- views ------------------------------------------------------------------------------------ */

static const tirc_access *copy_buffers(Tirc *c, int n, const OutlineBuffer *from) {
  tirc_access *to = tirc_new_array(c, tirc_access, n);
  for (int i = 0; i < n; i++) to[i] = (tirc_access){from[i].name, from[i].detail, from[i].scope};
  return to;
}

static tirc_node copy_node(Tirc *c, const OutlineNode *o) {
  static const tirc_node_kind kinds[] = {
      [OUTLINE_FUNCTION] = TIRC_FUNCTION, [OUTLINE_LOOP] = TIRC_LOOP, [OUTLINE_BLOCK] = TIRC_BLOCK};
  return (tirc_node){.kind = kinds[o->kind],
                     .depth = o->depth,
                     .line = o->line,
                     .name = o->name,
                     .annotations = o->annotations,
                     .loop_kind = o->loop_kind,
                     .extent = o->extent,
                     .thread = o->thread,
                     .iters = o->iters,
                     .predicate = o->predicate,
                     .has_init = o->has_init,
                     .n_reads = o->n_reads,
                     .n_writes = o->n_writes,
                     .n_allocs = o->n_allocs,
                     .reads = copy_buffers(c, o->n_reads, o->reads),
                     .writes = copy_buffers(c, o->n_writes, o->writes),
                     .allocs = copy_buffers(c, o->n_allocs, o->allocs)};
}

static const tirc_warning *copy_warnings(Tirc *c, const SchedStep *s) {
  tirc_warning *to = tirc_new_array(c, tirc_warning, s->n_warnings);
  for (int i = 0; i < s->n_warnings; i++)
    to[i] = (tirc_warning){tirc_codes[s->warnings[i].code].text, s->warnings[i].message};
  return to;
}

static const Shown *show(Run *r, const Module *m) {
  Tirc *c = r->result->c;
  Shown *s = tirc_map_get(&r->result->shown, m);
  if (s) return s;
  Outline o = tirc_outline(c, m);
  tirc_node *nodes = tirc_new_array(c, tirc_node, o.n);
  for (int i = 0; i < o.n; i++) nodes[i] = copy_node(c, &o.at[i]);
  s = tirc_new(c, Shown);
  *s = (Shown){{o.text, o.n, nodes}, m, tirc_api_module(c, m, &r->sources)};
  tirc_map_set(c, &r->result->shown, m, s);
  return s;
}

static void show_steps(Tirc *c, void *self) {
  Run *r = self;
  tirc_steps *out = r->result;
  out->first = show(r, r->from->m);
  out->at = tirc_new_array(c, tirc_step, r->recorded.list.n);
  out->errors = tirc_new_array(c, tirc_error *, r->recorded.list.n);
  for (int i = 0; i < r->recorded.list.n; i++) {
    const SchedStep *s = &r->recorded.list.at[i];
    out->at[i] = (tirc_step){.primitive = s->p->name,
                             .call = s->call,
                             .sentence = s->sentence,
                             .file = s->loc.file,
                             .line = s->loc.line,
                             .column = s->loc.column,
                             .before = &show(r, s->before)->view,
                             .after = &show(r, s->after)->view,
                             .n_warnings = s->n_warnings,
                             .warnings = copy_warnings(c, s)};
    if (s->error) out->errors[i] = tirc_api_error(s->error, &r->sources);
    out->at[i].error = out->errors[i];
    out->n = i + 1;
  }
  if (r->end) out->last = show(r, r->end);
}

static tirc_status make_steps(Run *r, const tirc_schedule_options *options, tirc_steps **out,
                              tirc_error **error) {
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  if (options) r->options = *options;
  tirc_status status = tirc_api_guard(c, read_script, r, &r->sources, error);
  tirc_error *end = NULL;
  if (status == TIRC_OK) (void)tirc_api_guard(c, run_script, r, &r->sources, &end);
  if (status == TIRC_OK) status = tirc_api_guard(c, show_steps, r, &r->sources, error);
  if (r->result) r->result->error = end;
  if (status == TIRC_OK)
    *out = r->result;
  else if (r->result)
    tirc_steps_free(r->result);
  else
    tirc_context_release(c);
  return status;
}

tirc_status tirc_module_steps(const tirc_module *m, const char *path,
                              const tirc_schedule_options *options, tirc_steps **out,
                              tirc_error **error) {
  NEED(m, path, out);
  return make_steps(&(Run){.from = m, .path = path}, options, out, error);
}

tirc_status tirc_module_steps_text(const tirc_module *m, const char *text, size_t length,
                                   const char *name, const tirc_schedule_options *options,
                                   tirc_steps **out, tirc_error **error) {
  NEED(m, LIST(length, text), out);
  return make_steps(&(Run){.from = m, .text = {name, text, length}}, options, out, error);
}

/* The calls of the trace, in order, are those of its text. */
static void tell_reasons(tirc_steps *s, const Trace *t) {
  for (int i = 0; i < s->n && i < t->n; i++) {
    s->at[i].rule = t->at[i]->rule ? tirc_strdup(s->c, t->at[i]->rule) : NULL;
    s->at[i].reason = t->at[i]->reason ? tirc_strdup(s->c, t->at[i]->reason) : NULL;
  }
}

typedef struct Reasons {
  tirc_steps *of;
  const Trace *from;
} Reasons;

static void add_reasons(Tirc *c, void *self) {
  const Reasons *r = self;
  (void)c;
  tell_reasons(r->of, r->from);
}

tirc_status tirc_module_steps_auto(const tirc_module *m, const tirc_auto_options *auto_options,
                                   const tirc_schedule_options *options, tirc_steps **out,
                                   tirc_error **error) {
  NEED(m, out);
  tirc_schedule_options quiet = options ? *options : (tirc_schedule_options){0};
  quiet.trace = NULL;
  tirc_module *scheduled = NULL;
  char *text = NULL;
  tirc_status status = tirc_module_auto(m, auto_options, &quiet, &scheduled, error);
  if (status == TIRC_OK) status = tirc_module_trace(scheduled, TIRC_TRACE_SCRIPT, &text, error);
  quiet.warn = NULL; /* it was told */
  if (status == TIRC_OK)
    status = tirc_module_steps_text(m, text, strlen(text), "<auto>", &quiet, out, error);
  if (status == TIRC_OK)
    status =
        tirc_api_guard((*out)->c, add_reasons, &(Reasons){*out, scheduled->trace}, NULL, error);
  tirc_string_free(text);
  tirc_module_free(scheduled);
  return status;
}

void tirc_steps_free(tirc_steps *s) {
  if (!s) return;
  for (int i = 0; i < s->n; i++) tirc_error_free(s->errors[i]);
  tirc_error_free(s->error);
  tirc_context_release(s->c);
}

int tirc_steps_count(const tirc_steps *s) { return s ? s->n : 0; }
const tirc_step *tirc_steps_at(const tirc_steps *s, int i) {
  return s && i >= 0 && i < s->n ? &s->at[i] : NULL;
}
const char *tirc_steps_script(const tirc_steps *s) { return s ? s->script.text : NULL; }
const tirc_view *tirc_steps_first(const tirc_steps *s) { return s ? &s->first->view : NULL; }
const tirc_view *tirc_steps_last(const tirc_steps *s) {
  return s && s->last ? &s->last->view : NULL;
}
const tirc_error *tirc_steps_error(const tirc_steps *s) { return s ? s->error : NULL; }

const tirc_module *tirc_steps_module(const tirc_steps *s, const tirc_view *view) {
  for (size_t i = 0; s && i < s->shown.cap; i++) {
    const Shown *shown = s->shown.values[i];
    if (shown && &shown->view == view) return shown->module;
  }
  return NULL;
}
