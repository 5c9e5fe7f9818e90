/* Scripts that are part of the binary: the libraries of rules, which `tirc rules` prints, and the
 * operators. */
#ifndef TIRC_RULES_LIBRARY_H
#define TIRC_RULES_LIBRARY_H

#include "ir/cpu.h"
#include "ir/gpu.h"
#include "parser/syntax.h"

typedef struct RuleLibrary {
  const char *name, *text; /* "cpu" */
  const char *code;        /* the text, with empty lines in place of comments */
} RuleLibrary;
extern const RuleLibrary tirc_rule_libraries[];
extern const int tirc_n_rule_libraries;

/* The table of what the rules take as measured of a processor: its own, or else that of its
 * vectors, or else the usual one; or, where gpu is not NULL, of this GPU, or else of its kind, or
 * else of any. */
const RuleLibrary *tirc_rule_table(Tirc *c, const Cpu *target, const Gpu *gpu);
/* What stands for a library's file in messages: "<rules>/cpu.sch"; and back: NULL, a file. */
const char *tirc_rule_library_path(Tirc *c, const char *name);
const Source *tirc_library_source(Tirc *c, const char *path);

/* The same of the operators: "<operators>/matmul.sch". */
const char *tirc_operator_library_path(Tirc *c, const char *name);
/* The same of passes over graphs that are scripts: "<passes>/fold_batch_norm.sch". */
const char *tirc_pass_library_path(Tirc *c, const char *name);
/* The path of the library that a script at `from` means by a name, one of its own kind first; NULL:
 * there is none. */
const char *tirc_library_named(Tirc *c, const char *from, const char *name);
/* The whole text, comments and all; NULL: there is no such path. */
const char *tirc_library_text(Tirc *c, const char *path);

#endif
