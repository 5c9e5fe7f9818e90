/* The limits of a GPU on one block of threads, which must be known, and on how many blocks a launch
 * has along an axis, where that is known. */
#include "internal.h"

#include "ir/tree/print.h"

typedef struct Limits {
  Tirc *c;
  const Gpu *gpu;
  const char *threads_text; /* "threadIdx.x of 64, threadIdx.y of 32" */
  int64_t threads, shared;
  int64_t at_once; /* blocks of a multiprocessor that a loop asks for, or 0 */
  Stmt kernel;
  Stmt largest; /* an allocation */
} Limits;

static void check_along(const Limits *l, Stmt s, int64_t n) {
  const char *axis = s->u.loop.thread;
  const bool is_block = tirc_is_block_axis(s->u.loop.axis);
  const int64_t most = tirc_gpu_most_along(l->gpu->kind, s->u.loop.axis);
  const bool more_along_x = tirc_gpu_most_along(l->gpu->kind, 0) > most;
  if (n > most)
    tirc_fail(l->c, tirc_place_of(s), CODE_LOWER,
              s->u.loop.axis == 0        ? "split it, and bind the outer loop to blockIdx.y"
              : is_block && more_along_x ? "use blockIdx.x for the longest loop"
              : is_block                 ? "split it, and bind the outer loop to another axis"
                                         : "use threadIdx.x or threadIdx.y for the longer loop",
              "%s has %lld %s, but %s allows at most %lld along this axis", axis, (long long)n,
              is_block ? "blocks" : "threads", l->gpu->name, (long long)most);
}

static void add_threads(Limits *l, Stmt s) {
  const For *loop = &s->u.loop;
  int64_t n;
  if (!tirc_is_thread_axis(loop->axis)) {
    if (tirc_const_int(loop->extent, &n)) check_along(l, s, n);
    return;
  }
  if (!tirc_const_int(loop->extent, &n) || n < 1)
    tirc_fail(l->c, tirc_place_of(s), CODE_LOWER, "split it by a constant and bind the inner loop",
              "the loop %s over %s has the extent %s, but the number of threads in a block must be "
              "a constant",
              loop->var->u.s, loop->thread, tirc_print_expr(l->c, loop->extent));
  l->threads = l->threads > INT32_MAX / n ? INT32_MAX : l->threads * n;
  l->threads_text = tirc_format(l->c, "%s%s%s of %lld", l->threads_text,
                                *l->threads_text ? ", " : "", loop->thread, (long long)n);
  if (n <= l->gpu->threads)
    check_along(l, s, n); /* else the block has too many, however they lie */
}

static void add_buffer(Limits *l, Stmt s) {
  Buffer b = s->u.alloc.buffer;
  if (tirc_owner(b->storage) != OWNER_BLOCK) return;
  const int64_t bytes = tirc_lower_bytes(b);
  if (!l->largest || bytes < 0 || bytes > tirc_lower_bytes(l->largest->u.alloc.buffer))
    l->largest = s;
  l->shared = tirc_gpu_end_behind(l->shared, bytes);
}

static void check_shared(const Limits *l) {
  if (l->shared <= l->gpu->shared_dyn) return;
  Buffer most = l->largest->u.alloc.buffer;
  tirc_fail(
      l->c, tirc_place_of(l->largest), CODE_LOWER, "make its tile smaller",
      "a thread block needs %lld bytes of shared memory, %lld of them for %s, but %s has only %lld",
      (long long)l->shared, (long long)tirc_lower_bytes(most), most->name, l->gpu->name,
      (long long)l->gpu->shared_dyn);
}

/* What cannot be, CUDA's compilers would pass over. */
static void check_at_once(const Limits *l, Stmt s) {
  const Multiprocessors *m = &l->gpu->side;
  const struct {
    int64_t asked, most;
    const char *what;
  } of[] = {{1, m->blocks, "blocks"},
            {l->threads, m->threads, "threads"},
            {l->shared + m->shared_of_system, m->shared, "bytes of shared memory"}};
  for (int i = 0; l->at_once && m->threads && i < 3; i++)
    if (of[i].asked && l->at_once > of[i].most / of[i].asked)
      tirc_fail(l->c, tirc_place_of(s), CODE_LOWER, "ask for fewer blocks, or make them smaller",
                "blocks_per_multiprocessor asks for %lld blocks of %lld threads and %lld bytes of "
                "shared memory at the same time, and a multiprocessor of %s has %lld %s",
                (long long)l->at_once, (long long)l->threads, (long long)l->shared, l->gpu->name,
                (long long)of[i].most, of[i].what);
}

static bool look(Visitor *v, Stmt s) {
  Limits *l = v->self;
  if (tirc_is_thread_loop(s)) {
    if (!l->kernel) {
      l->kernel = s;
      l->threads = 1;
      l->shared = 0;
      l->at_once = 0;
      l->threads_text = "";
      l->largest = NULL;
    }
    add_threads(l, s);
    tirc_gpu_blocks_at_once(&s->u.loop, &l->at_once);
    if (l->threads > l->gpu->threads)
      tirc_fail(l->c, tirc_place_of(s), CODE_LOWER, "bind shorter loops to threadIdx",
                "a block has %lld threads (%s), but %s allows at most %d", (long long)l->threads,
                l->threads_text, l->gpu->name, l->gpu->threads);
    if (tirc_is_thread_loop(s->u.loop.body)) return true;
    Limits inner = *l;
    tirc_visit_stmts(s->u.loop.body, look, &inner);
    check_shared(&inner);
    check_at_once(&inner, s);
    l->kernel = NULL;
    return false;
  }
  if (s->kind == STMT_ALLOC && l->kernel) add_buffer(l, s);
  return true;
}

Stmt tirc_lower_gpu_limits(Tirc *c, const Func *f) {
  Limits l = {.c = c, .gpu = tirc_gpu_of(f)};
  tirc_visit_stmts(f->body, look, &l);
  return f->body;
}
