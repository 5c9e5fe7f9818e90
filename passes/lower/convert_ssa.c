/* Each name is given a value in one place: where a variable of a loop or a let is bound a second
 * time, it becomes another one there. Axes of threads that one function launches several times keep
 * theirs. */
#include "internal.h"

typedef struct Ssa {
  Tirc *c;
  PtrMap bound;
} Ssa;

static Stmt visit(Mutator *m, Stmt s) {
  Ssa *k = m->self;
  const bool is_loop = s->kind == STMT_FOR && s->u.loop.kind != LOOP_THREAD_BINDING;
  const bool is_let = s->kind == STMT_LET && s->u.let.var->dtype.code != TYPE_HANDLE;
  const Expr var = is_loop ? s->u.loop.var : is_let ? s->u.let.var : NULL;
  if (!var || !tirc_map_has(&k->bound, var)) {
    if (var) tirc_map_set(k->c, &k->bound, var, s);
    return tirc_mutate_stmt_children(m, s);
  }
  const Expr other = tirc_var(m->c, var->u.s, var->dtype);
  tirc_map_set(k->c, &k->bound, other, s);
  if (is_let) {
    Stmt body = tirc_lower_substitute1(m->c, s->u.let.body, var, other);
    return tirc_let(m->c, other, s->u.let.value, tirc_mutate_stmt(m, body));
  }
  For loop = s->u.loop;
  loop.var = other;
  loop.body = tirc_mutate_stmt(m, tirc_lower_substitute1(m->c, s->u.loop.body, var, other));
  return tirc_for(m->c, &loop);
}

Stmt tirc_lower_convert_ssa(Tirc *c, const Func *f) {
  Ssa k = {.c = c};
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = visit, .self = &k};
  return tirc_mutate_stmt(&m, f->body);
}
