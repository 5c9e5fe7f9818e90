/* From a module to bytes: translate, verify, optimise, emit. All that LLVM owns hangs on one record
 * that is disposed on every way out, errors included. */
#include "codegen/symbols.h"
#include "gen.h"
#include "ir/tree/annotations.h"
#include "ir/tree/print.h"

typedef struct Work {
  Gen g;
  Target *target;
  LLVMModuleRef copy;
  LLVMMemoryBufferRef out;
  const char *const *kernels; /* symbols of kernels, of a module for a GPU */
  NameList *in_frame;         /* filled; may be NULL */
} Work;

static void dispose(Work *w) {
  tirc_marks_end(&w->g);
  if (w->copy) LLVMDisposeModule(w->copy);
  if (w->g.b) LLVMDisposeBuilder(w->g.b);
  if (w->g.module) LLVMDisposeModule(w->g.module);
  if (w->g.context) LLVMContextDispose(w->g.context);
  tirc_target_free(w->target);
}

/* What the function does, as text: NULL where its code says more, which failure it was or on which
 * line. */
static const char *text_of(const Gen *g, const Func *f) {
  Failures failures = {0};
  Func *nameless = tirc_copy(g->c, f, 1);
  nameless->name = "f";
  nameless->attrs = tirc_attrs_remove(g->c, f->attrs, tirc_key(KEY_GLOBAL_SYMBOL));
  tirc_failures_add(g->c, &failures, f);
  return failures.all.n ? NULL : tirc_print_func(g->c, nameless, DIALECT_TIR);
}

/* The first function of the module that does the same: modules repeat their operators. */
static const char *symbol_alike(Gen *g, StrMap *known, const Module *m, int i, const char *symbol) {
  const char *text = m->n_funcs > 1 && !g->marks && !g->lines ? text_of(g, m->funcs[i]) : NULL;
  if (!text) return NULL;
  void **at = tirc_strmap_at(g->c, known, text);
  const char *like = *at;
  if (!like) *at = (void *)(uintptr_t)symbol;
  return like;
}

static void translate(Work *w, const Module *m, bool of_model) {
  Gen *g = &w->g;
  g->target = w->target;
  g->context = LLVMContextCreate();
  g->module = LLVMModuleCreateWithNameInContext("tirc", g->context);
  g->b = LLVMCreateBuilderInContext(g->context);
  LLVMSetTarget(g->module, w->target->triple);
  LLVMSetDataLayout(g->module, w->target->layout);
  LLVMTypeRef ptr = LLVMPointerTypeInContext(g->context, 0);
  LLVMTypeRef fields[4] = {ptr, ptr, ptr, ptr};
  g->runtime_type = LLVMStructTypeInContext(g->context, fields, 4, false);
  if (g->exports) g->failures = tirc_failures(g->c, m);
  tirc_marks_begin(g, m);
  /* In this process only NAME__rt and NAME__packed are symbols: any NAME will do. */
  const char *const *symbols = g->exports ? tirc_symbols(g->c, m) : NULL;
  StrMap known = {0};
  for (int i = 0; i < m->n_funcs; i++) {
    const char *symbol = symbols ? symbols[i] : m->funcs[i]->name;
    if (w->kernels && w->kernels[i]) tirc_gen_kernel(g, m->funcs[i], w->kernels[i]);
    if (!w->kernels)
      tirc_gen_function(g, m->funcs[i], symbol, symbol_alike(g, &known, m, i, symbol));
    if (symbols && !w->kernels && !of_model && tirc_may_fail(&g->failures, m->funcs[i]))
      tirc_gen_error_text(g, symbols[i], m->funcs[i]);
  }
  tirc_marks_end(g);
}

/* A model's operators are its own affair, so that models and programs can be linked together;
 * inlined they would be one huge function. */
static void keep_inside(Work *w) {
  static const char name[] = "noinline";
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
  LLVMAttributeRef attribute = LLVMCreateEnumAttribute(w->g.context, kind, 0);
  for (LLVMValueRef f = LLVMGetFirstFunction(w->g.module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) != LLVMExternalLinkage) continue;
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
  }
}

_Noreturn static void internal(Tirc *c, const char *what, char *message) {
  char *s = tirc_strdup(c, message ? message : "");
  LLVMDisposeMessage(message);
  tirc_fail(c, (Loc){0}, CODE_CODEGEN, "this is a fault of tirc", "LLVM %s: %s", what, s);
}

static void verify(Work *w) {
  char *message = NULL;
  if (LLVMVerifyModule(w->g.module, LLVMReturnStatusAction, &message))
    internal(w->g.c, "rejects the translation", message);
  LLVMDisposeMessage(message);
}

static void optimise(Work *w) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(w->g.module, "default<O2>", w->target->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error) return;
  char *message = LLVMGetErrorMessage(error), *s = tirc_strdup(w->g.c, message);
  LLVMDisposeErrorMessage(message);
  tirc_fail(w->g.c, (Loc){0}, CODE_CODEGEN, "this is a fault of tirc", "LLVM's passes failed: %s",
            s);
}

static void list_allocations(Work *w, LLVMBasicBlockRef block) {
  size_t n;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    if (LLVMGetInstructionOpcode(i) == LLVMAlloca) {
      const char *name = LLVMGetValueName2(i, &n);
      vec_push(w->g.c, *w->in_frame, tirc_strndup(w->g.c, name, n));
    }
}

static void list_frames(Work *w) {
  for (LLVMValueRef f = LLVMGetFirstFunction(w->g.module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      list_allocations(w, b);
}

static void emit(Work *w, EmitKind kind) {
  char *message = NULL;
  if (kind == EMIT_LLVM) {
    char *text = LLVMPrintModuleToString(w->g.module);
    w->out = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "tirc");
    LLVMDisposeMessage(text);
    return;
  }
  LLVMCodeGenFileType type = kind == EMIT_ASM ? LLVMAssemblyFile : LLVMObjectFile;
  if (LLVMTargetMachineEmitToMemoryBuffer(w->target->machine, w->g.module, type, &message, &w->out))
    internal(w->g.c, "cannot emit code", message);
}

/* kind: NULL emits nothing. */
static LLVMMemoryBufferRef compile(Tirc *c, const Module *m, const ModelEntry *entry,
                                   const char *cpu, bool runs_here, const EmitKind *kind,
                                   NameList *in_frame) {
  Work *w = tirc_new(c, Work);
  w->g.c = c;
  w->in_frame = in_frame;
  w->g.exports = !runs_here;
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    dispose(w);
    tirc_throw(c);
  }
  w->target = tirc_target_new(c, cpu, runs_here);
  translate(w, m, entry);
  if (entry) keep_inside(w);
  if (entry) tirc_gen_entry(&w->g, entry, tirc_symbols(c, m));
  verify(w);
  optimise(w);
  if (in_frame) list_frames(w);
  if (kind) emit(w, *kind);
  TIRC_END(c, trap);
  dispose(w);
  return w->out;
}

LLVMMemoryBufferRef tirc_gen_compile(Tirc *c, const Module *m, const char *cpu, bool runs_here,
                                     EmitKind kind) {
  return compile(c, m, NULL, cpu, runs_here, &kind, NULL);
}

Code tirc_llvm_emit(Tirc *c, const Module *lowered, const char *cpu, EmitKind kind) {
  return tirc_llvm_emit_model(c, lowered, NULL, cpu, kind, NULL);
}

NameList tirc_llvm_in_frame(Tirc *c, const Module *lowered, const char *cpu) {
  NameList names = {0};
  (void)compile(c, lowered, NULL, cpu, false, NULL, &names);
  return names;
}

Code tirc_llvm_emit_model(Tirc *c, const Module *lowered, const ModelEntry *entry, const char *cpu,
                          EmitKind kind, NameList *in_frame) {
  LLVMMemoryBufferRef buffer = compile(c, lowered, entry, cpu, false, &kind, in_frame);
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    LLVMDisposeMemoryBuffer(buffer);
    tirc_throw(c);
  }
  size_t n = LLVMGetBufferSize(buffer);
  char *bytes = tirc_strndup(c, LLVMGetBufferStart(buffer), n);
  TIRC_END(c, trap);
  LLVMDisposeMemoryBuffer(buffer);
  return (Code){bytes, n};
}

static Code compile_kernels(Tirc *c, const Module *lowered, const Gpu *gpu,
                            const char *const *symbols, NameList *in_frame) {
  Work *w = tirc_new(c, Work);
  w->g.c = c;
  w->g.exports = true;
  w->kernels = symbols;
  w->in_frame = in_frame;
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    if (w->out) LLVMDisposeMemoryBuffer(w->out);
    dispose(w);
    tirc_throw(c);
  }
  w->target = tirc_gpu_target(c, gpu);
  translate(w, lowered, false);
  verify(w);
  optimise(w);
  if (in_frame)
    list_frames(w);
  else
    emit(w, EMIT_ASM);
  const size_t n = w->out ? LLVMGetBufferSize(w->out) : 0;
  char *text = tirc_strndup(c, w->out ? LLVMGetBufferStart(w->out) : "", n);
  TIRC_END(c, trap);
  if (w->out) LLVMDisposeMemoryBuffer(w->out);
  dispose(w);
  return (Code){text, n};
}

Code tirc_llvm_ptx(Tirc *c, const Module *lowered, const Gpu *gpu, const char *const *symbols) {
  return compile_kernels(c, lowered, gpu, symbols, NULL);
}

NameList tirc_llvm_kernels_in_frame(Tirc *c, const Module *lowered, const Gpu *gpu,
                                    const char *const *symbols) {
  NameList names = {0};
  (void)compile_kernels(c, lowered, gpu, symbols, &names);
  return names;
}

/* --- annotated assembly ---------------------------------------------------------------------- */

static void emit_annotated(Work *w, AsmCode *code) {
  Tirc *c = w->g.c;
  w->copy = LLVMCloneModule(w->g.module); /* code generation changes the module */
  LLVMSetTargetMachineAsmVerbosity(w->target->machine, true);
  emit(w, EMIT_ASM);
  const char *text = LLVMGetBufferStart(w->out);
  tirc_asm_read(c, code, text, LLVMGetBufferSize(w->out));
  LLVMDisposeMemoryBuffer(w->out);
  w->out = NULL;
  LLVMModuleRef module = w->g.module;
  w->g.module = w->copy;
  w->copy = module;
  emit(w, EMIT_OBJ);
  tirc_asm_sizes(code, w->target->triple, w->target->cpu->llvm_name, w->target->features, w->out);
  LLVMDisposeMemoryBuffer(w->out);
  w->out = NULL;
}

const AsmCode *tirc_llvm_annotate(Tirc *c, const Module *lowered, const char *cpu) {
  static const char *const signs[] = {[CPU_X86_64] = "#", [CPU_AARCH64] = "//", [CPU_APPLE] = ";"};
  AsmCode *code = tirc_new(c, AsmCode);
  Work *w = tirc_new(c, Work);
  w->g.c = c;
  w->g.exports = true;
  w->g.marks = &code->marks;
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    if (w->out) LLVMDisposeMemoryBuffer(w->out);
    dispose(w);
    tirc_throw(c);
  }
  w->target = tirc_target_new(c, cpu, false);
  code->cpu = w->target->cpu;
  code->comment = signs[code->cpu->arch];
  translate(w, lowered, false);
  verify(w);
  optimise(w);
  emit_annotated(w, code);
  TIRC_END(c, trap);
  dispose(w);
  return code;
}
