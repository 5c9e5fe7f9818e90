/* The loops and blocks of a module as a list, in the order of its text, with the names and the
 * lines that the printer gives them:
 *
 *   for i in T.parallel(16):         0 function main
 *       for j in range(8):           1   loop i, parallel, extent 16
 *           with T.block("C"):  =>   2     loop j, serial, extent 8
 *               ...                  3       block C
 *
 * The printer makes it as it goes, so a tree that is drawn from it and the text agree. */
#ifndef TIRC_IR_OUTLINE_H
#define TIRC_IR_OUTLINE_H

#include "ir.h"

typedef enum OutlineKind { OUTLINE_FUNCTION, OUTLINE_LOOP, OUTLINE_BLOCK } OutlineKind;

typedef struct OutlineBuffer {
  const char *name;
  const char *detail; /* accesses: "A[vi, vk]"; allocations and parameters: "float32[16, 8]" */
  const char *scope;  /* allocations and parameters, otherwise NULL */
} OutlineBuffer;

typedef struct OutlineNode {
  OutlineKind kind;
  int depth; /* 0: a function */
  int line;  /* in the text, from 1 */
  const char *name;
  const char *annotations; /* as text, or NULL */
  /* loops */
  const char *loop_kind; /* "serial", "parallel", ... */
  const char *extent;    /* as printed */
  const char *thread;    /* or NULL */
  /* blocks */
  const char *iters;     /* their kinds: "SSR" */
  const char *predicate; /* as printed; NULL: it always runs */
  bool has_init;
  /* blocks: reads, writes, allocations; functions: the parameters are in allocs */
  int n_reads, n_writes, n_allocs;
  const OutlineBuffer *reads, *writes, *allocs;
} OutlineNode;

typedef struct Outline {
  const char *text; /* of the module, as tirc_print_module gives it */
  int n;
  const OutlineNode *at;
} Outline;

Outline tirc_outline(Tirc *c, const Module *m);

#endif
