/* R.const([[1.0, 2.0]], "float32"): an array that stands in the text. */
#include "relax.h"

typedef struct Elements {
  GraphFrame *g;
  const Syn *at;
  Info info;
  char *next;
} Elements;

static DType usual_type(const PyValue *v) {
  while (v->kind == PY_TUPLE && v->u.list.n) v = v->u.list.at;
  if (v->kind == PY_INT) return DT_INT32;
  if (v->kind == PY_BOOL) return DT_BOOL;
  return DT_FLOAT32;
}

/* The extents of nested lists, the first elements deciding. */
static int shape_of(GraphFrame *g, const Syn *at, const PyValue *v, Expr out[READER_MAX_DIMS]) {
  int n = 0;
  for (; v->kind == PY_TUPLE; v = v->u.list.at) {
    if (n == READER_MAX_DIMS)
      READ_FAIL(g->r, at, CODE_SHAPE, NULL, "more than %d dimensions", READER_MAX_DIMS);
    out[n++] = tirc_int(g->r->c, DT_INT64, v->u.list.n);
    if (!v->u.list.n) break;
  }
  return n;
}

static void put_float(Elements *e, double v) {
  const DType t = e->info->dtype;
  const float single = (float)v;
  const uint16_t half = t.bits == 16 ? tirc_double_to_16_bits(t, v) : 0;
  const int bytes = tirc_dtype_bytes(t);
  memcpy(e->next,
         bytes == 2   ? (const void *)&half
         : bytes == 4 ? (const void *)&single
                      : &v,
         (size_t)bytes);
}

static void put_int(Elements *e, PyInt v) {
  const DType t = e->info->dtype;
  const bool large = t.code == TYPE_UINT && t.bits == 64 && v > INT64_MAX && v <= UINT64_MAX;
  if (!large && (v < tirc_dtype_min(t) || v > tirc_dtype_max(t)))
    READ_FAIL(e->g->r, e->at, CODE_TYPE, NULL, "%s does not fit into %s",
              tirc_py_digits(e->g->r, v), tirc_dtype_name(e->g->r->c, t));
  const uint64_t bits = (uint64_t)v;
  memcpy(e->next, &bits, (size_t)tirc_dtype_bytes(t));
}

static void put_element(Elements *e, PyValue v) {
  Reader *r = e->g->r;
  const DType t = e->info->dtype;
  if (!tirc_py_is_number(v))
    READ_FAIL(r, e->at, CODE_TYPE, NULL, "an element of a constant is %s, not a number",
              tirc_py_describe(r, v));
  if (tirc_dtype_is_float(t))
    put_float(e, v.kind == PY_FLOAT ? v.u.f : v.kind == PY_BOOL ? v.u.b : (double)v.u.i);
  else if (v.kind == PY_FLOAT)
    READ_FAIL(r, e->at, CODE_TYPE, NULL, "%g is not a value of type %s", v.u.f,
              tirc_dtype_name(r->c, t));
  else
    put_int(e, v.kind == PY_BOOL ? v.u.b : v.u.i);
  e->next += tirc_dtype_bytes(t);
}

static void put_elements(Elements *e, int d, const PyValue *v) {
  int64_t extent;
  if (d == e->info->ndim) {
    put_element(e, *v);
    return;
  }
  tirc_const_int(e->info->shape[d], &extent);
  if (v->kind != PY_TUPLE || v->u.list.n != extent)
    READ_FAIL(e->g->r, e->at, CODE_SHAPE, NULL, "the lists of a constant have different lengths");
  for (int i = 0; i < v->u.list.n; i++) put_elements(e, d + 1, &v->u.list.at[i]);
}

Node tirc_relax_const(GraphFrame *g, const Syn *s) {
  Call call;
  Expr shape[READER_MAX_DIMS];
  tirc_bind_call(g->r, s, "R.const", "value dtype?", &call);
  const PyValue v = tirc_read_value(g->r, call.args[0]);
  const DType t = call.args[1] ? tirc_read_dtype(g->r, call.args[1]) : usual_type(&v);
  if (t.lanes != 1 || !tirc_dtype_bytes(t) || t.code == TYPE_HANDLE)
    READ_FAIL(g->r, s, CODE_TYPE, NULL, "a constant cannot have elements of type %s",
              tirc_dtype_name(g->r->c, t));
  const Info info = tirc_info_tensor(g->r->c, t, shape_of(g, s, &v, shape), shape);
  const int64_t bytes = tirc_info_bytes(info);
  char *data = tirc_alloc(g->r->c, (size_t)bytes + 1);
  Elements e = {g, s, info, data};
  put_elements(&e, 0, &v);
  return tirc_node_const(g->r->c, info, data, s->loc);
}
