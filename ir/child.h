/* Work for a child process: what it loads and allocates goes with it. */
#ifndef TIRC_IR_CHILD_H
#define TIRC_IR_CHILD_H

#include "context.h"

/* Memory that this process and its children see at the same address, zeroed, of which only what is
 * touched is there; NULL: it cannot be had. */
void *tirc_shared_memory(size_t bytes);
void tirc_shared_free(void *at, size_t bytes); /* or NULL */

/* Runs body(c, self) in a child, whose results are what it writes into shared memory; what it
 * raises is raised here. False: there is no child, and body did not run. *peak, if not NULL: the
 * bytes that the child had in memory at most, with those that it shared. For a process of one
 * thread: a child of another one may find what the others had locked.
 * Throws "child" where the child was ended: how is not known to a process that ignores SIGCHLD. */
bool tirc_in_child(Tirc *c, void (*body)(Tirc *c, void *self), void *self, int64_t *peak);

/* Begins body(c, self) in a child that goes on beside this process: what it raises, and how it
 * ends, is nobody's affair. -1: there is none. To be ended, which waits for it. */
int tirc_begin_child(Tirc *c, void (*body)(Tirc *c, void *self), void *self);
/* -1: none. Gives the bytes that it had in memory at most. */
int64_t tirc_end_child(int child);

#endif
