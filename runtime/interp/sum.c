/* Sums of products in double, which are most of what a check computes: C[..] = C[..] + A[..] *
 * B[..] in a block under nothing but loops of constant extents, all indices affine in the loops.
 * Such a nest runs as plain loops over addresses, some 100 times as fast as step by step.
 *
 * It does the very same operations on each element of C in the same order, so not a bit differs.
 * Other loops may change places where each has elements of its own, to walk memory along the rows.
 * Whatever step by step would complain of (an index outside, memory that was never written, too
 * many steps) is seen before, for the box of all indices, and then the nest does run step by step.
 *
 * With bounds the same loops run once more over the magnitudes of the operands, and a third time
 * where those are not exact.
 */
#include "code.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_LOOPS = 16, MOST_DIMS = 16 };
static const int64_t MOST_VALUE = INT32_MAX; /* of an index and its parts: no type overflows */

/* base + coef[0] * loop 0 + ..., loops counting from 0. */
typedef struct Affine {
  int64_t base, coef[MOST_LOOPS];
} Affine;

typedef struct Access {
  View *view;
  Affine index[MOST_DIMS];
} Access;

typedef struct Room { /* of a run with bounds */
  double *at;
  int64_t count;
} Room;

struct SumNest {
  DType t;    /* of the products, in the program */
  Room *room; /* for a, b and to; NULL without bounds */
  int n;      /* loops, outermost first */
  int64_t extent[MOST_LOOPS], steps;
  bool reduces[MOST_LOOPS]; /* init runs where all of these are at their start */
  bool has_init;
  double init;
  Access to, a, b;
};

/* --- recognition ------------------------------------------------------------------------------ */

typedef struct Finder {
  Compiler *k;
  SumNest *nest;
  PtrMap vars; /* loop variable or iterator -> Affine */
} Finder;

/* False where it may exceed MOST_VALUE; low and high: the ends of its values. */
static bool range_of(const SumNest *s, const Affine *f, int64_t *low, int64_t *high) {
  *low = *high = f->base;
  if (f->base < -MOST_VALUE || f->base > MOST_VALUE) return false;
  for (int l = 0; l < s->n; l++) {
    int64_t c = f->coef[l];
    if (c < -MOST_VALUE || c > MOST_VALUE) return false;
    int64_t span = c * (s->extent[l] - 1);
    *(span < 0 ? low : high) += span;
    if (*low < -MOST_VALUE || *high > MOST_VALUE) return false;
  }
  return true;
}

/* x + y, x - y, or x * y where one of them is a constant. */
static bool combine(const SumNest *s, Op op, const Affine *x, const Affine *y, Affine *out) {
  bool constant[2] = {true, true};
  for (int l = 0; l < s->n; l++) {
    if (x->coef[l]) constant[0] = false;
    if (y->coef[l]) constant[1] = false;
  }
  if (op == OP_MUL && !constant[1]) return constant[0] && combine(s, op, y, x, out);
  int64_t factor = op == OP_MUL ? y->base : 1, sign = op == OP_MUL ? 0 : op == OP_ADD ? 1 : -1;
  out->base = x->base * factor + y->base * sign;
  for (int l = 0; l < s->n; l++) out->coef[l] = x->coef[l] * factor + y->coef[l] * sign;
  return true;
}

static bool read_affine(Finder *f, Expr e, Affine *out) {
  const Affine *known = e->op == OP_VAR ? tirc_map_get(&f->vars, e) : NULL;
  Affine x, y;
  int64_t low, high;
  *out = known ? *known : (Affine){0};
  if (e->dtype.code != TYPE_INT || e->dtype.bits < 32 || e->dtype.lanes != 1) return false;
  bool ok = known;
  if (e->op == OP_INT) ok = tirc_const_int(e, &out->base);
  if (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL)
    ok = read_affine(f, e->args[0], &x) && read_affine(f, e->args[1], &y) &&
         combine(f->nest, (Op)e->op, &x, &y, out);
  return ok && range_of(f->nest, out, &low, &high);
}

static bool read_access(Finder *f, Buffer b, int n, const Expr *indices, Access *out) {
  out->view = tirc_compile_view(f->k, b);
  if (n > MOST_DIMS || n != b->ndim || out->view->dtype.code != TYPE_FLOAT ||
      out->view->dtype.bits != 64)
    return false;
  for (int d = 0; d < n; d++)
    if (!read_affine(f, indices[d], &out->index[d])) return false;
  return true;
}

static bool same_index(const SumNest *s, const Access *x, const Access *y) {
  for (int d = 0; d < x->view->ndim; d++) {
    if (x->index[d].base != y->index[d].base) return false;
    for (int l = 0; l < s->n; l++)
      if (x->index[d].coef[l] != y->index[d].coef[l]) return false;
  }
  return x->view == y->view;
}

static bool read_load(Finder *f, Expr e, Access *out) {
  return e->op == OP_LOAD && read_access(f, e->u.buffer, e->n, e->args, out);
}

static bool read_body(Finder *f, const Block *b) {
  SumNest *s = f->nest;
  Access again = {0};
  Stmt to = b->body, init = b->init;
  if (to->kind != STMT_STORE || to->u.store.value->op != OP_ADD ||
      to->u.store.value->args[1]->op != OP_MUL)
    return false;
  Expr sum = to->u.store.value, product = sum->args[1];
  if (!read_access(f, to->u.store.buffer, to->u.store.n, to->u.store.indices, &s->to) ||
      !read_load(f, sum->args[0], &again) || !same_index(s, &s->to, &again) ||
      !read_load(f, product->args[0], &s->a) || !read_load(f, product->args[1], &s->b))
    return false;
  s->t = product->dtype;
  if (f->k->bounded) s->room = tirc_new_array(f->k->t, Room, 3);
  if (!init) return true;
  if (init->kind != STMT_STORE || init->u.store.value->op != OP_FLOAT ||
      !read_access(f, init->u.store.buffer, init->u.store.n, init->u.store.indices, &again) ||
      !same_index(s, &s->to, &again))
    return false;
  s->has_init = true;
  s->init = init->u.store.value->u.f;
  if (f->k->bounded) s->init = tirc_round_float(s->t, s->init);
  return true;
}

/* An iterator stays in its domain, and one of a reduction is at its start where its loops are. */
static bool read_iterator(Finder *f, const IterVar *iter, Expr value) {
  SumNest *s = f->nest;
  Affine *a = tirc_new(f->k->t, Affine);
  int64_t min, extent, low, high;
  if (!tirc_const_int(iter->dom.min, &min) || !tirc_const_int(iter->dom.extent, &extent) ||
      !read_affine(f, value, a) || !range_of(s, a, &low, &high) || low < min ||
      high - min >= extent)
    return false;
  tirc_map_set(f->k->t, &f->vars, iter->var, a);
  if (iter->kind != ITER_REDUCE) return true;
  for (int l = 0; l < s->n; l++) {
    if (a->coef[l] < 0) return false;
    if (a->coef[l] > 0) s->reduces[l] = true;
  }
  return low == min;
}

static bool read_loop(Finder *f, const For *loop) {
  SumNest *s = f->nest;
  Affine *a = tirc_new(f->k->t, Affine);
  int64_t min, extent;
  if (s->n == MOST_LOOPS || !tirc_const_int(loop->min, &min) ||
      !tirc_const_int(loop->extent, &extent) || extent < 1 || extent > MOST_VALUE)
    return false;
  a->base = min;
  a->coef[s->n] = 1;
  s->extent[s->n++] = extent;
  tirc_map_set(f->k->t, &f->vars, loop->var, a);
  return true;
}

/* Loop iterations in all, of each loop as often as it runs. */
static bool count_steps(SumNest *s) {
  int64_t times = 1;
  for (int l = 0; l < s->n; l++)
    if (__builtin_mul_overflow(times, s->extent[l], &times) ||
        __builtin_add_overflow(s->steps, times, &s->steps))
      return false;
  return true;
}

const SumNest *tirc_find_sum(Compiler *k, Stmt stmt) {
  if (!k->in_double) return NULL;
  Finder f = {.k = k, .nest = tirc_new(k->t, SumNest)};
  for (; stmt->kind == STMT_FOR; stmt = stmt->u.loop.body)
    if (!read_loop(&f, &stmt->u.loop)) return NULL;
  const Block *b = &stmt->u.block;
  if (stmt->kind != STMT_BLOCK || b->n_allocs || b->n_matches || !tirc_is_true(b->predicate))
    return NULL;
  for (int i = 0; i < b->n_iters; i++)
    if (!read_iterator(&f, &b->iters[i], b->iter_values[i])) return NULL;
  return read_body(&f, b) && count_steps(f.nest) ? f.nest : NULL;
}

/* --- running ---------------------------------------------------------------------------------- */

/* An access as addresses. */
typedef struct Walk {
  double *at;
  int64_t stride[MOST_LOOPS]; /* of each loop, in elements; 0 where it runs once */
  int64_t low, high;          /* the elements between which all of them are */
} Walk;

typedef struct Sum {
  Run *run;
  const SumNest *nest;
  int order[MOST_LOOPS]; /* outermost first */
  Walk to, a, b;
  uint8_t *written; /* of the element `to.at`, or NULL: it need not be said */
} Sum;

/* False where an index leaves the buffer or its memory. */
static bool start_walk(const SumNest *s, const Access *x, Walk *out) {
  const View *v = x->view;
  int64_t at = v->offset, low, high;
  *out = (Walk){0};
  for (int d = 0; d < v->ndim; d++) {
    if (!range_of(s, &x->index[d], &low, &high) || low < 0 || high >= v->shape[d]) return false;
    at += x->index[d].base * v->stride[d];
    for (int l = 0; l < s->n; l++)
      if (s->extent[l] > 1) out->stride[l] += x->index[d].coef[l] * v->stride[d];
  }
  out->low = out->high = at;
  for (int l = 0; l < s->n; l++) {
    int64_t span = out->stride[l] * (s->extent[l] - 1);
    *(span < 0 ? &out->low : &out->high) += span;
  }
  out->at = (double *)(void *)v->memory->data + at;
  return out->low >= 0 && out->high < v->count && (!v->memory->written || v->memory->unit == 8);
}

static bool is_written(const Access *x, const Walk *w) {
  const uint8_t *written = x->view->memory->written;
  return !written || !memchr(written + w->low, 0, (size_t)(w->high - w->low + 1));
}

/* Whether all loops but those of the reduction lead to an element of their own each: sorted by
 * stride, each steps over all that the smaller ones reach. */
static bool is_injective(const Sum *x) {
  const SumNest *s = x->nest;
  int64_t reach = 0;
  bool done[MOST_LOOPS] = {false};
  for (;;) {
    int next = -1;
    for (int l = 0; l < s->n; l++)
      if (!done[l] && !s->reduces[l] && s->extent[l] > 1 &&
          (next < 0 || llabs(x->to.stride[l]) < llabs(x->to.stride[next])))
        next = l;
    if (next < 0) return true;
    if (llabs(x->to.stride[next]) <= reach) return false;
    reach += llabs(x->to.stride[next]) * (s->extent[next] - 1);
    done[next] = true;
  }
}

static int count_jumps(const Sum *x, int l) {
  return (llabs(x->to.stride[l]) > 1) + (llabs(x->a.stride[l]) > 1) + (llabs(x->b.stride[l]) > 1);
}

/* Innermost the loop that jumps least, preferably none of the reduction, whose loops keep their
 * order; before it those of the reduction. */
static void choose_order(Sum *x) {
  const SumNest *s = x->nest;
  int inner = -1, n = 0;
  for (int l = 0; l < s->n; l++) x->order[l] = l;
  if (!is_injective(x)) return;
  for (int l = s->n - 1; l >= 0; l--)
    if (s->reduces[l] && s->extent[l] > 1 && inner < 0) inner = l;
  for (int l = 0; l < s->n; l++)
    if (!s->reduces[l] && s->extent[l] > 1 &&
        (inner < 0 || count_jumps(x, l) < count_jumps(x, inner) ||
         (count_jumps(x, l) == count_jumps(x, inner) &&
          (s->reduces[inner] || s->extent[l] >= s->extent[inner]))))
      inner = l;
  for (int r = 0; r < 2; r++)
    for (int l = 0; l < s->n; l++)
      if (s->reduces[l] == r && l != inner) x->order[n++] = l;
  if (inner >= 0) x->order[n] = inner;
}

static void run_inner(const Sum *x, int l, double *to, const double *a, const double *b,
                      bool first) {
  int64_t n = x->nest->extent[l], t = x->to.stride[l], p = x->a.stride[l], q = x->b.stride[l];
  double init = x->nest->init;
  if (first && x->written)
    for (int64_t i = 0; i < n; i++) x->written[to + i * t - x->to.at] = 1;
  if (x->nest->reduces[l]) {
    double sum = first ? init : *to;
    for (int64_t i = 0; i < n; i++) sum += a[i * p] * b[i * q];
    *to = sum;
  } else if (first) {
    for (int64_t i = 0; i < n; i++) to[i * t] = init + a[i * p] * b[i * q];
  } else if (t == 1 && p == 0 && q == 1) { /* nothing to multiply in the addresses */
    double factor = *a;
    for (int64_t i = 0; i < n; i++) to[i] += factor * b[i];
  } else {
    for (int64_t i = 0; i < n; i++) to[i * t] += a[i * p] * b[i * q];
  }
}

static void run_level(const Sum *x, int level, double *to, const double *a, const double *b,
                      bool first) {
  int l = x->order[level];
  if (level == x->nest->n - 1) {
    run_inner(x, l, to, a, b, first);
    return;
  }
  for (int64_t i = 0; i < x->nest->extent[l]; i++) {
    run_level(x, level + 1, to, a, b, first && (i == 0 || !x->nest->reduces[l]));
    if (x->run->wishes) tirc_ask_to_go_on(x->run);
    to += x->to.stride[l];
    a += x->a.stride[l];
    b += x->b.stride[l];
  }
}

/* --- with bounds ------------------------------------------------------------------------------ */

static double *make_room(Run *run, Room *r, int64_t count) {
  if (count > r->count) {
    r->at = tirc_new_array(run->t, double, count);
    r->count = count;
  }
  return r->at;
}

/* For loops over whole arrays, in which no step is counted. */
static void ask_now_and_then(Run *run, int64_t i) {
  enum { ELEMENTS = 1 << 16 };
  if (i % ELEMENTS == 0) tirc_ask_to_go_on(run);
}

/* Arrays like an operand's, from where the walk starts: its values, their magnitudes, and those
 * with what they may be off. */
typedef struct Operand {
  const double *value, *magnitude, *most;
  bool is_exact;
} Operand;

/* False where one of them is no number, or open. */
static bool read_operand(Run *run, const Access *x, const Walk *w, DType t, Room *room,
                         Operand *out) {
  const Shade *shade = &x->view->memory->shade;
  const int64_t n = w->high - w->low + 1, skip = w->at - (double *)(void *)x->view->memory->data;
  const double *from = w->at - (skip - w->low);
  double *to = make_room(run, room, 3 * n);
  out->is_exact = true;
  for (int64_t i = 0; i < n; i++) {
    Reach b;
    ask_now_and_then(run, i);
    tirc_bound_float(&b, from[i]);
    if (shade->on) {
      tirc_bound_element(x->view, w->low + i, b.v, &b);
      tirc_bound_close(&b, t);
    }
    if (b.open || !isfinite(b.v.f)) return false;
    const double off = fmax(b.hi.f - b.v.f, b.v.f - b.lo.f);
    if (off > 0) out->is_exact = false;
    to[i] = b.v.f, to[n + i] = fabs(b.v.f), to[2 * n + i] = fabs(b.v.f) + off;
  }
  to += skip - w->low;
  *out = (Operand){to, to + n, to + 2 * n, out->is_exact};
  return true;
}

/* What the elements of `to` were before: magnitudes and what they may be off, a row each. */
static bool read_before(const Sum *x, Shade *shade, double *off) {
  const View *v = x->nest->to.view;
  for (int64_t e = x->to.low; e <= x->to.high; e++) {
    Reach b;
    ask_now_and_then(x->run, e - x->to.low);
    tirc_bound_element(v, e, (Cell){.f = ((const double *)(void *)v->memory->data)[e]}, &b);
    if (!x->nest->has_init && (b.open || !isfinite(b.v.f))) return false;
    if (shade->n[e] == 0) shade->mag[e] = b.mag;
    off[e - x->to.low] = fmax(b.hi.f - b.v.f, b.v.f - b.lo.f);
  }
  return true;
}

typedef struct Rows {
  const Sum *sum;
  Shade *shade;
  const double *data;
  double terms;              /* that each element gets */
  const double *off, *plain; /* before; magnitudes of the products themselves, or NULL */
} Rows;

static void set_row(const Rows *r, int64_t e) {
  const SumNest *s = r->sum->nest;
  Shade *to = r->shade;
  const double u = tirc_unit_roundoff(s->t), v = r->data[e];
  const double n = r->terms + (s->has_init || to->n[e] == 0 ? 1 : to->n[e]);
  const double mag = to->mag[e] * (1 + n * 0x1p-52);
  double off = u * mag + n * 0x1p-1074; /* products are rounded, or not */
  if (!s->has_init) off += r->off[e - r->sum->to.low];
  if (r->plain) off += mag - r->plain[e - r->sum->to.low] * (1 - n * 0x1p-52);
  if (n <= 2) off += u * mag;
  if (s->t.bits == 32) off += n * 0x1p-150;
  to->lo[e].f = v - off, to->hi[e].f = v + off;
  to->mag[e] = mag, to->n[e] = n;
  to->flags[e] = (uint8_t)(isfinite(v) ? 0 : SHADE_OPEN);
}

/* Each element that the nest writes. */
static void set_rows(const Rows *r, int l, int64_t e) {
  const SumNest *s = r->sum->nest;
  if (l == s->n) {
    set_row(r, e);
    return;
  }
  const int64_t times = s->reduces[l] ? 1 : s->extent[l];
  for (int64_t i = 0; i < times; i++) set_rows(r, l + 1, e + i * r->sum->to.stride[l]);
}

/* The nest again, over other arrays of the same shape. */
static void run_again(const Sum *x, double init, double *to, const double *a, const double *b) {
  SumNest nest = *x->nest;
  Sum again = *x;
  again.nest = &nest;
  again.written = NULL;
  nest.init = init;
  run_level(&again, 0, to, a, b, nest.has_init);
}

static bool run_with_bounds(Sum *x) {
  const SumNest *s = x->nest;
  Memory *m = s->to.view->memory;
  const int64_t start = x->to.at - (double *)(void *)m->data, skip = start - x->to.low;
  const int64_t range = x->to.high - x->to.low + 1;
  Operand a, b;
  if (x->run->unsure || !is_injective(x) || !isfinite(s->init) ||
      !read_operand(x->run, &s->a, &x->a, s->t, &s->room[0], &a) ||
      !read_operand(x->run, &s->b, &x->b, s->t, &s->room[1], &b) ||
      !tirc_shade_on(x->run, m, s->to.view))
    return false;
  double *off = make_room(x->run, &s->room[2], 2 * range), *plain = off + range;
  if (!read_before(x, &m->shade, off)) return false;
  const bool exact = a.is_exact && b.is_exact;
  if (!exact && !s->has_init)
    memcpy(plain, m->shade.mag + x->to.low, (size_t)range * sizeof *plain);
  run_level(x, 0, x->to.at, a.value, b.value, s->has_init);
  run_again(x, fabs(s->init), m->shade.mag + start, a.most, b.most);
  if (!exact) run_again(x, fabs(s->init), plain + skip, a.magnitude, b.magnitude);
  Rows rows = {x, &m->shade, (double *)(void *)m->data, 1, off, exact ? NULL : plain};
  for (int l = 0; l < s->n; l++)
    if (s->reduces[l]) rows.terms *= (double)s->extent[l];
  set_rows(&rows, 0, start);
  return true;
}

bool tirc_run_sum(Run *run, const SumNest *s) {
  Sum x = {.run = run, .nest = s};
  const Memory *m = s->to.view->memory;
  if (run->observer || s->steps > run->max_steps - run->steps || !start_walk(s, &s->to, &x.to) ||
      !start_walk(s, &s->a, &x.a) || !start_walk(s, &s->b, &x.b) || !is_written(&s->a, &x.a) ||
      !is_written(&s->b, &x.b) || (!s->has_init && !is_written(&s->to, &x.to)) ||
      m == s->a.view->memory || m == s->b.view->memory)
    return false;
  for (int l = 0; l < s->n; l++)
    if (s->reduces[l] && x.to.stride[l]) return false;
  if (m->written) x.written = m->written + (x.to.at - (double *)(void *)m->data);
  choose_order(&x);
  if (s->room) {
    if (!run_with_bounds(&x)) return false;
  } else {
    run_level(&x, 0, x.to.at, x.a.at, x.b.at, s->has_init);
  }
  run->steps += s->steps;
  return true;
}
