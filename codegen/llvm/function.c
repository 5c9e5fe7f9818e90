/* Functions: NAME__rt with the program's parameters and the runtime, NAME__packed that takes them
 * from an array, and NAME that finds the runtime itself. */
#include "codegen/signature.h"
#include "gen.h"

void tirc_gen_attribute(Gen *g, LLVMValueRef fn, unsigned index, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(fn, index, LLVMCreateEnumAttribute(g->context, kind, 0));
}

static void string_attribute(Gen *g, LLVMValueRef fn, const char *key, const char *value) {
  LLVMAttributeRef a = LLVMCreateStringAttribute(g->context, key, (unsigned)strlen(key), value,
                                                 (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(fn, ON_FUNCTION, a);
}

void tirc_gen_begin(Gen *g, LLVMValueRef fn, Frame *outer) {
  g->f.here = LLVMGetInsertBlock(g->b);
  *outer = g->f;
  g->f = (Frame){.fn = fn};
  tirc_marks_function(g);
  tirc_gen_attribute(g, fn, ON_FUNCTION, "nounwind");
  string_attribute(g, fn, "target-cpu", g->target->cpu->llvm_name);
  if (g->target->features[0]) string_attribute(g, fn, "target-features", g->target->features);
  if (tirc_cpu_vector_bits(g->target->cpu) == 512)
    string_attribute(g, fn, "prefer-vector-width", "512");
  g->f.entry = tirc_gen_block(g, "entry");
  LLVMPositionBuilderAtEnd(g->b, tirc_gen_block(g, "body"));
}

void tirc_gen_end(Gen *g, const Frame *outer) {
  LLVMPositionBuilderAtEnd(g->b, g->f.entry);
  LLVMBuildBr(g->b, LLVMGetNextBasicBlock(g->f.entry));
  g->f = *outer;
  if (g->f.here) LLVMPositionBuilderAtEnd(g->b, g->f.here);
  tirc_marks_resume(g);
}

/* LLVM's types of a signature. */
typedef struct Shape {
  Signature s;
  LLVMTypeRef *types; /* s.n of them, and the runtime's */
  LLVMTypeRef type;
} Shape;

static Shape shape_of(Gen *g, const Func *f) {
  Shape r = {.s = tirc_signature(g->c, f)};
  r.types = tirc_new_array(g->c, LLVMTypeRef, r.s.n + 1);
  for (int i = 0; i < r.s.n; i++) /* a bool travels as its byte */
    r.types[i] = r.s.params[i].buffer ? LLVMPointerTypeInContext(g->context, 0)
                                      : tirc_gen_memory_type(g, r.s.params[i].var->dtype);
  r.types[r.s.n] = LLVMPointerTypeInContext(g->context, 0);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(g->context);
  r.type = LLVMFunctionType(i32, r.types, (unsigned)r.s.n + 1, false);
  return r;
}

/* --- the two functions ---------------------------------------------------------------------- */

static void bind_params(Gen *g, const Signature *s, LLVMValueRef fn) {
  for (int i = 0; i < s->n; i++) {
    LLVMValueRef v = LLVMGetParam(fn, (unsigned)i);
    Expr var = s->params[i].var;
    LLVMSetValueName2(v, var->u.s, strlen(var->u.s));
    if (s->params[i].buffer) {
      tirc_map_set(g->c, &g->f.vars, s->params[i].buffer->data, v);
      if (s->params[i].is_apart) tirc_gen_attribute(g, fn, (unsigned)i + 1, "noalias");
      tirc_gen_attribute(g, fn, (unsigned)i + 1, "nocapture");
    } else if (var->dtype.code == TYPE_BOOL) {
      v = LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
    }
    tirc_map_set(g->c, &g->f.vars, var, v);
  }
  g->f.rt = LLVMGetParam(fn, (unsigned)s->n);
  LLVMSetValueName2(g->f.rt, "rt", 2);
}

static const char *plain_symbol(Gen *g, const char *symbol) {
  return tirc_format(g->c, "%s__rt", symbol);
}

static LLVMValueRef build_plain(Gen *g, const Func *f, const Shape *s) {
  LLVMValueRef fn = LLVMAddFunction(g->module, plain_symbol(g, g->symbol), s->type);
  Frame outer;
  tirc_gen_begin(g, fn, &outer);
  bind_params(g, &s->s, fn);
  g->f.in_nests = tirc_gen_has_many_nests(f->body);
  tirc_gen_stmt(g, f->body);
  LLVMBuildRet(g->b, LLVMConstNull(LLVMInt32TypeInContext(g->context)));
  tirc_gen_end(g, &outer);
  return fn;
}

/* One that goes on in another one, which does the same. */
static LLVMValueRef build_same(Gen *g, const Shape *s, const char *like) {
  LLVMValueRef fn = LLVMAddFunction(g->module, plain_symbol(g, g->symbol), s->type);
  LLVMValueRef other = LLVMGetNamedFunction(g->module, plain_symbol(g, like));
  LLVMValueRef *args = tirc_new_array(g->c, LLVMValueRef, s->s.n + 1);
  Frame outer;
  tirc_gen_begin(g, fn, &outer);
  for (int i = 0; i <= s->s.n; i++) args[i] = LLVMGetParam(fn, (unsigned)i);
  LLVMValueRef call = LLVMBuildCall2(g->b, s->type, other, args, (unsigned)s->s.n + 1, "");
  LLVMSetTailCall(call, true);
  LLVMBuildRet(g->b, call);
  tirc_gen_end(g, &outer);
  return fn;
}

static void build_packed(Gen *g, const Shape *s, LLVMValueRef plain) {
  LLVMTypeRef ptr = LLVMPointerTypeInContext(g->context, 0), params[2] = {ptr, ptr};
  LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(g->context), params, 2, false);
  LLVMValueRef fn = LLVMAddFunction(g->module, tirc_format(g->c, "%s__packed", g->symbol), type);
  Frame outer;
  tirc_gen_begin(g, fn, &outer);
  LLVMValueRef *args = tirc_new_array(g->c, LLVMValueRef, s->s.n + 1);
  for (int i = 0; i < s->s.n; i++) {
    LLVMValueRef at = tirc_gen_int(g, LLVMInt64TypeInContext(g->context), i);
    LLVMValueRef slot = LLVMBuildInBoundsGEP2(g->b, ptr, LLVMGetParam(fn, 0), &at, 1, "");
    args[i] = LLVMBuildLoad2(g->b, ptr, slot, "");
    if (!s->s.params[i].buffer) args[i] = LLVMBuildLoad2(g->b, s->types[i], args[i], "");
  }
  args[s->s.n] = LLVMGetParam(fn, 1);
  LLVMValueRef call = LLVMBuildCall2(g->b, s->type, plain, args, (unsigned)s->s.n + 1, "");
  LLVMSetTailCall(call, true);
  LLVMBuildRet(g->b, call);
  tirc_gen_end(g, &outer);
}

LLVMValueRef tirc_gen_default_runtime(Gen *g) {
  static const char name[] = "tirc_default_runtime";
  LLVMTypeRef ptr = LLVMPointerTypeInContext(g->context, 0);
  LLVMTypeRef type = LLVMFunctionType(ptr, NULL, 0, false);
  LLVMValueRef fn = LLVMGetNamedFunction(g->module, name);
  if (!fn) {
    fn = LLVMAddFunction(g->module, name, type);
    LLVMSetLinkage(fn, LLVMExternalWeakLinkage);
  }
  LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), call = tirc_gen_block(g, "ask");
  LLVMBasicBlockRef done = tirc_gen_block(g, "done");
  LLVMBuildCondBr(g->b, LLVMBuildIsNull(g->b, fn, ""), done, call);
  LLVMPositionBuilderAtEnd(g->b, call);
  LLVMValueRef values[2] = {LLVMConstNull(ptr), LLVMBuildCall2(g->b, type, fn, NULL, 0, "")};
  LLVMBuildBr(g->b, done);
  LLVMPositionBuilderAtEnd(g->b, done);
  LLVMBasicBlockRef blocks[2] = {before, call};
  LLVMValueRef rt = LLVMBuildPhi(g->b, ptr, "rt");
  LLVMAddIncoming(rt, values, blocks, 2);
  return rt;
}

static void build_exported(Gen *g, const Shape *s, LLVMValueRef plain) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(g->context);
  LLVMTypeRef type = LLVMFunctionType(i32, s->types, (unsigned)s->s.n, false);
  LLVMValueRef fn = LLVMAddFunction(g->module, g->symbol, type);
  Frame outer;
  tirc_gen_begin(g, fn, &outer);
  LLVMValueRef *args = tirc_new_array(g->c, LLVMValueRef, s->s.n + 1);
  for (int i = 0; i < s->s.n; i++) args[i] = LLVMGetParam(fn, (unsigned)i);
  args[s->s.n] = tirc_gen_default_runtime(g);
  LLVMValueRef call = LLVMBuildCall2(g->b, s->type, plain, args, (unsigned)s->s.n + 1, "");
  LLVMSetTailCall(call, true);
  LLVMBuildRet(g->b, call);
  tirc_gen_end(g, &outer);
}

void tirc_gen_function(Gen *g, const Func *f, const char *symbol, const char *like) {
  g->func = f;
  g->symbol = symbol;
  g->loc = f->loc;
  g->n_outlined = 0;
  if (!g->exports) {
    g->failures = (Failures){0};
    tirc_failures_add(g->c, &g->failures, f);
  }
  Shape s = shape_of(g, f);
  g->restrict_data = s.s.restrict_data;
  LLVMValueRef plain = like ? build_same(g, &s, like) : build_plain(g, f, &s);
  tirc_gen_attribute(g, plain, ON_FUNCTION, "noinline");
  build_packed(g, &s, plain);
  if (g->exports) build_exported(g, &s, plain);
}
