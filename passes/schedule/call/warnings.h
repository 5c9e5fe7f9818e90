/* All that is warned of in a program. */
#ifndef TIRC_CALL_WARNINGS_H
#define TIRC_CALL_WARNINGS_H

#include "passes/schedule/meaning/meaning.h"

/* All that is warned of in a program: these, loops that race (concurrent.c), and accesses outside
 * of their buffers (meaning/bounds.c). In a schedule of its own: what is asked there leaves
 * warnings behind. */
void tirc_program_warnings(Sched *s, void (*tell)(void *self, Warning w), void *self);

#endif
