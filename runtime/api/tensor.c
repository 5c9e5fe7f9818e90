/* DLPack tensors: as arguments, and as arrays in both directions. Nothing is ever copied; what a
 * kernel cannot take as it lies is refused by the name of its parameter. */
#include "api.h"

#include <stdio.h>
#include <stdlib.h>

/* Who refuses: argument i of f, or a tensor that is not of a call. */
typedef struct Giver {
  Tirc *c;
  const Func *f; /* or NULL */
  int i;
  DLDevice at; /* where kernels run */
} Giver;
static const DLDevice here = {kDLCPU, 0};

static _Noreturn void refuse(const Giver *g, const char *hint, const char *message) {
  if (!g->f) tirc_fail(g->c, (Loc){0}, CODE_ARGUMENT, hint, "the tensor: %s", message);
  const Buffer b = g->f->buffers[g->i];
  tirc_fail(g->c, g->f->loc, CODE_ARGUMENT, hint, "argument \"%s\" of %s: %s",
            b ? b->name : g->f->params[g->i]->u.s, g->f->name, message);
}

/* --- from a tensor ---------------------------------------------------------------------------- */

typedef enum TakenBy {
  BY_NONE,    /* it is no address, or of something that runs no kernels here */
  BY_HOST,    /* an address that this process reads */
  BY_KERNELS, /* an address that kernels on the same device take */
} TakenBy;

static const struct {
  int32_t device;
  const char *name;
  TakenBy by;
} devices[] = {
    {kDLCPU, "cpu", BY_HOST},
    {kDLCUDA, "cuda", BY_KERNELS},
    {kDLCUDAHost, "cuda_host", BY_HOST},
    {kDLOpenCL, "opencl", BY_NONE},
    {kDLVulkan, "vulkan", BY_NONE},
    {kDLMetal, "metal", BY_NONE},
    {kDLVPI, "vpi", BY_NONE},
    {kDLROCM, "rocm", BY_NONE},
    {kDLROCMHost, "rocm_host", BY_HOST},
    {kDLExtDev, "ext_dev", BY_NONE},
    {kDLCUDAManaged, "cuda_managed", BY_NONE},
};

static TakenBy taken_by(DLDevice device) {
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    if ((int32_t)device.device_type == devices[i].device) return devices[i].by;
  return BY_NONE;
}

static const char *name_of(const Giver *g, DLDevice device) {
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    if ((int32_t)device.device_type == devices[i].device)
      return device.device_type == kDLCPU
                 ? "the cpu"
                 : tirc_format(g->c, "the device %s:%d", devices[i].name, device.device_id);
  return tirc_format(g->c, "a device of the unknown type %d", (int)device.device_type);
}

/* Whether it is on the device, and not in memory that this process reads. */
static bool is_far(const Giver *g, DLDevice device) {
  const TakenBy by = taken_by(device);
  if (by == BY_HOST) return false;
  if (by == BY_KERNELS && device.device_type == g->at.device_type &&
      device.device_id == g->at.device_id)
    return true;
  refuse(g, "copy it to the CPU first",
         tirc_format(g->c, "the tensor is on %s, but kernels %son %s%s", name_of(g, device),
                     taken_by(g->at) == BY_NONE ? "" : "run ", name_of(g, g->at),
                     taken_by(g->at) == BY_NONE ? " take arrays of the cpu" : ""));
}

static const struct {
  uint8_t dl, bits; /* bits 0: any of the type's */
  uint8_t code;
  const char *name;
} types[] = {
    {kDLInt, 0, TYPE_INT, "int"},
    {kDLUInt, 0, TYPE_UINT, "uint"},
    {kDLFloat, 0, TYPE_FLOAT, "float"},
    {kDLBfloat, 16, TYPE_BFLOAT, "bfloat"},
    {6 /* kDLBool: not in old headers */, 8, TYPE_BOOL, "bool"},
    {kDLComplex, 0, TYPE_VOID, "complex"},
    {kDLOpaqueHandle, 0, TYPE_VOID, "handle"},
};
enum { N_TYPES = sizeof types / sizeof *types };

static DType dtype_of(const Giver *g, DLDataType t) {
  const char *name = "unknown type ";
  for (int i = 0; i < N_TYPES; i++) {
    if (types[i].dl != t.code) continue;
    name = types[i].name;
    bool width = types[i].bits        ? t.bits == types[i].bits
                 : t.code == kDLFloat ? t.bits == 16 || t.bits == 32 || t.bits == 64
                                      : t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64;
    if (width && t.lanes == 1 && types[i].code != TYPE_VOID)
      return DT(types[i].code, types[i].code == TYPE_BOOL ? 1 : t.bits);
  }
  const char *lanes = t.lanes == 1 ? "" : tirc_format(g->c, "x%d", t.lanes);
  refuse(g, "convert it",
         tirc_format(g->c, "no kernel takes elements of dtype %s%d%s", name, t.bits, lanes));
}

/* Elements from the first to one past the last; the strides in t->strides. */
static void lay_out(const Giver *g, const DLTensor *from, Tensor *t) {
  int64_t compact = 1, step, *strides = tirc_new_array(g->c, int64_t, t->ndim + 1);
  bool empty = false, overflow = false;
  t->count = 1;
  for (int d = t->ndim - 1; d >= 0; d--) {
    int64_t extent = from->shape[d], stride = from->strides ? from->strides[d] : compact;
    if (extent < 0)
      refuse(g, NULL, tirc_format(g->c, "extent %d is negative (%lld)", d, (long long)extent));
    if (stride < 0 && extent > 1)
      refuse(g, "copy it into a contiguous array first",
             tirc_format(g->c, "stride %d is negative (%lld)", d, (long long)stride));
    t->shape[d] = extent;
    strides[d] = stride;
    empty |= extent == 0;
    overflow |= __builtin_mul_overflow(compact, extent > 0 ? extent : 1, &compact);
    if (extent > 1)
      overflow |= __builtin_mul_overflow(extent - 1, stride, &step) ||
                  __builtin_add_overflow(t->count, step, &t->count);
  }
  if (overflow) refuse(g, "use smaller extents", "its size overflows 64 bits");
  t->strides = strides;
  if (empty) t->count = 0;
}

static Tensor *tensor_of(const Giver *g, const DLTensor *from) {
  Tirc *c = g->c;
  const bool far = is_far(g, from->device);
  if (from->ndim < 0 || from->ndim > TENSOR_MAX_NDIM || (from->ndim && !from->shape))
    refuse(g, NULL,
           tirc_format(c, "the tensor has %d dimensions, but may have 0 to %d", (int)from->ndim,
                       TENSOR_MAX_NDIM));
  Tensor *t = tirc_new(c, Tensor);
  t->is_far = far;
  t->dtype = dtype_of(g, from->dtype);
  t->ndim = from->ndim;
  lay_out(g, from, t);
  if (!from->data && t->count) refuse(g, NULL, "the tensor has no data");
  const int size = tirc_dtype_bytes(t->dtype);
  t->bytes = (size_t)t->count * (size_t)size;
  t->data = from->data ? (char *)from->data + from->byte_offset : NULL;
  if ((uintptr_t)t->data % (uintptr_t)size)
    refuse(g, "an array that some library allocated is aligned",
           tirc_format(c, "data + byte_offset (%llu) is not aligned to the %d bytes of an element",
                       (unsigned long long)from->byte_offset, size));
  return t;
}

const Argument *tirc_api_arguments(Tirc *c, const Func *f, int n, const tirc_argument *args) {
  return tirc_api_arguments_at(c, f, n, args, here);
}

const Argument *tirc_api_arguments_at(Tirc *c, const Func *f, int n, const tirc_argument *args,
                                      DLDevice at) {
  Argument *r = tirc_new_array(c, Argument, n);
  for (int i = 0; i < n; i++) {
    r[i] = (Argument){args[i].array ? args[i].array->t : NULL, args[i].i, args[i].f};
    if (!args[i].tensor || i >= f->n_params) continue;
    r[i].tensor = tensor_of(&(Giver){c, f, i, at}, args[i].tensor);
  }
  return r;
}

/* The same of what has to be compact, without strides. */
static Tensor *compact_of(const Giver *g, const DLTensor *from) {
  Tensor *t = tensor_of(g, from);
  int64_t compact = 1;
  for (int d = t->ndim - 1; d >= 0 && t->count; d--) {
    if (t->shape[d] > 1 && t->strides[d] != compact)
      refuse(g, "copy it", "an array must be compact and row-major, and this tensor is not");
    compact *= t->shape[d];
  }
  t->strides = NULL;
  return t;
}

const tirc_argument *tirc_api_arrays(Tirc *c, const Func *f, int n, const tirc_argument *args) {
  tirc_argument *r = tirc_copy(c, args, n);
  for (int i = 0; i < n; i++) {
    if (!args[i].tensor || i >= f->n_params || !f->buffers[i]) continue;
    tirc_array *a = tirc_new(c, tirc_array);
    a->t = compact_of(&(Giver){c, f, i, here}, args[i].tensor);
    const char *type = tirc_dtype_name(c, a->t->dtype);
    memcpy(a->dtype, type, strlen(type) + 1);
    r[i] = (tirc_argument){.array = a};
  }
  return r;
}

/* --- to a tensor ------------------------------------------------------------------------------ */

void tirc_array_tensor(tirc_array *a, DLTensor *out) {
  if (!a || !out) return;
  const Tensor *t = a->t;
  *out = (DLTensor){.data = t->data, .device = {kDLCPU, 0}, .ndim = t->ndim};
  out->shape = a->t->shape;
  out->dtype = (DLDataType){.bits = t->dtype.code == TYPE_BOOL ? 8 : t->dtype.bits, .lanes = 1};
  for (int i = 0; i < N_TYPES; i++)
    if (types[i].code == t->dtype.code) out->dtype.code = types[i].dl;
}

static void delete_array(DLManagedTensor *self) {
  tirc_array_free(self->manager_ctx);
  free(self);
}

tirc_status tirc_array_to_dlpack(tirc_array *a, DLManagedTensor **out, tirc_error **error) {
  NEED(a, out);
  DLManagedTensor *m = calloc(1, sizeof *m);
  if (!m) return tirc_api_no_memory(error);
  tirc_array_tensor(a, &m->dl_tensor);
  m->manager_ctx = a;
  m->deleter = delete_array;
  *out = m;
  return TIRC_OK;
}

typedef struct Adopt {
  DLManagedTensor *from;
  tirc_array *result;
} Adopt;

static void adopt(Tirc *c, void *self) {
  Adopt *p = self;
  const Tensor *t = compact_of(&(Giver){c, NULL, 0, here}, &p->from->dl_tensor);
  tirc_array *a = calloc(1, sizeof *a);
  if (a) a->t = calloc(1, sizeof *a->t);
  if (!a || !a->t) {
    free(a);
    tirc_fail(c, (Loc){0}, CODE_MEMORY, NULL, "out of memory");
  }
  *a->t = *t;
  a->managed = p->from;
  snprintf(a->dtype, sizeof a->dtype, "%s", tirc_dtype_name(c, t->dtype));
  p->result = a;
}

tirc_status tirc_array_from_dlpack(DLManagedTensor *tensor, tirc_array **out, tirc_error **error) {
  NEED(tensor, out);
  Adopt p = {.from = tensor};
  tirc_status status = tirc_api_scratch(adopt, &p, NULL, error);
  if (status == TIRC_OK) *out = p.result;
  return status;
}
