/* A process for what may crash, hang or eat all memory: it does something whenever it is asked, and
 * costs itself alone. Memory that both see is tirc_shared_memory (ir/child.h), had before it
 * starts. */
#ifndef TIRC_RUNTIME_CHILD_H
#define TIRC_RUNTIME_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Child {
  pid_t pid;    /* 0: none */
  int to, from; /* pipes: a byte asks; a byte answers */
} Child;

/* What it does: begin once, which is answered unasked, and work for each time that it is asked. It
 * has so many bytes more than this process. */
typedef struct ChildWork {
  void (*begin)(void *self);
  void (*work)(void *self);
  void *self;
  int64_t memory;
} ChildWork;
bool tirc_child_start(Child *k, const ChildWork *w);
void tirc_child_end(Child *k);
void tirc_child_ask(const Child *k);

/* Why there is no answer: "timeout" or "crash", and in words. */
typedef struct ChildFailure {
  char code[16], message[160];
} ChildFailure;
/* Waits for its answer so long, longer for what others left no core to run on; otherwise it is
 * ended. `what` begins the message. waits (or NULL) is called about twice a second meanwhile. */
bool tirc_child_await(Child *k, double seconds, const char *what, void (*waits)(void *self),
                      void *self, ChildFailure *why);

#endif
