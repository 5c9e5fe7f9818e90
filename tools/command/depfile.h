/* What a build was made from. */
#ifndef TIRC_TOOLS_DEPFILE_H
#define TIRC_TOOLS_DEPFILE_H

#include "command.h"

/* Writes to o->depfile that the files `made` hang on those that the options name, on what the
 * scripts among them read, and on the external data of m, which is imported or not. DONE, or the
 * exit status after a message. */
int write_depfile(const BuildOptions *o, const tirc_module *m, const List *made);

#endif
