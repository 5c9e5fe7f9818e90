/* ONNX Runtime by its C interface: OrtGetApiBase gives a table of functions, whose first 102 are
 * those of version 1. Their order never changes (its own source asserts that the last one is number
 * 101), so that what is needed of its header is numbers. A function gives NULL, or a status that
 * has a message. */
#define _GNU_SOURCE /* asprintf */
#include "onnxruntime.h"

#include "ir/user_file.h"
#include "traffic.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_VERSION = 1, LOG_ERRORS = 3, ARENA_ALLOCATOR = 1, DEFAULT_MEMORY = 0 };
/* Places in the table, what stands there takes, and gives back. */
#define FUNCTIONS(F)                                                                               \
  F(2, const char *, GetErrorMessage, (const void *status))                                        \
  F(3, void *, CreateEnv, (int level, const char *id, void **out))                                 \
  F(7, void *, CreateSession, (void *env, const char *path, const void *options, void **out))      \
  F(9, void *, Run,                                                                                \
    (void *session, const void *options, const char *const *inputs, const void *const *values,     \
     size_t n, const char *const *outputs, size_t m, void **results))                              \
  F(10, void *, CreateSessionOptions, (void **out))                                                \
  F(24, void *, SetIntraOpNumThreads, (void *options, int n))                                      \
  F(30, void *, SessionGetInputCount, (const void *session, size_t *out))                          \
  F(31, void *, SessionGetOutputCount, (const void *session, size_t *out))                         \
  F(33, void *, SessionGetInputTypeInfo, (const void *session, size_t i, void **out))              \
  F(36, void *, SessionGetInputName, (const void *session, size_t i, void *allocator, char **out)) \
  F(37, void *, SessionGetOutputName,                                                              \
    (const void *session, size_t i, void *allocator, char **out))                                  \
  F(49, void *, CreateTensorWithDataAsOrtValue,                                                    \
    (const void *memory, void *data, size_t bytes, const int64_t *shape, size_t ndim, int type,    \
     void **out))                                                                                  \
  F(51, void *, GetTensorMutableData, (void *value, void **out))                                   \
  F(55, void *, CastTypeInfoToTensorInfo, (const void *info, const void **out))                    \
  F(60, void *, GetTensorElementType, (const void *info, int *out))                                \
  F(61, void *, GetDimensionsCount, (const void *info, size_t *out))                               \
  F(62, void *, GetDimensions, (const void *info, int64_t *out, size_t n))                         \
  F(65, void *, GetTensorTypeAndShape, (const void *value, void **out))                            \
  F(69, void *, CreateCpuMemoryInfo, (int allocator, int kind, void **out))                        \
  F(76, void *, AllocatorFree, (void *allocator, void *p))                                         \
  F(78, void *, GetAllocatorWithDefaultOptions, (void **out))                                      \
  F(92, void, ReleaseEnv, (void *))                                                                \
  F(93, void, ReleaseStatus, (void *))                                                             \
  F(94, void, ReleaseMemoryInfo, (void *))                                                         \
  F(95, void, ReleaseSession, (void *))                                                            \
  F(96, void, ReleaseValue, (void *))                                                              \
  F(98, void, ReleaseTypeInfo, (void *))                                                           \
  F(99, void, ReleaseTensorTypeAndShapeInfo, (void *))                                             \
  F(100, void, ReleaseSessionOptions, (void *))

typedef struct Functions {
#define DECLARE(place, result, name, parameters) result(*name) parameters;
  FUNCTIONS(DECLARE)
#undef DECLARE
} Functions;
typedef struct Base { /* what OrtGetApiBase gives */
  void *const *(*table)(uint32_t version);
  const char *(*version)(void);
} Base;

struct OnnxRuntime {
  Functions f;
  const char *version;
  char *problem;
  void *env, *session, *memory, *allocator; /* the allocator is its own */
  size_t n_inputs, n_outputs;
  char **inputs, **outputs; /* names */
  void **given, **results;
};

/* --- the library ------------------------------------------------------------------------------ */

static void fail(OnnxRuntime *r, const char *message) {
  free(r->problem);
  r->problem = strdup(message);
}

static bool is_done(OnnxRuntime *r, void *status) {
  if (!status) return true;
  fail(r, r->f.GetErrorMessage(status));
  r->f.ReleaseStatus(status);
  return false;
}

/* $TIRC_ONNXRUNTIME, else where the system has libraries, else where tools/setup puts it. */
static void *open_library(void) {
  const char *set = getenv("TIRC_ONNXRUNTIME");
  char path[USER_FILE];
  if (set && *set) return dlopen(set, RTLD_NOW | RTLD_LOCAL);
  void *library = dlopen("libonnxruntime.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library || !*tirc_user_file(path, "onnxruntime/libonnxruntime.so.1")) return library;
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

bool onnxruntime_exists(void) { return open_library() != NULL; }

static bool load(OnnxRuntime *r) {
  const Base *(*base_of)(void) = NULL;
  void *library = open_library();
  if (library) *(void **)(&base_of) = dlsym(library, "OrtGetApiBase");
  const Base *base = base_of ? base_of() : NULL;
  void *const *table = base ? base->table(TABLE_VERSION) : NULL;
  if (!table) {
    fail(r, library ? "the library has no interface of version 1" : "it is not installed");
    return false;
  }
  r->version = base->version();
#define TAKE(place, result, name, parameters) memcpy(&r->f.name, &table[place], sizeof table[0]);
  FUNCTIONS(TAKE)
#undef TAKE
  return true;
}

/* --- the model -------------------------------------------------------------------------------- */

static bool read_names(OnnxRuntime *r) {
  if (!is_done(r, r->f.SessionGetInputCount(r->session, &r->n_inputs)) ||
      !is_done(r, r->f.SessionGetOutputCount(r->session, &r->n_outputs)))
    return false;
  r->inputs = calloc(r->n_inputs + 1, sizeof *r->inputs);
  r->outputs = calloc(r->n_outputs + 1, sizeof *r->outputs);
  r->given = calloc(r->n_inputs + 1, sizeof *r->given);
  r->results = calloc(r->n_outputs + 1, sizeof *r->results);
  if (!r->inputs || !r->outputs || !r->given || !r->results) {
    fail(r, "out of memory");
    return false;
  }
  bool ok = true;
  for (size_t i = 0; ok && i < r->n_inputs; i++)
    ok = is_done(r, r->f.SessionGetInputName(r->session, i, r->allocator, &r->inputs[i]));
  for (size_t i = 0; ok && i < r->n_outputs; i++)
    ok = is_done(r, r->f.SessionGetOutputName(r->session, i, r->allocator, &r->outputs[i]));
  return ok;
}

static bool start(OnnxRuntime *r, const char *path, int threads) {
  void *options = NULL;
  bool ok = is_done(r, r->f.CreateEnv(LOG_ERRORS, "tirc", &r->env)) &&
            is_done(r, r->f.GetAllocatorWithDefaultOptions(&r->allocator)) &&
            is_done(r, r->f.CreateCpuMemoryInfo(ARENA_ALLOCATOR, DEFAULT_MEMORY, &r->memory)) &&
            is_done(r, r->f.CreateSessionOptions(&options)) &&
            is_done(r, r->f.SetIntraOpNumThreads(options, threads)) &&
            is_done(r, r->f.CreateSession(r->env, path, options, &r->session));
  if (options) r->f.ReleaseSessionOptions(options);
  return ok && read_names(r);
}

OnnxRuntime *onnxruntime_open(const char *path, int threads) {
  OnnxRuntime *r = calloc(1, sizeof *r);
  if (r && load(r)) (void)start(r, path, threads);
  return r;
}

static void release_values(OnnxRuntime *r, size_t n, void **values) {
  for (size_t i = 0; values && i < n; i++)
    if (values[i]) r->f.ReleaseValue(values[i]);
  if (values) memset(values, 0, n * sizeof *values);
}

static void release_names(OnnxRuntime *r, size_t n, char **names) {
  for (size_t i = 0; names && i < n; i++)
    if (names[i]) (void)is_done(r, r->f.AllocatorFree(r->allocator, names[i]));
  free(names);
}

void onnxruntime_close(OnnxRuntime *r) {
  if (!r) return;
  release_values(r, r->n_inputs, r->given);
  release_values(r, r->n_outputs, r->results);
  release_names(r, r->n_inputs, r->inputs);
  release_names(r, r->n_outputs, r->outputs);
  if (r->session) r->f.ReleaseSession(r->session);
  if (r->memory) r->f.ReleaseMemoryInfo(r->memory);
  if (r->env) r->f.ReleaseEnv(r->env);
  free(r->given);
  free(r->results);
  free(r->problem);
  free(r);
}

const char *onnxruntime_problem(const OnnxRuntime *r) { return r->problem; }
const char *onnxruntime_version(const OnnxRuntime *r) { return r->version; }
int onnxruntime_inputs(const OnnxRuntime *r) { return (int)r->n_inputs; }
const char *onnxruntime_input(const OnnxRuntime *r, int i) { return r->inputs[i]; }
int onnxruntime_outputs(const OnnxRuntime *r) { return (int)r->n_outputs; }

/* --- arrays ----------------------------------------------------------------------------------- */

/* By the numbers that ONNX has for types. */
static const char *const types[] = {NULL,      "float32", "uint8",  "int8",  "uint16",
                                    "int16",   "int32",   "int64",  NULL,    "bool",
                                    "float16", "float64", "uint32", "uint64"};
enum { N_TYPES = sizeof types / sizeof *types, MOST_DIMENSIONS = 16 };

static int number_of(const char *type) {
  for (int i = 0; i < N_TYPES; i++)
    if (types[i] && strcmp(types[i], type) == 0) return i;
  return 0;
}

static bool give(OnnxRuntime *r, size_t i, tirc_array *a) {
  const int type = number_of(tirc_array_dtype(a));
  if (!type) {
    fail(r, "an input is of a type that it is not given");
    return false;
  }
  return is_done(r, r->f.CreateTensorWithDataAsOrtValue(
                        r->memory, tirc_array_data(a), (size_t)tirc_array_bytes(a),
                        tirc_array_shape(a), (size_t)tirc_array_ndim(a), type, &r->given[i]));
}

bool onnxruntime_bind(OnnxRuntime *r, int n, tirc_array *const *inputs) {
  if (r->problem) return false;
  if ((size_t)n != r->n_inputs) {
    fail(r, "it takes other inputs");
    return false;
  }
  release_values(r, r->n_inputs, r->given);
  for (int i = 0; i < n; i++)
    if (!give(r, (size_t)i, inputs[i])) return false;
  return true;
}

bool onnxruntime_run(OnnxRuntime *r) {
  if (r->problem) return false;
  release_values(r, r->n_outputs, r->results);
  return is_done(r, r->f.Run(r->session, NULL, (const char *const *)r->inputs,
                             (const void *const *)r->given, r->n_inputs,
                             (const char *const *)r->outputs, r->n_outputs, r->results));
}

static bool describe(OnnxRuntime *r, const void *info, int *type, size_t *ndim, int64_t *shape) {
  return is_done(r, r->f.GetTensorElementType(info, type)) &&
         is_done(r, r->f.GetDimensionsCount(info, ndim)) && *ndim <= MOST_DIMENSIONS &&
         is_done(r, r->f.GetDimensions(info, shape, *ndim));
}

tirc_array *onnxruntime_new_input(OnnxRuntime *r, int i, int64_t count) {
  void *whole = NULL;
  const void *info = NULL;
  int type = 0;
  size_t ndim = 0;
  int64_t shape[MOST_DIMENSIONS];
  tirc_array *out = NULL;
  if (!is_done(r, r->f.SessionGetInputTypeInfo(r->session, (size_t)i, &whole))) return NULL;
  if (is_done(r, r->f.CastTypeInfoToTensorInfo(whole, &info)) && info &&
      describe(r, info, &type, &ndim, shape) && type > 0 && type < N_TYPES && types[type]) {
    int64_t elements = 1;
    if (ndim == 1) shape[0] = count;
    for (size_t d = 0; d < ndim; d++) elements *= shape[d];
    if (elements == count) (void)tirc_array_new(types[type], (int)ndim, shape, &out, NULL);
  }
  r->f.ReleaseTypeInfo(whole);
  return out;
}

tirc_array *onnxruntime_output(OnnxRuntime *r, int i) {
  void *info = NULL, *data = NULL;
  int type = 0;
  size_t ndim = 0;
  int64_t shape[MOST_DIMENSIONS];
  tirc_array *out = NULL;
  if (!r->results[i] || !is_done(r, r->f.GetTensorTypeAndShape(r->results[i], &info))) return NULL;
  if (describe(r, info, &type, &ndim, shape) && type > 0 && type < N_TYPES && types[type] &&
      is_done(r, r->f.GetTensorMutableData(r->results[i], &data)) &&
      !tirc_array_new(types[type], (int)ndim, shape, &out, NULL) && tirc_array_count(out))
    memcpy(tirc_array_data(out), data, (size_t)tirc_array_bytes(out));
  r->f.ReleaseTensorTypeAndShapeInfo(info);
  return out;
}
