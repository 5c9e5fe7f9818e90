/* Takes a block out of the program, together with the loops that have nothing else below them:
 *
 *   for i:                      for i:
 *     for j:                      for j:
 *       block B          ->         block C
 *     for j:
 *       block C
 */
#include "shape.h"

/* An item of a sequence below T.decl_buffer's of the body. */
static bool remove_below_decls(Sched *s, const SRef *r, const SRef *last, Stmt *with) {
  const Stmt body = tirc_body_of(r->stmt);
  Stmt items = body;
  while (items->kind == STMT_DECL) items = items->u.alloc.body;
  for (int i = 0; items != body && items->kind == STMT_SEQ && i < items->u.seq.n; i++) {
    if (tirc_item(items, i) != last->stmt) continue;
    const Stmt rest = tirc_seq_splice(s->c, items, i, 1, 0, NULL);
    *with = tirc_with_body(s->c, r->stmt, tirc_replace_stmt(s->c, body, items, rest));
    return true;
  }
  return false;
}

void tirc_plan_leaf_removal(Sched *s, SRef *block, SRef **src, Stmt *with) {
  const char *where = "its scope would be empty without it";
  SRef *last = block;
  for (SRef *r = block->parent; r; r = r->parent) {
    Stmt body = tirc_body_of(r->stmt);
    const int index = tirc_item_index(last);
    if (index >= 0) {
      *src = r;
      *with = tirc_with_body(s->c, r->stmt, tirc_seq_splice(s->c, body, index, 1, 0, NULL));
      return;
    }
    if (remove_below_decls(s, r, last, with)) {
      *src = r;
      return;
    }
    /* Below an `if` there may be more than this block. */
    if (body != last->stmt) where = "it stands in a condition, a let or the like";
    if (tirc_is_block(r) || body != last->stmt) break;
    last = r;
  }
  tirc_refuse(s, block->stmt, SERR_ONLY_LEAF, "block %s cannot be removed: %s", tirc_name_of(block),
              where);
}
