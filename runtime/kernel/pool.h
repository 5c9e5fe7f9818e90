/* A pool of persistent workers that run the pieces of one parallel loop at a time: they spin for a
 * bounded while, then sleep on a futex; the caller works on pieces too, so a launch never waits for
 * a worker that has not woken up. A worker that wakes on the caller's core moves to another one. */
#ifndef TIRC_RUNTIME_POOL_H
#define TIRC_RUNTIME_POOL_H

#include <stdint.h>

typedef struct Pool Pool;
/* threads >= 1, the caller included; of them no more than the process has cores, and two, work at
 * once. NULL when memory or threads are out. */
Pool *tirc_pool_new(int threads);
void tirc_pool_free(Pool *p);
int tirc_pool_threads(const Pool *p);
/* body(i, closure) for every i in [0, n), each once; returns when all are done. A launch from
 * inside a body runs in the caller. The t-th thread begins with the t-th part of the range, one
 * loop like the other, and helps the others when that is done. The threads take contiguous pieces,
 * large ones first, at most `chunks`, none of fewer than n / chunks iterations. chunks 0: as
 * many as threads. */
void tirc_pool_run(Pool *p, int64_t n, void (*body)(int64_t i, void *closure), void *closure,
                   int64_t chunks);
enum { POOL_MOST_THREADS = 4096 };
/* TIRC_NUM_THREADS: 0 when it is not set or empty, -1 when it is no number from 1 to the most. */
int tirc_threads_of_environment(void);
/* TIRC_NUM_THREADS where it is a number, else the number of cores the process may use; at least 1.
 */
int tirc_default_threads(void);

#endif
