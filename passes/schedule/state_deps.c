/* Dependences between the blocks of a scope, by TVM's definition (BlockScope): an edge for each
 * pair of blocks of which one writes a buffer and the other uses it.
 *
 * They know buffers, not elements, and depend on nothing but the order of the blocks and the
 * buffers that these read and write. The list is sorted by destination: the edges into one block
 * are neighbours. When a scope changes, the edges between blocks that stayed as they were stay too;
 * only those into blocks that share a buffer with a changed one are found again. */
#include "internal.h"
#include "state.h"

typedef VEC(Dep) Deps;
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

/* The same, kept in the node while the block stays as it is. */
static void know_accesses(Sched *s, SRef *r) {
  if (r->gathered && r->dirty != s->stamp) return;
  r->gathered = s->stamp;
  for (int write = 0; write < 2; write++) {
    RegionVec all = {0};
    if (r->scope->n_blocks) {
      gather(s->c, r, write, &all);
    } else {
      const Block *b = tirc_block_of(r);
      all.at = (Region *)(uintptr_t)(write ? b->writes : b->reads);
      all.n = write ? b->n_writes : b->n_reads;
    }
    r->n_accesses[write] = all.n;
    r->accesses[write] = all.at;
  }
}

static void add_users(Tirc *c, PtrMap *map, SRef *block, bool write) {
  for (int i = 0; i < block->n_accesses[write]; i++) {
    SRefs *v = tirc_map_get(map, block->accesses[write][i].buffer);
    if (!v) {
      v = tirc_new(c, SRefs);
      tirc_map_set(c, map, block->accesses[write][i].buffer, v);
    }
    vec_push(c, *v, block);
  }
}

/* Edges of one kind into `dst` from the earlier blocks that `map` has for its buffers. */
static void add_edges(Tirc *c, Deps *deps, const PtrMap *map, SRef *dst, DepKind kind, bool write) {
  for (int i = 0; i < dst->n_accesses[write]; i++) {
    const SRefs *from = tirc_map_get(map, dst->accesses[write][i].buffer);
    for (int k = 0; from && k < from->n; k++) {
      Dep dep = {from->at[k], dst, kind};
      if (from->at[k] != dst) vec_push(c, *deps, dep);
    }
  }
}

/* --- what has to be found again ----------------------------------------------------------------
 */

static void add_buffers(Tirc *c, PtrMap *map, const SRef *r) {
  for (int write = 0; write < 2; write++)
    for (int i = 0; i < r->n_accesses[write]; i++)
      tirc_map_set(c, map, r->accesses[write][i].buffer, r);
}

static bool uses_any(const PtrMap *map, const SRef *r) {
  for (int write = 0; write < 2; write++)
    for (int i = 0; i < r->n_accesses[write]; i++)
      if (tirc_map_has(map, r->accesses[write][i].buffer)) return true;
  return false;
}

/* Whether the blocks that stayed as they were stand in the order in which they stood. */
static bool same_order(const Sched *s, const Scope *scope) {
  int last = -1;
  for (int i = 0; i < scope->n_blocks; i++) {
    const SRef *r = scope->blocks[i];
    if (r->dirty == s->stamp) continue;
    if (r->position <= last) return false;
    last = r->position;
  }
  return true;
}

/* Which blocks' edges are found again, and in which buffers their sources meet them. */
typedef struct Again {
  bool all;
  bool *block;
  PtrMap buffers;
} Again;

static Again what_changed(Sched *s, const Scope *scope, const Scope *before) {
  Again a = {.all = !before || !same_order(s, scope)};
  PtrMap changed = {0};
  if (a.all) return a;
  a.block = tirc_new_array(s->c, bool, scope->n_blocks + 1);
  for (int i = 0; i < scope->n_blocks; i++)
    if (scope->blocks[i]->dirty == s->stamp) add_buffers(s->c, &changed, scope->blocks[i]);
  for (int i = 0; i < scope->n_blocks; i++) {
    SRef *r = scope->blocks[i];
    a.block[i] = r->dirty == s->stamp || uses_any(&changed, r);
    if (a.block[i]) add_buffers(s->c, &a.buffers, r);
  }
  return a;
}

/* --- the edges ---------------------------------------------------------------------------------
 */

/* The edges that went into r before; *at moves on in the list, which is in the order of positions.
 */
static int edges_before(const Sched *s, const Scope *before, const SRef *r, int *at) {
  while (*at < before->n_deps) {
    const SRef *dst = before->deps[*at].dst;
    bool gone = dst->dirty == s->stamp || dst->listed != s->stamp;
    if (dst == r || !(gone || dst->position < r->position)) break;
    ++*at;
  }
  int n = 0;
  while (*at + n < before->n_deps && before->deps[*at + n].dst == r) n++;
  return n;
}

static bool is_kept(const Sched *s, const Dep *dep) {
  return dep->src->dirty != s->stamp && dep->src->listed == s->stamp;
}

static bool same_edges(int n, const Dep *a, int m, const Dep *b) {
  bool same = n == m;
  for (int i = 0; same && i < n; i++) same = a[i].src == b[i].src && a[i].kind == b[i].kind;
  return same;
}

static void mark_changed(Sched *s, SRef *r, const Deps *deps, int first, int n, const Dep *old) {
  if (same_edges(deps->n - first, deps->at + first, n, old)) return;
  r->recheck = s->stamp;
  if (deps->n == first) r->region_cover = true; /* nothing is produced for it any more */
}

typedef struct Users {
  PtrMap readers, writers;
} Users;

static void find_edges(Sched *s, SRef *r, const Users *users, Deps *deps) {
  add_edges(s->c, deps, &users->writers, r, DEP_RAW, false);
  add_edges(s->c, deps, &users->writers, r, DEP_WAW, true);
  add_edges(s->c, deps, &users->readers, r, DEP_WAR, true);
}

bool tirc_find_deps(Sched *s, Scope *scope, const Scope *before) {
  Tirc *c = s->c;
  for (int i = 0; i < scope->n_blocks; i++) {
    know_accesses(s, scope->blocks[i]);
    scope->blocks[i]->listed = s->stamp;
  }
  const Again again = what_changed(s, scope, before);
  Users users = {0};
  Deps deps = {0};
  for (int i = 0, at = 0; i < scope->n_blocks; i++) {
    SRef *r = scope->blocks[i];
    const bool known = !again.all && r->dirty != s->stamp;
    const int first = deps.n, n_old = known ? edges_before(s, before, r, &at) : 0;
    if (again.all || again.block[i]) find_edges(s, r, &users, &deps);
    for (int k = 0; known && !again.block[i] && k < n_old; k++)
      if (is_kept(s, &before->deps[at + k])) vec_push(c, deps, before->deps[at + k]);
    if (known) mark_changed(s, r, &deps, first, n_old, before->deps + at);
    if (again.all || again.block[i] || uses_any(&again.buffers, r)) {
      add_users(c, &users.readers, r, false);
      add_users(c, &users.writers, r, true);
    }
  }
  for (int i = 0; i < scope->n_blocks; i++) scope->blocks[i]->position = i;
  scope->n_deps = deps.n;
  scope->deps = deps.at;
  return again.all;
}
