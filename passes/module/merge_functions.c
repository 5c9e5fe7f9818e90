/* MergeEqualFunctions: functions that the passes made and that are the same, up to names, become
 * the first of them: networks repeat their blocks, and each function is scheduled and compiled.
 *
 *   R.call_tir(cls.fused_conv2d1, (x, w))  ->  R.call_tir(cls.fused_conv2d, (x, w)) */
#include "passes.h"

#include "ir/arith/equal.h"
#include "ir/arith/hash.h"

typedef struct Known {
  const Func *f;
  ModuleHash hash;
} Known;

typedef struct Merging {
  VEC(Known) kept;
  StrMap same; /* name of a function -> the one that takes its place */
} Merging;

static bool is_made(const Func *f) { return tirc_attrs_get(f->attrs, "tirc.private") != NULL; }

static const Func *find_same(Tirc *c, const Merging *k, const Module *alone, ModuleHash hash) {
  for (int i = 0; i < k->kept.n; i++) {
    Known *other = &k->kept.at[i];
    const Module m = {.c = c, .name = alone->name, .n_funcs = 1, .funcs = &other->f};
    if (memcmp(&other->hash, &hash, sizeof hash) == 0 && !tirc_module_difference(c, &m, alone))
      return other->f;
  }
  return NULL;
}

static void look_at(Tirc *c, Merging *k, const Func *f) {
  const Module alone = {.c = c, .name = "Module", .n_funcs = 1, .funcs = &f};
  if (!is_made(f)) return;
  const Known own = {f, tirc_hash_module(c, &alone)};
  const Func *same = find_same(c, k, &alone, own.hash);
  if (same)
    *tirc_strmap_at(c, &k->same, f->name) = (void *)(uintptr_t)same;
  else
    vec_push(c, k->kept, own);
}

static Node call_the_first(GraphRewriter *r, const Binding *b, Node value, Node *alias) {
  const Merging *k = r->self;
  const Func *same = value->kind == NODE_CALL_TIR ? tirc_strmap_get(&k->same, value->name) : NULL;
  (void)b, (void)alias;
  if (!same) return value;
  struct Node to = *value;
  to.name = same->name;
  return tirc_graph_node(r->c, &to);
}

const Module *tirc_pass_merge_functions(Passes *p, const Module *m) {
  Merging k = {0};
  for (int i = 0; i < m->n_funcs; i++) look_at(p->c, &k, m->funcs[i]);
  for (int i = 0; k.same.n && i < m->n_graphs; i++) {
    GraphRewriter r = {.c = p->c, .value = call_the_first, .self = &k};
    m = tirc_module_with_graph(p->c, m, i, tirc_rewrite_graph(&r, m->graphs[i]));
  }
  return k.same.n ? tirc_pass_dead_functions(p, m) : m;
}
