/* What a program moves at least, and how long that takes: for the ceiling of memory. */
#ifndef TIRC_BENCH_TRAFFIC_H
#define TIRC_BENCH_TRAFFIC_H

#include "runtime/tirc.h"

/* An array of as many bytes, in whole lines of 64, whose pages exist. */
bool new_buffer(int64_t bytes, tirc_array **out, tirc_error **e);
/* The least time of a few moves (see tirc_executor_move), in seconds. */
double time_moves(tirc_executor *x, int vector_bits, tirc_array *from, int64_t read, tirc_array *to,
                  int64_t written, bool past_caches);
/* float32 operations a second, the best of a tenth of a second. */
double rate_of_fma(tirc_executor *x, int vector_bits);
double rate_of_integers(tirc_executor *x, int vector_bits, int bits);

#endif
