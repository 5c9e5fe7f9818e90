/* pad_einsum(block, padding): the extents of a block's iterators rounded up to multiples.
 *
 *   for i, j, k in T.grid(127, 127, 127):        for i0, i1: A_pad[i0, i1] = A[i0, i1] or 0
 *       C[i, j] += A[i, k] * B[k, j]        ->   for i0, i1: B_pad[i0, i1] = B[i0, i1] or 0
 *                                                for i, j, k in T.grid(128, 128, 128):
 *                                                    C_pad[i, j] += A_pad[i, k] * B_pad[k, j]
 *                                                for i0, i1: C[i0, i1] = C_pad[i0, i1]
 *
 * The block must be an Einstein sum: each buffer is accessed once, and each of its indices is an
 * iterator or a constant (not-einsum). The scope must be a stage pipeline, and the padding one
 * positive integer for each iterator (padding). That the added iterations do no harm is checked in
 * pad_einsum_check.c (padding-not-neutral, padding-not-closed). */
#include "blocks.h"

#include "passes/schedule/meaning/meaning.h"

/* --- the pattern ---------------------------------------------------------------------------- */

#define not_einsum(s, block, ...)                                                                  \
  tirc_refuse(s, (block)->stmt, SERR_NOT_EINSUM, "Block %s is not an Einstein sum: %s.",           \
              tirc_name_of(block), tirc_format((s)->c, __VA_ARGS__))

static void require_einsum(Sched *s, SRef *block) {
  const Block *b = tirc_block_of(block);
  PtrMap seen = {0};
  if (block->hidden) not_einsum(s, block, "it does not declare what blocks inside of it access");
  for (int i = 0; i < b->n_reads + b->n_writes; i++) {
    const Region *r = i < b->n_reads ? &b->reads[i] : &b->writes[i - b->n_reads];
    if (tirc_map_has(&seen, r->buffer))
      not_einsum(s, block, "it declares more than one access to %s", r->buffer->name);
    tirc_map_set(s->c, &seen, r->buffer, r->buffer);
    if (!tirc_allocator_of(block, r->buffer) && !tirc_is_parameter(s, block, r->buffer))
      not_einsum(s, block, "%s is a view of another buffer", r->buffer->name);
    for (int d = 0; d < r->buffer->ndim; d++)
      if (!tirc_is_int(r->dims[d].extent, 1) ||
          (r->dims[d].min->op != OP_VAR && r->dims[d].min->op != OP_INT))
        not_einsum(s, block, "index %d of %s is neither an iterator nor a constant", d,
                   r->buffer->name);
  }
}

static void require_padding(Sched *s, SRef *block, Value padding) {
  const Block *b = tirc_block_of(block);
  bool valid = padding.u.list->n == b->n_iters;
  for (int i = 0; i < padding.u.list->n && valid; i++) valid = padding.u.list->at[i].u.i > 0;
  if (valid) return;
  tirc_refuse(s, block->stmt, SERR_PADDING,
              "The padding of block %s is %s, but it must be %d positive integers.", b->name,
              tirc_value_repr(s->c, padding), b->n_iters);
}

/* --- what grows ----------------------------------------------------------------------------- */

static Expr round_up(Sched *s, SRef *block, Expr extent, int64_t multiple) {
  Tirc *c = s->c;
  DType t = extent->dtype;
  int64_t n, most = 0;
  bool constant = tirc_const_int(extent, &n);
  bool overflow = multiple > tirc_dtype_max(t) ||
                  (constant && (__builtin_add_overflow(n, multiple - 1, &most) ||
                                most - most % multiple > tirc_dtype_max(t)));
  if (overflow)
    tirc_refuse(s, block->stmt, SERR_PADDING,
                "The padding %lld is too large for an extent of type %s.", (long long)multiple,
                tirc_dtype_name(c, t));
  if (constant) return tirc_int(c, t, most - most % multiple);
  Expr by = tirc_int(c, t, multiple), more = tirc_int(c, t, multiple - 1);
  return tirc_simplify0(c, tirc_mul(c, tirc_floordiv(c, tirc_add(c, extent, more), by), by));
}

static const SRef *loop_of_var(Sched *s, SRef *block, Expr var) {
  const SRefs loops = tirc_loops_above(s, block);
  for (int i = 0; i < loops.n; i++)
    if (tirc_loop_of(loops.at[i])->var == var) return loops.at[i];
  return NULL;
}

static bool find_padded_iters(EinsumPadding *p, Value padding) {
  const Block *b = tirc_block_of(p->block);
  Analyzer *a = tirc_analyzer(p->s->c);
  bool any = false;
  p->iters = tirc_new_array(p->s->c, PaddedIter, b->n_iters + 1);
  for (int i = 0; i < b->n_iters; i++) {
    Expr extent = b->iters[i].dom.extent;
    Expr padded = round_up(p->s, p->block, extent, padding.u.list->at[i].u.i);
    if (tirc_prove_equal(a, padded, extent)) continue;
    p->iters[i] = (PaddedIter){padded, loop_of_var(p->s, p->block, b->iter_values[i])};
    any = true;
  }
  return any;
}

/* An extent of a buffer that an iterator runs over: where conditions around the scope, which has
 * the copies, say what a symbol is, that number. */
static Expr extent_of(const EinsumPadding *p, int iter, Expr shape) {
  Tirc *c = p->s->c;
  const Block *b = tirc_block_of(p->block);
  const SRef *top = p->scope;
  int64_t n;
  if (iter < 0 || tirc_const_int(shape, &n) || !tirc_const_int(b->iters[iter].dom.extent, &n))
    return shape;
  while (top->parent) top = top->parent;
  const Expr known = tirc_condition_with(p->s, p->scope, tirc_bool(c, true), top);
  const Expr number = tirc_int(c, shape->dtype, n);
  Analyzer *a = tirc_analyzer(c);
  return known && tirc_prove_given(a, known, tirc_binary(c, OP_LE, shape, number)) &&
                 tirc_prove_given(a, known, tirc_binary(c, OP_GE, shape, number))
             ? number
             : shape;
}

static void pad_buffer(EinsumPadding *p, const Region *r, bool is_read) {
  Tirc *c = p->s->c;
  const Block *b = tirc_block_of(p->block);
  Expr *shape = tirc_new_array(c, Expr, r->buffer->ndim + 1);
  Expr *plain = tirc_new_array(c, Expr, r->buffer->ndim + 1);
  bool any = false;
  for (int d = 0; d < r->buffer->ndim; d++) {
    int i = tirc_iter_index(b, r->dims[d].min);
    Expr padded = i < 0 ? NULL : p->iters[i].extent;
    plain[d] = extent_of(p, i, r->buffer->shape[d]);
    shape[d] = padded                         ? padded
               : r->dims[d].min->op == OP_INT ? tirc_int(c, r->dims[d].min->dtype, 1)
                                              : plain[d];
    any = any || padded;
  }
  if (!any) return;
  Buffer padded = tirc_buffer(c, tirc_format(c, "%s_pad", r->buffer->name), r->buffer->dtype,
                              r->buffer->ndim, shape, r->buffer->scope);
  vec_push(c, p->buffers, ((PaddedBuffer){r, is_read, padded, plain}));
}

static void find_padded_buffers(EinsumPadding *p) {
  const Block *b = tirc_block_of(p->block);
  for (int i = 0; i < b->n_reads; i++) pad_buffer(p, &b->reads[i], true);
  for (int i = 0; i < b->n_writes; i++) pad_buffer(p, &b->writes[i], false);
}

/* --- the copies ----------------------------------------------------------------------------- */

static Expr zero_of(Tirc *c, DType t) {
  return tirc_dtype_is_float(t) ? tirc_float(c, t, 0) : tirc_int(c, t, 0);
}

/* Into the padded buffer with zeros behind the end, or out of it what the buffer has room for. */
static Stmt make_copy(Tirc *c, const PaddedBuffer *pb) {
  Buffer plain = pb->region->buffer, padded = pb->padded;
  Buffer from = pb->is_read ? plain : padded, to = pb->is_read ? padded : plain;
  int n = plain->ndim;
  IterVar *iters = tirc_new_array(c, IterVar, n);
  Expr *loops = tirc_new_array(c, Expr, n), *vars = tirc_new_array(c, Expr, n);
  Expr *extents = tirc_new_array(c, Expr, n);
  Expr inside = tirc_bool(c, true);
  Analyzer *a = tirc_analyzer(c);
  for (int i = 0; i < n; i++) {
    const Expr extent = pb->is_read ? padded->shape[i] : pb->shape[i];
    DType t = extent->dtype;
    loops[i] = tirc_var(c, tirc_format(c, "i%d", i), t);
    vars[i] = tirc_var(c, tirc_format(c, "v%d", i), t);
    iters[i] = (IterVar){vars[i], tirc_range(tirc_int(c, t, 0), extent), ITER_SPATIAL};
    extents[i] = extent;
    if (!tirc_prove_equal(a, pb->shape[i], padded->shape[i]))
      inside = tirc_and(c, inside, tirc_lt(c, vars[i], pb->shape[i]));
  }
  Expr value = tirc_load(c, from, n, vars);
  if (pb->is_read && !tirc_is_true(inside))
    value = tirc_expr(c, OP_IF_THEN_ELSE, value->dtype, 3,
                      (Expr[]){inside, value, zero_of(c, value->dtype)});
  Stmt nest = tirc_storing_block(c, padded->name, n, iters, loops, tirc_bool(c, true),
                                 tirc_point(c, from, vars), tirc_point(c, to, vars),
                                 tirc_store(c, to, n, vars, value));
  for (int i = n; i-- > 0;) nest = tirc_for_serial(c, loops[i], extents[i], nest);
  return nest;
}

/* --- the nest ------------------------------------------------------------------------------- */

static Buffer padded_buffer(Mutator *m, Buffer b) {
  const EinsumPadding *p = m->self;
  for (int i = 0; i < p->buffers.n; i++)
    if (p->buffers.at[i].region->buffer == b) return p->buffers.at[i].padded;
  return b;
}

static Stmt padded_block(Mutator *m, Stmt s) {
  const EinsumPadding *p = m->self;
  Block b = s->u.block;
  IterVar *iters = tirc_new_array(m->c, IterVar, b.n_iters);
  for (int i = 0; i < b.n_iters; i++) {
    iters[i] = b.iters[i];
    if (p->iters[i].extent) iters[i].dom.extent = p->iters[i].extent;
  }
  b.iters = iters;
  return tirc_with_loc(m->c, tirc_block(m->c, &b), s->loc);
}

static Stmt padded_stmt(Mutator *m, Stmt s) {
  const EinsumPadding *p = m->self;
  Stmt to = tirc_mutate_stmt_children(m, s);
  if (s == p->block->stmt) return padded_block(m, to);
  if (s->kind != STMT_FOR) return to;
  for (int i = 0; i < tirc_block_of(p->block)->n_iters; i++) {
    if (!p->iters[i].loop || p->iters[i].loop->stmt != s) continue;
    For loop = to->u.loop;
    loop.extent = p->iters[i].extent;
    return tirc_with_loc(m->c, tirc_for(m->c, &loop), s->loc);
  }
  return to;
}

static Stmt padded_scope(const EinsumPadding *p, int at) {
  Tirc *c = p->s->c;
  Mutator m = {.c = c, .stmt = padded_stmt, .buffer = padded_buffer};
  m.self = (void *)(uintptr_t)p;
  VEC(Stmt) nests = {0};
  VEC(Buffer) padded = {0};
  for (int i = 0; i < p->buffers.n; i++) vec_push(c, padded, p->buffers.at[i].padded);
  for (int k = 0; k < p->buffers.n; k++)
    if (p->buffers.at[k].is_read) vec_push(c, nests, make_copy(c, &p->buffers.at[k]));
  vec_push(c, nests, tirc_mutate_stmt(&m, p->nest));
  for (int k = 0; k < p->buffers.n; k++)
    if (!p->buffers.at[k].is_read) vec_push(c, nests, make_copy(c, &p->buffers.at[k]));
  Stmt scope = p->scope->stmt;
  Stmt body = tirc_seq_splice(c, tirc_body_of(scope), at, 1, nests.n, nests.at);
  return tirc_with_allocs(c, scope, body, padded.n, padded.at);
}

/* --- the primitive -------------------------------------------------------------------------- */

void tirc_prim_pad_einsum(Sched *s, const Value *args, Value *result) {
  (void)result;
  EinsumPadding p = {.s = s, .block = tirc_sref_of_value(s, args[0])};
  p.scope = tirc_require_scope_root(s, p.block, true);
  require_padding(s, p.block, args[1]);
  require_einsum(s, p.block);
  if (!find_padded_iters(&p, args[1])) return;
  find_padded_buffers(&p);
  const int at = tirc_item_with(s, p.scope, p.block, &p.nest);
  tirc_require_sound_padding(&p);
  tirc_sched_replace(s, p.scope, padded_scope(&p, at));
}
