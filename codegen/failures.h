/* What the codes of a function say: 0 it is done, 1 there is no memory for its workspace, and from
 * STATUS_FIRST_FAILURE on one code for each assertion that may fail, in the order of the text.
 * Assertions of one place with one message share a code: a loop that is unrolled has copies of
 * them. */
#ifndef TIRC_CODEGEN_FAILURES_H
#define TIRC_CODEGEN_FAILURES_H

#include "ir/tree/ir.h"

enum { STATUS_NO_MEMORY = 1, STATUS_FIRST_FAILURE = 2 };

typedef struct Failure {
  const Func *func;
  Stmt assertion; /* the first of this code */
} Failure;

/* A zeroed one has none; failure i has the code STATUS_FIRST_FAILURE + i. */
typedef struct Failures {
  VEC(Failure) all;
  StrMap numbers; /* from what makes two the same to 1 + i */
} Failures;

/* Numbers the assertions of one more lowered function behind those that are there. */
void tirc_failures_add(Tirc *c, Failures *f, const Func *func);
/* Of all functions of a module. What of a module calls another part passes its codes on. */
Failures tirc_failures(Tirc *c, const Module *lowered);
/* The code of an assertion of this function; throws "codegen" where it was not added. */
int tirc_failure_code(Tirc *c, const Failures *f, const Func *func, Stmt assertion);
/* The failure of a code, or NULL: it is none of an assertion. */
const Failure *tirc_failure_of_code(const Failures *f, int code);
/* Whether one of them is this function's. */
bool tirc_may_fail(const Failures *f, const Func *func);

/* "main: n must be even (prog.tir:12)"; without the file's folders, which are nobody else's. */
const char *tirc_failure_text(Tirc *c, const Failure *f);
/* What is said of a code that no assertion has. */
const char *tirc_status_text(int code);

#endif
