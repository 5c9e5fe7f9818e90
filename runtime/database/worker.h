/* Who searches: a process, by a name that tells others on the same machine whether it still lives.
 */
#ifndef TIRC_RUNTIME_WORKER_H
#define TIRC_RUNTIME_WORKER_H

#include <stdbool.h>
#include <stddef.h>

enum { WORKER_NAME = 256 };

/* This one: host:process:time:start:namespace:boot. start: when the process began, in ticks since
 * the machine did; boot: the machine's start; namespace: of processes' numbers. What the system
 * does not tell is "?". */
void tirc_worker_name(char *out, size_t size);
/* Whether it was a process of this machine, as it runs now, and is one no longer. False where that
 * is not known. */
bool tirc_worker_is_gone(const char *name);
/* "process 4711 on host", for messages. */
void tirc_worker_text(const char *name, char *out, size_t size);

#endif
