/* `tirc tune --device emulate`. */
#ifndef TIRC_TOOLS_TUNE_EMULATE_H
#define TIRC_TOOLS_TUNE_EMULATE_H

#include "command.h"

/* Ranks points of the space by a model; says so, and writes the best one's script for -o. */
int rank_by_emulator(const TuneOptions *o, const tirc_module *program);

#endif
