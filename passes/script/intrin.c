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
#include "library.h"
#include "parser/program.h"
#include "passes/schedule/blocks/tensor_intrin.h"

/* --- functions of the program language in a script -------------------------------------------- */

typedef struct Around { /* where the function stands */
  Frame *frame;
  bool symbolic; /* it uses a variable of an extent */
} Around;

static bool knows(void *self, const char *name) {
  const Around *a = self;
  for (const Env *env = a->frame->env; env; env = env->outer) {
    const EnvEntry *e = tirc_strmap_get(&env->names, name);
    if (e) return e->alias || e->bound;
  }
  return false;
}

void tirc_script_deeper(Script *sc) {
  tirc_script_tick(sc, 1);
  if (++sc->nesting > SCRIPT_MAX_NESTING)
    tirc_script_limit(sc, "does a list contain itself?", "the values nest too deeply");
}

Expr tirc_script_literal(Script *sc, Value v, bool *symbolic) {
  Tirc *c = sc->c;
  switch (v.kind) {
  case VAL_NONE: return tirc_expr(c, OP_NONE, DT_HANDLE, 0, NULL);
  case VAL_INT: return tirc_int(c, DT_INT64, v.u.i);
  case VAL_BOOL: return tirc_bool(c, v.u.b);
  case VAL_FLOAT: return tirc_float(c, DT_FLOAT64, v.u.f);
  case VAL_STR: return tirc_string(c, v.u.s);
  case VAL_EXPR: return *symbolic |= !tirc_is_constant(v.u.expr), v.u.expr;
  case VAL_LIST:
  case VAL_TUPLE: break;
  default:
    tirc_script_error(sc, "TypeError", "use numbers, strings, shapes or types there",
                      "%s cannot be used in a program's function", tirc_script_a_type(sc, v));
  }
  tirc_script_deeper(sc);
  const int n = v.u.list->n;
  Expr *items = tirc_new_array(c, Expr, n);
  for (int i = 0; i < n; i++) items[i] = tirc_script_literal(sc, v.u.list->at[i], symbolic);
  tirc_script_leave(sc);
  return tirc_expr(c, OP_TUPLE, DT_HANDLE, n, items);
}

static Expr value_around(void *self, const Syn *expression) {
  Around *a = self;
  return tirc_script_literal(a->frame->sc, tirc_script_eval(a->frame, expression), &a->symbolic);
}

/* Of a script's own variables alone is anything symbolic: what the program gives is its own. */
static Expr call_around(void *self, const Syn *call, const Expr *given) {
  Around *a = self;
  Script *sc = a->frame->sc;
  bool its_own = false;
  Value *args = tirc_new_array(sc->c, Value, call->kids.n);
  for (int i = 0; i < call->kids.n; i++)
    args[i] =
        given[i] ? tirc_script_of_expr(given[i]) : tirc_script_eval(a->frame, call->kids.at[i]);
  return tirc_script_literal(sc,
                             tirc_script_call(sc, tirc_script_eval(a->frame, call->a),
                                              &(Args){.n = call->kids.n, .at = args}),
                             &its_own);
}

Value tirc_script_prim_func(Frame *f, const Syn *def) {
  Tirc *c = f->sc->c;
  Around around = {.frame = f};
  const Func *func =
      tirc_parse_function(c, def, &(Surroundings){knows, value_around, call_around, &around});
  const Module alone = {.c = c, .name = "Module", .n_funcs = 1, .funcs = &func};
  if (!around.symbolic) tirc_verify(c, &alone);
  return tirc_script_object("PrimFunc", func);
}

/* --- intrinsics ------------------------------------------------------------------------------- */

static const Func *function_of(Script *sc, Value v) {
  const Module *m = sc->sched->mod;
  if (tirc_script_is(v, "PrimFunc")) return v.u.object;
  if (v.kind != VAL_STR)
    tirc_script_error(sc, "TypeError", "define it with @T.prim_func in the program or the script",
                      "a tensor intrinsic needs functions, not %s", tirc_script_a_type(sc, v));
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
                      "the name of a tensor intrinsic must be a str, not %s",
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
                      "the name of a tensor intrinsic must be a str, not %s",
                      tirc_script_a_type(sc, name ? *name : VALUE_NONE));
  const TensorIntrin *t = tirc_known_intrin(sc->sched, name->u.s);
  if (t) return tirc_script_object("TensorIntrin", t);
  if (missing && tirc_script_truth(sc, *missing)) return VALUE_NONE;
  tirc_script_error(sc, "ValueError", "register it first", "no tensor intrinsic is called %s",
                    tirc_script_repr(sc, *name));
}

/* --- those that come with the binary ---------------------------------------------------------- */

typedef struct Offer {
  const char *path, *name;
} Offer;

/* A library's intrinsic(name) registers the one of that name, or does nothing. */
static void offer(Script *sc, void *self) {
  const Offer *o = self;
  const EnvEntry *f = tirc_strmap_get(&tirc_script_module(sc, o->path)->names, "intrinsic");
  Value name = tirc_value_str(o->name);
  if (f && f->bound) (void)tirc_script_call(sc, f->value, &(Args){.n = 1, .at = &name});
}

void tirc_script_offer_intrin(Sched *s, const char *name) {
  static const char folder[] = "tensor_intrin/";
  for (int i = 0; i < tirc_n_rule_libraries && !tirc_find_intrin(s, name); i++) {
    const char *library = tirc_rule_libraries[i].name;
    if (strncmp(library, folder, strlen(folder))) continue;
    Script *sc = tirc_script_open(s, NULL, NULL, NULL, NULL);
    sc->is_library = true;
    tirc_script_within_limits(sc, (Loc){0}, offer,
                              &(Offer){tirc_rule_library_path(s->c, library), name});
  }
}

const NativeRow tirc_script_intrin_rows[] = {
    {"TensorIntrin", "register", run_register, 0, 4, "name desc impl override"},
    {"TensorIntrin", "get", run_get, 0, 2, "name allow_missing"},
    {0},
};
