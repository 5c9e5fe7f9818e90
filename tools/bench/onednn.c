/* oneDNN: its sgemm for plain products, its primitives for other operators (dnnl.c). */
#include "dnnl.h"

#include <dlfcn.h>
#include <string.h>

enum { ISA_AVX2 = 7 }; /* dnnl_cpu_isa_avx2 */

void *dnnl_library(void) {
  void *l = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  return l ? l : dlopen("libdnnl.so.3", RTLD_NOW | RTLD_LOCAL);
}

/* It is built with OpenMP, whose number of threads belongs to the calling thread. */
static void dnnl_threads(int n) {
  void *omp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  void (*set)(int) = NULL;
  if (omp) *(void **)(&set) = dlsym(omp, "omp_set_num_threads");
  if (set) set(n);
}

static bool dnnl_open_with_isa(const Bench *b, char *kernels, size_t size, const char **why) {
  void *l = dnnl_library();
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

/* --- sgemm ------------------------------------------------------------------------------------ */

typedef int (*DnnlSgemm)(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k,
                         float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
                         float beta, float *c, int64_t ldc);
typedef struct OneDnn {
  DnnlSgemm sgemm;
  Operator p;
  Dnnl *primitive;   /* instead */
  DnnlCalls scratch; /* its arrays in between */
  char note[400];
} OneDnn;

bool onednn_open(const Bench *b, char *kernels, size_t size, const char **why) {
  if (!dnnl_open_with_isa(b, kernels, size, why)) return false;
  *why = "it has no dnnl_sgemm";
  return dlsym(dnnl_library(), "dnnl_sgemm") != NULL;
}

/* The better of some runs, after one that is not counted. */
static double time_of(const Dnnl *v) {
  enum { MOST = 20 };
  const double LONG_ENOUGH = 0.05, started = tirc_seconds();
  double best = 1e9;
  dnnl_run(v);
  for (int i = 0; i < MOST && (i < 2 || tirc_seconds() - started < LONG_ENOUGH); i++) {
    double from = tirc_seconds(), took;
    dnnl_run(v);
    took = tirc_seconds() - from;
    if (took < best) best = took;
  }
  return best;
}

/* On the program's layouts, or where a primitive may choose its own and is faster so, on those: the
 * copies are then none of what is measured. */
static Dnnl *choose_layouts(const DnnlCalls *calls, char *note, size_t size, const char **why) {
  const char *unused;
  Dnnl *plain = dnnl_make(calls, NO_ARRAYS, why), *own = dnnl_make(calls, ALL_ARRAYS, &unused);
  if (own && !dnnl_relays(own)) dnnl_release(own), own = NULL;
  if (!own || !plain) {
    Dnnl *only = plain ? plain : own;
    if (only)
      snprintf(note, size, "%s, on %s layouts", dnnl_implementation(only),
               plain ? "the program's" : "its own");
    return only;
  }
  const double times[] = {time_of(plain), time_of(own)};
  const bool better = times[1] < times[0];
  Dnnl *out = better ? own : plain;
  snprintf(note, size, "%s, on %s layouts (%.4g ms; on %s %.4g ms), copies not counted",
           dnnl_implementation(out), better ? "its own" : "the program's", times[better] * 1e3,
           better ? "the program's" : "its own", times[!better] * 1e3);
  dnnl_release(better ? plain : own);
  return out;
}

/* What the program says, or else what its shapes suggest. */
static Dnnl *make_calls(const Case *k, const Operator *op, OneDnn *o, const char **why) {
  DnnlCalls calls = {0};
  tirc_schedule *words = NULL;
  Dnnl *out = NULL;
  if (op ? dnnl_call_of(op, false, &calls) : dnnl_calls_of(k, &words, &calls, why))
    out = choose_layouts(&calls, o->note, sizeof o->note, why);
  o->scratch = calls;
  tirc_schedule_free(words);
  return out;
}

void *onednn_prepare(const Bench *b, const Case *k, const Operator *op, const char **why) {
  (void)b;
  if (!op && !dnnl_has_words(k)) return NULL;
  OneDnn *o = tirc_alloc(memory, sizeof *o);
  dnnl_threads(k->at.threads);
  if (op) o->p = *op;
  if (op && op->kind == PRODUCT && op->batch == 1 && !op->bias)
    *(void **)(&o->sgemm) = dlsym(dnnl_library(), "dnnl_sgemm");
  else
    o->primitive = make_calls(k, op, o, why);
  if (o->sgemm || o->primitive) return o;
  onednn_free(o);
  return NULL;
}

void onednn_run(void *prepared) {
  const OneDnn *o = prepared;
  const Operator *p = &o->p;
  if (o->primitive)
    dnnl_run(o->primitive);
  else
    (void)o->sgemm('N', p->transposed ? 'T' : 'N', p->m, p->n, p->k, p->scale, p->a, p->k, p->b,
                   p->transposed ? p->k : p->n, 0, p->c, p->n);
}

void onednn_finish(void *prepared) {
  const OneDnn *o = prepared;
  if (o->primitive) dnnl_fetch(o->primitive);
}

const char *onednn_note(const void *prepared) { return ((const OneDnn *)prepared)->note; }

void onednn_free(void *prepared) {
  OneDnn *o = prepared;
  dnnl_release(o->primitive);
  dnnl_calls_free(&o->scratch);
}

/* --- weights laid out beforehand -------------------------------------------------------------- */

bool prepacked_open(const Bench *b, char *kernels, size_t size, const char **why) {
  float zeros[64] = {0}, result[64];
  char isa[32];
  DnnlCalls calls;
  Operator op = {.kind = PRODUCT,
                 .batch = 1,
                 .m = 8,
                 .n = 8,
                 .k = 8,
                 .scale = 1,
                 .a = zeros,
                 .b = zeros,
                 .c = result};
  if (!dnnl_open_with_isa(b, isa, sizeof isa, why)) return false;
  Dnnl *v = dnnl_call_of(&op, true, &calls) ? dnnl_make(&calls, WEIGHTS, why) : NULL;
  if (!v) return false;
  snprintf(kernels, size, "%s, %s", isa, dnnl_implementation(v));
  dnnl_release(v);
  return true;
}

void *prepacked_prepare(const Bench *b, const Case *k, const Operator *op, const char **why) {
  (void)b;
  DnnlCalls calls = {0};
  tirc_schedule *words = NULL;
  Dnnl *out = NULL;
  if (!op && !dnnl_has_words(k)) return NULL;
  dnnl_threads(k->at.threads);
  *why = "oneDNN has no such operator";
  if (op ? dnnl_call_of(op, true, &calls) : dnnl_calls_of(k, &words, &calls, why))
    out = dnnl_make(&calls, op && op->kind == CONVOLUTION ? ALL_ARRAYS : WEIGHTS, why);
  if (out && (!dnnl_relays(out) || calls.n_scratch)) { /* it has no weights to lay out */
    *why = "no weights of it can be laid out beforehand";
    dnnl_release(out);
    out = NULL;
  }
  dnnl_calls_free(&calls);
  tirc_schedule_free(words);
  return out;
}

void prepacked_finish(void *prepared) { dnnl_fetch(prepared); }

void prepacked_run(void *prepared) { dnnl_run(prepared); }
void prepacked_free(void *prepared) { dnnl_release(prepared); }
