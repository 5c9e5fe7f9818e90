/* What decides whether a block runs besides its loops.
 *
 *   for i in range(4):
 *       k = i * 2
 *       if k > 2:                       i * 2 > 2 and vi < 3
 *           with T.block("B"):
 *               vi = T.axis.spatial(4, i)
 *               T.where(k < 6) */
#include "internal.h"
#include "state.h"

typedef struct Guard {
  Tirc *c;
  Stmt inside;
  Expr condition; /* NULL: not to be found */
  int branches;
  bool loops; /* a while is around */
} Guard;

static bool find_inside(Guard *g, Stmt s);

static bool find_in_branches(Guard *g, Stmt s) {
  const bool yes = find_inside(g, s->u.branch.then_case);
  if (!yes && (!s->u.branch.else_case || !find_inside(g, s->u.branch.else_case))) return false;
  g->branches++;
  if (g->condition)
    g->condition =
        tirc_and(g->c, yes ? s->u.branch.cond : tirc_not(g->c, s->u.branch.cond), g->condition);
  return true;
}

/* On the way back everything around is added to the condition. */
static bool find_inside(Guard *g, Stmt s) {
  Stmt below[2];
  if (s == g->inside) return true;
  if (s->kind == STMT_IF) return find_in_branches(g, s);
  if (s->kind == STMT_SEQ) {
    for (int i = 0; i < s->u.seq.n; i++)
      if (find_inside(g, tirc_item(s, i))) return true;
    return false;
  }
  if (!tirc_below(s, below) || !find_inside(g, below[0])) return false;
  if (s->kind == STMT_WHILE) g->loops = true;
  if (s->kind == STMT_LET && g->condition)
    g->condition = tirc_substitute1(g->c, g->condition, s->u.let.var, s->u.let.value);
  return true;
}

static void look_around(Guard *g, SRef *block, const SRef *high) {
  for (SRef *r = block; r != high; r = r->parent) {
    if (tirc_body_of(r->parent->stmt) == r->stmt || tirc_item_index(r) >= 0) continue;
    g->inside = r->stmt;
    (void)find_inside(g, tirc_body_of(r->parent->stmt));
  }
}

bool tirc_is_guarded(SRef *block, const SRef *high) {
  Guard g = {0};
  look_around(&g, block, high);
  return g.branches || g.loops;
}

Expr tirc_condition_of(Sched *s, SRef *block, const SRef *high) {
  Guard g = {.c = s->c, .condition = tirc_block_of(block)->predicate};
  look_around(&g, block, high);
  return g.loops ? NULL : g.condition;
}
