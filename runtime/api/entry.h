/* The one function of a model in code, which calls the others (codegen/model_entry.h). */
#ifndef TIRC_RUNTIME_API_ENTRY_H
#define TIRC_RUNTIME_API_ENTRY_H

#include "api.h"

#include "codegen/model_entry.h"

/* For a module whose graph calls prim_funcs only, lowered too. Throws "unsupported" for extents
 * that are no numbers and for calls of other programs. name NULL: model. */
const ModelEntry *tirc_model_entry(Tirc *c, const Module *m, const Module *lowered,
                                   const char *name);

#endif
