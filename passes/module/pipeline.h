/* The phases of a module on its way to a program; phases.def is the table. */
#ifndef TIRC_MODULE_PIPELINE_H
#define TIRC_MODULE_PIPELINE_H

#include "ir/cpu.h"
#include "ir/gpu.h"
#include "module.h"

typedef struct PassArray { /* elements row by row */
  DType dtype;
  int ndim;
  const int64_t *shape;
  void *data;
  int64_t bytes;
} PassArray;

typedef struct PipelineOptions {
  const Cpu *cpu; /* what code will be made for, of which scripts ask; NULL: the usual one, */
  const Gpu *gpu; /* unless it is this one */
  const char *operators; /* a folder of operators that come first, or NULL */
  const char *indices;   /* what is done about them: "check", "clip", "trust"; NULL: nothing yet */
  int n_skip;
  const char *const *skip; /* names of passes that do not run */
  int n_extra;
  /* "PHASE:FILE" or "PHASE:FILE(NAME=VALUE, ...)": passes in scripts, after those of the phase. */
  const char *const *extra;
  /* What phase "schedule" does; NULL: nothing. The module comes back, scheduled, in context c. */
  const Module *(*schedule)(void *self, Tirc *c, const Module *m);
  /* Runs a function on these arrays, one a parameter; throws what goes wrong, and that it takes
   * long. NULL: nothing is run, and no constants are folded. */
  void (*evaluate)(void *self, Tirc *c, const Func *f, int n, const PassArray *arrays);
  /* What tirc_unscheduled gave after earlier phases, or NULL. */
  const Module *unscheduled;
  /* Sees the module after each pass (pass NULL: after a phase), or NULL. */
  void (*after)(void *self, int phase, const char *pass, const Module *m);
  void *self;
} PipelineOptions;

typedef struct ModulePass {
  int phase;
  const char *name, *help;
  const Module *(*run)(Passes *p, const Module *m); /* NULL: */
  const char *script;                               /* it is one of passes/module/rewrites */
} ModulePass;
extern const ModulePass tirc_module_passes[];
extern const int tirc_n_module_passes;
typedef struct Phase {
  const char *name, *help;
} Phase;
extern const Phase tirc_phases[];
extern const int tirc_n_phases;

/* The number of the phase of this name or number, -1: there is none. */
int tirc_find_phase(const char *name);

/* What passes work with, in context c. options (or NULL) stay the caller's. Throws "name" for a
 * skipped pass that there is not. */
Passes *tirc_passes_open(Tirc *c, const PipelineOptions *options);
/* A module whose graphs call prim_funcs only, after the passes of the phase "program", whether they
 * ran or not. unscheduled (or NULL): what tirc_unscheduled gave. */
const Module *tirc_finish_module(Tirc *c, const Module *m, const Module *unscheduled);
/* The module after the phases from number `first` to number `last`, this one too; before the first
 * of all, 0, what is known of its values is inferred. */
const Module *tirc_run_phases(Passes *p, const Module *m, int first, int last);

/* The same of one phase, from its pass *next on, 0 for all; stops ahead of a pass, which is *next
 * then, once the context has given more than `enough` bytes (0: never) and a pass has run. *next is
 * 0 at the end. */
const Module *tirc_run_phase(Passes *p, const Module *m, int phase, size_t enough, int *next);

/* The file of "FILE" or "FILE(NAME=VALUE, ...)": that of the binary where FILE is the name of one
 * of passes/module/rewrites; *arguments: "(NAME=VALUE, ...)", or NULL. */
const char *tirc_pass_file(Tirc *c, const char *text, const char **arguments);

/* What main makes of weights alone as a module of its own, main(weights) -> what is made, and the
 * rest, whose last weights are these results in their order, behind what it takes of the others.
 * Made is what takes less room than what it is made of. False: it makes nothing of them. */
bool tirc_weights_apart(Passes *p, const Module *m, const Module **made, const Module **rest);

/* Variables of a graph that are made of weights alone, and those of them that take less room than
 * what they are made of. */
typedef struct MadeOfWeights {
  PtrMap all, smaller;
} MadeOfWeights;
MadeOfWeights tirc_made_of_weights(Tirc *c, const Graph *g);

/* The functions that were scheduled, as they were before, in the same results for all extents;
 * NULL: phase "schedule" did not run. */
const Module *tirc_unscheduled(const Passes *p);

#endif
