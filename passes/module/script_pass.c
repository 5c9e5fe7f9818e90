/* A pass that is a script: its function transform_module gets the module and gives one.
 *
 *   def transform_module(mod, ctx):
 *       sch = tir.Schedule(mod)
 *       for gv in mod.functions:
 *           ...
 *       return sch.mod
 *
 * A script with a list `patterns` or `rewrites` instead is about graphs: see patterns.c.
 *
 * What it raises and does not catch ends the phases, and nothing is written. */
#include "passes.h"
#include "passes/script/relax.h"

#define ENTRY "transform_module"
#define PATTERNS "patterns"
#define REWRITES "rewrites"

typedef struct ScriptPass {
  Passes *p;
  const char *path;
  const Module *m;
  Value answer;
  bool is_graphs; /* it changed these */
} ScriptPass;

/* What the script binds the name to, or NULL. */
static const Value *bound(const Env *env, const char *name) {
  const EnvEntry *e = tirc_strmap_get(&env->names, name);
  return e && e->bound ? &e->value : NULL;
}

static void run(Script *sc, void *self) {
  ScriptPass *k = self;
  sc->loc = (Loc){k->path, 1, 1};
  const GraphWriter none = {0}; /* R is there, and cannot be called yet */
  sc->writer = &none;
  const Env *env = tirc_script_module(sc, k->path);
  const Value *entry = bound(env, ENTRY), *patterns = bound(env, PATTERNS),
              *rewrites = bound(env, REWRITES);
  sc->loc = (Loc){k->path, 1, 1};
  sc->writer = NULL;
  if (!entry && (patterns || rewrites)) {
    const Module *m = k->m;
    if (rewrites) m = tirc_rewrite_by_patterns(k->p, sc, m, *rewrites);
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
const Module *tirc_script_pass(Passes *p, const Module *m, const char *path) {
  ScriptPass k = {.p = p, .path = path, .m = m};
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
