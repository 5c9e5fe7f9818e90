/* Who uses which buffer: for each buffer of a scope the child blocks that mention it, so that a
 * primitive finds a buffer's readers and writers without looking at the others.
 *
 * What a block mentions is read off its statement: loads, stores, regions, views, handle variables,
 * in blocks inside of it too. Only what the block and blocks inside of it declare makes
 * dependences; the rest is for rewrites, which must not miss a load that nobody declared. */
#include "../../ir/visit.h"
#include "internal.h"
#include "state.h"

const SRefs *tirc_users_of(const Scope *scope, const void *key) {
  return tirc_map_get(&scope->users, key);
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

static bool see_stmt(Visitor *v, Stmt s) {
  Mentions *m = v->self;
  if (s->kind == STMT_STORE) mention(m, s->u.store.buffer);
  if (s->kind == STMT_DECL || s->kind == STMT_ALLOC) mention_with_data(m, s->u.alloc.buffer);
  if (s->kind != STMT_BLOCK) return true;
  const Block *b = &s->u.block;
  for (int i = 0; i < b->n_reads; i++) mention(m, b->reads[i].buffer);
  for (int i = 0; i < b->n_writes; i++) mention(m, b->writes[i].buffer);
  for (int i = 0; i < b->n_allocs; i++) mention(m, b->allocs[i]);
  for (int i = 0; i < b->n_matches; i++) {
    mention(m, b->matches[i].source.buffer);
    mention_with_data(m, b->matches[i].buffer);
  }
  return true;
}

typedef VEC(Region) RegionVec;

/* The regions of a block, and those that only blocks inside of it declare. */
static void gather(Tirc *c, const SRef *r, bool write, RegionVec *out) {
  const Block *b = tirc_block_of(r);
  const Region *at = write ? b->writes : b->reads;
  int n = write ? b->n_writes : b->n_reads, before = out->n;
  for (int i = 0; i < n; i++) {
    int k = 0;
    while (k < before && out->at[k].buffer != at[i].buffer) k++;
    if (k == before) vec_push(c, *out, at[i]);
  }
  for (int i = 0; i < r->scope->n_blocks; i++) gather(c, r->scope->blocks[i], write, out);
}

void tirc_know_uses(Sched *s, SRef *r) {
  const Block *b = tirc_block_of(r);
  for (int write = 0; write < 2; write++) {
    RegionVec all = {0};
    if (r->scope->n_blocks) {
      gather(s->c, r, write, &all);
    } else {
      all.at = (Region *)(uintptr_t)(write ? b->writes : b->reads);
      all.n = write ? b->n_writes : b->n_reads;
    }
    r->n_accesses[write] = all.n;
    r->accesses[write] = all.at;
  }
  Mentions m = {.c = s->c};
  tirc_visit_stmt(&(Visitor){.expr = see_expr, .stmt = see_stmt, .regions = true, .self = &m},
                  r->stmt);
  r->n_mentions = m.at.n;
  r->mentions = m.at.at;
}

bool tirc_accesses(const SRef *block, Buffer b, bool write) {
  for (int i = 0; i < block->n_accesses[write]; i++)
    if (block->accesses[write][i].buffer == b) return true;
  return false;
}

/* --- the index ---------------------------------------------------------------------------------
 */

static void add_user(Tirc *c, Scope *scope, const void *key, SRef *block) {
  SRefs *v = tirc_map_get(&scope->users, key);
  if (!v) {
    v = tirc_new(c, SRefs);
    tirc_map_set(c, &scope->users, key, v);
  }
  vec_push(c, *v, block);
  int i = v->n - 1;
  for (; i > 0 && v->at[i - 1]->order > block->order; i--) v->at[i] = v->at[i - 1];
  v->at[i] = block;
}

void tirc_users_add(Sched *s, Scope *scope, SRef *block) {
  for (int i = 0; i < block->n_mentions; i++) add_user(s->c, scope, block->mentions[i], block);
}

void tirc_users_remove(Scope *scope, SRef *block) {
  for (int i = 0; i < block->n_mentions; i++) {
    SRefs *v = tirc_map_get(&scope->users, block->mentions[i]);
    int at = 0;
    while (at < v->n && v->at[at] != block) at++;
    if (at == v->n) continue;
    v->n--;
    memmove(v->at + at, v->at + at + 1, (size_t)(v->n - at) * sizeof *v->at);
  }
}

static bool mentions(const Scope *scope, const void *key, const SRef *block) {
  const SRefs *v = tirc_users_of(scope, key);
  for (int i = 0; v && i < v->n; i++)
    if (v->at[i] == block) return true;
  return false;
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
    for (int i = before; i < m.at.n; i++)
      if (!mentions(around->scope, m.at.at[i], block))
        add_user(s->c, around->scope, m.at.at[i], block);
    block->n_mentions = m.at.n;
    block->mentions = m.at.at;
    block = around;
  }
}
