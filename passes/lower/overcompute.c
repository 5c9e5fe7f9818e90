/* A condition goes where what it leaves out may as well be done:
 *
 *   for i in range(16):               for i in range(16):
 *     if i < 14:                        A[i] = 1
 *       A[i] = 1                  ->  for i in range(14, 16):
 *   for i in range(14, 16):             A[i] = 2
 *     A[i] = 2
 *
 * That is so where, in all turns in which the condition does not hold, what would be stored is
 * there already, or another store replaces it before anything reads it. Where there are two
 * branches, both have to do the same: the first behind the second changes nothing, and nothing
 * reads the second. */
#include "known.h"

typedef struct Overcompute {
  const Func *f;
  bool dataflow;
  PtrMap left; /* ifs that stay */
  Stmt at;     /* the one that is tried */
} Overcompute;

static bool does_more(const void *unused, Stmt s) {
  const bool quiet = s->kind == STMT_FOR || s->kind == STMT_SEQ || s->kind == STMT_STORE ||
                     s->kind == STMT_IF || s->kind == STMT_EVAL;
  return (void)unused, !quiet || (s->kind == STMT_EVAL && tirc_loads_or_calls(s->u.eval.value));
}

/* An element that is there whatever runs. */
static bool is_there(Expr load) {
  for (int i = 0; i < load->n; i++) {
    int64_t at, n;
    if (!tirc_const_int(load->args[i], &at) || !tirc_const_int(load->u.buffer->shape[i], &n) ||
        at < 0 || at >= n)
      return false;
  }
  return true;
}

/* What a condition may guard: another function, memory that ends, a divisor. */
static bool is_guarded(const void *unused, Expr e) {
  const bool divides =
      e->op == OP_FLOORDIV || e->op == OP_TRUNCDIV || e->op == OP_FLOORMOD || e->op == OP_TRUNCMOD;
  return (void)unused, e->op == OP_CALL || (e->op == OP_LOAD && !is_there(e)) ||
                           (divides && e->args[1]->op != OP_INT);
}

static bool may_go(Stmt s) {
  return !tirc_find_stmt(s, does_more, NULL, NULL) && !tirc_find_expr_in(s, is_guarded, NULL) &&
         s->u.branch.cond->dtype.lanes == 1;
}

/* Statements of its own, for what is found out of each. */
static Stmt copy_stmt(Mutator *m, Stmt s) {
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind == STMT_STORE)
    return tirc_store(m->c, s->u.store.buffer, s->u.store.n, s->u.store.indices, s->u.store.value);
  return s;
}

typedef struct Tried {
  const Known *known;
  bool copies, unread; /* what has to hold of each store */
  bool wrong;
} Tried;

static bool see_store(Visitor *v, Stmt s) {
  Tried *t = v->self;
  const Turns *turns = s->kind == STMT_STORE ? tirc_turns_of(t->known, s) : NULL;
  if (turns && turns->any)
    t->wrong |= (t->copies && turns->changes) || (t->unread && turns->used) ||
                (!t->copies && !t->unread && turns->changes && turns->used);
  return !t->wrong;
}

static bool holds(const Known *k, Stmt s, bool copies, bool unread) {
  Tried t = {k, copies, unread, false};
  tirc_visit_stmts(s, see_store, &t);
  return !t.wrong;
}

typedef struct Replace {
  Stmt what, with;
} Replace;
static Stmt replace(Mutator *m, Stmt s) {
  const Replace *r = m->self;
  return s == r->what ? r->with : tirc_mutate_stmt_children(m, s);
}

static Stmt replaced(Tirc *c, Stmt body, Stmt what, Stmt with) {
  Replace r = {what, with};
  return tirc_mutate_stmt(&(Mutator){.c = c, .expr = tirc_keep_expr, .stmt = replace, .self = &r},
                          body);
}

/* The body without the condition of the if; NULL: it stays. */
static Stmt without(Tirc *c, Overcompute *o, Stmt body, Stmt s) {
  Stmt yes = s->u.branch.then_case, no = s->u.branch.else_case;
  if (!may_go(s) || (!no && !o->dataflow)) return NULL;
  Stmt again = tirc_mutate_stmt(&(Mutator){.c = c, .expr = tirc_keep_expr, .stmt = copy_stmt}, yes);
  Stmt other = no ? tirc_seq(c, 2, (Stmt[]){no, again}) : again;
  Stmt trial = replaced(c, body, s, tirc_if(c, s->u.branch.cond, yes, other));
  const Known *k = tirc_known_turns(c, tirc_func_with_body(c, o->f, trial));
  if (!k) return NULL;
  const bool goes = no ? holds(k, again, true, false) && holds(k, no, false, true)
                       : holds(k, again, false, false);
  return goes ? replaced(c, body, s, yes) : NULL;
}

static bool is_next(const void *self, Stmt s) {
  const Overcompute *o = self;
  return s->kind == STMT_IF && !tirc_map_has(&o->left, s);
}

Stmt tirc_lower_overcompute(Tirc *c, const Func *f) {
  Overcompute o = {.f = f, .dataflow = tirc_pass_option(f, "use_dataflow_analysis")};
  Stmt body = f->body, s;
  while ((s = tirc_find_stmt(body, is_next, &o, NULL))) {
    Stmt less = without(c, &o, body, s);
    if (less)
      body = less;
    else
      tirc_map_set(c, &o.left, s, s);
  }
  return body;
}
