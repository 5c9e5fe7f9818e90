/* Vectorized loops become vector expressions.
 *
 *   for v in T.vectorized(24):        A[b:b + 16] = B[b:b + 16] * T.Broadcast(x, 16)
 *     A[b + v] = B[b + v] * x    ->   A[b + 16:b + 24] = B[b + 16:b + 24] * T.Broadcast(x, 8)
 *
 * Each store is cut into chunks of a power of two lanes, which is what processors have. Loops, ifs
 * and sequences that do not depend on the variable stay and their bodies are vectorized, so a
 * reduction within becomes a loop over vectors. A store under a linear condition on the variable is
 * done for all lanes at once where the condition holds for the first and the last of them. Where
 * not, the other lanes are left out (vectorize_mask.c); what the thread alone sees, and is there
 * for sure, keeps them as they are:
 *
 *     for v in T.vectorized(8):         C[0:8] = T.Select(k + T.Ramp(0, 1, 8) <= i,
 *       if k + v <= i: C[v] = x    ->                     x, C[0:8])
 *
 * What cannot be left out is done lane by lane there. What a let reads from memory becomes a
 * vector, for a chunk of the lanes at a time:
 *
 *     x: T.float32 = B[b + v]           x: T.float32x16 = B[b:b + 16]
 *     A[b + v] = x * x            ->    A[b:b + 16] = x * x
 *
 * What has no vector form becomes a serial loop over the lanes; so does a store with a stride, and
 * where something is gathered the chunks are short: each such lane is an access of its own. */
#include "vectorize.h"
#include "ir/tree/int_op.h"
#include "ir/tree/vector_index.h"

enum { MAX_LANES = 64, MAX_GATHER = 8, MAX_UNROLLED = 256, MAX_STAGED = 64 /* bytes */ };

typedef struct Vectorizer {
  Tirc *c;
  Analyzer *a;
  Expr var;
  int64_t min, extent;
  /* Under a let for each lane: what is bound. Then the lanes, a power of two, go together, or it
   * has failed. */
  const LaneLet *lets;
  bool failed;
  bool masks; /* lanes may be left out */
  Expr on;    /* or NULL: where it holds a lane does something. Then no lane goes by itself, or it
               * has failed */
  const SerialLanes *heard; /* or NULL */
  const PtrMap *own;        /* the memory that the thread alone sees */
  const PtrMap *open;       /* loops around of no constant bounds: from a variable to its IntSet */
} Vectorizer;

static Stmt vectorize(Vectorizer *z, Stmt s);

static bool uses_bound(const Vectorizer *z, Expr e) {
  const LaneLet *b = z->lets;
  while (b && !tirc_uses_var(e, b->var)) b = b->outer;
  return b;
}

static bool uses_lets(const Vectorizer *z, Stmt s) {
  const LaneLet *b = z->lets;
  while (b && !tirc_stmt_uses_var(s, b->var)) b = b->outer;
  return b;
}

static bool depends(const Vectorizer *z, Stmt s) {
  return uses_lets(z, s) || tirc_stmt_uses_var(s, z->var);
}

static bool is_lanewise(const Vectorizer *z, Expr e) {
  return tirc_vector_depends(e, z->var, z->lets);
}

/* for lane: s */
static Stmt lane_by_lane(Vectorizer *z, Stmt s) {
  Tirc *c = z->c;
  Expr lane = tirc_var(c, z->var->u.s, z->var->dtype);
  For loop = {.var = lane,
              .min = tirc_int(c, lane->dtype, z->min),
              .extent = tirc_int(c, lane->dtype, z->extent),
              .kind = LOOP_SERIAL,
              .body = tirc_lower_substitute1(c, s, z->var, lane)};
  return tirc_for(c, &loop);
}

/* The same of what has no vector form. */
static Stmt scalarize(Vectorizer *z, Stmt s) {
  if (z->on || uses_lets(z, s)) {
    z->failed = true;
    return s;
  }
  if (z->heard) z->heard->tell(z->heard->self, s, (int)z->extent);
  return lane_by_lane(z, s);
}

/* --- stores --------------------------------------------------------------------------------- */

static bool is_scattered(Expr index) {
  return index->dtype.lanes > 1 && index->op != OP_BROADCAST &&
         !(index->op == OP_RAMP && tirc_is_int(index->args[1], 1));
}

/* What machine code loads in whole vectors: every second element, a row backwards, a few rows. */
static bool is_in_rows(Tirc *c, Expr index) {
  int64_t step;
  LaneRows rows;
  const bool is_ramp = index->op == OP_RAMP && tirc_const_int(index->args[1], &step);
  return (is_ramp && (step == 2 || step == -1)) || tirc_lane_rows(c, index, &rows);
}

static bool is_gather(const void *context, Expr e) {
  Tirc *c = *(Tirc *const *)context;
  for (int i = 0; e->op == OP_LOAD && i < e->n; i++)
    if (is_scattered(e->args[i]) && !is_in_rows(c, e->args[i])) return true;
  return false;
}

static bool has_gather(Tirc *c, Expr e) { return tirc_find_expr(e, is_gather, &c); }

/* Some of the lanes. */
static Lanes lanes_from(const Vectorizer *z, int64_t first, int lanes) {
  const Expr at = tirc_int(z->c, z->var->dtype, first), one = tirc_int(z->c, z->var->dtype, 1);
  return (Lanes){.c = z->c,
                 .a = z->a,
                 .var = z->var,
                 .value = tirc_ramp(z->c, at, one, lanes),
                 .lanes = lanes,
                 .lets = z->lets,
                 .masks = z->masks,
                 .on = z->on};
}

/* The store for some lanes; NULL when it has no (good) vector form. */
static Stmt store_chunk(Vectorizer *z, Stmt s, int64_t first, int lanes) {
  Tirc *c = z->c;
  Lanes l = lanes_from(z, first, lanes);
  if (lanes == 1) return tirc_substitute1_stmt(c, s, z->var, l.value);
  int n = s->u.store.n, vectors = 0;
  Expr *indices = tirc_new_array(c, Expr, n);
  for (int i = 0; i < n && !l.failed; i++) {
    indices[i] = tirc_vector_expr(&l, s->u.store.indices[i]);
    if (l.failed || is_scattered(indices[i])) return NULL;
    vectors += indices[i]->dtype.lanes > 1;
  }
  Expr value = tirc_vector_expr(&l, s->u.store.value);
  if (l.failed || vectors != 1 || (lanes > MAX_GATHER && has_gather(c, value))) return NULL;
  if (value->dtype.lanes == 1) value = tirc_broadcast(c, value, lanes);
  return tirc_store(c, s->u.store.buffer, n, indices, value);
}

/* One after the other, each as long as it can be; `make` gives NULL where that is too long. */
static Stmt in_chunks(Vectorizer *z, Stmt s,
                      Stmt (*make)(Vectorizer *z, Stmt s, int64_t first, int lanes)) {
  VEC(Stmt) chunks = {0};
  int lanes = MAX_LANES;
  for (int64_t done = 0; done < z->extent;) {
    while (lanes > z->extent - done) lanes /= 2;
    Stmt chunk = make(z, s, z->min + done, lanes);
    if (!chunk && lanes > MAX_GATHER) {
      lanes = MAX_GATHER;
      continue;
    }
    if (!chunk) return scalarize(z, s);
    vec_push(z->c, chunks, chunk);
    done += lanes;
  }
  return tirc_seq(z->c, chunks.n, chunks.at);
}

static bool may_be_outside(const void *self, Expr e) {
  const Vectorizer *z = self;
  int64_t extent;
  if (e->op == OP_CALL || tirc_divides(e)) return true;
  if (e->op != OP_LOAD) return false;
  for (int d = 0; d < e->n; d++) {
    const IntSet set = tirc_eval_set(z->a, e->args[d], z->open);
    if (!set.min || !set.max || !tirc_const_int(e->u.buffer->shape[d], &extent) ||
        tirc_const_bound(z->a, tirc_simplify(z->a, set.min)).min < 0 ||
        tirc_const_bound(z->a, tirc_simplify(z->a, set.max)).max >= extent)
      return true;
  }
  return e->n != e->u.buffer->ndim;
}

/* Where lanes that are off would read, too. */
static bool is_left_out(const void *self, Expr load) {
  return is_lanewise(self, load) && may_be_outside(self, load);
}

static Expr where_on(const Vectorizer *z, Expr e) {
  return z->on ? tirc_guard_loads(z->c, e, z->on, is_left_out, z) : e;
}

/* Lanes that are off keep what they have, which others may be about to change: by a store that
 * leaves them out, but where the thread alone sees it. */
static Stmt masked_store(Vectorizer *z, Stmt s) {
  Tirc *c = z->c;
  const Buffer b = s->u.store.buffer;
  Expr value = where_on(z, s->u.store.value);
  const Expr kept = tirc_load(c, b, s->u.store.n, s->u.store.indices);
  const bool keeps = tirc_map_has(z->own, b->data) && !may_be_outside(z, kept);
  if (keeps) value = tirc_expr(c, OP_SELECT, kept->dtype, 3, (Expr[]){z->on, value, kept});
  const int lanes = (int)z->extent;
  const Stmt plain = tirc_store(c, b, s->u.store.n, s->u.store.indices, value);
  const Stmt all = keeps || tirc_has_masks(b->dtype) ? store_chunk(z, plain, z->min, lanes) : NULL;
  Lanes l = lanes_from(z, z->min, lanes);
  const Expr mask = all && !keeps ? tirc_vector_mask(&l, z->on) : NULL;
  if (!all || l.failed) return scalarize(z, s);
  return mask ? tirc_if(c, mask, all, NULL) : all;
}

static bool is_row(const void *vectorizer, Expr e) {
  const Vectorizer *z = vectorizer;
  Lanes l = lanes_from(z, z->min, (int)z->extent);
  for (int i = 0; e->op == OP_LOAD && i < e->n; i++) {
    if (!is_lanewise(z, e->args[i])) continue;
    Expr index = tirc_vector_expr(&l, e->args[i]);
    if (!l.failed && index->op == OP_RAMP && tirc_is_int(index->args[1], 1)) return true;
  }
  return false;
}

/* What lanes store far from each other and load side by side: a thread loads it at once, and has it
 * in registers then.
 *
 *   for v in T.vectorized(8):       lanes = T.decl_buffer((8,), scope="local")
 *     B[v * 64] = A[b + v]     ->   lanes[0:8] = A[b:b + 8]
 *                                   for v in T.unroll(8): B[v * 64] = lanes[v]
 */
static Stmt through_registers(Vectorizer *z, Stmt s) {
  Tirc *c = z->c;
  const DType t = z->var->dtype;
  const int lanes = (int)z->extent, bytes = tirc_dtype_bytes(s->u.store.buffer->dtype);
  if (z->masks || uses_lets(z, s) || lanes * bytes > MAX_STAGED || (lanes & (lanes - 1)) != 0 ||
      !tirc_find_expr(s->u.store.value, is_row, z))
    return NULL;
  Lanes l = lanes_from(z, z->min, lanes);
  Expr value = tirc_vector_expr(&l, s->u.store.value), extent = tirc_int(c, t, lanes);
  if (l.failed || value->dtype.lanes == 1) return NULL;
  Buffer own = tirc_buffer(c, "lanes", s->u.store.buffer->dtype, 1, &extent, "local");
  Expr zero = tirc_int(c, t, 0), all = tirc_ramp(c, zero, tirc_int(c, t, 1), lanes);
  Expr lane = tirc_var(c, z->var->u.s, t);
  Expr at = tirc_add(c, tirc_int(c, t, z->min), lane);
  Expr *indices = tirc_new_array(c, Expr, s->u.store.n);
  for (int i = 0; i < s->u.store.n; i++)
    indices[i] = tirc_substitute1(c, s->u.store.indices[i], z->var, at);
  For loop = {.var = lane, .min = zero, .extent = extent, .kind = LOOP_UNROLLED};
  loop.body = tirc_store(c, s->u.store.buffer, s->u.store.n, indices, tirc_load(c, own, 1, &lane));
  Stmt both[2] = {tirc_store(c, own, 1, &all, value), tirc_for(c, &loop)};
  return tirc_alloc_stmt(c, STMT_ALLOC, own, (Attrs){0}, tirc_seq(c, 2, both));
}

static Stmt vectorize_store(Vectorizer *z, Stmt s) {
  if (z->on) return masked_store(z, s);
  if (!depends(z, s)) return s;
  Lanes l = lanes_from(z, z->min, (int)z->extent);
  bool far = false;
  for (int i = 0; !z->masks && z->extent > 1 && i < s->u.store.n && !l.failed; i++) {
    Expr index = tirc_vector_expr(&l, s->u.store.indices[i]);
    far |= !l.failed && is_scattered(index);
  }
  Stmt staged = far ? through_registers(z, s) : NULL;
  if (staged) return staged;
  if (uses_lets(z, s)) {
    Stmt whole = store_chunk(z, s, z->min, (int)z->extent);
    return whole ? whole : scalarize(z, s);
  }
  return in_chunks(z, s, store_chunk);
}

/* --- ifs ------------------------------------------------------------------------------------ */

/* The condition at the lane where it is hardest, or easiest, to meet, and which lane that is where
 * it hangs on it; NULL when it is no linear order. */
static Expr at_extreme_lane(Vectorizer *z, Expr cond, bool easiest, int64_t *at) {
  Tirc *c = z->c;
  if (!is_lanewise(z, cond)) return cond;
  if (uses_bound(z, cond)) return NULL;
  if (cond->op != OP_LT && cond->op != OP_LE && cond->op != OP_GT && cond->op != OP_GE) return NULL;
  if (!tirc_dtype_is_int(cond->args[0]->dtype) || tirc_loads_or_calls(cond)) return NULL;
  Expr d = tirc_sub(c, cond->args[1], cond->args[0]);
  Expr next = tirc_add(c, z->var, tirc_int(c, z->var->dtype, 1));
  Expr step = tirc_simplify(z->a, tirc_sub(c, tirc_substitute1(c, d, z->var, next), d));
  int64_t k;
  if (!tirc_const_int(step, &k)) return NULL;
  bool less = cond->op == OP_LT || cond->op == OP_LE;
  bool last_is_hardest = less ? k < 0 : k > 0;
  *at = last_is_hardest != easiest ? z->min + z->extent - 1 : z->min;
  return tirc_simplify(z->a, tirc_substitute1(c, cond, z->var, tirc_int(c, z->var->dtype, *at)));
}

/* Whether all lanes do something; NULL where that is no linear order. */
static Expr are_all_on(Vectorizer *z, const Exprs *conds) {
  Expr all = NULL;
  int64_t at;
  for (int i = 0; i < conds->n; i++) {
    const Expr hardest = at_extreme_lane(z, conds->at[i], false, &at);
    if (!hardest) return NULL;
    all = all ? tirc_and(z->c, all, hardest) : hardest;
  }
  return all;
}

/* Whether any does; NULL where that is not the condition of one lane. */
static Expr is_any_on(Vectorizer *z, const Exprs *conds) {
  Expr any = NULL;
  int64_t lane = z->min - 1;
  for (int i = 0; i < conds->n; i++) {
    int64_t at = lane;
    const Expr easiest = at_extreme_lane(z, conds->at[i], true, &at);
    if (!easiest || (lane >= z->min && at != lane)) return NULL;
    any = any ? tirc_and(z->c, any, easiest) : easiest;
    lane = at;
  }
  return any;
}

/* What is done once for all lanes, and not at all where none is on. */
static bool needs_a_lane(const void *self, Expr e) {
  const bool reads = e->op == OP_LOAD || e->op == OP_CALL;
  return reads && !is_lanewise(self, e) && may_be_outside(self, e);
}

/* Lanes for which the condition does not hold are left out; NULL where they cannot be. */
static Stmt masked(Vectorizer *z, Stmt s, const Exprs *conds) {
  Tirc *c = z->c;
  const Expr cond = s->u.branch.cond;
  const Stmt yes = s->u.branch.then_case;
  const bool whole = z->extent <= MAX_LANES && (z->extent & (z->extent - 1)) == 0;
  if (!z->masks || !whole || tirc_loads_or_calls(cond) || uses_bound(z, cond)) return NULL;
  /* Behind the end of a row there may be several vectors of which no lane is on. */
  const Expr any = z->on ? NULL : is_any_on(z, conds);
  if (!any && tirc_find_expr_in(yes, needs_a_lane, z)) return NULL;
  Vectorizer some = *z;
  some.on = z->on ? tirc_and(c, z->on, cond) : cond;
  some.failed = false;
  const Stmt lanes = vectorize(&some, tirc_clone_fresh(c, yes));
  if (some.failed) return NULL;
  return any && !tirc_is_true(any) ? tirc_if(c, any, lanes, NULL) : lanes;
}

static Stmt vectorize_branch(Vectorizer *z, Stmt s) {
  Tirc *c = z->c;
  Expr cond = s->u.branch.cond;
  Stmt yes = s->u.branch.then_case, no = s->u.branch.else_case;
  if (!is_lanewise(z, cond))
    return tirc_if(c, cond, vectorize(z, yes), no ? vectorize(z, no) : NULL);
  Lanes l = lanes_from(z, z->min, (int)z->extent);
  const Expr same = z->masks || z->on ? NULL : tirc_same_in_lanes(&l, cond);
  if (same) return tirc_if(c, same, vectorize(z, yes), no ? vectorize(z, no) : NULL);
  if (no) return scalarize(z, s);
  Exprs conds = {0};
  tirc_lower_conjuncts(c, cond, &conds);
  const Expr all = are_all_on(z, &conds);
  Stmt each = masked(z, s, &conds);
  if (z->on || !all) return each ? each : scalarize(z, s);
  if (!each)
    each = uses_lets(z, s) ? scalarize(z, tirc_clone_fresh(c, s))
                           : lane_by_lane(z, tirc_clone_fresh(c, s));
  return tirc_is_int(all, 0) ? each : tirc_if(c, all, vectorize(z, yes), each);
}

/* --- allocations ---------------------------------------------------------------------------- */

typedef struct Widen {
  Vectorizer *z;
  Buffer from, to;
} Widen;

/* Lanes are innermost: element i of lane v is at i * extent + v. */
static Expr lane_index(Widen *w, Expr index) {
  Tirc *c = w->z->c;
  Expr lane = tirc_sub(c, w->z->var, tirc_int(c, w->z->var->dtype, w->z->min));
  if (tirc_dtype_wraps(index->dtype)) index = tirc_cast(c, DT_INT64, index);
  return tirc_add(c, tirc_mul(c, index, tirc_int(c, index->dtype, w->z->extent)),
                  tirc_cast(c, index->dtype, lane));
}

static Expr widen_expr(Mutator *m, Expr e) {
  Widen *w = m->self;
  e = tirc_mutate_expr_children(m, e);
  if (e->op != OP_LOAD || e->u.buffer != w->from) return e;
  Expr index = lane_index(w, e->args[0]);
  return tirc_load(m->c, w->to, 1, &index);
}

static Stmt widen_stmt(Mutator *m, Stmt s) {
  Widen *w = m->self;
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_STORE || s->u.store.buffer != w->from) return s;
  Expr index = lane_index(w, s->u.store.indices[0]);
  return tirc_store(m->c, w->to, 1, &index, s->u.store.value);
}

static Stmt vectorize_alloc(Vectorizer *z, Stmt s) {
  Tirc *c = z->c;
  if (z->on) return scalarize(z, s);
  Buffer b = s->u.alloc.buffer;
  if (tirc_attrs_get(s->u.alloc.annotations, ALLOC_DATA))
    return tirc_alloc_stmt(c, STMT_ALLOC, b, s->u.alloc.annotations, vectorize(z, s->u.alloc.body));
  if (b->ndim != 1 || is_lanewise(z, b->shape[0])) return scalarize(z, s);
  struct BufferNode node = *b;
  Expr extent = tirc_mul(c, b->shape[0], tirc_int(c, b->shape[0]->dtype, z->extent));
  node.shape = &extent;
  Widen w = {z, b, tirc_buffer_copy(c, &node)};
  Mutator m = {.c = c, .expr = widen_expr, .stmt = widen_stmt, .self = &w};
  Stmt body = vectorize(z, tirc_mutate_stmt(&m, s->u.alloc.body));
  return tirc_alloc_stmt(c, STMT_ALLOC, w.to, s->u.alloc.annotations, body);
}

/* --- the other statements ------------------------------------------------------------------- */

static Stmt vectorize_loop(Vectorizer *z, Stmt s) {
  For loop = s->u.loop;
  if (is_lanewise(z, loop.min) || is_lanewise(z, loop.extent)) return scalarize(z, s);
  tirc_bind_range(z->a, loop.var, tirc_range(loop.min, loop.extent));
  loop.body = vectorize(z, loop.body);
  if (loop.kind == LOOP_PARALLEL) loop.kind = LOOP_SERIAL;
  return tirc_for(z->c, &loop);
}

/* The let and its body for some lanes; NULL where they cannot go together. */
static Stmt let_chunk(Vectorizer *z, Stmt s, int64_t first, int lanes) {
  Tirc *c = z->c;
  Lanes l = lanes_from(z, first, lanes);
  if (lanes == 1) return tirc_clone_fresh(c, tirc_substitute1_stmt(c, s, z->var, l.value));
  Expr value = tirc_vector_expr(&l, where_on(z, s->u.let.value));
  if (l.failed || (lanes > MAX_GATHER && has_gather(c, value))) return NULL;
  if (value->dtype.lanes == 1) value = tirc_broadcast(c, value, lanes);
  Vectorizer some = *z;
  some.min = first;
  some.extent = lanes;
  some.lets = tirc_vector_bind(c, s->u.let.var, lanes, z->lets);
  Stmt body = vectorize(&some, tirc_clone_fresh(c, s->u.let.body));
  return some.failed ? NULL : tirc_let(c, some.lets->vector, value, body);
}

static Stmt vectorize_let(Vectorizer *z, Stmt s) {
  Tirc *c = z->c;
  Expr var = s->u.let.var, value = s->u.let.value;
  Stmt body = s->u.let.body;
  if (!is_lanewise(z, value)) return tirc_let(c, var, value, vectorize(z, body));
  if (!tirc_loads_or_calls(value) && !uses_bound(z, value))
    return vectorize(z, tirc_lower_substitute1(c, body, var, value));
  if (!z->lets) return in_chunks(z, s, let_chunk);
  Stmt all = let_chunk(z, s, z->min, (int)z->extent);
  return all ? all : scalarize(z, s);
}

static Stmt vectorize_seq(Vectorizer *z, Stmt s) {
  Stmt *parts = tirc_new_array(z->c, Stmt, s->u.seq.n);
  for (int i = 0; i < s->u.seq.n; i++) parts[i] = vectorize(z, tirc_item(s, i));
  return tirc_seq(z->c, s->u.seq.n, parts);
}

static Stmt vectorize(Vectorizer *z, Stmt s) {
  Tirc *c = z->c;
  switch (s->kind) {
  case STMT_STORE: return vectorize_store(z, s);
  case STMT_SEQ: return vectorize_seq(z, s);
  case STMT_FOR: return vectorize_loop(z, s);
  case STMT_IF: return vectorize_branch(z, s);
  case STMT_LET: return vectorize_let(z, s);
  case STMT_ALLOC: return vectorize_alloc(z, s);
  case STMT_DECL:
    return tirc_alloc_stmt(c, STMT_DECL, s->u.alloc.buffer, s->u.alloc.annotations,
                           vectorize(z, s->u.alloc.body));
  case STMT_ATTR:
    return tirc_attr_stmt(c, s->u.attr.node, s->u.attr.key, s->u.attr.value,
                          vectorize(z, s->u.attr.body));
  case STMT_EVAL: return s->u.eval.value->op == OP_INT ? s : scalarize(z, s);
  default: return scalarize(z, s);
  }
}

/* --- the pass ------------------------------------------------------------------------------- */

typedef struct Vectorizing {
  Analyzer *a;
  const SerialLanes *heard;
  bool masks;
  PtrMap own, open;
} Vectorizing;

static bool is_vector(const void *unused, Expr e) { return (void)unused, e->dtype.lanes > 1; }

static bool has_vectors(Stmt s) { return tirc_find_expr_in(s, is_vector, NULL); }

/* Long loops: a serial loop over pieces, and a rest. */
static Stmt in_pieces(Vectorizer *z, Stmt body) {
  Tirc *c = z->c;
  DType t = z->var->dtype;
  int64_t pieces = z->extent / MAX_LANES, rest = z->extent % MAX_LANES;
  Expr outer = tirc_var(c, tirc_format(c, "%s_0", z->var->u.s), t);
  Expr inner = tirc_var(c, tirc_format(c, "%s_1", z->var->u.s), t);
  Expr at = tirc_add(c, tirc_mul(c, outer, tirc_int(c, t, MAX_LANES)), inner);
  at = tirc_add(c, tirc_int(c, t, z->min), at);
  Vectorizer one = {.c = c,
                    .a = z->a,
                    .var = inner,
                    .extent = MAX_LANES,
                    .masks = z->masks,
                    .heard = z->heard,
                    .own = z->own,
                    .open = z->open};
  tirc_bind_range(z->a, outer, tirc_range(tirc_int(c, t, 0), tirc_int(c, t, pieces)));
  tirc_bind_range(z->a, inner, tirc_range(tirc_int(c, t, 0), tirc_int(c, t, MAX_LANES)));
  Stmt main = tirc_for_serial(c, outer, tirc_int(c, t, pieces),
                              vectorize(&one, tirc_lower_substitute1(c, body, z->var, at)));
  if (rest == 0) return main;
  Expr tail_var = tirc_var(c, z->var->u.s, t);
  Vectorizer tail = {.c = c,
                     .a = z->a,
                     .var = tail_var,
                     .min = z->min + pieces * MAX_LANES,
                     .extent = rest,
                     .masks = z->masks,
                     .heard = z->heard,
                     .own = z->own,
                     .open = z->open};
  tirc_bind_range(z->a, tail_var, tirc_range(tirc_int(c, t, tail.min), tirc_int(c, t, rest)));
  Stmt fresh = tirc_clone_fresh(c, body);
  Stmt last = vectorize(&tail, tirc_lower_substitute1(c, fresh, z->var, tail_var));
  return tirc_seq(c, 2, (Stmt[]){main, last});
}

static Stmt lower_loop(Mutator *m, Stmt s) {
  Tirc *c = m->c;
  For loop = s->u.loop;
  const Vectorizing *p = m->self;
  Vectorizer z = {.c = c,
                  .a = p->a,
                  .var = loop.var,
                  .masks = p->masks,
                  .heard = p->heard,
                  .own = &p->own,
                  .open = &p->open};
  if (!tirc_const_int(loop.min, &z.min) || !tirc_const_int(loop.extent, &z.extent))
    tirc_fail(c, tirc_place_of(s), CODE_LOWER,
              "split it by a constant factor and vectorize the inner loop",
              "the loop %s cannot be vectorized, because its %s is not a constant", loop.var->u.s,
              tirc_const_int(loop.extent, &z.extent) ? "start" : "extent");
  if (z.extent <= 0) return tirc_seq(c, 0, NULL);
  if (z.extent == 1) return tirc_lower_substitute1(c, loop.body, loop.var, loop.min);
  if (has_vectors(loop.body)) { /* a vectorized loop in a vectorized loop */
    loop.kind = LOOP_SERIAL;
    return tirc_for(c, &loop);
  }
  return z.extent > MAX_UNROLLED ? in_pieces(&z, loop.body) : vectorize(&z, loop.body);
}

/* What is allocated outside of a loop on the threads is seen by all of them. */
static Stmt lower_children(Mutator *m, Stmt s) {
  Vectorizing *p = m->self;
  const PtrMap own = p->own;
  const bool threads = s->kind == STMT_FOR &&
                       (s->u.loop.kind == LOOP_PARALLEL || s->u.loop.kind == LOOP_THREAD_BINDING);
  if (s->kind == STMT_ALLOC && tirc_owner(s->u.alloc.buffer->storage) != OWNER_BLOCK)
    tirc_map_set(m->c, &p->own, s->u.alloc.buffer->data, s);
  if (!threads) return tirc_mutate_stmt_children(m, s);
  p->own = (PtrMap){0};
  s = tirc_mutate_stmt_children(m, s);
  p->own = own;
  return s;
}

static void bind_loop(Tirc *c, Vectorizing *p, const For *loop) {
  int64_t min, extent;
  tirc_bind_range(p->a, loop->var, tirc_range(loop->min, loop->extent));
  if (tirc_const_int(loop->min, &min) && tirc_const_int(loop->extent, &extent)) return;
  const Expr end = tirc_add(c, loop->min, loop->extent);
  IntSet *set = tirc_new(c, IntSet);
  set->min = tirc_eval_set(p->a, loop->min, &p->open).min;
  set->max = tirc_eval_set(p->a, tirc_sub(c, end, tirc_int(c, end->dtype, 1)), &p->open).max;
  tirc_map_set(c, &p->open, loop->var, set);
}

static Stmt lower_stmt(Mutator *m, Stmt s) {
  Vectorizing *p = m->self;
  if (s->kind == STMT_FOR) bind_loop(m->c, p, &s->u.loop);
  s = lower_children(m, s);
  return s->kind == STMT_FOR && s->u.loop.kind == LOOP_VECTORIZED ? lower_loop(m, s) : s;
}

static Stmt lower_vectorized(Tirc *c, const Func *f, const SerialLanes *heard) {
  Vectorizing p = {.a = tirc_analyzer(c), .heard = heard, .masks = !tirc_gpu_of(f)};
  Mutator m = {.c = c, .stmt = lower_stmt, .self = &p};
  return tirc_mutate_stmt(&m, f->body);
}

Stmt tirc_lower_vectorize(Tirc *c, const Func *f) { return lower_vectorized(c, f, NULL); }

void tirc_hear_of_serial_lanes(Tirc *c, const Func *f, const SerialLanes *heard) {
  (void)lower_vectorized(c, f, heard);
}
