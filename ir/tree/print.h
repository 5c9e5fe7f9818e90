/* TVMScript in the layout of TVM 0.20's printer, so that a diff against its output is empty or
 * small; or in the other dialect (Module.dialect, dialect.h), as the releases since 0.24 print it.
 * print(parse(print(x))) == print(x). Names that clash within a function get suffixes _1, _2, ...
 */
#ifndef TIRC_IR_PRINT_H
#define TIRC_IR_PRINT_H

#include "ir.h"

/* Underline these statements with carets (ScheduleError diagnostics); labels[i], when not NULL, is
 * printed as a comment line above the statement ("# loop i"). With `fragment_only_marked` false the
 * whole module is printed. */
typedef struct PrintMarks {
  int n;
  const Stmt *at;
  const char *const *labels;
} PrintMarks;

const char *tirc_print_module(Tirc *c, const Module *m, const PrintMarks *marks); /* marks: NULL */

/* What a diagnostic shows. It is printed when it is read: rules try much that is refused, and a
 * large module's text for each refusal would cost more than the refusals. */
typedef struct MarkedModule {
  const char *text; /* once printed */
  const Module *module;
  PrintMarks marks;
} MarkedModule;
const char *tirc_print_marked(Tirc *c, const MarkedModule *m); /* m: NULL gives NULL */

/* Text to compare modules by, and none to read: elements of constants are their bits. */
const char *tirc_print_module_bits(Tirc *c, const Module *m);
const char *tirc_print_func(Tirc *c, const Func *f, Dialect d);
const char *tirc_print_stmt(Tirc *c, Stmt s, Dialect d);
const char *tirc_print_expr(Tirc *c, Expr e);
const char *tirc_print_region(Tirc *c, Region r); /* "A[0:16, vi]" */
const char *tirc_print_buffer(Tirc *c, Buffer b); /* "A: float32[64, 64]" for messages */
bool tirc_is_reserved(const char *word);          /* no name: Python's keywords, T, range ... */
const char *tirc_loop_kind_name(LoopKind k);      /* "serial", "parallel", ... */
const char *tirc_iter_kind_name(IterKind k);      /* "spatial", "reduce", "opaque", "scan" */

/* The message of a check of what a program assumes. */
const char *tirc_assumed_text(Tirc *c, Expr condition);

#endif
