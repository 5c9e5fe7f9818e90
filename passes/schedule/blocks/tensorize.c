/* tensorize(block_or_loop, tensor_intrin): a tile computed by an implementation of the user's.
 *
 *   for j0:                               for j0:
 *     for j1, k1:                           block C_o: vj_o = j0
 *       block C: C[...] += ...                reads, writes: as of the tile
 *                                     ->      Av = T.match_buffer(A[vi_o, vk_o * 8:...], (8,), ...)
 *   tensorize(j1, "dot")                      ... the body of the implementation, on the views
 *
 * A loop is blockized first. The block must be what the description says (tensorize_match.c). Its
 * body becomes a copy of the implementation's body; the implementation's parameters become views of
 * the boxes that the block uses, and its allocations and annotations are added. An init of the
 * block stays. Blocks and loops of the tile die; a block that was given keeps its handle. */
#include "blocks.h"
#include "ir/tree/print.h"
#include "ir/tree/verify.h"
#include "tensor_intrin.h"

/* --- registering ------------------------------------------------------------------------------ */

const TensorIntrin *tirc_find_intrin(const Sched *s, const char *name) {
  for (const TensorIntrin *t = s->intrins; t; t = t->next)
    if (!strcmp(t->name, name)) return t;
  return NULL;
}

const TensorIntrin *tirc_known_intrin(Sched *s, const char *name) {
  if (!tirc_find_intrin(s, name) && s->offer_intrin) s->offer_intrin(s, name);
  return tirc_find_intrin(s, name);
}

static const Region *declared(const Block *b, Buffer buffer) {
  const Region *r = tirc_declared_read(b, buffer);
  return r ? r : tirc_declared_write(b, buffer);
}

static void check_function(Tirc *c, const char *intrin, const Func *f, const char *role, Loc loc) {
  const char *hint =
      "write both as functions of buffers with one block T.block(\"root\") that says "
      "what it T.reads and T.writes";
  bool block = f->body && f->body->kind == STMT_BLOCK && f->body->u.block.n_iters == 0;
  if (!block)
    tirc_fail(c, loc, CODE_TENSOR_INTRIN, hint, "the %s %s of \"%s\" is not a block", role, f->name,
              intrin);
  for (int i = 0; i < f->n_params; i++) {
    if (!f->buffers[i])
      tirc_fail(c, loc, CODE_TENSOR_INTRIN, hint, "parameter %s of the %s %s is not a buffer",
                f->params[i]->u.s, role, f->name);
    if (!declared(&f->body->u.block, f->buffers[i]))
      tirc_fail(c, loc, CODE_TENSOR_INTRIN, hint,
                "the block of the %s %s does not declare what it uses of its parameter %s", role,
                f->name, f->buffers[i]->name);
  }
}

/* A module without the functions that only serve as intrinsics. */
static const Module *without(Tirc *c, const Module *m, const Func *x, const Func *y) {
  Module *to = tirc_new(c, Module);
  const Func **funcs = tirc_new_array(c, const Func *, m->n_funcs + 1);
  *to = *m;
  to->c = c;
  to->n_funcs = 0;
  for (int i = 0; i < m->n_funcs; i++)
    if (m->funcs[i] != x && m->funcs[i] != y) funcs[to->n_funcs++] = m->funcs[i];
  to->funcs = funcs;
  return to;
}

void tirc_register_intrin(Sched *s, const char *name, const Func *desc, const Func *impl,
                          bool override, Loc loc) {
  Tirc *c = s->c;
  check_function(c, name, desc, "description", loc);
  check_function(c, name, impl, "implementation", loc);
  if (desc->n_params != impl->n_params)
    tirc_fail(c, loc, CODE_TENSOR_INTRIN, "both must have the same parameters in the same order",
              "the description %s has %d parameters, and the implementation %s has %d", desc->name,
              desc->n_params, impl->name, impl->n_params);
  if (tirc_find_intrin(s, name) && !override)
    tirc_fail(c, loc, CODE_TENSOR_INTRIN, "pass override=True to replace it",
              "there is a tensor intrinsic \"%s\" already", name);
  TensorIntrin *t = tirc_new(c, TensorIntrin);
  *t = (TensorIntrin){name, desc, impl, s->intrins};
  const Module *rest = without(c, s->mod, desc, impl);
  if (rest->n_funcs < s->mod->n_funcs) {
    if (!rest->n_funcs)
      tirc_fail(c, loc, CODE_TENSOR_INTRIN, "keep the function that is to be scheduled",
                "nothing would be left of the module but tensor intrinsics");
    const Func *entry = tirc_module_main(rest);
    bool work_on_left = false;
    for (int i = 0; i < rest->n_funcs; i++)
      work_on_left = work_on_left || (s->work_on && !strcmp(rest->funcs[i]->name, s->work_on));
    tirc_sched_restore(s, rest);
    if (!work_on_left) s->work_on = entry ? entry->name : NULL;
  }
  s->intrins = t;
}

/* --- a copy of the implementation ------------------------------------------------------------- */

typedef struct Copy {
  Tirc *c;
  DType index; /* what the tile's regions count in */
  PtrMap buffers, vars;
} Copy;

static bool widens(const Copy *k, Expr e) {
  return tirc_dtype_equal(e->dtype, DT_INT32) && k->index.bits > e->dtype.bits;
}

static Expr copy_var(Copy *k, Expr e) {
  if (!e) return NULL;
  const DType t = widens(k, e) ? k->index : e->dtype;
  if (e->op != OP_VAR) return tirc_cast(k->c, t, e);
  Expr to = tirc_map_get(&k->vars, e);
  if (!to) {
    to = tirc_var(k->c, e->u.s, t);
    tirc_map_set(k->c, &k->vars, e, to);
  }
  return to;
}

static const Expr *copy_vars(Copy *k, int n, const Expr *at) {
  if (!at) return NULL;
  Expr *to = tirc_new_array(k->c, Expr, n + 1);
  for (int i = 0; i < n; i++) to[i] = copy_var(k, at[i]);
  return to;
}

/* A parameter as a view, with data, strides and offset of its own. */
static Buffer copy_parameter(Copy *k, Buffer b) {
  struct BufferNode to = *b;
  to.data = copy_var(k, b->data);
  to.shape = copy_vars(k, b->ndim, b->shape);
  to.strides = copy_vars(k, b->ndim, b->strides);
  to.elem_offset = copy_var(k, b->elem_offset);
  Buffer copy = tirc_buffer_copy(k->c, &to);
  tirc_map_set(k->c, &k->buffers, b, copy);
  return copy;
}

static MatchBuffer view_of(Copy *k, const TensorIntrin *t, int param, const TileMatch *match,
                           Buffer view) {
  const TileBuffer *b = match->buffers;
  while (b->desc != t->desc->buffers[param]) b++;
  int ndim = b->tile->ndim, skip = ndim - t->impl->buffers[param]->ndim;
  const Range *region = declared(&t->impl->body->u.block, t->impl->buffers[param])->dims;
  Range *dims = tirc_new_array(k->c, Range, ndim + 1);
  for (int i = 0; i < ndim; i++) {
    DType index = b->base[i]->dtype;
    dims[i] = tirc_range(b->base[i], i < skip ? tirc_int(k->c, index, 1)
                                              : tirc_cast(k->c, index, region[i - skip].extent));
  }
  return (MatchBuffer){view, (Region){b->tile, dims}};
}

static void add_annotations(Sched *s, Block *to, Attrs from) {
  for (int i = 0; i < from.n; i++) {
    Expr old = tirc_attrs_get(to->annotations, from.at[i].key);
    if (old && !tirc_expr_same(old, from.at[i].value))
      tirc_sched_warn(s, "block %s keeps its annotation \"%s\" with the value %s", to->name,
                      from.at[i].key, tirc_print_expr(s->c, old));
    else
      to->annotations = tirc_attrs_set(s->c, to->annotations, from.at[i].key, from.at[i].value);
  }
}

static DType index_of(const Block *b) {
  DType t = DT_INT32;
  for (int i = 0; i < b->n_reads + b->n_writes; i++) {
    const Region *r = i < b->n_reads ? &b->reads[i] : &b->writes[i - b->n_reads];
    for (int d = 0; d < r->buffer->ndim; d++)
      if (r->dims[d].min->dtype.bits > t.bits) t = r->dims[d].min->dtype;
  }
  return t;
}

/* As it stands, with the views in place of the parameters. */
static Stmt copy_body(Copy *k, const TensorIntrin *t) {
  Stmt body = tirc_clone_fresh(k->c, t->impl->body);
  if (k->index.bits > DT_INT32.bits)
    return tirc_widen_indices(k->c, body, k->index, &k->vars, &k->buffers);
  body = tirc_substitute_buffers(k->c, body, &k->buffers);
  return tirc_substitute_stmt(k->c, body, &k->vars);
}

static Stmt implemented(Sched *s, Stmt tile, const TensorIntrin *t, const TileMatch *match) {
  Tirc *c = s->c;
  Copy k = {.c = c, .index = index_of(&tile->u.block)};
  Block to = tile->u.block;
  MatchBuffer *views = tirc_new_array(c, MatchBuffer, t->impl->n_params + 1);
  for (int i = 0; i < t->impl->n_params; i++)
    views[i] = view_of(&k, t, i, match, copy_parameter(&k, t->impl->buffers[i]));
  const Block *impl = &copy_body(&k, t)->u.block;
  to.matches = views;
  to.n_matches = t->impl->n_params;
  add_annotations(s, &to, impl->annotations);
  const Stmt block = tirc_with_loc(c, tirc_block(c, &to), tile->loc);
  return tirc_with_allocs(c, block, impl->body, impl->n_allocs, impl->allocs);
}

/* --- the primitive ---------------------------------------------------------------------------- */

static _Noreturn void mismatch(Sched *s, SRef *at, const TensorIntrin *t, const char *why) {
  tirc_sched_error(s, at->stmt, SERR_TENSOR_INTRIN_MISMATCH, why, NULL,
                   "%s does not compute what the description %s of \"%s\" says",
                   tirc_describe(s, at->stmt), t->desc->name, t->name);
}

static void require_all_used(Sched *s, SRef *at, const TensorIntrin *t, const TileMatch *match) {
  for (int i = 0; i < t->desc->n_params; i++) {
    Buffer b = t->desc->buffers[i];
    int k = 0;
    while (k < match->n && match->buffers[k].desc != b) k++;
    if (k < match->n && match->buffers[k].tile->ndim >= t->impl->buffers[i]->ndim) continue;
    mismatch(s, at, t, tirc_format(s->c, "its parameter %s stands for no buffer", b->name));
  }
}

void tirc_prim_tensorize(Sched *s, const Value *args, Value *result) {
  (void)result;
  SRef *at = tirc_sref_of_value(s, args[0]);
  const TensorIntrin *t = tirc_known_intrin(s, args[1].u.s);
  if (!t) {
    Text known = {.c = s->c};
    for (const TensorIntrin *k = s->intrins; k; k = k->next)
      tirc_text_addf(&known, "%s\"%s\"", known.n ? ", " : "; there are ", k->name);
    tirc_refuse(s, NULL, SERR_UNKNOWN_INTRIN, "no tensor intrinsic is called \"%s\"%s", args[1].u.s,
                known.n ? known.at : "");
  }
  if (tirc_is_block(at) && !at->parent)
    tirc_refuse(s, at->stmt, SERR_ROOT_BLOCK, "block %s is the root block of a function",
                tirc_name_of(at));
  Stmt tile = tirc_is_block(at) ? at->stmt : tirc_blockized(s, at, args[2].u.b);
  TileMatch match;
  const char *why = tirc_match_tile(s, tile, t->desc, &match);
  if (why) mismatch(s, at, t, why);
  require_all_used(s, at, t, &match);
  tirc_sched_replace(s, at, implemented(s, tile, t, &match));
}
