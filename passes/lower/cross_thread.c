#include "internal.h"

Stmt tirc_lower_cross_thread(Tirc *c, const Func *f) {
  (void)c;
  return f->body;
}
