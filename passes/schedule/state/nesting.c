#include "nesting.h"

#include "nodes.h"
#include "state.h"

static bool find(Tirc *c, Stmt s, Stmt to, Steps *out) {
  Stmt below[2];
  if (s == to) return true;
  if (s->kind == STMT_SEQ) {
    for (int i = 0; i < s->u.seq.n; i++)
      if (find(c, tirc_item(s, i), to, out)) return true;
    return false;
  }
  const int n = tirc_below(s, below);
  for (int i = 0; i < n; i++) {
    vec_push(c, *out, ((Step){s, i > 0}));
    if (find(c, below[i], to, out)) return true;
    out->n--;
  }
  return false;
}

void tirc_steps_between(Tirc *c, SRef *inner, Steps *out) {
  if (!tirc_stands_directly(inner))
    (void)find(c, tirc_body_of(inner->parent->stmt), inner->stmt, out);
}
