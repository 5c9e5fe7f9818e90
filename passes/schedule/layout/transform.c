/* transform_layout and set_axis_separator: another layout of a buffer, everywhere that it is used.
 *
 *   transform_layout(B, ("write", 0), lambda i, j: (j // 16, i, j % 16))
 *
 *   B = T.alloc_buffer((64, 64))            ->    B = T.alloc_buffer((4, 64, 16))
 *   B[vi, vj] = f(A[vi, vj])                ->    B[vj // 16, vi, vj % 16] = f(A[vi, vj])
 *   C[vi, vj] = g(B[vi, vj])                ->    C[vi, vj] = g(B[vj // 16, vi, vj % 16])
 *
 * The map must be injective: two elements in one place would change the program. What it leaves
 * unused in the new shape is padding, which needs a pad_value (padding.c). A parameter of the
 * function may be transformed; then callers must pass it in the new layout. Needs: a buffer that is
 * allocated by a block or is a parameter, that is accessed by loads and stores only, and that has
 * no strides of its own. */
#include "layout.h"

#include "ir/tree/print.h"

/* --- where the buffer lives ------------------------------------------------------------------- */

/* The block that allocates it; the function's root for a parameter. */
SRef *tirc_scope_of_buffer(Sched *s, SRef *block, Buffer b) {
  SRef *scope = tirc_allocator_of(block, b);
  if (scope) return scope;
  if (tirc_is_parameter(s, block, b)) {
    tirc_require_scope_root(s, block, false);
    return s->roots[block->func];
  }
  tirc_refuse(s, block->stmt, SERR_BUFFER_IS_VIEW,
              "%s is a view of another buffer: it is neither allocated by a block nor a parameter "
              "of the function.",
              b->name);
}

/* What is known of the parameter so far (NULL: nothing), and then this map. */
static const Relayout *relayout(Tirc *c, const Relayout *so_far, Buffer from, const IndexMap *map) {
  Relayout *r = tirc_new(c, Relayout);
  *r = (Relayout){from, map->inputs, map->outputs, map->in_place != NULL};
  if (!so_far) return r;
  *r = *so_far;
  r->in_place &= map->in_place != NULL;
  r->indices = tirc_map_indices(c, tirc_analyzer(c), map, so_far->indices);
  return r;
}

static bool is_defined(const Func *f, Expr var) {
  for (int i = 0; i < f->n_params; i++) {
    if (f->params[i] == var) return true;
    for (int d = 0; f->buffers[i] && d < f->buffers[i]->ndim; d++)
      if (f->buffers[i]->shape[d] == var) return true;
  }
  return false;
}

/* A symbolic extent is what the array that is passed has there. */
static void require_extents_known(Sched *s, const Func *f, Buffer from) {
  for (int d = 0; d < from->ndim; d++)
    if (from->shape[d]->op == OP_VAR && !is_defined(f, from->shape[d]))
      tirc_sched_error(s, NULL, SERR_BUFFER_NOT_PLAIN, NULL,
                       "pass the extent as a parameter of its own (n: T.int32)",
                       "The layout of %s cannot change: only its shape tells the value of %s, and "
                       "in the new layout %s is no longer an extent.",
                       from->name, from->shape[d]->u.s, from->shape[d]->u.s);
}

/* map: NULL when the elements stay where they are. */
static void change_parameter(Sched *s, int func, Buffer from, Buffer to, const IndexMap *map) {
  Func f = *s->mod->funcs[func];
  Buffer *buffers = tirc_new_array(s->c, Buffer, f.n_params + 1);
  const Relayout **relayouts = tirc_new_array(s->c, const Relayout *, f.n_params + 1);
  bool is_param = false;
  for (int i = 0; i < f.n_params; i++) {
    bool changes = f.buffers[i] == from;
    buffers[i] = changes ? to : f.buffers[i];
    relayouts[i] = f.relayouts ? f.relayouts[i] : NULL;
    if (changes && map) relayouts[i] = relayout(s->c, relayouts[i], from, map);
    is_param |= changes;
  }
  f.buffers = buffers;
  f.relayouts = relayouts;
  if (is_param) require_extents_known(s, &f, from);
  Func *kept = tirc_copy(s->c, &f, 1);
  s->mod = tirc_module_with_func(s->c, s->mod, func, kept);
}

static void install(Sched *s, SRef *scope, Stmt with, Buffer from, Buffer to, const IndexMap *map) {
  const int func = scope->func;
  tirc_sched_replace(s, scope, with);
  change_parameter(s, func, from, to, map);
}

/* --- only loads and stores -------------------------------------------------------------------- */

typedef struct PlainCheck {
  Buffer buffer;
  bool views; /* may be made of it: all elements stay where they are */
  const char *why;
  Stmt where; /* the innermost block so far */
} PlainCheck;

static void see_access(PlainCheck *p, Buffer b, int n, const Expr *indices) {
  if (b != p->buffer && b->data == p->buffer->data)
    p->why = "another buffer is a view of its memory";
  for (int i = 0; b == p->buffer && i < n; i++)
    if (indices[i]->dtype.lanes != 1) p->why = "vectors of its elements are loaded or stored";
}

static bool see_expr(Visitor *v, Expr e) {
  PlainCheck *p = v->self;
  if (e == p->buffer->data) p->why = "its data pointer is used";
  if (e->op == OP_LOAD) see_access(p, e->u.buffer, e->n, e->args);
  const Expr addressed = tirc_addressed(e);
  if (addressed && addressed->u.buffer == p->buffer) p->why = "the address of an element is taken";
  return !p->why;
}

static bool see_stmt(Visitor *v, Stmt s) {
  PlainCheck *p = v->self;
  if (p->why) return false;
  if (s->kind == STMT_STORE) see_access(p, s->u.store.buffer, s->u.store.n, s->u.store.indices);
  if (s->kind == STMT_DECL) see_access(p, s->u.alloc.buffer, 0, NULL);
  if (s->kind != STMT_BLOCK) return true;
  p->where = s;
  if (tirc_shapes_load(s, p->buffer)) p->why = "an extent of a buffer is loaded from it";
  for (int i = 0; i < s->u.block.n_matches; i++)
    if (s->u.block.matches[i].source.buffer->data == p->buffer->data && !p->views)
      p->why = "T.match_buffer makes a view of it";
  return !p->why;
}

void tirc_require_plain_use(Sched *s, SRef *scope, Buffer b, bool views) {
  PlainCheck p = {.buffer = b, .views = views, .where = scope->stmt};
  tirc_visit_stmt(
      &(Visitor){
          .expr = see_expr, .stmt = see_stmt, .self = &p, .only = tirc_paths_to_users(s, scope, b)},
      scope->stmt);
  if (b->strides) p.why = "it has strides of its own";
  if (!p.why) return;
  tirc_refuse(s, p.where, SERR_BUFFER_NOT_PLAIN, "The layout of %s cannot change: %s.", b->name,
              p.why);
}

/* --- axis separators -------------------------------------------------------------------------- */

static void require_place(Sched *s, Buffer b, int64_t at, int64_t from) {
  bool outside = at < 0 || at > b->ndim;
  if (outside || at < from)
    tirc_refuse(s, NULL, SERR_AXIS_SEPARATORS,
                "An axis separator cannot be at %lld: %s has %d axes%s.", (long long)at, b->name,
                b->ndim, outside ? "" : ", and separators must ascend");
}

static void set_separators(Sched *s, struct BufferNode *b, int n, const int *at) {
  for (int i = 0; i < n; i++) require_place(s, b, at[i], i ? at[i - 1] : 0);
  b->axis_separators = at;
  b->n_axis_separators = n;
}

typedef struct Views {
  Tirc *c;
  PtrMap map; /* buffers that change */
} Views;

/* A view of the same rank has the axes of its source; of another one it has as many before its
 * first. */
static bool add_views(Visitor *v, Stmt s) {
  Views *w = v->self;
  const Block *b = &s->u.block;
  for (int i = 0; s->kind == STMT_BLOCK && i < b->n_matches; i++) {
    Buffer source = tirc_map_get(&w->map, b->matches[i].source.buffer);
    struct BufferNode to = *b->matches[i].buffer;
    if (!source) continue;
    to.axis_separators = source->ndim == to.ndim
                             ? source->axis_separators
                             : tirc_new_array(w->c, int, source->n_axis_separators + 1);
    to.n_axis_separators = source->n_axis_separators;
    tirc_map_set(w->c, &w->map, b->matches[i].buffer, tirc_buffer_copy(w->c, &to));
  }
  return true;
}

static void separate_axes(Sched *s, SRef *block, Buffer from, int n, const int *at) {
  Tirc *c = s->c;
  SRef *scope = tirc_scope_of_buffer(s, block, from);
  tirc_require_not_in_shapes(s, scope, from);
  struct BufferNode node = *from;
  set_separators(s, &node, n, at);
  Views views = {.c = c};
  Buffer to = tirc_buffer_copy(c, &node);
  tirc_map_set(c, &views.map, from, to);
  const Paths *only = tirc_paths_to_users(s, scope, from);
  tirc_visit_stmt(&(Visitor){.stmt = add_views, .self = &views, .only = only}, scope->stmt);
  install(s, scope, tirc_substitute_buffers_in(c, scope->stmt, &views.map, only), from, to, NULL);
}

void tirc_prim_set_axis_separator(Sched *s, const Value *args, Value *result) {
  (void)result;
  SRef *block = tirc_sref_of_value(s, args[0]);
  Buffer from = tirc_choose_buffer(s, block, args[1]).buffer;
  int n = args[2].kind == VAL_NONE ? 0 : args[2].u.list->n;
  int *at = tirc_new_array(s->c, int, n + 1);
  for (int i = 0; i < n; i++) {
    int64_t place = args[2].u.list->at[i].u.i;
    require_place(s, from, place, i ? at[i - 1] : 0);
    at[i] = (int)place;
  }
  separate_axes(s, block, from, n, at);
}

/* --- the pad value ---------------------------------------------------------------------------- */

/* The type of the variables of a function that knows no buffer. */
static DType usual_index_type(const Block *b) {
  if (b->n_iters) return b->iters[0].var->dtype;
  for (int i = 0; i < b->n_reads + b->n_writes; i++) {
    const Region *r = i < b->n_reads ? &b->reads[i] : &b->writes[i - b->n_reads];
    if (r->buffer->ndim) return r->dims[0].min->dtype;
  }
  return DT_INT64;
}

/* A number takes the buffer's type when that is of its kind. */
static Expr pad_constant(Tirc *c, Value v, DType t) {
  if (v.kind == VAL_EXPR) return v.u.expr;
  if (v.kind == VAL_FLOAT) return tirc_float(c, tirc_dtype_is_float(t) ? t : DT_FLOAT32, v.u.f);
  bool is_int = t.code == TYPE_INT || t.code == TYPE_UINT;
  if (v.kind == VAL_BOOL && !is_int) return tirc_bool(c, v.u.b);
  return tirc_int(c, is_int ? t : DT_INT32, v.kind == VAL_BOOL ? v.u.b : v.u.i);
}

static bool is_other_load(const void *buffer, Expr e) {
  return e->op == OP_LOAD && e->u.buffer != buffer;
}

static bool fits(int64_t value, DType t) {
  return value >= tirc_dtype_min(t) && value <= tirc_dtype_max(t);
}

static IndexMap read_pad_value(LayoutChange *l, Value v) {
  Sched *s = l->s;
  Tirc *c = l->c;
  int n = l->map.n_outputs;
  DType *types = tirc_new_array(c, DType, n + 1);
  for (int i = 0; i < n; i++) types[i] = usual_index_type(tirc_block_of(l->block));
  IndexMap pad = {0};
  if (v.kind == VAL_FUNCTION) {
    const bool plain = !n || tirc_dtype_equal(l->from->dtype, DT_INT32); /* a whole number is */
    pad = tirc_value_map(s, v, n, types, plain ? DT_INT32 : types[0]);
  } else {
    Expr *value = tirc_new(c, Expr);
    *value = pad_constant(c, v, l->from->dtype);
    Expr *vars = tirc_new_array(c, Expr, n + 1);
    for (int i = 0; i < n; i++) vars[i] = tirc_var(c, tirc_format(c, "i%d", i), types[i]);
    pad = (IndexMap){.n_inputs = n, .n_outputs = 1, .inputs = vars, .outputs = value};
  }
  if (pad.n_outputs != 1)
    tirc_refuse(s, NULL, SERR_PAD_VALUE,
                "The pad value must be one value, but the function returns %d values.",
                pad.n_outputs);
  if (!tirc_dtype_equal(pad.outputs[0]->dtype, l->from->dtype))
    tirc_refuse(s, NULL, SERR_PAD_VALUE,
                "The pad value %s is of type %s, but %s has elements of type %s.",
                tirc_print_expr(c, pad.outputs[0]), tirc_dtype_name(c, pad.outputs[0]->dtype),
                l->from->name, tirc_dtype_name(c, l->from->dtype));
  if (pad.outputs[0]->op == OP_INT && !fits(pad.outputs[0]->u.i, l->from->dtype))
    tirc_refuse(s, NULL, SERR_PAD_VALUE, "The pad value %lld does not fit into %s.",
                (long long)pad.outputs[0]->u.i, tirc_dtype_name(c, l->from->dtype));
  const Expr load = tirc_find_expr(pad.outputs[0], is_other_load, l->from);
  if (load)
    tirc_refuse(s, NULL, SERR_PAD_VALUE,
                "The pad value loads from %s, but it may load only from %s.", load->u.buffer->name,
                l->from->name);
  tirc_require_inputs(s, &pad, n, "the new layout");
  return pad;
}

/* --- transform_layout ------------------------------------------------------------------------- */

static void read_index_map(LayoutChange *l, Value function) {
  Buffer b = l->from;
  DType *types = tirc_new_array(l->c, DType, b->ndim + 1);
  for (int i = 0; i < b->ndim; i++) types[i] = b->shape[i]->dtype;
  l->map = tirc_index_map(l->s, function, b->ndim, types);
  tirc_require_inputs(l->s, &l->map, b->ndim, tirc_format(l->c, "buffer %s", b->name));
}

/* Computes the inverse and the padding, or with `assumed` looks only whether the assumption is
 * wrong. */
static void require_injective(LayoutChange *l, bool assumed, const Expr *new_shape) {
  const char *why = tirc_invert_map(l->s, l->block, &l->map, l->from->shape, false, &l->inverse);
  int tried = why ? tirc_try_injective(l->c, &l->map, l->from->shape, new_shape) : 1;
  const char *text = why ? tirc_index_map_text(l->c, &l->map) : NULL;
  if (tried == 0 || (tried < 0 && !assumed && l->inverse.loses_input))
    tirc_sched_error(
        l->s, NULL, SERR_INDEX_MAP_NOT_INJECTIVE, why, NULL,
        "%s puts different elements of %s into one place, or outside of the new shape.", text,
        l->from->name);
  if (why && !assumed)
    tirc_sched_error(l->s, NULL, SERR_INDEX_MAP_NOT_AFFINE, why, NULL,
                     "The inverse of %s cannot be computed.", text);
  if (tried < 0)
    tirc_sched_warn(l->s, "it cannot be seen whether %s is injective on %s", text, l->from->name);
  if (assumed) l->inverse.padding = tirc_bool(l->c, false);
}

Buffer tirc_laid_out(LayoutChange *l, const Expr *shape) {
  struct BufferNode to = *l->from;
  to.ndim = l->map.n_outputs;
  to.one_stride &= to.ndim != 1;
  to.shape = shape;
  bool given = l->map.n_separators > 0;
  set_separators(l->s, &to, given ? l->map.n_separators : to.n_axis_separators,
                 given ? l->map.separators : to.axis_separators);
  return tirc_buffer_copy(l->c, &to);
}

typedef struct LayoutRewrite {
  const LayoutChange *l;
  const PaddingPlan *plan;
  Analyzer *plain; /* knows nothing: for the map itself */
} LayoutRewrite;

static bool rewrite_access(AccessRewriter *w, Buffer *buffer, int *n, const Expr **indices) {
  const LayoutRewrite *r = w->self;
  if (*buffer != r->l->from) return false;
  *buffer = r->l->to;
  *n = r->l->map.n_outputs;
  *indices =
      r->l->map.in_place
          ? r->l->map.in_place(r->l, w->a, *indices)
          : tirc_simplify_access(w, *n, tirc_map_indices(w->c, r->plain, &r->l->map, *indices));
  return true;
}

/* What is declared of the buffer becomes what is accessed of it. */
static const Region *rewrite_regions(const LayoutRewrite *r, Stmt block, int n, const Region *from,
                                     Regions inferred) {
  Region *out = tirc_new_array(r->l->c, Region, n + 1);
  for (int i = 0; i < n; i++) {
    out[i] = from[i];
    if (from[i].buffer != r->l->from) continue;
    const Region *found = tirc_region_of(inferred.n, inferred.at, r->l->to);
    if (!found)
      tirc_refuse(r->l->s, block, SERR_REGION_NOT_ACCESSED,
                  "Block %s declares a region of %s that nothing in it accesses.",
                  block->u.block.name, r->l->from->name);
    out[i] = *found;
  }
  return out;
}

/* With what it reads of its own sums, which count for nothing where the block has an init. */
static Regions reads_of_update(Tirc *c, Stmt block) {
  Block update = block->u.block;
  Regions reads, writes;
  update.init = NULL;
  tirc_block_reads_writes(c, tirc_block(c, &update), &reads, &writes);
  return reads;
}

/* Views are made of a buffer only where all elements stay where they are. */
static bool view_new_buffer(const LayoutRewrite *r, Block *b) {
  MatchBuffer *matches = tirc_new_array(r->l->c, MatchBuffer, b->n_matches + 1);
  bool found = false;
  for (int i = 0; i < b->n_matches; i++) {
    matches[i] = b->matches[i];
    if (matches[i].source.buffer != r->l->from) continue;
    matches[i].source.buffer = r->l->to;
    found = true;
  }
  b->matches = matches;
  return found;
}

static Stmt rewrite_block(AccessRewriter *w, Stmt s) {
  const LayoutRewrite *r = w->self;
  Block b = s->u.block;
  bool allocates = false;
  Buffer *allocs = tirc_new_array(w->c, Buffer, b.n_allocs + 1);
  for (int i = 0; i < b.n_allocs; i++) {
    bool same = b.allocs[i] == r->l->from;
    allocs[i] = same ? r->l->to : b.allocs[i];
    allocates = allocates || same;
  }
  bool declared = tirc_declared_read(&b, r->l->from) || tirc_declared_write(&b, r->l->from);
  const bool viewed = view_new_buffer(r, &b);
  if (!declared && !allocates && !viewed) return s;
  b.allocs = allocs;
  if (viewed) s = tirc_with_loc(w->c, tirc_block(w->c, &b), s->loc);
  if (declared) {
    Regions reads, writes;
    tirc_block_reads_writes(w->c, s, &reads, &writes);
    if (b.init && tirc_declared_read(&b, r->l->from) && tirc_declared_write(&b, r->l->from))
      reads = reads_of_update(w->c, s);
    b.reads = rewrite_regions(r, s, b.n_reads, b.reads, reads);
    b.writes = rewrite_regions(r, s, b.n_writes, b.writes, writes);
  }
  return tirc_with_loc(w->c, tirc_block(w->c, &b), s->loc);
}

static Stmt replace_planned(AccessRewriter *w, Stmt s) {
  const LayoutRewrite *r = w->self;
  for (int i = 0; i < r->plan->n; i++)
    if (r->plan->replaced[i] == s) return r->plan->with[i];
  return s;
}

static Stmt insert_planned(AccessRewriter *w, Stmt was, Stmt now) {
  const LayoutRewrite *r = w->self;
  if (was != r->plan->after) return now;
  if (was == r->l->scope->stmt)
    return tirc_with_body(w->c, now, tirc_insert_item(w->c, tirc_body_of(now), -1, r->plan->fill));
  return tirc_seq(w->c, 2, (Stmt[]){now, r->plan->fill});
}

static Stmt rewrite_scope(const LayoutChange *l, const PaddingPlan *plan) {
  LayoutRewrite r = {l, plan, tirc_analyzer(l->c)};
  AccessRewriter w = {.c = l->c,
                      .a = tirc_analyzer(l->c),
                      .access = rewrite_access,
                      .block = rewrite_block,
                      .before = replace_planned,
                      .after = insert_planned,
                      .self = &r};
  w.only = tirc_paths_to_users(l->s, l->scope, l->from);
  return tirc_rewrite_accesses(&w, l->scope->stmt);
}

void tirc_install_layout(const LayoutChange *l, const PaddingPlan *plan) {
  install(l->s, l->scope, rewrite_scope(l, plan), l->from, l->to, &l->map);
}

static bool is_identity(const IndexMap *map) {
  bool same = map->n_inputs == map->n_outputs;
  for (int i = 0; same && i < map->n_inputs; i++) same = map->outputs[i] == map->inputs[i];
  return same;
}

void tirc_prim_transform_layout(Sched *s, const Value *args, Value *result) {
  (void)result;
  Tirc *c = s->c;
  LayoutChange l = {.s = s, .c = c, .block = tirc_sref_of_value(s, args[0])};
  bool has_pad = args[3].kind != VAL_NONE, assumed = args[4].u.b;
  l.from = tirc_choose_buffer(s, l.block, args[1]).buffer;
  read_index_map(&l, args[2]);
  l.scope = tirc_scope_of_buffer(s, l.block, l.from);
  if (has_pad) l.pad = read_pad_value(&l, args[3]);
  if (has_pad && assumed)
    tirc_sched_error(s, NULL, SERR_PAD_VALUE, NULL, "omit pad_value or assume_injective_transform",
                     "With assume_injective_transform, the position of the padding is not known.");
  const bool identity = is_identity(&l.map);
  const int n_separators = l.map.n_separators;
  if (identity) l.map.n_separators = 0;
  tirc_require_plain_use(s, l.scope, l.from, identity);
  const Expr *shape = tirc_map_shape(s, tirc_analyzer_of_shapes(s, l.block), &l.map, l.from->shape);
  require_injective(&l, assumed, shape);
  bool padded = !tirc_is_int(l.inverse.padding, 0);
  if (padded && !has_pad)
    tirc_refuse(s, NULL, SERR_LAYOUT_PADDING,
                "%s leaves padding in the new layout of %s, where %s, but there is no pad value.",
                tirc_index_map_text(c, &l.map), l.from->name,
                tirc_print_expr(c, l.inverse.padding));
  l.to = tirc_laid_out(&l, shape);
  PaddingPlan plan = padded ? tirc_plan_padding(&l) : (PaddingPlan){0};
  tirc_install_layout(&l, &plan);
  if (identity && n_separators) separate_axes(s, l.block, l.to, n_separators, l.map.separators);
}
