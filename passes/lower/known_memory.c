/* What each element of memory holds at one point of a function. */
#include "known.h"

enum { MOST_ELEMENTS = 4096 };

static int64_t elements_of(Buffer b) {
  int64_t n = 1, extent;
  for (int d = 0; d < b->ndim; d++)
    if (!tirc_const_int(b->shape[d], &extent) || extent < 1 ||
        __builtin_mul_overflow(n, extent, &n) || n > MOST_ELEMENTS)
      return 0;
  return b->dtype.lanes == 1 && !b->strides && !b->elem_offset ? n : 0;
}

void tirc_memory_add(Memory *m, Buffer b, bool given, bool apart) {
  if (tirc_map_has(&m->number, b->data)) return;
  const Store1 s = {b, apart ? elements_of(b) : 0, given};
  vec_push(m->c, m->stores, s);
  tirc_map_set(m->c, &m->number, b->data, (const void *)(intptr_t)m->stores.n);
}

static Expr unknown(Memory *m, Buffer b) { return tirc_var(m->c, b->name, b->dtype); }

Cell1 *tirc_memory_unknown(Memory *m, const Store1 *s) {
  if (!s->n) return NULL;
  Cell1 *cells = tirc_new_array(m->c, Cell1, s->n);
  for (int64_t i = 0; i < s->n; i++) cells[i].value = unknown(m, s->buffer);
  m->work -= s->n;
  return cells;
}

State1 tirc_memory_start(Memory *m) {
  State1 s = {tirc_new_array(m->c, Cell1 *, m->stores.n + 1)};
  for (int i = 0; i < m->stores.n; i++) s.cells[i] = tirc_memory_unknown(m, &m->stores.at[i]);
  return s;
}

State1 tirc_memory_copy(Memory *m, State1 s) {
  State1 out = {tirc_new_array(m->c, Cell1 *, m->stores.n + 1)};
  for (int i = 0; i < m->stores.n; i++) {
    if (!s.cells[i]) continue;
    out.cells[i] = tirc_copy(m->c, s.cells[i], (int)m->stores.at[i].n);
    m->work -= m->stores.at[i].n;
  }
  return out;
}

static bool has(const Pending *list, const Turns *store) {
  while (list && list->store != store) list = list->next;
  return list != NULL;
}

static const Pending *both(Memory *m, const Pending *a, const Pending *b) {
  for (; b; b = b->next) {
    if (has(a, b->store)) continue;
    Pending *p = tirc_new(m->c, Pending);
    *p = (Pending){b->store, a};
    a = p;
  }
  return a;
}

void tirc_memory_join(Memory *m, State1 to, State1 other) {
  for (int i = 0; i < m->stores.n; i++) {
    const Store1 *s = &m->stores.at[i];
    for (int64_t k = 0; to.cells[i] && k < s->n; k++) {
      Cell1 *a = &to.cells[i][k];
      const Cell1 *b = &other.cells[i][k];
      if (a->value != b->value && !tirc_expr_same(a->value, b->value))
        a->value = unknown(m, s->buffer);
      if (a->pending != b->pending) a->pending = both(m, a->pending, b->pending);
    }
    m->work -= s->n;
  }
}

int64_t tirc_memory_place(const Memory *m, Buffer b, const Expr *indices, int *store) {
  int64_t place = 0, at, extent;
  *store = (int)(intptr_t)tirc_map_get(&m->number, b->data) - 1;
  if (*store < 0 || !m->stores.at[*store].n) return -1;
  for (int d = 0; d < b->ndim; d++) {
    if (!tirc_const_int(indices[d], &at) || !tirc_const_int(b->shape[d], &extent) || at < 0 ||
        at >= extent)
      return -1;
    place = place * extent + at;
  }
  return place < m->stores.at[*store].n ? place : -1;
}

static void read_one(Cell1 *cell) {
  for (const Pending *p = cell->pending; p; p = p->next) p->store->used = true;
  cell->pending = NULL;
}

void tirc_memory_read(State1 s, int store, int64_t n, int64_t place) {
  if (!s.cells[store]) return;
  if (place >= 0) read_one(&s.cells[store][place]);
  for (int64_t i = 0; place < 0 && i < n; i++) read_one(&s.cells[store][i]);
}

void tirc_memory_forget(Memory *m, State1 s, int store) {
  if (!s.cells[store]) return;
  tirc_memory_read(s, store, m->stores.at[store].n, -1);
  s.cells[store] = tirc_memory_unknown(m, &m->stores.at[store]);
}
