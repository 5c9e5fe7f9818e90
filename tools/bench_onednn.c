/* oneDNN's sgemm, and its 1x1 convolution over weights that are laid out beforehand: the rows of A
 * are the pixels of an image, the columns of B the output channels. Its matrix product does not lay
 * out weights on AVX2 (release 2.6); the convolution does. */
#include "bench_rivals.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { ISA_AVX2 = 7 }; /* dnnl_cpu_isa_avx2 */

static void *library(void) {
  void *l = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  return l ? l : dlopen("libdnnl.so.3", RTLD_NOW | RTLD_LOCAL);
}

/* It is built with OpenMP, whose number of threads belongs to the calling thread. */
static void set_threads(int n) {
  void *omp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  void (*set)(int) = NULL;
  if (omp) *(void **)(&set) = dlsym(omp, "omp_set_num_threads");
  if (set) set(n);
}

static bool open_with_isa(const Bench *b, char *kernels, size_t size, const char **why) {
  void *l = library();
  int (*set_isa)(int) = NULL, (*get_isa)(void) = NULL;
  *why = "it is not installed";
  if (!l) return false;
  *(void **)(&set_isa) = dlsym(l, "dnnl_set_max_cpu_isa");
  *(void **)(&get_isa) = dlsym(l, "dnnl_get_effective_cpu_isa");
  *why = "it cannot be held to AVX2";
  if (!set_isa || !get_isa) return false;
  /* The second call fails, as the first has decided. */
  if (b->target.vector_bits == 256) (void)set_isa(ISA_AVX2);
  int isa = get_isa();
  if (b->target.vector_bits == 256 && isa > ISA_AVX2) return false;
  snprintf(kernels, size, "%s", isa == ISA_AVX2 ? "AVX2" : isa > ISA_AVX2 ? "AVX-512" : "AVX");
  return true;
}

/* --- sgemm -------------------------------------------------------------------------------------
 */

typedef int (*DnnlSgemm)(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k,
                         float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                         float beta, float *c, int64_t ldc);
typedef struct OneDnn {
  DnnlSgemm sgemm;
  int threads;
  Product p;
} OneDnn;

bool onednn_open(const Bench *b, char *kernels, size_t size, const char **why) {
  if (!open_with_isa(b, kernels, size, why)) return false;
  *why = "it has no dnnl_sgemm";
  return dlsym(library(), "dnnl_sgemm") != NULL;
}

void *onednn_prepare(const Bench *b, const Case *k, const char **why) {
  (void)b;
  Product p;
  OneDnn *o = get_product(k, &p, why) ? calloc(1, sizeof *o) : NULL;
  if (!o) return NULL;
  o->p = p;
  o->threads = k->threads;
  *(void **)(&o->sgemm) = dlsym(library(), "dnnl_sgemm");
  set_threads(k->threads);
  return o;
}

void onednn_run(void *prepared) {
  const OneDnn *o = prepared;
  Product p = o->p;
  (void)o->sgemm('N', 'N', p.m, p.n, p.k, 1, p.a, p.k, p.b, p.n, 0, p.c, p.n);
}

void onednn_free(void *prepared) { free(prepared); }

/* --- the 1x1 convolution -----------------------------------------------------------------------
 */

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
  X(dnnl_convolution_forward_desc_init)                                                            \
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

typedef struct Convolution {
#define X(name) __typeof__(&(name)) name;
  FUNCTIONS(X)
#undef X
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_t convolution;
  dnnl_memory_t source, weights, result;
  const char *implementation;
} Convolution;

static bool find_functions(Convolution *v) {
  void *l = library();
#define X(name) *(void **)(&v->name) = l ? dlsym(l, #name) : NULL;
  FUNCTIONS(X)
#undef X
#define X(name) v->name &&
  return FUNCTIONS(X) true;
#undef X
}

typedef struct Shapes {
  dnnl_memory_desc_t source, given, any, result;
} Shapes;

static bool describe(Convolution *v, const Product *p, Shapes *s) {
  const dnnl_dims_t source = {1, p->k, p->m, 1}, weights = {p->n, p->k, 1, 1};
  const dnnl_dims_t result = {1, p->n, p->m, 1}, strides = {1, p->n, 1, 1};
  return !v->dnnl_memory_desc_init_by_tag(&s->source, 4, source, dnnl_f32, dnnl_nhwc) &&
         !v->dnnl_memory_desc_init_by_tag(&s->result, 4, result, dnnl_f32, dnnl_nhwc) &&
         !v->dnnl_memory_desc_init_by_tag(&s->any, 4, weights, dnnl_f32, dnnl_format_tag_any) &&
         !v->dnnl_memory_desc_init_by_strides(&s->given, 4, weights, dnnl_f32, strides);
}

/* Its own layout of B, filled once. */
static bool lay_out(Convolution *v, const Product *p, const Shapes *s, dnnl_primitive_desc_t conv) {
  dnnl_primitive_desc_t pd = NULL;
  dnnl_primitive_t reorder = NULL;
  dnnl_memory_t given = NULL;
  const dnnl_memory_desc_t *wanted =
      v->dnnl_primitive_desc_query_md(conv, dnnl_query_weights_md, 0);
  bool ok =
      wanted && !v->dnnl_memory_create(&v->weights, wanted, v->engine, DNNL_MEMORY_ALLOCATE) &&
      !v->dnnl_memory_create(&given, &s->given, v->engine, (void *)(uintptr_t)p->b) &&
      !v->dnnl_reorder_primitive_desc_create(&pd, &s->given, v->engine, wanted, v->engine, NULL) &&
      !v->dnnl_primitive_create(&reorder, pd);
  dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, given}, {DNNL_ARG_TO, v->weights}};
  ok = ok && !v->dnnl_primitive_execute(reorder, v->stream, 2, args) &&
       !v->dnnl_stream_wait(v->stream);
  if (reorder) v->dnnl_primitive_destroy(reorder);
  if (pd) v->dnnl_primitive_desc_destroy(pd);
  if (given) v->dnnl_memory_destroy(given);
  return ok;
}

static bool build(Convolution *v, const Product *p) {
  static const dnnl_dims_t one = {1, 1}, none = {0, 0};
  Shapes s;
  dnnl_convolution_desc_t d;
  dnnl_primitive_desc_t pd = NULL;
  bool ok =
      !v->dnnl_engine_create(&v->engine, dnnl_cpu, 0) &&
      !v->dnnl_stream_create(&v->stream, v->engine, dnnl_stream_default_flags) &&
      describe(v, p, &s) &&
      !v->dnnl_convolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_convolution_direct,
                                             &s.source, &s.any, NULL, &s.result, one, none, none) &&
      !v->dnnl_primitive_desc_create(&pd, &d, NULL, v->engine, NULL) &&
      !v->dnnl_primitive_create(&v->convolution, pd) && lay_out(v, p, &s, pd) &&
      !v->dnnl_memory_create(&v->source, &s.source, v->engine, (void *)(uintptr_t)p->a) &&
      !v->dnnl_memory_create(&v->result, &s.result, v->engine, p->c);
  if (pd) v->dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &v->implementation);
  if (pd) v->dnnl_primitive_desc_destroy(pd);
  return ok;
}

void prepacked_free(void *prepared) {
  Convolution *v = prepared;
  dnnl_memory_t memories[] = {v->source, v->weights, v->result};
  for (int i = 0; i < 3; i++)
    if (memories[i]) v->dnnl_memory_destroy(memories[i]);
  if (v->convolution) v->dnnl_primitive_destroy(v->convolution);
  if (v->stream) v->dnnl_stream_destroy(v->stream);
  if (v->engine) v->dnnl_engine_destroy(v->engine);
  free(v);
}

static Convolution *make(const Product *p, const char **why) {
  Convolution *v = calloc(1, sizeof *v);
  *why = "oneDNN has no such convolution";
  if (v && find_functions(v) && build(v, p)) return v;
  if (v && v->dnnl_memory_destroy)
    prepacked_free(v);
  else
    free(v);
  return NULL;
}

bool prepacked_open(const Bench *b, char *kernels, size_t size, const char **why) {
  float zeros[64] = {0}, result[64];
  char isa[32];
  if (!open_with_isa(b, isa, sizeof isa, why)) return false;
  Convolution *v = make(&(Product){8, 8, 8, zeros, zeros, result}, why);
  if (!v) return false;
  snprintf(kernels, size, "%s, %s", isa, v->implementation ? v->implementation : "unknown");
  prepacked_free(v);
  return true;
}

void *prepacked_prepare(const Bench *b, const Case *k, const char **why) {
  (void)b;
  Product p;
  if (!get_product(k, &p, why)) return NULL;
  set_threads(k->threads);
  return make(&p, why);
}

void prepacked_run(void *prepared) {
  const Convolution *v = prepared;
  dnnl_exec_arg_t args[] = {
      {DNNL_ARG_SRC, v->source}, {DNNL_ARG_WEIGHTS, v->weights}, {DNNL_ARG_DST, v->result}};
  (void)v->dnnl_primitive_execute(v->convolution, v->stream, 3, args);
  (void)v->dnnl_stream_wait(v->stream);
}
#else
bool prepacked_open(const Bench *b, char *kernels, size_t size, const char **why) {
  (void)b, (void)kernels, (void)size;
  *why = "this tirc was built without oneDNN's header";
  return false;
}
void *prepacked_prepare(const Bench *b, const Case *k, const char **why) {
  (void)b, (void)k, (void)why;
  return NULL;
}
void prepacked_run(void *prepared) { (void)prepared; }
void prepacked_free(void *prepared) { (void)prepared; }
#endif
