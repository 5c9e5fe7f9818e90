/* Memory: allocations, views, loads and stores. Every index is checked against the buffer's shape
 * and every element against its memory; memory that was allocated but never written is poison. A
 * value that is only copied may be poison (the copy then is, too), as when a cache holds more than
 * what is used of it; anything else that reads poison is an error. */
#include "code.h"
#include "ir/tree/atomic.h"
#include "ir/tree/int_op.h"

#include "ir/tree/print.h"
#include "runtime/arrays/tensor.h"
#include "runtime/kernel/timer.h"

Memory *tirc_declare_memory(Compiler *k, Buffer b) {
  Memory *m = tirc_new(k->t, Memory);
  tirc_map_set(k->t, &k->memories, b->data, m);
  return m;
}

View *tirc_declare_view(Compiler *k, Buffer b, Memory *m) {
  if (b->dtype.lanes > 1 || b->dtype.code == TYPE_HANDLE || b->dtype.code == TYPE_VOID)
    tirc_fail(k->t, k->loc, CODE_UNSUPPORTED, "use a buffer of scalars",
              "the reference interpreter has no buffers of %s, as \"%s\" is",
              tirc_dtype_name(k->t, b->dtype), b->name);
  if (k->bounded && b->ndim > TENSOR_MAX_NDIM)
    tirc_fail(k->t, k->loc, CODE_UNSUPPORTED, "use a buffer of fewer dimensions",
              "a run with bounds has buffers of at most %d dimensions, and \"%s\" has %d",
              TENSOR_MAX_NDIM, b->name, b->ndim);
  View *v = tirc_new(k->t, View);
  DType t = tirc_dtype_in_run(k, b->dtype);
  *v = (View){.buffer = b, .dtype = t, .memory = m, .ndim = b->ndim, .elem = tirc_dtype_bytes(t)};
  v->shape = tirc_new_array(k->t, int64_t, b->ndim);
  v->stride = tirc_new_array(k->t, int64_t, b->ndim);
  tirc_map_set(k->t, &k->views, b, v);
  if (!m) return v;
  if (!m->owner) m->owner = v;
  v->shape_code = tirc_compile_exprs(k, b->ndim, b->shape);
  if (b->strides) v->stride_code = tirc_compile_exprs(k, b->ndim, b->strides);
  if (b->elem_offset) v->offset_code = tirc_compile_expr(k, b->elem_offset);
  return v;
}

View *tirc_compile_view(Compiler *k, Buffer b) {
  View *v = tirc_map_get(&k->views, b);
  if (v) return v;
  Memory *m = tirc_map_get(&k->memories, b->data);
  if (!m)
    tirc_fail(k->t, k->loc, CODE_NAME, "allocate it in a block around, or make it a parameter",
              "the buffer \"%s\" is not defined here", b->name);
  v = tirc_declare_view(k, b, m);
  v->next = m->views;
  m->views = v;
  return v;
}

/* Elements from the first to one past the last that the view reaches. */
static int64_t view_extent(Run *run, const View *v) {
  int64_t last = v->offset;
  for (int d = 0; d < v->ndim; d++) {
    int64_t step;
    if (v->shape[d] == 0) return 0;
    if (__builtin_mul_overflow(v->shape[d] - 1, v->stride[d], &step) ||
        __builtin_add_overflow(last, step, &last))
      tirc_run_fail(run, CODE_OVERFLOW, "use smaller extents",
                    "the size of buffer \"%s\" overflows", v->buffer->name);
  }
  return last + 1;
}

void tirc_open_view(Run *run, View *v) {
  int64_t stride = 1;
  for (int d = v->ndim - 1; d >= 0; d--) {
    v->shape[d] = get_i(run, v->shape_code[d]);
    if (v->shape[d] < 0) v->shape[d] = 0; /* as a loop of such an extent has no iterations */
    v->stride[d] = v->stride_code ? get_i(run, v->stride_code[d]) : stride;
    if (v->stride[d] < 0)
      tirc_run_fail(run, CODE_SHAPE, NULL, "a stride of buffer \"%s\" is negative",
                    v->buffer->name);
    if (__builtin_mul_overflow(stride, v->shape[d], &stride))
      tirc_run_fail(run, CODE_OVERFLOW, "use smaller extents",
                    "the size of buffer \"%s\" overflows", v->buffer->name);
  }
  v->offset = v->offset_code ? get_i(run, v->offset_code) : 0;
  if (v->offset < 0)
    tirc_run_fail(run, CODE_SHAPE, NULL, "the offset of buffer \"%s\" is negative",
                  v->buffer->name);
  v->count = v->memory->bytes / v->elem;
  (void)view_extent(run, v);
}

void tirc_open_late_views(Run *run, Memory *m) {
  for (View *v = m->views; v; v = v->next) tirc_open_view(run, v);
}

/* What memory holds before it is written, where that is no error. */
static void fill(Run *run, const View *v, int64_t count) {
  Tensor memory = {.dtype = v->dtype, .count = count, .data = v->memory->data};
  for (int64_t i = 0; i < count; i++) {
    run->arbitrary = run->arbitrary * 6364136223846793005u + 1442695040888963407u;
    const int value = (int)((run->arbitrary >> 33) % 7) - 3;
    tirc_tensor_set_int(&memory, i, v->dtype.code == TYPE_BOOL ? value > 0 : value);
  }
}

void tirc_open_memory(Run *run, View *v) {
  Memory *m = v->memory;
  tirc_open_view(run, v);
  int64_t count = view_extent(run, v), bytes;
  if (__builtin_mul_overflow(count, (int64_t)v->elem, &bytes) || bytes > tirc_machine_memory() / 4)
    tirc_run_fail(run, CODE_MEMORY, "use smaller extents", "buffer \"%s\" has %lld elements",
                  v->buffer->name, (long long)count);
  if (!m->data || bytes > m->capacity) { /* at least twice as much, so that growing costs little */
    m->capacity = bytes > 2 * m->capacity ? bytes : 2 * m->capacity;
    m->data = tirc_alloc(run->t, (size_t)m->capacity);
    m->written = tirc_alloc(run->t, (size_t)(m->capacity / v->elem + 1));
  }
  m->bytes = bytes;
  m->unit = v->elem;
  m->shade.on = false;
  memset(m->written, run->arbitrary != 0, (size_t)count);
  if (run->arbitrary) fill(run, v, count);
  v->count = count;
  tirc_open_late_views(run, m);
}

/* --- access ----------------------------------------------------------------------------------- */

static bool is_written(const View *v, int64_t at) {
  const Memory *m = v->memory;
  if (v->elem == m->unit) return m->written[at];
  int64_t end = (at * v->elem + v->elem - 1) / m->unit;
  for (int64_t i = at * v->elem / m->unit; i <= end; i++)
    if (!m->written[i]) return false;
  return true;
}

static void set_written(const View *v, int64_t at, bool value) {
  Memory *m = v->memory;
  int64_t end = (at * v->elem + v->elem - 1) / m->unit;
  for (int64_t i = at * v->elem / m->unit; i <= end; i++) m->written[i] = value;
}

_Noreturn static void index_fails(Run *run, const View *v, const Node *const *index, int d,
                                  int64_t i) {
  tirc_run_fail(run, CODE_OUT_OF_BOUNDS, "guard the access, or correct the extent or the index",
                "index %s = %lld of dimension %d of buffer \"%s\" is outside of [0, %lld)",
                tirc_run_text(run, index[d]->expr), (long long)i, d, v->buffer->name,
                (long long)v->shape[d]);
}
_Noreturn static void memory_fails(Run *run, const View *v, int64_t at) {
  tirc_run_fail(run, CODE_OUT_OF_BOUNDS, "check strides and elem_offset",
                "element %lld of buffer \"%s\" is outside of its memory of %lld elements",
                (long long)at, v->buffer->name, (long long)v->count);
}
_Noreturn static void poison_fails(Run *run, const char *buffer) {
  tirc_run_fail(run, CODE_UNINITIALISED, "write it first, or initialise the reduction",
                "buffer \"%s\" is read where it was never written", buffer);
}

/* A vector goes on in the next row where that lies right behind: a tile of 16 x 4 bytes is one of
 * 64 lanes. */
static bool goes_on(Run *run, const View *v, const Node *const *index, int64_t i) {
  const int last = v->ndim - 1;
  int64_t extent = v->shape[last];
  if (index[last]->dtype.lanes == 1 || i < 0) return false;
  for (int d = last - 1; d >= 0 && v->stride[d] == extent * v->stride[last]; d--) {
    i += get_i(run, index[d]) * extent;
    extent *= v->shape[d];
    if (i < extent) return true;
  }
  return false;
}

/* The element that the indices lead to. */
static inline int64_t locate(Run *run, const View *v, const Node *const *index) {
  int64_t at = v->offset;
  for (int d = 0; d < v->ndim; d++) {
    int64_t i = get_i(run, index[d]);
    if ((uint64_t)i >= (uint64_t)v->shape[d] && (d + 1 < v->ndim || !goes_on(run, v, index, i)))
      index_fails(run, v, index, d, i);
    at += i * v->stride[d];
  }
  if ((uint64_t)at >= (uint64_t)v->count) memory_fails(run, v, at);
  return at;
}
int64_t tirc_locate(Run *run, const View *v, const Node *const *index, const int64_t *values) {
  int64_t at = v->offset;
  for (int d = 0; d < v->ndim; d++) {
    if ((uint64_t)values[d] >= (uint64_t)v->shape[d]) index_fails(run, v, index, d, values[d]);
    at += values[d] * v->stride[d];
  }
  if ((uint64_t)at >= (uint64_t)v->count) memory_fails(run, v, at);
  return at;
}

static inline const char *at_load(Run *run, const Node *n, int64_t at) {
  const View *v = n->u.load.view;
  if (run->observer) tirc_observe_access(run, v, at, false);
  if (v->memory->written && !is_written(v, at)) {
    if (!n->tolerant) poison_fails(run, v->buffer->name);
    run->poisoned = true;
    run->poisoned_buffer = v->buffer->name;
  }
  return v->memory->data + at * v->elem;
}
static inline const char *locate_load(Run *run, const Node *n) {
  return at_load(run, n, locate(run, n->u.load.view, n->u.load.index));
}

/* ROW(name, type code, bits, C type, class: i or f, value of memory, memory of value) */
#define ELEMENTS(ROW)                                                                              \
  ROW(float64, TYPE_FLOAT, 64, double, f, m, x)                                                    \
  ROW(float32, TYPE_FLOAT, 32, float, f, (double)m, (float)x)                                      \
  ROW(float16, TYPE_FLOAT, 16, uint16_t, f, tirc_half_to_double(m), tirc_double_to_half(x))        \
  ROW(bfloat16, TYPE_BFLOAT, 16, uint16_t, f, tirc_bfloat_to_double(m), tirc_double_to_bfloat(x))  \
  ROW(bool, TYPE_BOOL, 1, uint8_t, i, m != 0, x != 0)                                              \
  ROW(int8, TYPE_INT, 8, int8_t, i, m, (int8_t)x)                                                  \
  ROW(int16, TYPE_INT, 16, int16_t, i, m, (int16_t)x)                                              \
  ROW(int32, TYPE_INT, 32, int32_t, i, m, (int32_t)x)                                              \
  ROW(int64, TYPE_INT, 64, int64_t, i, m, x)                                                       \
  ROW(uint8, TYPE_UINT, 8, uint8_t, i, m, (uint8_t)x)                                              \
  ROW(uint16, TYPE_UINT, 16, uint16_t, i, m, (uint16_t)x)                                          \
  ROW(uint32, TYPE_UINT, 32, uint32_t, i, m, (uint32_t)x)                                          \
  ROW(uint64, TYPE_UINT, 64, uint64_t, i, (int64_t)m, (uint64_t)x)

typedef int64_t Int_i;
typedef double Int_f;
#define DEFINE(name, code, bits, T, cls, widen, narrow)                                            \
  static Int_##cls load_##name(Run *run, const Node *n) {                                          \
    T m;                                                                                           \
    memcpy(&m, locate_load(run, n), sizeof m);                                                     \
    return widen;                                                                                  \
  }                                                                                                \
  static void put_##name(char *to, Cell value) {                                                   \
    Int_##cls x = value.cls;                                                                       \
    T m = narrow;                                                                                  \
    memcpy(to, &m, sizeof m);                                                                      \
  }
ELEMENTS(DEFINE)
#undef DEFINE

void tirc_compile_load(Compiler *k, Node *n) {
  Buffer b = n->expr->u.buffer;
  View *v = n->u.load.view = tirc_compile_view(k, b);
  n->u.load.index = tirc_compile_exprs(k, n->expr->n, n->expr->args);
  if (n->expr->n != b->ndim)
    tirc_fail(k->t, k->loc, CODE_TYPE, NULL, "buffer \"%s\" has %d dimensions, not %d", b->name,
              b->ndim, n->expr->n);
#define PICK(name, code_, bits_, T, cls, widen, narrow)                                            \
  if (v->dtype.code == code_ && v->dtype.bits == bits_) n->eval.cls = load_##name;
  ELEMENTS(PICK)
#undef PICK
}

static Cell get(DType t, const char *from) {
  switch (t.code << 8 | t.bits) {
#define GET(name, code, bits, T, cls, widen, narrow)                                               \
  case code << 8 | bits: {                                                                         \
    T m;                                                                                           \
    memcpy(&m, from, sizeof m);                                                                    \
    return (Cell){.cls = widen};                                                                   \
  }
    ELEMENTS(GET)
#undef GET
  default: return (Cell){0};
  }
}
Cell tirc_load_at(Run *run, const Node *n, int64_t at) {
  return get(n->u.load.view->dtype, at_load(run, n, at));
}

static void put(DType t, char *to, Cell value) {
  switch (t.code << 8 | t.bits) {
#define PUT(name, code, bits, T, cls, widen, narrow)                                               \
  case code << 8 | bits: put_##name(to, value); break;
    ELEMENTS(PUT)
#undef PUT
  default: break;
  }
}

void tirc_store_at(Run *run, const View *v, int64_t at, Cell value, bool poisoned) {
  if (run->observer) tirc_observe_access(run, v, at, true);
  Memory *m = v->memory;
  char *to = m->data + at * v->elem;
  if (v->dtype.code == TYPE_FLOAT && v->elem == 4)
    put_float32(to, value);
  else
    put(v->dtype, to, value);
  if (!m->written) {
    if (poisoned) poison_fails(run, run->poisoned_buffer);
  } else if (v->elem == m->unit) {
    m->written[at] = !poisoned;
  } else {
    set_written(v, at, !poisoned);
  }
}

Cell tirc_get_element(const View *v, int64_t at) {
  return get(v->dtype, v->memory->data + at * v->elem);
}
void tirc_set_element(const View *v, int64_t at, Cell value) {
  put(v->dtype, v->memory->data + at * v->elem, value);
}

static void store_lane(Run *run, const Step *s, Cell value, bool poisoned) {
  const View *v = s->u.store.view;
  tirc_store_at(run, v, locate(run, v, s->u.store.index), value, poisoned);
}

int tirc_store_lanes(const Step *s) {
  int lanes = s->u.store.value->dtype.lanes;
  for (int d = 0; d < s->stmt->u.store.n; d++)
    if (s->u.store.index[d]->dtype.lanes > lanes) lanes = s->u.store.index[d]->dtype.lanes;
  return lanes;
}

bool tirc_is_lane_on(Run *run, const Step *s, int lane) {
  run->lane = lane;
  return !s->u.store.mask || get_i(run, s->u.store.mask);
}

void tirc_run_store(Run *run, const Step *s) {
  run->at = s;
  const Node *value = s->u.store.value;
  run->poisoned = false;
  if (!s->u.store.lanes) {
    Cell x = get_cell(run, value);
    store_lane(run, s, x, run->poisoned);
    return;
  }
  const int lanes = tirc_store_lanes(s);
  for (int l = 0; l < lanes; l++) {
    if (!tirc_is_lane_on(run, s, l)) continue;
    run->lane = l;
    run->poisoned = false;
    s->u.store.lanes[l] = get_cell(run, value);
    s->u.store.poison[l] = run->poisoned;
  }
  for (int l = 0; l < lanes; l++) {
    if (!tirc_is_lane_on(run, s, l)) continue;
    run->lane = l;
    store_lane(run, s, s->u.store.lanes[l], s->u.store.poison[l]);
  }
  run->lane = 0;
}

/* --- match_buffer ----------------------------------------------------------------------------- */

/* The cell that a match gives a value to when e is a variable that nothing has defined yet. */
static Cell *defines(Compiler *k, Expr e) {
  return e && e->op == OP_VAR && !tirc_map_has(&k->vars, e) ? tirc_compile_var(k, e) : NULL;
}

void tirc_compile_match(Compiler *k, const MatchBuffer *m, MatchCode *out) {
  Buffer b = m->buffer;
  int ndim = m->source.buffer->ndim;
  if (b->ndim > ndim)
    tirc_fail(k->t, k->loc, CODE_SHAPE, NULL,
              "\"%s\" has more dimensions than the buffer it matches", b->name);
  if (!tirc_dtype_equal(b->dtype, m->source.buffer->dtype))
    tirc_fail(k->t, k->loc, CODE_TYPE, NULL, "\"%s\" and the buffer it matches differ in dtype",
              b->name);
  out->source = tirc_compile_view(k, m->source.buffer);
  out->skipped = ndim - b->ndim;
  out->min = tirc_new_array(k->t, const Node *, ndim);
  out->extent = tirc_new_array(k->t, const Node *, ndim);
  for (int d = 0; d < ndim; d++) {
    out->min[d] = tirc_compile_expr(k, m->source.dims[d].min);
    out->extent[d] = tirc_compile_expr(k, m->source.dims[d].extent);
  }
  out->bind_shape = tirc_new_array(k->t, Cell *, b->ndim);
  out->bind_stride = tirc_new_array(k->t, Cell *, b->ndim);
  for (int d = 0; d < b->ndim; d++) {
    out->bind_shape[d] = defines(k, b->shape[d]);
    if (b->strides) out->bind_stride[d] = defines(k, b->strides[d]);
  }
  out->bind_offset = defines(k, b->elem_offset);
  View *v = out->view = tirc_declare_view(k, b, NULL);
  tirc_map_set(k->t, &k->memories, b->data, out->source->memory);
  v->memory = out->source->memory;
  v->shape_code = tirc_compile_exprs(k, b->ndim, b->shape);
  if (b->strides) v->stride_code = tirc_compile_exprs(k, b->ndim, b->strides);
  if (b->elem_offset) v->offset_code = tirc_compile_expr(k, b->elem_offset);
}

static void require_equal(Run *run, const View *v, const char *what, const Node *wanted,
                          int64_t is) {
  int64_t value = get_i(run, wanted);
  if (value != is)
    tirc_run_fail(run, CODE_MATCH, "make it a variable, or declare the value that the source has",
                  "%s of the matched buffer \"%s\" is declared as %lld but is %lld", what,
                  v->buffer->name, (long long)value, (long long)is);
}

void tirc_open_match(Run *run, const MatchCode *m) {
  View *v = m->view;
  const View *source = m->source;
  int64_t offset = source->offset;
  for (int d = 0; d < source->ndim; d++) {
    int64_t min = get_i(run, m->min[d]), extent = get_i(run, m->extent[d]), end;
    if (__builtin_add_overflow(min, extent, &end) || min < 0 || extent < 0 ||
        end > source->shape[d])
      tirc_run_fail(run, CODE_OUT_OF_BOUNDS, "match a region inside the buffer",
                    "the region [%lld, %lld) of dimension %d that \"%s\" matches is outside of "
                    "\"%s\"'s [0, %lld)",
                    (long long)min, (long long)end, d, v->buffer->name, source->buffer->name,
                    (long long)source->shape[d]);
    offset += min * source->stride[d];
    int own = d - m->skipped;
    if (own < 0) continue;
    v->shape[own] = extent;
    v->stride[own] = source->stride[d];
    if (m->bind_shape[own]) m->bind_shape[own]->i = extent;
    if (m->bind_stride[own]) m->bind_stride[own]->i = source->stride[d];
  }
  if (m->bind_offset) m->bind_offset->i = offset;
  for (int d = 0; d < v->ndim; d++) {
    require_equal(run, v, "an extent", v->shape_code[d], v->shape[d]);
    if (v->stride_code && v->shape[d] > 1)
      require_equal(run, v, "a stride", v->stride_code[d], v->stride[d]);
  }
  if (v->offset_code) require_equal(run, v, "elem_offset", v->offset_code, offset);
  v->offset = offset;
  v->count = source->count;
}

/* --- atomic updates --------------------------------------------------------------------------- */

/* Gives the element as it was. */
static Cell update(Run *run, const Node *n) {
  const View *v = n->u.load.view;
  Atomic a;
  (void)tirc_atomic(n->expr, &a);
  const Cell value = get_cell(run, n->a);
  const Cell compare = n->b ? get_cell(run, n->b) : value;
  const int64_t at = locate(run, v, n->u.load.index);
  const Cell was = tirc_load_at(run, n, at);
  Cell now = was;
  if (tirc_dtype_is_float(v->dtype))
    now.f = tirc_round_float(v->dtype, was.f + value.f);
  else if (a.compare)
    now.i = was.i == compare.i ? value.i : was.i;
  else
    (void)tirc_int_op(a.op, v->dtype, was.i, value.i, &now.i);
  tirc_store_at(run, v, at, now, false);
  return was;
}
static int64_t update_i(Run *run, const Node *n) { return update(run, n).i; }
static double update_f(Run *run, const Node *n) { return update(run, n).f; }

void tirc_compile_update(Compiler *k, Node *n) {
  Atomic a;
  (void)tirc_atomic(n->expr, &a);
  const Expr place = a.place;
  if (tirc_dtype_is_float(place->dtype) && k->bounded)
    tirc_fail(k->t, k->loc, CODE_UNSUPPORTED, "use only the final value",
              "the value that T.%s returns for %s depends on the order of the threads", a.name,
              tirc_dtype_name(k->t, place->dtype));
  n->a = tirc_compile_expr(k, a.value);
  if (a.compare) n->b = tirc_compile_expr(k, a.compare);
  n->u.load.view = tirc_compile_view(k, place->u.buffer);
  n->u.load.index = tirc_compile_exprs(k, place->n, place->args);
  if (tirc_dtype_is_float(n->dtype))
    n->eval.f = update_f;
  else
    n->eval.i = update_i;
}
