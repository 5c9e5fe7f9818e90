/* A loop that was written out has a barrier at the head of each step, the first one too, where it
 * orders nothing if no memory of the block has been touched before; likewise at the end. A walk
 * knows whether something has been touched since the last barrier, and whether something will be
 * before the next one. */
#include "touch.h"

typedef struct Idle {
  Tirc *c;
  bool touched; /* since the last barrier, on some way here */
} Idle;

static bool touches(Tirc *c, Stmt s) {
  Touches all = {0};
  tirc_touches_of(c, s, NULL, &all);
  return all.n > 0;
}

static bool find(Visitor *v, Stmt s) {
  Idle *k = v->self;
  if (!k->touched) k->touched = touches(k->c, s);
  return !k->touched;
}

static bool find_load(Visitor *v, Expr e) {
  Idle *k = v->self;
  Touches all = {0};
  if (e->op == OP_LOAD || e->op == OP_CALL) tirc_touches_of_expr(k->c, e, NULL, NULL, &all);
  k->touched |= all.n > 0;
  return !k->touched;
}

/* Whether anything in s touches what threads share. */
static bool any(Tirc *c, Stmt s) {
  Idle k = {.c = c};
  tirc_visit_stmt(&(Visitor){.stmt = find, .expr = find_load, .self = &k}, s);
  return k.touched;
}

/* The body of a kernel: its items one after the other. */
static Stmt clean(Tirc *c, Stmt body) {
  if (body->kind == STMT_ALLOC)
    return tirc_alloc_stmt(c, body->kind, body->u.alloc.buffer, body->u.alloc.annotations,
                           clean(c, body->u.alloc.body));
  if (body->kind != STMT_SEQ) return body;
  VEC(Stmt) kept = {0};
  bool touched = false;
  int barrier = -1; /* the last one, if nothing has been touched since */
  for (int i = 0; i < body->u.seq.n; i++) {
    Stmt s = tirc_item(body, i);
    if (tirc_is_barrier(s)) {
      if (!touched) continue;
      barrier = kept.n;
      touched = false;
    } else if (any(c, s)) {
      touched = true;
      barrier = -1;
    }
    vec_push(c, kept, s);
  }
  if (barrier >= 0) {
    for (int i = barrier; i + 1 < kept.n; i++) kept.at[i] = kept.at[i + 1];
    kept.n--;
  }
  return tirc_seq(c, kept.n, kept.at);
}

static Stmt visit(Mutator *m, Stmt s) {
  if (!tirc_is_thread_loop(s)) return tirc_mutate_stmt_children(m, s);
  For loop = s->u.loop;
  loop.body = tirc_is_thread_loop(loop.body) ? visit(m, loop.body) : clean(m->c, loop.body);
  return tirc_for(m->c, &loop);
}

Stmt tirc_lower_idle_sync(Tirc *c, const Func *f) {
  Mutator m = {.c = c, .stmt = visit};
  return tirc_mutate_stmt(&m, f->body);
}
