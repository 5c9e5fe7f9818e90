/* A reference from inside: what was to be computed, and what the run began with. */
#ifndef TIRC_RUNTIME_CHECK_H
#define TIRC_RUNTIME_CHECK_H

#include "runtime/api/api.h"

const Func *tirc_reference_function(const tirc_reference *r);
bool tirc_reference_writes(const tirc_reference *r, int param); /* an array that it stores to */

#endif
