/* Which operator of a library a program may be, by the shapes of its parameters. Shapes alone do
 * not decide: a candidate is the right one when the library's result is. */
#include "rivals.h"

#include <math.h>
#include <string.h>

enum { MOST_DIMS = 4 };

typedef struct Array {
  int ndim;
  const int64_t *shape;
  float *data;
} Array;

/* All arrays are float32, and only the last is written; scalars are taken for extents. */
static int read_arrays(const Case *k, Array *out, int most) {
  int n = 0;
  bool written = false;
  for (int i = 0; i < k->n_params; i++) {
    const tirc_param *p = &k->params[i];
    if (!p->is_array) continue;
    if (n == most || written || strcmp(p->dtype, "float32") != 0 || p->ndim > MOST_DIMS) return 0;
    for (int d = 0; d < p->ndim; d++)
      if (p->shape[d] < 1 || p->shape[d] > INT32_MAX) return 0;
    out[n++] = (Array){p->ndim, p->shape, tirc_array_data(k->args[i].array)};
    written = p->is_written;
  }
  return written && n > 1 ? n : 0;
}

static bool has_shape(const Array *a, int ndim, const int64_t *shape) {
  return a->ndim == ndim && memcmp(a->shape, shape, (size_t)ndim * sizeof *shape) == 0;
}

typedef struct Found {
  int n;
  Operator *at;
} Found;
static void add(Found *f, Operator op) {
  if (f->n < MOST_OPERATORS) f->at[f->n++] = op;
}

/* C = A B or A B^T, for each item of a batch, perhaps scaled; with a bias, perhaps an activation.
 */
static void find_products(const Array *p, int n_params, Found *f) {
  const Array *a = &p[0], *b = &p[1], *c = &p[n_params - 1];
  int nd = a->ndim, first = nd - 2;
  if (n_params < 3 || n_params > 4 || nd < 2 || nd > 3 || b->ndim != nd || c->ndim != nd) return;
  int64_t m = a->shape[first], k = a->shape[first + 1], n = c->shape[first + 1];
  int64_t batch = nd == 3 ? a->shape[0] : 1;
  if (c->shape[first] != m || (nd == 3 && (b->shape[0] != batch || c->shape[0] != batch))) return;
  Operator op = {.kind = PRODUCT,
                 .batch = (int)batch,
                 .m = (int)m,
                 .n = (int)n,
                 .k = (int)k,
                 .a = a->data,
                 .b = b->data,
                 .c = c->data};
  if (n_params == 4 && !has_shape(&p[2], 1, &n)) return;
  if (n_params == 4) op.bias = p[2].data;
  for (int t = 0; t < 2; t++) {
    if (b->shape[first] != (t ? n : k) || b->shape[first + 1] != (t ? k : n)) continue;
    op.transposed = t;
    for (int scaled = 0; scaled < (op.bias ? 1 : 2); scaled++) {
      op.scale = scaled ? 1 / sqrtf((float)k) : 1;
      for (Activation x = LINEAR; x <= (op.bias ? GELU : LINEAR); x++) {
        op.activation = x;
        add(f, op);
      }
    }
  }
}

/* NCHW, stride 1, the same padding on each side. */
static void find_convolution(const Array *p, int n_params, Found *f) {
  if (n_params != 3 || p[0].ndim != 4 || p[1].ndim != 4 || p[2].ndim != 4) return;
  const int64_t *x = p[0].shape, *w = p[1].shape, *y = p[2].shape;
  int64_t pad = y[2] - x[2] + w[2] - 1;
  if (x[0] != y[0] || x[1] != w[1] || w[0] != y[1] || w[2] != w[3] || pad < 0 || pad % 2 ||
      y[3] - x[3] + w[3] - 1 != pad)
    return;
  Operator op = {
      .kind = CONVOLUTION, .a = p[0].data, .b = p[1].data, .c = p[2].data, .pad = (int)pad / 2};
  for (int d = 0; d < 4; d++) {
    op.image[d] = x[d];
    op.filter[d] = w[d];
    op.result[d] = y[d];
  }
  add(f, op);
}

static void find_rows(const Array *p, int n_params, Found *f) {
  const Array *a = &p[0], *c = &p[n_params - 1];
  if (a->ndim != 2 || !has_shape(c, 2, a->shape)) return;
  Operator op = {.m = (int)a->shape[0], .n = (int)a->shape[1], .a = a->data, .c = c->data};
  op.kind = SOFTMAX;
  if (n_params == 2) add(f, op);
  op.kind = LAYER_NORM;
  bool affine =
      n_params == 4 && has_shape(&p[1], 1, &a->shape[1]) && has_shape(&p[2], 1, &a->shape[1]);
  op.b = affine ? p[1].data : NULL;
  op.bias = affine ? p[2].data : NULL;
  if (affine) add(f, op);
}

int list_operators(const Case *k, Operator *out) {
  Array p[4];
  Found f = {0, out};
  const tirc_cost *c = &k->cost;
  if (c->m) {
    add(&f, (Operator){.kind = PRODUCT,
                       .batch = 1,
                       .scale = 1,
                       .m = (int)c->m,
                       .n = (int)c->n,
                       .k = (int)c->k,
                       .a = tirc_array_data(k->args[c->a].array),
                       .b = tirc_array_data(k->args[c->b].array),
                       .c = tirc_array_data(k->args[c->c].array)});
    return f.n;
  }
  int n = read_arrays(k, p, 4);
  if (n) {
    find_products(p, n, &f);
    find_convolution(p, n, &f);
    find_rows(p, n, &f);
  }
  return f.n;
}
