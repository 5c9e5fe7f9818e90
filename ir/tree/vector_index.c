/* Index arithmetic where an operand may be a vector. */
#include "vector_index.h"
#include "int_op.h"

#include <stdlib.h>

static Expr widened(Tirc *c, Expr x, int lanes) {
  return x->dtype.lanes == lanes ? x : tirc_broadcast(c, x, lanes);
}

Expr tirc_index_cast(Tirc *c, DType t, Expr x) {
  if (x->op == OP_RAMP)
    return tirc_ramp(c, tirc_cast(c, t, x->args[0]), tirc_cast(c, t, x->args[1]), x->dtype.lanes);
  return tirc_cast(c, tirc_dtype_lanes(t, x->dtype.lanes), x);
}

Expr tirc_index_add(Tirc *c, Expr x, Expr y) {
  int lanes = x->dtype.lanes > 1 ? x->dtype.lanes : y->dtype.lanes;
  if (lanes == 1) return tirc_add(c, x, y);
  if (x->dtype.lanes > 1 && y->dtype.lanes == 1) return tirc_index_add(c, y, x);
  DType t = tirc_dtype_lanes(y->dtype, 1);
  if (x->dtype.lanes == 1 && y->op == OP_RAMP)
    return tirc_ramp(c, tirc_add(c, tirc_cast(c, t, x), y->args[0]), y->args[1], lanes);
  Expr both[2] = {widened(c, tirc_index_cast(c, t, x), lanes), y};
  return tirc_expr(c, OP_ADD, y->dtype, 2, both);
}

Expr tirc_index_scale(Tirc *c, Expr x, Expr factor) {
  if (x->dtype.lanes == 1) return tirc_mul(c, x, factor);
  if (x->op == OP_RAMP)
    return tirc_ramp(c, tirc_mul(c, x->args[0], factor), tirc_mul(c, x->args[1], factor),
                     x->dtype.lanes);
  Expr k = tirc_cast(c, tirc_dtype_lanes(x->dtype, 1), factor);
  return tirc_expr(c, OP_MUL, x->dtype, 2, (Expr[]){x, tirc_broadcast(c, k, x->dtype.lanes)});
}

/* --- where lanes lie ------------------------------------------------------------------------ */

/* Where the lanes of a vector index lie: at base + at[i], base NULL for 0. */
typedef struct LaneOffsets {
  Expr base;
  int64_t *at;
} LaneOffsets;

static bool lane_offsets(Tirc *c, Expr e, int n, LaneOffsets *out);

static Expr sum_of(Tirc *c, Op op, Expr x, Expr y) {
  if (!y) return x;
  if (op == OP_ADD) return x ? tirc_add(c, x, y) : y;
  return tirc_sub(c, x ? x : tirc_int(c, y->dtype, 0), y);
}

static bool of_sum(Tirc *c, Expr e, int n, LaneOffsets *out) {
  LaneOffsets y;
  if (!lane_offsets(c, e->args[0], n, out) || !lane_offsets(c, e->args[1], n, &y)) return false;
  out->base = sum_of(c, (Op)e->op, out->base, y.base);
  for (int i = 0; i < n; i++) out->at[i] += e->op == OP_ADD ? y.at[i] : -y.at[i];
  return true;
}

static bool of_product(Tirc *c, Expr e, int n, LaneOffsets *out) {
  LaneOffsets y;
  if (!lane_offsets(c, e->args[0], n, out) || !lane_offsets(c, e->args[1], n, &y) || y.base)
    return false;
  for (int i = 0; i < n; i++)
    if (y.at[i] != y.at[0] || llabs(out->at[i]) > INT32_MAX || llabs(y.at[i]) > INT32_MAX)
      return false;
  if (out->base) out->base = tirc_mul(c, out->base, tirc_int(c, out->base->dtype, y.at[0]));
  for (int i = 0; i < n; i++) out->at[i] *= y.at[0];
  return true;
}

/* Of numbers that are not negative all divisions are one. */
static bool of_quotient(Tirc *c, Expr e, int n, LaneOffsets *out) {
  const bool is_rest = e->op == OP_FLOORMOD || e->op == OP_TRUNCMOD;
  LaneOffsets y;
  if (!lane_offsets(c, e->args[0], n, out) || !lane_offsets(c, e->args[1], n, &y)) return false;
  if (out->base || y.base) return false;
  for (int i = 0; i < n; i++) {
    if (out->at[i] < 0 || y.at[i] <= 0) return false;
    out->at[i] = is_rest ? out->at[i] % y.at[i] : out->at[i] / y.at[i];
  }
  return true;
}

static bool lane_offsets(Tirc *c, Expr e, int n, LaneOffsets *out) {
  int64_t k = 0, step;
  if (e->op == OP_BROADCAST) return lane_offsets(c, e->args[0], n, out);
  if (e->op == OP_RAMP) {
    if (!tirc_const_int(e->args[1], &step) || !lane_offsets(c, e->args[0], n, out)) return false;
    for (int i = 0; i < n; i++)
      if (__builtin_mul_overflow(step, i, &k) || __builtin_add_overflow(out->at[i], k, &out->at[i]))
        return false;
    return true;
  }
  if (tirc_dtype_wraps(e->dtype)) return false;
  if (e->dtype.lanes == 1) {
    const bool is_const = tirc_const_int(e, &k);
    *out = (LaneOffsets){is_const ? NULL : e, tirc_new_array(c, int64_t, n)};
    for (int i = 0; i < n; i++) out->at[i] = k;
    return k < INT32_MAX && k > INT32_MIN;
  }
  switch (e->op) {
  case OP_ADD:
  case OP_SUB: return of_sum(c, e, n, out);
  case OP_MUL: return of_product(c, e, n, out);
  case OP_DIV:
  case OP_FLOORDIV:
  case OP_FLOORMOD:
  case OP_TRUNCDIV:
  case OP_TRUNCMOD: return of_quotient(c, e, n, out);
  default: return false;
  }
}

/* false: not by constants from each other, as far as this sees. */
static bool offsets_of(Tirc *c, Expr index, LaneOffsets *out) {
  return index->dtype.lanes > 1 && lane_offsets(c, index, index->dtype.lanes, out);
}

static int by_value(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Rows of one length from sorted numbers, each once; gives how many, 0 where lengths differ. */
static int rows_of(int n, const int64_t *at, int64_t *start, int *each) {
  int rows = 0, length = 0;
  for (int i = 0; i < n; i++, length++) {
    if (i > 0 && at[i] == at[i - 1] + 1) continue;
    if (rows > 1 && length != *each) return 0;
    if (rows > 0) *each = length;
    length = 0;
    start[rows++] = at[i];
  }
  if (rows > 1 && length != *each) return 0;
  *each = length;
  return rows;
}

bool tirc_lane_rows(Tirc *c, Expr index, LaneRows *out) {
  enum { LEAST = 4 };
  LaneOffsets o;
  if (!offsets_of(c, index, &o)) return false;
  const int n = index->dtype.lanes;
  int64_t *sorted = tirc_new_array(c, int64_t, n), *start = tirc_new_array(c, int64_t, n);
  memcpy(sorted, o.at, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, by_value);
  int m = 0, each = 0;
  for (int i = 0; i < n; i++)
    if (i == 0 || sorted[i] != sorted[i - 1]) sorted[m++] = sorted[i];
  const int rows = rows_of(m, sorted, start, &each);
  if (rows == 0 || (rows & (rows - 1)) || each < LEAST) return false;
  int *lane = tirc_new_array(c, int, n);
  for (int i = 0; i < n; i++) {
    const int64_t *found = bsearch(&o.at[i], sorted, (size_t)m, sizeof *sorted, by_value);
    lane[i] = (int)(found - sorted);
  }
  *out = (LaneRows){o.base, rows, each, start, lane};
  return true;
}

/* --- a lane ----------------------------------------------------------------------------------- */

Expr tirc_one_lane(Tirc *c, Expr e, int lane) {
  if (e->dtype.lanes == 1) return e;
  if (e->op == OP_BROADCAST) return e->args[0];
  if (e->op == OP_RAMP)
    return tirc_add(c, e->args[0], tirc_mul(c, e->args[1], tirc_int(c, e->args[1]->dtype, lane)));
  const bool is_load = e->op == OP_LOAD;
  if (e->op == OP_CALL || e->op == OP_LET || (is_load && e->u.buffer->dtype.lanes != 1))
    return NULL;
  Expr *args = tirc_new_array(c, Expr, e->n + 1);
  for (int i = 0; i < e->n; i++) {
    if (!is_load && e->args[i]->dtype.lanes != e->dtype.lanes) return NULL;
    if (!(args[i] = tirc_one_lane(c, e->args[i], lane))) return NULL;
  }
  if (is_load) return tirc_load(c, e->u.buffer, e->n, args);
  return e->n ? tirc_expr(c, (Op)e->op, tirc_dtype_lanes(e->dtype, 1), e->n, args) : NULL;
}
