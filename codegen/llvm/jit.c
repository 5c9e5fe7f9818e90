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

Jit *tirc_jit_open(Tirc *c) {
  Jit *j = calloc(1, sizeof *j);
  if (!j) tirc_fail(c, (Loc){0}, "memory", NULL, "out of memory");
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    tirc_jit_free(j);
    tirc_throw(c);
  }
  LLVMOrcDefinitionGeneratorRef process;
  tirc_targets_ready(c);
  check(c, LLVMOrcCreateLLJIT(&j->lljit, NULL));
  const char prefix = LLVMOrcLLJITGetGlobalPrefix(j->lljit);
  check(c, LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, prefix, NULL, NULL));
  LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(j->lljit), process);
  TIRC_END(c, trap);
  return j;
}

static void make_room(Tirc *c, Jit *j, int n) {
  Entry *grown = realloc(j->funcs, ((size_t)j->n + (size_t)n + 1) * sizeof *grown);
  if (!grown) tirc_fail(c, (Loc){0}, "memory", NULL, "out of memory");
  j->funcs = grown;
}

void tirc_jit_add(Tirc *c, Jit *j, const Module *lowered, const char *cpu) {
  make_room(c, j, lowered->n_funcs);
  LLVMOrcJITDylibRef main = LLVMOrcLLJITGetMainJITDylib(j->lljit);
  LLVMMemoryBufferRef object = tirc_gen_compile(c, lowered, cpu, true, EMIT_OBJ);
  check(c, LLVMOrcLLJITAddObjectFile(j->lljit, main, object)); /* takes the object in any case */
  for (int i = 0; i < lowered->n_funcs; i++) {
    LLVMOrcExecutorAddress address = 0;
    const char *symbol = tirc_format(c, "%s__packed", lowered->funcs[i]->name);
    check(c, LLVMOrcLLJITLookup(j->lljit, &address, symbol));
    char *name = strdup(lowered->funcs[i]->name);
    if (!name) tirc_fail(c, (Loc){0}, "memory", NULL, "out of memory");
    j->funcs[j->n++] = (Entry){name, (PackedFunc)(uintptr_t)address};
  }
}

Jit *tirc_jit_new(Tirc *c, const Module *lowered, const char *cpu) {
  Jit *j = tirc_jit_open(c);
  Trap trap;
  if (!TIRC_TRY(c, trap)) {
    tirc_jit_free(j);
    tirc_throw(c);
  }
  tirc_jit_add(c, j, lowered, cpu);
  TIRC_END(c, trap);
  return j;
}

PackedFunc tirc_jit_find(Jit *j, const char *func) {
  for (int i = 0; i < j->n; i++)
    if (strcmp(j->funcs[i].name, func) == 0) return j->funcs[i].func;
  return NULL;
}
