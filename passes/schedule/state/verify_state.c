/* Whether the state that primitives keep up piece by piece is what a schedule made anew from the
 * same program finds: the same tree, the same blocks in each scope, the same dependences and flags.
 * For those who write primitives (debug_mask), and for the tests. */
#include "nodes.h"
#include "state.h"

typedef struct Verify {
  Sched *s, *fresh;
  int mask;
  const char *fault;
} Verify;

static void fault(Verify *v, Stmt at, const char *what) {
  if (!v->fault) v->fault = tirc_format(v->s->c, "%s: %s", tirc_describe(v->s, at), what);
}

/* Every mention is in the index, which may have some of what once was. */
static bool same_users(const Scope *a, const Scope *b) {
  for (size_t i = 0; i < b->users.cap; i++) {
    if (!b->users.values[i]) continue;
    const SRefs *x = tirc_users_of(a, b->users.keys[i]), *y = tirc_users_of(b, b->users.keys[i]);
    int k = 0;
    for (int j = 0; j < y->n; j++) {
      while (k < x->n && x->at[k]->stmt != y->at[j]->stmt) k++;
      if (k++ == x->n) return false;
    }
  }
  return a->loose || !b->loose;
}

/* Accesses are what makes dependences: the index has those that are, and no others. */
static bool same_accessors(const Scope *a, const Scope *b) {
  for (size_t i = 0; i < a->users.cap; i++)
    for (int write = 0; a->users.values[i] && write < 2; write++) {
      const SRefs *x = tirc_accessors_of(a, a->users.keys[i], write);
      const SRefs *y = tirc_accessors_of(b, a->users.keys[i], write);
      if (x->n != y->n) return false;
      for (int k = 0; k < x->n; k++)
        if (x->at[k]->stmt != y->at[k]->stmt) return false;
    }
  return true;
}

static SRef *in(Sched *s, Stmt stmt) {
  SRef *r = tirc_sref_find(s, stmt);
  return r && r->stmt == stmt ? r : NULL;
}

static bool same_parent(const SRef *a, const SRef *b) {
  if (!a->parent || !b->parent) return a->parent == b->parent;
  return a->parent->stmt == b->parent->stmt;
}

static void compare_place(Verify *v, Stmt stmt) {
  const SRef *a = in(v->s, stmt), *b = in(v->fresh, stmt);
  if (!a || !b)
    fault(v, stmt, "the tree has lost it");
  else if (!same_parent(a, b) || a->func != b->func)
    fault(v, stmt, "it stands at another place of the tree");
}

static int position(const Scope *scope, const SRef *r) {
  for (int i = 0; i < scope->n_blocks; i++)
    if (scope->blocks[i] == r) return i;
  return -1;
}

static bool same_dependences(Verify *v, const Scope *a, const Scope *b) {
  if (a->n_blocks != b->n_blocks) return false;
  for (int i = 0; i < a->n_blocks; i++) {
    if (a->blocks[i]->stmt != b->blocks[i]->stmt) return false;
    if (i && a->blocks[i]->order <= a->blocks[i - 1]->order) return false;
  }
  const Deps in_a = tirc_deps_of(v->s, a), in_b = tirc_deps_of(v->s, b);
  if (in_a.n != in_b.n) return false;
  for (int i = 0; i < in_a.n; i++) {
    const Dep *x = &in_a.at[i], *y = &in_b.at[i];
    if (x->kind != y->kind || position(a, x->src) != position(b, y->src) ||
        position(a, x->dst) != position(b, y->dst))
      return false;
  }
  return true;
}

static void compare_block(Verify *v, Stmt stmt) {
  SRef *a = in(v->s, stmt), *b = in(v->fresh, stmt);
  if (!a || !b) return;
  if (v->mask & SCHED_VERIFY_TREE && !same_dependences(v, a->scope, b->scope))
    fault(v, stmt, "its blocks or their dependences differ");
  if (v->mask & SCHED_VERIFY_TREE && !same_users(a->scope, b->scope))
    fault(v, stmt, "the index of its buffers' users lacks some");
  if (v->mask & SCHED_VERIFY_TREE && !same_accessors(a->scope, b->scope))
    fault(v, stmt, "the index of its buffers' readers and writers is wrong");
  if (!(v->mask & SCHED_VERIFY_FLAGS)) return;
  if (tirc_has_affine_binding(v->s, a) != tirc_has_affine_binding(v->fresh, b))
    fault(v, stmt, "the flag affine_binding is wrong");
  if (tirc_has_region_cover(v->s, a) != tirc_has_region_cover(v->fresh, b))
    fault(v, stmt, "the flag region_cover is wrong");
  if (tirc_is_stage_pipeline(v->s, a) != tirc_is_stage_pipeline(v->fresh, b))
    fault(v, stmt, "the flag stage_pipeline is wrong");
}

static bool compare(Visitor *visitor, Stmt stmt) {
  Verify *v = visitor->self;
  if (stmt->kind != STMT_FOR && stmt->kind != STMT_BLOCK) return !v->fault;
  if (v->mask & SCHED_VERIFY_TREE) compare_place(v, stmt);
  if (stmt->kind == STMT_FOR) return !v->fault;
  compare_block(v, stmt);
  if (!v->fault) tirc_visit_stmt(visitor, stmt->u.block.body); /* an init is no part of the tree */
  return false;
}

static int alive(const PtrMap *map) {
  int n = 0;
  for (size_t i = 0; i < map->cap; i++) n += map->values[i] && ((SRef *)map->values[i])->stmt;
  return n;
}

const char *tirc_sched_fault(Sched *s, int mask) {
  Verify v = {.s = s, .fresh = tirc_sched_new(s->c, s->mod), .mask = mask};
  Visitor visitor = {.stmt = compare, .self = &v};
  for (int i = 0; i < s->mod->n_funcs; i++)
    if (s->roots[i]) tirc_visit_stmt(&visitor, s->roots[i]->stmt);
  bool tree = mask & SCHED_VERIFY_TREE;
  if (tree && !v.fault && alive(&s->loops) != alive(&v.fresh->loops))
    v.fault = "the tree has loops that are not in the program";
  if (tree && !v.fault && alive(&s->blocks) != alive(&v.fresh->blocks))
    v.fault = "the tree has blocks that are not in the program";
  return v.fault;
}
