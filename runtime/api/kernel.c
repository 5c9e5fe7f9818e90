/* Running: arrays, the interpreter, compiled kernels. */
#include "kernel.h"
#include "on_device.h"

#include "codegen/access.h"
#include "codegen/failures.h"
#include "codegen/gpu/gpu.h"
#include "codegen/llvm/llvm.h"
#include "ir/stack.h"
#include "ir/tree/annotations.h"
#include "ir/tree/visit.h"
#include "passes/lower/extents.h"
#include "passes/lower/lower.h"
#include "runtime/interp/interp.h"
#include "runtime/kernel/pool.h"
#include "runtime/kernel/timer.h"
#include "runtime/kernel/workspace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- arrays ----------------------------------------------------------------------------------- */

typedef struct MakeArray {
  const char *dtype, *path;
  int ndim;
  const int64_t *shape;
  const tirc_array *from;
  tirc_array *result;
} MakeArray;

tirc_array *tirc_api_array(Tirc *c, Tensor *t) {
  tirc_array *a = calloc(1, sizeof *a);
  if (!a) {
    tirc_tensor_free(t);
    tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  }
  a->t = t;
  snprintf(a->dtype, sizeof a->dtype, "%s", tirc_dtype_name(c, t->dtype));
  return a;
}
static void new_array(Tirc *c, void *self) {
  MakeArray *p = self;
  DType t;
  if (!tirc_dtype_parse(p->dtype, &t) || t.lanes != 1 || tirc_dtype_bytes(t) == 0)
    tirc_fail(c, (Loc){0}, CODE_TYPE, "use a scalar type such as float32",
              "an array cannot have elements of type \"%s\"", p->dtype);
  p->result = tirc_api_array(c, tirc_tensor_new(c, t, p->ndim, p->shape));
}
static void read_array(Tirc *c, void *self) {
  MakeArray *p = self;
  p->result = tirc_api_array(c, tirc_npy_read(c, p->path));
}
static void write_array(Tirc *c, void *self) {
  MakeArray *p = self;
  tirc_npy_write(c, p->path, p->from->t);
}
static void copy_array(Tirc *c, void *self) {
  MakeArray *p = self;
  p->result = tirc_api_array(c, tirc_tensor_clone(c, p->from->t));
}
typedef struct TakeRows {
  const Tensor *from;
  int axis;
  int64_t n;
  tirc_array *result;
} TakeRows;

static void take_rows(Tirc *c, void *self) {
  TakeRows *p = self;
  const Tensor *from = p->from;
  if (p->axis < 0 || p->axis >= from->ndim || p->n < 0 || p->n > from->shape[p->axis])
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL,
              "an array of %d dimensions has no %lld rows along axis %d", from->ndim,
              (long long)p->n, p->axis);
  int64_t *shape = tirc_new_array(c, int64_t, from->ndim);
  int64_t outer = 1, row = tirc_dtype_bytes(from->dtype);
  for (int d = 0; d < from->ndim; d++) shape[d] = d == p->axis ? p->n : from->shape[d];
  for (int d = 0; d < p->axis; d++) outer *= shape[d];
  for (int d = p->axis + 1; d < from->ndim; d++) row *= shape[d];
  Tensor *t = tirc_tensor_new(c, from->dtype, from->ndim, shape);
  for (int64_t o = 0; o < outer && p->n > 0 && row > 0; o++)
    memcpy((char *)t->data + o * p->n * row, (char *)from->data + o * from->shape[p->axis] * row,
           (size_t)(p->n * row));
  p->result = tirc_api_array(c, t);
}

static tirc_status make_array(void (*body)(Tirc *, void *), MakeArray *p, tirc_array **out,
                              tirc_error **error) {
  tirc_status status = tirc_api_scratch(body, p, NULL, error);
  if (status == TIRC_OK && out) *out = p->result;
  return status;
}

tirc_status tirc_array_new(const char *dtype, int ndim, const int64_t *shape, tirc_array **out,
                           tirc_error **error) {
  NEED(dtype, LIST(ndim, shape), out);
  return make_array(new_array, &(MakeArray){.dtype = dtype, .ndim = ndim, .shape = shape}, out,
                    error);
}
tirc_status tirc_array_read_npy(const char *path, tirc_array **out, tirc_error **error) {
  NEED(path, out);
  return make_array(read_array, &(MakeArray){.path = path}, out, error);
}
tirc_status tirc_array_write_npy(const tirc_array *a, const char *path, tirc_error **error) {
  NEED(a, path);
  return make_array(write_array, &(MakeArray){.path = path, .from = a}, NULL, error);
}
tirc_status tirc_array_copy(const tirc_array *a, tirc_array **out, tirc_error **error) {
  NEED(a, out);
  return make_array(copy_array, &(MakeArray){.from = a}, out, error);
}
tirc_status tirc_array_rows(const tirc_array *a, int axis, int64_t n, tirc_array **out,
                            tirc_error **error) {
  NEED(a, out);
  TakeRows p = {.from = a->t, .axis = axis, .n = n};
  const tirc_status status = tirc_api_scratch(take_rows, &p, NULL, error);
  if (status == TIRC_OK) *out = p.result;
  return status;
}
void tirc_array_free(tirc_array *a) {
  if (!a) return;
  if (a->managed)
    free(a->t);
  else
    tirc_tensor_free(a->t);
  if (a->managed && a->managed->deleter) a->managed->deleter(a->managed);
  free(a);
}
const char *tirc_array_dtype(const tirc_array *a) { return a ? a->dtype : NULL; }
int tirc_array_ndim(const tirc_array *a) { return a ? a->t->ndim : 0; }
const int64_t *tirc_array_shape(const tirc_array *a) { return a ? a->t->shape : NULL; }
int64_t tirc_array_count(const tirc_array *a) { return a ? a->t->count : 0; }
int64_t tirc_array_bytes(const tirc_array *a) {
  return a ? a->t->count * tirc_dtype_bytes(a->t->dtype) : 0;
}
void *tirc_array_data(tirc_array *a) { return a ? a->t->data : NULL; }
void tirc_array_fill_random(tirc_array *a, uint64_t seed) {
  if (a && a->is_index)
    tirc_tensor_random_in(a->t, seed, (double)a->first, (double)a->last);
  else if (a)
    tirc_tensor_random(a->t, seed);
}
typedef struct FillRange {
  tirc_array *array;
  uint64_t seed;
  double low, high;
} FillRange;

static double greatest(DType t) {
  if (tirc_dtype_is_float(t)) return tirc_largest_float(t);
  return t.code == TYPE_BOOL ? 1 : ldexp(1, t.bits - (t.code == TYPE_INT)) - 1;
}

static void fill_range(Tirc *c, void *self) {
  const FillRange *p = self;
  const DType t = p->array->t->dtype;
  const double most = greatest(t);
  const double least = tirc_dtype_is_float(t) ? -most : (double)tirc_dtype_min(t);
  /* the largest number of 64 bits is no double: the last one below it */
  const double last = t.bits == 64 && !tirc_dtype_is_float(t) ? nextafter(most, 0) : most;
  const double high = fmin(p->high, last);
  if (!isfinite(p->low) || !isfinite(p->high) || p->low > p->high)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, "give the smaller value first", "%g to %g is not a range",
              p->low, p->high);
  if (p->low < least || p->high > most)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL,
              "%g to %g is outside the range of %s, which is %g to %g", p->low, p->high,
              p->array->dtype, least, most);
  if (!tirc_dtype_is_float(t) && ceil(p->low) > floor(high))
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "there is no %s from %g to %g", p->array->dtype,
              p->low, p->high);
  tirc_tensor_random_in(p->array->t, p->seed, p->low, high);
}
tirc_status tirc_array_fill_range(tirc_array *a, uint64_t seed, double low, double high,
                                  tirc_error **error) {
  NEED(a);
  return tirc_api_scratch(fill_range, &(FillRange){a, seed, low, high}, NULL, error);
}
void tirc_array_fill_poison(tirc_array *a) {
  for (int64_t i = 0; a && i < a->t->count; i++)
    if (tirc_dtype_is_float(a->t->dtype))
      tirc_tensor_set(a->t, i, (double)NAN);
    else
      tirc_tensor_set_int(a->t, i, tirc_dtype_min(a->t->dtype));
}
static bool is_element(const tirc_array *a, int64_t i) { return a && i >= 0 && i < a->t->count; }
double tirc_array_get(const tirc_array *a, int64_t i) {
  return is_element(a, i) ? tirc_tensor_get(a->t, i) : (double)NAN;
}
void tirc_array_set(tirc_array *a, int64_t i, double value) {
  if (is_element(a, i)) tirc_tensor_set(a->t, i, value);
}

/* --- the interpreter -------------------------------------------------------------------------- */

typedef struct Interpret {
  const tirc_module *m;
  const char *func;
  int n;
  const tirc_argument *args;
  int64_t max_steps;
} Interpret;

static void interpret(Tirc *c, void *self) {
  Interpret *p = self;
  const Func *f = tirc_api_func(c, p->m->m, p->func, NULL);
  const InterpOptions options = {.max_steps = p->max_steps};
  (void)tirc_interpret_with(c, f, p->n, tirc_api_arguments(c, f, p->n, p->args), &options);
}
tirc_status tirc_module_interpret(const tirc_module *m, const char *func, int n,
                                  const tirc_argument *args, int64_t max_steps,
                                  tirc_error **error) {
  NEED(m, LIST(n, args), COUNT(max_steps));
  Interpret p = {m, func, n, args, max_steps};
  return tirc_api_scratch(interpret, &p, &m->sources, error);
}

/* --- kernels ---------------------------------------------------------------------------------- */

struct tirc_executor {
  KernelRuntime *runtime;
  int threads;
};

static void check_threads(Tirc *c, void *self) {
  const int *threads = self;
  if (*threads > POOL_MOST_THREADS)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "%d threads are too many: at most %d are possible",
              *threads, POOL_MOST_THREADS);
  if (*threads == 0 && tirc_threads_of_environment() < 0)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, "unset it to use all cores",
              "TIRC_NUM_THREADS is '%s', which is not a number of threads from 1 to %d",
              getenv("TIRC_NUM_THREADS"), POOL_MOST_THREADS);
}

tirc_status tirc_executor_new(int threads, tirc_executor **out, tirc_error **error) {
  NEED(COUNT(threads), out);
  tirc_status status = tirc_api_scratch(check_threads, &threads, NULL, error);
  if (status != TIRC_OK) return status;
  tirc_executor *x = calloc(1, sizeof *x);
  if (x) x->threads = threads > 0 ? threads : tirc_default_threads();
  if (x) x->runtime = tirc_kernel_runtime_new(x->threads);
  if (!x || !x->runtime) {
    free(x);
    return tirc_api_no_memory(error);
  }
  *out = x;
  return TIRC_OK;
}
void tirc_executor_free(tirc_executor *x) {
  if (x) tirc_kernel_runtime_free(x->runtime);
  free(x);
}
int tirc_executor_threads(const tirc_executor *x) { return x ? x->threads : 0; }

/* Small allocations are in the frames of the code. */
static bool count_stack(Visitor *v, Stmt s) {
  size_t *stack = v->self;
  const int64_t bytes = s->kind == STMT_ALLOC ? tirc_constant_bytes(s->u.alloc.buffer) : 0;
  if (tirc_fits_stack(bytes, 0)) *stack += (size_t)bytes;
  return true;
}

/* Of two frames: that of the function and that of a parallel loop's body, which each have at most
 * STACK_FRAMES / 2 of buffers. */
static size_t stack_of(const Func *f) {
  enum { FEW = 16 << 10, OTHER = 64 << 10, STACK_FRAMES = 1 << 20 };
  size_t stack = 0;
  Visitor v = {.stmt = count_stack, .self = &stack};
  tirc_visit_stmt(&v, f->body);
  return stack <= FEW ? 0 : (stack < STACK_FRAMES ? stack : STACK_FRAMES) + OTHER;
}

typedef struct Compile {
  const tirc_module *m;
  const char *func, *target, *device;
  tirc_kernel *result;
} Compile;

void tirc_api_describe_kernel(tirc_kernel *k, const tirc_module *m, const Module *lowered,
                              const char *func) {
  int index = 0;
  k->sources = m->sources;
  k->func = tirc_api_func(k->c, m->m, func, &index);
  k->params = m->params[index];
  k->lowered = tirc_api_func(k->c, lowered, k->func->name, NULL);
  k->stack = stack_of(k->lowered);
}

static void compile(Tirc *c, void *self) {
  Compile *p = self;
  tirc_kernel *k = tirc_new(c, tirc_kernel);
  k->c = c;
  tirc_context_depend(c, p->m->c);
  const Module *lowered = p->m->lowered ? p->m->m : tirc_lower(c, p->m->m, NULL, NULL);
  tirc_api_describe_kernel(k, p->m, lowered, p->func);
  k->jit = tirc_jit_new(c, lowered, tirc_cpu_or_default(p->target));
  p->result = k;
  k->entry = tirc_jit_find(k->jit, k->func->name);
  if (!k->entry)
    tirc_fail(c, k->func->loc, CODE_CODEGEN, NULL, "there is no code for \"%s\"", k->func->name);
}

/* A device of OpenCL may stand in for another kind of GPU, but has no words for its shuffles. */
static const char *target_on_device(const char *target, GpuKind kind) {
  const Gpu *gpu = target ? tirc_gpu_find(target) : NULL;
  if (kind == GPU_CUDA) return target ? target : CUDA_DEFAULT;
  return (gpu && gpu->kind != kind) || !target ? "opencl" : target;
}

/* For a GPU: its kernels, and the host function that launches them. */
static void compile_for_device(Tirc *c, void *self) {
  Compile *p = self;
  tirc_kernel *k = tirc_new(c, tirc_kernel);
  k->c = c;
  tirc_context_depend(c, p->m->c);
  const GpuKind kind = tirc_require_device(c, p->device);
  const char *target = target_on_device(p->target, kind);
  const Module *lowered = tirc_lower_for_device(c, p->m->m, target, kind, NULL, NULL);
  tirc_api_describe_kernel(k, p->m, lowered, p->func);
  tirc_api_require_host(c, k->func);
  k->on_device = tirc_on_device(c, lowered, target, p->device);
  p->result = k;
}

static tirc_status make_kernel(Compile *p, void (*body)(Tirc *, void *), tirc_kernel **out,
                               tirc_error **error) {
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  tirc_status status = tirc_api_guard(c, body, p, &p->m->sources, error);
  if (status == TIRC_OK) {
    *out = p->result;
    return status;
  }
  if (p->result) tirc_jit_free(p->result->jit);
  tirc_context_release(c);
  return status;
}

tirc_status tirc_kernel_new_on(const tirc_module *m, const char *func, const char *device,
                               const char *target, tirc_kernel **out, tirc_error **error) {
  NEED(m, out);
  const bool is_here = !device || strcmp(device, "cpu") == 0;
  return make_kernel(&(Compile){.m = m, .func = func, .target = target, .device = device},
                     is_here ? compile : compile_for_device, out, error);
}

tirc_status tirc_kernel_new(const tirc_module *m, const char *func, const char *target,
                            tirc_kernel **out, tirc_error **error) {
  return tirc_kernel_new_on(m, func, NULL, target, out, error);
}

void tirc_kernel_free(tirc_kernel *k) {
  if (!k) return;
  tirc_jit_free(k->jit);
  tirc_context_release(k->c);
}

/* --- calls ------------------------------------------------------------------------------------ */

typedef struct MakeCall {
  const tirc_kernel *k;
  tirc_executor *x;
  int n;
  const tirc_argument *args;
  tirc_launch *result;
} MakeCall;

/* Where code finds a scalar: memory of the size of its dtype. */
static void *pack_scalar(Tirc *c, DType t, int64_t i, double f) {
  Tensor cell = {.dtype = t, .count = 1, .data = tirc_alloc(c, 8)};
  if (tirc_dtype_is_float(t))
    tirc_tensor_set(&cell, 0, f);
  else
    tirc_tensor_set_int(&cell, 0, i);
  return cell.data;
}

/* The value of a symbolic extent of the lowered function: by identity, else by name. */
static int64_t symbol_value(int n, Expr *symbols, const int64_t *values, Expr wanted) {
  for (int i = 0; i < n; i++)
    if (symbols[i] == wanted) return values[i];
  for (int i = 0; i < n; i++)
    if (strcmp(symbols[i]->u.s, wanted->u.s) == 0) return values[i];
  return 0;
}

/* Integers that code is called with also stand in messages. */
static void *pack_symbol(tirc_launch *launch, Expr var, int64_t i, double f) {
  if (tirc_dtype_is_int(var->dtype))
    tirc_map_set(launch->c, &launch->symbols, var, tirc_int(launch->c, var->dtype, i));
  return pack_scalar(launch->c, var->dtype, i, f);
}

/* Compiled code takes it for granted that what it writes is nobody else's. */
static void check_overlaps(Tirc *c, const tirc_kernel *k, int n, const Argument *args) {
  Expr wish = tirc_attrs_get(k->func->attrs, tirc_key(KEY_NOALIAS));
  if (wish && tirc_is_int(wish, 0)) return;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (i == j || !k->params[i].is_written || !args[i].tensor || !args[j].tensor) continue;
      if (k->func->buffers[i]->data == k->func->buffers[j]->data) continue;
      if (tirc_tensors_overlap(args[i].tensor, args[j].tensor))
        tirc_fail(c, k->func->loc, CODE_ARGUMENT,
                  "give each argument its own array, or give the function the attribute "
                  "tir.noalias = False",
                  "argument \"%s\" of %s is written and overlaps argument \"%s\"",
                  k->params[i].name, k->func->name, k->params[j].name);
    }
}

tirc_launch *tirc_api_launch(Tirc *c, const tirc_kernel *k, tirc_executor *x, int n,
                             const tirc_argument *given) {
  Expr *symbols, *extra;
  int n_symbols = tirc_symbolic_params(c, k->func, &symbols);
  int n_extra = tirc_symbolic_params(c, k->lowered, &extra);
  int64_t *values = tirc_new_array(c, int64_t, n_symbols);
  const DLDevice at = k->on_device ? tirc_device_place(k->on_device) : (DLDevice){kDLCPU, 0};
  const Argument *args = tirc_api_arguments_at(c, k->func, n, given, at);
  tirc_bind_arguments(c, k->func, n, args, values);
  check_overlaps(c, k, n, args);
  tirc_launch *launch = tirc_new(c, tirc_launch);
  *launch = (tirc_launch){.c = c, .kernel = k, .entry = k->entry};
  launch->runtime = x ? tirc_kernel_runtime_abi(x->runtime) : NULL;
  launch->packed = tirc_new_array(c, void *, n + n_extra);
  for (int i = 0; i < n; i++)
    launch->packed[i] = k->func->buffers[i]
                            ? args[i].tensor->data
                            : pack_symbol(launch, k->lowered->params[i], given[i].i, given[i].f);
  for (int i = 0; i < n_extra; i++)
    launch->packed[n + i] =
        pack_symbol(launch, extra[i], symbol_value(n_symbols, symbols, values, extra[i]), 0);
  if (k->on_device)
    launch->device_call = tirc_device_call(c, k->on_device, k->lowered, &launch->symbols, args);
  return launch;
}

static void make_call(Tirc *c, void *self) {
  MakeCall *p = self;
  p->result = tirc_api_launch(c, p->k, p->x, p->n, p->args);
}

tirc_status tirc_launch_new(const tirc_kernel *k, tirc_executor *x, int n,
                            const tirc_argument *args, tirc_launch **out, tirc_error **error) {
  NEED(k, LIST(n, args), out);
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  MakeCall p = {.k = k, .x = x, .n = n, .args = args};
  tirc_status status = tirc_api_guard(c, make_call, &p, &k->sources, error);
  if (status == TIRC_OK)
    *out = p.result;
  else
    tirc_context_release(c);
  return status;
}

typedef struct Running {
  tirc_launch *launch;
  int number, repeat; /* of runs that are timed */
  double min_seconds, *seconds;
  int failed;
} Running;

int tirc_api_run_once(const tirc_launch *launch) {
  if (launch->device_call) return tirc_device_call_run(launch->device_call);
  return launch->entry(launch->packed, launch->runtime);
}
static void run_here(void *self) {
  Running *r = self;
  r->failed = tirc_api_run_once(r->launch);
}

bool tirc_api_on_stack_for(const tirc_kernel *k, void (*body)(void *self), void *self) {
  if (k->stack) return tirc_on_stack(k->stack, body, self);
  body(self);
  return true;
}

static int run_with_stack(Running *r, void (*body)(void *self)) {
  if (!tirc_api_on_stack_for(r->launch->kernel, body, r)) r->failed = STATUS_NO_MEMORY;
  return r->failed;
}

int tirc_launch_run(tirc_launch *launch) {
  return launch ? run_with_stack(&(Running){.launch = launch}, run_here) : TIRC_BAD;
}
int tirc_launch_stay(tirc_launch *launch, bool stays) {
  if (!launch || !launch->device_call) return launch ? 0 : TIRC_BAD;
  return tirc_device_call_stay(launch->device_call, stays);
}
void tirc_launch_tell(tirc_launch *launch, void (*starts)(void *self, const char *kernel),
                      void *self) {
  if (launch && launch->device_call) tirc_device_call_tell(launch->device_call, starts, self);
}
double tirc_launch_seconds(const tirc_launch *launch) {
  return launch && launch->device_call ? tirc_device_call_seconds(launch->device_call) : -1;
}
void tirc_launch_free(tirc_launch *launch) {
  if (launch) tirc_context_release(launch->c);
}

/* `number` runs; what they took, by the device's clock where it has one. */
static double time_runs(Running *r) {
  double on_device = 0, start = tirc_now();
  for (int k = 0; k < r->number && !r->failed; k++) {
    r->failed = tirc_api_run_once(r->launch);
    const double took = tirc_launch_seconds(r->launch);
    on_device = took < 0 || on_device < 0 ? -1 : on_device + took;
  }
  return on_device > 0 ? on_device : tirc_now() - start;
}

static void time_here(void *self) {
  Running *r = self;
  r->failed = tirc_api_run_once(r->launch);
  for (int i = 0; i < r->repeat && !r->failed; i++) {
    for (;;) {
      double took = time_runs(r);
      r->seconds[i] = took / r->number;
      if (r->failed || took >= r->min_seconds || r->number > INT32_MAX / 8) break;
      double wanted = took > 0 ? r->min_seconds / r->seconds[i] * 1.1 : r->number * 8.0;
      r->number = wanted < r->number * 8.0 ? (int)wanted + 1 : r->number * 8;
    }
  }
}

tirc_status tirc_launch_time(tirc_launch *launch, int number, int repeat, double min_seconds,
                             double *seconds, tirc_error **error) {
  NEED(launch, LIST(repeat, seconds), isfinite(min_seconds) ? "" : NULL);
  Running r = {launch, number < 1 ? 1 : number, repeat, min_seconds, seconds, 0};
  int failed = tirc_launch_stay(launch, true);
  if (!failed) failed = run_with_stack(&r, time_here);
  const int back = tirc_launch_stay(launch, false);
  if (!failed) failed = back;
  return failed ? tirc_api_launch_failed(launch, failed, error) : TIRC_OK;
}

tirc_status tirc_kernel_run(const tirc_kernel *k, tirc_executor *x, int n,
                            const tirc_argument *args, tirc_error **error) {
  NEED(k, LIST(n, args));
  tirc_launch *launch;
  tirc_status status = tirc_launch_new(k, x, n, args, &launch, error);
  if (status != TIRC_OK) return status;
  int failed = tirc_launch_run(launch);
  status = failed ? tirc_api_launch_failed(launch, failed, error) : TIRC_OK;
  tirc_launch_free(launch);
  return status;
}

double tirc_seconds(void) { return tirc_now(); }

const tirc_runtime *tirc_api_runtime(const tirc_executor *x) {
  return tirc_kernel_runtime_abi(x->runtime);
}

void tirc_machine_name(char *out, size_t size) {
  if (out && size) tirc_cpu_name(out, size > 256 ? 256 : (int)size);
}
