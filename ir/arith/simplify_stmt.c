/* Simplification of statements: every expression with the ranges of the loops and iterators around
 * it, and the conditions of the branches that it stands in. */
#include "internal.h"

#include "ir/tree/find.h"

typedef struct Pass {
  Analyzer *a;
  bool structure;
  PtrMap inside; /* variables of loops and blocks, which are no sizes */
} Pass;

static Expr simplify_expr(Mutator *m, Expr e) {
  Pass *p = m->self;
  return tirc_simplify(p->a, e);
}

static bool is_removable(const For *loop) {
  return loop->annotations.n == 0 && loop->kind != LOOP_THREAD_BINDING;
}

/* An extent that bounds leave one value: (n + 63) // 64 where n is at most 64 and at least 1. */
static Expr only_value(Pass *p, Expr e) {
  if (!p->structure || e->op == OP_INT) return e;
  const Bound b = tirc_const_bound(p->a, e);
  return b.min == b.max ? tirc_int(p->a->c, e->dtype, b.min) : e;
}

static bool is_load_of_data(const void *data, Expr e) {
  return e->op == OP_LOAD && e->u.buffer->data == data;
}

typedef struct Changes {
  Expr of;
  bool found;
} Changes;

static bool see_change(Visitor *v, Stmt s) {
  Changes *k = v->self;
  const Expr data = s->kind == STMT_STORE ? s->u.store.buffer->data : NULL;
  if (data) k->found |= tirc_find_expr(k->of, is_load_of_data, data) != NULL;
  k->found |= s->kind == STMT_BLOCK && s->u.block.n_matches > 0;
  return !k->found;
}

/* Whether the statement may store to what e loads. */
static bool may_change(Stmt s, Expr e) {
  if (!tirc_loads_or_calls(e)) return false;
  Changes k = {e, tirc_find_expr_in(s, tirc_is_opaque_call, NULL) != NULL};
  tirc_visit_stmt(&(Visitor){.stmt = see_change, .self = &k}, s);
  return k.found;
}

Expr tirc_lasting_part(Tirc *c, Expr cond, Stmt s) {
  if (cond->op == OP_AND)
    return tirc_and(c, tirc_lasting_part(c, cond->args[0], s),
                    tirc_lasting_part(c, cond->args[1], s));
  return s && cond->dtype.lanes == 1 && may_change(s, cond) ? tirc_bool(c, true) : cond;
}

static Stmt simplify_loop(Mutator *m, Stmt s) {
  Pass *p = m->self;
  Tirc *c = m->c;
  For loop = s->u.loop;
  loop.min = tirc_simplify(p->a, loop.min);
  loop.extent = only_value(p, tirc_simplify(p->a, loop.extent));
  if (p->structure && loop.extent->op == OP_INT && loop.extent->u.i <= 0)
    return tirc_seq(c, 0, NULL);
  const bool changes = may_change(loop.body, loop.min) || may_change(loop.body, loop.extent);
  if (p->structure && tirc_is_int(loop.extent, 1) && is_removable(&loop) && !changes)
    return tirc_mutate_stmt(m, tirc_substitute1_stmt(c, loop.body, loop.var, loop.min));
  if (!changes) tirc_bind_range(p->a, loop.var, tirc_range(loop.min, loop.extent));
  tirc_map_set(c, &p->inside, loop.var, loop.var);
  loop.body = tirc_mutate_stmt(m, loop.body);
  if (p->structure && tirc_is_empty(loop.body)) return loop.body;
  bool same =
      loop.min == s->u.loop.min && loop.extent == s->u.loop.extent && loop.body == s->u.loop.body;
  return same ? s : tirc_with_loc(c, tirc_for(c, &loop), s->loc);
}

/* Where a size equals a number it is that number, as strides that hang on it are then. */
static Stmt with_numbers(const Pass *p, Expr cond, Stmt s) {
  Tirc *c = p->a->c;
  if (cond->op == OP_AND) return with_numbers(p, cond->args[1], with_numbers(p, cond->args[0], s));
  const bool equals = cond->op == OP_EQ && cond->args[0]->op == OP_VAR &&
                      cond->args[1]->op == OP_INT && tirc_dtype_is_int(cond->args[0]->dtype) &&
                      !tirc_map_has(&p->inside, cond->args[0]);
  return equals ? tirc_substitute1_stmt(c, s, cond->args[0], cond->args[1]) : s;
}

static Stmt simplify_branch(Mutator *m, Stmt s) {
  Pass *p = m->self;
  Tirc *c = m->c;
  Expr cond = tirc_simplify(p->a, s->u.branch.cond);
  Stmt then_case = s->u.branch.then_case, else_case = s->u.branch.else_case;
  if (p->structure && cond->op == OP_INT) {
    Stmt taken = cond->u.i ? then_case : else_case;
    return taken ? tirc_mutate_stmt(m, taken) : tirc_seq(c, 0, NULL);
  }
  if (cond->dtype.lanes > 1) { /* holds in some lanes, of which nothing is known outside of them */
    then_case = tirc_mutate_stmt(m, then_case);
    const bool is_same = cond == s->u.branch.cond && then_case == s->u.branch.then_case;
    return is_same ? s : tirc_with_loc(c, tirc_if(c, cond, then_case, NULL), s->loc);
  }
  if (p->structure) then_case = with_numbers(p, cond, then_case);
  int mark = tirc_enter_constraint(p->a, tirc_lasting_part(c, cond, then_case));
  then_case = tirc_mutate_stmt(m, then_case);
  tirc_leave_constraint(p->a, mark);
  if (else_case) {
    mark = tirc_enter_constraint(p->a,
                                 tirc_lasting_part(c, tirc_negate_condition(c, cond), else_case));
    else_case = tirc_mutate_stmt(m, else_case);
    tirc_leave_constraint(p->a, mark);
  }
  if (p->structure && tirc_is_empty(then_case) && (!else_case || tirc_is_empty(else_case)))
    return then_case;
  bool same = cond == s->u.branch.cond && then_case == s->u.branch.then_case &&
              else_case == s->u.branch.else_case;
  return same ? s : tirc_with_loc(c, tirc_if(c, cond, then_case, else_case), s->loc);
}

static Stmt simplify_one(Mutator *m, Stmt s) {
  Pass *p = m->self;
  if (tirc_assumed(s)) return s; /* known to hold, since it is checked here */
  if (s->kind == STMT_FOR) return simplify_loop(m, s);
  if (s->kind == STMT_IF) return simplify_branch(m, s);
  if (s->kind == STMT_BLOCK) {
    const Block *b = &s->u.block;
    for (int i = 0; i < b->n_iters; i++) {
      tirc_bind_range(p->a, b->iters[i].var, b->iters[i].dom);
      tirc_map_set(m->c, &p->inside, b->iters[i].var, b->iters[i].var);
    }
  }
  return tirc_mutate_stmt_children(m, s);
}

Stmt tirc_simplify_stmt(Analyzer *a, Stmt s, bool structure) {
  Pass p = {.a = a, .structure = structure};
  Mutator m = {.c = a->c, .expr = simplify_expr, .stmt = simplify_one, .self = &p};
  return tirc_mutate_stmt(&m, s);
}
