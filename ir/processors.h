/* How much runs at once here. */
#ifndef TIRC_IR_PROCESSORS_H
#define TIRC_IR_PROCESSORS_H

/* The processors that this process may run on, 1 at least. */
int tirc_processors(void);

#endif
