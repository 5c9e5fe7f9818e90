/* Elements of which no formula says when they meet: only a run tells. */
#include "nests_draw.h"

void draw_odd_numbers(Draw *d) {
  Rng *r = d->r;
  const int64_t size[2] = {d->dims[0].size, d->dims[1].size}, all = size[0] * size[1];
  int64_t *p = d->odd_numbers;
  /* Prime to most, about as many as there are instances, or somewhat less or more. */
  const int64_t mods[] = {all + 1, all, all - 1, all / 2 + 1, 2 * all + 1, 1999, 1999993};
  p[2] = mods[rng_below(r, 7)];
  if (p[2] < 2) p[2] = 2;
  switch (d->odd) {
  case ODD_TURNED:
    p[0] = rng_chance(r, 40) ? size[0] - rng_below(r, 2) : rng_below(r, 4);
    p[1] = rng_chance(r, 40) ? size[1] - rng_below(r, 2) : rng_below(r, 4);
    break;
  case ODD_SCATTER:
    p[0] = rng_chance(r, 50) ? size[1] : 1 + rng_below(r, 2000);
    p[1] = rng_chance(r, 50) ? 1 : 1 + rng_below(r, 2000);
    break;
  case ODD_SQUARE: p[0] = 1 + rng_below(r, 20); break;
  case ODD_STRIDES:
    p[0] = 1 + rng_below(r, 3);
    p[1] = 1 + rng_below(r, 5);
    break;
  case ODD_DIVIDED: p[0] = 2 + rng_below(r, 60); break;
  default: p[0] = size[1] + rng_below(r, 5) - 2; break;
  }
  if (p[0] < 1) p[0] = d->odd == ODD_TURNED ? 0 : 1;
}

static const Ix *plus(const Draw *d, const Ix *a, int64_t off) {
  return ix_op_int(d->c, IX_ADD, a, off);
}
static const Ix *times(const Draw *d, const Ix *a, int64_t by) {
  return ix_op_int(d->c, IX_MUL, a, by);
}

static int64_t most(const Draw *d, int k) {
  int64_t out = 0;
  for (int i = 0; i < d->n_accesses; i++)
    if (d->accesses[i].off[k] > out) out = d->accesses[i].off[k];
  return out;
}

int draw_odd_element(const Draw *d, const Access *a, const Ix **at) {
  Tirc *c = d->c;
  const Ix *i = ix_slot(c, d->dims[0].axis), *j = ix_slot(c, d->dims[1].axis);
  const int64_t *p = d->odd_numbers, off = a->off[0];
  int n = 1;
  switch (d->odd) {
  case ODD_TURNED:
    at[0] = a == &d->accesses[0] ? i : plus(d, j, p[0]);
    at[n++] = a == &d->accesses[0] ? j : plus(d, i, p[1]);
    break;
  case ODD_SCATTER:
    at[0] = plus(d, ix_op(c, IX_ADD, times(d, i, p[0]), times(d, j, p[1])), off);
    at[0] = ix_op_int(c, IX_MOD, at[0], p[2]);
    break;
  case ODD_SQUARE:
    at[0] = plus(d, ix_op(c, IX_ADD, ix_op(c, IX_MUL, i, i), times(d, j, p[0])), off);
    at[0] = ix_op_int(c, IX_MOD, at[0], p[2]);
    break;
  case ODD_STRIDES:
    at[0] = plus(d, times(d, i, p[a != &d->accesses[0]]), off);
    at[n++] = plus(d, j, a->off[1]);
    break;
  case ODD_DIVIDED:
    at[0] = plus(d, ix_op_int(c, IX_DIV, i, p[0]), off);
    at[n++] = plus(d, j, a->off[1]);
    break;
  default: at[0] = plus(d, ix_op(c, IX_ADD, times(d, i, p[0]), j), off); break;
  }
  if (d->n_dims > 2) at[n++] = plus(d, ix_slot(c, d->dims[2].axis), a->off[2]);
  return n;
}

int draw_odd_shape(const Draw *d, const Ix **shape) {
  const int64_t size[2] = {d->dims[0].size, d->dims[1].size}, *p = d->odd_numbers;
  int64_t out[NEST_DIMS] = {0};
  int n = 1;
  switch (d->odd) {
  case ODD_TURNED:
    out[0] = size[0] > size[1] + p[0] ? size[0] : size[1] + p[0];
    out[n++] = size[1] > size[0] + p[1] ? size[1] : size[0] + p[1];
    break;
  case ODD_SCATTER:
  case ODD_SQUARE: out[0] = p[2]; break;
  case ODD_STRIDES:
    out[0] = size[0] * (p[0] > p[1] ? p[0] : p[1]) + most(d, 0);
    out[n++] = size[1] + most(d, 1);
    break;
  case ODD_DIVIDED:
    out[0] = size[0] / p[0] + 1 + most(d, 0);
    out[n++] = size[1] + most(d, 1);
    break;
  default: out[0] = size[0] * p[0] + size[1] + most(d, 0); break;
  }
  if (d->n_dims > 2) out[n++] = d->dims[2].size + most(d, 2);
  for (int k = 0; k < n; k++) shape[k] = ix_int(d->c, out[k]);
  return n;
}
