/* What a kernel allocates stands at its top, below the loops over its threads: a GPU has its shared
 * memory and registers from the beginning of a block to the end. Where scope shared does not hold
 * all of it, but a launch may ask for so much, it is shared.dyn. */
#include "internal.h"

#include "ir/tree/find.h"
#include "ir/tree/print.h"

typedef struct Hoist {
  Tirc *c;
  const Gpu *gpu;
  bool in_kernel;
  VEC(Stmt) allocs;
} Hoist;

static bool is_var(const void *unused, Expr e) { return (void)unused, e->op == OP_VAR; }

/* The extent is of all dimensions, in 64 bits: what the program says of it is the variable. */
static _Noreturn void refuse_extent(Tirc *c, Stmt s, Expr extent) {
  Buffer b = s->u.alloc.buffer;
  Expr var = tirc_find_expr(extent, is_var, NULL);
  const char *of = tirc_print_expr(c, var ? var : extent);
  tirc_fail(c, tirc_place_of(s), CODE_LOWER,
            tirc_format(c,
                        "split the loop over %s by a constant and compute_at the writer of %s "
                        "under the outer loop, so that its buffer becomes a tile of constant size",
                        of, b->name),
            "the size of the buffer %s of scope %s depends on %s, but memory that each %s has of "
            "its own needs a constant size",
            b->name, b->scope, of,
            tirc_owner(b->storage) == OWNER_BLOCK ? "block of threads" : "thread");
}

static void check(Tirc *c, Stmt s) {
  Buffer b = s->u.alloc.buffer;
  int64_t n;
  if (b->storage == STORAGE_GLOBAL && !tirc_attrs_get(s->u.alloc.annotations, ALLOC_DATA))
    tirc_fail(c, tirc_place_of(s), CODE_LOWER,
              "give it scope shared or local, or allocate it outside the kernel",
              "the buffer %s of scope global is allocated within a kernel", b->name);
  if (tirc_owner(b->storage) == OWNER_THREAD && b->storage != STORAGE_LOCAL)
    tirc_fail(c, tirc_place_of(s), CODE_LOWER,
              "use scope shared for values that threads exchange and scope local for values of one "
              "thread",
              "the buffer %s has scope %s, which is more than its threads' registers, and which no "
              "pass takes apart",
              b->name, b->scope);
  for (int d = 0; d < b->ndim; d++)
    if (!tirc_const_int(b->shape[d], &n)) refuse_extent(c, s, b->shape[d]);
}

/* A loop that was written out has its buffer several times. */
static bool is_known(const Hoist *h, Buffer b) {
  for (int i = 0; i < h->allocs.n; i++)
    if (h->allocs.at[i]->u.alloc.buffer == b) return true;
  return false;
}

static int64_t shared_bytes(const Hoist *h) {
  int64_t sum = 0;
  for (int i = 0; i < h->allocs.n; i++) {
    Buffer b = h->allocs.at[i]->u.alloc.buffer;
    if (tirc_owner(b->storage) == OWNER_BLOCK) sum = tirc_gpu_end_behind(sum, tirc_lower_bytes(b));
  }
  return sum;
}

/* From a buffer to the same in scope shared.dyn. */
static PtrMap dynamic(const Hoist *h) {
  PtrMap to = {0};
  const int64_t bytes = shared_bytes(h);
  if (bytes <= h->gpu->shared || bytes > h->gpu->shared_dyn) return to;
  for (int i = 0; i < h->allocs.n; i++) {
    struct BufferNode b = *h->allocs.at[i]->u.alloc.buffer;
    if (b.storage != STORAGE_SHARED) continue;
    b.scope = "shared.dyn";
    tirc_map_set(h->c, &to, h->allocs.at[i]->u.alloc.buffer, tirc_buffer_copy(h->c, &b));
  }
  return to;
}

static Stmt visit(Mutator *m, Stmt s) {
  Hoist *h = m->self;
  if (s->kind == STMT_ALLOC && h->in_kernel) {
    check(h->c, s);
    if (!is_known(h, s->u.alloc.buffer)) vec_push(h->c, h->allocs, s);
    return tirc_mutate_stmt(m, s->u.alloc.body);
  }
  const bool is_thread = tirc_is_thread_loop(s), was = h->in_kernel;
  const bool is_innermost = is_thread && !tirc_is_thread_loop(s->u.loop.body);
  h->in_kernel |= is_thread;
  if (is_innermost) h->allocs.n = 0;
  s = tirc_mutate_stmt_children(m, s);
  h->in_kernel = was;
  if (!is_innermost) return s;
  For loop = s->u.loop;
  for (int i = h->allocs.n - 1; i >= 0; i--)
    loop.body = tirc_alloc_stmt(h->c, STMT_ALLOC, h->allocs.at[i]->u.alloc.buffer,
                                h->allocs.at[i]->u.alloc.annotations, loop.body);
  const PtrMap to = dynamic(h);
  if (to.n) loop.body = tirc_substitute_buffers(h->c, loop.body, &to);
  return tirc_for(h->c, &loop);
}

Stmt tirc_lower_kernel_buffers(Tirc *c, const Func *f) {
  Hoist h = {.c = c, .gpu = tirc_gpu_of(f)};
  Mutator m = {.c = c, .stmt = visit, .self = &h};
  return tirc_mutate_stmt(&m, f->body);
}
