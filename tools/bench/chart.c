/* What was measured, as a chart. */
#include "bench.h"

void chart_of(const Bench *b, Chart *out) {
  const int n = b->n_measured ? b->cases[0].n_contenders : 0;
  new_chart(out, b->n_measured, n);
  out->of_programs = b->of_programs;
  for (int j = 0; j < b->n_measured; j++) {
    const Case *k = &b->cases[j];
    const bool busy = tirc_is_disturbed_by(BY_LOAD, k->meanwhile.load) ||
                      tirc_is_disturbed_by(BY_CLOCK, tirc_clock_drop(&k->meanwhile));
    out->settings[j] = k->at;
    for (int i = 0; i < n; i++) out->marks[j * n + i] = (Mark){&k->contenders[i].f, busy, "this"};
  }
  for (int i = 0; i < n; i++) {
    const Contender *c = &b->cases[0].contenders[i];
    out->series[i] = (Series){c->name, c->ceiling ? c->ceiling->kind : NO_CEILING};
  }
}
