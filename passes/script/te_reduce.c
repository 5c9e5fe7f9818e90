/* Reductions in tensor expressions: the axes that they run over, and what combines two values. */
#include "te.h"

#include <math.h>

/* --- axes ------------------------------------------------------------------------------------- */

/* reduce_axis((begin, end), name="rv") */
static Value run_reduce_axis(Script *sc, Value self, const Args *a) {
  const Value *dom = tirc_script_argument(a, 0, "dom"), *name = tirc_script_argument(a, 1, "name");
  const bool pair = dom && (dom->kind == VAL_TUPLE || dom->kind == VAL_LIST) && dom->u.list->n == 2;
  (void)self;
  if (!pair || (name && name->kind != VAL_STR))
    tirc_script_error(sc, "TypeError", "te.reduce_axis((0, n), name=\"k\")",
                      "reduce_axis() needs the pair (begin, end) and a name");
  Expr begin = tirc_te_index(sc, dom->u.list->at[0], "a bound of an axis");
  Expr end = tirc_te_index(sc, dom->u.list->at[1], "a bound of an axis");
  Expr extent = tirc_sub(sc->c, end, begin);
  IterVar *axis = tirc_new(sc->c, IterVar);
  *axis = (IterVar){tirc_var(sc->c, name ? name->u.s : "rv", extent->dtype),
                    tirc_range(tirc_cast(sc->c, extent->dtype, begin), extent), ITER_REDUCE};
  tirc_map_set(sc->c, &sc->te.axes, axis->var, axis);
  return tirc_value_expr(axis->var);
}

/* The axis or list of axes of a reduction. */
static int read_axes(Script *sc, const Value *v, const IterVar **out) {
  const Value none = VALUE_NONE, given = v ? *v : none;
  const bool several = given.kind == VAL_LIST || given.kind == VAL_TUPLE;
  const int n = several ? given.u.list->n : 1;
  IterVar *axes = tirc_new_array(sc->c, IterVar, n);
  for (int i = 0; i < n; i++) {
    const Value each = several ? given.u.list->at[i] : given;
    const IterVar *axis = each.kind == VAL_EXPR ? tirc_map_get(&sc->te.axes, each.u.expr) : NULL;
    if (!axis)
      tirc_script_error(sc, "TypeError", "k = te.reduce_axis((0, n), name=\"k\")",
                        "axis must be a result of te.reduce_axis, or a list of these, not %s",
                        tirc_script_a_type(sc, each));
    axes[i] = *axis;
  }
  *out = axes;
  return n;
}

/* Of no elements a reduction is its neutral element. */
static bool is_empty(int n, const IterVar *axes) {
  for (int i = 0; i < n; i++)
    if (tirc_is_int(axes[i].dom.extent, 0)) return true;
  return false;
}

static Value make(Script *sc, const Reducer *r, const Expr *sources, const Value *axis) {
  Reduction *reduction = tirc_new(sc->c, Reduction);
  *reduction = (Reduction){.reducer = r, .sources = sources};
  reduction->n_axes = read_axes(sc, axis, &reduction->axes);
  if (reduction->n_axes && !is_empty(reduction->n_axes, reduction->axes))
    return tirc_script_object("Reduce", reduction);
  const Expr *values = reduction->n_axes ? r->identities : sources;
  Value list = tirc_value_list(sc->c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < r->n; i++) tirc_value_append(sc->c, list, tirc_value_expr(values[i]));
  return r->n == 1 ? list.u.list->at[0] : list;
}

/* --- the reducers with names ------------------------------------------------------------------ */

static const struct Named {
  const char *name;
  Op op;
} named[] = {
    {"sum", OP_ADD},
    {"prod", OP_MUL},
    {"max", OP_MAX},
    {"min", OP_MIN},
};

static const Reducer *reducer_of(Script *sc, const struct Named *row, DType t) {
  Expr *parts = tirc_new_array(sc->c, Expr, 4);
  Reducer *r = tirc_new(sc->c, Reducer);
  parts[0] = tirc_var(sc->c, "x", t);
  parts[1] = tirc_var(sc->c, "y", t);
  parts[2] = tirc_binary(sc->c, row->op, parts[0], parts[1]);
  parts[3] = tirc_neutral(sc->c, row->op, t);
  *r = (Reducer){1, parts, parts + 1, parts + 2, parts + 3};
  return r;
}

/* sum(expr, axis) and its like */
static Value reduce(Script *sc, const char *name, const Args *a) {
  const struct Named *row = named;
  while (strcmp(row->name, name) != 0) row++;
  const Value *v = tirc_script_argument(a, 0, "expr"), *axis = tirc_script_argument(a, 1, "axis");
  if (!v || !axis)
    tirc_script_error(sc, "TypeError", tirc_format(sc->c, "te.%s(A[i, k], axis=k)", name),
                      "%s() needs an expression and the axis to reduce", name);
  Expr *source = tirc_new(sc->c, Expr);
  *source = tirc_script_expr(sc, *v);
  const DType t = (*source)->dtype;
  if (!tirc_dtype_is_int(t) && !tirc_dtype_is_float(t))
    tirc_script_error(sc, "TypeError", "T.Cast(\"int32\", x) turns a condition into a number",
                      "%s() takes numbers, not %s", name, tirc_dtype_name(sc->c, t));
  return make(sc, reducer_of(sc, row, t), source, axis);
}

#define NAMED(which)                                                                               \
  static Value run_##which(Script *sc, Value self, const Args *a) {                                \
    return (void)self, reduce(sc, #which, a);                                                      \
  }
NAMED(sum)
NAMED(prod)
NAMED(max)
NAMED(min)
#undef NAMED

/* --- te.comm_reducer -------------------------------------------------------------------------- */

typedef struct OwnReducer { /* u.object of what te.comm_reducer gives, to be called */
  Value combine, identity;
} OwnReducer;

static Value tuple_of(Script *sc, int n, const Expr *at) {
  Value list = tirc_value_list(sc->c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < n; i++) tirc_value_append(sc->c, list, tirc_value_expr(at[i]));
  return list;
}

static void take(Script *sc, const char *what, Value v, int n, const Expr *like, Expr *out) {
  const bool several = v.kind == VAL_LIST || v.kind == VAL_TUPLE;
  if ((several ? v.u.list->n : 1) != n)
    tirc_script_error(sc, "TypeError", NULL, "%s returns %d values, but %d are reduced", what,
                      several ? v.u.list->n : 1, n);
  for (int i = 0; i < n; i++)
    out[i] = tirc_cast(sc->c, like[i]->dtype, tirc_script_expr(sc, several ? v.u.list->at[i] : v));
}

static const Reducer *own_reducer(Script *sc, const OwnReducer *own, int n, const Expr *sources) {
  Expr *parts = tirc_new_array(sc->c, Expr, 4 * n);
  Value *types = tirc_new_array(sc->c, Value, n);
  Reducer *r = tirc_new(sc->c, Reducer);
  for (int i = 0; i < n; i++) {
    parts[i] = tirc_var(sc->c, tirc_format(sc->c, "x%d", i), sources[i]->dtype);
    parts[n + i] = tirc_var(sc->c, tirc_format(sc->c, "y%d", i), sources[i]->dtype);
    types[i] = tirc_value_str(tirc_dtype_name(sc->c, sources[i]->dtype));
  }
  const Value sides[] = {n > 1 ? tuple_of(sc, n, parts) : tirc_value_expr(parts[0]),
                         n > 1 ? tuple_of(sc, n, parts + n) : tirc_value_expr(parts[1])};
  take(sc, "fcombine", tirc_script_call(sc, own->combine, &(Args){.n = 2, .at = sides}), n, parts,
       parts + 2 * n);
  take(sc, "fidentity", tirc_script_call(sc, own->identity, &(Args){.n = n, .at = types}), n, parts,
       parts + 3 * n);
  *r = (Reducer){n, parts, parts + n, parts + 2 * n, parts + 3 * n};
  return r;
}

/* reducer(expr, axis) */
static Value run_own(Script *sc, Value self, const Args *a) {
  const Value *v = tirc_script_argument(a, 0, "expr"), *axis = tirc_script_argument(a, 1, "axis");
  if (!v || !axis)
    tirc_script_error(sc, "TypeError", NULL,
                      "a reducer needs an expression and the axis to reduce");
  const bool several = v->kind == VAL_LIST || v->kind == VAL_TUPLE;
  const int n = several ? v->u.list->n : 1;
  Expr *sources = tirc_new_array(sc->c, Expr, n);
  if (!n) tirc_script_error(sc, "TypeError", NULL, "a reducer needs at least one value");
  for (int i = 0; i < n; i++) sources[i] = tirc_script_expr(sc, several ? v->u.list->at[i] : *v);
  return make(sc, own_reducer(sc, self.u.object, n, sources), sources, axis);
}

static const NativeRow own_row = {"te", "reducer", run_own, 0, 2, "expr axis"};

/* comm_reducer(fcombine, fidentity, name="reduce") */
static Value run_comm_reducer(Script *sc, Value self, const Args *a) {
  const Value *combine = tirc_script_argument(a, 0, "fcombine");
  const Value *id = tirc_script_argument(a, 1, "fidentity");
  (void)self;
  if (!combine || !id || combine->kind != VAL_FUNCTION || id->kind != VAL_FUNCTION)
    tirc_script_error(sc, "TypeError",
                      "te.comm_reducer(lambda x, y: x + y, lambda t: T.Cast(t, 0), name=\"sum\")",
                      "comm_reducer() needs two functions: one combines two values, the other one "
                      "returns the neutral element of a type");
  OwnReducer *own = tirc_new(sc->c, OwnReducer);
  *own = (OwnReducer){*combine, *id};
  return tirc_script_method(sc, &own_row, tirc_script_object("reducer", own));
}

const NativeRow tirc_script_te_reduce_rows[] = {
    {"te", "reduce_axis", run_reduce_axis, 0, 2, "dom name"},
    {"te", "sum", run_sum, 0, 2, "expr axis"},
    {"te", "prod", run_prod, 0, 2, "expr axis"},
    {"te", "max", run_max, 0, 2, "expr axis"},
    {"te", "min", run_min, 0, 2, "expr axis"},
    {"te", "comm_reducer", run_comm_reducer, 0, 3, "fcombine fidentity name"},
    {0},
};
