#include "space.h"

#include "ir/tree/annotations.h"
#include "passes/record/trace.h"
#include "passes/rules/rules.h"
#include "passes/schedule/shape/shape.h"
#include "passes/script/interp.h"
#include "passes/script/library.h"

#define PROCESSORS "cpu_space"
#define GPUS "gpu_space"
#define BLOCKS "blocks" /* the way of the block rules */
enum { TRIES = 4 }; /* of a way that draws: what it declines or fails at, it may not with others */

struct Space {
  Tirc *c;
  const Module *mod;
  SpaceOptions options;
  int n_ways;
  const char **ways;
  bool *takes;                           /* func * n_ways + way */
  StrMap unknown;                        /* rules that blocks name, and no library has */
  struct ScriptModule *libraries;        /* read once, run for each draw */
  const struct Calibration *calibration; /* likewise, looked for once */
  int probed_func, probed_way;           /* alone, while the space is made; -1: all */
};

const Cpu *tirc_space_target(const Space *sp) { return sp->options.target; }
int tirc_space_ways(const Space *sp) { return sp->n_ways; }
const char *tirc_space_way(const Space *sp, int i) { return sp->ways[i]; }
bool tirc_space_takes(const Space *sp, int func, int way) {
  return sp->takes[func * sp->n_ways + way];
}

/* One draw, while its script runs. */
typedef struct Run {
  const Space *sp;
  Script *sc;
  Rules ways, blocks, forms, ends;
} Run;

static const char *embedded_library(const Space *sp, Tirc *c) {
  return tirc_rule_library_path(c, sp->options.gpu ? GPUS : PROCESSORS);
}

static void read_libraries(Run *r) {
  Script *sc = r->sc;
  const char *own = r->sp->options.path, *embedded = embedded_library(r->sp, sc->c);
  if (own) (void)tirc_rules_read(sc, own, "block_rules", false, &r->blocks);
  if (own) (void)tirc_rules_read(sc, own, "rules", !r->blocks.n, &r->ways);
  (void)tirc_rules_read(sc, embedded, "rules", true, &r->ways);
  (void)tirc_rules_read(sc, embedded, "block_rules", true, &r->blocks);
  tirc_forms_read(sc, own, embedded, "forms", &r->forms);
  tirc_forms_read(sc, own, embedded, "ends", &r->ends);
  if (r->blocks.n) vec_push(sc->c, r->ways, ((Rule){BLOCKS, VALUE_NONE}));
}

/* --- what is drawn beside the rules' own ------------------------------------------------------ */

static int64_t draw_index(Script *sc, Sched *s, int n, const double *weights, Value decision) {
  Tirc *c = sc->c;
  static const char *const names[] = {"candidates", "probs", "decision"};
  Value args[] = {tirc_value_list(c, VAL_LIST, 0, NULL), tirc_value_list(c, VAL_LIST, 0, NULL),
                  decision};
  for (int i = 0; i < n; i++) {
    tirc_value_append(c, args[0], tirc_value_int(i));
    tirc_value_append(c, args[1], tirc_value_float(weights ? weights[i] : 1.0 / n));
  }
  s->rule = NULL; /* it is no rule's own: tirc_is_choice */
  const Value drawn = tirc_sched_call(s, tirc_find_primitive("sample_categorical"), sc->loc,
                                      &(Args){.n_keywords = 3, .names = names, .keywords = args});
  return drawn.u.i;
}

bool tirc_is_choice(const Instruction *inst) {
  return !inst->rule && tirc_instruction_decision(inst);
}

/* Each schedule has decisions of its own, behind which the choice of it stands. */
static bool decided(const Sched *s, int k) {
  const ValueList *g = s->guide;
  return g && s->n_drawn < g->n && g->at[s->n_drawn].kind == VAL_INT && g->at[s->n_drawn].u.i == k;
}

static Sched *choose(Script *sc, Value from) {
  const ValueList *l = from.u.list;
  int pick = -1;
  for (int i = 0; i < l->n; i++) {
    if (!tirc_script_is(l->at[i], "Schedule"))
      tirc_script_error(sc, "TypeError", "return [sch, copy]",
                        "a rule's list holds %s: it holds schedules",
                        tirc_script_a_type(sc, l->at[i]));
    if (pick < 0 && decided(l->at[i].u.object, i)) pick = i;
  }
  if (l->n == 0) tirc_script_error(sc, "ValueError", NULL, "a rule returned no schedule");
  if (l->n == 1) return l->at[0].u.object;
  if (pick < 0 && sc->sched->likely) pick = 0;
  if (pick < 0) pick = (int)((uint64_t)tirc_sched_fork_seed(sc->sched) % (uint64_t)l->n);
  Sched *s = l->at[pick].u.object;
  (void)draw_index(sc, s, l->n, NULL, tirc_value_int(pick));
  return s;
}

/* --- rules ------------------------------------------------------------------------------------ */

/* Calls a rule, and goes on with what it returns; false: it declines. */
static bool call_rule(Run *r, const Rule *rule, Value about) {
  Script *sc = r->sc;
  Value args[] = {tirc_script_object("Schedule", sc->sched), about};
  sc->sched->rule = rule->name;
  sc->sched->reason = NULL;
  Value answer = tirc_script_call(sc, rule->function, &(Args){.n = 2, .at = args});
  sc->loc = tirc_script_function_loc(rule->function.u.object);
  if (answer.kind == VAL_LIST || answer.kind == VAL_TUPLE)
    sc->sched = choose(sc, answer);
  else if (tirc_script_is(answer, "Schedule"))
    sc->sched = answer.u.object;
  else if (answer.kind == VAL_BOOL && !answer.u.b)
    return false;
  else if (answer.kind != VAL_BOOL && answer.kind != VAL_NONE)
    tirc_script_error(sc, "TypeError", "return a schedule, a list of schedules, True or False",
                      "the rule %s returned %s", rule->name, tirc_script_a_type(sc, answer));
  sc->sched->rule = sc->sched->reason = NULL;
  return true;
}

/* The rule that a block names, or NULL. */
static const char *named_rule(const SRef *r) {
  const Expr e =
      r ? tirc_attrs_get(tirc_block_of(r)->annotations, tirc_key(KEY_SCHEDULE_RULE)) : NULL;
  return e && e->op == OP_STRING ? e->u.s : NULL;
}

/* Likewise, as far as there is one: what no library has is as if it were not there. */
static const char *own_rule(const Space *sp, const SRef *r) {
  const char *name = named_rule(r);
  return name && tirc_strmap_get(&sp->unknown, name) ? NULL : name;
}

static bool is_none(const char *name) { return strcmp(name, "None") == 0; }

/* VALUE_NONE: no library has it. */
static Value find_rule(const Run *r, const char *name) {
  Script *sc = r->sc;
  const char *paths[] = {r->sp->options.path, embedded_library(r->sp, sc->c)};
  for (int i = 0; i < 2; i++) {
    const Env *env = paths[i] ? tirc_script_module(sc, paths[i]) : NULL;
    const EnvEntry *e = env ? tirc_strmap_get(&env->names, name) : NULL;
    if (e && e->bound && e->value.kind == VAL_FUNCTION) return e->value;
  }
  return VALUE_NONE;
}

static void no_such_rule(const Run *r, const SRef *block, Warning *out) {
  Script *sc = r->sc;
  *out = (Warning){CODE_NAME, block->stmt->loc,
                   tirc_format(sc->c,
                               "a block's schedule_rule is '%s', and no library has a function of "
                               "that name: the block is scheduled as if it had none",
                               named_rule(block))};
}

/* Each rule that is missing, once. */
static void find_unknown(const Run *r, StrMap *unknown, void (*visit)(Sched *s, Warning w)) {
  Script *sc = r->sc;
  Sched *s = sc->sched;
  for (int f = 0; f < r->sp->mod->n_funcs; f++) {
    const SRefs children = s->roots[f] ? tirc_child_blocks(s, s->roots[f]) : (SRefs){0};
    for (int i = 0; i < children.n; i++) {
      const char *name = named_rule(children.at[i]);
      if (!name || is_none(name) || tirc_strmap_get(unknown, name)) continue;
      if (find_rule(r, name).kind == VAL_FUNCTION) continue;
      *tirc_strmap_at(sc->c, unknown, name) = s;
      Warning w;
      no_such_rule(r, children.at[i], &w);
      if (visit) visit(s, w);
    }
  }
}

static void call_own_rule(Run *r, const char *name, Value block) {
  if (is_none(name)) return;
  const Value function = find_rule(r, name);
  if (function.kind == VAL_FUNCTION) {
    (void)call_rule(r, &(Rule){name, function}, block);
    return;
  }
  r->sc->loc = (Loc){0}; /* an annotation that a rule has made */
  tirc_script_error(r->sc, "NameError", "--rules FILE gives a library that defines it",
                    "a block's schedule_rule is '%s', and no library has a function of that name",
                    name);
}

/* One rule (NULL: those that blocks carry) on the blocks below a function's root, from the last to
 * the first; those that are gone by then are passed over. */
static void each_block(Run *r, int func, const Rule *rule) {
  Script *sc = r->sc;
  const SRefs children = tirc_child_blocks(sc->sched, sc->sched->roots[func]);
  uint32_t *ids = tirc_new_array(sc->c, uint32_t, children.n + 1);
  for (int i = 0; i < children.n; i++) ids[i] = tirc_block_of(children.at[i])->id;
  for (int i = children.n - 1; i >= 0; i--) {
    if (!tirc_map_has(&sc->sched->blocks, tirc_block_key(ids[i]))) continue;
    const char *own = own_rule(r->sp, tirc_map_get(&sc->sched->blocks, tirc_block_key(ids[i])));
    const Value block = tirc_value_block(ids[i]);
    if (own && !rule) call_own_rule(r, own, block);
    if (!own && rule) (void)call_rule(r, rule, block);
  }
}

static bool run_way(Run *r, int func, int way) {
  if (r->ways.at[way].function.kind == VAL_FUNCTION)
    return call_rule(r, &r->ways.at[way], tirc_value_str(r->sp->mod->funcs[func]->name));
  each_block(r, func, NULL);
  for (int i = 0; i < r->blocks.n; i++) each_block(r, func, &r->blocks.at[i]);
  return true;
}

static void schedule_function(Run *r, int func) {
  Script *sc = r->sc;
  const Space *sp = r->sp;
  double *weights = tirc_new_array(sc->c, double, sp->n_ways);
  bool any = false;
  if (sp->probed_func >= 0 && sp->probed_func != func) return;
  const bool formed = tirc_bring_into_forms(sc, &r->forms, sp->mod->funcs[func]->name);
  for (int i = 0; i < sp->n_ways; i++) {
    const bool only = sp->probed_way >= 0;
    weights[i] = only ? i == sp->probed_way : tirc_space_takes(sp, func, i);
    any |= weights[i] > 0;
  }
  if (!sc->sched->roots[func]) return;
  if (!any) weights = NULL; /* the script says why not */
  sc->sched->work_on = sp->mod->funcs[func]->name;
  const int way = (int)draw_index(sc, sc->sched, sp->n_ways, weights, VALUE_NONE);
  if (!run_way(r, func, way))
    tirc_fail(sc->c, (Loc){0}, CODE_DECLINED, NULL, "the rule %s declines", r->ways.at[way].name);
  (void)tirc_bring_into_forms(sc, &r->ends, sp->mod->funcs[func]->name);
  if (formed) tirc_leave_forms(sc, sp->mod->funcs[func]->name);
}

static void run_rules(Script *sc, void *self) {
  Run *r = self;
  (void)sc;
  read_libraries(r);
  for (int i = 0; i < r->sp->mod->n_funcs; i++) schedule_function(r, i);
}

Sched *tirc_space_schedule(const Space *sp, Tirc *c) {
  Sched *s = tirc_sched_new(c, sp->mod);
  tirc_context_depend(c, sp->mod->c);
  tirc_context_depend(c, sp->c);
  s->target = sp->options.target;
  s->gpu = sp->options.gpu;
  s->intrins = sp->options.intrins;
  tirc_script_serve(s);
  return s;
}

static const Script *draw(const Space *sp, Tirc *c, const Draw *d) {
  Sched *s = tirc_space_schedule(sp, c);
  s->guide = d->decisions;
  s->likely = d->likely;
  tirc_sched_seed(s, d->seed);
  Run r = {.sp = sp, .sc = tirc_script_open(s, &sp->options.limits, NULL, NULL, NULL)};
  r.sc->is_library = true;
  r.sc->rules = sp->options.path;
  r.sc->known = sp->libraries;
  tirc_rules_give_limits(r.sc, &sp->options.limits);
  r.sc->calibration = sp->calibration;
  tirc_script_within_limits(r.sc, (Loc){0}, run_rules, &r);
  r.sc->sched->trace = tirc_trace_with_decisions(c, r.sc->sched->trace);
  return r.sc;
}

Sched *tirc_space_draw(const Space *sp, Tirc *c, const Draw *d) { return draw(sp, c, d)->sched; }

/* --- the space as a whole --------------------------------------------------------------------- */

typedef struct Reading {
  Run run;
  StrMap *unknown;
  void (*visit)(Sched *s, Warning w);
} Reading;

static void read_ways(Script *sc, void *self) {
  Reading *r = self;
  (void)sc;
  read_libraries(&r->run);
  find_unknown(&r->run, r->unknown, r->visit);
}

/* Whether a way may schedule a function: it does, or fails at what it drew, and does not decline.
 * What it imports meanwhile is not read again. */
static bool probe(Space *sp, int func, int way) {
  volatile bool declined = true;
  sp->probed_func = func;
  sp->probed_way = way;
  for (int i = 0; i < TRIES && declined; i++) {
    Tirc *volatile c = tirc_context_new();
    Trap trap;
    if (!c) break;
    if (TIRC_TRY(c, trap)) {
      const Script *sc = draw(sp, c, &(Draw){.likely = i == 0, .seed = i + 1});
      TIRC_END(c, trap);
      sp->libraries = tirc_script_keep_libraries(sp->c, sp->libraries, sc);
      declined = false;
    } else {
      declined = c->diag.code == CODE_DECLINED;
    }
    tirc_context_release(c);
  }
  sp->probed_func = sp->probed_way = -1;
  return !declined;
}

/* A block with a rule of its own is for the block rules alone. */
static bool has_own_rules(const Space *sp, int func) {
  Tirc *c = tirc_context_new();
  bool any = false;
  if (!c) return false;
  Sched *s = tirc_space_schedule(sp, c);
  const SRefs children = s->roots[func] ? tirc_child_blocks(s, s->roots[func]) : (SRefs){0};
  for (int i = 0; i < children.n; i++) any |= own_rule(sp, children.at[i]) != NULL;
  tirc_context_release(c);
  return any;
}

Space *tirc_space_new(Tirc *c, const Module *m, const SpaceOptions *options) {
  Space *sp = tirc_new(c, Space);
  *sp = (Space){.c = c, .mod = m, .options = *options, .probed_func = -1, .probed_way = -1};
  Reading reading = {.run = {.sp = sp,
                             .sc = tirc_script_open(tirc_space_schedule(sp, c), &options->limits,
                                                    NULL, NULL, NULL)},
                     .unknown = &sp->unknown};
  reading.run.sc->is_library = true;
  reading.run.sc->rules = options->path;
  tirc_script_within_limits(reading.run.sc, (Loc){0}, read_ways, &reading);
  const Run r = reading.run;
  sp->libraries = r.sc->modules;
  sp->calibration = r.sc->calibration;
  sp->n_ways = r.ways.n;
  sp->ways = tirc_new_array(c, const char *, r.ways.n + 1);
  sp->takes = tirc_new_array(c, bool, r.ways.n * m->n_funcs + 1);
  for (int i = 0; i < r.ways.n; i++) sp->ways[i] = tirc_strdup(c, r.ways.at[i].name);
  for (int f = 0; f < m->n_funcs; f++) {
    const bool own = has_own_rules(sp, f);
    for (int i = 0; i < sp->n_ways; i++)
      if (!own || !strcmp(sp->ways[i], BLOCKS)) sp->takes[f * sp->n_ways + i] = probe(sp, f, i);
  }
  return sp;
}

static void warn(Sched *s, Warning w) {
  if (s->strict) tirc_raise_warning(s->c, w);
  if (s->warn) s->warn(s->warn_self, w);
}

void tirc_space_check(Sched *s, const Module *m, const SpaceOptions *options) {
  const Space sp = {.c = s->c, .mod = m, .options = *options};
  StrMap unknown = {0};
  Reading reading = {
      .run = {.sp = &sp, .sc = tirc_script_open(s, &options->limits, NULL, NULL, NULL)},
      .unknown = &unknown,
      .visit = warn};
  reading.run.sc->is_library = true;
  reading.run.sc->rules = options->path;
  tirc_script_look_for_table(reading.run.sc);
  tirc_script_within_limits(reading.run.sc, (Loc){0}, read_ways, &reading);
}

/* What was chosen, as text: the same for two draws of the same way. */
static const char *choices_of(Tirc *c, const Trace *t) {
  Text out = {.c = c};
  tirc_text_add(&out, "");
  for (int i = 0; i < t->n; i++)
    if (tirc_is_choice(t->at[i]))
      tirc_text_addf(&out, " %lld", (long long)tirc_instruction_decision(t->at[i])->u.i);
  return out.at;
}

typedef struct Listing {
  const Space *sp;
  Text out;
  StrMap seen; /* choices */
  int n;
  const char *failure; /* of the last draw */
} Listing;

static void list_schedule(Listing *l, Tirc *c, const Draw *d, int way) {
  const Sched *s = tirc_space_draw(l->sp, c, d);
  const char *choices = tirc_strdup(l->out.c, choices_of(c, s->trace));
  void **place = tirc_strmap_at(l->out.c, &l->seen, choices);
  if (*place) return;
  *place = l;
  tirc_text_addf(&l->out, "# schedule %d: %s, choices%s\n%s\n\n", ++l->n, l->sp->ways[way], choices,
                 tirc_trace_python(c, s->trace, false, s->mod->dialect));
}

static bool try_listing(Listing *l, const Draw *d, int way) {
  Tirc *c = tirc_context_new();
  Trap trap;
  if (!c) return false;
  if (TIRC_TRY(c, trap)) {
    list_schedule(l, c, d, way);
    TIRC_END(c, trap);
    tirc_context_release(c);
    return true;
  }
  l->failure = tirc_strdup(l->out.c, tirc_script_raised(c));
  tirc_context_release(c);
  return false;
}

const char *tirc_space_text(const Space *sp, Tirc *c) {
  enum { DRAWS = 24 };
  Listing l = {.sp = sp, .out = {.c = c}};
  tirc_text_add(&l.out, "");
  for (int way = 0; way < sp->n_ways; way++) {
    Value first = tirc_value_list(c, VAL_LIST, 0, NULL);
    bool any = false;
    tirc_value_append(c, first, tirc_value_int(way));
    for (int i = 0; i < DRAWS; i++)
      any |= try_listing(&l, &(Draw){first.u.list, i == 0, i + 1}, way);
    if (!any) tirc_text_addf(&l.out, "# no schedule by %s: %s\n", sp->ways[way], l.failure);
  }
  return l.out.at;
}

ValueList *tirc_decisions_of(Tirc *c, const Trace *t) {
  Value list = tirc_value_list(c, VAL_LIST, 0, NULL);
  for (int i = 0; i < t->n; i++) {
    const Value *d = tirc_instruction_decision(t->at[i]);
    if (!d) continue;
    tirc_value_append(
        c, list,
        d->kind == VAL_LIST ? tirc_value_list(c, VAL_LIST, d->u.list->n, d->u.list->at) : *d);
  }
  return list.u.list;
}
