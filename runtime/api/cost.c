/* How much a function computes, read off its block structure: operations in the statements, times
 * the extents of the loops around. And whether it is the matrix product that libraries have.
 */
#include "api.h"

#include "ir/arith/arith.h"

typedef struct Counter {
  Tirc *c;
  tirc_cost *cost;
  IntegerWork integers;
  int leaves;        /* blocks without blocks inside, */
  const Block *leaf; /* and the last of them */
} Counter;

/* A fused multiply-add counts as two, what only chooses or converts as none. */
static int operations_of(Expr e) {
  switch ((Op)e->op) {
  case OP_VAR:
  case OP_INT:
  case OP_LARGE_UINT:
  case OP_FLOAT:
  case OP_CAST:
  case OP_SELECT:
  case OP_IF_THEN_ELSE:
  case OP_LOAD:
  case OP_BROADCAST:
  case OP_LET:
  case OP_REINTERPRET:
  case OP_LIKELY: return 0;
  case OP_FMA: return 2 * e->dtype.lanes;
  default: return e->dtype.lanes;
  }
}

static double count_floats(Expr e) {
  double n = tirc_dtype_is_float(e->dtype) ? operations_of(e) : 0;
  for (int i = 0; i < e->n; i++) n += count_floats(e->args[i]);
  return n;
}

/* Those on what is loaded: others are index arithmetic. Gives whether the value is of that kind. */
static bool count_integers(Expr e, double times, IntegerWork *out) {
  bool is_data = e->op == OP_LOAD;
  for (int i = 0; i < e->n && e->op != OP_LOAD; i++)
    if (count_integers(e->args[i], times, out)) is_data = true;
  const double n = is_data && tirc_dtype_is_int(e->dtype) ? times * operations_of(e) : 0;
  if (n > 0 && (!out->bits || e->dtype.bits < out->bits)) out->bits = e->dtype.bits;
  out->operations += n;
  return is_data;
}

static void count_expr(Counter *k, Expr e, double times) {
  k->cost->float_ops += times * count_floats(e);
  (void)count_integers(e, times, &k->integers);
}

static void count_stmt(Counter *k, Stmt s, double times);

static void count_block(Counter *k, const Block *b, double times) {
  double reduction = 1;
  int64_t extent, leaves = k->leaves;
  for (int i = 0; i < b->n_iters; i++) {
    if (b->iters[i].kind != ITER_REDUCE) continue;
    if (tirc_const_int(tirc_simplify0(k->c, b->iters[i].dom.extent), &extent))
      reduction *= (double)extent;
    else
      k->cost->is_exact = false;
  }
  if (reduction > k->cost->reduction) k->cost->reduction = reduction;
  if (!tirc_is_true(b->predicate)) k->cost->is_exact = false;
  count_stmt(k, b->body, times);
  if (k->leaves > leaves) return;
  k->leaves++;
  k->leaf = b;
}

static void count_stmt(Counter *k, Stmt s, double times) {
  int64_t extent = 1;
  switch (s->kind) {
  case STMT_FOR:
    if (!tirc_const_int(tirc_simplify0(k->c, s->u.loop.extent), &extent)) k->cost->is_exact = false;
    count_stmt(k, s->u.loop.body, times * (double)(extent < 0 ? 0 : extent));
    break;
  case STMT_BLOCK: count_block(k, &s->u.block, times); break;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) count_stmt(k, tirc_item(s, i), times);
    break;
  case STMT_STORE: count_expr(k, s->u.store.value, times); break;
  case STMT_EVAL: count_expr(k, s->u.eval.value, times); break;
  case STMT_IF:
    k->cost->is_exact = false;
    count_stmt(k, s->u.branch.then_case, times);
    break;
  case STMT_WHILE:
    k->cost->is_exact = false;
    count_stmt(k, s->u.loop_while.body, times);
    break;
  case STMT_LET:
    count_expr(k, s->u.let.value, times);
    count_stmt(k, s->u.let.body, times);
    break;
  case STMT_ALLOC:
  case STMT_DECL: count_stmt(k, s->u.alloc.body, times); break;
  case STMT_ATTR: count_stmt(k, s->u.attr.body, times); break;
  case STMT_ASSERT:
    if (s->u.check.body) count_stmt(k, s->u.check.body, times);
    break;
  }
}

/* --- the matrix product ----------------------------------------------------------------------- */

static bool loads(Expr e, Expr row, Expr column) {
  return e->op == OP_LOAD && e->n == 2 && e->args[0] == row && e->args[1] == column;
}

/* The place of a plain rows x columns parameter of float32, or -1. */
static int matrix_param(const Func *f, Buffer b, int64_t rows, int64_t columns) {
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i] == b && tirc_dtype_equal(b->dtype, DT_FLOAT32) && b->ndim == 2 &&
        !b->strides && !b->elem_offset && tirc_is_int(b->shape[0], rows) &&
        tirc_is_int(b->shape[1], columns))
      return i;
  return -1;
}

/* The extent of an iterator of that kind over [0, extent); 0 when it is none. */
static int64_t iter_extent(const Block *b, Expr var, IterKind kind) {
  int64_t extent;
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].var == var && b->iters[i].kind == kind && tirc_is_int(b->iters[i].dom.min, 0) &&
        tirc_const_int(b->iters[i].dom.extent, &extent))
      return extent;
  return 0;
}

static Expr reduce_iter(const Block *b) {
  for (int i = 0; i < b->n_iters; i++)
    if (b->iters[i].kind == ITER_REDUCE) return b->iters[i].var;
  return NULL;
}

static bool stores_zero(Stmt s, Buffer c, Expr i, Expr j) {
  if (!s || s->kind != STMT_STORE || s->u.store.buffer != c || s->u.store.indices[0] != i ||
      s->u.store.indices[1] != j)
    return false;
  Expr v = s->u.store.value;
  return v->op == OP_FLOAT && v->u.f == 0;
}

static void recognise_matmul(const Func *f, const Block *b, tirc_cost *out) {
  Stmt s = b->body;
  if (b->n_iters != 3 || s->kind != STMT_STORE || s->u.store.n != 2 || !tirc_is_true(b->predicate))
    return;
  Expr i = s->u.store.indices[0], j = s->u.store.indices[1], k = reduce_iter(b);
  Expr sum = s->u.store.value;
  Buffer c = s->u.store.buffer;
  if (sum->op != OP_ADD || !loads(sum->args[0], i, j) || sum->args[0]->u.buffer != c) return;
  Expr product = sum->args[1];
  if (product->op != OP_MUL || !stores_zero(b->init, c, i, j)) return;
  int64_t m = iter_extent(b, i, ITER_SPATIAL), n = iter_extent(b, j, ITER_SPATIAL);
  int64_t depth = k ? iter_extent(b, k, ITER_REDUCE) : 0;
  if (!m || !n || !depth || i == j) return;
  for (int first = 0; first < 2; first++) {
    Expr left = product->args[first], right = product->args[1 - first];
    if (!loads(left, i, k) || !loads(right, k, j)) continue;
    int pa = matrix_param(f, left->u.buffer, m, depth);
    int pb = matrix_param(f, right->u.buffer, depth, n), pc = matrix_param(f, c, m, n);
    if (pa < 0 || pb < 0 || pc < 0) continue;
    out->m = m, out->n = n, out->k = depth;
    out->a = pa, out->b = pb, out->c = pc;
    return;
  }
}

void tirc_count_cost(Tirc *c, const Func *f, tirc_cost *out, IntegerWork *integers) {
  *out = (tirc_cost){.reduction = 1, .is_exact = true};
  Counter k = {.c = c, .cost = out};
  count_stmt(&k, f->body, 1);
  if (k.leaves == 1) recognise_matmul(f, k.leaf, out);
  if (integers) *integers = k.integers;
}
