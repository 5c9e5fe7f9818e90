/* One walk and one rewrite over all node kinds; what a pass wants to see or change it says by
 * callbacks. Rewrites share whatever did not change, so identity tells whether anything happened.
 */
#include "visit.h"

const char tirc_path_on, tirc_path_all;

static uint64_t bit_of(const void *key) {
  return (uint64_t)1 << ((uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 58);
}

void tirc_path_set(Tirc *c, Paths *paths, const void *key, const char *path) {
  tirc_map_set(c, &paths->at, key, path);
  paths->bits |= bit_of(key);
}

void tirc_path_set_in(Tirc *c, Paths *paths, Stmt seq, int i) {
  const Stmt *part = tirc_part(seq, i)->at;
  SeqPath *known = paths->seqs.at, *end = known + paths->seqs.n;
  while (known < end && known->seq != seq) known++;
  if (known == end) {
    vec_push(c, paths->seqs, (SeqPath){.seq = seq});
    known = paths->seqs.at + paths->seqs.n - 1;
  }
  for (int k = 0; k < known->parts.n; k++)
    if (known->parts.at[k] == part) return;
  vec_push(c, known->parts, part);
}

/* Edits add or remove a part or two. */
static bool has_part(Stmt seq, const Stmt *at, int guess) {
  enum { NEAR = 2 };
  int i = guess < NEAR ? 0 : guess - NEAR;
  for (; i < seq->u.seq.n_parts && i <= guess + NEAR; i++)
    if (seq->u.seq.parts[i].at == at) return true;
  return false;
}

static bool has_part_at(Stmt seq, const Stmt *at, int i) {
  return i < seq->u.seq.n_parts && seq->u.seq.parts[i].at == at;
}

/* The path in the sequence that this part was taken over from; NULL: it is another part. */
static const SeqPath *path_in(const Paths *only, const SeqPart *p, int index) {
  for (int i = 0; i < only->seqs.n; i++) {
    Stmt known = only->seqs.at[i].seq;
    if (has_part_at(known, p->at, index) || has_part(known, p->at, index)) return &only->seqs.at[i];
  }
  return NULL;
}

static bool leads_through(const SeqPath *path, const SeqPart *p) {
  for (int k = 0; k < path->parts.n; k++)
    if (path->parts.at[k] == p->at) return true;
  return false;
}

bool tirc_path_misses(const Paths *only, Stmt seq, const SeqPart *p) {
  const SeqPath *path = only ? path_in(only, p, (int)(p - seq->u.seq.parts)) : NULL;
  return path && !leads_through(path, p);
}

static bool passes_by(const Paths *only, Stmt s) {
  return only && (s->kind == STMT_FOR || s->kind == STMT_BLOCK) &&
         !(only->bits & bit_of(tirc_identity(s)));
}

/* Whether item i begins parts to be passed by; then i becomes the last item of them. */
static bool passes_parts(const Paths *only, Stmt seq, int *i) {
  if (!only || !only->seqs.n) return false;
  const SeqPart *parts = seq->u.seq.parts, *first = tirc_part(seq, *i);
  if (first->first != *i) return false;
  const SeqPath *path = NULL;
  int p = (int)(first - parts);
  for (; p < seq->u.seq.n_parts; p++) {
    if (!path || !has_part_at(path->seq, parts[p].at, p)) path = path_in(only, &parts[p], p);
    if (!path || leads_through(path, &parts[p])) break;
  }
  if (parts + p == first) return false;
  *i = tirc_part_end(seq, parts + p - 1) - 1;
  return true;
}

const char *tirc_path_of(const Paths *only, Stmt s) {
  if (s->kind != STMT_FOR && s->kind != STMT_BLOCK) return &tirc_path_on;
  return tirc_map_get(&only->at, tirc_identity(s));
}

Expr tirc_keep_expr(Mutator *m, Expr e) { return (void)m, e; }

bool tirc_skip_expr(Visitor *v, Expr e) {
  (void)v;
  (void)e;
  return false;
}

void tirc_visit_expr(Visitor *v, Expr e) {
  if (v->expr && !v->expr(v, e)) return;
  /* The first operand of a Let is the variable it defines. */
  for (int i = e->op == OP_LET ? 1 : 0; i < e->n; i++) tirc_visit_expr(v, e->args[i]);
}

void tirc_visit_region(Visitor *v, const Region *r) {
  for (int i = 0; i < r->buffer->ndim; i++) {
    tirc_visit_expr(v, r->dims[i].min);
    tirc_visit_expr(v, r->dims[i].extent);
  }
}

static void visit_block_head(Visitor *v, const Block *b) {
  for (int i = 0; i < b->n_iters; i++) {
    tirc_visit_expr(v, b->iters[i].dom.min);
    tirc_visit_expr(v, b->iters[i].dom.extent);
    tirc_visit_expr(v, b->iter_values[i]);
  }
  tirc_visit_expr(v, b->predicate);
  if (v->regions) {
    for (int i = 0; i < b->n_reads; i++) tirc_visit_region(v, &b->reads[i]);
    for (int i = 0; i < b->n_writes; i++) tirc_visit_region(v, &b->writes[i]);
    for (int i = 0; i < b->n_matches; i++) tirc_visit_region(v, &b->matches[i].source);
  }
}

void tirc_visit_head(Visitor *v, Stmt s) {
  switch (s->kind) {
  case STMT_FOR:
    tirc_visit_expr(v, s->u.loop.min);
    tirc_visit_expr(v, s->u.loop.extent);
    break;
  case STMT_BLOCK: visit_block_head(v, &s->u.block); break;
  case STMT_IF: tirc_visit_expr(v, s->u.branch.cond); break;
  case STMT_WHILE: tirc_visit_expr(v, s->u.loop_while.cond); break;
  case STMT_LET: tirc_visit_expr(v, s->u.let.value); break;
  default: break;
  }
}

static void visit_stmt(Visitor *v, Stmt s) {
  if (v->stmt && !v->stmt(v, s)) return;
  tirc_visit_head(v, s);
  Stmt below;
  switch (s->kind) {
  case STMT_FOR: tirc_visit_stmt(v, s->u.loop.body); break;
  case STMT_BLOCK:
    if (s->u.block.init) tirc_visit_stmt(v, s->u.block.init);
    tirc_visit_stmt(v, s->u.block.body);
    break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) {
      if (passes_parts(v->only, s, &i)) continue;
      if (!passes_by(v->only, tirc_item(s, i))) tirc_visit_stmt(v, tirc_item(s, i));
    }
    break;
  case STMT_STORE:
    for (int i = 0; i < s->u.store.n; i++) tirc_visit_expr(v, s->u.store.indices[i]);
    tirc_visit_expr(v, s->u.store.value);
    break;
  case STMT_EVAL: tirc_visit_expr(v, s->u.eval.value); break;
  default:
    if (s->kind == STMT_ATTR && s->u.attr.node) tirc_visit_expr(v, s->u.attr.node);
    if (s->kind == STMT_ATTR) tirc_visit_expr(v, s->u.attr.value);
    if (s->kind == STMT_ASSERT) tirc_visit_expr(v, s->u.check.cond);
    for (int i = 0; (below = tirc_below(s, i)); i++) tirc_visit_stmt(v, below);
  }
}

void tirc_visit_stmt(Visitor *v, Stmt s) {
  const Paths *only = v->only;
  const char *path = only ? tirc_path_of(only, s) : NULL;
  if (only && !path) return;
  if (path == &tirc_path_all) v->only = NULL;
  visit_stmt(v, s);
  v->only = only;
}

void tirc_visit_module(Visitor *v, const Module *m) {
  for (int i = 0; i < m->n_funcs; i++)
    if (m->funcs[i]->body) tirc_visit_stmt(v, m->funcs[i]->body);
}

void tirc_visit_stmts(Stmt s, bool (*see)(Visitor *v, Stmt s), void *self) {
  tirc_visit_stmt(&(Visitor){.stmt = see, .expr = tirc_skip_expr, .self = self}, s);
}

static bool find_place(Visitor *v, Stmt s) {
  Loc *found = v->self;
  if (!found->line) *found = s->loc;
  return !found->line;
}

Loc tirc_place_of(Stmt s) {
  Loc found = {0};
  tirc_visit_stmt(&(Visitor){.stmt = find_place, .self = &found}, s);
  return found;
}

/* --- rewriting -------------------------------------------------------------------------------- */

static Buffer map_buffer(Mutator *m, Buffer b) { return m->buffer ? m->buffer(m, b) : b; }

static bool is_index(DType t) { return t.code == TYPE_INT && t.lanes == 1 && t.bits >= 32; }

/* An index that is rewritten stays one of its type, for what stands around it was built for that.
 */
Expr tirc_mutate_expr(Mutator *m, Expr e) {
  Expr to = m->expr ? m->expr(m, e) : tirc_mutate_expr_children(m, e);
  bool other = to->dtype.bits != e->dtype.bits && is_index(e->dtype) && is_index(to->dtype);
  return other ? tirc_cast(m->c, e->dtype, to) : to;
}

/* Rewrites n expressions; returns `from` itself when none changed. */
static const Expr *mutate_exprs(Mutator *m, int n, const Expr *from) {
  Expr *to = NULL;
  for (int i = 0; i < n; i++) {
    Expr e = tirc_mutate_expr(m, from[i]);
    if (e == from[i] && !to) continue;
    if (!to) {
      to = tirc_new_array(m->c, Expr, n);
      memcpy(to, from, (size_t)n * sizeof *to);
    }
    to[i] = e;
  }
  return to ? to : from;
}

Expr tirc_mutate_expr_children(Mutator *m, Expr e) {
  if (e->n == 0 && e->op != OP_LOAD) return e;
  if (e->op == OP_LET) {
    Expr value = tirc_mutate_expr(m, e->args[1]), body = tirc_mutate_expr(m, e->args[2]);
    if (value == e->args[1] && body == e->args[2]) return e;
    return tirc_expr(m->c, OP_LET, body->dtype, 3, (Expr[]){e->args[0], value, body});
  }
  const Expr *args = mutate_exprs(m, e->n, e->args);
  if (e->op == OP_LOAD) {
    Buffer b = map_buffer(m, e->u.buffer);
    if (args == e->args && b == e->u.buffer) return e;
    Expr load = tirc_load(m->c, b, e->n, args);
    return load;
  }
  if (args == e->args) return e;
  if (e->op == OP_CALL) return tirc_call(m->c, e->dtype, e->u.callee, e->n, args);
  return tirc_expr(m->c, (Op)e->op, e->dtype, e->n, args);
}

static const Range *mutate_dims(Mutator *m, int n, const Range *from) {
  Range *to = NULL;
  for (int i = 0; i < n; i++) {
    Range r = {tirc_mutate_expr(m, from[i].min), tirc_mutate_expr(m, from[i].extent)};
    if (r.min == from[i].min && r.extent == from[i].extent && !to) continue;
    if (!to) {
      to = tirc_new_array(m->c, Range, n);
      memcpy(to, from, (size_t)n * sizeof *to);
    }
    to[i] = r;
  }
  return to ? to : from;
}

Region tirc_mutate_region(Mutator *m, Region r) {
  Buffer b = map_buffer(m, r.buffer);
  return (Region){b, mutate_dims(m, r.buffer->ndim, r.dims)};
}

static bool same_region(Region a, Region b) { return a.buffer == b.buffer && a.dims == b.dims; }

static const Region *mutate_regions(Mutator *m, int n, const Region *from) {
  Region *to = NULL;
  for (int i = 0; i < n; i++) {
    Region r = tirc_mutate_region(m, from[i]);
    if (same_region(r, from[i]) && !to) continue;
    if (!to) {
      to = tirc_new_array(m->c, Region, n);
      memcpy(to, from, (size_t)n * sizeof *to);
    }
    to[i] = r;
  }
  return to ? to : from;
}

static const Buffer *mutate_buffers(Mutator *m, int n, const Buffer *from) {
  Buffer *to = NULL;
  for (int i = 0; m->buffer && i < n; i++) {
    Buffer b = m->buffer(m, from[i]);
    if (b == from[i]) continue;
    if (!to) to = tirc_copy(m->c, from, n);
    to[i] = b;
  }
  return to ? to : from;
}

static const MatchBuffer *mutate_matches(Mutator *m, int n, const MatchBuffer *from) {
  MatchBuffer *to = NULL;
  for (int i = 0; i < n; i++) {
    MatchBuffer x = {map_buffer(m, from[i].buffer), tirc_mutate_region(m, from[i].source)};
    if (x.buffer == from[i].buffer && same_region(x.source, from[i].source)) continue;
    if (!to) {
      to = tirc_new_array(m->c, MatchBuffer, n);
      memcpy(to, from, (size_t)n * sizeof *to);
    }
    to[i] = x;
  }
  return to ? to : from;
}

static const IterVar *mutate_iters(Mutator *m, int n, const IterVar *from) {
  IterVar *to = NULL;
  for (int i = 0; i < n; i++) {
    Range dom = {tirc_mutate_expr(m, from[i].dom.min), tirc_mutate_expr(m, from[i].dom.extent)};
    if (dom.min == from[i].dom.min && dom.extent == from[i].dom.extent) continue;
    if (!to) {
      to = tirc_new_array(m->c, IterVar, n);
      memcpy(to, from, (size_t)n * sizeof *to);
    }
    to[i].dom = dom;
  }
  return to ? to : from;
}

static Stmt mutate_block(Mutator *m, Stmt s) {
  const Block *b = &s->u.block;
  Block to = *b;
  to.iters = mutate_iters(m, b->n_iters, b->iters);
  to.iter_values = mutate_exprs(m, b->n_iters, b->iter_values);
  to.predicate = tirc_mutate_expr(m, b->predicate);
  to.reads = mutate_regions(m, b->n_reads, b->reads);
  to.writes = mutate_regions(m, b->n_writes, b->writes);
  to.allocs = mutate_buffers(m, b->n_allocs, b->allocs);
  to.matches = mutate_matches(m, b->n_matches, b->matches);
  to.init = b->init ? tirc_mutate_stmt(m, b->init) : NULL;
  to.body = tirc_mutate_stmt(m, b->body);
  if (memcmp(&to, b, sizeof to) == 0) return s;
  struct StmtNode *copy = tirc_new(m->c, struct StmtNode);
  *copy = *s;
  copy->u.block = to;
  return tirc_stmt_done(m->c, copy);
}

/* An item that became several, or none, is put in last, the last of them first: the places of the
 * others are as they were. */
static Stmt mutate_seq(Mutator *m, Stmt s) {
  enum { FEW = 4 };
  struct StmtNode *draft = NULL;
  int n_nested = 0, at[FEW];
  Stmt nested[FEW];
  for (int i = 0; i < s->u.seq.n; i++) {
    if (passes_parts(m->only, s, &i) || passes_by(m->only, tirc_item(s, i))) continue;
    Stmt x = tirc_mutate_stmt(m, tirc_item(s, i));
    if (x == tirc_item(s, i)) continue;
    if (x->kind == STMT_SEQ && n_nested++ < FEW) {
      at[n_nested - 1] = i;
      nested[n_nested - 1] = x;
      continue;
    }
    if (!draft) draft = tirc_seq_draft(m->c, s);
    tirc_seq_set(m->c, draft, s, i, x);
  }
  Stmt flat = draft ? draft : s;
  if (n_nested > FEW) flat = tirc_seq(m->c, 1, &flat);
  for (int i = n_nested < FEW ? n_nested : FEW; i-- > 0;)
    flat = tirc_seq_splice(m->c, flat, at[i], 1, 1, &nested[i]);
  return flat;
}

static Stmt mutate_for(Mutator *m, Stmt s) {
  For to = s->u.loop;
  to.min = tirc_mutate_expr(m, to.min);
  to.extent = tirc_mutate_expr(m, to.extent);
  to.body = tirc_mutate_stmt(m, to.body);
  if (to.min == s->u.loop.min && to.extent == s->u.loop.extent && to.body == s->u.loop.body)
    return s;
  return tirc_for(m->c, &to);
}

static Stmt mutate_store(Mutator *m, Stmt s) {
  Buffer b = map_buffer(m, s->u.store.buffer);
  const Expr *indices = mutate_exprs(m, s->u.store.n, s->u.store.indices);
  Expr value = tirc_mutate_expr(m, s->u.store.value);
  if (b == s->u.store.buffer && indices == s->u.store.indices && value == s->u.store.value)
    return s;
  return tirc_store(m->c, b, s->u.store.n, indices, value);
}

static Stmt mutate_other(Mutator *m, Stmt s) {
  Tirc *c = m->c;
  switch (s->kind) {
  case STMT_EVAL: {
    Expr e = tirc_mutate_expr(m, s->u.eval.value);
    return e == s->u.eval.value ? s : tirc_eval(c, e);
  }
  case STMT_IF: {
    Expr cond = tirc_mutate_expr(m, s->u.branch.cond);
    Stmt yes = tirc_mutate_stmt(m, s->u.branch.then_case);
    Stmt no = s->u.branch.else_case ? tirc_mutate_stmt(m, s->u.branch.else_case) : NULL;
    bool same =
        cond == s->u.branch.cond && yes == s->u.branch.then_case && no == s->u.branch.else_case;
    return same ? s : tirc_if(c, cond, yes, no);
  }
  case STMT_WHILE: {
    Expr cond = tirc_mutate_expr(m, s->u.loop_while.cond);
    Stmt body = tirc_mutate_stmt(m, s->u.loop_while.body);
    bool same = cond == s->u.loop_while.cond && body == s->u.loop_while.body;
    return same ? s : tirc_while(c, cond, body);
  }
  case STMT_LET: {
    Expr value = tirc_mutate_expr(m, s->u.let.value);
    Stmt body = tirc_mutate_stmt(m, s->u.let.body);
    bool same = value == s->u.let.value && body == s->u.let.body;
    return same ? s : tirc_let(c, s->u.let.var, value, body);
  }
  case STMT_ALLOC:
  case STMT_DECL: {
    Buffer b = map_buffer(m, s->u.alloc.buffer);
    Stmt body = tirc_mutate_stmt(m, s->u.alloc.body);
    bool same = b == s->u.alloc.buffer && body == s->u.alloc.body;
    return same ? s : tirc_alloc_stmt(c, s->kind, b, s->u.alloc.annotations, body);
  }
  case STMT_ATTR: {
    Expr target = s->u.attr.node ? tirc_mutate_expr(m, s->u.attr.node) : NULL;
    Expr value = tirc_mutate_expr(m, s->u.attr.value);
    Stmt body = tirc_mutate_stmt(m, s->u.attr.body);
    bool same = target == s->u.attr.node && value == s->u.attr.value && body == s->u.attr.body;
    return same ? s : tirc_attr_stmt(c, target, s->u.attr.key, value, body);
  }
  default: {
    Expr cond = tirc_mutate_expr(m, s->u.check.cond);
    Stmt body = tirc_mutate_stmt(m, s->u.check.body);
    bool same = cond == s->u.check.cond && body == s->u.check.body;
    return same ? s : tirc_assert_stmt(c, cond, s->u.check.message, body);
  }
  }
}

Stmt tirc_mutate_stmt(Mutator *m, Stmt s) {
  const Paths *only = m->only;
  const char *path = only ? tirc_path_of(only, s) : NULL;
  if (only && !path) return s;
  if (path == &tirc_path_all) m->only = NULL;
  Stmt to = m->stmt ? m->stmt(m, s) : tirc_mutate_stmt_children(m, s);
  m->only = only;
  /* A store that another one replaces is of the same line. */
  const bool is_store = s->kind == STMT_STORE && to->kind == STMT_STORE;
  return is_store && to != s && s->loc.line && !to->loc.line ? tirc_with_loc(m->c, to, s->loc) : to;
}

Stmt tirc_mutate_stmt_children(Mutator *m, Stmt s) {
  Stmt to;
  switch (s->kind) {
  case STMT_FOR: to = mutate_for(m, s); break;
  case STMT_BLOCK: to = mutate_block(m, s); break;
  case STMT_SEQ: to = mutate_seq(m, s); break;
  case STMT_STORE: to = mutate_store(m, s); break;
  default: to = mutate_other(m, s); break;
  }
  /* A rewritten statement still stands where the old one was written. */
  return to != s && s->loc.line && !to->loc.line ? tirc_with_loc(m->c, to, s->loc) : to;
}
