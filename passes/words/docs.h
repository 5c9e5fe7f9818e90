/* What a reader is told of the primitives and the errors, beyond the tables that the compiler
 * itself works with: primitive_docs.def has a record for each row of primitives.def,
 * definitions.def the definitions that ScheduleErrors refer to. */
#ifndef TIRC_WORDS_DOCS_H
#define TIRC_WORDS_DOCS_H

#include <stdbool.h>

#include "ir/codes.h"

typedef struct PrimitiveDoc {
  const char *name;
  const char *const *params; /* what each parameter means; NULL after the last */
  const char *returns;       /* NULL: nothing */
  const char *program,
      *script;              /* an example: what the script does is shown, so it cannot be wrong */
  const char *const *needs; /* preconditions; NULL after the last */
  const int *errors;        /* codes that it may raise; -1 after the last */
} PrimitiveDoc;
extern const PrimitiveDoc tirc_primitive_docs[];
extern const int tirc_n_primitive_docs;
const PrimitiveDoc *tirc_find_primitive_doc(const char *primitive); /* NULL when there is none */

/* Whether the documentation says that a primitive can raise this code. Any call can raise
 * "argument", which is no ScheduleError, and "let-escapes" in programs with a let around
 * blocks.
 */
bool tirc_may_raise(const char *primitive, DiagCode code);

typedef struct Definition {
  const char *name, *text;
  const int *errors; /* those that it explains; -1 after the last */
} Definition;
extern const Definition tirc_definitions[];
extern const int tirc_n_definitions;

#endif
