/* Names and functions. Which names are local to a function is known before it runs, as in Python:
 * all that its body binds anywhere, but for those declared nonlocal or global. */
#include "interp.h"
#include "ir/nearest.h"
#include "passes/schedule/state/state.h"

/* --- scopes ----------------------------------------------------------------------------------- */

static EnvEntry *find(const Env *env, const char *name) {
  return tirc_strmap_get(&env->names, name);
}

static EnvEntry *declare(Script *sc, Env *env, const char *name) {
  void **at = tirc_strmap_at(sc->c, &env->names, name);
  EnvEntry *e = *at;
  if (e) return e;
  e = sc->spare_entries;
  if (e)
    sc->spare_entries = e->next;
  else
    e = tirc_new(sc->c, EnvEntry);
  *at = e;
  *e = (EnvEntry){.name = name};
  return e;
}

Env *tirc_script_env(Script *sc, Env *outer) {
  Env *env = sc->spare;
  if (env)
    sc->spare = env->outer;
  else
    env = tirc_new(sc->c, Env);
  env->outer = outer;
  return env;
}

void tirc_script_end_env(Script *sc, Env *env) {
  if (env->captured) return;
  for (int i = 0; i < env->names.n; i++) {
    EnvEntry *e = env->names.at[i].value;
    e->next = sc->spare_entries;
    sc->spare_entries = e;
  }
  tirc_strmap_clear(&env->names);
  env->outer = sc->spare;
  sc->spare = env;
}

void tirc_script_give(Script *sc, Env *env, const char *name, Value v) {
  tirc_script_set(sc, env, name, v);
  find(env, name)->given = true;
}

static EnvEntry *given(const Env *env, const char *name) {
  EnvEntry *e = find(env, name);
  if (e && e->alias) e = find(e->alias, name);
  return e && e->given ? e : NULL;
}

bool tirc_script_is_given(const Env *env, const char *name) { return given(env, name) != NULL; }

bool tirc_script_begin_given(Env *env, const char *name) {
  EnvEntry *e = given(env, name);
  if (e) e->given = false;
  return e != NULL;
}

void tirc_script_set(Script *sc, Env *env, const char *name, Value v) {
  EnvEntry *e = declare(sc, env, name);
  if (e->alias) e = declare(sc, e->alias, name);
  if (e->given)
    tirc_script_error(
        sc, "NameError",
        tirc_format(sc->c, "omit -D %s, or let the script begin with %s = ...", name, name),
        "-D %s: the script sets %s itself, but not with an assignment", name, name);
  e->value = v;
  e->bound = true;
}

/* Of the names that have a value here, and the builtin functions. */
static const char *nearest_name(Script *sc, const Env *env, const char *name) {
  VEC(const char *) all = {0};
  for (; env; env = env->outer)
    for (int i = 0; i < env->names.n; i++) {
      const EnvEntry *e = env->names.at[i].value;
      if (e->bound) vec_push(sc->c, all, e->name);
    }
  for (int i = 0; i < tirc_script_n_builtins; i++)
    vec_push(sc->c, all, tirc_script_builtins[i].name);
  return tirc_nearest(sc->c, name, all.n, all.at);
}

/* s.get_loops, where nothing is called s, is meant for the schedule. */
static _Noreturn void no_such_name(Script *sc, const Env *env, const char *name,
                                   const char *attribute) {
  static const struct {
    const char *name, *hint;
  } hints[] = {
      {"open", "scripts have no access to files"},
      {"eval", "scripts have no eval"},
      {"exec", "scripts have no exec"},
      {"true", "Python writes True"},
      {"false", "Python writes False"},
      {"null", "Python writes None"},
      {"none", "Python writes None"},
      {"NULL", "Python writes None"},
      {"TRUE", "Python writes True"},
      {"FALSE", "Python writes False"},
  };
  for (int i = sc->absent.n - 1; i >= 0; i--)
    if (!strcmp(sc->absent.at[i].name, name))
      tirc_script_error(sc, "ImportError", SCRIPT_OFFERS, "%s is not available in scripts",
                        sc->absent.at[i].path);
  const char *hint = NULL;
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
    if (!strcmp(hints[i].name, name)) hint = hints[i].hint;
  if (!hint && tirc_find_primitive(name))
    hint = tirc_format(sc->c, "primitives are methods of the schedule: sch.%s(...)", name);
  if (!hint && sc->sched) hint = tirc_hint_of_name(sc->sched, name);
  if (!hint) hint = nearest_name(sc, env, name);
  if (!hint && attribute && tirc_find_primitive(attribute)) hint = "did you mean 'sch'?";
  tirc_script_error(sc, "NameError", hint, "name '%s' is not defined", name);
}

void tirc_script_unset(Script *sc, Env *env, const char *name) {
  EnvEntry *e = find(env, name);
  if (e && e->alias) e = find(e->alias, name);
  if (!e || !e->bound) no_such_name(sc, env, name, NULL);
  e->bound = false;
}

/* The value of a builtin, which is looked for once; NULL: there is none. */
static const Value *builtin(Script *sc, const char *name) {
  Value *known = tirc_strmap_get(&sc->builtins, name);
  if (known) return known;
  Value v = VALUE_NONE;
  for (int i = 0; i < tirc_script_n_builtins; i++)
    if (!strcmp(tirc_script_builtins[i].name, name))
      v = tirc_script_native(&tirc_script_builtins[i]);
  const ExceptionClass *class = tirc_script_exception_class(name);
  if (class) v = tirc_script_object("type", class->name);
  if (v.kind == VAL_NONE) return NULL;
  *tirc_strmap_at(sc->c, &sc->builtins, name) = known = tirc_new(sc->c, Value);
  *known = v;
  return known;
}

Value tirc_script_lookup(Script *sc, Env *from, const char *name, const char *attribute) {
  for (Env *env = from; env; env = env->outer) {
    EnvEntry *e = find(env, name);
    if (e && e->alias) e = find(e->alias, name);
    if (!e) continue;
    if (e->bound) return e->given = false, e->value;
    if (!env->outer) break;
    tirc_script_error(sc, "NameError", "assign it first, or declare it nonlocal",
                      "the local variable '%s' is used before it gets a value", name);
  }
  const Value *v = builtin(sc, name);
  if (v) return *v;
  no_such_name(sc, from, name, attribute);
}

/* --- what a function binds -------------------------------------------------------------------- */

typedef struct Info {
  VEC(const char *) locals;
  VEC(const char *) nonlocals;
  VEC(const char *) globals;
} Info;

static void collect_target(Script *sc, Info *info, const Syn *t) {
  if (!t) return;
  if (t->kind == SYN_NAME) vec_push(sc->c, info->locals, t->s);
  if (t->kind == SYN_STAR) collect_target(sc, info, t->a);
  if (t->kind == SYN_TUPLE || t->kind == SYN_LIST)
    for (int i = 0; i < t->kids.n; i++) collect_target(sc, info, t->kids.at[i]);
}

static void collect(Script *sc, Info *info, const SynList *body) {
  for (int i = 0; i < body->n; i++) {
    const Syn *s = body->at[i];
    switch (s->kind) {
    case SYN_ASSIGN:
      for (int k = 0; k < s->kids.n; k++) collect_target(sc, info, s->kids.at[k]);
      break;
    case SYN_ANNASSIGN:
    case SYN_AUGASSIGN:
    case SYN_FOR:
    case SYN_DELETE: collect_target(sc, info, s->a); break;
    case SYN_DEF: vec_push(sc->c, info->locals, s->s); continue;
    case SYN_GLOBAL:
      for (int k = 0; k < s->kids.n; k++)
        if (!strcmp(s->op, "global"))
          vec_push(sc->c, info->globals, s->kids.at[k]->s);
        else
          vec_push(sc->c, info->nonlocals, s->kids.at[k]->s);
      break;
    case SYN_TRY:
      for (int k = 0; k < s->kids.n; k++) {
        if (s->kids.at[k]->s) vec_push(sc->c, info->locals, s->kids.at[k]->s);
        collect(sc, info, &s->kids.at[k]->body);
      }
      break;
    default: break;
    }
    collect(sc, info, &s->body);
    collect(sc, info, &s->orelse);
    collect(sc, info, &s->finalbody);
  }
}

static const Info *info_of(Script *sc, const Syn *def) {
  Info *info = tirc_map_get(&sc->infos, def);
  if (info) return info;
  info = tirc_new(sc->c, Info);
  for (int i = 0; i < def->kids.n; i++)
    if (def->kids.at[i]->s) vec_push(sc->c, info->locals, def->kids.at[i]->s);
  if (def->kind == SYN_DEF) collect(sc, info, &def->body);
  tirc_map_set(sc->c, &sc->infos, def, info);
  return info;
}

/* --- functions -------------------------------------------------------------------------------- */

typedef struct Function {
  Callable base; /* first: primitives see only this */
  Script *sc;
  const Syn *def;   /* of a library, its outline until it is called */
  const Info *info; /* NULL until then */
  Env *closure;
  Value *defaults; /* one a parameter; kind of those without one is not looked at */
} Function;

/* A primitive has indices and no names for them: the last ones are for the parameters that only a
 * keyword reaches, k of lambda *args, k: ..., unless the others take them all. */
static int last_by_keyword(const Function *fn, int n, const char **names) {
  int named = 0, places = 0;
  bool after_star = false, rest = false;
  for (int i = 0; i < fn->def->kids.n; i++) {
    const Syn *p = fn->def->kids.at[i];
    if (p->i == 1) {
      after_star = true;
      rest = p->s && *p->s;
    } else if (p->i == 0 && after_star) {
      names[named++] = p->s;
    } else {
      places += p->i == 0;
    }
  }
  return (rest || n > places) && named <= n ? named : 0;
}

static Value call_from_primitive(Callable *self, int n, const Value *args) {
  Function *fn = (Function *)self;
  const char **names = tirc_new_array(fn->sc->c, const char *, fn->def->kids.n + 1);
  const int named = last_by_keyword(fn, n, names);
  return tirc_script_call(fn->sc, (Value){.kind = VAL_FUNCTION, .u.object = fn},
                          &(Args){.n = n - named,
                                  .at = args,
                                  .n_keywords = named,
                                  .names = names,
                                  .keywords = args + n - named});
}

Value tirc_script_function(Frame *f, const Syn *def) {
  Script *sc = f->sc;
  Function *fn = tirc_new(sc->c, Function);
  for (Env *e = f->env; e && !e->captured; e = e->outer) e->captured = true;
  *fn = (Function){
      .base = {call_from_primitive, def->kids.n, def->kind == SYN_DEF ? def->s : "<lambda>"},
      .sc = sc,
      .def = def,
      .closure = f->env,
      .defaults = tirc_new_array(sc->c, Value, def->kids.n + 1)};
  for (int i = 0; i < def->kids.n; i++) {
    const Syn *param = def->kids.at[i];
    if (param->b) fn->defaults[i] = tirc_script_eval(f, param->b);
    if (param->i) fn->base.n_params = -1;
  }
  return (Value){.kind = VAL_FUNCTION, .u.object = fn};
}

Loc tirc_script_function_loc(const Callable *fn) {
  return fn->call == call_from_primitive ? ((const Function *)fn)->def->loc : (Loc){0};
}

const Syn *tirc_script_function_def(const Callable *fn) {
  return fn->call == call_from_primitive ? ((const Function *)fn)->def : NULL;
}

const Value *tirc_script_default(const Callable *fn, int i) {
  const Function *f = (const Function *)fn;
  return f->def->kids.at[i]->b ? &f->defaults[i] : NULL;
}

int tirc_script_parameters(Script *sc, const Callable *fn, const char ***names, const char **rest) {
  const Syn *def = tirc_script_function_def(fn);
  int n = 0;
  *rest = def ? NULL : "i";
  *names = tirc_new_array(sc->c, const char *, def ? def->kids.n + 1 : 1);
  for (int i = 0; def && i < def->kids.n; i++) {
    const Syn *p = def->kids.at[i];
    if (p->i == 0 && !*rest) (*names)[n++] = p->s;
    if (p->i == 1) *rest = p->s && *p->s ? p->s : NULL;
  }
  return n;
}

static void declare_locals(Function *fn, Env *env) {
  Script *sc = fn->sc;
  for (int i = 0; i < fn->info->locals.n; i++) declare(sc, env, fn->info->locals.at[i]);
  for (int i = 0; i < fn->info->globals.n; i++)
    declare(sc, env, fn->info->globals.at[i])->alias = sc->globals;
  for (int i = 0; i < fn->info->nonlocals.n; i++) {
    const char *name = fn->info->nonlocals.at[i];
    Env *owner = fn->closure;
    EnvEntry *e = NULL;
    for (; owner->outer; owner = owner->outer)
      if ((e = find(owner, name))) break;
    if (!e)
      tirc_script_error(sc, "NameError", "nonlocal must name a variable of an enclosing function",
                        "no enclosing function has a variable '%s'", name);
    declare(sc, env, name)->alias = e->alias ? e->alias : owner;
  }
}

/* The argument given by keyword, or NULL. */
static const Value *keyword(const Args *a, const char *name) {
  for (int i = 0; i < a->n_keywords; i++)
    if (!strcmp(a->names[i], name)) return &a->keywords[i];
  return NULL;
}

static const char *signature(const Function *fn) {
  Text t = {.c = fn->sc->c};
  static const char *const stars[] = {"", "*", "**"};
  tirc_text_addf(&t, "the signature is %s(", fn->base.name);
  for (int i = 0; i < fn->def->kids.n; i++) {
    const Syn *p = fn->def->kids.at[i];
    tirc_text_addf(&t, "%s%s%s%s", i ? ", " : "", stars[p->i % 3], p->s ? p->s : "",
                   p->b ? "=..." : "");
  }
  tirc_text_add(&t, ")");
  return t.at;
}

static Value rest_keywords(Function *fn, const Args *a) {
  Value dict = tirc_value_list(fn->sc->c, VAL_DICT, 0, NULL);
  for (int k = 0; k < a->n_keywords; k++) {
    bool named = false;
    for (int i = 0; i < fn->def->kids.n; i++) {
      const Syn *p = fn->def->kids.at[i];
      named |= p->i == 0 && !strcmp(p->s, a->names[k]);
    }
    if (named) continue;
    tirc_value_append(fn->sc->c, dict, tirc_value_str(a->names[k]));
    tirc_value_append(fn->sc->c, dict, a->keywords[k]);
  }
  return dict;
}

static void bind(Function *fn, Env *env, const Args *a) {
  Script *sc = fn->sc;
  const char *name = fn->base.name;
  int taken = 0, used_keywords = 0;
  bool after_star = false, takes_rest = false;
  for (int i = 0; i < fn->def->kids.n; i++) {
    const Syn *p = fn->def->kids.at[i];
    if (p->i == 1) { /* *args, or a bare * */
      after_star = true;
      if (!p->s || !*p->s) continue;
      int rest = a->n - taken;
      tirc_script_set(sc, env, p->s, tirc_value_list(sc->c, VAL_TUPLE, rest, a->at + taken));
      taken = a->n;
      continue;
    }
    if (p->i == 2) {
      tirc_script_set(sc, env, p->s, rest_keywords(fn, a));
      takes_rest = true;
      continue;
    }
    const Value *by_name = keyword(a, p->s);
    bool by_place = !after_star && taken < a->n;
    used_keywords += by_name != NULL;
    if (by_name && by_place)
      tirc_script_error(sc, "TypeError", signature(fn), "%s() gets two values for '%s'", name,
                        p->s);
    if (!by_name && !by_place && !p->b)
      tirc_script_error(sc, "TypeError", signature(fn), "%s() needs the argument '%s'", name, p->s);
    tirc_script_set(sc, env, p->s,
                    by_place  ? a->at[taken++]
                    : by_name ? *by_name
                              : fn->defaults[i]);
  }
  if (taken < a->n)
    tirc_script_error(sc, "TypeError", signature(fn), "%s() takes %d arguments, but gets %d", name,
                      taken, a->n);
  if (used_keywords < a->n_keywords && !takes_rest)
    tirc_script_error(sc, "TypeError", signature(fn), "%s() has no parameter with this name (%s)",
                      name, a->names[a->n_keywords - 1]);
}

static void read_whole(Function *fn) {
  if (fn->info) return;
  fn->def = tirc_syn_whole(fn->sc->c, fn->def);
  fn->info = info_of(fn->sc, fn->def);
}

static Value call_function(Function *fn, const Args *a) {
  Script *sc = fn->sc;
  if (sc->calls >= SCRIPT_MAX_CALLS)
    tirc_script_limit(
        sc, "a function calls itself without end?",
        tirc_format(sc->c, "more than %d function calls inside of one another", SCRIPT_MAX_CALLS));
  Frame f = {.sc = sc, .env = tirc_script_env(sc, fn->closure), .result = VALUE_NONE};
  read_whole(fn);
  declare_locals(fn, f.env);
  bind(fn, f.env, a);
  sc->calls++;
  Loc at_call = sc->loc;
  if (fn->def->kind == SYN_LAMBDA) {
    f.result = tirc_script_eval(&f, fn->def->a);
  } else {
    Flow flow = tirc_script_exec(&f, &fn->def->body);
    if (flow != FLOW_RETURN) tirc_script_outside(sc, flow);
  }
  sc->calls--;
  sc->loc = at_call;
  tirc_script_end_env(sc, f.env);
  return f.result;
}

static void check_native(Script *sc, const NativeRow *row, const Args *a) {
  if (a->n < row->min || (row->max >= 0 && a->n > row->max)) {
    const char *few = a->n < row->min ? "at least" : "at most";
    tirc_script_error(
        sc, "TypeError", NULL, "%s() takes %s %d argument%s, but %d %s given", row->name,
        row->min == row->max ? "exactly" : few, a->n < row->min ? row->min : row->max,
        (a->n < row->min ? row->min : row->max) == 1 ? "" : "s", a->n, a->n == 1 ? "is" : "are");
  }
  const char *accepted = row->keywords ? row->keywords : "";
  for (int i = 0; i < a->n_keywords && *accepted != '*'; i++) {
    size_t n = strlen(a->names[i]);
    const char *at = strstr(accepted, a->names[i]);
    bool start = at && (at == accepted || at[-1] == ' ');
    if (!start || (at[n] && at[n] != ' '))
      tirc_script_error(sc, "TypeError",
                        *accepted ? tirc_format(sc->c, "it takes the keywords: %s", accepted)
                                  : NULL,
                        "%s() has no keyword argument '%s'", row->name, a->names[i]);
  }
}

static Value call_primitive(Script *sc, const BoundPrimitive *bound, const Args *a) {
  const Primitive *p = bound->p;
  Sched *s = bound->s;
  Loc loc = sc->loc;
  if (!sc->observer) return tirc_sched_call(s, p, loc, a);
  const char *text = tirc_sched_call_text(s, p, a);
  Trap trap;
  if (TIRC_TRY(sc->c, trap)) {
    Value v = tirc_sched_call(s, p, loc, a);
    TIRC_END(sc->c, trap);
    sc->observer(sc->self, s, text, loc, NULL);
    return v;
  }
  Diag diag = sc->c->diag;
  sc->observer(sc->self, s, text, loc, &diag);
  sc->c->diag = diag;
  tirc_throw(sc->c);
}

const Value *tirc_script_argument(const Args *a, int i, const char *name) {
  for (int k = 0; k < a->n_keywords; k++)
    if (!strcmp(a->names[k], name)) return &a->keywords[k];
  return i < a->n ? &a->at[i] : NULL;
}

typedef struct Method { /* a method of a value, not yet called: type "method" */
  const NativeRow *row;
  Value self;
} Method;

Value tirc_script_method(Script *sc, const NativeRow *row, Value self) {
  Method *m = tirc_new(sc->c, Method);
  *m = (Method){row, self};
  return tirc_script_object("method", m);
}

/* A function that is not the script's: an index map of a trace, one of a program around us. */
static Value call_foreign(Script *sc, Callable *fn, const Args *a) {
  if (a->n_keywords || (fn->n_params >= 0 && a->n != fn->n_params))
    tirc_script_error(sc, "TypeError", NULL, "%s takes %d arguments by position",
                      fn->name ? fn->name : "the function", fn->n_params);
  return fn->call(fn, a->n, a->at);
}

bool tirc_script_copies_arguments(Value callee) {
  return callee.kind == VAL_FUNCTION && ((Callable *)callee.u.object)->call == call_from_primitive;
}

Value tirc_script_call(Script *sc, Value callee, const Args *a) {
  if (callee.kind == VAL_FUNCTION && ((Callable *)callee.u.object)->call != call_from_primitive)
    return call_foreign(sc, callee.u.object, a);
  if (callee.kind == VAL_FUNCTION) return call_function(callee.u.object, a);
  if (tirc_script_is(callee, "builtin") || tirc_script_is(callee, "method")) {
    const bool bound = tirc_script_is(callee, "method");
    const Method *m = callee.u.object;
    const NativeRow *row = bound ? m->row : callee.u.object;
    check_native(sc, row, a);
    return row->run(sc, bound ? m->self : VALUE_NONE, a);
  }
  if (tirc_script_is(callee, "primitive")) return call_primitive(sc, callee.u.object, a);
  if (tirc_script_is(callee, "RelaxOp")) return tirc_script_relax_call(sc, callee.u.object, a);
  if (tirc_script_is(callee, "type")) {
    const ExceptionClass *class = tirc_script_exception_class(callee.u.object);
    if (class) return tirc_script_new_exception(sc, class, a);
    for (const NativeRow *row = tirc_script_constructors; row->name; row++)
      if (!strcmp(callee.u.object, row->name)) {
        check_native(sc, row, a);
        return row->run(sc, VALUE_NONE, a);
      }
    tirc_script_error(sc, "TypeError", NULL, "scripts cannot create %s",
                      tirc_a_type(sc->c, callee.u.object));
  }
  tirc_script_error(sc, "TypeError", NULL, "%s cannot be called", tirc_script_a_type(sc, callee));
}

Value tirc_script_call1(Script *sc, Value callee, Value arg) {
  return tirc_script_call(sc, callee, &(Args){.n = 1, .at = &arg});
}
