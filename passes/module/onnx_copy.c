/* A model that was imported, without what that left behind. */
#include "ir/tree/copy.h"
#include "onnx.h"

static void keep_tensors(Tirc *c, PtrMap *kept, const OnnxModel *m) {
  for (int i = 0; i < m->n_weights; i++)
    if (m->weights[i].data) tirc_map_set(c, kept, m->weights[i].data, m);
  for (int i = 0; i < m->n_nodes; i++)
    for (int k = 0; k < m->nodes[i].n_attrs; k++) {
      const OnnxAttr *a = &m->nodes[i].attrs[k];
      if (a->kind == ONNX_TENSOR && a->tensor->data) tirc_map_set(c, kept, a->tensor->data, m);
      if (a->kind == ONNX_GRAPH) keep_tensors(c, kept, a->graph);
    }
}

/* Of a weight, whose extents are numbers. */
static Info copy_info(Tirc *to, Info info) {
  Expr *shape = tirc_new_array(to, Expr, info->ndim);
  int64_t extent = 0;
  for (int d = 0; d < info->ndim; d++) {
    tirc_const_int(info->shape[d], &extent);
    shape[d] = tirc_int(to, info->shape[d]->dtype, extent);
  }
  return tirc_info_tensor(to, info->dtype, info->ndim, shape);
}

static OnnxWeight copy_weight(Tirc *to, const PtrMap *kept, const OnnxWeight *w) {
  const size_t bytes = (size_t)tirc_info_bytes(w->info);
  const bool stays = !w->data || tirc_map_has(kept, w->data);
  void *data = stays ? NULL : tirc_alloc(to, bytes + 1);
  if (data) memcpy(data, w->data, bytes);
  return (OnnxWeight){tirc_strdup(to, w->name), copy_info(to, w->info), data ? data : w->data};
}

const OnnxModule *tirc_onnx_module_copy(Tirc *to, Tirc *scratch, const OnnxModule *from) {
  OnnxModule *copy = tirc_copy(to, from, 1);
  OnnxWeight *weights = tirc_new_array(to, OnnxWeight, from->n_weights);
  PtrMap kept = {0};
  keep_tensors(scratch, &kept, from->model);
  tirc_modules_copy(to, scratch, NULL, 1, &copy->m);
  for (int i = 0; i < from->n_weights; i++) weights[i] = copy_weight(to, &kept, &from->weights[i]);
  copy->weights = weights;
  copy->inputs = tirc_copy(to, from->inputs, from->model->n_inputs);
  return copy;
}
