/* What shapes suggest as a call of oneDNN. With weights ahead of the calls a product is a 1x1
 * convolution: the rows of A are the pixels of an image, the columns of B the output channels. Its
 * matrix product does not lay out weights on AVX2 (release 2.6); the convolution does. */
#include "dnnl.h"

#include <stdlib.h>
#include <string.h>

/* Strides NULL: compact. */
static DnnlArray *add(DnnlCall *c, const char *role, float *data, int nd, const int64_t *dims,
                      const int64_t *strides) {
  DnnlArray *a = &c->at[c->n++];
  int64_t stride = 1;
  *a = (DnnlArray){.role = role, .dtype = "float32", .data = data, .nd = nd};
  for (int d = nd - 1; d >= 0; d--) {
    a->dims[d] = dims[d];
    a->strides[d] = strides ? strides[d] : stride;
    stride *= dims[d];
  }
  return a;
}

static void call_matmul(const Operator *op, DnnlCall *c) {
  int64_t b = op->batch, m = op->m, n = op->n, k = op->k;
  int64_t source[] = {b, m, k}, weights[] = {b, k, n}, bias[] = {1, 1, n}, result[] = {b, m, n};
  int64_t turned[] = {n * k, 1, k};
  add(c, "src", op->a, 3, source, NULL);
  add(c, "weights", op->b, 3, weights, op->transposed ? turned : NULL);
  add(c, "dst", op->c, 3, result, NULL);
  if (op->bias) add(c, "bias", op->bias, 3, bias, NULL);
}

/* The product as a 1x1 convolution over an image of m x 1 pixels, channels last. */
static void call_pixels(const Operator *op, DnnlCall *c) {
  int64_t m = op->m, n = op->n, k = op->k;
  int64_t source[] = {1, k, m, 1}, source_strides[] = {m * k, 1, k, k};
  int64_t result[] = {1, n, m, 1}, result_strides[] = {m * n, 1, n, n};
  int64_t weights[] = {n, k, 1, 1}, weights_strides[] = {1, n, 1, 1};
  if (op->transposed) weights_strides[0] = k, weights_strides[1] = 1;
  c->kind = "convolution"; /* in place of the product */
  c->strides[0] = c->strides[1] = 1;
  add(c, "src", op->a, 4, source, source_strides);
  add(c, "weights", op->b, 4, weights, weights_strides)->anyhow = true;
  add(c, "dst", op->c, 4, result, result_strides);
  if (op->bias) add(c, "bias", op->bias, 1, &n, NULL);
}

static void call_product(const Operator *op, bool ahead, DnnlCall *c) {
  static const char *const activations[] = {
      [LINEAR] = NULL, [RELU] = "eltwise_relu", [GELU] = "eltwise_gelu_erf"};
  if (ahead)
    call_pixels(op, c);
  else
    call_matmul(op, c);
  c->activation = activations[op->activation];
  if (op->scale < 1) c->scale = op->scale;
}

static void call_convolution(const Operator *op, bool ahead, DnnlCall *c) {
  (void)ahead;
  c->strides[0] = c->strides[1] = 1;
  c->padding[0] = c->padding[1] = op->pad;
  add(c, "src", op->a, 4, op->image, NULL)->anyhow = true;
  add(c, "weights", op->b, 4, op->filter, NULL)->anyhow = true;
  add(c, "dst", op->c, 4, op->result, NULL)->anyhow = true;
}

static void call_rows(const Operator *op, bool ahead, DnnlCall *c) {
  int64_t rows[] = {op->m, op->n};
  (void)ahead;
  c->axis = 1;
  c->epsilon = 1e-5f;
  add(c, "src", op->a, 2, rows, NULL);
  add(c, "dst", op->c, 2, rows, NULL);
  if (!op->b) return;
  add(c, "scale", op->b, 1, &rows[1], NULL);
  add(c, "shift", op->bias, 1, &rows[1], NULL);
}

/* What each kind of operator is called there, and whether it has weights to be laid out. */
static const struct Row {
  const char *kind;
  bool weights;
  void (*call)(const Operator *op, bool ahead, DnnlCall *c);
} rows_of[] = {[PRODUCT] = {"matmul", true, call_product},
               [CONVOLUTION] = {"convolution", true, call_convolution},
               [SOFTMAX] = {"softmax", false, call_rows},
               [LAYER_NORM] = {"layer_normalization", false, call_rows}};

bool dnnl_call_of(const Operator *op, bool ahead, DnnlCalls *out) {
  const struct Row *row = &rows_of[op->kind];
  *out = (DnnlCalls){.n = 1};
  out->at[0].kind = row->kind;
  row->call(op, ahead, &out->at[0]);
  return !ahead || (row->weights && op->batch <= 1);
}
