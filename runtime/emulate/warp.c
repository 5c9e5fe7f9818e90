/* What the threads of a warp do together: they hand values around, and wait for each other. A
 * shuffle evaluates its operand for all threads that reach it, and then each takes the value of
 * another one. */
#include "code.h"

enum { MASK, VALUE, LANE, WIDTH, SIZE, SHUFFLE_ARGS };

static bool is_shuffle(Expr x) {
  return tirc_calls(x, CALL_TVM_WARP_SHUFFLE) || tirc_calls(x, CALL_TVM_WARP_SHUFFLE_UP) ||
         tirc_calls(x, CALL_TVM_WARP_SHUFFLE_DOWN);
}
bool tirc_is_warp_call(Expr x) { return tirc_calls(x, CALL_TVM_WARP_ACTIVEMASK) || is_shuffle(x); }

/* Of each thread of the block, where it stands in the list; -1. */
static int *find_positions(Emu *e, const Threads *l) {
  int *position = (int *)(void *)take(e, e->threads / 2 + 1);
  for (int i = 0; i < e->threads; i++) position[i] = -1;
  for (int k = 0; k < l->n; k++) position[l->at[k]] = k;
  return position;
}

static Values of_activemask(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  Cell *top = e->top;
  const int *const position = find_positions(e, l);
  for (int k = 0; k < l->n; k++) {
    const int first = l->at[k] / WARP * WARP;
    uint32_t mask = 0;
    for (int i = 0; i < WARP && first + i < e->threads; i++)
      mask |= (uint32_t)(position[first + i] >= 0) << i;
    room[k].i = p->dtype.code == TYPE_UINT ? (int64_t)mask : (int32_t)mask;
  }
  e->top = top;
  return (Values){room, false};
}

/* All that the mask names are there. */
static void check_mask(Emu *e, const int *position, int thread, uint64_t mask, int size) {
  const int first = thread / size * size;
  for (int i = 0; i < size && i < 64 && first + i < e->threads; i++) {
    if (!(mask >> i & 1) || position[first + i] >= 0) continue;
    e->thread = thread;
    tirc_emu_fail(e, CODE_SHUFFLE, "let all threads of the warp reach it",
                  "the mask of the shuffle in %s names thread %s, which does not reach it",
                  tirc_emu_act(e, e->doing), tirc_emu_thread(e, first + i));
  }
}

/* The thread whose value this one takes: one beyond the end of its part of the warp is itself. */
static int source_of(const Piece *p, int thread, int64_t lane, int64_t width, int size) {
  const int own = thread % size, first = thread - own;
  const int64_t part = own / width * width;
  int64_t from;
  switch (p->expr->u.callee) {
  case CALL_TVM_WARP_SHUFFLE: from = part + ((lane % width) + width) % width; break;
  case CALL_TVM_WARP_SHUFFLE_UP: from = own - lane < part ? own : own - lane; break;
  default: from = own + lane >= part + width ? own : own + lane; break;
  }
  return first + (int)from;
}

static Values of_shuffle(Emu *e, const Piece *p, const Threads *l, Cell *room) {
  Cell *top = e->top;
  Values given[5];
  for (int i = 0; i < 5; i++) given[i] = evaluate(e, p->args[i], l, take(e, l->n));
  const int *const position = find_positions(e, l);
  for (int k = 0; k < l->n; k++) {
    const int64_t size = value_at(given[SIZE], k).i, width = value_at(given[WIDTH], k).i;
    const int64_t lane = value_at(given[LANE], k).i;
    e->thread = l->at[k];
    const bool wraps =
        p->expr->u.callee == CALL_TVM_WARP_SHUFFLE; /* a lane of its part in any case */
    if (size < 1 || size > 64 || width < 1 || width > size || lane < 0 || (!wraps && lane > size))
      tirc_emu_fail(e, CODE_SHUFFLE, NULL,
                    "a shuffle by %lld lanes with a width of %lld in a warp of %lld",
                    (long long)lane, (long long)width, (long long)size);
    check_mask(e, position, l->at[k], (uint64_t)value_at(given[MASK], k).i, (int)size);
    const int from = source_of(p, l->at[k], lane, width, (int)size);
    if (from >= e->threads || position[from] < 0)
      tirc_emu_fail(e, CODE_SHUFFLE, "let all threads of the warp reach it",
                    "the shuffle in %s reads from lane %d of the warp, which %s",
                    tirc_emu_act(e, e->doing), from % (int)size,
                    from >= e->threads ? "the block has no thread for" : "does not reach it");
    room[k] = value_at(given[VALUE], position[from]);
  }
  e->thread = -1;
  e->top = top;
  return (Values){room, false};
}

Eval tirc_emu_warp_call(Emu *e, Piece *p) {
  if (!tirc_is_warp_call(p->expr)) return NULL;
  const bool shuffles = is_shuffle(p->expr);
  const int n = shuffles ? SHUFFLE_ARGS : 0;
  if (p->expr->n != n || p->expr->dtype.lanes > 1)
    tirc_fail(e->t, e->scalar.loc, CODE_TYPE, NULL, "T.%s takes %d scalars", tirc_called(p->expr),
              n);
  p->n_args = p->expr->n;
  p->args = tirc_emu_exprs(e, p->n_args, p->expr->args);
  if (shuffles && !tirc_dtype_equal(p->expr->dtype, p->expr->args[VALUE]->dtype))
    tirc_fail(e->t, e->scalar.loc, CODE_TYPE, NULL, "T.%s gives a value of the type of its operand",
              tirc_called(p->expr));
  return shuffles ? of_shuffle : of_activemask;
}

/* T.tvm_storage_sync("warp") */
void tirc_emu_warp_sync(Emu *e, const Threads *l) {
  Cell *top = e->top;
  const int *const position = find_positions(e, l);
  for (int k = 0; k < l->n; k++) {
    const int first = l->at[k] / WARP * WARP;
    for (int i = first; i < first + WARP && i < e->threads; i++) {
      if (position[i] >= 0) continue;
      e->thread = l->at[k];
      tirc_emu_fail(e, CODE_BARRIER, "let all threads of the warp reach it",
                    "not all threads of the warp reach %s: thread %s does not",
                    tirc_emu_act(e, e->doing), tirc_emu_thread(e, i));
    }
  }
  e->time++;
  e->epoch->stamp = ++e->clock;
  for (int k = 0; k < l->n; k++) e->warp_time[l->at[k] / WARP] = e->time;
  e->top = top;
}
