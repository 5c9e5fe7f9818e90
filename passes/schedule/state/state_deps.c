/* Dependences between the blocks of a scope, by TVM's definition (BlockScope): an edge for each
 * pair of blocks of which one writes a buffer and the other uses it.
 *
 * They know buffers, not elements, and depend on nothing but the order of the blocks and the
 * buffers that these read and write. There can be as many as pairs of blocks, so they are not kept:
 * the users of a buffer are, and the edges of one block follow from those of its buffers. */
#include "nodes.h"
#include "state.h"

/* Edges of one kind into dst: from those before it which (write ? write : read) what it `uses`. */
static void add_edges(Sched *s, const Scope *scope, SRef *dst, DepKind kind, bool uses, bool write,
                      Deps *out) {
  for (int i = 0; i < dst->n_accesses[uses]; i++) {
    const SRefs *from = tirc_accessors_of(scope, dst->accesses[uses][i].buffer, write);
    for (int k = 0; k < from->n && from->at[k]->order < dst->order; k++) {
      Dep dep = {from->at[k], dst, kind};
      vec_push(s->c, *out, dep);
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
    if (tirc_touches(dst, src->accesses[1][i].buffer, false)) return true;
  return false;
}

/* Those after `block` that read, or write, what it writes. */
static void accessors_after(Sched *s, const Scope *scope, const SRef *block, bool write,
                            SRefs *out) {
  for (int i = 0; i < block->n_accesses[1]; i++) {
    const SRefs *to = tirc_accessors_of(scope, block->accesses[1][i].buffer, write);
    for (int k = tirc_first_from(to, block->order + 1); k < to->n; k++)
      tirc_insert_in_order(s->c, out, to->at[k]);
  }
}

void tirc_readers_after(Sched *s, const Scope *scope, const SRef *block, SRefs *out) {
  accessors_after(s, scope, block, false, out);
}

void tirc_users_after(Sched *s, const Scope *scope, const SRef *block, SRefs *out) {
  accessors_after(s, scope, block, false, out);
  accessors_after(s, scope, block, true, out);
}

bool tirc_find_overwrites(const Scope *scope, const SRef *block) {
  for (int i = 0; i < block->n_accesses[1]; i++) {
    const SRefs *readers = tirc_accessors_of(scope, block->accesses[1][i].buffer, false);
    if (readers->n && readers->at[0]->order < block->order) return true;
  }
  return false;
}
