/* Shared objects out of objects. */
#ifndef TIRC_TOOLS_LINK_H
#define TIRC_TOOLS_LINK_H

#include "tools/tool.h"

/* A shared object of an object file and the kernels' runtime, made by the system's C compiler ($CC,
 * or cc). *out is malloc'ed. DONE, or BAD with a message. */
int link_shared(const Options *o, const char *object, size_t n, char **out, size_t *n_out);

#endif
