#include "rules.h"

#include "ir/tree/annotations.h"
#include "passes/record/trace.h"
#include "passes/schedule/state/nodes.h"
#include "passes/script/calibration.h"
#include "passes/script/interp.h"
#include "passes/script/library.h"

#define PROCESSORS "cpu"
#define GPUS "gpu"

/* Functions that no rule schedules, by what their users can do about it. */
typedef struct Bare {
  const char *hint; /* or NULL */
  VEC(const char *) functions;
} Bare;

typedef struct Auto {
  Script *sc;
  Rules rules, forms, ends, hints, slow;
  const RuleListener *listener;
  const char *own, *embedded; /* libraries; own: or NULL */
  /* what is to be done within the script's limits */
  const char *path, *func;
  Rule rule;
  bool raised, formed;
  Value answer;
  const Rules *asked; /* which of them are asked of a block */
  Value asked_of;
  const char *words; /* what the first says that knows it, or NULL */
  VEC(Bare) bare;
} Auto;

/* --- libraries -------------------------------------------------------------------------------- */

static bool has_rule(const Rules *rules, const char *name) {
  for (int i = 0; i < rules->n; i++)
    if (!strcmp(rules->at[i].name, name)) return true;
  return false;
}

static const char *name_of_rule(Script *sc, Value v, int number) {
  if (v.kind != VAL_FUNCTION)
    tirc_script_error(sc, "TypeError", "rules = [f, g] lists functions by their names",
                      "rule %d of the list is %s, and no function", number,
                      tirc_script_a_type(sc, v));
  const Callable *f = v.u.object;
  if (!f->name || !strcmp(f->name, "<lambda>"))
    tirc_script_error(sc, "TypeError", "write def name(sch, func): ...",
                      "rule %d of the list has no name", number);
  if (f->n_params >= 0 && f->n_params != 2)
    tirc_script_error(sc, "TypeError", tirc_format(sc->c, "write def %s(sch, func): ...", f->name),
                      "the rule %s takes %d argument%s: a rule takes the schedule and a function's "
                      "name",
                      f->name, f->n_params, f->n_params == 1 ? "" : "s");
  return f->name;
}

bool tirc_rules_read(Script *sc, const char *path, const char *name, bool needed, Rules *out) {
  Rules own = {0};
  sc->loc = (Loc){0};
  const Env *env = tirc_script_module(sc, path);
  const EnvEntry *list = tirc_strmap_get(&env->names, name);
  sc->loc = (Loc){path, 1, 1};
  if ((!list || !list->bound) && !needed) return false;
  if (!list || !list->bound)
    tirc_script_error(
        sc, "NameError",
        tirc_format(sc->c, "it ends with %s = [f, g, ...]: the functions to try, in that order",
                    name),
        "the library %s defines no `%s`", path, name);
  if (list->value.kind != VAL_LIST && list->value.kind != VAL_TUPLE)
    tirc_script_error(sc, "TypeError", tirc_format(sc->c, "%s = [f, g, ...]", name),
                      "`%s` is %s, and no list", name, tirc_script_a_type(sc, list->value));
  const ValueList *l = list->value.u.list;
  for (int i = 0; i < l->n; i++) {
    const Rule r = {name_of_rule(sc, l->at[i], i + 1), l->at[i]};
    if (has_rule(&own, r.name))
      tirc_script_error(sc, "ValueError", "give one of them another name",
                        "two rules of the list are called %s", r.name);
    vec_push(sc->c, own, r);
  }
  const int before = out->n;
  for (int i = 0; i < own.n; i++) {
    const Rules earlier = {.at = out->at, .n = before};
    if (!has_rule(&earlier, own.at[i].name)) vec_push(sc->c, *out, own.at[i]);
  }
  return true;
}

/* Of a library those whose names no earlier one has. */
static void add_library(Script *sc, void *self) {
  Auto *a = self;
  (void)tirc_rules_read(sc, a->path, "rules", true, &a->rules);
}

/* --- forms ------------------------------------------------------------------------------------ */

void tirc_forms_read(Script *sc, const char *own, const char *embedded, const char *list,
                     Rules *out) {
  if (!own || !tirc_rules_read(sc, own, list, false, out))
    (void)tirc_rules_read(sc, embedded, list, false, out);
}

static bool is_laid_out_anew(Sched *s, const char *func) {
  return s->mod->funcs[tirc_function_named(s, func)]->relayouts;
}

/* A form with nothing to do returns False; one that raises is broken. Of a function without blocks
 * nothing can be asked, so raising is no fault there. */
static void warn_of_form(Sched *s, const Rule *form, const char *func) {
  if (!s->roots[tirc_function_named(s, func)]) return;
  const char *why = tirc_script_raised(s->c);
  const Warning w = {CODE_WARNING, tirc_script_function_loc(form->function.u.object),
                     tirc_format(s->c, "%s fails on the function %s: %s", form->name, func,
                                 why ? why : "it raises")};
  if (s->strict) tirc_raise_warning(s->c, w);
  if (s->warn) s->warn(s->warn_self, w);
}

bool tirc_bring_into_forms(Script *sc, const Rules *forms, const char *func) {
  Sched *s = sc->sched;
  const bool before = is_laid_out_anew(s, func);
  const char *const work_on = s->work_on;
  s->work_on = func;
  for (int i = 0; i < forms->n; i++) {
    Value args[] = {tirc_script_object("Schedule", s), tirc_value_str(func)}, answer;
    s->rule = forms->at[i].name;
    s->reason = NULL;
    if (!tirc_script_attempt(sc, forms->at[i].function, &(Args){.n = 2, .at = args}, &answer))
      warn_of_form(s, &forms->at[i], func);
  }
  s->work_on = work_on;
  s->rule = s->reason = NULL;
  return !before && is_laid_out_anew(s, func);
}

void tirc_leave_forms(Script *sc, const char *func) {
  const Value name = tirc_value_str(func);
  (void)tirc_sched_call(sc->sched, tirc_find_primitive("restore_shapes"), sc->loc,
                        &(Args){.n = 1, .at = &name});
}

/* --- one rule on one function ----------------------------------------------------------------- */

static void call_rule(Script *sc, void *self) {
  Auto *a = self;
  Value args[] = {tirc_script_object("Schedule", sc->sched), tirc_value_str(a->func)};
  a->raised = !tirc_script_attempt(sc, a->rule.function, &(Args){.n = 2, .at = args}, &a->answer);
}

static bool read_answer(Auto *a) {
  if (a->raised) return false;
  if (a->answer.kind == VAL_BOOL) return a->answer.u.b;
  a->sc->loc = tirc_script_function_loc(a->rule.function.u.object);
  tirc_script_error(a->sc, "TypeError", "True where it scheduled the function, otherwise False",
                    "the rule %s returned %s: a rule returns True or False", a->rule.name,
                    tirc_script_a_type(a->sc, a->answer));
}

/* A limit that a rule runs into is thrown, with its name. */
static void run_rule(Auto *a) {
  Tirc *c = a->sc->c;
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    tirc_script_within_limits(a->sc, (Loc){0}, call_rule, a);
    TIRC_END(c, trap);
    return;
  }
  c->diag.message = tirc_format(c, "the rule %s: %s", a->rule.name, c->diag.message);
  tirc_throw(c);
}

/* What a rule says at its end holds for the calls of which it said nothing. */
static void give_reason(Sched *s, int from, const char *reason) {
  for (int i = from; i < s->trace->n; i++) {
    if (s->trace->at[i]->reason) continue;
    Instruction *inst = tirc_new(s->c, Instruction);
    *inst = *s->trace->at[i];
    inst->reason = reason;
    s->trace->at[i] = inst;
  }
}

/* --- what stays as it is ---------------------------------------------------------------------- */

/* A child block of the root with the statement of the root's body that it stands in. */
typedef struct Nest {
  SRef *block;
  uint32_t id;
  Stmt stmt;
} Nest;
typedef VEC(Nest) Nests;

static Nests nests_of(Sched *s, const char *func) {
  Nests nests = {0};
  const int f = tirc_function_named(s, func);
  const SRefs blocks = s->roots[f] ? tirc_child_blocks(s, s->roots[f]) : (SRefs){0};
  for (int i = 0; i < blocks.n; i++) {
    const SRef *top = blocks.at[i];
    while (top->parent != s->roots[f]) top = top->parent;
    vec_push(s->c, nests, ((Nest){blocks.at[i], tirc_block_of(blocks.at[i])->id, top->stmt}));
  }
  return nests;
}

/* Whether a loop around the block has many iterations, as far as is known; few are not worth a
 * schedule. */
static bool is_long(const Nest *n) {
  enum { MANY = 4096 };
  int64_t all = 1, extent;
  for (const SRef *r = n->block->parent; tirc_is_loop(r); r = r->parent)
    if (!tirc_const_int(tirc_loop_of(r)->extent, &extent) ||
        __builtin_mul_overflow(all, extent, &all))
      return true;
  return all >= MANY;
}

/* The words of the first that has some of the block. */
static void ask_words(Script *sc, void *self) {
  Auto *a = self;
  Value args[] = {tirc_script_object("Schedule", sc->sched), a->asked_of}, answer;
  a->words = NULL;
  for (int i = 0; i < a->asked->n && !a->words; i++)
    if (tirc_script_attempt(sc, a->asked->at[i].function, &(Args){.n = 2, .at = args}, &answer) &&
        answer.kind == VAL_STR)
      a->words = answer.u.s;
}

static const char *words_of(Auto *a, const Rules *asked, const SRef *block) {
  a->asked = asked;
  a->asked_of = tirc_value_of_sref(block);
  tirc_script_within_limits(a->sc, (Loc){0}, ask_words, a);
  return a->words;
}

static const char *hint_of(Auto *a, const SRef *block) { return words_of(a, &a->hints, block); }

static void warn_of_no_rule(Sched *s, const char *message, const char *hint) {
  const Warning w = {
      CODE_NO_RULE, {0}, tirc_format(s->c, "%s%s%s", message, hint ? ": " : "", hint ? hint : "")};
  if (s->strict) tirc_raise_warning(s->c, w);
  if (s->warn) s->warn(s->warn_self, w);
}

static bool is_as_before(const Nest *n, const Nests *before) {
  for (int i = 0; i < before->n; i++)
    if (before->at[i].id == n->id && before->at[i].stmt == n->stmt) return true;
  return false;
}

/* Blocks of a function that a rule took, and that it left or hardly changed. */
static void warn_of_left(Auto *a, const Nests *before) {
  Sched *s = a->sc->sched;
  const Nests now = nests_of(s, a->func);
  for (int i = 0; i < now.n; i++) {
    const SRef *block = now.at[i].block;
    if (!is_long(&now.at[i])) continue;
    const bool is_left = is_as_before(&now.at[i], before);
    const char *lacks = is_left ? "it stays as it is" : words_of(a, &a->slow, block);
    if (lacks)
      warn_of_no_rule(s,
                      tirc_format(s->c,
                                  is_left ? "no rule schedules block %s of the function %s: %s"
                                          : "no rule makes block %s of the function %s fast: %s",
                                  tirc_block_of(block)->name, a->func, lacks),
                      hint_of(a, block));
  }
}

static bool are_same(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

/* A module may have many such functions: they are told at the end, in one warning. (A model is
 * scheduled by a few functions at a time.) */
static void note_bare(Auto *a, const char *hint) {
  int i = 0;
  while (i < a->bare.n && !are_same(a->bare.at[i].hint, hint)) i++;
  if (i == a->bare.n) vec_push(a->sc->c, a->bare, ((Bare){.hint = hint}));
  vec_push(a->sc->c, a->bare.at[i].functions, a->func);
}

static const char *listed(Tirc *c, const Bare *b) {
  enum { SHOWN = 3 };
  const char *text = b->functions.at[0];
  for (int i = 1; i < b->functions.n && i < SHOWN; i++)
    text = tirc_format(c, "%s, %s", text, b->functions.at[i]);
  const int more = b->functions.n - SHOWN;
  return more > 0 ? tirc_format(c, "%s and %d more", text, more) : text;
}

static void tell_bare(Sched *s, const Bare *b) {
  const char *const form = b->functions.n == 1
                               ? "no rule schedules the function %s: it stays as it is"
                               : "no rule schedules the functions %s: they stay as they are";
  warn_of_no_rule(s, tirc_format(s->c, form, listed(s->c, b)), b->hint);
}

/* Of a function that no rule takes, or one took without a change. */
static void leave(Auto *a, bool took, const char *reason) {
  Sched *s = a->sc->sched;
  const Nests nests = nests_of(s, a->func);
  bool matters = !nests.n;
  const char *hint = NULL;
  for (int i = 0; i < nests.n; i++) matters |= is_long(&nests.at[i]);
  for (int i = 0; i < nests.n && !hint; i++) hint = hint_of(a, nests.at[i].block);
  if (a->listener) a->listener->tried(a->listener->self, a->func, NULL, false, reason);
  if (matters || !took) note_bare(a, hint);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* The numbers that a rule took belong to its reason where they are of this machine alone. */
static const char *with_calibration(const Script *sc, const char *reason) {
  const Calibration *k = sc->calibration;
  if (!k || !k->date) return reason;
  return tirc_format(sc->c, "%s%scalibrated %s", reason ? reason : "", reason ? "; " : "", k->date);
}

static bool try_rule(Auto *a) {
  Sched *s = a->sc->sched;
  const int before = s->trace->n;
  const Nests nests = s->gpu ? (Nests){0} : nests_of(s, a->func);
  const Module *const mod = s->mod;
  const char *const work_on = s->work_on;
  s->work_on = a->func;
  s->rule = a->rule.name;
  s->reason = NULL;
  run_rule(a);
  const bool took = read_answer(a);
  const char *reason = a->raised ? tirc_script_raised(s->c) : s->reason;
  if (took) give_reason(s, before, reason = with_calibration(a->sc, reason));
  s->work_on = work_on;
  s->rule = s->reason = NULL;
  if (took && s->mod == mod) {
    leave(a, true, reason);
    return true;
  }
  if (a->listener) a->listener->tried(a->listener->self, a->func, a->rule.name, took, reason);
  if (took) warn_of_left(a, &nests);
  return took;
}

static void form_function(Script *sc, void *self) {
  Auto *a = self;
  a->formed = tirc_bring_into_forms(sc, &a->forms, a->func);
}

void tirc_rules_give_limits(Script *sc, const ScriptLimits *limits) {
  enum { STEPS_OF_A_BLOCK = 40000, BYTES_OF_A_BLOCK = 1 << 20 };
  Sched *s = sc->sched;
  int64_t blocks = 0;
  for (int f = 0; f < s->mod->n_funcs; f++)
    if (s->roots[f]) blocks += tirc_child_blocks(s, s->roots[f]).n;
  const int64_t steps = blocks * STEPS_OF_A_BLOCK;
  const size_t bytes = (size_t)blocks * BYTES_OF_A_BLOCK;
  if (steps > sc->max_steps && !(limits && limits->steps > 0)) sc->max_steps = steps;
  if (bytes > sc->max_bytes && !(limits && limits->bytes > 0)) sc->max_bytes = bytes;
}

static void end_function(Script *sc, void *self) {
  Auto *a = self;
  (void)tirc_bring_into_forms(sc, &a->ends, a->func);
}

static bool stays_as_it_is(const Auto *a) {
  const Module *m = a->sc->sched->mod;
  const Func *f = m->funcs[tirc_function_named(a->sc->sched, a->func)];
  const Expr says = tirc_attrs_get(f->attrs, tirc_key(KEY_IS_SCHEDULED));
  return says && tirc_is_true(says);
}

static void schedule_function(Auto *a) {
  if (stays_as_it_is(a)) return;
  tirc_script_within_limits(a->sc, (Loc){0}, form_function, a);
  int i = a->sc->sched->roots[tirc_function_named(a->sc->sched, a->func)] ? 0 : a->rules.n;
  while (i < a->rules.n && (a->rule = a->rules.at[i], !try_rule(a))) i++;
  if (i == a->rules.n)
    leave(a, false, NULL);
  else
    tirc_script_within_limits(a->sc, (Loc){0}, end_function, a);
  if (a->formed) tirc_leave_forms(a->sc, a->func);
}

static void add_forms(Script *sc, void *self) {
  Auto *a = self;
  tirc_forms_read(sc, a->own, a->embedded, "forms", &a->forms);
  tirc_forms_read(sc, a->own, a->embedded, "hints", &a->hints);
  tirc_forms_read(sc, a->own, a->embedded, "slow", &a->slow);
  tirc_forms_read(sc, a->own, a->embedded, "ends", &a->ends);
}

void tirc_auto_schedule(Sched *s, const char *path, const ScriptLimits *limits,
                        void (*out)(void *self, const char *text), ScriptObserver observer,
                        void *self, const RuleListener *listener) {
  Auto a = {.sc = tirc_script_open(s, limits, out, observer, self), .listener = listener};
  const char *const paths[] = {path, tirc_rule_library_path(s->c, s->gpu ? GPUS : PROCESSORS)};
  a.own = paths[0];
  a.embedded = paths[1];
  tirc_rules_give_limits(a.sc, limits);
  a.sc->is_library = true;
  a.sc->rules = path;
  tirc_script_look_for_table(a.sc);
  for (int i = 0; i < 2; i++) {
    if (!paths[i]) continue;
    a.path = paths[i];
    tirc_script_within_limits(a.sc, (Loc){0}, add_library, &a);
  }
  tirc_script_within_limits(a.sc, (Loc){0}, add_forms, &a);
  const char **names = tirc_new_array(s->c, const char *, s->mod->n_funcs);
  const int n = s->mod->n_funcs;
  for (int i = 0; i < n; i++) names[i] = s->mod->funcs[i]->name;
  for (int i = 0; i < n; i++) {
    a.func = names[i];
    schedule_function(&a);
  }
  for (int i = 0; i < a.bare.n; i++) tell_bare(s, &a.bare.at[i]);
  s->trace = tirc_trace_simplified(s->c, s->trace, false);
}
