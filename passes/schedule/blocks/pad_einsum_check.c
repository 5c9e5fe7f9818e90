/* When padding an Einstein sum changes nothing but the work that is done.
 *
 * Added iterations read zeros, and what they write is not copied back. Three things can go wrong:
 * - A reduction takes the zeros in: what an added iteration contributes must be neutral, as
 *   A_pad[i, k] * B_pad[k, j] is in a sum, and as it is not in a maximum.
 * - The grown loops run more than the block: another block, or a loop whose bound uses them.
 * - The copy back moves elements that the block has not written over what was there before, or sums
 *   that lack what was there before. */
#include "blocks.h"

#include "ir/tree/print.h"

static const char *name_of(const EinsumPadding *p) { return tirc_name_of(p->block); }

/* --- neutral contributions ------------------------------------------------------------------ */

/* Whether this load is zero wherever iterator number i is beyond its old domain. */
static bool is_zero_load(const EinsumPadding *p, int iter, Expr load) {
  const Block *b = tirc_block_of(p->block);
  Analyzer *a = tirc_analyzer(p->s->c);
  for (int k = 0; k < p->buffers.n; k++) {
    const PaddedBuffer *pb = &p->buffers.at[k];
    if (!pb->is_read || pb->region->buffer != load->u.buffer) continue;
    for (int d = 0; d < load->n; d++)
      if (load->args[d] == b->iters[iter].var &&
          tirc_prove_equal(a, load->u.buffer->shape[d], b->iters[iter].dom.extent))
        return true;
  }
  return false;
}

static bool is_zero(const EinsumPadding *p, int iter, Expr e) {
  switch (e->op) {
  case OP_INT: return e->u.i == 0;
  case OP_FLOAT: return e->u.f == 0;
  case OP_LOAD: return is_zero_load(p, iter, e);
  case OP_MUL: return is_zero(p, iter, e->args[0]) || is_zero(p, iter, e->args[1]);
  case OP_ADD:
  case OP_SUB:
  case OP_MIN:
  case OP_MAX: return is_zero(p, iter, e->args[0]) && is_zero(p, iter, e->args[1]);
  case OP_DIV:
  case OP_CAST:
  case OP_SQRT:
  case OP_ABS:
  case OP_TANH:
  case OP_SIN:
  case OP_ERF: return is_zero(p, iter, e->args[0]);
  case OP_SELECT:
  case OP_IF_THEN_ELSE: return is_zero(p, iter, e->args[1]) && is_zero(p, iter, e->args[2]);
  default: return false;
  }
}

static bool is_own_element(Stmt store, Expr e) {
  return e->op == OP_LOAD && e->u.buffer == store->u.store.buffer &&
         tirc_same_exprs(e->n, e->args, store->u.store.indices);
}

static bool adds_zero(const EinsumPadding *p, int iter) {
  Stmt body = tirc_block_of(p->block)->body;
  if (body->kind != STMT_STORE) return false;
  Expr e = body->u.store.value;
  if (e->op == OP_ADD && is_own_element(body, e->args[1])) return is_zero(p, iter, e->args[0]);
  return (e->op == OP_ADD || e->op == OP_SUB) && is_own_element(body, e->args[0]) &&
         is_zero(p, iter, e->args[1]);
}

/* An iterator that is no index of the output writes the same elements in its added iterations. */
static bool is_index_of_outputs(const EinsumPadding *p, int iter) {
  const Block *b = tirc_block_of(p->block);
  for (int w = 0; w < b->n_writes; w++) {
    int d = 0;
    while (d < b->writes[w].buffer->ndim && b->writes[w].dims[d].min != b->iters[iter].var) d++;
    if (d == b->writes[w].buffer->ndim) return false;
  }
  return true;
}

static _Noreturn void not_neutral(const EinsumPadding *p, int iter, const char *why) {
  tirc_refuse(p->s, p->block->stmt, SERR_PADDING_NOT_NEUTRAL,
              "With iterator %s padded, block %s would compute a different result: %s.",
              tirc_block_of(p->block)->iters[iter].var->u.s, name_of(p), why);
}

static bool is_padded_load(const void *padding, Expr e) {
  const EinsumPadding *p = padding;
  for (int i = 0; e->op == OP_LOAD && i < p->buffers.n; i++)
    if (p->buffers.at[i].is_read && p->buffers.at[i].region->buffer == e->u.buffer) return true;
  return false;
}

static bool is_divided_by_padding(const void *padding, Expr e) {
  return tirc_divides(e) && tirc_find_expr(e->args[1], is_padded_load, padding);
}

static bool divides_by_padding(const EinsumPadding *p) {
  return tirc_find_expr_in(tirc_block_of(p->block)->body, is_divided_by_padding, p);
}

static void require_neutral(const EinsumPadding *p) {
  const Block *b = tirc_block_of(p->block);
  for (int i = 0; i < b->n_iters; i++) {
    if (!p->iters[i].extent || !p->iters[i].loop) continue;
    if (divides_by_padding(p)) not_neutral(p, i, "it would divide by the zeros of the padding");
    if (is_index_of_outputs(p, i)) continue;
    if (b->init && b->iters[i].kind != ITER_REDUCE)
      not_neutral(p, i, "its init would run in the added iterations, too, over the results");
    if (!adds_zero(p, i))
      not_neutral(p, i,
                  "its added iterations write the same elements, and what they write is not "
                  "the sum with a product that the padding makes zero");
  }
}

/* --- nothing else grows --------------------------------------------------------------------- */

#define not_closed(p, what, ...)                                                                   \
  tirc_refuse((p)->s, what, SERR_PADDING_NOT_CLOSED, "Block %s cannot be padded: %s.", name_of(p), \
              tirc_format((p)->s->c, __VA_ARGS__))

typedef struct Users {
  const EinsumPadding *p;
  Expr var;
} Users;

/* Below a grown loop. */
static bool see_below(Visitor *v, Stmt s) {
  Users *u = v->self;
  if (s->kind == STMT_FOR && tirc_range_uses(tirc_loop_range(&s->u.loop), u->var))
    not_closed(u->p, s, "the bounds of loop %s use loop %s, which would grow", s->u.loop.var->u.s,
               u->var->u.s);
  if (s->kind != STMT_BLOCK) return true;
  if (s != u->p->block->stmt)
    not_closed(u->p, s, "loop %s, which would grow, also runs block %s", u->var->u.s,
               s->u.block.name);
  return false;
}

static void require_own_loop(const EinsumPadding *p, int iter) {
  const Block *b = tirc_block_of(p->block);
  const For *loop = tirc_loop_of(p->iters[iter].loop);
  Tirc *c = p->s->c;
  if (!tirc_is_int(loop->min, 0) ||
      !tirc_prove_equal(tirc_analyzer(c), loop->extent, b->iters[iter].dom.extent))
    not_closed(p, p->block->stmt, "loop %s does not run over the domain of iterator %s",
               loop->var->u.s, b->iters[iter].var->u.s);
  for (int k = 0; k < b->n_iters; k++)
    if (k != iter && tirc_uses_var(b->iter_values[k], loop->var))
      not_closed(p, p->block->stmt, "loop %s, which would grow, is bound to iterator %s as well",
                 loop->var->u.s, b->iters[k].var->u.s);
  tirc_visit_stmts(loop->body, see_below, &(Users){p, loop->var});
  const Beyond beyond = tirc_beyond(p->s, p->iters[iter].loop, p->iters[iter].extent);
  if (beyond.what)
    not_closed(p, p->block->stmt, "loop %s, which would grow, reaches %s", loop->var->u.s,
               beyond.what);
}

/* Where the block does not run, readers would find nothing in the padded buffer yet. */
static void require_readers_served(const EinsumPadding *p, Buffer b) {
  const SRefs readers = tirc_readers_of(p->scope, b);
  for (int i = 0; i < readers.n; i++)
    if (readers.at[i]->order > p->block->order &&
        !tirc_runs_whenever(p->s, p->block, readers.at[i]))
      not_closed(p, readers.at[i]->stmt, "block %s reads %s where it is not known to run",
                 tirc_name_of(readers.at[i]), b->name);
}

static bool has_room(const PaddedBuffer *pb, const Expr *shape, Tirc *c) {
  Analyzer *a = tirc_analyzer(c);
  for (int d = 0; d < pb->padded->ndim; d++)
    if (!tirc_prove_ge(a, pb->padded->shape[d], shape[d])) return false;
  return true;
}

/* Other blocks of the nest use the padded buffers too: they may read them, when nothing that they
 * read is cut off. */
static bool see_neighbour(Visitor *v, Stmt s) {
  Users *u = v->self;
  for (int k = 0; k < u->p->buffers.n; k++) /* they go on loading from the old buffer */
    if (tirc_shapes_load(s, u->p->buffers.at[k].region->buffer))
      not_closed(u->p, s, "an extent of a buffer is loaded from %s in the same loops",
                 u->p->buffers.at[k].region->buffer->name);
  if (s->kind != STMT_BLOCK) return true;
  const Block *b = &s->u.block;
  for (int k = 0; k < u->p->buffers.n; k++) {
    const PaddedBuffer *pb = &u->p->buffers.at[k];
    Buffer old = pb->region->buffer;
    if (s == u->p->block->stmt) continue;
    for (int i = 0; i < b->n_writes; i++)
      if (b->writes[i].buffer == old)
        not_closed(u->p, s, "block %s in the same loops writes %s", b->name, old->name);
    for (int i = 0; i < b->n_reads; i++)
      if (b->reads[i].buffer == old && !has_room(pb, old->shape, u->p->s->c))
        not_closed(u->p, s, "block %s in the same loops reads more of %s", b->name, old->name);
  }
  for (int i = 0; i < b->n_matches; i++)
    for (int k = 0; k < u->p->buffers.n; k++)
      if (b->matches[i].source.buffer == u->p->buffers.at[k].region->buffer)
        not_closed(u->p, s, "%s is a view of %s", b->matches[i].buffer->name,
                   b->matches[i].source.buffer->name);
  return true;
}

static bool see_pointer(Visitor *v, Expr e) {
  Users *u = v->self;
  for (int k = 0; k < u->p->buffers.n; k++)
    if (e == u->p->buffers.at[k].region->buffer->data)
      not_closed(u->p, u->p->block->stmt, "the data pointer of %s is used",
                 u->p->buffers.at[k].region->buffer->name);
  return true;
}

/* --- the output comes back whole ------------------------------------------------------------ */

static bool writes_all(const EinsumPadding *p, Buffer b, const char **missing) {
  const Region all = tirc_whole_buffer(p->s->c, b);
  return tirc_nest_writes_box(p->s, p->block, p->scope, tirc_bool(p->s->c, true), &all, missing);
}

static bool is_private(const EinsumPadding *p, Buffer b) {
  return tirc_allocator_of(p->scope, b) == p->scope && tirc_writers_of(p->scope, b).n == 1;
}

static void require_shapes(const EinsumPadding *p) {
  Tirc *c = p->s->c;
  if (!tirc_sums_start_in_scope(p->s, p->block))
    not_closed(p, p->block->stmt,
               "it adds to sums that it does not start in its scope, and the padded buffer would "
               "not hold them");
  const Expr outer = tirc_outer_iter(p->s, p->block);
  if (outer)
    not_closed(p, p->block->stmt,
               "iterator %s stands on something outside of its scope, and the padded "
               "buffers are for all of its domain",
               outer->u.s);
  if (tirc_reads_other_output(p->s, p->block))
    not_closed(p, p->block->stmt, "it adds other elements of its output, which may be sums or not");
  for (int k = 0; k < p->buffers.n; k++) {
    const PaddedBuffer *pb = &p->buffers.at[k];
    Buffer old = pb->region->buffer;
    for (int d = 0; d < old->ndim; d++)
      if (pb->region->dims[d].min->op == OP_INT && !tirc_is_int(pb->region->dims[d].min, 0))
        not_closed(p, p->block->stmt,
                   "index %d of %s is the constant %s, and the padded buffer has one element there",
                   d, old->name, tirc_print_expr(c, pb->region->dims[d].min));
    if (pb->is_read) continue;
    if (!has_room(pb, pb->shape, c))
      not_closed(p, p->block->stmt, "%s is larger than the padded iterators", old->name);
    require_readers_served(p, old);
    if (tirc_block_of(p->block)->init && tirc_reads_own_output(p->s, p->block, old))
      not_closed(p, p->block->stmt, "it reads elements of %s that its init does not store",
                 old->name);
    const char *missing;
    if (!is_private(p, old) && !writes_all(p, old, &missing))
      not_closed(
          p, p->block->stmt,
          "it is not known to write all of %s, and the copy back would overwrite the rest (%s)",
          old->name, tirc_missing_text(c, missing));
  }
}

void tirc_require_sound_padding(const EinsumPadding *p) {
  const Block *b = tirc_block_of(p->block);
  for (int i = 0; i < b->n_iters; i++) {
    if (!p->iters[i].extent) continue;
    if (!tirc_is_int(b->iters[i].dom.min, 0))
      not_closed(p, p->block->stmt, "the domain of iterator %s does not start at 0",
                 b->iters[i].var->u.s);
    if (p->iters[i].loop) require_own_loop(p, i);
  }
  require_shapes(p);
  Users u = {.p = p};
  tirc_visit_stmt(&(Visitor){.expr = see_pointer, .stmt = see_neighbour, .self = &u}, p->nest);
  require_neutral(p);
}
