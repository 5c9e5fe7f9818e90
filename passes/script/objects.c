/* Attributes: of each type, the methods and the computed attributes that its table rows name. */
#include "interp.h"

#include "ir/nearest.h"
#include "passes/schedule/state/state.h"

Value tirc_script_object(const char *type, const void *object) {
  return (Value){.kind = VAL_OBJECT, .u.object = (void *)(uintptr_t)object, .type = type};
}

bool tirc_script_is(Value v, const char *type) {
  return v.kind == VAL_OBJECT && !strcmp(v.type, type);
}

const char *tirc_script_type_name(Value v) {
  if (v.kind == VAL_EXPR) {
    const char *name = tirc_node_names[v.u.expr->op];
    return name ? name : "Call";
  }
  if (v.kind == VAL_NONE) return "NoneType";
  return tirc_value_type_name(v);
}

const char *tirc_script_a_type(Script *sc, Value v) {
  return tirc_a_type(sc->c, tirc_script_type_name(v));
}

static const NativeRow *const method_tables[] = {
    tirc_script_str_methods,      tirc_script_container_methods, tirc_script_object_methods,
    tirc_script_schedule_methods, tirc_script_sref_methods,      tirc_script_relax_methods,
};
enum { N_METHOD_TABLES = sizeof method_tables / sizeof *method_tables };
static const AttributeRow *const attribute_tables[] = {
    tirc_script_attributes,        tirc_script_schedule_attributes, tirc_script_sref_attributes,
    tirc_script_target_attributes, tirc_script_te_attributes,       tirc_script_relax_attributes,
};
enum { N_ATTRIBUTE_TABLES = sizeof attribute_tables / sizeof *attribute_tables };

const NativeRow *tirc_script_method_row(int i) {
  for (int t = 0; t < N_METHOD_TABLES; t++)
    for (const NativeRow *row = method_tables[t]; row->name; row++)
      if (i-- == 0) return row;
  return NULL;
}

const AttributeRow *tirc_script_attribute_row(int i) {
  for (int t = 0; t < N_ATTRIBUTE_TABLES; t++)
    for (const AttributeRow *row = attribute_tables[t]; row->name; row++)
      if (i-- == 0) return row;
  return NULL;
}

/* The types whose rows a value has: its own, and for expressions "PrimExpr" besides. */
static bool has_rows_of(Value v, const char *type) {
  if (!strcmp(type, tirc_script_type_name(v))) return true;
  if (v.kind == VAL_EXPR) return !strcmp(type, "PrimExpr");
  if (v.kind == VAL_INT) return !strcmp(type, "IntImm");
  if (v.kind == VAL_FLOAT) return !strcmp(type, "FloatImm");
  return v.kind == VAL_OBJECT && !strcmp(type, "Exception") && tirc_script_exception_class(v.type);
}

static const char *known_attributes(Script *sc, Value v) {
  Text t = {.c = sc->c};
  int n = 0;
  for (int k = 0; k < N_METHOD_TABLES; k++)
    for (const NativeRow *row = method_tables[k]; row->name; row++)
      if (has_rows_of(v, row->type)) tirc_text_addf(&t, "%s%s", n++ ? ", " : "it has ", row->name);
  for (int k = 0; k < N_ATTRIBUTE_TABLES; k++)
    for (const AttributeRow *row = attribute_tables[k]; row->name; row++)
      if (has_rows_of(v, row->type)) tirc_text_addf(&t, "%s%s", n++ ? ", " : "it has ", row->name);
  return t.at;
}

/* What goes by one name: looked for once, since scripts ask for the same ones again and again. */
typedef struct Members {
  const Primitive *primitive; /* or NULL */
  VEC(const NativeRow *) methods;
  VEC(const AttributeRow *) attributes;
} Members;

static const Members *members_of(Script *sc, const char *name) {
  Members *m = tirc_strmap_get(&sc->members, name);
  if (m) return m;
  *tirc_strmap_at(sc->c, &sc->members, name) = m = tirc_new(sc->c, Members);
  name = tirc_word_known(WORD_METHOD, name);
  m->primitive = tirc_find_primitive(name);
  for (int k = 0; k < N_METHOD_TABLES; k++)
    for (const NativeRow *row = method_tables[k]; row->name; row++)
      if (!strcmp(row->name, name)) vec_push(sc->c, m->methods, row);
  for (int k = 0; k < N_ATTRIBUTE_TABLES; k++)
    for (const AttributeRow *row = attribute_tables[k]; row->name; row++)
      if (!strcmp(row->name, name)) vec_push(sc->c, m->attributes, row);
  return m;
}

static bool own_attribute(Script *sc, Value v, const Members *m, Value *out) {
  for (int i = 0; i < m->methods.n; i++)
    if (has_rows_of(v, m->methods.at[i]->type))
      return *out = tirc_script_method(sc, m->methods.at[i], v), true;
  for (int i = 0; i < m->attributes.n; i++)
    if (has_rows_of(v, m->attributes.at[i]->type))
      return *out = m->attributes.at[i]->get(sc, v), true;
  return false;
}

/* sch.NAME: a primitive before anything else. */
static bool schedule_attribute(Script *sc, Value v, const Members *m, Value *out) {
  const Primitive *p = tirc_script_is(v, "Schedule") ? m->primitive : NULL;
  if (!p) return false;
  BoundPrimitive *bound = tirc_new(sc->c, BoundPrimitive);
  *bound = (BoundPrimitive){p, v.u.object};
  *out = tirc_script_object("primitive", bound);
  return true;
}

static _Noreturn void no_such_primitive(Script *sc, const char *name) {
  const char **all = tirc_new_array(sc->c, const char *, tirc_n_primitives);
  for (int i = 0; i < tirc_n_primitives; i++) all[i] = tirc_primitives[i].name;
  const char *near = tirc_nearest(sc->c, name, tirc_n_primitives, all);
  if (!near && sc->sched) near = tirc_hint_of_name(sc->sched, name);
  tirc_script_error(sc, "AttributeError", near ? near : "`tirc explain` lists the primitives",
                    "the schedule has no primitive '%s'", name);
}

/* tvm, tvm.ir, T ... are one namespace, so how the script calls it is not known. */
static _Noreturn void not_offered(Script *sc, const char *space, const char *name) {
  bool tvm = !strcmp(space, "tir"), other = !strcmp(space, "te"); /* as one that is not there */
  tirc_script_error(sc, other ? "ImportError" : "AttributeError", SCRIPT_OFFERS,
                    "%s%s%s is not available in scripts", tvm ? "" : space, tvm ? "" : ".", name);
}

Value tirc_script_attribute(Script *sc, Value v, const char *name) {
  Value out;
  v = tirc_script_resolve(sc, v);
  const Members *m = members_of(sc, name);
  if (schedule_attribute(sc, v, m, &out) || own_attribute(sc, v, m, &out)) return out;
  if (tirc_script_is(v, "namespace") || tirc_script_is(v, "type"))
    if (tirc_script_namespace_member(sc, v.u.object, name, &out)) return out;
  if (tirc_script_is(v, "RelaxOp")) return tirc_script_relax_member(sc, v.u.object, name);
  if (tirc_script_is(v, "Schedule")) no_such_primitive(sc, name);
  if (tirc_script_is(v, "namespace") || tirc_script_is(v, "type"))
    not_offered(sc, v.u.object, name);
  tirc_script_error(sc, "AttributeError", known_attributes(sc, v), "%s has no attribute '%s'",
                    tirc_script_a_type(sc, v), name);
}
