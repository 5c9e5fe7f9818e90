/* Barriers. Between two statements of a block's threads stands one where a thread may touch an
 * element that another one touches, and one of them stores:
 *
 *   for k in range(8):                     for k in range(8):
 *     S[tx] = A[k * 32 + tx]                 T.tvm_storage_sync("shared")
 *     C[0] = C[0] + S[31 - tx]      ->       S[tx] = A[k * 32 + tx]
 *                                            T.tvm_storage_sync("shared")
 *                                            C[0] = C[0] + S[31 - tx]
 *
 * A walk keeps what was touched since the last barrier. What comes next and may meet some of that
 * has a barrier before it; a loop has one in it if its end may meet its next step's beginning. All
 * threads must reach a barrier: where not all run a statement in the same way, there can be none,
 * and a program that needs one is refused. */
#include "touch.h"

#include "ir/tree/print.h"

/* What a statement touches before its first barrier and after its last one. */
typedef struct Ends {
  Touches head, tail;
  bool always; /* it has a barrier, whatever it does */
} Ends;

typedef struct Sync {
  Tirc *c;
  Analyzer *a;
  Question *q;
  Threads threads;
  Place *at;
  Stmt divergent; /* NULL: all threads of the block run what is here together */
  PtrMap varying; /* variables that differ between threads */
  PtrMap stored;  /* data variables of buffers that the kernel stores to */
  PtrMap own;     /* data of what each thread has for itself */
  PtrMap became;  /* from a statement to what the walk has made of it, where that is another */
} Sync;

static Stmt barrier(Tirc *c) {
  Expr scope = tirc_string(c, "shared");
  return tirc_eval(c, tirc_call(c, DT_INT32, CALL_TVM_STORAGE_SYNC, 1, &scope));
}

/* --- what differs between threads ------------------------------------------------------------- */

static bool is_varying(const void *sync, Expr e) {
  const Sync *k = sync;
  if (e->op == OP_LOAD)
    return e->u.buffer->storage != STORAGE_GLOBAL || tirc_map_has(&k->stored, e->u.buffer->data);
  return e->op == OP_CALL || (e->op == OP_VAR && tirc_map_has(&k->varying, e));
}

static bool differs(const Sync *k, Expr e) { return tirc_find_expr(e, is_varying, k); }

/* Pointers go to functions, of which is not known what they touch. A thread's own memory matters to
 * no other. */
static bool refuse_pointer(Visitor *v, Expr e) {
  Sync *k = v->self;
  if (e->op == OP_VAR && e->dtype.code == TYPE_HANDLE && !tirc_map_has(&k->own, e))
    tirc_fail(k->c, (Loc){0}, CODE_LOWER, "load and store elements of the buffer",
              "a kernel passes on the pointer %s, so it is not known which elements are accessed "
              "through it",
              e->u.s);
  return true;
}

static bool note_store(Visitor *v, Stmt s) {
  Sync *k = v->self;
  if (s->kind == STMT_ATTR && !strcmp(s->u.attr.key, tirc_key(KEY_PERMUTED_LAYOUT))) {
    tirc_visit_stmt(v, s->u.attr.body); /* its node is a name, and handed to nobody */
    return false;
  }
  if (s->kind == STMT_STORE) tirc_map_set(k->c, &k->stored, s->u.store.buffer->data, s);
  if (s->kind == STMT_ALLOC && tirc_owner(s->u.alloc.buffer->storage) == OWNER_THREAD)
    tirc_map_set(k->c, &k->own, s->u.alloc.buffer->data, s);
  return true;
}

/* --- touches that meet ------------------------------------------------------------------------ */

typedef struct Meeting {
  const Touch *first, *then; /* NULL: none */
} Meeting;

static Meeting meeting(Sync *k, const Touches *x, const Touches *y, Expr carried, bool next) {
  for (int i = 0; i < y->n; i++)
    for (int j = 0; j < x->n; j++)
      if (tirc_may_meet(k->q, &x->at[j], &y->at[i], k->at, carried, next))
        return (Meeting){&x->at[j], &y->at[i]};
  return (Meeting){0};
}

static void append(Tirc *c, Touches *to, const Touches *more) {
  for (int i = 0; i < more->n; i++) vec_push(c, *to, more->at[i]);
}

static const char *told(Sync *k, const Touch *t) {
  const char *what = tirc_print_stmt(k->c, t->stmt, 0);
  const size_t n = strcspn(what, "\n");
  return tirc_format(k->c, "%.*s", (int)(n < 120 ? n : 120), what);
}

static _Noreturn void refuse(Sync *k, Meeting m, Stmt where) {
  if (tirc_question_is_tired(k->q))
    tirc_fail(k->c, tirc_place_of(m.then->stmt), CODE_LOWER,
              "split the kernel into several, or use loops instead of unrolled code",
              "the analysis gave up after %d pairs of accesses, so two threads must be assumed to "
              "access one element of %s, in \"%s\" and in \"%s\", which needs a barrier where "
              "there cannot be one",
              MAX_QUESTIONS, m.first->buffer->name, told(k, m.first), told(k, m.then));
  const char *what = where->kind == STMT_FOR     ? "a loop whose length differs between threads"
                     : where->kind == STMT_WHILE ? "a while loop"
                                                 : "a branch that not all threads take";
  if (m.first->stmt == m.then->stmt)
    tirc_fail(k->c, tirc_place_of(m.first->stmt), CODE_LOWER,
              "put the load and the store into two statements",
              "two threads may access one element of %s in \"%s\", and there cannot be a barrier "
              "inside a statement",
              m.first->buffer->name, told(k, m.first));
  tirc_fail(k->c, tirc_place_of(m.then->stmt), CODE_LOWER,
            "a barrier must be reached by all threads of the block",
            "two threads may access one element of %s, in \"%s\" and in \"%s\", which needs a "
            "barrier in %s",
            m.first->buffer->name, told(k, m.first), told(k, m.then), what);
}

/* --- the walk --------------------------------------------------------------------------------- */

static Stmt visit(Sync *k, Stmt s, Ends *out);

/* Of threads that store other numbers to one element at the same time one wins. */
static void check_store(Sync *k, const Touch *t) {
  if (!tirc_threads_store_others(k->q, k->c, &k->threads, t, k->at)) return;
  tirc_fail(k->c, tirc_place_of(t->stmt), CODE_LOWER,
            "let each thread store to an element of its own, or only one of them",
            "two threads store to one element of %s at the same time, in \"%s\"", t->buffer->name,
            told(k, t));
}

/* The threads of a warp that are here: all of them, where no branch is around and blocks are whole
 * warps. The hardware's own answer is what has arrived by then. */
static Stmt with_whole_mask(const Sync *k, Stmt s) {
  enum { WARP = 32 };
  int64_t threads = 1, n;
  const bool asks = s->kind == STMT_STORE && tirc_calls(s->u.store.value, CALL_TVM_WARP_ACTIVEMASK);
  if (!asks || k->divergent) return s;
  for (int i = 0; i < k->threads.n; i++)
    threads = tirc_const_int(k->threads.at[i]->extent, &n) ? threads * n : 1;
  if (threads % WARP) return s;
  return tirc_with_loc(k->c,
                       tirc_store(k->c, s->u.store.buffer, s->u.store.n, s->u.store.indices,
                                  tirc_int(k->c, s->u.store.value->dtype, UINT32_MAX)),
                       s->loc);
}

static Stmt leaf(Sync *k, Stmt s, Ends *out) {
  s = with_whole_mask(k, s);
  Place *at = k->at;
  const bool stores =
      s->kind == STMT_STORE && tirc_owner(s->u.store.buffer->storage) != OWNER_THREAD;
  const Expr one = stores ? tirc_one_thread_stores(k->c, &k->threads, at, s) : NULL;
  if (one) at = tirc_place_when(k->c, at, one, false);
  tirc_touches_of(k->c, s, at, &out->head);
  append(k->c, &out->tail, &out->head);
  if (!stores || !out->head.n) return s;
  const Touch *last = &out->head.at[out->head.n - 1];
  for (int i = 0; last->write && i + 1 < out->head.n; i++)
    if (!out->head.at[i].write && tirc_may_meet(k->q, &out->head.at[i], last, k->at, NULL, false))
      refuse(k, (Meeting){last, last}, s);
  if (tirc_may_meet(k->q, last, last, k->at, NULL, false)) check_store(k, last);
  return one ? tirc_if(k->c, one, s, NULL) : s;
}

static void then_ends(Sync *k, Ends *all, const Ends *more) {
  if (!all->always) append(k->c, &all->head, &more->head);
  if (more->always) all->tail.n = 0;
  append(k->c, &all->tail, &more->tail);
  all->always |= more->always;
}

static Stmt visit_seq(Sync *k, Stmt s, Ends *out) {
  VEC(Stmt) items = {0};
  for (int i = 0; i < s->u.seq.n; i++) {
    Ends ends = {0};
    Stmt item = visit(k, tirc_item(s, i), &ends);
    Meeting m = meeting(k, &out->tail, &ends.head, NULL, false);
    if (m.first) {
      if (k->divergent) refuse(k, m, k->divergent);
      vec_push(k->c, items, barrier(k->c));
      then_ends(k, out, &(Ends){.always = true});
    }
    vec_push(k->c, items, item);
    then_ends(k, out, &ends);
  }
  return tirc_seq(k->c, items.n, items.at);
}

/* With the loop at one step. */
static Touches fixed(Sync *k, const Touches *all, Expr var, Expr value) {
  Touches to = {0};
  for (int i = 0; i < all->n; i++) {
    Touch t = all->at[i];
    t.at = tirc_place_when(k->c, t.at, tirc_eq(k->c, var, value), false);
    vec_push(k->c, to, t);
  }
  return to;
}

/* A statement of the program as it is by now. */
static Stmt rebuilt(const Sync *k, Stmt s) {
  for (Stmt now; (now = tirc_map_get(&k->became, s));) s = now;
  return s;
}

/* A barrier before the item of the body that does what the next step must not do too early. */
static Stmt with_barrier(Sync *k, Stmt body, Stmt then) {
  if (body->kind == STMT_LET && body != then)
    return tirc_let(k->c, body->u.let.var, body->u.let.value,
                    with_barrier(k, body->u.let.body, then));
  if (body->kind != STMT_SEQ) return tirc_seq(k->c, 2, (Stmt[]){barrier(k->c), body});
  int at = body->u.seq.n - 1;
  while (at > 0 && !tirc_holds(tirc_item(body, at), then, NULL)) at--;
  VEC(Stmt) items = {0};
  for (int i = 0; i < body->u.seq.n; i++) {
    if (i == at) vec_push(k->c, items, barrier(k->c));
    vec_push(k->c, items, tirc_item(body, i));
  }
  return tirc_seq(k->c, items.n, items.at);
}

static Stmt visit_loop(Sync *k, Stmt s, Ends *out) {
  For loop = s->u.loop;
  Stmt outer = k->divergent;
  Touches bounds = {0};
  tirc_touches_of_expr(k->c, loop.min, k->at, s, &bounds);
  tirc_touches_of_expr(k->c, loop.extent, k->at, s, &bounds);
  if (differs(k, loop.min) || differs(k, loop.extent)) {
    tirc_map_set(k->c, &k->varying, loop.var, s);
    if (!k->divergent) k->divergent = s;
  }
  tirc_bind_range(k->a, loop.var, tirc_range(loop.min, loop.extent));
  Place *up = k->at;
  Ends ends;
  for (bool settled = false; !settled;) {
    ends = (Ends){0};
    k->at = tirc_place_loop(k->c, up, &loop);
    loop.body = visit(k, loop.body, &ends);
    k->at = up;
    settled = true;
    if (tirc_is_int(loop.extent, 1)) continue;
    Meeting m = meeting(k, &ends.tail, &ends.head, loop.var, ends.always);
    if (!m.first) continue;
    if (k->divergent) refuse(k, m, k->divergent);
    loop.body = with_barrier(k, loop.body, rebuilt(k, m.then->stmt));
    settled = false;
  }
  k->divergent = outer;
  Meeting m = meeting(k, &bounds, &ends.head, NULL, false);
  if (m.first) refuse(k, m, s);
  Expr one = tirc_int(k->c, loop.extent->dtype, 1);
  if (ends.always) {
    Expr last = tirc_sub(k->c, tirc_add(k->c, loop.min, loop.extent), one);
    ends.head = fixed(k, &ends.head, loop.var, loop.min);
    ends.tail = fixed(k, &ends.tail, loop.var, last);
    ends.always = tirc_prove_ge(k->a, loop.extent, one);
  }
  then_ends(k, out, &(Ends){.head = bounds, .tail = bounds});
  then_ends(k, out, &ends);
  return tirc_for(k->c, &loop);
}

static Stmt visit_branch(Sync *k, Stmt s, Ends *out) {
  Stmt outer = k->divergent;
  Touches cond = {0};
  tirc_touches_of_expr(k->c, s->u.branch.cond, k->at, s, &cond);
  if (!k->divergent && differs(k, s->u.branch.cond)) k->divergent = s;
  Ends yes = {0}, no = {0};
  Place *up = k->at;
  k->at = tirc_place_when(k->c, up, s->u.branch.cond, false);
  Stmt then_case = visit(k, s->u.branch.then_case, &yes), else_case = NULL;
  k->at = up;
  if (s->u.branch.else_case) {
    k->at = tirc_place_when(k->c, up, s->u.branch.cond, true);
    else_case = visit(k, s->u.branch.else_case, &no);
    k->at = up;
  }
  k->divergent = outer;
  Meeting m = meeting(k, &cond, &yes.head, NULL, false);
  if (!m.first) m = meeting(k, &cond, &no.head, NULL, false);
  if (m.first) refuse(k, m, s);
  Ends both = {.always = yes.always && no.always};
  append(k->c, &both.head, &yes.head);
  append(k->c, &both.head, &no.head);
  append(k->c, &both.tail, &yes.tail);
  append(k->c, &both.tail, &no.tail);
  then_ends(k, out, &(Ends){.head = cond, .tail = cond});
  then_ends(k, out, &both);
  return tirc_if(k->c, s->u.branch.cond, then_case, else_case);
}

static Stmt visit_while(Sync *k, Stmt s, Ends *out) {
  Stmt outer = k->divergent;
  if (!k->divergent) k->divergent = s;
  Ends ends = {0};
  /* A loop that nothing is known of: one whose variable nobody uses. */
  const For steps = {.var = tirc_var(k->c, "step", DT_INT32),
                     .min = tirc_int32(k->c, 0),
                     .extent = tirc_var(k->c, "steps", DT_INT32)};
  Place *up = k->at;
  k->at = tirc_place_loop(k->c, up, &steps);
  tirc_touches_of_expr(k->c, s->u.loop_while.cond, k->at, s, &ends.head);
  append(k->c, &ends.tail, &ends.head);
  Stmt body = visit(k, s->u.loop_while.body, &ends);
  k->at = up;
  Meeting m = meeting(k, &ends.tail, &ends.head, steps.var, false);
  if (m.first) refuse(k, m, k->divergent);
  k->divergent = outer;
  then_ends(k, out, &(Ends){.head = ends.head, .tail = ends.tail});
  return tirc_while(k->c, s->u.loop_while.cond, body);
}

static Stmt visit_let(Sync *k, Stmt s, Ends *out) {
  Ends ends = {0};
  tirc_touches_of_expr(k->c, s->u.let.value, k->at, s, &ends.head);
  append(k->c, &ends.tail, &ends.head);
  then_ends(k, out, &ends);
  if (differs(k, s->u.let.value)) tirc_map_set(k->c, &k->varying, s->u.let.var, s);
  Place *up = k->at;
  k->at = tirc_place_further(k->c, up, tirc_bind_place(s->u.let.var, s->u.let.value));
  ends = (Ends){0};
  Stmt body = visit(k, s->u.let.body, &ends);
  k->at = up;
  Meeting m = meeting(k, &out->tail, &ends.head, NULL, false);
  if (m.first) {
    if (k->divergent) refuse(k, m, k->divergent);
    body = tirc_seq(k->c, 2, (Stmt[]){barrier(k->c), body});
    then_ends(k, out, &(Ends){.always = true});
  }
  then_ends(k, out, &ends);
  return tirc_let(k->c, s->u.let.var, s->u.let.value, body);
}

/* A thread waits for its own copies: the others know of theirs behind a barrier. */
static Stmt wait_and_meet(Sync *k, Stmt wait, Ends *out) {
  if (k->divergent)
    tirc_fail(k->c, tirc_place_of(wait), CODE_LOWER,
              "a barrier must be reached by all threads of the block",
              "a wait for asynchronous copies is a barrier, but not all threads reach it");
  out->always = true;
  return tirc_seq(k->c, 2, (Stmt[]){wait, barrier(k->c)});
}

static Stmt visit_any(Sync *k, Stmt s, Ends *out) {
  switch (s->kind) {
  case STMT_FOR: return visit_loop(k, s, out);
  case STMT_SEQ: return visit_seq(k, s, out);
  case STMT_IF: return visit_branch(k, s, out);
  case STMT_WHILE: return visit_while(k, s, out);
  case STMT_LET: return visit_let(k, s, out);
  case STMT_ALLOC:
  case STMT_DECL:
    return tirc_alloc_stmt(k->c, s->kind, s->u.alloc.buffer, s->u.alloc.annotations,
                           visit(k, s->u.alloc.body, out));
  case STMT_ATTR:
    return tirc_attr_stmt(k->c, s->u.attr.node, s->u.attr.key, s->u.attr.value,
                          visit(k, s->u.attr.body, out));
  case STMT_ASSERT:
    return tirc_assert_stmt(k->c, s->u.check.cond, s->u.check.message,
                            visit(k, s->u.check.body, out));
  case STMT_EVAL:
    if (tirc_calls(s->u.eval.value, CALL_PTX_WAIT_GROUP)) return wait_and_meet(k, s, out);
    if (tirc_calls(s->u.eval.value, CALL_PTX_COMMIT_GROUP)) return s;
    if (tirc_is_barrier(s)) {
      if (k->divergent)
        tirc_fail(k->c, tirc_place_of(s), CODE_LOWER,
                  "a barrier must be reached by all threads of the block",
                  "not all threads reach a barrier");
      out->always = true;
      return s;
    } /* fall through */
  default: return leaf(k, s, out);
  }
}

static Stmt visit(Sync *k, Stmt s, Ends *out) {
  Stmt now = visit_any(k, s, out);
  if (now != s) tirc_map_set(k->c, &k->became, s, now);
  return now;
}

/* --- kernels ---------------------------------------------------------------------------------- */

static Stmt within(Sync *k, Stmt s, Threads *threads) {
  if (!tirc_is_thread_loop(s)) {
    tirc_visit_stmt(&(Visitor){.stmt = note_store, .expr = refuse_pointer, .self = k}, s);
    k->q = tirc_question(k->c, k->a, threads);
    tirc_find_moved(k->c, threads, s);
    k->threads = *threads;
    return visit(k, s, &(Ends){0});
  }
  For loop = s->u.loop;
  tirc_bind_range(k->a, loop.var, tirc_range(loop.min, loop.extent));
  if (tirc_is_thread_axis(loop.axis)) {
    threads->at[threads->n++] = &s->u.loop;
    tirc_map_set(k->c, &k->varying, loop.var, s);
  } else {
    k->at = tirc_place_loop(k->c, k->at, &s->u.loop);
  }
  loop.body = within(k, loop.body, threads);
  return tirc_for(k->c, &loop);
}

static Stmt find_kernels(Mutator *m, Stmt s) {
  Analyzer *a = m->self;
  if (s->kind == STMT_FOR)
    tirc_bind_range(a, s->u.loop.var, tirc_range(s->u.loop.min, s->u.loop.extent));
  if (!tirc_is_thread_loop(s)) return tirc_mutate_stmt_children(m, s);
  return within(&(Sync){.c = m->c, .a = a}, s, &(Threads){0});
}

Stmt tirc_lower_thread_sync(Tirc *c, const Func *f) {
  Mutator m = {.c = c, .stmt = find_kernels, .self = tirc_analyzer(c)};
  return tirc_mutate_stmt(&m, f->body);
}
