/* Who uses which buffer: for each buffer of a scope the child blocks that mention it, so that a
 * primitive finds a buffer's readers and writers without looking at the others.
 *
 * What a block mentions is read off its statement: loads, those in extents of what it allocates
 * too, stores, regions, views, handle variables, in blocks inside of it too. What the
 * block and blocks inside of it declare makes dependences, and so does what decides where and
 * whether they run: loads in predicates, bindings and the extents of allocations. The rest is for
 * rewrites, which must not miss a load that nobody declared. */
#include "../../ir/visit.h"
#include "internal.h"
#include "state.h"

/* Each in order of execution. */
typedef struct Users {
  SRefs all, by[2]; /* by: those that read and those that write it */
} Users;

static const SRefs nobody;

const SRefs *tirc_users_of(const Scope *scope, const void *key) {
  const Users *users = tirc_map_get(&scope->users, key);
  return users ? &users->all : &nobody;
}

const SRefs *tirc_accessors_of(const Scope *scope, Buffer b, bool write) {
  const Users *users = tirc_map_get(&scope->users, b);
  return users ? &users->by[write] : &nobody;
}

bool tirc_mentions(const SRef *block, const void *buffer_or_data) {
  for (int i = 0; i < block->n_mentions; i++)
    if (block->mentions[i] == buffer_or_data) return true;
  return false;
}

bool tirc_touches(const SRef *block, Buffer b, bool write) {
  for (int i = 0; i < block->n_accesses[write]; i++)
    if (block->accesses[write][i].buffer == b) return true;
  return false;
}

int tirc_first_from(const SRefs *at, int64_t order) {
  int low = 0, high = at->n;
  while (low < high) {
    const int mid = low + (high - low) / 2;
    if (at->at[mid]->order < order)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/* --- what a block mentions ---------------------------------------------------------------------
 */

typedef struct Mentions {
  Tirc *c;
  PtrMap seen; /* used once there are many */
  VEC(const void *) at;
} Mentions;

static void mention(Mentions *m, const void *key) {
  enum { MANY = 24 };
  if (m->at.n < MANY) {
    for (int i = 0; i < m->at.n; i++)
      if (m->at.at[i] == key) return;
  } else {
    for (int i = 0; !m->seen.n && i < m->at.n; i++)
      tirc_map_set(m->c, &m->seen, m->at.at[i], m->at.at[i]);
    if (tirc_map_has(&m->seen, key)) return;
    tirc_map_set(m->c, &m->seen, key, key);
  }
  vec_push(m->c, m->at, key);
}

static bool see_expr(Visitor *v, Expr e) {
  if (e->op == OP_LOAD) mention(v->self, e->u.buffer);
  if (e->op == OP_VAR && e->dtype.code == TYPE_HANDLE) mention(v->self, e);
  return true;
}

static void mention_with_data(Mentions *m, Buffer b) {
  mention(m, b);
  mention(m, b->data);
}

static void see_shape(Visitor *v, Buffer made) {
  for (int i = 0; i < made->ndim; i++)
    if (made->shape[i]->op != OP_INT) tirc_visit_expr(v, made->shape[i]);
}

static bool see_stmt(Visitor *v, Stmt s) {
  Mentions *m = v->self;
  if (s->kind == STMT_STORE) mention(m, s->u.store.buffer);
  if (s->kind == STMT_DECL || s->kind == STMT_ALLOC) {
    mention_with_data(m, s->u.alloc.buffer);
    see_shape(v, s->u.alloc.buffer);
  }
  if (s->kind != STMT_BLOCK) return true;
  const Block *b = &s->u.block;
  for (int i = 0; i < b->n_reads; i++) mention(m, b->reads[i].buffer);
  for (int i = 0; i < b->n_writes; i++) mention(m, b->writes[i].buffer);
  for (int i = 0; i < b->n_allocs; i++) {
    mention(m, b->allocs[i]);
    see_shape(v, b->allocs[i]);
  }
  for (int i = 0; i < b->n_matches; i++) {
    mention(m, b->matches[i].source.buffer);
    mention_with_data(m, b->matches[i].buffer);
  }
  return true;
}

typedef VEC(Region) RegionVec;

/* What a block without others inside reads of what it declares: a part of a loop declares whole
 * rows. */
static Region narrowed(Sched *s, const SRef *block, Region r) {
  if (block->scope->n_blocks) return r;
  const Access access = tirc_block_access(s->c, block->stmt);
  const Region *actual = tirc_region_of(access.reads.n, access.reads.at, r.buffer);
  const bool opaque = tirc_region_of(access.opaque.n, access.opaque.at, r.buffer);
  return actual && !opaque ? *actual : r;
}

/* What all iterations of the loops of a block access, where its scope looks at it. */
static Region spread(Sched *s, SRef *block, Region r) {
  Tirc *c = s->c;
  PtrMap map = {0};
  tirc_bindings_of(c, block->stmt, &map);
  Range *dims = tirc_new_array(c, Range, r.buffer->ndim + 1);
  Analyzer *a = tirc_analyzer(c);
  const IntSet *sets =
      tirc_region_upper(s, a, tirc_substitute_region(c, r, &map), tirc_block_of(block)->predicate,
                        block->parent, tirc_scope_root(s, block));
  for (int i = 0; i < r.buffer->ndim; i++) {
    const Expr extent = r.buffer->shape[i];
    dims[i] = tirc_range_of_set(a, sets[i], tirc_range(tirc_int(c, extent->dtype, 0), extent));
  }
  return (Region){r.buffer, dims};
}

typedef struct Undeclared {
  Tirc *c;
  const Block *b;
  RegionVec *out;
} Undeclared;

static bool see_undeclared(Visitor *v, Expr e) {
  const Undeclared *u = v->self;
  if (e->op != OP_LOAD || tirc_declared_read(u->b, e->u.buffer) ||
      tirc_region_of(u->out->n, u->out->at, e->u.buffer))
    return true;
  const Buffer b = e->u.buffer;
  Range *dims = tirc_new_array(u->c, Range, b->ndim + 1);
  for (int i = 0; i < b->ndim; i++)
    dims[i] = tirc_range(tirc_int(u->c, b->shape[i]->dtype, 0), b->shape[i]);
  vec_push(u->c, *u->out, ((Region){b, dims}));
  return true;
}

/* What T.reads leaves out: loads in the extents of the buffers that the block allocates, and in
 * what decides where and whether it runs. */
static void gather_undeclared(Tirc *c, const Block *b, RegionVec *out) {
  Undeclared u = {c, b, out};
  Visitor v = {.expr = see_undeclared, .self = &u};
  tirc_visit_expr(&v, b->predicate);
  for (int i = 0; i < b->n_iters; i++) tirc_visit_expr(&v, b->iter_values[i]);
  for (int i = 0; i < b->n_allocs; i++) see_shape(&v, b->allocs[i]);
}

static bool loads_undeclared(const Block *b) {
  bool loads = b->n_allocs > 0 || tirc_reads_memory(b->predicate);
  for (int i = 0; i < b->n_iters && !loads; i++) loads = tirc_reads_memory(b->iter_values[i]);
  return loads;
}

/* A sum with an init does not declare that it reads itself. */
static bool is_declared(const Block *b, Buffer buffer, bool write) {
  return tirc_declared_write(b, buffer) ? write || b->init || tirc_declared_read(b, buffer)
                                        : !write && tirc_declared_read(b, buffer);
}

bool tirc_hides(const SRef *block, const SRef *inner) {
  for (int write = 0; write < 2; write++)
    for (int i = 0; i < inner->n_accesses[write]; i++)
      if (!is_declared(tirc_block_of(block), inner->accesses[write][i].buffer, write)) return true;
  return false;
}

/* The regions of a block, and those that only blocks inside of it declare. */
static RegionVec gather(Sched *s, const SRef *r, bool write) {
  const Block *b = tirc_block_of(r);
  const int n = write ? b->n_writes : b->n_reads;
  RegionVec out = {0};
  for (int i = 0; i < n; i++) vec_push(s->c, out, (write ? b->writes : b->reads)[i]);
  if (!write) gather_undeclared(s->c, b, &out);
  for (int i = 0; i < r->scope->n_blocks; i++) {
    SRef *inner = r->scope->blocks[i];
    for (int k = 0; k < inner->n_accesses[write]; k++) {
      const Region *at = &inner->accesses[write][k];
      if (is_declared(b, at->buffer, write)) continue;
      vec_push(s->c, out, spread(s, inner, write ? *at : narrowed(s, inner, *at)));
    }
  }
  return out;
}

void tirc_know_accesses(Sched *s, SRef *r) {
  const Block *b = tirc_block_of(r);
  r->hidden = false;
  for (int write = 0; write < 2; write++) {
    RegionVec all = {0};
    if (r->scope->n_blocks || loads_undeclared(b)) {
      all = gather(s, r, write);
    } else {
      all.at = (Region *)(uintptr_t)(write ? b->writes : b->reads);
      all.n = write ? b->n_writes : b->n_reads;
    }
    r->hidden |= all.n > (write ? b->n_writes : b->n_reads);
    r->n_accesses[write] = all.n;
    r->accesses[write] = all.at;
  }
}

void tirc_know_uses(Sched *s, SRef *r) {
  tirc_know_accesses(s, r);
  Mentions m = {.c = s->c};
  tirc_visit_stmt(&(Visitor){.expr = see_expr, .stmt = see_stmt, .regions = true, .self = &m},
                  r->stmt);
  r->n_mentions = m.at.n;
  r->mentions = m.at.at;
}

/* --- the index ---------------------------------------------------------------------------------
 */

static void insert(Tirc *c, SRefs *v, SRef *block) {
  const int place = tirc_first_from(v, block->order);
  if (place < v->n && v->at[place] == block) return;
  vec_push(c, *v, block);
  memmove(v->at + place + 1, v->at + place, (size_t)(v->n - 1 - place) * sizeof *v->at);
  v->at[place] = block;
}

static void take_out(SRefs *v, const SRef *block) {
  const int place = tirc_first_from(v, block->order);
  if (place == v->n || v->at[place] != block) return;
  v->n--;
  memmove(v->at + place, v->at + place + 1, (size_t)(v->n - place) * sizeof *v->at);
}

static void add_mention(Tirc *c, Scope *scope, const void *key, SRef *block) {
  Users *users = tirc_map_get(&scope->users, key);
  if (!users) {
    users = tirc_new(c, Users);
    tirc_map_set(c, &scope->users, key, users);
  }
  insert(c, &users->all, block);
}

static Users *users_of_region(const Scope *scope, Region r) {
  return tirc_map_get(&scope->users, r.buffer);
}

void tirc_users_add(Sched *s, Scope *scope, SRef *block) {
  for (int i = 0; i < block->n_mentions; i++) add_mention(s->c, scope, block->mentions[i], block);
  for (int write = 0; write < 2; write++)
    for (int i = 0; i < block->n_accesses[write]; i++)
      insert(s->c, &users_of_region(scope, block->accesses[write][i])->by[write], block);
}

void tirc_users_remove(Scope *scope, SRef *block) {
  for (int write = 0; write < 2; write++)
    for (int i = 0; i < block->n_accesses[write]; i++)
      take_out(&users_of_region(scope, block->accesses[write][i])->by[write], block);
  for (int i = 0; i < block->n_mentions; i++) {
    Users *users = tirc_map_get(&scope->users, block->mentions[i]);
    take_out(&users->all, block);
  }
}

void tirc_users_spread(Sched *s, SRef *block, const SRefs *now) {
  SRef *around = tirc_scope_root(s, block);
  for (; around && around->scope && block->order; around = tirc_scope_root(s, block)) {
    Mentions m = {.c = s->c};
    for (int i = 0; i < block->n_mentions; i++) mention(&m, block->mentions[i]);
    const int before = m.at.n;
    for (int i = 0; i < now->n; i++)
      for (int k = 0; k < now->at[i]->n_mentions; k++) mention(&m, now->at[i]->mentions[k]);
    if (m.at.n == before) return;
    for (int i = before; i < m.at.n; i++) add_mention(s->c, around->scope, m.at.at[i], block);
    block->n_mentions = m.at.n;
    block->mentions = m.at.at;
    block = around;
  }
}
