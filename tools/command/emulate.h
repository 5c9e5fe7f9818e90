/* Runs of a program on the emulator of a GPU. */
#ifndef TIRC_TOOLS_EMULATE_H
#define TIRC_TOOLS_EMULATE_H

#include "command.h"

typedef struct Emulated {
  int n;
  uint8_t **written; /* an argument: a byte an element, whether a kernel wrote it */
  bool partial;      /* not all blocks ran */
} Emulated;
/* m: lowered for a GPU, or to be. Free the result in any case. */
int emulate(const RunOptions *o, const tirc_module *m, int n, const tirc_argument *args,
            Emulated *out);
/* emulate_report.c */
void show_costs(const tirc_costs *costs, bool as_json);
/* What a part of the blocks did not write counts as right. */
void leave_unwritten(const Emulated *d, const tirc_reference *r, int n, tirc_argument *got);

#endif
