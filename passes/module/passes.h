/* The inside of the passes: what they share while they work on one module. */
#ifndef TIRC_MODULE_PASSES_H
#define TIRC_MODULE_PASSES_H

#include "module.h"
#include "operators.h"
#include "pipeline.h"

struct Passes {
  Tirc *c;
  PipelineOptions options;
  Operators *ops;            /* opened when the first operator is asked for */
  StrMap calls;              /* what an operator is called with, as text -> OperatorProgram * */
  PtrMap ranges;             /* variable or constant -> Bound *: what is known of its integers */
  PtrMap made_by;            /* variable -> the MadeBy that it comes from */
  const Module *unscheduled; /* as it went into phase "schedule"; NULL: it has not been there */
};

/* How a variable came to be: by an operator's program, of these tensors. */
typedef struct MadeBy {
  const OperatorProgram *program;
  const Node *tensors;
} MadeBy;
/* index_ranges.c: elements of n are from `first` to before `end`, in the variables of the graph.
 * What that says of parameters of the graph becomes part of its attributes. */
Attrs tirc_want_range(Passes *p, const Graph *g, Attrs attrs, Node n, int64_t first, Expr end);

/* fold_constant.c: an array of what info says, with a copy of the data (NULL: zeroed); false where
 * an extent is no constant. */
bool tirc_pass_array(Tirc *c, Info info, const void *data, PassArray *out);
/* Runs f on them, one a parameter. False: it cannot be run, or not in time. */
bool tirc_pass_evaluate(Passes *p, const Func *f, int n, PassArray *arrays);

/* patterns.c: what the patterns of a script match is handed to other programs. */
const Module *tirc_fuse_by_patterns(Passes *p, Script *sc, const Module *m, Value patterns);
const Module *tirc_group_by_patterns(Passes *p, Script *sc, const Module *m, Value composites,
                                     bool binds_constants);

/* The same file: what they match is written anew by the script's functions. */
const Module *tirc_rewrite_by_patterns(Passes *p, Script *sc, const Module *m, Value rewrites,
                                       bool once);

/* script_pass.c: the module that the script of tirc_pass_file(text) makes. */
const Module *tirc_script_pass(Passes *p, const Module *m, const char *text);

#define PHASE(name, help)
#define SCRIPT(phase, file, name, help)
#define PASS(phase, function, name, help)                                                          \
  const Module *tirc_pass_##function(Passes *p, const Module *m);
#include "phases.def"
#undef PASS
#undef SCRIPT
#undef PHASE

#endif
