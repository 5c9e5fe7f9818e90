/* Virtual threads change places with the loops in them, as if they ran at the same time, unless
 * what one of them stores another one may touch: these run in turn, as a loop. Otherwise each
 * statement that differs between them runs for all of them in turn; the others, such as those that
 * fill shared memory for all, run once. What a virtual thread has of its own it has several times:
 *
 *   for v in T.thread_binding(2, "vthread.x"):       C = T.decl_buffer((2 * 4,), scope="local")
 *     C = T.decl_buffer((4,), scope="local")         for k in range(8):
 *     for k in range(8):                               S[tx] = A[k * 32 + tx]
 *       S[tx] = A[k * 32 + tx]                    ->   for i in range(4):
 *       for i in range(4):                               for v in T.unroll(2):
 *         C[i] = C[i] + S[v * 8 + i]                       C[v * 4 + i] += S[v * 8 + i]
 *
 * So it has of shared memory where each would store another value to one element: threads that
 * reduce together do, for each virtual thread.
 *
 * Each becomes a loop in the place where it is innermost. */
#include "scopes.h"
#include "touch.h"

#include "ir/tree/vector_index.h"

enum { MAX_UNROLLED = 16 };

typedef struct Inject {
  Tirc *c;
  const For *loop;
  PtrMap own;     /* data variables of buffers that each virtual thread has of its own */
  PtrMap shared;  /* and of those that all of them have, though they are allocated inside */
  PtrMap differs; /* variables, also of such buffers, whose values differ between them */
  bool changed;
  PtrMap enlarged; /* from a buffer to the one with room for all */
} Inject;

/* --- what differs ----------------------------------------------------------------------------- */

static bool is_differing(const void *inject, Expr e) {
  const Inject *k = inject;
  return (e->op == OP_VAR && tirc_map_has(&k->differs, e)) ||
         (e->op == OP_LOAD && tirc_map_has(&k->differs, e->u.buffer->data));
}

static bool is_differing_store(const void *inject, Stmt s) {
  const Inject *k = inject;
  return s->kind == STMT_STORE && tirc_map_has(&k->differs, s->u.store.buffer->data);
}

static bool expr_differs(const Inject *k, Expr e) { return tirc_find_expr(e, is_differing, k); }

static bool stmt_differs(const Inject *k, Stmt s) {
  return tirc_find_expr_in(s, is_differing, k) || tirc_find_stmt(s, is_differing_store, k, NULL);
}

static void mark(Inject *k, Expr var) {
  if (tirc_map_has(&k->differs, var)) return;
  tirc_map_set(k->c, &k->differs, var, k);
  k->changed = true;
}

static bool mark_own(Visitor *v, Expr e) {
  Inject *k = v->self;
  if (e->op == OP_VAR && tirc_map_has(&k->own, e)) mark(k, e);
  if (e->op == OP_LOAD && tirc_map_has(&k->own, e->u.buffer->data)) mark(k, e->u.buffer->data);
  return true;
}

static void find_differing(Inject *k, Stmt s, bool inside) {
  switch (s->kind) {
  case STMT_FOR: {
    const bool bounds = expr_differs(k, s->u.loop.min) || expr_differs(k, s->u.loop.extent);
    if (bounds) mark(k, s->u.loop.var);
    find_differing(k, s->u.loop.body, inside || bounds);
    return;
  }
  case STMT_STORE: {
    Expr data = s->u.store.buffer->data;
    const bool value = expr_differs(k, s->u.store.value);
    bool place = false;
    for (int i = 0; i < s->u.store.n; i++) place |= expr_differs(k, s->u.store.indices[i]);
    if (value && !place && !inside && tirc_map_has(&k->shared, data))
      tirc_map_set(k->c, &k->own, data, s);
    if ((inside || value || place) && tirc_map_has(&k->own, data)) mark(k, data);
    return;
  }
  case STMT_EVAL:
    if (inside || expr_differs(k, s->u.eval.value))
      tirc_visit_expr(&(Visitor){.expr = mark_own, .self = k}, s->u.eval.value);
    return;
  case STMT_IF: inside |= expr_differs(k, s->u.branch.cond); break;
  case STMT_WHILE: inside |= expr_differs(k, s->u.loop_while.cond); break;
  case STMT_LET:
    if (inside || expr_differs(k, s->u.let.value)) mark(k, s->u.let.var);
    break;
  case STMT_ALLOC:
    if (s->u.alloc.buffer->storage != STORAGE_GLOBAL) {
      const bool all = tirc_owner(s->u.alloc.buffer->storage) == OWNER_BLOCK;
      tirc_map_set(k->c, all ? &k->shared : &k->own, s->u.alloc.buffer->data, s);
    }
    break;
  case STMT_BLOCK: find_differing(k, s->u.block.body, inside); return;
  default: break;
  }
  Stmt below;
  for (int i = 0; (below = tirc_below(s, i)); i++) find_differing(k, below, inside);
}

/* --- the loops -------------------------------------------------------------------------------- */

static Expr own_index(Inject *k, Buffer b, Expr index) {
  Expr each = tirc_index_cast(k->c, index->dtype, b->shape[0]);
  Expr step = tirc_sub(k->c, k->loop->var, tirc_cast(k->c, k->loop->var->dtype, k->loop->min));
  Expr from = tirc_mul(k->c, tirc_index_cast(k->c, tirc_dtype_lanes(index->dtype, 1), step), each);
  return tirc_index_add(k->c, from, index);
}

static Expr rewrite_expr(Mutator *m, Expr e) {
  Inject *k = m->self;
  Buffer to = e->op == OP_LOAD ? tirc_map_get(&k->enlarged, e->u.buffer) : NULL;
  Buffer from = to ? e->u.buffer : NULL;
  e = tirc_mutate_expr_children(m, e);
  if (!to) return e;
  Expr index = own_index(k, from, e->args[0]);
  return tirc_load(k->c, to, 1, &index);
}

static Stmt rewrite_stmt(Mutator *m, Stmt s) {
  Inject *k = m->self;
  s = tirc_mutate_stmt_children(m, s);
  Buffer to = s->kind == STMT_STORE ? tirc_map_get(&k->enlarged, s->u.store.buffer) : NULL;
  if (!to) return s;
  Expr index = own_index(k, s->u.store.buffer, s->u.store.indices[0]);
  return tirc_store(k->c, to, 1, &index, s->u.store.value);
}

static Stmt for_each(Inject *k, Stmt s) {
  int64_t n;
  Mutator m = {.c = k->c, .expr = rewrite_expr, .stmt = rewrite_stmt, .self = k};
  For loop = *k->loop;
  s = tirc_mutate_stmt(&m, s);
  loop.var = tirc_var(k->c, loop.var->u.s, loop.var->dtype);
  loop.kind = tirc_const_int(loop.extent, &n) && n <= MAX_UNROLLED ? LOOP_UNROLLED : LOOP_SERIAL;
  loop.thread = NULL;
  loop.annotations = (Attrs){0};
  loop.body = tirc_lower_substitute1(k->c, s, k->loop->var, loop.var);
  return tirc_for(k->c, &loop);
}

/* Pointers into a buffer do not say which element of it is meant. */
static bool look_for_pointer(Visitor *v, Expr e) {
  if (e == (Expr)v->self) v->self = NULL;
  return v->self;
}

static bool is_pointed_to(Stmt s, Expr data) {
  Visitor v = {.expr = look_for_pointer, .self = (void *)(uintptr_t)data};
  tirc_visit_stmt(&v, s);
  return !v.self;
}

static Stmt inject(Inject *k, Stmt s);

static Stmt inject_alloc(Inject *k, Stmt s) {
  Buffer b = s->u.alloc.buffer;
  if (tirc_map_has(&k->differs, b->data)) {
    if (b->ndim != 1 || is_pointed_to(s->u.alloc.body, b->data)) return for_each(k, s);
    struct BufferNode to = *b;
    Expr shape = tirc_mul(k->c, tirc_cast(k->c, b->shape[0]->dtype, k->loop->extent), b->shape[0]);
    to.shape = &shape;
    b = tirc_buffer_copy(k->c, &to);
    tirc_map_set(k->c, &k->enlarged, s->u.alloc.buffer, b);
  }
  return tirc_alloc_stmt(k->c, s->kind, b, s->u.alloc.annotations, inject(k, s->u.alloc.body));
}

static Stmt inject_loop(Inject *k, Stmt s) {
  For loop = s->u.loop;
  if (tirc_map_has(&k->differs, loop.var) || loop.kind == LOOP_VECTORIZED) return for_each(k, s);
  loop.body = inject(k, loop.body);
  return tirc_for(k->c, &loop);
}

static Stmt inject_seq(Inject *k, Stmt s) {
  Stmt *items = tirc_new_array(k->c, Stmt, s->u.seq.n);
  for (int i = 0; i < s->u.seq.n; i++) items[i] = inject(k, tirc_item(s, i));
  return tirc_seq(k->c, s->u.seq.n, items);
}

static Stmt inject(Inject *k, Stmt s) {
  if (!stmt_differs(k, s)) return s;
  switch (s->kind) {
  case STMT_FOR: return inject_loop(k, s);
  case STMT_SEQ: return inject_seq(k, s);
  case STMT_IF:
    if (expr_differs(k, s->u.branch.cond)) return for_each(k, s);
    return tirc_if(k->c, s->u.branch.cond, inject(k, s->u.branch.then_case),
                   s->u.branch.else_case ? inject(k, s->u.branch.else_case) : NULL);
  case STMT_LET:
    if (tirc_map_has(&k->differs, s->u.let.var)) return for_each(k, s);
    return tirc_let(k->c, s->u.let.var, s->u.let.value, inject(k, s->u.let.body));
  case STMT_ALLOC: return inject_alloc(k, s);
  case STMT_DECL:
    if (tirc_map_has(&k->own, s->u.alloc.buffer->data)) return for_each(k, s);
    return tirc_alloc_stmt(k->c, s->kind, s->u.alloc.buffer, s->u.alloc.annotations,
                           inject(k, s->u.alloc.body));
  case STMT_ATTR:
    if (expr_differs(k, s->u.attr.value)) return for_each(k, s);
    return tirc_attr_stmt(k->c, s->u.attr.node, s->u.attr.key, s->u.attr.value,
                          inject(k, s->u.attr.body));
  default: return for_each(k, s);
  }
}

/* --- in turn ---------------------------------------------------------------------------------- */

static bool is_everyones(void *inject, Buffer b) {
  return !tirc_map_has(&((Inject *)inject)->own, b->data);
}

/* Of a loop without a number the condition is not known here. */
static bool may_differ(const Inject *k, const Touch *t, const Place *top) {
  bool differs = stmt_differs(k, t->stmt);
  for (const Place *p = t->at; p != top && !differs; p = p->up)
    differs = p->kind == PLACE_REPEAT || (p->a && expr_differs(k, p->a)) ||
              (p->b && expr_differs(k, p->b));
  return differs;
}

/* Where a kernel's statement is: within all loops around it, and without those over threads. */
typedef struct Around {
  Place *at, *block;
} Around;

/* Whether another order may give what one of them loads, or all see in the end, another value. What
 * threads share, another thread may touch by another virtual thread. A store that is the same for
 * all of them runs once: what follows it may load that in any of them, but it may not hand on what
 * it stores from one to the next. */
static bool may_meet(Inject *k, Question *q, const Around *around, const Touch *x, const Touch *y) {
  if (x->buffer->data != y->buffer->data || (!x->write && !y->write)) return false;
  const bool x_differs = may_differ(k, x, around->at), y_differs = may_differ(k, y, around->at);
  const Place *top = tirc_owner(x->buffer->storage) != OWNER_THREAD ? around->block : around->at;
  if (!x_differs && !y_differs)
    return x->write != y->write && !tirc_map_has(&k->shared, x->buffer->data);
  return ((x->write && x_differs) || (y->write && y_differs)) &&
         tirc_may_meet(q, x, y, top, NULL, false);
}

static bool any_meet(Inject *k, Stmt loop, const Around *around) {
  const Threads these = {.n = 1, .at = {k->loop}};
  Question *q = tirc_question(k->c, tirc_analyzer(k->c), &these);
  Extract x = {.c = k->c, .wants = is_everyones, .self = k, .lowered = true};
  tirc_extract(&x, around->at, NULL, NULL, loop, k->loop->body);
  for (int i = 0; i < x.touches.n; i++)
    for (int j = 0; j <= i; j++)
      if (may_meet(k, q, around, &x.touches.at[i], &x.touches.at[j])) return true;
  return false;
}

static Stmt without(Mutator *m, Stmt s) {
  const Stmt block = tirc_find_stmt(s, tirc_is_block_stmt, NULL, NULL);
  if (block)
    tirc_fail(m->c, tirc_place_of(block), CODE_LOWER, "run LowerOpaqueBlock before it",
              "InjectVirtualThread expects statements, but the loop %s contains a block",
              s->u.loop.var->u.s);
  Inject k = {.c = m->c, .loop = &s->u.loop};
  mark(&k, s->u.loop.var);
  while (k.changed) {
    k.changed = false;
    find_differing(&k, s->u.loop.body, false);
  }
  return any_meet(&k, s, m->self) ? for_each(&k, s->u.loop.body) : inject(&k, s->u.loop.body);
}

static Stmt visit(Mutator *m, Stmt s) {
  Around *const around = m->self, outer = *around;
  around->at = tirc_lower_host_place(m->c, outer.at, s);
  const bool is_bound = s->kind == STMT_FOR && s->u.loop.kind == LOOP_THREAD_BINDING;
  if (!is_bound || !tirc_is_thread_axis(s->u.loop.axis))
    around->block = outer.block == outer.at ? around->at : outer.block;
  s = tirc_mutate_stmt_children(m, s);
  *around = outer;
  return is_bound && !tirc_is_thread_loop(s) ? without(m, s) : s;
}

Stmt tirc_lower_vthread(Tirc *c, const Func *f) {
  Around around = {0};
  Mutator m = {.c = c, .stmt = visit, .self = &around};
  return tirc_mutate_stmt(&m, f->body);
}
