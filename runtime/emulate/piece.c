/* Expressions of a kernel, for a list of threads at once. */
#include "code.h"

#include "ir/tree/intrinsic.h"
#include "ir/tree/print.h"

/* --- variables and constants ------------------------------------------------------------------ */

static Values of_constant(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  (void)e, (void)l, (void)room;
  return (Values){&p->constant, true};
}

static Values of_variable(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const Var *v = p->var;
  const int lane = v->lanes > 1 ? e->lane : 0;
  if (v->same) return (Values){&v->one[lane], true};
  const Cell *each = v->each + (int64_t)lane * e->threads;
  for (int k = 0; k < l->n; k++) room[k] = each[l->at[k]];
  return (Values){room, false};
}

Var *tirc_emu_var(Emu *e, Expr var, bool varies) {
  Var *v = tirc_new(e->t, Var);
  *v = (Var){.varies = varies, .lanes = var->dtype.lanes > 1 ? var->dtype.lanes : 1};
  v->one = tirc_new_array(e->t, Cell, v->lanes);
  v->each = tirc_new_array(e->t, Cell, (int64_t)v->lanes * e->threads);
  tirc_map_set(e->t, &e->vars, var, v);
  return v;
}

/* --- choices ---------------------------------------------------------------------------------- */

Threads tirc_emu_those(Emu *e, const Threads *l, Values condition, bool wanted) {
  if (condition.same) {
    Threads all = *l;
    if ((condition.at[0].i != 0) != wanted) all.n = 0;
    return all;
  }
  uint16_t *const at = (uint16_t *)(void *)take(e, l->n / 4 + 1), *last = NULL;
  int n = 0;
  for (int k = 0; k < l->n; k++) {
    at[n] = l->at[k];
    n += (condition.at[k].i != 0) == wanted;
  }
  if (n == l->n) return *l;
  if (l->last) {
    last = (uint16_t *)(void *)take(e, l->n / 4 + 1);
    for (int k = 0, i = 0; k < l->n; k++)
      if ((condition.at[k].i != 0) == wanted) last[i++] = l->last[k];
  }
  return (Threads){.n = n,
                   .slot = SLOT_OTHER,
                   .first = 2 * e->threads,
                   .stamp = ++e->clock,
                   .at = at,
                   .last = last};
}

/* Puts the values of those for which the condition is as wanted in their places of the list. */
static void merge(const Threads *l, Values condition, bool wanted, Values from, Cell *to) {
  int n = 0;
  for (int k = 0; k < l->n; k++)
    if ((condition.at[k].i != 0) == wanted) to[k] = value_at(from, n++);
}

/* Each side for those that choose it. */
static Values of_if(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  Cell *top = e->top, *sides[2];
  const Values condition = evaluate(e, p->a, l, take(e, l->n));
  if (condition.same) {
    const Values v = evaluate(e, condition.at[0].i ? p->b : p->c, l, room);
    e->top = top;
    return v;
  }
  const Piece *const side[2] = {p->b, p->c};
  for (int i = 0; i < 2; i++) {
    const Threads those = tirc_emu_those(e, l, condition, i == 0);
    sides[i] = take(e, l->n);
    if (those.n) merge(l, condition, i == 0, evaluate(e, side[i], &those, sides[i]), room);
  }
  e->top = top;
  return (Values){room, false};
}

/* The second operand only for those that need it. */
static Values of_logic(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const bool is_and = p->expr->op == OP_AND;
  Cell *top = e->top;
  const Values first = evaluate(e, p->a, l, room);
  if (first.same) {
    const bool decided = (first.at[0].i != 0) != is_and;
    if (decided) return first;
    return evaluate(e, p->b, l, room);
  }
  const Threads those = tirc_emu_those(e, l, first, is_and);
  const Values second = those.n ? evaluate(e, p->b, &those, take(e, l->n)) : (Values){0};
  int n = 0;
  for (int k = 0; k < l->n; k++) {
    const bool open = (first.at[k].i != 0) == is_and;
    room[k].i = open ? value_at(second, n++).i != 0 : !is_and;
  }
  e->top = top;
  return (Values){room, false};
}

/* Takes the marks of uninitialised values away and gives a copy, or NULL where there are none. */
static bool *take_poison(Emu *e) {
  if (!e->any_poison) return NULL;
  bool *copy = (bool *)take(e, e->threads / 8 + 1);
  memcpy(copy, e->poisoned, (size_t)e->threads);
  memset(e->poisoned, 0, (size_t)e->threads);
  e->any_poison = false;
  return copy;
}

/* Both sides are evaluated, so both must be in bounds; only the chosen one must be initialised. */
static Values of_select(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  Cell *top = e->top;
  const bool *const before = take_poison(e);
  const Values condition = evaluate(e, p->a, l, take(e, l->n));
  const Values b = evaluate(e, p->b, l, take(e, l->n));
  const bool *const in_b = take_poison(e);
  const Values c = evaluate(e, p->c, l, take(e, l->n));
  const bool *const in_c = take_poison(e);
  for (int k = 0; k < l->n; k++) {
    const bool first = value_at(condition, k).i != 0;
    const bool *const of = first ? in_b : in_c;
    const int thread = l->at[k];
    room[k] = value_at(first ? b : c, k);
    if (of && of[thread]) {
      e->thread = thread;
      if (!p->tolerant)
        tirc_emu_fail(e, CODE_UNINITIALISED, "write it first, or initialise the reduction",
                      "buffer \"%s\" is read where it was never written", e->poisoned_buffer);
      e->poisoned[thread] = e->any_poison = true;
    }
  }
  for (int i = 0; before && i < e->threads; i++) e->poisoned[i] |= before[i];
  e->any_poison |= before != NULL;
  e->top = top;
  return (Values){room, condition.same && b.same && c.same};
}

static Values of_operand(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  return evaluate(e, p->a, l, room);
}

/* --- vectors ---------------------------------------------------------------------------------- */

static Values of_broadcast(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const int lane = e->lane;
  e->lane = lane % p->a->expr->dtype.lanes;
  const Values v = evaluate(e, p->a, l, room);
  e->lane = lane;
  return v;
}

static Values of_ramp(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  const int lane = e->lane, inner = p->a->expr->dtype.lanes;
  Cell *top = e->top;
  e->lane = lane % inner;
  const Values base = evaluate(e, p->a, l, room);
  const Values stride = evaluate(e, p->b, l, take(e, l->n));
  e->lane = lane;
  const int64_t most = tirc_dtype_max(p->dtype), least = tirc_dtype_min(p->dtype);
  const bool same = base.same && stride.same;
  for (int k = 0; k < (same ? 1 : l->n); k++) {
    int64_t way, sum;
    if (__builtin_mul_overflow(value_at(stride, k).i, (int64_t)(lane / inner), &way) ||
        __builtin_add_overflow(value_at(base, k).i, way, &sum) || sum > most || sum < least) {
      e->thread = l->at[k];
      tirc_emu_fail(e, CODE_OVERFLOW, "use a wider integer type", "%s overflows %s",
                    tirc_print_expr(e->t, p->expr), tirc_dtype_name(e->t, p->dtype));
    }
    room[k].i = sum;
  }
  e->top = top;
  return (Values){room, same};
}

/* let: args variable, value, body */
static Values of_let(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  Cell *top = e->top;
  const int lane = e->lane;
  Var *v = p->var;
  v->same = false;
  for (int i = 0; i < v->lanes; i++) {
    if (v->lanes > 1) e->lane = i;
    const Values given = evaluate(e, p->b, l, take(e, l->n));
    for (int k = 0; k < l->n; k++) v->each[(int64_t)i * e->threads + l->at[k]] = value_at(given, k);
    e->top = top;
  }
  e->lane = lane;
  v->stamp = ++e->clock;
  return evaluate(e, p->c, l, room);
}

/* --- the interpreter's operations ------------------------------------------------------------- */

static Values by_threads(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  enum { MOST_OPERANDS = 8 };
  Cell *top = e->top;
  Values operand[MOST_OPERANDS];
  bool same = true;
  for (int i = 0; i < p->n_args; i++) {
    operand[i] = evaluate(e, p->args[i], l, take(e, l->n));
    same &= operand[i].same;
  }
  for (int k = 0; k < (same ? 1 : l->n); k++) {
    for (int i = 0; i < p->n_args; i++) *p->given[i] = value_at(operand[i], k);
    e->thread = l->at[k];
    room[k] = get_cell(&e->run, p->scalar);
  }
  e->thread = -1;
  e->top = top;
  return (Values){room, same};
}

/* An operation that gives a lane of the result from the same lane of each operand. */
static bool is_by_lanes(Expr x) {
  if (x->op == OP_REINTERPRET)
    return tirc_dtype_bytes(x->dtype) == tirc_dtype_bytes(x->args[0]->dtype);
  for (int i = 0; i < x->n; i++)
    if (x->args[i]->dtype.lanes != x->dtype.lanes && x->args[i]->op != OP_STRING) return false;
  return x->n <= 8;
}

/* The node on new variables, which messages call what the operands are. */
static void find_scalar(Emu *e, Piece *p, int first) {
  Expr x = p->expr;
  if (!is_by_lanes(x))
    tirc_fail(e->t, e->scalar.loc, CODE_UNSUPPORTED, NULL, "the emulator cannot evaluate %s",
              tirc_print_expr(e->t, x));
  Expr *args = tirc_new_array(e->t, Expr, x->n);
  p->n_args = x->n - first;
  if (p->a)
    p->args = tirc_copy(e->t, ((const Piece *[]){p->a, p->b, p->c}), p->n_args);
  else
    p->args = tirc_emu_exprs(e, p->n_args, x->args + first);
  p->a = p->b = p->c = NULL;
  p->given = tirc_new_array(e->t, Cell *, x->n);
  for (int i = 0; i < x->n; i++) {
    args[i] = x->args[i];
    if (i < first) continue;
    args[i] =
        tirc_var(e->t, tirc_print_expr(e->t, x->args[i]), tirc_dtype_lanes(x->args[i]->dtype, 1));
    p->given[i - first] = tirc_compile_var(&e->scalar, args[i]);
  }
  const DType t = tirc_dtype_lanes(x->dtype, 1);
  Expr again = x->op == OP_CALL ? tirc_call(e->t, t, x->u.callee, x->n, args)
                                : tirc_expr(e->t, (Op)x->op, t, x->n, args);
  p->scalar = tirc_compile_expr(&e->scalar, again);
  p->eval = by_threads;
}

static int count_strings(Expr x) {
  int n = 0;
  while (x->op == OP_CALL && n < x->n && x->args[n]->op == OP_STRING) n++;
  return n;
}

/* --- compiling -------------------------------------------------------------------------------- */

static void compile_variable(Emu *e, Piece *p) {
  p->var = tirc_map_get(&e->vars, p->expr);
  if (!p->var)
    tirc_fail(e->t, e->scalar.loc, CODE_NAME, NULL, "the variable \"%s\" is not defined here",
              p->expr->u.s);
  p->eval = of_variable;
}

static void compile_constant(Piece *p) {
  p->eval = of_constant;
  if (p->expr->op == OP_FLOAT)
    p->constant.f = tirc_round_float(p->dtype, p->expr->u.f);
  else
    p->constant.i = p->expr->u.i;
}

static void compile_let(Emu *e, Piece *p) {
  p->b = tirc_emu_expr(e, p->expr->args[1]);
  p->var = tirc_emu_var(e, p->expr->args[0], true);
  p->var->from[0] = p->b;
  p->c = tirc_emu_expr(e, p->expr->args[2]);
  p->eval = of_let;
}

static void compile_load(Emu *e, Piece *p) {
  const Buffer b = p->expr->u.buffer;
  p->window = tirc_emu_window(e, b);
  p->n_args = p->expr->n;
  p->args = tirc_emu_exprs(e, p->n_args, p->expr->args);
  if (p->n_args != b->ndim)
    tirc_fail(e->t, e->scalar.loc, CODE_TYPE, NULL, "buffer \"%s\" has %d dimensions, not %d",
              b->name, b->ndim, p->n_args);
  p->eval = tirc_emu_load;
}

/* A tolerant load hands the hole on instead of raising an error. */
static void let_poison_pass(const Piece *p) {
  if (p->expr->op == OP_LOAD) ((Piece *)(uintptr_t)p)->tolerant = true;
}

/* T.clock() */
static Values of_clock(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  (void)p, (void)l;
  room[0].i = e->work;
  return (Values){room, true};
}

static void compile_operation(Emu *e, Piece *p) {
  static const Eval own[OP_COUNT] = {
      [OP_IF_THEN_ELSE] = of_if, [OP_AND] = of_logic,      [OP_OR] = of_logic,
      [OP_SELECT] = of_select,   [OP_LIKELY] = of_operand, [OP_BROADCAST] = of_broadcast,
      [OP_RAMP] = of_ramp,
  };
  const Piece **operand[] = {&p->a, &p->b, &p->c};
  const Op op = (Op)p->expr->op;
  const bool fits = p->expr->n <= 3 && op != OP_CALL;
  if (fits && (own[op] || is_by_lanes(p->expr)))
    for (int i = 0; i < p->expr->n; i++) *operand[i] = tirc_emu_expr(e, p->expr->args[i]);
  if (fits) p->eval = own[op] ? own[op] : p->a ? tirc_emu_arithmetic(p) : NULL;
  if (!p->eval) find_scalar(e, p, count_strings(p->expr));
  if (op == OP_SELECT) let_poison_pass(p->b), let_poison_pass(p->c);
}

static void add_dep(Emu *e, Piece *p, Var *v) {
  if (!p->deps) p->deps = tirc_new_array(e->t, Var *, MOST_DEPS);
  for (int i = 0; i < p->n_deps; i++)
    if (p->deps[i] == v) return;
  if (p->n_deps == MOST_DEPS) p->n_deps = -1;
  if (p->n_deps >= 0) p->deps[p->n_deps++] = v;
}

/* What the value hangs on, from what the operands hang on. */
static void join_deps(Emu *e, Piece *p, const Piece *operand) {
  if (!operand) return;
  p->reads |= operand->reads;
  if (operand->n_deps < 0) p->n_deps = -1;
  for (int i = 0; i < operand->n_deps && p->n_deps >= 0; i++) add_dep(e, p, operand->deps[i]);
}

static void find_deps(Emu *e, Piece *p) {
  const Op op = (Op)p->expr->op;
  Var *const version = op == OP_LOAD ? p->window->store->version : NULL;
  p->reads = op == OP_LOAD || op == OP_CALL;
  if (p->expr->dtype.lanes > 1 || op == OP_RAMP || op == OP_CALL || op == OP_LET) p->n_deps = -1;
  if (op == OP_LOAD && !version) p->n_deps = -1;
  if (op == OP_VAR && p->n_deps == 0) add_dep(e, p, p->var);
  if (version && p->n_deps == 0) {
    add_dep(e, p, version);
    add_dep(e, p, e->epoch); /* after a barrier it is another read */
  }
  join_deps(e, p, p->a);
  join_deps(e, p, p->b);
  join_deps(e, p, p->c);
  for (int i = 0; i < p->n_args; i++) join_deps(e, p, p->args[i]);
}

const Piece *tirc_emu_expr(Emu *e, Expr x) {
  Expr sum = tirc_llvm_sum_of_lanes(e->t, x, e->scalar.loc);
  if (sum) x = sum;
  Piece *p = tirc_new(e->t, Piece);
  p->expr = x;
  p->dtype = tirc_dtype_lanes(x->dtype, 1);
  if (++e->depth > e->deepest) e->deepest = e->depth;
  if (x->op == OP_VAR)
    compile_variable(e, p);
  else if (x->op == OP_INT || x->op == OP_LARGE_UINT || x->op == OP_FLOAT)
    compile_constant(p);
  else if (x->op == OP_LET)
    compile_let(e, p);
  else if (x->op == OP_LOAD)
    compile_load(e, p);
  else if (tirc_calls(x, CALL_CLOCK))
    p->eval = of_clock;
  else if (!(p->eval = tirc_emu_warp_call(e, p)) && !(p->eval = tirc_emu_atomic(e, p)))
    compile_operation(e, p);
  e->depth--;
  find_deps(e, p);
  vec_push(e->t, e->pieces, p);
  return p;
}

const Piece **tirc_emu_exprs(Emu *e, int n, const Expr *at) {
  const Piece **pieces = tirc_new_array(e->t, const Piece *, n);
  for (int i = 0; i < n; i++) pieces[i] = tirc_emu_expr(e, at[i]);
  return pieces;
}

/* The largest parts that do not differ from one iteration of the innermost loop to the next, as far
 * as there is room and looking is less work. */
void tirc_emu_keep(Emu *e, const Piece *p) {
  if (!p) return;
  bool varies = false, moves = p->n_deps < 0;
  const Var *const innermost = e->innermost ? tirc_map_get(&e->vars, e->innermost) : NULL;
  for (int i = 0; i < p->n_deps; i++) {
    varies |= p->deps[i]->varies;
    moves |= p->deps[i] == innermost;
  }
  const int64_t cells = (int64_t)3 * e->threads;
  const bool large = p->expr->size >= 5;
  if (!moves && (varies || large) && e->cached + cells <= e->most_cached) {
    Piece *kept = (Piece *)(uintptr_t)p;
    e->cached += cells;
    kept->cache = tirc_new(e->t, Cache);
    kept->cache->at = tirc_new_array(e->t, Cell, cells);
    return;
  }
  if (!moves && !varies) return;
  tirc_emu_keep(e, p->a);
  tirc_emu_keep(e, p->b);
  tirc_emu_keep(e, p->c);
  for (int i = 0; i < p->n_args; i++) tirc_emu_keep(e, p->args[i]);
}

int64_t tirc_emu_one(Emu *e, const Piece *p, const Threads *l, const char *what) {
  Cell *top = e->top;
  const Values v = evaluate(e, p, l, take(e, l->n));
  for (int k = 1; !v.same && k < l->n; k++)
    if (v.at[k].i != v.at[0].i) {
      e->thread = l->at[k];
      tirc_emu_fail(e, CODE_LAUNCH, NULL, "%s is %lld here, and %lld in thread %s", what,
                    (long long)v.at[k].i, (long long)v.at[0].i, tirc_emu_thread(e, l->at[0]));
    }
  e->top = top;
  return v.at[0].i;
}
