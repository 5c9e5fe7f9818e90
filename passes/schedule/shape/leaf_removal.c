/* Takes a block out of the program, together with the loops that have nothing else below them:
 *
 *   for i:                      for i:
 *     for j:                      for j:
 *       block B          ->         block C
 *     for j:
 *       block C
 */
#include "shape.h"

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
    /* Below an `if` there may be more than this block. */
    if (body != last->stmt) where = "it stands in a condition, a let or the like";
    if (tirc_is_block(r) || body != last->stmt) break;
    last = r;
  }
  tirc_refuse(s, block->stmt, SERR_ONLY_LEAF, "block %s cannot be removed: %s", tirc_name_of(block),
              where);
}
