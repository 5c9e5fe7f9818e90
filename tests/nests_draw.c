/* Nests whose dependences are known by how they are made: a space of some dimensions, each of which
 * is a loop, two (a tile) or a part of one (fused), and elements whose indices are a dimension and
 * an offset, strided, skewed, wrapped, or taken modulo a number. */
#include "nests_draw.h"

#include <math.h>
#include <stdlib.h>

static int64_t mod(int64_t a, int64_t b) { return (a % b + b) % b; }

/* --- the space ------------------------------------------------------------------------------- */

static int64_t draw_size(Rng *r, double about) {
  static const int64_t known[] = {2,    3,    64,   100,  128,  701,  1301,
                                  1999, 2000, 2003, 4099, 5003, 10007};
  if (rng_chance(r, 8)) return 1 + rng_below(r, 4);
  int64_t size = (int64_t)(about * (0.5 + rng_below(r, 1000) / 1000.0)) + 2;
  for (int i = 0; i < 13; i++)
    if (known[i] > size / 2 && known[i] < size * 2 && rng_chance(r, 40)) return known[i];
  return size;
}

/* How many instances: half of them so many that a run would take too long. */
static double draw_instances(Rng *r) {
  return pow(10, rng_chance(r, 50) ? 6.7 + rng_below(r, 100) / 60.0 : 2 + rng_below(r, 100) / 25.0);
}

static const Ix *extent_of(const Draw *d, const Dim *dim) {
  return dim->symbol < 0 ? ix_int(d->c, dim->size) : ix_slot(d->c, dim->symbol);
}

static void draw_dims(Draw *d, double instances, bool symbolic) {
  Rng *r = d->r;
  const double about = pow(instances, 1.0 / d->n_dims);
  for (int k = 0; k < d->n_dims; k++) {
    Dim *dim = &d->dims[k];
    const bool is_symbol = symbolic && (k == 0 || rng_chance(r, 50));
    *dim = (Dim){.symbol = is_symbol ? rng_below(r, d->n->n_symbols) : -1, .skew_by = -1};
    dim->size = is_symbol ? FAR : draw_size(r, about);
    dim->extent = extent_of(d, dim);
    dim->stride = dim->times = 1;
    dim->guard[0] = dim->guard[1] = dim->size;
    if (rng_chance(r, 25)) {
      static const int64_t tiles[] = {4, 7, 16, 64, 100};
      dim->how = HOW_TILE;
      dim->tile = tiles[rng_below(r, 5)];
    }
  }
  for (int k = 0; k + 1 < d->n_dims; k++)
    if (d->dims[k].how == HOW_LOOP && d->dims[k + 1].size < FAR && rng_chance(r, 15)) {
      d->dims[k].how = HOW_FUSED;
      d->dims[++k].how = HOW_FUSED_LOW;
    }
}

static Node *new_loop(Draw *d, const char *name, const Ix *extent) {
  Node *out = tirc_new(d->c, Node);
  *out = (Node){.slot = nest_slot(d->n, name), .extent = extent};
  return out;
}

/* A dimension that is tiled, fused or a loop by itself, in loops that all blocks are in. */
static void share(Draw *d, int k) {
  Tirc *c = d->c;
  Dim *dim = &d->dims[k], *low = dim + 1;
  const char *name = &"ijkl"[k];
  const Ix *value;
  if (dim->how == HOW_FUSED_LOW) return;
  dim->place[0] = d->n_shared;
  if (dim->how == HOW_FUSED) {
    const Node *f = d->shared[d->n_shared++] =
        new_loop(d, tirc_format(c, "%.2s_fused", name), ix_op(c, IX_MUL, dim->extent, low->extent));
    low->place[0] = dim->place[0];
    low->value[0] = low->value[1] = ix_op(c, IX_MOD, ix_slot(c, f->slot), low->extent);
    value = ix_op(c, IX_DIV, ix_slot(c, f->slot), low->extent);
  } else if (dim->how == HOW_TILE) {
    const Ix *n = ix_op_int(c, IX_DIV, ix_op_int(c, IX_ADD, dim->extent, dim->tile - 1), dim->tile);
    const Node *outer = d->shared[d->n_shared++] = new_loop(d, tirc_format(c, "%.1s_0", name), n);
    dim->place[1] = d->n_shared;
    const Node *inner = d->shared[d->n_shared++] =
        new_loop(d, tirc_format(c, "%.1s_1", name), ix_int(c, dim->tile));
    value = ix_op(c, IX_ADD, ix_op_int(c, IX_MUL, ix_slot(c, outer->slot), dim->tile),
                  ix_slot(c, inner->slot));
  } else {
    const Node *loop = d->shared[d->n_shared++] =
        new_loop(d, tirc_format(c, "%.1s", name), dim->extent);
    value = ix_slot(c, loop->slot);
  }
  dim->value[0] = dim->value[1] = value;
}

static void swap_places(Draw *d, int a, int b) {
  Node *x = d->shared[a];
  d->shared[a] = d->shared[b];
  d->shared[b] = x;
  for (int k = 0; k < d->n_dims; k++)
    for (int i = 0; i < 2; i++) {
      int *place = &d->dims[k].place[i];
      if (d->dims[k].own) continue;
      *place = *place == a ? b : *place == b ? a : *place;
    }
}

/* The loops: the last dimensions may be each block's own. */
static void make_loops(Draw *d) {
  const bool some_own = d->n_blocks > 1 && d->n_dims > 1 && rng_chance(d->r, 35);
  const int shared = some_own ? 1 + rng_below(d->r, d->n_dims - 1) : d->n_dims;
  if (shared < d->n_dims && d->dims[shared - 1].how == HOW_FUSED)
    d->dims[shared - 1].how = HOW_LOOP;
  for (int k = 0; k < shared; k++) share(d, k);
  for (int i = d->n_shared - 1; i > 0 && rng_chance(d->r, 30); i--)
    swap_places(d, i, rng_below(d->r, i + 1));
  for (int k = shared; k < d->n_dims; k++) {
    Dim *dim = &d->dims[k];
    dim->how = HOW_LOOP;
    dim->own = true;
    dim->place[0] = d->n_shared + d->n_own;
    for (int b = 0; b < d->n_blocks; b++) {
      d->own[b][d->n_own] =
          new_loop(d, tirc_format(d->c, "%c_%c", "ijkl"[k], "pq"[b]), dim->extent);
      dim->value[b] = ix_slot(d->c, d->own[b][d->n_own]->slot);
    }
    d->n_own++;
  }
  for (int k = 0; k < d->n_dims; k++)
    d->dims[k].axis = nest_slot(d->n, tirc_format(d->c, "v%c", "ijkl"[k]));
}

static void draw_guard(Draw *d) {
  Dim *dim = &d->dims[rng_below(d->r, d->n_dims)];
  if (!rng_chance(d->r, 25)) return;
  const int64_t size = dim->size < FAR ? dim->size : 6000;
  const int64_t at[] = {size - 1, size / 2, size / 3 + 1, 700};
  const int64_t guard = at[rng_below(d->r, 4)];
  if (guard < 1 || guard >= dim->size) return;
  const int which = rng_below(d->r, 3);
  if (which != 1) dim->guard[0] = guard;
  if (which != 0) dim->guard[1] = guard;
}

/* --- elements -------------------------------------------------------------------------------- */

static int64_t draw_distance(Rng *r, const Dim *dim) {
  const int64_t size = dim->size < FAR ? dim->size : 5002;
  const int64_t least = dim->guard[0] < dim->guard[1] ? dim->guard[0] : dim->guard[1];
  const int64_t near = least < FAR ? least : size;
  const int64_t at[] = {
      0,        0,        0,   1,    2,        near - 2, near - 1,  near,
      near + 1, size / 2, 700, 5001, size - 1, size / 3, dim->tile, dim->tile + 1};
  const int64_t out = at[rng_below(r, 16)];
  return rng_chance(r, 50) ? out : -out;
}

static void draw_forms(Draw *d, int percent_odd) {
  Rng *r = d->r;
  int affine = -1, symbolic = 0;
  for (int k = 0; k < d->n_dims; k++) symbolic += d->dims[k].symbol >= 0;
  for (int k = 0; k < d->n_dims; k++) {
    Dim *dim = &d->dims[k];
    const bool loop = dim->how == HOW_LOOP;
    if (rng_chance(r, 12)) dim->stride = 2 + rng_below(r, 3);
    if (rng_chance(r, 15) && affine >= 0 && dim->stride == 1) {
      dim->skew_by = affine;
      dim->skew = 1 + rng_below(r, 3);
    }
    if (!rng_chance(r, percent_odd)) {
      affine = k;
      continue;
    }
    dim->skew_by = -1;
    dim->stride = 1;
    dim->form = (Form)(1 + rng_below(r, 3));
    if (dim->form == FORM_FREE && (!loop || dim->size < 2)) dim->form = FORM_AFFINE;
    /* Modulo a symbol only where no other dimension depends on symbols. */
    if (dim->form == FORM_WRAP && dim->size == FAR &&
        (symbolic > 1 || dim->how == HOW_TILE || rng_chance(r, 50)))
      dim->form = FORM_AFFINE;
    if (dim->form == FORM_MOD && (!loop || dim->size < 4)) dim->form = FORM_AFFINE;
    if (dim->form != FORM_MOD) continue;
    const int64_t size = dim->size < FAR ? dim->size : 3000;
    const int64_t mods[] = {size - 1, size, size + 1, size / 2, 1999, 2 * size + 1, 1999993};
    dim->mod = mods[rng_below(r, 7)];
    if (dim->mod < 2) dim->mod = 2;
    if (rng_chance(r, 60)) dim->times = 2 + rng_below(r, 2000);
  }
}

static bool has_odd_form(const Draw *d) {
  for (int k = 0; k < d->n_dims; k++)
    if (d->dims[k].form == FORM_FREE || d->dims[k].form == FORM_MOD) return true;
  return false;
}

static Access *add_access(Draw *d, int block, bool store) {
  Access *a = &d->accesses[d->n_accesses++];
  *a = (Access){.block = block, .store = store};
  return a;
}

/* `to` is the given number of steps behind `from`, in each dimension; or between its elements. */
static void set_offsets(Draw *d, const Access *from, Access *to) {
  for (int k = 0; k < d->n_dims; k++) {
    const Dim *dim = &d->dims[k];
    if (dim->form == FORM_FREE) continue;
    if (dim->form == FORM_MOD && dim->times > 1) continue;
    int64_t off = draw_distance(d->r, dim) * dim->stride;
    if (dim->stride > 1 && rng_chance(d->r, 30)) off++;
    if (dim->form == FORM_MOD && rng_chance(d->r, 50)) off = 0;
    to->off[k] = from->off[k] - off;
    if (dim->skew_by >= 0) /* so that steps of both dimensions matter */
      to->off[k] -= dim->skew * (from->off[dim->skew_by] - to->off[dim->skew_by]);
  }
}

/* None below 0. */
static void lift_offsets(Draw *d) {
  for (int k = 0; k < d->n_dims; k++) {
    int64_t least = 0;
    for (int i = 0; i < d->n_accesses; i++)
      if (d->accesses[i].off[k] < least) least = d->accesses[i].off[k];
    for (int i = 0; i < d->n_accesses; i++) d->accesses[i].off[k] -= least;
  }
}

static const Ix *index_in(const Draw *d, int k, int64_t off) {
  Tirc *c = d->c;
  const Dim *dim = &d->dims[k];
  const Ix *v =
      ix_op_int(c, IX_MUL, ix_slot(c, dim->axis), dim->form == FORM_MOD ? dim->times : dim->stride);
  if (dim->skew_by >= 0)
    v = ix_op(c, IX_ADD, v,
              ix_op_int(c, IX_MUL, ix_slot(c, d->dims[dim->skew_by].axis), dim->skew));
  if (dim->form == FORM_WRAP) off = mod(off, dim->size);
  v = ix_op_int(c, IX_ADD, v, off);
  if (dim->form == FORM_WRAP) return off ? ix_op(c, IX_MOD, v, dim->extent) : v;
  return dim->form == FORM_MOD ? ix_op_int(c, IX_MOD, v, dim->mod) : v;
}

/* What the index stays below. */
static const Ix *shape_in(const Draw *d, int k) {
  Tirc *c = d->c;
  const Dim *dim = &d->dims[k];
  int64_t most = 0;
  if (dim->form == FORM_MOD) return ix_int(c, dim->mod);
  if (dim->form == FORM_WRAP) return dim->extent;
  for (int i = 0; i < d->n_accesses; i++)
    if (d->accesses[i].off[k] > most) most = d->accesses[i].off[k];
  const Ix *out = ix_op_int(c, IX_MUL, dim->extent, dim->stride);
  if (dim->skew_by >= 0)
    out = ix_op(c, IX_ADD, out, ix_op_int(c, IX_MUL, d->dims[dim->skew_by].extent, dim->skew));
  return ix_op_int(c, IX_ADD, out, most);
}

static int element_dims(const Draw *d, int *out) {
  int n = 0;
  for (int k = 0; k < d->n_dims; k++)
    if (d->dims[d->turned ? d->n_dims - 1 - k : k].form != FORM_FREE)
      out[n++] = d->turned ? d->n_dims - 1 - k : k;
  return n;
}

static int make_element(const Draw *d, const Access *a, const Ix **at) {
  int dims[NEST_DIMS];
  if (d->odd) return draw_odd_element(d, a, at);
  const int n = element_dims(d, dims);
  for (int i = 0; i < n; i++) at[i] = index_in(d, dims[i], a->off[dims[i]]);
  for (int i = 1; i < n && d->linear; i++)
    at[0] = ix_op(d->c, IX_ADD, ix_op(d->c, IX_MUL, at[0], shape_in(d, dims[i])), at[i]);
  return d->linear ? 1 : n;
}

static int add_buffer(Draw *d, const char *name, bool stored) {
  d->n->buffers[d->n->n_buffers] = (NestBuffer){.name = name, .stored = stored};
  return d->n->n_buffers++;
}

/* One whose elements are the instances, or those without the dimensions that are reduced. */
static int add_plain_buffer(Draw *d, const char *name, bool stored) {
  const int out = add_buffer(d, name, stored);
  NestBuffer *b = &d->n->buffers[out];
  for (int k = 0; k < d->n_dims; k++) b->shape[b->ndim++] = d->dims[k].extent;
  return out;
}

static void make_hot_buffer(Draw *d, const char *name) {
  int dims[NEST_DIMS];
  const int n = element_dims(d, dims);
  const int out = add_buffer(d, name, true);
  NestBuffer *b = &d->n->buffers[out];
  d->hot = out;
  if (d->odd) {
    b->ndim = draw_odd_shape(d, b->shape);
    return;
  }
  for (int i = 0; i < n; i++) b->shape[b->ndim++] = shape_in(d, dims[i]);
  for (int i = 1; i < n && d->linear; i++)
    b->shape[0] = ix_op(d->c, IX_MUL, b->shape[0], b->shape[i]);
  if (d->linear) b->ndim = 1;
}

static const Val *new_val(Draw *d, Val v) {
  Val *out = tirc_new(d->c, Val);
  *out = v;
  return out;
}
static const Val *val_op(Draw *d, ValOp op, const Val *a, const Val *b) {
  return new_val(d, (Val){.op = op, .a = a, .b = b});
}
static const Val *val_int(Draw *d, int value) {
  return new_val(d, (Val){.op = VAL_INT, .value = value});
}
static const Val *load_plain(Draw *d, int buffer) {
  Val v = {.op = VAL_LOAD, .buffer = buffer};
  for (int k = 0; k < d->n->buffers[buffer].ndim; k++) v.at[k] = ix_slot(d->c, d->dims[k].axis);
  return new_val(d, v);
}
static const Val *load_hot(Draw *d, const Access *a) {
  Val v = {.op = VAL_LOAD, .buffer = d->hot};
  make_element(d, a, v.at);
  return new_val(d, v);
}

/* --- blocks ---------------------------------------------------------------------------------- */

static Node *new_block(Draw *d, int b, int buffer) {
  Tirc *c = d->c;
  Node *out = tirc_new(c, Node);
  *out = (Node){.name = b ? "Q" : "P", .buffer = buffer, .n_axes = d->n_dims};
  const bool by_if = rng_chance(d->r, 40);
  for (int k = 0; k < d->n_dims; k++) {
    const Dim *dim = &d->dims[k];
    out->axes[k] = (NestAxis){dim->axis, dim->extent, dim->value[b], dim->reduce};
    if (dim->how == HOW_TILE && (dim->size == FAR || dim->size % dim->tile))
      out->where = ix_op(c, IX_AND, out->where, ix_op(c, IX_LT, dim->value[b], dim->extent));
    if (d->sloping && k == 1) {
      const Ix *sum = ix_op(c, IX_ADD, ix_slot(c, d->dims[0].axis), ix_slot(c, dim->axis));
      out->guard = ix_op(c, IX_AND, out->guard, ix_op_int(c, IX_LT, sum, dim->size));
    }
    if (dim->guard[b] == dim->size) continue;
    const Ix *bound = ix_int(c, dim->guard[b]);
    if (by_if)
      out->guard = ix_op(c, IX_AND, out->guard, ix_op(c, IX_LT, ix_slot(c, dim->axis), bound));
    else
      out->where = ix_op(c, IX_AND, out->where, ix_op(c, IX_LT, dim->value[b], bound));
  }
  return out;
}

static Node *around(Node *const *loops, int n, Node *inner) {
  for (int i = n - 1; i >= 0; i--) {
    loops[i]->items[loops[i]->n++] = inner;
    inner = loops[i];
  }
  return inner;
}

static void put_blocks(Draw *d, Node *const *blocks) {
  Nest *n = d->n;
  Node *first = around(d->own[0], d->n_own, blocks[0]);
  Node *top = around(d->shared, d->n_shared, first), *last = d->shared[d->n_shared - 1];
  n->items[n->n++] = top;
  if (d->n_blocks > 1) last->items[last->n++] = around(d->own[1], d->n_own, blocks[1]);
  n->block = blocks[0]->name;
  for (int i = 0; i < d->n_shared; i++) n->chain[n->n_chain++] = d->shared[i];
  for (int i = 0; i < d->n_own; i++) n->chain[n->n_chain++] = d->own[0][i];
}

/* Loops that a reorder may be given: all that blocks share, or all of one block's own. */
static bool draw_call(Draw *d, NestCall call) {
  Nest *n = d->n;
  n->call = call;
  if (call != CALL_REORDER) {
    n->given[n->n_given++] = rng_below(d->r, rng_chance(d->r, 50) ? n->n_chain : d->n_shared);
    return true;
  }
  int from = 0, to = d->n_blocks > 1 ? d->n_shared : n->n_chain;
  if (to - from < 2 || (d->n_own > 1 && rng_chance(d->r, 25))) from = d->n_shared, to = n->n_chain;
  if (to - from < 2) return false;
  const int want = to - from > 2 && rng_chance(d->r, 40) ? 3 : 2;
  bool taken[NEST_LOOPS] = {false}, sorted = true;
  while (n->n_given < want) {
    const int k = from + rng_below(d->r, to - from);
    if (taken[k]) continue;
    taken[k] = true;
    sorted &= !n->n_given || k > n->given[n->n_given - 1];
    n->given[n->n_given++] = k;
  }
  for (int i = 0; sorted && i < want / 2; i++) {
    const int k = n->given[i];
    n->given[i] = n->given[want - 1 - i];
    n->given[want - 1 - i] = k;
  }
  return true;
}

/* B[vi + 700, vj] = B[vi, vj + 700] * 2 + A[vi, vj] */
static void make_in_place(Draw *d) {
  draw_forms(d, 15);
  Access *to = add_access(d, 0, true), *from = add_access(d, 0, false);
  const bool update = rng_chance(d->r, 15);
  if (!update) set_offsets(d, to, from);
  Access *more =
      rng_chance(d->r, 30) && !update && !has_odd_form(d) ? add_access(d, 0, false) : NULL;
  if (more) set_offsets(d, to, more);
  lift_offsets(d);
  make_hot_buffer(d, "B");
  const Val *value = load_hot(d, from);
  const bool own = memcmp(to->off, from->off, sizeof to->off) == 0;
  d->adds = own;
  d->commutes = own && !more && rng_chance(d->r, 50);
  if (!d->commutes) value = val_op(d, VAL_MUL, value, val_int(d, 2));
  if (more) value = val_op(d, VAL_ADD, value, load_hot(d, more));
  const bool plain = has_odd_form(d) || own || rng_chance(d->r, 50);
  value = val_op(d, VAL_ADD, value,
                 plain ? load_plain(d, add_plain_buffer(d, "A", false)) : val_int(d, 1));
  Node *block = new_block(d, 0, d->hot);
  make_element(d, to, block->at);
  block->value = value;
  put_blocks(d, &block);
}

/* X[vi + 5001] = A[vi]; C[vi] = X[vi] */
static void make_two_blocks(Draw *d) {
  draw_forms(d, 12);
  Access *to = add_access(d, 0, true);
  const bool two_writers = rng_chance(d->r, 10) && !has_odd_form(d);
  Access *from = add_access(d, 1, two_writers);
  set_offsets(d, to, from);
  Access *more = rng_chance(d->r, 30) && !two_writers ? add_access(d, 1, false) : NULL;
  if (more) set_offsets(d, to, more);
  lift_offsets(d);
  make_hot_buffer(d, "X");
  const int a = add_plain_buffer(d, "A", false);
  Node *blocks[2] = {new_block(d, 0, d->hot)};
  make_element(d, to, blocks[0]->at);
  blocks[0]->value = val_op(d, VAL_MUL, load_plain(d, a), val_int(d, 2));
  if (two_writers) {
    blocks[1] = new_block(d, 1, d->hot);
    make_element(d, from, blocks[1]->at);
    blocks[1]->value = val_op(d, VAL_ADD, load_plain(d, a), val_int(d, 3));
  } else {
    const int out = add_plain_buffer(d, "C", true);
    blocks[1] = new_block(d, 1, out);
    for (int k = 0; k < d->n_dims; k++) blocks[1]->at[k] = ix_slot(d->c, d->dims[k].axis);
    blocks[1]->value = val_op(d, VAL_ADD, load_hot(d, from), val_int(d, 1));
    if (more) blocks[1]->value = val_op(d, VAL_ADD, blocks[1]->value, load_hot(d, more));
  }
  put_blocks(d, blocks);
}

/* B[vi * 1237 % 1999993] = A[vi, vj] */
static void make_scatter(Draw *d) {
  draw_forms(d, 60);
  Access *to = add_access(d, 0, true);
  for (int k = 0; k < d->n_dims; k++)
    if (d->dims[k].form != FORM_FREE && rng_chance(d->r, 30)) to->off[k] = rng_below(d->r, 1000);
  make_hot_buffer(d, "B");
  Node *block = new_block(d, 0, d->hot);
  make_element(d, to, block->at);
  block->value = val_op(d, VAL_MUL, load_plain(d, add_plain_buffer(d, "A", false)), val_int(d, 2));
  put_blocks(d, &block);
}

/* B[vi, vj] = A[vi, vj + 700] + A[vi + 3, vj] */
static void make_stencil(Draw *d) {
  draw_forms(d, 15);
  Access from = {0}, more = {0};
  set_offsets(d, &from, &more);
  d->accesses[0] = from, d->accesses[1] = more, d->n_accesses = 2;
  lift_offsets(d);
  make_hot_buffer(d, "A");
  d->n->buffers[d->hot].stored = false;
  const Val *value = val_op(d, VAL_ADD, load_hot(d, &d->accesses[0]), load_hot(d, &d->accesses[1]));
  d->n_accesses = 0; /* they never matter */
  Node *block = new_block(d, 0, add_plain_buffer(d, "B", true));
  for (int k = 0; k < d->n_dims; k++) block->at[k] = ix_slot(d->c, d->dims[k].axis);
  block->value = value;
  put_blocks(d, &block);
}

/* B[vi + 3] = 0 at first; B[vi + 3] = B[vi + 3] + A[vi, vk] */
static void make_reduction(Draw *d) {
  const int k = rng_below(d->r, d->n_dims);
  if (d->n_dims == 1 || d->dims[k].how != HOW_LOOP || d->dims[k].size < 2 ||
      d->dims[k].guard[0] != d->dims[k].size) {
    make_stencil(d);
    return;
  }
  d->dims[k].form = FORM_FREE;
  d->dims[k].reduce = true;
  Access *to = add_access(d, 0, true), *from = add_access(d, 0, false);
  d->adds = d->commutes = true;
  make_hot_buffer(d, "B");
  Node *block = new_block(d, 0, d->hot);
  make_element(d, to, block->at);
  block->init = true;
  block->value =
      val_op(d, VAL_ADD, load_hot(d, from), load_plain(d, add_plain_buffer(d, "A", false)));
  put_blocks(d, &block);
}

/* --- a nest ---------------------------------------------------------------------------------- */

static void set_telling(Draw *d) {
  for (int i = 0; i < d->n->n_symbols; i++) d->n->telling[i] = 5;
  for (int k = 0; k < d->n_dims; k++) {
    const Dim *dim = &d->dims[k];
    int64_t least = 0;
    if (dim->symbol < 0) continue;
    for (int i = 0; i < d->n_accesses; i++)
      for (int j = 0; j < d->n_accesses; j++) {
        const int64_t off = d->accesses[i].off[k] - d->accesses[j].off[k];
        if (off > least) least = off;
      }
    least += dim->tile + (dim->form == FORM_MOD ? dim->mod : 0) + 3;
    if (d->n->telling[dim->symbol] < least) d->n->telling[dim->symbol] = least;
  }
}

/* Whether int32 is too narrow, as far as the last iteration tells. */
static bool is_too_wide(Draw *d) {
  Env env = {0};
  for (int i = 0; i < d->n->n_symbols; i++) env.at[i] = 20000;
  for (int k = 0; k < d->n_dims; k++)
    env.at[d->dims[k].axis] = ix_eval(&env, d->dims[k].extent) - 1;
  for (int i = 0; i < d->n->n_chain; i++) (void)ix_eval(&env, d->n->chain[i]->extent);
  for (int i = 0; i < d->n_accesses; i++) {
    const Ix *at[NEST_DIMS];
    const int n = make_element(d, &d->accesses[i], at);
    for (int k = 0; k < n; k++) (void)ix_eval(&env, at[k]);
  }
  for (int i = 0; i < d->n->n_buffers; i++) {
    int64_t size = 1;
    for (int k = 0; k < d->n->buffers[i].ndim; k++) {
      size *= ix_eval(&env, d->n->buffers[i].shape[k]);
      env.overflow |= size != (int32_t)size;
    }
  }
  return env.overflow;
}

typedef enum Kind { IN_PLACE, TWO_BLOCKS, SCATTER, STENCIL, REDUCTION, N_KINDS } Kind;

static Kind draw_kind(Rng *r, NestCall call) {
  /* Definitions refuse to run in parallel what is in place. */
  static const int up_to[2][N_KINDS] = {{45, 80, 90, 95, 100}, {5, 60, 85, 93, 100}};
  const int at = rng_below(r, 100);
  int kind = 0;
  while (up_to[call != CALL_REORDER][kind] <= at) kind++;
  return (Kind)kind;
}

static void make(Draw *d, Kind kind) {
  switch (kind) {
  case IN_PLACE: make_in_place(d); break;
  case TWO_BLOCKS: make_two_blocks(d); break;
  case SCATTER: make_scatter(d); break;
  case STENCIL: make_stencil(d); break;
  default: make_reduction(d); break;
  }
}

static const char *const kind_names[] = {"in place", "two blocks", "scatter", "stencil",
                                         "reduction"};

bool nest_draw(Rng *r, Nest *n) {
  Draw d = {.r = r, .c = n->c, .n = n};
  const Kind kind = draw_kind(r, n->call);
  const bool symbolic = rng_chance(r, 30);
  n->n_symbols = symbolic ? 1 + rng_below(r, 2) : 0;
  for (int i = 0; i < n->n_symbols; i++) nest_slot(n, i ? "m" : "n");
  d.n_dims = 1 + rng_below(r, 3);
  d.n_blocks = kind == TWO_BLOCKS ? 2 : 1;
  draw_dims(&d, draw_instances(r), symbolic);
  make_loops(&d);
  draw_guard(&d);
  d.turned = rng_chance(r, 30);
  d.linear = !symbolic && rng_chance(r, 20);
  make(&d, kind);
  n->kind = kind_names[kind];
  int dims[NEST_DIMS];
  if (!element_dims(&d, dims) || !draw_call(&d, n->call)) return false;
  n->formula = draw_decide(&d);
  /* Where an element is stored to again and again, and not added to, most stores do not count. */
  n->harmless = n->call == CALL_REORDER && has_odd_form(&d) && !d.adds;
  n->wide = is_too_wide(&d) || rng_chance(r, 15);
  set_telling(&d);
  return true;
}

bool nest_draw_odd(Rng *r, Nest *n) {
  static const Kind kinds[] = {IN_PLACE, TWO_BLOCKS, TWO_BLOCKS, SCATTER};
  Draw d = {.r = r, .c = n->c, .n = n};
  const Kind kind = kinds[rng_below(r, 4)];
  d.n_dims = 2 + rng_below(r, 2);
  d.n_blocks = kind == TWO_BLOCKS ? 2 : 1;
  draw_dims(&d, pow(10, 2 + rng_below(r, 100) / 25.0), false);
  make_loops(&d);
  draw_guard(&d);
  if (rng_chance(r, 75)) {
    d.odd = (Odd)(1 + rng_below(r, N_ODD - 1));
    draw_odd_numbers(&d);
  } else {
    d.sloping = true;
  }
  make(&d, kind);
  n->kind = tirc_format(n->c, "odd %s", kind_names[kind]);
  int dims[NEST_DIMS];
  if ((!d.odd && !element_dims(&d, dims)) || !draw_call(&d, n->call)) return false;
  n->wide = is_too_wide(&d) || rng_chance(r, 15);
  return true;
}
