/* Statements of a kernel. What threads do together (`meets`) runs for all of them in step; what
 * lies between runs for one group of threads after the other, in an order that is drawn. */
#include "code.h"

#include "ir/gpu.h"
#include "ir/tree/annotations.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"
#include "passes/lower/probes.h"

/* --- together or alone ------------------------------------------------------------------------ */

/* Statements without a meeting, to their end for one group after the other. */
static void run_alone(Emu *e, int n, const Act *const *at, const Threads *l) {
  int order[MOST_GROUPS];
  if (l->stamp != e->all.stamp || e->n_groups < 2) {
    for (int i = 0; i < n; i++) at[i]->run(e, at[i], l);
    return;
  }
  for (int g = 0; g < e->n_groups; g++) {
    const int other = (int)tirc_emu_draw(&e->random, (uint64_t)g + 1);
    order[g] = order[other];
    order[other] = g;
  }
  for (int g = 0; g < e->n_groups; g++)
    for (int i = 0; i < n; i++) at[i]->run(e, at[i], &e->group[order[g]]);
}

void tirc_emu_run(Emu *e, const Act *a, const Threads *l) {
  if (!a) return;
  if (a->meets)
    a->run(e, a, l);
  else
    run_alone(e, 1, &a, l);
}

/* The body of a statement, which is in step if the statement is. */
static void run_body(Emu *e, const Act *a, const Act *body, const Threads *l) {
  if (body && l->n) {
    if (a->meets)
      tirc_emu_run(e, body, l);
    else
      body->run(e, body, l);
  }
}

static void run_seq(Emu *e, const Act *a, const Threads *l) {
  if (!a->meets) {
    for (int i = 0; i < a->n; i++) a->at[i]->run(e, a->at[i], l);
    return;
  }
  for (int i = 0; i < a->n;) {
    int end = i;
    while (end < a->n && !a->at[end]->meets) end++;
    if (end > i)
      run_alone(e, end - i, a->at + i, l);
    else
      a->at[i]->run(e, a->at[i], l), end++;
    i = end;
  }
}

/* The body for those that go this way; the others are told of at a barrier in it. */
static void run_way(Emu *e, const Act *a, const Act *body, const Act *other_way,
                    const Threads *these, const Threads *others) {
  const Parting parting = {e->parting, a, other_way, others};
  if (!body || !these->n) return;
  if (a->meets && others->n) e->parting = &parting;
  run_body(e, a, body, these);
  e->parting = a->meets && others->n ? parting.outer : e->parting;
}

/* --- loops ------------------------------------------------------------------------------------ */

static void count_step(Emu *e) {
  enum { PAUSE = 1 << 10 };
  e->steps++;
  if (e->o->max_steps > 0 && e->steps > e->o->max_steps)
    tirc_emu_fail(e, CODE_STEPS, "raise the limit, or use smaller extents",
                  "the limit of %lld steps is reached", (long long)e->o->max_steps);
  if (e->steps % PAUSE == 0 && e->o->go_on && !e->o->go_on(e->o->self))
    tirc_emu_fail(e, CODE_INTERRUPTED, NULL, "the run was interrupted");
}

static void check_end(Emu *e, const Act *a, int64_t min, int64_t extent, int thread) {
  int64_t last;
  const DType t = a->stmt->u.loop.var->dtype;
  if (extent <= 0 || (!__builtin_add_overflow(min, extent - 1, &last) && last <= tirc_dtype_max(t)))
    return;
  e->thread = thread;
  tirc_emu_fail(e, CODE_OVERFLOW, "use a wider loop variable", "loop \"%s\" overflows its dtype",
                a->stmt->u.loop.var->u.s);
}

static void run_same_for(Emu *e, const Act *a, int64_t min, int64_t extent, const Threads *l) {
  Var *v = a->var;
  check_end(e, a, min, extent, l->at[0]);
  for (int64_t i = 0; i < extent; i++) {
    v->same = true;
    v->one[0].i = min + i;
    v->stamp = ++e->clock;
    count_step(e);
    run_body(e, a, a->body, l);
  }
}

static void run_for(Emu *e, const Act *a, const Threads *l) {
  Cell *top = e->top, *goes = NULL;
  e->doing = a;
  const Values min = evaluate(e, a->min, l, take(e, l->n));
  const Values extent = evaluate(e, a->extent, l, take(e, l->n));
  if (!extent.same) tirc_emu_ask_branch(e, a->stmt, l, extent);
  if (min.same && extent.same) {
    run_same_for(e, a, min.at[0].i, extent.at[0].i, l);
    e->top = top;
    return;
  }
  Var *v = a->var;
  /* what is evaluated again in the body must not change the bounds here */
  Cell *const first = take(e, l->n), *const count = take(e, l->n);
  int64_t most = 0;
  for (int k = 0; k < l->n; k++) {
    first[k] = value_at(min, k);
    count[k] = value_at(extent, k);
    check_end(e, a, first[k].i, count[k].i, l->at[k]);
    if (count[k].i > most) most = count[k].i;
  }
  goes = take(e, l->n);
  Cell *const before = e->top;
  for (int64_t i = 0; i < most; i++) {
    for (int k = 0; k < l->n; k++) {
      goes[k].i = i < count[k].i;
      v->each[l->at[k]].i = first[k].i + i;
    }
    v->same = false;
    v->stamp = ++e->clock;
    count_step(e);
    const Values way = {goes, false};
    const Threads these = tirc_emu_those(e, l, way, true),
                  others = tirc_emu_those(e, l, way, false);
    run_way(e, a, a->body, NULL, &these, &others);
    e->top = before;
  }
  e->top = top;
}

/* T.thread_binding: the launch has all of it already. */
static void run_threads(Emu *e, const Act *a, const Threads *l) {
  e->doing = a;
  const For *loop = &a->stmt->u.loop;
  const int axis = a->n;
  const int64_t launched = axis < 3 ? e->grid[axis] : e->block[axis - 3];
  const int64_t extent = tirc_emu_one(e, a->extent, l, "the extent of a thread axis");
  if (tirc_emu_one(e, a->min, l, "a thread's first index") != 0 || extent != launched)
    tirc_emu_fail(e, CODE_LAUNCH, NULL, "loop \"%s\" has %lld %s, but the launch has %lld",
                  loop->var->u.s, (long long)extent, loop->thread, (long long)launched);
  run_body(e, a, a->body, l);
}

/* A step that changed no memory, and that all go on behind: the next one will be the same. */
static void check_change(Emu *e, const Act *a, int64_t before, const Threads *l) {
  if (e->changes != before) return;
  e->thread = l->at[0];
  tirc_emu_fail(e, CODE_ENDLESS,
                "let the body change what the condition reads; a block cannot wait for another "
                "block, and a thread cannot wait for others without a barrier",
                "the loop \"while %s\" does not end: an iteration changes nothing, so its "
                "condition stays true",
                tirc_print_expr(e->t, a->stmt->u.loop_while.cond));
}

static void run_while(Emu *e, const Act *a, const Threads *l) {
  Cell *top = e->top;
  uint16_t *const room = (uint16_t *)(void *)take(e, l->n / 4 + 1);
  Cell *const before = e->top;
  Threads left = *l;
  int64_t changes = -1; /* before the last step, if all went on behind it */
  e->whiles++;
  for (;;) {
    e->doing = a;
    const Values goes = evaluate(e, a->value, &left, take(e, left.n));
    const Threads these = tirc_emu_those(e, &left, goes, true);
    const Threads others = tirc_emu_those(e, &left, goes, false);
    if (!these.n) break;
    if (!others.n) check_change(e, a, changes, &these);
    changes = e->changes;
    count_step(e);
    run_way(e, a, a->body, NULL, &these, &others);
    if (these.n < left.n) {
      memmove(room, these.at, sizeof *room * (size_t)these.n);
      left = these;
      left.at = room;
    }
    e->top = before;
  }
  e->whiles--;
  e->top = top;
}

/* --- branches, variables ---------------------------------------------------------------------- */

static void run_if(Emu *e, const Act *a, const Threads *l) {
  Cell *top = e->top;
  e->doing = a;
  const Values way = evaluate(e, a->value, l, take(e, l->n));
  tirc_emu_ask_branch(e, a->stmt, l, way);
  if (way.same) {
    const bool taken = way.at[0].i != 0;
    e->top = top;
    run_body(e, a, taken ? a->body : a->otherwise, l);
    return;
  }
  const Threads these = tirc_emu_those(e, l, way, true), others = tirc_emu_those(e, l, way, false);
  run_way(e, a, a->body, a->otherwise, &these, &others);
  run_way(e, a, a->otherwise, a->body, &others, &these);
  e->top = top;
}

static void run_let(Emu *e, const Act *a, const Threads *l) {
  Cell *top = e->top;
  Var *v = a->var;
  e->doing = a;
  Cell *const rows = take(e, (int64_t)v->lanes * l->n);
  bool same = true;
  for (int i = 0; i < v->lanes; i++) {
    Cell *const before = e->top;
    if (v->lanes > 1) e->lane = i;
    const Values given = evaluate(e, a->value, l, rows + (int64_t)i * l->n);
    for (int k = 0; k < (given.same ? 1 : l->n); k++) rows[(int64_t)i * l->n + k] = given.at[k];
    same &= given.same && v->lanes == 1;
    for (int k = 1; !same && given.same && k < l->n; k++)
      rows[(int64_t)i * l->n + k] = rows[(int64_t)i * l->n];
    e->top = before;
  }
  e->lane = 0;
  /* one value for all only where all threads take part: groups come one after the other */
  v->same = same;
  if (same)
    v->one[0] = rows[0];
  else
    for (int i = 0; i < v->lanes; i++)
      for (int k = 0; k < l->n; k++)
        v->each[(int64_t)i * e->threads + l->at[k]] = rows[(int64_t)i * l->n + k];
  v->stamp = ++e->clock;
  e->top = top;
  run_body(e, a, a->body, l);
}

static void run_assert(Emu *e, const Act *a, const Threads *l) {
  Cell *top = e->top;
  e->doing = a;
  const Values holds = evaluate(e, a->value, l, take(e, l->n));
  for (int k = 0; k < l->n; k++)
    if (!value_at(holds, k).i) {
      e->thread = l->at[k];
      tirc_emu_fail(e, CODE_ASSERT, NULL, "the assertion fails: %s", a->stmt->u.check.message);
    }
  e->top = top;
  run_body(e, a, a->body, l);
}

static void run_alloc(Emu *e, const Act *a, const Threads *l) {
  e->doing = a;
  tirc_emu_open_store(e, a->window, l);
  run_body(e, a, a->body, l);
  tirc_emu_close_store(e, a->window);
}
static void run_decl(Emu *e, const Act *a, const Threads *l) {
  e->doing = a;
  tirc_emu_open_window(e, a->window, l);
  run_body(e, a, a->body, l);
}
static void run_attr(Emu *e, const Act *a, const Threads *l) { run_body(e, a, a->body, l); }

static void run_eval(Emu *e, const Act *a, const Threads *l) {
  Cell *top = e->top;
  e->doing = a;
  const int lanes = a->value->expr->dtype.lanes;
  for (e->lane = 0; e->lane < (lanes ? lanes : 1); e->lane++) {
    (void)evaluate(e, a->value, l, take(e, l->n));
    e->top = top;
  }
  e->lane = 0;
}
static void run_nothing(Emu *e, const Act *a, const Threads *l) { (void)e, (void)a, (void)l; }

/* --- barriers --------------------------------------------------------------------------------- */

static const Act *first_barrier(const Act *a);

static void run_barrier(Emu *e, const Act *a, const Threads *l) {
  e->doing = a;
  if (l->n == e->threads) {
    e->report->barriers++;
    tirc_emu_pass_barrier(e);
    return;
  }
  const Parting *p = e->parting;
  while (p->outer) p = p->outer;
  const Act *const other = first_barrier(p->other_way);
  e->thread = l->at[0];
  tirc_emu_fail(e, CODE_BARRIER, "let all threads of the block reach it, or none of them",
                "not all threads reach the barrier (%s): thread %s %s%s%s; they part at %s",
                tirc_emu_act(e, a), tirc_emu_thread(e, p->others->at[0]),
                other ? "goes to another one (" : "does not", other ? tirc_emu_act(e, other) : "",
                other ? ")" : "", tirc_emu_act(e, p->at));
}
static void run_warp_sync(Emu *e, const Act *a, const Threads *l) {
  e->doing = a;
  tirc_emu_warp_sync(e, l);
}

static const Act *first_barrier(const Act *a) {
  if (!a || !a->meets || a->run == run_barrier) return a && a->meets ? a : NULL;
  for (int i = 0; a->at && i < a->n; i++) {
    const Act *const found = first_barrier(a->at[i]);
    if (found) return found;
  }
  const Act *const found = first_barrier(a->body);
  return found ? found : first_barrier(a->otherwise);
}

/* --- compiling -------------------------------------------------------------------------------- */

static const Act *compile(Emu *e, Stmt stmt);

static void compile_for(Emu *e, Act *a) {
  const For *loop = &a->stmt->u.loop;
  const Expr outer = e->innermost;
  a->min = tirc_emu_expr(e, loop->min);
  a->extent = tirc_emu_expr(e, loop->extent);
  a->run = run_for;
  if (loop->kind == LOOP_THREAD_BINDING) {
    a->n = loop->axis;
    if (a->n >= GPU_AXES)
      tirc_fail(e->t, e->scalar.loc, CODE_UNSUPPORTED, "lower it first",
                "the emulator has no thread axis %s", loop->thread);
    if (e->axis[a->n]) {
      tirc_map_set(e->t, &e->vars, loop->var, e->axis[a->n]);
    } else {
      e->axis[a->n] = tirc_emu_var(e, loop->var, a->n >= GPU_BLOCK_AXES);
      e->axis[a->n]->is_index = a->n >= GPU_BLOCK_AXES;
      e->axis[a->n]->same = true;
    }
    a->var = e->axis[a->n];
    a->run = run_threads;
  } else {
    bool varies = false;
    for (int i = 0; i < a->min->n_deps; i++) varies |= a->min->deps[i]->varies;
    for (int i = 0; i < a->extent->n_deps; i++) varies |= a->extent->deps[i]->varies;
    varies |= a->min->n_deps < 0 || a->extent->n_deps < 0;
    a->var = tirc_emu_var(e, loop->var, varies);
    a->var->from[0] = a->min;
    a->var->from[1] = a->extent;
    e->innermost = loop->var;
  }
  a->body = compile(e, loop->body);
  e->innermost = outer;
  a->meets |= a->body->meets;
}

static void compile_seq(Emu *e, Act *a) {
  a->n = a->stmt->u.seq.n;
  a->at = tirc_new_array(e->t, const Act *, a->n);
  for (int i = 0; i < a->n; i++) {
    a->at[i] = compile(e, tirc_item(a->stmt, i));
    a->meets |= a->at[i]->meets;
  }
  a->run = run_seq;
}

/* A value that is only moved may be uninitialised; so may what a lazy choice between such gives. */
static void let_copies_be_poisoned(const Piece *p) {
  const Op op = (Op)p->expr->op;
  if (op == OP_LOAD || op == OP_SELECT) ((Piece *)(uintptr_t)p)->tolerant = true;
  if (op == OP_IF_THEN_ELSE) {
    let_copies_be_poisoned(p->b);
    let_copies_be_poisoned(p->c);
  }
}

static void compile_store(Emu *e, Act *a) {
  const Stmt s = a->stmt;
  const Buffer b = s->u.store.buffer;
  a->window = tirc_emu_window(e, b);
  a->index = tirc_emu_exprs(e, s->u.store.n, s->u.store.indices);
  a->value = tirc_emu_expr(e, s->u.store.value);
  const DType stored = s->u.store.value->dtype;
  if (s->u.store.n != b->ndim || b->ndim > TENSOR_MAX_NDIM)
    tirc_fail(e->t, e->scalar.loc, CODE_TYPE, NULL, "buffer \"%s\" has %d dimensions, not %d",
              b->name, b->ndim, s->u.store.n);
  if (stored.code != b->dtype.code || stored.bits != b->dtype.bits)
    tirc_fail(e->t, e->scalar.loc, CODE_TYPE, "cast the value",
              "a %s is stored to the %s buffer \"%s\"", tirc_dtype_name(e->t, stored),
              tirc_dtype_name(e->t, b->dtype), b->name);
  let_copies_be_poisoned(a->value);
  a->n = stored.lanes;
  a->work = e->counts ? 0 : 1 + tirc_emu_operations(s->u.store.value);
  for (int d = 0; d < b->ndim; d++)
    if (s->u.store.indices[d]->dtype.lanes > a->n) a->n = s->u.store.indices[d]->dtype.lanes;
  if (a->n > 1) a->poison = tirc_alloc(e->t, (size_t)a->n * (size_t)e->threads);
  a->window->store->is_stored = true;
  a->flies = e->flies;
  a->run = tirc_emu_run_store;
}

static void compile_let(Emu *e, Act *a) {
  a->value = tirc_emu_expr(e, a->stmt->u.let.value);
  a->var = tirc_emu_var(e, a->stmt->u.let.var, true);
  a->var->from[0] = a->value;
  a->body = compile(e, a->stmt->u.let.body);
  a->meets |= a->body->meets;
  a->run = run_let;
}

static void compile_branch(Emu *e, Act *a) {
  if (a->stmt->u.branch.cond->dtype.lanes > 1)
    tirc_fail(e->t, e->scalar.loc, CODE_UNSUPPORTED, NULL,
              "the kernel \"%s\" has an if of a vector", e->kernel->name);
  a->value = tirc_emu_expr(e, a->stmt->u.branch.cond);
  a->body = compile(e, a->stmt->u.branch.then_case);
  if (a->stmt->u.branch.else_case) a->otherwise = compile(e, a->stmt->u.branch.else_case);
  a->meets |= a->body->meets || (a->otherwise && a->otherwise->meets);
  a->run = run_if;
}

static void compile_while(Emu *e, Act *a) {
  const Expr outer = e->innermost;
  a->value = tirc_emu_expr(e, a->stmt->u.loop_while.cond);
  e->innermost = NULL;
  a->body = compile(e, a->stmt->u.loop_while.body);
  e->innermost = outer;
  a->meets |= a->body->meets;
  a->run = run_while;
}

static void compile_assert(Emu *e, Act *a) {
  a->value = tirc_emu_expr(e, a->stmt->u.check.cond);
  if (a->stmt->u.check.body) a->body = compile(e, a->stmt->u.check.body);
  a->meets |= a->body && a->body->meets;
  a->run = run_assert;
}

static Place find_place(Emu *e, Buffer b) {
  if (b->storage == STORAGE_SHARED || b->storage == STORAGE_SHARED_DYN) return SHARED;
  if (b->storage == STORAGE_LOCAL) return LOCAL;
  tirc_fail(e->t, e->scalar.loc, CODE_UNSUPPORTED, "use shared, shared.dyn or local",
            "a kernel cannot allocate memory of scope \"%s\", as \"%s\" is", b->scope, b->name);
}

static void compile_alloc(Emu *e, Act *a) {
  const Buffer b = a->stmt->u.alloc.buffer;
  const bool views = a->stmt->kind == STMT_DECL && tirc_map_has(&e->stores, b->data);
  if (tirc_attrs_get(a->stmt->u.alloc.annotations, ALLOC_DATA))
    tirc_fail(e->t, e->scalar.loc, CODE_UNSUPPORTED, NULL, "a kernel cannot hold constant data");
  if (!views) a->meets = tirc_emu_store(e, b, find_place(e, b))->place == SHARED;
  a->window = tirc_emu_window(e, b);
  a->body = compile(e, a->stmt->u.alloc.body);
  a->meets |= a->body->meets;
  a->run = views ? run_decl : run_alloc;
}

static void compile_attr(Emu *e, Act *a) {
  const char *key = a->stmt->u.attr.key;
  if (strcmp(key, tirc_key(KEY_THREAD_EXTENT)) == 0 ||
      strcmp(key, tirc_key(KEY_VIRTUAL_THREAD)) == 0)
    tirc_fail(e->t, e->scalar.loc, CODE_UNSUPPORTED, "use a loop with T.thread_binding",
              "the emulator does not run T.attr(..., \"%s\", ...)", key);
  const bool was = e->flies, counted = e->counts;
  if (strcmp(key, TIRC_PROBE_KEY) == 0) e->counts = true;
  if (strcmp(key, tirc_key(KEY_ASYNC_SCOPE)) == 0 || strcmp(key, tirc_key(KEY_ASYNC_COPY)) == 0)
    e->flies = !tirc_is_int(a->stmt->u.attr.value, 0);
  a->body = compile(e, a->stmt->u.attr.body);
  e->flies = was;
  e->counts = counted;
  a->meets |= a->body->meets;
  a->run = run_attr;
}

static void compile_eval(Emu *e, Act *a) {
  const Expr x = a->stmt->u.eval.value;
  a->run = run_nothing;
  if (x->op == OP_INT || tirc_is_hint(x)) return;
  a->run = run_eval;
  if (tirc_calls(x, CALL_PTX_COMMIT_GROUP)) {
    a->run = tirc_emu_commit;
    return;
  }
  if (tirc_calls(x, CALL_PTX_WAIT_GROUP) && x->n == 1) {
    a->value = tirc_emu_expr(e, x->args[0]);
    a->run = tirc_emu_wait;
    return;
  }
  if (!tirc_calls(x, CALL_TVM_STORAGE_SYNC)) {
    a->value = tirc_emu_expr(e, x);
    return;
  }
  const char *what = x->n && x->args[0]->op == OP_STRING ? x->args[0]->u.s : "";
  const Storage of = tirc_storage_of(what);
  const bool of_warp = of == STORAGE_WARP;
  if (!of_warp && of != STORAGE_SHARED && of != STORAGE_SHARED_DYN)
    tirc_fail(e->t, e->scalar.loc, CODE_UNSUPPORTED, "use \"shared\" or \"warp\"",
              "the emulator has no barrier T.tvm_storage_sync(\"%s\")", what);
  e->syncs_warps |= of_warp;
  a->run = of_warp ? run_warp_sync : run_barrier;
  a->meets = true;
}

static void compile_block(Emu *e, Act *a) {
  (void)a;
  tirc_fail(e->t, e->scalar.loc, CODE_UNSUPPORTED, "lower it first",
            "the kernel \"%s\" contains blocks: it has not been lowered", e->kernel->name);
}

static void (*const compilers[])(Emu *, Act *) = {
    [STMT_FOR] = compile_for,     [STMT_BLOCK] = compile_block, [STMT_SEQ] = compile_seq,
    [STMT_STORE] = compile_store, [STMT_EVAL] = compile_eval,   [STMT_IF] = compile_branch,
    [STMT_WHILE] = compile_while, [STMT_LET] = compile_let,     [STMT_ALLOC] = compile_alloc,
    [STMT_DECL] = compile_alloc,  [STMT_ATTR] = compile_attr,   [STMT_ASSERT] = compile_assert,
};

/* Whether a shuffle stands in the statement itself. */
static bool find_shuffle(Visitor *v, Expr x) {
  if (tirc_is_warp_call(x)) *(bool *)v->self = true;
  return true;
}
static bool has_shuffle(Stmt s) {
  bool found = false;
  Visitor v = {.expr = find_shuffle, .self = &found};
  switch (s->kind) {
  case STMT_STORE:
    tirc_visit_expr(&v, s->u.store.value);
    for (int d = 0; d < s->u.store.n; d++) tirc_visit_expr(&v, s->u.store.indices[d]);
    break;
  case STMT_EVAL: tirc_visit_expr(&v, s->u.eval.value); break;
  case STMT_LET: tirc_visit_expr(&v, s->u.let.value); break;
  case STMT_IF: tirc_visit_expr(&v, s->u.branch.cond); break;
  case STMT_WHILE: tirc_visit_expr(&v, s->u.loop_while.cond); break;
  default: break;
  }
  return found;
}

static void keep_all(Emu *e, const Act *a) {
  tirc_emu_keep(e, a->value);
  tirc_emu_keep(e, a->min);
  tirc_emu_keep(e, a->extent);
  for (int d = 0; a->index && d < a->stmt->u.store.n; d++) tirc_emu_keep(e, a->index[d]);
}

static const Act *compile(Emu *e, Stmt stmt) {
  Act *a = tirc_new(e->t, Act);
  const Loc loc = e->scalar.loc;
  a->stmt = stmt;
  a->parent = e->parent;
  a->meets = has_shuffle(stmt);
  a->number = (uint16_t)(e->acts.n < UINT16_MAX ? e->acts.n : UINT16_MAX);
  if (e->acts.n < UINT16_MAX) vec_push(e->t, e->acts, a);
  if (stmt->loc.line) e->scalar.loc = stmt->loc;
  e->parent = a;
  if (++e->depth > e->deepest) e->deepest = e->depth;
  compilers[stmt->kind](e, a);
  e->depth--;
  keep_all(e, a);
  e->parent = a->parent;
  e->scalar.loc = loc;
  return a;
}
const Act *tirc_emu_stmt(Emu *e, Stmt s) { return compile(e, s); }
