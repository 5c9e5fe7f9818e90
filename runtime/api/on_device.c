/* A host function's allocations and launches, found once for each call: what it does depends on
 * sizes and scalars alone, since it touches no element of an array itself. */
#include "on_device.h"

#include "codegen/access.h"
#include "codegen/gpu/gpu.h"
#include "codegen/llvm/llvm.h"
#include "codegen/signature.h"
#include "ir/arith/arith.h"
#include "ir/gpu.h"
#include "ir/tree/annotations.h"
#include "ir/tree/find.h"
#include "ir/tree/print.h"
#include "ir/tree/visit.h"
#include "passes/lower/lower.h"
#include "runtime/device/device.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct OnDevice {
  Device *device;
  DLDevice place;
  DeviceProgram *program;
  const Module *lowered;
  const char *const *names; /* [function], NULL: no kernel */
  DeviceKernel **kernels;
} OnDevice;

/* One of a call's arrays. */
typedef struct Resident {
  DeviceBuffer *buffer; /* NULL until all is known that the call does */
  const Tensor *tensor; /* NULL: the host function allocates it */
  const char *name;
  size_t bytes;
  bool is_written;
} Resident;

struct DeviceCall {
  Device *device;
  DeviceError error;
  VEC(Resident) arrays;
  VEC(DeviceLaunch) launches;
  VEC(const char *) names; /* of their kernels */
  bool stays, is_there;
  double seconds; /* of the last run's kernels, by the device's clock; -1: not known */
  void (*starts)(void *self, const char *kernel); /* or NULL */
  void *self;
};

_Noreturn static void fail_device(Tirc *c, DeviceError *e) {
  const char *message = e->message ? tirc_strdup(c, e->message) : "out of memory";
  const DiagCode code = e->code;
  const char *hint = e->hint;
  tirc_device_error_clear(e);
  tirc_fail(c, (Loc){0}, code, hint, "%s", message);
}

const Module *tirc_lower_for_device(Tirc *c, const Module *m, const char *target, GpuKind kind,
                                    LowerObserver observer, void *self) {
  const Gpu *gpu = tirc_gpu_find(target);
  if (!gpu) tirc_gpu_unknown(c, target);
  if (kind == GPU_CUDA && gpu->kind != kind)
    tirc_fail(c, (Loc){0}, CODE_TARGET,
              "choose one such as sm_75 or nvidia/nvidia-t4; --target=help lists all",
              "%s is not a GPU of CUDA", target);
  const Module *lowered = tirc_has_kernels(m) ? m : tirc_lower_for(c, m, gpu, observer, self);
  if (!tirc_has_kernels(lowered) && tirc_has_stores(lowered))
    tirc_fail(c, (Loc){m->file, 0, 0}, CODE_LOWER,
              "bind its loops: sch.bind(loop, thread_axis=\"blockIdx.x\")",
              "no loop is bound to blocks or threads, so there is no kernel for a device");
  return lowered;
}

static const DeviceKind *kind_of(Tirc *c, const char *device, int *number) {
  const DeviceKind *kind = tirc_device_kind_find(device, number);
  if (!kind)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT,
              "use opencl or cuda, or opencl:1 for the second OpenCL device",
              "there is no device '%s'", device);
  return kind;
}

GpuKind tirc_require_device(Tirc *c, const char *device) {
  int number;
  return tirc_device_takes_ptx(kind_of(c, device, &number)) ? GPU_CUDA : GPU_OPENCL;
}

/* --- kernels --------------------------------------------------------------------------------- */

static void release_device(void *self) {
  OnDevice *on = self;
  for (int i = 0; on->kernels && i < on->lowered->n_funcs; i++)
    tirc_device_kernel_free(on->kernels[i]);
  tirc_device_program_free(on->program);
  tirc_device_close(on->device);
}

static const char *list_kernels(Tirc *c, const OnDevice *on) {
  Text t = {.c = c};
  for (int i = 0; i < on->lowered->n_funcs; i++)
    if (on->names[i]) tirc_text_addf(&t, "%s%s", t.n ? ", " : "", on->names[i]);
  return t.at;
}

/* Its kernels, in the language that the device takes, and what they are called there. */
static const char *code_of(OnDevice *on, Tirc *c, const char *target, bool as_ptx) {
  const Language *l = as_ptx ? &tirc_cuda_c : &tirc_opencl_c;
  on->names = tirc_gpu_symbols(c, l, on->lowered);
  if (!as_ptx) return tirc_gpu_source(c, l, on->lowered, NULL);
  return tirc_llvm_ptx(c, on->lowered, tirc_gpu_find(target), on->names).bytes;
}

static void load_kernels(OnDevice *on, Tirc *c) {
  const Module *m = on->lowered;
  DeviceError e = {0};
  for (int i = 0; i < m->n_funcs; i++) {
    if (!on->names[i]) continue;
    const DeviceShared shared = {tirc_gpu_shared_bytes(m->funcs[i]),
                                 tirc_gpu_dynamic_bytes(m->funcs[i])};
    on->kernels[i] = tirc_device_kernel(on->program, on->names[i], &shared, &e);
    if (!on->kernels[i]) fail_device(c, &e);
  }
}

OnDevice *tirc_on_device(Tirc *c, const Module *lowered, const char *target, const char *device) {
  OnDevice *on = tirc_new(c, OnDevice);
  DeviceError e = {0};
  int number = 0;
  const DeviceKind *kind = kind_of(c, device, &number);
  on->lowered = lowered;
  on->place = (DLDevice){tirc_device_has_addresses(kind) ? kDLCUDA : kDLOpenCL, number};
  on->kernels = tirc_new_array(c, DeviceKernel *, lowered->n_funcs + 1);
  const bool any = tirc_has_kernels(lowered); /* otherwise there is nothing to do */
  const char *code = any ? code_of(on, c, target, tirc_device_takes_ptx(kind)) : NULL;
  on->device = tirc_device_open(kind, number, &e);
  if (!on->device) fail_device(c, &e);
  tirc_context_own(c, on, release_device);
  if (!any) return on;
  on->program = tirc_device_build(on->device, code, list_kernels(c, on), &e);
  if (!on->program) fail_device(c, &e);
  load_kernels(on, c);
  return on;
}

DLDevice tirc_device_place(const OnDevice *on) { return on->place; }

/* --- what a host function does --------------------------------------------------------------- */

enum { MOST_LAUNCHES = 1 << 20 };

/* An argument of a launch, and which array it is. */
typedef struct ArrayArg {
  DeviceArg *arg;
  int array;
} ArrayArg;

typedef struct Walk {
  Tirc *c;
  OnDevice *on;
  DeviceCall *call;
  VEC(ArrayArg) uses;
  const Func *host;
  PtrMap values; /* from a variable to a constant */
  PtrMap arrays; /* from a data variable to 1 + the number of its array */
} Walk;

static void release_call(void *self) {
  DeviceCall *call = self;
  for (int i = 0; i < call->arrays.n; i++) tirc_device_buffer_free(call->arrays.at[i].buffer);
  tirc_device_error_clear(&call->error);
}

static Expr value_of(Walk *w, Expr e) {
  Expr v = tirc_simplify0(w->c, tirc_substitute(w->c, e, &w->values));
  if (!tirc_is_constant(v))
    tirc_fail(w->c, w->host->loc, CODE_LOWER, NULL, "%s of %s has no value before its kernels run",
              tirc_print_expr(w->c, e), w->host->name);
  return v;
}

static int64_t int_of(Walk *w, Expr e) {
  int64_t v = 0;
  Expr known = value_of(w, e);
  if (!tirc_const_int(known, &v))
    tirc_fail(w->c, w->host->loc, CODE_LOWER, NULL, "%s of %s is not an integer",
              tirc_print_expr(w->c, e), w->host->name);
  return v;
}

static void add_array(Walk *w, Expr data, Resident r) {
  vec_push(w->c, w->call->arrays, r);
  tirc_map_set(w->c, &w->arrays, data, (void *)(uintptr_t)w->call->arrays.n);
}

/* The device's memory for all arrays, which their launches get. */
static void make_buffers(Walk *w) {
  DeviceError e = {0};
  for (int i = 0; i < w->call->arrays.n; i++) {
    Resident *r = &w->call->arrays.at[i];
    const uintptr_t there = r->tensor && r->tensor->is_far ? (uintptr_t)r->tensor->data : 0;
    if (there % GPU_ALIGNMENT)
      tirc_fail(w->c, w->host->loc, CODE_ARGUMENT, "copy it to memory of its own",
                "%s begins at a device address that is not a multiple of %d, which kernels need",
                r->name, GPU_ALIGNMENT);
    r->buffer = there ? tirc_device_borrow(w->on->device, there, r->bytes, &e)
                      : tirc_device_buffer(w->on->device, r->bytes, r->name, &e);
    if (!r->buffer) fail_device(w->c, &e);
  }
  for (int i = 0; i < w->uses.n; i++)
    w->uses.at[i].arg->buffer = w->call->arrays.at[w->uses.at[i].array].buffer;
}

static void walk(Walk *w, Stmt s);

/* One that is allocated again, in a loop, is the same, as large as the largest. */
static void walk_alloc(Walk *w, Stmt s) {
  Buffer b = s->u.alloc.buffer;
  int64_t bytes = tirc_dtype_bytes(tirc_dtype_lanes(b->dtype, 1)) * b->dtype.lanes;
  for (int i = 0; i < b->ndim; i++) {
    const int64_t n = int_of(w, b->shape[i]);
    if (n < 0 || __builtin_mul_overflow(bytes, n, &bytes))
      tirc_fail(w->c, w->host->loc, CODE_SHAPE, NULL, "extent %d of %s would be %lld", i, b->name,
                (long long)n);
  }
  const uintptr_t at = (uintptr_t)tirc_map_get(&w->arrays, b->data);
  Resident *was = at ? &w->call->arrays.at[at - 1] : NULL;
  if (!was)
    add_array(w, b->data, (Resident){.name = b->name, .bytes = (size_t)bytes});
  else if (was->bytes < (size_t)bytes)
    was->bytes = (size_t)bytes;
  walk(w, s->u.alloc.body);
}

static void walk_loop(Walk *w, const For *loop) {
  const int64_t first = int_of(w, loop->min), n = int_of(w, loop->extent);
  if (loop->kind == LOOP_THREAD_BINDING)
    tirc_fail(w->c, w->host->loc, CODE_LOWER, NULL,
              "the loop %s is bound to %s outside of a kernel", loop->var->u.s,
              loop->thread ? loop->thread : "?");
  for (int64_t i = first; i < first + n; i++) {
    tirc_map_set(w->c, &w->values, loop->var, tirc_int(w->c, loop->var->dtype, i));
    walk(w, loop->body);
  }
}

static void array_arg(Walk *w, Expr e, const Func *kernel, int i, bool is_written, DeviceArg *to) {
  const uintptr_t at = (uintptr_t)tirc_map_get(&w->arrays, e);
  if (!at)
    tirc_fail(w->c, w->host->loc, CODE_LOWER, NULL, "argument %d of %s is not an array of %s", i,
              kernel->name, w->host->name);
  Resident *r = &w->call->arrays.at[at - 1];
  r->is_written = r->is_written || is_written;
  vec_push(w->c, w->uses, ((ArrayArg){to, (int)at - 1}));
}

/* As the kernel's parameter has it: floats of 16 bits are floats there. */
static DeviceArg scalar_arg(Walk *w, Expr e, DType t) {
  Expr v = value_of(w, e);
  const bool is_float = tirc_dtype_is_float(t);
  const double f = v->op == OP_FLOAT ? v->u.f : (double)v->u.i;
  const int64_t i = v->op == OP_FLOAT ? (int64_t)v->u.f : v->u.i; /* little-endian */
  const float single = (float)f;
  DeviceArg a = {.size = (size_t)tirc_dtype_bytes(t)};
  if (is_float && t.bits < 64) a.size = sizeof single;
  memcpy(a.bytes,
         !is_float            ? (const void *)&i
         : a.size == sizeof f ? (const void *)&f
                              : (const void *)&single,
         a.size);
  return a;
}

static bool add_dynamic(Visitor *v, Stmt s) {
  if (s->kind == STMT_ALLOC && s->u.alloc.buffer->storage == STORAGE_SHARED_DYN)
    *(int64_t *)v->self += tirc_constant_bytes(s->u.alloc.buffer);
  return true;
}

/* Its code declares the memory; a launch may ask for more. */
static void check_dynamic(Walk *w, const Func *k, Expr e) {
  const int64_t asked = int_of(w, e);
  int64_t needed = 0;
  tirc_visit_stmts(k->body, add_dynamic, &needed);
  if (asked < needed)
    tirc_fail(w->c, w->host->loc, CODE_LAUNCH, NULL,
              "%s uses %lld bytes of shared.dyn, and is launched with %lld", k->name,
              (long long)needed, (long long)asked);
}

static void set_extent(Walk *w, DeviceLaunch *l, const char *name, Expr e) {
  const ThreadAxis axis = tirc_gpu_axis(name);
  if ((int)axis >= GPU_AXES)
    tirc_fail(w->c, w->host->loc, CODE_LOWER, NULL, "a kernel is launched over an axis \"%s\"",
              name);
  (tirc_is_block_axis(axis) ? l->blocks : l->threads)[axis % GPU_BLOCK_AXES] = int_of(w, e);
}

static void walk_launch(Walk *w, Expr call) {
  const int number = tirc_kernel_number(w->on->lowered, call->args[0]->u.s);
  if (number < 0)
    tirc_fail(w->c, w->host->loc, CODE_LOWER, NULL,
              "%s calls %s, which is not a kernel of the module", w->host->name,
              call->args[0]->u.s);
  const Func *k = w->on->lowered->funcs[number];
  const Signature s = tirc_signature(w->c, k);
  const int n_axes = tirc_n_launch_params(k);
  if (call->n != 1 + k->n_params + n_axes)
    tirc_fail(w->c, w->host->loc, CODE_LOWER, NULL, "%s is launched with %d values but takes %d",
              k->name, call->n - 1, k->n_params + n_axes);
  if (w->call->launches.n >= MOST_LAUNCHES)
    tirc_fail(w->c, w->host->loc, CODE_LIMIT, NULL, "%s launches more than %d kernels",
              w->host->name, MOST_LAUNCHES);
  DeviceArg *args = tirc_new_array(w->c, DeviceArg, k->n_params + 1);
  DeviceLaunch l = {w->on->kernels[number], k->n_params, args, {1, 1, 1}, {1, 1, 1}};
  for (int i = 0; i < k->n_params; i++)
    if (k->buffers[i])
      array_arg(w, call->args[1 + i], k, i, s.params[i].is_written, &args[i]);
    else
      args[i] = scalar_arg(w, call->args[1 + i], k->params[i]->dtype);
  for (int i = 0; i < n_axes; i++) {
    const char *axis = tirc_launch_param(k, i);
    Expr value = call->args[1 + k->n_params + i];
    if (strcmp(axis, "tir.use_dyn_shared_memory") == 0)
      check_dynamic(w, k, value);
    else
      set_extent(w, &l, axis, value);
  }
  vec_push(w->c, w->call->launches, l);
  vec_push(w->c, w->call->names, k->name);
}

static void walk_eval(Walk *w, Expr e) {
  if (e->op == OP_INT || e->op == OP_STRING) return;
  if (tirc_is_launch(e))
    walk_launch(w, e);
  else
    tirc_fail(w->c, w->host->loc, CODE_LOWER, NULL, "%s calls %s outside of a kernel",
              w->host->name, tirc_print_expr(w->c, e));
}

static void walk_let(Walk *w, Stmt s) {
  tirc_map_set(w->c, &w->values, s->u.let.var, value_of(w, s->u.let.value));
  walk(w, s->u.let.body);
}

static void walk_assert(Walk *w, Stmt s) {
  Expr cond = tirc_simplify0(w->c, tirc_substitute(w->c, s->u.check.cond, &w->values));
  if (tirc_is_int(cond, 0))
    tirc_fail(w->c, s->loc, CODE_ASSERT, NULL, "the assertion fails: %s",
              s->u.check.message ? s->u.check.message : "");
  walk(w, s->u.check.body);
}

static void walk(Walk *w, Stmt s) {
  switch (s->kind) {
  case STMT_FOR: walk_loop(w, &s->u.loop); return;
  case STMT_SEQ:
    for (int i = 0; i < s->u.seq.n; i++) walk(w, tirc_item(s, i));
    return;
  case STMT_IF: {
    Stmt branch = int_of(w, s->u.branch.cond) ? s->u.branch.then_case : s->u.branch.else_case;
    if (branch) walk(w, branch);
    return;
  }
  case STMT_LET: walk_let(w, s); return;
  case STMT_ALLOC: walk_alloc(w, s); return;
  case STMT_DECL: walk(w, s->u.alloc.body); return; /* a view is its data */
  case STMT_ATTR: walk(w, s->u.attr.body); return;
  case STMT_ASSERT: walk_assert(w, s); return;
  case STMT_EVAL: walk_eval(w, s->u.eval.value); return;
  case STMT_STORE:
  case STMT_WHILE:
  case STMT_BLOCK: break;
  }
  tirc_fail(w->c, s->loc, CODE_LOWER, "bind its loops to blocks and threads",
            "%s computes outside a kernel%s%s, where the memory of a device cannot be accessed",
            w->host->name, s->kind == STMT_STORE ? ": it stores to " : "",
            s->kind == STMT_STORE ? s->u.store.buffer->name : "");
}

DeviceCall *tirc_device_call(Tirc *c, OnDevice *on, const Func *host, const PtrMap *symbols,
                             const Argument *args) {
  Walk w = {.c = c, .on = on, .call = tirc_new(c, DeviceCall), .host = host, .values = *symbols};
  w.call->device = on->device;
  w.call->seconds = -1;
  tirc_context_own(c, w.call, release_call);
  for (int i = 0; i < host->n_params; i++) {
    Buffer b = host->buffers[i];
    const DType t = host->params[i]->dtype;
    if (!b) {
      tirc_map_set(c, &w.values, host->params[i],
                   tirc_dtype_is_float(t) ? tirc_float(c, t, args[i].f)
                                          : tirc_int_of_bits(c, t, args[i].i));
      continue;
    }
    if (!tirc_map_has(&w.arrays, b->data))
      add_array(
          &w, b->data,
          (Resident){.tensor = args[i].tensor, .name = b->name, .bytes = args[i].tensor->bytes});
    tirc_map_set(c, &w.arrays, host->params[i], tirc_map_get(&w.arrays, b->data));
  }
  walk(&w, host->body);
  make_buffers(&w);
  return w.call;
}

/* --- runs ------------------------------------------------------------------------------------ */

/* The arrays to the device, or those that are written from there. */
static bool move(DeviceCall *call, bool back) {
  for (int i = 0; i < call->arrays.n; i++) {
    const Resident *r = &call->arrays.at[i];
    if (!r->tensor || r->tensor->is_far || (back && !r->is_written)) continue;
    if (!(back ? tirc_device_read(r->buffer, r->tensor->data, &call->error)
               : tirc_device_write(r->buffer, r->tensor->data, &call->error)))
      return false;
  }
  return true;
}

static bool run_some(DeviceCall *call, int n, const DeviceLaunch *launches, const char *what) {
  if (!tirc_device_run(call->device, n, launches, &call->error) ||
      !tirc_device_finish(call->device, what, &call->error))
    return false;
  const double took = tirc_device_seconds(call->device);
  call->seconds = took < 0 || call->seconds < 0 ? -1 : call->seconds + took;
  return true;
}

static bool run_all(DeviceCall *call) {
  call->seconds = 0;
  if (!call->starts) return run_some(call, call->launches.n, call->launches.at, "running");
  for (int i = 0; i < call->launches.n; i++) {
    call->starts(call->self, call->names.at[i]);
    if (!run_some(call, 1, &call->launches.at[i], call->names.at[i])) return false;
  }
  return true;
}

int tirc_device_call_run(DeviceCall *call) {
  tirc_device_error_clear(&call->error);
  const bool done =
      (call->is_there || move(call, false)) && run_all(call) && (call->stays || move(call, true));
  call->is_there = done && call->stays;
  return done ? 0 : DEVICE_FAILED;
}

int tirc_device_call_stay(DeviceCall *call, bool stays) {
  call->stays = stays;
  if (stays || !call->is_there) return 0;
  call->is_there = false;
  return move(call, true) ? 0 : DEVICE_FAILED;
}

void tirc_device_call_tell(DeviceCall *call, void (*starts)(void *self, const char *kernel),
                           void *self) {
  call->starts = starts;
  call->self = self;
}

double tirc_device_call_seconds(const DeviceCall *call) { return call->seconds; }

_Noreturn void tirc_device_call_failed(Tirc *c, const DeviceCall *call) {
  tirc_fail(c, (Loc){0}, call->error.message ? call->error.code : CODE_DEVICE, call->error.hint,
            "%s", call->error.message ? call->error.message : "the device failed");
}

/* --- what there is --------------------------------------------------------------------------- */

typedef struct Listing {
  void (*hear)(void *self, const tirc_device_info *info);
  void *self;
  const char *only; /* a kind, or NULL */
  const DeviceKind *kind;
  int n; /* of this kind so far */
} Listing;

static void tell(void *self, const DeviceInfo *i) {
  Listing *l = self;
  char device[32];
  snprintf(device, sizeof device, "%s:%d", tirc_device_kind_name(l->kind), l->n++);
  const tirc_device_info info = {.device = device,
                                 .name = i->name,
                                 .platform = i->platform,
                                 .version = i->version,
                                 .memory = i->memory,
                                 .shared = i->shared,
                                 .threads = i->threads,
                                 .cores = i->cores};
  l->hear(l->self, &info);
}

static void list(Tirc *c, void *self) {
  Listing *l = self;
  DeviceError first = {0}, e = {0};
  int n = 0, asked = 0;
  for (int i = 0; (l->kind = tirc_device_kind(i)); i++) {
    if (l->only && strcmp(l->only, tirc_device_kind_name(l->kind)) != 0) continue;
    l->n = 0;
    const int found = tirc_device_list(l->kind, tell, l, asked++ ? &e : &first);
    tirc_device_error_clear(&e);
    n += found;
  }
  if (n) tirc_device_error_clear(&first);
  if (!asked) tirc_fail(c, (Loc){0}, CODE_ARGUMENT, NULL, "there are no devices of %s", l->only);
  if (!n) fail_device(c, &first);
}

tirc_status tirc_devices_of(const char *kind,
                            void (*hear)(void *self, const tirc_device_info *info), void *self,
                            tirc_error **error) {
  NEED((const void *)(uintptr_t)hear);
  return tirc_api_scratch(list, &(Listing){.hear = hear, .self = self, .only = kind}, NULL, error);
}
