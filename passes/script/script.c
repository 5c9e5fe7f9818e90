/* Running a script: the scope it starts with, the bounds it runs under, and what becomes of its
 * errors. */
#include "interp.h"

enum { DEFAULT_STEPS = 10 * 1000 * 1000, DEFAULT_BYTES = 1 << 30 };

void tirc_script_tick(Script *sc, int64_t steps) {
  sc->steps += steps;
  if (sc->steps > sc->max_steps)
    tirc_script_limit(
        sc, "does a loop never end? --script-steps sets the limit",
        tirc_format(sc->c, "the script takes more than %lld steps", (long long)sc->max_steps));
}

void tirc_script_outside(Script *sc, Flow flow) {
  static const char *const names[] = {
      [FLOW_BREAK] = "break", [FLOW_CONTINUE] = "continue", [FLOW_RETURN] = "return"};
  if (flow != FLOW_NEXT)
    tirc_fail(sc->c, sc->loc, CODE_SYNTAX, NULL, "'%s' outside of a %s", names[flow],
              flow == FLOW_RETURN ? "function" : "loop");
}

static Value constant_value(Script *sc, Expr e) {
  if (e->op == OP_STRING) return tirc_value_str(e->u.s);
  if (e->op == OP_FLOAT) return tirc_value_float(e->u.f);
  if (e->op != OP_TUPLE) return tirc_script_of_expr(e);
  Value list = tirc_value_list(sc->c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < e->n; i++) tirc_value_append(sc->c, list, constant_value(sc, e->args[i]));
  return list;
}

void tirc_script_predefine(Script *sc) {
  static const char *const spaces[] = {"tvm", "tir", "tirx", "s_tir", "T"};
  const Module *m = sc->sched->mod;
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
    tirc_script_set(sc, sc->globals, spaces[i], tirc_script_namespace("tir"));
  tirc_script_set(sc, sc->globals, "te", tirc_script_namespace("te"));
  if (sc->writer) tirc_script_set(sc, sc->globals, "R", tirc_script_relax_root());
  if (m->is_class && !sc->is_library)
    tirc_script_set(sc, sc->globals, m->name, tirc_script_object("IRModule", m));
  for (int i = 0; i < m->n_funcs && !sc->is_library; i++)
    tirc_script_set(sc, sc->globals, m->funcs[i]->name,
                    tirc_script_object("PrimFunc", m->funcs[i]));
  for (int i = 0; i < m->n_constants && !sc->is_library; i++) {
    const Constant *k = &m->constants[i];
    (k->given && sc->is_file ? tirc_script_give : tirc_script_set)(sc, sc->globals, k->name,
                                                                   constant_value(sc, k->value));
  }
  tirc_script_set(sc, sc->globals, "TensorIntrin", tirc_script_object("type", "TensorIntrin"));
  tirc_script_set(sc, sc->globals, "sch", tirc_script_object("Schedule", sc->sched));
}

/* The script's only function, when the script does nothing but define it: as the text of a trace
 * does, def apply_trace(sch): ... */
static const Syn *lone_function(const SynList *body) {
  const Syn *def = NULL;
  for (int i = 0; i < body->n; i++) {
    const Syn *s = body->at[i];
    bool doc = s->kind == SYN_EXPR_STMT && s->a->kind == SYN_STRING;
    if (s->kind == SYN_IMPORT || s->kind == SYN_PASS || doc) continue;
    if (s->kind != SYN_DEF || def) return NULL;
    def = s;
  }
  return def && def->kids.n == 1 && def->kids.at[0]->i == 0 ? def : NULL;
}

/* A script that went on with a copy, sch = sch.copy(), has that as its result. */
static void follow_copy(Script *sc) {
  for (int i = 0; i < sc->globals->names.n; i++) {
    EnvEntry *e = sc->globals->names.at[i].value;
    bool copy = e->bound && !strcmp(e->name, "sch") && tirc_script_is(e->value, "Schedule");
    if (!copy || e->value.u.object == sc->sched) continue;
    *sc->sched = *(const Sched *)e->value.u.object;
    e->value.u.object = sc->sched;
  }
}

static void run(Script *sc, void *self) {
  const Source *source = self;
  SynList body = tirc_parse_syntax(sc->c, source);
  Frame f = {.sc = sc, .env = sc->globals};
  tirc_script_outside(sc, tirc_script_exec(&f, &body));
  const Syn *def = lone_function(&body);
  if (def)
    tirc_script_call1(sc, tirc_script_lookup(sc, sc->globals, def->s, NULL),
                      tirc_script_object("Schedule", sc->sched));
  follow_copy(sc);
}

void tirc_script_restart(Script *sc, Loc loc) {
  sc->steps = sc->calls = sc->nesting = 0;
  sc->handling = NULL;
  sc->loc = loc;
}

/* Runs, and sets the context's memory limit back however it ends. */
void tirc_script_within_limits(Script *sc, Loc loc, void (*body)(Script *sc, void *self),
                               void *self) {
  Tirc *c = sc->c;
  const size_t outer_limit = c->max_bytes;
  if (!outer_limit || c->bytes + sc->max_bytes < outer_limit)
    c->max_bytes = c->bytes + sc->max_bytes;
  tirc_script_restart(sc, loc);
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    body(sc, self);
    TIRC_END(c, trap);
    c->max_bytes = outer_limit;
    return;
  }
  c->max_bytes = outer_limit;
  if (c->diag.code == CODE_MEMORY) {
    c->diag.loc = sc->loc;
    c->diag.message = "the script needs more memory than it may have";
  }
  tirc_throw(c);
}

void tirc_script_run(Script *sc, const Source *source) {
  tirc_script_within_limits(sc, (Loc){source->name, 1, 1}, run, (void *)(uintptr_t)source);
}

Script *tirc_script_open(Sched *s, const ScriptLimits *limits,
                         void (*out)(void *self, const char *text), ScriptObserver observer,
                         void *self) {
  Script *sc = tirc_new(s->c, Script);
  *sc = (Script){.c = s->c,
                 .sched = s,
                 .max_steps = limits && limits->steps > 0 ? limits->steps : DEFAULT_STEPS,
                 .max_bytes = (size_t)(limits && limits->bytes > 0 ? limits->bytes : DEFAULT_BYTES),
                 .out = out,
                 .observer = observer,
                 .self = self};
  sc->globals = tirc_script_env(sc, NULL);
  tirc_script_serve(s); /* a script may apply a trace that it has as data */
  tirc_script_predefine(sc);
  return sc;
}

/* Where a function is defined that the script lists as a rule; no file: there is none. */
static Loc rule_of_its_own(Script *sc, const Source *source) {
  const EnvEntry *rules = tirc_strmap_get(&sc->globals->names, "rules");
  const bool listed =
      rules && rules->bound && (rules->value.kind == VAL_LIST || rules->value.kind == VAL_TUPLE);
  for (int i = 0; listed && i < rules->value.u.list->n; i++) {
    const Value v = rules->value.u.list->at[i];
    const Loc at = v.kind == VAL_FUNCTION ? tirc_script_function_loc(v.u.object) : (Loc){0};
    if (at.file && source->name && strcmp(at.file, source->name) == 0) return at;
  }
  return (Loc){0};
}

void tirc_run_script(Sched *s, const Source *source, const ScriptLimits *limits,
                     void (*out)(void *self, const char *text), ScriptObserver observer,
                     void *self) {
  const char *end = source->name ? strrchr(source->name, '.') : NULL;
  if (end && !strcmp(end, ".tir"))
    tirc_fail(s->c, (Loc){0}, CODE_ARGUMENT,
              "give a schedule script (FILE.sch), which calls methods of sch",
              "'%s' is a program, not a schedule", source->name);
  Script *sc = tirc_script_open(s, limits, out, observer, self);
  sc->is_file = true;
  tirc_script_predefine(sc);
  const Module *before = s->mod;
  tirc_script_run(sc, source);
  const Loc rule = rule_of_its_own(sc, source);
  if (s->mod != before || !rule.file) return;
  const Warning w = {
      CODE_WARNING, rule,
      "the script lists rules and schedules nothing: --auto --rules FILE tries them"};
  if (s->strict) tirc_raise_warning(s->c, w);
  if (s->warn) s->warn(s->warn_self, w);
}

Value tirc_script_value(Script *sc, const Source *source) {
  SynList body = tirc_parse_syntax(sc->c, source);
  Frame f = {.sc = sc, .env = sc->globals};
  if (body.n != 1 || body.at[0]->kind != SYN_EXPR_STMT)
    tirc_fail(sc->c, (Loc){source->name, 1, 1}, CODE_SYNTAX, NULL, "this is not an expression: %s",
              source->text);
  return tirc_script_eval(&f, body.at[0]->a);
}

static Value eval_text(Sched *s, const char *python, Loc loc) {
  Script *sc = tirc_new(s->c, Script);
  *sc = (Script){.c = s->c, .sched = s, .max_steps = DEFAULT_STEPS, .loc = loc};
  sc->globals = tirc_script_env(sc, NULL);
  tirc_script_set(sc, sc->globals, "T", tirc_script_namespace("tir"));
  Source source = {loc.file, python, strlen(python)};
  return tirc_script_value(sc, &source);
}

void tirc_script_serve(Sched *s) {
  s->eval = eval_text;
  s->offer_intrin = tirc_script_offer_intrin;
}
