/* May the instances of an update run in any order?
 *
 *   C[i] = C[i] + A[i, k]       yes
 *   C[i] = A[i, k] - C[i]       no: the order of k counts
 *
 * Two instances run on formulas (algebra.h), in one order and in the other, from the same state,
 * once for each buffer that is written: the two meet in one element of that buffer. In both orders
 * the same formulas must come out. What else they write may be other elements, as D[k] in
 *
 *   C[i] = C[i] + A[i, k]; D[k] = C[i]       no: D[k] is another sum
 *
 * and what they write to buffers of their own is never the same element: a copy of a tile of A
 * differs from one instance to the next as A does. Conditions are looked at in every case that
 * there may be: which of two numbers is larger, for each pair that is compared, as far as it does
 * not follow from other pairs. So tuples (argmax, a running mean, a softmax with its maximum) are
 * no special case. Of equal candidates of an argmax the one that comes first may win: that is
 * warned of elsewhere, and no case here. Blocks inside are taken away; of a loop that says which
 * elements are stored, one iteration is run.
 *
 * Calls that nothing is known of pass: that the iterations of a reduction commute is what its
 * author says. What is too long to be looked at does not. */
#include "algebra.h"
#include "sums.h"

#include "ir/arith/access.h"
#include "ir/arith/arith.h"
#include "ir/tree/find.h"
#include "ir/tree/int_op.h"
#include "ir/tree/views.h"

#include <math.h>

enum { SHARED = -1, MAX_EXTENT = 64, MAX_STEPS = 1 << 14, MAX_CASES = 1024 };

/* An element of a buffer that is written, or a let variable. */
typedef struct Slot {
  const void *key;
  int n;
  const Expr *indices;
  int owner; /* the instance whose element it is; SHARED */
  const Formula *value;
} Slot;

/* Of a formula that is no number: whether it is less than 0, 0, or more. */
typedef struct Sign {
  const Formula *of;
  int sign;
  bool may_be_zero, follows; /* from the ones before it */
} Sign;

typedef struct Run {
  Tirc *c;
  const Block *block;
  Buffer target;  /* the instances write the same element of it */
  VEC(Expr) meet; /* its indices */
  PtrMap own;     /* buffers of which each instance writes another element */
  PtrMap moving;  /* iterators in which instances of one element may differ */
  PtrMap inner;   /* loops inside of an instance */
  PtrMap placed;  /* variables that say which elements are stored */
  PtrMap lets;
  PtrMap copies;  /* buffers of an instance that are as good as what it loads */
  PtrMap stored;  /* buffers */
  PtrMap counted; /* loops inside that are run as they are: which iteration it is */
  Analyzer *a;
  Algebra algebra;
  VEC(Expr) inputs; /* loads and variables, each once */
  VEC(Slot) slots;
  VEC(Sign) signs; /* the case that is looked at */
  int instance;
  int steps;     /* of loops, in all cases */
  bool opaque;   /* something is not known here */
  bool unproved; /* it cannot be told what is the same element */
} Run;

/* Elements that are the same, or certainly not. */
static bool is_there(Run *v, const Slot *at, int n, const Expr *indices) {
  bool same = true, other = false;
  for (int i = 0; i < n; i++) {
    int64_t x, y;
    same &= tirc_expr_same(at->indices[i], indices[i]);
    other |= tirc_const_int(at->indices[i], &x) && tirc_const_int(indices[i], &y) && x != y;
  }
  v->unproved |= !same && !other;
  return same;
}

static Slot *find(Run *v, const void *key, int n, const Expr *indices) {
  const int owner = tirc_map_has(&v->own, key) ? v->instance : SHARED;
  for (int i = 0; i < v->slots.n; i++) {
    Slot *at = &v->slots.at[i];
    if (at->key == key && at->owner == owner && is_there(v, at, n, indices)) return at;
  }
  return NULL;
}

static void set(Run *v, const void *key, int n, const Expr *indices, const Formula *value) {
  Slot *slot = find(v, key, n, indices);
  if (slot)
    slot->value = value;
  else
    vec_push(v->c, v->slots,
             ((Slot){key, n, indices, tirc_map_has(&v->own, key) ? v->instance : SHARED, value}));
}

/* The indices of an access in the loops that are run as they are. */
static const Expr *indices_of(Run *v, int n, const Expr *indices) {
  Expr *at = tirc_new_array(v->c, Expr, n + 1);
  for (int i = 0; i < n; i++)
    at[i] = tirc_simplify(v->a, tirc_substitute(v->c, indices[i], &v->counted));
  return at;
}

static bool varies(const Run *v, Expr e) { return tirc_uses_any(e, &v->moving); }

static const Formula *unknown(Run *v, Expr e, int of) {
  int i = 0;
  while (i < v->inputs.n && !tirc_expr_same(v->inputs.at[i], e)) i++;
  if (i == v->inputs.n) vec_push(v->c, v->inputs, e);
  return tirc_formula_unknown(&v->algebra, v->inputs.at[i], of);
}

static const Formula *input(Run *v, Expr e) {
  return unknown(v, e, varies(v, e) ? v->instance : SHARED);
}

static const Formula *load(Run *v, Expr e) {
  const Expr at = tirc_load(v->c, e->u.buffer, e->n, indices_of(v, e->n, e->args));
  if (tirc_map_has(&v->copies, at->u.buffer)) return unknown(v, at, v->instance);
  const Slot *slot = find(v, at->u.buffer, at->n, at->args);
  if (slot) return slot->value;
  if (!tirc_map_has(&v->stored, at->u.buffer)) return input(v, at);
  return unknown(v, at, tirc_map_has(&v->own, at->u.buffer) ? v->instance : SHARED);
}

/* --- cases ------------------------------------------------------------------------------------ */

static const Formula *signed_sum(Run *v, const Sign *x, const Sign *y) {
  const Formula *zero = tirc_formula_number(&v->algebra, 0);
  return tirc_formula_plus(&v->algebra, tirc_formula_plus(&v->algebra, zero, x->sign, x->of),
                           y->sign, y->of);
}

/* The sum of two positive numbers is one, too. */
static bool follows(Run *v, const Formula *f, int *sign) {
  for (int i = 0; i < v->signs.n; i++)
    for (int k = 0; k < i; k++) {
      double factor;
      const Sign *x = &v->signs.at[i], *y = &v->signs.at[k];
      if (!x->sign || !y->sign) continue;
      const Formula *sum = signed_sum(v, x, y);
      double value;
      if (tirc_formula_is_number(sum, &value)) continue;
      sum = tirc_formula_scaled(&v->algebra, sum, &factor);
      if (!tirc_formula_equal(sum, f)) continue;
      *sign = factor > 0 ? 1 : -1;
      return true;
    }
  return false;
}

/* In the case that is looked at; a formula that comes up for the first time starts with the first
 * of its cases. */
static int sign_of(Run *v, const Formula *f, bool may_be_zero) {
  double value, factor;
  if (tirc_formula_is_number(f, &value)) return (value > 0) - (value < 0);
  Sign s = {.of = tirc_formula_scaled(&v->algebra, f, &factor), .may_be_zero = may_be_zero};
  int i = 0;
  while (i < v->signs.n && !tirc_formula_equal(v->signs.at[i].of, s.of)) i++;
  if (i == v->signs.n) {
    s.follows = follows(v, s.of, &s.sign);
    if (!s.follows) s.sign = -1;
    vec_push(v->c, v->signs, s);
  }
  return factor > 0 ? v->signs.at[i].sign : -v->signs.at[i].sign;
}

/* False: there is none left. */
static bool next_case(Run *v) {
  while (v->signs.n) {
    Sign *last = &v->signs.at[v->signs.n - 1];
    if (!last->follows && last->sign < 1) {
      last->sign = last->sign == -1 && last->may_be_zero ? 0 : 1;
      return true;
    }
    v->signs.n--;
  }
  return false;
}

/* --- formulas --------------------------------------------------------------------------------- */

static const Formula *eval(Run *v, Expr e);
static const Formula *held(Run *v, DType t, const Formula *f);

static bool is_true(Run *v, Expr e) {
  switch (e->op) {
  case OP_AND: return is_true(v, e->args[0]) && is_true(v, e->args[1]);
  case OP_OR: return is_true(v, e->args[0]) || is_true(v, e->args[1]);
  case OP_NOT: return !is_true(v, e->args[0]);
  case OP_LIKELY: return is_true(v, e->args[0]);
  default: break;
  }
  const bool compares = e->op == OP_LT || e->op == OP_LE || e->op == OP_GT || e->op == OP_GE;
  const bool equates = e->op == OP_EQ || e->op == OP_NE;
  if (!compares && !equates) return sign_of(v, held(v, e->dtype, eval(v, e)), true) != 0;
  const Formula *x = held(v, e->args[0]->dtype, eval(v, e->args[0]));
  const Formula *y = held(v, e->args[1]->dtype, eval(v, e->args[1]));
  const int sign = sign_of(v, tirc_formula_plus(&v->algebra, x, -1, y), equates);
  switch (e->op) {
  case OP_LT: return sign < 0;
  case OP_LE: return sign <= 0;
  case OP_GT: return sign > 0;
  case OP_GE: return sign >= 0;
  case OP_EQ: return sign == 0;
  default: return sign != 0;
  }
}

/* A formula as the number that the type makes of it. */
static const Formula *converted(Run *v, DType t, const Formula *f) {
  const void *name = (const void *)(intptr_t)(t.code << 8 | t.bits);
  return tirc_formula_of(&v->algebra, OP_CAST, name, 1, &f);
}

/* A formula has any size; where sums and products wrap around, only what is compared or converted
 * as the number that it is must be told from it. */
static const Formula *held(Run *v, DType t, const Formula *f) {
  double value;
  const bool plain = tirc_formula_is_number(f, &value) || tirc_formula_is_unknown(&v->algebra, f);
  return !plain && tirc_dtype_wraps(t) ? converted(v, t, f) : f;
}

static const Formula *eval_cast(Run *v, Expr e) {
  const DType from = e->args[0]->dtype, to = e->dtype;
  const Formula *f = held(v, from, eval(v, e->args[0]));
  if (tirc_dtype_is_float(to)) return f;
  if (tirc_dtype_is_float(from) && to.code != TYPE_BOOL)
    f = tirc_formula_of(&v->algebra, OP_TRUNC, NULL, 1, &f);
  const bool keeps =
      from.code == TYPE_BOOL || tirc_dtype_is_float(from) ||
      (to.code == from.code ? to.bits >= from.bits : to.code == TYPE_INT && to.bits > from.bits);
  return keeps && to.code != TYPE_BOOL ? f : converted(v, to, f);
}

/* Of bools, + is or, and so on. */
static Op op_on_bools(Op op) {
  return op == OP_ADD ? OP_OR : op == OP_MUL ? OP_AND : op == OP_SUB ? OP_BITWISE_XOR : op;
}

static const Formula *eval(Run *v, Expr e) {
  Algebra *a = &v->algebra;
  if (tirc_compares(e->op)) return tirc_formula_number(a, is_true(v, e));
  switch (e->op) {
  case OP_INT: return tirc_formula_number(a, (double)e->u.i);
  case OP_LARGE_UINT: return tirc_formula_number(a, (double)(uint64_t)e->u.i);
  case OP_FLOAT:
    if (isfinite(e->u.f)) return tirc_formula_number(a, e->u.f);
    return input(v, e);
  case OP_VAR: {
    const Slot *let = find(v, e, 0, NULL);
    return let ? let->value : input(v, e);
  }
  case OP_LOAD: return load(v, e);
  case OP_CAST: return eval_cast(v, e);
  case OP_LIKELY:
  case OP_BROADCAST: return eval(v, e->args[0]);
  case OP_LET: set(v, e->args[0], 0, NULL, eval(v, e->args[1])); return eval(v, e->args[2]);
  case OP_SELECT:
  case OP_IF_THEN_ELSE: return eval(v, e->args[is_true(v, e->args[0]) ? 1 : 2]);
  case OP_NOT: return tirc_formula_number(a, is_true(v, e));
  case OP_STRING:
  case OP_TUPLE:
  case OP_DICT:
  case OP_NONE:
  case OP_REINTERPRET:
  case OP_CALL: v->opaque = true; return tirc_formula_number(a, 0);
  default: {
    const Formula **args = tirc_new_array(v->c, const Formula *, e->n + 1);
    const bool wraps = tirc_dtype_wraps(e->dtype);
    for (int i = 0; i < e->n; i++) args[i] = eval(v, e->args[i]);
    return tirc_formula_of(a, e->dtype.code == TYPE_BOOL ? op_on_bools((Op)e->op) : (Op)e->op,
                           e->op == OP_MIN && wraps ? tirc_ops[OP_MIN].name : NULL, e->n, args);
  }
  }
}

/* --- an instance ------------------------------------------------------------------------------ */

static bool is_counted(const For *f) {
  int64_t extent, min;
  return tirc_const_int(f->extent, &extent) && tirc_const_int(f->min, &min) && extent <= MAX_EXTENT;
}

static void exec(Run *v, Stmt s);

static void exec_loop(Run *v, const For *f) {
  int64_t extent = 1, min = 0;
  const bool placed = tirc_map_has(&v->placed, f->var);
  if (!placed) {
    v->unproved |= !is_counted(f);
    tirc_const_int(f->extent, &extent);
    tirc_const_int(f->min, &min);
  }
  for (int64_t i = 0; i < extent && !v->algebra.too_long && !v->unproved; i++) {
    v->algebra.too_long |= ++v->steps > MAX_STEPS;
    if (!placed) {
      tirc_map_set(v->c, &v->counted, f->var, (void *)tirc_int(v->c, f->var->dtype, min + i));
      set(v, f->var, 0, NULL, tirc_formula_number(&v->algebra, (double)(min + i)));
    }
    exec(v, f->body);
  }
}

static void exec(Run *v, Stmt s) {
  switch (s->kind) {
  case STMT_FOR: exec_loop(v, &s->u.loop); break;
  case STMT_IF:
    if (is_true(v, s->u.branch.cond))
      exec(v, s->u.branch.then_case);
    else if (s->u.branch.else_case)
      exec(v, s->u.branch.else_case);
    break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) exec(v, tirc_item(s, i));
    break;
  case STMT_LET:
    set(v, s->u.let.var, 0, NULL, eval(v, s->u.let.value));
    exec(v, s->u.let.body);
    break;
  case STMT_STORE:
    if (!tirc_map_has(&v->copies, s->u.store.buffer))
      set(v, s->u.store.buffer, s->u.store.n, indices_of(v, s->u.store.n, s->u.store.indices),
          eval(v, s->u.store.value));
    break;
  default: v->opaque = true;
  }
}

static void run_both(Run *v, Stmt body, int first) {
  v->slots.n = 0;
  for (int k = 0; k < 2; k++) {
    v->instance = k == 0 ? first : 1 - first;
    exec(v, body);
  }
}

/* Whether both orders leave the same in what the block declares to write. */
static bool leave_the_same(Run *v, Stmt body) {
  run_both(v, body, 0);
  const Slot *one = v->slots.at;
  const int n = v->slots.n;
  v->slots.at = NULL;
  v->slots.n = v->slots.cap = 0;
  run_both(v, body, 1);
  for (int i = 0; i < n; i++) {
    if (!tirc_map_has(&v->stored, one[i].key) || !tirc_declared_write(v->block, one[i].key))
      continue;
    v->instance = one[i].owner;
    const Slot *other = find(v, one[i].key, one[i].n, one[i].indices);
    if (!other || !tirc_formula_equal(one[i].value, other->value)) return false;
  }
  return n == v->slots.n;
}

static Stmt without_block(Mutator *m, Stmt s) {
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_BLOCK || s->u.block.init) return s;
  const Block *b = &s->u.block;
  PtrMap bindings = {0};
  tirc_bindings_of(m->c, s, &bindings);
  return tirc_substitute_stmt(m->c, tirc_if(m->c, b->predicate, b->body, NULL), &bindings);
}

static bool place(Visitor *visitor, Expr e) {
  Run *v = visitor->self;
  if (e->op == OP_VAR) tirc_map_set(v->c, &v->placed, e, v);
  return true;
}

static bool fix(Visitor *visitor, Expr e) {
  Run *v = visitor->self;
  tirc_map_remove(&v->moving, e);
  return true;
}

/* An iterator that is an index is the same in all instances of one element. So are, as a rule,
 * those that are added to a loop, of which an instance stores a tile. */
static bool see_target(Visitor *visitor, Stmt s) {
  Run *v = visitor->self;
  if (s->kind == STMT_FOR) tirc_map_set(v->c, &v->inner, s->u.loop.var, v);
  for (int i = 0; s->kind == STMT_STORE && i < s->u.store.n; i++) {
    const Expr index = s->u.store.indices[i];
    tirc_visit_expr(&(Visitor){.expr = place, .self = v}, index);
    if (s->u.store.buffer != v->target) continue;
    vec_push(v->c, v->meet, index);
    if (index->op == OP_VAR || tirc_uses_any(index, &v->inner))
      tirc_visit_expr(&(Visitor){.expr = fix, .self = v}, index);
  }
  return true;
}

/* Whether instances that meet in the target are at different places of another buffer, too. */
static bool goes_apart(const Run *v, Expr index) {
  for (int i = 0; i < v->meet.n; i++)
    if (tirc_expr_same(v->meet.at[i], index)) return false;
  return varies(v, index);
}

static bool see_others(Visitor *visitor, Stmt s) {
  Run *v = visitor->self;
  if (s->kind == STMT_STORE) tirc_map_set(v->c, &v->stored, s->u.store.buffer, v);
  if (s->kind != STMT_STORE || s->u.store.buffer == v->target) return true;
  bool own = !tirc_declared_write(v->block, s->u.store.buffer);
  for (int i = 0; i < s->u.store.n; i++) own |= goes_apart(v, s->u.store.indices[i]);
  if (own) tirc_map_set(v->c, &v->own, s->u.store.buffer, v);
  return true;
}

/* Long loops that are all that an instance does: where any two of their iterations commute,
 * instances do. */
static Stmt iteration_of(Run *v, Stmt body) {
  while (body->kind == STMT_FOR) {
    const For *f = &body->u.loop;
    const bool placed = tirc_map_has(&v->placed, f->var);
    if (!placed && is_counted(f)) break;
    if (!placed) tirc_map_set(v->c, &v->moving, f->var, v);
    body = f->body;
  }
  return body;
}

/* --- buffers of an instance ------------------------------------------------------------------- */

typedef struct Copies {
  Run *v;
  bool changed;
} Copies;

static bool is_state(const void *run, Expr e) {
  const Run *v = run;
  if (e->op == OP_VAR) return tirc_map_has(&v->lets, e);
  return e->op == OP_LOAD && tirc_map_has(&v->stored, e->u.buffer) &&
         !tirc_map_has(&v->copies, e->u.buffer);
}

static bool see_copy(Visitor *visitor, Stmt s) {
  Copies *k = visitor->self;
  if (s->kind != STMT_STORE || !tirc_map_has(&k->v->copies, s->u.store.buffer)) return true;
  if (!tirc_find_expr(s->u.store.value, is_state, k->v)) return true;
  tirc_map_remove(&k->v->copies, s->u.store.buffer);
  return k->changed = true;
}

static bool begin_copy(Visitor *visitor, Stmt s) {
  Run *v = visitor->self;
  if (s->kind == STMT_STORE && !tirc_declared_write(v->block, s->u.store.buffer))
    tirc_map_set(v->c, &v->copies, s->u.store.buffer, v);
  if (s->kind == STMT_LET) tirc_map_set(v->c, &v->lets, s->u.let.var, v);
  return true;
}

/* Those that an instance fills for itself from what no instance stores: as good as what it loads.
 */
static void find_copies(Run *v, Stmt body) {
  Copies k = {.v = v, .changed = true};
  tirc_visit_stmts(body, begin_copy, v);
  while (k.changed) {
    k.changed = false;
    tirc_visit_stmts(body, see_copy, &k);
  }
}

/* Of two instances that write the same element of the target. */
static bool commute(Tirc *c, const Block *b, Stmt body, Buffer target) {
  Run v = {.c = c, .block = b, .target = target, .a = tirc_analyzer(c), .algebra = {.c = c}};
  int cases = 0;
  for (int i = 0; i < b->n_iters; i++) tirc_map_set(c, &v.moving, b->iters[i].var, &v);
  tirc_visit_stmts(body, see_target, &v);
  tirc_visit_stmts(body, see_others, &v);
  find_copies(&v, body);
  body = iteration_of(&v, body);
  do {
    const bool same = leave_the_same(&v, body);
    if (v.opaque) return true;
    if (!same || v.unproved || v.algebra.too_long || ++cases > MAX_CASES) return false;
  } while (next_case(&v));
  return true;
}

static bool starts_no_sum(const void *block, Stmt s) {
  return s->kind == STMT_STORE && !tirc_starts_with_init(block, s->u.store.buffer);
}

/* Without inits by hand that start all of a sum, of which others see to it that they come first. */
static Stmt update_of(Tirc *c, const Block *b) {
  const int n = tirc_inits_by_hand(b);
  bool own = n > 0 && n < b->body->u.seq.n;
  for (int i = 0; i < n && own; i++)
    own = !tirc_find_stmt(tirc_item(b->body, i), starts_no_sum, b, NULL);
  return own ? tirc_seq_splice(c, b->body, 0, n, 0, NULL) : b->body;
}

static bool is_nan_of(Expr e, Expr x) { return e->op == OP_ISNAN && tirc_expr_same(e->args[0], x); }

/* What NaN adds to a comparison of x and y in an order of which it is the end. */
static bool puts_nan_last(Expr compared, Expr e) {
  if (!tirc_compares(compared->op) || compared->op == OP_NE || e->op != OP_AND) return false;
  const Expr x = compared->args[0], y = compared->args[1];
  const Expr other = compared->op == OP_EQ      ? e->args[1]
                     : e->args[1]->op == OP_NOT ? e->args[1]->args[0]
                                                : NULL;
  return other && is_nan_of(e->args[0], x) && is_nan_of(other, y);
}

/* What is done with NaN, taken away. */
typedef struct Numbers {
  PtrMap stored; /* buffers */
  PtrMap lets;   /* from variables to values */
  Stmt at;       /* the store whose value is looked at; NULL: another place */
} Numbers;

static bool note_let(Visitor *v, Expr e) {
  const Mutator *m = v->self;
  Numbers *k = m->self;
  if (e->op == OP_LET) tirc_map_set(m->c, &k->lets, e->args[0], (void *)(uintptr_t)e->args[1]);
  return true;
}

static bool note_store(Visitor *v, Stmt s) {
  const Mutator *m = v->self;
  Numbers *k = m->self;
  if (s->kind == STMT_STORE) tirc_map_set(m->c, &k->stored, s->u.store.buffer, k);
  if (s->kind == STMT_LET)
    tirc_map_set(m->c, &k->lets, s->u.let.var, (void *)(uintptr_t)s->u.let.value);
  return true;
}

static bool changes(const void *numbers, Expr e) {
  const Numbers *k = numbers;
  const Expr value = e->op == OP_VAR ? tirc_map_get(&k->lets, e) : NULL;
  if (value) return tirc_find_expr(value, changes, k);
  return e->op == OP_LOAD && tirc_map_has(&k->stored, e->u.buffer);
}

/* Whether x is the element that the value which is looked at is stored to. */
static bool is_old_value(const Numbers *k, Expr x) {
  const Expr value = x->op == OP_VAR ? tirc_map_get(&k->lets, x) : NULL;
  if (value) x = value;
  return k->at && x->op == OP_LOAD && x->u.buffer == k->at->u.store.buffer &&
         tirc_same_exprs(x->n, x->args, k->at->u.store.indices);
}

/* A maximum that keeps NaN and an order in which NaN comes last are those of numbers with one more
 * at the end: they commute where those of numbers do, which the algebra is of. It is the old value
 * whose NaN has to be kept: where only that of the new one is, the next number takes its place. */
static Expr of_numbers(Mutator *m, Expr e) {
  const Numbers *k = m->self;
  e = tirc_mutate_expr_children(m, e);
  if (e->op == OP_OR && puts_nan_last(e->args[0], e->args[1])) return e->args[0];
  if (!tirc_keeps_nan(e) || (e->args[2]->op != OP_MAX && e->args[2]->op != OP_MIN)) return e;
  const Expr x = e->args[1], *two = e->args[2]->args;
  const bool is_first = tirc_expr_same(two[0], x);
  if (!is_first && !tirc_expr_same(two[1], x)) return e;
  const bool is_old = is_first && is_old_value(k, x);
  return is_old || !tirc_find_expr(two[is_first], changes, k) ? e->args[2] : e;
}

static Stmt of_plain_numbers(Mutator *m, Stmt s) {
  Numbers *k = m->self;
  const Stmt outer = k->at;
  if (s->kind == STMT_STORE) k->at = s;
  s = without_block(m, s);
  k->at = outer;
  return s;
}

bool tirc_update_commutes(Tirc *c, const Block *block) {
  const Block *b = &tirc_without_views(c, tirc_block(c, block))->u.block;
  const Stmt update = update_of(c, b);
  Numbers numbers = {0};
  Mutator flatten = {.c = c, .stmt = of_plain_numbers, .expr = of_numbers, .self = &numbers};
  tirc_visit_stmt(&(Visitor){.stmt = note_store, .expr = note_let, .self = &flatten}, update);
  const Stmt body = tirc_mutate_stmt(&flatten, update);
  for (int i = 0; i < b->n_writes; i++)
    if (!commute(c, b, body, b->writes[i].buffer)) return false;
  return true;
}
