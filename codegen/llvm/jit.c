/* Code for this process: the same object file that `--emit=obj` writes, linked in memory by ORC.
 * The only symbols it can reach are those the translation names: libm, and memory from the C
 * library. */
#include "gen.h"

#include <stdlib.h>

typedef struct Entry {
  char *name; /* of the heap */
  PackedFunc func;
} Entry;
struct Jit {
  LLVMOrcLLJITRef lljit;
  int n;
  Entry *funcs;
};

void tirc_jit_free(Jit *j) {
  if (!j) return;
  if (j->lljit) {
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(j->lljit);
    if (error) LLVMConsumeError(error);
  }
  for (int i = 0; i < j->n; i++) free(j->funcs[i].name);
  free(j->funcs);
  free(j);
}

static void check(Tirc *c, LLVMErrorRef error) {
  if (!error) return;
  char *message = LLVMGetErrorMessage(error), *s = tirc_strdup(c, message);
  LLVMDisposeErrorMessage(message);
  tirc_fail(c, (Loc){0}, "codegen", NULL, "the code cannot be linked: %s", s);
}

static void link_object(Tirc *c, Jit *j, LLVMMemoryBufferRef object) {
  LLVMErrorRef error = LLVMOrcCreateLLJIT(&j->lljit, NULL);
  if (error) {
    LLVMDisposeMemoryBuffer(object);
    check(c, error);
  }
  LLVMOrcJITDylibRef main = LLVMOrcLLJITGetMainJITDylib(j->lljit);
  error = LLVMOrcLLJITAddObjectFile(j->lljit, main, object); /* takes the object in any case */
  check(c, error);
  LLVMOrcDefinitionGeneratorRef process;
  char prefix = LLVMOrcLLJITGetGlobalPrefix(j->lljit);
  check(c, LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, prefix, NULL, NULL));
  LLVMOrcJITDylibAddGenerator(main, process);
}

static void find_functions(Tirc *c, Jit *j, const Module *m) {
  j->funcs = calloc((size_t)m->n_funcs + 1, sizeof *j->funcs);
  if (!j->funcs) tirc_fail(c, (Loc){0}, "memory", NULL, "out of memory");
  for (int i = 0; i < m->n_funcs; i++) {
    LLVMOrcExecutorAddress address = 0;
    const char *symbol = tirc_format(c, "%s__packed", m->funcs[i]->name);
    check(c, LLVMOrcLLJITLookup(j->lljit, &address, symbol));
    j->funcs[i].name = strdup(m->funcs[i]->name);
    if (!j->funcs[i].name) tirc_fail(c, (Loc){0}, "memory", NULL, "out of memory");
    j->funcs[i].func = (PackedFunc)(uintptr_t)address;
    j->n++;
  }
}

Jit *tirc_jit_new(Tirc *c, const Module *lowered, const char *cpu) {
  LLVMMemoryBufferRef object = tirc_gen_compile(c, lowered, cpu, true, EMIT_OBJ);
  Jit *j = calloc(1, sizeof *j);
  if (!j) {
    LLVMDisposeMemoryBuffer(object);
    tirc_fail(c, (Loc){0}, "memory", NULL, "out of memory");
  }
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    tirc_jit_free(j);
    tirc_throw(c);
  }
  link_object(c, j, object);
  find_functions(c, j, lowered);
  TIRC_END(c, trap);
  return j;
}

PackedFunc tirc_jit_find(Jit *j, const char *func) {
  for (int i = 0; i < j->n; i++)
    if (strcmp(j->funcs[i].name, func) == 0) return j->funcs[i].func;
  return NULL;
}
