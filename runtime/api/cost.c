/* How much a function computes, read off its block structure: operations in the statements, times
 * the extents of the loops around. And whether it is the matrix product that libraries have.
 */
#include "api.h"

#include "ir/arith/arith.h"
#include "passes/module/products.h"

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
  Stmt below;
  switch (s->kind) {
  case STMT_FOR:
    if (!tirc_const_int(tirc_simplify0(k->c, s->u.loop.extent), &extent)) k->cost->is_exact = false;
    count_stmt(k, s->u.loop.body, times * (double)(extent < 0 ? 0 : extent));
    break;
  case STMT_BLOCK: count_block(k, &s->u.block, times); break;
  case STMT_STORE: count_expr(k, s->u.store.value, times); break;
  case STMT_EVAL: count_expr(k, s->u.eval.value, times); break;
  case STMT_IF:
    k->cost->is_exact = false;
    count_stmt(k, s->u.branch.then_case, times);
    break;
  default:
    if (s->kind == STMT_WHILE) k->cost->is_exact = false;
    if (s->kind == STMT_LET) count_expr(k, s->u.let.value, times);
    for (int i = 0; (below = tirc_below(s, i)); i++) count_stmt(k, below, times);
  }
}

/* --- the matrix product ----------------------------------------------------------------------- */

/* The place of a plain rows x columns parameter of float32, or -1. */
static int matrix_param(const Func *f, Buffer b, int64_t rows, int64_t columns) {
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i] == b && tirc_dtype_equal(b->dtype, DT_FLOAT32) && b->ndim == 2 &&
        !b->strides && !b->elem_offset && tirc_is_int(b->shape[0], rows) &&
        tirc_is_int(b->shape[1], columns))
      return i;
  return -1;
}

/* C[i, j] = C[i, j] + A[i, k] * B[k, j], the factors in either order. */
static void recognise_matmul(Tirc *c, const Func *f, const Block *b, tirc_cost *out) {
  Product p;
  if (b->n_iters != 3 || !tirc_product_of(c, b, &p) || !p.is_plain || p.is_convolution) return;
  const Stmt s = b->body;
  for (int first = 0; first < 2 && s->u.store.n == 2; first++) {
    const Expr left = p.factors[first], right = p.factors[1 - first], *at = s->u.store.indices;
    int64_t m, n, k;
    if (left->n != 2 || right->n != 2 || left->args[0] != at[0] || right->args[1] != at[1] ||
        left->args[1] != right->args[0] || !tirc_const_int(first ? p.n : p.m, &m) ||
        !tirc_const_int(first ? p.m : p.n, &n) || !tirc_const_int(p.k, &k))
      continue;
    const int pa = matrix_param(f, left->u.buffer, m, k);
    const int pb = matrix_param(f, right->u.buffer, k, n);
    const int pc = matrix_param(f, s->u.store.buffer, m, n);
    if (pa < 0 || pb < 0 || pc < 0 || !tirc_is_int(p.batch, 1)) continue;
    out->m = m, out->n = n, out->k = k;
    out->a = pa, out->b = pb, out->c = pc;
    return;
  }
}

void tirc_count_cost(Tirc *c, const Func *f, tirc_cost *out, IntegerWork *integers) {
  *out = (tirc_cost){.reduction = 1, .is_exact = true};
  Counter k = {.c = c, .cost = out};
  count_stmt(&k, f->body, 1);
  if (k.leaves == 1) recognise_matmul(c, f, k.leaf, out);
  if (integers) *integers = k.integers;
}
