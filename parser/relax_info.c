/* What is known of values: R.Tensor((n, 784), "float32"), R.Tuple, R.Shape, R.Prim, R.Object; and
 * attributes, which are constants of the text. */
#include "relax.h"

#include "parser/tree.h"

/* --- extents ---------------------------------------------------------------------------------- */

static Expr symbol(GraphFrame *g, const Syn *at, const char *name) {
  Expr var = tirc_var(g->r->c, name, DT_INT64);
  tirc_names_bind(g->r, at, name, tirc_py_expr(var), false);
  return var;
}

/* In the signature, names that nothing has become symbols. */
static void define_symbols(GraphFrame *g, const Syn *s) {
  if (!s) return;
  if (s->kind == SYN_NAME && !tirc_names_find(g->r, s->s)) symbol(g, s, s->s);
  define_symbols(g, s->kind == SYN_CALL ? NULL : s->a);
  define_symbols(g, s->b);
  for (int i = 0; i < s->kids.n; i++) define_symbols(g, s->kids.at[i]);
}

static const Syn *expression_of(GraphFrame *g, const Syn *s) {
  const Source text = {s->loc.file, s->s, strlen(s->s)};
  SynList list = tirc_parse_syntax(g->r->c, &text);
  if (list.n == 1 && list.at[0]->kind == SYN_EXPR_STMT) return list.at[0]->a;
  READ_FAIL(g->r, s, CODE_SYNTAX, "write an expression: \"n * 2\"", "\"%s\" is not an extent",
            s->s);
}

static Expr extent(GraphFrame *g, const Syn *s) {
  Reader *r = g->r;
  const Syn *at = s;
  if (s->kind == SYN_STRING) s = expression_of(g, s);
  if (g->in_signature) define_symbols(g, s);
  Expr e = tirc_read_int(r, s, "an extent");
  if (e->op == OP_INT) e = tirc_int(r->c, DT_INT64, e->u.i);
  if (!tirc_dtype_equal(e->dtype, DT_INT64)) e = tirc_cast(r->c, DT_INT64, e);
  if (tirc_is_integer(e) && (e->op != OP_INT || e->u.i < 0))
    READ_FAIL(r, at, CODE_SHAPE, NULL, "an extent cannot be %s", tirc_digits(r->c, e));
  return e;
}

const Expr *tirc_relax_extents(GraphFrame *g, const Syn *s, int *n) {
  if (s->kind != SYN_TUPLE && s->kind != SYN_LIST) {
    const PyValue v = tirc_read_value(g->r, s);
    if (v.kind == PY_TUPLE)
      READ_FAIL(g->r, s, CODE_UNSUPPORTED, "write the extents out",
                "the shape must be written out here");
    READ_FAIL(g->r, s, CODE_TYPE, "write a tuple: (n, 784)", "a shape must be a tuple of extents");
  }
  if (s->kids.n > READER_MAX_DIMS)
    READ_FAIL(g->r, s, CODE_SHAPE, NULL, "more than %d dimensions", READER_MAX_DIMS);
  Expr *out = tirc_new_array(g->r->c, Expr, s->kids.n + 1);
  for (int i = 0; i < s->kids.n; i++) out[i] = extent(g, s->kids.at[i]);
  *n = s->kids.n;
  return out;
}

/* --- R.Tensor and its like -------------------------------------------------------------------- */

/* The annotation as a call: R.Tensor and R.Tensor(...) alike. */
static const Syn *as_call(GraphFrame *g, const Syn *s) {
  if (s->kind == SYN_CALL) return s;
  Syn *call = tirc_copy(g->r->c, s, 1);
  call->kind = SYN_CALL;
  call->a = (Syn *)(uintptr_t)s;
  call->kids = (SynList){0};
  return call;
}

static int read_rank(GraphFrame *g, const Syn *s) {
  return s ? (int)tirc_read_const_int(g->r, s, "ndim", -1, READER_MAX_DIMS) : -1;
}

static Info read_tensor(GraphFrame *g, const Syn *s) {
  struct StructInfo info = {.kind = INFO_TENSOR, .dtype = DT_VOID, .ndim = -1};
  Call call;
  tirc_bind_call(g->r, s, "R.Tensor", "shape? dtype? vdevice? ndim?", &call);
  const Syn *shape = call.args[0], *type = call.args[1];
  if (shape && shape->kind == SYN_STRING && !type) { /* R.Tensor("float32", ndim=2) */
    type = shape;
    shape = NULL;
  }
  if (shape && shape->kind == SYN_NONE) shape = NULL;
  if (type) info.dtype = tirc_read_dtype(g->r, type);
  if (type &&
      (info.dtype.lanes != 1 || !tirc_dtype_bytes(info.dtype) || info.dtype.code == TYPE_HANDLE))
    READ_FAIL(g->r, type, CODE_TYPE, NULL, "a tensor cannot have elements of type %s",
              tirc_dtype_name(g->r->c, info.dtype));
  info.ndim = read_rank(g, call.args[3]);
  if (shape) {
    int n;
    info.shape = tirc_relax_extents(g, shape, &n);
    if (call.args[3] && info.ndim != n)
      READ_FAIL(g->r, s, CODE_SHAPE, NULL, "ndim is %d, but the shape has %d dimensions", info.ndim,
                n);
    info.ndim = n;
  }
  return tirc_info_copy(g->r->c, &info);
}

static Info read_tuple(GraphFrame *g, const Syn *s) {
  const bool listed =
      s->kids.n == 1 && (s->kids.at[0]->kind == SYN_LIST || s->kids.at[0]->kind == SYN_TUPLE);
  const SynList kids = listed ? s->kids.at[0]->kids : s->kids;
  Info *fields = tirc_new_array(g->r->c, Info, kids.n);
  for (int i = 0; i < kids.n; i++) fields[i] = tirc_relax_info(g, kids.at[i]);
  return tirc_info_tuple(g->r->c, kids.n, fields);
}

static Info read_shape(GraphFrame *g, const Syn *s) {
  struct StructInfo info = {.kind = INFO_SHAPE, .ndim = -1};
  Call call;
  tirc_bind_call(g->r, s, "R.Shape", "values? ndim?", &call);
  info.ndim = read_rank(g, call.args[1]);
  if (call.args[0]) info.shape = tirc_relax_extents(g, call.args[0], &info.ndim);
  return tirc_info_copy(g->r->c, &info);
}

static Info read_prim(GraphFrame *g, const Syn *s) {
  struct StructInfo info = {.kind = INFO_PRIM, .dtype = DT_INT64, .ndim = -1};
  Call call;
  tirc_bind_call(g->r, s, "R.Prim", "dtype? value?", &call);
  if (call.args[0]) info.dtype = tirc_read_dtype(g->r, call.args[0]);
  if (call.args[1]) info.value = extent(g, call.args[1]);
  return tirc_info_copy(g->r->c, &info);
}

static Info read_object(GraphFrame *g, const Syn *s) {
  (void)s;
  return tirc_info_copy(g->r->c, &(struct StructInfo){.kind = INFO_OBJECT, .ndim = -1});
}

Info tirc_relax_info(GraphFrame *g, const Syn *s) {
  static const struct {
    const char *name;
    Info (*read)(GraphFrame *g, const Syn *s);
  } kinds[] = {{"R.Tensor", read_tensor},
               {"R.Tuple", read_tuple},
               {"R.Shape", read_shape},
               {"R.Prim", read_prim},
               {"R.Object", read_object}};
  const bool applied = s->kind == SYN_CALL;
  const char *path = tirc_names_path(g->r, applied ? s->a : s);
  for (size_t i = 0; path && i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(path, kinds[i].name) == 0) return kinds[i].read(g, as_call(g, s));
  READ_FAIL(g->r, s, CODE_TYPE, "write R.Tensor((n, 784), \"float32\")",
            "expected R.Tensor, R.Tuple, R.Shape, R.Prim or R.Object");
}

/* --- attributes ------------------------------------------------------------------------------- */

static Expr literal_of(GraphFrame *g, const Syn *at, PyValue v) {
  Tirc *c = g->r->c;
  if (v.kind == PY_INT && v.u.i >= INT64_MIN && v.u.i <= INT64_MAX)
    return tirc_int(c, DT_INT64, (int64_t)v.u.i);
  if (v.kind == PY_FLOAT) return tirc_float(c, DT_FLOAT64, v.u.f);
  if (v.kind != PY_TUPLE && v.kind != PY_DICT) return tirc_py_to_attr(g->r, at, v);
  Expr *items = tirc_new_array(c, Expr, v.u.list.n);
  for (int i = 0; i < v.u.list.n; i++) items[i] = literal_of(g, at, v.u.list.at[i]);
  return tirc_expr(c, v.kind == PY_DICT ? OP_DICT : OP_TUPLE, DT_HANDLE, v.u.list.n, items);
}

Expr tirc_relax_literal(GraphFrame *g, const Syn *s) {
  return literal_of(g, s, tirc_read_value(g->r, s));
}

Attrs tirc_relax_attrs(GraphFrame *g, const Syn *s) {
  Attrs attrs = tirc_read_attrs(g->r, s);
  Attr *own = tirc_copy(g->r->c, attrs.at, attrs.n);
  const PyValue v = tirc_read_value(g->r, s);
  for (int i = 0; i < attrs.n; i++)
    for (int k = 0; k + 1 < v.u.list.n; k += 2)
      if (strcmp(v.u.list.at[k].u.s, own[i].key) == 0)
        own[i].value = literal_of(g, s, v.u.list.at[k + 1]);
  return (Attrs){own, attrs.n};
}
