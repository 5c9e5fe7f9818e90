/* A predicate that fails only near the end of a loop keeps the whole body slow:
 *
 *   for io in range(7):                        for io in range(6):
 *     for ii in T.vectorized(16):                for ii in T.vectorized(16):
 *       if io * 16 + ii < 100:          ->         A[io * 16 + ii] = ...
 *         A[io * 16 + ii] = ...                for ii in T.vectorized(4):
 *                                                A[96 + ii] = ...
 *
 * For each loop of constant extent, outermost first, the part of its range is computed where the
 * linear conditions in its body hold for all values of the other variables; the first step of a
 * reduction, where `k == 0` asks for its init, is peeled in the same way, unless the question is
 * asked seldom: once for a tile whose own loops run many times, it costs less than a second copy of
 * them. A parallel loop stays one loop, with an if around the two forms of its body. Of a serial
 * loop whose extent only the run tells, the first steps are peeled, as many as conditions ask for;
 * its end is left to open_tail.c. */
#include "vectorize.h"

enum { MAX_SIZE = 600, MAX_GROWTH = 6000, MAX_LANE_VECTORS = 8 };
static const double SELDOM = 32;

typedef struct Partition {
  Tirc *c;
  Analyzer *a;
  int64_t budget; /* statements that may still be added */
} Partition;

typedef struct Search {
  Visitor v;
  Partition *p;
  Expr var;
  int64_t low, high; /* the part of the loop's range where the conditions hold: [low, high) */
  bool found;
  bool lanes;         /* a vector of them all: loads leave some of them out by a mask */
  double times, most; /* how often the statement at hand and the busiest one run in an iteration */
} Search;

static int64_t floor_div(int64_t a, int64_t b) { /* b > 0 */
  return a / b - (a % b < 0);
}

/* Narrows [low, high) to where the condition always holds; leaves it where that would empty it. */
static void narrow(Search *s, Expr cond) {
  Tirc *c = s->p->c;
  Analyzer *a = s->p->a;
  if (!tirc_uses_var(cond, s->var) || tirc_loads_or_calls(cond)) return;
  int64_t k;
  Expr rest;
  if (!tirc_lower_order(a, c, cond, s->var, &k, &rest)) return;
  int64_t r = tirc_const_bound(a, rest).min;
  if (r <= -(INT64_MAX / 2) || r >= INT64_MAX / 2) return;
  int64_t low = s->low, high = s->high;
  if (k > 0) { /* var >= -r / k */
    int64_t least = -floor_div(r, k);
    if (least > low) low = least;
  } else {
    int64_t most = floor_div(r, -k);
    if (most + 1 < high) high = most + 1;
  }
  if (low >= high) return;
  s->found |= low != s->low || high != s->high;
  s->low = low;
  s->high = high;
}

/* `var == first value`: holds in the first iteration and never again. */
static bool peel_first(Search *s, Expr cond) {
  int64_t first;
  if (cond->op != OP_EQ || cond->args[0] != s->var || !tirc_const_int(cond->args[1], &first))
    return false;
  if (first == s->low && s->high - s->low > 1 && s->times * SELDOM >= s->most) {
    s->low++;
    s->found = true;
  }
  return true;
}

static void use_condition(Search *s, Expr cond) {
  Exprs conds = {0};
  tirc_lower_conjuncts(s->p->c, cond, &conds);
  for (int i = 0; i < conds.n; i++)
    if (!peel_first(s, conds.at[i])) narrow(s, conds.at[i]);
}

/* Visits the loop's body with the number of times that it runs. */
static bool run_loop(Visitor *v, Stmt loop, double *times) {
  double outside = *times;
  int64_t extent;
  if (tirc_const_int(loop->u.loop.extent, &extent)) *times *= (double)extent;
  tirc_visit_stmt(v, loop->u.loop.body);
  *times = outside;
  return false;
}

static bool search(Visitor *v, Stmt stmt) {
  Search *s = v->self;
  if (stmt->kind == STMT_IF) use_condition(s, stmt->u.branch.cond);
  if (stmt->kind != STMT_FOR) return true;
  tirc_bind_range(s->p->a, stmt->u.loop.var, tirc_range(stmt->u.loop.min, stmt->u.loop.extent));
  return run_loop(v, stmt, &s->times);
}

static bool find_busiest(Visitor *v, Stmt stmt) {
  Search *s = v->self;
  if (s->times > s->most) s->most = s->times;
  return stmt->kind == STMT_FOR ? run_loop(v, stmt, &s->times) : true;
}

/* One step of the variable is the next element. */
static bool is_contiguous(const Search *s, Expr load) {
  Tirc *c = s->p->c;
  for (int i = 0; i < load->n; i++) {
    const Expr at = load->args[i], one = tirc_int(c, s->var->dtype, 1);
    const Expr next = tirc_substitute1(c, at, s->var, tirc_add(c, s->var, one));
    const Expr step = tirc_int(c, at->dtype, i == load->n - 1);
    if (tirc_loads_or_calls(at) || !tirc_prove_equal(s->p->a, tirc_sub(c, next, at), step))
      return false;
  }
  return load->n > 0;
}

static bool is_masked_load(const Search *s, Expr e) {
  return e->args[1]->op == OP_LOAD && tirc_has_masks(e->dtype) &&
         !tirc_loads_or_calls(e->args[2]) && is_contiguous(s, e->args[1]);
}

/* The border of a padding: T.if_then_else(i < n, A[i], 0). */
static bool search_expr(Visitor *v, Expr e) {
  const Search *s = v->self;
  if (e->op == OP_IF_THEN_ELSE && !(s->lanes && is_masked_load(s, e)))
    use_condition(v->self, e->args[0]);
  return true;
}

static Stmt visit(Mutator *m, Stmt s);

static bool wants_prefetch(Visitor *v, Stmt s) {
  if (s->kind == STMT_FOR && tirc_attrs_get(s->u.loop.annotations, tirc_key(KEY_SOFTWARE_PREFETCH)))
    *(bool *)v->self = true;
  return !*(bool *)v->self;
}

/* A prefetch below a part of the loop looks ahead over the end of the part: the part says where the
 * whole loop begins and how long it is. */
static Attrs whole_range(Tirc *c, const For *loop) {
  Attrs a = loop->annotations;
  bool found = false;
  tirc_visit_stmt(&(Visitor){.stmt = wants_prefetch, .self = &found}, loop->body);
  if (!found || tirc_attrs_get(a, "partition_extent")) return a;
  a = tirc_attrs_set(c, a, "partition_min", loop->min);
  return tirc_attrs_set(c, a, "partition_extent", loop->extent);
}

/* The loop over [low, high), simplified there and partitioned further. */
static Stmt part(Mutator *m, const For *loop, int64_t low, int64_t high, bool fresh) {
  Partition *p = m->self;
  For piece = *loop;
  piece.annotations = whole_range(p->c, loop);
  piece.min = tirc_int(p->c, loop->var->dtype, low);
  piece.extent = tirc_int(p->c, loop->var->dtype, high - low);
  Stmt s = tirc_for(p->c, &piece);
  if (fresh) s = tirc_clone_fresh(p->c, s);
  return visit(m, tirc_simplify_stmt(p->a, s, true));
}

/* if low <= var < high: the body without the conditions, else: the body. */
static Stmt branch(Mutator *m, const For *loop, const Search *s, int64_t begin, int64_t end) {
  Partition *p = m->self;
  Tirc *c = p->c;
  Range inside = tirc_range(tirc_int(c, loop->var->dtype, s->low),
                            tirc_int(c, loop->var->dtype, s->high - s->low));
  Range all = tirc_range(loop->min, loop->extent);
  tirc_bind_range(p->a, loop->var, inside);
  Stmt yes = visit(m, tirc_simplify_stmt(p->a, loop->body, true));
  tirc_bind_range(p->a, loop->var, all);
  Stmt no = visit(m, tirc_clone_fresh(c, loop->body));
  Expr cond = tirc_bool(c, true);
  Expr low = tirc_int(c, loop->var->dtype, s->low), high = tirc_int(c, loop->var->dtype, s->high);
  if (s->low > begin) cond = tirc_binary(c, OP_GE, loop->var, low);
  if (s->high < end) cond = tirc_and(c, cond, tirc_lt(c, loop->var, high));
  For to = *loop;
  to.body = tirc_if(c, cond, yes, no);
  return tirc_for(c, &to);
}

/* Whether a condition is of the variable and of a vectorized loop's in its body. */
typedef struct LaneConditions {
  Visitor v;
  Tirc *c;
  Expr var;
  PtrMap vectors; /* variables of vectorized loops */
  bool found;
} LaneConditions;

static bool is_lane(const void *self, Expr e) {
  return e->op == OP_VAR && tirc_map_has(&((const LaneConditions *)self)->vectors, e);
}

static void see_condition(LaneConditions *l, Expr cond) {
  Exprs conds = {0};
  tirc_lower_conjuncts(l->c, cond, &conds);
  for (int i = 0; i < conds.n; i++)
    l->found |= tirc_uses_var(conds.at[i], l->var) && tirc_find_expr(conds.at[i], is_lane, l);
}

static bool see_stmt(Visitor *v, Stmt s) {
  LaneConditions *l = v->self;
  if (s->kind == STMT_FOR && s->u.loop.kind == LOOP_VECTORIZED)
    tirc_map_set(l->c, &l->vectors, s->u.loop.var, s);
  if (s->kind == STMT_IF) see_condition(l, s->u.branch.cond);
  return !l->found;
}

static bool see_expr(Visitor *v, Expr e) {
  LaneConditions *l = v->self;
  if (e->op == OP_IF_THEN_ELSE) see_condition(l, e->args[0]);
  return !l->found;
}

/* What is written out decides its conditions itself, but for those of lanes: vectors are made
 * before. */
static bool decides_lanes(Tirc *c, const For *loop) {
  LaneConditions l = {.c = c, .var = loop->var};
  l.v = (Visitor){.stmt = see_stmt, .expr = see_expr, .self = &l};
  tirc_visit_stmt(&l.v, loop->body);
  return l.found;
}

static Stmt one_by_one(Mutator *m, const For *loop, int64_t begin, int64_t end) {
  Tirc *c = ((Partition *)m->self)->c;
  Stmt *parts = tirc_new_array(c, Stmt, (int)(end - begin));
  for (int64_t i = begin; i < end; i++) parts[i - begin] = part(m, loop, i, i + 1, i > begin);
  return tirc_seq(c, (int)(end - begin), parts);
}

/* Looks for where the conditions in a loop's body hold. */
static void find_part(Search *s, const For *loop) {
  tirc_visit_stmt(&(Visitor){.stmt = find_busiest, .self = s}, loop->body);
  s->v = (Visitor){.stmt = search, .expr = search_expr, .self = s};
  tirc_visit_stmt(&s->v, loop->body);
}

/* The first steps of a loop whose extent only the run tells, where a condition fails in these and
 * never again: for j in range(n): if j > 0. NULL: there are none. */
static Stmt peeled(Mutator *m, const For *loop, int64_t size) {
  enum { FEW = 4 };
  Partition *p = m->self;
  Tirc *c = p->c;
  const DType t = loop->var->dtype;
  Search s = {.p = p, .var = loop->var, .high = INT32_MAX, .times = 1};
  if (!tirc_const_int(loop->min, &s.low)) return NULL;
  const int64_t begin = s.low;
  find_part(&s, loop);
  if (s.low == begin || s.low - begin > FEW) return NULL;
  p->budget -= 2 * size;
  const Expr first = tirc_int(c, t, s.low - begin), zero = tirc_int(c, t, 0);
  For head = *loop;
  head.annotations = whole_range(c, loop);
  For tail = head;
  head.extent = tirc_binary(c, OP_MIN, loop->extent, first);
  tail.min = tirc_int(c, t, s.low);
  tail.extent = tirc_binary(c, OP_MAX, tirc_sub(c, loop->extent, first), zero);
  Stmt parts[] = {tirc_for(c, &tail), tirc_clone_fresh(c, tirc_for(c, &head))};
  for (int i = 0; i < 2; i++) parts[i] = visit(m, tirc_simplify_stmt(p->a, parts[i], true));
  return tirc_seq(c, 2, (Stmt[]){parts[1], parts[0]});
}

/* A loop whose extent only the run tells. */
static Stmt open_partition(Mutator *m, Stmt stmt) {
  Partition *p = m->self;
  For loop = stmt->u.loop;
  OpenTail tail;
  if (loop.kind != LOOP_SERIAL && loop.kind != LOOP_PARALLEL)
    return tirc_mutate_stmt_children(m, stmt);
  const int64_t size = tirc_lower_size_of(loop.body);
  if (size > MAX_SIZE || 2 * size > p->budget) return tirc_mutate_stmt_children(m, stmt);
  const Stmt after_first = loop.kind == LOOP_SERIAL ? peeled(m, &loop, size) : NULL;
  if (after_first) return after_first;
  if (!tirc_open_tail(p->a, p->c, &loop, &tail)) return tirc_mutate_stmt_children(m, stmt);
  p->budget -= 2 * size;
  const Stmt whole = visit(m, tail.whole), part = visit(m, tirc_clone_fresh(p->c, loop.body));
  loop.body = tirc_if(p->c, tail.holds, whole, part);
  return tirc_for(p->c, &loop);
}

static Stmt partition(Mutator *m, Stmt stmt) {
  Partition *p = m->self;
  const For *loop = &stmt->u.loop;
  int64_t begin, extent;
  tirc_bind_range(p->a, loop->var, tirc_range(loop->min, loop->extent));
  bool is_const = tirc_const_int(loop->min, &begin) && tirc_const_int(loop->extent, &extent);
  if (!is_const) return open_partition(m, stmt);
  const int64_t size = tirc_lower_size_of(loop->body);
  if (extent < 2 || size > MAX_SIZE || 2 * size > p->budget)
    return tirc_mutate_stmt_children(m, stmt);
  if (loop->kind == LOOP_UNROLLED) {
    if (extent > MAX_LANE_VECTORS || !decides_lanes(p->c, loop))
      return tirc_mutate_stmt_children(m, stmt);
    p->budget -= extent * size;
    return one_by_one(m, loop, begin, begin + extent);
  }
  Search s = {.p = p, .var = loop->var, .low = begin, .high = begin + extent, .times = 1};
  s.lanes = loop->kind == LOOP_VECTORIZED && (extent & (extent - 1)) == 0;
  find_part(&s, loop);
  if (!s.found) return tirc_mutate_stmt_children(m, stmt);
  p->budget -= 2 * size;
  int64_t end = begin + extent;
  if (loop->kind == LOOP_PARALLEL) return branch(m, loop, &s, begin, end);
  Stmt parts[3];
  int n = 0;
  if (begin < s.low) parts[n++] = part(m, loop, begin, s.low, true);
  parts[n++] = part(m, loop, s.low, s.high, false);
  if (s.high < end) parts[n++] = part(m, loop, s.high, end, true);
  return tirc_seq(p->c, n, parts);
}

static Stmt visit(Mutator *m, Stmt s) {
  return s->kind == STMT_FOR ? partition(m, s) : tirc_mutate_stmt_children(m, s);
}

Stmt tirc_lower_loop_partition(Tirc *c, const Func *f) {
  Partition p = {.c = c, .a = tirc_analyzer(c), .budget = MAX_GROWTH};
  Mutator m = {.c = c, .stmt = visit, .self = &p};
  return tirc_mutate_stmt(&m, f->body);
}
