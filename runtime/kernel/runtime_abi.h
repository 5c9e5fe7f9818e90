/* What compiled kernels ask of the program around them. Part of the binary interface of generated
 * code, so the order of the fields is fixed. What is NULL the code does itself: loops in the
 * caller, workspace from aligned_alloc. alloc and free are both NULL, or neither. The header of
 * generated code (codegen/c/declare.c) has the same. */
#ifndef TIRC_RUNTIME_ABI_H
#define TIRC_RUNTIME_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct tirc_runtime {
  void *self;
  /* Runs body(i, closure) for every i in [0, n), each once, in any order, on any threads; returns
   * when all are done. chunks: hand out at most so many contiguous pieces, in the best case large
   * ones first; 0 for as many as there are threads. */
  void (*parallel_for)(void *self, int64_t n, void (*body)(int64_t i, void *closure), void *closure,
                       int64_t chunks);
  /* Workspace for allocations that are too large for the stack; aligned to 64. NULL: out of memory.
   * Called from workers too. */
  void *(*alloc)(void *self, size_t bytes);
  void (*free)(void *self, void *p, size_t bytes);
} tirc_runtime;

#endif
