#include "traffic.h"

#include <math.h>
#include <string.h>

bool new_buffer(int64_t bytes, tirc_array **out, tirc_error **e) {
  const int64_t lines[] = {bytes / 64 + 1, 64};
  if (tirc_array_new("int8", 2, lines, out, e)) return false;
  memset(tirc_array_data(*out), 0, (size_t)(lines[0] * lines[1]));
  return true;
}

double time_moves(tirc_executor *x, int vector_bits, tirc_array *from, int64_t read, tirc_array *to,
                  int64_t written, bool past_caches) {
  enum { TIMES = 5 };
  double least = (double)INFINITY;
  for (int i = 0; i < TIMES; i++) {
    const double start = tirc_seconds();
    (void)tirc_executor_move(x, vector_bits, tirc_array_data(from), read, tirc_array_data(to),
                             written, past_caches);
    least = fmin(least, tirc_seconds() - start);
  }
  return least;
}

/* bits: of integers; 0: floats. */
static double rate_of(tirc_executor *x, int vector_bits, int bits) {
  const double operations = 1e7 * tirc_executor_threads(x), end = tirc_seconds() + 0.1;
  double best = 0;
  for (double start; (start = tirc_seconds()) < end;) {
    if (!(bits ? tirc_executor_integers(x, vector_bits, bits, operations)
               : tirc_executor_fma(x, vector_bits, operations)))
      break;
    best = fmax(best, operations / (tirc_seconds() - start));
  }
  return best;
}

double rate_of_fma(tirc_executor *x, int vector_bits) { return rate_of(x, vector_bits, 0); }
double rate_of_integers(tirc_executor *x, int vector_bits, int bits) {
  return rate_of(x, vector_bits, bits);
}
