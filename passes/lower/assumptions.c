/* What a program assumes of its sizes is checked when it is called.
 *
 *   for i: ...                           T.assume(n % 16 == 0)                assert n % 16 == 0, ...
 *   T.assume(n % 16 == 0)     ->         for i: ...                   ->      for i: ...
 *
 * First such assumptions move to the function's start: schedules have used them, and may have put
 * statements before them, or moved them into loops. Passes use them; a call for which one does not
 * hold must not go on. The check itself comes behind the last pass that simplifies, to which it
 * would be known to hold. An assumption under a condition, or of what is in memory, is known to
 * none; it is checked where it stands, and in a loop it goes, so that what becomes of the loop
 * decides nothing. */
#include "internal.h"

#include "ir/tree/print.h"
#include "ir/tree/symbols.h"

#include <string.h>

static Stmt check(Mutator *m, Stmt s) {
  const Expr assumed = tirc_assumed(s);
  if (s->kind == STMT_FOR || s->kind == STMT_WHILE) return s;
  if (!assumed) return tirc_mutate_stmt_children(m, s);
  const Stmt nothing = tirc_seq(m->c, 0, NULL);
  return tirc_with_loc(
      m->c, tirc_assert_stmt(m->c, assumed, tirc_assumed_text(m->c, assumed), nothing), s->loc);
}

typedef struct Moving {
  PtrMap sizes; /* that the call gives */
  VEC(Stmt) found;
  bool in_loop, is_conditional;
} Moving;

static bool is_of_sizes(const Moving *k, Expr e) {
  if (e->op == OP_VAR) return tirc_map_has(&k->sizes, e);
  if (tirc_loads_or_calls(e)) return false;
  for (int i = 0; i < e->n; i++)
    if (!is_of_sizes(k, e->args[i])) return false;
  return true;
}

static Stmt move(Mutator *m, Stmt s) {
  Moving *k = m->self;
  const Moving around = *k;
  const Expr assumed = tirc_assumed(s);
  if (assumed) {
    const bool moves = !k->is_conditional && is_of_sizes(k, assumed);
    if (moves) vec_push(m->c, k->found, s);
    return moves || k->in_loop ? tirc_seq(m->c, 0, NULL) : s;
  }
  k->in_loop |= s->kind == STMT_FOR || s->kind == STMT_WHILE;
  k->is_conditional |= s->kind == STMT_IF || s->kind == STMT_WHILE ||
                       (s->kind == STMT_BLOCK && !tirc_is_true(s->u.block.predicate));
  s = tirc_mutate_stmt_children(m, s);
  k->in_loop = around.in_loop;
  k->is_conditional = around.is_conditional;
  return s;
}

static Stmt with_first(Tirc *c, Stmt body, int n, const Stmt *first) {
  if (!n) return body;
  Stmt *parts = tirc_new_array(c, Stmt, n + 1);
  memcpy(parts, first, (size_t)n * sizeof *parts);
  if (body->kind != STMT_BLOCK) {
    parts[n] = body;
    return tirc_seq(c, n + 1, parts);
  }
  Block block = body->u.block;
  parts[n] = block.body;
  block.body = tirc_seq(c, n + 1, parts);
  return tirc_with_loc(c, tirc_block(c, &block), body->loc);
}

Stmt tirc_lower_size_assumptions(Tirc *c, const Func *f) {
  Moving k = {0};
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = move, .self = &k};
  Expr *symbols;
  const int n = tirc_extent_params(c, f, &symbols);
  for (int i = 0; i < n; i++) tirc_map_set(c, &k.sizes, symbols[i], symbols[i]);
  const Stmt body = tirc_mutate_stmt(&m, f->body);
  return with_first(c, body, k.found.n, k.found.at);
}

Stmt tirc_lower_assumptions(Tirc *c, const Func *f) {
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = check};
  return tirc_is_kernel(f) ? f->body : tirc_mutate_stmt(&m, f->body);
}
