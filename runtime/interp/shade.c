/* Memory with bounds: loads and stores of values that know how far they may be off. A memory gets
 * room for them with the first store of one that is not exact. */
#include "code.h"

#include "ir/tree/visit.h"

#include <math.h>

enum { MOST_PLACES = 16 }; /* that an index may lead to, looked at one by one */

bool tirc_shade_on(Run *run, Memory *m, const View *v) {
  Shade *s = &m->shade;
  const int64_t count = m->bytes / v->elem;
  if (s->on) return s->count == count;
  if (count > s->capacity) {
    s->capacity = count;
    s->lo = tirc_new_array(run->t, Cell, count);
    s->hi = tirc_new_array(run->t, Cell, count);
    s->mag = tirc_new_array(run->t, double, count);
    s->n = tirc_new_array(run->t, double, count);
    s->flags = tirc_alloc(run->t, (size_t)count);
  }
  memset(s->n, 0, (size_t)count * sizeof *s->n);
  memset(s->flags, 0, (size_t)count);
  s->count = count;
  s->on = true;
  return true;
}

/* Whether the rows are those of elements of this view's size. */
static bool has_rows(const View *v) { return v->memory->shade.count == v->memory->bytes / v->elem; }

void tirc_bound_element(const View *v, int64_t at, Cell value, Reach *out) {
  const Shade *s = &v->memory->shade;
  const bool floats = tirc_dtype_is_float(v->dtype);
  if (s->on && !has_rows(v)) {
    tirc_bound_open(out, v->buffer->dtype, value);
  } else if (!s->on || s->n[at] == 0) {
    if (floats)
      tirc_bound_float(out, value.f);
    else
      tirc_bound_int(out, value.i);
  } else {
    *out = (Reach){.v = value, .lo = s->lo[at], .hi = s->hi[at], .mag = s->mag[at], .n = s->n[at]};
    if (!floats) out->n = 0;
    out->open = (s->flags[at] & SHADE_OPEN) != 0;
    out->hung = (s->flags[at] & SHADE_HUNG) != 0;
  }
}

static bool was_written(const View *v, int64_t at) {
  const Memory *m = v->memory;
  return !m->written || (v->elem == m->unit && m->written[at]);
}

static void put_bound(Run *run, const View *v, int64_t at, const Reach *b) {
  Shade *s = &v->memory->shade;
  const bool floats = tirc_dtype_is_float(v->dtype);
  const bool exact = !b->hung && b->n <= 1 && tirc_bound_is_point(b, floats);
  if (exact && !s->on) return;
  if (!tirc_shade_on(run, v->memory, v)) { /* seen through a type of another size */
    for (int64_t i = 0; i < s->count; i++) s->n[i] = 1, s->flags[i] = SHADE_OPEN;
    return;
  }
  s->n[at] = exact ? 0 : floats ? b->n : 1;
  s->lo[at] = b->lo, s->hi[at] = b->hi, s->mag[at] = b->mag;
  s->flags[at] = (uint8_t)((b->open ? SHADE_OPEN : 0) | (b->hung ? SHADE_HUNG : 0));
}

/* --- where an index leads --------------------------------------------------------------------- */

typedef struct Places {
  int64_t at; /* by the values */
  int n;      /* all; 0: too many, or not all inside */
  int64_t all[MOST_PLACES];
} Places;

static void find_places(Run *run, const View *v, const Node *const *index, Places *out) {
  int64_t low[TENSOR_MAX_NDIM], count[TENSOR_MAX_NDIM], value[TENSOR_MAX_NDIM] = {0}, n = 1;
  bool inside = true;
  for (int d = 0; d < v->ndim && inside; d++) {
    Reach b;
    get_bound(run, index[d], &b);
    value[d] = b.v.i, low[d] = b.lo.i;
    inside = !b.open && b.lo.i >= 0 && b.hi.i < v->shape[d];
    count[d] = inside && b.hi.i - b.lo.i < MOST_PLACES ? b.hi.i - b.lo.i + 1 : MOST_PLACES + 1;
    n = n * count[d] > MOST_PLACES ? MOST_PLACES + 1 : n * count[d];
    if (!inside && !b.open && b.lo.i == b.hi.i) inside = true; /* which locating says */
    if (!inside)
      for (d++; d < v->ndim; d++) value[d] = get_i(run, index[d]);
  }
  out->at = tirc_locate(run, v, index, value);
  out->n = inside && n <= MOST_PLACES ? (int)n : 0;
  for (int i = 0; i < out->n; i++) {
    int64_t rest = i;
    out->all[i] = v->offset;
    for (int d = 0; d < v->ndim; d++) {
      out->all[i] += (low[d] + rest % count[d]) * v->stride[d];
      rest /= count[d];
    }
    if ((uint64_t)out->all[i] >= (uint64_t)v->count) out->n = 0;
  }
}

static bool is_exact_index(const View *v, const Node *const *index) {
  for (int d = 0; d < v->ndim; d++)
    if (index[d]->bound) return false;
  return true;
}

static void find_element(Run *run, const View *v, const Node *const *index, Places *out) {
  if (!is_exact_index(v, index)) {
    find_places(run, v, index, out);
    return;
  }
  int64_t value[TENSOR_MAX_NDIM];
  for (int d = 0; d < v->ndim; d++) value[d] = get_i(run, index[d]);
  out->at = out->all[0] = tirc_locate(run, v, index, value);
  out->n = 1;
}

void tirc_load_bound(Run *run, const Node *n, Reach *out) {
  const View *v = n->u.load.view;
  Places p;
  find_element(run, v, n->u.load.index, &p);
  tirc_bound_element(v, p.at, tirc_load_at(run, n, p.at), out);
  if (p.n == 1) return;
  if (!p.n) tirc_bound_open(out, v->buffer->dtype, out->v);
  for (int i = 0; i < p.n; i++) {
    Reach b;
    if (was_written(v, p.all[i]))
      tirc_bound_element(v, p.all[i], tirc_load_at(run, n, p.all[i]), &b);
    else
      tirc_bound_open(&b, v->buffer->dtype, out->v);
    tirc_bound_hull(out, &b, v->buffer->dtype);
  }
  out->hung = true;
}

/* --- stores ----------------------------------------------------------------------------------- */

/* `sure`: it is this element that is written. */
static void store_element(Run *run, const Step *s, int64_t at, const Reach *b, bool sure,
                          bool poisoned) {
  const View *v = s->u.store.view;
  const DType t = v->buffer->dtype;
  Reach stored = *b;
  const bool joins = !sure || run->unsure;
  if (joins && was_written(v, at)) {
    const Node old_value = {.u.load.view = (View *)(uintptr_t)v, .dtype = v->dtype};
    Reach old;
    tirc_bound_element(v, at, tirc_load_at(run, &old_value, at), &old);
    tirc_bound_hull(&stored, &old, t);
    if (!sure || run->untaken) stored.v = old.v;
  }
  if (joins) stored.hung = true;
  tirc_store_at(run, v, at, stored.v, poisoned);
  put_bound(run, v, at, &stored);
}

static void store_lane(Run *run, const Step *s, const Reach *b, bool poisoned) {
  const View *v = s->u.store.view;
  Places p;
  find_element(run, v, s->u.store.index, &p);
  if (p.n == 1) {
    store_element(run, s, p.at, b, true, poisoned);
    return;
  }
  run->unsure++;
  store_element(run, s, p.at, b, true, poisoned);
  for (int i = 0; i < p.n; i++)
    if (p.all[i] != p.at) store_element(run, s, p.all[i], b, false, poisoned);
  run->unsure--;
  if (!p.n) tirc_doubt_all(run, s);
}

static void run_store(Run *run, const Step *s) {
  run->at = s;
  run->poisoned = false;
  if (!s->u.store.lanes) {
    Reach b;
    get_bound(run, s->u.store.value, &b);
    store_lane(run, s, &b, run->poisoned);
    return;
  }
  const int lanes = tirc_store_lanes(s);
  for (int l = 0; l < lanes; l++) {
    if (!tirc_is_lane_on(run, s, l)) continue;
    run->lane = l;
    run->poisoned = false;
    get_bound(run, s->u.store.value, &s->bounds[l]);
    s->u.store.poison[l] = run->poisoned;
  }
  for (int l = 0; l < lanes; l++) {
    if (!tirc_is_lane_on(run, s, l)) continue;
    run->lane = l;
    store_lane(run, s, &s->bounds[l], s->u.store.poison[l]);
  }
  run->lane = 0;
}

/* A product that what the buffer holds is a factor of takes some of many factors. */
static bool find_factors(const Node *n, Buffer b) {
  const Expr e = n->expr;
  if (e->op == OP_LOAD) return e->u.buffer == b;
  if (e->op != OP_MUL) return false;
  const bool left = find_factors(n->a, b), right = find_factors(n->b, b);
  if (left || right) ((Node *)(uintptr_t)n)->in_any_order = true;
  return left || right;
}

void tirc_compile_bound_store(Compiler *k, Step *s) {
  (void)find_factors(s->u.store.value, s->stmt->u.store.buffer);
  s->doubt = tirc_find_doubt(k, s->stmt);
  if (s->u.store.lanes) s->bounds = tirc_new_array(k->t, Reach, tirc_store_lanes(s));
  s->run = run_store;
}

/* --- what is not known at all ----------------------------------------------------------------- */

typedef struct DoubtFinder {
  Compiler *k;
  Doubt *doubt;
  VEC(View *) views;
} DoubtFinder;

static bool find_stored(Visitor *visitor, Stmt s) {
  DoubtFinder *f = visitor->self;
  View *v = s->kind == STMT_STORE ? tirc_map_get(&f->k->views, s->u.store.buffer) : NULL;
  bool known = !v;
  for (int i = 0; i < f->views.n; i++) known |= f->views.at[i] == v;
  if (!known) vec_push(f->k->t, f->views, v);
  return true;
}

const Doubt *tirc_find_doubt(Compiler *k, Stmt s) {
  DoubtFinder f = {.k = k, .doubt = tirc_new(k->t, Doubt)};
  tirc_visit_stmt(&(Visitor){.stmt = find_stored, .self = &f}, s);
  *f.doubt = (Doubt){f.views.n, f.views.at};
  return f.doubt;
}

void tirc_doubt_all(Run *run, const Step *s) {
  for (int i = 0; i < s->doubt->n; i++) {
    const View *v = s->doubt->views[i];
    Memory *m = v->memory;
    if (!m->data) continue; /* allocated where it was not run */
    Reach b;
    tirc_bound_open(&b, v->buffer->dtype, (Cell){0});
    (void)tirc_shade_on(run, m, v);
    for (int64_t e = 0; e < m->shade.count; e++) {
      m->shade.n[e] = 1, m->shade.flags[e] = SHADE_OPEN | SHADE_HUNG;
      m->shade.lo[e] = b.lo, m->shade.hi[e] = b.hi, m->shade.mag[e] = b.mag;
    }
  }
}
