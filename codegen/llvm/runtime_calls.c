/* The services of tirc_runtime for memory, as small functions inside of the module that also work
 * without one: memory then comes from the C library. They are written when a kernel first needs
 * them. */
#include "gen.h"

typedef struct ServiceInfo {
  const char *name;
  int field; /* of tirc_runtime */
} ServiceInfo;
static const ServiceInfo infos[SERVICE_COUNT] = {
    [SERVICE_ALLOC] = {"tirc.alloc", 2},
    [SERVICE_FREE] = {"tirc.free", 3},
};

typedef struct Types {
  LLVMTypeRef ptr, i64, none;
} Types;

static Types types_of(Gen *g) {
  return (Types){LLVMPointerTypeInContext(g->context, 0), LLVMInt64TypeInContext(g->context),
                 LLVMVoidTypeInContext(g->context)};
}

static LLVMTypeRef function_type(Gen *g, Service s) {
  Types t = types_of(g);
  LLVMTypeRef alloc[] = {t.ptr, t.i64}, release[] = {t.ptr, t.ptr, t.i64};
  return s == SERVICE_ALLOC ? LLVMFunctionType(t.ptr, alloc, 2, false)
                            : LLVMFunctionType(t.none, release, 3, false);
}

static LLVMValueRef library_call(Gen *g, const char *name, LLVMTypeRef type, int n,
                                 LLVMValueRef *args) {
  LLVMValueRef fn = LLVMGetNamedFunction(g->module, name);
  if (!fn) fn = LLVMAddFunction(g->module, name, type);
  return LLVMBuildCall2(g->b, type, fn, args, (unsigned)n, "");
}

static LLVMValueRef alloc_alone(Gen *g) {
  Types t = types_of(g);
  LLVMTypeRef params[2] = {t.i64, t.i64};
  LLVMValueRef bytes = LLVMGetParam(g->f.fn, 1);
  /* A multiple of the alignment, and at least that; sizes near 2^63 stay absurd and are refused. */
  LLVMValueRef up = LLVMBuildAdd(g->b, bytes, tirc_gen_int(g, t.i64, 64), "");
  LLVMValueRef args[2] = {tirc_gen_int(g, t.i64, 64),
                          LLVMBuildAnd(g->b, up, tirc_gen_int(g, t.i64, ~63LL), "")};
  return library_call(g, "aligned_alloc", LLVMFunctionType(t.ptr, params, 2, false), 2, args);
}

static LLVMValueRef free_alone(Gen *g) {
  Types t = types_of(g);
  LLVMValueRef p = LLVMGetParam(g->f.fn, 1);
  return library_call(g, "free", LLVMFunctionType(t.none, &t.ptr, 1, false), 1, &p);
}

/* if (rt && rt->FIELD) return rt->FIELD(rt->self, args...); else the built-in way. */
static void write_service(Gen *g, Service s) {
  static LLVMValueRef (*const alone[SERVICE_COUNT])(Gen *) = {
      [SERVICE_ALLOC] = alloc_alone,
      [SERVICE_FREE] = free_alone,
  };
  Types t = types_of(g);
  LLVMTypeRef type = LLVMGlobalGetValueType(g->f.fn);
  bool returns = LLVMGetReturnType(type) != t.none;
  LLVMValueRef rt = LLVMGetParam(g->f.fn, 0);
  LLVMBasicBlockRef look = tirc_gen_block(g, "look"), with = tirc_gen_block(g, "with"),
                    without = tirc_gen_block(g, "without");
  LLVMBuildCondBr(g->b, LLVMBuildIsNull(g->b, rt, ""), without, look);
  LLVMPositionBuilderAtEnd(g->b, look);
  LLVMValueRef field = LLVMBuildStructGEP2(g->b, g->runtime_type, rt, (unsigned)infos[s].field, "");
  LLVMValueRef callee = LLVMBuildLoad2(g->b, t.ptr, field, "");
  LLVMBuildCondBr(g->b, LLVMBuildIsNull(g->b, callee, ""), without, with);
  LLVMPositionBuilderAtEnd(g->b, with);
  LLVMValueRef args[5] = {LLVMBuildLoad2(g->b, t.ptr, rt, "")}; /* self is the first field */
  unsigned n = LLVMCountParams(g->f.fn);
  for (unsigned i = 1; i < n; i++) args[i] = LLVMGetParam(g->f.fn, i);
  LLVMValueRef r = LLVMBuildCall2(g->b, type, callee, args, n, "");
  if (returns)
    LLVMBuildRet(g->b, r);
  else
    LLVMBuildRetVoid(g->b);
  LLVMPositionBuilderAtEnd(g->b, without);
  r = alone[s](g);
  if (returns)
    LLVMBuildRet(g->b, r);
  else
    LLVMBuildRetVoid(g->b);
}

LLVMValueRef tirc_gen_service(Gen *g, Service s, int n, LLVMValueRef *args) {
  if (!g->services[s]) {
    Frame outer;
    LLVMValueRef fn = LLVMAddFunction(g->module, infos[s].name, function_type(g, s));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    tirc_gen_attribute(g, fn, ON_FUNCTION, "noinline");
    tirc_gen_begin(g, fn, &outer);
    write_service(g, s);
    tirc_gen_end(g, &outer);
    g->services[s] = fn;
  }
  LLVMTypeRef type = LLVMGlobalGetValueType(g->services[s]);
  return LLVMBuildCall2(g->b, type, g->services[s], args, (unsigned)n, "");
}
