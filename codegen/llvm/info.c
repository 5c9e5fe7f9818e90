/* What a model is, as machine code: const tirc_model_info *NAME_info(void), whose structs are those
 * of the header (codegen/c/info.c). */
#include "gen.h"

typedef struct Fields {
  int n;
  LLVMValueRef at[16];
} Fields;

static void add(Fields *f, LLVMValueRef v) { f->at[f->n++] = v; }
static void add_int(Gen *g, Fields *f, int v) {
  add(f, tirc_gen_int(g, LLVMInt32TypeInContext(g->context), v));
}
static void add_int64(Gen *g, Fields *f, int64_t v) {
  add(f, tirc_gen_int(g, LLVMInt64TypeInContext(g->context), v));
}
static void add_text(Gen *g, Fields *f, const char *s) {
  add(f, LLVMBuildGlobalStringPtr(g->b, s, "info_text"));
}

static LLVMValueRef as_struct(Gen *g, Fields *f) {
  return LLVMConstStructInContext(g->context, f->at, (unsigned)f->n, false);
}

static LLVMValueRef constant(Gen *g, LLVMValueRef value) {
  LLVMValueRef global = LLVMAddGlobal(g->module, LLVMTypeOf(value), "info");
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  return global;
}

/* A constant array; of none, NULL. */
static void add_array(Gen *g, Fields *f, int n, LLVMValueRef *values) {
  add(f, n ? constant(g, LLVMConstArray2(LLVMTypeOf(*values), values, (uint64_t)n))
           : LLVMConstNull(LLVMPointerTypeInContext(g->context, 0)));
}

static LLVMValueRef tensor(Gen *g, const EntryTensor *v) {
  Fields shape = {0}, extents = {0}, f = {0};
  LLVMValueRef *numbers = tirc_new_array(g->c, LLVMValueRef, v->ndim),
               *texts = tirc_new_array(g->c, LLVMValueRef, v->ndim);
  for (int d = 0; d < v->ndim; d++) {
    shape.n = extents.n = 0;
    add_int64(g, &shape, v->shape[d]);
    add_text(g, &extents, v->extents[d]);
    numbers[d] = shape.at[0];
    texts[d] = extents.at[0];
  }
  add_text(g, &f, v->in_file);
  add_text(g, &f, v->name);
  add_text(g, &f, v->dtype);
  add_int(g, &f, v->ndim);
  add_array(g, &f, v->ndim, numbers);
  add_array(g, &f, v->ndim, texts);
  return as_struct(g, &f);
}

static LLVMValueRef extent(Gen *g, const EntryExtent *e) {
  Fields f = {0};
  add_text(g, &f, e->in_file);
  add_text(g, &f, e->name);
  add_int64(g, &f, e->lower);
  add_int64(g, &f, e->upper);
  return as_struct(g, &f);
}

static LLVMValueRef rows(Gen *g, const EntryRows *r) {
  Fields f = {0};
  add_int(g, &f, r->result);
  add_int(g, &f, r->count);
  add_int(g, &f, r->axis);
  return as_struct(g, &f);
}

static LLVMValueRef info(Gen *g, const ModelEntry *e) {
  const EntryInfo is = tirc_entry_info(e);
  const int most = tirc_entry_params(e);
  LLVMValueRef *tensors = tirc_new_array(g->c, LLVMValueRef, most),
               *extents = tirc_new_array(g->c, LLVMValueRef, e->n_extents),
               *counted = tirc_new_array(g->c, LLVMValueRef, e->n_rows);
  Fields f = {0};
  int n = 0;
  for (int i = 0; i < most; i++)
    if (tirc_entry_has_param(e, i)) tensors[n++] = tensor(g, &e->tensors[i]);
  for (int i = 0; i < e->n_extents; i++) extents[i] = extent(g, &e->extents[i]);
  add_int(g, &f, ENTRY_INFO_FORMAT);
  add_int(g, &f, e->n_extents);
  add_int(g, &f, e->n_inputs);
  add_int(g, &f, is.n_weights);
  add_int(g, &f, e->n_results);
  add_text(g, &f, e->name);
  add_text(g, &f, e->version);
  add_array(g, &f, e->n_extents, extents);
  add_array(g, &f, n, tensors);
  add_int64(g, &f, is.workspace);
  add_int64(g, &f, is.weights);
  add_int64(g, &f, is.prepared);
  for (int i = 0; i < e->n_rows; i++) counted[i] = rows(g, &e->rows[i]);
  add_int(g, &f, e->n_rows);
  add_array(g, &f, e->n_rows, counted);
  return constant(g, as_struct(g, &f));
}

void tirc_gen_info(Gen *g, const ModelEntry *e) {
  LLVMTypeRef type = LLVMFunctionType(LLVMPointerTypeInContext(g->context, 0), NULL, 0, false);
  LLVMValueRef fn = LLVMAddFunction(g->module, tirc_format(g->c, "%s_info", e->name), type);
  Frame outer;
  tirc_gen_begin(g, fn, &outer);
  LLVMBuildRet(g->b, info(g, e));
  tirc_gen_end(g, &outer);
}
