/* Where a buffer lives and how its axes are padded: set_scope and storage_align. Both concern
 * buffers that a block allocates; the memory of parameters and of views belongs to others. */
#include "copies.h"
#include "ir/tree/annotations.h"
#include "passes/schedule/state/state.h"

/* --- set_scope -------------------------------------------------------------------------------- */

typedef struct Views {
  Tirc *c;
  const char *scope;
  PtrMap *buffers;
} Views;

/* A view of the buffer, or a view of a view, lives where the buffer lives. */
static bool see_views(Visitor *v, Stmt s) {
  Views *w = v->self;
  if (s->kind != STMT_BLOCK) return true;
  for (int i = 0; i < s->u.block.n_matches; i++) {
    const MatchBuffer *m = &s->u.block.matches[i];
    if (tirc_map_has(w->buffers, m->source.buffer))
      tirc_map_set(w->c, w->buffers, m->buffer, tirc_buffer_with_scope(w->c, m->buffer, w->scope));
  }
  return true;
}

void tirc_prim_set_scope(Sched *s, const Value *args, Value *result) {
  (void)result;
  SRef *block = tirc_sref_of_value(s, args[0]);
  Buffer b = tirc_nth_buffer(s, block, args[1], true);
  const char *scope = args[2].u.s;
  if (strcmp(b->scope, scope) == 0) return;
  tirc_require_storage_scope(s, scope);
  SRef *site = tirc_require_allocated(s, block, b);
  tirc_require_not_in_shapes(s, site, b);
  PtrMap buffers = {0};
  tirc_map_set(s->c, &buffers, b, tirc_buffer_with_scope(s->c, b, scope));
  Views views = {.c = s->c, .scope = scope, .buffers = &buffers};
  const Paths *only = tirc_paths_to_users(s, site, b);
  tirc_visit_stmt(&(Visitor){.stmt = see_views, .self = &views, .only = only}, site->stmt);
  tirc_sched_replace(s, site, tirc_substitute_buffers_in(s->c, site->stmt, &buffers, only));
  /* Threads may have shared it until now. */
  const SRefs *users = tirc_users_of(site->scope, tirc_map_get(&buffers, b));
  tirc_require_independent_around(s, users->n, users->at);
}

/* --- storage_align ---------------------------------------------------------------------------- */

static bool is_alignment(Expr e) {
  if (e->op != OP_TUPLE || e->n != 4) return false;
  for (int i = 0; i < 4; i++)
    if (e->args[i]->op != OP_INT) return false;
  return true;
}

/* The list of alignments with one more, or with the one of the same buffer and axis replaced. */
static Expr add_alignment(Sched *s, SRef *block, Expr entry) {
  Expr old = tirc_attrs_get(tirc_block_of(block)->annotations, tirc_key(KEY_BUFFER_DIM_ALIGN));
  bool valid = !old || old->op == OP_TUPLE;
  for (int i = 0; old && valid && i < old->n; i++) valid = is_alignment(old->args[i]);
  if (!valid)
    tirc_refuse(
        s, block->stmt, SERR_ALIGN_ANNOTATION,
        "The annotation %s of block %s is not a list of [buffer index, axis, factor, offset].",
        tirc_key(KEY_BUFFER_DIM_ALIGN), tirc_name_of(block));
  int n = old ? old->n : 0, i = 0;
  Expr *entries = tirc_new_array(s->c, Expr, n + 1);
  for (int k = 0; k < n; k++) entries[k] = old->args[k];
  while (i < n && (entries[i]->args[0]->u.i != entry->args[0]->u.i ||
                   entries[i]->args[1]->u.i != entry->args[1]->u.i))
    i++;
  entries[i] = entry;
  return tirc_expr(s->c, OP_TUPLE, DT_HANDLE, i == n ? n + 1 : n, entries);
}

static int64_t require_axis(Sched *s, SRef *block, Buffer b, int64_t axis) {
  if (axis >= -b->ndim && axis < b->ndim) return axis < 0 ? axis + b->ndim : axis;
  tirc_refuse(s, block->stmt, SERR_ALIGN_AXIS,
              "%s has %d axes, so axis must be from %d to %d, but it is %lld.", b->name, b->ndim,
              -b->ndim, b->ndim - 1, (long long)axis);
}

void tirc_prim_storage_align(Sched *s, const Value *args, Value *result) {
  (void)result;
  SRef *block = tirc_sref_of_value(s, args[0]);
  Buffer b = tirc_nth_buffer(s, block, args[1], true);
  int64_t factor = args[3].u.i;
  if (factor <= 0)
    tirc_refuse(s, NULL, SERR_ALIGN_FACTOR, "The factor of storage_align is %lld.",
                (long long)factor);
  if (factor > INT32_MAX || args[4].u.i > INT32_MAX || args[4].u.i < INT32_MIN)
    tirc_refuse(
        s, NULL, SERR_ALIGN_FACTOR,
        "The factor of storage_align is %lld and the offset is %lld; they do not fit into 32 bits.",
        (long long)factor, (long long)args[4].u.i);
  int64_t axis = require_axis(s, block, b, args[2].u.i);
  tirc_require_allocated(s, block, b);
  Expr entry[] = {tirc_int32(s->c, args[1].u.i), tirc_int32(s->c, axis), tirc_int32(s->c, factor),
                  tirc_int32(s->c, args[4].u.i)};
  Expr all = add_alignment(s, block, tirc_expr(s->c, OP_TUPLE, DT_HANDLE, 4, entry));
  Block to = *tirc_block_of(block);
  to.annotations = tirc_attrs_set(s->c, to.annotations, tirc_key(KEY_BUFFER_DIM_ALIGN), all);
  tirc_sched_replace(s, block, tirc_with_loc(s->c, tirc_block(s->c, &to), block->stmt->loc));
  tirc_mark_changed(s, block, tirc_key(KEY_BUFFER_DIM_ALIGN));
}
