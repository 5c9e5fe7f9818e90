/* Statements of the interpreter: each kind has a function that compiles it and one that runs it.
 * All loops run in order, whatever their kind. */
#include "code.h"
#include "ir/tree/atomic.h"
#include "ir/tree/find.h"
#include "ir/tree/visit.h"

#include "ir/arith/init_part.h"
#include "ir/tree/annotations.h"
#include "ir/tree/int_op.h"
#include "ir/tree/print.h"

static void run_step(Run *run, const Step *s) { s->run(run, s); }

void tirc_ask_to_go_on(Run *run) {
  if (run->wishes && !run->wishes->go_on(run->wishes->self))
    tirc_run_fail(run, CODE_INTERRUPTED, NULL, "the run was interrupted");
}

static void pause(Run *run) {
  enum { STEPS = 1 << 16 };
  if (run->steps > run->max_steps)
    tirc_run_fail(run, CODE_STEPS, "raise the limit, or use smaller extents",
                  "the limit of %lld steps is reached", (long long)run->max_steps);
  tirc_ask_to_go_on(run);
  bool far = run->wishes && run->max_steps - run->steps > STEPS;
  run->pause = far ? run->steps + STEPS : run->max_steps;
}

void tirc_count_step(Run *run) {
  if (++run->steps > run->pause) pause(run);
}

/* --- loops ------------------------------------------------------------------------------------ */

static void run_for(Run *run, const Step *s) {
  run->at = s;
  if (s->u.loop.sum && tirc_run_sum(run, s->u.loop.sum)) return;
  const int64_t min = get_i(run, s->u.loop.min), extent = get_i(run, s->u.loop.extent);
  const bool wide = tirc_dtype_is_uint64(s->u.loop.dtype);
  const uint64_t steps = wide || extent > 0 ? (uint64_t)extent : 0;
  int64_t last;
  if (steps && tirc_int_add(s->u.loop.dtype, min, (int64_t)(steps - 1), &last) != INT_FITS)
    tirc_run_fail(run, CODE_OVERFLOW, "use a wider loop variable",
                  "loop \"%s\" overflows its dtype", s->stmt->u.loop.var->u.s);
  const Step *body = s->u.loop.body;
  for (uint64_t k = 0; k < steps; k++) {
    s->u.loop.cell->i = (int64_t)((uint64_t)min + k);
    tirc_count_step(run);
    if (run->observer) tirc_observe_place(run, s);
    body->run(run, body);
  }
  if (run->observer) tirc_observe_place(run, s->parent);
}

static void compile_for(Compiler *k, Step *s) {
  const For *loop = &s->stmt->u.loop;
  s->u.loop.min = tirc_compile_expr(k, loop->min);
  s->u.loop.extent = tirc_compile_expr(k, loop->extent);
  s->u.loop.cell = tirc_compile_var(k, loop->var);
  s->u.loop.dtype = loop->var->dtype;
  s->u.loop.body = tirc_compile_stmt(k, loop->body);
  s->u.loop.sum = tirc_find_sum(k, s->stmt);
  s->run = run_for;
  tirc_compile_bound_branch(k, s);
}

static void run_while(Run *run, const Step *s) {
  for (;;) {
    run->at = s;
    if (!get_i(run, s->u.other.value)) return;
    tirc_count_step(run);
    run_step(run, s->u.other.body);
  }
}
static void compile_while(Compiler *k, Step *s) {
  s->u.other.value = tirc_compile_expr(k, s->stmt->u.loop_while.cond);
  s->u.other.body = tirc_compile_stmt(k, s->stmt->u.loop_while.body);
  s->run = run_while;
  tirc_compile_bound_branch(k, s);
}

/* --- blocks ----------------------------------------------------------------------------------- */

_Noreturn static void iterator_fails(Run *run, const Step *s, int i, int64_t v) {
  const IterVar *iter = &s->stmt->u.block.iters[i];
  tirc_run_fail(run, CODE_OUT_OF_BOUNDS, "correct the binding, or guard it with T.where",
                "iterator %s = %s = %lld is outside of its domain [%lld, +%lld)", iter->var->u.s,
                tirc_run_text(run, s->stmt->u.block.iter_values[i]), (long long)v,
                (long long)get_i(run, s->u.block.min[i]),
                (long long)get_i(run, s->u.block.extent[i]));
}

/* Gives the iterators their values. The first one that is outside of its domain, or -1; and whether
 * those of reductions are at their start. */
static int bind_iterators(Run *run, const Step *s, bool *first) {
  const int n = s->u.block.n_iters;
  int outside = -1;
  *first = true;
  for (int i = 0; i < n; i++) s->u.block.cells[i]->i = get_i(run, s->u.block.values[i]);
  for (int i = 0; i < n; i++) {
    int64_t v = s->u.block.cells[i]->i, offset = v - get_i(run, s->u.block.min[i]);
    if ((uint64_t)offset >= (uint64_t)get_i(run, s->u.block.extent[i]) && outside < 0) outside = i;
    if (offset != 0 && s->stmt->u.block.iters[i].kind == ITER_REDUCE) *first = false;
  }
  return outside;
}

static void open_block(Run *run, const Step *s) {
  for (int i = 0; i < s->u.block.n_allocs; i++) tirc_open_memory(run, s->u.block.allocs[i]);
  for (int i = 0; i < s->u.block.n_matches; i++) tirc_open_match(run, &s->u.block.matches[i]);
  if (run->observer) tirc_observe_block(run, s);
}

static void run_rest_of_block(Run *run, const void *self, void *out) {
  const Step *s = self;
  (void)out;
  run_step(run, s->u.block.body);
}

static void run_without_init(Run *run, const void *self, void *out) {
  const Step *s = self;
  bool first;
  const int outside = bind_iterators(run, s, &first);
  (void)out;
  if (outside >= 0) iterator_fails(run, s, outside, s->u.block.cells[outside]->i);
  open_block(run, s);
  run_step(run, s->u.block.body);
}

void tirc_run_block(Run *run, const Step *s) {
  bool first;
  const int outside = bind_iterators(run, s, &first);
  const bool starts = first && outside < 0 && s->u.block.init;
  if (s->u.block.rest && !starts) {
    tirc_run_under_rest(run, s, run_without_init);
    return;
  }
  if (outside >= 0) iterator_fails(run, s, outside, s->u.block.cells[outside]->i);
  open_block(run, s);
  if (starts) run_step(run, s->u.block.init);
  if (s->u.block.rest)
    tirc_run_under_rest(run, s, run_rest_of_block);
  else
    run_step(run, s->u.block.body);
}

static void run_block(Run *run, const Step *s) {
  run->at = s;
  if (!s->u.block.predicate || get_i(run, s->u.block.predicate)) tirc_run_block(run, s);
}

/* The view of a buffer that is allocated here. */
static View *compile_alloc_view(Compiler *k, Buffer b) {
  return tirc_declare_view(k, b, tirc_declare_memory(k, b));
}

static void compile_block(Compiler *k, Step *s) {
  const Block *b = &s->stmt->u.block;
  s->u.block.n_iters = b->n_iters;
  s->u.block.values = tirc_compile_exprs(k, b->n_iters, b->iter_values);
  s->u.block.cells = tirc_new_array(k->t, Cell *, b->n_iters);
  s->u.block.min = tirc_new_array(k->t, const Node *, b->n_iters);
  s->u.block.extent = tirc_new_array(k->t, const Node *, b->n_iters);
  for (int i = 0; i < b->n_iters; i++) s->u.block.cells[i] = tirc_compile_var(k, b->iters[i].var);
  for (int i = 0; i < b->n_iters; i++) {
    s->u.block.min[i] = tirc_compile_expr(k, b->iters[i].dom.min);
    s->u.block.extent[i] = tirc_compile_expr(k, b->iters[i].dom.extent);
  }
  const Expr starts = tirc_init_part(k->t, b, b->predicate, !b->init);
  const Expr rest = tirc_init_part(k->t, b, b->predicate, true);
  if (!tirc_is_true(starts)) s->u.block.predicate = tirc_compile_expr(k, starts);
  if (b->init && !tirc_is_true(rest)) s->u.block.rest = tirc_compile_expr(k, rest);
  s->u.block.n_allocs = b->n_allocs;
  s->u.block.allocs = tirc_new_array(k->t, View *, b->n_allocs);
  for (int i = 0; i < b->n_allocs; i++) s->u.block.allocs[i] = compile_alloc_view(k, b->allocs[i]);
  s->u.block.n_matches = b->n_matches;
  s->u.block.matches = tirc_new_array(k->t, MatchCode, b->n_matches);
  for (int i = 0; i < b->n_matches; i++)
    tirc_compile_match(k, &b->matches[i], &s->u.block.matches[i]);
  if (b->init) s->u.block.init = tirc_compile_stmt(k, b->init);
  s->u.block.body = tirc_compile_stmt(k, b->body);
  s->run = run_block;
  tirc_compile_bound_branch(k, s);
}

/* --- stores ----------------------------------------------------------------------------------- */

/* A value that is only moved may be uninitialised; so may what a lazy choice between such gives. */
static void let_copies_be_poisoned(const Node *n) {
  Node *m = (Node *)(uintptr_t)n;
  Op op = n->expr->op;
  if (op == OP_LOAD || op == OP_SELECT) m->tolerant = true;
  if (op == OP_IF_THEN_ELSE) {
    let_copies_be_poisoned(n->b);
    let_copies_be_poisoned(n->c);
  }
}

static void compile_store(Compiler *k, Step *s) {
  Stmt stmt = s->stmt;
  Buffer b = stmt->u.store.buffer;
  s->u.store.view = tirc_compile_view(k, b);
  s->u.store.index = tirc_compile_exprs(k, stmt->u.store.n, stmt->u.store.indices);
  const Node *value = s->u.store.value = tirc_compile_expr(k, stmt->u.store.value);
  if (stmt->u.store.n != b->ndim)
    tirc_fail(k->t, k->loc, CODE_TYPE, NULL, "buffer \"%s\" has %d dimensions, not %d", b->name,
              b->ndim, stmt->u.store.n);
  DType stored = value->expr->dtype;
  if (stored.code != b->dtype.code || stored.bits != b->dtype.bits)
    tirc_fail(k->t, k->loc, CODE_TYPE, "cast the value", "a %s is stored to the %s buffer \"%s\"",
              tirc_dtype_name(k->t, stored), tirc_dtype_name(k->t, b->dtype), b->name);
  let_copies_be_poisoned(value);
  int lanes = value->dtype.lanes;
  for (int d = 0; d < b->ndim; d++) {
    int l = s->u.store.index[d]->dtype.lanes;
    if (l > lanes) lanes = l;
  }
  if (lanes > 1) {
    s->u.store.lanes = tirc_new_array(k->t, Cell, lanes);
    s->u.store.poison = tirc_new_array(k->t, bool, lanes);
  }
  s->run = tirc_run_store;
  if (k->bounded) tirc_compile_bound_store(k, s);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void run_seq(Run *run, const Step *s) {
  for (int i = 0; i < s->u.seq.n; i++) run_step(run, s->u.seq.at[i]);
}
static void compile_seq(Compiler *k, Step *s) {
  int n = s->u.seq.n = s->stmt->u.seq.n;
  s->u.seq.at = tirc_new_array(k->t, const Step *, n);
  for (int i = 0; i < n; i++) s->u.seq.at[i] = tirc_compile_stmt(k, tirc_item(s->stmt, i));
  s->run = run_seq;
}

static void run_if(Run *run, const Step *s) {
  run->at = s;
  const Step *chosen = get_i(run, s->u.other.value) ? s->u.other.body : s->u.other.otherwise;
  if (chosen) run_step(run, chosen);
}
/* An if of a vector is its store, with a mask. */
static void compile_masked(Compiler *k, Step *s) {
  const Node *mask = tirc_compile_expr(k, s->stmt->u.branch.cond);
  s->stmt = s->stmt->u.branch.then_case;
  if (s->stmt->kind != STMT_STORE)
    tirc_fail(k->t, k->loc, CODE_TYPE, NULL, "an if of a vector has one store for its body");
  compile_store(k, s);
  s->u.store.mask = mask;
}

static void compile_if(Compiler *k, Step *s) {
  if (s->stmt->u.branch.cond->dtype.lanes > 1) {
    compile_masked(k, s);
    return;
  }
  s->u.other.value = tirc_compile_expr(k, s->stmt->u.branch.cond);
  s->u.other.body = tirc_compile_stmt(k, s->stmt->u.branch.then_case);
  if (s->stmt->u.branch.else_case)
    s->u.other.otherwise = tirc_compile_stmt(k, s->stmt->u.branch.else_case);
  s->run = run_if;
  tirc_compile_bound_branch(k, s);
}

static void run_let(Run *run, const Step *s) {
  run->at = s;
  const Node *value = s->u.other.value;
  int lanes = value->dtype.lanes;
  for (run->lane = 0; run->lane < lanes; run->lane++)
    s->u.other.cell[run->lane] = get_cell(run, value);
  run->lane = 0;
  run_step(run, s->u.other.body);
}
static void compile_let(Compiler *k, Step *s) {
  s->u.other.value = tirc_compile_expr(k, s->stmt->u.let.value);
  s->u.other.cell = tirc_compile_let_var(k, s->stmt->u.let.var, s->u.other.value, &s->bounds);
  s->u.other.body = tirc_compile_stmt(k, s->stmt->u.let.body);
  s->run = run_let;
  tirc_compile_bound_branch(k, s);
}

/* The first integer that a condition loads, whatever else it says, is told with its failure. */
static Expr find_element(Expr e) {
  if (e->op == OP_LOAD) return e->dtype.lanes == 1 && tirc_dtype_is_int(e->dtype) ? e : NULL;
  const bool chooses = e->op == OP_AND || e->op == OP_OR || e->op == OP_SELECT ||
                       e->op == OP_IF_THEN_ELSE || e->op == OP_CALL || e->op == OP_LET;
  for (int i = 0; i < (chooses ? e->n > 0 : e->n); i++) {
    const Expr found = find_element(e->args[i]);
    if (found) return found;
  }
  return NULL;
}

static void fail_assert(Run *run, const Step *s, Expr element) {
  const char *message = s->stmt->u.check.message;
  if (!element) tirc_run_fail(run, CODE_ASSERT, NULL, "the assertion fails: %s", message);
  tirc_run_fail(run, CODE_ASSERT, NULL, "the assertion fails: %s (%s is %lld)", message,
                tirc_print_expr(run->t, element), (long long)get_i(run, s->u.other.shown));
}

static void run_assert(Run *run, const Step *s) {
  run->at = s;
  if (!get_i(run, s->u.other.value)) fail_assert(run, s, find_element(s->stmt->u.check.cond));
  if (s->u.other.body) run_step(run, s->u.other.body);
}
static void compile_assert(Compiler *k, Step *s) {
  const Expr element = find_element(s->stmt->u.check.cond);
  s->u.other.value = tirc_compile_expr(k, s->stmt->u.check.cond);
  if (element) s->u.other.shown = tirc_compile_expr(k, element);
  if (s->stmt->u.check.body) s->u.other.body = tirc_compile_stmt(k, s->stmt->u.check.body);
  s->run = run_assert;
  tirc_compile_bound_branch(k, s);
}

static void fill_constants(const View *v, Expr data) {
  Tensor memory = {.dtype = v->dtype, .count = data->n, .data = v->memory->data};
  for (int i = 0; i < data->n; i++)
    if (tirc_is_integer(data->args[i]))
      tirc_tensor_set_int(&memory, i, data->args[i]->u.i);
    else
      tirc_tensor_set(&memory, i, data->args[i]->u.f);
  memset(v->memory->written, 1, (size_t)data->n);
}

static void run_alloc(Run *run, const Step *s) {
  const Expr data = tirc_attrs_get(s->stmt->u.alloc.annotations, ALLOC_DATA);
  run->at = s;
  tirc_open_memory(run, s->u.other.view);
  if (data) fill_constants(s->u.other.view, data);
  run_step(run, s->u.other.body);
}
static void compile_alloc(Compiler *k, Step *s) {
  s->u.other.view = compile_alloc_view(k, s->stmt->u.alloc.buffer);
  s->u.other.body = tirc_compile_stmt(k, s->stmt->u.alloc.body);
  s->run = run_alloc;
}

static void run_decl(Run *run, const Step *s) {
  run->at = s;
  tirc_open_view(run, s->u.other.view);
  run_step(run, s->u.other.body);
}
static void compile_decl(Compiler *k, Step *s) {
  Buffer b = s->stmt->u.alloc.buffer;
  Memory *m = tirc_map_get(&k->memories, b->data);
  if (!m) { /* without data it is an allocation */
    compile_alloc(k, s);
    return;
  }
  s->u.other.view = tirc_declare_view(k, b, m);
  s->u.other.body = tirc_compile_stmt(k, s->stmt->u.alloc.body);
  s->run = run_decl;
}

static void run_nothing(Run *run, const Step *s) { (void)run, (void)s; }
static void run_eval(Run *run, const Step *s) {
  run->at = s;
  (void)get_cell(run, s->u.other.value);
}
static void run_launch(Run *run, const Step *s) {
  const Expr call = s->stmt->u.eval.value;
  const int n = s->u.launch.n;
  LaunchArgument *args = tirc_new_array(run->t, LaunchArgument, n);
  run->at = s;
  for (int i = 0; i < n; i++) {
    const Memory *m = s->u.launch.memories[i];
    args[i].dtype = call->args[i + 1]->dtype;
    if (m)
      args[i] = (LaunchArgument){args[i].dtype, {0}, m->data, m->bytes, m->written, m->unit};
    else
      args[i].value = get_cell(run, s->u.launch.values[i]);
  }
  run->launches->launch(run->launches->launcher, run->t, s->stmt->loc, call->args[0]->u.s, n, args);
}
static void compile_launch(Compiler *k, Step *s) {
  const Expr call = s->stmt->u.eval.value;
  const int n = s->u.launch.n = call->n - 1;
  s->u.launch.memories = tirc_new_array(k->t, Memory *, n);
  s->u.launch.values = tirc_new_array(k->t, const Node *, n);
  for (int i = 0; i < n; i++) {
    const Expr x = call->args[i + 1];
    s->u.launch.memories[i] = x->op == OP_VAR ? tirc_map_get(&k->memories, x) : NULL;
    if (!s->u.launch.memories[i]) s->u.launch.values[i] = tirc_compile_expr(k, x);
  }
  s->run = run_launch;
}

/* In a loop only what is said of sizes, under no condition: code checks that when it is called, and
 * nothing else there. */
static bool is_checked(const Step *s, Expr assumed) {
  bool in_loop = false, is_conditional = false, is_of_sizes = !tirc_loads_or_calls(assumed);
  for (s = s->parent; s; s = s->parent) {
    const Stmt around = s->stmt;
    in_loop |= around->kind == STMT_FOR || around->kind == STMT_WHILE;
    is_conditional |= around->kind == STMT_IF || around->kind == STMT_WHILE ||
                      (around->kind == STMT_BLOCK && !tirc_is_true(around->u.block.predicate));
    if (around->kind == STMT_FOR) is_of_sizes &= !tirc_uses_var(assumed, around->u.loop.var);
    if (around->kind == STMT_LET) is_of_sizes &= !tirc_uses_var(assumed, around->u.let.var);
    for (int i = 0; around->kind == STMT_BLOCK && i < around->u.block.n_iters; i++)
      is_of_sizes &= !tirc_uses_var(assumed, around->u.block.iters[i].var);
  }
  return !in_loop || (is_of_sizes && !is_conditional);
}

/* Hints have no meaning here, and their addresses need not be valid. */
static void compile_eval(Compiler *k, Step *s) {
  Expr e = s->stmt->u.eval.value;
  s->run = run_nothing;
  if (tirc_is_hint(e)) return;
  const Stmt alone = tirc_atomic_as_store(k->t, s->stmt);
  if (alone) {
    s->stmt = alone;
    compile_store(k, s);
    return;
  }
  const Expr assumed = tirc_assumed(s->stmt);
  if (assumed && !is_checked(s, assumed)) return;
  if (assumed) {
    s->stmt =
        tirc_with_loc(k->t, tirc_assert_stmt(k->t, assumed, tirc_assumed_text(k->t, assumed), NULL),
                      s->stmt->loc);
    compile_assert(k, s);
    return;
  }
  if (k->launches && tirc_is_launch(e)) {
    compile_launch(k, s);
    return;
  }
  s->u.other.value = tirc_compile_expr(k, e);
  s->run = run_eval;
}

/* An attribute is a note to other passes, except for those that give a variable its meaning. */
static void run_body(Run *run, const Step *s) { run_step(run, s->u.other.body); }
static void compile_attr(Compiler *k, Step *s) {
  const char *key = s->stmt->u.attr.key;
  if (strcmp(key, tirc_key(KEY_THREAD_EXTENT)) == 0 ||
      strcmp(key, tirc_key(KEY_VIRTUAL_THREAD)) == 0)
    tirc_fail(k->t, k->loc, CODE_UNSUPPORTED, "use a loop with T.thread_binding",
              "the reference interpreter does not run T.attr(..., \"%s\", ...)", key);
  s->u.other.body = tirc_compile_stmt(k, s->stmt->u.attr.body);
  s->run = run_body;
}

static void (*const compilers[])(Compiler *, Step *) = {
    [STMT_FOR] = compile_for,     [STMT_BLOCK] = compile_block, [STMT_SEQ] = compile_seq,
    [STMT_STORE] = compile_store, [STMT_EVAL] = compile_eval,   [STMT_IF] = compile_if,
    [STMT_WHILE] = compile_while, [STMT_LET] = compile_let,     [STMT_ALLOC] = compile_alloc,
    [STMT_DECL] = compile_decl,   [STMT_ATTR] = compile_attr,   [STMT_ASSERT] = compile_assert,
};

const Step *tirc_compile_stmt(Compiler *k, Stmt stmt) {
  Step *s = tirc_new(k->t, Step);
  s->stmt = stmt;
  s->parent = k->parent;
  Loc loc = k->loc;
  if (stmt->loc.line) k->loc = stmt->loc;
  k->parent = s;
  compilers[stmt->kind](k, s);
  k->parent = s->parent;
  k->loc = loc;
  return s;
}
