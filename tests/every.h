/* What the usual run of the tests takes of long lists (every.py). */
#ifndef TIRC_TESTS_EVERY_H
#define TIRC_TESTS_EVERY_H

#include <stdlib.h>

/* Each so-manieth, from the first one on: TIRC_TEST_EVERY, or 1. */
static inline int tirc_test_every(void) {
  const char *every = getenv("TIRC_TEST_EVERY");
  return every && atoi(every) > 0 ? atoi(every) : 1;
}

#endif
