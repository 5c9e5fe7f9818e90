/* What a part of a function computes and moves, and which parts a probe would not disturb. */
#include "parts.h"

#include "ir/arith/access.h"
#include "ir/arith/arith.h"
#include "ir/arith/box.h"
#include "ir/tree/annotations.h"
#include "ir/tree/find.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"

#include <math.h>

/* --- bytes ------------------------------------------------------------------------------------ */

typedef struct Counter {
  Tirc *c;
  Analyzer *a;
  const Func *f;
  const Parts *parts;
  tirc_profile_part *at;
  PtrMap lives; /* from a buffer that the function makes to 1 + the part that it lives in */
} Counter;

/* Elements of a dimension that a range covers while the block's iterators go through all they do.
 */
static double covered(Counter *k, Range r, Expr whole, const PtrMap *domains) {
  int64_t first, last, extent;
  const IntSet set = tirc_box_of_range(k->a, r, domains);
  const bool all = !tirc_const_int(whole, &extent);
  const double most = all ? 1 : (double)extent;
  if (!set.min || !set.max || !tirc_const_int(tirc_simplify(k->a, set.min), &first) ||
      !tirc_const_int(tirc_simplify(k->a, set.max), &last))
    return most;
  const double n = (double)last - (double)first + 1;
  return n < 0 ? 0 : !all && n > most ? most : n;
}

/* Counts of open extents may be beyond all numbers; capped, thousands of them still have a sum. */
static int64_t whole(double x) { return (int64_t)fmin(x, 1e15); }

static int64_t region_bytes(Counter *k, const Region *r, const PtrMap *domains) {
  double bytes = tirc_dtype_bytes(r->buffer->dtype);
  for (int d = 0; d < r->buffer->ndim; d++)
    bytes *= covered(k, r->dims[d], r->buffer->shape[d], domains);
  return whole(bytes);
}

static PtrMap domains_of(Counter *k, const Block *b) {
  PtrMap out = {0};
  for (int i = 0; i < b->n_iters; i++) {
    const IntSet set = tirc_set_of_range(k->c, b->iters[i].dom);
    tirc_map_set(k->c, &out, b->iters[i].var, tirc_copy(k->c, &set, 1));
  }
  return out;
}

/* The innermost part that both are in. */
static int common_part(const Parts *p, int a, int b) {
  while (a != b)
    if (p->at[a].depth >= p->at[b].depth)
      a = p->at[a].parent;
    else
      b = p->at[b].parent;
  return a;
}

static bool is_param(const Func *f, Buffer b) {
  for (int i = 0; i < f->n_params; i++)
    if (f->buffers[i] && f->buffers[i]->data == b->data) return true;
  return false;
}

static void note_life(Counter *k, Buffer b, int part) {
  const uintptr_t was = (uintptr_t)tirc_map_get(&k->lives, b->data);
  const int now = was ? common_part(k->parts, (int)was - 1, part) : part;
  if (!is_param(k->f, b)) tirc_map_set(k->c, &k->lives, b->data, (void *)(uintptr_t)(now + 1));
}

/* Where a buffer of the function lives: outside of the outermost blocks that use it. */
static void note_lives(Counter *k) {
  for (int i = 1; i < k->parts->n; i++) {
    const Stmt s = k->parts->at[i].stmt;
    if (s->kind != STMT_BLOCK) continue;
    const int around = k->parts->at[i].parent;
    for (int r = 0; r < s->u.block.n_reads; r++) note_life(k, s->u.block.reads[r].buffer, around);
    for (int w = 0; w < s->u.block.n_writes; w++) note_life(k, s->u.block.writes[w].buffer, around);
  }
}

/* Whether it is memory of the part that is there before and afterwards. */
static bool outlives(const Counter *k, Buffer b) {
  uintptr_t at = (uintptr_t)tirc_map_get(&k->lives, b->data);
  if (!at) return true;
  for (int part = (int)at - 1; part > 0; part = k->parts->at[part].parent) {
    int64_t extent = 0;
    const Stmt s = k->parts->at[part].stmt;
    if (s->kind == STMT_FOR && !(tirc_const_int(s->u.loop.extent, &extent) && extent == 1))
      return false;
  }
  return true;
}

typedef struct Sums {
  Counter *k;
  VEC(Buffer) read, written; /* each once */
} Sums;

static bool is_new(Counter *k, Buffer *at, int n, Buffer b) {
  for (int i = 0; i < n; i++)
    if (at[i]->data == b->data) return false;
  return outlives(k, b);
}

/* Of all blocks in it that hold no others; a buffer that several of them use counts once, where it
 * is used first. */
static void count_bytes(Counter *k, int part) {
  Sums sums = {k, {0}, {0}};
  for (int i = part;
       i < k->parts->n && (i == part || k->parts->at[i].depth > k->parts->at[part].depth); i++) {
    const Stmt s = k->parts->at[i].stmt;
    if (!s || s->kind != STMT_BLOCK) continue;
    const Block *b = &s->u.block;
    const PtrMap domains = domains_of(k, b);
    for (int r = 0; r < b->n_reads; r++)
      if (is_new(k, sums.read.at, sums.read.n, b->reads[r].buffer)) {
        vec_push(k->c, sums.read, b->reads[r].buffer);
        k->at[part].bytes_read += region_bytes(k, &b->reads[r], &domains);
      }
    for (int w = 0; w < b->n_writes; w++)
      if (is_new(k, sums.written.at, sums.written.n, b->writes[w].buffer)) {
        vec_push(k->c, sums.written, b->writes[w].buffer);
        k->at[part].bytes_written += region_bytes(k, &b->writes[w], &domains);
      }
  }
}

/* --- operations ------------------------------------------------------------------------------- */

static double extent_of(Tirc *c, Expr e) {
  int64_t n;
  if (!tirc_const_int(tirc_simplify0(c, e), &n)) return -1;
  return n < 0 ? 0 : (double)n;
}

static void count_operations(Counter *k, int part) {
  tirc_profile_part *p = &k->at[part];
  tirc_cost cost;
  IntegerWork integers;
  const Stmt s = k->parts->at[part].stmt;
  const Func *f = s ? tirc_func_with_body(k->c, k->f, s) : k->f;
  tirc_count_cost(k->c, f, &cost, &integers);
  p->float_ops = p->times * cost.float_ops;
  p->integer_ops = p->times * integers.operations;
  p->integer_bits = integers.bits;
}

static void describe(Counter *k, int part) {
  enum { UNKNOWN = 64 }; /* steps of a loop of which only the run tells how many it has */
  const Part *from = &k->parts->at[part];
  tirc_profile_part *p = &k->at[part];
  *p = (tirc_profile_part){.parent = from->parent, .depth = from->depth, .times = 1, .threads = 1};
  p->name = from->stmt ? NULL : k->f->name;
  p->kind = "function";
  if (!from->stmt) return;
  const Part *around = &k->parts->at[from->parent];
  p->times = k->at[from->parent].times;
  if (around->stmt && around->stmt->kind == STMT_FOR) {
    const double n = extent_of(k->c, around->stmt->u.loop.extent);
    p->times *= n < 0 ? UNKNOWN : n;
  }
  p->is_block = from->stmt->kind == STMT_BLOCK;
  p->name = p->is_block ? from->stmt->u.block.name : from->stmt->u.loop.var->u.s;
  p->kind = p->is_block ? "block" : tirc_loop_kind_name(from->stmt->u.loop.kind);
  p->extent = p->is_block ? 0 : (int64_t)extent_of(k->c, from->stmt->u.loop.extent);
}

tirc_profile_part *tirc_count_parts(Tirc *c, const Func *f, const Parts *parts) {
  Counter k = {.c = c, .a = tirc_analyzer(c), .f = f, .parts = parts};
  k.at = tirc_new_array(c, tirc_profile_part, parts->n);
  note_lives(&k);
  for (int i = 0; i < parts->n; i++) {
    describe(&k, i);
    count_operations(&k, i);
    count_bytes(&k, i);
  }
  return k.at;
}

/* --- which may have a probe ------------------------------------------------------------------- */

/* Steps that a pragma around lets lowering write out. */
static int64_t pragma_steps(const Parts *parts, int part) {
  for (int64_t n; part > 0; part = parts->at[part].parent) {
    const Stmt s = parts->at[part].stmt;
    Expr wish = tirc_attrs_get(s->kind == STMT_FOR ? s->u.loop.annotations : s->u.block.annotations,
                               tirc_key(KEY_UNROLL_MAX_STEP));
    if (wish && tirc_const_int(wish, &n)) return n;
  }
  return 0;
}

static int64_t steps_of(Tirc *c, Stmt s) {
  int64_t n = 0;
  Stmt below;
  if (s->kind == STMT_FOR) {
    const double extent = extent_of(c, s->u.loop.extent);
    return whole((extent < 0 ? 1e6 : extent) * (double)steps_of(c, s->u.loop.body));
  }
  if (s->kind == STMT_STORE || s->kind == STMT_EVAL) return 1;
  if (s->kind == STMT_BLOCK) return steps_of(c, s->u.block.body) + (s->u.block.init ? 1 : 0);
  for (int i = 0; (below = tirc_below(s, i)); i++) n += steps_of(c, below);
  return n;
}

/* How a part stands in the code: a loop that goes round, statements one behind the other, threads
 * of a GPU, or what it holds. */
typedef enum Form { ROUND, STRAIGHT, THREADS, HOLDS } Form;

static Form form_of(Tirc *c, const Parts *parts, int part) {
  const Stmt s = parts->at[part].stmt;
  if (!s || s->kind != STMT_FOR) return HOLDS;
  const LoopKind kind = s->u.loop.kind;
  if (kind == LOOP_THREAD_BINDING) return THREADS;
  if (kind == LOOP_VECTORIZED || kind == LOOP_UNROLLED) return STRAIGHT;
  if (extent_of(c, s->u.loop.extent) == 1) return HOLDS;
  return kind == LOOP_PARALLEL || steps_of(c, s) > pragma_steps(parts, part) ? ROUND : STRAIGHT;
}

bool *tirc_parts_to_probe(Tirc *c, const Parts *parts, bool in_kernels) {
  bool *may = tirc_new_array(c, bool, parts->n), *is_open = tirc_new_array(c, bool, parts->n);
  bool *holds_loop = tirc_new_array(c, bool, parts->n); /* within it, deeper than itself */
  bool *in_loop = tirc_new_array(c, bool, parts->n), *in_kernel = tirc_new_array(c, bool, parts->n);
  Form *form = tirc_new_array(c, Form, parts->n);
  for (int i = parts->n - 1; i > 0; i--) {
    form[i] = form_of(c, parts, i);
    if (form[i] == ROUND || holds_loop[i]) holds_loop[parts->at[i].parent] = true;
  }
  is_open[0] = true;
  may[0] = !in_kernels;
  for (int i = 1; i < parts->n; i++) {
    const int around = parts->at[i].parent;
    in_loop[i] = in_loop[around] || form[around] == ROUND;
    in_kernel[i] = in_kernel[around] || form[around] == THREADS;
    const bool innermost = (in_loop[i] || form[around] == STRAIGHT) && !holds_loop[around];
    is_open[i] = is_open[around] && !innermost;
    /* Straight code within a loop is a part of it, and a loop of one step is what it holds. */
    const bool is_code = form[i] == STRAIGHT && !holds_loop[i] && in_loop[i];
    const bool is_one = form[i] == HOLDS && parts->at[i].stmt->kind == STMT_FOR;
    may[i] =
        is_open[i] && !is_code && !is_one && form[i] != THREADS && (in_kernel[i] || !in_kernels);
  }
  return may;
}
