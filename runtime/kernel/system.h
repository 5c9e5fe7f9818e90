/* What the runtime of kernels asks of the system, in three ways: Linux, another POSIX system
 * (macOS, the BSDs), and Windows. TIRC_PLAIN_POSIX takes the second one on Linux, too, where it is
 * tested. */
#ifndef TIRC_RUNTIME_SYSTEM_H
#define TIRC_RUNTIME_SYSTEM_H

#if defined _WIN32
#define TIRC_WINDOWS
#elif !defined __linux__ && !defined TIRC_PLAIN_POSIX
#define TIRC_PLAIN_POSIX
#endif

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef TIRC_WINDOWS
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
typedef SRWLOCK Lock;
typedef CONDITION_VARIABLE Condition;
typedef HANDLE ThreadId;
#else
#include <pthread.h>
typedef pthread_mutex_t Lock;
typedef pthread_cond_t Condition;
typedef pthread_t ThreadId;
#endif

bool tirc_lock_init(Lock *l);
void tirc_lock(Lock *l);
void tirc_unlock(Lock *l);
void tirc_lock_free(Lock *l);

/* Where threads sleep until a number is another one. Linux keeps them by the number's address and
 * needs none of this. */
typedef struct Berth {
#if defined TIRC_WINDOWS || defined TIRC_PLAIN_POSIX
  Lock lock;
  Condition condition;
#else
  char unused;
#endif
} Berth;

bool tirc_berth_init(Berth *b);
void tirc_berth_free(Berth *b);
/* Returns when *at is not `value`, or for no reason. */
void tirc_sleep_while(Berth *b, _Atomic uint32_t *at, uint32_t value);
/* Wakes n of those that sleep over *at, or more, after it was changed. */
void tirc_wake(Berth *b, _Atomic uint32_t *at, int n);

typedef struct Thread {
  void (*run)(void *argument);
  void *argument;
  ThreadId id;
} Thread;
/* False: there is no thread. The stack has at least so many bytes; t stays where it is. */
bool tirc_thread_start(Thread *t, size_t stack, void (*run)(void *argument), void *argument);
void tirc_thread_join(Thread *t);

int tirc_cores(void);     /* that this process may use, at least 1 */
int tirc_this_core(void); /* -1: nobody tells */
/* Moves the calling thread to another core at once; afterwards it may go anywhere again. */
void tirc_leave_core(int core);

/* Memory at a multiple of align, a power of two from 64 on, as is `size`; NULL when it is out. */
void *tirc_memory_new(size_t align, size_t size);
void tirc_memory_free(void *p);
void tirc_prefer_huge_pages(void *p, size_t size);

#endif
