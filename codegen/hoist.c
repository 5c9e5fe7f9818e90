/* Memory that functions would ask the system for, as parameters (hoist.h). */
#include "hoist.h"

#include "access.h"
#include "ir/tree/visit.h"

enum { ALIGNMENT = 64, MOST_PARTED = 64 << 20 };

/* A buffer that became a parameter; in parallel loops one with a part for each step. A buffer may
 * be allocated in several places, of which one at a time is in use: tails of loops are copies. */
typedef struct Moved {
  const void *data;
  Buffer to;
  bool is_here;  /* the walk is below one of its allocations */
  Expr part;     /* number of the part where the walk is, or NULL: there is one */
  int64_t bytes; /* of a part */
  int64_t parts; /* the most */
} Moved;

typedef struct Hoisting Hoisting;
struct Hoisting {
  Tirc *c;
  int64_t on_stack, most_on_stack;
  Expr part; /* of the parallel loops around, as one number, or NULL */
  int64_t parts;
  VEC(Moved) moved;
  const Hoisting *before; /* the first walk, of which the moved buffers are known */
};

static int64_t element_bytes(Buffer b) { return tirc_dtype_bytes(tirc_dtype_lanes(b->dtype, 1)); }

static Moved *moved(const Hoisting *h, Buffer b) {
  for (int i = 0; i < h->moved.n; i++)
    if (h->moved.at[i].data == b->data) return &h->moved.at[i];
  return NULL;
}

/* The same, where the memory that is accessed is the parameter's. */
static const Moved *in_parts(const Hoisting *h, Buffer b) {
  const Moved *m = moved(h, b);
  return m && m->is_here && m->part ? m : NULL;
}

/* --- accesses --------------------------------------------------------------------------------- */

/* An access of the part's own. Ramps stay ramps: what is beside each other is one access. */
static Expr in_part(Tirc *c, const Moved *m, Buffer b, Expr index) {
  const int64_t elements = m->bytes / element_bytes(b);
  const Expr first = tirc_mul(c, tirc_cast(c, DT_INT64, m->part), tirc_int(c, DT_INT64, elements));
  const DType wide = tirc_dtype_lanes(DT_INT64, index->dtype.lanes);
  if (index->op == OP_RAMP)
    return tirc_ramp(c, tirc_add(c, first, tirc_cast(c, DT_INT64, index->args[0])),
                     tirc_cast(c, DT_INT64, index->args[1]), index->dtype.lanes);
  if (index->dtype.lanes > 1)
    return tirc_add(c, tirc_broadcast(c, first, index->dtype.lanes), tirc_cast(c, wide, index));
  return tirc_add(c, first, tirc_cast(c, DT_INT64, index));
}

/* The buffer in the parameter's memory. */
static Buffer seen(Tirc *c, const Moved *m, Buffer b) {
  struct BufferNode to = *b;
  if (tirc_dtype_equal(b->dtype, m->to->dtype)) return m->to;
  const Expr all = tirc_int(c, DT_INT64, m->parts * (m->bytes / element_bytes(b)));
  to.data = m->to->data;
  to.shape = tirc_copy(c, &all, 1);
  to.ndim = 1;
  to.strides = NULL;
  to.elem_offset = NULL;
  return tirc_buffer_copy(c, &to);
}

static Expr move_load(Mutator *v, Expr e) {
  const Hoisting *h = v->self;
  e = tirc_mutate_expr_children(v, e);
  const Moved *m = e->op == OP_LOAD ? in_parts(h, e->u.buffer) : NULL;
  if (!m) return e;
  const Expr at =
      in_part(h->c, m, e->u.buffer, tirc_linear_index(h->c, e->u.buffer, e->n, e->args));
  return tirc_load(h->c, seen(h->c, m, e->u.buffer), 1, &at);
}

static Stmt move_store(Hoisting *h, Stmt s) {
  const Moved *m = in_parts(h, s->u.store.buffer);
  if (!m) return s;
  const Buffer b = s->u.store.buffer;
  const Expr at = in_part(h->c, m, b, tirc_linear_index(h->c, b, s->u.store.n, s->u.store.indices));
  return tirc_store(h->c, seen(h->c, m, b), 1, &at, s->u.store.value);
}

/* --- allocations ------------------------------------------------------------------------------ */

/* The parameter for an allocation, or NULL: it stays where it is. */
static Moved *parameter_of(Hoisting *h, Stmt s) {
  const Buffer b = s->u.alloc.buffer;
  const int64_t bytes = tirc_constant_bytes(b);
  if (bytes < 0 || bytes > INT64_MAX - ALIGNMENT ||
      tirc_attrs_get(s->u.alloc.annotations, ALLOC_DATA))
    return NULL;
  if (bytes <= h->most_on_stack && tirc_fits_stack(bytes, h->on_stack)) {
    h->on_stack += bytes;
    return NULL;
  }
  const int64_t part = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (h->part && (part > MOST_PARTED / h->parts || tirc_stmt_uses_var(s->u.alloc.body, b->data)))
    return NULL;
  Moved *m = moved(h, b);
  if (m && (!m->part != !h->part || m->bytes != part)) return NULL;
  if (m) {
    if (h->parts > m->parts) m->parts = h->parts;
    return m;
  }
  Buffer to = b;
  if (h->part) {
    const Expr all = tirc_int(h->c, DT_INT64, h->parts * (part / element_bytes(b)));
    to = tirc_buffer(h->c, b->name, tirc_dtype_lanes(b->dtype, 1), 1, &all, b->scope);
  }
  vec_push(h->c, h->moved,
           ((Moved){.data = b->data, .to = to, .part = h->part, .bytes = part, .parts = h->parts}));
  return &h->moved.at[h->moved.n - 1];
}

/* Buffers of one memory, in another one. */
typedef struct Renaming {
  Expr from, to;
  PtrMap buffers;
} Renaming;

static Expr rename_data(Mutator *v, Expr e) {
  const Renaming *r = v->self;
  return e == r->from ? r->to : tirc_mutate_expr_children(v, e);
}

static Buffer rename_buffer(Mutator *v, Buffer b) {
  Renaming *r = v->self;
  if (b->data != r->from) return b;
  Buffer to = tirc_map_get(&r->buffers, b);
  if (to) return to;
  struct BufferNode own = *b;
  own.data = r->to;
  to = tirc_buffer_copy(v->c, &own);
  tirc_map_set(v->c, &r->buffers, b, to);
  return to;
}

/* One that stays while copies of it are a parameter has a memory of its own. */
static Stmt stay(Mutator *v, Stmt s) {
  const Hoisting *h = v->self;
  const Buffer b = s->u.alloc.buffer;
  if (h->before && moved(h->before, b)) {
    Renaming r = {.from = b->data, .to = tirc_var(h->c, b->data->u.s, DT_HANDLE)};
    s = tirc_mutate_stmt(
        &(Mutator){.c = h->c, .expr = rename_data, .buffer = rename_buffer, .self = &r}, s);
  }
  return tirc_mutate_stmt_children(v, s);
}

static Stmt move_alloc(Mutator *v, Stmt s) {
  Hoisting *h = v->self;
  Moved *m = parameter_of(h, s);
  if (!m) return stay(v, s);
  const int at = (int)(m - h->moved.at);
  m->is_here = true;
  m->part = h->part;
  const Stmt body = tirc_mutate_stmt(v, s->u.alloc.body);
  h->moved.at[at].is_here = false;
  return body;
}

/* Steps in parallel, those of loops within each other as one number. */
static Stmt move_loop(Mutator *v, Stmt s) {
  Hoisting *h = v->self;
  const For *loop = &s->u.loop;
  const Expr part = h->part;
  const int64_t parts = h->parts;
  int64_t extent;
  if (loop->kind != LOOP_PARALLEL) return tirc_mutate_stmt_children(v, s);
  if (!tirc_const_int(loop->extent, &extent) || extent < 1 || extent > MOST_PARTED / parts) {
    h->parts = MOST_PARTED; /* too many: what is in it stays */
    extent = 1;
  }
  const Expr step = tirc_cast(h->c, DT_INT64, tirc_sub(h->c, loop->var, loop->min));
  h->part =
      part ? tirc_add(h->c, tirc_mul(h->c, part, tirc_int(h->c, DT_INT64, extent)), step) : step;
  h->parts *= extent;
  const Stmt to = tirc_mutate_stmt_children(v, s);
  h->part = part;
  h->parts = parts;
  return to;
}

static Stmt move_stmt(Mutator *v, Stmt s) {
  switch (s->kind) {
  case STMT_FOR: return move_loop(v, s);
  case STMT_ALLOC: return move_alloc(v, s);
  case STMT_STORE: return move_store(v->self, tirc_mutate_stmt_children(v, s));
  default: return tirc_mutate_stmt_children(v, s);
  }
}

static const Func *hoist(Tirc *c, const Func *f, int64_t most_on_stack, Hoisted *out) {
  Hoisting first = {.c = c, .parts = 1, .most_on_stack = most_on_stack}, h = first;
  h.before = &first;
  Mutator v = {.c = c, .expr = move_load, .stmt = move_stmt, .self = &first};
  tirc_mutate_stmt(&v, f->body);
  if (!first.moved.n) return f;
  v.self = &h;
  const Stmt body = tirc_mutate_stmt(&v, f->body);
  const int n = f->n_params + h.moved.n;
  Func *to = tirc_copy(c, f, 1);
  Expr *params = tirc_new_array(c, Expr, n);
  Buffer *buffers = tirc_new_array(c, Buffer, n);
  const Relayout **relayouts = tirc_new_array(c, const Relayout *, n);
  int64_t *bytes = tirc_new_array(c, int64_t, h.moved.n);
  for (int i = 0; i < f->n_params; i++) {
    params[i] = f->params[i];
    buffers[i] = f->buffers[i];
    relayouts[i] = f->relayouts ? f->relayouts[i] : NULL;
  }
  for (int i = 0; i < h.moved.n; i++) {
    const Moved *m = &h.moved.at[i];
    buffers[f->n_params + i] = m->to;
    params[f->n_params + i] = tirc_var(c, tirc_format(c, "%s_memory", m->to->name), DT_HANDLE);
    bytes[i] = m->bytes * m->parts;
  }
  to->n_params = n;
  to->params = params;
  to->buffers = buffers;
  to->relayouts = f->relayouts ? relayouts : NULL;
  to->body = body;
  *out = (Hoisted){h.moved.n, bytes};
  return to;
}

const Module *tirc_hoist_memory(Tirc *c, const Module *m, const bool *keeps, int64_t most_on_stack,
                                Hoisted *out) {
  Module *to = tirc_copy(c, m, 1);
  const Func **funcs = tirc_copy(c, m->funcs, m->n_funcs);
  for (int i = 0; i < m->n_funcs; i++) {
    out[i] = (Hoisted){0, NULL};
    if (!keeps || !keeps[i]) funcs[i] = hoist(c, m->funcs[i], most_on_stack, &out[i]);
  }
  to->c = c;
  to->funcs = funcs;
  return to;
}

static Stmt make_serial(Mutator *v, Stmt s) {
  s = tirc_mutate_stmt_children(v, s);
  if (s->kind != STMT_FOR || s->u.loop.kind != LOOP_PARALLEL) return s;
  For loop = s->u.loop;
  loop.kind = LOOP_SERIAL;
  return tirc_for(v->c, &loop);
}

const Module *tirc_for_one_thread(Tirc *c, const Module *m) {
  Module *to = tirc_copy(c, m, 1);
  const Func **funcs = tirc_copy(c, m->funcs, m->n_funcs);
  Mutator v = {.c = c, .stmt = make_serial};
  for (int i = 0; i < m->n_funcs; i++) {
    Func *f = tirc_copy(c, m->funcs[i], 1);
    f->body = tirc_mutate_stmt(&v, f->body);
    funcs[i] = f;
  }
  to->c = c;
  to->funcs = funcs;
  return to;
}
