/* Models of other formats: files of ONNX as modules, and their tensors as arrays. */
#include "api.h"
#include "program.h"
#include "weights.h"

#include "ir/number.h"
#include "ir/tree/verify.h"
#include "passes/module/onnx.h"
#include "runtime/arrays/safetensors.h"

#include <stdlib.h>

/* --- modules ---------------------------------------------------------------------------------- */

typedef struct Importing {
  const char *path;
  const tirc_import_options *o;
  Tirc *c; /* of the result */
  const OnnxModel *model;
  const OnnxImport *import;
  const OnnxModule *made;
  tirc_module *result;
} Importing;

static const OnnxTensor *tensor_of(Tirc *c, const tirc_array *a) {
  const Tensor *t = a->t;
  OnnxTensor *to = tirc_new(c, OnnxTensor);
  void *data = tirc_alloc(c, t->bytes + 1); /* the caller's array may go */
  memcpy(data, t->data, t->bytes);
  *to = (OnnxTensor){.name = "",
                     .dtype = t->dtype,
                     .ndim = t->ndim,
                     .dims = tirc_copy(c, t->shape, t->ndim),
                     .count = t->count,
                     .data = data};
  return to;
}

static int64_t extent_of(Tirc *c, const tirc_define *d) {
  char *end;
  const long long v = strtoll(d->value, &end, 10);
  if (!*d->value || *end || v < 0)
    tirc_fail(c, (Loc){0}, CODE_ARGUMENT, "-D batch=1",
              "the extent %s is '%s', which is not a number of at least 0", d->name, d->value);
  return v;
}

/* "2, 3": numbers of the input's type, one alone where it has no dimensions. */
static const OnnxTensor *tensor_of_text(Tirc *c, const OnnxModel *m, const char *name,
                                        const char *text) {
  const OnnxValue *v = NULL;
  for (int i = 0; i < m->n_inputs; i++)
    if (!strcmp(m->inputs[i].name, name)) v = &m->inputs[i];
  const DType t = v && v->dtype.code != TYPE_VOID ? v->dtype : DT_INT64;
  VEC(double) numbers = {0};
  for (const char *at = text; *at;) {
    char *end;
    const double number = tirc_parse_double(at, &end);
    if (end == at || (*end && *end != ','))
      tirc_fail(c, (Loc){0}, CODE_ARGUMENT, "--bind NAME=2,3 or --bind NAME=FILE.npy",
                "'%s' is bound to '%s', which is not a list of numbers", name, text);
    vec_push(c, numbers, number);
    at = *end == ',' ? end + 1 : end;
  }
  const bool is_scalar = v && v->has_shape && !v->ndim && numbers.n == 1;
  const int64_t n = numbers.n;
  Tensor *made = tirc_tensor_new(c, t, is_scalar ? 0 : 1, &n);
  for (int i = 0; i < numbers.n; i++) tirc_tensor_set(made, i, numbers.at[i]);
  const tirc_array array = {.t = made};
  const OnnxTensor *out = tensor_of(c, &array);
  tirc_tensor_free(made);
  return out;
}

/* What the given inputs say of the extents that have names. */
static void take_extents(Tirc *c, const OnnxModel *m, const tirc_import_options *o, OnnxImport *k) {
  int room = k->n_dims;
  for (int i = 0; i < o->n_given; i++) room += m->inputs[i].ndim;
  const char **dims = tirc_new_array(c, const char *, room);
  int64_t *extents = tirc_new_array(c, int64_t, room);
  for (int i = 0; i < k->n_dims; i++) dims[i] = k->dims[i], extents[i] = k->extents[i];
  for (int i = 0; i < o->n_given; i++) {
    const OnnxValue *v = &m->inputs[i];
    const Tensor *t = o->given[i]->t;
    for (int d = 0; d < v->ndim && d < t->ndim; d++) {
      if (v->dims[d].value >= 0) continue;
      dims[k->n_dims] = *v->dims[d].name ? v->dims[d].name : tirc_format(c, "%s_d%d", v->name, d);
      extents[k->n_dims++] = t->shape[d];
    }
  }
  k->dims = dims;
  k->extents = extents;
}

/* To make a graph of the nodes leaves more behind than the graph. */
static void make_graph(Tirc *apart, void *self) {
  Importing *p = self;
  const OnnxModule *m = tirc_onnx_import(apart, p->model, p->import);
  tirc_verify(apart, m->m);
  p->made = tirc_onnx_module_copy(p->c, apart, m);
}

static void import(Tirc *c, void *self) {
  Importing *p = self;
  static const tirc_import_options none = {0};
  const tirc_import_options *o = p->o ? p->o : &none;
  OnnxImport *k = tirc_new(c, OnnxImport);
  const char **dims = tirc_new_array(c, const char *, o->n_defines);
  int64_t *extents = tirc_new_array(c, int64_t, o->n_defines);
  OnnxBound *bound = tirc_new_array(c, OnnxBound, o->n_bound + o->n_given);
  const OnnxModel *model = tirc_onnx_read(c, p->path);
  int n_bound = o->n_bound;
  if (o->n_given > model->n_inputs)
    tirc_fail(c, (Loc){model->path, 0, 0}, CODE_ARGUMENT, "initializers are not inputs",
              "%d inputs were given, but the model has %d", o->n_given, model->n_inputs);
  for (int i = 0; i < o->n_defines; i++) {
    dims[i] = tirc_strdup(c, tirc_api_name(c, o->defines[i].name));
    extents[i] = extent_of(c, &o->defines[i]);
  }
  for (int i = 0; i < o->n_bound; i++) {
    const tirc_bound *b = &o->bound[i];
    const char *name = tirc_strdup(c, tirc_api_name(c, b->name));
    bound[i] = (OnnxBound){name,
                           b->value ? tensor_of(c, b->value)
                                    : tensor_of_text(c, model, name, tirc_api_name(c, b->text)),
                           false};
  }
  for (int i = 0; i < o->n_given; i++)
    bound[n_bound++] = (OnnxBound){model->inputs[i].name, tensor_of(c, o->given[i]), true};
  *k = (OnnxImport){.operators = o->operators ? tirc_strdup(c, o->operators) : NULL,
                    .n_dims = o->n_defines,
                    .dims = dims,
                    .extents = extents,
                    .n_bound = n_bound,
                    .bound = bound,
                    .evaluate = tirc_api_evaluate};
  take_extents(c, model, o, k);
  p->c = c;
  p->model = model;
  p->import = k;
  tirc_api_apart(c, make_graph, p);
  p->result = tirc_api_module(c, p->made->m, &(Sources){0});
  p->result->imported = p->made;
}

tirc_status tirc_module_import(const char *path, const tirc_import_options *options,
                               tirc_module **out, tirc_error **error) {
  NEED(path, out, LIST(options ? options->n_defines : 0, options ? options->defines : NULL),
       LIST(options ? options->n_bound : 0, options ? options->bound : NULL),
       LIST(options ? options->n_given : 0, options ? options->given : NULL));
  for (int i = 0; options && i < options->n_given; i++) NEED(options->given[i]);
  Importing p = {.path = path, .o = options};
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  const tirc_status status = tirc_api_guard(c, import, &p, NULL, error);
  if (status == TIRC_OK)
    *out = p.result;
  else
    tirc_context_release(c);
  return status;
}

const char *tirc_import_input(const tirc_module *m, int i, int *param) {
  const OnnxModule *from = m ? m->imported : NULL;
  if (!from || i < 0 || i >= from->model->n_inputs) return NULL;
  if (param) *param = from->inputs[i];
  return from->model->inputs[i].name;
}

const char *tirc_import_file(const tirc_module *m, int i) {
  const OnnxModel *from = m && m->imported ? m->imported->model : NULL;
  if (!from || i < 0 || i > from->n_files) return NULL;
  return i == 0 ? from->path : from->files[i - 1];
}

/* --- weights ---------------------------------------------------------------------------------- */

typedef struct Taking {
  const tirc_module *m;
  tirc_weights *result;
} Taking;

static void take_weights(Tirc *c, void *self) {
  Taking *p = self;
  const OnnxModule *from = p->m->imported;
  tirc_context_depend(c, p->m->c);
  StoredTensor *at = tirc_new_array(c, StoredTensor, from->n_weights);
  for (int i = 0; i < from->n_weights; i++) {
    const OnnxWeight *w = &from->weights[i];
    Tensor *t = &at[i].tensor;
    at[i].name = w->name;
    *t = (Tensor){.dtype = w->info->dtype,
                  .ndim = w->info->ndim,
                  .count = tirc_info_count(w->info),
                  .bytes = (size_t)tirc_info_bytes(w->info),
                  .data = (void *)(uintptr_t)w->data};
    for (int d = 0; d < t->ndim; d++) tirc_const_int(w->info->shape[d], &t->shape[d]);
  }
  Safetensors *s = tirc_new(c, Safetensors);
  *s = (Safetensors){.c = c, .path = from->model->path, .n = from->n_weights, .at = at};
  p->result = tirc_new(c, tirc_weights);
  *p->result = (tirc_weights){c, s};
}

tirc_status tirc_module_weights(const tirc_module *m, tirc_weights **out, tirc_error **error) {
  NEED(m, out);
  *out = NULL;
  if (!m->imported) return TIRC_OK;
  Taking p = {.m = m};
  Tirc *c = tirc_context_new();
  if (!c) return tirc_api_no_memory(error);
  const tirc_status status = tirc_api_guard(c, take_weights, &p, NULL, error);
  if (status == TIRC_OK)
    *out = p.result;
  else
    tirc_context_release(c);
  return status;
}

/* --- tensors ---------------------------------------------------------------------------------- */

typedef struct Reading {
  const char *path;
  tirc_array *result;
} Reading;

static void read_tensor(Tirc *c, void *self) {
  Reading *p = self;
  const OnnxTensor *from = tirc_onnx_read_tensor(c, p->path);
  Tensor *t = tirc_tensor_new_at(c, from->dtype, from->ndim, from->dims, TENSOR_OF_FILE_ALIGN);
  memcpy(t->data, from->data, t->bytes);
  p->result = tirc_api_array(c, t);
}

tirc_status tirc_array_read_onnx(const char *path, tirc_array **out, tirc_error **error) {
  NEED(path, out);
  Reading p = {.path = path};
  const tirc_status status = tirc_api_scratch(read_tensor, &p, NULL, error);
  if (status == TIRC_OK) *out = p.result;
  return status;
}
