/* A loop that was written out has a barrier at the head of each step, the first one too, where it
 * may order nothing; likewise at the end. Between the barriers of a kernel's body, and after the
 * last one, some memory is touched; a barrier is kept if what has been touched since the one that
 * was kept before it, and what will be before the next one, have a buffer in common that one of
 * them stores to. What lies farther apart has another barrier between. */
#include "touch.h"

typedef struct Idle {
  Tirc *c;
  Touches all;
} Idle;

static bool find(Visitor *v, Stmt s) {
  Idle *k = v->self;
  tirc_touches_of(k->c, s, NULL, &k->all);
  return true;
}

static bool find_load(Visitor *v, Expr e) {
  Idle *k = v->self;
  if (e->op == OP_LOAD || e->op == OP_CALL) tirc_touches_of_expr(k->c, e, NULL, NULL, &k->all);
  return true;
}

/* One a buffer, and one more if it is stored to. */
static void add(Tirc *c, Touches *to, const Touch *t) {
  for (int i = 0; i < to->n; i++)
    if (to->at[i].buffer->data == t->buffer->data && to->at[i].write == t->write) return;
  vec_push(c, *to, *t);
}

static void add_all(Tirc *c, Touches *to, Stmt s) {
  Idle k = {.c = c};
  tirc_visit_stmt(&(Visitor){.stmt = find, .expr = find_load, .self = &k}, s);
  for (int i = 0; i < k.all.n; i++) add(c, to, &k.all.at[i]);
}

static bool has_order(const Touches *before, const Touches *after) {
  for (int i = 0; i < before->n; i++)
    for (int j = 0; j < after->n; j++) {
      const Touch *x = &before->at[i], *y = &after->at[j];
      if (x->buffer->data == y->buffer->data && (x->write || y->write)) return true;
    }
  return false;
}

/* The body of a kernel: its items one after the other. */
static Stmt clean(Tirc *c, Stmt body) {
  if (body->kind == STMT_ALLOC)
    return tirc_alloc_stmt(c, body->kind, body->u.alloc.buffer, body->u.alloc.annotations,
                           clean(c, body->u.alloc.body));
  if (body->kind != STMT_SEQ) return body;
  VEC(Stmt) kept = {0};
  Touches before = {0};
  bool waited = false; /* for asynchronous copies, which are there for others behind the next one */
  for (int i = 0; i < body->u.seq.n; i++) {
    Stmt s = tirc_item(body, i);
    if (!tirc_is_barrier(s)) {
      add_all(c, &before, s);
      vec_push(c, kept, s);
      waited |= s->kind == STMT_EVAL && tirc_calls(s->u.eval.value, CALL_PTX_WAIT_GROUP);
      continue;
    }
    Touches after = {0};
    for (int j = i + 1; j < body->u.seq.n && !tirc_is_barrier(tirc_item(body, j)); j++)
      add_all(c, &after, tirc_item(body, j));
    if (!waited && !has_order(&before, &after)) continue;
    waited = false;
    before = (Touches){0};
    vec_push(c, kept, s);
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
