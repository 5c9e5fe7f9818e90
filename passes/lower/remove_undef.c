/* What is stored of T.undef(), a value that is any, is not stored: whatever is there will do. An
 * element must not be chosen by such a value. */
#include "internal.h"

typedef struct Undef {
  Tirc *c;
  PtrMap names; /* that stand for one */
} Undef;

static bool is_undef(const void *self, Expr e) {
  const Undef *u = self;
  return tirc_calls(e, CALL_UNDEF) || (e->op == OP_VAR && tirc_map_has(&u->names, e));
}

static bool has_undef(const Undef *u, Expr e) { return tirc_find_expr(e, is_undef, u) != NULL; }

static void check_indices(Undef *u, Stmt s, int n, const Expr *at) {
  for (int i = 0; i < n; i++)
    if (has_undef(u, at[i]))
      tirc_fail(u->c, tirc_place_of(s), CODE_LOWER, "an index is a value that is known",
                "T.undef() chooses an element");
}

typedef struct Look {
  Undef *u;
  Stmt s;
} Look;
static bool look(Visitor *v, Expr e) {
  const Look *l = v->self;
  if (e->op == OP_LOAD) check_indices(l->u, l->s, e->n, e->args);
  return true;
}

static Stmt visit(Mutator *m, Stmt s) {
  Undef *u = m->self;
  Look l = {u, s};
  Visitor v = {.expr = look, .self = &l};
  switch (s->kind) {
  case STMT_STORE:
    check_indices(u, s, s->u.store.n, s->u.store.indices);
    tirc_visit_expr(&v, s->u.store.value);
    return has_undef(u, s->u.store.value) ? tirc_seq(m->c, 0, NULL) : s;
  case STMT_LET:
    tirc_visit_expr(&v, s->u.let.value);
    if (!has_undef(u, s->u.let.value)) return tirc_mutate_stmt_children(m, s);
    tirc_map_set(m->c, &u->names, s->u.let.var, s);
    s = tirc_mutate_stmt_children(m, s);
    return tirc_stmt_uses_var(s->u.let.body, s->u.let.var) ? s : s->u.let.body;
  case STMT_EVAL: tirc_visit_expr(&v, s->u.eval.value); return s;
  default: return tirc_mutate_stmt_children(m, s);
  }
}

Stmt tirc_lower_remove_undef(Tirc *c, const Func *f) {
  Undef u = {.c = c};
  return tirc_mutate_stmt(&(Mutator){.c = c, .expr = tirc_keep_expr, .stmt = visit, .self = &u},
                          f->body);
}
