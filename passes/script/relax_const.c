/* Constants of graphs: numbers in lists as elements, row by row, and back. */
#include "relax.h"

#include "te.h"

enum { MOST_DIMS = 32 };

/* --- elements --------------------------------------------------------------------------------- */

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

typedef struct Reading {
  const char *data;  /* the next element, */
  const Expr *exprs; /* as bytes or as an expression */
} Reading;

static Value next_element(Script *sc, DType t, Reading *at) {
  if (at->exprs) return tirc_script_of_expr(*at->exprs++);
  const Value v = element(sc, t, at->data);
  at->data += tirc_dtype_bytes(t);
  return v;
}

static Value elements(Script *sc, Info info, int d, Reading *at) {
  int64_t extent = 0;
  if (d == info->ndim) return next_element(sc, info->dtype, at);
  Value list = tirc_value_list(sc->c, VAL_LIST, 0, NULL);
  tirc_const_int(info->shape[d], &extent);
  tirc_script_tick(sc, extent);
  for (int64_t i = 0; i < extent; i++)
    tirc_value_append(sc->c, list, elements(sc, info, d + 1, at));
  return list;
}

Value tirc_script_relax_elements(Script *sc, Node constant) {
  Reading at = {constant->data, constant->data ? NULL : constant->value->args};
  return elements(sc, constant->info, 0, &at);
}

Node tirc_script_symbolic(Tirc *c, Info info, const Expr *elements, Loc loc) {
  const int n = (int)tirc_info_count(info);
  return tirc_graph_node(c, &(struct Node){.kind = NODE_CONST,
                                           .info = info,
                                           .value = tirc_expr(c, OP_TUPLE, DT_HANDLE, n, elements),
                                           .loc = loc});
}

static Expr whole_of(Script *sc, Value v) {
  if (v.kind == VAL_EXPR) return tirc_cast(sc->c, DT_INT64, v.u.expr);
  return v.kind == VAL_BOOL ? tirc_bool(sc->c, v.u.b) : tirc_int(sc->c, DT_INT64, v.u.i);
}

const Expr *tirc_script_integers(Script *sc, Node n) {
  if (n->kind != NODE_CONST || tirc_dtype_is_float(n->info->dtype)) return NULL;
  if (!n->data) return n->value->args;
  const DType t = n->info->dtype;
  const int64_t count = tirc_info_count(n->info);
  Expr *out = tirc_new_array(sc->c, Expr, count + 1);
  for (int64_t i = 0; i < count; i++)
    out[i] = whole_of(sc, element(sc, t, (const char *)n->data + i * tirc_dtype_bytes(t)));
  return out;
}

/* --- constants of a script -------------------------------------------------------------------- */

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
    tirc_script_error(f->sc, "ValueError", NULL, "the lists of a constant have different lengths");
  for (int i = 0; i < v.u.list->n; i++) put_elements(f, d + 1, v.u.list->at[i]);
}

/* An extent that has a name: an integer expression that is no number. */
static bool is_symbolic(Value v) {
  int64_t number;
  bool found = v.kind == VAL_EXPR && tirc_dtype_is_int(v.u.expr->dtype) &&
               !tirc_const_int(v.u.expr, &number);
  for (int i = 0; !found && is_list(v) && i < v.u.list->n; i++)
    found = is_symbolic(v.u.list->at[i]);
  return found;
}

typedef struct Listing {
  Filling *f;
  Expr *next;
} Listing;

static void put_exprs(Listing *l, int d, Value v) {
  Script *sc = l->f->sc;
  int64_t number;
  if (d < l->f->ndim) {
    if (!is_list(v) || v.u.list->n != l->f->shape[d])
      tirc_script_error(sc, "ValueError", NULL, "the lists of a constant have different lengths");
    for (int i = 0; i < v.u.list->n; i++) put_exprs(l, d + 1, v.u.list->at[i]);
    return;
  }
  if (!is_symbolic(v) && !tirc_script_int(v, &number))
    tirc_script_error(sc, "TypeError", NULL, "an element of a constant is %s, not an integer",
                      tirc_script_a_type(sc, v));
  *l->next++ = whole_of(sc, v);
}

static DType usual_type(Value v) {
  if (is_symbolic(v)) return DT_INT64;
  while (is_list(v) && v.u.list->n) v = v.u.list->at[0];
  return v.kind == VAL_BOOL ? DT_BOOL : v.kind == VAL_INT ? DT_INT32 : DT_FLOAT32;
}

/* const(value, dtype=None) */
static Value run_const(Script *sc, Value self, const Args *a) {
  int64_t shape[MOST_DIMS], count = 1;
  Expr extents[MOST_DIMS];
  const Value *v = tirc_script_argument(a, 0, "value");
  const Value *type = tirc_script_argument(a, 1, "dtype");
  (void)self;
  if (!v) tirc_script_error(sc, "TypeError", "R.const([1, 2], \"int64\")", "const() needs a value");
  Filling f = {.sc = sc, .shape = shape};
  f.t = type && type->kind != VAL_NONE ? tirc_te_dtype(sc, *type) : usual_type(*v);
  for (Value at = *v; is_list(at); at = at.u.list->at[0]) {
    if (f.ndim == MOST_DIMS)
      tirc_script_error(sc, "ValueError", NULL, "a constant has at most %d dimensions", MOST_DIMS);
    shape[f.ndim] = at.u.list->n;
    extents[f.ndim++] = tirc_int(sc->c, DT_INT64, at.u.list->n);
    count *= at.u.list->n; /* what the lists hold is there, so this is no large number */
    if (!at.u.list->n) break;
  }
  const Info info = tirc_info_tensor(sc->c, f.t, f.ndim, extents);
  if (is_symbolic(*v) && tirc_dtype_is_int(f.t)) {
    Expr *exprs = tirc_new_array(sc->c, Expr, count + 1);
    put_exprs(&(Listing){&f, exprs}, 0, *v);
    return tirc_script_of_relax(tirc_script_symbolic(sc->c, info, exprs, sc->loc));
  }
  char *data = tirc_alloc(sc->c, (size_t)(count * 8) + 1);
  f.next = data;
  put_elements(&f, 0, *v);
  const struct Node constant = {.kind = NODE_CONST, .info = info, .data = data, .loc = sc->loc};
  return tirc_script_of_relax(tirc_graph_node(sc->c, &constant));
}

static const NativeRow row = {"R", "const", run_const, 0, 2, "value dtype"};

Value tirc_script_relax_const(void) { return tirc_script_native(&row); }
