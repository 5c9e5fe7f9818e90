/* Buffers: their declarations, and what can be done with one in an expression. */
#include "reader.h"

const char *tirc_target_name(const Reader *r, int i, int n) {
  const Syn *t = r->target;
  if (!t) return NULL;
  if (n == 1 && t->kind == SYN_NAME) return t->s;
  if (t->kind != SYN_TUPLE && t->kind != SYN_LIST) return NULL;
  return t->kids.n == n && t->kids.at[i]->kind == SYN_NAME ? t->kids.at[i]->s : NULL;
}

Buffer tirc_expect_buffer(Reader *r, const Syn *s) {
  PyValue v = tirc_read_value(r, s);
  if (v.kind != PY_BUFFER)
    READ_FAIL(r, s, CODE_TYPE, NULL, "expected a buffer, not %s", tirc_py_describe(r, v));
  return v.u.buffer;
}

/* --- declarations ----------------------------------------------------------------------------- */

/* A tuple or list, or a single item. */
static int items_of(const Syn *s, const Syn *single[1], const Syn *const **out) {
  if (s->kind == SYN_TUPLE || s->kind == SYN_LIST) {
    *out = (const Syn *const *)s->kids.at;
    return s->kids.n;
  }
  single[0] = s;
  *out = single;
  return 1;
}

static void check_shape(Reader *r, const Syn *at, const char *name, const struct BufferNode *b) {
  int64_t bytes = tirc_dtype_bytes(b->dtype) * (int64_t)b->dtype.lanes, extent;
  for (int i = 0; i < b->ndim; i++) {
    if (!tirc_const_int(b->shape[i], &extent)) continue;
    if (extent < 0)
      READ_FAIL(r, at, CODE_SHAPE, NULL, "dimension %d of buffer %s is negative: %lld", i, name,
                (long long)extent);
    if (extent && __builtin_mul_overflow(bytes, extent, &bytes))
      READ_FAIL(r, at, CODE_SHAPE, NULL,
                "buffer %s is too large: its size does not fit into 64 bits", name);
  }
}

static bool note_let(Visitor *v, Expr e) {
  if (e->op == OP_LET) *(bool *)v->self = true;
  return true;
}

/* Shapes are solved for when arguments are bound, so no variables may be hidden in them. */
static void check_extent(Reader *r, const Syn *at, Expr e, const char *what) {
  bool has_let = false;
  tirc_visit_expr(&(Visitor){.expr = note_let, .self = &has_let}, e);
  if (has_let) READ_FAIL(r, at, CODE_TYPE, NULL, "%s cannot contain T.Let", what);
  if (!tirc_dtype_is_int(e->dtype) || e->dtype.lanes != 1)
    READ_FAIL(r, at, CODE_TYPE, NULL, "%s must be an integer", what);
}

/* A list of integer expressions. Values that were computed from constants may be lists as well. In
 * strides a string is a new variable, of this type. */
static int read_shape(Reader *r, const Syn *s, const char *what, DType of_name,
                      Expr out[READER_MAX_DIMS]) {
  const Syn *single[1], *const *items;
  PyValue known =
      s->kind == SYN_NAME || s->kind == SYN_ATTRIBUTE ? tirc_read_value(r, s) : PY_VALUE_NONE;
  bool is_list = known.kind == PY_TUPLE;
  int n = is_list ? known.u.list.n : items_of(s, single, &items);
  if (n > READER_MAX_DIMS)
    READ_FAIL(r, s, CODE_SHAPE, NULL, "more than %d dimensions", READER_MAX_DIMS);
  for (int i = 0; i < n; i++) {
    const Syn *at = is_list ? s : items[i];
    if (is_list)
      out[i] = tirc_py_to_expr(r, s, known.u.list.at[i]);
    else if (at->kind == SYN_STRING && strcmp(what, "a stride") == 0)
      out[i] = tirc_var(r->c, at->s, of_name);
    else
      out[i] = tirc_read_int(r, at, what);
    check_extent(r, at, out[i], what);
  }
  return n;
}

/* The arguments that all declarations share, in this order in `call->args` from `first` on. */
#define LAYOUT                                                                                     \
  "data? strides? elem_offset? scope? align? offset_factor? buffer_type? axis_separators?"

static Expr read_data(Reader *r, const Syn *s, const char *name) {
  if (!s || s->kind == SYN_NONE) return tirc_var(r->c, name, DT_HANDLE);
  Expr e = tirc_read_expr(r, s);
  if (e->op != OP_VAR || e->dtype.code != TYPE_HANDLE)
    READ_FAIL(r, s, CODE_TYPE, "give B.data of another buffer, or a variable of T.allocate",
              "data= must be a data pointer");
  return e;
}

static void read_layout(Reader *r, const Syn *const *args, const char *name, struct BufferNode *b) {
  Expr strides[READER_MAX_DIMS];
  b->data = read_data(r, args[0], name);
  if (args[1] && args[1]->kind != SYN_NONE) {
    const DType index = b->ndim ? b->shape[0]->dtype : DT_INT32;
    int n = read_shape(r, args[1], "a stride", index, strides);
    b->one_stride = n == 1 && n != b->ndim && tirc_is_int(strides[0], 1);
    if (b->one_stride) n = 0;
    if (n && n != b->ndim)
      READ_FAIL(r, args[1], CODE_SHAPE, NULL, "buffer %s has %d dimensions but %d strides", name,
                b->ndim, n);
    if (n) b->strides = memcpy(tirc_new_array(r->c, Expr, n), strides, (size_t)n * sizeof *strides);
  }
  if (args[2] && args[2]->kind != SYN_NONE) {
    b->elem_offset = tirc_read_int(r, args[2], "elem_offset");
    check_extent(r, args[2], b->elem_offset, "elem_offset");
  }
  if (tirc_is_int(b->elem_offset, 0)) b->elem_offset = NULL;
  const Buffer first = tirc_map_get(&r->data, b->data); /* whose memory it is */
  b->scope = args[3] ? tirc_read_string(r, args[3], "a storage scope")
             : first ? first->scope
                     : "global";
  if (!*b->scope) b->scope = "global";
  int64_t align = args[4] ? tirc_read_const_int(r, args[4], "align", -1, 1 << 20) : -1;
  b->align = align > 0 ? (int)align : 64;
  b->offset_factor =
      args[5] ? (int)tirc_read_const_int(r, args[5], "offset_factor", 0, 1 << 20) : 0;
  if (b->offset_factor && !(args[2] && args[2]->kind != SYN_NONE))
    b->elem_offset = tirc_var(r->c, tirc_format(r->c, "%s_elem_offset", name),
                              b->ndim ? b->shape[0]->dtype : DT_INT32);
  if (args[7] && args[7]->kind != SYN_NONE) {
    const Syn *single[1], *const *items;
    int n = items_of(args[7], single, &items), last = 0;
    int *at = tirc_new_array(r->c, int, n);
    for (int i = 0; i < n; i++)
      last = at[i] = (int)tirc_read_const_int(r, items[i], "an axis separator", last, b->ndim);
    b->axis_separators = at;
    b->n_axis_separators = n;
  }
}

static Buffer register_buffer(Reader *r, Buffer b) {
  if (!tirc_map_has(&r->data, b->data)) tirc_map_set(r->c, &r->data, b->data, b);
  return b;
}

/* args: shape, dtype, then LAYOUT. */
static Buffer read_declaration(Reader *r, const Syn *at, const char *name, const Syn *const *args,
                               DType default_type) {
  Expr shape[READER_MAX_DIMS];
  struct BufferNode b = {.name = name, .shape = shape};
  b.ndim = read_shape(r, args[0], "an extent of a shape", DT_INT32, shape);
  if (args[1] && args[1]->kind == SYN_INT)
    READ_FAIL(r, args[1], CODE_TYPE, "write the extents in brackets: ((m, n), \"float32\")",
              "the shape of %s must be one argument, a tuple", name);
  b.dtype = args[1] ? tirc_read_dtype(r, args[1]) : default_type;
  if (b.dtype.code == TYPE_VOID)
    READ_FAIL(r, args[1] ? args[1] : at, CODE_TYPE, NULL,
              "a buffer cannot have elements of type void");
  check_shape(r, at, name, &b);
  read_layout(r, args + 2, name, &b);
  return register_buffer(r, tirc_buffer_copy(r->c, &b));
}

typedef VEC(Expr) ExprVec;

static PyValue py_buffer(Buffer b) { return (PyValue){.kind = PY_BUFFER, .u.buffer = b}; }

static const char *buffer_name(const Reader *r) {
  const char *name = tirc_target_name(r, 0, 1);
  return name ? name : "buffer";
}

/* T.Buffer[(M, K), "float32"] means T.Buffer((M, K), "float32"). */
static const Syn *as_call(Reader *r, const Syn *s) {
  if (s->kind != SYN_SUBSCRIPT) return s;
  Syn *call = tirc_new(r->c, Syn);
  *call = *s;
  call->kind = SYN_CALL;
  return call;
}

Buffer tirc_read_buffer_type(Reader *r, const Syn *annotation, const char *name) {
  Call call;
  tirc_bind_call(r, as_call(r, annotation), "T.Buffer", "shape dtype? " LAYOUT, &call);
  return read_declaration(r, annotation, name, call.args, DT_FLOAT32);
}

/* The name of a buffer, which the rest of the scope knows. */
static Scoping *scoping_of(Reader *r, const Call *call, StmtKind kind, const Syn *const *args) {
  Scoping *s = tirc_new(r->c, Scoping);
  s->kind = kind;
  s->loc = call->node->loc;
  s->buffer = read_declaration(r, call->node, buffer_name(r), args, DT_FLOAT32);
  s->yields = py_buffer(s->buffer);
  return s;
}

/* In a body, T.Buffer(..., data=p) is another view on p. */
static PyValue read_buffer_view(Reader *r, const Call *call) {
  if (!call->args[2])
    READ_FAIL(r, call->node, CODE_SYNTAX,
              "T.alloc_buffer makes a new buffer, T.match_buffer binds a parameter",
              "T.Buffer without data= describes a parameter's type");
  Scoping *s = scoping_of(r, call, STMT_DECL, call->args);
  return (PyValue){.kind = PY_SCOPE, .u.scope = s};
}

/* T.allocate([n], "float32", "global"): the name stands for the memory, and can be indexed. */
static PyValue read_allocate(Reader *r, const Call *call) {
  const Syn *args[10] = {call->args[0], call->args[1]};
  args[5] = call->args[2];
  if (call->args[3] && !tirc_is_true(tirc_read_condition(r, call->args[3])))
    READ_FAIL(r, call->args[3], CODE_UNSUPPORTED, NULL,
              "conditional allocations are not supported");
  Scoping *s = scoping_of(r, call, STMT_ALLOC, args);
  if (call->args[4]) s->annotations = tirc_read_attrs(r, call->args[4]);
  return (PyValue){.kind = PY_SCOPE, .u.scope = s};
}

static void add_constants(Reader *r, const Syn *at, PyValue v, DType t, ExprVec *to) {
  if (v.kind == PY_TUPLE) {
    for (int i = 0; i < v.u.list.n; i++) add_constants(r, at, v.u.list.at[i], t, to);
    return;
  }
  const bool real = tirc_dtype_is_float(t) && t.lanes == 1;
  const Expr e = real && v.kind == PY_FLOAT ? tirc_float(r->c, t, v.u.f)
                 : real && v.kind == PY_INT ? tirc_float(r->c, t, (double)v.u.i)
                                            : tirc_py_to_expr_like(r, at, v, t);
  if (!tirc_is_constant(e) || !tirc_dtype_equal(e->dtype, t))
    READ_FAIL(r, at, CODE_TYPE, NULL, "the data must be constants of type %s",
              tirc_dtype_name(r->c, t));
  vec_push(r->c, *to, e);
}

/* T.allocate_const([1, 2, 3], "int32", [3]): the name stands for the memory, as T.allocate's does.
 */
static PyValue read_allocate_const(Reader *r, const Call *call) {
  const Syn *args[10] = {call->args[2], call->args[1]};
  Scoping *s = scoping_of(r, call, STMT_ALLOC, args);
  ExprVec data = {0};
  add_constants(r, call->args[0], tirc_read_value(r, call->args[0]), s->buffer->dtype, &data);
  int64_t count = 1, extent;
  for (int i = 0; i < s->buffer->ndim; i++)
    if (!tirc_const_int(s->buffer->shape[i], &extent) ||
        __builtin_mul_overflow(count, extent, &count))
      READ_FAIL(r, call->args[2], CODE_SHAPE, NULL, "the extents of a constant must be constant");
  if (data.n != count)
    READ_FAIL(r, call->args[0], CODE_SHAPE, NULL, "%s has %lld elements, but the list has %d",
              s->buffer->name, (long long)count, data.n);
  if (call->args[3]) s->annotations = tirc_read_attrs(r, call->args[3]);
  s->annotations = tirc_attrs_set(r->c, s->annotations, ALLOC_DATA,
                                  tirc_expr(r->c, OP_TUPLE, DT_VOID, data.n, data.at));
  return (PyValue){.kind = PY_SCOPE, .u.scope = s};
}

static PyValue declare_alloc(Reader *r, const Call *call, StmtKind kind) {
  Scoping *s = scoping_of(r, call, kind, call->args);
  if (call->args[10]) s->annotations = tirc_read_attrs(r, call->args[10]);
  return (PyValue){.kind = PY_SCOPE, .u.scope = s};
}

/* T.decl_buffer: a view with data=, an allocation without. */
static PyValue read_decl_buffer(Reader *r, const Call *call) {
  const bool view = call->args[2] && call->args[2]->kind != SYN_NONE;
  return declare_alloc(r, call, view ? STMT_DECL : STMT_ALLOC);
}

/* A buffer of the block around it. */
static PyValue read_block_alloc(Reader *r, const Call *call) {
  Buffer b = read_declaration(r, call->node, buffer_name(r), call->args, DT_FLOAT32);
  if (r->block)
    vec_push(r->c, r->block->allocs, b);
  else if (r->body == r->func->body)
    vec_push(r->c, r->func->root_allocs, b);
  else
    READ_FAIL(r, call->node, CODE_SYNTAX,
              r->func->ends_early ? "move it to the function's top level, above the first return"
                                  : "move it to the function's top level",
              "%s must be directly in a block or at the top level of the function%s", call->name,
              r->func->ends_early ? ", and not behind a return" : "");
  return py_buffer(b);
}

/* T.alloc_buffer: of the block in 0.20's dialect, from its line on in today's. */
static PyValue read_alloc_buffer(Reader *r, const Call *call) {
  if (r->func->dialect == DIALECT_TIRX) return declare_alloc(r, call, STMT_ALLOC);
  if (call->args[10])
    READ_FAIL(r, call->args[10], CODE_ARGUMENT, "T.decl_buffer takes annotations",
              "%s has no parameter 'annotations'", call->name);
  return read_block_alloc(r, call);
}

/* --- match_buffer ----------------------------------------------------------------------------- */

static PyValue match_parameter(Reader *r, const Call *call, Expr param) {
  if (!call->args[1])
    READ_FAIL(r, call->node, CODE_ARGUMENT, NULL, "T.match_buffer needs the buffer's shape");
  FuncFrame *f = r->func;
  Buffer b = read_declaration(r, call->node, buffer_name(r), call->args + 1, DT_FLOAT32);
  for (int i = 0; i < f->params.n; i++) {
    if (f->params.at[i] != param) continue;
    if (param->dtype.code != TYPE_HANDLE)
      READ_FAIL(r, call->args[0], CODE_TYPE, "annotate it with T.handle",
                "the parameter %s is a scalar, not a buffer", param->u.s);
    if (f->buffers.at[i])
      READ_FAIL(r, call->node, CODE_NAME, NULL, "the parameter %s is matched to two buffers",
                param->u.s);
    f->buffers.at[i] = b;
    return py_buffer(b);
  }
  READ_FAIL(r, call->args[0], CODE_TYPE, NULL, "%s is not a parameter of the function", param->u.s);
}

static PyValue match_region(Reader *r, const Call *call, Region source) {
  if (!r->block || r->body != r->block->body)
    READ_FAIL(r, call->node, CODE_SYNTAX, NULL,
              "a region can be matched only directly in a block, outside of loops");
  DType t = source.buffer->dtype;
  Buffer b;
  if (call->args[1]) {
    const Syn *args[10];
    memcpy(args, call->args + 1, sizeof args);
    b = read_declaration(r, call->node, buffer_name(r), args, t);
  } else {
    Expr shape[READER_MAX_DIMS];
    for (int i = 0; i < source.buffer->ndim; i++) shape[i] = source.dims[i].extent;
    const char *name = buffer_name(r);
    struct BufferNode node = {
        .name = name, .dtype = t, .ndim = source.buffer->ndim, .shape = shape};
    read_layout(r, call->args + 3, name, &node);
    b = register_buffer(r, tirc_buffer_copy(r->c, &node));
  }
  vec_push(r->c, r->block->matches, ((MatchBuffer){b, source}));
  return py_buffer(b);
}

static PyValue read_match_buffer(Reader *r, const Call *call) {
  const Syn *what = call->args[0];
  if (what->kind == SYN_SUBSCRIPT) return match_region(r, call, tirc_read_region(r, what));
  PyValue v = tirc_read_value(r, what);
  if (v.kind == PY_EXPR && v.u.e->op == OP_VAR) return match_parameter(r, call, v.u.e);
  if (v.kind == PY_BUFFER) return match_region(r, call, tirc_read_region(r, what));
  READ_FAIL(r, what, CODE_TYPE, NULL, "T.match_buffer takes a parameter or a region, not %s",
            tirc_py_describe(r, v));
}

const Function tirc_buffer_functions[] = {
    {"match_buffer", "param shape? dtype? " LAYOUT, IN_VALUE, read_match_buffer, 0},
    {"alloc_buffer", "shape dtype? " LAYOUT " annotations?", IN_VALUE | IN_SCOPE, read_alloc_buffer,
     0},
    {"sblock_alloc_buffer", "shape dtype? " LAYOUT, IN_VALUE, read_block_alloc, 0},
    {"Buffer", "shape dtype? " LAYOUT, IN_SCOPE, read_buffer_view, 0},
    {"buffer_decl", "shape dtype? " LAYOUT, IN_SCOPE, read_buffer_view, 0},
    {"decl_buffer", "shape dtype? " LAYOUT " annotations?", IN_SCOPE, read_decl_buffer, 0},
    {"allocate", "extents dtype? scope? condition? annotations?", IN_SCOPE, read_allocate, 0},
    {"allocate_const", "data dtype extents annotations?", IN_SCOPE, read_allocate_const, 0},
    {NULL, NULL, 0, NULL, 0},
};
