/* What a page does not have: threads, a stack that can be asked for, LLVM, files of the user. */
#include "play.h"

#include "codegen/llvm/asm_code.h"
#include "codegen/llvm/llvm.h"
#include "ir/stack.h"
#include "runtime/arrays/safetensors.h"

#include <emscripten/stack.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- ir/stack.h ------------------------------------------------------------------------------- */

size_t tirc_stack_left(void) { return emscripten_stack_get_free(); }

bool tirc_on_stack(size_t bytes, void (*body)(void *self), void *self) {
  if (tirc_stack_left() < bytes) return false;
  body(self);
  return true;
}

/* --- the C library ---------------------------------------------------------------------------- */

typedef struct Sorting {
  char *at, *spare;
  size_t size;
  int (*compare)(const void *, const void *, void *);
  void *self;
} Sorting;

/* By merging: what is equal stays in its order. */
static void sort(const Sorting *s, size_t first, size_t end) {
  const size_t middle = first + (end - first) / 2;
  if (end - first < 2) return;
  sort(s, first, middle);
  sort(s, middle, end);
  size_t a = first, b = middle;
  for (size_t i = first; i < end; i++) {
    const bool take_a = b == end || (a < middle && s->compare(s->at + a * s->size,
                                                              s->at + b * s->size, s->self) <= 0);
    memcpy(s->spare + i * s->size, s->at + (take_a ? a++ : b++) * s->size, s->size);
  }
  memcpy(s->at + first * s->size, s->spare + first * s->size, (end - first) * s->size);
}

void qsort_r(void *at, size_t n, size_t size, int (*compare)(const void *, const void *, void *),
             void *self) {
  const Sorting s = {at, malloc(n * size + 1), size, compare, self};
  if (!s.spare) abort();
  sort(&s, 0, n);
  free(s.spare);
}

long long bytes_taken(void) { return (long long)(uintptr_t)sbrk(0); }

/* --- codegen/llvm ----------------------------------------------------------------------------- */

const Cpu *tirc_llvm_cpu(Tirc *c, const char *name) {
  const Cpu *cpu = tirc_cpu_find(strcmp(name, "native") == 0 ? CPU_DEFAULT : name);
  if (!cpu) tirc_cpu_unknown(c, name);
  return cpu;
}

const char *const tirc_asm_kind_names[ASM_KIND_COUNT] = {NULL};

static _Noreturn void no_llvm(Tirc *c) {
  tirc_fail(c, (Loc){0}, CODE_TARGET, "the command has it: tirc build",
            "there is no LLVM in a page");
}

Code tirc_llvm_emit_model(Tirc *c, const Module *lowered, const ModelEntry *entry, const char *cpu,
                          EmitKind kind, NameList *in_frame) {
  (void)lowered, (void)entry, (void)cpu, (void)kind, (void)in_frame;
  no_llvm(c);
}

NameList tirc_llvm_in_frame(Tirc *c, const Module *lowered, const char *cpu) {
  (void)c, (void)lowered, (void)cpu;
  return (NameList){0}; /* that is for a warning of machine code */
}

Code tirc_llvm_ptx(Tirc *c, const Module *lowered, const struct Gpu *gpu,
                   const char *const *symbols) {
  (void)lowered, (void)gpu, (void)symbols;
  no_llvm(c);
}

const struct AsmCode *tirc_llvm_annotate(Tirc *c, const Module *lowered, const char *cpu) {
  (void)lowered, (void)cpu;
  no_llvm(c);
}

const char *tirc_llvm_lane_call(Expr e) {
  (void)e;
  return NULL;
}

Jit *tirc_jit_new(Tirc *c, const Module *lowered, const char *cpu) {
  (void)lowered, (void)cpu;
  no_llvm(c);
}

PackedFunc tirc_jit_find(Jit *j, const char *func) {
  (void)j, (void)func;
  return NULL;
}

void tirc_jit_free(Jit *j) { (void)j; }

/* --- files ------------------------------------------------------------------------------------ */

const StoredTensor *tirc_safetensors_find(const Safetensors *s, const char *name) {
  (void)s, (void)name;
  return NULL;
}

int access(const char *path, int mode) {
  (void)path, (void)mode;
  errno = ENOENT;
  return -1;
}

FILE *fopen(const char *restrict path, const char *restrict mode) {
  (void)path, (void)mode;
  errno = ENOENT;
  return NULL;
}
