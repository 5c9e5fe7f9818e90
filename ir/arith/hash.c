/* The structural hash. Equality (equal.c) looks through names, the order of dictionaries, and the
 * spelling of index expressions, which may be proved equal and not only look so. No normal form
 * keeps up with a prover, but the values do: two expressions that are equal under the ranges around
 * them are equal at every point of these ranges. So the tree is walked at a few points, at which
 * each variable has a value of its range, and what goes into the hash of an integer expression is
 * what it comes to there. Variables get their values by the order of their definitions. Elements of
 * buffers, floats and opaque calls come to hashes of their own parts.
 *
 * A change here changes what is stored: databases keep programs by this hash. */
#include "hash.h"

#include "ir/tree/graph.h"

#include <math.h>

#include "arith.h"
#include "ir/tree/annotations.h"
#include "ir/tree/visit.h"

enum { POINTS = 4 };

typedef struct Hash {
  Tirc *c;
  Analyzer *analyzer;
  PtrMap simplified; /* expression -> the same, simplified; for all points */
  PtrMap values;     /* variable, or buffer -> its value (uint64_t *) at this point */
  PtrMap known;      /* large expression -> its value at this point */
  int point;
  uint64_t n_defined;
  bool dead; /* the point is in no range around here: any expression may be equal to any other */
  uint64_t sum;
} Hash;

/* --- mixing ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 29) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 32;
}

static uint64_t mix_text(const char *s) {
  uint64_t x = UINT64_C(0xcbf29ce484222325);
  for (; s && *s; s++) x = (x ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
  return mix(x, s != NULL);
}

static uint64_t mix_float(double v) {
  uint64_t bits = 0;
  if (isnan(v)) v = NAN;
  if (v != 0) memcpy(&bits, &v, sizeof bits); /* -0 and 0 are equal */
  return mix(bits, 'f');
}

static void add(Hash *h, uint64_t x) { h->sum = mix(h->sum, x); }
static void add_text(Hash *h, const char *s) { add(h, mix_text(s)); }

static uint64_t of_dtype(DType t) {
  return (uint64_t)t.code << 32 | (uint64_t)t.bits << 16 | t.lanes;
}

/* --- values ----------------------------------------------------------------------------------- */

static void set_value(Hash *h, const void *key, uint64_t value) {
  uint64_t *box = tirc_new(h->c, uint64_t);
  *box = value;
  tirc_map_set(h->c, &h->values, key, box);
}

static bool is_integral(DType t) { return tirc_dtype_is_int(t) || t.code == TYPE_BOOL; }

/* A hash as a value of the type: of an integer, a small one that is no surprise to any bound. */
static uint64_t as_value(DType t, uint64_t x) {
  return t.code == TYPE_BOOL ? x & 1 : tirc_dtype_is_int(t) ? x & 0x7f : x;
}

static uint64_t free_value(const Hash *h, DType t, uint64_t number) {
  uint64_t x = mix(mix(number, (uint64_t)h->point), 'v');
  return tirc_dtype_is_int(t) && t.bits > 16 ? 1 + (x & 0xfff) : as_value(t, x);
}

static void define(Hash *h, Expr var) {
  set_value(h, var, free_value(h, var->dtype, ++h->n_defined));
}

static uint64_t value_of(Hash *h, Expr e);

static void define_in(Hash *h, Expr var, Range r) {
  uint64_t number = ++h->n_defined;
  int64_t extent = (int64_t)value_of(h, r.extent), at = 0;
  if (extent <= 0)
    h->dead = true;
  else if (h->point == 1)
    at = extent - 1;
  else if (h->point > 1)
    at = (int64_t)(mix(mix(number, (uint64_t)h->point), 'i') % (uint64_t)extent);
  set_value(h, var, value_of(h, r.min) + (uint64_t)at);
  tirc_bind_range(h->analyzer, var, r);
}

static int64_t narrowed(DType t, int64_t v) {
  if (t.code == TYPE_BOOL) return v != 0;
  if (t.bits >= 64) return v;
  const uint64_t low = (uint64_t)v & ((UINT64_C(1) << t.bits) - 1);
  const bool negative = t.code == TYPE_INT && low >> (t.bits - 1);
  return (int64_t)(negative ? low - (UINT64_C(1) << t.bits) : low);
}

static int64_t divided(Op op, int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (y == -1) return op == OP_TRUNCMOD || op == OP_FLOORMOD ? 0 : (int64_t)(0 - (uint64_t)x);
  const int64_t q = x / y, r = x % y;
  const bool below = r != 0 && (r < 0) != (y < 0);
  switch (op) {
  case OP_TRUNCDIV: return q;
  case OP_TRUNCMOD: return r;
  case OP_FLOORDIV: return q - below;
  default: return below ? r + y : r;
  }
}

static int64_t shifted(Op op, int64_t x, int64_t by) {
  if (by < 0 || by > 63) return 0;
  return op == OP_SHIFT_LEFT ? (int64_t)((uint64_t)x << by) : x >> by;
}

/* Of integers; false: the operation is opaque. What leaves 64 bits wraps, so that sums and products
 * are the same in any order. */
static bool integer_value(Expr e, int64_t x, int64_t y, int64_t *out) {
  const uint64_t u = (uint64_t)x, v = (uint64_t)y;
  switch ((Op)e->op) {
  case OP_ADD: return *out = (int64_t)(u + v), true;
  case OP_SUB: return *out = (int64_t)(u - v), true;
  case OP_MUL: return *out = (int64_t)(u * v), true;
  case OP_TRUNCDIV:
  case OP_TRUNCMOD:
  case OP_FLOORDIV:
  case OP_FLOORMOD: return *out = divided((Op)e->op, x, y), true;
  case OP_MIN: return *out = x < y ? x : y, true;
  case OP_MAX: return *out = x > y ? x : y, true;
  case OP_EQ: return *out = x == y, true;
  case OP_NE: return *out = x != y, true;
  case OP_LT: return *out = x < y, true;
  case OP_LE: return *out = x <= y, true;
  case OP_GT: return *out = x > y, true;
  case OP_GE: return *out = x >= y, true;
  case OP_AND: return *out = x && y, true;
  case OP_OR: return *out = x || y, true;
  case OP_NOT: return *out = !x, true;
  case OP_BITWISE_AND: return *out = x & y, true;
  case OP_BITWISE_OR: return *out = x | y, true;
  case OP_BITWISE_XOR: return *out = x ^ y, true;
  case OP_BITWISE_NOT: return *out = ~x, true;
  case OP_SHIFT_LEFT:
  case OP_SHIFT_RIGHT: return *out = shifted((Op)e->op, x, y), true;
  case OP_ABS: return *out = x < 0 ? (int64_t)(0 - u) : x, true;
  case OP_CAST: return *out = narrowed(e->dtype, x), true;
  case OP_LIKELY: return *out = x, true;
  default: return false;
  }
}

static uint64_t opaque_value(Hash *h, Expr e) {
  uint64_t x = mix(e->op, of_dtype(tirc_dtype_lanes(e->dtype, 1)));
  if (e->op == OP_CALL) x = mix(x, mix_text(tirc_called(e)));
  if (e->op == OP_LOAD) {
    const uint64_t *buffer = tirc_map_get(&h->values, e->u.buffer);
    x = mix(x, buffer ? *buffer : 0);
  }
  for (int i = 0; i < e->n; i++) x = mix(x, value_of(h, e->args[i]));
  return as_value(e->dtype, x);
}

static uint64_t computed_value(Hash *h, Expr e) {
  bool integers = e->n > 0 && e->n <= 2 && is_integral(e->dtype);
  for (int i = 0; i < e->n; i++) integers = integers && is_integral(e->args[i]->dtype);
  int64_t v;
  if (!integers) return opaque_value(h, e);
  const int64_t x = (int64_t)value_of(h, e->args[0]);
  if (!integer_value(e, x, e->n > 1 ? (int64_t)value_of(h, e->args[1]) : 0, &v))
    return opaque_value(h, e);
  return (uint64_t)v;
}

static uint64_t walked_value(Hash *h, Expr e) {
  const uint64_t *given = NULL;
  switch ((Op)e->op) {
  case OP_VAR:
    given = tirc_map_get(&h->values, e);
    return given ? *given : free_value(h, e->dtype, 0);
  case OP_INT:
  case OP_LARGE_UINT: return (uint64_t)e->u.i;
  case OP_FLOAT: return mix_float(e->u.f);
  case OP_STRING: return mix_text(e->u.s);
  case OP_SELECT:
  case OP_IF_THEN_ELSE: return value_of(h, e->args[value_of(h, e->args[0]) ? 1 : 2]);
  case OP_LET: set_value(h, e->args[0], value_of(h, e->args[1])); return value_of(h, e->args[2]);
  case OP_DICT: { /* in any order */
    uint64_t x = 0;
    for (int i = 0; i + 1 < e->n; i += 2)
      x += mix(value_of(h, e->args[i]), value_of(h, e->args[i + 1]));
    return mix(x, 'd');
  }
  case OP_RAMP: { /* of a vector, one lane */
    const uint64_t lane = mix((uint64_t)h->point, 'l') % (e->dtype.lanes ? e->dtype.lanes : 1);
    return value_of(h, e->args[0]) + lane * value_of(h, e->args[1]);
  }
  case OP_BROADCAST: return value_of(h, e->args[0]);
  default: return computed_value(h, e);
  }
}

static uint64_t value_of(Hash *h, Expr e) {
  enum { LARGE = 64 }; /* nodes, which may stand for a smaller tree with shared parts */
  if (e->size < LARGE) return walked_value(h, e);
  uint64_t *known = tirc_map_get(&h->known, e);
  if (known) return *known;
  known = tirc_new(h->c, uint64_t);
  *known = walked_value(h, e);
  tirc_map_set(h->c, &h->known, e, known);
  return *known;
}

static Expr simplified(Hash *h, Expr e) {
  if (e->n == 0) return e;
  Expr s = tirc_map_get(&h->simplified, e);
  if (!s) tirc_map_set(h->c, &h->simplified, e, s = tirc_simplify(h->analyzer, e));
  return s;
}

static void add_expr(Hash *h, Expr e) {
  add(h, of_dtype(e->dtype));
  if (!h->dead) add(h, value_of(h, simplified(h, e)));
}

static void add_exprs(Hash *h, int n, const Expr *at) {
  for (int i = 0; i < n; i++) add_expr(h, at[i]);
}

/* --- attributes, buffers, regions ------------------------------------------------------------- */

static void add_attrs(Hash *h, Attrs attrs, const char *but) {
  uint64_t all = 0;
  for (int i = 0; i < attrs.n; i++) {
    Expr value = attrs.at[i].value;
    if (but && strcmp(attrs.at[i].key, but) == 0) continue;
    /* Values are equal as bools and as ints, so only the values count. */
    all += mix(mix_text(attrs.at[i].key), h->dead ? 0 : value_of(h, simplified(h, value)));
  }
  add(h, all);
}

static void add_new_exprs(Hash *h, int n, const Expr *at) {
  for (int i = 0; i < n; i++) {
    if (at[i]->op == OP_VAR && !tirc_map_get(&h->values, at[i])) define(h, at[i]);
    add_expr(h, at[i]);
  }
}

static void define_buffer(Hash *h, Buffer b) {
  add(h, of_dtype(b->dtype));
  add(h, (uint64_t)b->ndim);
  add_new_exprs(h, b->ndim, b->shape);
  add(h, b->strides != NULL);
  add(h, b->one_stride);
  if (b->strides) add_new_exprs(h, b->ndim, b->strides);
  Expr zero = tirc_int32(h->c, 0);
  add_new_exprs(h, 1, b->elem_offset ? &b->elem_offset : &zero);
  add_text(h, b->scope);
  add(h, (uint64_t)b->align);
  for (int i = 0; i < b->n_axis_separators; i++) add(h, (uint64_t)b->axis_separators[i]);
  const uint64_t number = mix(++h->n_defined, 'b');
  set_value(h, b, number);
  set_value(h, b->data, number);
}

static void add_buffer(Hash *h, const void *b) {
  const uint64_t *number = tirc_map_get(&h->values, b);
  add(h, number ? *number : 0);
}

static void add_regions(Hash *h, int n, const Region *at) {
  add(h, (uint64_t)n);
  for (int i = 0; i < n; i++) {
    add_buffer(h, at[i].buffer);
    for (int d = 0; d < at[i].buffer->ndim; d++) {
      add_expr(h, at[i].dims[d].min);
      add_expr(h, at[i].dims[d].extent);
    }
  }
}

/* --- statements ------------------------------------------------------------------------------- */

static void add_stmt(Hash *h, Stmt s);

static void add_for(Hash *h, const For *loop) {
  add(h, of_dtype(loop->var->dtype));
  add(h, loop->kind);
  add_expr(h, loop->min);
  add_expr(h, loop->extent);
  add_text(h, loop->thread);
  add_attrs(h, loop->annotations, NULL);
  const bool outside = h->dead;
  define_in(h, loop->var, tirc_range(loop->min, loop->extent));
  add_stmt(h, loop->body);
  h->dead = outside;
}

static void add_block(Hash *h, const Block *b) {
  const bool outside = h->dead;
  add_text(h, b->name);
  add(h, (uint64_t)b->n_iters);
  const bool runs = outside || value_of(h, simplified(h, b->predicate));
  for (int i = 0; i < b->n_iters; i++) {
    add(h, b->iters[i].kind);
    add_expr(h, b->iters[i].dom.min);
    add_expr(h, b->iters[i].dom.extent);
    if (runs) add_expr(h, b->iter_values[i]); /* elsewhere, equal ones may differ */
  }
  add_expr(h, b->predicate);
  for (int i = 0; i < b->n_iters; i++) define_in(h, b->iters[i].var, b->iters[i].dom);
  add(h, (uint64_t)b->n_allocs);
  for (int i = 0; i < b->n_allocs; i++) define_buffer(h, b->allocs[i]);
  add(h, (uint64_t)b->n_matches);
  for (int i = 0; i < b->n_matches; i++) {
    add_regions(h, 1, &b->matches[i].source);
    define_buffer(h, b->matches[i].buffer);
  }
  add_regions(h, b->n_reads, b->reads);
  add_regions(h, b->n_writes, b->writes);
  add_attrs(h, b->annotations, NULL);
  add(h, b->init != NULL);
  if (b->init) add_stmt(h, b->init);
  add_stmt(h, b->body);
  h->dead = outside;
}

static void add_stmt(Hash *h, Stmt s) {
  add(h, s->kind);
  switch (s->kind) {
  case STMT_FOR: add_for(h, &s->u.loop); return;
  case STMT_BLOCK: add_block(h, &s->u.block); return;
  case STMT_SEQ:
    add(h, (uint64_t)s->u.seq.n);
    for (int i = 0; i < s->u.seq.n; i++) add_stmt(h, tirc_item(s, i));
    return;
  case STMT_STORE:
    add_buffer(h, s->u.store.buffer);
    add_exprs(h, s->u.store.n, s->u.store.indices);
    add_expr(h, s->u.store.value);
    return;
  case STMT_EVAL: add_expr(h, s->u.eval.value); return;
  case STMT_IF:
    add_expr(h, s->u.branch.cond);
    add_stmt(h, s->u.branch.then_case);
    add(h, s->u.branch.else_case != NULL);
    if (s->u.branch.else_case) add_stmt(h, s->u.branch.else_case);
    return;
  case STMT_WHILE:
    add_expr(h, s->u.loop_while.cond);
    add_stmt(h, s->u.loop_while.body);
    return;
  case STMT_LET:
    add_expr(h, s->u.let.value);
    define(h, s->u.let.var);
    add_stmt(h, s->u.let.body);
    return;
  case STMT_ALLOC:
  case STMT_DECL:
    if (s->kind == STMT_DECL) add_buffer(h, s->u.alloc.buffer->data);
    define_buffer(h, s->u.alloc.buffer);
    add_attrs(h, s->u.alloc.annotations, NULL);
    add_stmt(h, s->u.alloc.body);
    return;
  case STMT_ATTR:
    add_text(h, s->u.attr.key);
    add_expr(h, s->u.attr.value);
    add_stmt(h, s->u.attr.body);
    return;
  case STMT_ASSERT:
    add_expr(h, s->u.check.cond);
    add_stmt(h, s->u.check.body);
    return;
  }
}

/* --- functions and modules -------------------------------------------------------------------- */

static uint64_t of_func(Hash *h, const Func *f) {
  h->sum = (uint64_t)f->n_params;
  h->values = h->known = (PtrMap){0};
  h->n_defined = 0;
  h->dead = false;
  for (int i = 0; i < f->n_params; i++) {
    const bool is_buffer = f->buffers && f->buffers[i];
    add(h, is_buffer);
    add(h, of_dtype(f->params[i]->dtype));
    define(h, f->params[i]);
  }
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers && f->buffers[i]) define_buffer(h, f->buffers[i]);
  add_attrs(h, f->attrs, tirc_key(KEY_GLOBAL_SYMBOL));
  add_stmt(h, f->body);
  return h->sum;
}

ModuleHash tirc_hash_module(Tirc *c, const Module *m) {
  ModuleHash out = {{1, 2}};
  uint64_t funcs[POINTS] = {0};
  for (int i = 0; i < m->n_funcs; i++) {
    Hash h = {.c = c, .analyzer = tirc_plain_analyzer(c)};
    /* Functions are known by their names where there are several, in any order. */
    const uint64_t name = m->n_funcs > 1 ? mix_text(m->funcs[i]->name) : 0;
    for (h.point = 0; h.point < POINTS; h.point++)
      funcs[h.point] += mix(of_func(&h, m->funcs[i]), name);
  }
  for (int p = 0; p < POINTS; p++) {
    Hash h = {.c = c, .analyzer = tirc_plain_analyzer(c), .point = p, .sum = funcs[p]};
    add(&h, (uint64_t)m->n_funcs);
    for (int i = 0; i < m->n_graphs; i++) {
      if (m->n_graphs > 1) add_text(&h, m->graphs[i]->name);
      add_text(&h, tirc_graph_key(c, m->graphs[i]));
    }
    add_attrs(&h, m->attrs, NULL);
    out.word[p % 2] = mix(out.word[p % 2], h.sum);
  }
  return out;
}
