/* What can be done with a buffer in an expression: indexing, slicing, its attributes and methods.
 */
#include "reader.h"

/* --- subscripts ------------------------------------------------------------------------------- */

/* B[()] has no indices. */
static SynList indices_of(const Syn *s) {
  bool empty = s->kids.n == 1 && s->kids.at[0]->kind == SYN_TUPLE;
  return empty ? s->kids.at[0]->kids : s->kids;
}

static void check_rank(Reader *r, const Syn *at, Buffer b, int n) {
  if (n == b->ndim) return;
  READ_FAIL(r, at, CODE_SHAPE,
            !b->ndim      ? "write B[()] for a buffer without dimensions"
            : n < b->ndim ? "write all indices in one pair of brackets: B[i, j]"
                          : NULL,
            "buffer %s has %d dimension%s, but here it has %d ind%s", b->name, b->ndim,
            b->ndim == 1 ? "" : "s", n, n == 1 ? "ex" : "ices");
}

static Expr read_index(Reader *r, const Syn *s, Buffer b, int i) {
  return tirc_read_int(r, s, tirc_format(r->c, "index %d of %s", i, b->name));
}

Expr tirc_reader_difference(Reader *r, Expr start, Expr stop) {
  if (tirc_is_int(start, 0)) return stop;
  if (stop->op == OP_ADD && tirc_expr_same(stop->args[0], start)) return stop->args[1];
  Expr e = tirc_sub(r->c, stop, start);
  return e->op == OP_INT ? e : tirc_simplify0(r->c, e);
}

static bool has_step(const Syn *s) {
  return s->c && !(s->c->kind == SYN_INT && s->c->i == 1) && s->c->kind != SYN_NONE;
}

static void read_bounds(Reader *r, const Syn *s, Buffer b, int i, Expr *start, Expr *stop) {
  *start = s->a ? read_index(r, s->a, b, i) : tirc_int(r->c, b->shape[i]->dtype, 0);
  *stop = s->b ? read_index(r, s->b, b, i) : b->shape[i];
  tirc_match_types(r, s, start, stop);
}

static Range read_range(Reader *r, const Syn *s, Buffer b, int i) {
  if (s->kind != SYN_SLICE) {
    Expr e = read_index(r, s, b, i);
    if (e->op == OP_RAMP)
      return tirc_range(e->args[0], tirc_mul(r->c, e->args[1],
                                             tirc_int(r->c, e->args[1]->dtype, e->dtype.lanes)));
    return tirc_range(e, tirc_int(r->c, e->dtype, 1));
  }
  Expr start, stop;
  if (has_step(s)) READ_FAIL(r, s, CODE_UNSUPPORTED, NULL, "a region cannot have a step");
  read_bounds(r, s, b, i, &start, &stop);
  return tirc_range(start, tirc_reader_difference(r, start, stop));
}

static Region region_of(Reader *r, const Syn *s, Buffer b) {
  SynList indices = indices_of(s);
  check_rank(r, s, b, indices.n);
  Range *dims = tirc_new_array(r->c, Range, b->ndim);
  for (int i = 0; i < b->ndim; i++) dims[i] = read_range(r, indices.at[i], b, i);
  return (Region){b, dims};
}

Region tirc_read_region(Reader *r, const Syn *s) {
  if (s->kind == SYN_SUBSCRIPT) return region_of(r, s, tirc_expect_buffer(r, s->a));
  Buffer b = tirc_expect_buffer(r, s);
  Range *dims = tirc_new_array(r->c, Range, b->ndim);
  for (int i = 0; i < b->ndim; i++)
    dims[i] = tirc_range(tirc_int(r->c, b->shape[i]->dtype, 0), b->shape[i]);
  return (Region){b, dims};
}

/* B[a:b:c] as an index: a vector of constant length. */
static Expr read_vector_index(Reader *r, const Syn *s, Buffer b, int i) {
  Expr start, stop, step;
  read_bounds(r, s, b, i, &start, &stop);
  Expr extent = tirc_reader_difference(r, start, stop);
  step = s->c && s->c->kind != SYN_NONE ? tirc_read_int(r, s->c, "a step") : tirc_int32(r->c, 1);
  tirc_match_types(r, s, &start, &step);
  int64_t n, by, lanes;
  if (!tirc_const_int(extent, &n) || !tirc_const_int(step, &by) || by == 0)
    READ_FAIL(r, s, CODE_TYPE, "a slice as an index is a vector, which needs a constant length",
              "the length of this slice is not a constant");
  if (by == INT64_MIN || n == INT64_MIN)
    READ_FAIL(r, s, CODE_TYPE, NULL, "this slice is too long for a vector");
  lanes = by > 0 ? n / by + (n % by != 0) : -n / -by + (-n % -by != 0);
  if (lanes < 1 || lanes > UINT16_MAX)
    READ_FAIL(r, s, CODE_TYPE, "a vector has from 1 to 65535 elements", "a slice of %lld elements",
              (long long)lanes);
  return lanes == 1 ? start : tirc_ramp(r->c, start, step, (int)lanes);
}

int tirc_read_indices(Reader *r, const Syn *s, Buffer b, Expr out[READER_MAX_DIMS]) {
  SynList indices = indices_of(s);
  check_rank(r, s, b, indices.n);
  for (int i = 0; i < indices.n; i++) {
    const Syn *at = indices.at[i];
    out[i] = at->kind == SYN_SLICE ? read_vector_index(r, at, b, i) : read_index(r, at, b, i);
    if (out[i]->dtype.lanes > 1 && b->dtype.lanes > 1)
      READ_FAIL(r, at, CODE_TYPE, NULL, "a buffer of vectors cannot have a vector as an index");
    if (i && out[i - 1]->dtype.lanes > 1)
      READ_FAIL(r, indices.at[i - 1], CODE_UNSUPPORTED, NULL,
                "only the last index can be a vector");
  }
  return indices.n;
}

static PyValue item_of(Reader *r, const Syn *s, PyValue list) {
  if (s->kids.n != 1) READ_FAIL(r, s, CODE_TYPE, NULL, "a list takes one index");
  int64_t n = list.u.list.n,
          i = tirc_read_const_int(r, s->kids.at[0], "the index of a list", -n, n - 1);
  return list.u.list.at[i < 0 ? i + n : i];
}

PyValue tirc_read_subscript(Reader *r, const Syn *s) {
  PyValue v = tirc_read_value(r, s->a);
  if (v.kind == PY_TUPLE) return item_of(r, s, v);
  if (v.kind != PY_BUFFER)
    READ_FAIL(r, s, CODE_TYPE, NULL, "%s cannot be indexed", tirc_py_describe(r, v));
  SynList indices = indices_of(s);
  bool region = false, steps = false;
  for (int i = 0; i < indices.n; i++) {
    region |= indices.at[i]->kind == SYN_SLICE;
    steps |= indices.at[i]->kind == SYN_SLICE && has_step(indices.at[i]);
  }
  if (region && !steps)
    return (PyValue){.kind = PY_REGION, .u.region = region_of(r, s, v.u.buffer)};
  Expr at[READER_MAX_DIMS];
  int n = tirc_read_indices(r, s, v.u.buffer, at);
  return tirc_py_expr(tirc_load(r->c, v.u.buffer, n, at));
}

/* --- attributes and methods ------------------------------------------------------------------- */

static PyValue py_exprs(Reader *r, int n, const Expr *at) {
  PyValue v = {.kind = PY_TUPLE};
  v.u.list.n = at ? n : 0;
  v.u.list.at = tirc_new_array(r->c, PyValue, n);
  for (int i = 0; at && i < n; i++) v.u.list.at[i] = tirc_py_expr(at[i]);
  return v;
}

PyValue tirc_buffer_attribute(Reader *r, const Syn *s, Buffer b) {
  if (strcmp(s->s, "data") == 0) return tirc_py_expr(b->data);
  if (strcmp(s->s, "shape") == 0) return py_exprs(r, b->ndim, b->shape);
  if (strcmp(s->s, "strides") == 0) return py_exprs(r, b->ndim, b->strides);
  if (strcmp(s->s, "elem_offset") == 0)
    return tirc_py_expr(b->elem_offset ? b->elem_offset : tirc_int32(r->c, 0));
  if (strcmp(s->s, "dtype") == 0)
    return (PyValue){.kind = PY_STR, .u.s = tirc_dtype_name(r->c, b->dtype)};
  static const char *const names[] = {"data",  "shape", "strides", "elem_offset",
                                      "dtype", "vload", "vstore",  "access_ptr"};
  READ_FAIL(r, s, CODE_NAME, tirc_nearest(r->c, s->s, 8, names), "a buffer has no attribute '%s'",
            s->s);
}

/* The indices of vload and vstore: the last one begins a vector of `lanes`, or is one. */
static int vector_indices(Reader *r, const Syn *s, Buffer b, int lanes, Expr out[READER_MAX_DIMS]) {
  SynList list =
      s->kind == SYN_LIST || s->kind == SYN_TUPLE ? s->kids : (SynList){1, (Syn *[]){(Syn *)s}};
  check_rank(r, s, b, list.n);
  for (int i = 0; i < list.n; i++) out[i] = read_index(r, list.at[i], b, i);
  if (list.n && lanes > 1 && out[list.n - 1]->dtype.lanes == 1) {
    Expr *last = &out[list.n - 1];
    *last = tirc_ramp(r->c, *last, tirc_int(r->c, (*last)->dtype, 1), lanes);
  }
  return list.n;
}

static PyValue vload(Reader *r, const Syn *node, Buffer b) {
  Call call;
  tirc_bind_call(r, node, "vload", "begin dtype? predicate?", &call);
  DType t = call.args[1] ? tirc_read_dtype(r, call.args[1]) : b->dtype;
  Expr at[READER_MAX_DIMS];
  int n = vector_indices(r, call.args[0], b, t.lanes / b->dtype.lanes, at);
  const Expr value = tirc_load(r->c, b, n, at);
  if (!call.args[2] || call.args[2]->kind == SYN_NONE) return tirc_py_expr(value);
  const DType one = tirc_dtype_lanes(value->dtype, 1);
  const Expr zero = tirc_dtype_is_float(one) ? tirc_float(r->c, one, 0) : tirc_int(r->c, one, 0);
  Expr args[] = {tirc_read_condition(r, call.args[2]), value,
                 tirc_broadcast(r->c, zero, value->dtype.lanes)};
  return tirc_py_expr(tirc_expr(r->c, OP_IF_THEN_ELSE, value->dtype, 3, args));
}

static PyValue vstore(Reader *r, const Syn *node, Buffer b) {
  Call call;
  tirc_bind_call(r, node, "vstore", "begin value predicate?", &call);
  PyValue value = tirc_read_value(r, call.args[1]);
  Expr e = tirc_py_to_expr(r, call.args[1], value), at[READER_MAX_DIMS];
  int n = vector_indices(r, call.args[0], b, e->dtype.lanes, at);
  Stmt store = tirc_make_store(r, node, b, n, at, call.args[1], value);
  if (call.args[2] && call.args[2]->kind != SYN_NONE)
    store = tirc_if(r->c, tirc_read_condition(r, call.args[2]), store, NULL);
  tirc_emit(r, node, store);
  return PY_VALUE_NONE;
}

/* B.access_ptr("r", offset=0, extent=...) is tvm_access_ptr(type, data, offset, extent, mask). */
static PyValue access_ptr(Reader *r, const Syn *node, Buffer b) {
  Call call;
  tirc_bind_call(r, node, "access_ptr", "access_mask ptr_type? content_lanes? offset? extent?",
                 &call);
  Tirc *c = r->c;
  int64_t mask = 0;
  if (call.args[0]->kind == SYN_STRING) {
    for (const char *s = call.args[0]->s; *s; s++) mask |= *s == 'r' ? 1 : *s == 'w' ? 2 : 0;
  } else {
    mask = tirc_read_const_int(r, call.args[0], "an access mask", 1, 3);
  }
  if (!mask)
    READ_FAIL(r, call.args[0], CODE_TYPE, NULL, "an access mask is \"r\", \"w\" or \"rw\"");
  Expr size = tirc_int32(c, 1);
  for (int i = 0; i < b->ndim; i++) size = tirc_mul(c, size, b->shape[i]);
  if (b->strides && b->ndim) size = tirc_mul(c, b->strides[0], b->shape[0]);
  Expr offset = call.args[3] ? tirc_read_int(r, call.args[3], "an offset") : tirc_int32(c, 0);
  Expr extent = call.args[4] && call.args[4]->kind != SYN_NONE
                    ? tirc_read_int(r, call.args[4], "an extent")
                    : tirc_sub(c, size, offset);
  if (b->elem_offset) offset = tirc_add(c, b->elem_offset, offset);
  Expr name = tirc_string(c, tirc_dtype_name(c, b->dtype));
  Expr type = tirc_call(c, b->dtype, CALL_TYPE_ANNOTATION, 1, &name);
  Expr args[] = {type, b->data, offset, extent, tirc_int32(c, mask)};
  return tirc_py_expr(tirc_call(c, DT_HANDLE, CALL_TVM_ACCESS_PTR, 5, args));
}

PyValue tirc_buffer_method(Reader *r, const Syn *call, Buffer b, const char *name) {
  static const struct {
    const char *name;
    PyValue (*read)(Reader *r, const Syn *call, Buffer b);
  } methods[] = {{"vload", vload}, {"vstore", vstore}, {"access_ptr", access_ptr}};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    if (strcmp(name, methods[i].name) == 0) return methods[i].read(r, call, b);
  if (strcmp(name, "scope") == 0 && call->kids.n == 0)
    return (PyValue){.kind = PY_STR, .u.s = b->scope};
  READ_FAIL(r, call, CODE_NAME, "it has vload, vstore, access_ptr and scope",
            "a buffer has no method '%s'", name);
}
