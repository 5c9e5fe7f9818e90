/* Functions: NAME with the program's parameters, and NAME__packed that takes them from an array. */
#include "../../runtime/interp.h"
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

/* A parameter of the machine function: one of the program's, or a symbolic extent. */
typedef struct Param {
  Expr var;
  Buffer buffer; /* or NULL */
} Param;

typedef struct Signature {
  int n;
  Param *params;
  LLVMTypeRef *types; /* n of them, and the runtime's */
  LLVMTypeRef type;
} Signature;

static Signature signature_of(Gen *g, const Func *f) {
  Expr *symbols;
  int n_symbols = tirc_symbolic_params(g->c, f, &symbols);
  Signature s = {.n = f->n_params + n_symbols};
  s.params = tirc_new_array(g->c, Param, s.n + 1);
  s.types = tirc_new_array(g->c, LLVMTypeRef, s.n + 1);
  for (int i = 0; i < s.n; i++) {
    bool is_symbol = i >= f->n_params;
    Expr var = is_symbol ? symbols[i - f->n_params] : f->params[i];
    s.params[i] = (Param){var, is_symbol ? NULL : f->buffers[i]};
    /* A bool travels as its byte. */
    s.types[i] = s.params[i].buffer ? LLVMPointerTypeInContext(g->context, 0)
                                    : tirc_gen_memory_type(g, var->dtype);
  }
  s.types[s.n] = LLVMPointerTypeInContext(g->context, 0);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(g->context);
  s.type = LLVMFunctionType(i32, s.types, (unsigned)s.n + 1, false);
  return s;
}

/* --- aliasing ------------------------------------------------------------------------------- */

static bool find_handle_let(Visitor *v, Stmt s) {
  if (s->kind == STMT_LET && s->u.let.var->dtype.code == TYPE_HANDLE) *(bool *)v->self = true;
  return true;
}

/* Whether the data of different parameters may be assumed apart: not when the program says so, and
 * not when it makes pointers of its own. */
static bool can_restrict(const Func *f) {
  Expr wish = tirc_attrs_get(f->attrs, "tir.noalias");
  if (wish && tirc_is_int(wish, 0)) return false;
  bool has_pointers = false;
  Visitor v = {.stmt = find_handle_let, .self = &has_pointers};
  tirc_visit_stmt(&v, f->body);
  return !has_pointers;
}

static bool shares_data(const Func *f, int param) {
  for (int i = 0; i < f->n_params; i++)
    if (i != param && f->buffers[i] && f->buffers[i]->data == f->buffers[param]->data) return true;
  return false;
}

/* --- the two functions ---------------------------------------------------------------------- */

static void bind_params(Gen *g, const Func *f, const Signature *s, LLVMValueRef fn) {
  for (int i = 0; i < s->n; i++) {
    LLVMValueRef v = LLVMGetParam(fn, (unsigned)i);
    Expr var = s->params[i].var;
    LLVMSetValueName2(v, var->u.s, strlen(var->u.s));
    if (s->params[i].buffer) {
      tirc_map_set(g->c, &g->f.vars, s->params[i].buffer->data, v);
      if (g->restrict_data && !shares_data(f, i))
        tirc_gen_attribute(g, fn, (unsigned)i + 1, "noalias");
      tirc_gen_attribute(g, fn, (unsigned)i + 1, "nocapture");
    } else if (var->dtype.code == TYPE_BOOL) {
      v = LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
    }
    tirc_map_set(g->c, &g->f.vars, var, v);
  }
  g->f.rt = LLVMGetParam(fn, (unsigned)s->n);
  LLVMSetValueName2(g->f.rt, "rt", 2);
}

static LLVMValueRef build_plain(Gen *g, const Func *f, const Signature *s) {
  LLVMValueRef fn = LLVMAddFunction(g->module, f->name, s->type);
  Frame outer;
  tirc_gen_begin(g, fn, &outer);
  bind_params(g, f, s, fn);
  g->f.in_nests = tirc_gen_has_many_nests(f->body);
  tirc_gen_stmt(g, f->body);
  LLVMBuildRet(g->b, LLVMConstNull(LLVMInt32TypeInContext(g->context)));
  tirc_gen_end(g, &outer);
  return fn;
}

static void build_packed(Gen *g, const Func *f, const Signature *s, LLVMValueRef plain) {
  LLVMTypeRef ptr = LLVMPointerTypeInContext(g->context, 0), params[2] = {ptr, ptr};
  LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(g->context), params, 2, false);
  LLVMValueRef fn = LLVMAddFunction(g->module, tirc_format(g->c, "%s__packed", f->name), type);
  Frame outer;
  tirc_gen_begin(g, fn, &outer);
  LLVMValueRef *args = tirc_new_array(g->c, LLVMValueRef, s->n + 1);
  for (int i = 0; i < s->n; i++) {
    LLVMValueRef at = tirc_gen_int(g, LLVMInt64TypeInContext(g->context), i);
    LLVMValueRef slot = LLVMBuildInBoundsGEP2(g->b, ptr, LLVMGetParam(fn, 0), &at, 1, "");
    args[i] = LLVMBuildLoad2(g->b, ptr, slot, "");
    if (!s->params[i].buffer) args[i] = LLVMBuildLoad2(g->b, s->types[i], args[i], "");
  }
  args[s->n] = LLVMGetParam(fn, 1);
  LLVMValueRef call = LLVMBuildCall2(g->b, s->type, plain, args, (unsigned)s->n + 1, "");
  LLVMSetTailCall(call, true);
  LLVMBuildRet(g->b, call);
  tirc_gen_end(g, &outer);
}

void tirc_gen_function(Gen *g, const Func *f) {
  if (tirc_gen_is_library_name(f->name) || LLVMGetNamedFunction(g->module, f->name) ||
      LLVMGetNamedFunction(g->module, tirc_format(g->c, "%s__packed", f->name)))
    tirc_fail(g->c, f->loc, "codegen", "rename the function", "the name %s is taken", f->name);
  g->func = f;
  g->n_outlined = 0;
  g->restrict_data = can_restrict(f);
  Signature s = signature_of(g, f);
  LLVMValueRef plain = build_plain(g, f, &s);
  tirc_gen_attribute(g, plain, ON_FUNCTION, "noinline");
  build_packed(g, f, &s, plain);
}
