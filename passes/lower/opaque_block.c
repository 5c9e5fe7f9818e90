/* Blocks go. What a block said becomes statements around its body: its predicate an if, its buffers
 * allocations, its pragmas attributes. Loops over GPU threads have no meaning on a processor and
 * are refused there; virtual threads are serial loops. */
#include "internal.h"

/* What a block stores to has its rows permuted from here on: rows of the last dimension. */
static Stmt permuted(Tirc *c, const Block *b, Stmt body) {
  if (!tirc_attrs_get(b->annotations, tirc_key(KEY_PERMUTED_LAYOUT))) return body;
  for (int i = 0; i < b->n_writes; i++) {
    Buffer to = b->writes[i].buffer;
    if (tirc_owner(to->storage) != OWNER_BLOCK || to->ndim < 2)
      tirc_fail(c, tirc_place_of(body), CODE_LOWER,
                "annotate a block that copies a tile to scope shared or shared.dyn",
                "the annotation %s of block %s is for rows in shared memory, but %s has scope %s",
                tirc_key(KEY_PERMUTED_LAYOUT), b->name, to->name, to->scope);
    Expr row = to->strides ? to->strides[to->ndim - 2] : to->shape[to->ndim - 1];
    body = tirc_attr_stmt(c, to->data, tirc_key(KEY_PERMUTED_LAYOUT), row, body);
  }
  return body;
}

static Stmt lower_block(Tirc *c, Stmt s) {
  const Block *b = &s->u.block;
  Stmt body = permuted(c, b, b->body);
  for (int i = b->n_allocs - 1; i >= 0; i--)
    body = tirc_alloc_stmt(c, STMT_ALLOC, b->allocs[i], (Attrs){0}, body);
  for (int i = b->annotations.n - 1; i >= 0; i--) {
    const Attr *a = &b->annotations.at[i];
    if (strncmp(a->key, "pragma_", 7) == 0)
      body = tirc_attr_stmt(c, tirc_string(c, b->name), a->key, a->value, body);
  }
  return tirc_is_true(b->predicate) ? body : tirc_if(c, b->predicate, body, NULL);
}

/* A GPU has vectors of 2, 4, 8 and 16 lanes. */
static bool has_vector(Expr extent) {
  int64_t n;
  return !tirc_const_int(extent, &n) || (n >= 1 && n <= 16 && (n & (n - 1)) == 0);
}

static Stmt lower_loop(Tirc *c, Stmt s, bool is_for_gpu) {
  For loop = s->u.loop;
  if (is_for_gpu && loop.kind == LOOP_VECTORIZED && !has_vector(loop.extent)) {
    loop.kind = LOOP_UNROLLED;
    return tirc_for(c, &loop);
  }
  if (loop.kind == LOOP_THREAD_BINDING) {
    if (is_for_gpu) return s;
    if (tirc_is_thread_loop(s))
      tirc_fail(
          c, tirc_place_of(s), CODE_LOWER,
          "bind is for GPUs: choose one with --target sm_80 or --target opencl, and add --device "
          "emulate to run it without a GPU; for a processor use parallel, vectorize or unroll",
          "the loop %s is bound to the GPU thread axis %s, but code for a processor has no thread "
          "axes",
          loop.var->u.s, loop.thread);
    loop.kind = LOOP_SERIAL;
    loop.thread = NULL;
    return tirc_for(c, &loop);
  }
  if (tirc_is_int(loop.extent, 1) && loop.annotations.n == 0 && !tirc_loads_or_calls(loop.min))
    return tirc_lower_substitute1(c, loop.body, loop.var, tirc_cast(c, loop.var->dtype, loop.min));
  return s;
}

static Stmt lower_stmt(Mutator *m, Stmt s) {
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind == STMT_BLOCK) return lower_block(m->c, s);
  return s->kind == STMT_FOR ? lower_loop(m->c, s, m->self != NULL) : s;
}

static bool is_bound(const void *self, Stmt s) {
  (void)self;
  return s->kind == STMT_BLOCK && (s->u.block.n_iters || s->u.block.init);
}

Stmt tirc_lower_opaque_block(Tirc *c, const Func *f) {
  tirc_lower_need(c, f, is_bound, "LowerOpaqueBlock", "block with iterators or T.init",
                  "LowerInitBlock and ConvertBlocksToOpaque");
  Mutator m = {.c = c, .stmt = lower_stmt, .self = (void *)(uintptr_t)tirc_gpu_of(f)};
  return tirc_mutate_stmt(&m, f->body);
}
