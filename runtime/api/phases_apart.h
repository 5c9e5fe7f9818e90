/* The phases of a module, each in a context of its own. */
#ifndef TIRC_RUNTIME_API_PHASES_APART_H
#define TIRC_RUNTIME_API_PHASES_APART_H

#include "api.h"
#include "passes/module/pipeline.h"

typedef struct PhasesApart {
  PipelineOptions options;
  int last; /* the number of the phase that ends it */
  /* What comes out, in the context that is asked for: */
  const Module *made, *unscheduled; /* the second as tirc_unscheduled gives it */
} PhasesApart;

/* Runs the phases of m, whose context outlives c. Throws as tirc_run_phases does. */
void tirc_run_phases_apart(Tirc *c, const Module *m, PhasesApart *p);

#endif
