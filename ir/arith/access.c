/* Which boxes of which buffers a block touches: every access is relaxed over the loops inside the
 * block, conditions around it narrow those loops, and accesses to one buffer are united to their
 * hull. Definition: TVM's BlockReadWriteDetector. */
#include "access.h"

#include "arith.h"
#include "ir/tree/atomic.h"
#include "ir/tree/int_op.h"
#include "ir/tree/visit.h"

typedef struct Box {
  Buffer buffer;
  IntSet *dims;
} Box;
typedef struct Boxes {
  VEC(Box) v;
} Boxes;

typedef struct Detector {
  Tirc *c;
  Analyzer *analyzer;
  PtrMap loops;   /* variable of a loop inside the block -> IntSet * */
  PtrMap lets;    /* let variable -> value */
  PtrMap own;     /* data variables of buffers that live inside only */
  PtrMap matches; /* data variable -> const MatchBuffer * */
  PtrMap known;   /* data variable -> Buffer: seen as a buffer, for opaque accesses */
  Boxes reads, writes, opaque;
} Detector;

static void visit_expr(Detector *d, Expr e);
static void visit_stmt(Detector *d, Stmt s);

typedef struct Inside {
  const Detector *d;
  bool found;
} Inside;

static bool see_inside_load(Visitor *v, Expr e) {
  Inside *k = v->self;
  k->found |= e->op == OP_LOAD && (tirc_map_has(&k->d->own, e->u.buffer->data) ||
                                   tirc_map_has(&k->d->matches, e->u.buffer->data));
  return !k->found;
}

/* What is loaded from a buffer that the block has for itself means nothing outside of it. */
static Expr known_outside(const Detector *d, Expr e) {
  Inside k = {.d = d};
  if (e && (d->own.n || d->matches.n))
    tirc_visit_expr(&(Visitor){.expr = see_inside_load, .self = &k}, e);
  return k.found ? NULL : e;
}

enum { MOST_OF_LETS = 4096 };

static IntSet relax(Detector *d, Expr e) {
  /* A let may use those around it; what grows without measure stays as it is. */
  while (d->lets.n && e->size < MOST_OF_LETS && tirc_uses_any(e, &d->lets))
    e = tirc_substitute(d->c, e, &d->lets);
  IntSet set = {e, e};
  if (tirc_uses_any(e, &d->loops)) set = tirc_eval_set(d->analyzer, e, &d->loops);
  return (IntSet){known_outside(d, set.min), known_outside(d, set.max)};
}

static IntSet relax_range(Detector *d, Range r) {
  if (tirc_is_int(r.extent, 1)) return relax(d, r.min);
  IntSet low = relax(d, r.min);
  Expr last = tirc_sub(d->c, tirc_add(d->c, r.min, r.extent), tirc_int(d->c, r.min->dtype, 1));
  return (IntSet){low.min, relax(d, last).max};
}

/* The box of a matched buffer in the coordinates of what it was matched to. */
static IntSet *through_match(Detector *d, const MatchBuffer *m, const IntSet *dims) {
  int n = m->source.buffer->ndim, offset = n - m->buffer->ndim;
  IntSet *out = tirc_new_array(d->c, IntSet, n);
  for (int i = 0; i < n; i++) {
    Range source = m->source.dims[i];
    if (i < offset) {
      out[i] = relax_range(d, source);
      continue;
    }
    IntSet inner = dims[i - offset];
    out[i].min = inner.min ? tirc_add(d->c, source.min, inner.min) : NULL;
    out[i].max = inner.max ? tirc_add(d->c, source.min, inner.max) : NULL;
  }
  return out;
}

static void add(Detector *d, Boxes *to, Buffer b, IntSet *dims) {
  const MatchBuffer *m;
  while ((m = tirc_map_get(&d->matches, b->data))) {
    dims = through_match(d, m, dims);
    b = m->source.buffer;
  }
  if (tirc_map_has(&d->own, b->data)) return;
  for (int i = 0; i < to->v.n; i++) {
    if (to->v.at[i].buffer != b) continue;
    IntSet *united = tirc_new_array(d->c, IntSet, b->ndim);
    for (int k = 0; k < b->ndim; k++)
      united[k] = tirc_set_union(d->analyzer, to->v.at[i].dims[k], dims[k]);
    to->v.at[i].dims = united;
    return;
  }
  vec_push(d->c, to->v, ((Box){b, dims}));
}

static void add_access(Detector *d, Boxes *to, Buffer b, int n, const Expr *indices) {
  IntSet *dims = tirc_new_array(d->c, IntSet, b->ndim);
  for (int i = 0; i < b->ndim && i < n; i++) {
    Expr e = indices[i];
    if (e->op == OP_RAMP && tirc_dtype_wraps(e->dtype)) continue; /* it may turn around */
    if (e->op == OP_RAMP) {
      Expr last = tirc_add(
          d->c, e->args[0],
          tirc_mul(d->c, e->args[1], tirc_int(d->c, e->args[1]->dtype, e->dtype.lanes - 1)));
      dims[i] = tirc_set_union(d->analyzer, relax(d, e->args[0]), relax(d, last));
    } else {
      dims[i] = relax(d, e->op == OP_BROADCAST ? e->args[0] : e);
    }
  }
  add(d, to, b, dims);
}

static void add_whole(Detector *d, Boxes *to, Buffer b) {
  IntSet *dims = tirc_new_array(d->c, IntSet, b->ndim);
  for (int i = 0; i < b->ndim; i++)
    dims[i] =
        tirc_set_of_range(d->c, tirc_range(tirc_int(d->c, b->shape[i]->dtype, 0), b->shape[i]));
  add(d, to, b, dims);
}

/* Runs one of the visits under a condition. */
static void under(Detector *d, Expr cond, Expr e, Stmt s) {
  PtrMap before = d->loops;
  if (d->loops.n) {
    d->loops = tirc_map_copy(d->c, &before);
    tirc_narrow_by_condition(d->analyzer, cond, &d->loops);
  }
  if (e)
    visit_expr(d, e);
  else
    visit_stmt(d, s);
  d->loops = before;
}

/* tvm_access_ptr(type, data, offset, extent, mask): mask 1 reads, 2 writes. */
static bool visit_access_ptr(Detector *d, Expr e) {
  int64_t mask;
  if (!tirc_calls(e, CALL_TVM_ACCESS_PTR) || e->n < 5 || !tirc_const_int(e->args[4], &mask))
    return false;
  Buffer b = e->args[1]->op == OP_VAR ? tirc_map_get(&d->known, e->args[1]) : NULL;
  if (!b) return false;
  if ((mask & 3) == 3)
    add_whole(d, &d->opaque, b);
  else
    add_whole(d, mask & 2 ? &d->writes : &d->reads, b);
  visit_expr(d, e->args[2]);
  visit_expr(d, e->args[3]);
  return true;
}

static void visit_expr(Detector *d, Expr e) {
  Buffer b;
  Atomic update;
  switch (e->op) {
  case OP_VAR:
    if ((b = tirc_map_get(&d->known, e))) add_whole(d, &d->opaque, b);
    return;
  case OP_LOAD: add_access(d, &d->reads, e->u.buffer, e->n, e->args); break;
  case OP_IF_THEN_ELSE:
    visit_expr(d, e->args[0]);
    under(d, e->args[0], e->args[1], NULL);
    under(d, tirc_not(d->c, e->args[0]), e->args[2], NULL);
    return;
  case OP_LET:
    visit_expr(d, e->args[1]);
    tirc_map_set(d->c, &d->lets, e->args[0], e->args[1]);
    visit_expr(d, e->args[2]);
    tirc_map_remove(&d->lets, e->args[0]);
    return;
  case OP_CALL:
    if (visit_access_ptr(d, e)) return;
    if (tirc_atomic(e, &update))
      add_access(d, &d->writes, update.place->u.buffer, update.place->n, update.place->args);
    break;
  default: break;
  }
  for (int i = 0; i < e->n; i++) visit_expr(d, e->args[i]);
}

/* A block inside counts by what it declares. */
static void visit_nested(Detector *d, const Block *b) {
  PtrMap bindings = {0};
  for (int i = 0; i < b->n_iters; i++)
    tirc_map_set(d->c, &bindings, b->iters[i].var, b->iter_values[i]);
  for (int k = 0; k < b->n_reads + b->n_writes; k++) {
    bool write = k >= b->n_reads;
    const Region *r = write ? &b->writes[k - b->n_reads] : &b->reads[k];
    IntSet *dims = tirc_new_array(d->c, IntSet, r->buffer->ndim);
    for (int i = 0; i < r->buffer->ndim; i++)
      dims[i] = relax_range(d, tirc_range(tirc_substitute(d->c, r->dims[i].min, &bindings),
                                          tirc_substitute(d->c, r->dims[i].extent, &bindings)));
    add(d, write ? &d->writes : &d->reads, r->buffer, dims);
  }
}

static void visit_loop(Detector *d, const For *f) {
  visit_expr(d, f->min);
  visit_expr(d, f->extent);
  IntSet low = relax(d, f->min);
  Expr last = tirc_sub(d->c, tirc_add(d->c, f->min, f->extent), tirc_int(d->c, f->var->dtype, 1));
  IntSet *range = tirc_new(d->c, IntSet);
  *range = (IntSet){low.min, relax(d, last).max};
  tirc_map_set(d->c, &d->loops, f->var, range);
  visit_stmt(d, f->body);
  tirc_map_remove(&d->loops, f->var);
}

static void visit_shape(Detector *d, Buffer made) {
  for (int i = 0; i < made->ndim; i++) visit_expr(d, made->shape[i]);
}

static void visit_stmt(Detector *d, Stmt s) {
  Stmt below;
  switch (s->kind) {
  case STMT_FOR: visit_loop(d, &s->u.loop); break;
  case STMT_BLOCK: visit_nested(d, &s->u.block); break;
  case STMT_STORE:
    add_access(d, &d->writes, s->u.store.buffer, s->u.store.n, s->u.store.indices);
    visit_expr(d, s->u.store.value);
    for (int i = 0; i < s->u.store.n; i++) visit_expr(d, s->u.store.indices[i]);
    break;
  case STMT_EVAL: visit_expr(d, s->u.eval.value); break;
  case STMT_IF:
    visit_expr(d, s->u.branch.cond);
    under(d, s->u.branch.cond, NULL, s->u.branch.then_case);
    if (s->u.branch.else_case)
      under(d, tirc_not(d->c, s->u.branch.cond), NULL, s->u.branch.else_case);
    break;
  case STMT_LET:
    visit_expr(d, s->u.let.value);
    tirc_map_set(d->c, &d->lets, s->u.let.var, s->u.let.value);
    visit_stmt(d, s->u.let.body);
    tirc_map_remove(&d->lets, s->u.let.var);
    break;
  default:
    if (s->kind == STMT_WHILE) visit_expr(d, s->u.loop_while.cond);
    if (s->kind == STMT_ASSERT) visit_expr(d, s->u.check.cond);
    if (s->kind == STMT_ALLOC) tirc_map_set(d->c, &d->own, s->u.alloc.buffer->data, s);
    if (s->kind == STMT_ALLOC || s->kind == STMT_DECL) visit_shape(d, s->u.alloc.buffer);
    for (int i = 0; (below = tirc_below(s, i)); i++) visit_stmt(d, below);
  }
}

/* Data variables are told from other handles by the buffers that the block mentions. */
static void know(Detector *d, Buffer b) {
  if (!tirc_map_has(&d->known, b->data)) tirc_map_set(d->c, &d->known, b->data, b);
}

static bool know_expr(Visitor *v, Expr e) {
  if (e->op == OP_LOAD) know(v->self, e->u.buffer);
  return true;
}

static bool know_stmt(Visitor *v, Stmt s) {
  Detector *d = v->self;
  if (s->kind == STMT_STORE) know(d, s->u.store.buffer);
  if (s->kind != STMT_BLOCK) return true;
  const Block *b = &s->u.block;
  for (int i = 0; i < b->n_reads; i++) know(d, b->reads[i].buffer);
  for (int i = 0; i < b->n_writes; i++) know(d, b->writes[i].buffer);
  for (int i = 0; i < b->n_allocs; i++) know(d, b->allocs[i]);
  return true;
}

static Range cover(Detector *d, IntSet s, Expr extent) {
  if (s.min && s.min == s.max) return tirc_range(s.min, tirc_int(d->c, s.min->dtype, 1));
  return tirc_range_of_set(d->analyzer, s, tirc_range(tirc_int(d->c, extent->dtype, 0), extent));
}

static bool writes_buffer(const Boxes *writes, Buffer b) {
  for (int i = 0; i < writes->v.n; i++)
    if (writes->v.at[i].buffer == b) return true;
  return false;
}

static Regions collect(Detector *d, const Boxes *boxes, const Boxes *excluded) {
  Region *at = tirc_new_array(d->c, Region, boxes->v.n);
  int n = 0;
  for (int i = 0; i < boxes->v.n; i++) {
    Buffer b = boxes->v.at[i].buffer;
    if (excluded && writes_buffer(excluded, b)) continue;
    Range *dims = tirc_new_array(d->c, Range, b->ndim);
    for (int k = 0; k < b->ndim; k++) dims[k] = cover(d, boxes->v.at[i].dims[k], b->shape[k]);
    at[n++] = (Region){b, dims};
  }
  return (Regions){n, at};
}

Access tirc_block_access(Tirc *c, Stmt block) {
  const Block *b = &block->u.block;
  Detector d = {.c = c, .analyzer = tirc_analyzer(c)};
  tirc_visit_stmt(&(Visitor){.expr = know_expr, .stmt = know_stmt, .self = &d}, block);
  for (int i = 0; i < b->n_allocs; i++) tirc_map_set(c, &d.own, b->allocs[i]->data, block);
  for (int i = 0; i < b->n_matches; i++)
    tirc_map_set(c, &d.matches, b->matches[i].buffer->data, &b->matches[i]);
  if (b->init) visit_stmt(&d, b->init);
  visit_stmt(&d, b->body);
  for (int i = 0; i < b->n_allocs; i++) visit_shape(&d, b->allocs[i]);
  Access access;
  access.writes = collect(&d, &d.writes, NULL);
  access.reads = collect(&d, &d.reads, b->init ? &d.writes : NULL);
  access.opaque = collect(&d, &d.opaque, NULL);
  return access;
}

const Region *tirc_region_of(int n, const Region *at, Buffer buffer) {
  for (int i = 0; i < n; i++)
    if (at[i].buffer == buffer) return &at[i];
  return NULL;
}

const Region *tirc_declared_read(const Block *b, Buffer buffer) {
  return tirc_region_of(b->n_reads, b->reads, buffer);
}

const Region *tirc_declared_write(const Block *b, Buffer buffer) {
  return tirc_region_of(b->n_writes, b->writes, buffer);
}

Stmt tirc_infer_regions(Tirc *c, Stmt block, bool reads_given, bool writes_given) {
  if (reads_given && writes_given) return block;
  Access access = tirc_block_access(c, block);
  Block b = block->u.block;
  if (access.opaque.n)
    tirc_fail(c, block->loc, CODE_REGION, "write T.reads(...) and T.writes(...) in the block",
              "the regions of block \"%s\" cannot be inferred, because it uses the address of %s",
              b.name, access.opaque.at[0].buffer->name);
  if (!reads_given) {
    b.reads = access.reads.at;
    b.n_reads = access.reads.n;
  }
  if (!writes_given) {
    b.writes = access.writes.at;
    b.n_writes = access.writes.n;
  }
  return tirc_with_loc(c, tirc_block(c, &b), block->loc);
}

static Regions append(Tirc *c, Regions a, Regions b) {
  Region *at = tirc_new_array(c, Region, a.n + b.n);
  if (a.n) memcpy(at, a.at, (size_t)a.n * sizeof *at);
  if (b.n) memcpy(at + a.n, b.at, (size_t)b.n * sizeof *at);
  return (Regions){a.n + b.n, at};
}

void tirc_block_reads_writes(Tirc *c, Stmt block, Regions *reads, Regions *writes) {
  Access access = tirc_block_access(c, block);
  *reads = append(c, access.reads, access.opaque);
  *writes = append(c, access.writes, access.opaque);
}

Stmt tirc_with_own_regions(Tirc *c, Stmt block) {
  Regions reads, writes;
  Block b = block->u.block;
  tirc_block_reads_writes(c, block, &reads, &writes);
  b.reads = reads.at;
  b.n_reads = reads.n;
  b.writes = writes.at;
  b.n_writes = writes.n;
  return tirc_block(c, &b);
}
