/* A loop of one iteration around a block or loop:
 *
 *   for i in range(8):                       for i in range(8):
 *     block B                add_unit_loop     for u in range(1):
 *                                  ->            block B
 *
 * No preconditions, but a function's root block has no place around it. */
#include "passes/schedule/shape/shape.h"

void tirc_prim_add_unit_loop(Sched *s, const Value *args, Value *result) {
  Tirc *c = s->c;
  SRef *r = tirc_sref_of_value(s, args[0]);
  if (!r->parent)
    tirc_refuse(s, r->stmt, SERR_ROOT_BLOCK, "block %s is the root block of its function",
                tirc_name_of(r));
  Expr var = tirc_var(c, "u", DT_INT32);
  tirc_sched_replace(s, r, tirc_for_serial(c, var, tirc_int(c, var->dtype, 1), r->stmt));
  *result = tirc_value_loop(var);
}
