/* What a block declares to read and write, changed by hand.
 *
 *   unsafe_hide_buffer_access(block, "read", [0, 2])
 *     T.reads(A[...], B[...], C[...])      ->  T.reads(B[...])
 *   annotate_buffer_access(block, 0, "read", lambda vi, vj: ((vi - 1, vi + 2), vj))
 *     T.reads(A[0:64, 0:64])               ->  T.reads(A[vi - 1:vi + 2, vj])
 *                                              T.block_attr({"explicit_read_region": [0]})
 *
 * Both change no instruction of the program, but what other primitives believe of it: a region that
 * is hidden is no dependence any more, and one that is declared too small is copied or computed too
 * small. The first is unsafe by its name; of the second the caller says that the region is right
 * where analysis finds none or too large a one. */
#include "ir/tree/annotations.h"
#include "ir/tree/print.h"
#include "passes/schedule/shape/shape.h"

static bool is_write(Sched *s, SRef *block, const char *type) {
  if (!strcmp(type, "read")) return false;
  if (!strcmp(type, "write")) return true;
  tirc_refuse(s, block->stmt, SERR_BUFFER_TYPE, "buf_type is \"%s\"", type);
}

static void set_regions(Sched *s, SRef *block, Block *to, bool write, int n,
                        const Region *regions) {
  if (write) {
    to->n_writes = n;
    to->writes = regions;
  } else {
    to->n_reads = n;
    to->reads = regions;
  }
  tirc_sched_replace(s, block, tirc_with_loc(s->c, tirc_block(s->c, to), block->stmt->loc));
}

void tirc_prim_unsafe_hide_buffer_access(Sched *s, const Value *args, Value *result) {
  (void)result;
  SRef *block = tirc_sref_of_value(s, args[0]);
  bool write = is_write(s, block, args[1].u.s);
  Block to = *tirc_block_of(block);
  const Regions from = tirc_declared(&to, write);
  const int n = from.n;
  int kept = 0;
  bool *hidden = tirc_new_array(s->c, bool, n + 1);
  for (int i = 0; i < args[2].u.list->n; i++) {
    int64_t at = args[2].u.list->at[i].u.i;
    if (at < 0 || at >= n)
      tirc_refuse(s, block->stmt, SERR_BUFFER_INDEX,
                  "block %s %s %d buffer%s, so there is no number %lld", to.name,
                  write ? "writes" : "reads", n, n == 1 ? "" : "s", (long long)at);
    hidden[at] = true;
  }
  Region *regions = tirc_new_array(s->c, Region, n + 1);
  for (int i = 0; i < n; i++)
    if (!hidden[i]) regions[kept++] = from.at[i];
  to.hides |= !write;
  set_regions(s, block, &to, write, kept, regions);
}

/* --- annotate_buffer_access ------------------------------------------------------------------- */

static Expr bound_of(Sched *s, Value v) {
  if (v.kind == VAL_EXPR && tirc_dtype_is_int(v.u.expr->dtype)) return v.u.expr;
  if (v.kind == VAL_INT) return tirc_int32(s->c, v.u.i);
  tirc_refuse(s, NULL, SERR_REGION_RANK, "a bound of the region is %s, which is not an integer",
              tirc_value_repr(s->c, v));
}

/* (begin, end), or one index for a single element. */
static Range range_of(Sched *s, Value v) {
  if (!tirc_is_sequence(v)) {
    Expr at = bound_of(s, v);
    return tirc_range(at, tirc_int(s->c, at->dtype, 1));
  }
  if (v.u.list->n != 2)
    tirc_refuse(s, NULL, SERR_REGION_RANK,
                "a range must have a begin and an end, but this one is %s",
                tirc_value_repr(s->c, v));
  Expr begin = bound_of(s, v.u.list->at[0]), end = bound_of(s, v.u.list->at[1]);
  return tirc_range(begin, tirc_simplify0(s->c, tirc_sub(s->c, end, begin)));
}

static Region region_of(Sched *s, SRef *block, Buffer buffer, Value function) {
  const Block *b = tirc_block_of(block);
  Callable *fn = function.u.object;
  if (fn->n_params >= 0 && fn->n_params != b->n_iters)
    tirc_sched_error(s, NULL, SERR_REGION_RANK, NULL,
                     "give the function a parameter for each iterator",
                     "gen_new_ranges takes %d arguments, but block %s has %d iterators",
                     fn->n_params, b->name, b->n_iters);
  Value *iters = tirc_new_array(s->c, Value, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) iters[i] = tirc_value_expr(b->iters[i].var);
  Value v = fn->call(fn, b->n_iters, iters);
  bool many = tirc_is_sequence(v);
  int n = many ? v.u.list->n : 1;
  if (n != buffer->ndim)
    tirc_refuse(s, block->stmt, SERR_REGION_RANK,
                "gen_new_ranges returns %d ranges, but buffer %s has %d dimensions", n,
                buffer->name, buffer->ndim);
  Range *dims = tirc_new_array(s->c, Range, n + 1);
  for (int i = 0; i < n; i++) dims[i] = range_of(s, many ? v.u.list->at[i] : v);
  return (Region){buffer, dims};
}

/* The list under `key` with the index in it. */
static Attrs with_index(Sched *s, Attrs attrs, const char *key, int64_t index) {
  Expr old = tirc_attrs_get(attrs, key);
  int n = old && old->op == OP_TUPLE ? old->n : 0;
  Expr *items = tirc_new_array(s->c, Expr, n + 1);
  for (int i = 0; i < n; i++) {
    if (tirc_is_int(old->args[i], index)) return attrs;
    items[i] = old->args[i];
  }
  items[n] = tirc_int32(s->c, index);
  return tirc_attrs_set(s->c, attrs, key, tirc_expr(s->c, OP_TUPLE, DT_HANDLE, n + 1, items));
}

void tirc_prim_annotate_buffer_access(Sched *s, const Value *args, Value *result) {
  (void)result;
  SRef *block = tirc_sref_of_value(s, args[0]);
  bool write = is_write(s, block, args[2].u.s);
  Block to = *tirc_block_of(block);
  Buffer buffer = tirc_nth_buffer(s, block, args[1], write);
  const Regions from = tirc_declared(&to, write);
  Region *regions = tirc_copy(s->c, from.at, from.n);
  int at = args[1].kind == VAL_INT ? (int)args[1].u.i : 0;
  while (regions[at].buffer != buffer) at++;
  regions[at] = region_of(s, block, buffer, args[3]);
  to.annotations =
      with_index(s, to.annotations, tirc_key(write ? KEY_EXPLICIT_WRITE : KEY_EXPLICIT_READ), at);
  set_regions(s, block, &to, write, from.n, regions);
}
