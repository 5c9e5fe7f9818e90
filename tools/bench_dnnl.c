/* An operator as a primitive of oneDNN. The arrays are the program's; where the primitive wants
 * another layout than theirs, they are copied in each run, weights beforehand if that is asked for.
 * With weights ahead of the calls a product is a 1x1 convolution: the rows of A are the pixels of
 * an image, the columns of B the output channels. Its matrix product does not lay out weights on
 * AVX2 (release 2.6); the convolution does. */
#include "bench_dnnl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_DNNL_H
#include <oneapi/dnnl/dnnl.h>

/* Every function of the library that is used: X(name). */
#define FUNCTIONS(X)                                                                               \
  X(dnnl_engine_create)                                                                            \
  X(dnnl_engine_destroy)                                                                           \
  X(dnnl_stream_create)                                                                            \
  X(dnnl_stream_destroy)                                                                           \
  X(dnnl_stream_wait)                                                                              \
  X(dnnl_memory_desc_init_by_tag)                                                                  \
  X(dnnl_memory_desc_init_by_strides)                                                              \
  X(dnnl_memory_desc_equal)                                                                        \
  X(dnnl_convolution_forward_desc_init)                                                            \
  X(dnnl_matmul_desc_init)                                                                         \
  X(dnnl_softmax_forward_desc_init)                                                                \
  X(dnnl_layer_normalization_forward_desc_init)                                                    \
  X(dnnl_primitive_attr_create)                                                                    \
  X(dnnl_primitive_attr_destroy)                                                                   \
  X(dnnl_primitive_attr_set_output_scales)                                                         \
  X(dnnl_primitive_attr_set_post_ops)                                                              \
  X(dnnl_post_ops_create)                                                                          \
  X(dnnl_post_ops_destroy)                                                                         \
  X(dnnl_post_ops_append_eltwise)                                                                  \
  X(dnnl_primitive_desc_create)                                                                    \
  X(dnnl_primitive_desc_destroy)                                                                   \
  X(dnnl_primitive_desc_query)                                                                     \
  X(dnnl_primitive_desc_query_md)                                                                  \
  X(dnnl_reorder_primitive_desc_create)                                                            \
  X(dnnl_primitive_create)                                                                         \
  X(dnnl_primitive_destroy)                                                                        \
  X(dnnl_primitive_execute)                                                                        \
  X(dnnl_memory_create)                                                                            \
  X(dnnl_memory_destroy)

enum { MOST_ARRAYS = 4 };

/* An array: the program's, and the primitive's own where that has another layout. */
typedef struct Array {
  int id; /* DNNL_ARG_... */
  float *data;
  dnnl_memory_desc_t given, wanted; /* wanted: perhaps of any layout */
  dnnl_memory_t outside, inside;    /* the same where no copy is made */
  dnnl_primitive_t copy;            /* to the inside, from it for a result */
} Array;

struct Dnnl {
#define X(name) __typeof__(&(name)) name;
  FUNCTIONS(X)
#undef X
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_t primitive;
  bool ahead;
  int n;
  Array at[MOST_ARRAYS];
  const char *implementation;
};

static bool find_functions(Dnnl *v) {
  void *l = dnnl_library();
#define X(name) *(void **)(&v->name) = l ? dlsym(l, #name) : NULL;
  FUNCTIONS(X)
#undef X
#define X(name) v->name &&
  return FUNCTIONS(X) true;
#undef X
}

/* --- what the primitive is ---------------------------------------------------------------------
 */

typedef union Desc {
  dnnl_matmul_desc_t matmul;
  dnnl_convolution_desc_t convolution;
  dnnl_softmax_desc_t softmax;
  dnnl_layer_normalization_desc_t layer_norm;
} Desc;

/* `any`: the primitive may choose another layout. Strides NULL: compact. */
static bool add_array(Dnnl *v, int id, float *data, int nd, const int64_t *dims,
                      const int64_t *strides, bool any) {
  Array *a = &v->at[v->n++];
  int64_t compact[DNNL_MAX_NDIMS], stride = 1;
  for (int d = nd - 1; d >= 0; d--) compact[d] = stride, stride *= dims[d];
  a->id = id;
  a->data = data;
  if (v->dnnl_memory_desc_init_by_strides(&a->given, nd, dims, dnnl_f32,
                                          strides ? strides : compact))
    return false;
  a->wanted = a->given;
  return !any ||
         !v->dnnl_memory_desc_init_by_tag(&a->wanted, nd, dims, dnnl_f32, dnnl_format_tag_any);
}

static bool describe_matmul(Dnnl *v, const Operator *op, Desc *d) {
  int64_t b = op->batch, m = op->m, n = op->n, k = op->k;
  int64_t source[] = {b, m, k}, weights[] = {b, k, n}, bias[] = {1, 1, n}, result[] = {b, m, n};
  int64_t turned[] = {n * k, 1, k};
  return add_array(v, DNNL_ARG_SRC, op->a, 3, source, NULL, false) &&
         add_array(v, DNNL_ARG_WEIGHTS, op->b, 3, weights, op->transposed ? turned : NULL, false) &&
         add_array(v, DNNL_ARG_DST, op->c, 3, result, NULL, false) &&
         (!op->bias || add_array(v, DNNL_ARG_BIAS, op->bias, 3, bias, NULL, false)) &&
         !v->dnnl_matmul_desc_init(&d->matmul, &v->at[0].wanted, &v->at[1].wanted,
                                   op->bias ? &v->at[3].wanted : NULL, &v->at[2].wanted);
}

static bool describe_convolution(Dnnl *v, const Operator *op, Desc *d) {
  const dnnl_dims_t one = {1, 1}, padding = {op->pad, op->pad};
  return add_array(v, DNNL_ARG_SRC, op->a, 4, op->image, NULL, true) &&
         add_array(v, DNNL_ARG_WEIGHTS, op->b, 4, op->filter, NULL, true) &&
         add_array(v, DNNL_ARG_DST, op->c, 4, op->result, NULL, true) &&
         !v->dnnl_convolution_forward_desc_init(
             &d->convolution, dnnl_forward_inference, dnnl_convolution_direct, &v->at[0].wanted,
             &v->at[1].wanted, NULL, &v->at[2].wanted, one, padding, padding);
}

/* The product as a 1x1 convolution over an image of m x 1 pixels, channels last. */
static bool describe_pixels(Dnnl *v, const Operator *op, Desc *d) {
  static const dnnl_dims_t one = {1, 1}, none = {0, 0};
  int64_t m = op->m, n = op->n, k = op->k;
  int64_t source[] = {1, k, m, 1}, source_strides[] = {m * k, 1, k, k};
  int64_t result[] = {1, n, m, 1}, result_strides[] = {m * n, 1, n, n};
  int64_t weights[] = {n, k, 1, 1}, weights_strides[] = {1, n, 1, 1};
  if (op->transposed) weights_strides[0] = k, weights_strides[1] = 1;
  return add_array(v, DNNL_ARG_SRC, op->a, 4, source, source_strides, false) &&
         add_array(v, DNNL_ARG_WEIGHTS, op->b, 4, weights, weights_strides, true) &&
         add_array(v, DNNL_ARG_DST, op->c, 4, result, result_strides, false) &&
         (!op->bias || add_array(v, DNNL_ARG_BIAS, op->bias, 1, &n, NULL, false)) &&
         !v->dnnl_convolution_forward_desc_init(
             &d->convolution, dnnl_forward_inference, dnnl_convolution_direct, &v->at[0].wanted,
             &v->at[1].wanted, op->bias ? &v->at[3].wanted : NULL, &v->at[2].wanted, one, none,
             none);
}

static bool describe_rows(Dnnl *v, const Operator *op, Desc *d) {
  int64_t rows[] = {op->m, op->n};
  bool ok = add_array(v, DNNL_ARG_SRC, op->a, 2, rows, NULL, false) &&
            add_array(v, DNNL_ARG_DST, op->c, 2, rows, NULL, false);
  if (op->kind == SOFTMAX)
    return ok && !v->dnnl_softmax_forward_desc_init(&d->softmax, dnnl_forward_inference,
                                                    &v->at[0].wanted, 1);
  return ok && add_array(v, DNNL_ARG_SCALE, op->b, 1, &rows[1], NULL, false) &&
         add_array(v, DNNL_ARG_SHIFT, op->bias, 1, &rows[1], NULL, false) &&
         !v->dnnl_layer_normalization_forward_desc_init(&d->layer_norm, dnnl_forward_inference,
                                                        &v->at[0].wanted, NULL, 1e-5f,
                                                        dnnl_use_scale | dnnl_use_shift);
}

static bool describe(Dnnl *v, const Operator *op, Desc *d) {
  switch (op->kind) {
  case PRODUCT:
    if (!v->ahead) return describe_matmul(v, op, d);
    return op->batch == 1 && describe_pixels(v, op, d);
  case CONVOLUTION: return describe_convolution(v, op, d);
  case SOFTMAX:
  case LAYER_NORM: return !v->ahead && describe_rows(v, op, d);
  }
  return false;
}

/* What follows a product: a factor, an activation. */
static bool add_attributes(Dnnl *v, const Operator *op, dnnl_primitive_attr_t attr) {
  dnnl_post_ops_t ops = NULL;
  if (op->kind != PRODUCT) return true;
  if (op->scale < 1 && v->dnnl_primitive_attr_set_output_scales(attr, 1, 0, &op->scale))
    return false;
  if (op->activation == LINEAR) return true;
  dnnl_alg_kind_t kind = op->activation == RELU ? dnnl_eltwise_relu : dnnl_eltwise_gelu_erf;
  bool ok = !v->dnnl_post_ops_create(&ops) &&
            !v->dnnl_post_ops_append_eltwise(ops, 1, kind, 0, 0) &&
            !v->dnnl_primitive_attr_set_post_ops(attr, ops);
  if (ops) v->dnnl_post_ops_destroy(ops);
  return ok;
}

/* --- memory and layouts ------------------------------------------------------------------------
 */

static void execute_copy(const Dnnl *v, const Array *a) {
  bool result = a->id == DNNL_ARG_DST;
  dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, result ? a->inside : a->outside},
                            {DNNL_ARG_TO, result ? a->outside : a->inside}};
  (void)v->dnnl_primitive_execute(a->copy, v->stream, 2, args);
}

static bool make_copy(Dnnl *v, Array *a, const dnnl_memory_desc_t *wanted) {
  dnnl_primitive_desc_t pd = NULL;
  bool result = a->id == DNNL_ARG_DST;
  bool ok = !v->dnnl_memory_create(&a->inside, wanted, v->engine, DNNL_MEMORY_ALLOCATE) &&
            !v->dnnl_reorder_primitive_desc_create(&pd, result ? wanted : &a->given, v->engine,
                                                   result ? &a->given : wanted, v->engine, NULL) &&
            !v->dnnl_primitive_create(&a->copy, pd);
  if (pd) v->dnnl_primitive_desc_destroy(pd);
  if (!ok || !v->ahead || a->id != DNNL_ARG_WEIGHTS) return ok;
  execute_copy(v, a);
  ok = !v->dnnl_stream_wait(v->stream);
  v->dnnl_primitive_destroy(a->copy);
  a->copy = NULL;
  return ok;
}

static bool make_array(Dnnl *v, Array *a, dnnl_primitive_desc_t pd) {
  const dnnl_memory_desc_t *wanted =
      v->dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, a->id);
  if (!wanted || v->dnnl_memory_create(&a->outside, &a->given, v->engine, a->data)) return false;
  if (!v->dnnl_memory_desc_equal(wanted, &a->given)) return make_copy(v, a, wanted);
  a->inside = a->outside;
  return true;
}

static bool build(Dnnl *v, const Operator *op) {
  Desc d;
  dnnl_primitive_desc_t pd = NULL;
  dnnl_primitive_attr_t attr = NULL;
  bool ok = !v->dnnl_engine_create(&v->engine, dnnl_cpu, 0) &&
            !v->dnnl_stream_create(&v->stream, v->engine, dnnl_stream_default_flags) &&
            describe(v, op, &d) && !v->dnnl_primitive_attr_create(&attr) &&
            add_attributes(v, op, attr) &&
            !v->dnnl_primitive_desc_create(&pd, &d, attr, v->engine, NULL) &&
            !v->dnnl_primitive_create(&v->primitive, pd);
  for (int i = 0; i < v->n && ok; i++) ok = make_array(v, &v->at[i], pd);
  if (ok) v->dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &v->implementation);
  if (pd) v->dnnl_primitive_desc_destroy(pd);
  if (attr) v->dnnl_primitive_attr_destroy(attr);
  return ok;
}

void dnnl_run(const Dnnl *v) {
  dnnl_exec_arg_t args[MOST_ARRAYS] = {{0}};
  const Array *result = NULL;
  for (int i = 0; i < v->n; i++) {
    const Array *a = &v->at[i];
    args[i] = (dnnl_exec_arg_t){a->id, a->inside};
    if (a->copy && a->id != DNNL_ARG_DST) execute_copy(v, a);
    if (a->copy && a->id == DNNL_ARG_DST) result = a;
  }
  (void)v->dnnl_primitive_execute(v->primitive, v->stream, v->n, args);
  if (result) execute_copy(v, result);
  (void)v->dnnl_stream_wait(v->stream);
}

void dnnl_release(Dnnl *v) {
  for (int i = 0; v && i < v->n; i++) {
    Array *a = &v->at[i];
    if (a->copy) v->dnnl_primitive_destroy(a->copy);
    if (a->inside && a->inside != a->outside) v->dnnl_memory_destroy(a->inside);
    if (a->outside) v->dnnl_memory_destroy(a->outside);
  }
  if (v && v->primitive) v->dnnl_primitive_destroy(v->primitive);
  if (v && v->stream) v->dnnl_stream_destroy(v->stream);
  if (v && v->engine) v->dnnl_engine_destroy(v->engine);
  free(v);
}

const char *dnnl_implementation(const Dnnl *v) {
  return v->implementation ? v->implementation : "unknown";
}

Dnnl *dnnl_make(const Operator *op, bool ahead, const char **why) {
  Dnnl *v = calloc(1, sizeof *v);
  *why = "oneDNN has no such operator";
  if (!v) return NULL;
  v->ahead = ahead;
  if (find_functions(v) && build(v, op)) return v;
  dnnl_release(v);
  return NULL;
}
#else
Dnnl *dnnl_make(const Operator *op, bool ahead, const char **why) {
  (void)op, (void)ahead;
  *why = "this tirc was built without oneDNN's header";
  return NULL;
}
void dnnl_run(const Dnnl *v) { (void)v; }
void dnnl_release(Dnnl *v) { (void)v; }
const char *dnnl_implementation(const Dnnl *v) { return v ? "unknown" : "none"; }
#endif
