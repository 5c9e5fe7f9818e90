/* Tensor intrinsics in scripts. Their two functions stand in the program's file, or in the script
 * itself:
 *
 *   @T.prim_func
 *   def dot_desc(A: T.Buffer((8,), "float32"), ...): ...
 *
 *   tvm.tir.TensorIntrin.register("dot", dot_desc, dot_impl)
 *
 * A function of the program is known to the script by its name, and a string with the name will do
 * as well. One that serves as an intrinsic leaves the program. */
#include "interp.h"
#include "ir/tree/verify.h"
#include "parser/program.h"
#include "passes/schedule/blocks/tensor_intrin.h"

/* What a function in the script may use from outside: names that stand for constants. */
static void add_constants(const Env *env, Tirc *c, Constants *out) {
  if (env->outer) add_constants(env->outer, c, out);
  for (int i = 0; i < env->names.n; i++) {
    const EnvEntry *e = env->names.at[i].value;
    Value v = e->value;
    Expr value = !e->bound             ? NULL
                 : v.kind == VAL_INT   ? tirc_int(c, DT_INT64, v.u.i)
                 : v.kind == VAL_FLOAT ? tirc_float(c, DT_FLOAT64, v.u.f)
                 : v.kind == VAL_STR   ? tirc_string(c, v.u.s)
                                       : NULL;
    if (value) vec_push(c, *out, ((Constant){e->name, value}));
  }
}

Value tirc_script_prim_func(Frame *f, const Syn *def) {
  Tirc *c = f->sc->c;
  Constants constants = {0};
  add_constants(f->env, c, &constants);
  const Func *func = tirc_parse_function(c, def, &constants);
  Module *alone = tirc_new(c, Module);
  const Func **funcs = tirc_new(c, const Func *);
  *funcs = func;
  *alone = (Module){.c = c, .name = "Module", .n_funcs = 1, .funcs = funcs};
  tirc_verify(c, alone);
  return tirc_script_object("PrimFunc", func);
}

static const Func *function_of(Script *sc, Value v) {
  const Module *m = sc->sched->mod;
  if (tirc_script_is(v, "PrimFunc")) return v.u.object;
  if (v.kind != VAL_STR)
    tirc_script_error(sc, "TypeError", "define it with @T.prim_func in the program or the script",
                      "a tensor intrinsic is made of functions, not of %s",
                      tirc_script_a_type(sc, v));
  for (int i = 0; i < m->n_funcs; i++)
    if (!strcmp(m->funcs[i]->name, v.u.s)) return m->funcs[i];
  Value named = tirc_script_lookup(sc, sc->globals, v.u.s, NULL);
  if (tirc_script_is(named, "PrimFunc")) return named.u.object;
  tirc_script_error(sc, "ValueError", NULL, "the program has no function '%s'", v.u.s);
}

/* register(name, desc, impl, override=False) */
static Value run_register(Script *sc, Value self, const Args *a) {
  static const char *const names[] = {"name", "desc", "impl", "override"};
  Value args[4] = {VALUE_NONE, VALUE_NONE, VALUE_NONE, tirc_value_bool(false)};
  (void)self;
  for (int i = 0; i < a->n; i++) args[i] = a->at[i];
  for (int i = 0; i < a->n_keywords; i++)
    for (int k = 0; k < 4; k++)
      if (!strcmp(a->names[i], names[k])) args[k] = a->keywords[i];
  if (args[0].kind != VAL_STR)
    tirc_script_error(sc, "TypeError", "register(name, desc, impl, override=False)",
                      "the name of a tensor intrinsic is a str, not %s",
                      tirc_script_a_type(sc, args[0]));
  const Func *desc = function_of(sc, args[1]), *impl = function_of(sc, args[2]);
  tirc_register_intrin(sc->sched, args[0].u.s, desc, impl, tirc_script_truth(sc, args[3]), sc->loc);
  if (sc->observer) { /* the program may have lost two functions */
    const char *call = tirc_format(sc->c, "tvm.tir.TensorIntrin.register(\"%s\", %s, %s)",
                                   args[0].u.s, desc->name, impl->name);
    sc->observer(sc->self, sc->sched, call, sc->loc, NULL);
  }
  return tirc_script_object("TensorIntrin", tirc_find_intrin(sc->sched, args[0].u.s));
}

/* get(name, allow_missing=False) */
static Value run_get(Script *sc, Value self, const Args *a) {
  (void)self;
  const Value *name = tirc_script_argument(a, 0, "name");
  const Value *missing = tirc_script_argument(a, 1, "allow_missing");
  if (!name || name->kind != VAL_STR)
    tirc_script_error(sc, "TypeError", "get(name, allow_missing=False)",
                      "the name of a tensor intrinsic is a str, not %s",
                      tirc_script_a_type(sc, name ? *name : VALUE_NONE));
  const TensorIntrin *t = tirc_find_intrin(sc->sched, name->u.s);
  if (t) return tirc_script_object("TensorIntrin", t);
  if (missing && tirc_script_truth(sc, *missing)) return VALUE_NONE;
  tirc_script_error(sc, "ValueError", "register it first", "no tensor intrinsic is called %s",
                    tirc_script_repr(sc, *name));
}

const NativeRow tirc_script_intrin_rows[] = {
    {"TensorIntrin", "register", run_register, 0, 4, "name desc impl override"},
    {"TensorIntrin", "get", run_get, 0, 2, "name allow_missing"},
    {0},
};
