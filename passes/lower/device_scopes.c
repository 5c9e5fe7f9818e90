/* Memory of a scope of its own, such as global.TAG, which nothing uses, is not there. */
#include "internal.h"

static Stmt visit(Mutator *m, Stmt s) {
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_ALLOC) return s;
  const Storage storage = s->u.alloc.buffer->storage;
  if (storage != STORAGE_UNKNOWN && storage != STORAGE_OF_TARGET) return s;
  const unsigned uses = tirc_uses_of(s->u.alloc.body, s->u.alloc.buffer, NULL, NULL);
  const bool is_used = uses & ~(unsigned)(USE_VIEW | USE_OTHER_VIEW);
  if (is_used && storage == STORAGE_OF_TARGET) return s;
  if (is_used)
    tirc_fail(m->c, tirc_place_of(s), CODE_LOWER, NULL,
              "the target does not say how to access memory of scope \"%s\"",
              s->u.alloc.buffer->scope);
  return s->u.alloc.body;
}

Stmt tirc_lower_device_scopes(Tirc *c, const Func *f) {
  return tirc_mutate_stmt(&(Mutator){.c = c, .expr = tirc_keep_expr, .stmt = visit}, f->body);
}
