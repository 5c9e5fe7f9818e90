#define _GNU_SOURCE
#include "stack.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/resource.h>

/* Asking for the first thread's stack would read /proc/self/maps. The name of the program lies at
 * the stack's upper end, and it may grow by the limit from there; the kernel keeps at least 128 MB
 * below that end free of other mappings, so what is within FIRST_MOST of it is of that stack. */
enum { FIRST_MOST = 64 << 20 };

static bool end_of_first(uintptr_t here, uintptr_t *end) {
  const uintptr_t top = getauxval(AT_EXECFN);
  struct rlimit limit;
  if (here >= top || top - here >= FIRST_MOST || getrlimit(RLIMIT_STACK, &limit) != 0) return false;
  *end = top - (limit.rlim_cur > FIRST_MOST ? FIRST_MOST : (uintptr_t)limit.rlim_cur);
  return true;
}

static bool end_of_thread(uintptr_t here, uintptr_t *end) {
  pthread_attr_t attr;
  void *low = NULL;
  size_t size = 0, guard = 0;
  if (pthread_getattr_np(pthread_self(), &attr) != 0) return false;
  const bool known = pthread_attr_getstack(&attr, &low, &size) == 0 &&
                     pthread_attr_getguardsize(&attr, &guard) == 0;
  (void)pthread_attr_destroy(&attr);
  *end = (uintptr_t)low + guard; /* which some C libraries count as part of it */
  return known && here > (uintptr_t)low && here - (uintptr_t)low < size;
}

size_t tirc_stack_left(void) {
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  uintptr_t end;
  if (!end_of_first(here, &end) && !end_of_thread(here, &end)) return 0;
  return here > end ? here - end : 0;
}

typedef struct Work {
  void (*body)(void *self);
  void *self;
} Work;

static void *work(void *argument) {
  const Work *w = argument;
  w->body(w->self);
  return NULL;
}

bool tirc_on_stack(size_t bytes, void (*body)(void *self), void *self) {
  Work w = {body, self};
  pthread_attr_t attr;
  pthread_t thread;
  if (tirc_stack_left() >= bytes) {
    body(self);
    return true;
  }
  if (pthread_attr_init(&attr) != 0) return false;
  const bool made = pthread_attr_setstacksize(&attr, STACK_OWN) == 0 &&
                    pthread_create(&thread, &attr, work, &w) == 0;
  (void)pthread_attr_destroy(&attr);
  if (made) (void)pthread_join(thread, NULL);
  return made;
}
