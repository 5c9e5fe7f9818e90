/* The one function of a model in code, which calls the others (codegen/model_entry.h). */
#ifndef TIRC_RUNTIME_API_ENTRY_H
#define TIRC_RUNTIME_API_ENTRY_H

#include "api.h"

#include "codegen/model_entry.h"

/* For a module whose graph calls prim_funcs only, lowered too: what its functions would ask the
 * system for is a part of the workspace, and *lowered the functions that take it from there. Throws
 * "unsupported" for weights whose extents are no numbers and for calls of other programs. name
 * NULL: model. unscheduled (or NULL) has the functions as they were before, for the products in
 * them. Where there is a block of weights, the calls that prepare are those that fill it
 * (tirc_fill_weights). most_on_stack: as for tirc_hoist_memory. */
const ModelEntry *tirc_model_entry(Tirc *c, const Module *m, const Module *unscheduled,
                                   const Module **lowered, const char *name, EntryWeights place,
                                   int64_t most_on_stack);
/* Of a module that is not scheduled yet: throws the first of these, so that nothing is made in
 * vain. */
void tirc_require_sizes(Tirc *c, const Module *m);
/* What it is called: the name as C has it, or one that no function of the module has. */
const char *tirc_entry_name(Tirc *c, const Module *m, const char *name);

/* Fills the block of e->weights bytes, aligned to 64: copies of weights, and what is made of them,
 * by the entry's own calls, compiled for this machine; `block` is asked for it when that is done.
 * Throws "name" or "weights" for a weight that is missing, or of another type or shape. */
void tirc_fill_weights(Tirc *c, const ModelEntry *e, const Module *lowered,
                       const tirc_weights *weights, char *(*block)(void *self), void *self);

#endif
