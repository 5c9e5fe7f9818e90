/* A nest over pe.x, pe.y, pe.z as numbers: loops, iterators, what is touched and where. */
#include "spatial.h"

#include "ir/tree/annotations.h"
#include "ir/tree/find.h"
#include "ir/tree/print.h"
#include "passes/meaning/touches.h"
#include "passes/schedule/state/nodes.h"

typedef struct Reading {
  Tirc *c;
  const Func *f;
  PtrMap loops; /* variable -> its statement */
  VEC(Stmt) nests;
  int others;
} Reading;

static bool is_bound(const void *self, Stmt s) {
  (void)self;
  return s->kind == STMT_FOR && tirc_pe_axis(s->u.loop.axis) >= 0;
}

/* --- the nest --------------------------------------------------------------------------------- */

static bool has_block(const void *name, Stmt s) {
  return s->kind == STMT_BLOCK && !strcmp(s->u.block.name, name);
}

static void find_nests(Reading *r, Stmt s) {
  Stmt below;
  if (s->kind == STMT_FOR) {
    if (tirc_find_stmt(s, is_bound, NULL, NULL))
      vec_push(r->c, r->nests, s);
    else
      r->others++;
    return;
  }
  if (s->kind == STMT_SEQ) {
    for (int i = 0; i < s->u.seq.n; i++) find_nests(r, tirc_item(s, i));
    return;
  }
  if (s->kind == STMT_BLOCK) {
    find_nests(r, s->u.block.body);
    return;
  }
  if (s->kind == STMT_STORE) r->others++;
  for (int i = 0; (below = tirc_below(s, i)); i++) find_nests(r, below);
}

static Stmt nest_of(Reading *r, const char *block) {
  Stmt found = NULL;
  int n = 0;
  find_nests(r, r->f->body);
  for (int i = 0; i < r->nests.n; i++)
    if (!block || tirc_find_stmt(r->nests.at[i], has_block, block, NULL)) {
      found = r->nests.at[i];
      n++;
    }
  if (!r->nests.n)
    tirc_fail(r->c, r->f->loc, CODE_PE_ARRAY, "sch.bind(loop, \"pe.x\") puts a loop on the array",
              "no loop of %s is bound to pe.x, pe.y or pe.z", r->f->name);
  if (!n)
    tirc_fail(r->c, r->f->loc, CODE_PE_ARRAY, "name a block of a nest over pe.x, pe.y or pe.z",
              "no block %s is on the array", block);
  if (n > 1)
    tirc_fail(r->c, tirc_place_of(r->nests.at[1]), CODE_PE_ARRAY,
              "--block NAME says which one is meant",
              "%d nests of %s are bound to the array, and a mapping is of one", n, r->f->name);
  r->others += r->nests.n - 1;
  return found;
}

static bool see_loop(Visitor *v, Stmt s) {
  Reading *r = v->self;
  if (s->kind == STMT_FOR) tirc_map_set(r->c, &r->loops, s->u.loop.var, s);
  return true;
}

/* --- loops ------------------------------------------------------------------------------------ */

static void read_skew(Reading *r, Stmt s, MapLoop *out) {
  const Expr skew = tirc_attrs_get(s->u.loop.annotations, tirc_key(KEY_PE_SKEW));
  if (!skew) return;
  bool fits = skew->op == OP_TUPLE && skew->n >= 1 && skew->n <= PE_AXES;
  for (int i = 0; fits && i < skew->n; i++) fits = tirc_const_int(skew->args[i], &out->skew[i]);
  for (int i = 0; fits && i < PE_AXES; i++) fits = out->skew[i] > -4096 && out->skew[i] < 4096;
  if (!fits)
    tirc_fail(r->c, tirc_place_of(s), CODE_PE_ARRAY, "such as [1, 1]",
              "pe_skew of loop %s is not a list of a number for each axis of the array",
              s->u.loop.var->u.s);
  out->skewed = true;
}

static MapLoop read_loop(Reading *r, const Place *p) {
  const Stmt s = tirc_map_get(&r->loops, p->var);
  MapLoop out = {.var = p->var, .axis = s ? tirc_pe_axis(s->u.loop.axis) : -1};
  if (!s || !tirc_const_int(tirc_simplify0(r->c, p->a), &out.min) ||
      !tirc_const_int(tirc_simplify0(r->c, p->b), &out.extent))
    tirc_fail(r->c, s ? tirc_place_of(s) : r->f->loc, CODE_PE_ARRAY,
              "give symbolic sizes a value: -D n=64",
              "loop %s has no constant extent, and instances cannot be counted", p->var->u.s);
  if (out.extent < 1)
    tirc_fail(r->c, tirc_place_of(s), CODE_PE_ARRAY, "give the sizes numbers from 1 on",
              "loop %s runs %lld times: there is nothing to count", p->var->u.s,
              (long long)out.extent);
  read_skew(r, s, &out);
  return out;
}

static void read_loops(Reading *r, Place *at, Mapping *m) {
  Place **loops = tirc_place_loops(r->c, at);
  int innermost = -1, axes[PE_AXES] = {-1, -1, -1};
  m->n_loops = at ? at->n_loops : 0;
  if (m->n_loops > MAP_LOOPS)
    tirc_fail(r->c, m->loc, CODE_PE_ARRAY, NULL, "there are more than %d loops", MAP_LOOPS);
  m->loops = tirc_new_array(r->c, MapLoop, m->n_loops + 1);
  for (int i = 0; i < m->n_loops; i++) {
    m->loops[i] = read_loop(r, loops[i]);
    const int axis = m->loops[i].axis;
    if (axis < 0) continue;
    innermost = i;
    if (axes[axis] >= 0)
      tirc_fail(r->c, m->loc, CODE_PE_ARRAY, "fuse them, and bind the loop that it makes",
                "loops %s and %s are both bound to pe.%c", m->loops[axes[axis]].var->u.s,
                m->loops[i].var->u.s, 'x' + axis);
    axes[axis] = i;
  }
  for (int i = innermost + 1; i < m->n_loops; i++) {
    m->loops[i].inside = true;
    if (m->loops[i].skewed)
      tirc_fail(r->c, m->loc, CODE_PE_ARRAY, "annotate a loop outside of those of the array",
                "loop %s is inside of the array's loops and has a pe_skew: it shares a stamp",
                m->loops[i].var->u.s);
  }
}

/* --- conditions ------------------------------------------------------------------------------- */

static _Noreturn void hard_condition(const Mapping *m, Expr e) {
  tirc_fail(m->c, m->loc, CODE_PE_ARRAY, "conditions are comparisons of indices",
            "whether an instance runs hangs on %s, which is not counted", tirc_print_expr(m->c, e));
}

static Op opposite(Op op) {
  switch (op) {
  case OP_LT: return OP_GE;
  case OP_LE: return OP_GT;
  case OP_GT: return OP_LE;
  case OP_GE: return OP_LT;
  case OP_EQ: return OP_NE;
  default: return OP_EQ;
  }
}

static Expr difference(const Mapping *m, Expr a, Expr b, int more) {
  Tirc *c = m->c;
  a = tirc_cast(c, DT_INT64, a);
  b = tirc_cast(c, DT_INT64, b);
  return tirc_sub(c, a, tirc_add(c, b, tirc_int(c, DT_INT64, more)));
}

/* An iterator's value is held below its extent: that is known again when the extent changes. */
static int bounded_iter(const Mapping *m, Expr less) {
  for (int i = 0; i < m->n_iters; i++) {
    const Expr own = tirc_sub(m->c, tirc_cast(m->c, DT_INT64, m->iters[i].value),
                              tirc_int(m->c, DT_INT64, m->iters[i].extent));
    if (tirc_is_int(tirc_simplify0(m->c, tirc_sub(m->c, less, own)), 0)) return i;
  }
  return -1;
}

static MapTest read_test(const Mapping *m, Expr e, bool negated) {
  while (e->op == OP_LIKELY) e = e->args[0];
  const bool compares = e->op >= OP_EQ && e->op <= OP_GE && tirc_dtype_is_int(e->args[0]->dtype);
  if (!compares) hard_condition(m, e);
  const Op op = negated ? opposite((Op)e->op) : (Op)e->op;
  const Expr a = e->args[0], b = e->args[1];
  if (op == OP_EQ || op == OP_NE)
    return (MapTest){op == OP_EQ ? TEST_ZERO : TEST_OTHER, difference(m, a, b, 0), -1};
  const bool turned = op == OP_GT || op == OP_GE;
  const int more = op == OP_LE || op == OP_GE;
  const Expr less = turned ? difference(m, b, a, more) : difference(m, a, b, more);
  const int iter = bounded_iter(m, less);
  return (MapTest){TEST_NEGATIVE, iter >= 0 ? m->iters[iter].value : less, iter};
}

/* --- what is bound ---------------------------------------------------------------------------- */

typedef VEC(const Place *) Chain;

/* From the outside in, down from `from` (not itself; NULL: from the outermost). */
static Chain chain_of(Tirc *c, const Place *at, const Place *from) {
  Chain out = {0};
  for (const Place *p = at; p && p != from; p = p->up) vec_push(c, out, p);
  for (int i = 0; i < out.n / 2; i++) {
    const Place *p = out.at[i];
    out.at[i] = out.at[out.n - 1 - i];
    out.at[out.n - 1 - i] = p;
  }
  return out;
}

static void bind(Tirc *c, PtrMap *values, const Place *p) {
  tirc_map_set(c, values, p->var, tirc_substitute(c, p->a, values));
}

static MapTests read_tests(const Mapping *m, const Chain *chain, PtrMap *values) {
  VEC(MapTest) tests = {0};
  for (int i = 0; i < chain->n; i++) {
    const Place *p = chain->at[i];
    if (p->kind == PLACE_BIND && !tirc_map_has(values, p->var)) bind(m->c, values, p);
    if (p->kind == PLACE_REPEAT)
      tirc_fail(m->c, m->loc, CODE_PE_ARRAY, NULL, "a while loop is around the statement");
    if (p->kind == PLACE_WHEN)
      vec_push(m->c, tests, read_test(m, tirc_substitute(m->c, p->a, values), p->negated));
  }
  return (MapTests){tests.n, tests.at};
}

/* --- iterators -------------------------------------------------------------------------------- */

static bool uses(Expr e, Expr var) { return tirc_any_uses(1, &e, var); }

/* The factor of a variable in a sum; 0: it is no plain term of it. */
static int64_t factor_of(Expr e, Expr var) {
  int64_t k;
  if (e == var) return 1;
  if (e->op == OP_CAST) return factor_of(e->args[0], var);
  if (e->op == OP_ADD) {
    const bool first = uses(e->args[0], var);
    if (first && uses(e->args[1], var)) return 0;
    return factor_of(e->args[first ? 0 : 1], var);
  }
  if (e->op == OP_MUL && tirc_const_int(e->args[1], &k)) return k * factor_of(e->args[0], var);
  return 0;
}

static int64_t least_multiple(int64_t a, int64_t b) { return a / tirc_gcd(a, b) * b; }

typedef struct Divisors {
  Expr var;
  int64_t multiple;
} Divisors;

static bool see_division(Visitor *v, Expr e) {
  Divisors *d = v->self;
  int64_t by;
  if ((e->op == OP_FLOORDIV || e->op == OP_FLOORMOD) && uses(e->args[0], d->var) &&
      tirc_const_int(e->args[1], &by) && by > 0 && d->multiple < INT32_MAX)
    d->multiple = least_multiple(d->multiple, by);
  return true;
}

/* Elsewhere than in the iterator's own value the loop must not count. */
static bool counts_alone(const Mapping *m, int iter, Expr var) {
  for (int i = 0; i < m->n_iters; i++)
    if (i != iter && uses(m->iters[i].value, var)) return false;
  for (int i = 0; i < m->tests.n; i++)
    if (m->tests.at[i].iter != iter && uses(m->tests.at[i].value, var)) return false;
  return true;
}

/* What else the value is made of stays within a step: one more of these adds instances and nothing
 * but instances. */
static bool is_leading(const Mapping *m, const MapIter *it, int loop, int64_t step) {
  Tirc *c = m->c;
  Analyzer *a = tirc_analyzer(c);
  const Expr var = m->loops[loop].var;
  for (int i = 0; i < m->n_loops; i++)
    tirc_bind_range(a, m->loops[i].var,
                    tirc_range(tirc_int(c, m->loops[i].var->dtype, m->loops[i].min),
                               tirc_int(c, m->loops[i].var->dtype, m->loops[i].extent)));
  const Expr rest = tirc_substitute1(c, it->value, var, tirc_int(c, var->dtype, 0));
  const Bound b = tirc_const_bound(a, rest);
  return b.min >= 0 && b.max < step;
}

static void find_lead(const Mapping *m, int iter) {
  MapIter *it = &m->iters[iter];
  it->lead = -1;
  for (int i = 0; i < m->n_loops; i++) {
    const int64_t step = factor_of(it->value, m->loops[i].var);
    if (step <= it->step || m->loops[i].axis >= 0 || m->loops[i].min != 0) continue;
    it->step = step;
    it->lead = is_leading(m, it, i, step) && counts_alone(m, iter, m->loops[i].var) ? i : -1;
  }
  if (it->lead < 0) return;
  Divisors d = {m->loops[it->lead].var, it->step};
  Visitor v = {.expr = see_division, .self = &d};
  for (int t = 0; t < m->n_tensors; t++)
    for (int r = 0; r < m->tensors[t].n; r++)
      for (int k = 0; k < m->tensors[t].refs[r].n; k++)
        tirc_visit_expr(&v, m->tensors[t].refs[r].indices[k]);
  it->unit = d.multiple;
}

static int64_t extent_of_iter(const Mapping *m, const Block *b, int i) {
  int64_t min, extent;
  if (tirc_const_int(tirc_simplify0(m->c, b->iters[i].dom.min), &min) &&
      tirc_const_int(tirc_simplify0(m->c, b->iters[i].dom.extent), &extent) && !min)
    return extent;
  tirc_fail(m->c, m->loc, CODE_PE_ARRAY, "give symbolic sizes a value: -D n=64",
            "iterator %s of block %s does not run over [0, n) of a constant n",
            b->iters[i].var->u.s, b->name);
}

/* Those of the block around the statement; without one the loops, but those of the array. */
static void read_iters(Mapping *m, Stmt inner, const PtrMap *values) {
  const Block *b = inner ? &inner->u.block : NULL;
  const int most = b ? b->n_iters : m->n_loops;
  m->iters = tirc_new_array(m->c, MapIter, most + 1);
  for (int i = 0; b && i < most; i++) {
    const Expr var = b->iters[i].var, value = tirc_map_get(values, var);
    m->iters[m->n_iters++] = (MapIter){.name = var->u.s,
                                       .var = var,
                                       .extent = extent_of_iter(m, b, i),
                                       .value = value ? value : var};
  }
  for (int i = 0; !b && i < most; i++)
    if (m->loops[i].axis < 0)
      m->iters[m->n_iters++] = (MapIter){.name = m->loops[i].var->u.s,
                                         .var = m->loops[i].var,
                                         .extent = m->loops[i].extent,
                                         .value = m->loops[i].var};
}

/* --- what is touched -------------------------------------------------------------------------- */

typedef struct Gathering {
  Reading *r;
  Mapping *m;
  const Extract *x;
  const Touch *store; /* of the one statement */
  const PtrMap *values;
} Gathering;

static bool is_in_init(const Touch *t) {
  const Stmt init = t->inner ? t->inner->u.block.init : NULL;
  return init && t->stmt && tirc_holds(init, t->stmt, NULL);
}

static const Touch *find_store(const Mapping *m, const Extract *x) {
  const Touch *found = NULL;
  for (int i = 0; i < x->touches.n; i++) {
    const Touch *t = &x->touches.at[i];
    if (t->address || t->extents)
      tirc_fail(m->c, m->loc, CODE_PE_ARRAY, "count the program as it is before tensorize",
                "a call gets the address of %s, and what it touches is not known", t->buffer->name);
    if (!t->write || is_in_init(t)) continue;
    if (found)
      tirc_fail(m->c, t->stmt ? tirc_place_of(t->stmt) : m->loc, CODE_PE_ARRAY,
                "give each statement a nest of its own (fission, or separate blocks)",
                "the nest stores to %s and to %s, and a mapping is of one statement",
                found->buffer->name, t->buffer->name);
    found = t;
  }
  if (!found) tirc_fail(m->c, m->loc, CODE_PE_ARRAY, NULL, "the nest stores nothing");
  return found;
}

/* The accumulator of a sum, which is only written. */
static bool is_own_sum(const Touch *t, const Touch *store) {
  const Block *b = store->inner ? &store->inner->u.block : NULL;
  bool sums = b && b->init;
  for (int i = 0; b && i < b->n_iters; i++) sums |= b->iters[i].kind == ITER_REDUCE;
  return sums && t->buffer == store->buffer && t->n == store->n &&
         tirc_same_exprs(t->n, t->indices, store->indices);
}

static bool is_loaded(const void *self, Expr e) {
  (void)self;
  return e->op == OP_LOAD || e->op == OP_CALL;
}

static MapRef read_ref(const Gathering *g, const Touch *t) {
  Tirc *c = g->m->c;
  PtrMap values = tirc_map_copy(c, g->values);
  const Chain chain = chain_of(c, t->at, g->store->at);
  MapRef out = {.n = t->n, .plain = t->indices};
  out.when = read_tests(g->m, &chain, &values);
  out.indices = tirc_substitute_all(c, t->n, t->indices, &values);
  for (int i = 0; i < t->n; i++)
    if (tirc_find_expr(out.indices[i], is_loaded, NULL))
      tirc_fail(c, g->m->loc, CODE_PE_ARRAY, "only indices that the loops tell can be counted",
                "%s is indexed by %s, which is loaded", t->buffer->name,
                tirc_print_expr(c, t->indices[i]));
  return out;
}

static bool is_counted(const Gathering *g, const Touch *t) {
  return t->write ? t == g->store : t->stmt == g->store->stmt && !is_own_sum(t, g->store);
}

static void read_tensor(const Gathering *g, const Touch *first, MapTensor *out) {
  VEC(MapRef) refs = {0};
  for (int i = 0; i < g->x->touches.n; i++) {
    const Touch *t = &g->x->touches.at[i];
    if (t->buffer == first->buffer && t->write == first->write && is_counted(g, t))
      vec_push(g->m->c, refs, read_ref(g, t));
  }
  *out = (MapTensor){first->buffer, first->write, refs.n, refs.at};
}

/* Reads in the order of the text, and behind them what is written. */
static void read_tensors(const Gathering *g) {
  Mapping *m = g->m;
  MapTensor *out = tirc_new_array(m->c, MapTensor, g->x->touches.n + 1);
  for (int write = 0; write < 2; write++)
    for (int i = 0; i < g->x->touches.n; i++) {
      const Touch *t = &g->x->touches.at[i];
      if (t->write != write || !is_counted(g, t)) continue;
      int k = 0;
      while (k < m->n_tensors && (out[k].buffer != t->buffer || out[k].write != t->write)) k++;
      if (k < m->n_tensors) continue;
      read_tensor(g, t, &out[m->n_tensors++]);
    }
  m->tensors = out;
}

const Mapping *tirc_mapping(Tirc *c, const Func *f, const char *block) {
  Reading r = {.c = c, .f = f};
  const Stmt nest = nest_of(&r, block);
  Mapping *m = tirc_new(c, Mapping);
  *m = (Mapping){
      .c = c, .loc = tirc_place_of(nest), .nest = nest, .name = f->name, .others = r.others};
  tirc_visit_stmts(nest, see_loop, &r);
  Extract x = {.c = c, .lowered = true};
  tirc_extract(&x, NULL, nest, NULL, nest, nest);
  const Touch *store = find_store(m, &x);
  if (store->inner) m->name = store->inner->u.block.name;
  if (store->stmt && tirc_place_of(store->stmt).line) m->loc = tirc_place_of(store->stmt);
  m->at = store->at;
  m->inner = store->inner;
  read_loops(&r, store->at, m);
  PtrMap values = {0};
  const Chain chain = chain_of(c, store->at, NULL);
  for (int i = 0; i < chain.n; i++)
    if (chain.at[i]->kind == PLACE_BIND) bind(c, &values, chain.at[i]);
  read_iters(m, store->inner, &values);
  m->tests = read_tests(m, &chain, &values);
  const Gathering g = {&r, m, &x, store, &values};
  read_tensors(&g);
  for (int i = 0; i < m->n_iters; i++) find_lead(m, i);
  return m;
}

/* --- sizes ------------------------------------------------------------------------------------ */

void tirc_mapping_fits(const Mapping *m, const ArraySpec *spec) {
  for (int i = 0; i < m->n_loops; i++) {
    const MapLoop *loop = &m->loops[i];
    if (loop->axis >= spec->n_dims)
      tirc_fail(m->c, m->loc, CODE_PE_ARRAY, "bind it to an axis that the array has",
                "loop %s is bound to pe.%c, and the array of %s has %d ax%s", loop->var->u.s,
                'x' + loop->axis, spec->file, spec->n_dims, spec->n_dims == 1 ? "is" : "es");
    if (loop->axis >= 0 && loop->extent > spec->dims[loop->axis])
      tirc_fail(m->c, m->loc, CODE_PE_ARRAY,
                tirc_format(m->c, "split it: sch.split(%s, factors=[None, %lld])", loop->var->u.s,
                            (long long)spec->dims[loop->axis]),
                "loop %s has %lld iterations, and axis pe.%c of the array has %lld elements",
                loop->var->u.s, (long long)loop->extent, 'x' + loop->axis,
                (long long)spec->dims[loop->axis]);
  }
}

const Mapping *tirc_mapping_resized(const Mapping *m, const int64_t *extents) {
  Mapping *out = tirc_copy(m->c, m, 1);
  out->loops = tirc_copy(m->c, m->loops, m->n_loops);
  out->iters = tirc_copy(m->c, m->iters, m->n_iters);
  for (int i = 0; i < m->n_iters; i++) {
    MapIter *it = &out->iters[i];
    if (extents[i] == it->extent) continue;
    out->loops[it->lead].extent += (extents[i] - it->extent) / it->step;
    it->extent = extents[i];
  }
  return out;
}

/* Iterators that the loops run once in each combination. */
int64_t tirc_mapping_instances(const Mapping *m) {
  int64_t n = 1, steps = 1;
  for (int i = 0; i < m->n_iters; i++)
    if (__builtin_mul_overflow(n, m->iters[i].extent, &n)) return -1;
  for (int i = 0; i < m->n_loops; i++)
    if (__builtin_mul_overflow(steps, m->loops[i].extent, &steps)) return -1;
  return n > steps ? n : steps;
}
