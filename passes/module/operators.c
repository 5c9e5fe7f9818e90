/* The table of operators: rows are read at once, scripts when somebody asks for one of theirs. */
#include "operators_internal.h"

#include "ir/nearest.h"
#include "passes/script/library.h"

#include <glob.h>
#include <unistd.h>

#define TABLE "table"

/* --- the table -------------------------------------------------------------------------------- */

typedef struct Reading {
  Operators *ops;
  const char *folder, *path; /* of the table */
  const OperatorRow *row;
  Operator *made;
} Reading;

static const char *script_path(Operators *ops, const char *folder, const char *name) {
  Tirc *c = ops->c;
  const char *file = tirc_format(c, "%s%s", ops->shelf, name);
  const char *own = folder ? tirc_format(c, "%s/%s.sch", folder, file) : NULL;
  return own && access(own, R_OK) == 0 ? own : tirc_operator_library_path(c, file);
}

#define ROW_HINT "a row is \"nn.relu\": \"activations.relu\""

static _Noreturn void bad_row(Script *sc, const char *what, Value v) {
  tirc_script_error(sc, "TypeError", ROW_HINT,
                    "the table's %s is %s: it goes from an operator's name to \"FILE.FUNCTION\"",
                    what, tirc_script_repr(sc, v));
}

static bool has_row(const Operators *ops, const char *name) {
  for (int i = 0; i < ops->rows.n; i++)
    if (!strcmp(ops->rows.at[i].name, name)) return true;
  return false;
}

static void add_row(Reading *r, Value key, Value value) {
  Script *sc = r->ops->sc;
  if (key.kind != VAL_STR) bad_row(sc, "key", key);
  const char *dot = value.kind == VAL_STR ? strchr(value.u.s, '.') : NULL;
  const bool one_dot = dot && dot > value.u.s && dot[1] && !strchr(dot + 1, '.');
  if (!one_dot || strchr(value.u.s, '/')) bad_row(sc, "value", value);
  if (has_row(r->ops, key.u.s)) return;
  vec_push(sc->c, r->ops->rows,
           ((OperatorRow){key.u.s, tirc_strndup(sc->c, value.u.s, (size_t)(dot - value.u.s)),
                          dot + 1, r->folder, NULL}));
}

static void read_table(Script *sc, void *self) {
  Reading *r = self;
  sc->loc = (Loc){r->path, 1, 1};
  const Env *env = tirc_script_module(sc, r->path);
  const EnvEntry *list = tirc_strmap_get(&env->names, r->ops->list);
  sc->loc = (Loc){r->path, 1, 1};
  if (!list || !list->bound || list->value.kind != VAL_DICT)
    tirc_script_error(sc, "NameError", ROW_HINT, "the table of operators defines no dict `%s`",
                      r->ops->list);
  for (int i = 0; i < list->value.u.list->n; i += 2)
    add_row(r, list->value.u.list->at[i], list->value.u.list->at[i + 1]);
}

/* A user's folder may have no table of operators where it has one of conversions, and the other way
 * round. */
static bool has_shelf(Tirc *c, const char *folder) {
  glob_t found = {0};
  const bool has = glob(tirc_format(c, "%s/*/" TABLE ".sch", folder), 0, NULL, &found) == 0;
  globfree(&found);
  return has;
}

static Operators *open_list(Tirc *c, const char *folder, const char *shelf, const char *list,
                            const ScriptLimits *limits) {
  Module *none = tirc_new(c, Module);
  Operators *ops = tirc_new(c, Operators);
  *none = (Module){.c = c, .name = "Module"};
  *ops = (Operators){.c = c,
                     .shelf = shelf,
                     .list = list,
                     .sc = tirc_script_open(tirc_sched_new(c, none), limits, NULL, NULL, NULL)};
  ops->sc->is_library = true;
  for (int own = folder ? 1 : 0; own >= 0; own--) {
    Reading r = {.ops = ops, .folder = own ? folder : NULL};
    r.path = own ? tirc_format(c, "%s/%s" TABLE ".sch", folder, shelf)
                 : tirc_operator_library_path(c, tirc_format(c, "%s" TABLE, shelf));
    if (own && access(r.path, R_OK) && (*shelf || has_shelf(c, folder))) continue;
    tirc_script_within_limits(ops->sc, (Loc){r.path, 1, 1}, read_table, &r);
  }
  return ops;
}

Operators *tirc_operators_open(Tirc *c, const char *folder, const ScriptLimits *limits) {
  return open_list(c, folder, "", "operators", limits);
}

Operators *tirc_conversions_open(Tirc *c, const char *folder, const char *shelf) {
  return open_list(c, folder, tirc_format(c, "%s/", shelf), shelf, NULL);
}

void tirc_operators_set_indices(Operators *ops, const char *indices) { ops->indices = indices; }

int tirc_n_operators(Operators *ops) { return ops->rows.n; }
const char *tirc_operator_name(Operators *ops, int i) { return ops->rows.at[i].name; }

/* --- one operator ----------------------------------------------------------------------------- */

static const char *type_of(const Syn *annotation) {
  if (!annotation) return NULL;
  if (annotation->kind == SYN_SUBSCRIPT || annotation->kind == SYN_CALL) annotation = annotation->a;
  return annotation->kind == SYN_NAME || annotation->kind == SYN_ATTRIBUTE ? annotation->s : NULL;
}

static const OperatorParam *params_of(Script *sc, const Callable *f, int *n) {
  const Syn *def = tirc_script_function_def(f);
  OperatorParam *params = tirc_new_array(sc->c, OperatorParam, def->kids.n);
  *n = 0;
  for (int i = 0; i < def->kids.n; i++) {
    const Syn *p = def->kids.at[i];
    if (!p->s || !*p->s) continue; /* a bare star */
    const Value *usual = tirc_script_default(f, i);
    params[(*n)++] = (OperatorParam){p->s, type_of(p->a),
                                     usual ? tirc_script_repr(sc, *usual) : NULL, usual, p->i == 1};
  }
  return params;
}

/* The first line of the function's own text. */
static const char *summary_of(Tirc *c, const Syn *def) {
  const SynList body = tirc_syn_whole(c, def)->body;
  const Syn *first = body.n ? body.at[0] : NULL;
  if (!first || first->kind != SYN_EXPR_STMT || first->a->kind != SYN_STRING) return "";
  const char *s = first->a->s + strspn(first->a->s, " \n");
  return tirc_strndup(c, s, strcspn(s, "\n"));
}

static void read_operator(Script *sc, void *self) {
  Reading *r = self;
  sc->loc = (Loc){r->path, 1, 1};
  const Env *env = tirc_script_module(sc, r->path);
  const EnvEntry *e = tirc_strmap_get(&env->names, r->row->function);
  sc->loc = (Loc){r->path, 1, 1};
  const bool is_function =
      e && e->bound && e->value.kind == VAL_FUNCTION && tirc_script_function_def(e->value.u.object);
  if (!is_function)
    tirc_script_error(sc, "NameError", "the table's row is \"FILE.FUNCTION\"",
                      "the table has the operator %s as a function %s, which is not there",
                      r->row->name, r->row->function);
  *r->made = (Operator){.name = r->row->name,
                        .function = r->row->function,
                        .path = r->path,
                        .summary = summary_of(sc->c, tirc_script_function_def(e->value.u.object)),
                        .callee = e->value};
  r->made->params = params_of(sc, e->value.u.object, &r->made->n_params);
}

const Operator *tirc_operator(Operators *ops, const char *name) {
  OperatorRow *row = NULL;
  for (int i = 0; !row && i < ops->rows.n; i++)
    if (!strcmp(ops->rows.at[i].name, name)) row = &ops->rows.at[i];
  if (!row || row->known) return row ? row->known : NULL;
  Reading r = {.ops = ops, .row = row, .made = tirc_new(ops->c, Operator)};
  r.path = script_path(ops, row->folder, row->file);
  tirc_script_within_limits(ops->sc, (Loc){r.path, 1, 1}, read_operator, &r);
  return row->known = r.made;
}

const char *tirc_operator_hint(Operators *ops, const char *name) {
  const char **all = tirc_new_array(ops->c, const char *, ops->rows.n);
  for (int i = 0; i < ops->rows.n; i++) all[i] = ops->rows.at[i].name;
  const char *near = tirc_nearest(ops->c, name, ops->rows.n, all);
  for (int i = 0; !near && i < ops->rows.n; i++) {
    const char *last = strrchr(all[i], '.'); /* nn.softmax is meant by softmax */
    if (last && !strcmp(last + 1, name)) near = tirc_format(ops->c, "did you mean '%s'?", all[i]);
  }
  return tirc_format(ops->c,
                     "%s%s`tirc operator` lists the operators; a folder with a table.sch adds "
                     "some: --operators DIR",
                     near ? near : "", near ? " " : "");
}
