/* Blocks become opaque: in the body, the regions and the buffers of a block, each iterator is
 * replaced by its binding, as a number of the iterator's type. */
#include "internal.h"

static Stmt convert(Mutator *m, Stmt s) {
  if (s->kind == STMT_BLOCK && s->u.block.n_iters) {
    Tirc *c = m->c;
    Block b = s->u.block;
    PtrMap map = {0};
    for (int i = 0; i < b.n_iters; i++) {
      Expr var = b.iters[i].var;
      tirc_map_set(c, &map, var, tirc_cast(c, var->dtype, b.iter_values[i]));
    }
    b.n_iters = 0;
    s = tirc_lower_substitute(c, tirc_block(c, &b), &map);
  }
  return tirc_mutate_stmt_children(m, s);
}

static bool has_init(const void *self, Stmt s) {
  (void)self;
  return s->kind == STMT_BLOCK && s->u.block.init;
}

Stmt tirc_opaque_blocks(Tirc *c, Stmt s) {
  return tirc_mutate_stmt(&(Mutator){.c = c, .stmt = convert}, s);
}

Stmt tirc_lower_opaque(Tirc *c, const Func *f) {
  tirc_lower_need(c, f, has_init, "ConvertBlocksToOpaque", "block with T.init", "LowerInitBlock");
  return tirc_opaque_blocks(c, f->body);
}
