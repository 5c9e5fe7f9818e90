/* What a program assumes outside of loops is checked.
 *
 *   T.assume(n % 16 == 0)    ->    assert n % 16 == 0, "the program assumes that n % 16 == 0"
 *
 * Passes before this one have used it, so that a call for which it does not hold must not go on. It
 * comes behind the last one that simplifies, to which it would be known to hold. An assumption in a
 * loop is used by none; it goes first, so that what becomes of the loop decides nothing. */
#include "internal.h"

#include "ir/tree/print.h"

static Stmt check(Mutator *m, Stmt s) {
  const Expr assumed = tirc_assumed(s);
  if (s->kind == STMT_FOR || s->kind == STMT_WHILE) return s;
  if (!assumed) return tirc_mutate_stmt_children(m, s);
  const Stmt nothing = tirc_seq(m->c, 0, NULL);
  return tirc_with_loc(
      m->c, tirc_assert_stmt(m->c, assumed, tirc_assumed_text(m->c, assumed), nothing), s->loc);
}

static Stmt drop_in_loop(Mutator *m, Stmt s) {
  if (tirc_assumed(s)) return tirc_seq(m->c, 0, NULL);
  return tirc_mutate_stmt_children(m, s);
}

static Stmt drop(Mutator *m, Stmt s) {
  Mutator within = {.c = m->c, .expr = tirc_keep_expr, .stmt = drop_in_loop};
  if (s->kind == STMT_FOR || s->kind == STMT_WHILE) return tirc_mutate_stmt(&within, s);
  return tirc_mutate_stmt_children(m, s);
}

Stmt tirc_lower_loop_assumptions(Tirc *c, const Func *f) {
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = drop};
  return tirc_mutate_stmt(&m, f->body);
}

Stmt tirc_lower_assumptions(Tirc *c, const Func *f) {
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = check};
  return tirc_is_kernel(f) ? f->body : tirc_mutate_stmt(&m, f->body);
}
