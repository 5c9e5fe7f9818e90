/* May the instances of an update run in any order?
 *
 *   C[i] = C[i] + A[i, k]       yes
 *   C[i] = A[i, k] - C[i]       no: the order of k counts
 *
 * Tried out on numbers: two instances with values drawn for what they load, in one order and in the
 * other, from the same state, once for each buffer that is written: the two meet in one element of
 * that buffer. What else they write may be other elements, as D[k] in
 *
 *   C[i] = C[i] + A[i, k]; D[k] = C[i]       no: D[k] is another sum
 *
 * and what they write to buffers of their own is never the same element: a copy of a tile of A
 * differs from one instance to the next as A does. A difference is certain. Tuples (argmax, a
 * running mean, a softmax with its maximum) are no special case; equal candidates of an argmax, of
 * which the one that comes first may win, are not drawn. Blocks inside are taken away; of a loop
 * that says which elements are stored, one iteration is run. Bodies that are more than stores of
 * numbers, or long, pass: that the iterations of a reduction commute is what its author says. */
#include "sight.h"

#include "../../../ir/visit.h"
#include "../core/core.h"
#include "index_eval.h"

#include "../../lower/lower.h"
#include "ir/access.h"

#include <math.h>

enum { SHARED = -1, TRIALS = 16, MAX_EXTENT = 64, MAX_STEPS = 1 << 23 };

typedef struct Atom { /* a load or variable, and whether it differs between instances */
  Expr e;
  bool varies;
} Atom;
typedef struct Slot {
  const void *key; /* a buffer that is written, or a let variable */
  int owner;       /* the instance whose element it is; SHARED */
  double value;
} Slot;
typedef struct Numbers {
  Tirc *c;
  const Block *block;
  Buffer target;  /* the instances write the same element of it */
  VEC(Expr) meet; /* its indices */
  PtrMap own;     /* buffers of which each instance writes another element */
  PtrMap moving;  /* iterators in which instances of one element may differ */
  PtrMap inner;   /* loops inside of an instance */
  PtrMap placed;  /* variables that say which elements are stored */
  VEC(Atom) atoms;
  VEC(Slot) slots;
  IndexEval counted; /* the loops inside that are run as they are */
  int trial, instance;
  int steps;    /* of loops, in all trials */
  bool unknown; /* something is no number here */
} Numbers;

static Slot *find(const Numbers *v, const void *key) {
  const int owner = tirc_map_has(&v->own, key) ? v->instance : SHARED;
  for (int i = 0; i < v->slots.n; i++)
    if (v->slots.at[i].key == key && v->slots.at[i].owner == owner) return &v->slots.at[i];
  return NULL;
}

static void set(Numbers *v, const void *key, double value) {
  Slot *slot = find(v, key);
  if (slot)
    slot->value = value;
  else
    vec_push(v->c, v->slots,
             ((Slot){key, tirc_map_has(&v->own, key) ? v->instance : SHARED, value}));
}

/* From -8 to 8 in steps of 1/64. */
static double draw(uint64_t seed) {
  uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double)(int)((z >> 20) & 1023) - 511.5) / 64;
}

static bool varies(const Numbers *v, Expr e) { return tirc_uses_any(e, &v->moving); }

static int atom_number(Numbers *v, Expr e) {
  int i = 0;
  while (i < v->atoms.n && !tirc_expr_same(v->atoms.at[i].e, e)) i++;
  if (i == v->atoms.n) vec_push(v->c, v->atoms, ((Atom){e, varies(v, e)}));
  return i;
}

static double atom(Numbers *v, Expr e) {
  const int i = atom_number(v, e);
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
  case OP_LARGE_UINT: return (double)(uint64_t)e->u.i;
  case OP_FLOAT: return e->u.f;
  case OP_VAR: slot = find(v, e); return slot ? slot->value : atom(v, e);
  case OP_LOAD: slot = find(v, e->u.buffer); return slot ? slot->value : atom(v, e);
  case OP_CAST: {
    const double from = eval(v, e->args[0]);
    const bool cuts = tirc_dtype_is_float(e->args[0]->dtype) && !tirc_dtype_is_float(e->dtype);
    return cuts ? trunc(from) : from;
  }
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
  int64_t extent = 1, min;
  const bool placed = tirc_map_has(&v->placed, f->var);
  const bool counted = !placed && tirc_const_int(f->min, &min);
  if (!placed) v->unknown |= !tirc_const_int(f->extent, &extent);
  v->unknown |= extent < 1 || extent > MAX_EXTENT;
  for (int64_t i = 0; i < extent && !v->unknown; i++) {
    v->unknown |= ++v->steps > MAX_STEPS;
    if (counted) tirc_eval_give(&v->counted, f->var, min + i);
    exec(v, f->body);
  }
}

/* Whether most instances run what stands under the condition. One that is a bound on the sum of an
 * iterator and a loop inside cuts the last tile off. */
static bool mostly_holds(const Numbers *v, Expr cond) {
  if (cond->op == OP_AND) return mostly_holds(v, cond->args[0]) && mostly_holds(v, cond->args[1]);
  const bool is_tail = (cond->op == OP_LT || cond->op == OP_LE) && tirc_uses_any(cond, &v->inner);
  return is_tail || !varies(v, cond);
}

typedef struct Count {
  const Numbers *v;
  bool other; /* a variable that is no such loop */
} Count;

static bool see_var(Visitor *visitor, Expr e) {
  Count *n = visitor->self;
  n->other |= e->op == OP_VAR && !tirc_map_has(&n->v->counted.slots, e);
  return true;
}

/* Whether this iteration of the loops inside runs what stands under the condition, which holds as
 * far as it is about something else. */
static bool holds(Numbers *v, Expr cond) {
  if (cond->op == OP_AND) return holds(v, cond->args[0]) && holds(v, cond->args[1]);
  Count n = {.v = v};
  tirc_visit_expr(&(Visitor){.expr = see_var, .self = &n}, cond);
  int64_t value;
  return n.other || !tirc_eval_index(&v->counted, cond, &value) || value;
}

static bool see_slot(Visitor *visitor, Expr e) {
  Count *n = visitor->self;
  n->other |= e->op == OP_LOAD && tirc_declared_write(n->v->block, e->u.buffer);
  n->other |= e->op == OP_VAR && find(n->v, e);
  return !n->other;
}

/* Which branch an instance takes. One that depends on what is stored is found from that. Of what
 * depends on iterators, all outcomes of one in the two instances are tried, one a trial. */
static bool takes(Numbers *v, Expr cond) {
  Count n = {.v = v};
  tirc_visit_expr(&(Visitor){.expr = see_slot, .self = &n}, cond);
  if (n.other) return eval(v, cond) != 0;
  if (mostly_holds(v, cond)) return holds(v, cond);
  return (v->trial + atom_number(v, cond)) >> v->instance & 1;
}

static void exec(Numbers *v, Stmt s) {
  switch (s->kind) {
  case STMT_FOR: exec_loop(v, &s->u.loop); break;
  case STMT_IF:
    if (takes(v, s->u.branch.cond))
      exec(v, s->u.branch.then_case);
    else if (s->u.branch.else_case)
      exec(v, s->u.branch.else_case);
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

/* What each instance finds of each buffer after both ran, `first` (0 or 1) before the other. */
static void run_both(Numbers *v, Stmt body, int first, double *state) {
  const Block *b = v->block;
  v->slots.n = 0;
  for (int i = 0; i < b->n_writes; i++)
    for (v->instance = 0; v->instance < 2; v->instance++)
      set(v, b->writes[i].buffer, draw((uint64_t)(v->trial * 64 + i) * 2 + 1000000) + v->instance);
  for (int k = 0; k < 2; k++) {
    v->instance = k == 0 ? first : 1 - first;
    exec(v, body);
  }
  for (int i = 0; i < b->n_writes; i++)
    for (v->instance = 0; v->instance < 2; v->instance++)
      *state++ = find(v, b->writes[i].buffer)->value;
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
  tirc_map_remove(&v->moving, e);
  return true;
}

/* An iterator that is an index is the same in all instances of one element. So are, as a rule,
 * those that are added to a loop, of which an instance stores a tile. */
static bool see_target(Visitor *visitor, Stmt s) {
  Numbers *v = visitor->self;
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
static bool goes_apart(const Numbers *v, Expr index) {
  for (int i = 0; i < v->meet.n; i++)
    if (tirc_expr_same(v->meet.at[i], index)) return false;
  return varies(v, index);
}

static bool see_others(Visitor *visitor, Stmt s) {
  Numbers *v = visitor->self;
  if (s->kind != STMT_STORE || s->u.store.buffer == v->target) return true;
  bool own = !tirc_declared_write(v->block, s->u.store.buffer);
  for (int i = 0; i < s->u.store.n; i++) own |= goes_apart(v, s->u.store.indices[i]);
  if (own) tirc_map_set(v->c, &v->own, s->u.store.buffer, v);
  return true;
}

/* Of two instances that write the same element of the target. */
static bool commute(Tirc *c, const Block *b, Stmt body, Buffer target) {
  Numbers v = {.c = c, .block = b, .target = target, .counted = {.c = c}};
  double *one = tirc_new_array(c, double, 2 * b->n_writes);
  double *other = tirc_new_array(c, double, 2 * b->n_writes);
  for (int i = 0; i < b->n_iters; i++) tirc_map_set(c, &v.moving, b->iters[i].var, &v);
  tirc_visit_stmt(&(Visitor){.stmt = see_target, .self = &v}, body);
  tirc_visit_stmt(&(Visitor){.stmt = see_others, .self = &v}, body);
  for (v.trial = 0; v.trial < TRIALS; v.trial++) {
    run_both(&v, body, 0, one);
    run_both(&v, body, 1, other);
    for (int i = 0; i < 2 * b->n_writes && !v.unknown; i++)
      if (differ(one[i], other[i])) return false;
  }
  return true;
}

typedef struct Inits {
  const Block *b;
  bool own; /* each starts all of a sum */
} Inits;

static bool see_init(Visitor *visitor, Stmt s) {
  Inits *k = visitor->self;
  if (s->kind == STMT_STORE) k->own &= tirc_starts_with_init(k->b, s->u.store.buffer);
  return true;
}

/* Without inits by hand, of which others see to it that they come first. */
static Stmt update_of(Tirc *c, const Block *b) {
  const int n = tirc_inits_by_hand(b);
  Inits k = {b, n > 0 && n < b->body->u.seq.n};
  for (int i = 0; i < n; i++)
    tirc_visit_stmt(&(Visitor){.stmt = see_init, .expr = tirc_skip_expr, .self = &k},
                    tirc_item(b->body, i));
  return k.own ? tirc_seq_splice(c, b->body, 0, n, 0, NULL) : b->body;
}

bool tirc_update_commutes(Tirc *c, const Block *block) {
  const Block *b = &tirc_without_views(c, tirc_block(c, block))->u.block;
  Mutator flatten = {.c = c, .stmt = without_block};
  const Stmt body = tirc_mutate_stmt(&flatten, update_of(c, b));
  for (int i = 0; i < b->n_writes; i++)
    if (!commute(c, b, body, b->writes[i].buffer)) return false;
  return true;
}
