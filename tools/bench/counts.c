/* What contenders count in a call, under their times. */
#include "bench.h"

#include <math.h>

int start_counters(Bench *b) {
  char note[512];
  const char *advice;
  const bool any = tirc_counters_open(&b->counters);
  tirc_counters_describe(&b->counters, note, sizeof note, &advice);
  if (!any) b->counters.open = false;
  if (*note) fprintf(stderr, "%s%s%s\n", note, advice ? "; " : "", advice ? advice : "");
  return DONE;
}

double count_of(const Contender *c, CounterKind kind) {
  return c->f.calls > 0 ? c->counted[kind] / c->f.calls : (double)NAN;
}

/* Four digits: 12.35 M. */
static void put_count(FILE *f, int width, double v) {
  static const char units[] = " kMGT";
  int unit = 0;
  for (; v >= 9999.5 && units[unit + 1]; v /= 1000) unit++;
  if (!isfinite(v))
    fprintf(f, " %*s", width, "-");
  else
    fprintf(f, " %*.*f %c", width - 2, v < 10 ? 2 : v < 100 ? 1 : 0, v, units[unit]);
}

static bool can_count(const Bench *b, CounterKind kind) { return b->counters.fds[kind] >= 0; }

void print_counts(const Bench *b, const Case *k) {
  const bool rate = can_count(b, COUNT_CYCLES) && can_count(b, COUNT_INSTRUCTIONS);
  const int width = contender_width(k, "in a call");
  FILE *f = b->out;
  fprintf(f, "%-*s", width, "in a call");
  for (int kind = 0; kind < N_COUNTERS; kind++)
    if (can_count(b, (CounterKind)kind)) fprintf(f, " %12s", tirc_counter_rows[kind].name);
  fprintf(f, rate ? "  instructions a cycle\n" : "\n");
  for (int i = 0; i < k->n_contenders; i++) {
    const Contender *c = &k->contenders[i];
    if (!(c->f.median > 0)) continue;
    fprintf(f, "%-*s", width, c->name);
    for (int kind = 0; kind < N_COUNTERS; kind++)
      if (can_count(b, (CounterKind)kind)) put_count(f, 12, count_of(c, (CounterKind)kind));
    if (rate) fprintf(f, "  %20.2f", count_of(c, COUNT_INSTRUCTIONS) / count_of(c, COUNT_CYCLES));
    fputc('\n', f);
  }
}
