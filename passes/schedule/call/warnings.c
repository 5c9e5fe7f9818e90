/* All that is warned of in a program. */
#include "warnings.h"
#include "passes/schedule/loops/loops.h"

void tirc_program_warnings(Sched *s, void (*tell)(void *self, Warning w), void *self) {
  tirc_spatial_dependences(s, tell, self);
  tirc_racing_loops(s, tell, self);
  tirc_accesses_outside(s, tell, self);
}
