/* Calls as primitives of oneDNN (release 2), on the arrays of the program. An array that a
 * primitive may have in a layout of its own lies in memory of oneDNN's then: inputs are copied
 * there once, results when they are asked for. */
#include "dnnl.h"

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
  X(dnnl_dilated_convolution_forward_desc_init)                                                    \
  X(dnnl_matmul_desc_init)                                                                         \
  X(dnnl_softmax_forward_desc_init)                                                                \
  X(dnnl_logsoftmax_forward_desc_init)                                                             \
  X(dnnl_layer_normalization_forward_desc_init)                                                    \
  X(dnnl_eltwise_forward_desc_init)                                                                \
  X(dnnl_binary_desc_init)                                                                         \
  X(dnnl_pooling_v2_forward_desc_init)                                                             \
  X(dnnl_reduction_desc_init)                                                                      \
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

/* The program's, and the primitive's own where that has another layout. */
typedef struct Array {
  int id;                           /* DNNL_ARG_... */
  dnnl_memory_desc_t given, wanted; /* wanted: perhaps of any layout */
  dnnl_memory_t outside, inside;    /* the same where no copy is made */
  dnnl_primitive_t copy;            /* to the inside, from it for a result */
} Array;

typedef struct Primitive {
  dnnl_primitive_t primitive;
  int n;
  Array at[DNNL_ARRAYS];
} Primitive;

struct Dnnl {
#define X(name) __typeof__(&(name)) name;
  FUNCTIONS(X)
#undef X
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  DnnlFree free;
  int n;
  Primitive at[DNNL_CALLS];
  char implementation[256];
  bool is_reference;
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

/* --- words ------------------------------------------------------------------------------------ */

typedef struct Word {
  const char *word;
  int value;
} Word;

static const Word roles[] = {{"src", DNNL_ARG_SRC},     {"src_1", DNNL_ARG_SRC_1},
                             {"dst", DNNL_ARG_DST},     {"weights", DNNL_ARG_WEIGHTS},
                             {"bias", DNNL_ARG_BIAS},   {"scale", DNNL_ARG_SCALE},
                             {"shift", DNNL_ARG_SHIFT}, {NULL, 0}};
static const Word dtypes[] = {{"float32", dnnl_f32},
                              {"float16", dnnl_f16},
                              {"bfloat16", dnnl_bf16},
                              {"int8", dnnl_s8},
                              {"uint8", dnnl_u8},
                              {"int32", dnnl_s32},
                              {NULL, 0}};
#define A(name) {#name, dnnl_##name},
static const Word algorithms[] = {
    A(eltwise_relu) A(eltwise_tanh) A(eltwise_elu) A(eltwise_square) A(eltwise_abs) A(eltwise_sqrt)
        A(eltwise_linear) A(eltwise_bounded_relu) A(eltwise_soft_relu) A(eltwise_logistic)
            A(eltwise_exp) A(eltwise_gelu_tanh) A(eltwise_gelu_erf) A(eltwise_swish) A(eltwise_log)
                A(eltwise_clip) A(eltwise_pow) A(eltwise_round) A(eltwise_mish) A(eltwise_hardswish)
                    A(binary_add) A(binary_mul) A(binary_sub) A(binary_div) A(binary_max)
                        A(binary_min) A(pooling_max) A(pooling_avg_include_padding)
                            A(pooling_avg_exclude_padding) A(reduction_max) A(reduction_min)
                                A(reduction_sum) A(reduction_mul) A(reduction_mean){NULL, 0}};
#undef A

static bool find_word(const Word *table, const char *word, int *value) {
  for (; word && table->word; table++)
    if (strcmp(table->word, word) == 0) {
      *value = table->value;
      return true;
    }
  return false;
}

/* --- what a primitive is ---------------------------------------------------------------------- */

/* The descriptors of the arrays that a kind has. */
typedef struct Descs {
  const dnnl_memory_desc_t *src, *other, *weights, *bias, *dst, *scale;
} Descs;

/* K(kind, the array that it needs beside src and dst, whether it has an algorithm, what makes its
 * descriptor of a call c, arrays m and an algorithm a). Every fact about a kind is in its row. */
#define FORWARD dnnl_forward_inference
#define KINDS(K)                                                                                   \
  K(matmul, weights, false, dnnl_matmul_desc_init, m->src, m->weights, m->bias, m->dst)            \
  K(convolution, weights, false, dnnl_dilated_convolution_forward_desc_init, FORWARD,              \
    dnnl_convolution_direct, m->src, m->weights, m->bias, m->dst, c->strides, c->dilates,          \
    c->padding, c->padding)                                                                        \
  K(softmax, src, false, dnnl_softmax_forward_desc_init, FORWARD, m->src, c->axis)                 \
  K(logsoftmax, src, false, dnnl_logsoftmax_forward_desc_init, FORWARD, m->src, c->axis)           \
  K(layer_normalization, scale, false, dnnl_layer_normalization_forward_desc_init, FORWARD,        \
    m->src, NULL, c->epsilon, dnnl_use_scale | dnnl_use_shift)                                     \
  K(eltwise, src, true, dnnl_eltwise_forward_desc_init, FORWARD, a, m->src, c->alpha, c->beta)     \
  K(binary, other, true, dnnl_binary_desc_init, a, m->src, m->other, m->dst)                       \
  K(reduction, src, true, dnnl_reduction_desc_init, a, m->src, m->dst, 0, 0)
#define POOLING(K)                                                                                 \
  K(pooling, src, true, dnnl_pooling_v2_forward_desc_init, FORWARD, a, m->src, m->dst, c->strides, \
    c->kernel, c->dilates, c->padding, c->padding)

typedef union Desc {
  dnnl_matmul_desc_t matmul;
  dnnl_convolution_desc_t convolution;
  dnnl_softmax_desc_t softmax;
  dnnl_logsoftmax_desc_t logsoftmax;
  dnnl_layer_normalization_desc_t layer_normalization;
  dnnl_eltwise_desc_t eltwise;
  dnnl_binary_desc_t binary;
  dnnl_pooling_v2_desc_t pooling;
  dnnl_reduction_desc_t reduction;
} Desc;

#define K(kind, needed, algorithmic, init, ...)                                                    \
  static bool describe_##kind(const Dnnl *v, const DnnlCall *c, const Descs *m, dnnl_alg_kind_t a, \
                              Desc *d) {                                                           \
    (void)c, (void)a;                                                                              \
    return m->needed && !v->init(&d->kind, __VA_ARGS__);                                           \
  }
KINDS(K)
POOLING(K)
#undef K

typedef struct DnnlKind {
  const char *word;
  bool algorithmic;
  /* NULL: a copy, which has no descriptor */
  bool (*describe)(const Dnnl *v, const DnnlCall *c, const Descs *m, dnnl_alg_kind_t a, Desc *d);
  bool as_given; /* it takes the layout of its input, and chooses none */
} DnnlKind;
static const DnnlKind kinds[] = {
#define K(kind, needed, algorithmic, init, ...) {#kind, algorithmic, describe_##kind, false},
    KINDS(K)
#undef K
#define K(kind, needed, algorithmic, init, ...) {#kind, algorithmic, describe_##kind, true},
        POOLING(K)
#undef K
            {"reorder", false, NULL, false}};

static const DnnlKind *find_kind(const char *word) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].word, word) == 0) return &kinds[i];
  return NULL;
}

static const dnnl_memory_desc_t *find_desc(const Primitive *p, int id) {
  for (int i = 0; i < p->n; i++)
    if (p->at[i].id == id) return &p->at[i].wanted;
  return NULL;
}

static bool describe(const Dnnl *v, const DnnlKind *k, const DnnlCall *c, const Primitive *p,
                     Desc *d) {
  const Descs m = {find_desc(p, DNNL_ARG_SRC),     find_desc(p, DNNL_ARG_SRC_1),
                   find_desc(p, DNNL_ARG_WEIGHTS), find_desc(p, DNNL_ARG_BIAS),
                   find_desc(p, DNNL_ARG_DST),     find_desc(p, DNNL_ARG_SCALE)};
  int a = 0;
  return m.src && m.dst && (!k->algorithmic || find_word(algorithms, c->algorithm, &a)) &&
         k->describe(v, c, &m, (dnnl_alg_kind_t)a, d);
}

/* What takes the layout that it gets is made for channels that are neighbours; others say which
 * layout they want. */
static dnnl_format_tag_t free_layout(const DnnlKind *k, const Array *a, int nd) {
  const bool takes = k->as_given && a->id != DNNL_ARG_DST;
  return !takes ? dnnl_format_tag_any : nd == 3 ? dnnl_nwc : nd == 4 ? dnnl_nhwc : dnnl_ndhwc;
}

static bool add_array(const Dnnl *v, Primitive *p, const DnnlKind *k, const DnnlArray *from) {
  Array *a = &p->at[p->n++];
  int type;
  if (!find_word(roles, from->role, &a->id) || !find_word(dtypes, from->dtype, &type)) return false;
  bool free =
      from->anyhow && (v->free == ALL_ARRAYS || (v->free == WEIGHTS && a->id == DNNL_ARG_WEIGHTS));
  if (v->dnnl_memory_desc_init_by_strides(&a->given, from->nd, from->dims, (dnnl_data_type_t)type,
                                          from->strides))
    return false;
  a->wanted = a->given;
  return !free ||
         !v->dnnl_memory_desc_init_by_tag(&a->wanted, from->nd, from->dims, (dnnl_data_type_t)type,
                                          free_layout(k, a, from->nd));
}

/* What follows a product: a factor, an activation. */
static bool add_attributes(const Dnnl *v, const DnnlCall *c, dnnl_primitive_attr_t attr) {
  dnnl_post_ops_t ops = NULL;
  int kind;
  if (c->scale != 0 && v->dnnl_primitive_attr_set_output_scales(attr, 1, 0, &c->scale))
    return false;
  if (!c->activation) return true;
  bool ok = find_word(algorithms, c->activation, &kind) && !v->dnnl_post_ops_create(&ops) &&
            !v->dnnl_post_ops_append_eltwise(ops, 1, (dnnl_alg_kind_t)kind, 0, 0) &&
            !v->dnnl_primitive_attr_set_post_ops(attr, ops);
  if (ops) v->dnnl_post_ops_destroy(ops);
  return ok;
}

/* --- memory and layouts ----------------------------------------------------------------------- */

static void execute_copy(const Dnnl *v, const Array *a) {
  bool result = a->id == DNNL_ARG_DST;
  dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, result ? a->inside : a->outside},
                            {DNNL_ARG_TO, result ? a->outside : a->inside}};
  (void)v->dnnl_primitive_execute(a->copy, v->stream, 2, args);
  (void)v->dnnl_stream_wait(v->stream);
}

static bool make_copy(const Dnnl *v, Array *a, const dnnl_memory_desc_t *wanted) {
  dnnl_primitive_desc_t pd = NULL;
  bool result = a->id == DNNL_ARG_DST;
  bool ok = !v->dnnl_memory_create(&a->inside, wanted, v->engine, DNNL_MEMORY_ALLOCATE) &&
            !v->dnnl_reorder_primitive_desc_create(&pd, result ? wanted : &a->given, v->engine,
                                                   result ? &a->given : wanted, v->engine, NULL) &&
            !v->dnnl_primitive_create(&a->copy, pd);
  if (pd) v->dnnl_primitive_desc_destroy(pd);
  if (ok && !result) execute_copy(v, a);
  return ok;
}

/* wanted NULL: as it is given. */
static bool make_array(const Dnnl *v, Array *a, void *data, const dnnl_memory_desc_t *wanted) {
  if (v->dnnl_memory_create(&a->outside, &a->given, v->engine, data)) return false;
  if (wanted && !v->dnnl_memory_desc_equal(wanted, &a->given)) return make_copy(v, a, wanted);
  a->inside = a->outside;
  return true;
}

/* False: it has one for reference only, which is nothing to be compared with. */
static bool add_implementation(Dnnl *v, const char *kind, dnnl_primitive_desc_t pd) {
  const char *name = NULL;
  size_t used = strlen(v->implementation);
  if (v->dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) || !name) name = "?";
  snprintf(v->implementation + used, sizeof v->implementation - used, "%s%s %s", used ? ", " : "",
           kind, name);
  return strncmp(name, "ref", 3) != 0;
}

static bool create(Dnnl *v, const DnnlKind *k, const DnnlCall *c, Primitive *p,
                   dnnl_primitive_desc_t *pd, dnnl_primitive_attr_t attr) {
  Desc d;
  if (!k->describe)
    return !v->dnnl_reorder_primitive_desc_create(pd, &p->at[0].given, v->engine, &p->at[1].given,
                                                  v->engine, NULL);
  return describe(v, k, c, p, &d) && add_attributes(v, c, attr) &&
         !v->dnnl_primitive_desc_create(pd, &d, attr, v->engine, NULL);
}

static bool build(Dnnl *v, const DnnlCall *c, Primitive *p) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_primitive_attr_t attr = NULL;
  const DnnlKind *k = find_kind(c->kind);
  bool ok = k && !v->dnnl_primitive_attr_create(&attr);
  for (int i = 0; i < c->n && ok; i++) ok = add_array(v, p, k, &c->at[i]);
  ok = ok && p->n >= 2 && create(v, k, c, p, &pd, attr) &&
       !v->dnnl_primitive_create(&p->primitive, pd);
  for (int i = 0; i < p->n && ok; i++)
    ok = make_array(v, &p->at[i], c->at[i].data,
                    k->describe
                        ? v->dnnl_primitive_desc_query_md(pd, dnnl_query_exec_arg_md, p->at[i].id)
                        : NULL);
  if (ok && !add_implementation(v, c->kind, pd)) v->is_reference = true, ok = false;
  if (pd) v->dnnl_primitive_desc_destroy(pd);
  if (attr) v->dnnl_primitive_attr_destroy(attr);
  return ok;
}

static void run_primitive(const Dnnl *v, const Primitive *p) {
  dnnl_exec_arg_t args[DNNL_ARRAYS];
  for (int i = 0; i < p->n; i++) args[i] = (dnnl_exec_arg_t){p->at[i].id, p->at[i].inside};
  (void)v->dnnl_primitive_execute(p->primitive, v->stream, p->n, args);
}

void dnnl_run(const Dnnl *v) {
  for (int i = 0; i < v->n; i++) run_primitive(v, &v->at[i]);
  (void)v->dnnl_stream_wait(v->stream);
}

void dnnl_fetch(const Dnnl *v) {
  for (int i = 0; i < v->n; i++)
    for (int j = 0; j < v->at[i].n; j++)
      if (v->at[i].at[j].copy && v->at[i].at[j].id == DNNL_ARG_DST)
        execute_copy(v, &v->at[i].at[j]);
}

bool dnnl_relays(const Dnnl *v) {
  for (int i = 0; i < v->n; i++)
    for (int j = 0; j < v->at[i].n; j++)
      if (v->at[i].at[j].copy) return true;
  return false;
}

static void release_primitive(const Dnnl *v, Primitive *p) {
  for (int i = 0; i < p->n; i++) {
    Array *a = &p->at[i];
    if (a->copy) v->dnnl_primitive_destroy(a->copy);
    if (a->inside && a->inside != a->outside) v->dnnl_memory_destroy(a->inside);
    if (a->outside) v->dnnl_memory_destroy(a->outside);
  }
  if (p->primitive) v->dnnl_primitive_destroy(p->primitive);
}

void dnnl_release(Dnnl *v) {
  for (int i = 0; v && i < v->n; i++) release_primitive(v, &v->at[i]);
  if (v && v->stream) v->dnnl_stream_destroy(v->stream);
  if (v && v->engine) v->dnnl_engine_destroy(v->engine);
  free(v);
}

const char *dnnl_implementation(const Dnnl *v) { return v->implementation; }

Dnnl *dnnl_make(const DnnlCalls *calls, DnnlFree free, const char **why) {
  Dnnl *v = calloc(1, sizeof *v);
  *why = "oneDNN has no such operator";
  if (!v) return NULL;
  v->free = free;
  bool ok = find_functions(v) && !v->dnnl_engine_create(&v->engine, dnnl_cpu, 0) &&
            !v->dnnl_stream_create(&v->stream, v->engine, dnnl_stream_default_flags);
  for (int i = 0; i < calls->n && ok; i++) ok = build(v, &calls->at[i], &v->at[v->n++]);
  if (ok) return v;
  if (v->is_reference) *why = "oneDNN has no more than a reference implementation of it";
  dnnl_release(v);
  return NULL;
}
#else
Dnnl *dnnl_make(const DnnlCalls *calls, DnnlFree free, const char **why) {
  (void)calls, (void)free;
  *why = "this tirc was built without oneDNN's header";
  return NULL;
}
bool dnnl_relays(const Dnnl *v) { return v != NULL; }
void dnnl_run(const Dnnl *v) { (void)v; }
void dnnl_fetch(const Dnnl *v) { (void)v; }
void dnnl_release(Dnnl *v) { (void)v; }
const char *dnnl_implementation(const Dnnl *v) { return v ? "unknown" : "none"; }
#endif
