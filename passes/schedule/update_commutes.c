/* May the instances of an update run in any order?
 *
 *   C[i] = C[i] + A[i, k]       yes
 *   C[i] = A[i, k] - C[i]       no: the order of k counts
 *
 * Tried out on numbers: two instances with values drawn for what they load, in one order and in the
 * other, from the same state. A difference is certain. Tuples (argmax, a running mean, a softmax
 * with its maximum) are no special case; equal candidates of an argmax, of which the one that comes
 * first may win, are not drawn. Blocks inside are taken away; of a loop that says which elements
 * are stored, one iteration is run. Bodies that are more than stores of numbers, or long, pass:
 * that the iterations of a reduction commute is what its author says. */
#include "order.h"

#include "../../ir/visit.h"
#include "internal.h"

#include <math.h>

enum { TRIALS = 4, MAX_EXTENT = 64, MAX_STEPS = 1 << 23 };

typedef struct Atom { /* a load or variable, and whether it differs between instances */
  Expr e;
  bool varies;
} Atom;
typedef struct Slot {
  const void *key; /* a buffer that is written, or a let variable */
  double value;
} Slot;
typedef struct Numbers {
  Tirc *c;
  PtrMap moving; /* iterators in which instances of one element may differ */
  PtrMap inner;  /* loops inside of an instance */
  PtrMap placed; /* variables that say which elements are stored */
  VEC(Atom) atoms;
  VEC(Slot) slots;
  int trial, instance;
  int steps;    /* of loops, in all trials */
  bool unknown; /* something is no number here */
} Numbers;

static Slot *find(Numbers *v, const void *key) {
  for (int i = 0; i < v->slots.n; i++)
    if (v->slots.at[i].key == key) return &v->slots.at[i];
  return NULL;
}

static void set(Numbers *v, const void *key, double value) {
  Slot *slot = find(v, key);
  if (slot)
    slot->value = value;
  else
    vec_push(v->c, v->slots, ((Slot){key, value}));
}

/* From -8 to 8 in steps of 1/64. */
static double draw(uint64_t seed) {
  uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double)(int)((z >> 20) & 1023) - 511.5) / 64;
}

typedef struct Look {
  const PtrMap *vars;
  bool found;
} Look;

static bool look_for(Visitor *visitor, Expr e) {
  Look *look = visitor->self;
  look->found |= e->op == OP_VAR && tirc_map_get(look->vars, e);
  return true;
}

static bool uses(Expr e, const PtrMap *vars) {
  Look look = {vars, false};
  tirc_visit_expr(&(Visitor){.expr = look_for, .self = &look}, e);
  return look.found;
}

static bool varies(const Numbers *v, Expr e) { return uses(e, &v->moving); }

static double atom(Numbers *v, Expr e) {
  int i = 0;
  while (i < v->atoms.n && !tirc_expr_same(v->atoms.at[i].e, e)) i++;
  if (i == v->atoms.n) vec_push(v->c, v->atoms, ((Atom){e, varies(v, e)}));
  int instance = v->atoms.at[i].varies ? 1 + v->instance : 0;
  return draw((uint64_t)((v->trial * 64 + i) * 4 + instance));
}

static double eval(Numbers *v, Expr e);

static double eval_binary(Numbers *v, Expr e) {
  double a = eval(v, e->args[0]), b = eval(v, e->args[1]);
  switch (e->op) {
  case OP_ADD: return a + b;
  case OP_SUB: return a - b;
  case OP_MUL: return a * b;
  case OP_DIV: return a / b;
  case OP_MIN: return a < b ? a : b;
  case OP_MAX: return a > b ? a : b;
  case OP_EQ: return a == b;
  case OP_NE: return a != b;
  case OP_LT: return a < b;
  case OP_LE: return a <= b;
  case OP_GT: return a > b;
  case OP_GE: return a >= b;
  case OP_AND: return a != 0 && b != 0;
  case OP_OR: return a != 0 || b != 0;
  case OP_POW: return pow(a, b);
  default: v->unknown = true; return 0;
  }
}

static double eval(Numbers *v, Expr e) {
  const Slot *slot;
  if (e->dtype.lanes != 1) v->unknown = true;
  switch (e->op) {
  case OP_INT: return (double)e->u.i;
  case OP_FLOAT: return e->u.f;
  case OP_VAR: slot = find(v, e); return slot ? slot->value : atom(v, e);
  case OP_LOAD: slot = find(v, e->u.buffer); return slot ? slot->value : atom(v, e);
  case OP_CAST:
    v->unknown |= tirc_dtype_is_float(e->args[0]->dtype) && !tirc_dtype_is_float(e->dtype);
    return eval(v, e->args[0]);
  case OP_NOT: return eval(v, e->args[0]) == 0;
  case OP_SELECT:
  case OP_IF_THEN_ELSE: return eval(v, e->args[eval(v, e->args[0]) != 0 ? 1 : 2]);
  case OP_EXP: return exp(eval(v, e->args[0]));
  case OP_SQRT: return sqrt(eval(v, e->args[0]));
  case OP_ABS: return fabs(eval(v, e->args[0]));
  case OP_FMA: return eval(v, e->args[0]) * eval(v, e->args[1]) + eval(v, e->args[2]);
  default:
    if (e->n == 2) return eval_binary(v, e);
    v->unknown = true;
    return 0;
  }
}

static void exec(Numbers *v, Stmt s);

static void exec_loop(Numbers *v, const For *f) {
  int64_t extent = 1;
  if (!tirc_map_has(&v->placed, f->var)) v->unknown |= !tirc_const_int(f->extent, &extent);
  v->unknown |= extent < 1 || extent > MAX_EXTENT;
  for (int64_t i = 0; i < extent && !v->unknown; i++) {
    v->unknown |= ++v->steps > MAX_STEPS;
    exec(v, f->body);
  }
}

static void exec(Numbers *v, Stmt s) {
  switch (s->kind) {
  case STMT_FOR: exec_loop(v, &s->u.loop); break;
  case STMT_IF:
    v->unknown |= s->u.branch.else_case || varies(v, s->u.branch.cond);
    exec(v, s->u.branch.then_case);
    break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) exec(v, tirc_item(s, i));
    break;
  case STMT_LET:
    set(v, s->u.let.var, eval(v, s->u.let.value));
    exec(v, s->u.let.body);
    break;
  case STMT_STORE: set(v, s->u.store.buffer, eval(v, s->u.store.value)); break;
  default: v->unknown = true;
  }
}

/* The state after both instances, `first` (0 or 1) before the other. */
static void run_both(Numbers *v, const Block *b, Stmt body, int first, double *state) {
  v->slots.n = 0;
  for (int i = 0; i < b->n_writes; i++)
    set(v, b->writes[i].buffer, draw((uint64_t)(v->trial * 64 + i) + 1000000));
  for (int k = 0; k < 2; k++) {
    v->instance = k == 0 ? first : 1 - first;
    exec(v, body);
  }
  for (int i = 0; i < b->n_writes; i++) state[i] = find(v, b->writes[i].buffer)->value;
}

static bool differ(double a, double b) {
  return isfinite(a) && isfinite(b) && fabs(a - b) > 1e-6 * (1 + fabs(a) + fabs(b));
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
  Numbers *v = visitor->self;
  if (e->op == OP_VAR) tirc_map_set(v->c, &v->placed, e, v);
  return true;
}

static bool fix(Visitor *visitor, Expr e) {
  Numbers *v = visitor->self;
  if (tirc_map_get(&v->moving, e)) tirc_map_set(v->c, &v->moving, e, NULL);
  return true;
}

/* An iterator that is an index is the same in all instances of one element. So are, as a rule,
 * those that are added to a loop, of which an instance stores a tile. */
static bool fix_index(Visitor *visitor, Stmt s) {
  Numbers *v = visitor->self;
  if (s->kind == STMT_FOR) tirc_map_set(v->c, &v->inner, s->u.loop.var, v);
  for (int i = 0; s->kind == STMT_STORE && i < s->u.store.n; i++) {
    const Expr index = s->u.store.indices[i];
    tirc_visit_expr(&(Visitor){.expr = place, .self = v}, index);
    if (index->op == OP_VAR || uses(index, &v->inner))
      tirc_visit_expr(&(Visitor){.expr = fix, .self = v}, index);
  }
  return true;
}

bool tirc_update_commutes(Tirc *c, const Block *b) {
  Numbers v = {.c = c};
  Mutator flatten = {.c = c, .stmt = without_block};
  const Stmt body = tirc_mutate_stmt(&flatten, b->body);
  double *one = tirc_new_array(c, double, b->n_writes + 1);
  double *other = tirc_new_array(c, double, b->n_writes + 1);
  for (int i = 0; i < b->n_iters; i++) tirc_map_set(c, &v.moving, b->iters[i].var, &v);
  tirc_visit_stmt(&(Visitor){.stmt = fix_index, .self = &v}, body);
  for (v.trial = 0; v.trial < TRIALS; v.trial++) {
    run_both(&v, b, body, 0, one);
    run_both(&v, b, body, 1, other);
    for (int i = 0; i < b->n_writes && !v.unknown; i++)
      if (differ(one[i], other[i])) return false;
  }
  return true;
}
