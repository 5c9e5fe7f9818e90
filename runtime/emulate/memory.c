/* Memory of a kernel: windows on stores, loads and stores of many threads at once. As in the
 * interpreter every index is checked, and memory that was allocated but never written may be
 * copied, and not used. */
#include "code.h"
#include "half.h"

#include "ir/gpu.h"
#include "ir/tree/atomic.h"
#include "ir/tree/int_op.h"
#include "ir/tree/print.h"
#include "runtime/kernel/timer.h"

Store *tirc_emu_store(Emu *e, Buffer b, Place place) {
  Store *s = tirc_new(e->t, Store);
  *s = (Store){.buffer = b, .place = place, .unit = tirc_dtype_bytes(b->dtype)};
  if (place == GLOBAL) s->version = e->global_version;
  if (place == SHARED) s->version = tirc_new(e->t, Var);
  tirc_map_set(e->t, &e->stores, b->data, s);
  return s;
}

/* The window on a buffer, which is made where a statement declares it or where it is first used. */
Window *tirc_emu_window(Emu *e, Buffer b) {
  Window *w = tirc_map_get(&e->windows, b);
  if (w) return w;
  Store *s = tirc_map_get(&e->stores, b->data);
  if (!s)
    tirc_fail(e->t, e->scalar.loc, CODE_NAME, "allocate it in the kernel, or make it a parameter",
              "the buffer \"%s\" is not defined here", b->name);
  if (b->dtype.lanes > 1 || tirc_dtype_bytes(b->dtype) == 0)
    tirc_fail(e->t, e->scalar.loc, CODE_UNSUPPORTED, "use a buffer of scalars",
              "the emulator has no buffers of %s, as \"%s\" is", tirc_dtype_name(e->t, b->dtype),
              b->name);
  w = tirc_new(e->t, Window);
  *w = (Window){.buffer = b, .dtype = b->dtype, .store = s, .ndim = b->ndim};
  w->elem = tirc_dtype_bytes(b->dtype);
  w->shape = tirc_new_array(e->t, int64_t, b->ndim);
  w->stride = tirc_new_array(e->t, int64_t, b->ndim);
  w->shape_code = tirc_emu_exprs(e, b->ndim, b->shape);
  if (b->strides) w->stride_code = tirc_emu_exprs(e, b->ndim, b->strides);
  if (b->elem_offset) w->offset_code = tirc_emu_expr(e, b->elem_offset);
  if (w->elem != s->unit || w->elem != tirc_dtype_bytes(s->buffer->dtype)) s->by_thread = true;
  if (w->elem < s->unit) s->unit = w->elem;
  tirc_map_set(e->t, &e->windows, b, w);
  return w;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Elements from the first to one past the last that the window reaches. */
static int64_t find_extent(Emu *e, Window *w, const Threads *l) {
  int64_t stride = 1, last = w->offset_code ? tirc_emu_one(e, w->offset_code, l, "an offset") : 0;
  bool none = false, lost = last < 0;
  w->offset = last;
  for (int d = w->ndim - 1; d >= 0; d--) {
    int64_t step;
    w->shape[d] = tirc_emu_one(e, w->shape_code[d], l, "an extent of a buffer");
    if (w->shape[d] < 0) w->shape[d] = 0;
    w->stride[d] = w->stride_code ? tirc_emu_one(e, w->stride_code[d], l, "a stride") : stride;
    lost |= w->stride[d] < 0 || __builtin_mul_overflow(stride, w->shape[d], &stride) ||
            __builtin_mul_overflow(w->shape[d] - 1, w->stride[d], &step) ||
            __builtin_add_overflow(last, step, &last);
    none |= w->shape[d] == 0;
  }
  if (lost)
    tirc_emu_fail(e, CODE_SHAPE, NULL, "the layout of buffer \"%s\" is negative or overflows",
                  w->buffer->name);
  w->plain = w->ndim == 1 && w->stride[0] == 1 && w->offset == 0;
  return none ? 0 : last + 1;
}

void tirc_emu_open_window(Emu *e, Window *w, const Threads *l) {
  const int64_t extent = find_extent(e, w, l);
  w->count = w->store->bytes / w->elem;
  if (w->store->version) w->store->version->stamp = ++e->clock; /* the view has moved */
  w->inside = extent <= w->count;
}

static void forget_all(Emu *e, Store *s, const Threads *l) {
  const int64_t units = s->bytes / s->unit;
  if (s->place != LOCAL || l->n == e->threads) {
    memset(s->written, 0, (size_t)(s->place == LOCAL ? units * e->threads : units));
  } else {
    for (int k = 0; k < l->n; k++)
      if (s->by_thread)
        memset(s->written + l->at[k] * units, 0, (size_t)units);
      else
        for (int64_t i = 0; i < units; i++) s->written[i * e->threads + e->position[l->at[k]]] = 0;
  }
}

static int64_t *shared_of(Emu *e, const Store *s) {
  return s->buffer->storage == STORAGE_SHARED ? &e->shared : &e->shared_dyn;
}

/* What a block has, against what its GPU has and what the launch asks for. */
static void check_shared(Emu *e, Store *s) {
  int64_t *sum = shared_of(e, s);
  s->before = *sum;
  *sum = sum == &e->shared ? tirc_gpu_end_behind(*sum, s->bytes) : *sum + s->bytes;
  const int64_t used = *sum, all = e->shared + e->shared_dyn;
  if (all > e->most_shared) e->most_shared = all;
  if (e->gpu && (e->shared > e->gpu->shared || all > e->gpu->shared_dyn))
    tirc_emu_fail(e, CODE_SHARED_MEMORY, "use smaller tiles, or fewer of them at a time",
                  "a block has %lld bytes of shared memory (scope %s) with buffer \"%s\", and %s "
                  "has %lld",
                  (long long)(e->shared > e->gpu->shared ? e->shared : all), s->buffer->scope,
                  s->buffer->name, e->gpu->name,
                  (long long)(e->shared > e->gpu->shared ? e->gpu->shared : e->gpu->shared_dyn));
  if (e->dynamic >= 0 && e->shared_dyn > e->dynamic)
    tirc_emu_fail(e, CODE_SHARED_MEMORY, "let the launch ask for that much",
                  "a block has %lld bytes of scope shared.dyn with buffer \"%s\", and the launch "
                  "asks for %lld",
                  (long long)used, s->buffer->name, (long long)e->dynamic);
}

void tirc_emu_close_store(Emu *e, const Window *w) {
  if (w->store->place == SHARED) *shared_of(e, w->store) = w->store->before;
}

void tirc_emu_open_store(Emu *e, Window *w, const Threads *l) {
  Store *s = w->store;
  const int64_t extent = find_extent(e, w, l);
  const int64_t copies = s->place == LOCAL ? e->threads : 1;
  if (extent > tirc_machine_memory() / 4 / copies / w->elem)
    tirc_emu_fail(e, CODE_MEMORY, "use smaller extents", "buffer \"%s\" has %lld elements",
                  w->buffer->name, (long long)extent);
  s->bytes = extent * w->elem;
  if (s->place == SHARED) check_shared(e, s);
  if (!s->data || s->bytes > s->capacity) {
    s->capacity = s->bytes;
    s->data = tirc_alloc(e->t, (size_t)(s->bytes * copies) + 1);
    s->written = tirc_alloc(e->t, (size_t)(s->bytes / s->unit * copies) + 1);
    if (s->place == SHARED) s->flying = tirc_alloc(e->t, (size_t)(s->bytes / s->unit) + 1);
    if (s->place == SHARED) s->traces = tirc_new_array(e->t, Trace, s->bytes / s->unit + 1);
  }
  forget_all(e, s, l);
  if (s->flying) memset(s->flying, 0, (size_t)(s->bytes / s->unit));
  if (s->version) s->version->stamp = ++e->clock;
  w->count = extent;
  w->inside = true;
}

/* --- places ----------------------------------------------------------------------------------- */

_Noreturn static void index_fails(Emu *e, const Window *w, const Piece *index, int d, int64_t i) {
  tirc_emu_fail(e, CODE_OUT_OF_BOUNDS, "guard the access, or correct the extent or the index",
                "index %s = %lld of dimension %d of buffer \"%s\" is outside of [0, %lld)",
                tirc_print_expr(e->t, index->expr), (long long)i, d, w->buffer->name,
                (long long)w->shape[d]);
}

static void check_index(Emu *e, const Window *w, const Piece *const *index, int d, Values v,
                        const Threads *l) {
  const uint64_t extent = (uint64_t)w->shape[d];
  const int n = v.same ? 1 : l->n;
  bool outside = false;
  for (int k = 0; k < n; k++) outside |= (uint64_t)v.at[k].i >= extent;
  for (int k = 0; outside && k < n; k++)
    if ((uint64_t)v.at[k].i >= extent) {
      e->thread = l->at[k];
      index_fails(e, w, index[d], d, v.at[k].i);
    }
}

/* Checked: the elements that the indices lead to. */
static Values locate(Emu *e, const Window *w, const Piece *const *index, const Threads *l,
                     Cell *room) {
  if (w->plain) {
    const Values v = evaluate(e, index[0], l, room);
    check_index(e, w, index, 0, v, l);
    if (w->inside) return v;
  }
  Cell *top = e->top;
  bool same = true;
  Values along[TENSOR_MAX_NDIM];
  for (int d = 0; d < w->ndim; d++) {
    along[d] = evaluate(e, index[d], l, take(e, l->n));
    check_index(e, w, index, d, along[d], l);
    same &= along[d].same;
  }
  for (int k = 0; k < (same ? 1 : l->n); k++) {
    room[k].i = w->offset;
    for (int d = 0; d < w->ndim; d++) room[k].i += value_at(along[d], k).i * w->stride[d];
    if ((uint64_t)room[k].i < (uint64_t)w->count) continue;
    e->thread = l->at[k];
    tirc_emu_fail(e, CODE_OUT_OF_BOUNDS, "check the shape, the strides and elem_offset",
                  "element %lld of buffer \"%s\" is outside of its memory of %lld elements",
                  (long long)room[k].i, w->buffer->name, (long long)w->count);
  }
  e->top = top;
  return (Values){room, same};
}

/* Where each thread's element lies, counted in elements of the window. */
static Values own_place(Emu *e, const Window *w, Values at, const Threads *l, Cell *room) {
  if (w->store->place != LOCAL) return at;
  if (w->store->by_thread)
    for (int k = 0; k < l->n; k++) room[k].i = l->at[k] * w->count + value_at(at, k).i;
  else if (at.same && l->slot < SLOT_ALL)
    for (int64_t k = 0, first = at.at[0].i * e->threads + l->first; k < l->n; k++)
      room[k].i = first + k;
  else if (at.same)
    for (int64_t k = 0, first = at.at[0].i * e->threads; k < l->n; k++)
      room[k].i = first + e->position[l->at[k]];
  else if (l->slot < SLOT_ALL)
    for (int k = 0; k < l->n; k++) room[k].i = at.at[k].i * e->threads + l->first + k;
  else
    for (int k = 0; k < l->n; k++) room[k].i = at.at[k].i * e->threads + e->position[l->at[k]];
  return (Values){room, false};
}

/* Whether the elements of a group that does the same are neighbours, in its order. */
static bool is_run(const Emu *e, const Store *s, Values at, const Threads *l) {
  return s->place == LOCAL && !s->by_thread && at.same && !l->last &&
         (l->slot < SLOT_ALL || (l->slot == SLOT_ALL && e->n_groups == 1));
}

/* --- elements --------------------------------------------------------------------------------- */

/* ROW(type code, bits, C type, member, value of memory m, memory of value x) */
#define ELEMENTS(ROW)                                                                              \
  ROW(TYPE_FLOAT, 64, double, f, m, x)                                                             \
  ROW(TYPE_FLOAT, 32, float, f, (double)m, (float)x)                                               \
  ROW(TYPE_FLOAT, 16, uint16_t, f, tirc_half_to_double(m), tirc_double_to_half(x))                 \
  ROW(TYPE_BFLOAT, 16, uint16_t, f, tirc_bfloat_to_double(m), tirc_double_to_bfloat(x))            \
  ROW(TYPE_BOOL, 1, uint8_t, i, m != 0, x != 0)                                                    \
  ROW(TYPE_INT, 8, int8_t, i, m, (int8_t)x)                                                        \
  ROW(TYPE_INT, 16, int16_t, i, m, (int16_t)x)                                                     \
  ROW(TYPE_INT, 32, int32_t, i, m, (int32_t)x)                                                     \
  ROW(TYPE_INT, 64, int64_t, i, m, x)                                                              \
  ROW(TYPE_UINT, 8, uint8_t, i, m, (uint8_t)x)                                                     \
  ROW(TYPE_UINT, 16, uint16_t, i, m, (uint16_t)x)                                                  \
  ROW(TYPE_UINT, 32, uint32_t, i, m, (uint32_t)x)                                                  \
  ROW(TYPE_UINT, 64, uint64_t, i, (int64_t)m, (uint64_t)x)

typedef double Value_f;
typedef int64_t Value_i;

static bool is_half(const Window *w) { return w->dtype.code == TYPE_FLOAT && w->dtype.bits == 16; }

/* Those at `at`, or, if that is NULL, n neighbours. */
static void get_halves(const char *data, const Cell *at, int n, Cell *to) {
  uint16_t bits[SOME_HALVES];
  for (int first = 0; first < n; first += SOME_HALVES) {
    const int some = n - first < SOME_HALVES ? n - first : SOME_HALVES;
    if (!at) memcpy(bits, data + 2 * first, 2 * (size_t)some);
    for (int k = 0; at && k < some; k++) memcpy(bits + k, data + 2 * at[first + k].i, sizeof *bits);
    tirc_emu_halves_to_values(bits, some, to + first);
  }
}
static void put_halves(char *data, const Cell *at, int n, const Cell *from) {
  uint16_t bits[SOME_HALVES];
  for (int first = 0; first < n; first += SOME_HALVES) {
    const int some = n - first < SOME_HALVES ? n - first : SOME_HALVES;
    tirc_emu_values_to_halves(from + first, some, bits);
    if (!at) memcpy(data + 2 * first, bits, 2 * (size_t)some);
    for (int k = 0; at && k < some; k++) memcpy(data + 2 * at[first + k].i, bits + k, sizeof *bits);
  }
}

/* Those at `at`, or, if that is NULL, neighbours from `first` on. */
static void get(const Window *w, const Cell *at, int64_t first, int n, Cell *to) {
  const char *const data = w->store->data + first * w->elem;
  if (is_half(w)) {
    get_halves(data, at, n, to);
    return;
  }
  switch (w->dtype.code << 8 | w->dtype.bits) {
#define GET(code, bits, T, member, widen, narrow)                                                  \
  case code << 8 | bits:                                                                           \
    if (!at) {                                                                                     \
      const T *restrict from = (const T *)(const void *)data;                                      \
      Cell *restrict values = to;                                                                  \
      for (int k = 0; k < n; k++) {                                                                \
        const T m = from[k];                                                                       \
        values[k].member = widen;                                                                  \
      }                                                                                            \
    }                                                                                              \
    for (int k = 0; at && k < n; k++) {                                                            \
      T m;                                                                                         \
      memcpy(&m, data + at[k].i * (int64_t)sizeof m, sizeof m);                                    \
      to[k].member = widen;                                                                        \
    }                                                                                              \
    break;
    ELEMENTS(GET)
#undef GET
  default: break;
  }
}

/* Likewise: at.at NULL. */
static void put(const Window *w, Values at, int64_t first, int n, Values from) {
  char *const data = w->store->data + first * w->elem;
  if (is_half(w) && !at.same && !from.same) {
    put_halves(data, at.at, n, from.at);
    return;
  }
  switch (w->dtype.code << 8 | w->dtype.bits) {
#define PUT(code, bits, T, member, widen, narrow)                                                  \
  case code << 8 | bits:                                                                           \
    if (!at.at) {                                                                                  \
      const Cell *restrict values = from.at;                                                       \
      for (int k = 0; k < n; k++) {                                                                \
        const Value_##member x = values[k].member;                                                 \
        ((T *)(void *)data)[k] = narrow;                                                           \
      }                                                                                            \
    }                                                                                              \
    for (int k = 0; at.at && k < n; k++) {                                                         \
      const Value_##member x = value_at(from, k).member;                                           \
      const T m = narrow;                                                                          \
      memcpy(data + value_at(at, k).i * (int64_t)sizeof m, &m, sizeof m);                          \
    }                                                                                              \
    break;
    ELEMENTS(PUT)
#undef PUT
  default: break;
  }
}

_Noreturn static void poison_fails(Emu *e, const char *buffer, bool is_shared, int thread) {
  e->thread = thread;
  tirc_emu_fail(e, CODE_UNINITIALISED,
                is_shared ? "write it first, and put a barrier in between"
                          : "write it first, or initialise the reduction",
                "buffer \"%s\" is read where it was never written", buffer);
}

static void find_holes(Emu *e, const Piece *p, Values at, const Threads *l) {
  const Window *w = p->window;
  const uint8_t *const written = w->store->written;
  const int units = w->elem / w->store->unit, n = at.same ? 1 : l->n;
  bool whole = true;
  if (units == 1)
    for (int k = 0; k < n; k++) whole &= written[at.at[k].i] != 0;
  else
    for (int k = 0; k < n; k++)
      for (int u = 0; u < units; u++) whole &= written[at.at[k].i * units + u] != 0;
  if (whole) return;
  for (int k = 0; k < l->n; k++) {
    bool hole = false;
    for (int u = 0; u < units; u++) hole |= !written[value_at(at, k).i * units + u];
    if (!hole) continue;
    if (!p->tolerant) poison_fails(e, w->buffer->name, w->store->place == SHARED, l->at[k]);
    e->poisoned[l->at[k]] = e->any_poison = true;
    e->poisoned_buffer = w->buffer->name;
  }
}

static void ask(Emu *e, const void *node, int n, const Expr *index, const Window *w, Values at,
                const Threads *l, bool stores) {
  const Expr last = n ? index[n - 1] : NULL;
  int lanes = 1;
  bool is_scalar = true;
  for (int d = 0; d < n; d++) is_scalar &= index[d]->dtype.lanes == 1;
  for (int d = 0; d + 1 < n; d++)
    if (index[d]->dtype.lanes > 1)
      return tirc_emu_ask(e, &(Asking){node, w, at, l, 1, false, stores});
  if (last && last->op == OP_RAMP && tirc_is_int(last->args[1], 1)) lanes = last->dtype.lanes;
  tirc_emu_ask(e, &(Asking){node, w, at, l, lanes, is_scalar, stores});
}

Values tirc_emu_load(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const Window *w = p->window;
  const Store *s = w->store;
  Cell *top = e->top;
  const Values index = locate(e, w, p->args, l, room);
  if (is_run(e, s, index, l)) {
    const int64_t first = index.at[0].i * e->threads + l->first % e->threads;
    if (s->unit == w->elem && !memchr(s->written + first, 0, (size_t)l->n)) {
      get(w, NULL, first, l->n, room);
      e->top = top;
      return (Values){room, false};
    }
  }
  const Values at = own_place(e, w, index, l, room);
  if (e->costs) ask(e, p->expr, p->expr->n, p->expr->args, w, at, l, false);
  if (s->flying && e->flights.n) tirc_emu_check_flights(e, s, at, w->elem / s->unit, l, "read");
  if (s->traces) tirc_emu_note_reads(e, s, at, w->elem / s->unit, l);
  if (s->written) find_holes(e, p, at, l);
  get(w, at.at, 0, at.same ? 1 : l->n, room);
  e->top = top;
  return (Values){room, at.same};
}

/* --- stores ----------------------------------------------------------------------------------- */

/* Whether a store changes anything, which is asked within while loops. */
static void see_change(Emu *e, const Window *w, Values at, int n, const Cell *was) {
  Cell *top = e->top, *now = take(e, n);
  get(w, at.at, 0, at.same ? 1 : n, now);
  for (int k = 0; k < (at.same ? 1 : n); k++) e->changes += now[k].i != was[k].i;
  e->top = top;
}

/* poison: by thread, or NULL. */
static void store_lane(Emu *e, const Act *a, const Threads *l, Values value, const bool *poison) {
  const Window *w = a->window;
  const Store *s = w->store;
  Cell *top = e->top, *room = take(e, l->n), *was = NULL;
  const Values index = locate(e, w, a->index, l, room);
  if (!poison && !value.same && is_run(e, s, index, l) && s->unit == w->elem && !e->whiles) {
    const int64_t first = index.at[0].i * e->threads + l->first % e->threads;
    put(w, (Values){NULL, false}, first, l->n, value);
    memset(s->written + first, 1, (size_t)l->n);
    e->top = top;
    return;
  }
  const Values at = own_place(e, w, index, l, room);
  const int units = w->elem / s->unit;
  const Stmt of = a->stmt;
  if (e->costs) ask(e, of, of->u.store.n, of->u.store.indices, w, at, l, true);
  if (s->version) s->version->stamp = ++e->clock;
  if (s->flying && e->flights.n) tirc_emu_check_flights(e, s, at, units, l, "stored to");
  if (s->traces) tirc_emu_note_writes(e, s, at, units, l);
  if (a->flies && s->flying) tirc_emu_take_off(e, w->store, a, at, units, l);
  if (e->whiles) {
    was = take(e, l->n);
    get(w, at.at, 0, at.same ? 1 : l->n, was);
  }
  put(w, at, 0, l->n, value);
  if (was) see_change(e, w, at, l->n, was);
  for (int k = 0; poison && !s->written && k < l->n; k++)
    if (poison[l->at[k]]) poison_fails(e, e->poisoned_buffer, false, l->at[k]);
  for (int k = 0; s->written && k < l->n; k++)
    for (int u = 0; u < units; u++) {
      uint8_t *written = &s->written[value_at(at, k).i * units + u];
      const bool now = !poison || !poison[l->at[k]];
      e->changes += *written != now;
      *written = now;
    }
  for (int k = 0; s->report && k < l->n; k++)
    memset(s->report + value_at(at, k).i * units, 1, (size_t)units);
  e->top = top;
}

static void store_vector(Emu *e, const Act *a, const Threads *l) {
  Cell *top = e->top;
  Cell *const rows = take(e, (int64_t)a->n * l->n);
  bool any = false;
  for (e->lane = 0; e->lane < a->n; e->lane++) {
    Cell *const row = rows + (int64_t)e->lane * l->n, *const before = e->top;
    bool *const poison = a->poison + (int64_t)e->lane * e->threads;
    const Values v = evaluate(e, a->value, l, row);
    for (int k = 0; k < l->n; k++) row[k] = value_at(v, k);
    memcpy(poison, e->poisoned, (size_t)e->threads);
    any |= e->any_poison;
    if (e->any_poison) memset(e->poisoned, 0, (size_t)e->threads);
    e->any_poison = false;
    e->top = before;
  }
  for (e->lane = 0; e->lane < a->n; e->lane++)
    store_lane(e, a, l, (Values){rows + (int64_t)e->lane * l->n, false},
               any ? a->poison + (int64_t)e->lane * e->threads : NULL);
  e->lane = 0;
  e->top = top;
}

void tirc_emu_run_store(Emu *e, const Act *a, const Threads *l) {
  e->doing = a;
  if (e->costs) tirc_emu_count_work(e, a, l);
  if (a->n > 1) {
    store_vector(e, a, l);
    return;
  }
  Cell *top = e->top;
  const Values value = evaluate(e, a->value, l, take(e, l->n));
  store_lane(e, a, l, value, e->any_poison ? e->poisoned : NULL);
  if (e->any_poison) memset(e->poisoned, 0, (size_t)e->threads);
  e->any_poison = false;
  e->top = top;
}

/* --- atomic updates --------------------------------------------------------------------------- */

/* A thread after the other: each finds what those before it have left. */
static Values of_atomic(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const Window *w = p->window;
  const Store *s = w->store;
  Cell *top = e->top;
  const Values value = evaluate(e, p->a, l, take(e, l->n));
  const Values compare = p->b ? evaluate(e, p->b, l, take(e, l->n)) : value;
  const Values at = locate(e, w, p->args, l, take(e, l->n));
  Atomic a;
  (void)tirc_atomic(p->expr, &a);
  if (e->costs) ask(e, p->expr, a.place->n, a.place->args, w, at, l, true);
  if (s->version) s->version->stamp = ++e->clock;
  if (s->traces) tirc_emu_note_updates(e, s, at, w->elem / s->unit, l);
  if (s->written) find_holes(e, p, at, l);
  for (int k = 0; k < l->n; k++) {
    const Cell place = value_at(at, k), x = value_at(value, k);
    Cell now;
    get(w, &place, 0, 1, &room[k]);
    if (tirc_dtype_is_float(w->dtype))
      now.f = tirc_round_float(w->dtype, room[k].f + x.f);
    else if (a.compare)
      now.i = room[k].i == value_at(compare, k).i ? x.i : room[k].i;
    else
      (void)tirc_int_op(a.op, w->dtype, room[k].i, x.i, &now.i);
    put(w, (Values){&place, true}, 0, 1, (Values){&now, true});
    e->changes += now.i != room[k].i;
    if (s->report)
      memset(s->report + place.i * (w->elem / s->unit), 1, (size_t)(w->elem / s->unit));
  }
  e->top = top;
  return (Values){room, false};
}

Eval tirc_emu_atomic(Emu *e, Piece *p) {
  Atomic a;
  if (!tirc_atomic(p->expr, &a)) return NULL;
  p->window = tirc_emu_window(e, a.place->u.buffer);
  p->window->store->is_stored = true;
  p->n_args = a.place->n;
  p->args = tirc_emu_exprs(e, p->n_args, a.place->args);
  p->a = tirc_emu_expr(e, a.value);
  if (a.compare) p->b = tirc_emu_expr(e, a.compare);
  return of_atomic;
}
