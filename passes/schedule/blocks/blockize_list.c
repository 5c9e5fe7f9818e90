/* blockize([B, C]): several neighbouring nests become the body of one new block.
 *
 *   for i0:                               for i0:
 *     for i1: block B: vi = i0 * 8 + i1     block outer_B_C_: vi_o = i0
 *     for i1: block C: vi = i0 * 8 + i1       for i1: block B: vi_i = i1
 *                                      ->     for i1: block C: vi_i = i1
 *
 * The loops that the blocks share stay outside, all others go inside. Each block must divide there
 * as for one loop, and into the same outer iterators and outer predicate. The nests must be
 * neighbours in one body, hold the given blocks only, and be given in their order; a block with an
 * init keeps it, and its reduction must be inside. */
#include "blocks.h"

typedef struct Nests {
  Sched *s;
  Tirc *c;
  int n;
  SRef **blocks;
  SRef *shared;     /* the loop or block around all nests */
  SRef **top;       /* of each nest: a child of `shared` */
  const Stmt *body; /* of `shared` */
  int n_body, first;
} Nests;

static _Noreturn void refuse(Nests *k, SRef *at, const char *why) {
  tirc_sched_error(k->s, at->stmt, SERR_BLOCKIZE_LIST, why, NULL,
                   "block %s cannot go into one block with the others", tirc_name_of(at));
}

/* The outermost loop below `shared` that leads to this block and to nothing else. */
static SRef *top_of(Nests *k, SRef *block) {
  SRef *r = block;
  if (r == k->shared)
    refuse(k, block,
           k->n == 1 ? "the list needs at least two blocks; for one block, give a loop to blockize"
                     : "it contains the other blocks");
  for (; r->parent != k->shared; r = r->parent) {
    if (!tirc_is_loop(r->parent))
      refuse(k, block, "it is in a block that does not contain the others");
    if (tirc_loop_of(r->parent)->body != r->stmt)
      refuse(k, block, "its loops contain other statements");
  }
  return r;
}

static void find_nests(Nests *k) {
  Stmt body = tirc_body_of(k->shared->stmt);
  k->n_body = tirc_body_items(k->c, body, &k->body);
  k->top = tirc_new_array(k->c, SRef *, k->n);
  for (int i = 0; i < k->n; i++) {
    k->top[i] = top_of(k, k->blocks[i]);
    int at = 0;
    while (at < k->n_body && k->body[at] != k->top[i]->stmt) at++;
    if (at == k->n_body) refuse(k, k->blocks[i], "it is inside of a conditional statement");
    if (i == 0) k->first = at;
    if (at != k->first + i)
      refuse(k, k->blocks[i], "the nests must follow each other in the order of the list");
  }
}

/* Regions of one buffer become their hull, in order of first use. */
static const Region *join_regions(Nests *k, int *n, const Region *regions) {
  Analyzer *a = tirc_analyzer(k->c);
  VEC(Region) out = {0};
  for (int i = 0; i < *n; i++) {
    int at = 0;
    while (at < out.n && out.at[at].buffer != regions[i].buffer) at++;
    if (at == out.n) {
      vec_push(k->c, out, regions[i]);
      continue;
    }
    int ndim = regions[i].buffer->ndim;
    Range *dims = tirc_new_array(k->c, Range, ndim + 1);
    for (int d = 0; d < ndim; d++) {
      IntSet both = tirc_set_union(a, tirc_set_of_range(k->c, out.at[at].dims[d]),
                                   tirc_set_of_range(k->c, regions[i].dims[d]));
      dims[d] = tirc_range_of_set(a, both, tirc_whole_dim(k->c, regions[i].buffer, d));
    }
    out.at[at].dims = dims;
  }
  *n = out.n;
  return out.at;
}

/* Outer loops in the bounds of inner ones are the outer iterators that are bound to them. */
static Stmt rebound(Nests *k, const Blockize *b, Stmt nest) {
  PtrMap map = {0};
  for (int i = 0; i < b->n_outer; i++)
    if (b->outer_values[i]->op == OP_VAR)
      tirc_map_set(k->c, &map, b->outer_values[i], b->outer[i].var);
  return map.n ? tirc_substitute_stmt(k->c, nest, &map) : nest;
}

static Stmt blockized(Nests *k, bool preserve_unit_iters) {
  Tirc *c = k->c;
  Blockize *all = tirc_new_array(c, Blockize, k->n);
  VEC(Region) reads = {0}, writes = {0};
  Stmt *nests = tirc_new_array(c, Stmt, k->n);
  Text name = {.c = c};
  tirc_text_add(&name, "outer_");
  for (int i = 0; i < k->n; i++) {
    Blockize *b = &all[i];
    *b = (Blockize){
        .s = k->s, .c = c, .block = k->blocks[i], .preserve_unit_iters = preserve_unit_iters};
    tirc_blockize_divide(b, k->top[i], i ? &all[0] : NULL);
    if (b->n_outer != all[0].n_outer) refuse(k, b->block, "the blocks have different iterators");
    if (!tirc_prove_equal(b->a, b->outer_predicate, all[0].outer_predicate))
      refuse(k, b->block, "the blocks have different predicates over the outer loops");
    if (tirc_block_of(b->block)->init && tirc_iter_kinds(b->n_outer, b->outer) & 1u << ITER_REDUCE)
      refuse(k, b->block, "it is a reduction with an init: call decompose_reduction first");
    const Block *block = &b->inner_block->u.block;
    const Region *r = tirc_blockize_relax(b, block->n_reads, block->reads);
    for (int d = 0; d < block->n_reads; d++) vec_push(c, reads, r[d]);
    r = tirc_blockize_relax(b, block->n_writes, block->writes);
    for (int d = 0; d < block->n_writes; d++) vec_push(c, writes, r[d]);
    tirc_text_addf(&name, "%s_", block->name);
    nests[i] = rebound(k, b, tirc_blockize_inner(b, block));
  }
  Block outer = {.name = name.at,
                 .n_iters = all[0].n_outer,
                 .iters = all[0].outer,
                 .iter_values = all[0].outer_values,
                 .predicate = all[0].outer_predicate,
                 .n_reads = reads.n,
                 .n_writes = writes.n,
                 .body = tirc_seq(c, k->n, nests)};
  outer.reads = join_regions(k, &outer.n_reads, reads.at);
  outer.writes = join_regions(k, &outer.n_writes, writes.at);
  for (int i = 0; i < k->n; i++) tirc_blockize_require_closed(&all[i], &outer);
  return tirc_block(c, &outer);
}

static uint32_t blockize_blocks(Sched *s, Value list, bool preserve_unit_iters) {
  Nests k = {.s = s, .c = s->c, .n = list.u.list->n};
  if (!k.n) tirc_refuse(s, NULL, SERR_NO_BLOCKS, "sch.blockize got an empty list");
  k.blocks = tirc_new_array(s->c, SRef *, k.n);
  for (int i = 0; i < k.n; i++) k.blocks[i] = tirc_sref_of_value(s, list.u.list->at[i]);
  for (int i = 1; i < k.n; i++)
    if (k.blocks[i]->func != k.blocks[0]->func)
      refuse(&k, k.blocks[i], "it is in another function");
  k.shared = tirc_common_ancestor(k.n, k.blocks);
  find_nests(&k);
  Stmt block = blockized(&k, preserve_unit_iters);
  Stmt body = tirc_seq_splice(s->c, tirc_body_of(k.shared->stmt), k.first, k.n, 1, &block);
  tirc_sched_replace(s, k.shared, tirc_with_body(s->c, k.shared->stmt, body));
  return block->u.block.id;
}

void tirc_prim_blockize(Sched *s, const Value *args, Value *result) {
  if (args[0].kind == VAL_LOOP) {
    SRef *loop = tirc_sref_of_value(s, args[0]);
    Stmt block = tirc_blockized(s, loop, args[1].u.b);
    tirc_sched_replace(s, loop, block);
    *result = tirc_value_block(block->u.block.id);
  } else {
    *result = tirc_value_block(blockize_blocks(s, args[0], args[1].u.b));
  }
}
