/* The program reader: from the syntax tree of a TVMScript text to a Module. */
#ifndef TIRC_PARSER_PROGRAM_H
#define TIRC_PARSER_PROGRAM_H

#include "ir/tree/ir.h"
#include "syntax.h"

/* A -D on the command line: overrides a constant at the top of the file. A define that no constant
 * of the file has is added to the module's constants, and overrides what a schedule script begins
 * the name with. */
typedef struct Define {
  const char *name, *value; /* value: a Python literal */
} Define;

/* One function that stands in another text, a schedule script, whose names it may use: an
 * expression that begins with one of them is worked out there. */
typedef struct Surroundings {
  bool (*knows)(void *self, const char *name);
  /* A constant (INT, FLOAT, STRING, NONE), a TUPLE of such, or an expression. */
  Expr (*value)(void *self, const Syn *expression);
  /* f(a, b) of a function of that text, where given[i] are arguments that the program has; NULL: it
   * is worked out there, too. */
  Expr (*call)(void *self, const Syn *call, const Expr *given);
  void *self;
} Surroundings;
const Func *tirc_parse_function(Tirc *c, const Syn *def, const Surroundings *around);

/* Parses and reads; reads and writes that blocks leave out are inferred. Does not verify
 * (verify.h). Throws with place and hint: codes "syntax", "name", "type", "shape", "unsupported".
 */
const Module *tirc_parse_module(Tirc *c, const Source *source, int n_defines,
                                const Define *defines);

#endif
