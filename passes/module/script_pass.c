/* A pass that is a script: its function transform_module gets the module and gives one.
 *
 *   def transform_module(mod, ctx):
 *       sch = tir.Schedule(mod)
 *       for gv in mod.functions:
 *           ...
 *       return sch.mod
 *
 * A script with a list `patterns`, `composites` or `rewrites` instead is about graphs: see
 * patterns.c. `rewrites` may be a function, which gets the arguments that stand behind the script's
 * name and gives the list: --pass=prepare:mine.sch(bits=4).
 *
 * What it raises and does not catch ends the phases, and nothing is written. */
#include "passes.h"
#include "passes/script/library.h"
#include "passes/script/relax.h"

#define ENTRY "transform_module"
#define PATTERNS "patterns"
#define COMPOSITES "composites"
#define BIND "bind_constants" /* False: constants are arguments of composites */
#define REWRITES "rewrites"
#define ONCE "once"     /* True: what a rewrite writes is not rewritten again */
#define FINISH "finish" /* a function that is called at the end */

typedef struct ScriptPass {
  Passes *p;
  const char *path;
  const char *arguments; /* "(bits=4)", or NULL */
  const Module *m;
  Value answer;
  bool is_graphs; /* it changed these */
} ScriptPass;

const char *tirc_pass_file(Tirc *c, const char *text, const char **arguments) {
  const size_t n = strlen(text);
  const char *open = n && text[n - 1] == ')' ? strchr(text, '(') : NULL;
  const char *name = open ? tirc_strndup(c, text, (size_t)(open - text)) : text;
  const char *built_in = tirc_pass_library_path(c, name);
  *arguments = open;
  return tirc_library_text(c, built_in) ? built_in : name;
}

/* What the script binds the name to, or NULL. */
static const Value *bound(const Env *env, const char *name) {
  const EnvEntry *e = tirc_strmap_get(&env->names, name);
  return e && e->bound ? &e->value : NULL;
}

/* Patterns, which are tuples, and functions may have any name. */
static bool says(Script *sc, const Env *env, const char *name, bool otherwise) {
  const Value *v = bound(env, name);
  if (!v || v->kind == VAL_TUPLE || v->kind == VAL_FUNCTION || v->kind == VAL_OBJECT)
    return otherwise;
  if (v->kind != VAL_BOOL)
    tirc_script_error(sc, "TypeError", tirc_format(sc->c, "%s = True, or = False", name),
                      "`%s` is %s, and no bool", name, tirc_script_a_type(sc, *v));
  return v->u.b;
}

/* The list itself, or what the function `rewrites` makes of the arguments. */
static Value rewrites_of(const ScriptPass *k, Script *sc, Value rewrites) {
  const char *arguments = k->arguments ? k->arguments : "()";
  if (rewrites.kind != VAL_FUNCTION) {
    if (k->arguments)
      tirc_script_error(sc, "TypeError", "def rewrites(bits=8): ...; return [...]",
                        "the pass %s takes no arguments: its `rewrites` is not a function",
                        k->path);
    return rewrites;
  }
  tirc_script_set(sc, sc->globals, REWRITES, rewrites);
  const Source call = {k->path, tirc_format(sc->c, REWRITES "%s", arguments),
                       strlen(REWRITES) + strlen(arguments)};
  return tirc_script_value(sc, &call);
}

static void run(Script *sc, void *self) {
  ScriptPass *k = self;
  sc->loc = (Loc){k->path, 1, 1};
  const GraphWriter none = {0}; /* R is there, and cannot be called yet */
  sc->writer = &none;
  const Env *env = tirc_script_module(sc, k->path);
  const Value *entry = bound(env, ENTRY), *patterns = bound(env, PATTERNS),
              *composites = bound(env, COMPOSITES), *rewrites = bound(env, REWRITES);
  sc->loc = (Loc){k->path, 1, 1};
  sc->writer = NULL;
  if (!entry && (patterns || composites || rewrites)) {
    const Module *m = k->m;
    if (rewrites) {
      const Value list = rewrites_of(k, sc, *rewrites);
      const Value *finish = bound(env, FINISH);
      m = tirc_rewrite_by_patterns(k->p, sc, m, list, says(sc, env, ONCE, false));
      if (finish) tirc_script_call(sc, *finish, &(Args){0});
    }
    if (composites) m = tirc_group_by_patterns(k->p, sc, m, *composites, says(sc, env, BIND, true));
    if (patterns) m = tirc_fuse_by_patterns(k->p, sc, m, *patterns);
    k->answer = tirc_script_object("IRModule", m);
    k->is_graphs = true;
    return;
  }
  if (!entry || entry->kind != VAL_FUNCTION)
    tirc_script_error(sc, "NameError", "def " ENTRY "(mod, ctx): ...; return sch.mod",
                      "the pass %s defines no function " ENTRY, k->path);
  Callable *f = entry->u.object;
  const Value args[] = {tirc_script_object("IRModule", (void *)(uintptr_t)k->m), VALUE_NONE};
  k->answer = f->call(f, f->n_params == 1 ? 1 : 2, args);
  if (!tirc_script_is(k->answer, "IRModule"))
    tirc_script_error(sc, "TypeError", "return sch.mod, or mod", "%s gives %s, and no module",
                      ENTRY, tirc_script_a_type(sc, k->answer));
}

/* Schedules are of functions; a module that comes from one has the graphs of before. */
const Module *tirc_script_pass(Passes *p, const Module *m, const char *text) {
  ScriptPass k = {.p = p, .m = m};
  const char *path = k.path = tirc_pass_file(p->c, text, &k.arguments);
  Sched *s = tirc_sched_new(p->c, m);
  if (p->options.cpu) s->target = p->options.cpu;
  s->gpu = p->options.gpu;
  Script *sc = tirc_script_open(s, NULL, NULL, NULL, NULL);
  sc->is_library = true;
  tirc_script_within_limits(sc, (Loc){path, 1, 1}, run, &k);
  const Module *made = k.answer.u.object;
  if (k.is_graphs) return made;
  Module *to = tirc_copy(p->c, made, 1);
  to->c = p->c;
  to->n_graphs = m->n_graphs;
  to->graphs = m->graphs;
  return to;
}
