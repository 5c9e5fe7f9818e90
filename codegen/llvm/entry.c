/* The function of a model (codegen/model_entry.h): NAME__rt calls the functions' own with its
 * runtime, NAME finds the runtime itself; NAME_prepare likewise. */
#include "gen.h"

typedef struct Making {
  Gen *g;
  const ModelEntry *e;
  const char *const *symbols; /* one a function of the module */
  LLVMValueRef *consts;
  LLVMValueRef fn;
  LLVMValueRef weights;         /* WEIGHTS_INSIDE: the block */
  LLVMValueRef on_product;      /* the variable; NULL: there are no products */
  int first_param;              /* the parameter of the model that is the function's first */
  unsigned workspace, prepared; /* numbers of the function's parameters; prepared: or weights */
} Making;

static LLVMValueRef constant(Gen *g, const EntryConst *k) {
  LLVMValueRef bytes = LLVMConstStringInContext(g->context, k->data, (unsigned)k->bytes, true);
  LLVMValueRef global = LLVMAddGlobal(g->module, LLVMTypeOf(bytes), "model_const");
  LLVMSetInitializer(global, bytes);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetAlignment(global, 64);
  return global;
}

/* The block that is linked with the code: nobody else sees it. */
static LLVMValueRef weights_inside(Gen *g, const ModelEntry *e) {
  LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(g->context), (uint64_t)e->weights);
  LLVMValueRef global = LLVMAddGlobal(g->module, type, tirc_format(g->c, "%s_weights", e->name));
  LLVMSetVisibility(global, LLVMHiddenVisibility);
  LLVMSetGlobalConstant(global, true);
  LLVMSetAlignment(global, 64);
  return global;
}

static LLVMValueRef param(const Making *m, int64_t i) {
  int number = 0;
  for (int k = m->first_param; k < i; k++) number += tirc_entry_has_param(m->e, k);
  return LLVMGetParam(m->fn, (unsigned)number);
}

static LLVMValueRef value(const Making *m, EntryValue v, LLVMTypeRef type) {
  Gen *g = m->g;
  LLVMValueRef at = tirc_gen_int(g, LLVMInt64TypeInContext(g->context), v.at), base = NULL;
  switch (v.place) {
  case ENTRY_PARAM: return param(m, v.at);
  case ENTRY_CONST: return m->consts[v.at];
  case ENTRY_NUMBER: return LLVMConstInt(type, (unsigned long long)v.at, true);
  case ENTRY_WORKSPACE: base = LLVMGetParam(m->fn, m->workspace); break;
  case ENTRY_WEIGHTS:
  case ENTRY_PREPARED: base = m->weights ? m->weights : LLVMGetParam(m->fn, m->prepared); break;
  }
  return LLVMBuildInBoundsGEP2(g->b, LLVMInt8TypeInContext(g->context), base, &at, 1, "");
}

/* --- products --------------------------------------------------------------------------------- */

static LLVMValueRef text(Gen *g, const char *s) {
  return LLVMBuildGlobalStringPtr(g->b, s, "product_text");
}

/* The struct of the header: codegen/c/entry.c. */
static LLVMValueRef product(Gen *g, const EntryProduct *p, bool prepares) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(g->context), i32 = LLVMInt32TypeInContext(g->context);
  LLVMValueRef fields[] = {text(g, p->function),
                           text(g, p->block),
                           text(g, prepares ? "prepare" : "run"),
                           tirc_gen_int(g, i64, p->batch),
                           tirc_gen_int(g, i64, p->m),
                           tirc_gen_int(g, i64, p->n),
                           tirc_gen_int(g, i64, p->k),
                           text(g, p->a),
                           text(g, p->b),
                           text(g, p->out),
                           text(g, p->layout),
                           tirc_gen_int(g, i32, p->is_convolution)};
  LLVMValueRef value =
      LLVMConstStructInContext(g->context, fields, sizeof fields / sizeof *fields, false);
  LLVMValueRef global = LLVMAddGlobal(g->module, LLVMTypeOf(value), "product");
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  return global;
}

/* if (on_product) { on_product(&products[0], is_done); ... } */
static void tell_products(const Making *m, int n, const LLVMValueRef *products, bool is_done) {
  Gen *g = m->g;
  LLVMTypeRef ptr = LLVMPointerTypeInContext(g->context, 0),
              i32 = LLVMInt32TypeInContext(g->context), params[] = {ptr, i32};
  if (!n) return;
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), params, 2, false);
  LLVMValueRef fn = LLVMBuildLoad2(g->b, ptr, m->on_product, "");
  LLVMBasicBlockRef tell = tirc_gen_block(g, "tell"), next = tirc_gen_block(g, "told");
  LLVMBuildCondBr(g->b, LLVMBuildIsNull(g->b, fn, ""), next, tell);
  LLVMPositionBuilderAtEnd(g->b, tell);
  for (int i = 0; i < n; i++) {
    LLVMValueRef args[] = {products[i], tirc_gen_int(g, i32, is_done)};
    LLVMBuildCall2(g->b, type, fn, args, 2, "");
  }
  LLVMBuildBr(g->b, next);
  LLVMPositionBuilderAtEnd(g->b, next);
}

static LLVMValueRef product_variable(Gen *g, const ModelEntry *e) {
  LLVMTypeRef ptr = LLVMPointerTypeInContext(g->context, 0);
  if (!tirc_entry_products(e)) return NULL;
  LLVMValueRef global = LLVMAddGlobal(g->module, ptr, tirc_format(g->c, "%s_on_product", e->name));
  LLVMSetInitializer(global, LLVMConstNull(ptr));
  return global;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Goes on where all conditions hold; otherwise to `next`. */
static void build_conditions(Making *m, const EntryCall *call, LLVMBasicBlockRef next) {
  Gen *g = m->g;
  LLVMTypeRef ptr = LLVMPointerTypeInContext(g->context, 0), i8 = LLVMInt8TypeInContext(g->context);
  for (int i = 0; i < call->n_conditions; i++) {
    const EntryCondition *k = &call->conditions[i];
    LLVMBasicBlockRef holds = tirc_gen_block(g, "holds");
    LLVMValueRef is = LLVMBuildLoad2(g->b, i8, value(m, k->at, ptr), "");
    LLVMValueRef taken =
        LLVMBuildICmp(g->b, k->is ? LLVMIntNE : LLVMIntEQ, is, LLVMConstNull(i8), "");
    LLVMBuildCondBr(g->b, taken, holds, next);
    LLVMPositionBuilderAtEnd(g->b, holds);
  }
}

/* On failure the status is the function's. */
static void build_call(Making *m, int number, LLVMValueRef rt) {
  Gen *g = m->g;
  const EntryCall *call = &m->e->calls[number];
  LLVMTypeRef ptr = LLVMPointerTypeInContext(g->context, 0),
              i32 = LLVMInt32TypeInContext(g->context);
  if (call->func < 0) {
    LLVMValueRef n = tirc_gen_int(g, LLVMInt64TypeInContext(g->context), call->bytes);
    LLVMBuildMemCpy(g->b, value(m, call->args[1], ptr), 1, value(m, call->args[0], ptr), 1, n);
    return;
  }
  LLVMValueRef fn =
      LLVMGetNamedFunction(g->module, tirc_format(g->c, "%s__rt", m->symbols[call->func]));
  LLVMTypeRef type = LLVMGlobalGetValueType(fn);
  LLVMTypeRef *types = tirc_new_array(g->c, LLVMTypeRef, LLVMCountParamTypes(type));
  LLVMValueRef *args = tirc_new_array(g->c, LLVMValueRef, call->n + 1);
  LLVMGetParamTypes(type, types);
  LLVMValueRef *products = tirc_new_array(g->c, LLVMValueRef, call->n_products);
  for (int i = 0; i < call->n_products; i++)
    products[i] = product(g, &call->products[i], number < m->e->n_prepare);
  for (int i = 0; i < call->n; i++) args[i] = value(m, call->args[i], types[i]);
  args[call->n] = rt;
  tell_products(m, call->n_products, products, false);
  LLVMValueRef status = LLVMBuildCall2(g->b, type, fn, args, (unsigned)call->n + 1, "");
  LLVMBasicBlockRef failed = tirc_gen_block(g, "failed"), next = tirc_gen_block(g, "next");
  LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, status, LLVMConstNull(i32), ""), failed,
                  next);
  LLVMPositionBuilderAtEnd(g->b, failed);
  LLVMBuildRet(g->b, status);
  LLVMPositionBuilderAtEnd(g->b, next);
  tell_products(m, call->n_products, products, true);
}

/* n pointers; the runtime behind them. */
static LLVMValueRef begin(Gen *g, const char *name, unsigned n, Frame *outer) {
  LLVMTypeRef ptr = LLVMPointerTypeInContext(g->context, 0);
  LLVMTypeRef *types = tirc_new_array(g->c, LLVMTypeRef, n + 1);
  for (unsigned i = 0; i < n; i++) types[i] = ptr;
  LLVMValueRef fn = LLVMAddFunction(
      g->module, name, LLVMFunctionType(LLVMInt32TypeInContext(g->context), types, n, false));
  tirc_gen_begin(g, fn, outer);
  return fn;
}

static void build_function(Making *m, const char *name, unsigned n, int from, int to) {
  Gen *g = m->g;
  Frame outer;
  m->fn = begin(g, tirc_format(g->c, "%s__rt", name), n + 1, &outer);
  LLVMValueRef inner = m->fn;
  for (int i = from; i < to;) {
    const EntryCall *first = &m->e->calls[i];
    LLVMBasicBlockRef next = first->n_conditions ? tirc_gen_block(g, "behind") : NULL;
    build_conditions(m, first, next);
    do build_call(m, i++, LLVMGetParam(m->fn, n));
    while (i < to && m->e->calls[i].branch == first->branch);
    if (!next) continue;
    LLVMBuildBr(g->b, next);
    LLVMPositionBuilderAtEnd(g->b, next);
  }
  LLVMBuildRet(g->b, LLVMConstNull(LLVMInt32TypeInContext(g->context)));
  tirc_gen_end(g, &outer);
  LLVMValueRef fn = begin(g, name, n, &outer);
  LLVMValueRef *args = tirc_new_array(g->c, LLVMValueRef, n + 1);
  for (unsigned i = 0; i < n; i++) args[i] = LLVMGetParam(fn, i);
  args[n] = tirc_gen_default_runtime(g);
  LLVMBuildRet(g->b, LLVMBuildCall2(g->b, LLVMGlobalGetValueType(inner), inner, args, n + 1, ""));
  tirc_gen_end(g, &outer);
}

void tirc_gen_entry(Gen *g, const ModelEntry *e, const char *const *symbols) {
  Making m = {.g = g, .e = e, .symbols = symbols};
  m.consts = tirc_new_array(g->c, LLVMValueRef, e->n_consts);
  for (int i = 0; i < e->n_consts; i++)
    if (e->consts[i].is_read) m.consts[i] = constant(g, &e->consts[i]);
  m.on_product = product_variable(g, e);
  if (tirc_entry_prepares(e)) {
    m.first_param = e->n_inputs;
    m.prepared = (unsigned)e->n_weights;
    build_function(&m, tirc_format(g->c, "%s_prepare", e->name), (unsigned)e->n_weights + 1, 0,
                   e->n_prepare);
  }
  unsigned n = 0;
  for (int i = 0; i < e->n_inputs + e->n_weights + e->n_results; i++)
    n += tirc_entry_has_param(e, i);
  if (e->place == WEIGHTS_INSIDE) m.weights = weights_inside(g, e);
  m.first_param = 0;
  m.prepared = n;
  m.workspace = tirc_entry_prepares(e) || e->place == WEIGHTS_BESIDE ? n + 1 : n;
  build_function(&m, e->name, m.workspace + 1, e->n_prepare, e->n_calls);
  tirc_gen_error_text(g, e->name, NULL);
  tirc_gen_info(g, e);
}
