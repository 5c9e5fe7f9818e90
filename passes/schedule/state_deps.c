/* Dependences between the blocks of a scope, by TVM's definition (BlockScope): an edge for each
 * pair of blocks of which one writes a buffer and the other uses it.
 *
 * They know buffers, not elements, and depend on nothing but the order of the blocks and the
 * buffers that these read and write. There can be as many as pairs of blocks, so they are not kept:
 * the users of a buffer are, and the edges of one block follow from those of its buffers. */
#include "internal.h"
#include "state.h"

/* Edges of one kind into dst: from those before it which (write ? write : read) what it `uses`. */
static void add_edges(Sched *s, const Scope *scope, SRef *dst, DepKind kind, bool uses, bool write,
                      Deps *out) {
  for (int i = 0; i < dst->n_accesses[uses]; i++) {
    Buffer b = dst->accesses[uses][i].buffer;
    const SRefs *from = tirc_users_of(scope, b);
    for (int k = 0; from && k < from->n && from->at[k]->order < dst->order; k++) {
      Dep dep = {from->at[k], dst, kind};
      if (tirc_accesses(from->at[k], b, write)) vec_push(s->c, *out, dep);
    }
  }
}

void tirc_deps_into(Sched *s, const Scope *scope, SRef *block, Deps *out) {
  add_edges(s, scope, block, DEP_RAW, false, true, out);
  add_edges(s, scope, block, DEP_WAW, true, true, out);
  add_edges(s, scope, block, DEP_WAR, true, false, out);
}

Deps tirc_deps_of(Sched *s, const Scope *scope) {
  Deps all = {0};
  for (int i = 0; i < scope->n_blocks; i++) tirc_deps_into(s, scope, scope->blocks[i], &all);
  return all;
}

bool tirc_reads_from(const SRef *src, const SRef *dst) {
  if (src->order >= dst->order) return false;
  for (int i = 0; i < src->n_accesses[1]; i++)
    if (tirc_accesses(dst, src->accesses[1][i].buffer, false)) return true;
  return false;
}

/* Those after `block` that use what it writes, each once and in order. */
static void users_after(Sched *s, const Scope *scope, const SRef *block, bool readers_only,
                        SRefs *out) {
  for (int i = 0; i < block->n_accesses[1]; i++) {
    Buffer b = block->accesses[1][i].buffer;
    const SRefs *users = tirc_users_of(scope, b);
    for (int k = users ? users->n : 0; k-- > 0 && users->at[k]->order > block->order;) {
      SRef *r = users->at[k];
      if (!tirc_accesses(r, b, false) && (readers_only || !tirc_accesses(r, b, true))) continue;
      int at = 0;
      while (at < out->n && out->at[at]->order < r->order) at++;
      if (at < out->n && out->at[at] == r) continue;
      vec_push(s->c, *out, r);
      memmove(out->at + at + 1, out->at + at, (size_t)(out->n - 1 - at) * sizeof *out->at);
      out->at[at] = r;
    }
  }
}

void tirc_readers_after(Sched *s, const Scope *scope, const SRef *block, SRefs *out) {
  users_after(s, scope, block, true, out);
}

void tirc_users_after(Sched *s, const Scope *scope, const SRef *block, SRefs *out) {
  users_after(s, scope, block, false, out);
}

bool tirc_find_overwrites(const Scope *scope, const SRef *block) {
  for (int i = 0; i < block->n_accesses[1]; i++) {
    Buffer b = block->accesses[1][i].buffer;
    const SRefs *users = tirc_users_of(scope, b);
    for (int k = 0; users && k < users->n && users->at[k]->order < block->order; k++)
      if (tirc_accesses(users->at[k], b, false)) return true;
  }
  return false;
}
