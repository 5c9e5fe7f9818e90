/* An interpreter of blocks and loops whose values are expressions. */
#include "symbolic.h"

#include "ir/arith/arith.h"
#include "ir/arith/init_part.h"
#include "ir/tree/visit.h"

enum { MOST_ELEMENTS = 1024, MOST_STEPS = 1 << 17 };

typedef struct Run {
  Tirc *c;
  Analyzer *known; /* no extent is negative */
  PtrMap values;   /* variable -> Expr */
  PtrMap arrays;   /* Buffer -> const Expr *, row by row */
  PtrMap extents;  /* variables that are bound in `known` */
  int steps;
  bool failed;
} Run;

static Expr fail(Run *r) {
  r->failed = true;
  return tirc_int(r->c, DT_INT64, 0);
}

static const int64_t MOST_EXTENT = (int64_t)1 << 40;

static bool is_whole(DType t) {
  return t.lanes == 1 && (tirc_dtype_is_int(t) || t.code == TYPE_BOOL);
}

/* --- elements --------------------------------------------------------------------------------- */

static Expr evaluate(Run *r, Expr e);

static bool is_number(Run *r, Expr e, int64_t *out) {
  return tirc_const_int(evaluate(r, e), out) && !r->failed;
}

static int64_t count_of(Run *r, Buffer b) {
  int64_t n = 1, extent;
  for (int d = 0; d < b->ndim; d++) {
    if (!is_number(r, b->shape[d], &extent) || extent < 0 || extent > MOST_ELEMENTS) return -1;
    n *= extent;
    if (n > MOST_ELEMENTS) return -1;
  }
  return n;
}

static const Expr *new_array(Run *r, Buffer b) {
  const int64_t n = count_of(r, b);
  if (n < 0 || !is_whole(b->dtype)) return fail(r), NULL;
  const Expr *made = tirc_new_array(r->c, Expr, n + 1);
  tirc_map_set(r->c, &r->arrays, b, made);
  return made;
}

/* Where the element is kept; NULL: its index is no number, or is outside. */
static Expr *place(Run *r, Buffer b, int n, const Expr *indices) {
  int64_t at = 0, i, extent;
  const Expr *elements = tirc_map_get(&r->arrays, b);
  if (!elements && !(elements = new_array(r, b))) return NULL;
  for (int d = 0; d < n; d++) {
    if (!is_number(r, indices[d], &i) || !is_number(r, b->shape[d], &extent) || i < 0 ||
        i >= extent)
      return fail(r), NULL;
    at = at * extent + i;
  }
  return (Expr *)(uintptr_t)&elements[at];
}

/* --- expressions ------------------------------------------------------------------------------ */

static bool bind_extent(Visitor *v, Expr e) {
  Run *r = v->self;
  if (e->op != OP_VAR || tirc_map_has(&r->extents, e)) return true;
  tirc_map_set(r->c, &r->extents, e, e);
  tirc_bind_range(r->known, e,
                  (Range){tirc_int(r->c, e->dtype, 0), tirc_int(r->c, e->dtype, MOST_EXTENT)});
  return true;
}

static void bind_extents(Run *r, Expr e) {
  Visitor v = {.expr = bind_extent, .self = r};
  tirc_visit_expr(&v, e);
}

static Expr variable(Run *r, Expr e) {
  const Expr value = tirc_map_get(&r->values, e);
  if (value) return value;
  bind_extents(r, e);
  return tirc_cast(r->c, DT_INT64, e);
}

static Expr load(Run *r, Expr e) {
  const Expr *at = place(r, e->u.buffer, e->n, e->args);
  return at && *at ? *at : fail(r);
}

/* One side alone is looked at: the other may lie outside of an array. */
static Expr choose(Run *r, Expr e) {
  int64_t yes;
  if (!is_number(r, e->args[0], &yes)) return fail(r);
  return evaluate(r, e->args[yes ? 1 : 2]);
}

static Expr cast(Run *r, Expr e) {
  int64_t v;
  const Expr x = evaluate(r, e->args[0]);
  if (!is_whole(e->dtype) || !is_whole(x->dtype)) return fail(r);
  if (e->dtype.code == TYPE_BOOL && x->dtype.code != TYPE_BOOL)
    return tirc_simplify(r->known, tirc_binary(r->c, OP_NE, x, tirc_int(r->c, x->dtype, 0)));
  if (x->dtype.code != TYPE_BOOL) return x;
  return tirc_const_int(x, &v) ? tirc_int(r->c, DT_INT64, v) : fail(r);
}

/* Towards zero is downwards where nothing is negative, and of that more is known. */
static Op rounded_down(Run *r, Op op, const Expr *args) {
  const Expr zero = tirc_int(r->c, DT_INT64, 0);
  if (op != OP_TRUNCDIV && op != OP_TRUNCMOD) return op;
  if (!tirc_prove_ge(r->known, args[0], zero) || !tirc_prove_lt(r->known, zero, args[1])) return op;
  return op == OP_TRUNCDIV ? OP_FLOORDIV : OP_FLOORMOD;
}

/* Of numbers, as they are; bools stay bools. */
static Expr operation(Run *r, Expr e) {
  Expr args[2];
  if (e->n > 2) return fail(r);
  for (int i = 0; i < e->n; i++) args[i] = evaluate(r, e->args[i]);
  if (r->failed) return args[0];
  const DType t = e->dtype.code == TYPE_BOOL ? DT_BOOL : DT_INT64;
  const Expr made = e->n == 2
                        ? tirc_binary(r->c, rounded_down(r, (Op)e->op, args), args[0], args[1])
                        : tirc_expr(r->c, (Op)e->op, t, e->n, args);
  return tirc_simplify(r->known, made);
}

static Expr evaluate(Run *r, Expr e) {
  if (r->failed || ++r->steps > MOST_STEPS) return fail(r);
  switch (e->op) {
  case OP_VAR: return variable(r, e);
  case OP_LOAD: return load(r, e);
  case OP_INT: return e->dtype.code == TYPE_BOOL ? e : tirc_int(r->c, DT_INT64, e->u.i);
  case OP_SELECT:
  case OP_IF_THEN_ELSE: return choose(r, e);
  case OP_CAST: return cast(r, e);
  case OP_LIKELY: return evaluate(r, e->args[0]);
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_TRUNCDIV:
  case OP_TRUNCMOD:
  case OP_FLOORDIV:
  case OP_FLOORMOD:
  case OP_MIN:
  case OP_MAX:
  case OP_AND:
  case OP_OR:
  case OP_NOT: return operation(r, e);
  default: return tirc_compares(e->op) ? operation(r, e) : fail(r);
  }
}

/* --- statements ------------------------------------------------------------------------------- */

static void run(Run *r, Stmt s);

static void set(Run *r, Expr var, Expr value) { tirc_map_set(r->c, &r->values, var, value); }

static void run_loop(Run *r, const For *f) {
  int64_t first, n;
  if (!is_number(r, f->min, &first) || !is_number(r, f->extent, &n)) {
    fail(r);
    return;
  }
  for (int64_t i = 0; i < n && !r->failed; i++) {
    set(r, f->var, tirc_int(r->c, DT_INT64, first + i));
    run(r, f->body);
  }
}

/* The init runs where all that is reduced begins. */
static void run_block(Run *r, const Block *b) {
  int64_t v, first, starts, go;
  bool begins = true;
  for (int i = 0; i < b->n_iters; i++) {
    const Expr value = evaluate(r, b->iter_values[i]);
    set(r, b->iters[i].var, value);
    if (b->iters[i].kind != ITER_REDUCE) continue;
    if (!tirc_const_int(value, &v) || !is_number(r, b->iters[i].dom.min, &first)) {
      fail(r);
      return;
    }
    begins &= v == first;
  }
  if (!is_number(r, b->predicate, &go) || b->n_matches ||
      (!go && b->init && begins &&
       (!is_number(r, tirc_init_part(r->c, b, b->predicate, false), &starts) || starts))) {
    fail(r);
    return;
  }
  if (go && b->init && begins) run(r, b->init);
  if (go) run(r, b->body);
}

static void run_store(Run *r, Stmt s) {
  const Expr value = evaluate(r, s->u.store.value);
  Expr *at = place(r, s->u.store.buffer, s->u.store.n, s->u.store.indices);
  if (at) *at = value;
}

static void run_if(Run *r, Stmt s) {
  int64_t yes;
  if (!is_number(r, s->u.branch.cond, &yes)) {
    fail(r);
    return;
  }
  const Stmt taken = yes ? s->u.branch.then_case : s->u.branch.else_case;
  if (taken) run(r, taken);
}

static void run(Run *r, Stmt s) {
  if (r->failed || ++r->steps > MOST_STEPS) {
    fail(r);
    return;
  }
  switch (s->kind) {
  case STMT_FOR: run_loop(r, &s->u.loop); break;
  case STMT_BLOCK: run_block(r, &s->u.block); break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) run(r, tirc_item(s, i));
    break;
  case STMT_STORE: run_store(r, s); break;
  case STMT_IF: run_if(r, s); break;
  case STMT_LET:
    set(r, s->u.let.var, evaluate(r, s->u.let.value));
    run(r, s->u.let.body);
    break;
  default: fail(r);
  }
}

static bool take_array(Run *r, Buffer b, const Expr **array) {
  if (!*array) return (*array = new_array(r, b)) != NULL;
  const int64_t n = count_of(r, b);
  for (int64_t i = 0; i < n; i++) bind_extents(r, (*array)[i]);
  tirc_map_set(r->c, &r->arrays, b, *array);
  return n >= 0;
}

bool tirc_run_symbolic(Tirc *c, const Func *f, const Expr **arrays) {
  Run r = {.c = c, .known = tirc_analyzer(c)};
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i] && !take_array(&r, f->buffers[i], &arrays[i])) return false;
  run(&r, f->body);
  for (int i = 0; i < f->n_params && !r.failed; i++) {
    const int64_t n = f->buffers[i] ? count_of(&r, f->buffers[i]) : 0;
    for (int64_t k = 0; k < n; k++) r.failed |= !arrays[i][k];
  }
  return !r.failed;
}
