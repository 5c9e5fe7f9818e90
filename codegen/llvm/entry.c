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
  bool takes_extents;           /* in front */
  LLVMValueRef sizes;           /* where the numbers are that extents tell */
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

static int n_leading(const Making *m) { return m->takes_extents ? m->e->n_extents : 0; }

static LLVMValueRef param(const Making *m, int64_t i) {
  int number = n_leading(m);
  for (int k = m->first_param; k < i; k++) number += tirc_entry_has_param(m->e, k);
  return LLVMGetParam(m->fn, (unsigned)number);
}

/* One of the numbers that extents tell. */
static LLVMValueRef size(const Making *m, int64_t number) {
  Gen *g = m->g;
  LLVMTypeRef i64 = LLVMInt64TypeInContext(g->context);
  LLVMValueRef at = tirc_gen_int(g, i64, number);
  return LLVMBuildLoad2(g->b, i64, LLVMBuildInBoundsGEP2(g->b, i64, m->sizes, &at, 1, ""), "");
}

static LLVMValueRef value(const Making *m, EntryValue v, LLVMTypeRef type) {
  Gen *g = m->g;
  LLVMValueRef at = tirc_gen_int(g, LLVMInt64TypeInContext(g->context), v.at), base = NULL;
  switch (v.place) {
  case ENTRY_PARAM: return param(m, v.at);
  case ENTRY_CONST: return m->consts[v.at];
  case ENTRY_NUMBER: return LLVMConstInt(type, (unsigned long long)v.at, true);
  case ENTRY_SIZE: return LLVMBuildIntCast2(g->b, size(m, v.at), type, true, "");
  case ENTRY_WORKSPACE_SIZE:
    base = LLVMGetParam(m->fn, m->workspace);
    at = size(m, v.at);
    break;
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
    LLVMValueRef n = call->size ? size(m, call->size)
                                : tirc_gen_int(g, LLVMInt64TypeInContext(g->context), call->bytes);
    LLVMValueRef to = value(m, call->args[1], ptr), from = value(m, call->args[0], ptr);
    LLVMValueRef apart = LLVMBuildICmp(g->b, LLVMIntNE, to, from, "");
    n = LLVMBuildSelect(g->b, apart, n, LLVMConstNull(LLVMTypeOf(n)), "");
    LLVMBuildMemCpy(g->b, to, 1, from, 1, n);
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

/* The extents, then n pointers. */
static LLVMValueRef begin(Gen *g, const char *name, LLVMTypeRef result, int n_extents, unsigned n,
                          Frame *outer) {
  LLVMTypeRef ptr = LLVMPointerTypeInContext(g->context, 0),
              i64 = LLVMInt64TypeInContext(g->context);
  const unsigned leading = (unsigned)n_extents;
  LLVMTypeRef *types = tirc_new_array(g->c, LLVMTypeRef, leading + n);
  for (unsigned i = 0; i < leading + n; i++) types[i] = i < leading ? i64 : ptr;
  LLVMValueRef fn =
      LLVMAddFunction(g->module, name, LLVMFunctionType(result, types, leading + n, false));
  tirc_gen_begin(g, fn, outer);
  return fn;
}

/* The numbers that extents tell, in memory of the function's own; gives the status. */
static LLVMValueRef call_sizes(Making *m, LLVMValueRef fn) {
  Gen *g = m->g;
  const int n = m->e->n_extents;
  LLVMTypeRef i64 = LLVMInt64TypeInContext(g->context),
              ptr = LLVMPointerTypeInContext(g->context, 0);
  LLVMValueRef callee =
      LLVMGetNamedFunction(g->module, tirc_format(g->c, "%s__rt", m->symbols[m->e->sizes]));
  LLVMValueRef *args = tirc_new_array(g->c, LLVMValueRef, n + 2);
  m->sizes = LLVMBuildArrayAlloca(g->b, i64, tirc_gen_int(g, i64, m->e->n_sizes), "sizes");
  for (int i = 0; i < n; i++) args[i] = LLVMGetParam(fn, (unsigned)i);
  args[n] = m->sizes;
  args[n + 1] = LLVMConstNull(ptr);
  return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(callee), callee, args, (unsigned)n + 2, "");
}

/* int64_t NAME_workspace_size(extents...) */
static void build_size(Making *m) {
  Gen *g = m->g;
  Frame outer;
  LLVMTypeRef i64 = LLVMInt64TypeInContext(g->context);
  LLVMValueRef fn =
      begin(g, tirc_format(g->c, "%s_workspace_size", m->e->name), i64, m->e->n_extents, 0, &outer);
  LLVMValueRef status = call_sizes(m, fn);
  LLVMValueRef failed =
      LLVMBuildICmp(g->b, LLVMIntNE, status, LLVMConstNull(LLVMTypeOf(status)), "");
  LLVMBasicBlockRef refuses = tirc_gen_block(g, "refuses"), allows = tirc_gen_block(g, "allows");
  LLVMBuildCondBr(g->b, failed, refuses, allows);
  LLVMPositionBuilderAtEnd(g->b, refuses);
  LLVMBuildRet(g->b, tirc_gen_int(g, i64, 0));
  LLVMPositionBuilderAtEnd(g->b, allows);
  LLVMBuildRet(g->b, size(m, 0));
  tirc_gen_end(g, &outer);
}

static void return_if(Gen *g, LLVMValueRef status) {
  LLVMBasicBlockRef failed = tirc_gen_block(g, "failed"), next = tirc_gen_block(g, "next");
  LLVMBuildCondBr(g->b,
                  LLVMBuildICmp(g->b, LLVMIntNE, status, LLVMConstNull(LLVMTypeOf(status)), ""),
                  failed, next);
  LLVMPositionBuilderAtEnd(g->b, failed);
  LLVMBuildRet(g->b, status);
  LLVMPositionBuilderAtEnd(g->b, next);
}

/* With a runtime, of n parameters and that. */
static void build_with_runtime(Making *m, unsigned n, int from, int to) {
  Gen *g = m->g;
  LLVMValueRef rt = LLVMGetParam(m->fn, n);
  if (n_leading(m)) return_if(g, call_sizes(m, m->fn));
  for (int i = from; i < to;) {
    const EntryCall *first = &m->e->calls[i];
    LLVMBasicBlockRef next = first->n_conditions ? tirc_gen_block(g, "behind") : NULL;
    build_conditions(m, first, next);
    do build_call(m, i++, rt);
    while (i < to && m->e->calls[i].branch == first->branch);
    if (!next) continue;
    LLVMBuildBr(g->b, next);
    LLVMPositionBuilderAtEnd(g->b, next);
  }
  LLVMBuildRet(g->b, LLVMConstNull(LLVMInt32TypeInContext(g->context)));
}

/* n parameters; NAME__rt has the runtime behind them. */
static void build_function(Making *m, const char *name, unsigned n, int from, int to) {
  Gen *g = m->g;
  Frame outer;
  LLVMTypeRef i32 = LLVMInt32TypeInContext(g->context);
  const int leading = n_leading(m);
  const unsigned n_pointers = n - (unsigned)leading;
  m->fn = begin(g, tirc_format(g->c, "%s__rt", name), i32, leading, n_pointers + 1, &outer);
  LLVMValueRef inner = m->fn;
  build_with_runtime(m, n, from, to);
  tirc_gen_end(g, &outer);
  LLVMValueRef fn = begin(g, name, i32, leading, n_pointers, &outer);
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
  m.takes_extents = e->n_extents > 0;
  unsigned n = (unsigned)e->n_extents;
  for (int i = 0; i < e->n_inputs + e->n_weights + e->n_results; i++)
    n += tirc_entry_has_param(e, i);
  if (e->place == WEIGHTS_INSIDE) m.weights = weights_inside(g, e);
  m.first_param = 0;
  m.prepared = n;
  m.workspace = tirc_entry_prepares(e) || e->place == WEIGHTS_BESIDE ? n + 1 : n;
  build_function(&m, e->name, m.workspace + 1, e->n_prepare, e->n_calls);
  if (m.takes_extents) build_size(&m);
  tirc_gen_error_text(g, e->name, NULL);
  tirc_gen_info(g, e);
}
