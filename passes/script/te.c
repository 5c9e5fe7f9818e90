/* te.placeholder, te.compute: tensors and what makes them. */
#include "te.h"
#include "ir/arith/arith.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"

enum { TE_MAX_DIMS = 32 };

/* --- tensors as values ------------------------------------------------------------------------ */

const Tensor *tirc_te_tensor(Value v) {
  return tirc_script_is(v, "Tensor") ? (const Tensor *)v.u.object : NULL;
}

const Tensor *tirc_te_tensor_of(const Script *sc, Buffer b) {
  return tirc_map_get(&sc->te.tensors, b);
}

static Tensor *new_tensor(Script *sc, Buffer b, const Stage *stage) {
  Tensor *t = tirc_new(sc->c, Tensor);
  *t = (Tensor){b, stage};
  tirc_map_set(sc->c, &sc->te.tensors, b, t);
  return t;
}

Value tirc_te_placeholder(Script *sc, const char *name, DType t, int ndim, const Expr *shape) {
  return tirc_script_object(
      "Tensor", new_tensor(sc, tirc_buffer(sc->c, name, t, ndim, shape, "global"), NULL));
}

Value tirc_te_results(Script *sc, Stage *stage, int n, const Buffer *buffers) {
  const Tensor **results = tirc_new_array(sc->c, const Tensor *, n);
  Value list = tirc_value_list(sc->c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < n; i++) {
    results[i] = new_tensor(sc, buffers[i], stage);
    tirc_value_append(sc->c, list, tirc_script_object("Tensor", results[i]));
  }
  stage->n_results = n;
  stage->results = results;
  return n == 1 ? list.u.list->at[0] : list;
}

const char *tirc_te_type_text(Tirc *c, DType t, int ndim, const Expr *shape) {
  Text text = {.c = c};
  tirc_text_add(&text, "Tensor((");
  for (int i = 0; i < ndim; i++) {
    int64_t extent;
    tirc_text_addf(&text, "%s%s", i ? ", " : "",
                   tirc_const_int(shape[i], &extent) ? tirc_format(c, "%lld", (long long)extent)
                                                     : tirc_print_expr(c, shape[i]));
  }
  tirc_text_addf(&text, "%s), \"%s\")", ndim == 1 ? "," : "", tirc_dtype_name(c, t));
  return text.at;
}

/* --- extents and indices ---------------------------------------------------------------------- */

static DType index_type(const Script *sc) { return sc->te.wide ? DT_INT64 : DT_INT32; }

Expr tirc_te_index(Script *sc, Value v, const char *what) {
  int64_t i;
  if (v.kind == VAL_INT) {
    const DType t = v.u.i == (int32_t)v.u.i ? index_type(sc) : DT_INT64;
    return tirc_int(sc->c, t, v.u.i);
  }
  if (v.kind == VAL_EXPR && tirc_dtype_is_int(v.u.expr->dtype) && v.u.expr->dtype.lanes == 1) {
    const bool plain = tirc_const_int(v.u.expr, &i) && v.u.expr->dtype.bits == 32;
    return plain ? tirc_int(sc->c, index_type(sc), i) : v.u.expr;
  }
  tirc_script_error(sc, "TypeError",
                    v.kind == VAL_FLOAT ? "// returns the floor of a quotient as an int" : NULL,
                    "%s is an integer, not %s", what, tirc_script_a_type(sc, v));
}

/* All extents of a shape that are constants get the type of those that are not. */
static void widen(Script *sc, int n, Expr *shape) {
  bool wide = sc->te.wide;
  for (int i = 0; i < n; i++) wide |= shape[i]->dtype.bits == 64;
  for (int i = 0; wide && i < n; i++)
    if (shape[i]->op == OP_INT) shape[i] = tirc_cast(sc->c, DT_INT64, shape[i]);
}

/* An extent that only the run tells is asked there, where somebody asserts it. */
static void need_not_negative(Script *sc, int axis, Expr e) {
  if (sc->needs && e->op != OP_INT && e->op != OP_VAR)
    tirc_script_need(
        sc, tirc_value_expr(tirc_binary(sc->c, OP_GE, e, tirc_int(sc->c, e->dtype, 0))),
        tirc_format(sc->c, "extent %s of axis %d is negative", tirc_print_expr(sc->c, e), axis));
}

/* Bytes are counted in 64 bits, of the largest elements. */
static void check_size(Script *sc, int n, const Expr *shape) {
  int64_t bytes = 8, extent;
  for (int i = 0; i < n; i++) {
    if (!tirc_const_int(shape[i], &extent) || extent == 0) continue;
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      tirc_script_error(sc, "ValueError", NULL,
                        "a tensor of the shape (%s ...) is too large: its size does not fit into "
                        "64 bits",
                        tirc_print_expr(sc->c, shape[0]));
  }
}

typedef struct Extents {
  Tirc *c;
  Analyzer *known;
} Extents;

static bool bind_extent(Visitor *v, Expr e) {
  const Extents *x = v->self;
  const DType t = e->dtype;
  if (e->op == OP_VAR && tirc_dtype_is_int(t))
    tirc_bind_range(x->known, e, (Range){tirc_int(x->c, t, 0), tirc_int(x->c, t, 1 << 30)});
  return true;
}

/* max(n, 0) is n: variables in shapes are extents, which are not negative. */
static Expr without_max(Script *sc, Expr e) {
  int64_t floor;
  if (e->op != OP_MAX || !tirc_const_int(e->args[1], &floor)) return e;
  Extents x = {sc->c, tirc_analyzer(sc->c)};
  Visitor v = {.expr = bind_extent, .self = &x};
  tirc_visit_expr(&v, e->args[0]);
  const Expr inner = tirc_simplify(x.known, e->args[0]);
  return tirc_const_bound(x.known, inner).min >= floor ? inner : e;
}

const Expr *tirc_te_shape(Script *sc, Value v, int *n) {
  Expr shape[TE_MAX_DIMS];
  const bool several = v.kind == VAL_LIST || v.kind == VAL_TUPLE;
  *n = several ? v.u.list->n : 1;
  if (*n > TE_MAX_DIMS)
    tirc_script_error(sc, "ValueError", NULL,
                      "a tensor has %d dimensions, but at most %d are possible", *n, TE_MAX_DIMS);
  for (int i = 0; i < *n; i++) {
    int64_t extent;
    shape[i] = tirc_te_index(sc, several ? v.u.list->at[i] : v, "an extent of a shape");
    shape[i] = without_max(sc, shape[i]);
    if (tirc_const_int(shape[i], &extent) && extent < 0)
      tirc_script_error(sc, "ValueError", NULL, "extent %lld of axis %d is negative",
                        (long long)extent, i);
    need_not_negative(sc, i, shape[i]);
  }
  widen(sc, *n, shape);
  check_size(sc, *n, shape);
  return tirc_copy(sc->c, shape, *n);
}

DType tirc_te_dtype(Script *sc, Value v) {
  DType t;
  if (v.kind != VAL_STR || !tirc_dtype_parse(v.u.s, &t) || t.lanes != 1 || t.code == TYPE_HANDLE ||
      t.code == TYPE_VOID)
    tirc_script_error(
        sc, v.kind == VAL_STR ? "ValueError" : "TypeError",
        "use one of bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32 and float64",
        "%s is not a type of a tensor's elements", tirc_script_repr(sc, v));
  return t;
}

Value tirc_te_item(Script *sc, const Tensor *t, Value index) {
  const bool several = index.kind == VAL_LIST || index.kind == VAL_TUPLE;
  const int n = several ? index.u.list->n : 1;
  Buffer b = t->buffer;
  Expr at[TE_MAX_DIMS];
  if (n != b->ndim)
    tirc_script_error(sc, "IndexError", b->ndim ? NULL : "x[()] is the element of a scalar",
                      "%s has %d dimension%s, but here it has %d ind%s: it is %s", b->name, b->ndim,
                      b->ndim == 1 ? "" : "s", n, n == 1 ? "ex" : "ices",
                      tirc_te_type_text(sc->c, b->dtype, b->ndim, b->shape));
  for (int i = 0; i < n; i++) {
    at[i] = tirc_te_index(sc, several ? index.u.list->at[i] : index, "an index");
    if (at[i]->op == OP_INT) at[i] = tirc_cast(sc->c, b->shape[i]->dtype, at[i]);
  }
  return tirc_value_expr(tirc_load(sc->c, b, n, at));
}

static Value get_name(Script *sc, Value v) {
  return (void)sc, tirc_value_str(tirc_te_tensor(v)->buffer->name);
}
static Value get_dtype(Script *sc, Value v) {
  return tirc_value_str(tirc_dtype_name(sc->c, tirc_te_tensor(v)->buffer->dtype));
}
static Value get_ndim(Script *sc, Value v) {
  return (void)sc, tirc_value_int(tirc_te_tensor(v)->buffer->ndim);
}
static Value get_shape(Script *sc, Value v) {
  Buffer b = tirc_te_tensor(v)->buffer;
  Value list = tirc_value_list(sc->c, VAL_TUPLE, 0, NULL);
  for (int i = 0; i < b->ndim; i++)
    tirc_value_append(sc->c, list, tirc_script_of_expr(b->shape[i]));
  return list;
}

const AttributeRow tirc_script_te_attributes[] = {
    {"Tensor", "name", get_name},
    {"Tensor", "dtype", get_dtype},
    {"Tensor", "ndim", get_ndim},
    {"Tensor", "shape", get_shape},
    {0},
};

/* --- te.compute ------------------------------------------------------------------------------- */

static const char *text_of(Script *sc, const Args *a, int i, const char *name, const char *usual) {
  const Value *v = tirc_script_argument(a, i, name);
  if (!v || v->kind == VAL_NONE) return usual;
  if (v->kind != VAL_STR)
    tirc_script_error(sc, "TypeError", NULL, "%s is a str, not %s", name,
                      tirc_script_a_type(sc, *v));
  return v->u.s;
}

/* placeholder(shape, dtype="float32", name="placeholder") */
static Value run_placeholder(Script *sc, Value self, const Args *a) {
  int n;
  const Value *shape = tirc_script_argument(a, 0, "shape");
  (void)self;
  if (!shape)
    tirc_script_error(sc, "TypeError", "te.placeholder((4, 8), \"float32\", \"A\")",
                      "placeholder() misses the argument 'shape'");
  const Expr *extents = tirc_te_shape(sc, *shape, &n);
  const DType t = tirc_te_dtype(sc, tirc_value_str(text_of(sc, a, 1, "dtype", "float32")));
  return tirc_te_placeholder(sc, text_of(sc, a, 2, "name", "placeholder"), t, n, extents);
}

/* The names that the caller gives, where the function is not a script's. */
static int given_names(Script *sc, const Value *given, const char ***names) {
  if (given->kind != VAL_LIST && given->kind != VAL_TUPLE)
    tirc_script_error(sc, "TypeError", NULL, "axis_names must be a list of names");
  const int n = given->u.list->n;
  *names = tirc_new_array(sc->c, const char *, n);
  for (int i = 0; i < n; i++) {
    if (given->u.list->at[i].kind != VAL_STR)
      tirc_script_error(sc, "TypeError", NULL, "axis_names must be a list of names");
    (*names)[i] = given->u.list->at[i].u.s;
  }
  return n;
}

/* One variable a dimension, named by the function's parameters; what *i takes is i0, i1 ... */
static const IterVar *new_axes(Script *sc, const Callable *f, const Value *given, int n,
                               const Expr *shape) {
  const char **names, *rest = NULL;
  const int named =
      given ? given_names(sc, given, &names) : tirc_script_parameters(sc, f, &names, &rest);
  IterVar *axes = tirc_new_array(sc->c, IterVar, n);
  if (named > n || (named < n && !rest))
    tirc_script_error(sc, "TypeError", "lambda *i: ... accepts any number",
                      "the function takes %d ind%s, but the shape has %d dimension%s", named,
                      named == 1 ? "ex" : "ices", n, n == 1 ? "" : "s");
  for (int i = 0; i < n; i++) {
    const DType t = shape[i]->dtype;
    const char *name = i < named ? names[i] : tirc_format(sc->c, "%s%d", rest, i);
    axes[i] = (IterVar){tirc_var(sc->c, name, t), tirc_range(tirc_int(sc->c, t, 0), shape[i]),
                        ITER_SPATIAL};
  }
  return axes;
}

static Value call_with_axes(Script *sc, Value f, int n, const IterVar *axes) {
  Value *args = tirc_new_array(sc->c, Value, n);
  for (int i = 0; i < n; i++) args[i] = tirc_value_expr(axes[i].var);
  return tirc_script_call(sc, f, &(Args){.n = n, .at = args});
}

static void set_reduction(Script *sc, Stage *s, const Reduction *r) {
  IterVar *axes = tirc_new_array(sc->c, IterVar, s->n_axes + r->n_axes);
  memcpy(axes, s->axes, (size_t)s->n_axes * sizeof *axes);
  memcpy(axes + s->n_axes, r->axes, (size_t)r->n_axes * sizeof *axes);
  s->axes = axes;
  s->n_axes += r->n_axes;
  s->reducer = r->reducer;
  s->values = r->sources;
}

/* What the function gave for each result: an expression, a reduction, or several expressions. */
static int set_values(Script *sc, Stage *s, Value v) {
  if (tirc_script_is(v, "Reduce")) {
    set_reduction(sc, s, v.u.object);
    return s->reducer->n;
  }
  const bool several = v.kind == VAL_LIST || v.kind == VAL_TUPLE;
  const int n = several ? v.u.list->n : 1;
  Expr *values = tirc_new_array(sc->c, Expr, n);
  if (!n) tirc_script_error(sc, "TypeError", NULL, "the function returns no value");
  for (int i = 0; i < n; i++) {
    const Value each = several ? v.u.list->at[i] : v;
    if (tirc_script_is(each, "Reduce"))
      tirc_script_error(sc, "TypeError", "write a separate te.compute for the reduction",
                        "a reduction cannot be one of several values");
    values[i] = tirc_script_expr(sc, each);
  }
  s->values = values;
  return n;
}

static Buffer result_buffer(Script *sc, const Stage *s, int i, int n, int ndim, const Expr *shape) {
  const char *name = n == 1 ? s->name : tirc_format(sc->c, "%s_v%d", s->name, i);
  return tirc_buffer(sc->c, name, s->values[i]->dtype, ndim, shape, "global");
}

/* check=lambda i, j: (condition, "message"): an assertion above the store of each element. */
static void set_check(Script *sc, Stage *s, const Value *check) {
  if (!check || check->kind == VAL_NONE) return;
  const Value v =
      check->kind == VAL_FUNCTION ? call_with_axes(sc, *check, s->n_axes, s->axes) : VALUE_NONE;
  const bool fits = v.kind == VAL_TUPLE && v.u.list->n == 2 && v.u.list->at[1].kind == VAL_STR;
  if (!fits)
    tirc_script_error(
        sc, "TypeError", "check=lambda i: (x[i] > 0, \"x is positive\")",
        "check must be a function of the indices that returns a condition and a message");
  s->condition = tirc_script_expr(sc, v.u.list->at[0]);
  s->message = v.u.list->at[1].u.s;
}

/* compute(shape, fcompute, name="compute", axis_names=None, check=None) */
static Value run_compute(Script *sc, Value self, const Args *a) {
  int ndim;
  const Value *shape = tirc_script_argument(a, 0, "shape");
  const Value *f = tirc_script_argument(a, 1, "fcompute");
  (void)self;
  if (!shape || !f || f->kind != VAL_FUNCTION)
    tirc_script_error(sc, "TypeError", "te.compute((4, 8), lambda i, j: A[i, j] + 1, name=\"B\")",
                      "compute() needs a shape and a function with as many indices");
  const Expr *extents = tirc_te_shape(sc, *shape, &ndim);
  Stage *s = tirc_new(sc->c, Stage);
  *s = (Stage){
      .kind = STAGE_COMPUTE,
      .name = text_of(sc, a, 2, "name", "compute"),
      .loc = sc->loc,
      .n_axes = ndim,
      .axes = new_axes(sc, f->u.object, tirc_script_argument(a, 3, "axis_names"), ndim, extents)};
  set_check(sc, s, tirc_script_argument(a, 4, "check"));
  const int n = set_values(sc, s, call_with_axes(sc, *f, ndim, s->axes));
  sc->loc = s->loc;
  Buffer *buffers = tirc_new_array(sc->c, Buffer, n);
  for (int i = 0; i < n; i++) buffers[i] = result_buffer(sc, s, i, n, ndim, extents);
  return tirc_te_results(sc, s, n, buffers);
}

const Tensor *tirc_te_copy(Script *sc, const Tensor *t) {
  Buffer b = t->buffer;
  Stage *s = tirc_new(sc->c, Stage);
  IterVar *axes = tirc_new_array(sc->c, IterVar, b->ndim);
  Expr *at = tirc_new_array(sc->c, Expr, b->ndim), *value = tirc_new(sc->c, Expr);
  for (int i = 0; i < b->ndim; i++) {
    const DType type = b->shape[i]->dtype;
    at[i] = tirc_var(sc->c, tirc_format(sc->c, "ax%d", i), type);
    axes[i] = (IterVar){at[i], tirc_range(tirc_int(sc->c, type, 0), b->shape[i]), ITER_SPATIAL};
  }
  *value = tirc_load(sc->c, b, b->ndim, at);
  *s = (Stage){.kind = STAGE_COMPUTE,
               .name = "compute",
               .loc = sc->loc,
               .n_axes = b->ndim,
               .axes = axes,
               .values = value};
  Buffer copy = result_buffer(sc, s, 0, 1, b->ndim, b->shape);
  return tirc_te_tensor(tirc_te_results(sc, s, 1, &copy));
}

/* var("n", dtype="int32"): the unknown extent that a shape may have */
static Value run_var(Script *sc, Value self, const Args *a) {
  const Value dtype = tirc_value_str(text_of(sc, a, 1, "dtype", "int32"));
  (void)self;
  return tirc_value_expr(
      tirc_var(sc->c, text_of(sc, a, 0, "name", "tindex"), tirc_te_dtype(sc, dtype)));
}

const NativeRow tirc_script_te_rows[] = {
    {"te", "placeholder", run_placeholder, 0, 3, "shape dtype name"},
    {"te", "compute", run_compute, 0, 5, "shape fcompute name axis_names check"},
    {"te", "var", run_var, 0, 2, "name dtype"},
    {"te", "size_var", run_var, 0, 2, "name dtype"},
    {0},
};
