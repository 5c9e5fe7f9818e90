#include "graph_value.h"

#include "te.h"

#define TYPE_NAME "RelaxExpr"

enum { MOST_DIMS = 32 };

const GraphValue *tirc_graph_value(Value v) {
  return tirc_script_is(v, TYPE_NAME) ? v.u.object : NULL;
}

Value tirc_graph_constant(Script *sc, const char *name, Info info, const void *data) {
  GraphValue *g = tirc_new(sc->c, GraphValue);
  *g = (GraphValue){.name = name, .info = info, .data = data};
  return tirc_script_object(TYPE_NAME, g);
}

/* --- what is known of one -----------------------------------------------------------------------
 */

static Info info_of(Value self) { return tirc_graph_value(self)->info; }

static Value get_name(Script *sc, Value self) {
  const char *name = tirc_graph_value(self)->name;
  return (void)sc, tirc_value_str(name ? name : "");
}
static Value get_ndim(Script *sc, Value self) {
  return (void)sc, tirc_value_int(info_of(self)->ndim);
}
static Value get_dtype(Script *sc, Value self) {
  return tirc_value_str(tirc_dtype_name(sc->c, info_of(self)->dtype));
}
static Value get_shape(Script *sc, Value self) {
  const Info info = info_of(self);
  Value list = tirc_value_list(sc->c, VAL_TUPLE, 0, NULL);
  for (int d = 0; d < info->ndim; d++)
    tirc_value_append(sc->c, list, tirc_script_of_expr(info->shape[d]));
  return list;
}
static Value get_is_const(Script *sc, Value self) {
  return (void)sc, tirc_value_bool(tirc_graph_value(self)->data != NULL);
}

/* --- elements -----------------------------------------------------------------------------------
 */

static Value element(Script *sc, DType t, const char *at) {
  const int bytes = tirc_dtype_bytes(t);
  int64_t i = 0;
  if (tirc_dtype_is_float(t)) {
    uint16_t half;
    float single;
    double wide = 0;
    memcpy(&half, at, sizeof half);
    if (bytes == 2)
      wide = t.code == TYPE_BFLOAT ? tirc_bfloat_to_double(half) : tirc_half_to_double(half);
    if (bytes == 4) memcpy(&single, at, sizeof single), wide = single;
    if (bytes == 8) memcpy(&wide, at, sizeof wide);
    return tirc_value_float(wide);
  }
  memcpy(&i, at, (size_t)bytes);
  if (t.code == TYPE_BOOL) return tirc_value_bool(i != 0);
  const int unused = 64 - 8 * bytes;
  if (t.code == TYPE_INT) i = (int64_t)((uint64_t)i << unused) >> unused;
  if (t.code == TYPE_UINT && i < 0) return tirc_value_expr(tirc_int(sc->c, t, i));
  return tirc_value_int(i);
}

static Value elements(Script *sc, Info info, int d, const char **at) {
  int64_t extent = 0;
  if (d == info->ndim) {
    const Value v = element(sc, info->dtype, *at);
    *at += tirc_dtype_bytes(info->dtype);
    return v;
  }
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  tirc_const_int(info->shape[d], &extent);
  tirc_script_tick(sc, extent);
  for (int64_t i = 0; i < extent; i++)
    tirc_value_append(sc->c, list, elements(sc, info, d + 1, at));
  return list;
}

static Value run_tolist(Script *sc, Value self, const Args *a) {
  const GraphValue *v = tirc_graph_value(self);
  (void)a;
  if (!v->data) sc->graph->not_known(sc->graph, v);
  const char *at = v->data;
  return elements(sc, v->info, 0, &at);
}

/* --- constants of a script ----------------------------------------------------------------------
 */

typedef struct Filling {
  Script *sc;
  DType t;
  int ndim;
  const int64_t *shape;
  char *next;
} Filling;

static void put_int(Filling *f, Value v) {
  int64_t i;
  if (!tirc_script_int(v, &i))
    tirc_script_error(f->sc, "TypeError", NULL, "an element of a constant is %s, not a number",
                      tirc_script_a_type(f->sc, v));
  if (f->t.code == TYPE_BOOL) i = i != 0;
  if (i < tirc_dtype_min(f->t) || i > tirc_dtype_max(f->t))
    tirc_script_error(f->sc, "ValueError", NULL, "%lld does not fit into %s", (long long)i,
                      tirc_dtype_name(f->sc->c, f->t));
  memcpy(f->next, &i, (size_t)tirc_dtype_bytes(f->t));
}

static void put_float(Filling *f, Value v) {
  double wide;
  const int bytes = tirc_dtype_bytes(f->t);
  if (!tirc_script_number(v, &wide))
    tirc_script_error(f->sc, "TypeError", NULL, "an element of a constant is %s, not a number",
                      tirc_script_a_type(f->sc, v));
  const float single = (float)wide;
  const uint16_t half = bytes == 2 ? tirc_double_to_16_bits(f->t, wide) : 0;
  memcpy(f->next,
         bytes == 2   ? (const void *)&half
         : bytes == 4 ? (const void *)&single
                      : &wide,
         (size_t)bytes);
}

static bool is_list(Value v) { return v.kind == VAL_LIST || v.kind == VAL_TUPLE; }

static void put_elements(Filling *f, int d, Value v) {
  if (d == f->ndim) {
    if (tirc_dtype_is_float(f->t))
      put_float(f, v);
    else
      put_int(f, v);
    f->next += tirc_dtype_bytes(f->t);
    return;
  }
  if (!is_list(v) || v.u.list->n != f->shape[d])
    tirc_script_error(f->sc, "ValueError", NULL, "the lists of a constant differ in length");
  for (int i = 0; i < v.u.list->n; i++) put_elements(f, d + 1, v.u.list->at[i]);
}

static DType usual_type(Value v) {
  while (is_list(v) && v.u.list->n) v = v.u.list->at[0];
  return v.kind == VAL_BOOL ? DT_BOOL : v.kind == VAL_INT ? DT_INT64 : DT_FLOAT32;
}

/* const(value, dtype=None) */
static Value run_const(Script *sc, Value self, const Args *a) {
  const Value *v = tirc_script_argument(a, 0, "value");
  const Value *type = tirc_script_argument(a, 1, "dtype");
  int64_t shape[MOST_DIMS], count = 1;
  Expr extents[MOST_DIMS];
  (void)self;
  if (!v) tirc_script_error(sc, "TypeError", "R.const([1, 2], \"int64\")", "const() takes a value");
  Filling f = {.sc = sc, .shape = shape};
  f.t = type && type->kind != VAL_NONE ? tirc_te_dtype(sc, *type) : usual_type(*v);
  for (Value at = *v; is_list(at); at = at.u.list->at[0]) {
    if (f.ndim == MOST_DIMS)
      tirc_script_error(sc, "ValueError", NULL, "a constant of more than %d dimensions", MOST_DIMS);
    shape[f.ndim] = at.u.list->n;
    extents[f.ndim++] = tirc_int(sc->c, DT_INT64, at.u.list->n);
    count *= at.u.list->n; /* what the lists hold is there, so this is no large number */
    if (!at.u.list->n) break;
  }
  char *data = tirc_alloc(sc->c, (size_t)(count * 8) + 1);
  f.next = data;
  put_elements(&f, 0, *v);
  return tirc_graph_constant(sc, NULL, tirc_info_tensor(sc->c, f.t, f.ndim, extents), data);
}

/* --- R ------------------------------------------------------------------------------------------
 */

const AttributeRow tirc_script_graph_attributes[] = {
    {TYPE_NAME, "name", get_name},         {TYPE_NAME, "ndim", get_ndim},
    {TYPE_NAME, "dtype", get_dtype},       {TYPE_NAME, "shape", get_shape},
    {TYPE_NAME, "is_const", get_is_const}, {0},
};

const NativeRow tirc_script_graph_methods[] = {
    {TYPE_NAME, "tolist", run_tolist, 0, 0, NULL},
    {0},
};

static const NativeRow const_row = {"R", "const", run_const, 0, 2, "value dtype"};

/* space: "R", or "R.nn". */
bool tirc_graph_member(Script *sc, const char *space, const char *name, Value *out) {
  bool is_operator;
  if (!sc->graph || strncmp(space, "R", 1) || (space[1] && space[1] != '.')) return false;
  if (!space[1] && !strcmp(name, const_row.name))
    return *out = tirc_script_native(&const_row), true;
  const char *whole =
      space[1] ? tirc_format(sc->c, "%s.%s", space + 2, name) : tirc_strdup(sc->c, name);
  if (!sc->graph->knows(sc->graph, whole, &is_operator)) return false;
  *out = is_operator ? tirc_script_object("operator", whole)
                     : tirc_script_namespace(tirc_format(sc->c, "R.%s", whole));
  return true;
}

Value tirc_graph_call(Script *sc, const char *name, const Args *a) {
  return sc->graph->call(sc->graph, name, a);
}
