/* The walk through a function's turns: known.h says what for. */
#include "known.h"

#include "ir/arith/internal.h"

enum { MOST_WORK = 400000, MOST_SIZE = 80 };

typedef struct Walk {
  Tirc *c;
  Analyzer *a;
  Known *k;
  Memory m;
  PtrMap vars; /* of loops and lets: what they are in this turn */
  bool stop;   /* there is too much of it */
} Walk;

static Turns *turns(Walk *w, Stmt s) {
  Turns *t = tirc_map_get(&w->k->turns, s);
  if (t) return t;
  t = tirc_new(w->c, Turns);
  tirc_map_set(w->c, &w->k->turns, s, t);
  return t;
}

/* --- what is not gone through ----------------------------------------------------------------- */

typedef struct Closed {
  Walk *w;
  State1 now;
} Closed;

static void forget(Closed *k, Buffer b) {
  const int store = (int)(intptr_t)tirc_map_get(&k->w->m.number, b->data) - 1;
  if (store >= 0) tirc_memory_forget(&k->w->m, k->now, store);
}

static bool closed_expr(Visitor *v, Expr e) {
  if (e->op == OP_LOAD) forget(v->self, e->u.buffer);
  return true;
}

static bool closed_stmt(Visitor *v, Stmt s) {
  Closed *k = v->self;
  if (s->kind == STMT_STORE) {
    *turns(k->w, s) = (Turns){.any = true, .used = true, .changes = true, .varies = true};
    forget(k, s->u.store.buffer);
  }
  if (s->kind == STMT_IF) *turns(k->w, s) = (Turns){.any = true, .open = true};
  return true;
}

/* A statement of which nothing is said: what it touches is unknown behind it. */
static void pass_by(Walk *w, Stmt s, State1 now) {
  Closed k = {w, now};
  tirc_visit_stmt(&(Visitor){.expr = closed_expr, .stmt = closed_stmt, .self = &k}, s);
}

/* A call of code that may use whatever the function was given. */
static void call_out(Walk *w, State1 now) {
  for (int i = 0; i < w->m.stores.n; i++)
    if (w->m.stores.at[i].given) tirc_memory_forget(&w->m, now, i);
}

/* --- expressions, a lane at a time ------------------------------------------------------------ */

static Expr value_of(Walk *w, Expr e, int lane, State1 now);

static Expr simple(Walk *w, Expr e) {
  w->m.work -= 4;
  return tirc_simplify(w->a, e);
}

static Expr fresh(Walk *w, DType t) { return tirc_var(w->c, "v", tirc_dtype_lanes(t, 1)); }

static Expr load(Walk *w, Expr e, int lane, State1 now) {
  Expr *indices = tirc_new_array(w->c, Expr, e->n + 1);
  for (int i = 0; i < e->n; i++) indices[i] = value_of(w, e->args[i], lane, now);
  int store;
  const int64_t place = tirc_memory_place(&w->m, e->u.buffer, indices, &store);
  if (store >= 0) tirc_memory_read(now, store, w->m.stores.at[store].n, place);
  return place >= 0 ? now.cells[store][place].value : fresh(w, e->dtype);
}

/* One of two, of which the other one is not computed, or both where the condition is open. */
static Expr choice(Walk *w, Expr e, int lane, State1 now) {
  const Expr cond = value_of(w, e->args[0], lane, now);
  if (cond->op == OP_INT) return value_of(w, e->args[cond->u.i ? 1 : 2], lane, now);
  Expr args[] = {cond, value_of(w, e->args[1], lane, now), value_of(w, e->args[2], lane, now)};
  return simple(w, tirc_expr(w->c, e->op, tirc_dtype_lanes(e->dtype, 1), 3, args));
}

static Expr either(Walk *w, Expr e, int lane, State1 now) {
  const Expr first = value_of(w, e->args[0], lane, now);
  if (first->op == OP_INT && (first->u.i != 0) == (e->op == OP_OR)) return first;
  return simple(w, tirc_binary(w->c, e->op, first, value_of(w, e->args[1], lane, now)));
}

static Expr in_let(Walk *w, Expr e, int lane, State1 now) {
  const bool bound = tirc_map_has(&w->vars, e->args[0]);
  if (!bound) tirc_map_set(w->c, &w->vars, e->args[0], value_of(w, e->args[1], lane, now));
  const Expr out = value_of(w, e->args[2], lane, now);
  if (!bound) tirc_map_remove(&w->vars, e->args[0]);
  return out;
}

static Expr ramp(Walk *w, Expr e, int lane, State1 now) {
  const Expr base = value_of(w, e->args[0], 0, now), step = value_of(w, e->args[1], 0, now);
  return simple(w, tirc_add(w->c, base, tirc_mul(w->c, step, tirc_int(w->c, step->dtype, lane))));
}

static Expr value_of(Walk *w, Expr e, int lane, State1 now) {
  if (e->n == 0 && e->op != OP_LOAD && e->op != OP_CALL) {
    const Expr known = e->op == OP_VAR ? tirc_map_get(&w->vars, e) : NULL;
    if (!known && e->dtype.lanes > 1) return fresh(w, e->dtype);
    return known ? known : e;
  }
  if (--w->m.work < 0) w->stop = true;
  if (w->stop) return e->dtype.lanes > 1 ? fresh(w, e->dtype) : e;
  switch ((Op)e->op) {
  case OP_LOAD: return load(w, e, lane, now);
  case OP_SELECT:
  case OP_IF_THEN_ELSE: return choice(w, e, lane, now);
  case OP_AND:
  case OP_OR: return either(w, e, lane, now);
  case OP_LET: return in_let(w, e, lane, now);
  case OP_RAMP: return ramp(w, e, lane, now);
  case OP_BROADCAST: return value_of(w, e->args[0], 0, now);
  case OP_LIKELY: return value_of(w, e->args[0], lane, now);
  default: break;
  }
  Expr *args = tirc_new_array(w->c, Expr, e->n + 1);
  for (int i = 0; i < e->n; i++) args[i] = value_of(w, e->args[i], lane, now);
  if (e->op == OP_CALL) {
    if (e->u.callee != CALL_PURE_EXTERN) call_out(w, now);
    return fresh(w, e->dtype);
  }
  const DType t = tirc_dtype_lanes(e->dtype, 1);
  const Expr made =
      e->op == OP_CAST ? tirc_cast(w->c, t, args[0]) : tirc_expr(w->c, e->op, t, e->n, args);
  const Expr out = simple(w, made);
  return out->size > MOST_SIZE ? fresh(w, t) : out;
}

/* --- what a condition says -------------------------------------------------------------------- */

/* A value that an element has, and that another one stands for, is that one everywhere. */
static void is_the_same(Walk *w, Expr var, Expr value, State1 now) {
  for (int i = 0; i < w->m.stores.n; i++) {
    for (int64_t k = 0; now.cells[i] && k < w->m.stores.at[i].n; k++)
      if (now.cells[i][k].value == var) now.cells[i][k].value = value;
    w->m.work -= w->m.stores.at[i].n / 8;
  }
}

static bool is_held(Walk *w, Expr var, State1 now) {
  for (int i = 0; i < w->m.stores.n; i++)
    for (int64_t k = 0; now.cells[i] && k < w->m.stores.at[i].n; k++)
      if (now.cells[i][k].value == var) return true;
  return false;
}

static void learn(Walk *w, Expr cond, State1 now) {
  if (cond->op == OP_INT) return;
  if (cond->op == OP_AND) {
    learn(w, cond->args[0], now);
    learn(w, cond->args[1], now);
    return;
  }
  const bool exact = cond->op == OP_EQ && !tirc_dtype_is_float(cond->args[0]->dtype);
  for (int i = 0; exact && i < 2; i++) {
    const Expr var = cond->args[i], value = cond->args[1 - i];
    if (var->op != OP_VAR || tirc_uses_var(value, var) || !is_held(w, var, now)) continue;
    is_the_same(w, var, value, now);
    break;
  }
  tirc_enter_constraint(w->a, cond);
  w->m.work -= 4;
}

/* --- statements ------------------------------------------------------------------------------- */

static void run(Walk *w, Stmt s, State1 now);

static void run_loop(Walk *w, Stmt s, State1 now) {
  const For *loop = &s->u.loop;
  int64_t min, extent;
  const Expr from = value_of(w, loop->min, 0, now), count = value_of(w, loop->extent, 0, now);
  if (!tirc_const_int(from, &min) || !tirc_const_int(count, &extent)) {
    pass_by(w, s, now);
    return;
  }
  for (int64_t i = 0; i < extent && !w->stop; i++) {
    tirc_map_set(w->c, &w->vars, loop->var, tirc_int(w->c, loop->var->dtype, min + i));
    w->m.work--;
    run(w, loop->body, now);
  }
  tirc_map_remove(&w->vars, loop->var);
}

static void note_store(Turns *t, const Cell1 *cell, Expr value) {
  const bool is_constant = tirc_is_constant(value);
  t->changes |= !cell || !tirc_expr_same(cell->value, value);
  t->varies |= !is_constant || (t->constant && !tirc_expr_same(t->constant, value));
  if (is_constant) t->constant = value;
}

/* All of its lanes' values are computed before the first is stored. */
static void run_store(Walk *w, Stmt s, State1 now) {
  Buffer b = s->u.store.buffer;
  Turns *t = turns(w, s);
  int lanes = s->u.store.value->dtype.lanes, store = -1;
  Expr *values = tirc_new_array(w->c, Expr, lanes);
  int64_t *places = tirc_new_array(w->c, int64_t, lanes);
  t->any = true;
  for (int lane = 0; lane < lanes; lane++) {
    Expr *indices = tirc_new_array(w->c, Expr, b->ndim + 1);
    for (int d = 0; d < b->ndim; d++) indices[d] = value_of(w, s->u.store.indices[d], lane, now);
    places[lane] = tirc_memory_place(&w->m, b, indices, &store);
    values[lane] = value_of(w, s->u.store.value, lane, now);
  }
  for (int lane = 0; lane < lanes; lane++) {
    if (places[lane] < 0) {
      t->used = t->changes = t->varies = true;
      if (store >= 0) tirc_memory_forget(&w->m, now, store);
      continue;
    }
    Cell1 *cell = &now.cells[store][places[lane]];
    Pending *p = tirc_new(w->c, Pending);
    note_store(t, cell, values[lane]);
    *p = (Pending){t, NULL};
    *cell = (Cell1){values[lane], p};
  }
}

static void run_branch(Walk *w, Stmt s, State1 now) {
  Turns *t = turns(w, s);
  Stmt yes = s->u.branch.then_case, no = s->u.branch.else_case;
  if (s->u.branch.cond->dtype.lanes > 1) {
    pass_by(w, s, now);
    return;
  }
  const Expr cond = value_of(w, s->u.branch.cond, 0, now);
  t->any = true;
  if (cond->op == OP_INT) {
    *(cond->u.i ? &t->yes : &t->no) = true;
    if (cond->u.i || no) run(w, cond->u.i ? yes : no, now);
    return;
  }
  t->open = true;
  State1 other = tirc_memory_copy(&w->m, now);
  const int mark = tirc_enter_constraint(w->a, tirc_bool(w->c, true));
  learn(w, tirc_lasting_part(w->c, cond, yes), now);
  run(w, yes, now);
  tirc_leave_constraint(w->a, mark);
  const int again = tirc_enter_constraint(w->a, tirc_bool(w->c, true));
  learn(w, tirc_lasting_part(w->c, simple(w, tirc_negate_condition(w->c, cond)), no), other);
  if (no) run(w, no, other);
  tirc_leave_constraint(w->a, again);
  tirc_memory_join(&w->m, now, other);
}

static void run_let(Walk *w, Stmt s, State1 now) {
  const Expr var = s->u.let.var;
  if (var->dtype.lanes == 1)
    tirc_map_set(w->c, &w->vars, var, value_of(w, s->u.let.value, 0, now));
  else
    pass_by(w, tirc_eval(w->c, s->u.let.value), now);
  run(w, s->u.let.body, now);
  tirc_map_remove(&w->vars, var);
}

static void run_alloc(Walk *w, Stmt s, State1 now) {
  const int store = (int)(intptr_t)tirc_map_get(&w->m.number, s->u.alloc.buffer->data) - 1;
  if (store >= 0) now.cells[store] = tirc_memory_unknown(&w->m, &w->m.stores.at[store]);
  run(w, s->u.alloc.body, now);
}

static void run_block(Walk *w, Stmt s, State1 now) {
  const Block *b = &s->u.block;
  if (b->n_iters || b->init || !tirc_is_true(b->predicate) || b->n_matches)
    pass_by(w, s, now);
  else
    run(w, b->body, now);
}

static void run_eval(Walk *w, Stmt s, State1 now) {
  const Expr assumed = tirc_assumed(s);
  const Expr e = assumed ? assumed : s->u.eval.value;
  for (int lane = 0; lane < e->dtype.lanes; lane++) {
    const Expr value = value_of(w, e, lane, now);
    if (assumed && e->dtype.lanes == 1) learn(w, value, now);
  }
}

static void run(Walk *w, Stmt s, State1 now) {
  if (--w->m.work < 0) w->stop = true;
  if (w->stop) return;
  switch (s->kind) {
  case STMT_FOR: run_loop(w, s, now); return;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) run(w, tirc_item(s, i), now);
    return;
  case STMT_STORE: run_store(w, s, now); return;
  case STMT_EVAL: run_eval(w, s, now); return;
  case STMT_IF: run_branch(w, s, now); return;
  case STMT_LET: run_let(w, s, now); return;
  case STMT_ALLOC: run_alloc(w, s, now); return;
  case STMT_DECL: run(w, s->u.alloc.body, now); return;
  case STMT_ATTR: run(w, s->u.attr.body, now); return;
  case STMT_BLOCK: run_block(w, s, now); return;
  case STMT_ASSERT:
    learn(w, value_of(w, s->u.check.cond, 0, now), now);
    run(w, s->u.check.body, now);
    return;
  case STMT_WHILE: pass_by(w, s, now); return;
  }
}

/* --- the memory of a function ----------------------------------------------------------------- */

typedef struct Collect {
  Walk *w;
  PtrMap first; /* of a data variable: a buffer of it */
  PtrMap mixed; /* memory with pointers to it, or with views of another kind */
  PtrMap made;  /* memory that the body allocates */
  VEC(Buffer) all;
  bool threads;
} Collect;

static void collect(Collect *k, Buffer b) {
  Buffer first = tirc_map_get(&k->first, b->data);
  if (!first) {
    tirc_map_set(k->w->c, &k->first, b->data, b);
    vec_push(k->w->c, k->all, b);
  } else if (!tirc_dtype_equal(first->dtype, b->dtype)) {
    tirc_map_set(k->w->c, &k->mixed, b->data, b);
  }
  if (b->strides || b->elem_offset) tirc_map_set(k->w->c, &k->mixed, b->data, b);
}

static bool collect_expr(Visitor *v, Expr e) {
  Collect *k = v->self;
  if (e->op == OP_VAR && e->dtype.code == TYPE_HANDLE) tirc_map_set(k->w->c, &k->mixed, e, e);
  if (e->op == OP_LOAD) collect(k, e->u.buffer);
  const Expr load = tirc_addressed(e);
  if (load) tirc_map_set(k->w->c, &k->mixed, load->u.buffer->data, e);
  return true;
}

static bool collect_stmt(Visitor *v, Stmt s) {
  Collect *k = v->self;
  if (s->kind == STMT_STORE) collect(k, s->u.store.buffer);
  if (s->kind == STMT_LET && s->u.let.var->dtype.code == TYPE_HANDLE)
    tirc_map_set(k->w->c, &k->mixed, s->u.let.var, s);
  if (s->kind == STMT_ALLOC) tirc_map_set(k->w->c, &k->made, s->u.alloc.buffer->data, s);
  if (s->kind == STMT_ALLOC || s->kind == STMT_DECL) collect(k, s->u.alloc.buffer);
  if (s->kind == STMT_ALLOC && tirc_attrs_get(s->u.alloc.annotations, ALLOC_DATA))
    tirc_map_set(k->w->c, &k->mixed, s->u.alloc.buffer->data, s);
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_allocs; i++) {
    collect(k, s->u.block.allocs[i]);
    tirc_map_set(k->w->c, &k->made, s->u.block.allocs[i]->data, s);
  }
  if (s->kind == STMT_FOR && s->u.loop.kind != LOOP_SERIAL && s->u.loop.kind != LOOP_UNROLLED &&
      s->u.loop.kind != LOOP_PARALLEL)
    k->threads = true;
  return true;
}

static void add_memory(Collect *k, const Func *f) {
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i])
      tirc_memory_add(&k->w->m, f->buffers[i], true, !tirc_map_has(&k->mixed, f->buffers[i]->data));
  for (int i = 0; i < k->all.n; i++) {
    const Expr data = k->all.at[i]->data;
    const bool outside = data->op != OP_VAR || !tirc_map_has(&k->made, data);
    tirc_memory_add(&k->w->m, k->all.at[i], outside, !tirc_map_has(&k->mixed, data));
  }
}

const Known *tirc_known_turns(Tirc *c, const Func *f) {
  Known *k = tirc_new(c, Known);
  Walk w = {.c = c, .a = tirc_analyzer(c), .k = k, .m = {.c = c, .work = MOST_WORK}};
  Collect all = {.w = &w};
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i]) collect(&all, f->buffers[i]);
  tirc_visit_stmt(&(Visitor){.expr = collect_expr, .stmt = collect_stmt, .self = &all}, f->body);
  if (all.threads) return NULL;
  add_memory(&all, f);
  State1 now = tirc_memory_start(&w.m);
  run(&w, f->body, now);
  for (int i = 0; i < w.m.stores.n && !w.stop; i++)
    if (w.m.stores.at[i].given) tirc_memory_read(now, i, w.m.stores.at[i].n, -1);
  return w.stop ? NULL : k;
}
