/* Modules: what stands at the top of a file. Imports name modules, assignments are compile-time
 * constants, functions stand alone or in one class. */
#include "relax.h"

/* Looked up one after the other, so not without end. */
enum { MAX_CONSTANTS = 10000, MAX_FUNCTIONS = 10000 };

typedef struct ModuleParts {
  VEC(const Func *) funcs;
  VEC(const Graph *) graphs;
  Attrs attrs;
  const char *class_name;
} ModuleParts;

/* --- constants -------------------------------------------------------------------------------- */

static bool is_constant(PyValue v) {
  if (v.kind == PY_TUPLE) {
    for (int i = 0; i < v.u.list.n; i++)
      if (!is_constant(v.u.list.at[i])) return false;
    return true;
  }
  bool typed = v.kind == PY_EXPR && (v.u.e->op == OP_INT || v.u.e->op == OP_FLOAT);
  return tirc_py_is_number(v) || v.kind == PY_STR || typed;
}

static void add_constant(Reader *r, const Syn *at, const char *name, PyValue v, bool given) {
  Expr value = v.kind == PY_FLOAT ? tirc_float(r->c, DT_FLOAT64, v.u.f) : tirc_py_to_attr(r, at, v);
  tirc_names_bind(r, at, name, v, true);
  for (int i = 0; i < r->constants.n; i++) {
    if (strcmp(r->constants.at[i].name, name) != 0) continue;
    r->constants.at[i].value = value;
    return;
  }
  if (r->constants.n == MAX_CONSTANTS)
    READ_FAIL(r, at, CODE_UNSUPPORTED, NULL, "the program has more than %d constants",
              MAX_CONSTANTS);
  vec_push(r->c, r->constants, ((Constant){name, value, given}));
}

static int find_define(const Reader *r, const char *name) {
  int found = -1; /* the last one counts */
  for (int i = 0; i < r->n_defines; i++)
    if (strcmp(r->defines[i].name, name) == 0) found = i;
  return found;
}

void tirc_refuse_define(Reader *r, const Syn *at, const char *name, const char *what) {
  int i = find_define(r, name);
  if (i < 0 || r->defines_used[i]) return;
  const char *hint = tirc_format(r->c, "give its value where it runs: tirc run --in %s=%s", name,
                                 r->defines[i].value);
  READ_FAIL(r, at, CODE_NAME, hint, "-D %s: %s is %s of %s, not a constant", name, name, what,
            r->func->name);
}

/* What is not read so is said of the option, not as of a program. */
static PyValue read_define(Reader *r, const Define *d) {
  Tirc *c = r->c;
  const char *hint =
      tirc_format(c, "-D takes a number, or an expression of constants: -D %s=16", d->name);
  DType type;
  if (tirc_dtype_parse(d->value, &type)) /* a type needs no quotes */
    return (PyValue){.kind = PY_STR, .u.s = tirc_strdup(c, d->value)};
  Source text = {.name = tirc_format(c, "-D %s", d->name), d->value, strlen(d->value)};
  Trap trap;
  if (TIRC_TRY(c, trap)) {
    SynList list = tirc_parse_syntax(c, &text);
    PyValue v = PY_VALUE_NONE;
    if (list.n == 1 && list.at[0]->kind == SYN_EXPR_STMT) v = tirc_read_value(r, list.at[0]->a);
    if (!is_constant(v))
      tirc_fail(c, (Loc){text.name, 1, 1}, CODE_SYNTAX, hint, "'%s' is not a constant", d->value);
    TIRC_END(c, trap);
    return v;
  }
  if (c->diag.code == CODE_NAME || c->diag.code == CODE_SYNTAX) c->diag.hint = hint;
  tirc_throw(c);
}

static void assign_constant(Reader *r, const Syn *target, PyValue v) {
  bool list = target->kind == SYN_TUPLE || target->kind == SYN_LIST;
  if (list && v.kind == PY_TUPLE && v.u.list.n == target->kids.n) {
    for (int i = 0; i < v.u.list.n; i++) assign_constant(r, target->kids.at[i], v.u.list.at[i]);
    return;
  }
  if (target->kind != SYN_NAME)
    READ_FAIL(r, target, CODE_SYNTAX, NULL, "you cannot assign to this here");
  int define = find_define(r, target->s);
  if (define >= 0) {
    v = read_define(r, &r->defines[define]);
    r->defines_used[define] = true;
  }
  if (!is_constant(v))
    READ_FAIL(r, target, CODE_UNSUPPORTED,
              "names at the top of a file are numbers, strings or tuples",
              "'%s' would be %s, not a constant", target->s, tirc_py_describe(r, v));
  add_constant(r, target, target->s, v, false);
}

static void read_constants(Reader *r, const Syn *s) {
  const Syn *only = s->kids.n == 1 ? s->kids.at[0] : NULL;
  bool overridden = only && only->kind == SYN_NAME && find_define(r, only->s) >= 0;
  PyValue v = overridden ? tirc_py_int(0) : tirc_read_value(r, s->a);
  for (int i = 0; i < s->kids.n; i++) assign_constant(r, s->kids.at[i], v);
}

/* Defines are names from the start, for files that only use them. */
static void bind_defines(Reader *r, const Syn *at) {
  for (int i = 0; i < r->n_defines; i++)
    tirc_names_bind(r, at, r->defines[i].name, read_define(r, &r->defines[i]), true);
}

static void add_unused_defines(Reader *r, const Syn *at) {
  for (int i = 0; i < r->n_defines; i++) {
    if (r->defines_used[i] || find_define(r, r->defines[i].name) != i) continue;
    add_constant(r, at, r->defines[i].name, read_define(r, &r->defines[i]), true);
  }
}

/* --- statements at the top -------------------------------------------------------------------- */

static void read_top(Reader *r, ModuleParts *m, const Syn *s, bool in_class);

static void read_function(Reader *r, ModuleParts *m, const Syn *s) {
  bool twice = false;
  for (int i = 0; i < m->funcs.n; i++) twice |= strcmp(m->funcs.at[i]->name, s->s) == 0;
  for (int i = 0; i < m->graphs.n; i++) twice |= strcmp(m->graphs.at[i]->name, s->s) == 0;
  if (twice) READ_FAIL(r, s, CODE_NAME, NULL, "the function '%s' is defined twice", s->s);
  if (m->funcs.n + m->graphs.n == MAX_FUNCTIONS)
    READ_FAIL(r, s, CODE_UNSUPPORTED, NULL, "the program has more than %d functions",
              MAX_FUNCTIONS);
  if (tirc_is_graph(r, s))
    vec_push(r->c, m->graphs, tirc_read_graph(r, s));
  else
    vec_push(r->c, m->funcs, tirc_read_func(r, s));
}

static void read_class(Reader *r, ModuleParts *m, const Syn *s) {
  const Syn *d = s->decorators.n == 1 ? s->decorators.at[0] : NULL;
  const char *path = d ? tirc_names_path(r, d->kind == SYN_CALL ? d->a : d) : NULL;
  if (!path || strcmp(path, "I.ir_module") != 0)
    READ_FAIL(r, s, CODE_SYNTAX, "write @I.ir_module above the class",
              "class '%s' has no @I.ir_module", s->s);
  Call call = {0};
  if (d->kind == SYN_CALL) tirc_bind_call(r, d, path, "check_well_formed? s_tir?", &call);
  if (call.args[1] && tirc_py_truth(tirc_read_value(r, call.args[1]))) r->imported = DIALECT_TIRX;
  if (m->class_name)
    READ_FAIL(r, s, CODE_UNSUPPORTED, "put all functions into one class", "a second class '%s'",
              s->s);
  m->class_name = s->s;
  if (!tirc_names_find(r, s->s)) /* a constant of the same name is what functions mean by it */
    tirc_names_bind(r, s, s->s, (PyValue){.kind = PY_NAMESPACE, .u.s = GRAPH_MODULE}, true);
  r->functions = s->body;
  for (int i = 0; i < s->body.n; i++) read_top(r, m, s->body.at[i], true);
}

static bool read_module_attrs(Reader *r, ModuleParts *m, const Syn *call) {
  const char *path = call->kind == SYN_CALL ? tirc_names_path(r, call->a) : NULL;
  if (!path || strcmp(path, "I.module_attrs") != 0) return false;
  Call bound;
  tirc_bind_call(r, call, path, "attrs", &bound);
  m->attrs = tirc_read_attrs(r, bound.args[0]);
  return true;
}

static void read_top(Reader *r, ModuleParts *m, const Syn *s, bool in_class) {
  switch (s->kind) {
  case SYN_IMPORT: tirc_names_import(r, s); return;
  case SYN_ASSIGN: read_constants(r, s); return;
  case SYN_PASS: return;
  case SYN_DEF: read_function(r, m, s); return;
  case SYN_ANNASSIGN:
    if (!s->c) return;
    assign_constant(r, s->a, tirc_read_value(r, s->c));
    return;
  case SYN_CLASS:
    if (in_class) break;
    read_class(r, m, s);
    return;
  case SYN_EXPR_STMT:
    if (s->a->kind == SYN_STRING) return;
    if (in_class && read_module_attrs(r, m, s->a)) return;
    break;
  default: break;
  }
  READ_FAIL(r, s, CODE_UNSUPPORTED,
            "a program consists of imports, constants and functions with @T.prim_func or "
            "@R.function; a schedule belongs in a file of its own",
            "this statement is not allowed %s",
            in_class ? "in a module" : "at the top of a program");
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Programs without imports mean the usual ones; TVM prints them as comments. */
static void bind_modules(Reader *r, const Syn *at) {
  static const char *const names[][2] = {{"T", "T"},   {"I", "I"},    {"tvm", "tvm"},
                                         {"tir", "T"}, {"tirx", "T"}, {"R", "R"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    tirc_names_bind(r, at, names[i][0], (PyValue){.kind = PY_NAMESPACE, .u.s = names[i][1]}, true);
}

const Module *tirc_parse_module(Tirc *c, const Source *source, int n_defines,
                                const Define *defines) {
  SynList list = tirc_parse_syntax(c, source);
  Reader r = {.c = c, .file = source->name, .n_defines = n_defines, .defines = defines};
  r.defines_used = tirc_new_array(c, bool, n_defines);
  Syn top = {.loc = {source->name, 1, 1}};
  ModuleParts m = {0};
  tirc_names_open(&r);
  bind_modules(&r, &top);
  tirc_names_open(&r); /* the file may use those names for something else */
  bind_defines(&r, &top);
  for (int i = 0; i < list.n; i++) read_top(&r, &m, list.at[i], false);
  add_unused_defines(&r, &top);
  if (!m.funcs.n && !m.graphs.n && !m.class_name)
    READ_FAIL(&r, &top, CODE_SYNTAX, "write @T.prim_func above a function",
              "the program has no function");
  Module *module = tirc_new(c, Module);
  *module = (Module){.c = c,
                     .file = source->name,
                     .name = m.class_name ? m.class_name : "Module",
                     .is_class = m.class_name != NULL,
                     .n_funcs = m.funcs.n,
                     .funcs = m.funcs.at,
                     .n_graphs = m.graphs.n,
                     .graphs = m.graphs.at,
                     .n_constants = r.constants.n,
                     .constants = r.constants.at,
                     .attrs = m.attrs};
  return module;
}

const Func *tirc_parse_function(Tirc *c, const Syn *def, const Surroundings *around) {
  Reader r = {.c = c, .file = def->loc.file, .around = around};
  tirc_names_open(&r);
  bind_modules(&r, def);
  return tirc_read_func(&r, def);
}
