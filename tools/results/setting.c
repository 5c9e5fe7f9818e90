#include "setting.h"

#include <string.h>

const char *const ceiling_names[] = {[FMA_CEILING] = "FMA ceiling",
                                     [INTEGER_CEILING] = "integer ceiling",
                                     [BANDWIDTH_CEILING] = "bandwidth ceiling"};

CeilingKind ceiling_named(const char *name) {
  CeilingKind k = BANDWIDTH_CEILING;
  while (k != NO_CEILING && strcmp(ceiling_names[k], name) != 0) k--;
  return k;
}

double bytes_of_work(const Work *w) { return (double)(w->bytes_read + w->bytes_written); }

double gflops(const Work *w, CeilingKind kind, double seconds) {
  const bool has_some = kind == NO_CEILING || kind == FMA_CEILING;
  return !has_some || !(seconds > 0) ? 0 : w->float_ops / seconds * 1e-9;
}

double gbytes(const Work *w, CeilingKind kind, double seconds) {
  const bool has_some = kind == NO_CEILING || kind == BANDWIDTH_CEILING;
  return !has_some || !(seconds > 0) ? 0 : bytes_of_work(w) / seconds * 1e-9;
}
