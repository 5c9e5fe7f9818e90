/* A loop that is annotated software_pipeline_stage overlaps its iterations: a statement of stage s
 * runs s steps later than the loop says, beside the earlier stages of the next iterations. What one
 * stage hands to a later one is there several times.
 *
 *   for k in range(8):  # stage [0, 1]          S = T.decl_buffer((2, 32,), scope="shared")
 *     S = T.decl_buffer((32,), "shared")        S[0, tx] = A[tx]
 *     S[tx] = A[k * 32 + tx]              ->    for k in range(7):
 *     C[tx] = C[tx] + S[31 - tx]                  S[(k + 1) % 2, tx] = A[(k + 1) * 32 + tx]
 *                                                 C[tx] = C[tx] + S[k % 2, 31 - tx]
 *                                               C[tx] = C[tx] + S[1, 31 - tx]
 *
 * software_pipeline_order says in which order statements stand in the new loop, which is not there
 * where the old one had no more steps than stages. Where only the run tells how many steps there
 * are, n, each statement before the new loop asks whether its step is there, and what is behind it
 * whether it is not before it already:
 *
 *   if 0 < n: S[0, tx] = A[tx]
 *   for k in range(T.max(n, 1) - 1): ...
 *   if 1 <= n: C[tx] = C[tx] + S[(n - 1) % 2, 31 - tx]
 *
 * A loop stays as it is where it has one step, where statements that would change places touch the
 * same memory in another way, or where a call has a pointer to what would be there several times;
 * but for pointers of T.tvm_access_ptr, which say what they are for.
 *
 * Of stages that software_pipeline_async_stages names the copies are asynchronous, where the target
 * has such copies. Those of one step are a group; what uses them waits until so few later groups
 * are on their way that its own is there:
 *
 *   with T.attr(0, "async_scope", 1): S[(k + 1) % 2, tx] = A[(k + 1) * 32 + tx]
 *   T.ptx_commit_group()
 *   T.ptx_wait_group(1)
 *   C[tx] = C[tx] + S[k % 2, 31 - tx] */
#include "internal.h"
#include "ir/tree/find.h"

typedef struct Kernel {
  const Gpu *gpu;
  bool is_in;
  int64_t shared;             /* bytes that a block of it has of shared memory */
  PtrMap own;                 /* variables that may differ between the threads of a block */
  const PipelinesLeft *heard; /* or NULL */
} Kernel;

typedef struct Part { /* a statement of the loop's body */
  Stmt stmt;
  int64_t stage, order;
  bool async;
} Part;

enum { OPEN = 1 << 20 };

typedef struct Pipeline {
  Tirc *c;
  const For *loop;
  const Block *block; /* its body, where that allocates; or NULL */
  int n;
  Part parts[MOST_PIPELINE_PARTS], *at[MOST_PIPELINE_PARTS]; /* at: in their new order */
  int64_t extent, last;                                      /* stage */
  bool
      open; /* extent is OPEN: only the run tells, and no time from the end is one from the start */
  PtrMap several;  /* from a buffer, and its data, to the one that has it several times */
  const char *why; /* not */
} Pipeline;

/* --- what is asked for ------------------------------------------------------------------------ */

static bool read_numbers(const For *loop, AnnotationKey key, int64_t most, int n, int64_t *out) {
  Expr list = tirc_attrs_get(loop->annotations, tirc_key(key));
  return list && list->n == n && tirc_pipeline_numbers(list, most, out) == n;
}

/* False: it has not one number for each statement, as where passes have made several of one. */
static bool read_parts(Pipeline *p) {
  Stmt body = p->loop->body;
  int64_t stages[MOST_PIPELINE_PARTS], orders[MOST_PIPELINE_PARTS];
  if (body->kind == STMT_BLOCK && tirc_is_true(body->u.block.predicate))
    p->block = &body->u.block, body = p->block->body;
  if (body->kind != STMT_SEQ || body->u.seq.n > MOST_PIPELINE_PARTS) return false;
  p->n = body->u.seq.n;
  if (!read_numbers(p->loop, KEY_PIPELINE_STAGE, MOST_PIPELINE_STAGES, p->n, stages) ||
      !read_numbers(p->loop, KEY_PIPELINE_ORDER, p->n - 1, p->n, orders))
    return false;
  for (int i = 0; i < p->n; i++) {
    if (p->at[orders[i]]) return false;
    p->parts[i] = (Part){tirc_item(body, i), stages[i], orders[i], false};
    p->at[orders[i]] = &p->parts[i];
    if (stages[i] > p->last) p->last = stages[i];
  }
  return true;
}

/* --- asynchronous stages ---------------------------------------------------------------------- */

typedef struct Copies {
  Tirc *c;
  Stmt loop;
  int64_t stage;
} Copies;

static bool check_copy(Visitor *v, Stmt s) {
  const Copies *k = v->self;
  if (s->kind != STMT_STORE || tirc_owner(s->u.store.buffer->storage) == OWNER_BLOCK) return true;
  tirc_fail(k->c, tirc_place_of(s), CODE_LOWER,
            "name only stages whose statements copy to buffers of scope shared or shared.dyn",
            "the stage %lld of the loop %s is asynchronous, but stores to %s of scope %s: "
            "asynchronous copies go to shared memory only",
            (long long)k->stage, k->loop->u.loop.var->u.s, s->u.store.buffer->name,
            s->u.store.buffer->scope);
}

static bool hands_on(const Pipeline *p, const Part *x, const Part *y);

/* Whether x is needed in the step that copies it before the copies of that step are committed,
 * which is behind the last of them. */
static bool is_needed_at_once(const Pipeline *p, const Part *x) {
  int last = -1;
  for (int i = 0; i < p->n; i++)
    if (p->at[i]->async) last = i;
  for (int i = (int)x->order + 1; i <= last; i++)
    if (p->at[i]->stage == x->stage && hands_on(p, x, p->at[i])) return true;
  return false;
}

/* Which parts are asynchronous, where the target has such copies. */
static void read_async(Pipeline *p, const Kernel *k, Stmt loop) {
  Expr list = tirc_attrs_get(p->loop->annotations, tirc_key(KEY_PIPELINE_ASYNC));
  const bool has = k->gpu && k->gpu->tensor_cores & ASYNC_COPIES;
  int64_t stage;
  bool any = false;
  for (int i = 0; i < p->n; i++)
    for (int j = 0; list && j < list->n; j++) {
      Part *part = &p->parts[i];
      if (!tirc_const_int(list->args[j], &stage) || part->stage != stage) continue;
      Copies copies = {p->c, loop, stage};
      tirc_visit_stmts(part->stmt, check_copy, &copies);
      part->async = has;
      any = true;
    }
  for (int i = 0; i < p->n; i++)
    if (p->parts[i].async && is_needed_at_once(p, &p->parts[i])) p->parts[i].async = false;
  if (any && !has && k->heard && k->heard->tell_plain)
    k->heard->tell_plain(
        k->heard->self, loop,
        tirc_format(p->c, "%s has no asynchronous copies; sm_80 is the first target that has them",
                    k->gpu ? k->gpu->name : "the target"));
}

/* A block that only holds a pipeline which has been made of a loop. */
static bool is_made(Stmt s) {
  if (s->kind != STMT_BLOCK) return false;
  const Block *b = &s->u.block;
  return !b->n_iters && !b->init && !b->n_matches && !b->annotations.n &&
         tirc_is_true(b->predicate) && b->body->kind == STMT_SEQ;
}

/* A pipeline inside has become several statements. Where the lists of the one around it have a
 * number for each of these, they stand beside its others, and their buffers beside its own. */
static Stmt with_parts_of_inner(Tirc *c, Stmt s) {
  Expr stages = tirc_attrs_get(s->u.loop.annotations, tirc_key(KEY_PIPELINE_STAGE));
  Stmt body = s->u.loop.body;
  if (body->kind != STMT_BLOCK || body->u.block.body->kind != STMT_SEQ) return s;
  Block b = body->u.block;
  VEC(Stmt) all = {0};
  VEC(Buffer) allocs = {0};
  for (int i = 0; i < b.n_allocs; i++) vec_push(c, allocs, b.allocs[i]);
  for (int i = 0; i < b.body->u.seq.n; i++) {
    Stmt item = tirc_item(b.body, i);
    if (!is_made(item)) {
      vec_push(c, all, item);
      continue;
    }
    for (int k = 0; k < item->u.block.n_allocs; k++) vec_push(c, allocs, item->u.block.allocs[k]);
    Stmt inner = item->u.block.body;
    for (int k = 0; k < inner->u.seq.n; k++) vec_push(c, all, tirc_item(inner, k));
  }
  if (b.body->u.seq.n == stages->n || all.n != stages->n) return s;
  For loop = s->u.loop;
  b.allocs = allocs.at;
  b.n_allocs = allocs.n;
  b.body = tirc_seq(c, all.n, all.at);
  b.id = 0;
  loop.body = tirc_block(c, &b);
  return tirc_with_loc(c, tirc_for(c, &loop), s->loc);
}

/* --- what may be ------------------------------------------------------------------------------ */

typedef struct Access {
  Expr data;
  bool reads, writes, hands_on;
} Access;

/* A pointer that says what it is for: T.tvm_access_ptr(type, data, offset, extent, mask) of 1 to
 * read, 2 to write, 3 for both. */
static bool is_access_ptr(Expr e, int64_t *mask) {
  return tirc_calls(e, CALL_TVM_ACCESS_PTR) && e->n == 5 && tirc_const_int(e->args[4], mask) &&
         e->args[1]->op == OP_VAR;
}

static bool see_expr(Visitor *v, Expr e) {
  Access *a = v->self;
  int64_t mask;
  if (is_access_ptr(e, &mask) && e->args[1] == a->data) {
    a->reads |= (mask & 1) != 0;
    a->writes |= (mask & 2) != 0;
    for (int i = 2; i < 4; i++) tirc_visit_expr(v, e->args[i]);
    return false;
  }
  const Expr addressed = tirc_addressed(e);
  a->hands_on |= addressed && addressed->u.buffer->data == a->data;
  a->reads |= e->op == OP_LOAD && e->u.buffer->data == a->data;
  a->hands_on |= e == a->data;
  return true;
}
static bool see_stmt(Visitor *v, Stmt s) {
  Access *a = v->self;
  a->writes |= s->kind == STMT_STORE && s->u.store.buffer->data == a->data;
  a->hands_on |= s->kind == STMT_DECL && s->u.alloc.buffer->data == a->data;
  return true;
}

static Access access_of(Stmt s, Expr data) {
  Access a = {.data = data};
  tirc_visit_stmt(&(Visitor){.expr = see_expr, .stmt = see_stmt, .self = &a}, s);
  return a;
}

/* How often a buffer of the loop's own has to be there; 0: that is not to be had. */
static int64_t versions_of(Pipeline *p, Buffer b) {
  int64_t written = MOST_PIPELINE_STAGES + 1, used = 0, least = MOST_PIPELINE_STAGES + 1;
  bool hands_on = false;
  for (int i = 0; i < p->n; i++) {
    const Part *part = &p->parts[i];
    const Access a = access_of(part->stmt, b->data);
    if (!a.reads && !a.writes && !a.hands_on) continue;
    if (a.writes && part->stage < written) written = part->stage;
    if (part->stage < least) least = part->stage;
    if (part->stage > used) used = part->stage;
    hands_on |= a.hands_on;
  }
  if (least > used) return 1;
  if (hands_on && least != used)
    return p->why = tirc_format(
               p->c,
               "a call takes a pointer to %s, which the pipeline would have to keep several times",
               b->name),
           0;
  if (written != least)
    return p->why =
               tirc_format(p->c, "a stage reads elements of %s that a later stage stores", b->name),
           0;
  return used - least + 1;
}

static bool is_own(const Pipeline *p, Expr data) {
  for (int i = 0; p->block && i < p->block->n_allocs; i++)
    if (p->block->allocs[i]->data == data) return true;
  return false;
}

/* Whether x, which stands before y, has to: they touch the same memory, and one stores to it. */
typedef struct Conflict {
  const Pipeline *p;
  Stmt y;
  bool own; /* memory of the loop's own, or other memory */
  bool found;
} Conflict;

static void look(Conflict *k, Expr data, bool writes) {
  if (is_own(k->p, data) != k->own) return;
  const Access a = access_of(k->y, data);
  k->found |= a.writes || a.hands_on || (writes && a.reads);
}
static bool see_conflict(Visitor *v, Expr e) {
  int64_t mask;
  if (is_access_ptr(e, &mask)) {
    look(v->self, e->args[1], (mask & 2) != 0);
    for (int i = 2; i < 4; i++) tirc_visit_expr(v, e->args[i]);
    return false;
  }
  if (e->op == OP_LOAD) look(v->self, e->u.buffer->data, false);
  if (tirc_addressed(e)) look(v->self, tirc_addressed(e)->u.buffer->data, true);
  if (e->op == OP_VAR && e->dtype.code == TYPE_HANDLE) look(v->self, e, true);
  return true;
}
static bool see_store(Visitor *v, Stmt s) {
  if (s->kind == STMT_STORE) look(v->self, s->u.store.buffer->data, true);
  return true;
}

static bool conflict(const Pipeline *p, Stmt x, Stmt y, bool own) {
  Conflict k = {.p = p, .y = y, .own = own};
  tirc_visit_stmt(&(Visitor){.expr = see_conflict, .stmt = see_store, .self = &k}, x);
  return k.found;
}

/* Of memory that is there once all accesses stay in their order; of the loop's own, those of one
 * stage. */
static bool may_overlap(const Pipeline *p) {
  for (int i = 0; i < p->n; i++)
    for (int k = i + 1; k < p->n; k++) {
      const Part *x = &p->parts[i], *y = &p->parts[k];
      const bool stays = x->stage == y->stage && x->order < y->order;
      if (stays) continue;
      if (conflict(p, x->stmt, y->stmt, false)) return false;
      if (x->stage >= y->stage && conflict(p, x->stmt, y->stmt, true)) return false;
    }
  return true;
}

/* --- memory that is there several times ------------------------------------------------------- */

static Buffer enlarged(Tirc *c, Buffer b, int64_t n) {
  struct BufferNode to = *b;
  Expr *shape = tirc_new_array(c, Expr, b->ndim + 1), *strides = NULL;
  const DType t = b->ndim ? b->shape[0]->dtype : DT_INT32;
  shape[0] = tirc_int(c, t, n);
  for (int d = 0; d < b->ndim; d++) shape[d + 1] = b->shape[d];
  if (b->strides && b->ndim) {
    strides = tirc_new_array(c, Expr, b->ndim + 1);
    strides[0] = tirc_mul(c, b->shape[0], b->strides[0]);
    for (int d = 0; d < b->ndim; d++) strides[d + 1] = b->strides[d];
  }
  to.data = tirc_var(c, b->data->u.s, b->data->dtype);
  to.ndim = b->ndim + 1;
  to.shape = shape;
  to.strides = strides;
  return tirc_buffer_copy(c, &to);
}

static bool make_several(Pipeline *p) {
  for (int i = 0; p->block && i < p->block->n_allocs; i++) {
    Buffer b = p->block->allocs[i];
    int64_t n = versions_of(p, b);
    p->why = n && b->n_axis_separators ? "a buffer with separated axes cannot be kept several times"
                                       : p->why;
    if (n == 0 || b->n_axis_separators) return false;
    if (n > p->extent) n = p->extent; /* one of each step's own */
    if (n < 2) continue;
    Buffer to = enlarged(p->c, b, n);
    tirc_map_set(p->c, &p->several, b, to);
    tirc_map_set(p->c, &p->several, b->data, to);
  }
  return true;
}

/* With the room between rows. */
static int64_t bytes_of(Buffer b) {
  int64_t rows, apart;
  if (!b->strides || !b->ndim || !tirc_const_int(b->shape[0], &rows) ||
      !tirc_const_int(b->strides[0], &apart))
    return tirc_lower_bytes(b);
  return rows * apart * tirc_dtype_bytes(b->dtype);
}

static bool add_shared(Visitor *v, Stmt s) {
  int64_t *sum = v->self;
  for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block.n_allocs; i++) {
    Buffer b = s->u.block.allocs[i];
    const int64_t bytes = tirc_owner(b->storage) == OWNER_BLOCK ? bytes_of(b) : 0;
    if (bytes > 0) *sum += tirc_gpu_end_behind(bytes, 0);
  }
  return true;
}

/* Whether a block of threads of the target has room for all, which is taken then. */
static bool fits(Pipeline *p, Kernel *k) {
  int64_t sum = k->shared;
  for (int i = 0; p->block && i < p->block->n_allocs; i++) {
    Buffer b = p->block->allocs[i], to = tirc_map_get(&p->several, b);
    if (to && tirc_owner(b->storage) == OWNER_BLOCK)
      sum += tirc_gpu_end_behind(bytes_of(to), 0) - tirc_gpu_end_behind(bytes_of(b), 0);
  }
  if (k->gpu && sum > k->gpu->shared_dyn)
    return p->why = tirc_format(p->c,
                                "a thread block would need %lld bytes of shared memory for %lld "
                                "stages, but %s has only %lld",
                                (long long)sum, (long long)p->last + 1, k->gpu->name,
                                (long long)k->gpu->shared_dyn),
           false;
  k->shared = sum;
  return true;
}

/* --- the rewrite ------------------------------------------------------------------------------ */

typedef struct Version {
  Pipeline *p;
  Expr step; /* of the loop, from 0 */
} Version;

static Expr version(const Version *v, Buffer to) {
  Tirc *c = v->p->c;
  const DType t = to->shape[0]->dtype;
  return tirc_simplify0(c, tirc_floormod(c, tirc_cast(c, t, v->step), to->shape[0]));
}

static Expr *versioned(const Version *v, Buffer to, int n, const Expr *indices) {
  Expr *all = tirc_new_array(v->p->c, Expr, n + 1);
  all[0] = version(v, to);
  for (int d = 0; d < n; d++) all[d + 1] = indices[d];
  return all;
}

static Expr apart(Tirc *c, Buffer to) {
  Expr n = to->strides ? to->strides[0] : tirc_int(c, to->shape[0]->dtype, 1);
  for (int d = 1; !to->strides && d < to->ndim; d++) n = tirc_mul(c, n, to->shape[d]);
  return n;
}

/* The same place of the version. */
static Expr versioned_ptr(const Version *v, Expr e, Buffer to) {
  Tirc *c = v->p->c;
  Expr args[5];
  memcpy(args, e->args, sizeof args);
  Expr before = tirc_mul(c, version(v, to), apart(c, to));
  args[1] = to->data;
  args[2] = tirc_simplify0(c, tirc_add(c, tirc_cast(c, e->args[2]->dtype, before), e->args[2]));
  return tirc_call(c, e->dtype, e->u.callee, 5, args);
}

static Expr rewrite_expr(Mutator *m, Expr e) {
  const Version *v = m->self;
  int64_t mask;
  Buffer pointed = is_access_ptr(e, &mask) ? tirc_map_get(&v->p->several, e->args[1]) : NULL;
  if (pointed) return versioned_ptr(v, tirc_mutate_expr_children(m, e), pointed);
  Buffer to = e->op == OP_LOAD ? tirc_map_get(&v->p->several, e->u.buffer) : NULL;
  e = tirc_mutate_expr_children(m, e);
  return to ? tirc_load(m->c, to, e->n + 1, versioned(v, to, e->n, e->args)) : e;
}

static const Region *rewrite_regions(const Version *v, int n, const Region *from) {
  Tirc *c = v->p->c;
  Region *out = tirc_new_array(c, Region, n + 1);
  for (int i = 0; i < n; i++) {
    Buffer b = from[i].buffer, to = tirc_map_get(&v->p->several, b);
    out[i] = from[i];
    if (!to) continue;
    Range *dims = tirc_new_array(c, Range, to->ndim);
    dims[0] = tirc_range(version(v, to), tirc_int(c, to->shape[0]->dtype, 1));
    for (int d = 0; d < b->ndim; d++) dims[d + 1] = from[i].dims[d];
    out[i] = (Region){to, dims};
  }
  return out;
}

static Stmt rewrite_stmt(Mutator *m, Stmt s) {
  const Version *v = m->self;
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind == STMT_STORE) {
    Buffer to = tirc_map_get(&v->p->several, s->u.store.buffer);
    const int n = s->u.store.n;
    return to ? tirc_store(m->c, to, n + 1, versioned(v, to, n, s->u.store.indices),
                           s->u.store.value)
              : s;
  }
  if (s->kind != STMT_BLOCK) return s;
  Block b = s->u.block;
  b.reads = rewrite_regions(v, b.n_reads, b.reads);
  b.writes = rewrite_regions(v, b.n_writes, b.writes);
  b.id = 0;
  return tirc_block(m->c, &b);
}

/* A statement at a step of the loop. */
static Stmt at_step(Pipeline *p, const Part *part, Expr step) {
  Tirc *c = p->c;
  Version v = {p, tirc_simplify0(c, step)};
  Mutator m = {.c = c, .expr = rewrite_expr, .stmt = rewrite_stmt, .self = &v};
  Stmt s = tirc_mutate_stmt(&m, tirc_clone_fresh(c, part->stmt));
  Expr at = tirc_add(c, tirc_cast(c, p->loop->var->dtype, p->loop->min), v.step);
  return tirc_lower_substitute1(c, s, p->loop->var, tirc_simplify0(c, at));
}

/* Whether a statement runs at a time; known: -1 in the loop, where all do. */
static bool runs_at(const Pipeline *p, const Part *part, int64_t known) {
  return known < 0 || (known >= part->stage && known - part->stage < p->extent);
}

static bool copies_at(const Pipeline *p, int64_t known) {
  for (int i = 0; i < p->n; i++)
    if (p->parts[i].async && runs_at(p, &p->parts[i], known)) return true;
  return false;
}

/* Whether y uses what x stores. */
static bool hands_on(const Pipeline *p, const Part *x, const Part *y) {
  for (int i = 0; p->block && i < p->block->n_allocs; i++) {
    Expr data = p->block->allocs[i]->data;
    const Access of_x = access_of(x->stmt, data), of_y = access_of(y->stmt, data);
    if (of_x.writes && (of_y.reads || of_y.writes || of_y.hands_on)) return true;
  }
  return conflict(p, x->stmt, y->stmt, false);
}

/* How many groups may be on their way still when a statement begins: those behind the last one that
 * it needs. committed: whether the group of this time is one of them. -1: it needs none. */
static int64_t groups_behind(const Pipeline *p, const Part *part, int64_t known, bool committed) {
  int64_t least = -1;
  for (int i = 0; i < p->n; i++) {
    const Part *copy = &p->parts[i];
    if (!copy->async || copy == part || !hands_on(p, copy, part)) continue;
    const int64_t ago = part->stage - copy->stage;
    int64_t behind = ago > 0 && committed;
    for (int64_t t = 1; t < ago; t++) behind += known < 0 || copies_at(p, known - t);
    if (least < 0 || behind < least) least = behind;
  }
  return least;
}

static Stmt wait_for(Tirc *c, int64_t n) {
  Expr behind = tirc_int32(c, n);
  return tirc_eval(c, tirc_call(c, DT_HANDLE, CALL_PTX_WAIT_GROUP, 1, &behind));
}

/* Of steps that only the run tells: the step of a time before the loop may be none. */
static Stmt if_it_is_there(const Pipeline *p, const Part *part, int64_t known, Stmt s) {
  Tirc *c = p->c;
  if (!p->open || known < 0 || known >= p->extent) return s;
  Expr step = tirc_int(c, p->loop->extent->dtype, known - part->stage);
  return tirc_if(c, tirc_lt(c, step, p->loop->extent), s, NULL);
}

/* What runs at a time: of each statement that has begun and not ended, the step of then. The copies
 * of a time are committed behind the last of them. */
static Stmt at_time(Pipeline *p, Expr time, int64_t known) {
  Tirc *c = p->c;
  VEC(Stmt) all = {0};
  int last_copy = -1;
  int64_t waited = INT64_MAX;
  for (int i = 0; i < p->n; i++)
    if (p->at[i]->async && runs_at(p, p->at[i], known)) last_copy = i;
  for (int i = 0; i < p->n; i++) {
    const Part *part = p->at[i];
    if (!runs_at(p, part, known)) continue;
    const int64_t behind = groups_behind(p, part, known, last_copy >= 0 && last_copy < i);
    if (behind >= 0 && behind < waited) vec_push(c, all, wait_for(c, waited = behind));
    Expr late = tirc_int(c, time->dtype, part->stage);
    Stmt s = if_it_is_there(p, part, known, at_step(p, part, tirc_sub(c, time, late)));
    if (part->async)
      s = tirc_attr_stmt(c, tirc_int32(c, 0), tirc_key(KEY_ASYNC_SCOPE), tirc_int32(c, 1), s);
    vec_push(c, all, s);
    if (i != last_copy) continue;
    vec_push(c, all, tirc_eval(c, tirc_call(c, DT_HANDLE, CALL_PTX_COMMIT_GROUP, 0, NULL)));
    waited = INT64_MAX;
  }
  return tirc_seq(c, all.n, all.at);
}

/* What runs `behind` steps after the last one began; where there are few steps, before the loop. */
static Stmt behind_loop(Pipeline *p, int64_t behind) {
  Tirc *c = p->c;
  const int64_t known = p->extent + behind;
  const DType t = p->loop->var->dtype;
  if (!p->open) return at_time(p, tirc_int(c, t, known), known);
  /* behind < last: no side of the condition wraps around, however narrow the type is */
  Expr n = tirc_cast(c, t, p->loop->extent);
  Expr time = tirc_add(c, n, tirc_int(c, t, behind));
  Expr is_left = tirc_lt(c, tirc_int(c, t, p->last - 1 - behind), n);
  return tirc_if(c, tirc_simplify0(c, is_left), at_time(p, time, known), NULL);
}

static Expr steps_of_loop(const Pipeline *p) {
  Tirc *c = p->c;
  const DType t = p->loop->var->dtype;
  Expr last = tirc_int(c, t, p->last);
  if (!p->open) return tirc_int(c, t, p->extent - p->last);
  return tirc_sub(c, tirc_max(c, tirc_cast(c, t, p->loop->extent), last), last);
}

static Stmt overlapped(Pipeline *p) {
  Tirc *c = p->c;
  const DType t = p->loop->var->dtype;
  VEC(Stmt) all = {0};
  VEC(Buffer) allocs = {0};
  For loop = *p->loop;
  for (int64_t i = 0; i < p->last; i++) vec_push(c, all, at_time(p, tirc_int(c, t, i), i));
  loop.var = tirc_var(c, p->loop->var->u.s, t);
  loop.min = tirc_int(c, t, 0);
  loop.extent = steps_of_loop(p);
  loop.annotations = tirc_attrs_remove(c, loop.annotations, tirc_key(KEY_PIPELINE_STAGE));
  loop.annotations = tirc_attrs_remove(c, loop.annotations, tirc_key(KEY_PIPELINE_ORDER));
  loop.annotations = tirc_attrs_remove(c, loop.annotations, tirc_key(KEY_PIPELINE_ASYNC));
  loop.body = at_time(p, tirc_add(c, loop.var, tirc_int(c, t, p->last)), -1);
  if (p->extent > p->last) vec_push(c, all, tirc_for(c, &loop));
  for (int64_t i = p->extent > p->last ? 0 : p->last - p->extent; i < p->last; i++)
    vec_push(c, all, behind_loop(p, i));
  Stmt s = tirc_seq(c, all.n, all.at);
  if (!p->block) return s;
  for (int i = 0; i < p->block->n_allocs; i++) {
    Buffer b = p->block->allocs[i], to = tirc_map_get(&p->several, b);
    vec_push(c, allocs, to ? to : b);
  }
  Block b = *p->block;
  b.id = 0;
  b.allocs = allocs.at;
  b.n_allocs = allocs.n;
  b.n_reads = b.n_writes = 0;
  b.body = s;
  return tirc_block(c, &b);
}

/* Why the loop stays as it is, "": there is nothing to overlap; NULL: it need not. */
static const char *why_left(Pipeline *p, Kernel *k, Stmt loop) {
  if (!read_parts(p))
    return "the annotations do not have one number for each statement of its body";
  read_async(p, k, loop);
  if (p->last == 0) return "";
  p->open = !tirc_const_int(p->loop->extent, &p->extent);
  if (p->open && tirc_reads_memory(p->loop->extent))
    return "its number of iterations is read from memory";
  if (p->open && tirc_uses_any(p->loop->extent, &k->own))
    return "its number of iterations may differ between threads";
  if (p->open) p->extent = OPEN;
  if (p->extent < 2) return "";
  if (!may_overlap(p))
    return "statements that would be reordered use the same memory, and one of them stores to it";
  if (!make_several(p)) return p->why;
  return fits(p, k) ? NULL : p->why;
}

/* Threads, and what the kernel computes of them or loads. */
static void note_own(Tirc *c, Kernel *k, Stmt s) {
  const For *loop = s->kind == STMT_FOR ? &s->u.loop : NULL;
  if (loop && ((tirc_is_thread_loop(s) && tirc_is_thread_axis(loop->axis)) ||
               tirc_uses_any(loop->min, &k->own) || tirc_uses_any(loop->extent, &k->own)))
    tirc_map_set(c, &k->own, loop->var, s);
  if (s->kind == STMT_LET && k->is_in &&
      (tirc_loads_or_calls(s->u.let.value) || tirc_uses_any(s->u.let.value, &k->own)))
    tirc_map_set(c, &k->own, s->u.let.var, s);
}

static Stmt visit(Mutator *m, Stmt s) {
  Kernel *k = m->self;
  note_own(m->c, k, s);
  if (tirc_is_thread_loop(s) && !k->is_in) {
    k->is_in = true;
    k->shared = 0;
    tirc_visit_stmts(s, add_shared, &k->shared);
    s = tirc_mutate_stmt_children(m, s);
    k->is_in = false;
    return s;
  }
  s = tirc_mutate_stmt_children(m, s);
  if (s->kind != STMT_FOR || s->u.loop.kind != LOOP_SERIAL ||
      !tirc_attrs_get(s->u.loop.annotations, tirc_key(KEY_PIPELINE_STAGE)))
    return s;
  s = with_parts_of_inner(m->c, s);
  Pipeline p = {.c = m->c, .loop = &s->u.loop};
  const char *why = why_left(&p, k, s);
  if (why && *why && k->heard) k->heard->tell(k->heard->self, s, why);
  return why ? s : overlapped(&p);
}

static Stmt run(Tirc *c, const Func *f, const PipelinesLeft *heard) {
  Kernel k = {.gpu = tirc_gpu_of(f), .heard = heard};
  Mutator m = {.c = c, .stmt = visit, .self = &k};
  return tirc_mutate_stmt(&m, f->body);
}

Stmt tirc_lower_software_pipeline(Tirc *c, const Func *f) { return run(c, f, NULL); }

void tirc_hear_of_pipelines_left(Tirc *c, const Func *f, const PipelinesLeft *heard) {
  (void)run(c, f, heard);
}
