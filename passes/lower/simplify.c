/* Simplification under the ranges of the loops: ir/arith/arith.h does the work. */
#include "internal.h"

Stmt tirc_lower_simplify(Tirc *c, const Func *f) {
  return tirc_simplify_stmt(tirc_analyzer(c), f->body, true);
}
