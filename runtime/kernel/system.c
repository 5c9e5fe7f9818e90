#if defined __linux__
#define _GNU_SOURCE
#endif
#include "system.h"

#include <stdlib.h>

#ifndef TIRC_WINDOWS
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>
#endif
#if !defined TIRC_WINDOWS && !defined TIRC_PLAIN_POSIX
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

#ifdef TIRC_WINDOWS
#include <malloc.h>

/* --- Windows ---------------------------------------------------------------------------------- */

bool tirc_lock_init(Lock *l) {
  InitializeSRWLock(l);
  return true;
}
void tirc_lock(Lock *l) { AcquireSRWLockExclusive(l); }
void tirc_unlock(Lock *l) { ReleaseSRWLockExclusive(l); }
void tirc_lock_free(Lock *l) { (void)l; }

static bool condition_init(Condition *c) {
  InitializeConditionVariable(c);
  return true;
}
static void condition_free(Condition *c) { (void)c; }
static void condition_wait(Condition *c, Lock *l) {
  (void)SleepConditionVariableSRW(c, l, INFINITE, 0);
}
static void condition_wake_all(Condition *c) { WakeAllConditionVariable(c); }

static DWORD WINAPI begin(LPVOID thread) {
  const Thread *t = thread;
  t->run(t->argument);
  return 0;
}

bool tirc_thread_start(Thread *t, size_t stack, void (*run)(void *), void *argument) {
  *t = (Thread){.run = run, .argument = argument};
  t->id = CreateThread(NULL, stack, begin, t, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
  return t->id != NULL;
}

void tirc_thread_join(Thread *t) {
  (void)WaitForSingleObject(t->id, INFINITE);
  (void)CloseHandle(t->id);
}

int tirc_cores(void) {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwNumberOfProcessors > 0 ? (int)info.dwNumberOfProcessors : 1;
}

int tirc_this_core(void) { return (int)GetCurrentProcessorNumber(); }

/* Windows' scheduler does not keep a thread that was woken on the core of who woke it. */
void tirc_leave_core(int core) { (void)core; }

void *tirc_memory_new(size_t align, size_t size) { return _aligned_malloc(size, align); }
void tirc_memory_free(void *p) { _aligned_free(p); }
void tirc_prefer_huge_pages(void *p, size_t size) { (void)p, (void)size; }

#else

/* --- POSIX ------------------------------------------------------------------------------------ */

bool tirc_lock_init(Lock *l) { return pthread_mutex_init(l, NULL) == 0; }
void tirc_lock(Lock *l) { (void)pthread_mutex_lock(l); }
void tirc_unlock(Lock *l) { (void)pthread_mutex_unlock(l); }
void tirc_lock_free(Lock *l) { (void)pthread_mutex_destroy(l); }

static void *begin(void *thread) {
  const Thread *t = thread;
  t->run(t->argument);
  return NULL;
}

bool tirc_thread_start(Thread *t, size_t stack, void (*run)(void *), void *argument) {
  pthread_attr_t attr;
  size_t usual = 0;
  *t = (Thread){.run = run, .argument = argument};
  if (pthread_attr_init(&attr) != 0) return false;
  const bool ok = pthread_attr_getstacksize(&attr, &usual) == 0 &&
                  (usual >= stack || pthread_attr_setstacksize(&attr, stack) == 0) &&
                  pthread_create(&t->id, &attr, begin, t) == 0;
  (void)pthread_attr_destroy(&attr);
  return ok;
}

void tirc_thread_join(Thread *t) { (void)pthread_join(t->id, NULL); }

void *tirc_memory_new(size_t align, size_t size) { return aligned_alloc(align, size); }
void tirc_memory_free(void *p) { free(p); }

#endif

#if defined TIRC_WINDOWS || defined TIRC_PLAIN_POSIX

/* --- berths of a lock and a condition ----------------------------------------------------------- */

#ifndef TIRC_WINDOWS
static bool condition_init(Condition *c) { return pthread_cond_init(c, NULL) == 0; }
static void condition_free(Condition *c) { (void)pthread_cond_destroy(c); }
static void condition_wait(Condition *c, Lock *l) { (void)pthread_cond_wait(c, l); }
static void condition_wake_all(Condition *c) { (void)pthread_cond_broadcast(c); }

int tirc_cores(void) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (int)n : 1;
}

int tirc_this_core(void) { return -1; }
void tirc_leave_core(int core) { (void)core; }
void tirc_prefer_huge_pages(void *p, size_t size) { (void)p, (void)size; }
#endif

bool tirc_berth_init(Berth *b) {
  if (!tirc_lock_init(&b->lock)) return false;
  if (condition_init(&b->condition)) return true;
  tirc_lock_free(&b->lock);
  return false;
}

void tirc_berth_free(Berth *b) {
  condition_free(&b->condition);
  tirc_lock_free(&b->lock);
}

/* The number is changed before the lock is taken to wake, so that nobody falls asleep over an old
 * one. */
void tirc_sleep_while(Berth *b, _Atomic uint32_t *at, uint32_t value) {
  tirc_lock(&b->lock);
  if (atomic_load(at) == value) condition_wait(&b->condition, &b->lock);
  tirc_unlock(&b->lock);
}

void tirc_wake(Berth *b, _Atomic uint32_t *at, int n) {
  (void)at, (void)n;
  tirc_lock(&b->lock);
  condition_wake_all(&b->condition);
  tirc_unlock(&b->lock);
}

#else

/* --- Linux ------------------------------------------------------------------------------------ */

bool tirc_berth_init(Berth *b) {
  b->unused = 0;
  return true;
}
void tirc_berth_free(Berth *b) { (void)b; }

void tirc_sleep_while(Berth *b, _Atomic uint32_t *at, uint32_t value) {
  (void)b;
  syscall(SYS_futex, (uint32_t *)(void *)at, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void tirc_wake(Berth *b, _Atomic uint32_t *at, int n) {
  (void)b;
  syscall(SYS_futex, (uint32_t *)(void *)at, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

int tirc_cores(void) {
  cpu_set_t set;
  const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                            : (int)sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? n : 1;
}

int tirc_this_core(void) { return sched_getcpu(); }

/* Taking the core out of the thread's set moves it at once. */
void tirc_leave_core(int core) {
  cpu_set_t all, others;
  if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof all, &all) != 0) return;
  others = all;
  CPU_CLR((size_t)core, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  (void)sched_setaffinity(0, sizeof all, &all);
}

void tirc_prefer_huge_pages(void *p, size_t size) { (void)madvise(p, size, MADV_HUGEPAGE); }

#endif
