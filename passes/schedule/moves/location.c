/* Places that are no loops: what sample_compute_location gives for "leave it" and "inline it". */
#include "moves.h"

static Value mark(Sched *s, Expr *at, const char *name) {
  if (!*at) *at = tirc_var(s->c, name, DT_INT32);
  return tirc_value_loop(*at);
}
Value tirc_root_mark(Sched *s) { return mark(s, &s->root_mark, "root"); }
Value tirc_inline_mark(Sched *s) { return mark(s, &s->inline_mark, "inline"); }

bool tirc_moved_to_mark(Sched *s, const Value *args, Value *result,
                        void (*inline_it)(Sched *, const Value *, Value *)) {
  if (args[1].u.expr == s->inline_mark)
    inline_it(s, args, result);
  else if (args[1].u.expr != s->root_mark)
    return false;
  return true;
}
