/* What a script sees of the schedule itself, besides the primitives: sch.get, sch.copy, sch.trace
 * ...; and of its trace. One row each at the end. */
#include "passes/replay/replay.h"

#include "interp.h"
#include "ir/nearest.h"
#include "ir/tree/print.h"

enum { MAX_SEED = 2147483647 };

static Sched *sched(Value v) { return v.u.object; }
static Dialect dialect(const Script *sc) { return sc->sched->mod->dialect; }
static const Trace *trace(Value v) { return v.u.object; }
static const Instruction *instruction(Value v) { return v.u.object; }

static Value new_list(Script *sc) { return tirc_value_list(sc->c, VAL_LIST, 0, NULL); }

static Value of_trace(const Trace *t) { return tirc_script_object("Trace", t); }
static Value of_instruction(const Instruction *i) { return tirc_script_object("Instruction", i); }

static Value required(Script *sc, const Args *a, int i, const char *who, const char *name) {
  const Value *v = tirc_script_argument(a, i, name);
  if (!v) tirc_script_error(sc, "TypeError", NULL, "%s() needs the argument '%s'", who, name);
  return *v;
}

static bool flag(Script *sc, const Args *a, int i, const char *name, bool otherwise) {
  const Value *v = tirc_script_argument(a, i, name);
  return v ? tirc_script_truth(sc, *v) : otherwise;
}

static Value show(Script *sc, const char *text) {
  if (sc->out) {
    sc->out(sc->self, text);
    sc->out(sc->self, "\n");
  }
  return VALUE_NONE;
}

/* --- the schedule ----------------------------------------------------------------------------- */

static Value run_get(Script *sc, Value self, const Args *a) {
  Value v = required(sc, a, 0, "get", "rand_var_or_sref");
  if (tirc_script_is(v, "StmtSRef")) return tirc_script_stmt_of_sref(v);
  bool statement = tirc_script_is(v, "For") || tirc_script_is(v, "Block");
  bool handle = v.kind == VAL_LOOP || v.kind == VAL_BLOCK;
  if (!statement && !handle && v.kind != VAL_EXPR && v.kind != VAL_INT)
    tirc_script_error(sc, "TypeError", "sch.get_block(\"name\") finds a block by its name",
                      "sch.get() needs a block, a loop or an expression, not %s",
                      tirc_script_a_type(sc, v));
  v = tirc_script_resolve_in(sc, sched(self), v);
  v.rv = 0; /* the number itself, which no longer varies with the trace */
  return v;
}

static Value run_work_on(Script *sc, Value self, const Args *a) {
  Sched *s = sched(self);
  Value name = required(sc, a, 0, "work_on", "func_name");
  if (name.kind != VAL_STR)
    tirc_script_error(sc, "TypeError", NULL, "work_on() needs the name of a function");
  for (int i = 0; i < s->mod->n_funcs; i++)
    if (!strcmp(s->mod->funcs[i]->name, name.u.s)) {
      s->work_on = s->mod->funcs[i]->name;
      return VALUE_NONE;
    }
  Nearest near = {.wanted = name.u.s, .n_wanted = strlen(name.u.s)};
  for (int i = 0; i < s->mod->n_funcs; i++)
    tirc_offer_name(&near, s->mod->funcs[i]->name, strlen(s->mod->funcs[i]->name));
  const char *hint = tirc_suggest_name(&near, "", NULL);
  tirc_script_error(sc, "ValueError", hint ? tirc_strdup(sc->c, hint) : NULL,
                    "the module has no function '%s'", name.u.s);
}

static Value run_seed(Script *sc, Value self, const Args *a) {
  int64_t seed;
  Value v = required(sc, a, 0, "seed", "seed");
  if (!tirc_script_int(v, &seed))
    tirc_script_error(sc, "TypeError", NULL, "seed() takes an int, not %s",
                      tirc_script_a_type(sc, v));
  if (seed < -1 || seed > MAX_SEED)
    tirc_script_error(sc, "ValueError", "-1 uses a different seed in each run",
                      "a seed must be -1 or from 0 to %d, not %lld", MAX_SEED, (long long)seed);
  tirc_sched_seed(sched(self), seed);
  return VALUE_NONE;
}

static Value run_fork_seed(Script *sc, Value self, const Args *a) {
  return (void)sc, (void)a, tirc_value_int(tirc_sched_fork_seed(sched(self)));
}

static Value run_copy(Script *sc, Value self, const Args *a) {
  (void)a;
  Sched *copy = tirc_sched_copy(sched(self));
  tirc_script_tick(sc, 100);
  vec_push(sc->c, sc->copies, copy);
  return tirc_script_object("Schedule", copy);
}

/* The program and the trace; styles are for terminals that Python colours. */
static Value run_show(Script *sc, Value self, const Args *a) {
  (void)a;
  show(sc, tirc_print_module(sc->c, sched(self)->mod, NULL));
  return show(sc, tirc_trace_python(sc->c, sched(self)->trace, false, dialect(sc)));
}

static Value run_get_sref(Script *sc, Value self, const Args *a) {
  return tirc_script_get_sref(sc, sched(self), required(sc, a, 0, "get_sref", "rand_var_or_stmt"));
}
static Value run_state_get_sref(Script *sc, Value self, const Args *a) {
  return tirc_script_get_sref(sc, sched(self), required(sc, a, 0, "get_sref", "stmt"));
}

static Value run_remove_rv(Script *sc, Value self, const Args *a) {
  Value v = required(sc, a, 0, "remove_rv", "rand_var");
  Sched *s = sched(self);
  if (!v.rv)
    tirc_script_error(
        sc, "TypeError", NULL,
        "remove_rv() needs a result of a primitive: a block, a loop or a sampled number");
  tirc_map_set(s->c, &s->removed, (void *)(uintptr_t)v.rv, s);
  return VALUE_NONE;
}

static Value get_mod(Script *sc, Value v) {
  return (void)sc, tirc_script_object("IRModule", sched(v)->mod);
}
static Value get_func(Script *sc, Value v) {
  const char *name = sched(v)->work_on;
  return (void)sc, name ? tirc_value_str(name) : VALUE_NONE;
}
static Value get_trace(Script *sc, Value v) { return (void)sc, of_trace(sched(v)->trace); }
static Value get_state(Script *sc, Value v) {
  return (void)sc, tirc_script_object("ScheduleState", sched(v));
}
static Value get_debug_mask(Script *sc, Value v) {
  return (void)sc, tirc_value_int(sched(v)->debug_mask);
}

static int debug_mask(Script *sc, Value v) {
  int64_t mask;
  if (v.kind == VAL_STR && (!strcmp(v.u.s, "all") || !strcmp(v.u.s, "none")))
    mask = *v.u.s == 'a' ? SCHED_VERIFY_ALL : 0;
  else if (!tirc_script_int(v, &mask))
    tirc_script_error(sc, "ValueError", NULL,
                      "debug_mask must be \"all\", \"none\" or an int, not %s",
                      tirc_script_repr(sc, v));
  return (int)(mask & SCHED_VERIFY_ALL);
}

bool tirc_script_set_attribute(Script *sc, Value of, const char *name, Value v) {
  bool known = tirc_script_is(of, "Schedule") || tirc_script_is(of, "ScheduleState");
  if (!known || strcmp(name, "debug_mask")) return false;
  sched(of)->debug_mask = debug_mask(sc, v);
  return true;
}

/* --- Schedule(mod, *, seed=None, debug_mask="none", error_render_level="detail",
 * enable_check=True)
 */

static const Module *module_argument(Script *sc, Value v) {
  if (tirc_script_is(v, "IRModule")) return v.u.object;
  if (!tirc_script_is(v, "PrimFunc"))
    tirc_script_error(sc, "TypeError", "sch already is a schedule of the program",
                      "Schedule() needs an IRModule or a PrimFunc, not %s",
                      tirc_script_a_type(sc, v));
  Module *alone = tirc_new(sc->c, Module);
  const Func **func = tirc_new(sc->c, const Func *);
  *func = v.u.object;
  *alone = *sc->sched->mod;
  alone->n_funcs = 1;
  alone->n_graphs = 0;
  alone->funcs = func;
  return alone;
}

static void set_seed(Script *sc, Sched *s, Value v) {
  int64_t seed;
  if (v.kind == VAL_NONE) return;
  if (!tirc_script_int(v, &seed))
    tirc_script_error(sc, "TypeError", NULL, "seed must be an int or None, not %s",
                      tirc_script_a_type(sc, v));
  if (seed < 1 || seed > MAX_SEED)
    tirc_script_error(sc, "ValueError", NULL, "seed must be from 1 to %d, not %lld", MAX_SEED,
                      (long long)seed);
  tirc_sched_seed(s, seed);
}

/* How errors are shown is the command's matter, and the checks are always made: these two arguments
 * are looked at, and change nothing. */
static void check_unused(Script *sc, const Args *a) {
  static const char *const levels[] = {"detail", "fast", "none"};
  const Value *level = tirc_script_argument(a, 1, "error_render_level"),
              *check = tirc_script_argument(a, 1, "enable_check");
  bool known = !level;
  for (int i = 0; i < 3 && level && level->kind == VAL_STR; i++)
    known |= !strcmp(level->u.s, levels[i]);
  if (!known)
    tirc_script_error(sc, "ValueError", NULL,
                      "error_render_level must be \"detail\", \"fast\" or \"none\", not %s",
                      tirc_script_repr(sc, *level));
  if (check && check->kind != VAL_BOOL)
    tirc_script_error(sc, "TypeError", NULL, "enable_check must be a bool, not %s",
                      tirc_script_a_type(sc, *check));
}

static Value new_schedule(Script *sc, Value self, const Args *a) {
  (void)self;
  const Module *m = module_argument(sc, required(sc, a, 0, "Schedule", "mod"));
  const Value *seed = tirc_script_argument(a, 1, "seed"),
              *mask = tirc_script_argument(a, 1, "debug_mask");
  check_unused(sc, a);
  Sched *s = tirc_sched_new(sc->c, m);
  s->target = sc->sched->target;
  s->gpu = sc->sched->gpu;
  s->steps = sc->sched->steps;
  s->next_rv = sc->sched->next_rv;
  s->intrins = sc->sched->intrins;
  s->eval = sc->sched->eval;
  s->offer_intrin = sc->sched->offer_intrin;
  if (seed) set_seed(sc, s, *seed);
  if (mask) s->debug_mask = debug_mask(sc, *mask);
  tirc_script_tick(sc, 100);
  vec_push(sc->c, sc->copies, s);
  return tirc_script_object("Schedule", s);
}

/* --- traces ----------------------------------------------------------------------------------- */

static Value get_insts(Script *sc, Value v) {
  Value list = new_list(sc);
  for (int i = 0; i < trace(v)->n; i++)
    tirc_value_append(sc->c, list, of_instruction(trace(v)->at[i]));
  return list;
}

/* A copy of a decision, or of what an instruction holds: no later change of a list reaches the
 * trace, or one list through another. */
static Value own(Script *sc, Value v, int depth) {
  enum { MAX_DEPTH = 64 };
  if (v.kind != VAL_LIST && v.kind != VAL_TUPLE && v.kind != VAL_DICT) return v;
  if (depth == MAX_DEPTH)
    tirc_script_error(sc, "ValueError", "a decision must be a number or a list of numbers",
                      "the value is nested more than %d deep", MAX_DEPTH);
  tirc_script_tick(sc, v.u.list->n);
  Value copy = tirc_value_list(sc->c, v.kind, v.u.list->n, v.u.list->at);
  for (int i = 0; i < copy.u.list->n; i++)
    copy.u.list->at[i] = own(sc, copy.u.list->at[i], depth + 1);
  return copy;
}

static Value get_decisions(Script *sc, Value v) {
  Value dict = tirc_value_list(sc->c, VAL_DICT, 0, NULL);
  for (int i = 0; i < trace(v)->n; i++) {
    const Value *decision = tirc_instruction_decision(trace(v)->at[i]);
    if (!decision || decision->kind == VAL_NONE) continue;
    tirc_value_append(sc->c, dict, of_instruction(trace(v)->at[i]));
    tirc_value_append(sc->c, dict, own(sc, *decision, 0));
  }
  return dict;
}

static const Instruction *instruction_argument(Script *sc, const Args *a, const char *who) {
  Value v = required(sc, a, 0, who, "inst");
  if (!tirc_script_is(v, "Instruction"))
    tirc_script_error(sc, "TypeError", "the instructions are in trace.insts",
                      "%s() takes an instruction", who);
  return instruction(v);
}

static Value run_get_decision(Script *sc, Value self, const Args *a) {
  const int i = tirc_trace_find(trace(self), instruction_argument(sc, a, "get_decision"));
  const Value *decision = i < 0 ? NULL : tirc_instruction_decision(trace(self)->at[i]);
  return decision ? own(sc, *decision, 0) : VALUE_NONE;
}

static Value run_with_decision(Script *sc, Value self, const Args *a) {
  const Instruction *inst = instruction_argument(sc, a, "with_decision");
  Value decision = own(sc, required(sc, a, 1, "with_decision", "decision"), 0);
  const Trace *t = trace(self);
  const int i = tirc_trace_find(t, inst);
  if (i < 0) tirc_script_error(sc, "ValueError", NULL, "the instruction is not in this trace");
  Trace *out = tirc_trace_with_decision(sc->c, t, i, decision);
  out->n = tirc_trace_length(out, flag(sc, a, 2, "remove_postproc", false));
  return of_trace(out);
}

static Value run_append(Script *sc, Value self, const Args *a) {
  const Value *decision = tirc_script_argument(a, 1, "decision");
  tirc_trace_push(sc->c, self.u.object, instruction_argument(sc, a, "append"),
                  decision ? own(sc, *decision, 0) : VALUE_NONE);
  return VALUE_NONE;
}

/* Trace(insts, decisions): a list of instructions, a dict from instructions to decisions. */
static Value new_trace(Script *sc, Value self, const Args *a) {
  (void)self;
  Value insts = required(sc, a, 0, "Trace", "insts"), inst;
  const Value *decisions = tirc_script_argument(a, 1, "decisions");
  if (decisions && decisions->kind != VAL_DICT)
    tirc_script_error(sc, "TypeError", "trace.decisions is such a dict",
                      "the decisions of a Trace must be a dict from instructions to decisions");
  Trace *t = tirc_trace_new(sc->c);
  Iter it = tirc_script_iter(sc, insts);
  while (tirc_script_next(sc, &it, &inst)) {
    if (!tirc_script_is(inst, "Instruction"))
      tirc_script_error(sc, "TypeError", "the instructions of a trace are in trace.insts",
                        "Trace() takes a list of instructions");
    Value decision = VALUE_NONE;
    for (int i = 0; decisions && i + 1 < decisions->u.list->n; i += 2)
      if (tirc_script_is(decisions->u.list->at[i], "Instruction") &&
          decisions->u.list->at[i].u.object == inst.u.object)
        decision = decisions->u.list->at[i + 1];
    tirc_trace_push(sc->c, t, instruction(inst), own(sc, decision, 0));
  }
  return of_trace(t);
}

static Value run_simplified(Script *sc, Value self, const Args *a) {
  bool remove = flag(sc, a, 0, "remove_postproc", false);
  return of_trace(tirc_trace_simplified(sc->c, trace(self), remove));
}

static Value run_as_json(Script *sc, Value self, const Args *a) {
  return tirc_trace_as_value(sc->c, trace(self), flag(sc, a, 0, "remove_postproc", false),
                             dialect(sc));
}

static Value run_as_python(Script *sc, Value self, const Args *a) {
  Value list = new_list(sc);
  RVNames names = {.dialect = dialect(sc)};
  const int n = tirc_trace_length(trace(self), flag(sc, a, 0, "remove_postproc", false));
  for (int i = 0; i < n; i++)
    tirc_value_append(sc->c, list,
                      tirc_value_str(tirc_instruction_python(sc->c, trace(self)->at[i], &names)));
  return list;
}

static Value run_trace_show(Script *sc, Value self, const Args *a) {
  return (void)a, show(sc, tirc_trace_python(sc->c, trace(self), false, dialect(sc)));
}

static Sched *schedule_argument(Script *sc, const Args *a, int i, const char *who) {
  Value v = required(sc, a, i, who, "sch");
  if (!tirc_script_is(v, "Schedule"))
    tirc_script_error(sc, "TypeError", NULL, "%s() takes a schedule", who);
  return sched(v);
}

typedef struct Provider {
  Script *sc;
  Value function;
} Provider;

static Value ask(void *self, const Instruction *inst, Value inputs, Value attrs, Value decision) {
  Provider *p = self;
  Value args[] = {of_instruction(inst), own(p->sc, inputs, 0), own(p->sc, attrs, 0),
                  own(p->sc, decision, 0)};
  return own(p->sc, tirc_script_call(p->sc, p->function, &(Args){.n = 4, .at = args}), 0);
}

static Value run_apply(Script *sc, Value self, const Args *a) {
  Sched *s = schedule_argument(sc, a, 0, "apply_to_schedule");
  bool remove = flag(sc, a, 1, "remove_postproc", false);
  const Value *provider = tirc_script_argument(a, 2, "decision_provider");
  Provider p = {sc, provider ? *provider : VALUE_NONE};
  const DecisionProvider asked = {ask, &p};
  tirc_script_tick(sc, trace(self)->n);
  tirc_trace_apply(s, trace(self), remove, p.function.kind == VAL_NONE ? NULL : &asked, sc->loc,
                   "the trace");
  return VALUE_NONE;
}

Value tirc_script_apply_json(Script *sc, Value self, const Args *a) {
  (void)self;
  Value json = required(sc, a, 0, "apply_json_to_schedule", "json_obj");
  Sched *s = schedule_argument(sc, a, 1, "apply_json_to_schedule");
  const Trace *t = tirc_trace_of_value(sc->c, json, sc->loc, "the trace");
  tirc_script_tick(sc, t->n);
  tirc_trace_apply(s, t, false, NULL, sc->loc, "the trace");
  return VALUE_NONE;
}

static Value run_from_json(Script *sc, Value self, const Args *a) {
  (void)self;
  Value json = required(sc, a, 0, "from_json", "json_obj");
  return of_trace(tirc_trace_of_value(sc->c, json, sc->loc, "the trace"));
}

/* Only the record changes: what the instruction did stays done. */
static Value run_pop(Script *sc, Value self, const Args *a) {
  (void)a;
  const Instruction *last = tirc_trace_pop(sc->c, self.u.object);
  return last ? of_instruction(last) : VALUE_NONE;
}

static Value kind_of(const Primitive *p) {
  return tirc_script_object("InstructionKind", (void *)(uintptr_t)p);
}
static Value get_kind(Script *sc, Value v) { return (void)sc, kind_of(instruction(v)->p); }

Value tirc_script_instruction_kind(Script *sc, Value self, const Args *a) {
  (void)self;
  Value name = required(sc, a, 0, "get", "name");
  const Primitive *p = NULL;
  if (name.kind == VAL_STR) p = tirc_instruction_primitive(name.u.s);
  if (p) return kind_of(p);
  tirc_script_error(sc, "ValueError", "\"Split\", \"GetBlock\", ... as in trace.as_json()",
                    "there is no instruction %s", tirc_script_repr(sc, name));
}
static Value get_inputs(Script *sc, Value v) {
  Value list = new_list(sc);
  return tirc_instruction_inputs(sc->c, instruction(v), list), own(sc, list, 0);
}
static Value get_attrs(Script *sc, Value v) {
  Value list = new_list(sc);
  return tirc_instruction_attrs(sc->c, instruction(v), list), own(sc, list, 0);
}
static Value get_outputs(Script *sc, Value v) {
  const Value *at;
  int n = tirc_instruction_outputs(instruction(v), &at);
  return tirc_value_list(sc->c, VAL_LIST, n, at);
}
static Value get_kind_name(Script *sc, Value v) {
  return (void)sc, tirc_value_str(((const Primitive *)v.u.object)->instruction);
}
static Value get_is_pure(Script *sc, Value v) {
  return (void)sc, tirc_value_bool(((const Primitive *)v.u.object)->flags & INST_PURE);
}

const NativeRow tirc_script_constructors[] = {
    {NULL, "Schedule", new_schedule, 0, 1, "mod seed debug_mask error_render_level enable_check"},
    {NULL, "Trace", new_trace, 0, 2, "insts decisions"},
    {0},
};

const NativeRow tirc_script_schedule_methods[] = {
    {"Schedule", "get", run_get, 0, 1, "rand_var_or_sref"},
    {"Schedule", "work_on", run_work_on, 0, 1, "func_name"},
    {"Schedule", "seed", run_seed, 0, 1, "seed"},
    {"Schedule", "fork_seed", run_fork_seed, 0, 0, NULL},
    {"Schedule", "copy", run_copy, 0, 0, NULL},
    {"Schedule", "show", run_show, 0, 2, "style black_format"},
    {"Schedule", "get_sref", run_get_sref, 0, 1, "rand_var_or_stmt"},
    {"Schedule", "remove_rv", run_remove_rv, 0, 1, "rand_var"},
    {"ScheduleState", "get_sref", run_state_get_sref, 0, 1, "stmt"},
    {"Trace", "get_decision", run_get_decision, 0, 1, "inst"},
    {"Trace", "with_decision", run_with_decision, 0, 3, "inst decision remove_postproc"},
    {"Trace", "simplified", run_simplified, 0, 1, "remove_postproc"},
    {"Trace", "as_json", run_as_json, 0, 1, "remove_postproc"},
    {"Trace", "as_python", run_as_python, 0, 1, "remove_postproc"},
    {"Trace", "append", run_append, 0, 2, "inst decision"},
    {"Trace", "apply_to_schedule", run_apply, 0, 3, "sch remove_postproc decision_provider"},
    {"Trace", "apply_json_to_schedule", tirc_script_apply_json, 0, 2, "json_obj sch"},
    {"Trace", "from_json", run_from_json, 0, 1, "json_obj"},     /* for Python, whose schedules */
    {"Trace", "from_insts", new_trace, 0, 2, "insts decisions"}, /* share no objects */
    {"Trace", "pop", run_pop, 0, 0, NULL},
    {"Trace", "show", run_trace_show, 0, 2, "style black_format"},
    {0},
};

const AttributeRow tirc_script_schedule_attributes[] = {
    {"Schedule", "mod", get_mod},
    {"Schedule", "func_working_on", get_func},
    {"Schedule", "trace", get_trace},
    {"Schedule", "state", get_state},
    {"Schedule", "debug_mask", get_debug_mask},
    {"ScheduleState", "mod", get_mod},
    {"ScheduleState", "debug_mask", get_debug_mask},
    {"Trace", "insts", get_insts},
    {"Trace", "decisions", get_decisions},
    {"Instruction", "kind", get_kind},
    {"Instruction", "inputs", get_inputs},
    {"Instruction", "attrs", get_attrs},
    {"Instruction", "outputs", get_outputs},
    {"InstructionKind", "name", get_kind_name},
    {"InstructionKind", "is_pure", get_is_pure},
    {0},
};
