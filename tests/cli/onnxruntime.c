/* Stands for ONNX Runtime's library: its table of functions, as far as `tirc bench --vs
 * onnxruntime` calls them. Its one model takes "x" and a "shape", an int64 of one dimension, and
 * gives x, of which element 3 is one greater. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct Value {
  void *data;
  size_t bytes, ndim;
  int type;
  int64_t shape[8];
} Value;

static int there;
static Value shape_of_shape = {.ndim = 1, .type = 7, .shape = {-1}};

static const char *message(const void *status) { return status; }
static void *make(int level, const char *id, void **out) {
  return (void)level, (void)id, *out = &there, NULL;
}
static void *open_file(void *env, const char *path, const void *options, void **out) {
  return (void)env, (void)path, (void)options, *out = &there, NULL;
}
static void *give(void **out) { return *out = &there, NULL; }
static void *set(void *options, int n) { return (void)options, (void)n, NULL; }
static void *two(const void *session, size_t *out) { return (void)session, *out = 2, NULL; }
static void *one(const void *session, size_t *out) { return (void)session, *out = 1, NULL; }
static void *type_info(const void *session, size_t i, void **out) {
  return (void)session, *out = i ? &shape_of_shape : NULL, NULL;
}
static void *input(const void *session, size_t i, void *allocator, char **out) {
  return (void)session, (void)allocator, *out = i ? "shape" : "x", NULL;
}
static void *output(const void *session, size_t i, void *allocator, char **out) {
  return (void)session, (void)i, (void)allocator, *out = "y", NULL;
}
static void *tensor(const void *memory, void *data, size_t bytes, const int64_t *shape, size_t ndim,
                    int type, void **out) {
  Value *v = calloc(1, sizeof *v);
  *v = (Value){.data = data, .bytes = bytes, .ndim = ndim, .type = type};
  memcpy(v->shape, shape, ndim * sizeof *shape);
  return (void)memory, *out = v, NULL;
}
static void *data(void *value, void **out) { return *out = ((Value *)value)->data, NULL; }
static void *as_tensor(const void *info, const void **out) { return *out = info, NULL; }
static void *type(const void *info, int *out) { return *out = ((const Value *)info)->type, NULL; }
static void *ndim(const void *info, size_t *out) {
  return *out = ((const Value *)info)->ndim, NULL;
}
static void *shape(const void *info, int64_t *out, size_t n) {
  return memcpy(out, ((const Value *)info)->shape, n * sizeof *out), NULL;
}
static void *info(const void *value, void **out) { return *out = (void *)value, NULL; }
static void *cpu(int allocator, int kind, void **out) {
  return (void)allocator, (void)kind, *out = &there, NULL;
}
static void *freed(void *allocator, void *p) { return (void)allocator, (void)p, NULL; }
static void nothing(void *p) { (void)p; }

static void *run(void *session, const void *options, const char *const *inputs,
                 const void *const *values, size_t n, const char *const *outputs, size_t m,
                 void **results) {
  (void)session, (void)options, (void)inputs, (void)outputs, (void)m;
  const Value *x = values[0];
  if (n != 2 || !values[1] || *(int64_t *)((const Value *)values[1])->data != 8)
    return "it takes x and the shape 8, 3";
  Value *y = malloc(sizeof *y);
  *y = *x;
  y->data = malloc(x->bytes);
  memcpy(y->data, x->data, x->bytes);
  if (x->type == 1) ((float *)y->data)[3] += 1;
  if (x->type == 3) ((int8_t *)y->data)[3] += 1;
  return *results = y, NULL;
}

static const void *const functions[102] = {
    [2] = message,  [3] = make,     [7] = open_file, [9] = run,        [10] = give,
    [24] = set,     [30] = two,     [31] = one,      [33] = type_info, [36] = input,
    [37] = output,  [49] = tensor,  [51] = data,     [55] = as_tensor, [60] = type,
    [61] = ndim,    [62] = shape,   [65] = info,     [69] = cpu,       [76] = freed,
    [78] = give,    [92] = nothing, [93] = nothing,  [94] = nothing,   [95] = nothing,
    [96] = nothing, [98] = nothing, [99] = nothing,  [100] = nothing};
static const void *const *table(uint32_t version) { return version == 1 ? functions : NULL; }
static const char *version(void) { return "none"; }

const void *OrtGetApiBase(void);
const void *OrtGetApiBase(void) {
  static const struct {
    const void *const *(*table)(uint32_t);
    const char *(*version)(void);
  } base = {table, version};
  return &base;
}
