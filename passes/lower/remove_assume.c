/* What the program assumes goes: T.assume(...) is of use to passes before this one. */
#include "internal.h"

static Stmt without(Mutator *m, Stmt s) {
  if (tirc_assumed(s)) return tirc_seq(m->c, 0, NULL);
  const Stmt to = tirc_mutate_stmt_children(m, s);
  return to == s ? s : tirc_lower_emptied(to);
}

Stmt tirc_lower_remove_assume(Tirc *c, const Func *f) {
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = without};
  return tirc_mutate_stmt(&m, f->body);
}
