/* What the threads of a group have, made one. Within a warp, by shuffles: each takes what the
 * thread so many lanes further has,
 *
 *   v = v + T.tvm_warp_shuffle_down(mask, v, 4, 8, 32)
 *   v = v + T.tvm_warp_shuffle_down(mask, v, 2, 8, 32)
 *   v = v + T.tvm_warp_shuffle_down(mask, v, 1, 8, 32)
 *
 * In a group of several warps each does so; what they have goes through shared memory, and is made
 * one by shuffles again, of which every few lanes do the same:
 *
 *   if t % 32 == 0: red[t // 32] = v
 *   v = red[t % 4]
 *   v = v + T.tvm_warp_shuffle_down(mask, v, 2, 4, 32)
 *   v = v + T.tvm_warp_shuffle_down(mask, v, 1, 4, 32)
 *
 * Otherwise through shared memory, by halves; a group of any size:
 *
 *   red[t] = v
 *   if t < 4 and t + 4 < 6: red[t] = red[t] + red[t + 4]
 *   if t < 2:               red[t] = red[t] + red[t + 2]
 *   if t < 1:               red[t] = red[t] + red[t + 1]
 *
 * Barriers between these come from ThreadSync, as everywhere. */
#include "cross_thread.h"

typedef struct Reduce {
  Tirc *c;
  const Reducer *r;
  const Gpu *gpu;
  const Group *g;
  Buffers *allocs;
  Stmts *out;
} Reduce;

static Buffer buffer(Reduce *k, const char *name, DType t, int64_t n, const char *scope) {
  Expr extent = tirc_int32(k->c, n);
  Buffer b = tirc_buffer(k->c, name, t, 1, &extent, scope);
  vec_push(k->c, *k->allocs, b);
  return b;
}

/* All components at once: none is stored before all are computed. */
static Stmt store_all(Reduce *k, const Buffer *to, Expr index, const Expr *values) {
  Tirc *c = k->c;
  Stmt stores[MAX_COMPONENTS];
  Expr vars[MAX_COMPONENTS];
  for (int i = 0; i < k->r->n; i++) {
    vars[i] = tirc_var(c, "v", values[i]->dtype);
    stores[i] = tirc_store(c, to[i], 1, &index, k->r->n > 1 ? vars[i] : values[i]);
  }
  Stmt s = tirc_seq(c, k->r->n, stores);
  for (int i = k->r->n - 1; i >= 0 && k->r->n > 1; i--) s = tirc_let(c, vars[i], values[i], s);
  return s;
}

static void load_all(Reduce *k, const Buffer *from, Expr index, Expr *out) {
  for (int i = 0; i < k->r->n; i++) out[i] = tirc_load(k->c, from[i], 1, &index);
}

static void combine_all(Reduce *k, const Expr *x, const Expr *y, Expr *out) {
  for (int i = 0; i < k->r->n; i++) out[i] = tirc_reducer_apply(k->c, k->r, i, x, y);
}

static Expr place(Reduce *k, int64_t plus) {
  return tirc_add(k->c, k->g->place, tirc_int(k->c, k->g->place->dtype, plus));
}

/* --- through shared memory -------------------------------------------------------------------- */

static void by_memory(Reduce *k, const Expr *values, Expr *result) {
  Tirc *c = k->c;
  const Group *g = k->g;
  const DType t = g->place->dtype;
  Buffer red[MAX_COMPONENTS];
  for (int i = 0; i < k->r->n; i++)
    red[i] =
        buffer(k, tirc_format(c, "red_buf%d", i), values[i]->dtype, g->size * g->groups, "shared");
  Expr first = tirc_mul(c, g->number, tirc_int(c, t, g->size));
  Expr own = tirc_add(c, first, g->place);
  vec_push(c, *k->out, store_all(k, red, own, values));
  int64_t half = 1;
  while (2 * half < g->size) half *= 2;
  for (; half >= 1 && g->size > 1; half /= 2) {
    Expr x[MAX_COMPONENTS], y[MAX_COMPONENTS], both[MAX_COMPONENTS];
    Expr at = tirc_add(c, first, place(k, half));
    load_all(k, red, own, x);
    load_all(k, red, at, y);
    combine_all(k, x, y, both);
    Expr cond = tirc_lt(c, g->place, tirc_int(c, t, half));
    if (2 * half > g->size)
      cond = tirc_and(c, cond, tirc_lt(c, place(k, half), tirc_int(c, t, g->size)));
    vec_push(c, *k->out, tirc_if(c, cond, store_all(k, red, own, both), NULL));
  }
  load_all(k, red, first, result);
}

/* --- within warps ----------------------------------------------------------------------------- */

static Expr shuffle(Reduce *k, Callee how, Buffer mask, Expr value, Expr lane, int64_t width) {
  Tirc *c = k->c;
  Expr zero = tirc_int32(c, 0), warp = tirc_int32(c, k->gpu->warp);
  Expr args[] = {tirc_load(c, mask, 1, &zero), value, lane, tirc_int32(c, width), warp};
  return tirc_call(c, value->dtype, how, 5, args);
}

/* After it, the first of each `size` lanes has what they make together in `mine`. */
static void by_lanes(Reduce *k, Buffer mask, const Buffer *mine, const Buffer *theirs,
                     int64_t size) {
  Tirc *c = k->c;
  Expr zero = tirc_int32(c, 0), x[MAX_COMPONENTS], y[MAX_COMPONENTS], both[MAX_COMPONENTS];
  for (int64_t step = size / 2; step >= 1; step /= 2) {
    load_all(k, mine, zero, x);
    for (int i = 0; i < k->r->n; i++) {
      y[i] = shuffle(k, CALL_TVM_WARP_SHUFFLE_DOWN, mask, x[i], tirc_int32(c, step), size);
      vec_push(c, *k->out, tirc_store(c, theirs[i], 1, &zero, y[i]));
    }
    load_all(k, theirs, zero, y);
    combine_all(k, x, y, both);
    vec_push(c, *k->out, store_all(k, mine, zero, both));
  }
}

/* From the first lane of each warp of a group to lanes 0, 1, ... of each warp, and so on again. */
static void across_warps(Reduce *k, const Buffer *mine, const Expr *values) {
  Tirc *c = k->c;
  const Group *g = k->g;
  const DType t = g->place->dtype;
  Expr warp = tirc_int(c, t, k->gpu->warp), n = tirc_int(c, t, g->size / k->gpu->warp);
  Expr zero = tirc_int32(c, 0), x[MAX_COMPONENTS];
  Buffer red[MAX_COMPONENTS];
  for (int i = 0; i < k->r->n; i++)
    red[i] = buffer(k, tirc_format(c, "red_warps%d", i), values[i]->dtype,
                    g->groups * (g->size / k->gpu->warp), "shared");
  Expr first = tirc_mul(c, g->number, n);
  Expr is_first = tirc_eq(c, tirc_floormod(c, g->place, warp), tirc_int(c, t, 0));
  Expr own = tirc_add(c, first, tirc_floordiv(c, g->place, warp));
  load_all(k, mine, zero, x);
  vec_push(c, *k->out, tirc_if(c, is_first, store_all(k, red, own, x), NULL));
  load_all(k, red, tirc_add(c, first, tirc_floormod(c, g->place, n)), x);
  vec_push(c, *k->out, store_all(k, mine, zero, x));
}

static void by_shuffles(Reduce *k, const Expr *values, bool all, Expr *result) {
  Tirc *c = k->c;
  Expr zero = tirc_int32(c, 0);
  Buffer mine[MAX_COMPONENTS], theirs[MAX_COMPONENTS];
  Buffer mask = buffer(k, "mask", DT(TYPE_UINT, 32), 1, "local");
  for (int i = 0; i < k->r->n; i++) {
    mine[i] = buffer(k, tirc_format(c, "red_buf%d", i), values[i]->dtype, 1, "local");
    theirs[i] = buffer(k, tirc_format(c, "t%d", i), values[i]->dtype, 1, "local");
  }
  vec_push(c, *k->out, store_all(k, mine, zero, values));
  Expr active = tirc_call(c, DT(TYPE_UINT, 32), CALL_TVM_WARP_ACTIVEMASK, 0, NULL);
  vec_push(c, *k->out, tirc_store(c, mask, 1, &zero, active));
  int64_t lanes = k->g->size;
  if (lanes > k->gpu->warp) {
    by_lanes(k, mask, mine, theirs, k->gpu->warp);
    across_warps(k, mine, values);
    lanes /= k->gpu->warp;
  }
  by_lanes(k, mask, mine, theirs, lanes);
  for (int i = 0; all && i < k->r->n; i++) {
    Expr value = tirc_load(c, mine[i], 1, &zero);
    value = shuffle(k, CALL_TVM_WARP_SHUFFLE, mask, value, zero, lanes);
    vec_push(c, *k->out, tirc_store(c, mine[i], 1, &zero, value));
  }
  load_all(k, mine, zero, result);
}

static bool can_shuffle(const Reduce *k, const Expr *values) {
  for (int i = 0; i < k->r->n; i++) {
    const DType t = values[i]->dtype;
    if (t.code == TYPE_BFLOAT || t.code == TYPE_BOOL || t.bits < 16) return false;
  }
  return k->gpu->shuffles && k->g->lanes && k->g->size <= k->gpu->warp * k->gpu->warp;
}

void tirc_lower_all_reduce(Tirc *c, const Reducer *r, const Gpu *gpu, const Group *g,
                           const Expr *values, bool all, Buffers *allocs, Stmts *out,
                           Expr *result) {
  Reduce k = {c, r, gpu, g, allocs, out};
  if (can_shuffle(&k, values))
    by_shuffles(&k, values, all, result);
  else
    by_memory(&k, values, result);
}
