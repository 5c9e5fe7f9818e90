/* Schedules by rules. */
#include "kept_schedule.h"

#include "passes/rules/rules.h"
#include "passes/schedule/state/state.h"

typedef struct AutoRun {
  const tirc_module *from;
  const SchedRecords *records;
  tirc_auto_options rules;
  tirc_schedule_options options;
  Sources sources;
  tirc_module *result;
} AutoRun;

static void hand_out_text(void *self, const char *text) {
  const tirc_schedule_options *o = self;
  o->print(o->self, text);
}

static void hand_out_trace(void *self, Sched *s, const char *call, Loc loc, const Diag *diag) {
  const tirc_schedule_options *o = self;
  (void)s;
  o->trace(o->self, call, loc.file, loc.line, diag ? diag->message : NULL);
}

static Sched *run_rules(Tirc *c, const AutoRun *a, tirc_schedule_options *o) {
  const ScriptLimits limits = {.steps = o->max_steps};
  const RuleListener listener = {a->rules.tried, a->rules.self};
  Sched *s = tirc_api_schedule(c, a->from, o);
  s->records = a->records;
  tirc_auto_schedule(s, a->rules.rules, &limits, o->print ? hand_out_text : NULL,
                     o->trace ? hand_out_trace : NULL, o, listener.tried ? &listener : NULL);
  return s;
}

static void take_sources(Tirc *c, AutoRun *a) {
  a->sources = a->from->sources;
  if (a->sources.n > 1) a->sources.n = 1;
  if (a->rules.rules) a->sources.at[a->sources.n++] = tirc_read_source(c, a->rules.rules);
}

static void make(Tirc *c, void *self) {
  AutoRun *a = self;
  take_sources(c, a);
  const Sched *s = run_rules(c, a, &a->options);
  a->result = tirc_api_module(c, s->mod, &a->sources);
  a->result->trace = s->trace;
  a->result->intrins = s->intrins;
}

static void find_or_make(Tirc *c, void *self) {
  AutoRun *a = self;
  uint64_t made_of;
  take_sources(c, a);
  const Module *m = tirc_schedule_find(c, a->from, &a->rules, &a->options, &made_of);
  if (!m) {
    MakingNotes *notes = tirc_new(c, MakingNotes);
    tirc_making_notes(notes, c, &a->options);
    notes->made_of = made_of;
    m = run_rules(c, a, &notes->own)->mod;
    tirc_schedule_keep(c, m, a->from, &a->rules, notes);
  }
  a->result = tirc_api_module(c, m, &a->sources);
  a->result->intrins = a->from->intrins;
}

static tirc_status run(AutoRun *a, void (*body)(Tirc *c, void *self),
                       const tirc_auto_options *rules, const tirc_schedule_options *options,
                       tirc_module **out, tirc_error **error) {
  if (rules) a->rules = *rules;
  if (options) a->options = *options;
  return tirc_api_make_module(body, a, &a->sources, &a->result, out, error);
}

tirc_status tirc_module_auto(const tirc_module *m, const tirc_auto_options *auto_options,
                             const tirc_schedule_options *options, tirc_module **out,
                             tirc_error **error) {
  NEED(m, out);
  return run(&(AutoRun){.from = m}, make, auto_options, options, out, error);
}

tirc_status tirc_module_auto_kept(const tirc_module *m, const tirc_auto_options *auto_options,
                                  const tirc_schedule_options *options, tirc_module **out,
                                  tirc_error **error) {
  NEED(m, out);
  return run(&(AutoRun){.from = m}, find_or_make, auto_options, options, out, error);
}

tirc_status tirc_api_auto(const tirc_module *m, const tirc_auto_options *auto_options,
                          const tirc_schedule_options *options, const SchedRecords *records,
                          tirc_module **out, tirc_error **error) {
  return run(&(AutoRun){.from = m, .records = records}, make, auto_options, options, out, error);
}
