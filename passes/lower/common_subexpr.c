/* What a statement computes twice it computes once:
 *
 *   B[i] = (x + y) * 2                cse = x + y
 *   C[i] = (x + y) * 3       ->       B[i] = cse * 2
 *                                     C[i] = cse * 3
 *
 * Expressions are the same when they read the same. The name stands at the innermost statement
 * around all of them; what it stands for may then run where it did not before, so it loads and
 * calls nothing and cannot fail. Heads of loops and of blocks stay as they are: their bounds say
 * more to other passes as they stand. */
#include "internal.h"

enum { MOST = 256 }; /* expressions that are compared at a statement */

typedef struct Found {
  Expr e;
  int n, part;    /* how often; the part of the statement in which it was seen last, */
  bool in_others; /* and whether there is another one */
} Found;

typedef struct Once {
  Tirc *c;
  Analyzer *a;
  int n_names;
  PtrMap inner; /* what the statement that is looked at defines */
  int part;
  VEC(Found) found;
} Once;

/* --- what is there twice ---------------------------------------------------------------------- */

static bool is_worth_a_name(const Once *o, Expr e) {
  if (e->n == 0 || e->op == OP_RAMP || e->op == OP_BROADCAST || e->op == OP_LET) return false;
  if (e->op == OP_CAST || e->op == OP_LIKELY || e->op == OP_TUPLE || e->op == OP_DICT) return false;
  return e->dtype.code != TYPE_HANDLE && !tirc_uses_any(e, &o->inner) &&
         tirc_can_run_early(o->a, e);
}

static void count(Once *o, Expr e) {
  for (int i = 0; i < o->found.n; i++) {
    Found *f = &o->found.at[i];
    if (!tirc_expr_same(f->e, e)) continue;
    f->n++;
    f->in_others |= f->part != o->part;
    return;
  }
  if (o->found.n < MOST) vec_push(o->c, o->found, ((Found){e, 1, o->part, false}));
}

static bool see_expr(Visitor *v, Expr e) {
  Once *o = v->self;
  if (e->op == OP_LET) tirc_map_set(o->c, &o->inner, e->args[0], o);
  if (is_worth_a_name(o, e)) count(o, e);
  return true;
}

static bool see_stmt(Visitor *v, Stmt s) {
  Once *o = v->self;
  switch (s->kind) {
  case STMT_BLOCK: return false;
  case STMT_FOR:
    tirc_map_set(o->c, &o->inner, s->u.loop.var, o);
    tirc_visit_stmt(v, s->u.loop.body);
    return false;
  case STMT_LET: tirc_map_set(o->c, &o->inner, s->u.let.var, o); return true;
  case STMT_ALLOC:
  case STMT_DECL: tirc_map_set(o->c, &o->inner, s->u.alloc.buffer->data, o); return true;
  default: return true;
  }
}

static void see(Once *o, Visitor *v, int part, Stmt s) {
  o->part = part;
  if (s) tirc_visit_stmt(v, s);
}

/* The parts of s, each with a number of its own. What is in one part alone is that one's matter. */
static void look(Once *o, Stmt s) {
  Visitor v = {.expr = see_expr, .stmt = see_stmt, .self = o};
  o->inner = (PtrMap){0};
  o->found.n = 0;
  if (s->kind == STMT_SEQ) {
    for (int i = 0; i < s->u.seq.n; i++) see(o, &v, i, tirc_item(s, i));
  } else if (s->kind == STMT_IF) {
    o->part = 0;
    tirc_visit_expr(&v, s->u.branch.cond);
    see(o, &v, 1, s->u.branch.then_case);
    see(o, &v, 2, s->u.branch.else_case);
  } else {
    see(o, &v, 0, s);
  }
}

static int64_t size_of(Expr e) {
  int64_t n = 1;
  for (int i = 0; i < e->n; i++) n += size_of(e->args[i]);
  return n;
}

/* The largest one that is there twice; whole: it has no parts. */
static Expr largest(const Once *o, bool whole) {
  const Found *best = NULL;
  for (int i = 0; i < o->found.n; i++) {
    const Found *f = &o->found.at[i];
    if (f->n < 2 || (!whole && !f->in_others)) continue;
    if (!best || size_of(f->e) > size_of(best->e)) best = f;
  }
  return best ? best->e : NULL;
}

/* --- one instead ------------------------------------------------------------------------------ */

typedef struct Named {
  Expr e, name;
} Named;

static Expr name_expr(Mutator *m, Expr e) {
  const Named *n = m->self;
  return tirc_expr_same(e, n->e) ? n->name : tirc_mutate_expr_children(m, e);
}

static Stmt name_stmt(Mutator *m, Stmt s) {
  if (s->kind == STMT_BLOCK) return s;
  if (s->kind != STMT_FOR) return tirc_mutate_stmt_children(m, s);
  For loop = s->u.loop;
  loop.body = tirc_mutate_stmt(m, loop.body);
  return loop.body == s->u.loop.body ? s : tirc_for(m->c, &loop);
}

static Stmt with_name(Once *o, Stmt s, Expr e) {
  Named n = {e, tirc_var(o->c, tirc_format(o->c, "cse_v%d", ++o->n_names), e->dtype)};
  Mutator m = {.c = o->c, .expr = name_expr, .stmt = name_stmt, .self = &n};
  return tirc_let(o->c, n.name, e, tirc_mutate_stmt(&m, s));
}

/* --- the pass --------------------------------------------------------------------------------- */

static Stmt once(Mutator *m, Stmt s);

static Stmt without_repeats(Mutator *m, Stmt s, bool whole) {
  Once *o = m->self;
  look(o, s);
  const Expr e = largest(o, whole);
  if (!e) return NULL;
  const Stmt let = with_name(o, s, e);
  return tirc_let(o->c, let->u.let.var, e, once(m, let->u.let.body));
}

static Stmt once(Mutator *m, Stmt s) {
  Once *o = m->self;
  Stmt to = NULL;
  if (s->kind == STMT_IF && s->u.branch.cond->dtype.lanes > 1)
    return s; /* of a vector: its body is one store */
  switch (s->kind) {
  case STMT_STORE:
  case STMT_EVAL: to = without_repeats(m, s, true); return to ? to : s;
  case STMT_SEQ:
  case STMT_IF: to = without_repeats(m, s, false); break;
  case STMT_FOR:
    tirc_bind_range(o->a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
    break;
  default: break;
  }
  return to ? to : tirc_mutate_stmt_children(m, s);
}

Stmt tirc_lower_common_subexpr(Tirc *c, const Func *f) {
  Once o = {.c = c, .a = tirc_analyzer(c)};
  Mutator m = {.c = c, .expr = tirc_keep_expr, .stmt = once, .self = &o};
  return tirc_mutate_stmt(&m, f->body);
}
